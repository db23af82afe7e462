"""The API over HTTP: GraphQL, health and version, for a server on this machine or behind a proxy.

A localhost server is open to every page that its user visits, so Host, Origin and content type
are checked: a page elsewhere can neither read answers nor send a query that a browser would
not ask about first.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import anyio
import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from strawberry.http.ides import get_graphql_ide_html

import graph_service
from graph_service.api.refusals import RETRY, refusal
from graph_service.api.schema import execute
from graph_service.api.workers import BusyError, Place, WaitedError, Workers
from graph_service.errors import GraphServiceError
from graph_service.model.limits import Deadline
from graph_service.service import Service

MAX_BODY_BYTES = 1_000_000
MAX_HELD_BYTES = 100_000_000
"""Of the bodies of all requests that are read, wait or run."""
MAX_WAITING = 256
PING_TIMEOUT_S = 5.0
WATCH_AFTER_S = 0.05
LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
ANY_HOST = "*"
log = logging.getLogger("graph_service.api")


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How a server may be used.

    Attributes:
        writable: Whether mutations are allowed.
        api_key: Bearer token that clients must send; empty for none.
        hosts: Values of the Host header that are served, without port; ``*`` for any.
        addresses: Whether IP addresses are served as Host too. A page elsewhere can give its
            own name this server's address, but not an address.
        origins: Origins of web pages that may call, besides the server's own.
        graphiql: Whether GET shows GraphiQL. That page loads its scripts from the network.
        threads: Operations that run at once.
    """

    writable: bool = False
    api_key: str = ""
    hosts: Sequence[str] = LOCAL_HOSTS
    addresses: bool = False
    origins: Sequence[str] = ()
    graphiql: bool = True
    threads: int = 8


def make_app(service: Service, options: ServerOptions | None = None, /) -> Starlette:
    """Returns the ASGI application over a service. The caller closes the service.

    Its ``state.workers`` are the threads that run operations.
    """
    options = options or ServerOptions()
    workers = Workers(options.threads)
    endpoint = _Endpoint(service, options, workers)
    app = Starlette(
        routes=[
            Route("/graphql", endpoint.graphql, methods=["GET", "POST"]),
            Route("/health/live", endpoint.live, methods=["GET"]),
            Route("/health/ready", endpoint.ready, methods=["GET"]),
            Route("/version", endpoint.version, methods=["GET"]),
        ],
        exception_handlers={HTTPException: _refused, Exception: _failed},
    )
    # A redirect to the address with a slash less would name whatever Host was sent.
    app.router.redirect_slashes = False
    app.state.workers = workers
    return app


@dataclass(slots=True)
class _Held:
    """How many bytes of one request's body the server holds."""

    count: int = 0


