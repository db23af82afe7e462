"""One SPARQL endpoint, asked politely through SPARQLWrapper, with every known fault told apart.

What SPARQLWrapper 2.0 does, and what is done about it here: it raises its own exceptions for
400, 401, 404, 414 and 500 and loses their headers (the ``HTTPError`` behind them still has
them, and the message quotes the body as it came, packed or not), urllib's for the rest; a cut body passes as a short one (so lengths are compared); it
puts ``?`` behind an address that has one; a timeout under one second means none.
"""

from __future__ import annotations

import ast
import http.client
import random
import re
import threading
import time
import urllib.error
import urllib.parse
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import orjson

from graph_service import __version__
from graph_service.errors import InputError, SetupError
from loaders.sparql.cache import AnswerCache
from loaders.sparql.options import EndpointOptions
from loaders.sparql.terms import Row, Term, read_term

if TYPE_CHECKING:
    from SPARQLWrapper import SPARQLWrapper

# Longer queries go by POST: servers and what stands before them cut long addresses.
LONGEST_GET = 1_500
FIRST_BACKOFF_S, LONGEST_BACKOFF_S = 1.0, 60.0
# So many failed queries without one that worked: it is the endpoint, not the queries.
FAILURES_IN_A_ROW = 12
_CHUNK = 1 << 16
# An error's words stand at its beginning, within stack traces of some kilobytes.
_ERROR_BYTES = 1 << 16
_WIKIMEDIA = re.compile(
    r"(?:^|\.)(?:wikidata|wikimedia|wikipedia|mediawiki|wmflabs|wmcloud|toolforge)\.org$"
)
_LOCAL = re.compile(r"localhost|127(?:\.\d+){3}|::1")
_CONTACT = re.compile(r"[^\s()@<>]+@[^\s()@<>]+\.[^\s()@<>]+|https?://[^\s()<>]+\.[^\s()<>]+")
_TIMED_OUT = re.compile(rb"time[- ]?d? ?out|TimeoutException|exceeds the limit|S1T00", re.I)
_HTML = re.compile(rb"\s*(?:<!doctype html|<html)", re.I)


class EndpointError(SetupError):
    """The endpoint can't be used, or not now. What was read so far is kept for a resumed load."""

    retryable = True


