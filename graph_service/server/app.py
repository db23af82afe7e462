"""The API over HTTP: GraphQL, health and version, for a server on this machine or behind a proxy.

Requests and answers follow the GraphQL over HTTP specification: queries by GET and POST,
``application/graphql-response+json`` where a client accepts it, and statuses by media type.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

import graph_service
from graph_service.api.execution import Basis
from graph_service.api.meter import Meter
from graph_service.api.schema import NotAQueryError, execute
from graph_service.api.scopes import Scope
from graph_service.errors import InputError, PersistedQueryNotSupportedError, ThrottledError
from graph_service.model.limits import Deadline
from graph_service.observation import Observation, observed
from graph_service.server import explorer, graphiql
from graph_service.server.admission import Admission, admit
from graph_service.server.compression import Compression
from graph_service.server.cors import Cors
from graph_service.server.keyring import Keyring
from graph_service.server.keys import Caller
from graph_service.server.metrics import LOOKUPS, RETRIEVALS, in_lane
from graph_service.server.negotiation import GRAPHQL_RESPONSE, JSON, prefers_html, response_type
from graph_service.server.parameters import Parameters, read_address, read_body
from graph_service.server.preparation import Preparation
from graph_service.server.queue import (
    MAX_WAITING,
    BusyError,
    Job,
    WaitedError,
    Workers,
    queue_full,
)
from graph_service.server.rates import Rates, client_of
from graph_service.server.readiness import Readiness
from graph_service.server.record import Record, current_record
from graph_service.server.refusals import RETRY, refusal
from graph_service.server.request_log import RequestLog
from graph_service.server.response_cache import CACHED_COST, Answer, ResponseCache, key_of
from graph_service.server.scrape import Scrape
from graph_service.server.shared_state import SharedState
from graph_service.server.traces import Traces
from graph_service.server.trusted_documents import read_trusted
from graph_service.service import Service
from graph_service.service.experiments import ExperimentFolder

T = TypeVar("T")

MAX_BODY_BYTES = 1_000_000
MAX_HELD_BYTES = 100_000_000
"""Of the bodies of all requests that are read, wait or run."""
WATCH_AFTER_S = 0.05
MAX_COST = 1_000.0
"""Retrievals of one operation: on one processor about as many as its time limit lets be done."""
CACHE_BYTES = 64 * 2**20
CACHE_NAME = "graph-service"
"""In the header Cache-Status (RFC 9211)."""
LOOKUP_COST = 0.5
"""What costs no more runs among the look-ups; the cheapest retrieval does not."""
REQUEST_ERROR_STATUS = {
    "INTERNAL": 500,
    "SETUP": 500,
    "STORE_UNAVAILABLE": 503,
    "TIMEOUT": 503,
}
"""Of an operation that did not begin, by its error's code; 400 for any other."""
log = logging.getLogger("graph_service.api")


