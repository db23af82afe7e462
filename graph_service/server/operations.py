"""Operations: each is counted, answered from the cache, or run in its turn.

Of equal operations that come at once one is run, and its answer is that of the others.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import orjson
from starlette.requests import Request
from starlette.responses import Response

from graph_service.api.execution import Basis
from graph_service.api.meter import Meter
from graph_service.api.schema import execute
from graph_service.model.limits import Deadline
from graph_service.observation import Observation, observed
from graph_service.server.bill import Bill, CostlyError, OverspentError, throttled
from graph_service.server.keys import Caller
from graph_service.server.metrics import LOOKUPS, RETRIEVALS, in_lane
from graph_service.server.negotiation import JSON
from graph_service.server.options import ServerOptions
from graph_service.server.parameters import Parameters
from graph_service.server.queue import (
    MAX_WAITING,
    BusyError,
    Job,
    WaitedError,
    Workers,
    queue_full,
)
from graph_service.server.rates import Rates, client_of
from graph_service.server.record import Record, current_record
from graph_service.server.refusals import RETRY, refusal
from graph_service.server.response_cache import CACHED_COST, Answer, ResponseCache, key_of
from graph_service.server.shared_state import SharedState
from graph_service.service import Service
from graph_service.service.experiments import ExperimentFolder

T = TypeVar("T")

WATCH_AFTER_S = 0.05
CACHE_NAME = "graph-service"
"""In the header Cache-Status (RFC 9211)."""
REQUEST_ERROR_STATUS = {
    "INTERNAL": 500,
    "SETUP": 500,
    "STORE_UNAVAILABLE": 503,
    "TIMEOUT": 503,
}
"""Of an operation that did not begin, by its error's code; 400 for any other."""


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
    bill: Bill
    max_cost: float
    key: bytes = b""
    record: Record = field(default_factory=current_record)

    @property
    def sees(self) -> str:
        """What decides, beside the request, which answer its caller may have."""
        graphs = self.caller.graphs
        seen = None if graphs is None else sorted(graphs)
        return orjson.dumps([seen, self.caller.scope, self.max_cost]).decode()


class OperationRunner:
    """Runs the operations that a server was asked for and admitted.

    Args:
        service: What answers.
        options: How the server may be used.
        workers: The threads that run operations.
        cache: Answers that are stored for equal operations.
        shared: What the processes of the server know together, where it has several.
    """

    def __init__(
        self,
        service: Service,
        options: ServerOptions,
        workers: Workers,
        cache: ResponseCache,
        shared: SharedState | None,
        /,
    ) -> None:
        self._service = service
        self._options = options
        self._workers = workers
        self._cache = cache
        self._shared = shared
        self._rates: dict[tuple[float, float], Rates] = {}
        folder = options.experiments
        self._experiments = None if folder is None else ExperimentFolder(folder)
        self._running: dict[bytes, asyncio.Future[None]] = {}
        self._following = 0

    async def run(
        self, request: Request, caller: Caller, parameters: Parameters, media_type: str
    ) -> Response:
        """Returns the answer to an operation, or why it is not run."""
        name = f"operation {parameters.operation_name or ''}".strip()
        # Those who share a key of no name are told apart by their addresses.
        client = client_of(request, self._options.address_header)
        if caller.name:
            client = f"key {caller.name}"
        # What an operation costs is found among the look-ups, and what is cheap is run there.
        job = Job(name, self._service.settings.read_timeout_s, client, is_lookup=True)
        rates, max_cost = self._limits_of(caller)
        bill = Bill(client, rates)
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
        except OverspentError as error:
            return throttled(error, max_cost, task.bill)
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
        except CostlyError:
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


async def _give_up_when_gone(request: Request, job: Job) -> None:
    """Gives an operation up when the client that asked for it goes away."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    job.give_up()
