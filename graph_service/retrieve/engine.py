"""One retrieval from the question's text and entities to picked statements.

Everything here is a function of its arguments: no store, no clock but for the timings.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from graph_service.errors import InputError
from graph_service.model.graph import Float64, Int32, Int64, KnowledgeGraph
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.region import Region, RegionStats
from graph_service.model.result import Strategy
from graph_service.model.text import fold, relation_words
from graph_service.model.view import Overlay
from graph_service.retrieve.kinds import head_kinds, spoken_kinds
from graph_service.retrieve.labels import Labels
from graph_service.retrieve.pagerank import personalised_pagerank, prune
from graph_service.retrieve.paths import best_paths
from graph_service.retrieve.preset import Preset
from graph_service.retrieve.prizes import cosines, rank_prizes
from graph_service.retrieve.region import extract_region, prizeable
from graph_service.retrieve.sequences import Walks, best_walks
from graph_service.retrieve.stats import region_stats
from graph_service.retrieve.subgraph import at_least, best_subgraph
from graph_service.retrieve.triplets import best_triplets, triple_totals
from graph_service.retrieve.wording import SequenceScorer, Wording

Encode = Callable[[Sequence[str]], npt.NDArray[np.float32]]
_TRIPLE_TEXTS = 64
"""Triples of equal score that are told apart by their own text; the others go by key."""
_STATS_WEDGES = 50_000
"""Bound of counting triangles under the default presets; ``okgqa`` reports clustering always (O3)."""


@dataclass(frozen=True, slots=True)
class PickedEdge:
    """A statement that was picked.

    Attributes:
        edge: Global edge number (an overlay's from the base's edge count on).
        score: Its total.
        head_prize, edge_prize, tail_prize: The parts of it.
    """

    edge: int
    score: float
    head_prize: float
    edge_prize: float
    tail_prize: float


@dataclass(frozen=True, slots=True)
class PickedPath:
    """A path that was picked: global edge numbers, and whether each was walked tail to head."""

    edges: tuple[int, ...]
    reversed: tuple[bool, ...]
    score: float


ItemT = TypeVar("ItemT", PickedEdge, PickedPath)


@dataclass(frozen=True, slots=True)
class Selection:
    """What one retrieval picked.

    Attributes:
        region_before, region_after: Figures of the region, before and after PageRank's cut.
        triples: For triplets best first; for a subgraph its statements, best first.
        paths: For paths, best first.
        objective, gap, solver: For a subgraph.
        relevance: How much the best that was found bears on the question: the score of the best
            relation sequence, at most 1; None where the preset does not say.
        cuts: What limits left out.
        timings_ms: Milliseconds by stage.
    """

    region_before: RegionStats
    region_after: RegionStats
    triples: tuple[PickedEdge, ...] = ()
    paths: tuple[PickedPath, ...] = ()
    objective: float | None = None
    gap: float | None = None
    solver: str | None = None
    relevance: float | None = None
    cuts: tuple[Cut, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict, compare=False)


class _Clock:
    def __init__(self) -> None:
        self.stages: dict[str, float] = {}
        self._at = time.perf_counter()

    def stage(self, name: str) -> None:
        now = time.perf_counter()
        self.stages[name] = self.stages.get(name, 0.0) + 1000 * (now - self._at)
        self._at = now


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    """What the stages of one retrieval share."""

    strategy: Strategy
    preset: Preset
    region: Region
    labels: Labels
    encode: Encode
    min_score: float | None
    prove: bool
    deadline: Deadline
    clock: _Clock


class _Encoder:
    """Texts to vectors, each text asked for once in a retrieval."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._known: dict[str, npt.NDArray[np.float32]] = {}

    def __call__(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._encode(new), strict=True))
        return np.array([self._known[text] for text in texts], dtype=np.float32)


