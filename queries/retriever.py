"""What the generation module needs of the API: one retrieval, by strategy.

``graph_service.client.Client`` is one, in process or over HTTP; tests give their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Unpack, runtime_checkable

from graph_service.model.request import RetrieveOptions
from graph_service.model.result import RetrievalResult, Strategy


class Retriever(Protocol):
    """Asks a graph, or a view of it, for what bears on a question."""

    def retrieve(
        self,
        strategy: Strategy,
        question: str,
        /,
        **options: Unpack[RetrieveOptions],
    ) -> RetrievalResult:
        """Returns what the strategy finds."""


@runtime_checkable
class AsksSeveral(Protocol):
    """A retriever that sends other queries than the one of its strategy."""

    def queries_of(
        self,
        result: RetrievalResult,
        /,
        **options: Unpack[RetrieveOptions],
    ) -> Mapping[str, Any]:
        """Returns the documents and variables that fetched a result of this retriever."""
