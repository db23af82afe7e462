"""cluster view create, cluster view store."""

from __future__ import annotations

import time
from dataclasses import replace

from graph_service.cli.cluster.options import ClusterViewOptions, StoreViewOptions
from graph_service.cli.opening import open_from
from graph_service.cli.output import Output
from graph_service.cluster.delta import read_view, store_view
from graph_service.cluster.graph import open_graph, require_manifest
from graph_service.cluster.paths import shared_path
from graph_service.cluster.session import open_session
from graph_service.cluster.views import create_view, require_supported
from graph_service.service.lookup import read_id


def create(options: ClusterViewOptions, output: Output, /) -> int:
    """Draws a view by an engine into a folder."""
    relation_ids = tuple(read_id(id_) for id_ in options.scope.relation_ids)
    spec = replace(options.spec, scope=replace(options.scope, relation_ids=relation_ids))
    spec.validate()
    require_supported(spec)
    # What can't be read or written is told before an engine starts.
    out = shared_path(options.to, argument="to")
    require_manifest(options.source)
    began = time.monotonic()
    with open_session(options.remote) as session:
        view = create_view(open_graph(session, options.source), spec, out)
    seconds = time.monotonic() - began
    output.object({**view.to_json(), "seconds": round(seconds, 3)})
    report = view.report
    changes = ", ".join(f"{count:,} {change}" for change, count in report.counts.items() if count)
    output.line(f"{view.id} of {view.graph}: {changes or 'no change'} in {seconds:.1f} s")
    output.line(
        f"  {report.scope_edges:,} statements in scope, level {report.level_reached or 0:.4f}"
    )
    for note in report.notes:
        output.line(f"  {note}")
    output.line(f"  {options.to}")
    output.line(f"  graph-service cluster view store {options.to} --graph {view.graph}")
    return 0


def store(options: StoreViewOptions, output: Output, /) -> int:
    """Takes a view that a cluster drew into a store."""
    view = read_view(options.source)
    with open_from(options, output) as service:
        info = service.graph(options.graph)
        stored = store_view(
            view, service.store, service.arrays(info), name=options.name, note=options.note
        )
    output.object({"view": stored})
    output.line(f"{stored.id} of {stored.graph}" + (" was there already" if stored.reused else ""))
    return 0
