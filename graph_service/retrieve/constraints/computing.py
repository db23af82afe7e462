"""What is computed of the walks of the best candidate: a number, the first of several, a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graph_service.model.answer import AnswerKind
from graph_service.model.graph import Bool, Int64
from graph_service.retrieve.constraints.answer_kind import names_what_is_first
from graph_service.retrieve.constraints.answering import (
    compare_end_nodes,
    compare_values,
    is_unit,
    stored_number,
    walked,
)
from graph_service.retrieve.constraints.judging import CandidateJudge, JudgedCandidate
from graph_service.retrieve.constraints.meeting import Constraint, Met
from graph_service.retrieve.constraints.naming import NamedNodes
from graph_service.retrieve.constraints.reading import AnswerForm
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.constraints.said_steps import says_a_label
from graph_service.retrieve.context import SelectedAnswer


def met_by_walks(
    candidate: JudgedCandidate, best: JudgedCandidate, constraints: Sequence[Constraint]
) -> Bool:
    """Returns which of the constraints each of a candidate's walks meets.

    A span of time is met by dates of the relation by which the best candidate meets it.
    """
    relations = {id(constraint): how.relations for constraint, how in best.met}
    is_met = np.zeros((len(candidate.walks.edges), len(constraints)), dtype=bool)
    for constraint, how in candidate.met:
        for column, each in enumerate(constraints):
            if each is constraint and how.relations == relations.get(id(each)):
                is_met[:, column] = how.walks
    return is_met


def computed_answer(
    judge: CandidateJudge, best: JudgedCandidate, judged: Sequence[JudgedCandidate], rows: Bool
) -> SelectedAnswer | None:
    """Returns the answer by the best candidate's walks that meet all that was read."""
    expected = judge.expected
    if expected.form is AnswerForm.COUNT:
        same = [each.walks for each in judged if each.walks.start == best.walks.start]
        stored = stored_number(same, expected.counted, judge.around, judge.text)
        if stored is not None:
            walks, value = stored
            edges = walked(walks, np.ones(len(walks.edges), dtype=bool))
            return SelectedAnswer(AnswerKind.COUNT, value, (), tuple(edges), truncated=False)
        if is_unit(expected.counted):
            return None
        count = len(np.unique(best.walks.end_nodes[rows]))
        return answer_by_walks(judge, AnswerKind.COUNT, best, rows, value=str(count))
    if expected.superlative is not None:
        end_nodes = np.unique(best.walks.end_nodes[rows])
        if names_what_is_first(judge, best.walks):
            winners = compare_values(expected.superlative, end_nodes, judge.around)
            if winners is None:
                return None
            first = rows & np.isin(best.walks.end_nodes, np.array(winners))
            return answer_by_walks(judge, AnswerKind.SUPERLATIVE, best, first)
        compared = compare_end_nodes(
            expected.superlative, end_nodes, judge.around, judge.text, judge.cosines, judge.form
        )
        if compared is None:
            return None
        first = rows & np.isin(best.walks.end_nodes, np.array(compared.winners))
        more = judge.surroundings.edges[list(compared.edges)].tolist()
        selected = answer_by_walks(judge, AnswerKind.SUPERLATIVE, best, first, and_edges=more)
        return replace(selected, truncated=selected.truncated or compared.missing > 0)
    return answer_by_walks(judge, AnswerKind.ENTITIES, best, rows) if best.met else None


def has_other_first(
    judge: CandidateJudge, judged: Sequence[JudgedCandidate], answer: SelectedAnswer
) -> bool:
    """Returns whether a relation that fits nearly as well leads to what comes before the answer, where
    the question says neither: *X's longest film* is of those that X directed, or wrote.
    """
    best, superlative = judged[0].walks, judge.expected.superlative
    if superlative is None or len(best.relations) > 1 or says_a_label(judge, best):
        return False
    winners = set(np.searchsorted(judge.surroundings.nodes, np.array(answer.nodes)).tolist())
    for each in judged[1:]:
        walks = each.walks
        is_near = each.score >= judged[0].score - CONSTRAINT_RULES.rival_margin
        is_rival = (walks.start, walks.backward) == (best.start, best.backward)
        if not is_near or not is_rival or says_a_label(judge, walks):
            continue
        end_nodes = np.union1d(best.end_nodes, walks.end_nodes)
        compared = compare_end_nodes(
            superlative, end_nodes, judge.around, judge.text, judge.cosines, judge.form
        )
        if compared is not None and not winners.issuperset(compared.winners):
            return True
    return False


def count_of_none(
    judge: CandidateJudge, best: JudgedCandidate, constraints: Sequence[Constraint]
) -> SelectedAnswer | None:
    """Returns that none was found, where all ends have dates and none of these is meant."""
    met = {id(constraint) for constraint, _ in best.met}
    unmet = [constraint for constraint in constraints if id(constraint) not in met]
    dates = judge.around.all_dates(np.unique(best.walks.end_nodes))
    if not dates or not unmet or any(isinstance(constraint, NamedNodes) for constraint in unmet):
        return None
    edges = judge.surroundings.edges[dates].tolist()
    is_cut = judge.is_cut(best.walks, compared=(best.last,))
    return SelectedAnswer(AnswerKind.COUNT, "0", (), tuple(edges), is_cut)


def answer_by_walks(
    judge: CandidateJudge,
    kind: AnswerKind,
    best: JudgedCandidate,
    rows: Bool,
    *,
    value: str | None = None,
    and_edges: Sequence[int] = (),
) -> SelectedAnswer:
    """Returns an answer by some of the best candidate's walks and what makes them meet."""
    walks = best.walks
    edges = [*walked(walks, rows), *and_edges]
    columns = {how.column for _, how in best.met} | ({best.last} if and_edges else set())
    for constraint, how in best.met:
        nodes = np.unique(walks.nodes[rows, how.column])
        edges += judge.surroundings.edges[_saying(judge, constraint, how, nodes)].tolist()
    end_nodes = np.unique(walks.end_nodes[rows])
    return SelectedAnswer(
        kind,
        value,
        tuple(judge.surroundings.nodes[end_nodes].tolist()),
        tuple(dict.fromkeys(edges)),
        judge.is_cut(walks, compared=sorted(columns)),
    )


def _saying(judge: CandidateJudge, constraint: Constraint, how: Met, nodes: Int64) -> Int64:
    """Returns the local edges by which some nodes meet a constraint."""
    if isinstance(constraint, NamedNodes):
        return judge.around.joining(nodes, constraint.nodes)
    dated = judge.around.dated(nodes)
    edges = [
        edge
        for relation in sorted(how.relations or ())
        for _, edge, days in dated.get(relation, ())
        if constraint.days.holds(days)
    ]
    return np.array(edges, dtype=np.int64)
