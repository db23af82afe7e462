"""Cross-origin requests: which pages of other origins may call, and read what is answered.

A browser asks before it sends what a page could not send by a form (a preflight), and gives the
page an answer only if the answer names the page's origin (Fetch standard, 3.2). Every answer has
these headers, refusals too, so that a page can read why it was refused. Cookies are not used,
so credentials are never allowed.
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graph_service.server.refusals import refusal

METHODS = ("GET", "HEAD", "POST")
ALLOWED_HEADERS = ("accept", "authorization", "content-type", "x-api-key")
EXPOSED_HEADERS = ("cache-status", "etag", "retry-after", "www-authenticate", "x-request-id")
MAX_AGE_S = 600
"""How long a browser remembers a preflight."""


class Cors:
    """ASGI middleware that answers preflights and names the origin in every answer.

    Who may not call is refused by the application. A preflight comes without a key, so it is
    answered here, before any key is looked at.

    Args:
        app: What answers.
        origins: Origins that may call, exactly as browsers send them.
        any_origin: Whether all may.
    """

    def __init__(
        self, app: ASGIApp, /, *, origins: Sequence[str] = (), any_origin: bool = False
    ) -> None:
        self._app = app
        self._origins = frozenset(origins)
        self._any = any_origin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a preflight, or lets the application answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        allowed = self._allowed(headers.get("origin"))
        asks = scope["method"] == "OPTIONS" and "access-control-request-method" in headers
        if asks and "origin" in headers:
            await self._preflight(headers, allowed)(scope, receive, send)
            return

        async def send_named(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered = MutableHeaders(scope=message)
                self._name(answered, allowed)
                if allowed:
                    answered["access-control-expose-headers"] = ", ".join(EXPOSED_HEADERS)
            await send(message)

        await self._app(scope, receive, send_named)

    def _allowed(self, origin: str | None) -> str:
        """Returns the origin that an answer names; none for a page that may not read it."""
        if self._any:
            return "*"
        return origin if origin is not None and origin in self._origins else ""

    def _name(self, answered: MutableHeaders, allowed: str) -> None:
        if allowed:
            answered["access-control-allow-origin"] = allowed
        if self._origins and not self._any:
            # Also where it names none: a cache must not give that answer to a page.
            answered.add_vary_header("Origin")

    def _preflight(self, headers: Headers, allowed: str) -> Response:
        if not allowed:
            origin = headers["origin"][:100]
            response = refusal(403, "FORBIDDEN", f"pages of {origin!r} may not call this server")
        else:
            response = Response(status_code=204)
            response.headers["access-control-allow-methods"] = ", ".join(METHODS)
            response.headers["access-control-allow-headers"] = ", ".join(ALLOWED_HEADERS)
            response.headers["access-control-max-age"] = str(MAX_AGE_S)
        self._name(response.headers, allowed)
        return response
