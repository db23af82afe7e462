"""PageRank beside networkx's: the same walk, the same stopping rule, and how far they differ."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.codex import Codex, directed
from benchmarks.figures import Detail, Measured, spread, timed
from graph_service.model.graph import Float64, Int32, Int64, KnowledgeGraph
from graph_service.retrieve.preset import LEARNED
from graph_service.retrieve.region.cut import extract_region
from graph_service.retrieve.region.pagerank import rank
from graph_service.retrieve.region.transition_matrix import AlongWalk, BothWalk, prepare_walk

EXACT_TOLERANCE = 1e-14
MIN_MASS = 1e-5
SCIPY_MISSING = "networkx.pagerank needs scipy: pip install scipy"
_ITERATIONS = 200
_EXACT_ITERATIONS = 2000


@dataclass(frozen=True, slots=True, eq=False)
class _Walk:
    """Edges to walk, the ways of the walk, and where it restarts."""

    head: Int32
    tail: Int32
    node_count: int
    degrees: Int64
    walk: str
    hub_damping: float

    def prepared(self) -> AlongWalk | BothWalk:
        return prepare_walk(
            self.head,
            self.tail,
            node_count=self.node_count,
            walk=self.walk,
            degrees=self.degrees,
            hub_damping=self.hub_damping,
        )

    def ranked(self, seed: int) -> Float64:
        return rank(self.prepared(), np.array([seed], dtype=np.int32)).mass

    def networkx_graph(self) -> Any:
        """The same walk for networkx: both ways as two edges, hub damping as a weight."""
        head, tail = self.head, self.tail
        if self.walk == "both":
            head, tail = np.concatenate((head, tail)), np.concatenate((tail, head))
        weight = np.maximum(self.degrees[tail], 1).astype(np.float64) ** -self.hub_damping
        return directed(head, tail, weight=weight)


def pagerank_whole(walk: str, codex: Codex, /) -> Measured:
    """PageRank of the whole of CoDEx-M from single entities (row O3)."""
    data = codex.graph("m")
    graph = data.graph
    way = _Walk(
        graph.head[:], graph.tail, graph.node_count, graph.degrees(), walk, _hub_damping(walk)
    )
    nodes = [question.node for question in data.questions]
    ready = way.prepared()
    own = timed(lambda node: rank(ready, np.array([node], dtype=np.int32)), nodes)
    preparing = timed(lambda _: way.prepared(), range(5))
    beside, details, reason = _networkx_pagerank([(way, node) for node in spread(nodes, 3)])
    details = {
        "edges": graph.edge_count,
        "prepared_once_ms": float(np.median(preparing)),
        **_floor(graph, walk),
        **details,
    }
    return Measured(own, beside, reason, details)


def _floor(graph: KnowledgeGraph, walk: str) -> dict[str, Detail]:
    """Returns what one pass over the edges costs numpy: a look-up and a sum for each arc."""
    order = np.argsort(graph.tail, kind="stable")
    source, target = graph.head[order].astype(np.int64), graph.tail[order]
    if walk == "both":
        source, target = np.concatenate((source, target)), np.concatenate((target, source))
        order = np.argsort(target, kind="stable")
        source, target = source[order].astype(np.int64), target[order]
    starts = np.flatnonzero(np.diff(target, prepend=-1))
    mass = np.ones(graph.node_count)
    passes = timed(lambda _: np.add.reduceat(mass.take(source), starts), range(20))
    return {"numpy_one_pass_ms": float(np.median(passes))}


def pagerank_region(codex: Codex, /) -> Measured:
    """PageRank of 2-hop regions of CoDEx-M, cut out as preset ``default`` does."""
    data = codex.graph("m")
    cases = [(_region_walk(data.graph, question.node)) for question in spread(data.questions, 50)]
    own = timed(lambda case: case[0].ranked(case[1]), cases)
    beside, details, reason = _networkx_pagerank(spread(cases, 5))
    sizes = [len(case[0].head) for case in cases]
    return Measured(own, beside, reason, {"median_edges": int(np.median(sizes)), **details})


def _region_walk(graph: KnowledgeGraph, node: int) -> tuple[_Walk, int]:
    region = extract_region(
        graph,
        np.array([node], dtype=np.int32),
        hops=2,
        max_edges=LEARNED.max_edges,
        hub_degree=LEARNED.hub_degree,
    )
    way = _Walk(
        region.head,
        region.tail,
        region.node_count,
        region.degrees,
        "both",
        LEARNED.hub_damping,
    )
    return way, int(region.start_entities[0])


def _hub_damping(walk: str) -> float:
    return LEARNED.hub_damping if walk == "both" else 0.0


def _networkx_pagerank(
    cases: Sequence[tuple[_Walk, int]],
) -> tuple[list[float], dict[str, Detail], str | None]:
    """Times networkx on the same walks by the same stopping rule, and compares with its exact one.

    networkx stops at n times its tolerance and starts from a uniform mass unless told otherwise.
    """
    if importlib.util.find_spec("scipy") is None:
        return [], {}, SCIPY_MISSING
    import networkx as nx

    times: list[float] = []
    largest, kept_otherwise = 0.0, 0
    graph: Any = None
    of_way: _Walk | None = None
    for way, seed in cases:
        if way is not of_way:
            graph, of_way = way.networkx_graph(), way
        restart = {seed: 1.0}
        rank = partial(nx.pagerank, graph, alpha=0.85, personalization=restart, nstart=restart)
        equal = partial(rank, max_iter=_ITERATIONS, tol=1e-6 / len(graph))
        times += timed(_call, [equal])
        exact_by_node = rank(max_iter=_EXACT_ITERATIONS, tol=EXACT_TOLERANCE)
        exact = np.zeros(way.node_count)
        exact[list(exact_by_node)] = list(exact_by_node.values())
        mass = way.ranked(seed)
        largest = max(largest, float(np.abs(mass - exact).max()))
        near_cut = np.abs(exact - MIN_MASS) < 1e-6
        kept_otherwise += int((((mass >= MIN_MASS) != (exact >= MIN_MASS)) & ~near_cut).sum())
    return times, {"largest_error": largest, "kept_otherwise": kept_otherwise}, None


def _call(function: Callable[[], object]) -> None:
    function()
