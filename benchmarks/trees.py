"""Members of ``python -m benchmarks speed`` about subgraphs: growth on a whole graph, and how many are proven."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.codex import Codex, CodexGraph
from benchmarks.figures import Detail, Measured, spread, timed
from graph_service.model.graph import Float64, Int64, KnowledgeGraph
from graph_service.model.region import Region
from graph_service.retrieve.labels import Labels
from graph_service.retrieve.prizes.subgraph import PrizedSubgraph, best_subgraph
from graph_service.retrieve.region.cut import extract_region, induced
from graph_service.retrieve.region.pagerank import personalised_pagerank
from graph_service.retrieve.similarity import cosines, rank_prizes
from graph_service.retrieve.tree.solver import Tree, grow, load_pcst_fast, solve

CASES = 40
PROOF_SIZES = (1_000, 3_000)
PRIZED = 10
_MOST = 1_000_000


def growth(size: str, turns: int, codex: Codex, /) -> Measured:
    """Grows a tree on a whole graph from ten prizes; beside one raw run of pcst_fast (row O7)."""
    problem = _whole(codex, size, turns)
    raw = load_pcst_fast()[0]
    if raw is None:
        # Ours alone serves then, and has nothing to stand beside.
        return whole_tree(size, turns, codex)
    worth: list[float] = []

    def ours(prizes: Float64) -> None:
        found = grow(
            problem.source, problem.target, prizes=prizes, costs=problem.costs, pcst_fast=raw
        )
        worth.append(found[2])

    own = timed(ours, problem.draws)
    return _beside(problem, own, {"mean_objective": float(np.mean(worth))})


def whole_tree(size: str, turns: int, codex: Codex, /) -> Measured:
    """Solves the same at the default effort, with the bound that gives the gap."""
    problem = _whole(codex, size, turns)
    trees: list[Tree] = []

    def ours(prizes: Float64) -> None:
        trees.append(
            solve(
                problem.source,
                problem.target,
                prizes=prizes,
                costs=problem.costs,
                pcst_fast=load_pcst_fast()[0],
            )
        )

    own = timed(ours, problem.draws)
    return _beside(
        problem,
        own,
        {
            "mean_objective": float(np.mean([tree.objective for tree in trees])),
            "mean_bound": float(np.mean([tree.bound for tree in trees])),
        },
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    source: Int64
    target: Int64
    costs: Float64
    draws: list[Float64]


def _whole(codex: Codex, size: str, turns: int) -> _Problem:
    data = codex.graph(size)
    return _Problem(
        data.graph.head[:].astype(np.int64),
        data.graph.tail.astype(np.int64),
        np.ones(data.graph.edge_count),
        [_prizes(data, turn) for turn in range(turns)],
    )


def _beside(problem: _Problem, own: list[float], details: dict[str, Detail]) -> Measured:
    raw, report = load_pcst_fast()
    details = {"edges": len(problem.source), **details}
    if raw is None:
        return Measured(own, (), report.reason, details)
    pairs = np.stack((problem.source, problem.target), axis=1)
    worth: list[float] = []

    def theirs(prizes: Float64) -> None:
        nodes, edges = raw(pairs, prizes, problem.costs, -1, 1, "strong", 0)
        worth.append(float(prizes[nodes].sum() - problem.costs[edges].sum()))

    beside = timed(theirs, problem.draws)
    return Measured(
        own, beside, None, {**details, "reference_mean_objective": float(np.mean(worth))}
    )


def _prizes(data: CodexGraph, turn: int) -> Float64:
    """Prizes 10 to 1 on ten of the fixed entities, other ones each turn."""
    prizes = np.zeros(data.graph.node_count)
    nodes = [question.node for question in data.questions]
    chosen = [nodes[(turn + len(nodes) * i // PRIZED) % len(nodes)] for i in range(PRIZED)]
    prizes[chosen] = np.arange(PRIZED, 0, -1)
    return prizes


def proofs(edges: int, cost: int, codex: Codex, /) -> Measured:
    """Counts how many subgraphs of regions are proven optimal, and how far the others may be off."""
    cases = codex.once(f"trees {edges}", lambda: tree_cases(codex, edges))

    def quick(case: TreeCase) -> PrizedSubgraph:
        return _solved(case, cost, prove=False)

    def thorough(case: TreeCase) -> PrizedSubgraph:
        return _solved(case, cost, prove=True)

    own = timed(quick, cases)
    proving = timed(thorough, cases)
    cheap, proven = [quick(case) for case in cases], [thorough(case) for case in cases]
    bounds = [found.objective * (1 + (found.gap or 0.0)) for found in proven]
    raw = load_pcst_fast()[0]
    details: dict[str, Detail] = {
        "regions": len(cases),
        "median_nodes": int(np.median([case.region.node_count for case in cases])),
        "median_edges": int(np.median([case.region.edge_count for case in cases])),
        "default_proven": float(np.mean([found.gap == 0.0 for found in cheap])),
        "default_mean_gap": _mean_gap(cheap, bounds),
        "default_own_mean_gap": float(np.mean([found.gap or 0.0 for found in cheap])),
        "prove_median_ms": float(np.median(proving)),
        "prove_95_ms": float(np.percentile(proving, 95)),
        "prove_proven": float(np.mean([found.gap == 0.0 for found in proven])),
        "prove_mean_gap": _mean_gap(proven, bounds),
    }
    if raw is None:
        return Measured(own, (), load_pcst_fast()[1].reason, details)
    problems = [_virtual(case, cost) for case in cases]
    worth: list[float] = []

    def theirs(problem: _Virtual) -> None:
        nodes, picked = raw(problem.pairs, problem.prizes, problem.costs, -1, 1, "strong", 0)
        worth.append(float(problem.prizes[nodes].sum() - problem.costs[picked].sum()))

    beside = timed(theirs, problems)
    details["reference_mean_gap"] = float(
        np.mean([bound / max(one, 1e-9) - 1.0 for bound, one in zip(bounds, worth, strict=True)])
    )
    details["worse_than_reference"] = sum(
        found.objective < one - 1e-6 for found, one in zip(cheap, worth, strict=True)
    )
    return Measured(own, beside, None, details)


def _solved(case: TreeCase, cost: int, *, prove: bool) -> PrizedSubgraph:
    return best_subgraph(
        case.region,
        node_prizes=case.node_prizes,
        edge_prizes=case.edge_prizes,
        edge_cost=float(cost),
        prove=prove,
    )


def _mean_gap(found: list[PrizedSubgraph], bounds: list[float]) -> float:
    """Returns the mean share that the best known bound is above what was found."""
    return float(
        np.mean(
            [
                bound / max(one.objective, 1e-9) - 1.0
                for one, bound in zip(found, bounds, strict=True)
            ]
        )
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Virtual:
    """The problem as OKGQA's code puts it: an edge that pays for itself is a node on its way."""

    pairs: Int64
    prizes: Float64
    costs: Float64


