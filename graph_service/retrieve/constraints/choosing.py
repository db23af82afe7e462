"""Which candidates and walks of a question meet what it says beside its relations, and its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from graph_service.model.answer import AnswerKind, ReadConstraint
from graph_service.retrieve.constraints.answer_kind import leads_to_its_holders
from graph_service.retrieve.constraints.answering import (
    compare_end_nodes,
    walked,
)
from graph_service.retrieve.constraints.both_sides import both_sides
from graph_service.retrieve.constraints.chosen import Chosen, Reading
from graph_service.retrieve.constraints.computing import (
    computed_answer,
    count_of_none,
    has_other_first,
    met_by_walks,
)
from graph_service.retrieve.constraints.coverage import is_kin
from graph_service.retrieve.constraints.doubts import first_doubt
from graph_service.retrieve.constraints.judging import (
    CandidateJudge,
    JudgedCandidate,
    RankedCandidate,
)
from graph_service.retrieve.constraints.label_aspects import leaves_its_event
from graph_service.retrieve.constraints.meeting import Met, kind_of
from graph_service.retrieve.constraints.naming import Mention
from graph_service.retrieve.constraints.qualifiers import asks_what_should_be, leaves_a_clause
from graph_service.retrieve.constraints.reading import AnswerForm
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.constraints.said_steps import (
    is_other_kin,
    repeats_unsaid,
    walks_against_its_verb,
)
from graph_service.retrieve.constraints.said_verbs import says_another_verb
from graph_service.retrieve.constraints.unread import (
    leaves_number_of_name,
    other_unread,
    reads_every_word,
    unread_spans,
    unread_words,
)
from graph_service.retrieve.constraints.yes_no import YesNo, decide
from graph_service.retrieve.context import RetrievalContext, SelectedAnswer
from graph_service.retrieve.learned.candidates import Candidates
from graph_service.retrieve.preset import LearnedPreset
from graph_service.text.fold import words

_OF_ONE = frozenset({"first", "last", "latest", "newest", "most recent", "main", "most"})
"""Words of degree that people say of a single value too: *the latest version of X*."""
_OF_CLAIMS = frozenset(
    {"actually", "already", "currently", "ever", "now", "really", "still", "yet"}
)
"""Words of a question for yes or no that say nothing more."""
_ONLY = frozenset({"only", "solely"})


def choose(
    call: RetrievalContext[LearnedPreset],
    question: str,
    mentions: Sequence[Mention],
    candidates: Candidates,
    ranked: Sequence[RankedCandidate],
    /,
    *,
    texts: Mapping[int, str],
    confident: bool,
) -> Chosen:
    """Returns the candidates as constraints rank them, which walks meet them, and the answer.

    Args:
        call: The retrieval.
        question: As asked.
        mentions: What linking found of the region's start entities, in their order.
        candidates: Of the question.
        ranked: Best first, at least one.
        texts: Words of the region's relations, by global number.
        confident: Whether the best bears on the question; else no answer is given, but for yes or
            no, whose question has little beside names.
    """
    if len(question) > CONSTRAINT_RULES.characters:
        return Chosen(tuple(ranked))
    judge = CandidateJudge(call, question, mentions, candidates, texts)
    chosen = _choose(judge, candidates, ranked, confident=confident)
    return both_sides(judge, chosen) if judge.strict else chosen


def _choose(
    judge: CandidateJudge,
    candidates: Candidates,
    ranked: Sequence[RankedCandidate],
    /,
    *,
    confident: bool,
) -> Chosen:
    if judge.reads_nothing(int(candidates.start[ranked[0].number])):
        best = judge.judge(ranked[0])
        if judge.strict and leads_to_its_holders(judge, best.walks):
            judged = [judge.judge(candidate) for candidate in ranked[: CONSTRAINT_RULES.candidates]]
            _put_off(judge, judged)
            best, ranked = judged[0], _ranked_again(judged, ranked)
        doubt = first_doubt(judge, best, is_plain=True)
        return Chosen(tuple(ranked), doubt=doubt, reading=Reading(judge, best))
    judged = [judge.judge(candidate) for candidate in ranked[: CONSTRAINT_RULES.candidates]]
    if judge.expected.form is AnswerForm.YES_NO:
        return _by_yes_no(judge, judged, ranked)
    if judge.expected.form is AnswerForm.COMPARISON:
        return _by_comparison(judge, judged, ranked)
    judge.fold(judged)
    for each in judged:
        each.score += judge.bonus(each)
    _put_off(judge, judged)
    if judge.expected.alternatives and (pair := _same_of_each(judge, judged)):
        return _by_alternatives(judge, pair, judged, ranked)
    best = judged[0]
    constraints = [*(constraint for constraint, _ in best.met), *judge.unmet(best)]
    constraints.sort(key=lambda constraint: (constraint.start, constraint.end))
    met = {each.walks.number: met_by_walks(each, best, constraints) for each in judged}
    read = tuple(
        ReadConstraint(
            constraint.text,
            kind_of(constraint),
            any(constraint is each for each, _ in best.met),
        )
        for constraint in constraints
    )
    chosen = Chosen(_ranked_again(judged, ranked), read, met, reading=Reading(judge, best))
    rows = np.logical_and.reduce(met[best.walks.number], axis=1, dtype=np.bool_)
    reads_all = judge.strict and reads_every_word(judge, best)
    confident = (confident or reads_all) and judge.takes_all(best)
    if judge.strict:
        if doubt := first_doubt(judge, best, is_plain=False):
            return replace(chosen, doubt=doubt)
        confident = confident and (reads_all or not unread_words(judge, best))
        confident = confident and not repeats_unsaid(judge, best.walks)
    if confident and judge.expected.form is AnswerForm.COUNT and not rows.any():
        return replace(chosen, answer=count_of_none(judge, best, constraints))
    # A constraint that nothing meets may be one that was not understood: no answer ignores it.
    if confident and rows.any():
        chosen = replace(chosen, answer=computed_answer(judge, best, judged, rows))
    if judge.strict and judge.expected.superlative is not None and chosen.answer is None:
        # Several values are no answer to which of them is the first, nor is the only known one.
        is_several = len(np.unique(best.walks.end_nodes[rows])) > 1
        if is_several or judge.expected.superlative.text.lower() not in _OF_ONE:
            return replace(chosen, doubt="several values to choose from")
        return chosen
    if chosen.answer is None or chosen.answer.kind is not AnswerKind.SUPERLATIVE:
        return chosen
    if judge.strict and has_other_first(judge, judged, chosen.answer):
        return replace(chosen, answer=None, doubt="another first by another relation")
    nodes = np.searchsorted(judge.surroundings.nodes, np.array(chosen.answer.nodes))
    return replace(chosen, first={best.walks.number: np.isin(best.walks.end_nodes, nodes)})


def _put_off(judge: CandidateJudge, judged: list[JudgedCandidate]) -> None:
    """Sorts candidates, those last that lead to other kin, or to what has the name for a value."""
    for each in judged if judge.strict else ():
        if is_other_kin(judge, each.walks) or leads_to_its_holders(judge, each.walks):
            each.score -= CONSTRAINT_RULES.kin_cost
    judged.sort(key=lambda each: (-each.score, each.walks.number))


def _by_yes_no(
    judge: CandidateJudge, judged: list[JudgedCandidate], ranked: Sequence[RankedCandidate]
) -> Chosen:
    best = judged[0].score
    decision = decide(judge, judged)
    if judge.strict and (
        any(
            doubts(judge, decision.judged)
            for doubts in (says_another_verb, leaves_its_event, leaves_number_of_name)
        )
        or walks_against_its_verb(judge, decision.judged.walks)
        or _leaves_words(judge, decision)
    ):
        decision = replace(decision, answer=None)
    if decision.rows.any():
        decision.judged.score = best + CONSTRAINT_RULES.named_bonus
    is_met = bool(decision.rows.any())
    return Chosen(
        _ranked_again(judged, ranked),
        tuple(ReadConstraint(target.text, kind_of(target), is_met) for target in decision.targets),
        {
            decision.judged.walks.number: np.repeat(
                decision.rows[:, None], len(decision.targets), axis=1
            )
        },
        answer=decision.answer,
        doubt="neither yes nor no" if judge.strict and decision.answer is None else "",
        reading=Reading(judge, decision.judged, decision.targets, is_flag=decision.is_flag),
    )


def _leaves_words(judge: CandidateJudge, decision: YesNo) -> bool:
    """Returns whether a question for yes or no says more of what is joined than that it is: *does X
    interact with Y on Sundays*.
    """
    if not decision.targets:
        return False
    if any(date not in decision.targets for date in judge.expected.dates):
        return True
    if not _ONLY.isdisjoint(words(judge.question)):
        return True
    judged = decision.judged
    met = [(target, Met(decision.rows, judged.last)) for target in decision.targets]
    claim = JudgedCandidate(judged.walks, judged.score, [*judged.met, *met])
    return (
        asks_what_should_be(judge, claim)
        or leaves_a_clause(judge, claim)
        or any(
            not is_kin(word) and word not in _OF_CLAIMS for word, _, _ in unread_spans(judge, claim)
        )
    )


def _same_of_each(
    judge: CandidateJudge, judged: Sequence[JudgedCandidate]
) -> tuple[JudgedCandidate, JudgedCandidate] | None:
    """Returns the candidates of one way from each of two names, the best such pair, if the one way
    is among those of the other.
    """
    ways: dict[tuple[object, ...], dict[tuple[int, int], JudgedCandidate]] = {}
    for each in judged:
        span = judge.span(each.walks)
        if span in judge.expected.alternatives:
            way = (each.walks.relations, each.walks.backward)
            ways.setdefault(way, {}).setdefault(span, each)
    pairs = [tuple(of_span.values()) for of_span in ways.values() if len(of_span) == 2]
    if not pairs:
        return None
    first, second = max(pairs, key=lambda pair: pair[0].score + pair[1].score)
    return first, second


def _by_alternatives(
    judge: CandidateJudge,
    pair: tuple[JudgedCandidate, JudgedCandidate],
    judged: Sequence[JudgedCandidate],
    ranked: Sequence[RankedCandidate],
) -> Chosen:
    """Returns the candidates with those of two names first, and what either leads to."""
    best, other = pair
    best.score = other.score = max(each.score for each in judged)
    reading = Reading(judge, best, alternative=other)
    doubt = first_doubt(judge, best, is_plain=False)
    is_read = not doubt and not other_unread(judge, best, judge.span(other.walks))
    is_read = is_read and not (best.met or other.met or judge.expected.dates)
    answer = None
    if is_read:
        end_nodes = np.union1d(best.walks.end_nodes, other.walks.end_nodes)
        edges = [
            edge
            for each in pair
            for edge in walked(each.walks, np.ones(len(each.walks.edges), dtype=bool))
        ]
        is_count = judge.expected.form is AnswerForm.COUNT
        answer = SelectedAnswer(
            AnswerKind.COUNT if is_count else AnswerKind.ENTITIES,
            str(len(end_nodes)) if is_count else None,
            tuple(judge.surroundings.nodes[end_nodes].tolist()),
            tuple(dict.fromkeys(edges)),
            any(judge.is_cut(each.walks) for each in pair),
        )
    return Chosen(
        _ranked_again(judged, ranked),
        answer=answer,
        doubt="" if is_read else doubt or "alternatives that are not read",
        reading=reading,
    )


def _by_comparison(
    judge: CandidateJudge, judged: list[JudgedCandidate], ranked: Sequence[RankedCandidate]
) -> Chosen:
    """Returns the candidates with the values that two named things are compared by first, and the
    answer: one of the two, both where their values are equal, or whether the first comes first.
    """
    expected = judge.expected
    nodes = [judge.node_at(span) for span in expected.compared]
    reading = Reading(judge, judged[0])
    misread = Chosen(
        _ranked_again(judged, ranked), doubt="nothing to compare the two by", reading=reading
    )
    if expected.superlative is None or any(node is None for node in nodes) or nodes[0] == nodes[1]:
        return misread
    end_nodes = np.array(sorted(node for node in nodes if node is not None), dtype=np.int64)
    compared = compare_end_nodes(
        expected.superlative, end_nodes, judge.around, judge.text, judge.cosines, judge.form
    )
    if compared is None or compared.missing:
        return misread
    relation = int(judge.surroundings.rel[compared.edges[0]])
    best = judged[0].score
    for each in judged:
        if each.walks.relations == (relation,) and not each.walks.backward[0]:
            is_winner = int(each.walks.nodes[0, 0]) in compared.winners
            each.score = best + CONSTRAINT_RULES.named_bonus + is_winner
    edges = tuple(judge.surroundings.edges[list(compared.edges)].tolist())
    if expected.is_claim:
        is_tie = len(compared.winners) > 1
        if is_tie and expected.superlative.is_date:
            # Of spans of time that overlap neither is surely first.
            return misread
        holds = not is_tie and compared.winners[0] == nodes[0]
        claim = SelectedAnswer(
            AnswerKind.YES_NO, "yes" if holds else "no", (), edges, truncated=False
        )
        return Chosen(_ranked_again(judged, ranked), answer=claim, reading=reading)
    winners = tuple(judge.surroundings.nodes[list(compared.winners)].tolist())
    answer = SelectedAnswer(AnswerKind.SUPERLATIVE, None, winners, edges, truncated=False)
    return Chosen(_ranked_again(judged, ranked), answer=answer, reading=reading)


def _ranked_again(
    judged: Sequence[JudgedCandidate], ranked: Sequence[RankedCandidate]
) -> tuple[RankedCandidate, ...]:
    """Returns all candidates by their new scores; those that were not looked at keep theirs."""
    looked = {candidate.walks.number: candidate.score for candidate in judged}
    again = [RankedCandidate(candidate_id, score) for candidate_id, score in looked.items()]
    again += [candidate for candidate in ranked if candidate.number not in looked]
    return tuple(sorted(again, key=lambda candidate: (-candidate.score, candidate.number)))
