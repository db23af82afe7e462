"""The API over HTTP: GraphQL, health and version, for a server on this machine or behind a proxy.

Requests and answers follow the GraphQL over HTTP specification: queries by GET and POST,
``application/graphql-response+json`` where a client accepts it, and statuses by media type.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import anyio
import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

import graph_service
from graph_service.api.schema import NotAQueryError
from graph_service.api.scopes import Scope
from graph_service.errors import InputError, PersistedQueryNotSupportedError
from graph_service.server import explorer, graphiql
from graph_service.server.admission import admit
from graph_service.server.compression import Compression
from graph_service.server.cors import Cors
from graph_service.server.keyring import Keyring
from graph_service.server.negotiation import GRAPHQL_RESPONSE, JSON, prefers_html, response_type
from graph_service.server.operations import OperationRunner
from graph_service.server.options import ServerOptions
from graph_service.server.parameters import read_address, read_body
from graph_service.server.preparation import Preparation
from graph_service.server.queue import BusyError, Workers
from graph_service.server.readiness import Readiness
from graph_service.server.record import current_record
from graph_service.server.refusals import RETRY, refusal
from graph_service.server.request_log import RequestLog
from graph_service.server.response_cache import ResponseCache
from graph_service.server.scrape import Scrape
from graph_service.server.shared_state import SharedState
from graph_service.server.trusted_documents import read_trusted
from graph_service.service import Service

MAX_BODY_BYTES = 1_000_000
MAX_HELD_BYTES = 100_000_000
"""Of the bodies of all requests that are read, wait or run."""
log = logging.getLogger("graph_service.api")


def make_app(
    service: Service,
    options: ServerOptions | None = None,
    /,
    *,
    shared: SharedState | None = None,
) -> Starlette:
    """Returns the ASGI application over a service. The caller closes the service.

    Its ``state.workers`` are the threads that run operations. When the server starts,
    ``state.readiness`` begins to warm graphs, and ``state.preparation`` to embed their names.

    Args:
        service: What answers.
        options: How it may be used, and by whom.
        shared: What the processes of the server know together, where it has several.

    Raises:
        SetupError: GraphiQL or the explorer is to be shown, and a file of it is missing or has
            changed; or the file of keys or of documents can't be read or does not hold.
    """
    options = options or ServerOptions()
    workers = Workers(options.of_process(options.threads))
    count_cold = None if shared is None else shared.count_cold
    readiness = Readiness(service, workers, warm=options.warm, count_cold=count_cold)
    turn = None if shared is None else shared.embedding_turn
    preparation = Preparation(service, workers, warm=options.warm, turn=turn)
    endpoint = _Endpoint(service, options, workers, readiness, preparation, shared)
    app = Starlette(
        routes=[
            Route("/graphql", endpoint.graphql, methods=["GET", "POST"]),
            Route("/health/live", endpoint.live, methods=["GET"]),
            Route("/health/ready", endpoint.ready, methods=["GET"]),
            Route("/version", endpoint.version, methods=["GET"]),
            Route("/metrics", endpoint.metrics, methods=["GET"]),
            *(graphiql.routes(endpoint.refuse_page) if options.has_page else ()),
            *(explorer.routes(endpoint.refuse_page) if options.explorer else ()),
        ],
        middleware=[
            Middleware(RequestLog, traces=options.traces),
            Middleware(Cors, origins=options.origins, any_origin=options.any_origin),
            Middleware(Compression),
        ],
        exception_handlers={HTTPException: _refused, Exception: _failed},
    )
    # A redirect to the address with a slash less would name whatever Host was sent.
    app.router.redirect_slashes = False
    app.state.workers = workers
    app.state.readiness = readiness
    app.state.preparation = preparation
    return app


@dataclass(slots=True)
class _Held:
    """How many bytes of one request's body the server holds."""

    count: int = 0


