"""Lists of a relation that holds both ways: who borders X, and whom X borders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graph_service.model.answer import AnswerKind
from graph_service.model.graph import Bool
from graph_service.retrieve.constraints.chosen import Chosen
from graph_service.retrieve.constraints.computing import answer_by_walks, met_by_walks
from graph_service.retrieve.constraints.judging import (
    CandidateJudge,
    JudgedCandidate,
    RankedCandidate,
)
from graph_service.retrieve.constraints.reading import AnswerForm
from graph_service.retrieve.constraints.reciprocal import is_reciprocal

_LISTED = frozenset({AnswerForm.ENTITIES, AnswerForm.COUNT})


def both_sides(judge: CandidateJudge, chosen: Chosen) -> Chosen:
    """Returns what was chosen; of a relation that holds both ways, with what has it for the start
    among the answers. Each side must meet all that the other meets.
    """
    reading, answer = chosen.reading, chosen.answer
    other = None if reading is None or chosen.doubt else _other_way(judge, chosen)
    if reading is None or other is None:
        return chosen
    best = reading.best
    sides = [
        (each, np.logical_and.reduce([how.walks for _, how in each.met] or [_every(each)], axis=0))
        for each in (best, other)
    ]
    end_nodes = np.unique(np.concatenate([each.walks.end_nodes[rows] for each, rows in sides]))
    counted = judge.expected.form is AnswerForm.COUNT
    if len(end_nodes) == len(np.unique(best.walks.end_nodes[sides[0][1]])) or (
        counted and answer is None
    ):
        return chosen
    parts = [
        answer_by_walks(judge, AnswerKind.COUNT if counted else AnswerKind.ENTITIES, each, rows)
        for each, rows in sides
    ]
    both = replace(
        parts[0],
        value=str(len(end_nodes)) if counted else None,
        nodes=tuple(judge.surroundings.nodes[end_nodes].tolist()),
        edges=tuple(dict.fromkeys(edge for part in parts for edge in part.edges)),
        truncated=any(part.truncated for part in parts),
    )
    ranked = [each for each in chosen.ranked[1:] if each.number != other.walks.number]
    met = met_by_walks(other, best, [each for each, _ in best.met])
    second = RankedCandidate(other.walks.number, chosen.ranked[0].score)
    return replace(
        chosen,
        ranked=(chosen.ranked[0], second, *ranked),
        met={**chosen.met, other.walks.number: met},
        answer=both if answer is not None or chosen.is_plain else None,
        reading=replace(reading, alternative=other),
    )


def _other_way(judge: CandidateJudge, chosen: Chosen) -> JudgedCandidate | None:
    """Returns the candidate of the same relation the other way about, if the relation holds both
    ways and what was chosen lists or counts all that it leads to.
    """
    assert chosen.reading is not None
    best, expected = chosen.reading.best, judge.expected
    walks = best.walks
    is_list = expected.form in _LISTED and expected.superlative is None
    is_read = chosen.reading.alternative is None and expected.negated_from < 0
    if not (is_list and is_read and all(each.met for each in chosen.constraints)):
        return None
    if len(walks.relations) != 1 or not is_reciprocal(judge.text(walks.relations[0])):
        return None
    for ranked in chosen.ranked:
        other = judge.judge(ranked)
        if (other.walks.relations, other.walks.start) == (walks.relations, walks.start):
            same = [id(constraint) for constraint, _ in other.met] == [
                id(constraint) for constraint, _ in best.met
            ]
            if other.walks.backward != walks.backward and same:
                return other
    return None


def _every(judged: JudgedCandidate) -> Bool:
    return np.ones(len(judged.walks.edges), dtype=np.bool_)
