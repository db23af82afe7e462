"""What one question makes of a region: its candidates, and the inputs of scorers for each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from graph_service.link.question import read_atoms, writes_capitals
from graph_service.link.starts import StartCandidate
from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.graph import Bool, Float64, Int64
from graph_service.model.values import Quantity, SomeValue, Time, stored_value
from graph_service.retrieve.constraints.coverage import root, stems_of
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.constraints.verb_roles import walks_against_verb
from graph_service.retrieve.context import (
    RetrievalContext,
)
from graph_service.retrieve.kinds import KINDS, KindReader, are_called_people, head_kinds
from graph_service.retrieve.learned.candidate_lines import candidate_lines
from graph_service.retrieve.learned.candidates import Fit, find_candidates
from graph_service.retrieve.learned.ends import EndKinds, find_end_kinds
from graph_service.retrieve.learned.entity_question import (
    EntityQuestion,
    question_word_features,
    read_entity_question,
)
from graph_service.retrieve.learned.features import TEXT_NAMES, compare, describe
from graph_service.retrieve.learned.network import SCORE_DIGITS
from graph_service.retrieve.learned.relation_names import NameRelations
from graph_service.retrieve.learned.relation_prior import masked_words, shipped_prior
from graph_service.retrieve.learned.relation_texts import RelationTexts
from graph_service.retrieve.learned.shared_words import labels_within_others
from graph_service.retrieve.learned.whereabouts import (
    are_other_locations,
    describes_by_clause,
    lead_to_somebody,
    names_location,
    names_no_location,
    names_nobody,
)
from graph_service.retrieve.preset import LearnedPreset
from graph_service.retrieve.sequences.wording import SequenceScorer, Wording
from graph_service.sorting import distinct, ranked
from graph_service.text.fold import words
from graph_service.text.function_words import content_words
from graph_service.text.nouns import singular
from graph_service.text.question_form import read_form

_REGIONS = frozenset({"country", "province", "state"})
"""Nouns for what places lie in."""
_WITHIN = frozenset(
    map(
        root,
        ("located", "location", "situated", "within", "administrative", "territorial", "entity"),
    )
)
"""Words of relations that say in which place another lies, and no others: a country may be located
next to a body of water.
"""
_ROW_NAME = re.compile(r"[a-z][a-z ]* \d+|(?!Q\d)(?:[A-Z]{1,3}-?\d+|[A-Z]*-?\d{3,})")


def _says_within(label: str) -> bool:
    label_words = words(label)
    return not {"in", "within"}.isdisjoint(label_words) and stems_of(label_words) <= _WITHIN


@dataclass(frozen=True, slots=True, eq=False)
class Finalists:
    """The candidates that are put into words, and what the scorer is told of them.

    Attributes:
        numbers: Of the candidates, int64 [n].
        inputs: ``features.FINAL_NAMES`` of each, float64 [n, f].
        text_scores: How like the question each one's words are, less the costs of its steps.
        read_scores: What the cross-encoder scores each; None where nothing is read.
    """

    numbers: Int64
    inputs: Float64
    text_scores: Float64
    read_scores: Float64 | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PriorFit:
    """How well the question's words fit some candidates, by the prior of relations.

    Attributes:
        mean: Over each one's steps, float64 [n].
        least: Of its steps, float64 [n].
        common: Of all common relations the best, for the way it is asked, float64 [n].
    """

    mean: Float64
    least: Float64
    common: Float64


class QuestionReader:
    """What one question makes of a region: its candidates and what is told of each.

    Attributes:
        texts: Words of the region's relations, by global number.
        entity_questions: The question as asked of the starts, each way once: starts that the same words name
            share theirs.
        question_of: Which of these is asked of each start, int64 [starts].
        candidates, cuts: What the walks found, and what limits left out.

    Args:
        call: The retrieval.
        question: As asked.
        starts: What is known of the region's start entities, in their order.
        name_relations: Gives the names of relations.
        given: Whether the caller gave the start entities.
    """

    def __init__(
        self,
        call: RetrievalContext[LearnedPreset],
        question: str,
        start_entities: Sequence[StartCandidate],
        name_relations: NameRelations,
        /,
        *,
        by_caller: bool,
    ) -> None:
        region = call.region
        self._call = call
        self._question = question
        self._form = read_form(question)
        self._start_entities = start_entities
        self._by_caller = by_caller
        numbers = distinct(region.rel)
        labels = call.labels.relations(numbers)
        self.texts = dict(zip(numbers.tolist(), labels, strict=True))
        named = name_relations(call.labels.relation_ids(numbers), labels, call.encode)
        call.encode.learn(labels, [relation.vectors[0] for relation in named])
        self._relations = RelationTexts.of(named)
        spans = [start.span for start in start_entities]
        self._ways = ways = list(dict.fromkeys(spans))
        self.entity_questions: list[EntityQuestion] = [
            read_entity_question(question, span, call.encode) for span in ways
        ]
        self.question_of: Int64 = np.array([ways.index(span) for span in spans], dtype=np.int64)
        call.clock.stage("names")
        self._similarities = self._relations.similarities(self.entity_questions)
        self.candidates, self.cuts = find_candidates(
            region,
            self._fit,
            call.preset,
            relation_numbers=numbers,
            deadline=call.deadline,
        )
        call.clock.stage("walks")

    @cached_property
    def _fit(self) -> Fit:
        """How well the starts and the relations fit the question."""
        preset = self._call.preset
        doubt = np.array(
            [
                0.0
                if self._by_caller or start.linked
                else preset.unlinked_doubt + preset.rank_doubt * start.rank
                for start in self._start_entities
            ]
        )
        counts = np.array([len(each.words) for each in self.entity_questions], dtype=np.int64)
        nearest = np.stack([like.nearest for like in self._similarities])
        words: Float64 = np.zeros((len(counts), counts.max(), nearest.shape[1]))
        for way, like in enumerate(self._similarities):
            words[way, : counts[way]] = like.words
        of_start = self.question_of
        return Fit(
            np.round(nearest, SCORE_DIGITS)[of_start],
            np.round(words, SCORE_DIGITS)[of_start],
            counts[of_start],
            doubt,
        )

    @cached_property
    def _kinds(self) -> dict[int, str]:
        """The kind of the heads of each relation, by global number."""
        call = self._call
        if not self.texts:
            return {}
        return head_kinds(
            call.region,
            np.array(list(self.texts), dtype=np.int64),
            self._relations.labels,
            self._kind_vectors,
            entity_count=call.labels.graph.entity_count,
            head_relations=call.head_relations,
            max_heads=call.preset.kind_heads,
        )

    @cached_property
    def _kind_vectors(self) -> Float64:
        """Unit vectors of ``KINDS``, float64 [kinds, d]."""
        return self._call.encode(KINDS).astype(np.float64)

    @cached_property
    def _end_kinds(self) -> EndKinds:
        return find_end_kinds(
            self.candidates, self._call.region, self._kinds, self._literal_forms()
        )

    @cached_property
    def described(self) -> Float64:
        """``features.NAMES`` of each candidate, float64 [c, f]."""
        call = self._call
        described = describe(
            self.candidates,
            self._start_entities,
            self.entity_questions,
            self.question_of,
            self._relations,
            self._similarities,
            self._end_kinds,
            self._kind_vectors,
            question_words=question_word_features(self._question),
            question_length=max(len(self._question), 1),
            writes_capitals=writes_capitals(read_atoms(self._question)),
            by_caller=self._by_caller,
        )
        call.clock.stage("features")
        return np.round(described, SCORE_DIGITS)

    def promises(self) -> Float64:
        """Returns how promising each candidate is before it is put into words, float64 [c]."""
        candidates, fit = self.candidates, self._fit
        start, steps = candidates.start, candidates.steps
        at = start[:, None], candidates.relations
        total = np.where(steps, fit.relation[at], 0.0).sum(axis=1)
        of_word = np.where(steps[:, :, None], fit.words.transpose(0, 2, 1)[at], 0.0).max(axis=1)
        return np.round(fit.promise(start, candidates.length, total, of_word), SCORE_DIGITS)

    def doubts(self, numbers: Int64, /) -> Float64:
        """Returns the doubt about the start of some candidates, in units of cosine, float64 [n]."""
        return self._fit.doubt[self.candidates.start[numbers]]

    def own_text_scores(self, numbers: Int64, /) -> Float64:
        """Returns how like the question the words of some candidates are, less the costs of their
        steps, float64 [n]; whether the question speaks of each step is not looked at.
        """
        scores = np.zeros(len(numbers))
        for way, rows in self._ways_of(numbers):
            sequences = self.candidates.sequences(numbers[rows])
            scorer = self._sequence_scorer(way, self._kinds_in_question(way))
            scores[rows] = scorer.own_score(sequences)
        return scores

    def text_features(self, numbers: Int64, /) -> Float64:
        """Returns ``features.TEXT_NAMES`` of some candidates, put into words, float64 [n, f]."""
        text = np.zeros((len(numbers), len(TEXT_NAMES)))
        for way, rows in self._ways_of(numbers):
            kinds = self._kinds_in_question(way)
            sequences = self.candidates.sequences(numbers[rows])
            for column, of_text in ((0, kinds), (4, {})):
                if column and not kinds:
                    text[rows, 4:] = text[rows, :3]
                    continue
                final = self._sequence_scorer(way, of_text).final(sequences)
                text[rows, column] = final.similarity
                text[rows, column + 1] = final.unsupported
                text[rows, column + 2] = final.score
                if not column:
                    text[rows, 3] = float(bool(kinds))
        return text

    def _ways_of(self, numbers: Int64) -> Iterator[tuple[int, Int64]]:
        """Yields each way to ask that some candidates have, and the places of these."""
        owner = self.question_of[self.candidates.start[numbers]]
        for way in distinct(owner).tolist():
            yield way, np.flatnonzero(owner == way)

    @cached_property
    def _kind_reader(self) -> KindReader:
        return KindReader(self.texts.values(), self._call.preset, encode=self._call.encode)

    def _kinds_in_question(self, way: int) -> dict[int, str]:
        """Returns the kind of the heads of each relation, where the question names that kind."""
        kinds = self._kind_reader.kinds_in(self.entity_questions[way].text)
        return {rel: kind for rel, kind in self._kinds.items() if kind in kinds}

    def _sequence_scorer(self, way: int, kinds: Mapping[int, str]) -> SequenceScorer:
        """Returns what scores sequences in words for a way to ask."""
        question, preset = self.entity_questions[way], self._call.preset
        content = content_words(question.text)
        wording = Wording(
            self.texts,
            kinds,
            hop_cost=preset.hop_cost,
            inverse_cost=preset.inverse_cost,
            unsupported_step_cost=preset.unsupported_step_cost,
            unsupported_step_margin=preset.unsupported_step_margin,
            question_words=None if content is None else len(content),
            extra_hop_cost=preset.extra_hop_cost,
        )
        return SequenceScorer(question.vector.astype(np.float32), self._call.encode, wording)

    def finalists(self, numbers: Int64, /) -> Finalists:
        """Returns what is told of some candidates once their sequences are in words."""
        text = self.text_features(numbers)
        relative = compare(self.candidates, numbers, self.described, text)
        inputs = np.concatenate((self.described[numbers], text, relative), axis=1)
        self._call.clock.stage("sequences")
        return Finalists(numbers, np.round(inputs, SCORE_DIGITS), text[:, 2])

    @property
    def preset(self) -> LearnedPreset:
        """The preset, with all its parameters."""
        return self._call.preset

    @property
    def question(self) -> str:
        """The question as the user wrote it, names included."""
        return self._question

    @property
    def unnamed_question(self) -> str:
        """The question less the name in it; of several ways the one that leaves least."""
        return min((each.text for each in self.entity_questions), key=len)

    def note_stage(self, stage: str, /) -> None:
        """Ends a stage of the retrieval's timings."""
        self._call.clock.stage(stage)

    def prior_fit(self, numbers: Int64, /) -> PriorFit:
        """Returns how well the question's words fit some candidates, by the prior of relations."""
        candidates, prior = self.candidates, shipped_prior()
        masked = [masked_words(self._question, span) for span in self._ways]
        held, back = candidates.steps[numbers], candidates.backward[numbers]
        used, relation_index = ranked(candidates.relations[numbers].ravel())
        labels = [self.texts[each] for each in candidates.relation_numbers[used].tolist()]
        way = self.question_of[candidates.start[numbers]]
        relation_index = relation_index.reshape(held.shape)
        fit = prior.fit(masked, labels)[way[:, None], relation_index, back.astype(np.int64)]
        return PriorFit(
            np.round(np.where(held, fit, 0.0).sum(axis=1) / held.sum(axis=1), SCORE_DIGITS),
            np.round(np.where(held, fit, np.inf).min(axis=1), SCORE_DIGITS),
            np.round(prior.fit_common(masked)[way], SCORE_DIGITS),
        )

    def lines(self, numbers: Int64, /) -> list[str]:
        """Returns some candidates as lines of text (``candidate_lines``)."""
        call = self._call
        return candidate_lines(self.candidates, numbers, call.region, call.labels, self.texts)

    def start_ids(self) -> list[str]:
        """Returns the id of each start entity."""
        graph, region = self._call.labels.graph, self._call.region
        return graph.node_ids.take(region.nodes[region.start_entities])

    def relation_ids(self) -> dict[int, str]:
        """Returns the id of each relation of the region, by global number."""
        numbers = self.candidates.relation_numbers
        ids = self._call.labels.relation_ids(numbers)
        return dict(zip(numbers.tolist(), ids, strict=True))

    def end_ids(self, number: int, /, *, most: int) -> frozenset[str]:
        """Returns the ids of all that a candidate leads to; none where there are more than most."""
        graph, region = self._call.labels.graph, self._call.region
        owner = self.candidates.end_owner
        first, last = np.searchsorted(owner, (number, number + 1))
        if last - first > most:
            return frozenset()
        nodes = region.nodes[self.candidates.end_node[first:last]]
        return frozenset(graph.node_ids.take(nodes[nodes < graph.node_count]))

    def leads_to_no_location(self, numbers: Int64, /) -> Bool:
        """Returns whether each of some candidates leads to dates alone, or to somebody or something
        that the question describes, where it asks *where*: the day when somebody was born is not
        the place, and neither is *the company that makes X*.
        """
        if not self._form.asks_where:
            return np.zeros(len(numbers), dtype=np.bool_)
        candidates, encode = self.candidates, self._call.encode
        texts = [self.texts[relation] for relation in candidates.relation_numbers.tolist()]
        misses: Bool = self._end_kinds.shares[numbers, 0] == 1.0
        for way, rows in self._ways_of(numbers):
            question = self.entity_questions[way].text
            misses[rows] |= lead_to_somebody(question, candidates, numbers[rows], texts, encode)
            span = self._ways[way]
            if span is not None and describes_by_clause(self._question[: span[0]]):
                misses[rows] |= candidates.length[numbers[rows]] == 1
        return misses

    def walk_against_their_verbs(self, numbers: Int64, /) -> Bool:
        """Returns whether each of some candidates leads from the name the other way than the
        question says the verb of its first relation: *what does X depend on* to what depends on X.
        """
        against = np.zeros(len(numbers), dtype=np.bool_)
        for row, candidate_id in enumerate(numbers.tolist()):
            span = self._start_entities[int(self.candidates.start[candidate_id])].span
            relation, is_backward = self.candidates.sequence(candidate_id)[0]
            against[row] = span is not None and walks_against_verb(
                self._question, span, self.texts[relation], is_backward=is_backward
            )
        return against

    def leads_to_other_locations(self, number: int, /) -> bool:
        """Returns whether a candidate leads to things of which nothing says that they are the kind of
        place that the question asks for: *in which state* to a town, *in which city* to a school.
        """
        noun = singular(next(iter(self._form.nouns), ""))
        last_label = self.texts[self.candidates.sequence(number)[-1][0]]
        if not names_location(noun) or noun in map(singular, words(last_label)):
            return False
        classes = self._classes_at(number)
        if noun in _REGIONS and _says_within(last_label) and not classes:
            return False
        return are_other_locations(noun, last_label, classes, self._call.encode)

    def _classes_at(self, number: int) -> list[str]:
        """Returns the labels of the classes of what a candidate leads to, as far as its surroundings
        have them.
        """
        around, graph = self._call.surroundings, self._call.labels.graph
        first, last = np.searchsorted(self.candidates.end_owner, (number, number + 1))
        end_nodes = self._call.region.nodes[self.candidates.end_node[first:last]]
        local = np.searchsorted(around.nodes, end_nodes[end_nodes < graph.entity_count])
        relations = [graph.find_relation(id_) for id_ in sorted(INSTANCE_RELATIONS)]
        stating = np.isin(around.rel, [each for each in relations if each is not None])
        of_targets = stating & np.isin(around.head, local)
        return self._call.labels.nodes(around.nodes[distinct(around.tail[of_targets])])

    def takes_words_twice(self, numbers: Int64, /) -> Bool:
        """Returns whether each of some candidates walks two relations by the same words.

        *Who is X's account manager?* does not ask for the manager of the account manager.
        """
        candidates, encode = self.candidates, self._call.encode
        twice = np.zeros(len(numbers), dtype=np.bool_)
        for row, candidate_id in enumerate(numbers.tolist()):
            labels = [self.texts[relation] for relation, _ in candidates.sequence(candidate_id)]
            if len(labels) == 1:
                continue
            start, end = self._start_entities[int(candidates.start[candidate_id])].span or (0, 0)
            question = f"{self._question[:start]} {self._question[end:]}"
            for label, others in labels_within_others(question, labels):
                cosines = encode(others) @ encode([label]).T if others else np.zeros((1, 1))
                twice[row] |= bool(cosines.max() < CONSTRAINT_RULES.spoken)
        return twice

    def answers_another_word(self, number: int, /) -> bool:
        """Returns whether a candidate ends at values that are surely no places, where the question
        asks *where*, or nobody, where it asks *who*, by the label of their relation. Who asks *who
        the mayor is* says by that word that a mayor is somebody.
        """
        relation, is_backward = self.candidates.sequence(number)[-1]
        label, encode = self.texts[relation], self._call.encode
        if self._form.asks_where:
            return not is_backward and names_no_location(label, encode)
        if not self._form.asks_for_person or is_backward:
            return False
        is_named = stems_of(words(label)) <= stems_of(words(self.unnamed_question))
        return not is_named and names_nobody(label, encode)

    def answers_nothing(self, numbers: Int64, /) -> Bool:
        """Returns whether each of some candidates leads to its own start or to unknown values only.

        *Where is Greece?* is not answered by the country of Greece, which is Greece.
        """
        region, graph, candidates = self._call.region, self._call.labels.graph, self.candidates
        of_start = region.start_entities[candidates.start[numbers]]
        firsts = np.searchsorted(candidates.end_owner, numbers)
        lasts = np.searchsorted(candidates.end_owner, numbers, side="right")
        empty = np.zeros(len(numbers), dtype=np.bool_)
        for row, (start, first, last) in enumerate(zip(of_start, firsts, lasts, strict=True)):
            others = candidates.end_node[first:last]
            others = others[others != start]
            if not region.literal[others].all():
                continue
            nodes = region.nodes[others].tolist()
            empty[row] = all(
                node < graph.node_count
                and isinstance(stored_value(graph.node_ids[node]), SomeValue)
                for node in nodes
            )
        return empty

    def walked_labels(self, number: int, /) -> frozenset[str]:
        """Returns the labels of the relations of a candidate."""
        return frozenset(self.texts[relation] for relation, _ in self.candidates.sequence(number))

    def labelled(self, numbers: Int64, /) -> list[list[tuple[str, bool]]]:
        """Returns the labels of the relations of some candidates, and whether each is walked from
        value to head.
        """
        sequences = map(self.candidates.sequence, numbers.tolist())
        return [[(self.texts[relation], back) for relation, back in each] for each in sequences]

    def stops_short(self, number: int, /) -> bool:
        """Returns whether what a candidate leads to is not what the question asks for, but has it by
        a relation of that name: the visits of patients, where it asks *which patients*.
        """
        return bool(self._relations_onward(number))

    def asks_for_any(self, texts: Iterable[str], /) -> bool:
        """Returns whether one of some words of the question is the noun of what it asks for: *which
        countries*, of answers that are countries.
        """
        return any(words(text)[:1] == [*self._form.nouns[:1]] for text in texts)

    def steps_onward(self, numbers: Int64, /) -> list[tuple[int, int]]:
        """Returns the rows of candidates that stop short of the country or state that the question
        asks for, each with that of a candidate that goes on from it: from the city where somebody was
        born.
        """
        candidates = self.candidates
        if _REGIONS.isdisjoint(self._form.nouns[:1]):
            return []
        rows = {candidate_id: row for row, candidate_id in enumerate(numbers.tolist())}
        onward: list[tuple[int, int]] = []
        for candidate_id, row in rows.items():
            shorter = int(candidates.shorter[candidate_id])
            relation, is_backward = candidates.sequence(candidate_id)[-1]
            if is_backward or shorter not in rows:
                continue
            if relation in self._relations_onward(shorter):
                onward.append((rows[shorter], row))
        return onward

    def _relations_onward(self, number: int) -> frozenset[int]:
        """Returns the relations by which what a candidate leads to has what the question asks for."""
        around, candidates = self._call.surroundings, self.candidates
        nouns = {singular(noun) for noun in self._form.nouns[:1]}
        nouns |= {f"{first} {singular(second)}" for first, second in pairwise(self._form.nouns)}
        walked = self.walked_labels(number)
        if not nouns or any(noun in words(label) for noun in nouns for label in walked):
            return frozenset()
        first, last = np.searchsorted(candidates.end_owner, (number, number + 1))
        end_nodes = self._call.region.nodes[candidates.end_node[first:last]]
        local = np.searchsorted(around.nodes, end_nodes)
        is_after = np.isin(around.head, local) & (around.head != around.tail)
        numbers = distinct(around.rel[is_after])
        return frozenset(
            relation
            for relation, label in zip(
                numbers.tolist(), self._call.labels.relations(numbers), strict=True
            )
            if label not in walked
            and (
                singular(label.lower()) in nouns
                or (not _REGIONS.isdisjoint(nouns) and _says_within(label))
            )
        )

    def answers_who_by_rows(self, number: int, /) -> bool:
        """Returns whether a question for people, or for what somebody did, is answered by things with
        a code or a number for a name, as rows of a table have: sale 3, V003. In a graph whose people
        are numbered, the question names one so too.
        """
        if not (self._form.word == "who" or self._form.asks_what_is_done):
            return False
        first, last = np.searchsorted(self.candidates.end_owner, (number, number + 1))
        region = self._call.region
        start = region.start_entities[self.candidates.start[number]]
        end_nodes = self.candidates.end_node[first:last]
        of_start, *of_end_nodes = self._call.labels.nodes(
            region.nodes[[start, *end_nodes.tolist()]]
        )
        is_row = _ROW_NAME.fullmatch
        return (
            not is_row(of_start)
            and all(map(is_row, of_end_nodes))
            and not are_called_people(self._classes_of(end_nodes), self._call.encode)
        )

    def _classes_of(self, nodes: Int64) -> list[str]:
        """Returns the labels of the classes of some of the region's nodes."""
        region = self._call.region
        numbers = distinct(region.rel)
        ids = self._call.labels.relation_ids(numbers)
        stating = numbers[[id_ in INSTANCE_RELATIONS for id_ in ids]]
        of_nodes = np.isin(region.rel, stating) & np.isin(region.head, nodes)
        return self._call.labels.nodes(region.nodes[distinct(region.tail[of_nodes])])

    def _literal_forms(self) -> list[int]:
        """Returns what each candidate's first literal end is: date, number, other text or none."""
        region, graph = self._call.region, self._call.labels.graph
        owner, node = self.candidates.end_owner, self.candidates.end_node
        literal = np.flatnonzero(region.literal[node])
        first = literal[np.unique(owner[literal], return_index=True)[1]]
        forms = [-1] * len(self.candidates)
        numbers = region.nodes[node[first]]
        for owner_index, literal_node in zip(owner[first].tolist(), numbers.tolist(), strict=True):
            if literal_node >= graph.node_count:
                forms[owner_index] = 2
                continue
            value = stored_value(graph.node_ids[literal_node])
            forms[owner_index] = (
                0 if isinstance(value, Time) else 1 if isinstance(value, Quantity) else 2
            )
        return forms
