"""Which candidates and walks of a question meet what it says beside its relations, and its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from graph_service.model.answer import AnswerKind, ReadConstraint
from graph_service.model.graph import Bool, Int64
from graph_service.retrieve.constraints.answer_kind import leads_to_its_holders, names_what_is_first
from graph_service.retrieve.constraints.answering import (
    compare_end_nodes,
    compare_values,
    is_unit,
    stored_number,
    walked,
)
from graph_service.retrieve.constraints.coverage import is_kin
from graph_service.retrieve.constraints.doubts import OUTWEIGHED, first_doubt
from graph_service.retrieve.constraints.judging import (
    CandidateJudge,
    JudgedCandidate,
    RankedCandidate,
)
from graph_service.retrieve.constraints.label_aspects import leaves_its_event
from graph_service.retrieve.constraints.meeting import Constraint, Met, kind_of
from graph_service.retrieve.constraints.naming import Mention, NamedNodes
from graph_service.retrieve.constraints.qualifiers import asks_what_should_be, leaves_a_clause
from graph_service.retrieve.constraints.reading import AnswerForm
from graph_service.retrieve.constraints.reciprocal import is_reciprocal
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.constraints.said_steps import (
    is_other_kin,
    repeats_unsaid,
    says_a_label,
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
_LISTED = frozenset({AnswerForm.ENTITIES, AnswerForm.COUNT})


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What the query that a question was read as is made of.

    Attributes:
        judge: Of the question.
        best: The candidate whose walks come first, or that decides yes or no.
        targets: What a question for yes or no names beside its start.
        is_flag: Whether a true or false value of the start answers yes or no.
        alternative: The same walks from the other of two names, of *by A or B*; or those of the
            same relation the other way about, where it holds both ways.
    """

    judge: CandidateJudge
    best: JudgedCandidate
    targets: tuple[Constraint, ...] = ()
    is_flag: bool = False
    alternative: JudgedCandidate | None = None

    @property
    def is_cut(self) -> bool:
        """Whether limits may have left out walks of the candidate."""
        return self.judge.is_cut(self.best.walks)


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """What a question says beside its relations makes of its candidates.

    Attributes:
        ranked: The candidates, best first.
        constraints: What was read, and whether any walk meets it.
        met: By candidate, which constraints each of its walks meets, in the order of the walks'
            keys, bool [walks, constraints]; candidates that were not looked at are absent.
        first: By candidate, which walks lead to the first that a superlative asks for.
        answer: What is computed; None where the question asks for entities and no more, or nothing
            is sure.
        doubt: How the best candidate may misread the question; empty where nothing says so.
        reading: What the query that the question was read as is made of; None of a long text.
    """

    ranked: tuple[RankedCandidate, ...]
    constraints: tuple[ReadConstraint, ...] = ()
    met: Mapping[int, Bool] = field(default_factory=dict)
    first: Mapping[int, Bool] = field(default_factory=dict)
    answer: SelectedAnswer | None = None
    doubt: str = ""
    reading: Reading | None = None

    @property
    def may_be_outweighed(self) -> bool:
        """Whether it is only doubted that the question's words speak of the best candidate."""
        return self.doubt in OUTWEIGHED

    @property
    def compares(self) -> bool:
        """Whether the question compares two things that it names."""
        return (
            self.reading is not None and self.reading.judge.expected.form is AnswerForm.COMPARISON
        )

    @property
    def lists_entities(self) -> bool:
        """Whether the question asks for entities or values, not for what is computed of them."""
        if self.reading is None:
            return True
        expected = self.reading.judge.expected
        return (
            expected.form is AnswerForm.ENTITIES
            and expected.negated_from < 0
            and not expected.is_negated
        )

    @property
    def is_plain(self) -> bool:
        """Whether the question asks for what its relations lead to, for no choice of that, and says
        nothing that is not accounted for.
        """
        if self.reading is None or self.constraints or not self.lists_entities:
            return False
        judge, best = self.reading.judge, self.reading.best
        # Of kin the doubts tell: whose mother she is are her children.
        is_read = all(map(is_kin, unread_words(judge, best)))
        return judge.expected.superlative is None and is_read

    @property
    def may_be_unstated(self) -> bool:
        """Whether the question asks for one thing of an entity, which the graph may lack."""
        if self.reading is None:
            return False
        expected = self.reading.judge.expected
        is_of_one = expected.form not in (AnswerForm.YES_NO, AnswerForm.COMPARISON)
        return is_of_one and expected.negated_from < 0 and not expected.is_negated

    def met_by(self, number: int, walks: int, /) -> Bool:
        """Returns which constraints each of a candidate's walks meets, bool [walks, constraints]."""
        is_met = np.zeros((walks, len(self.constraints)), dtype=bool)
        if number in self.met:
            known = self.met[number]
            is_met[: len(known)] = known
        return is_met

    def missed_by(self, number: int, walks: int, /) -> Int64:
        """Returns how many constraints that some walk meets each walk does not meet, int64 [walks].

        Not to lead to the first that a superlative asks for counts as one.
        """
        can_be_met = [constraint.met for constraint in self.constraints]
        is_unmet = ~self.met_by(number, walks)[:, can_be_met]
        missed: Int64 = is_unmet.sum(axis=1).astype(np.int64)
        if self.first:
            known = self.first.get(number, np.zeros(0, dtype=bool))
            missed += 1
            missed[: len(known)] -= known
        return missed


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
    return _both_ways(judge, chosen) if judge.strict else chosen


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
    met = {each.walks.number: _matrix(each, best, constraints) for each in judged}
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
        return replace(chosen, answer=_none(judge, best, constraints))
    # A constraint that nothing meets may be one that was not understood: no answer ignores it.
    if confident and rows.any():
        chosen = replace(chosen, answer=_answer(judge, best, judged, rows))
    if judge.strict and judge.expected.superlative is not None and chosen.answer is None:
        # Several values are no answer to which of them is the first, nor is the only known one.
        is_several = len(np.unique(best.walks.end_nodes[rows])) > 1
        if is_several or judge.expected.superlative.text.lower() not in _OF_ONE:
            return replace(chosen, doubt="several values to choose from")
        return chosen
    if chosen.answer is None or chosen.answer.kind is not AnswerKind.SUPERLATIVE:
        return chosen
    if judge.strict and _has_other_first(judge, judged, chosen.answer):
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


