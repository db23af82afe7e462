"""The walks of the candidates that were chosen, with scores and the constraints they meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graph_service.model.answer import AnswerKind
from graph_service.model.graph import Bool, Int32, Int64
from graph_service.model.region import Region
from graph_service.model.result import ScorePart
from graph_service.retrieve.constraints.chosen import Chosen
from graph_service.retrieve.constraints.coverage import root, stems_of
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.context import (
    RetrievalContext,
    SelectedAnswer,
    Selection,
)
from graph_service.retrieve.learned.breadth import mixed, spread
from graph_service.retrieve.learned.network import SCORE_DIGITS
from graph_service.retrieve.learned.question_reader import QuestionReader
from graph_service.retrieve.preset import LearnedPreset
from graph_service.retrieve.sequences.picking import Walk, most_walks
from graph_service.sorting import ranked
from graph_service.text.fold import words


def chosen_walks(
    call: RetrievalContext[LearnedPreset],
    reader: QuestionReader,
    chosen: Chosen,
    relevance: float,
    *,
    openly: bool,
    in_order: bool,
) -> tuple[tuple[Walk, ...], bool]:
    """Returns the walks of the best candidates, at most as many as may be asked for, and whether
    there are more.

    A walk's score falls from the relevance of the best by the scorer's difference, and by a share
    for each constraint that it does not meet and others do. Of a question that asks ``openly``
    a few walks of each sequence are read, and given in turns. Else further walks of one sequence come
    after the first ones of others, unless they are wanted ``in_order``.
    """
    region, preset, candidates = call.region, call.preset, reader.candidates
    most = most_walks(preset)
    of_one = most
    if openly:
        of_one = preset.walks_per_item
    elif not in_order:
        of_one = preset.limit
    top = max(relevance, preset.least_score)
    walks: list[Walk] = []
    seen: set[tuple[int, ...]] = set()
    best = chosen.ranked[0].score
    unread = int(candidates.walks[[candidate.number for candidate in chosen.ranked]].sum())
    for candidate in chosen.ranked:
        number = candidate.number
        start = int(candidates.start[number])
        edges = candidates.edges(number)
        value = round(preset.path_score(relevance, candidate.score - best), SCORE_DIGITS)
        met, missed = chosen.met_by(number, len(edges)), chosen.missed_by(number, len(edges))
        backward = candidates.backward[number, : edges.shape[1]].tolist()
        reversed_ = tuple(backward)
        if len(edges) > 1:
            question = reader.entity_questions[reader.question_of[start]]
            matches = _word_matches(call, edges, question.words)
            # Who asks for more than a thing rarely asks for the thing itself, or what leads on from it.
            passed = _end_nodes_of(region, edges, np.array(backward))
            known = passed[:, -1] == region.start_entities[start]
            known |= (passed[:, :-1] == passed[:, -1:]).any(axis=1)
            # Walks of equal rank stay in the order of their keys.
            order = np.lexsort((-matches, known, missed))
            edges, met, missed = edges[order], met[order], missed[order]
        edges, met, missed = edges[:of_one], met[:of_one], missed[:of_one]
        parts: tuple[ScorePart, ...] = (ScorePart("relevance", round(top, SCORE_DIGITS)),)
        if value != parts[0].amount:
            parts += (ScorePart("below_best", round(value - parts[0].amount, SCORE_DIGITS)),)
        begin = int(region.start_entities[start])
        nodes = _end_nodes_of(region, edges, np.array(backward)).tolist()
        scored = {lacks: _unmet(value, lacks, parts) for lacks in set(missed.tolist())}
        rows = zip(edges.tolist(), nodes, met.tolist(), missed.tolist(), strict=True)
        for walk, reached, meets, lacks in rows:
            unread -= 1
            edge_numbers = tuple(walk)
            key = min(edge_numbers, edge_numbers[::-1])
            if key in seen:
                continue
            seen.add(key)
            total, of_total = scored[lacks]
            met_indices = tuple(index for index, is_met in enumerate(meets) if is_met)
            walks.append(
                Walk(
                    (begin, *reached),
                    edge_numbers,
                    reversed_,
                    number,
                    total,
                    of_total,
                    met_indices,
                )
            )
        if len(walks) >= most and not openly:
            break
    ordered = sorted(walks, key=lambda walk: -walk.score)
    if openly:
        ordered = spread(ordered, region)
    elif not in_order:
        ordered = mixed(ordered)
    return tuple(ordered[:most]), unread > 0 or len(walks) > most


def _word_matches(
    call: RetrievalContext[LearnedPreset], edges: Int64, question_words: Sequence[str]
) -> Int64:
    """Returns how many of a question's words the names along each of some walks have, int64 [walks];
    zeros where the walks have more statements than ``max_tied``.
    """
    region, stems = call.region, {root(word) for word in question_words}
    used, index = ranked(edges.ravel())
    if len(used) > call.preset.max_tied:
        return np.zeros(len(edges), dtype=np.int64)
    nodes = np.stack((region.head[used], region.tail[used]), axis=1)
    names = call.labels.nodes(region.nodes[nodes.ravel()])
    matches = np.array([len(stems & stems_of(words(name))) for name in names], dtype=np.int64)
    count: Int64 = matches.reshape(nodes.shape).sum(axis=1)[index.reshape(edges.shape)].sum(axis=1)
    return count


def plain_answer(
    region: Region, walks: Sequence[Walk], /, *, is_cut: bool
) -> SelectedAnswer | None:
    """Returns what the best walks lead to as the answer; None where they lead back to the start.

    Args:
        region: What the walks are in.
        walks: Best first; those of the first one's sequence and score count.
        is_cut: Whether limits left out walks.
    """
    best = [
        walk
        for walk in walks
        if (walk.sequence, walk.score) == (walks[0].sequence, walks[0].score)
        and walk.nodes[-1] != walk.nodes[0]
    ]
    nodes = [*dict.fromkeys(walk.nodes[-1] for walk in best)]
    edges = [*dict.fromkeys(edge for walk in best for edge in walk.edges)]
    if not nodes:
        return None
    return SelectedAnswer(
        AnswerKind.ENTITIES,
        None,
        tuple(region.nodes[nodes].tolist()),
        tuple(region.edges[edges].tolist()),
        is_cut,
    )


def _end_nodes_of(region: Region, edges: Int64, backward: Bool | bool) -> Int32:
    """Returns the local node that each edge leads to, tail to head where it is ``backward``."""
    return np.where(backward, region.head[edges], region.tail[edges])


def _unmet(
    value: float, lacks: int, parts: tuple[ScorePart, ...]
) -> tuple[float, tuple[ScorePart, ...]]:
    """Returns the score of walks that lack so many constraints, and its parts."""
    total = round(value * CONSTRAINT_RULES.unmet_share**lacks, SCORE_DIGITS)
    if total == value:
        return total, parts
    return total, (*parts, ScorePart("unmet", round(total - value, SCORE_DIGITS)))


def with_met(selection: Selection, region: Region, walks: Sequence[Walk]) -> Selection:
    """Returns a selection whose items say which constraints their walks meet."""
    of_path: dict[tuple[int, ...], tuple[int, ...]] = {}
    of_edge: dict[int, tuple[int, ...]] = {}
    for walk in walks:
        edges = tuple(region.edges[list(walk.edges)].tolist())
        of_path[edges] = walk.met
        for edge in edges:
            of_edge.setdefault(edge, walk.met)
    return replace(
        selection,
        paths=tuple(replace(path, met=of_path[path.edges]) for path in selection.paths),
        triples=tuple(
            replace(triple, met=of_edge.get(triple.edge, ())) for triple in selection.triples
        ),
    )
