"""One SPARQL endpoint, asked politely, with every known fault told apart.

SPARQLWrapper 2.0 makes the request, and ``graph_service.http`` sends it: sent by the package, an
error's headers would be lost and its body read without bound, and a body that was cut would pass
as a short one. It puts ``?`` behind an address that has one, so it is given the address without.
"""

from __future__ import annotations

import contextlib
import re
import threading
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

import orjson

from graph_service.http.faults import TIMED_OUT, Fault, RequestFailedError, is_html
from graph_service.http.host_client import HostClient
from graph_service.http.transfer import LONGEST_GET, Reply, judge_status, send
from loaders.sparql.options import EndpointOptions
from loaders.sparql.terms import Row, Term, read_term

_MAX_CAP_DIGITS = 18


class QueryFailedError(RequestFailedError):
    """One query failed, and a smaller one may not.

    Attributes:
        rows: What came of it nevertheless, all of it true, not all there is.
    """

    def __init__(self, reason: str, rows: tuple[Row, ...] = ()) -> None:
        super().__init__(reason)
        self.rows = rows


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer to one request.

    Attributes:
        max_rows: The cap on rows that the endpoint said it has, or None.
    """

    bindings: tuple[Mapping[str, Term], ...]
    max_rows: int | None = None

    def rows(self) -> tuple[Row, ...]:
        """Returns the bindings of s, p and o as triples; raises ``QueryFailedError``."""
        try:
            return tuple(Row(binding["s"], binding["p"], binding["o"]) for binding in self.bindings)
        except KeyError as error:
            raise QueryFailedError(f"an answer without a value for {error}") from error


class Endpoint:
    """An endpoint; one request at a time.

    Args:
        address: http or https.
        options: Timeouts, politeness, cache, contact.
        stop: When set, waiting ends with ``StoppedError``.
        jitter: Gives a number from 0 to 1 for each pause.

    Raises:
        InputError: The address is no http address, or is Wikimedia's and no contact is given.
    """

    def __init__(
        self,
        address: str,
        /,
        *,
        options: EndpointOptions,
        stop: threading.Event | None = None,
        jitter: Callable[[], float] | None = None,
    ) -> None:
        self._polite = HostClient(address, manners=options.manners(), stop=stop, jitter=jitter)
        parts = self._polite.parts
        self.address = address
        self.traffic = self._polite.traffic
        self._parameters = urllib.parse.parse_qsl(parts.query, keep_blank_values=True)
        self._base = urllib.parse.urlunsplit(parts._replace(query="", fragment=""))
        self._post_always = False

    def prune_cache(self) -> None:
        """Deletes answers on disk that are past their time."""
        if self._polite.cache is not None:
            self._polite.cache.prune()

    def select(
        self, query: str, /, *, fresh: bool = False, fits: Callable[[Row], bool] | None = None
    ) -> Answer:
        """Returns the whole answer to a SELECT query.

        Args:
            query: SPARQL 1.1.
            fresh: Whether to pass over the answer kept on disk.
            fits: Whether a row can be of this query: a proxy may mix answers up.

        Raises:
            QueryFailedError: This query failed (time, size, an error of the server's), with
                what partial answer came.
            EndpointError: The endpoint refuses, is away or asks to come back much later.
            StoppedError: The load was stopped.
        """
        self._polite.go_on()
        if not fresh:
            cached = self._cached(query)
            if cached is not None and not _stranger(cached, fits):
                self.traffic.from_cache += 1
                return cached
        partial: list[Row] = []
        try:
            return self._polite.run(lambda: self._attempt(query, partial, fits))
        except RequestFailedError as error:
            raise QueryFailedError(error.reason, tuple(partial)) from error

    def _cached(self, query: str) -> Answer | None:
        cache = self._polite.cache
        body = cache.get(self.address, query) if cache is not None else None
        if body is None:
            return None
        try:
            return Answer(_bindings(body))
        except ValueError:
            # Damaged: it is asked for again.
            return None

    def _attempt(
        self, query: str, partial: list[Row], fits: Callable[[Row], bool] | None
    ) -> Answer | Fault:
        partial.clear()
        request = self._request(query)
        content = None if request.data is None else cast(bytes, request.data)
        reply = send(
            self._polite, request.full_url, content=content, headers=dict(request.header_items())
        )
        if isinstance(reply, Fault):
            return reply
        if reply.code == 414 and not self._post_always:
            self._post_always = True
            return Fault("HTTP 414", of_query=True)
        return judge_status(reply) or self._judge(reply, query, partial, fits)

    def _request(self, query: str) -> urllib.request.Request:
        from SPARQLWrapper import GET, JSON, POST, SPARQLWrapper

        wrapper = SPARQLWrapper(self._base)
        for name, value in self._parameters:
            wrapper.addParameter(name, value)
        wrapper.setQuery(query)
        wrapper.setReturnFormat(JSON)
        # By header alone: not every server takes the parameters for the format.
        wrapper.setOnlyConneg(True)
        wrapper.setMethod(POST if self._post_always or len(query) > LONGEST_GET else GET)
        # The public way to a request would send it too: docs/decisions/013.
        request: urllib.request.Request = wrapper._createRequest()
        return request

    def _judge(
        self, reply: Reply, query: str, partial: list[Row], fits: Callable[[Row], bool] | None
    ) -> Answer | Fault:
        body, headers, media = reply.body, reply.headers, reply.media_type
        if not body.strip():
            return Fault(
                "HTTP 200 with an empty body, which Wikidata's query service sends to clients "
                "without a contact in their user agent",
                of_query=False,
            )
        try:
            bindings = _bindings(body)
        except ValueError as error:
            if is_html(body) or media == "text/html":
                return Fault("HTTP 200 with an HTML page in place of an answer", of_query=False)
            if TIMED_OUT.search(body[-20_000:]) is not None:
                return Fault(
                    "the query ran out of the endpoint's time while it answered",
                    of_query=True,
                    retry=False,
                )
            if "json" not in media:
                return Fault(
                    f"an answer of media type {media}; expected application/sparql-results+json",
                    of_query=False,
                )
            return Fault(f"an answer that is no SPARQL JSON ({error})", of_query=True)
        stranger = _stranger(Answer(bindings), fits)
        if stranger:
            return Fault(f"the answer to another query, with {stranger}", of_query=False)
        cap = headers.get("X-SPARQL-MaxRows", "").strip()
        max_rows = int(cap) if cap.isdecimal() and len(cap) < _MAX_CAP_DIGITS else None
        reason = partial_reason(headers)
        if reason:
            with contextlib.suppress(QueryFailedError):
                partial.extend(Answer(bindings).rows())
            return Fault(reason, of_query=True)
        # An answer that met the cap may lack rows: only all pages together show that.
        if self._polite.cache is not None and (max_rows is None or len(bindings) < max_rows):
            self._polite.cache.put(self.address, query, body)
        return Answer(bindings, max_rows)


def _stranger(answer: Answer, fits: Callable[[Row], bool] | None) -> str:
    """Returns the first row that is not of its query, as text; "" where all are."""
    if fits is None:
        return ""
    try:
        rows = answer.rows()
    except QueryFailedError as error:
        return error.reason
    for row in rows:
        if not fits(row):
            return f"{row.subject.value} {row.predicate.value} {row.object.value}"[:200]
    return ""


def partial_reason(headers: Mapping[str, str], /) -> str:
    """Returns why an answer is partial, as Virtuoso says it in headers; "" if it is not."""
    state = headers.get("X-SQL-State", "").strip()
    message = headers.get("X-SQL-Message", "").strip()
    if state or message:
        return f"a partial answer ({' '.join((state, message)).strip()[:200]})"
    return ""


_JSON_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_BAD_CHARACTER = re.compile(rb"\\(?:U([0-9A-Fa-f]{8})|(.))|[\x00-\x1f]", re.DOTALL)


def _repaired(body: bytes) -> bytes:
    r"""Returns JSON with the escapes put right that Virtuoso and others write into its strings.

    >>> _repaired(rb'["\U0001F600 it\'s"]').decode()
    '["😀 it\'s"]'
    """
    return _JSON_STRING.sub(lambda text: _BAD_CHARACTER.sub(_repaired_character, text[0]), body)


def _repaired_character(match: re.Match[bytes]) -> bytes:
    if match[1] is not None:
        code = int(match[1], 16)
        is_character = code <= 0x10FFFF and not 0xD800 <= code < 0xE000
        # Left as it is, it is no JSON, and the answer is refused.
        return orjson.dumps(chr(code))[1:-1] if is_character else match[0]
    if match[2] is not None:
        return b"'" if match[2] == b"'" else match[0]
    return b"\\u%04x" % match[0][0]


def _bindings(body: bytes) -> tuple[Mapping[str, Term], ...]:
    """Returns the bindings of SPARQL's JSON; raises ``ValueError`` for anything else."""
    body = body.removeprefix(b"\xef\xbb\xbf")
    try:
        payload = orjson.loads(body)
    except orjson.JSONDecodeError:
        payload = orjson.loads(_repaired(body))
    try:
        bindings = payload["results"]["bindings"]
        if not isinstance(bindings, list):
            raise TypeError("no list of bindings")
        return tuple(
            {name: read_term(term) for name, term in binding.items()} for binding in bindings
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not SPARQL JSON: {error}") from error