def _both_ways(judge: CandidateJudge, chosen: Chosen) -> Chosen:
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
        _selected(judge, AnswerKind.COUNT if counted else AnswerKind.ENTITIES, each, rows)
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
    met = _matrix(other, best, [each for each, _ in best.met])
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


def _matrix(
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


def _answer(
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
        return _selected(judge, AnswerKind.COUNT, best, rows, value=str(count))
    if expected.superlative is not None:
        end_nodes = np.unique(best.walks.end_nodes[rows])
        if names_what_is_first(judge, best.walks):
            winners = compare_values(expected.superlative, end_nodes, judge.around)
            if winners is None:
                return None
            first = rows & np.isin(best.walks.end_nodes, np.array(winners))
            return _selected(judge, AnswerKind.SUPERLATIVE, best, first)
        compared = compare_end_nodes(
            expected.superlative, end_nodes, judge.around, judge.text, judge.cosines, judge.form
        )
        if compared is None:
            return None
        first = rows & np.isin(best.walks.end_nodes, np.array(compared.winners))
        more = judge.surroundings.edges[list(compared.edges)].tolist()
        selected = _selected(judge, AnswerKind.SUPERLATIVE, best, first, and_edges=more)
        return replace(selected, truncated=selected.truncated or compared.missing > 0)
    return _selected(judge, AnswerKind.ENTITIES, best, rows) if best.met else None


def _has_other_first(
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


def _none(
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


def _selected(
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
