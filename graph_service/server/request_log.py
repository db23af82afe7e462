"""One line of the log for each request, and an id by which it is found again.

The line says what was asked by name, of which editions and with whose key, how it ended, what it
cost and how long each stage took. It has no document and no variables, whose texts are the users'
own, unless the operator asks for them.
"""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graph_service.server.metrics import count_request
from graph_service.server.record import CURRENT, Record
from graph_service.text.visible import visible_json, visible_line

if TYPE_CHECKING:
    from graph_service.server.traces import Traces

_FREQUENT = ("/health/", "/metrics")
log = logging.getLogger("graph_service.requests")


class RequestLog:
    """ASGI middleware that logs, counts and traces each request when it has been answered.

    Args:
        app: Answers.
        traces: Where the requests are traced.
    """

    def __init__(self, app: ASGIApp, /, *, traces: Traces | None = None) -> None:
        self._app = app
        self._traces = traces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets the application answer, and logs one line of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        record = Record()
        token = CURRENT.set(record)
        # Health and metrics are asked every few seconds.
        is_frequent = scope["path"].startswith(_FREQUENT)
        if self._traces is not None and not is_frequent:
            record.span = self._traces.begin_request(scope)
        began = time.perf_counter()
        status, size = 0, 0

        async def noted(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["x-request-id"] = record.request_id
            elif message["type"] == "http.response.body":
                size += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            CURRENT.reset(token)
            seconds = time.perf_counter() - began
            count_request(
                record, route=scope["path"], method=scope["method"], status=status, seconds=seconds
            )
            if self._traces is not None and record.span is not None:
                self._traces.end_request(record.span, record, status)
            level = logging.DEBUG if is_frequent else logging.INFO
            if log.isEnabledFor(level):
                log.log(
                    level,
                    "request",
                    extra={"fields": _fields(scope, record, status, size, seconds)},
                )


def _fields(scope: Scope, record: Record, status: int, size: int, seconds: float) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "requestId": record.request_id,
        "method": scope["method"][:20],
        "path": scope["path"][:200],
        # 0 where the client went away before an answer.
        "status": status,
        "bytes": size,
        "ms": round(1000 * seconds, 1),
    }
    for name, measured in (("waitedMs", record.waited_s), ("ranMs", record.ran_s)):
        if measured is not None:
            fields[name] = round(1000 * measured, 1)
    if record.key:
        fields["key"] = record.key
    if record.operation:
        fields["operation"] = record.operation[:200]
    fields.update(_noted(record))
    if record.is_repeat:
        fields["repeat"] = True
    if record.codes:
        fields["codes"] = list(record.codes)
    if record.request is not None:
        fields.update(record.request)
    return fields


def _noted(record: Record) -> dict[str, Any]:
    """Returns what an operation did, as far as it began."""
    noted: dict[str, Any] = {}
    observation = record.observation
    if observation is not None and observation.type:
        noted["type"] = observation.type
        noted["fields"] = list(observation.fields)
        if observation.editions:
            noted["editions"] = list(observation.editions)
    if record.cost is not None:
        noted["cost"] = record.cost
    if observation is not None and observation.stages:
        stages = observation.stages_ms()
        noted["stagesMs"] = {stage: round(ms, 1) for stage, ms in stages.items()}
    return noted


class JsonFormatter(logging.Formatter):
    """Writes each record as one JSON object on a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Returns the record as one line of JSON."""
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return visible_json(orjson.dumps(line, default=str).decode())


class TextFormatter(logging.Formatter):
    """Writes each record for people: the time, the level, the message, and ``name=value``."""

    def format(self, record: logging.LogRecord) -> str:
        """Returns the line, and the stack of an error below it."""
        fields = getattr(record, "fields", {})
        # As JSON, so that no value of a client's can begin a line of its own.
        pairs = "".join(f" {name}={orjson.dumps(value).decode()}" for name, value in fields.items())
        message = visible_line(record.getMessage())
        line = f"{_time(record)} {record.levelname} {record.name}: {message}{visible_json(pairs)}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def set_up_logging(format_: str, level: str, /) -> None:
    """Writes the log of this process to standard error.

    Args:
        format_: ``json`` or ``text``.
        level: The least that is written: ``debug``, ``info``, ``warning`` or ``error``.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if format_ == "json" else TextFormatter())
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    # Libraries tell of each connection and each query at these levels.
    for library in ("httpcore", "httpx", "neo4j", "openai", "urllib3", "asyncio"):
        logging.getLogger(library).setLevel(max(logging.WARNING, logging.root.level))


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
