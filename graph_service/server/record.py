"""What the server notes of a request while it answers it, for the log, metrics and traces."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from graph_service.observation import Observation

if TYPE_CHECKING:
    from opentelemetry.trace import Span

MAX_CODES = 10


@dataclass(slots=True)
class Record:
    """What is known of a request when it ends.

    Attributes:
        request_id: Stands in its errors, and in the header ``x-request-id``.
        operation: Its name, as the client gives it.
        key: Name of the key that it came with; "" for none.
        lane: Of ``metrics.LANES``, where it was run last.
        waited_s: Seconds that it waited for a thread; None if it came to none.
        ran_s: Seconds that it ran; None if it did not.
        cost: What it has cost, in retrievals; None if nothing was run.
        observation: What was noted of its operation; None if none was begun.
        span: Of OpenTelemetry, where requests are traced.
        codes: Of its errors, each once.
        request: The document and the variables, where they are logged.
        is_repeat: Whether the answer was one that is kept.
    """

    request_id: str = field(default_factory=lambda: uuid4().hex)
    operation: str | None = None
    key: str = ""
    lane: str = ""
    waited_s: float | None = None
    ran_s: float | None = None
    cost: float | None = None
    observation: Observation | None = None
    span: Span | None = None
    codes: tuple[str, ...] = ()
    request: Mapping[str, Any] | None = None
    is_repeat: bool = False

    def note_errors(self, errors: list[Any], /) -> None:
        """Notes the codes of a response's errors."""
        codes = dict.fromkeys(error["extensions"]["code"] for error in errors)
        self.codes = tuple(codes)[:MAX_CODES]


CURRENT: ContextVar[Record] = ContextVar("record")
"""The record of the request that a task answers."""


def current_record() -> Record:
    """Returns the record of the request that this task answers; a new one where there is none."""
    try:
        return CURRENT.get()
    except LookupError:
        return Record()
