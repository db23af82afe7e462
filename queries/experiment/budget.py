"""A model that is asked a limited number of times."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Unpack

from graph_service.errors import LimitError
from queries.llm import ChatModel, ChatOptions, Message, Reply


class RequestBudget:
    """Requests of a run to all its models together. Thread-safe.

    Args:
        limit: At most; None for no limit.
    """

    def __init__(self, limit: int | None, /) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self.used = 0

    def take(self) -> None:
        """Counts a request that is about to be sent; raises ``LimitError`` past the limit."""
        with self._lock:
            if self._limit is not None and self.used >= self._limit:
                raise LimitError(
                    f"this run may send {self._limit} requests to models, and has sent them",
                    argument="budget",
                    hint="What was answered is kept: raise budget.requests in the plan, or run it "
                    "again for as many more.",
                )
            self.used += 1


class BudgetedChat:
    """A model whose requests are counted against a budget.

    Args:
        inner: The model.
        budget: Of the run.
    """

    def __init__(self, inner: ChatModel, budget: RequestBudget, /) -> None:
        self._inner = inner
        self._budget = budget

    @property
    def name(self) -> str:
        """Name of the model whose requests are counted."""
        return self._inner.name

    def complete(self, messages: Sequence[Message], /, **options: Unpack[ChatOptions]) -> Reply:
        """Returns the reply; see ``ChatModel.complete``.

        Raises:
            LimitError: The budget is spent.
        """
        self._budget.take()
        return self._inner.complete(messages, **options)
