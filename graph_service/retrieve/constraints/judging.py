"""What a question says beside its relations, beside the walks of its candidates.

The candidates come ranked by what was learned. Meeting a constraint raises a candidate. One whose
ends the question names itself (``films from 1994``: the year of a film) is no answer: the walks
without their last step are, where that step leads to what is named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from graph_service.model.answer import ConstraintKind
from graph_service.model.graph import Bool, Int64
from graph_service.model.limits import CutReason
from graph_service.query.enumeration import overlap
from graph_service.retrieve.constraints.coverage import (
    is_by_marriage,
    is_kin,
    marriage_step,
    means,
    names_end,
    names_other_end,
    side_of,
    stems_of,
)
from graph_service.retrieve.constraints.joining import joining_step, of_one_step
from graph_service.retrieve.constraints.meeting import (
    CandidateWalks,
    Constraint,
    Met,
    applies,
    kind_of,
    leads_to_others,
    meets_date,
    meets_named,
    meets_not,
    names_end_nodes,
    noun_stems,
    relation_stems,
)
from graph_service.retrieve.constraints.naming import (
    Mention,
    NamedNodes,
)
from graph_service.retrieve.constraints.question_in_region import QuestionInRegion
from graph_service.retrieve.constraints.reading import (
    AnswerForm,
    kin_of,
    sex_of,
)
from graph_service.retrieve.constraints.reading_dates import DateConstraint
from graph_service.retrieve.constraints.reciprocal import is_reciprocal
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.context import RetrievalContext
from graph_service.retrieve.kinds import KINDS
from graph_service.retrieve.learned.candidates import Candidates
from graph_service.retrieve.learned.relation_names import stem
from graph_service.retrieve.preset import LearnedPreset
from graph_service.text.fold import words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.nouns import singular
from graph_service.text.question_form import BE, DO, HAVE, MODALS, RELATIVE_PRONOUNS

_RULES = CONSTRAINT_RULES
_AUXILIARIES = BE | DO | HAVE | MODALS
_GEOGRAPHIC = frozenset(
    {"city", "continent", "country", "island", "lake", "mountain", "ocean", "river", "sea", "town"}
)
"""Nouns that are parts of names of what they say."""
_JOINING = re.compile(r"\b(?:between|common|connect|join|link|relat)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RankedCandidate:
    """A candidate's number and its score, higher is better."""

    number: int
    score: float


@dataclass(slots=True, eq=False)
class JudgedCandidate:
    """A candidate, its score as constraints leave it, and how its walks meet them."""

    walks: CandidateWalks
    score: float
    met: list[tuple[Constraint, Met]]

    @property
    def last(self) -> int:
        """The column of ``walks.nodes`` that holds the ends."""
        return len(self.walks.relations)


