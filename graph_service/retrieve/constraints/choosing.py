"""Which candidates and walks of a question meet what it says beside its relations.

The candidates come ranked by what was learned. Meeting a constraint raises a candidate. One whose
ends the question names itself (``films from 1994``: the year of a film) is no answer: the walks
without their last step are, where that step leads to what is named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from graph_service.model.answer import AnswerKind, ConstraintKind, ReadConstraint
from graph_service.model.graph import Bool, Float64, Int64
from graph_service.model.limits import CutReason
from graph_service.retrieve.constraints.answering import (
    compare_ends,
    is_unit,
    stored_number,
    walked,
)
from graph_service.retrieve.constraints.meeting import (
    CandidateWalks,
    Constraint,
    Met,
    Surroundings,
    applies,
    ends_named,
    kind_of,
    meets_date,
    meets_named,
    noun_stems,
    relation_stems,
)
from graph_service.retrieve.constraints.naming import Mention, NamedNodes, find_named
from graph_service.retrieve.constraints.reading import (
    AskedAnswer,
    AskedForm,
    DateConstraint,
    kin_of,
    read_answer,
    singular,
)
from graph_service.retrieve.context import PickedAnswer, RetrievalContext
from graph_service.retrieve.learned.candidates import Candidates
from graph_service.retrieve.learned.relation_texts import stem
from graph_service.retrieve.preset import LearnedPreset
from graph_service.retrieve.sequences.strategy import without_mentions
from graph_service.text.fold import word_spans
from graph_service.text.function_words import FUNCTION_WORDS

MOST_CANDIDATES = 16
"""Candidates, the best, whose walks are looked at."""
MOST_WALKS = 20_000
NAMED_BONUS = 3.0
"""Added to the score of a candidate that meets a date or a named entity."""
VALUE_BONUS = 1.5
KIN_BONUS = 2.0
SPOKEN = 0.4
"""From which cosine on a word of the question speaks of a relation."""
YES_MARGIN = 2.0
"""By how much the best candidate may fit better than one that joins what is named, for a yes."""
_PHRASE_WORDS = 4
_OWNED_BEFORE = re.compile(r"(\w+)\s+of\s+(?:the\s+)?$")
_OWNED_AFTER = re.compile(r"['\u2019]s?\s+(\w+)")


@dataclass(frozen=True, slots=True)
class RankedCandidate:
    """A candidate's number and its score, higher is better."""

    number: int
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """What a question says beside its relations makes of its candidates.

    Attributes:
        ranked: The candidates, best first.
        constraints: What was read, and whether any walk meets it.
        met: By candidate, which constraints each of its walks meets, in the order of the walks'
            keys, bool [walks, constraints]; candidates that were not looked at are absent.
        first: By candidate, which walks lead to the first that a superlative asks for.
        answer: None where the question asks for entities and no more, or nothing is sure.
    """

    ranked: tuple[RankedCandidate, ...]
    constraints: tuple[ReadConstraint, ...] = ()
    met: Mapping[int, Bool] = field(default_factory=dict)
    first: Mapping[int, Bool] = field(default_factory=dict)
    answer: PickedAnswer | None = None

    def met_by(self, number: int, walks: int, /) -> Bool:
        """Returns which constraints each of a candidate's walks meets, bool [walks, constraints]."""
        found = np.zeros((walks, len(self.constraints)), dtype=bool)
        if number in self.met:
            known = self.met[number]
            found[: len(known)] = known
        return found

    def missed_by(self, number: int, walks: int, /) -> Int64:
        """Returns how many constraints that some walk meets each walk does not meet, int64 [walks].

        Not to lead to the first that a superlative asks for counts as one.
        """
        some = [one.met for one in self.constraints]
        lacking = ~self.met_by(number, walks)[:, some]
        missed: Int64 = lacking.sum(axis=1).astype(np.int64)
        if self.first:
            known = self.first.get(number, np.zeros(0, dtype=bool))
            missed += 1
            missed[: len(known)] -= known
        return missed


@dataclass(slots=True, eq=False)
class _Judged:
    walks: CandidateWalks
    score: float
    met: list[tuple[Constraint, Met]]


