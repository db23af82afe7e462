"""What Prometheus is told of this server, and the functions by which the server counts it.

All processes of one server count together where ``PROMETHEUS_MULTIPROC_DIR`` names an empty folder
of theirs. The variable has to be set before this module is imported.

No value of a label is a client's: operations are told apart by the root fields of the schema.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    multiprocess,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from graph_service import __version__
from graph_service.service.embedded_names import EmbeddedNames

if TYPE_CHECKING:
    from graph_service.model.limits import Deadline
    from graph_service.server.record import Record
    from graph_service.service import Service

T = TypeVar("T")

MULTIPROCESS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
LOOKUPS, RETRIEVALS = LANES = ("lookups", "retrievals")
ROUTES = ("/graphql", "/metrics", "/health/live", "/health/ready", "/version")
METHODS = ("GET", "HEAD", "OPTIONS", "POST")
OTHER = "other"
UNKNOWN = "unknown"
ANSWERS = "answers"
"""The cache of answers; an operation that has to be run is a miss of it."""
SEVERAL = "several"
"""The operation of a document that asks for several root fields."""

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_STAGE_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

# Prometheus tells from the values alone where a counter began anew.
disable_created_metrics()  # type: ignore[no-untyped-call]
_registry = CollectorRegistry()


def _counter(name: str, says: str, *labels: str) -> Counter:
    return Counter(f"graph_service_{name}", says, labels, registry=_registry)


def _gauge(name: str, says: str, *labels: str, over_processes: str) -> Gauge:
    return Gauge(
        f"graph_service_{name}",
        says,
        labels,
        registry=_registry,
        multiprocess_mode=over_processes,  # type: ignore[arg-type]
    )


def _histogram(name: str, says: str, *labels: str, buckets: tuple[float, ...]) -> Histogram:
    return Histogram(f"graph_service_{name}", says, labels, buckets=buckets, registry=_registry)


_requests = _counter(
    "http_requests",
    "HTTP requests that were answered; status 0 where the client went first.",
    "route",
    "method",
    "status",
)
_operations = _counter(
    "operations",
    "GraphQL operations by root field, and the first error's code or OK.",
    "type",
    "operation",
    "code",
)
_seconds = _histogram(
    "operation_duration_seconds",
    "From the request's head to its answer's end.",
    "operation",
    buckets=_SECONDS,
)
_waited = _histogram(
    "operation_wait_seconds",
    "Time that operations waited for a thread.",
    "lane",
    buckets=_SECONDS,
)
_stages = _histogram(
    "stage_duration_seconds", "Stages of retrievals.", "stage", buckets=_STAGE_SECONDS
)
_cost = _counter("operation_cost_retrievals", "What operations have cost.", "operation")
_refused = _counter(
    "refused_requests", "Requests answered with an HTTP status of 400 or more.", "status", "code"
)
_waiting = _gauge(
    "operations_waiting",
    "Operations that wait for a thread.",
    "lane",
    over_processes="livesum",
)
_running = _gauge("operations_running", "Operations that run.", "lane", over_processes="livesum")
_cache_lookups = _counter(
    "cache_lookups", "Look-ups in caches, by whether the entry was there.", "cache", "result"
)
_cache_bytes = _gauge("cache_bytes", "What caches hold.", "cache", over_processes="livesum")
_cache_limit = _gauge(
    "cache_limit_bytes", "What all caches may hold together.", over_processes="livesum"
)
_editions = _gauge(
    "open_editions",
    "Editions of graphs whose arrays are open, of the process that has most.",
    over_processes="livemax",
)
_embedded = _gauge(
    "embedded_relations",
    "Relations whose names have vectors, of the process that has fewest.",
    "graph",
    over_processes="livemin",
)
_to_embed = _gauge(
    "relations_to_embed",
    "Relations whose names are to be embedded, of the process that has most.",
    "graph",
    over_processes="livemax",
)
_jobs = _gauge("view_jobs", "Views that are being made.", over_processes="livesum")
_store_up = _gauge(
    "store_up",
    "Whether the store answered in time when it was last asked for its loads.",
    over_processes="livemostrecent",
)
_leases = _gauge(
    "load_leases",
    "Loads not published: their lease is held, or has expired.",
    "state",
    over_processes="livemostrecent",
)
_damaged = _gauge(
    "damaged_vectors",
    "Vectors that were read without their checksum and computed again, since the start.",
    over_processes="livesum",
)
_build = _gauge("build_info", "The version that runs.", "version", over_processes="livemax")

for _lane in LANES:
    _waiting.labels(_lane)
    _running.labels(_lane)
    _waited.labels(_lane)


def count_request(
    record: Record, /, *, route: str, method: str, status: int, seconds: float
) -> None:
    """Counts a request that was answered, with the operation in it if it had one."""
    route = route if route in ROUTES else OTHER
    _requests.labels(route, method if method in METHODS else OTHER, str(status)).inc()
    code = record.codes[0] if record.codes else "OK"
    if status >= 400:
        count_refused(status, code)
    if record.waited_s is not None:
        _waited.labels(record.lane).observe(record.waited_s)
    observation = record.observation
    if observation is None:
        return
    _cache_lookups.labels(ANSWERS, "hit" if record.is_repeat else "miss").inc()
    operation = operation_name(observation.fields)
    _operations.labels(observation.type or UNKNOWN, operation, code).inc()
    _seconds.labels(operation).observe(seconds)
    if record.cost is not None:
        _cost.labels(operation).inc(record.cost)
    for stage, ms in observation.stages:
        _stages.labels(stage).observe(ms / 1000)


def count_refused(status: int, code: str, /) -> None:
    """Counts a request that was refused, or a connection."""
    _refused.labels(str(status), code).inc()


def operation_name(fields: tuple[str, ...], /) -> str:
    """Returns the name by which an operation of some root fields is counted.

    >>> operation_name(("paths",)), operation_name(("paths", "items")), operation_name(())
    ('paths', 'several', 'unknown')
    """
    return fields[0] if len(fields) == 1 else SEVERAL if fields else UNKNOWN


@contextmanager
def in_lane(lane: str, work: Callable[[Deadline], T], /) -> Iterator[Callable[[Deadline], T]]:
    """Counts an operation that waits in the block, and that runs once its work is called.

    Args:
        lane: One of ``LANES``.
        work: What runs in a thread.

    Yields:
        The work, counted.
    """
    waiting, running = _waiting.labels(lane), _running.labels(lane)
    # Taken by whoever comes first, the thread that begins or the client that goes.
    waits = [waiting]

    def begin() -> None:
        with suppress(IndexError):
            waits.pop().dec()

    def counted(deadline: Deadline) -> T:
        begin()
        with running.track_inprogress():
            return work(deadline)

    waiting.inc()
    try:
        yield counted
    finally:
        begin()


def note_caches(service: Service, /, *, answer_bytes: int) -> None:
    """Notes what the caches, open graphs and jobs of this process are at, and what they did since.

    Args:
        service: Whose.
        answer_bytes: What the answers that are kept hold.
    """
    for lookups in (*service.memory.take_lookups(), service.graph_lookups()):
        _cache_lookups.labels(lookups.cache, "hit").inc(lookups.hits)
        _cache_lookups.labels(lookups.cache, "miss").inc(lookups.misses)
    used = service.memory.used()
    for cache in used.keys() | _known_caches:
        _cache_bytes.labels(cache).set(used.get(cache, 0))
    _known_caches.update(used)
    _cache_bytes.labels(ANSWERS).set(answer_bytes)
    _cache_limit.set(service.memory.limit_bytes)
    _editions.set(len(service.open_editions))
    _jobs.set(service.views.jobs_under_way)
    _damaged.set(service.damaged_vectors)
    _build.labels(__version__).set(1)


_known_caches: set[str] = set()


def note_embedded(progress: Mapping[str, EmbeddedNames], /) -> None:
    """Notes how far the names of graphs are embedded, by graph."""
    none = EmbeddedNames("", 0, 0)
    _known_graphs.update(progress)
    for graph in _known_graphs:
        names = progress.get(graph, none)
        _embedded.labels(graph).set(names.done)
        _to_embed.labels(graph).set(names.total - names.done)


_known_graphs: set[str] = set()


def note_loads(*, held: int, expired: int) -> None:
    """Notes the loads that the store has told of."""
    _store_up.set(1)
    _leases.labels("held").set(held)
    _leases.labels("expired").set(expired)


def note_store_silent() -> None:
    """Notes that the store has not answered in time."""
    _store_up.set(0)


def page(accept: str, /) -> tuple[bytes, str]:
    """Returns all metrics in the format that a header ``Accept`` asks for, and its media type."""
    registry = _registry
    folder = os.environ.get(MULTIPROCESS_FOLDER)
    if folder:
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        registry.register(_Processes(_pids(Path(folder))))
    encode, media_type = choose_encoder(accept)
    return encode(registry), media_type


def _pids(folder: Path) -> list[int]:
    """Returns the processes that count in a folder and were not forgotten."""
    return sorted({int(path.stem.rpartition("_")[2]) for path in folder.glob("gauge_live*_*.db")})


class _Processes:
    """Sums what Prometheus's own collector says of a process over several of them."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._pids = pids

    def collect(self) -> Iterator[Metric]:
        """Yields the metrics of processes; where one began, the first."""
        sums: dict[str, Metric] = {}
        for pid in self._pids:
            for metric in ProcessCollector(pid=pid.__int__, registry=None).collect():
                value = metric.samples[0].value
                known = sums.get(metric.name)
                if known is not None:
                    before = known.samples[0].value
                    value = min(before, value) if "start_time" in metric.name else before + value
                family = CounterMetricFamily if metric.type == "counter" else GaugeMetricFamily
                sums[metric.name] = family(metric.name, metric.documentation, value=value)
        yield from sums.values()


ProcessCollector(registry=_registry)
