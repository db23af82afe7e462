"""Connections whose every read is bounded by a time and a number of bytes, redirects included.

A socket's own time limit is for each piece, so one byte a second, or ``100 Continue`` again and
again, would hold a request for ever.
"""

from __future__ import annotations

import http.client
import io
import ipaddress
import socket
import time
import urllib.parse
import urllib.request
from dataclasses import dataclass
from typing import Any, cast

_BUFFER_BYTES = 1 << 16
# Status lines and headers, redirects' too, beside the body.
_HEADER_BYTES = 1 << 20
_LEAST_TIMEOUT_S = 0.001


class AnswerTooLargeError(OSError):
    """More bytes came than an answer may have."""


class RedirectRefusedError(OSError):
    """A redirect leads to where the address that was given does not."""


@dataclass(slots=True)
class Bounds:
    """What one request may take, all of its redirects together.

    Attributes:
        deadline: On the monotonic clock.
        max_bytes: As they come, packed or not.
        kind: What kind of place the address given is, see ``place_of``; None before it is known.
        redirected: Whether the request was redirected.
    """

    deadline: float
    max_bytes: int
    received: int = 0
    kind: str | None = None
    redirected: bool = False

    @property
    def seconds_left(self) -> float:
        """Time left; raises ``TimeoutError`` where there is none."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time for the request is over")
        return max(left, _LEAST_TIMEOUT_S)

    def receive(self, count: int, /) -> None:
        """Counts bytes; raises ``AnswerTooLargeError`` where they are too many."""
        self.received += count
        if self.received > self.max_bytes + _HEADER_BYTES:
            raise AnswerTooLargeError(f"an answer larger than {self.max_bytes} bytes")

    def check_place(self, address: str, /) -> None:
        """Raises ``RedirectRefusedError`` for a redirect into a private network, unless the
        address given lies in one of that kind.

        Args:
            address: The IP address that is connected to.
        """
        kind = place_of(address)
        if not self.redirected:
            self.kind = kind
        elif kind not in ("public", self.kind):
            raise RedirectRefusedError(
                f"a redirect to {address}, a {kind} address; the address given is {self.kind}"
            )


def place_of(address: str, /) -> str:
    """Returns whether an IP address is ``loopback``, ``link-local``, ``private`` or ``public``.

    >>> place_of("127.0.0.1"), place_of("169.254.169.254"), place_of("::ffff:10.0.0.1")
    ('loopback', 'link-local', 'private')
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(found, "ipv4_mapped", None)
    if mapped is not None:
        found = mapped
    if found.is_loopback:
        return "loopback"
    if found.is_link_local:
        return "link-local"
    return "public" if found.is_global and not found.is_multicast else "private"


@dataclass(slots=True)
class _BoundedRequest:
    """What a request of urllib's carries, through redirects too."""

    bounds: Bounds
    first_scheme: str


class _BoundedReader(io.RawIOBase):
    def __init__(self, sock: Any, bounds: Bounds) -> None:
        self._socket = sock
        # Keeps the socket open when urllib closes its own end of it.
        self._raw = sock.makefile("rb", buffering=0)
        self._bounds = bounds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object, /) -> int:
        self._socket.settimeout(self._bounds.seconds_left)
        count = self._raw.readinto(buffer) or 0
        self._bounds.receive(count)
        return int(count)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _BoundedSocket:
    """What a response makes a file of."""

    def __init__(self, sock: Any, bounds: Bounds) -> None:
        self._socket = sock
        self._bounds = bounds

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_BoundedReader(self._socket, self._bounds), _BUFFER_BYTES)


class _BoundedConnection(http.client.HTTPConnection):
    bounds: Bounds
    checks_place = True

    def connect(self) -> None:
        self.timeout = self.bounds.seconds_left
        super().connect()
        if self.checks_place:
            try:
                self.bounds.check_place(str(self.sock.getpeername()[0]))
            except RedirectRefusedError:
                self.close()
                raise

    def response_class(self, sock: Any, *args: Any, **options: Any) -> Any:  # type: ignore[override]
        return http.client.HTTPResponse(
            cast(socket.socket, _BoundedSocket(sock, self.bounds)), *args, **options
        )


class _BoundedSecureConnection(_BoundedConnection, http.client.HTTPSConnection):
    pass


class _Handler(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    def http_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_connect(_BoundedConnection, request), request)

    def https_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_connect(_BoundedSecureConnection, request), request)


def _connect(kind: type[_BoundedConnection], request: urllib.request.Request) -> Any:
    def make(host: str, **options: Any) -> _BoundedConnection:
        connection = kind(host, **options)
        connection.bounds = _carried(request).bounds
        # Behind a proxy its address is the one connected to, and says nothing of the host.
        connection.checks_place = not request.has_proxy() and not request._tunnel_host  # type: ignore[attr-defined]
        return connection

    return make


class _Redirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: Any,
        code: int,
        msg: str,
        headers: Any,
        newurl: str,
    ) -> urllib.request.Request | None:
        carried = _carried(req)
        _check_redirect(carried, newurl)
        made = super().redirect_request(req, fp, code, msg, headers, newurl)
        if made is not None:
            carried.bounds.redirected = True
            made.bounded = carried  # type: ignore[attr-defined]
        return made


def _carried(request: urllib.request.Request) -> _BoundedRequest:
    carried: _BoundedRequest = request.bounded  # type: ignore[attr-defined]
    return carried


def _check_redirect(carried: _BoundedRequest, address: str) -> None:
    parts = urllib.parse.urlsplit(address)
    first = carried.first_scheme
    if parts.scheme != first and (first, parts.scheme) != ("http", "https"):
        raise RedirectRefusedError(
            f"a redirect from {first} to {parts.scheme or 'nowhere'}: {address[:200]}"
        )
    # A name is checked where it is connected to; behind a proxy an address is all to go by.
    kind = _place_named(parts.hostname or "")
    allowed = carried.bounds.kind
    if kind not in (None, "public", allowed):
        raise RedirectRefusedError(
            f"a redirect to {address[:200]}, a {kind} address; the address given is "
            f"{allowed or 'behind a proxy'}"
        )


def _place_named(host: str) -> str | None:
    """Returns what kind of place a host is by its name alone; None where that does not say it."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return "loopback"
    try:
        return place_of(host)
    except ValueError:
        return None


def open_bounded(request: urllib.request.Request, /, *, timeout_s: float, max_bytes: int) -> Any:
    """Sends a request and returns its response as urllib gives it, every read of it bounded.

    Raises:
        HTTPError: A status other than 2xx.
        URLError, OSError, HTTPException: No response; too late, too large or redirected to
            where it may not be among them.
    """
    host = urllib.parse.urlsplit(request.full_url).hostname or ""
    bounds = Bounds(time.monotonic() + timeout_s, max_bytes, kind=_place_named(host))
    request.bounded = _BoundedRequest(bounds, request.type)  # type: ignore[attr-defined]
    opener = urllib.request.build_opener(_Handler, _Redirects)
    return opener.open(request, timeout=timeout_s)
