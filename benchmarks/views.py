"""Members of ``python -m benchmarks speed`` about views: deviation, stored size, retrieval on a view, a sweep."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.codex import Codex, CodexGraph
from benchmarks.figures import Detail, Measured, timed
from benchmarks.scaling import open_largest
from graph_service.artifacts.views import ViewStore
from graph_service.model.graph import Float64, KnowledgeGraph
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import Strategy
from graph_service.model.view_delta import ViewDelta
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.service import Service
from graph_service.views.codec import encode_delta
from graph_service.views.delta import make_delta
from graph_service.views.measure.clustering import mean_clustering
from graph_service.views.measure.deviation import mean_degree
from graph_service.views.prepared import PreparedBase

LEVEL = 0.3
DRAWN = (
    Method.RELATION_SWAPPING,
    Method.RELATION_REPLACEMENT,
    Method.EDGE_REWIRING,
    Method.EDGE_DELETION,
)
SWEPT_LEVELS = tuple(place / 10 for place in range(1, 11))
SWEPT_SEEDS = 5
_QUESTIONS = 20
_NO_REFERENCE = "nothing else does this as one piece of work"
_PUBLISHED_MS = {("sc2d", "s"): 3241.0, ("sd2", "s"): 1949.0, ("sd2", "m"): 13075.0}


def deviation(metric: str, size: str, turns: int, codex: Codex, /) -> Measured:
    """Measures clustering coefficients or degrees; beside networkx, one relation at a time."""
    graph = codex.graph(size).graph
    ends = (graph.head[:], graph.rel[:], graph.tail, graph.node_count)
    ours: Callable[..., Float64] = mean_clustering if metric == "sc2d" else mean_degree
    found: list[Float64] = []

    def own(_: int) -> None:
        found.append(ours(*ends))

    beside: list[Float64] = []

    def theirs(_: int) -> None:
        beside.append(_by_networkx(graph, metric))

    details: dict[str, Detail] = {"edges": graph.edge_count}
    if (metric, size) in _PUBLISHED_MS:
        details["published_ms"] = _PUBLISHED_MS[metric, size]
    own_ms, reference_ms = timed(own, range(turns)), timed(theirs, range(1))
    details["largest_difference"] = float(np.abs(found[0] - beside[0]).max())
    return Measured(own_ms, reference_ms, None, details)


def _by_networkx(graph: KnowledgeGraph, metric: str) -> Float64:
    import networkx as nx

    total = np.zeros(graph.node_count)
    relations = np.unique(graph.rel[:])
    for relation in relations.tolist():
        edges = np.flatnonzero(graph.rel[:] == relation)
        kind: Any = nx.Graph if metric == "sc2d" else nx.MultiGraph
        walk = kind()
        walk.add_edges_from(
            zip(graph.head[edges].tolist(), graph.tail[edges].tolist(), strict=True)
        )
        values: Any = nx.clustering(walk) if metric == "sc2d" else dict(walk.degree())
        total[list(values)] += list(values.values())
    return total / max(1, len(relations))


def stored_size(size: str, turns: int, codex: Codex, /) -> Measured:
    """Writes views of each method as bytes; beside numpy's own compressed file of the arrays."""
    graph = codex.graph(size).graph
    views = ViewStore(codex.service.store)
    laid = {method: views.lay_spec(graph, ViewSpec(method, level=LEVEL)) for method in DRAWN}
    details: dict[str, Detail] = {}
    for method, one in laid.items():
        written = len(encode_delta(graph, one.delta))
        details[f"{method.value}_bytes_an_edge"] = written / max(1, one.delta.changed_count)
    swapped = laid[Method.RELATION_SWAPPING].delta

    def ours(_: int) -> None:
        encode_delta(graph, swapped)

    path = codex.folder / "delta.npz"

    def theirs(_: int) -> None:
        np.savez_compressed(path, edges=swapped.replaced, relations=swapped.replaced_rel)

    own, beside = timed(ours, range(turns)), timed(theirs, range(turns))
    details["reference_bytes_an_edge"] = path.stat().st_size / max(1, swapped.changed_count)
    return Measured(own, beside, None, details)