def choose(
    call: RetrievalContext[LearnedPreset],
    question: str,
    mentions: Sequence[Mention],
    candidates: Candidates,
    ranked: Sequence[RankedCandidate],
    /,
    *,
    confident: bool,
) -> Chosen:
    """Returns the candidates as constraints rank them, which walks meet them, and the answer.

    Args:
        call: The retrieval.
        question: As asked.
        mentions: What linking found of the region's start entities, in their order first, then others.
        candidates: Of the question.
        ranked: Best first.
        confident: Whether the best bears on the question; else no answer is given.
    """
    return _Chooser(call, question, mentions, candidates, ranked, confident).choose()


class _Chooser:
    """One question's constraints beside its candidates."""

    def __init__(
        self,
        call: RetrievalContext[LearnedPreset],
        question: str,
        mentions: Sequence[Mention],
        candidates: Candidates,
        ranked: Sequence[RankedCandidate],
        confident: bool,
    ) -> None:
        self._call = call
        self._question = question
        self._mentions = mentions
        self._candidates = candidates
        self._ranked = tuple(ranked)
        self._confident = confident
        self._names = [(one.start, one.end) for one in mentions if one.is_name and one.start >= 0]
        linked = [(one.start, one.end) for one in mentions if one.linked and one.start >= 0]
        self._asked: AskedAnswer = read_answer(question, linked)
        self._named = find_named(question, mentions, call.labels.graph, call.surroundings)
        self._kin = {
            stem(kin) for word, _, _ in word_spans(question) if (kin := kin_of(singular(word)))
        }
        self._numbers: dict[tuple[int, tuple[tuple[int, bool], ...]], int] = {}
        self._texts: dict[int, str] = {}
        self._like: dict[DateConstraint, dict[int, float]] = {}
        self._whole = call.surroundings

    def choose(self) -> Chosen:
        """Returns what the constraints make of the candidates."""
        asked = self._asked
        if asked.form is AskedForm.ENTITIES and not (asked.dates or self._named or self._kin):
            return Chosen(self._ranked)
        self._read_texts()
        self._around = Surroundings(self._whole, self._call.labels, self._texts)
        judged = [self._judge(one) for one in self._ranked[:MOST_CANDIDATES]]
        if asked.form is AskedForm.YES_NO:
            return self._yes_no(judged)
        self._fold(judged)
        for one in judged:
            one.score += self._bonus(one)
        judged.sort(key=lambda one: (-one.score, one.walks.number))
        best = judged[0]
        told = [constraint for constraint, _ in best.met]
        told += self._unmet(best)
        told.sort(key=lambda constraint: (constraint.start, constraint.end))
        met = {one.walks.number: _matrix(one, best, told) for one in judged}
        rows = _all_met(met[best.walks.number], [c for c, _ in best.met], told)
        answer = self._answer(best, judged, rows, told)
        chosen = self._chosen(judged, told, met, best, answer)
        if answer is None or answer.kind is not AnswerKind.SUPERLATIVE:
            return chosen
        nodes = np.searchsorted(self._whole.nodes, np.array(answer.nodes))
        return replace(chosen, first={best.walks.number: np.isin(best.walks.ends, nodes)})

    def _chosen(
        self,
        judged: Sequence[_Judged],
        told: Sequence[Constraint],
        met: Mapping[int, Bool],
        best: _Judged,
        answer: PickedAnswer | None,
    ) -> Chosen:
        looked = {one.walks.number: one.score for one in judged}
        rest = [one for one in self._ranked if one.number not in looked]
        all_ranked = [RankedCandidate(number, score) for number, score in looked.items()] + rest
        all_ranked.sort(key=lambda one: (-one.score, one.number))
        read = tuple(
            ReadConstraint(
                constraint.text, kind_of(constraint), bool(met[best.walks.number][:, place].any())
            )
            for place, constraint in enumerate(told)
        )
        return Chosen(tuple(all_ranked), read, met, answer=answer)

    def _read_texts(self) -> None:
        numbers = np.unique(self._whole.rel)
        labels = self._call.labels.relations(numbers)
        self._texts.update(zip(numbers.tolist(), labels, strict=True))

    def _text(self, relation: int) -> str:
        return self._texts[relation]

    def _cosines(self, texts: Sequence[str], others: Sequence[str]) -> Float64:
        encode = self._call.encode
        encode([*texts, *others])
        left, right = encode(texts).astype(np.float64), encode(others).astype(np.float64)
        found: Float64 = np.round(left @ right.T, 5)
        return found

    def _likeness(self, constraint: DateConstraint) -> Mapping[int, float]:
        """Returns how like what is said before a date each relation's words are."""
        if constraint not in self._like:
            words = [
                word
                for word, start, end in word_spans(self._question)
                if end <= constraint.start
                and word not in FUNCTION_WORDS
                and not any(left <= start < right for left, right in self._names)
            ][-_PHRASE_WORDS:]
            relations = sorted(self._texts)
            phrase = " ".join(words) or "date"
            cosines = self._cosines([self._texts[each] for each in relations], [phrase])[:, 0]
            self._like[constraint] = dict(zip(relations, cosines.tolist(), strict=True))
        return self._like[constraint]

    def _walks(self, number: int) -> CandidateWalks:
        candidates, region = self._candidates, self._call.region
        edges = candidates.edges(number)[:MOST_WALKS]
        backward = candidates.backward[number, : edges.shape[1]]
        start = int(candidates.start[number])
        nodes = [np.full(len(edges), region.start_entities[start], dtype=np.int64)]
        for column, back in enumerate(backward.tolist()):
            end = region.head if back else region.tail
            nodes.append(end[edges[:, column]].astype(np.int64))
        local = np.stack(nodes, axis=1)
        return CandidateWalks(
            number,
            start,
            region.edges[edges].astype(np.int64),
            np.searchsorted(self._whole.nodes, region.nodes[local]),
            tuple(relation for relation, _ in candidates.sequence(number)),
            tuple(backward.tolist()),
        )

    def _judge(self, ranked: RankedCandidate) -> _Judged:
        """Returns how a candidate's walks meet what the question says, longer names first."""
        walks = self._walks(ranked.number)
        met: list[tuple[Constraint, Met]] = []
        for date in self._asked.dates:
            how = None
            if not self._asked.wants_time:
                how = meets_date(date, walks, self._around, self._likeness(date))
            if how is not None:
                met.append((date, how))
        for named in self._applying(walks):
            if any(named.overlaps(kept.start, kept.end) for kept, _ in met):
                continue
            how = meets_named(self._around.around(named.nodes), walks)
            if how is not None:
                met.append((named, how))
        return _Judged(walks, ranked.score, met)

    def _span(self, walks: CandidateWalks) -> tuple[int, int]:
        mention = self._mentions[walks.start]
        return (mention.start, mention.end)

    def _applying(self, walks: CandidateWalks) -> list[NamedNodes]:
        """Returns the names that may constrain what a candidate leads to, longer ones first."""
        span = self._span(walks)
        stems = relation_stems(walks.relations, self._texts)
        return [
            named
            for named in self._named
            if applies(named, walks, span, self._question, self._around.around(named.nodes), stems)
        ]

    def _fold(self, judged: list[_Judged]) -> None:
        """Gives the score of walks that go too far to the walks less their last step.

        They go too far to what the question names itself, and by a relation that no words speak of
        but those that a constraint on the walks less that step takes.
        """
        known = {one.walks.number: one for one in judged}
        for one in sorted(judged, key=lambda one: -len(one.walks.relations)):
            if len(one.walks.relations) == 1:
                continue
            shorter = self._shorter(one, known)
            if shorter is None or not (
                self._leads_to_named(one.walks) or self._is_unspoken(one.walks, shorter)
            ):
                continue
            if shorter.walks.number not in known:
                known[shorter.walks.number] = shorter
                judged.append(shorter)
            shorter.score = max(shorter.score, one.score)
            one.score = min(one.score, shorter.score - 2 * NAMED_BONUS)

    def _shorter(self, one: _Judged, known: Mapping[int, _Judged]) -> _Judged | None:
        """Returns the candidate of a candidate's walks less their last step."""
        if not self._numbers:
            held = range(len(self._candidates))
            starts = self._candidates.start.tolist()
            self._numbers = {(starts[n], self._candidates.sequence(n)): n for n in held}
        sequence = self._candidates.sequence(one.walks.number)[:-1]
        number = self._numbers.get((one.walks.start, sequence))
        if number is None:
            return None
        return known.get(number) or self._judge(RankedCandidate(number, -np.inf))

    def _leads_to_named(self, walks: CandidateWalks) -> bool:
        may_end: list[Constraint] = [*self._applying(walks)]
        if not self._asked.wants_time:
            may_end += self._asked.dates
        return any(ends_named(one, walks, self._around) is not None for one in may_end)

    def _is_unspoken(self, walks: CandidateWalks, shorter: _Judged) -> bool:
        """Returns whether no word is left for a last step, as constraints take them before it."""
        last = shorter.walks.nodes.shape[1] - 1
        taken = [
            (constraint.start, constraint.end)
            for constraint, how in shorter.met
            if how.column == last
        ]
        if self._asked.superlative is not None:
            taken.append((self._asked.superlative.start, self._asked.superlative.end))
        if not taken:
            return False
        said = relation_stems(shorter.walks.relations, self._texts)
        left = [
            word
            for word, start, end in word_spans(self._question)
            if word not in FUNCTION_WORDS
            and len(word) > 1
            and stem(singular(word)) not in said
            and stem(kin_of(singular(word))) not in said
            and not any(left < end and start < right for left, right in (*taken, *self._names))
        ]
        relation = self._texts[walks.relations[-1]]
        return not left or float(self._cosines([relation], left).max()) < SPOKEN

    def _bonus(self, one: _Judged) -> float:
        """Returns what a candidate gains by what it meets, or loses where it can't be meant."""
        last = one.walks.nodes.shape[1] - 1
        mention = self._mentions[one.walks.start]
        if any(mention.start < date.end and date.start < mention.end for date in self._asked.dates):
            return -2 * NAMED_BONUS
        if self._names and (mention.start, mention.end) not in self._names:
            # Only a class or a value: it constrains what is asked of what has a name.
            return 0.0
        named = [each.nodes for each in self._applying(one.walks) if each.is_entity]
        if named and np.isin(one.walks.ends, np.concatenate(named)).all():
            return -2 * NAMED_BONUS
        total = 0.0
        for constraint, how in one.met:
            value = kind_of(constraint) is ConstraintKind.VALUE
            full = VALUE_BONUS if value else NAMED_BONUS
            total += full if how.column == last else full / 2
        last_stems = noun_stems(self._texts[one.walks.relations[-1]])
        is_kin = bool(self._kin & last_stems) and not one.walks.backward[-1]
        return total + KIN_BONUS * is_kin

    def _unmet(self, best: _Judged) -> list[Constraint]:
        """Returns the dates and named entities that no walk of the best candidate meets."""
        met = [constraint for constraint, _ in best.met]
        dates = () if self._asked.wants_time else self._asked.dates
        found: list[Constraint] = [date for date in dates if date not in met]
        for named in self._applying(best.walks):
            taken = any(named.overlaps(kept.start, kept.end) for kept in (*met, *found))
            ends = np.isin(best.walks.nodes[:, 1:], named.nodes).any()
            if named.is_entity and not taken and not ends:
                found.append(named)
        return found

    # Answers

    def _answer(
        self, best: _Judged, judged: Sequence[_Judged], rows: Bool, told: Sequence[Constraint]
    ) -> PickedAnswer | None:
        asked = self._asked
        if not self._confident:
            return None
        all_met = len(told) == len(best.met) and bool(rows.any())
        if asked.form is AskedForm.COUNT:
            same = [one.walks for one in judged if one.walks.start == best.walks.start]
            number = stored_number(same, asked.counted, self._around, self._text)
            if number is not None:
                walks, value = number
                every = np.ones(len(walks.edges), dtype=bool)
                edges = tuple(walked(walks, every))
                return PickedAnswer(AnswerKind.COUNT, value, (), edges, truncated=False)
            if not all_met or is_unit(asked.counted):
                return None
            count = len(np.unique(best.walks.ends[rows]))
            return self._picked(AnswerKind.COUNT, best, rows, value=str(count))
        if not all_met:
            return None
        if asked.superlative is not None:
            return self._first(best, rows)
        if not best.met:
            return None
        return self._picked(AnswerKind.ENTITIES, best, rows)

    def _first(self, best: _Judged, rows: Bool) -> PickedAnswer | None:
        assert self._asked.superlative is not None
        ends = np.unique(best.walks.ends[rows])
        compared = compare_ends(
            self._asked.superlative, ends, self._around, self._text, self._cosines
        )
        if compared is None:
            return None
        first = rows & np.isin(best.walks.ends, np.array(compared.winners))
        edges = self._whole.edges[list(compared.edges)].tolist()
        picked = self._picked(AnswerKind.SUPERLATIVE, best, first, and_edges=edges)
        return replace(picked, truncated=picked.truncated or compared.lacking > 0)

    def _picked(
        self,
        kind: AnswerKind,
        best: _Judged,
        rows: Bool,
        *,
        value: str | None = None,
        and_edges: Sequence[int] = (),
    ) -> PickedAnswer:
        """Returns an answer by some of the best candidate's walks and what makes them meet."""
        walks = best.walks
        edges = [*walked(walks, rows), *and_edges]
        for constraint, how in best.met:
            nodes = np.unique(walks.nodes[rows, how.column])
            edges += self._whole.edges[self._saying(constraint, how, nodes)].tolist()
        order = np.unique(walks.ends[rows])
        return PickedAnswer(
            kind,
            value,
            tuple(self._whole.nodes[order].tolist()),
            tuple(dict.fromkeys(edges)),
            self._is_cut(walks),
        )

    def _saying(self, constraint: Constraint, how: Met, nodes: Int64) -> Int64:
        """Returns the local edges by which some nodes meet a constraint."""
        if isinstance(constraint, NamedNodes):
            return self._around.joining(nodes, constraint.nodes)
        dated = self._around.dated(nodes)
        return np.array(
            [
                edge
                for relation in sorted(how.relations or ())
                for _, edge, days in dated.get(relation, ())
                if constraint.days.holds(days)
            ],
            dtype=np.int64,
        )

    def _is_cut(self, walks: CandidateWalks) -> bool:
        """Returns whether limits may have left out walks of a candidate."""
        if len(walks.edges) == MOST_WALKS:
            return True
        region = self._call.region
        if not region.cuts:
            return False
        budget = any(cut.reason is CutReason.WORK_BUDGET for cut in region.cuts)
        seen = np.bincount(region.head, minlength=region.node_count)
        seen = seen + np.bincount(region.tail, minlength=region.node_count)
        local = np.searchsorted(region.nodes, self._whole.nodes[np.unique(walks.nodes[:, :-1])])
        return budget or bool((seen[local] < region.degrees[local]).any())

    # Yes or no

    def _yes_no(self, judged: list[_Judged]) -> Chosen:
        judged = [one for one in judged if self._faces(one.walks)] or judged
        first = judged[0]
        for one in judged:
            if one.score < first.score - YES_MARGIN:
                break
            targets, rows = self._joins(one.walks)
            if rows is not None:
                one.score = first.score + NAMED_BONUS
                judged.sort(key=lambda each: (-each.score, each.walks.number))
                met = {one.walks.number: np.repeat(rows[:, None], len(targets), axis=1)}
                answer = self._said(one, rows, "yes") if self._is_asked(one.walks) else None
                return self._chosen(judged, targets, met, one, answer)
        targets, _ = self._joins(first.walks)
        met = {first.walks.number: np.zeros((len(first.walks.edges), len(targets)), dtype=bool)}
        return self._chosen(judged, targets, met, first, self._denied(first, targets))

    def _said(self, one: _Judged, rows: Bool, value: str, more: Sequence[int] = ()) -> PickedAnswer:
        edges = tuple(dict.fromkeys([*walked(one.walks, rows), *more]))
        cut = value == "no" and self._is_cut(one.walks)
        return PickedAnswer(AnswerKind.YES_NO, value, (), edges, cut)

    def _is_asked(self, walks: CandidateWalks) -> bool:
        """Returns whether the question less all names in it speaks of each relation walked."""
        said = without_mentions(self._question, self._names)
        texts = [self._texts[relation] for relation in walks.relations]
        stems = noun_stems(said)
        least = self._call.preset.min_relevance
        cosines = self._cosines([said], texts)[0].tolist()
        return all(
            like >= least or stems & noun_stems(text)
            for text, like in zip(texts, cosines, strict=True)
        )

    def _faces(self, walks: CandidateWalks) -> bool:
        """Returns whether a single step goes the way that the question says.

        A ``child of X`` or ``X's child`` is the value of a statement whose head is X.
        """
        if len(walks.relations) > 1:
            return True
        stems = noun_stems(self._texts[walks.relations[0]])
        for start, end in self._names:
            noun = _OWNED_BEFORE.search(self._question[:start])
            noun = noun or _OWNED_AFTER.match(self._question[end:])
            if noun is not None and stem(singular(noun[1].lower())) in stems:
                return ((start, end) == self._span(walks)) != walks.backward[0]
        return True

    def _joins(self, walks: CandidateWalks) -> tuple[list[Constraint], Bool | None]:
        """Returns what a question asks of a candidate's ends, and the walks that lead there.

        All named entities must be led to; where there is none, a date or a value.
        """
        applying: list[Constraint] = []
        for named in self._applying(walks):
            if not any(named.overlaps(kept.start, kept.end) for kept in applying):
                applying.append(named)
        entities = [one for one in applying if kind_of(one) is ConstraintKind.ENTITY]
        dates: list[Constraint] = [*self._asked.dates]
        rows = np.zeros(len(walks.edges), dtype=bool)
        hit = {id(one): ends_named(one, walks, self._around) for one in (*applying, *dates)}
        needed = entities or dates or [one for one in applying if hit[id(one)] is not None]
        for target in needed:
            how = hit[id(target)]
            if how is None:
                return needed, None
            rows |= how.walks
        for date in self._asked.dates if entities else ():
            how = meets_date(date, walks, self._around, self._likeness(date))
            if how is None or not (rows & how.walks).any():
                return [*needed, *dates], None
            rows = rows & how.walks
        return needed, rows if needed else None

    def _denied(self, first: _Judged, targets: Sequence[Constraint]) -> PickedAnswer | None:
        """Returns no, where the same relation says something else of what is named."""
        if not targets or not self._is_asked(first.walks):
            return None
        walks, more = first.walks, list[int]()
        for target in targets:
            if isinstance(target, NamedNodes):
                region = self._whole
                side = region.head if walks.backward[-1] else region.tail
                same = (region.rel == walks.relations[-1]) & np.isin(side, target.nodes)
                if not same.any():
                    return None
                more += region.edges[np.flatnonzero(same)].tolist()
            elif self._around.days(int(walks.ends[0])) is None:
                return None
        return self._said(first, np.ones(len(walks.edges), dtype=bool), "no", more)


def _matrix(one: _Judged, best: _Judged, told: Sequence[Constraint]) -> Bool:
    """Returns which of the constraints each of a candidate's walks meets.

    A span of time is met by dates of the relation by which the best candidate meets it.
    """
    relations = {id(constraint): how.relations for constraint, how in best.met}
    found = np.zeros((len(one.walks.edges), len(told)), dtype=bool)
    for constraint, how in one.met:
        for place, each in enumerate(told):
            if each is constraint and how.relations == relations.get(id(each)):
                found[:, place] = how.walks
    return found


def _all_met(rows: Bool, met: Sequence[Constraint], told: Sequence[Constraint]) -> Bool:
    """Returns which walks meet all constraints that any walk of theirs meets."""
    places = [place for place, one in enumerate(told) if any(one is each for each in met)]
    found: Bool = rows[:, places].all(axis=1)
    return found
