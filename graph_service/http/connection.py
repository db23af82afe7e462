"""The one HTTP client: the time and the bytes of every exchange are bounded, redirects included.

httpx's time limits hold for each read, so one byte a second, or ``100 Continue`` again and again,
would hold a request for ever. Here a request carries its ``Bounds`` in the place of those limits,
and the connection asks them before and after every read.
"""

from __future__ import annotations

import contextlib
import functools
import ipaddress
import socket
import ssl
import threading
import time
import urllib.request
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import httpcore
import httpx

from graph_service import __version__
from graph_service.errors import SetupError

# Status lines and headers, redirects' too, beside the body.
_HEADER_BYTES = 1 << 20
_LEAST_TIMEOUT_S = 0.001
_MAX_REDIRECTS = 10
# Small enough for one call to send it whole or not at all: then no send outlasts its time limit.
_SENT_BYTES = 1 << 14
_BOUNDS = "graph_service.bounds"


class AnswerTooLargeError(httpx.TransportError):
    """More bytes came than an answer may have."""


class RedirectRefusedError(httpx.TransportError):
    """A redirect leads to where the address that was given does not."""


@dataclass(slots=True)
class Bounds:
    """What one request may take, all of its redirects together.

    Attributes:
        deadline: On the monotonic clock.
        max_bytes: Of the body, as it comes and unpacked.
        received: Bytes that came, headers included.
        scheme: Of the address given; "" before it is known.
        kind: Which network the address is in, as ``network_kind`` has it; None before that is known.
        redirected: Whether the request was redirected.
    """

    deadline: float
    max_bytes: int
    received: int = 0
    scheme: str = ""
    kind: str | None = None
    redirected: bool = False

    @property
    def seconds_left(self) -> float:
        """Time left; raises ``httpx.ReadTimeout`` where there is none."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise httpx.ReadTimeout("the time for the request is over")
        return max(left, _LEAST_TIMEOUT_S)

    def receive(self, count: int, /) -> None:
        """Counts bytes; raises ``AnswerTooLargeError`` where they are too many."""
        self.received += count
        self.check_size(self.received - _HEADER_BYTES)

    def check_size(self, count: int, /) -> None:
        """Raises ``AnswerTooLargeError`` for a body of so many bytes."""
        if count > self.max_bytes:
            raise AnswerTooLargeError(f"an answer larger than {self.max_bytes} bytes")

    def check_address(self, url: httpx.URL, /) -> None:
        """Notes the address given; raises ``RedirectRefusedError`` where a redirect may not lead.

        A redirect may change http to https, and no other scheme. A name is checked where it is
        connected to; behind a proxy an IP address is all to go by.
        """
        kind = _network_kind_named(url.host)
        if not self.scheme:
            self.scheme, self.kind = url.scheme, kind
            return
        self.redirected = True
        if url.scheme != self.scheme and (self.scheme, url.scheme) != ("http", "https"):
            raise RedirectRefusedError(
                f"a redirect from {self.scheme} to {url.scheme}: {str(url)[:200]}"
            )
        if kind not in (None, "public", self.kind):
            raise RedirectRefusedError(
                f"a redirect to {str(url)[:200]}, a {kind} address; the address given is "
                f"{self.kind or 'behind a proxy'}"
            )

    def check_network(self, address: str, /) -> None:
        """Raises ``RedirectRefusedError`` for a redirect into a private network, unless the
        address given lies in one of that kind.

        Args:
            address: The IP address that is connected to.
        """
        kind = network_kind(address)
        if not self.redirected:
            self.kind = kind
        elif kind not in ("public", self.kind):
            raise RedirectRefusedError(
                f"a redirect to {address}, a {kind} address; the address given is {self.kind}"
            )


def network_kind(address: str, /) -> str:
    """Returns whether an IP address is ``loopback``, ``link-local``, ``private`` or ``public``.

    >>> network_kind("127.0.0.1"), network_kind("169.254.169.254"), network_kind("::ffff:10.0.0.1")
    ('loopback', 'link-local', 'private')
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(ip, "ipv4_mapped", None)
    if mapped is not None:
        ip = mapped
    if ip.is_loopback:
        return "loopback"
    if ip.is_link_local:
        return "link-local"
    return "public" if ip.is_global and not ip.is_multicast else "private"


