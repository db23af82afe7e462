"""Whose call it is, over HTTP: by their key, which also says which graphs exist for them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import Any

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware, get_access_token
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from graph_service.api.meter import Meter
from graph_service.api.schema import execute
from graph_service.errors import ForbiddenError, ThrottledError
from graph_service.server.admission import admit
from graph_service.server.keyring import Keyring
from graph_service.server.keys import Caller
from graph_service.server.rates import Rates
from graph_service.service import Service

STREAM_CHECK_S = 5.0
"""How often the key of an open stream is looked up again."""
MOST_COST = 1_000.0
"""Of one call whose key sets no limit; as ``serve`` has it."""


class Keyed:
    """Lets those in who send a key. A session is used with the key that began it alone. A stream
    that is open when its key is revoked or expires ends.

    Args:
        app: The server.
        keyring: Says who has a key now.
        open_paths: Addresses that need none.
        check_s: How often the key of an open stream is looked up again, seconds.
    """

    def __init__(
        self,
        app: ASGIApp,
        keyring: Keyring,
        /,
        *,
        open_paths: Collection[str] = (),
        check_s: float = STREAM_CHECK_S,
    ) -> None:
        self._app = AuthContextMiddleware(app)
        self._keyring = keyring
        self._open_paths = open_paths
        self._check_s = check_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers, or says that a key is needed."""
        if scope["type"] == "http" and scope["path"] not in self._open_paths:
            caller = admit(Headers(scope=scope), self._keyring)
            if isinstance(caller, Response):
                await caller(scope, receive, send)
                return
            # The server compares it with that of the session, and calls read it again.
            token = AccessToken(token="", client_id=caller.name, scopes=[caller.scope.value])
            scope["user"] = AuthenticatedUser(token)
            if scope["method"] == "GET":
                await self._stream(caller.name, scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _stream(self, name: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers for as long as a key holds."""
        answering = asyncio.ensure_future(self._app(scope, receive, send))
        try:
            while not answering.done():
                await asyncio.wait({answering}, timeout=self._check_s)
                if self._keyring.named(name) is None:
                    break
        finally:
            if not answering.done():
                answering.cancel()
            await asyncio.wait({answering})
        if not answering.cancelled():
            await answering
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class OfCallers:
    """The client's transport where callers have keys: each asks what exists for them.

    Args:
        service: With all graphs. It stays its owner's.
        keyring: Says who has a key now.
    """

    def __init__(self, service: Service, keyring: Keyring, /) -> None:
        self._service = service
        self._keyring = keyring
        self._rates: dict[tuple[float, float], Rates] = {}

    def send(self, document: str, variables: Mapping[str, Any], /) -> dict[str, Any]:
        """Returns the response to whoever calls.

        Raises:
            ForbiddenError: Their key was revoked since the session began.
        """
        return self._run(self._caller(), document, variables)

    async def send_async(self, document: str, variables: Mapping[str, Any], /) -> dict[str, Any]:
        """Returns the response; the work runs in a thread."""
        return await asyncio.to_thread(self._run, self._caller(), document, variables)

    def close(self) -> None:
        """Leaves the service open, which is its owner's to close."""

    async def close_async(self) -> None:
        """Leaves the service open, which is its owner's to close."""

    def _caller(self) -> Caller:
        token = get_access_token()
        # By name, and not as the session knew it: rights may have changed since.
        caller = None if token is None else self._keyring.named(token.client_id)
        if caller is None:
            raise ForbiddenError("the key is no longer valid")
        return caller

    def _run(self, caller: Caller, document: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        max_cost = MOST_COST if caller.max_cost is None else caller.max_cost
        rates: Rates | None = None
        if caller.rate:
            limits = caller.rate, max(max_cost, caller.rate)
            rates = self._rates.setdefault(limits, Rates(*limits))
        taken = 0.0

        def admit_cost(cost: float) -> None:
            nonlocal taken
            wait_s = 0.0 if rates is None else rates.take(caller.name, cost)
            if wait_s:
                raise ThrottledError(f"too much was asked for; try again in {wait_s:.0f} s")
            taken = cost

        meter = Meter(max_cost, admit_cost)
        service = self._service.scoped_to(caller.graphs)
        response = execute(service, document, dict(variables), writable=False, meter=meter)
        if rates is not None:
            rates.settle(caller.name, taken, meter.actual)
        return response
