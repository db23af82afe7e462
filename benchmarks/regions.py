"""A member of ``python -m benchmarks speed``: what the limits of a region cost in time and in what it still holds."""

from __future__ import annotations

import numpy as np

from benchmarks.codex import Codex
from benchmarks.figures import Detail, Measured, timed
from graph_service.model.graph import Int64, KnowledgeGraph
from graph_service.model.region import Region
from graph_service.retrieve.region.cut import extract_region

HUB_DEGREES = (None, 2000, 500)
MAX_EDGES = 20_000
_CHAINS = 20
_WHOLE = 1_000_000


def region_limits(codex: Codex, /) -> Measured:
    """Cuts 2-hop regions of CoDEx-M at several hub degrees; beside no rule at all.

    Recall is the share of two-step chains from the entity that lie in the region, drawn by random
    walks that visit no entity twice. A chain through a hub is drawn as often as it is walked.
    """
    graph = codex.graph("m").graph
    draw = np.random.default_rng(5)
    nodes = [question.node for question in codex.graph("m").questions]
    chains = {node: _chains(graph, node, draw) for node in nodes}
    details: dict[str, Detail] = {}
    times: dict[int | None, list[float]] = {}
    for limit in HUB_DEGREES:
        most = _WHOLE if limit is None else MAX_EDGES

        def cut(node: int, limit: int | None = limit, most: int = most) -> Region:
            return extract_region(
                graph, np.array([node], dtype=np.int32), hops=2, max_edges=most, hub_degree=limit
            )

        times[limit] = timed(cut, nodes)
        found = [cut(node) for node in nodes]
        name = "no_limit" if limit is None else f"hub_degree_{limit}"
        details[f"{name}_median_edges"] = int(np.median([region.edge_count for region in found]))
        details[f"{name}_95_ms"] = float(np.percentile(times[limit], 95))
        details[f"{name}_chain_recall"] = _recall(found, [chains[node] for node in nodes])
    return Measured(times[HUB_DEGREES[1]], times[None], None, details)


def _chains(graph: KnowledgeGraph, start: int, draw: np.random.Generator) -> Int64:
    """Returns up to twenty chains of two edges, int64 [c, 2]."""
    found: set[tuple[int, int]] = set()
    for _ in range(4 * _CHAINS):
        first, between = _step(graph, start, draw)
        second, end = _step(graph, between, draw)
        if first != second and len({start, between, end}) == 3 and len(found) < _CHAINS:
            found.add((first, second))
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)


def _step(graph: KnowledgeGraph, node: int, draw: np.random.Generator) -> tuple[int, int]:
    """Returns a random edge of a node, either way, and its other end."""
    out, back = graph.out_edges.of(node), graph.in_edges.of(node)
    place = int(draw.integers(len(out) + len(back)))
    if place < len(out):
        return int(out[place]), int(graph.tail[out[place]])
    edge = int(back[place - len(out)])
    return edge, int(graph.head[edge])


def _recall(regions: list[Region], chains: list[Int64]) -> float:
    held = total = 0
    for region, of_node in zip(regions, chains, strict=True):
        held += int(np.isin(of_node, region.edges).all(axis=1).sum())
        total += len(of_node)
    return held / max(total, 1)