def _network_kind_named(host: str) -> str | None:
    """Returns what kind of place a host is by its name alone; None where that does not say it."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return "loopback"
    try:
        return network_kind(host)
    except ValueError:
        return None


def open_client(*, timeout_s: float, max_bytes: int) -> httpx.Client:
    """Returns a client whose requests end in their time and at their size; threads may share it.

    It asks for gzip and unpacks it within the bounds. It raises httpx's errors, among them
    ``AnswerTooLargeError`` and ``RedirectRefusedError``. Proxies are those of the environment.

    Args:
        timeout_s: Seconds from the beginning of a request to the end of its answer, redirects
            included; a request's own ``timeout`` comes first.
        max_bytes: Size of a body, as it comes and unpacked.
    """
    return httpx.Client(
        transport=_BoundedTransport(max_bytes),
        timeout=timeout_s,
        follow_redirects=True,
        max_redirects=_MAX_REDIRECTS,
        headers={"User-Agent": f"graph-service/{__version__}", "Accept-Encoding": "gzip"},
    )


def bounds_of(response: httpx.Response, /) -> Bounds:
    """Returns the bounds of the request that a response answers; its deadline may be moved."""
    bounds: Bounds = response.request.extensions[_BOUNDS]
    return bounds


class _BoundedTransport(httpx.BaseTransport):
    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._pools: dict[str | None, httpcore.ConnectionPool] = {}
        self._lock = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        bounds: Bounds | None = request.extensions.get(_BOUNDS)
        if bounds is None:
            deadline = time.monotonic() + request.extensions["timeout"]["read"]
            # httpx hands the extensions of a request on to what it is redirected to.
            bounds = request.extensions[_BOUNDS] = Bounds(deadline, self._max_bytes)
        bounds.check_address(url)
        limits = dict.fromkeys(("connect", "read", "write"), bounds)
        proxy = _proxy_of(url)
        with _httpx_errors():
            response = self._pool(proxy).handle_request(
                httpcore.Request(
                    request.method,
                    httpcore.URL(
                        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
                    ),
                    headers=request.headers.raw,
                    content=cast(httpx.SyncByteStream, request.stream),
                    extensions={"timeout": {**limits, "pool": bounds.seconds_left}},
                )
            )
            if bounds.kind is None and proxy is None:
                # A connection that was kept: nothing was connected to, and nothing checked.
                peer = response.extensions["network_stream"].get_extra_info("server_addr")
                bounds.check_network(str(peer[0]))
        body = _BoundedBody(response, bounds)
        # Unpacked here, where it is bounded: httpx must not unpack it again, by any coding.
        headers = [(k, v) for k, v in response.headers if k.lower() != b"content-encoding"]
        return httpx.Response(
            response.status, headers=headers, stream=body, extensions=dict(response.extensions)
        )

    def close(self) -> None:
        with self._lock:
            for pool in self._pools.values():
                pool.close()

    def _pool(self, proxy: str | None) -> httpcore.ConnectionPool:
        with self._lock:
            if proxy not in self._pools:
                self._pools[proxy] = _open_pool(proxy)
            return self._pools[proxy]


class _BoundedBody(httpx.SyncByteStream):
    def __init__(self, response: httpcore.Response, bounds: Bounds) -> None:
        self._response = response
        self._bounds = bounds
        headers = httpx.Headers(response.headers)
        self._packed = headers.get("Content-Encoding", "").strip().lower() == "gzip"
        self._declared = headers.get("Content-Length", "")

    def __iter__(self) -> Iterator[bytes]:
        unpacker = zlib.decompressobj(wbits=31)
        size = came = 0
        try:
            with _httpx_errors():
                for data in self._response.iter_stream():
                    came += len(data)
                    if self._packed:
                        data = unpacker.decompress(data, self._bounds.max_bytes - size + 1)
                    size += len(data)
                    self._bounds.check_size(size)
                    yield data
        except httpx.RemoteProtocolError as error:
            if not self._declared:
                raise
            problem = f"{came} of {self._declared} bytes came"
            raise httpx.RemoteProtocolError(problem) from error
        if self._packed and came and not unpacker.eof:
            raise httpx.RemoteProtocolError("it ends inside its gzip stream")

    def close(self) -> None:
        self._response.close()


class _BoundedBackend(httpcore.NetworkBackend):
    """Opens connections for ``Bounds`` that come in the place of a time limit."""

    def __init__(self, *, to_proxy: bool) -> None:
        self._backend = httpcore.SyncBackend()
        self._to_proxy = to_proxy

    def connect_tcp(
        self, host: str, port: int, timeout: Any = None, *arguments: Any, **options: Any
    ) -> httpcore.NetworkStream:
        bounds: Bounds = timeout
        targets = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        for left, (*_, target) in zip(range(len(targets), 0, -1), targets, strict=True):
            address = str(target[0])
            # A proxy's own address says nothing of the host behind it.
            if not self._to_proxy:
                bounds.check_network(address)
            try:
                stream = self._backend.connect_tcp(
                    address, port, bounds.seconds_left / left, *arguments, **options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if left == 1:
                    raise
                continue
            return _BoundedStream(stream, bounds)
        raise httpcore.ConnectError(f"{host} has no address")


class _BoundedStream(httpcore.NetworkStream):
    """A connection; what it reads and writes is bounded by the request that it serves."""

    def __init__(self, stream: httpcore.NetworkStream, opened_for: Bounds) -> None:
        self._stream = stream
        # httpcore greets SOCKS proxies without a time limit.
        self._opened_for = opened_for

    def read(self, max_bytes: int, timeout: Any = None) -> bytes:
        bounds: Bounds = timeout or self._opened_for
        data = self._stream.read(max_bytes, bounds.seconds_left)
        bounds.receive(len(data))
        return data

    def write(self, buffer: bytes, timeout: Any = None) -> None:
        bounds: Bounds = timeout or self._opened_for
        for start in range(0, len(buffer), _SENT_BYTES):
            self._stream.write(buffer[start : start + _SENT_BYTES], bounds.seconds_left)

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: Any = None
    ) -> httpcore.NetworkStream:
        bounds: Bounds = timeout or self._opened_for
        stream = self._stream.start_tls(ssl_context, server_hostname, bounds.seconds_left)
        return _BoundedStream(stream, bounds)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def close(self) -> None:
        self._stream.close()


@contextlib.contextmanager
def _httpx_errors() -> Iterator[None]:
    """Raises httpcore's errors, and those of names and of gzip, as httpx's.

    The cause of each is what the system, TLS or the parser of HTTP said, where there is that:
    httpcore keeps it as an argument, and its pool drops the chain.
    """
    try:
        yield
    except zlib.error as error:
        raise httpx.DecodingError(str(error)) from error
    except (OSError, UnicodeError) as error:
        raise httpx.ConnectError(str(error)) from error
    except (
        httpcore.TimeoutException,
        httpcore.NetworkError,
        httpcore.ProtocolError,
        httpcore.ProxyError,
        httpcore.UnsupportedProtocol,
    ) as error:
        error_type: type[httpx.TransportError] = getattr(httpx, type(error).__name__)
        cause = next(
            (argument for argument in error.args if isinstance(argument, Exception)), error
        )
        raise error_type(str(error)) from cause


def _proxy_of(url: httpx.URL) -> str | None:
    proxies = urllib.request.getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or urllib.request.proxy_bypass(url.netloc.decode()):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _open_pool(proxy: str | None) -> httpcore.ConnectionPool:
    options: dict[str, Any] = {
        "ssl_context": _ssl_context(),
        "max_connections": None,
        "max_keepalive_connections": 20,
        "keepalive_expiry": 5.0,
        "network_backend": _BoundedBackend(to_proxy=proxy is not None),
    }
    if proxy is None:
        return httpcore.ConnectionPool(**options)
    try:
        known = httpx.Proxy(proxy)
        socks = known.url.scheme.startswith("socks")
        kind = httpcore.SOCKSProxy if socks else httpcore.HTTPProxy
        return kind(proxy_url=str(known.url), proxy_auth=known.raw_auth, **options)
    except (RuntimeError, ValueError, httpx.InvalidURL) as error:
        raise SetupError(
            f"the proxy that the environment names can't be used: {error}",
            hint="Check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY; NO_PROXY names hosts without one.",
        ) from error


@functools.cache
def _ssl_context() -> ssl.SSLContext:
    # certifi's certificates, or those of SSL_CERT_FILE, and the machine's own.
    context = httpx.create_ssl_context()
    context.load_default_certs()
    return context