class QueryFailedError(Exception):
    """One query failed, and a smaller one may not.

    Attributes:
        reason: What came.
        rows: What came of it nevertheless, all of it true, not all there is.
    """

    def __init__(self, reason: str, rows: tuple[Row, ...] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.rows = rows


class StoppedError(Exception):
    """The load was told to stop while it waited."""


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
            return tuple(Row(one["s"], one["p"], one["o"]) for one in self.bindings)
        except KeyError as error:
            raise QueryFailedError(f"an answer without a value for {error}") from error


@dataclass(frozen=True, slots=True)
class _Fault:
    """Why an attempt failed.

    Attributes:
        of_query: Whether a smaller query may work; else the endpoint itself does not.
        retry: Whether the same query may work later.
        retry_after_s: What the endpoint asked to wait, or None.
    """

    reason: str
    of_query: bool
    retry: bool = True
    retry_after_s: float | None = None
    rows: tuple[Row, ...] = ()


@dataclass(slots=True)
class Traffic:
    """What was exchanged so far."""

    requests: int = 0
    retries: int = 0
    from_cache: int = 0
    bytes_read: int = 0


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
        parts = _split_address(address)
        host = parts.hostname or ""
        self.address = address
        self.traffic = Traffic()
        self._options = options
        self._agent = user_agent(host, options.contact)
        self._parameters = urllib.parse.parse_qsl(parts.query, keep_blank_values=True)
        self._bare = urllib.parse.urlunsplit(parts._replace(query="", fragment=""))
        interval = options.interval_s
        self._interval_s = (
            (0.0 if _LOCAL.fullmatch(host) else 1.0) if interval is None else interval
        )
        self._stop = stop or threading.Event()
        self._jitter = jitter or random.Random().random
        self._ended_at: float | None = None
        self._failures = 0
        self._post_always = False
        self._cache: AnswerCache | None = None
        if options.cache_dir is not None:
            self._cache = AnswerCache(
                options.cache_dir, days=options.cache_days, max_bytes=options.max_answer_bytes
            )

    def prune_cache(self) -> None:
        """Deletes answers on disk that are past their time."""
        if self._cache is not None:
            self._cache.prune()

    def ask(self, query: str, /, *, fresh: bool = False) -> Answer:
        """Returns the whole answer to a SELECT query.

        Args:
            query: SPARQL 1.1.
            fresh: Whether to pass over the answer kept on disk.

        Raises:
            QueryFailedError: This query failed (time, size, an error of the server's), with
                what partial answer came.
            EndpointError: The endpoint refuses, is away or asks to come back much later.
            StoppedError: The load was stopped.
        """
        if self._stop.is_set():
            raise StoppedError
        if self._cache is not None and not fresh:
            body = self._cache.get(self.address, query)
            if body is not None:
                try:
                    answer = Answer(_bindings(body))
                except ValueError:
                    pass
                else:
                    self.traffic.from_cache += 1
                    return answer
        return self._ask_now(query)

    def _ask_now(self, query: str) -> Answer:
        fault = _Fault("", of_query=False)
        for attempt in range(1, self._options.max_attempts + 1):
            self._pause(attempt, fault)
            result = self._attempt(query)
            self._ended_at = time.monotonic()
            if isinstance(result, Answer):
                self._failures = 0
                return result
            fault = result
            if not fault.retry:
                break
        self._failures += 1
        if not fault.of_query or self._failures >= FAILURES_IN_A_ROW:
            raise EndpointError(
                f"{self.address} can't be read: {fault.reason}",
                argument="endpoint",
                hint="What was read is kept: the same command goes on from there.",
            )
        raise QueryFailedError(fault.reason, fault.rows)

    def _pause(self, attempt: int, fault: _Fault) -> None:
        wait = 0.0
        if self._ended_at is not None:
            wait = max(0.0, self._ended_at + self._interval_s - time.monotonic())
        if attempt > 1:
            self.traffic.retries += 1
            backoff = min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2.0 ** (attempt - 2))
            # Half of it at random, so that clients turned away together don't return together.
            wait = max(wait, backoff * (0.5 + self._jitter() / 2))
        if fault.retry_after_s is not None:
            if fault.retry_after_s > self._options.max_wait_s:
                raise EndpointError(
                    f"{self.address} asks to wait {fault.retry_after_s:.0f} seconds "
                    f"({fault.reason}); at most {self._options.max_wait_s:.0f} are waited",
                    argument="endpoint",
                    hint="What was read is kept: run the same command later to go on.",
                )
            wait = max(wait, fault.retry_after_s)
        if self._stop.wait(wait):
            raise StoppedError

    def _attempt(self, query: str) -> Answer | _Fault:
        from SPARQLWrapper.SPARQLExceptions import SPARQLWrapperException

        self.traffic.requests += 1
        deadline = time.monotonic() + self._options.timeout_s
        try:
            result = self._wrapper(query).query()
        except urllib.error.HTTPError as error:
            return self._refusal(error)
        except SPARQLWrapperException as error:
            behind = error.__context__
            if isinstance(behind, urllib.error.HTTPError):
                return self._refusal(behind, quoted_body(error))
            return _Fault(f"{error}", of_query=False)
        except (OSError, http.client.HTTPException) as error:
            return _network_fault(error, self._options.timeout_s)
        try:
            body = self._body(result.response, deadline)
        except (OSError, http.client.HTTPException, zlib.error, QueryFailedError) as error:
            if isinstance(error, QueryFailedError):
                return _Fault(error.reason, of_query=True, retry="larger" not in error.reason)
            if isinstance(error, TimeoutError):
                return _network_fault(error, self._options.timeout_s)
            return _Fault(f"the answer was cut ({type(error).__name__}: {error})", of_query=True)
        finally:
            result.response.close()
        return self._judge(body, result.response.headers, query)

    def _wrapper(self, query: str) -> SPARQLWrapper:
        from SPARQLWrapper import GET, JSON, POST, SPARQLWrapper

        wrapper = SPARQLWrapper(self._bare, agent=self._agent)
        for name, value in self._parameters:
            wrapper.addParameter(name, value)
        wrapper.setQuery(query)
        wrapper.setReturnFormat(JSON)
        # By header alone: not every server takes the parameters for the format.
        wrapper.setOnlyConneg(True)
        wrapper.setMethod(POST if self._post_always or len(query) > LONGEST_GET else GET)
        wrapper.setTimeout(self._options.timeout_s)
        wrapper.addCustomHttpHeader("Accept-Encoding", "gzip")
        return wrapper

    def _body(self, response: Any, deadline: float) -> bytes:
        limit = self._options.max_answer_bytes
        packed = response.headers.get("Content-Encoding", "").strip().lower() == "gzip"
        unpacker = zlib.decompressobj(wbits=31) if packed else None
        pieces: list[bytes] = []
        size = read = 0
        while data := response.read(_CHUNK):
            read += len(data)
            if unpacker is not None:
                data = unpacker.decompress(data, limit - size + 1)
            size += len(data)
            pieces.append(data)
            if size > limit:
                raise QueryFailedError(f"an answer larger than {limit} bytes")
            # The socket's time limit is for each piece; a trickle would never end.
            if time.monotonic() > deadline:
                raise QueryFailedError(f"no end of the answer in {self._options.timeout_s} s")
        self.traffic.bytes_read += read
        declared = response.headers.get("Content-Length", "")
        if declared.isdecimal() and int(declared) != read:
            raise QueryFailedError(f"the answer was cut: {read} of {declared} bytes came")
        if unpacker is not None and read and not unpacker.eof:
            raise QueryFailedError("the answer was cut inside its gzip stream")
        return b"".join(pieces)

    def _refusal(self, error: urllib.error.HTTPError, body: bytes = b"") -> _Fault:
        """Returns what an HTTP status means, and closes the connection."""
        code = error.code
        after = retry_after_s(error.headers.get("Retry-After"))
        try:
            body = body or error.read(_ERROR_BYTES)
        except (OSError, http.client.HTTPException, ValueError):
            # The status says enough; the body only says more.
            pass
        finally:
            error.close()
        text = unpacked_beginning(body)
        reason = f"HTTP {code}"
        if code == 414 and not self._post_always:
            self._post_always = True
            return _Fault(reason, of_query=True)
        if code in (413, 414):
            return _Fault(f"{reason}, the query is too long", of_query=True, retry=False)
        if code in (500, 504):
            timed_out = code == 504 or _TIMED_OUT.search(text) is not None
            # Asked again, it would take as long again: a smaller query is better.
            return _Fault(
                f"{reason}, the query ran out of the endpoint's time" if timed_out else reason,
                of_query=True,
                retry=not timed_out,
                retry_after_s=after,
            )
        if code == 429:
            return _Fault(f"{reason}, too many requests", of_query=False, retry_after_s=after)
        if code in (408, 425, 502, 503):
            return _Fault(f"{reason}, not available", of_query=False, retry_after_s=after)
        meaning = {
            400: "it does not take the query",
            401: "it asks for a password",
            403: "it refuses; Wikimedia's does so to clients without a contact (--contact)",
            404: "there is no endpoint at this address",
        }.get(code, "")
        return _Fault(f"{reason}{', ' if meaning else ''}{meaning}", of_query=False, retry=False)

    def _judge(self, body: bytes, headers: Any, query: str) -> Answer | _Fault:
        media = headers.get_content_type()
        if not body.strip():
            return _Fault(
                "HTTP 200 with an empty body, which Wikidata's query service sends to clients "
                "without a contact in their user agent",
                of_query=False,
            )
        try:
            bindings = _bindings(body)
        except ValueError as error:
            if _HTML.match(body) or media == "text/html":
                return _Fault("HTTP 200 with an HTML page in place of an answer", of_query=False)
            if _TIMED_OUT.search(body[-20_000:]) is not None:
                return _Fault(
                    "the query ran out of the endpoint's time while it answered",
                    of_query=True,
                    retry=False,
                )
            if "json" not in media:
                return _Fault(
                    f"an answer of media type {media}; expected application/sparql-results+json",
                    of_query=False,
                )
            return _Fault(f"an answer that is no SPARQL JSON ({error})", of_query=True)
        cap = headers.get("X-SPARQL-MaxRows", "").strip()
        max_rows = int(cap) if cap.isdecimal() else None
        partial = partial_reason(headers)
        if partial:
            try:
                rows = Answer(bindings).rows()
            except QueryFailedError:
                rows = ()
            return _Fault(partial, of_query=True, rows=rows)
        # An answer that met the cap may lack rows: only all pages together show that.
        if self._cache is not None and (max_rows is None or len(bindings) < max_rows):
            self._cache.put(self.address, query, body)
        return Answer(bindings, max_rows)


