"""The API over HTTP: GraphQL, health and version, for a server on this machine or behind a proxy.

A localhost server is open to every page that its user visits, so Host, Origin and content type
are checked: a page elsewhere can neither read answers nor send a query that a browser would
not ask about first.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import anyio
import orjson
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from strawberry.http.ides import get_graphql_ide_html

import graph_service
from graph_service.api.schema import execute
from graph_service.errors import GraphServiceError
from graph_service.service import Service

MAX_BODY_BYTES = 1_000_000
MAX_WAITING = 256
BODY_TIMEOUT_S = 10.0
PING_TIMEOUT_S = 5.0
LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
log = logging.getLogger("graph_service.api")


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How a server may be used.

    Attributes:
        writable: Whether mutations are allowed.
        api_key: Bearer token that clients must send; empty for none.
        hosts: Values of the Host header that are served, without port; empty for any.
        origins: Origins of web pages that may call, besides the server's own.
        graphiql: Whether GET shows GraphiQL. That page loads its scripts from the network.
        threads: Operations that run at once.
    """

    writable: bool = False
    api_key: str = ""
    hosts: Sequence[str] = LOCAL_HOSTS
    origins: Sequence[str] = ()
    graphiql: bool = True
    threads: int = 8


def make_app(service: Service, options: ServerOptions | None = None, /) -> Starlette:
    """Returns the ASGI application over a service. The caller closes the service."""
    endpoint = _Endpoint(service, options or ServerOptions())
    return Starlette(
        routes=[
            Route("/graphql", endpoint.graphql, methods=["GET", "POST"]),
            Route("/health/live", endpoint.live, methods=["GET"]),
            Route("/health/ready", endpoint.ready, methods=["GET"]),
            Route("/version", endpoint.version, methods=["GET"]),
        ]
    )


class _Endpoint:
    """The handlers, with what they share."""

    def __init__(self, service: Service, options: ServerOptions) -> None:
        self._service = service
        self._options = options
        self._waiting = 0
        self._limiter: CapacityLimiter | None = None
        self._health_limiter: CapacityLimiter | None = None

    async def graphql(self, request: Request) -> Response:
        """One GraphQL operation by POST; GraphiQL by GET."""
        refused = self._refuse(request)
        if refused is not None:
            return refused
        if request.method in ("GET", "HEAD"):
            if not self._options.graphiql:
                refused = _error(405, "BAD_INPUT", "send queries by POST as application/json")
                refused.headers["allow"] = "POST"
                return refused
            return HTMLResponse(get_graphql_ide_html())
        kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
        if kind != "application/json":
            return _error(
                415, "BAD_INPUT", f"the content type must be application/json, got {kind or 'none'}"
            )
        try:
            with anyio.fail_after(BODY_TIMEOUT_S):
                body = await _read_body(request)
        except TimeoutError:
            # Also what keeps a stopping server from waiting for a client that says no more.
            return _error(408, "TIMEOUT", f"the query did not come within {BODY_TIMEOUT_S:g} s")
        if body is None:
            return _error(413, "LIMIT_EXCEEDED", f"a query has at most {MAX_BODY_BYTES} bytes")
        try:
            payload = orjson.loads(body)
        except orjson.JSONDecodeError as error:
            return _error(400, "BAD_INPUT", f"the body is not JSON: {error}")
        if not isinstance(payload, dict) or not isinstance(payload.get("query"), str):
            return _error(400, "BAD_INPUT", 'the body must be an object with a "query"')
        variables = payload.get("variables")
        operation = payload.get("operationName")
        if variables is not None and not isinstance(variables, dict):
            return _error(400, "BAD_INPUT", '"variables" must be an object')
        if operation is not None and not isinstance(operation, str):
            return _error(400, "BAD_INPUT", '"operationName" must be a string')
        try:
            return await self._run(payload["query"], variables, operation)
        except Exception:
            # Errors in a field never come here: this is an answer that can't be written.
            request_id = uuid4().hex
            log.exception("request %s failed", request_id)
            message = f"An internal error happened; it is logged under request {request_id}."
            return _error(500, "INTERNAL", message, request_id)

    async def _run(
        self, document: str, variables: dict[str, Any] | None, operation: str | None
    ) -> Response:
        if self._waiting >= MAX_WAITING:
            return _error(503, "LIMIT_EXCEEDED", "too many queries are waiting; try again later")
        if self._limiter is None:
            self._limiter = CapacityLimiter(self._options.threads)
        self._waiting += 1
        try:
            body = await run_sync(
                self._execute,
                document,
                variables,
                operation,
                limiter=self._limiter,
                abandon_on_cancel=True,
            )
        finally:
            self._waiting -= 1
        return Response(body, media_type="application/json")

    def _execute(
        self, document: str, variables: dict[str, Any] | None, operation: str | None
    ) -> bytes:
        response = execute(
            self._service,
            document,
            variables,
            operation_name=operation,
            writable=self._options.writable,
        )
        return orjson.dumps(response)

    async def live(self, request: Request) -> Response:
        """Whether the process runs."""
        return _json(200, {"status": "live"})

    async def ready(self, request: Request) -> Response:
        """Whether the store answers now."""
        if self._health_limiter is None:
            self._health_limiter = CapacityLimiter(2)
        try:
            with anyio.fail_after(PING_TIMEOUT_S):
                await run_sync(
                    self._service.store.ping, limiter=self._health_limiter, abandon_on_cancel=True
                )
        except (GraphServiceError, TimeoutError) as error:
            log.warning("not ready: %s", str(error) or f"no answer within {PING_TIMEOUT_S:g} s")
            return _json(503, {"status": "the store does not answer"})
        return _json(200, {"status": "ready"})

    async def version(self, request: Request) -> Response:
        """The version of this package."""
        return _json(200, {"version": graph_service.__version__})

    def _refuse(self, request: Request) -> Response | None:
        options = self._options
        host = request.headers.get("host", "")
        name = (host if host.endswith("]") else host.rsplit(":", 1)[0]).lower()
        if options.hosts and name not in {known.lower() for known in options.hosts}:
            return _error(421, "FORBIDDEN", f"this server does not answer for host {name!r}")
        origin = request.headers.get("origin")
        if origin is not None and origin not in options.origins and not _is_own(origin, host):
            return _error(403, "FORBIDDEN", f"pages of {origin!r} may not call this server")
        if options.api_key:
            # Starlette decodes headers as Latin-1; the bytes sent are what counts.
            given = request.headers.get("authorization", "").encode("latin-1")
            if not hmac.compare_digest(given, f"Bearer {options.api_key}".encode()):
                return _error(401, "FORBIDDEN", "send the API key: Authorization: Bearer KEY")
        return None


async def _read_body(request: Request) -> bytes | None:
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > MAX_BODY_BYTES:
                return None
            chunks.append(chunk)
    except ClientDisconnect:
        return b""
    return b"".join(chunks)


def _is_own(origin: str, host: str) -> bool:
    """Returns whether a page of this origin came from this server."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.netloc == host and parts.scheme in ("http", "https")


def _json(status: int, payload: dict[str, Any]) -> Response:
    return Response(orjson.dumps(payload), status_code=status, media_type="application/json")


def _error(status: int, code: str, message: str, request_id: str = "") -> Response:
    extensions = {"code": code, "requestId": request_id or uuid4().hex}
    return _json(status, {"data": None, "errors": [{"message": message, "extensions": extensions}]})