def run(
    strategy: Strategy,
    question: str,
    /,
    *,
    graph: KnowledgeGraph,
    seeds: Int32,
    preset: Preset,
    encode: Encode,
    mentions: Sequence[tuple[int, int]] = (),
    overlay: Overlay | None = None,
    languages: Sequence[str] = ("en",),
    relation_filter: tuple[Int32 | None, Int32 | None] | None = None,
    ranks: Sequence[int] = (0, 1),
    min_score: float | None = None,
    prove: bool = False,
    deadline: Deadline | None = None,
    region: Region | None = None,
) -> Selection:
    """Returns what a question retrieves from a graph or a view of it.

    Args:
        strategy: Triplets, paths or subgraph.
        question: Its text.
        graph: The base.
        seeds: The question's entities, global numbers.
        preset: All parameters.
        encode: Texts to unit vectors, float32 [len(texts), d]; may keep what it computed.
        mentions: Where the question names entities, in characters: ``(start, end)``.
        overlay: The view, where one is asked for.
        languages: Of labels, best first.
        relation_filter: Relations to keep and to leave out, int32.
        ranks: ``RANK_CODES`` of the statements that are edges.
        min_score: Items of a lower score are left out.
        prove: Whether up to two seconds are spent on a proven subgraph.
        deadline: Raises ``DeadlineError`` when past.
        region: Used as it is, where the store made it; else cut out of ``graph``.

    Raises:
        InputError: The question is empty, or there are no seeds.
        DeadlineError: The time allowed ran out.
    """
    if not question.strip():
        raise InputError("the question is empty", argument="question")
    deadline = deadline or Deadline.none()
    clock = _Clock()
    if region is None:
        region = extract_region(
            graph,
            seeds,
            hops=preset.hops,
            hub_degree=preset.hub_degree,
            max_edges=preset.max_edges,
            overlay=overlay,
            ranks=ranks,
            relation_filter=relation_filter,
            deadline=deadline,
        )
    clock.stage("region")
    after = _ranked(region, preset, deadline)
    clock.stage("pagerank")
    wedges = None if preset.scoring == "prizes" else _STATS_WEDGES
    before_stats = region_stats(region, max_wedges=wedges)
    after_stats = before_stats if after is region else region_stats(after, max_wedges=wedges)
    clock.stage("statistics")
    labels = Labels(graph, overlay, languages)
    call = _Call(
        strategy, preset, after, labels, _Encoder(encode), min_score, prove, deadline, clock
    )
    if preset.scoring == "prizes":
        eligible = prizeable(graph, overlay, after)
        selection = _by_prizes(call, question, eligible)
    else:
        selection = _by_sequences(call, question, mentions)
    return replace(
        selection,
        region_before=before_stats,
        region_after=after_stats,
        cuts=(*after.cuts, *selection.cuts),
        timings_ms=dict(clock.stages),
    )


def without_mentions(question: str, mentions: Sequence[tuple[int, int]], /) -> str:
    """Returns the question less the names in it, or the question where nothing else is left.

    >>> without_mentions("Who is Ada's mother?", [(7, 10)])
    "Who is 's mother?"
    """
    kept = question
    for start, end in sorted(mentions, reverse=True):
        if 0 <= start < end <= len(question):
            kept = kept[:start] + " " + kept[end:]
    kept = " ".join(kept.split()).replace(" '", " '").strip()
    return kept if any(letter.isalnum() for letter in kept) else question


def _ranked(region: Region, preset: Preset, deadline: Deadline) -> Region:
    """Returns the region that PageRank keeps."""
    if preset.min_mass <= 0.0 and region.node_count <= (preset.max_nodes or region.node_count):
        return region  # Nothing could be cut.
    ranked = personalised_pagerank(
        region.head,
        region.tail,
        node_count=region.node_count,
        seeds=region.seeds,
        walk=preset.walk,
        damping=preset.damping,
        tolerance=preset.tolerance,
        max_iterations=preset.max_iterations,
        degrees=region.degrees,
        hub_damping=preset.hub_damping,
        deadline=deadline,
    )
    return prune(region, ranked.mass, min_mass=preset.min_mass, max_nodes=preset.max_nodes)


_NO_STATS = RegionStats(0, 0, 0.0, None, 0.0)


def _by_prizes(call: _Call, question: str, eligible: npt.NDArray[np.bool_]) -> Selection:
    """Rows O4 to O7 as the paper and its code have them."""
    region, preset = call.region, call.preset
    node_texts = call.labels.nodes(region.nodes)
    relations, which = np.unique(region.rel, return_inverse=True)
    relation_texts = call.labels.relations(relations)
    call.clock.stage("labels")
    allowed, cuts = _affordable(region, node_texts, relation_texts, preset.max_embedded)
    distinct = sorted({text for text, kept in zip(node_texts, allowed, strict=True) if kept})
    texts = sorted({*distinct, *relation_texts})
    vectors = call.encode([question, *texts])
    call.deadline.check("embedding the region")
    by_text = dict(zip(texts, cosines(vectors[0], vectors[1:]).tolist(), strict=True))
    call.clock.stage("embedding")
    node_like = np.array([by_text.get(text, -1.0) for text in node_texts], dtype=np.float64)
    edge_like = np.array([by_text[text] for text in relation_texts], dtype=np.float64)[which]
    node_prizes = rank_prizes(
        node_like, preset.top_nodes, keys=region.node_keys, eligible=eligible & allowed
    )
    edge_texts = [relation_texts[place] for place in which.tolist()]
    edge_prizes = rank_prizes(edge_like, preset.top_edges, keys=region.edge_keys, texts=edge_texts)
    call.clock.stage("prizes")
    like = np.round(node_like[region.head] + edge_like + node_like[region.tail], 5)
    match call.strategy:
        case Strategy.TRIPLETS:
            chosen = best_triplets(
                region,
                node_prizes=node_prizes,
                edge_prizes=edge_prizes,
                limit=preset.limit,
                similarity=like,
            )
            picked, cut = _edges(call, chosen, node_prizes, edge_prizes)
            found = Selection(_NO_STATS, _NO_STATS, triples=picked, cuts=(*cuts, *cut))
        case Strategy.PATHS:
            prized = np.flatnonzero(node_prizes > 0)
            starts = prized[np.lexsort((region.node_keys[prized], -node_prizes[prized]))]
            search = best_paths(
                region,
                starts,
                node_prizes=node_prizes,
                edge_prizes=edge_prizes,
                edge_cost=preset.edge_cost,
                max_length=preset.max_path_length,
                limit=preset.limit,
                maximal=preset.maximal_paths,
                work_budget=preset.work_budget,
                deadline=call.deadline,
            )
            paths = [
                PickedPath(
                    tuple(int(region.edges[edge]) for edge in path.edges), path.reversed, path.score
                )
                for path in search.paths
            ]
            kept, cut = _over(call, paths)
            found = Selection(_NO_STATS, _NO_STATS, paths=kept, cuts=(*cuts, *search.cuts, *cut))
        case Strategy.SUBGRAPH:
            found = _subgraph(call, node_prizes, edge_prizes, like, None, cuts)
    call.clock.stage(call.strategy.value)
    return found