def quoted_body(error: Exception, /) -> bytes:
    r"""Returns the body that an exception of SPARQLWrapper's quotes in its message, b"" for none.

    >>> quoted_body(ValueError("EndPointInternalError: 500. \n\nResponse:\nb'\\x1f\\x8b'"))
    b'\x1f\x8b'
    """
    text = str(error.args[0]) if error.args else ""
    quoted = text.partition("Response:\n")[2]
    try:
        body = ast.literal_eval(quoted) if quoted else b""
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return quoted.encode("utf-8", "replace")
    return body if isinstance(body, bytes) else quoted.encode("utf-8", "replace")


def unpacked_beginning(body: bytes, /) -> bytes:
    """Returns the beginning of an error's body, unpacked where it is gzip."""
    if not body.startswith(b"\x1f\x8b"):
        return body[:_ERROR_BYTES]
    try:
        return zlib.decompressobj(wbits=31).decompress(body, _ERROR_BYTES)
    except zlib.error:
        return b""


def _split_address(address: str) -> urllib.parse.SplitResult:
    try:
        parts = urllib.parse.urlsplit(address)
        host = parts.hostname
    except ValueError:
        parts, host = urllib.parse.SplitResult("", "", "", "", ""), None
    # urllib would open file: and ftp: addresses too.
    if parts.scheme not in ("http", "https") or not host or re.search(r"[\x00-\x20]", address):
        raise InputError(
            f"{address!r} is no endpoint; expected an address such as https://host/sparql",
            argument="endpoint",
        )
    if parts.username is not None:
        raise InputError(
            "the endpoint's address holds a user name; endpoints with passwords are not read",
            argument="endpoint",
        )
    return parts