class _Endpoint:
    """The handlers, with what they share."""

    def __init__(
        self,
        service: Service,
        options: ServerOptions,
        workers: Workers,
        readiness: Readiness,
        preparation: Preparation,
        shared: SharedState | None,
    ) -> None:
        self._service = service
        self._options = options
        self._readiness = readiness
        self._preparation = preparation
        self._held_bytes = 0
        self._keyring = Keyring(options.keys, api_key=options.api_key)
        self._documents = read_trusted(options.documents) if options.documents else None
        cache = ResponseCache(options.cache_bytes // options.processes)
        self._scrape = Scrape(service, cache, preparation)
        self._operations = OperationRunner(service, options, workers, cache, shared)

    def refuse_page(self, request: Request) -> Response | None:
        """Returns why this server does not answer under a host, or to a page."""
        return self._options.refuse_page(request.headers)

    async def graphql(self, request: Request) -> Response:
        """One GraphQL operation by POST or GET; GraphiQL for browsers."""
        options = self._options
        refused = options.refuse_page(request.headers)
        if refused is not None:
            return refused
        accept = request.headers.get("accept")
        reads = request.method in ("GET", "HEAD")
        if reads and options.has_page and prefers_html(accept):
            # The page asks for the key, so it comes without one.
            return graphiql.page(needs_key=self._keyring.asks)
        media_type = response_type(accept)
        if media_type is None:
            response = refusal(
                406, "BAD_INPUT", f"this server answers as {GRAPHQL_RESPONSE} or {JSON}"
            )
        else:
            try:
                response = await self._answer(request, media_type)
            except Exception as error:
                # Errors in a field never come here: this is an answer that can't be written.
                response = _failed(request, error)
            # A client that reads GraphQL's own media type reads refusals of that type too.
            if response.status_code != 304:
                response.headers["content-type"] = media_type
        # A cache that many share must not give one client's answer to another without a key, and
        # the next edition changes the answer to the same address.
        response.headers["cache-control"] = "private, no-cache"
        response.headers.add_vary_header("Accept")
        return response

    async def _answer(self, request: Request, media_type: str) -> Response:
        options = self._options
        reads = request.method in ("GET", "HEAD")
        caller = admit(request.headers, self._keyring)
        if isinstance(caller, Response):
            return caller
        current_record().key = caller.name
        refused = options.refuse_unasked(request.headers) if reads else None
        if refused is not None:
            return refused
        held = _Held()
        try:
            trusted = self._documents
            if reads:
                pairs = request.query_params.multi_items()
                parameters = read_address(pairs, by_id=trusted is not None)
            else:
                body = await self._posted(request, held)
                parameters = read_body(body, by_id=trusted is not None)
            if trusted is not None:
                parameters = trusted.resolve(parameters)
            else:
                parameters.require_query()
            return await self._operations.run(request, caller, parameters, media_type)
        except _RefusedError as error:
            return error.response
        except NotAQueryError as error:
            return refusal(405, error.code, error.message, {"allow": "POST"})
        except PersistedQueryNotSupportedError as error:
            # As Apollo's server says it: some clients read no body of another status.
            return refusal(200, error.code, error.message)
        except InputError as error:
            return refusal(400, error.code, error.message)
        finally:
            self._held_bytes -= held.count

    async def _posted(self, request: Request, held: _Held) -> bytes:
        kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
        if kind != JSON:
            message = f"the content type must be application/json, got {kind[:100] or 'none'}"
            raise _RefusedError(refusal(415, "BAD_INPUT", message))
        encoding = request.headers.get("content-encoding", "").strip().lower()
        if encoding not in ("", "identity"):
            message = f"a query comes as it is, without a content encoding; got {encoding[:100]}"
            headers = {"accept-encoding": "identity"}
            raise _RefusedError(refusal(415, "BAD_INPUT", message, headers))
        limit = self._service.settings.body_timeout_s
        try:
            with anyio.fail_after(limit):
                body = await self._read_body(request, held)
        except TimeoutError:
            # Also what keeps a stopping server from waiting for a client that says no more.
            late = refusal(408, "TIMEOUT", f"the query did not come within {limit:g} s")
            raise _RefusedError(late) from None
        except BusyError as error:
            raise _RefusedError(refusal(503, error.code, str(error), RETRY)) from error
        if body is None:
            message = f"a query has at most {MAX_BODY_BYTES} bytes"
            raise _RefusedError(refusal(413, "LIMIT_EXCEEDED", message))
        return body

    async def _read_body(self, request: Request, held: _Held) -> bytes | None:
        """Returns a request's body; None if it is too large."""
        chunks: list[bytes] = []
        try:
            async for chunk in request.stream():
                held.count += len(chunk)
                self._held_bytes += len(chunk)
                if held.count > MAX_BODY_BYTES:
                    return None
                if self._held_bytes > self._options.of_process(MAX_HELD_BYTES):
                    raise BusyError("too many large queries are under way; try again later")
                chunks.append(chunk)
        except ClientDisconnect:
            return b""
        return b"".join(chunks)

    async def live(self, _request: Request) -> Response:
        """Says that the process runs, whatever it can answer."""
        return _json(200, {"status": "live"})

    async def ready(self, _request: Request) -> Response:
        """Whether a worker is free, or comes free soon, and the server is ready for queries."""
        fault = await self._readiness.find_fault()
        if fault:
            return _json(503, {"status": fault})
        return _json(200, {"status": "ready", **self._preparation.status()})

    async def version(self, _request: Request) -> Response:
        """The version of this package."""
        return _json(200, {"version": graph_service.__version__})

    async def metrics(self, request: Request) -> Response:
        """What Prometheus is told, with a key that may do everything: it is of all graphs."""
        headers = request.headers
        refused = self._options.refuse_page(headers)
        if refused is not None:
            return refused
        caller = admit(headers, self._keyring)
        if isinstance(caller, Response):
            return caller
        if not caller.scope.includes(Scope.ADMIN) or caller.graphs is not None:
            return refusal(403, "FORBIDDEN", "the metrics need a key of scope admin, of all graphs")
        return await self._scrape.answer(headers.get("accept", ""))


class _RefusedError(Exception):
    """Ends a request with an answer."""

    def __init__(self, response: Response, /) -> None:
        super().__init__(response.status_code)
        self.response = response


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


def _failed(_request: Request, error: Exception) -> Response:
    request_id = current_record().request_id
    log.error("request %s failed", request_id, exc_info=error)
    message = f"An internal error happened; it is logged under request {request_id}."
    return refusal(500, "INTERNAL", message, request_id=request_id)