def _affordable(
    region: Region, node_texts: list[str], relation_texts: list[str], max_embedded: int
) -> tuple[npt.NDArray[np.bool_], tuple[Cut, ...]]:
    """Returns which nodes' texts may be embedded: the nearest, then those of highest degree."""
    allowed = np.ones(region.node_count, dtype=bool)
    room = max(max_embedded - len(set(relation_texts)), 1)
    total = len(set(node_texts))
    if total <= room:
        return allowed, ()
    kept: set[str] = set()
    allowed[:] = False
    for node in np.lexsort((region.node_keys, -region.degrees, region.hops)).tolist():
        if len(kept) < room or node_texts[node] in kept:
            kept.add(node_texts[node])
            allowed[node] = True
    return allowed, (Cut("embedded", CutReason.LIMIT, max_embedded, len(kept), total),)


def _subgraph(
    call: _Call,
    node_prizes: Float64,
    edge_prizes: Float64,
    like: Float64,
    priority: Int64 | None,
    cuts: tuple[Cut, ...],
) -> Selection:
    region, preset = call.region, call.preset
    found = best_subgraph(
        region,
        node_prizes=node_prizes,
        edge_prizes=edge_prizes,
        edge_cost=preset.edge_cost,
        limit=preset.limit if preset.limit_subgraph else None,
        priority=priority,
        prove=call.prove,
        deadline=call.deadline,
    )
    if call.min_score is not None:
        found = at_least(
            region,
            found,
            node_prizes=node_prizes,
            edge_prizes=edge_prizes,
            edge_cost=preset.edge_cost,
            min_score=call.min_score,
        )
    total = triple_totals(region, node_prizes=node_prizes, edge_prizes=edge_prizes)
    edges = found.edges
    first = np.zeros(len(edges)) if priority is None else priority[edges]
    order = edges[np.lexsort((region.edge_keys[edges], -like[edges], first, -total[edges]))]
    picked = _picked(region, order, node_prizes, edge_prizes)
    return Selection(
        _NO_STATS,
        _NO_STATS,
        triples=picked,
        objective=found.objective,
        gap=found.gap,
        solver=found.solver,
        cuts=(*cuts, *found.cuts),
    )


def _picked(
    region: Region, edges: Int64, node_prizes: Float64, edge_prizes: Float64
) -> tuple[PickedEdge, ...]:
    total = triple_totals(region, node_prizes=node_prizes, edge_prizes=edge_prizes)
    return tuple(
        PickedEdge(
            edge=int(region.edges[edge]),
            score=round(float(total[edge]), 9),
            head_prize=float(node_prizes[region.head[edge]]),
            edge_prize=float(edge_prizes[edge]),
            tail_prize=float(node_prizes[region.tail[edge]]),
        )
        for edge in edges.tolist()
    )


def _edges(
    call: _Call, edges: Int64, node_prizes: Float64, edge_prizes: Float64
) -> tuple[tuple[PickedEdge, ...], tuple[Cut, ...]]:
    return _over(call, _picked(call.region, edges, node_prizes, edge_prizes))


def _over(call: _Call, items: Sequence[ItemT]) -> tuple[tuple[ItemT, ...], tuple[Cut, ...]]:
    """Returns the items of at least the least score asked for, and what that cut."""
    if call.min_score is None:
        return tuple(items), ()
    kept = tuple(item for item in items if item.score >= call.min_score)
    if len(kept) == len(items):
        return kept, ()
    return kept, (Cut("items", CutReason.MIN_SCORE, call.min_score, len(kept), len(items)),)


