"""Who may call: the host, the origin of a page, and the key.

A localhost server is open to every page that its user visits. A page elsewhere can give its own
name this server's address (DNS rebinding), so Host is checked. It can send what a form can send
without asking, so Origin is checked and a POST has to be JSON; a GET that no page may read is told
by what browsers say of each request (Fetch Metadata).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response

from graph_service.server.keyring import Keyring
from graph_service.server.keys import Caller
from graph_service.server.refusals import refusal

LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
ANY_HOST = "*"
CHALLENGE = 'Bearer realm="graph-service"'
_OTHER_SITES = ("cross-site", "same-site")


@dataclass(frozen=True, slots=True)
class Admission:
    """Who may call.

    Attributes:
        api_key: A key that may do everything, which clients send as a bearer token or as
            ``x-api-key``; empty for none.
        keys: A file of further keys; None for none. Without both nobody needs a key.
        hosts: Values of the Host header that are served, without port; ``*`` for any.
        addresses: Whether IP addresses are served as Host too. A page elsewhere can give its
            own name this server's address, but not an address.
        origins: Origins of web pages that may call, besides the server's own.
        any_origin: Whether pages of every origin may call.
    """

    api_key: str = ""
    keys: Path | None = None
    hosts: Sequence[str] = LOCAL_HOSTS
    addresses: bool = False
    origins: Sequence[str] = ()
    any_origin: bool = False

    def refuse_page(self, headers: Headers, /) -> Response | None:
        """Returns why this server does not answer under a host, or to a page; None if it does."""
        host = headers.get("host", "")
        name = (host if host.endswith("]") else host.rsplit(":", 1)[0]).lower()
        if not self._serves(name):
            return refusal(
                421,
                "FORBIDDEN",
                f"this server does not answer for host {name[:100]!r}; "
                "its operator can add it: graph-service serve --allow-host NAME",
            )
        origin = headers.get("origin")
        if origin is not None and not self._may_call(origin, host):
            return refusal(403, "FORBIDDEN", f"pages of {origin[:100]!r} may not call this server")
        return None

    def refuse_unasked(self, headers: Headers, /) -> Response | None:
        """Returns why a GET is refused that a page of another site sends without asking.

        An image or a link needs no permission to be fetched. The page can't read the answer, but
        the server would work for it. A request that a page may read names its origin.
        """
        if "origin" in headers or headers.get("sec-fetch-site") not in _OTHER_SITES:
            return None
        return refusal(403, "FORBIDDEN", "pages of other sites may not send queries by links")

    def _serves(self, name: str) -> bool:
        hosts = [known.lower() for known in self.hosts]
        if name in hosts or ANY_HOST in hosts:
            return True
        return self.addresses and is_address(name)

    def _may_call(self, origin: str, host: str) -> bool:
        return self.any_origin or origin in self.origins or _is_own(origin, host)


def admit(headers: Headers, keyring: Keyring, /) -> Caller | Response:
    """Returns whose request it is by the key that it has; why it is refused where it has none."""
    tokens = list(tokens_of(headers))
    caller = keyring.find(tokens)
    if caller is not None:
        return caller
    challenge = f'{CHALLENGE}, error="invalid_token"' if tokens else CHALLENGE
    return refusal(
        401,
        "FORBIDDEN",
        "send the API key: Authorization: Bearer KEY, or x-api-key: KEY",
        {"www-authenticate": challenge},
    )


def tokens_of(headers: Headers, /) -> Iterator[bytes]:
    """Yields the keys that a request has: of Authorization, and of ``x-api-key``.

    The scheme's name is read in any case (RFC 9110, 11.1).
    """
    # Starlette decodes headers as Latin-1; the bytes sent are what counts.
    scheme, _, token = headers.get("authorization", "").encode("latin-1").partition(b" ")
    if scheme.lower() == b"bearer" and token.strip():
        yield token.strip()
    if "x-api-key" in headers:
        yield headers["x-api-key"].encode("latin-1")


def is_address(name: str, /) -> bool:
    """Returns whether a host is an IP address, IPv6 in brackets."""
    inner = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    try:
        return (ipaddress.ip_address(inner).version == 6) == (inner is not name)
    except ValueError:
        return False


def _is_own(origin: str, host: str) -> bool:
    """Returns whether a page of this origin came from this server."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.netloc == host and parts.scheme in ("http", "https")
