"""Preset ``default``: relation sequences from the question's entities (``docs/reference/retrieval.md``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from graph_service.model.graph import Float64, Int64
from graph_service.model.limits import Cut, CutReason
from graph_service.model.result import ScorePart, Strategy
from graph_service.retrieve.context import (
    NO_STATS,
    PickedPath,
    RetrievalContext,
    Selection,
    limited,
    over,
    pick_edges,
    pick_subgraph,
)
from graph_service.retrieve.kinds import KINDS, KindReader, head_kinds, question_words
from graph_service.retrieve.preset import SequencePreset, WordedPreset
from graph_service.retrieve.sequences.nearest import nearest_walks
from graph_service.retrieve.sequences.walks import Walk, Walks, best_walks
from graph_service.retrieve.sequences.wording import SequenceScorer, Steps, Wording
from graph_service.retrieve.similarity import SIMILARITY_DIGITS, cosines
from graph_service.sorting import distinct
from graph_service.text.fold import fold, relation_words
from graph_service.text.function_words import content_words


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


def by_sequences(
    call: RetrievalContext[SequencePreset], question: str, mentions: Sequence[tuple[int, int]]
) -> Selection:
    """Our own way: relation sequences from the question's entities (``docs/reference/retrieval.md``)."""
    region, preset = call.region, call.preset
    relations = distinct(region.rel)
    texts = dict(zip(relations.tolist(), call.labels.relations(relations), strict=True))
    call.clock.stage("labels")
    asked = _asked(question, mentions, list(texts.values()))
    kinds = _spoken_kinds(call, asked, texts)
    call.clock.stage("kinds")
    wanted = call.encode.question(asked)
    triples = TripleTexts(call, wanted, texts)
    spoken = content_words(asked)
    wording = Wording(
        texts,
        kinds,
        hop_cost=preset.hop_cost,
        inverse_cost=preset.inverse_cost,
        unsupported_step_cost=preset.unsupported_step_cost,
        unsupported_step_margin=preset.unsupported_step_margin,
        spoken=None if spoken is None else len(spoken),
        extra_hop_cost=preset.extra_hop_cost,
    )
    scorer = SequenceScorer(wanted, call.encode, wording, preset.max_embedded)
    walks = best_walks(
        region,
        scorer,
        preset,
        max_length=min(preset.hops, preset.max_path_length),
        max_walks=most_walks(preset),
        order=triples.order,
        deadline=call.deadline,
    )
    call.clock.stage("sequences")
    confident = walks.relevance is not None and walks.relevance >= preset.min_relevance
    if not confident:
        found, more, cuts = _nearest(call, question, texts, scorer, walks)
        walks = replace(walks, walks=found, cuts=(*walks.cuts, *cuts), more=more)
        call.clock.stage("nearest")
    elif call.strategy is Strategy.PATHS:
        walks = replace(walks, walks=_with_parts(call, scorer, walks.walks))
    return replace(
        pick_walks(call, walks.walks, walks.cuts, more=walks.more),
        relevance=walks.relevance,
        confident=confident,
    )


def most_walks(preset: WordedPreset, /) -> int:
    """Returns how many walks are read at most."""
    return max(preset.limit * preset.walks_per_item, preset.min_walks)


