"""The verbs ``snapshot push`` and ``snapshot pull``."""

from __future__ import annotations

from graph_service.cli.bar import Bar
from graph_service.cli.graph.snapshot_options import SnapshotOptions
from graph_service.cli.opening import open_from
from graph_service.cli.output import Output
from graph_service.errors import StoreError
from graph_service.service import Service
from graph_service.store.lifecycle import CachedStore
from graph_service.store.snapshot.cache import SnapshotCache
from graph_service.store.snapshot.depot import open_depot
from graph_service.store.snapshot.transfer import Transfer, pull_snapshot, push_snapshot


def push(options: SnapshotOptions, output: Output, /) -> int:
    """Copies a graph's arrays to a folder or an address."""
    depot = open_depot(options.address)
    with open_from(options, output) as service, _bar(output) as bar:
        cache = _cache_of(service)
        info = service.graph(options.graph)
        service.store.snapshot(info)
        folder = cache.path_of(info)
        if not folder.exists():
            raise StoreError(
                f"the snapshot of {info.name!r} is in memory alone: {folder.parent} can't be written",
                hint="Name another folder (GRAPH_SERVICE_CACHE_DIR), or free disk space.",
            )
        done = push_snapshot(folder, info, depot, progress=bar.show)
    _tell(done, output, "sent", f"to {depot.address}")
    return 0


def pull(options: SnapshotOptions, output: Output, /) -> int:
    """Fetches a graph's arrays from a folder or an address."""
    depot = open_depot(options.address)
    with open_from(options, output) as service, _bar(output) as bar:
        info = service.graph(options.graph)
        done = pull_snapshot(_cache_of(service), info, depot, progress=bar.show)
    _tell(done, output, "fetched", f"from {depot.address}")
    return 0


def _cache_of(service: Service) -> SnapshotCache:
    store = service.store
    # Both stores keep their arrays alike; a key's part of a store is never opened here.
    assert isinstance(store, CachedStore)
    return store.snapshots


def _bar(output: Output) -> Bar:
    return Bar(shown=not output.as_json, unit="B", divisor=1024)


def _tell(done: Transfer, output: Output, what: str, where: str) -> None:
    output.object(done)
    already = done.bytes - done.moved_bytes
    output.line(
        f"{done.graph}: {done.moved_bytes:,} of {done.bytes:,} bytes {what} {where}, "
        f"{already:,} were there already"
    )
    output.line(f"hash {done.hash}")
