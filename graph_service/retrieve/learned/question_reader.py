"""What one question makes of a region: its candidates, and the inputs of scorers for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from graph_service.link.question import read_atoms, writes_capitals
from graph_service.link.starts import StartCandidate
from graph_service.model.graph import Float64, Int64
from graph_service.model.values import Quantity, Time, stored_value
from graph_service.retrieve.context import RetrievalContext
from graph_service.retrieve.kinds import KINDS, KindReader, head_kinds
from graph_service.retrieve.learned.candidate_lines import candidate_lines
from graph_service.retrieve.learned.candidates import Fit, find_candidates
from graph_service.retrieve.learned.ends import EndKinds, find_end_kinds
from graph_service.retrieve.learned.entity_question import (
    EntityQuestion,
    compared_words,
    question_word_features,
    read_entity_question,
    text_without,
)
from graph_service.retrieve.learned.features import NAMES, describe
from graph_service.retrieve.learned.network import LITERAL_FROM, SCORE_DIGITS
from graph_service.retrieve.learned.relation_names import NameRelations
from graph_service.retrieve.learned.relation_prior import masked_words, shipped_prior
from graph_service.retrieve.learned.relation_texts import RelationTexts
from graph_service.retrieve.preset import LearnedPreset
from graph_service.retrieve.sequences.wording import SequenceScorer, Steps, Wording
from graph_service.sorting import distinct, ranked
from graph_service.text.function_words import content_words

_LITERAL_SLACK = 0.15
"""How much less like the question the labels of a sequence may be than its words, so that of a
hundred sequences in words nearly the question's one or two are missed."""


@dataclass(frozen=True, slots=True, eq=False)
class Finalists:
    """The best candidates.

    Attributes:
        numbers: Of the candidates, int64 [n].
        read_scores: What the cross-encoder scores each; None where nothing is read.
    """

    numbers: Int64
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
        start_entities: What is known of the region's start entities, in their order.
        texts: Words of the region's relations, by global number.
        spans: Where the question names a start, each way once; None where it does not.
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
        self.start_entities = start_entities
        self._by_caller = by_caller
        numbers = distinct(region.rel)
        labels = call.labels.relations(numbers)
        self.texts = dict(zip(numbers.tolist(), labels, strict=True))
        named = name_relations(call.labels.relation_ids(numbers), labels, call.encode)
        call.encode.learn(labels, [relation.vectors[0] for relation in named])
        self._relations = RelationTexts.of(named)
        self._scorers: dict[int, SequenceScorer] = {}
        spans = [start.span for start in start_entities]
        self.spans = ways = list(dict.fromkeys(spans))
        call.encode.read_ahead(
            [text_without(question, span) for span in ways],
            [word for span in ways for word in compared_words(question, span)],
        )
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
                for start in self.start_entities
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
    def end_kinds(self) -> EndKinds:
        """What each candidate leads to: kinds of literals, and of things."""
        return find_end_kinds(
            self.candidates, self._call.region, self._kinds, self._literal_forms()
        )

    @cached_property
    def described(self) -> Float64:
        """``features.NAMES`` of each candidate, float64 [c, f]."""
        call = self._call
        described = describe(
            self.candidates,
            self.start_entities,
            self.entity_questions,
            self.question_of,
            self._relations,
            self._similarities,
            self.end_kinds,
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
        return self._text_scores(numbers, SequenceScorer.own_score)

    def text_scores(self, numbers: Int64, /) -> Float64:
        """Returns how like the question the words of some candidates are, less the costs of their
        steps and of those that the question does not speak of, float64 [n].
        """
        return self._text_scores(numbers, SequenceScorer.final_score)

    def _text_scores(
        self, numbers: Int64, score: Callable[[SequenceScorer, Sequence[Steps]], Float64]
    ) -> Float64:
        scores = np.zeros(len(numbers))
        for way, rows in self.ways_of(numbers):
            scores[rows] = score(self._scorer(way), self.candidates.sequences(numbers[rows]))
        return scores

    def ways_of(self, numbers: Int64) -> Iterator[tuple[int, Int64]]:
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

    def _scorer(self, way: int) -> SequenceScorer:
        """Returns what scores sequences in words for a way to ask."""
        scorer = self._scorers.get(way)
        if scorer is not None:
            return scorer
        question, preset = self.entity_questions[way], self._call.preset
        content = content_words(question.text)
        wording = Wording(
            self.texts,
            self._kinds_in_question(way),
            hop_cost=preset.hop_cost,
            inverse_cost=preset.inverse_cost,
            unsupported_step_cost=preset.unsupported_step_cost,
            unsupported_step_margin=preset.unsupported_step_margin,
            question_words=None if content is None else len(content),
            extra_hop_cost=preset.extra_hop_cost,
        )
        vector = question.vector.astype(np.float32)
        scorer = self._scorers[way] = SequenceScorer(vector, self._call.encode, wording)
        return scorer

    def most_literal(self, numbers: Int64, /) -> Float64:
        """Returns what ``literal_scores`` of some candidates may be at most, float64 [n]: what the
        words of labels tell, without any text that is embedded.
        """
        candidates, preset = self.candidates, self._call.preset
        labels = self.described[numbers, NAMES.index("sum_cosine")]
        costs = preset.hop_cost * (candidates.length[numbers] - 1)
        costs += preset.inverse_cost * candidates.backward[numbers].sum(axis=1)
        most = labels + _LITERAL_SLACK - costs
        return np.where(most > LITERAL_FROM, most, 0.0)

    def literal_scores(self, numbers: Int64, /) -> Float64:
        """Returns the text scores of candidates whose words are nearly the question's, 0 of others,
        float64 [n].

        Only those are put into words that may be so, and only of those that are so are parts
        compared.
        """
        scores = np.zeros(len(numbers))
        likely = np.flatnonzero(self.most_literal(numbers))
        literal = likely[self.own_text_scores(numbers[likely]) > LITERAL_FROM]
        scores[literal] = self.text_scores(numbers[literal])
        self._call.clock.stage("sequences")
        return np.round(scores, SCORE_DIGITS)

    def final_inputs(self, numbers: Int64, literal_scores: Float64, /) -> Float64:
        """Returns ``features.FINAL_NAMES`` of some candidates, float64 [n, f]."""
        return np.column_stack((self.described[numbers], literal_scores))

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
        masked = [masked_words(self._question, span) for span in self.spans]
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

    def walked_labels(self, number: int, /) -> frozenset[str]:
        """Returns the labels of the relations of a candidate."""
        return frozenset(self.texts[relation] for relation, _ in self.candidates.sequence(number))

    def labelled(self, numbers: Int64, /) -> list[list[tuple[str, bool]]]:
        """Returns the labels of the relations of some candidates, and whether each is walked from
        value to head.
        """
        sequences = map(self.candidates.sequence, numbers.tolist())
        return [[(self.texts[relation], back) for relation, back in each] for each in sequences]

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