def pick_walks(
    call: RetrievalContext[WordedPreset],
    walks: Sequence[Walk],
    cuts: tuple[Cut, ...],
    /,
    *,
    more: bool,
) -> Selection:
    """Returns what the strategy takes of some walks, best first.

    Args:
        call: The retrieval.
        walks: Best first.
        cuts: What was left out before.
        more: Whether there are walks that were not read. They may hold further statements.
    """
    region, preset = call.region, call.preset
    if call.strategy is Strategy.PATHS:
        paths = [
            PickedPath(
                tuple(int(region.edges[edge]) for edge in walk.edges),
                walk.reversed,
                walk.score,
                walk.parts,
            )
            for walk in walks[: preset.limit]
        ]
        kept, cut = over(call, paths)
        cuts = (*cuts, *limited(call, len(walks)), *cut)
        found = Selection(NO_STATS, NO_STATS, paths=kept, cuts=cuts)
    else:
        emitted: dict[int, float] = {}
        for walk in walks:
            for edge in walk.edges:
                emitted.setdefault(edge, max(walk.score, 0.0))
        edges = np.array(list(emitted), dtype=np.int64)
        if more and len(edges) <= preset.limit:
            cuts = (*cuts, Cut("paths", CutReason.LIMIT, most_walks(preset), len(walks)))
        edge_prizes = np.zeros(region.edge_count)
        edge_prizes[edges] = list(emitted.values())
        node_prizes = np.zeros(region.node_count)
        if call.strategy is Strategy.TRIPLETS:
            chosen = edges[: preset.limit]
            picked, cut = pick_edges(call, chosen, node_prizes, edge_prizes)
            cuts = (*cuts, *limited(call, len(edges)), *cut)
            found = Selection(NO_STATS, NO_STATS, triples=picked, cuts=cuts)
        else:
            priority = np.full(region.edge_count, np.iinfo(np.int64).max)
            priority[edges] = np.arange(len(edges))
            like = np.zeros(region.edge_count)
            found = pick_subgraph(call, node_prizes, edge_prizes, like, priority, cuts)
    call.clock.stage(call.strategy.value)
    return found


def _with_parts(
    call: RetrievalContext[SequencePreset], scorer: SequenceScorer, walks: Sequence[Walk]
) -> tuple[Walk, ...]:
    """Returns the walks, those that are picked with the parts of their scores."""
    preset, start_entities = call.preset, set(call.region.start_entities.tolist())
    found = []
    for walk in walks[: preset.limit]:
        amounts = {
            "likeness": scorer.similarity[scorer.text(_steps(call, walk))],
            "hops": -preset.hop_cost * (len(walk.edges) - 1),
            "inverse": -preset.inverse_cost * sum(walk.reversed),
            "extra_hops": -scorer.wording.extra_hops(len(walk.edges)),
            "shared": 0.0 if start_entities.isdisjoint(walk.nodes[1:]) else preset.shared_bonus,
        }
        amounts["unsupported_step"] = walk.score - sum(amounts.values())
        found.append(replace(walk, parts=_parts(amounts)))
    return (*found, *walks[preset.limit :])


def _steps(call: RetrievalContext[SequencePreset], walk: Walk) -> Steps:
    rels = call.region.rel
    return tuple(
        (int(rels[edge]), back) for edge, back in zip(walk.edges, walk.reversed, strict=True)
    )


def _parts(amounts: Mapping[str, float]) -> tuple[ScorePart, ...]:
    rounded = {name: round(amount, SIMILARITY_DIGITS) for name, amount in amounts.items()}
    return tuple(ScorePart(name, amount) for name, amount in rounded.items() if amount)


class TripleTexts:
    """Cosines of triples' own texts with a question, each text once.

    Args:
        call: Whose region and labels.
        wanted: Unit vector of the question, float32 [d].
        relation_texts: Words of each relation of the region.
        max_characters: A longer text is cut here: of an abstract its beginning tells what it is
            about, and embedding all of it takes as long as a hundred labels. None for all.
    """

    def __init__(
        self,
        call: RetrievalContext[WordedPreset],
        wanted: npt.NDArray[np.float32],
        relation_texts: Mapping[int, str],
        *,
        max_characters: int | None = None,
    ) -> None:
        self._call = call
        self._wanted = wanted
        self._relations = relation_texts
        self._max_characters = max_characters
        self._known: dict[str, float] = {}

    def likeness(self, edges: Int64, /) -> Float64:
        """Returns the cosine of each local edge's text."""
        region, labels = self._call.region, self._call.labels
        heads = labels.nodes(region.nodes[region.head[edges]])
        tails = labels.nodes(region.nodes[region.tail[edges]])
        names = [self._relations[rel] for rel in region.rel[edges].tolist()]
        triples = [
            " ".join(parts)[: self._max_characters]
            for parts in zip(heads, names, tails, strict=True)
        ]
        new = sorted(set(triples) - self._known.keys())
        if new:
            like = cosines(self._wanted, self._call.encode(new))
            self._known.update(zip(new, like.tolist(), strict=True))
        return np.array([self._known[text] for text in triples])

    def order(self, edges: Int64, /) -> Float64:
        """Returns the cosines of a few edges; where there are many, key alone decides: zeros."""
        many = len(edges) > self._call.preset.max_tied
        return np.zeros(len(edges)) if many else self.likeness(edges)