def _spoken_kinds(call: _Call, asked: str, texts: dict[int, str]) -> dict[int, str]:
    """Returns the kind of the heads of each relation, where the question names that kind."""
    least = call.preset.kind_similarity
    if least is None:
        return {}
    spoken = spoken_kinds(asked, list(texts.values()), encode=call.encode, similarity=least)
    if not spoken:
        return {}
    kinds = head_kinds(call.labels.graph, call.region, texts, encode=call.encode)
    return {rel: kind for rel, kind in kinds.items() if kind in spoken}


def _asked(
    question: str, mentions: Sequence[tuple[int, int]], relation_texts: Sequence[str]
) -> str:
    """Returns the question less its names, but for names that are relations here too.

    Freebase has an entity "Place of death": "the place_of_death of X" asks by it, not about it.
    """
    relations = {fold(text) for text in relation_texts}
    named = [
        (start, end)
        for start, end in mentions
        if fold(relation_words(question[start:end])) not in relations
    ]
    return without_mentions(question, named)


def _by_sequences(call: _Call, question: str, mentions: Sequence[tuple[int, int]]) -> Selection:
    """Our own way: relation sequences from the question's entities (``docs/retrieval.md``)."""
    region, preset = call.region, call.preset
    relations = np.unique(region.rel)
    texts = dict(zip(relations.tolist(), call.labels.relations(relations), strict=True))
    call.clock.stage("labels")
    asked = _asked(question, mentions, list(texts.values()))
    wanted = call.encode([asked])[0]
    kinds = _spoken_kinds(call, asked, texts)
    call.clock.stage("kinds")

    known: dict[str, float] = {}

    def order(edges: Int64) -> Float64:
        """Cosines of a few triples' own texts; where there are many, key alone decides: zeros."""
        if len(edges) > _TRIPLE_TEXTS:
            return np.zeros(len(edges))
        heads = call.labels.nodes(region.nodes[region.head[edges]])
        tails = call.labels.nodes(region.nodes[region.tail[edges]])
        names = [texts[rel] for rel in region.rel[edges].tolist()]
        triples = [" ".join(parts) for parts in zip(heads, names, tails, strict=True)]
        new = sorted(set(triples) - known.keys())
        if new:
            known.update(zip(new, cosines(wanted, call.encode(new)).tolist(), strict=True))
        return np.array([known[text] for text in triples])

    wording = Wording(
        texts,
        kinds,
        both_ways=preset.both_ways,
        hop_cost=preset.hop_cost,
        inverse_cost=preset.inverse_cost,
        unspoken_cost=preset.unspoken_cost,
        unspoken_margin=preset.unspoken_margin,
    )
    walks: Walks = best_walks(
        region,
        SequenceScorer(wanted, call.encode, wording, preset.max_embedded),
        max_length=min(preset.hops, preset.max_path_length),
        top_sequences=preset.top_edges,
        max_walks=max(preset.limit, 10) * 4,
        max_embedded=preset.max_embedded,
        shared_bonus=preset.shared_bonus,
        min_relevance=preset.min_relevance,
        work_budget=preset.work_budget,
        order=order,
        deadline=call.deadline,
    )
    call.clock.stage("sequences")
    if call.strategy is Strategy.PATHS:
        paths = [
            PickedPath(
                tuple(int(region.edges[edge]) for edge in walk.edges), walk.reversed, walk.score
            )
            for walk in walks.walks[: preset.limit]
        ]
        kept, cut = _over(call, paths)
        found = Selection(_NO_STATS, _NO_STATS, paths=kept, cuts=(*walks.cuts, *cut))
    else:
        edge_prizes = np.zeros(region.edge_count)
        priority = np.full(region.edge_count, np.iinfo(np.int64).max)
        emitted: list[int] = []
        for walk in walks.walks:
            for edge in walk.edges:
                if edge_prizes[edge] == 0.0:
                    priority[edge] = len(emitted)
                    edge_prizes[edge] = max(walk.score, 0.0)
                    emitted.append(edge)
        node_prizes = np.zeros(region.node_count)
        if call.strategy is Strategy.TRIPLETS:
            chosen = np.array(emitted[: preset.limit], dtype=np.int64)
            picked, cut = _edges(call, chosen, node_prizes, edge_prizes)
            found = Selection(_NO_STATS, _NO_STATS, triples=picked, cuts=(*walks.cuts, *cut))
        else:
            like = np.zeros(region.edge_count)
            found = _subgraph(call, node_prizes, edge_prizes, like, priority, walks.cuts)
    call.clock.stage(call.strategy.value)
    return replace(found, relevance=walks.relevance)