@dataclass(frozen=True, slots=True)
class ServerOptions(Admission):
    """How a server may be used, and by whom.

    Attributes:
        writable: Whether mutations are allowed.
        graphiql: Whether browsers are shown GraphiQL.
        explorer: Whether the pages of the explorer are served.
        threads: Operations that run at once.
        warm: Graphs that are opened and asked a question before the server is ready.
        log_queries: Whether the log has documents and variables, with users' texts in them.
        max_cost: What one operation may cost, in retrievals.
        rate: Cost that comes back to each client in a second; 0 for no limit.
        address_header: The header in which a proxy names the client's address; "" for no proxy.
        documents: Files of the documents that the server answers; none for all documents.
        cache_bytes: What the answers that are kept may hold together; 0 keeps none.
        experiments: The folder whose experiments are shown; None for none.
        processes: How many processes the server has; each has an equal part of what all may do.
        traces: Where requests and operations are traced.
    """

    writable: bool = False
    graphiql: bool = True
    explorer: bool = True
    threads: int = 4
    warm: Sequence[str] = ()
    log_queries: bool = False
    max_cost: float = MAX_COST
    rate: float = 0.0
    address_header: str = ""
    cache_bytes: int = CACHE_BYTES
    processes: int = 1
    documents: Sequence[Path] = ()
    traces: Traces | None = None
    experiments: Path | None = None

    @property
    def has_page(self) -> bool:
        """Whether browsers are shown GraphiQL: it sends what no list of documents has."""
        return self.graphiql and not self.documents


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
    workers = Workers(_part(options.threads, options))
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
        self._workers = workers
        self._readiness = readiness
        self._preparation = preparation
        self._held_bytes = 0
        self._keyring = Keyring(options.keys, api_key=options.api_key)
        self._rates: dict[tuple[float, float], Rates] = {}
        self._documents = read_trusted(options.documents) if options.documents else None
        self._cache = ResponseCache(options.cache_bytes // options.processes)
        self._scrape = Scrape(service, self._cache, preparation)
        self._shared = shared
        folder = options.experiments
        self._experiments = None if folder is None else ExperimentFolder(folder)
        self._running: dict[bytes, asyncio.Future[None]] = {}
        self._following = 0

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
            return await self._run(request, caller, parameters, media_type)
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
                if self._held_bytes > _part(MAX_HELD_BYTES, self._options):
                    raise BusyError("too many large queries are under way; try again later")
                chunks.append(chunk)
        except ClientDisconnect:
            return b""
        return b"".join(chunks)

    def _limits_of(self, caller: Caller) -> tuple[Rates | None, float]:
        """Returns the buckets that a caller's is among, if it has one, and its most cost."""
        options = self._options
        max_cost = options.max_cost if caller.max_cost is None else caller.max_cost
        rate = options.rate if caller.rate is None else caller.rate
        if not rate:
            return None, max_cost
        limits = rate, max(max_cost, rate)
        if limits not in self._rates:
            self._rates[limits] = Rates(*limits, buckets=self._shared)
        return self._rates[limits], max_cost

    async def _run(
        self, request: Request, caller: Caller, parameters: Parameters, media_type: str
    ) -> Response:
        name = f"operation {parameters.operation_name or ''}".strip()
        # Those who share a key of no name are told apart by their addresses.
        client = client_of(request, self._options.address_header)
        if caller.name:
            client = f"key {caller.name}"
        # What an operation costs is found among the look-ups, and what is cheap is run there.
        job = Job(name, self._service.settings.read_timeout_s, client, is_lookup=True)
        rates, max_cost = self._limits_of(caller)
        bill = _Bill(client, rates)
        task = _Task(request, caller, parameters, media_type, job, bill, max_cost)
        watching: list[asyncio.Future[None]] = []
        # Most answers are there before it pays to watch the client.
        timer = asyncio.get_running_loop().call_later(
            WATCH_AFTER_S,
            lambda: watching.append(asyncio.ensure_future(_give_up_when_gone(request, job))),
        )
        record = task.record
        record.operation = parameters.operation_name
        if self._options.log_queries:
            record.request = {"query": parameters.query, "variables": parameters.variables}
        try:
            return await self._answered(task)
        except (BusyError, WaitedError) as error:
            task.bill.settle(0.0)
            return refusal(503, error.code, str(error), RETRY)
        except _ThrottledError as error:
            return _throttled(error, max_cost, task.bill)
        finally:
            timer.cancel()
            for watch in watching:
                watch.cancel()

    async def _answered(self, task: _Task) -> Response:
        """Gives the answer that is kept of an operation, or runs it.

        Of equal operations that come at once the first is run, and the others wait for its answer.
        """
        if not self._cache.is_on:
            return await self._ran(task)
        key = task.key = key_of(task.parameters, task.media_type, task.sees)
        response = await self._cached_answer(key, task)
        if response is not None:
            return response
        if self._cache.is_uncacheable(key):
            return await self._ran(task)
        running = self._running.get(key)
        if running is not None:
            if self._following >= MAX_WAITING:
                raise queue_full()
            self._following += 1
            try:
                await asyncio.wait([running], timeout=task.job.limit_s)
            finally:
                self._following -= 1
            if task.job.stop.requested:
                raise BusyError("the query was given up")
            response = await self._cached_answer(key, task)
            return response or await self._ran(task)
        ended = asyncio.get_running_loop().create_future()
        # A mutation is made as often as it is asked for, and none waits for another.
        if "mutation" not in task.parameters.query:
            self._running[key] = ended
        try:
            return await self._ran(task)
        finally:
            self._running.pop(key, None)
            ended.set_result(None)

    async def _cached_answer(self, key: bytes, task: _Task) -> Response | None:
        if not self._cache.has(key):
            return None
        task.bill.take(CACHED_COST)
        response = await self._in_turn(task.job, partial(self._give_cached, key, task))
        if response is None:
            task.bill.settle(0.0)
        return response

    def _give_cached(self, key: bytes, task: _Task, deadline: Deadline) -> Response | None:
        began = time.monotonic()
        answer = self._cache.find(key, self._service.scoped_to(task.caller.graphs))
        if answer is None:
            return None
        response = self._response(key, answer, task)
        response.headers["cache-status"] = f"{CACHE_NAME}; hit"
        record = task.record
        record.is_repeat, record.cost, record.observation = True, CACHED_COST, answer.observed()
        record.waited_s, record.ran_s = deadline.waited_s, time.monotonic() - began
        return response

    def _response(self, key: bytes, answer: Answer, task: _Task) -> Response:
        headers, reads = task.request.headers, task.request.method != "POST"
        response = answer.response(headers, task.bill.left(), is_read=reads)
        # It may have grown by its compressed bytes.
        self._cache.store(key, answer)
        return response

    async def _ran(self, task: _Task) -> Response:
        meter = Meter(task.max_cost, task.bill.admit)
        work = partial(self._execute, task, meter)
        try:
            return await self._in_turn(task.job, work)
        except _CostlyError:
            task.job.is_lookup = False
            return await self._in_turn(task.job, work)

    async def _in_turn(self, job: Job, work: Callable[[Deadline], T]) -> T:
        record = current_record()
        record.lane = LOOKUPS if job.is_lookup else RETRIEVALS
        with in_lane(record.lane, work) as counted:
            return await self._workers.run(job, counted)

    def _execute(self, task: _Task, meter: Meter, deadline: Deadline) -> Response:
        began = time.monotonic()
        parameters, bill, record, basis = task.parameters, task.bill, task.record, Basis()
        record.waited_s = deadline.waited_s
        record.observation = Observation()
        traces = self._options.traces
        span = traces.operation(record, parameters.query) if traces is not None else nullcontext()
        with observed(record.observation), span:
            response = execute(
                self._service.scoped_to(task.caller.graphs),
                parameters.query,
                None if parameters.variables is None else dict(parameters.variables),
                operation_name=parameters.operation_name,
                writable=self._options.writable,
                scope=task.caller.scope,
                queries_only=task.request.method != "POST",
                deadline=deadline,
                masked=True,
                request_id=record.request_id,
                meter=meter,
                basis=basis,
                experiments=self._experiments_of(task.caller),
            )
            record.cost = meter.actual
            record.note_errors(response.get("errors", []))
        bill.settle(meter.actual)
        record.ran_s = time.monotonic() - began
        cost = _cost_of(meter)
        if basis.reads is not None and task.key:
            data = orjson.dumps(response["data"])
            answer = Answer(data, cost, task.media_type, basis.reads, record.observation)
            reusable = self._response(task.key, answer, task)
            stored = "; stored" * self._cache.has(task.key)
            reusable.headers["cache-status"] = f"{CACHE_NAME}; fwd=miss{stored}"
            return reusable
        if task.key:
            self._cache.note_uncacheable(task.key)
        if meter.requested is not None:
            response["extensions"] = {"cost": bill.add_left(cost)}
        status = 200 if task.media_type == JSON else _status_of(response)
        return Response(orjson.dumps(response), status, media_type=task.media_type)

    def _experiments_of(self, caller: Caller) -> ExperimentFolder | None:
        folder = self._experiments
        return None if folder is None else folder.seen_by(caller.graphs)

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


def _part(count: int, options: ServerOptions) -> int:
    """Returns what one process has of what all processes of the server have together."""
    return math.ceil(count / options.processes)


class _CostlyError(BaseException):
    """Ends an operation before it begins, to be run among the retrievals."""


class _ThrottledError(BaseException):
    """Ends an operation before it begins: its client has asked for too much.

    Attributes:
        cost: Of the operation.
        wait_s: Seconds until it may be asked again.
    """

    def __init__(self, cost: float, wait_s: float) -> None:
        super().__init__(cost, wait_s)
        self.cost = cost
        self.wait_s = wait_s


@dataclass(slots=True)
class _Bill:
    """What a client pays for one operation."""

    client: str
    rates: Rates | None
    _taken: float = 0.0

    def admit(self, cost: float) -> None:
        """Takes the cost of an operation; ends it where it is not to be run, or elsewhere."""
        self.take(cost)
        if cost > LOOKUP_COST:
            raise _CostlyError

    def take(self, cost: float) -> None:
        """Takes a cost out of what the client has left; ends the operation where that is less."""
        if self.rates is None:
            return
        wait_s = self.rates.take(self.client, cost)
        if wait_s:
            raise _ThrottledError(cost, wait_s)
        self._taken = cost

    def settle(self, used: float) -> None:
        """Takes what was used, in place of what was taken before."""
        taken, self._taken = self._taken, used
        if self.rates is not None:
            self.rates.settle(self.client, taken, used)

    def left(self) -> dict[str, float] | None:
        """Returns what the client has left; None where nobody counts."""
        return None if self.rates is None else self.rates.status(self.client)

    def add_left(self, cost: dict[str, Any]) -> dict[str, Any]:
        """Returns what ``extensions.cost`` of an answer says to this client."""
        left = self.left()
        return cost if left is None else {**cost, "throttleStatus": left}


@dataclass(slots=True, eq=False)
class _Task:
    """One operation that a client asked for.

    Attributes:
        max_cost: What it may cost.
        key: Tells it from others where answers are kept.
    """

    request: Request
    caller: Caller
    parameters: Parameters
    media_type: str
    job: Job
    bill: _Bill
    max_cost: float
    key: bytes = b""
    record: Record = field(default_factory=current_record)

    @property
    def sees(self) -> str:
        """What decides, beside the request, which answer its caller may have."""
        graphs = self.caller.graphs
        seen = None if graphs is None else sorted(graphs)
        return orjson.dumps([seen, self.caller.scope, self.max_cost]).decode()


class _RefusedError(Exception):
    """Ends a request with an answer."""

    def __init__(self, response: Response, /) -> None:
        super().__init__(response.status_code)
        self.response = response


def _status_of(response: Mapping[str, Any]) -> int:
    """Returns the status of a GraphQL response whose media type is GraphQL's own.

    An operation that began has ``data``, null or not, and is a success. One that did not begin
    (a request error) has none.
    """
    if "data" in response:
        return 200
    return REQUEST_ERROR_STATUS.get(response["errors"][0]["extensions"]["code"], 400)


def _cost_of(meter: Meter) -> dict[str, Any]:
    return {
        "requested": meter.requested,
        "actual": meter.actual,
        "limit": meter.max_cost,
    }


def _throttled(error: _ThrottledError, max_cost: float, bill: _Bill) -> Response:
    wait_s = math.ceil(error.wait_s)
    cost = {"requested": error.cost, "actual": 0.0, "limit": max_cost}
    return refusal(
        429,
        ThrottledError.code,
        f"the operation costs {error.cost:.10g}, more than this client has left; "
        f"try again in {wait_s} s",
        {"retry-after": str(wait_s)},
        extensions={"cost": bill.add_left(cost)},
    )


async def _give_up_when_gone(request: Request, job: Job) -> None:
    """Gives an operation up when the client that asked for it goes away."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    job.give_up()


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