def _nearest(
    call: RetrievalContext[SequencePreset],
    question: str,
    texts: Mapping[int, str],
    scorer: SequenceScorer,
    by_relations: Walks,
) -> tuple[tuple[Walk, ...], bool, tuple[Cut, ...]]:
    """Returns the walks nearest to a question that no relation sequence bears on, whether there
    are more, and what was cut.

    Those of the best sequences and those of the nearest statements are judged alike: by their
    relations, and the less the best of these say, the more by their statements' own texts.
    """
    region, preset = call.region, call.preset
    triples = TripleTexts(
        call, call.encode.question(question), texts, max_characters=preset.text_characters
    )
    words = question_words(question, preset.shared_letters)

    def promise(edges: Int64, targets: Int64) -> Float64:
        """Words that the other end shares with the question, then the relation's own likeness."""
        reached, place = np.unique(targets, return_inverse=True)
        names = call.labels.nodes(region.nodes[reached])
        folded = [fold(name[: preset.text_characters]) for name in names]
        shared = np.array([sum(word in name for word in words) for name in folded])
        rels = region.rel[edges].tolist()
        like = np.array([scorer.similarity.get(texts[rel], 0.0) for rel in rels])
        found: Float64 = shared[place] + like
        return found

    near, more, cuts = nearest_walks(
        region,
        preset,
        likeness=triples.likeness,
        promise=promise,
        max_length=min(preset.hops, preset.max_path_length),
        max_walks=most_walks(preset),
    )
    call.deadline.check("comparing statements with the question")
    start_entities = set(region.start_entities.tolist())
    # What a walk finds beyond another of the question's entities begins there as well.
    by_edges = {
        min(walk.edges, walk.edges[::-1]): walk
        for walk in (*near, *by_relations.walks)
        if start_entities.isdisjoint(walk.nodes[1:-1])
    }
    walks = list(by_edges.values())
    if not walks:
        return (), more, cuts
    relevance = by_relations.relevance or 0.0
    # Above 0 it is under ``min_relevance``, or it would have been held to bear on the question.
    said = relevance / preset.min_relevance if relevance > 0 else 0.0
    weight = (1.0 - min(said, 1.0)) ** preset.statement_power
    spoken = scorer.final([_steps(call, walk) for walk in walks]).score.tolist()
    edges = np.unique(np.concatenate([np.array(walk.edges) for walk in walks])).astype(np.int64)
    like = dict(zip(edges.tolist(), triples.likeness(edges).tolist(), strict=True))
    judged = []
    for walk, by_relation in zip(walks, spoken, strict=True):
        own = sum(like[edge] for edge in walk.edges) / len(walk.edges)
        own -= preset.hop_cost * (len(walk.edges) - 1)
        bonus = preset.shared_bonus if walk.nodes[-1] in start_entities else 0.0
        relations, statements = (1.0 - weight) * by_relation, weight * own
        parts = {"relations": relations, "statements": statements, "shared": bonus}
        score = round(relations + statements + bonus, SIMILARITY_DIGITS)
        judged.append(replace(walk, score=score, parts=_parts(parts)))
    judged.sort(key=lambda walk: (-walk.score, len(walk.edges), walk.edges))
    return tuple(judged), more or by_relations.more, cuts


def _spoken_kinds(
    call: RetrievalContext[SequencePreset], asked: str, texts: dict[int, str]
) -> dict[int, str]:
    """Returns the kind of the heads of each relation, where the question names that kind."""
    if not texts:
        return {}
    spoken = KindReader(texts.values(), call.preset, encode=call.encode).kinds_in(asked)
    if not spoken:
        return {}
    relations = sorted(texts)
    kinds = head_kinds(
        call.region,
        np.array(relations, dtype=np.int64),
        call.encode([texts[relation] for relation in relations]),
        call.encode(KINDS),
        entity_count=call.labels.graph.entity_count,
        head_relations=call.head_relations,
        max_heads=call.preset.kind_heads,
    )
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