class _Endpoint:
    """The handlers, with what they share."""

    def __init__(self, service: Service, options: ServerOptions, workers: Workers) -> None:
        self._service = service
        self._options = options
        self._workers = workers
        self._hosts = frozenset(known.lower() for known in options.hosts)
        self._look: asyncio.Future[None] | None = None
        self._held_bytes = 0

    async def graphql(self, request: Request) -> Response:
        """One GraphQL operation by POST; GraphiQL by GET."""
        refused = self._refuse(request)
        if refused is not None:
            return refused
        if request.method in ("GET", "HEAD"):
            if not self._options.graphiql:
                message = "send queries by POST as application/json"
                return refusal(405, "BAD_INPUT", message, {"allow": "POST"})
            return HTMLResponse(get_graphql_ide_html())
        kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
        if kind != "application/json":
            message = f"the content type must be application/json, got {kind[:100] or 'none'}"
            return refusal(415, "BAD_INPUT", message)
        held = _Held()
        try:
            return await self._answer(request, held)
        finally:
            self._held_bytes -= held.count

    async def _answer(self, request: Request, held: _Held) -> Response:
        limit = self._service.settings.body_timeout_s
        try:
            with anyio.fail_after(limit):
                body = await self._read_body(request, held)
        except TimeoutError:
            # Also what keeps a stopping server from waiting for a client that says no more.
            return refusal(408, "TIMEOUT", f"the query did not come within {limit:g} s")
        except BusyError as error:
            return refusal(503, error.code, str(error), RETRY)
        if body is None:
            return refusal(413, "LIMIT_EXCEEDED", f"a query has at most {MAX_BODY_BYTES} bytes")
        try:
            payload = orjson.loads(body)
        except orjson.JSONDecodeError as error:
            return refusal(400, "BAD_INPUT", f"the body is not JSON: {error}")
        if not isinstance(payload, dict) or not isinstance(payload.get("query"), str):
            return refusal(400, "BAD_INPUT", 'the body must be an object with a "query"')
        variables = payload.get("variables")
        operation = payload.get("operationName")
        if variables is not None and not isinstance(variables, dict):
            return refusal(400, "BAD_INPUT", '"variables" must be an object')
        if operation is not None and not isinstance(operation, str):
            return refusal(400, "BAD_INPUT", '"operationName" must be a string')
        try:
            return await self._run(request, payload["query"], variables, operation)
        except Exception as error:
            # Errors in a field never come here: this is an answer that can't be written.
            return _failed(request, error)

    async def _read_body(self, request: Request, held: _Held) -> bytes | None:
        """Returns a request's body; None if it is too large."""
        chunks: list[bytes] = []
        try:
            async for chunk in request.stream():
                held.count += len(chunk)
                self._held_bytes += len(chunk)
                if held.count > MAX_BODY_BYTES:
                    return None
                if self._held_bytes > MAX_HELD_BYTES:
                    raise BusyError("too many large queries are under way; try again later")
                chunks.append(chunk)
        except ClientDisconnect:
            return b""
        return b"".join(chunks)

    async def _run(
        self,
        request: Request,
        document: str,
        variables: dict[str, Any] | None,
        operation: str | None,
    ) -> Response:
        if len(self._workers) >= MAX_WAITING:
            message = "too many queries are waiting; try again later"
            return refusal(503, "LIMIT_EXCEEDED", message, RETRY)
        place = Place(f"operation {operation or ''}".strip(), self._service.settings.read_timeout_s)
        watching: list[asyncio.Future[None]] = []
        # Most answers are there before it pays to watch the client.
        timer = asyncio.get_running_loop().call_later(
            WATCH_AFTER_S,
            lambda: watching.append(asyncio.ensure_future(_give_up_when_gone(request, place))),
        )
        try:
            body = await self._workers.run(
                place, partial(self._execute, document, variables, operation)
            )
        except (BusyError, WaitedError) as error:
            return refusal(503, error.code, str(error), RETRY)
        finally:
            timer.cancel()
            for watch in watching:
                watch.cancel()
        return Response(body, media_type="application/json")

    def _execute(
        self,
        document: str,
        variables: dict[str, Any] | None,
        operation: str | None,
        deadline: Deadline,
    ) -> bytes:
        response = execute(
            self._service,
            document,
            variables,
            operation_name=operation,
            writable=self._options.writable,
            deadline=deadline,
            masked=True,
        )
        return orjson.dumps(response)

    async def live(self, request: Request) -> Response:
        """Whether the process runs."""
        return _json(200, {"status": "live"})

    async def ready(self, request: Request) -> Response:
        """Whether a worker is free, or comes free soon, and the store answers it now."""
        # One look for all who ask: a store that keeps silent must not take every worker.
        if self._look is None or self._look.done():
            self._look = asyncio.ensure_future(self._look_at_store())
        try:
            async with asyncio.timeout(PING_TIMEOUT_S):
                await asyncio.shield(self._look)
        except (GraphServiceError, TimeoutError) as error:
            reason = str(error) or f"no answer within {PING_TIMEOUT_S:g} s"
            log.warning("not ready: %s", reason)
            busy = isinstance(error, (BusyError, WaitedError)) or self._workers.are_all_busy
            said = "no worker is free" if busy else "the store does not answer"
            return _json(503, {"status": said})
        return _json(200, {"status": "ready"})

    async def _look_at_store(self) -> None:
        place = Place("a look at the store", PING_TIMEOUT_S)
        ping = self._service.store.ping
        await self._workers.run(place, lambda deadline: ping(), first=True)

    async def version(self, request: Request) -> Response:
        """The version of this package."""
        return _json(200, {"version": graph_service.__version__})

    def _refuse(self, request: Request) -> Response | None:
        options = self._options
        host = request.headers.get("host", "")
        name = (host if host.endswith("]") else host.rsplit(":", 1)[0]).lower()
        if not self._serves(name):
            return refusal(
                421,
                "FORBIDDEN",
                f"this server does not answer for host {name[:100]!r}; "
                "its operator can add it: graph-service serve --allow-host NAME",
            )
        origin = request.headers.get("origin")
        if origin is not None and origin not in options.origins and not _is_own(origin, host):
            return refusal(403, "FORBIDDEN", f"pages of {origin[:100]!r} may not call this server")
        if options.api_key:
            # Starlette decodes headers as Latin-1; the bytes sent are what counts.
            given = request.headers.get("authorization", "").encode("latin-1")
            if not hmac.compare_digest(given, f"Bearer {options.api_key}".encode()):
                return refusal(401, "FORBIDDEN", "send the API key: Authorization: Bearer KEY")
        return None

    def _serves(self, name: str) -> bool:
        if name in self._hosts or ANY_HOST in self._hosts:
            return True
        return self._options.addresses and is_address(name)


def is_address(name: str, /) -> bool:
    """Returns whether a host is an IP address, IPv6 in brackets."""
    inner = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    try:
        return (ipaddress.ip_address(inner).version == 6) == (inner is not name)
    except ValueError:
        return False


async def _give_up_when_gone(request: Request, place: Place) -> None:
    """Gives an operation up when the client that asked for it goes away."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    place.give_up()


def _is_own(origin: str, host: str) -> bool:
    """Returns whether a page of this origin came from this server."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.netloc == host and parts.scheme in ("http", "https")


def _json(status: int, payload: dict[str, Any]) -> Response:
    return Response(orjson.dumps(payload), status_code=status, media_type="application/json")


def _refused(request: Request, error: Exception) -> Response:
    """Returns what Starlette refuses as an error of the API's form."""
    assert isinstance(error, HTTPException)
    message = str(error.detail)
    if error.status_code == 404:
        message = "there is nothing at this address; GraphQL is at /graphql"
    elif error.status_code == 405:
        message = f"{request.method[:20]} is not served at this address"
    return refusal(error.status_code, "BAD_INPUT", message, error.headers)


def _failed(request: Request, error: Exception) -> Response:
    request_id = uuid4().hex
    log.error("request %s failed", request_id, exc_info=error)
    message = f"An internal error happened; it is logged under request {request_id}."
    return refusal(500, "INTERNAL", message, request_id=request_id)