def at_scale(method: Method, codex: Codex, /) -> Measured:
    """Draws views of the largest scale-free graph, what its views share made before.

    Beside it numpy draws as many edges by its own generator, copies the arrays and changes them,
    looking at nothing else. The peak is of memory beyond the arrays and what views share.
    """
    graph = open_largest(codex)
    prepared = PreparedBase(graph)
    (shared_ms,) = timed(lambda _: prepared.index, range(1))
    found: list[ViewDelta] = []

    def ours(random_seed: int) -> None:
        spec = ViewSpec(method, level=LEVEL, random_seed=random_seed)
        found[:] = [make_delta(graph, spec, prepared=prepared)[0]]

    ours(0)
    own = timed(ours, range(3))
    tracemalloc.start()
    ours(0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    changed = found.pop().changed_count

    def theirs(random_seed: int) -> None:
        draw = np.random.default_rng(random_seed)
        chosen = draw.permutation(graph.edge_count)[:changed]
        head, rel, tail = graph.head[:], graph.rel[:], graph.tail.copy()
        if method is Method.EDGE_DELETION:
            head, rel, tail = (np.delete(column, chosen) for column in (head, rel, tail))
        elif method is Method.RELATION_SWAPPING:
            rel[chosen] = rel[chosen[::-1]]
        else:
            tail[chosen] = draw.integers(0, graph.entity_count, changed)

    beside = timed(theirs, range(2))
    details: dict[str, Detail] = {
        "edges": graph.edge_count,
        "changed": changed,
        "peak_mb": peak / 1e6,
        "shared_once_ms": shared_ms,
    }
    return Measured(own, beside, None, details)


def on_view(first: bool, codex: Codex, /) -> Measured:
    """Asks CoDEx-M on views, vectors warm; beside the same questions on the base.

    Args:
        first: Whether each question is the first on a stored view that was never read; else all
            are on one view that was.
        codex: The data.
    """
    data = codex.graph("m")
    service = codex.service
    questions = data.questions[:_QUESTIONS]
    specs = [
        ViewSpec(Method.RELATION_SWAPPING, level=LEVEL, random_seed=1000 + place * first)
        for place in range(len(questions))
    ]
    for spec in dict.fromkeys(specs):
        service.views.create(spec, graph=data.name)
    refs = [ViewRef(id=spec.identity(data.info.fingerprints.edges)) for spec in specs]
    base = [_request(data, place) for place in range(len(questions))]
    asked = [replace(one, view=ref) for one, ref in zip(base, refs, strict=True)]
    # Texts of both sides are embedded before anything is timed.
    for one in (*base, *asked):
        service.retrieve(one)
    # Where each is the first on its view: a service that has the graph open and no view read.
    asking = (
        Service(service.store, vectors=lambda: service.vectors, settings=codex.settings)
        if first
        else service
    )
    for one in base:
        asking.retrieve(one)
    own = timed(asking.retrieve, asked)
    beside = timed(asking.retrieve, base)
    more = float(np.median(own) - np.median(beside))
    return Measured(own, beside, None, {"more_ms": more, "questions": len(questions)})


def _request(data: CodexGraph, place: int) -> RetrieveRequest:
    question = data.questions[place]
    return RetrieveRequest(
        question.text,
        strategy=Strategy.TRIPLETS,
        graph=data.name,
        entity_ids=(question.entity_id,),
    )


def sweep(codex: Codex, /) -> Measured:
    """Makes, measures and stores 4 methods x 10 levels x 5 random seeds on CoDEx-M."""
    data = codex.graph("m")
    path = Path(str(codex.folder / "bench.db"))
    before = path.stat().st_size
    views = ViewStore(codex.service.store)

    def ours(_: int) -> None:
        for method in DRAWN:
            for level in SWEPT_LEVELS:
                for seed in range(SWEPT_SEEDS):
                    views.create(data.graph, ViewSpec(method, level=level, random_seed=seed))

    own = timed(ours, range(1))
    count = len(DRAWN) * len(SWEPT_LEVELS) * SWEPT_SEEDS
    details: dict[str, Detail] = {
        "views": count,
        "ms_a_view": own[0] / count,
        "file_mb": (path.stat().st_size - before) / 1e6,
    }
    return Measured(own, (), _NO_REFERENCE, details)
