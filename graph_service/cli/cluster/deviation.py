"""Measures how far a view deviates, by Spark: what ``cluster view deviation`` does."""

from __future__ import annotations

import time

from graph_service.cli.cluster.options import ClusterDeviationOptions
from graph_service.cli.output import Output
from graph_service.cluster.delta import read_view
from graph_service.cluster.deviation import measure_view, require_scorer
from graph_service.cluster.graph import open_graph, require_manifest
from graph_service.cluster.session import open_session
from graph_service.views.measure.describe import describe_deviation


def deviation(options: ClusterDeviationOptions, output: Output, /) -> int:
    """Measures by an engine how far a view has gone from its base."""
    require_scorer(options.scorer)
    # What can't be read is told before an engine starts.
    require_manifest(options.source)
    view = read_view(options.view)
    began = time.monotonic()
    with open_session(options.remote) as session:
        measured = measure_view(open_graph(session, options.source), view, scorer=options.scorer)
    seconds = time.monotonic() - began
    output.object({"view": view.id, "deviation": measured, "seconds": round(seconds, 3)})
    output.line(f"{view.id} of {view.graph}: {describe_deviation(measured)}")
    output.line(f"  {options.view}, in {seconds:.1f} s")
    return 0