def user_agent(host: str, contact: str | None, /) -> str:
    """Returns the user agent for a host.

    Raises:
        InputError: The contact is neither a mail address nor a URL, or there is none and the
            host is Wikimedia's.

    >>> user_agent("localhost", None).startswith("graph-service/")
    True
    """
    if not contact:
        if _WIKIMEDIA.search(host):
            raise InputError(
                f"{host} wants to know whom to write to: give a mail address or a URL",
                argument="contact",
                hint="Say --contact you@example.org, or set GRAPH_SERVICE_CONTACT.",
            )
        return f"graph-service/{__version__}"
    if not _CONTACT.fullmatch(contact) or not contact.isascii():
        raise InputError(
            f"{contact!r} is no contact; expected a mail address or a URL", argument="contact"
        )
    return f"graph-service/{__version__} ({contact})"


def retry_after_s(value: str | None, /) -> float | None:
    """Returns the seconds of a Retry-After header, in seconds or as a date; None if unreadable.

    >>> retry_after_s("12"), retry_after_s("Thu, 01 Jan 1970 00:00:00 GMT"), retry_after_s("soon")
    (12.0, 0.0, None)
    """
    if value is None:
        return None
    text = value.strip()
    if text.isdecimal():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def partial_reason(headers: Any, /) -> str:
    """Returns why an answer is partial, as Virtuoso says it in headers; "" if it is not."""
    state = headers.get("X-SQL-State", "").strip()
    message = headers.get("X-SQL-Message", "").strip()
    if state or message:
        return f"a partial answer ({' '.join((state, message)).strip()[:200]})"
    return ""


def _network_fault(error: BaseException, timeout_s: int) -> _Fault:
    behind = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(behind, TimeoutError):
        return _Fault(f"no answer in {timeout_s} s", of_query=True)
    if isinstance(behind, (ConnectionResetError, BrokenPipeError, http.client.HTTPException)):
        return _Fault(f"the connection was cut ({type(behind).__name__})", of_query=True)
    return _Fault(f"no connection ({behind})", of_query=False)


def _bindings(body: bytes) -> tuple[Mapping[str, Term], ...]:
    """Returns the bindings of SPARQL's JSON; raises ``ValueError`` for anything else."""
    payload = orjson.loads(body)
    try:
        bindings = payload["results"]["bindings"]
        if not isinstance(bindings, list):
            raise TypeError("no list of bindings")
        return tuple({name: read_term(term) for name, term in one.items()} for one in bindings)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not SPARQL JSON: {error}") from error