def _virtual(case: TreeCase, cost: int) -> _Virtual:
    region, gain = case.region, case.edge_prizes - cost
    head, tail = region.head.astype(np.int64), region.tail.astype(np.int64)
    paid = np.flatnonzero(gain > 0)
    plain = np.flatnonzero(gain <= 0)
    middle = region.node_count + np.arange(len(paid))
    pairs = np.concatenate(
        (
            np.stack((head[plain], tail[plain]), axis=1),
            np.stack((head[paid], middle), axis=1),
            np.stack((middle, tail[paid]), axis=1),
        )
    )
    costs = np.concatenate((-gain[plain], np.zeros(2 * len(paid))))
    return _Virtual(pairs, np.concatenate((case.node_prizes, gain[paid])), costs)


@dataclass(frozen=True, slots=True, eq=False)
class TreeCase:
    """A region with prizes for a question.

    Attributes:
        region: Of so many edges, at most.
        node_prizes: 10 to 1 on the nodes most like the question.
        edge_prizes: 10 to 1 on ten statements: those of the relation most like the question come
            first, and within one relation those of smaller key (as OKGQA's code ranks them).
    """

    region: Region
    node_prizes: Float64
    edge_prizes: Float64


def tree_cases(codex: Codex, edges: int, /) -> list[TreeCase]:
    """Returns regions of CoDEx-M around fixed entities, with prizes.

    A region is what a walk both ways keeps of the two hops around an entity: the nodes of most
    PageRank, as many as have ``edges`` edges between them at most.
    """
    data = codex.graph("m")
    labels = Labels(data.graph, None, ("en",))
    encode = codex.service.vectors.encode
    found: list[TreeCase] = []
    for question in spread(data.questions, len(data.questions)):
        region = _densest(data.graph, question.node, edges)
        if region is None or len(found) >= CASES:
            continue
        nodes = labels.nodes(region.nodes)
        numbers, which = np.unique(region.rel, return_inverse=True)
        relations = labels.relations(numbers)
        asked = encode([question.text])[0]
        node_like = cosines(asked, encode(nodes))
        edge_like = cosines(asked, encode(relations))[which]
        found.append(
            TreeCase(
                region,
                rank_prizes(node_like, PRIZED, keys=region.node_keys),
                rank_prizes(edge_like, PRIZED, keys=region.edge_keys),
            )
        )
    return found


def _densest(graph: KnowledgeGraph, node: int, edges: int) -> Region | None:
    """Returns the region, or None where two hops hold too few edges."""
    whole = extract_region(
        graph, np.array([node], dtype=np.int32), hops=2, max_edges=_MOST, hub_degree=None
    )
    if whole.edge_count < min(edges, graph.edge_count // 4):
        return None
    mass = personalised_pagerank(
        whole.head,
        whole.tail,
        node_count=whole.node_count,
        start_entities=whole.start_entities,
        walk="both",
    ).mass
    place = np.empty(whole.node_count, dtype=np.int64)
    order = np.lexsort((whole.node_keys, -np.round(mass, 12)))
    place[order] = np.arange(whole.node_count)
    # An edge is in from the later of its two nodes on.
    last = np.sort(np.maximum(place[whole.head], place[whole.tail]))
    most = int(last[edges]) if edges < len(last) else whole.node_count
    keep = place < most
    keep[whole.start_entities] = True
    return induced(whole, keep)