class CandidateJudge(QuestionInRegion):
    """One question's constraints beside its candidates.

    Args:
        call: The retrieval.
        question: As asked.
        mentions: What linking found of the region's start entities, in their order.
        candidates: Of the question.
        texts: Words of the region's relations, by global number.
    """

    def __init__(
        self,
        call: RetrievalContext[LearnedPreset],
        question: str,
        mentions: Sequence[Mention],
        candidates: Candidates,
        texts: Mapping[int, str],
        /,
    ) -> None:
        super().__init__(call, question, mentions, texts)
        self._candidates = candidates
        self._applying: dict[int, list[NamedNodes]] = {}
        self._exact: dict[tuple[int, int], NamedNodes] = {}
        self._kinds: dict[tuple[int, int], NamedNodes] = {}

    @cached_property
    def _seen(self) -> Int64:
        """How many of its statements the surroundings hold of each node, int64 [n]."""
        endpoints = np.concatenate((self.surroundings.head, self.surroundings.tail))
        return np.bincount(endpoints, minlength=self.surroundings.node_count)

    def reads_negation(self, best: JudgedCandidate, /) -> bool:
        """Returns whether a candidate leaves out what the question says not to be, if anything."""
        if self.expected.negated_from < 0:
            return True
        return any(isinstance(each, NamedNodes) and each.is_negated for each, _ in best.met)

    def judge(self, ranked: RankedCandidate, /) -> JudgedCandidate:
        """Returns how a candidate's walks meet what the question says, longer names first."""
        self._call.deadline.check("looking for what meets the question's constraints")
        walks = self._walks(ranked.number)
        met: list[tuple[Constraint, Met]] = []
        for date in self.expected.dates:
            how = None
            if not self.form.mentions_time:
                how = meets_date(date, walks, self.around, self.similarity(date))
            if how is None and self.strict and self.mentions[walks.start].has_namesakes:
                how = self._met_by_start(date, walks)
            if how is not None:
                met.append((date, how))
        for named in self.applying(walks):
            if any(named.overlaps(constraint.start, constraint.end) for constraint, _ in met):
                continue
            for each in self._meanings(named):
                how = self._met(each, walks)
                if how is not None:
                    wider = self._with_kinds(each)
                    how = self._met(wider, walks) or how
                    met.append((wider, self._with_unclassed(wider, how, walks)))
                    break
        return JudgedCandidate(walks, ranked.score, met)

    def _meanings(self, named: NamedNodes) -> list[NamedNodes]:
        """Returns what a name may mean, the first that is met counts: what the words are the whole
        name of, else what they are a part of the name of as well. *Africa* is not South Africa, and
        *which ocean* asks for no shore of the Atlantic Ocean.
        """
        is_exact = len(named.exact) == len(named.nodes)
        if not self.strict or named.is_negated or is_exact:
            return [named]
        key = (named.start, named.end)
        if key not in self._exact:
            self._exact[key] = replace(named, nodes=named.exact)
        exact = [self._exact[key]] if len(named.exact) else []
        is_kind = not named.is_entity and singular(" ".join(named.words)) in _GEOGRAPHIC
        return exact if is_kind and named.words[0] in self.form.nouns else [*exact, named]

    def _with_kinds(self, named: NamedNodes) -> NamedNodes:
        """Returns the noun of what is asked for with the classes of its kind: a landlocked country is a
        country.
        """
        if not self.is_requested(named):
            return named
        key = (named.start, named.end)
        if key not in self._kinds:
            noun = singular(named.words[0])
            kinds = self._call.labels.classes_of_kind(self.surroundings, noun)
            self._kinds[key] = replace(named, nodes=np.union1d(named.nodes, kinds))
        return self._kinds[key]

    def is_requested(self, named: NamedNodes) -> bool:
        """Returns whether a word is the noun of what is asked for: *city* of *which city*."""
        is_noun = named.words[0] in self.form.nouns and len(named.words) == 1
        return self.strict and is_noun and not (named.is_entity or named.is_negated)

    def _with_unclassed(self, named: NamedNodes, met: Met, walks: CandidateWalks) -> Met:
        """Returns how walks meet the class that is asked for, with those to what has no class: of the
        headquarters of X, one city may lack it.

        What has some value may be anything: the things whose currency is the euro. Of these it is
        done only where all that have a class are of the one asked for.
        """
        if not self.is_requested(named) or met.walks.all():
            return met
        if met.by_end or met.column != len(walks.relations):
            return met
        meeting = np.unique(walks.end_nodes[met.walks])
        step = joining_step(meeting, named, self.around, self.own_stems)
        if step is None or not step.is_forward or not self.around.says_class(step.relation):
            return met
        others = np.unique(walks.end_nodes[~met.walks])
        is_unclassed = np.array([not each for each in self.around.class_labels(others)], dtype=bool)
        is_unclassed &= ~self.surroundings.literal[others]
        if not is_unclassed.any() or (walks.backward[-1] and not is_unclassed.all()):
            return met
        unclassed = others[is_unclassed]
        rows = met.walks | np.isin(walks.end_nodes, unclassed)
        return replace(met, walks=rows, is_open=True)

    def _met(self, named: NamedNodes, walks: CandidateWalks) -> Met | None:
        """Returns which walks of a candidate meet a name, if any."""
        is_led_to = self._is_of_both(named, walks) or (
            len(walks.relations) == 1 and self._is_joined_to(named, walks)
        )
        near = self._led_to(named, walks) if is_led_to else self._near(named)
        how = meets_named(near, walks, self._columns(named, walks))
        if named.is_negated:
            others = leads_to_others(named, walks)
            return others or (how and meets_not(named, how, walks, self.around))
        if how is None or is_led_to or not self.strict:
            return how
        return of_one_step(named, how, walks, self.around, self.own_stems)

    def _columns(self, named: NamedNodes, walks: CandidateWalks) -> Sequence[int]:
        """Returns the columns of a candidate's nodes that may meet a name, the ends first: for a
        noun of kin that says a sex those that it means, and the ends for kin by marriage.
        """
        columns = range(len(walks.relations), 0, -1)
        noun = named.words[-1]
        if not self.strict or not (is_kin(noun) and sex_of(singular(noun))):
            return columns
        if is_by_marriage(self.question, named.end):
            return columns[:1]
        meant = [each for each in columns if means(noun, side_of(walks, each - 1, self.texts))]
        return meant or columns

    def _led_to(self, named: NamedNodes, walks: CandidateWalks) -> Bool:
        """Returns which nodes the single relation of a candidate leads to from what is named: of
        *both X and Y* the same is said. Several relations are not followed.
        """
        region, relation = self.surroundings, walks.relations[0]
        if len(walks.relations) > 1:
            return np.zeros(region.node_count, dtype=bool)
        of_relation = region.rel == relation
        sides = [(region.tail, region.head), (region.head, region.tail)]
        holds_both_ways = is_reciprocal(self.texts[relation])
        near = np.zeros(region.node_count, dtype=bool)
        for start, target in sides if holds_both_ways else sides[not walks.backward[0] :][:1]:
            near[target[of_relation & np.isin(start, named.nodes)]] = True
        return near

    def _near(self, named: NamedNodes) -> Bool:
        """Returns which nodes are what is named, or joined to it: of namesakes that the question
        tells apart only the one that is meant.
        """
        span = (named.start, named.end)
        meant = [
            each.node
            for each in self.mentions
            if each.is_distinguished and (each.start, each.end) == span
        ]
        if not meant or not self.strict:
            return self.around.around(named.nodes)
        return np.isin(self.surroundings.nodes, meant)

    def _met_by_start(self, date: DateConstraint, walks: CandidateWalks) -> Met | None:
        """Returns that a date of the start itself is meant, which tells it from its namesakes."""
        relations = frozenset(
            relation
            for relation, dates in self.around.dated(np.unique(walks.nodes[:, 0])).items()
            if any(date.days.holds(days) for _, _, days in dates)
        )
        if not relations:
            return None
        return Met(np.ones(len(walks.edges), dtype=bool), 0, relations)

    def _walks(self, number: int) -> CandidateWalks:
        candidates, region = self._candidates, self._call.region
        edges = candidates.edges(number)[: _RULES.walks]
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
            self._index_of[local],
            tuple(relation for relation, _ in candidates.sequence(number)),
            tuple(backward.tolist()),
        )

    @cached_property
    def _index_of(self) -> Int64:
        """Place of each of the region's nodes in the surroundings, int64 [n]."""
        return np.searchsorted(self.surroundings.nodes, self._call.region.nodes)

    def span(self, walks: CandidateWalks, /) -> tuple[int, int]:
        """Returns the characters of the name that a candidate starts at."""
        mention = self.mentions[walks.start]
        return (mention.start, mention.end)

    def applying(self, walks: CandidateWalks, /) -> list[NamedNodes]:
        """Returns the names that may constrain what a candidate leads to, longer ones first."""
        if walks.number not in self._applying:
            span, around = self.span(walks), self.around.around
            stems = [noun_stems(self.texts.get(relation, "")) for relation in walks.relations]
            self._applying[walks.number] = [
                named
                for named in self.named
                if not self._tells_apart(named, walks)
                and not self._is_noun_of_end(named, walks)
                and applies(named, walks, span, self.question, around(named.nodes), stems)
            ]
        return self._applying[walks.number]

    def _tells_apart(self, named: NamedNodes, walks: CandidateWalks) -> bool:
        """Returns whether words said which of some namesakes a candidate starts at.

        ``The Ann who was born in Kyoto``: Kyoto has chosen Ann, and says nothing of the answer. Of
        ``Ann and Kyoto`` the same is asked.
        """
        if not self.strict or not self.mentions[walks.start].is_distinguished:
            return False
        if self._is_joined_to(named, walks):
            return False
        if self._describes_answer(named, walks) or self._is_beyond_a_verb(named, walks):
            return False
        start = int(walks.nodes[0, 0])
        return start not in named.nodes and bool(self.around.around(named.nodes)[start])

    def _describes_answer(self, named: NamedNodes, walks: CandidateWalks) -> bool:
        """Returns whether words stand where they say what is asked, and not which start is meant: *is
        Ann a judge*, *which Dutch films did Ann make*.
        """
        start, end = self.span(walks)
        if self.form.is_for_yes_or_no:
            return words(self.question[end : named.start]) in (["a"], ["an"])
        between = words(self.question[named.end : start])
        return named.start >= self.form.span[1] and not _AUXILIARIES.isdisjoint(between)

    def _is_beyond_a_verb(self, named: NamedNodes, walks: CandidateWalks) -> bool:
        """Returns whether a verb stands between words and the name where a candidate starts, and no
        clause begins there: *what region of Russia is Maykop in* does not say which Russia.
        """
        start, end = self.span(walks)
        between = words(self.question[min(end, named.end) : max(start, named.start)])
        return not _AUXILIARIES.isdisjoint(between) and RELATIVE_PRONOUNS.isdisjoint(between)

    def _is_joined_to(self, named: NamedNodes, walks: CandidateWalks) -> bool:
        """Returns whether words and the name where a candidate starts are joined by *and*, but to ask
        what joins them: *what connects X and Y*.
        """
        if _JOINING.search(self.question):
            return False
        start, end = self.span(walks)
        between = self.question[min(end, named.end) : max(start, named.start)]
        return words(between) in (["and"], ["and", "the"])

    def _is_of_both(self, named: NamedNodes, walks: CandidateWalks) -> bool:
        """Returns whether the same is said of words and of the name where a candidate starts: *both X
        and Y*, and not *what connects X and Y*.
        """
        first = min(self.span(walks)[0], named.start)
        is_both = words(self.question[:first])[-1:] == ["both"]
        return is_both and self._is_joined_to(named, walks)

    def _is_noun_of_end(self, named: NamedNodes, walks: CandidateWalks) -> bool:
        """Returns whether words only name what is counted: ``actors`` of a cast, whatever their job."""
        is_counted = self.strict and self.expected.form is AnswerForm.COUNT
        if not is_counted or named.is_entity or len(named.words) > 1:
            return False
        noun = named.words[0]
        if is_reciprocal(self.texts[walks.relations[-1]]):
            # Of those on the other side the noun says what they are.
            return False
        return not kin_of(singular(noun)) and names_end(noun, walks, self.texts)

    def _is_other_namesake(self, walks: CandidateWalks) -> bool:
        """Returns whether a candidate starts at a namesake of what the question's words tell apart,
        or at what only tells it apart.
        """
        if not self.strict:
            return False
        own = self.mentions[walks.start]
        distinguished = [
            each for each in self.mentions if each.is_distinguished and each.start >= 0
        ]
        if any(each is own for each in distinguished):
            return False
        start = int(walks.nodes[0, 0])
        for each in distinguished:
            if (each.start, each.end) == (own.start, own.end):
                return True
            local = np.searchsorted(self.surroundings.nodes, each.node)
            if local < self.surroundings.node_count and self.surroundings.nodes[local] == each.node:
                near = self.around.around(np.array([local], dtype=np.int64))
                if bool(near[start]):
                    return True
        return False

    def names_of_namesake(self, walks: CandidateWalks, /) -> list[NamedNodes]:
        """Returns the names that said which of some namesakes a candidate starts at."""
        return [named for named in self.named if self._tells_apart(named, walks)]

    def fold(self, judged: list[JudgedCandidate], /) -> None:
        """Gives the score of walks that go too far to the walks less their last step.

        They go too far to what the question names itself, and by a relation that no words speak of
        but those that a constraint on the walks less that step takes.
        """
        known = {candidate.walks.number: candidate for candidate in judged}
        for candidate in sorted(judged, key=lambda candidate: -len(candidate.walks.relations)):
            if len(candidate.walks.relations) == 1:
                continue
            shorter = self._shorter(candidate, known)
            if shorter is None or not (
                self._leads_to_named(candidate.walks) or self._is_unspoken(candidate.walks, shorter)
            ):
                continue
            if shorter.walks.number not in known:
                known[shorter.walks.number] = shorter
                judged.append(shorter)
            shorter.score = max(shorter.score, candidate.score)
            candidate.score = min(candidate.score, shorter.score - _RULES.wrong_end_cost)

    def _shorter(
        self, candidate: JudgedCandidate, known: Mapping[int, JudgedCandidate]
    ) -> JudgedCandidate | None:
        """Returns the candidate of a candidate's walks less their last step."""
        number = int(self._candidates.shorter[candidate.walks.number])
        if number < 0:
            return None
        return known.get(number) or self.judge(RankedCandidate(number, -np.inf))

    def _leads_to_named(self, walks: CandidateWalks) -> bool:
        may_end: list[Constraint] = [*self.applying(walks)]
        if not self.form.mentions_time:
            may_end += self.expected.dates
        return any(
            names_end_nodes(constraint, walks, self.around) is not None
            for constraint in may_end
            if not self._is_kin_on_the_way(constraint, walks)
        )

    def _is_kin_on_the_way(self, constraint: Constraint, walks: CandidateWalks) -> bool:
        """Returns whether a noun of kin says a sex on the way, and another word what is asked for:
        the sex of X's son is not the son.
        """
        if isinstance(constraint, DateConstraint) or not is_kin(constraint.words[-1]):
            return False
        return any(
            names_end(word, walks, self.texts)
            for word, start, end in self.own_words
            if not constraint.overlaps(start, end)
        )

    def _is_unspoken(self, walks: CandidateWalks, shorter: JudgedCandidate) -> bool:
        """Returns whether no word is left for a last step, as constraints take them before it."""
        taken = [
            (constraint.start, constraint.end)
            for constraint, how in shorter.met
            if how.column == shorter.last
        ]
        if self.expected.superlative is not None:
            taken.append((self.expected.superlative.start, self.expected.superlative.end))
        if not taken:
            return False
        relation_words = relation_stems(shorter.walks.relations, self.texts)
        left = [
            word
            for word, start, end in self.own_words
            if word not in EMPTY_IN_ENGLISH
            and len(word) > 1
            and stem(singular(word)) not in relation_words
            and stem(kin_of(singular(word))) not in relation_words
            and not any(overlap((start, end), span) for span in taken)
        ]
        relation = self.texts[walks.relations[-1]]
        return not left or float(self.cosines([relation], left).max()) < _RULES.spoken

    def bonus(self, candidate: JudgedCandidate, /) -> float:
        """Returns what a candidate gains by what it meets, or loses where it can't be meant."""
        mention = self.mentions[candidate.walks.start]
        if any(
            mention.start < date.end and date.start < mention.end for date in self.expected.dates
        ):
            return -_RULES.wrong_end_cost
        if self.strict and 0 <= self.expected.negated_from <= mention.start:
            # What is said not to be is no start.
            return -_RULES.wrong_end_cost
        if self.names and mention.start >= 0 and self.span(candidate.walks) not in self.names:
            # Only a class or a value: it constrains what is asked of what has a name.
            return 0.0
        applying = self.applying(candidate.walks)
        if len(candidate.walks.relations) > 1 and any(
            self._is_of_both(each, candidate.walks) for each in applying
        ):
            # What is said of both is said by one relation.
            return -_RULES.wrong_end_cost
        named = [each.nodes for each in applying if each.is_entity]
        if named and np.isin(candidate.walks.end_nodes, np.concatenate(named)).all():
            return -_RULES.wrong_end_cost
        if self._goes_by_namesake(candidate.walks):
            # The words of the clause speak for it, and have done their work.
            return -2 * _RULES.wrong_end_cost
        if self._is_other_namesake(candidate.walks):
            return -_RULES.wrong_end_cost
        total = 0.0
        for constraint, how in candidate.met:
            value = kind_of(constraint) is ConstraintKind.VALUE
            full = _RULES.value_bonus if value else _RULES.named_bonus
            total += full if how.column == candidate.last else full / 2
        last_stems = noun_stems(self.texts[candidate.walks.relations[-1]])
        leads_to_kin = bool(self.kin_stems & last_stems) and not candidate.walks.backward[-1]
        if self.strict and (noun := self.noun_by_marriage):
            step = marriage_step(noun, candidate.walks, self.texts)
            # The same spouses are often stated both ways.
            leads_to_kin = step is not None and not candidate.walks.backward[step]
        elif self.strict and (noun := self._noun_of_end):
            leads_to_kin = names_end(noun, candidate.walks, self.texts)
            if not leads_to_kin and names_other_end(noun, candidate.walks, self.texts):
                return total - _RULES.wrong_end_cost
        return total + _RULES.kin_bonus * leads_to_kin

    @property
    def _noun_of_end(self) -> str:
        """What the question counts, or the one noun of kin; nothing where it says neither."""
        counted = self.expected.counted_noun()
        return counted or (self.kin_nouns[0] if len(self.kin_nouns) == 1 else "")

    def _goes_by_namesake(self, walks: CandidateWalks) -> bool:
        """Returns whether all walks pass through what only said which namesake is meant."""
        namesakes = [each.nodes for each in self.names_of_namesake(walks) if each.is_entity]
        if not namesakes:
            return False
        return bool(np.isin(walks.nodes[:, 1:], np.concatenate(namesakes)).any(axis=1).all())

    def takes_all(self, best: JudgedCandidate, /) -> bool:
        """Returns whether a candidate takes into account all that is said of what it counts."""
        if not self.expected.is_understood:
            return False
        stems = relation_stems(best.walks.relations, self.texts)
        left = [
            word
            for word, start, end in self.expected.modifiers
            if stem(singular(word)) not in stems
            and singular(word) not in KINDS
            and not any(
                constraint.start < end and start < constraint.end for constraint, _ in best.met
            )
        ]
        texts = [self.texts[relation] for relation in best.walks.relations]
        return not left or bool((self.cosines(left, texts).max(axis=1) >= _RULES.spoken).all())

    def unmet(self, best: JudgedCandidate, /) -> list[Constraint]:
        """Returns the dates and named entities that no walk of the best candidate meets; but for names
        that are words of a relation that is walked.
        """
        met = [constraint for constraint, _ in best.met]
        dates = () if self.form.mentions_time else self.expected.dates
        missed: list[Constraint] = [date for date in dates if date not in met]
        walked = stems_of(words(" ".join(self.texts[each] for each in best.walks.relations)))
        for named in self.applying(best.walks):
            taken = any(
                named.overlaps(constraint.start, constraint.end) for constraint in (*met, *missed)
            )
            # One of several answers may have a name that was said of all of them.
            is_passed = bool(np.isin(best.walks.nodes[:, 1:], named.nodes).any(axis=1).all())
            is_passed = is_passed and not self._is_of_both(named, best.walks)
            is_walked = is_passed or stems_of(named.words) <= walked
            if named.is_entity and not taken and not is_walked:
                missed.append(named)
        return missed

    def misses_a_date(self, best: JudgedCandidate, /) -> bool:
        """Returns whether no walk of the best candidate meets a date. A count of things that all have
        dates says: none.
        """
        if not any(isinstance(each, DateConstraint) for each in self.unmet(best)):
            return False
        is_count = self.expected.form is AnswerForm.COUNT
        return not (is_count and self.around.all_dates(np.unique(best.walks.end_nodes)))

    def misses_a_name(self, best: JudgedCandidate, /) -> bool:
        """Returns whether the question names an entity that no walk of the best candidate meets; but
        for the other of two names, and for one right after the name where the walks start: *Boston,
        Massachusetts*.
        """
        _, start_end = self.span(best.walks)
        return any(
            isinstance(each, NamedNodes)
            and (each.start, each.end) not in self.expected.alternatives
            and bool(self.question[start_end : each.start].strip(" ,") or each.start < start_end)
            for each in self.unmet(best)
        )

    def is_cut(self, walks: CandidateWalks, /, *, compared: Sequence[int] = ()) -> bool:
        """Returns whether limits may have left out walks of a candidate, or what is said of nodes.

        Args:
            walks: The candidate's.
            compared: Columns of ``walks.nodes`` whose nodes' own statements were looked at.
        """
        if len(walks.edges) == _RULES.walks:
            return True
        region, surroundings = self._call.region, self.surroundings
        for column in compared:
            nodes = np.unique(walks.nodes[:, column])
            nodes = nodes[~surroundings.literal[nodes]]
            # The last nodes that are reached are not walked on from.
            rim = nodes[
                (surroundings.hops[nodes] >= self._call.preset.hops) | bool(surroundings.cuts)
            ]
            if (self._seen[rim] < surroundings.degrees[rim]).any():
                return True
        if not region.cuts:
            return False
        budget = any(cut.reason is CutReason.WORK_BUDGET for cut in region.cuts)
        seen = np.bincount(region.head, minlength=region.node_count)
        seen = seen + np.bincount(region.tail, minlength=region.node_count)
        local = np.searchsorted(
            region.nodes, self.surroundings.nodes[np.unique(walks.nodes[:, :-1])]
        )
        return budget or bool((seen[local] < region.degrees[local]).any())
