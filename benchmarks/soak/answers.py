"""What an answer is: given, refused, late or wrong; and whether all of it is of one edition."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from benchmarks.soak.traffic import Request
from benchmarks.soak.versions import Triple, is_left_out, version_of

ANSWERED, REFUSED, LATE, WRONG = "answered", "refused", "late", "wrong"
_REFUSALS = {503: ("LIMIT_EXCEEDED",), 429: ("THROTTLED",)}
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a request.

    Attributes:
        kind: ``ANSWERED``, ``REFUSED`` (with what says when to ask again), ``LATE`` (a time limit
            ran out, the server's or the client's) or ``WRONG``, which is anything else.
        is_repeat: Whether the answer was kept from before.
        mixed: Why the answer can't be of one edition; "" where it can.
        note: What the server said, where it is no answer.
    """

    kind: str
    is_repeat: bool = False
    mixed: str = ""
    note: str = ""


@dataclass(slots=True)
class Editions:
    """What is known of the editions seen. Thread-safe.

    Attributes:
        changing: Name of the graph that is loaded anew.
        fingerprints: Of each edition.
        versions: Of the changing graph's editions, each the version of its content.
    """

    changing: str
    fingerprints: dict[str, tuple[str, str]] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fault_of(self, request: Request, data: Mapping[str, Any], /) -> str:
        """Returns why an answer can't be of one edition of its graph; "" where it can."""
        said = {
            (each["edition"], each["edgesFingerprint"], each["contentFingerprint"])
            for each in _objects_with(data, "edition")
        }
        if len(said) != 1:
            return f"{len(said)} editions: {sorted(said)}"
        [(edition, edges, content)] = said
        if edition.rpartition("@")[0] != request.graph:
            return f"asked {request.graph}, answered {edition}"
        with self._lock:
            known = self.fingerprints.setdefault(edition, (edges, content))
        if known != (edges, content):
            return f"{edition} had {known}, and now {(edges, content)}"
        return self._content_fault(request, edition, data) if request.graph == self.changing else ""

    def learn(self, edition: str, version: int, /) -> str:
        """Notes which version an edition is of; returns why it can't be, "" where it can."""
        with self._lock:
            known = self.versions.setdefault(edition, version)
        return "" if known == version else f"{edition} is of version {version}, and of {known}"

    def _content_fault(self, request: Request, edition: str, data: Mapping[str, Any]) -> str:
        labels = [each["label"] for each in _objects_with(data, "label")]
        found = {version_of(label) for label in labels}
        if len(found) > 1 or None in found:
            return f"{edition} has labels of versions {sorted(map(str, found))}"
        if not found:
            return ""
        [version] = found
        assert version is not None
        fault = self.learn(edition, version)
        if fault:
            return fault
        if not request.has_views:
            for triple in _triples(data):
                if is_left_out(triple, version):
                    return f"{edition} has {triple}, which version {version} lacks"
        return ""


def outcome_of(
    request: Request, status: int, headers: Mapping[str, str], body: bytes, editions: Editions, /
) -> Outcome:
    """Returns what became of a request that the server said something to.

    Args:
        request: Which.
        status: Of the response.
        headers: Of the response, their names in lower case.
        body: Of the response.
        editions: What is known of editions; learns of those of this answer.
    """
    try:
        said = orjson.loads(body)
        codes = [error["extensions"]["code"] for error in said.get("errors", ())]
        data = said.get("data")
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        return Outcome(WRONG, note=f"{status} {body[:_SHOWN]!r}")
    if codes and all(code in _REFUSALS.get(status, ()) for code in codes):
        if "retry-after" in headers:
            return Outcome(REFUSED, note=f"{status}")
        return Outcome(WRONG, note=f"{status} without retry-after")
    if "TIMEOUT" in codes:
        return Outcome(LATE, note=f"{status} {body[:_SHOWN]!r}")
    if status != 200 or codes or data is None or None in data.values():
        return Outcome(WRONG, note=f"{status} {body[:_SHOWN]!r}")
    is_repeat = headers.get("cache-status", "").endswith("; hit")
    return Outcome(ANSWERED, is_repeat, editions.fault_of(request, data))


def _objects_with(node: object, name: str) -> Iterator[Mapping[str, Any]]:
    for each in _objects(node):
        if name in each:
            yield each


def _objects(node: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(node, Mapping):
        yield node
        for child in node.values():
            yield from _objects(child)
    elif isinstance(node, list):
        for child in node:
            yield from _objects(child)


def _triples(data: Mapping[str, Any]) -> Iterator[Triple]:
    """Yields the statements of an answer whose values are items."""
    for each in _objects_with(data, "subject"):
        statement = each.get("statement", each)
        item = statement["value"].get("item")
        if item is not None:
            ids = each["subject"]["itemId"], statement["property"]["propertyId"], item["itemId"]
            yield ids
