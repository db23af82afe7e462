"""Answers that are kept as bytes and given again while the store says what it said.

An answer is a function of the request and of what was read of the store. Requests are told apart
by document, variables, operation, media type and by who sees what; what was read is read again
before an answer is given (``store.reads``). An answer with an error, with timings, or of which the
time allowed cut a part is not kept, nor is one of fields that tell of work under way.
"""

from __future__ import annotations

import gzip
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

import orjson
from starlette.datastructures import Headers
from starlette.responses import Response

from graph_service.api.costs import LOOKUP
from graph_service.byte_budget import ByteBudget, ByteCache
from graph_service.observation import Observation
from graph_service.server.compression import LEAST_BYTES, LEVEL
from graph_service.server.negotiation import accepts_gzip
from graph_service.server.parameters import Parameters
from graph_service.service import Service
from graph_service.store.reads import Reads

CACHED_COST = LOOKUP
"""What a client pays for an answer that is kept."""
LARGEST_SHARE = 4
"""No answer takes more than one part in so many of what may be kept."""
MAX_UNCACHEABLE = 10_000
"""Requests of which it is known that their answers are not kept, so that none waits for another."""
_READ_BYTES = 4_000
"""What the notes of what was read hold, roughly: a graph's report is the most of it."""


@dataclass(slots=True)
class Answer:
    """An answer that lasts.

    Attributes:
        data: The field ``data``, as JSON.
        cost: What ``extensions.cost`` says; what the client has left is added for each.
        media_type: Of the response.
        reads: What it rests on.
        observation: What was noted of the operation.
        tag: Of the bytes that all clients get alike.
        packed: These bytes compressed, where a client asked for that.
    """

    data: bytes
    cost: Mapping[str, Any]
    media_type: str
    reads: Reads
    observation: Observation
    tag: str = field(init=False)
    packed: bytes | None = None

    def __post_init__(self) -> None:
        """Makes the entity tag of the answer's bytes."""
        digest = blake2b(self.media_type.encode() + b"\0", digest_size=16)
        digest.update(self.body())
        self.tag = digest.hexdigest()

    def observed(self) -> Observation:
        """Returns what there is to note of a request that it answers again: it has no stages."""
        return replace(self.observation, stages=[])

    def body(self, left: Mapping[str, float] | None = None, /) -> bytes:
        """Returns the response's bytes, with what the client has left where it is counted."""
        cost = {**self.cost, "throttleStatus": left} if left is not None else self.cost
        return orjson.dumps({"data": orjson.Fragment(self.data), "extensions": {"cost": cost}})

    def pack(self) -> bytes:
        """Returns the bytes that all clients get alike, compressed; the same each time."""
        if self.packed is None:
            self.packed = gzip.compress(self.body(), LEVEL, mtime=0)
        return self.packed

    @property
    def size(self) -> int:
        """How many bytes the answer holds in memory."""
        return len(self.data) + len(self.packed or b"") + _READ_BYTES

    def response(
        self, headers: Headers, left: Mapping[str, float] | None, /, *, is_read: bool
    ) -> Response:
        """Returns the response to a request.

        Args:
            headers: Of the request.
            left: What the client has left; None where nothing is counted.
            is_read: Whether the request is a GET or a HEAD, whose answers have a tag (RFC 9110,
                8.8.3) and may be a 304. What a POST answers is no representation of its address.
        """
        accepted = ", ".join(headers.getlist("accept-encoding"))
        body = self.body(left)
        # Where the client's own account is in it, its bytes are another's each time.
        is_packed = left is None and len(body) >= LEAST_BYTES and accepts_gzip(accepted)
        tag = f'W/"{self.tag}"' if left is not None else f'"{self.tag}{"-gzip" * is_packed}"'
        about = {"vary": "Accept-Encoding"}
        if is_read:
            about["etag"] = tag
            if _has_tag(headers.getlist("if-none-match"), tag):
                return Response(status_code=304, headers=about, media_type=self.media_type)
        if is_packed:
            body = self.pack()
            about["content-encoding"] = "gzip"
        return Response(body, headers=about, media_type=self.media_type)


class ResponseCache:
    """Answers within a limit in bytes, those used last. Thread-safe.

    Args:
        limit_bytes: What they hold together; 0 keeps none.
    """

    def __init__(self, limit_bytes: int, /) -> None:
        self._budget = ByteBudget(limit_bytes)
        self._answers: ByteCache[bytes, Answer] = ByteCache(self._budget, "answers")
        self._uncacheable: OrderedDict[bytes, None] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def is_on(self) -> bool:
        """Whether the cache may hold any answer at all."""
        return self._budget.limit_bytes > 0

    def has(self, key: bytes, /) -> bool:
        """Returns whether there is one, which may no longer hold."""
        return self._answers.get(key) is not None

    def find(self, key: bytes, service: Service, /) -> Answer | None:
        """Returns the answer of a request, if it still holds.

        Args:
            key: Of the request.
            service: What would answer it: reads again what the answer rests on.
        """
        answer = self._answers.get(key)
        holds = answer is not None and service.still_hold(answer.reads)
        if answer is not None and not holds:
            self._answers.drop(key, answer)
        return answer if holds else None

    def is_uncacheable(self, key: bytes, /) -> bool:
        """Returns whether a request's answer was one that is not kept when it last came."""
        with self._lock:
            return key in self._uncacheable

    def note_uncacheable(self, key: bytes, /) -> None:
        """Notes that a request's answer is one that is not kept."""
        with self._lock:
            self._uncacheable[key] = None
            if len(self._uncacheable) > MAX_UNCACHEABLE:
                self._uncacheable.popitem(last=False)

    def store(self, key: bytes, answer: Answer, /) -> None:
        """Keeps an answer, or counts what it has grown to."""
        if answer.size * LARGEST_SHARE > self._budget.limit_bytes:
            return
        self._answers.put(key, answer, answer.size)
        self._answers.charge(key, answer.size)

    @property
    def held_bytes(self) -> int:
        """How many bytes all answers of the cache hold."""
        return self._budget.used().get("answers", 0)


def key_of(parameters: Parameters, media_type: str, sees: str, /) -> bytes:
    """Returns what tells a request from others whose answers may differ.

    Args:
        parameters: Document, variables and operation.
        media_type: Of the answer.
        sees: Stands for what of the store whoever asks may see.
    """
    variables = orjson.dumps(parameters.variables or {}, option=orjson.OPT_SORT_KEYS)
    digest = blake2b(digest_size=32)
    for part in (
        parameters.query.encode(errors="surrogatepass"),
        variables,
        (parameters.operation_name or "").encode(errors="surrogatepass"),
        media_type.encode(),
        sees.encode(),
    ):
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.digest()


def _has_tag(header: list[str], tag: str) -> bool:
    """Returns whether If-None-Match names a tag, by weak comparison (RFC 9110, 13.1.2)."""
    known = tag.removeprefix("W/")
    named = [name.strip() for line in header for name in line.split(",")]
    return any(name == "*" or name.removeprefix("W/") == known for name in named)
