"""How many sessions a client and all clients may hold over HTTP, and for how long unused.

A session takes some 80 kB. The SDK ends one that is idle for a while. Here the number of sessions
is limited too: a client that opens one more loses its oldest idle one, and is refused where all of
them are in use. A client whose session has ended gets 404 and begins a new one, as MCP says.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graph_service.server.refusals import RETRY, refusal


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """Limits of sessions over HTTP.

    Attributes:
        most: Sessions of all clients.
        most_per_client: Sessions of one key, or of one address where no key is needed.
        idle_s: Seconds after which a session without a request in flight ends.
    """

    most: int = 1_000
    most_per_client: int = 100
    idle_s: float = 300.0


@dataclass(slots=True, eq=False)
class _Session:
    client: str
    ending: Scope
    requests: int = 0
    used_at: float = 0.0


class BoundedSessions:
    """Counts the sessions of an MCP server, and ends idle ones where there are too many.

    Args:
        app: The server: streamable HTTP.
        path: Its address.
        limits: How many sessions there may be.
        clock: Gives the time in seconds.
    """

    def __init__(
        self,
        app: ASGIApp,
        /,
        *,
        path: str,
        limits: SessionLimits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._path = path
        self._limits = limits
        self._clock = clock
        self._sessions: dict[str, _Session] = {}
        self._opening: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request of a session, or one that opens a session."""
        if scope["type"] != "http" or scope["path"] != self._path:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        id_ = headers.get(MCP_SESSION_ID_HEADER)
        client = _client_of(scope)
        session = self._sessions.get(id_) if id_ is not None else None
        if session is not None and session.client == client:
            await self._use(headers[MCP_SESSION_ID_HEADER], session, scope, receive, send)
        elif id_ is None and _may_open(scope, headers):
            await self._open(client, scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _use(
        self, id_: str, session: _Session, scope: Scope, receive: Receive, send: Send
    ) -> None:
        reply = _Reply(send)
        session.requests += 1
        try:
            await self._app(scope, receive, reply)
        finally:
            session.requests -= 1
            session.used_at = self._clock()
        if reply.status == 404 or (scope["method"] == "DELETE" and reply.status < 300):
            self._sessions.pop(id_, None)

    async def _open(self, client: str, scope: Scope, receive: Receive, send: Send) -> None:
        ended, refused = self._make_room(client)
        if refused is not None:
            await refused(scope, receive, send)
            return

        def add(session_id: str) -> None:
            ending = _ending(scope, session_id)
            self._sessions[session_id] = _Session(client, ending, used_at=self._clock())

        reply = _Reply(send, add)
        self._opening[client] += 1
        try:
            if ended is not None:
                await self._app(ended.ending, _no_body, _unread)
            await self._app(scope, receive, reply)
        finally:
            self._opening[client] -= 1

    def _make_room(self, client: str) -> tuple[_Session | None, Response | None]:
        """Returns the session to end so that a client may open one more, or why it may not."""
        limits, now = self._limits, self._clock()
        # The server has ended these, or is about to.
        for id_, session in list(self._sessions.items()):
            if not session.requests and now - session.used_at >= limits.idle_s:
                del self._sessions[id_]
        self._opening = +self._opening
        own = [id_ for id_, session in self._sessions.items() if session.client == client]
        if len(own) + self._opening[client] >= limits.most_per_client:
            chosen, status = own, 429
        elif len(self._sessions) + self._opening.total() >= limits.most:
            chosen, status = list(self._sessions), 503
        else:
            return None, None
        idle = [id_ for id_ in chosen if not self._sessions[id_].requests]
        if not idle:
            reason = f"{len(chosen)} sessions are in use; end one, or try again later"
            return None, refusal(status, "THROTTLED", reason, RETRY)
        oldest = min(idle, key=lambda id_: self._sessions[id_].used_at)
        return self._sessions.pop(oldest), None


class _Reply:
    """Sends an answer on, and notes its status and the session that it opens."""

    def __init__(self, send: Send, on_session: Callable[[str], None] | None = None) -> None:
        self._send = send
        self._on_session = on_session
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            session_id = Headers(raw=message["headers"]).get(MCP_SESSION_ID_HEADER)
            if self._on_session is not None and session_id and self.status < 300:
                self._on_session(session_id)
        await self._send(message)


def _client_of(scope: Scope) -> str:
    user = scope.get("user")
    if isinstance(user, AuthenticatedUser):
        return f"key {user.username}"
    address = scope.get("client")
    return f"address {address[0]}" if address else ""


def _may_open(scope: Scope, headers: Headers) -> bool:
    """Returns whether a request without a session opens one: later versions of MCP have none."""
    version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
    return scope["method"] == "POST" and (version is None or version in HANDSHAKE_PROTOCOL_VERSIONS)


def _ending(scope: Scope, session_id: str) -> Scope:
    """Returns the request by which a client ends its session, as the one that opened it sent one."""
    headers = [(name, value) for name, value in scope["headers"] if name == b"host"]
    headers.append((MCP_SESSION_ID_HEADER.encode(), session_id.encode()))
    same: dict[str, Any] = {
        key: scope[key]
        for key in (
            *("type", "asgi", "http_version", "scheme", "path", "raw_path", "root_path"),
            *("query_string", "client", "server", "user"),
        )
        if key in scope
    }
    return {**same, "method": "DELETE", "headers": headers}


async def _no_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unread(message: Message) -> None:
    """Takes the answer to a request that no client has sent."""
