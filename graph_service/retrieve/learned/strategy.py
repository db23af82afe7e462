"""Preset ``default-6``: candidates from every entity the question may name, ranked by learning.

Linking and retrieval decide together: the walks begin at all entities that words of the question
may mean, and how well an entity's relations fit the question tells whether it is meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from graph_service.link.joint import JointMention, joint_linking
from graph_service.link.question import read_atoms, writes_capitals
from graph_service.link.spans import Certainty
from graph_service.link.starts import NameForm, StartCandidate
from graph_service.model.graph import Bool, Float64, Int32, Int64
from graph_service.model.limits import Cut, CutReason
from graph_service.model.region import Region
from graph_service.model.result import MOST_OF_READING, ScorePart
from graph_service.model.values import Quantity, SomeValue, Time, stored_value
from graph_service.retrieve.constraints.choosing import Chosen, choose
from graph_service.retrieve.constraints.coverage import is_kin
from graph_service.retrieve.constraints.interpreting import interpret, plain_query
from graph_service.retrieve.constraints.judging import RankedCandidate
from graph_service.retrieve.constraints.naming import Mention
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.context import (
    PickedReading,
    PickedSet,
    RetrievalContext,
    Selection,
)
from graph_service.retrieve.kinds import KINDS, KindReader, head_kinds
from graph_service.retrieve.learned.asked import Asked, asked_by, read_asked
from graph_service.retrieve.learned.breadth import asks_openly, spread
from graph_service.retrieve.learned.candidate_lines import candidate_lines
from graph_service.retrieve.learned.candidates import Candidates, Fit, find_candidates
from graph_service.retrieve.learned.confidence import (
    LEAST_GAP,
    AnswerConfidence,
    margin_of,
    shipped_confidence,
)
from graph_service.retrieve.learned.ends import Ends, find_ends
from graph_service.retrieve.learned.features import TEXT_NAMES, compare, describe
from graph_service.retrieve.learned.network import SCORE_DIGITS, CandidateScorer
from graph_service.retrieve.learned.relation_names import NameRelations
from graph_service.retrieve.learned.relation_prior import asked_words, shipped_prior
from graph_service.retrieve.learned.relation_texts import RelationTexts
from graph_service.retrieve.learned.unstated import UNSTATED_RULES, is_unstated
from graph_service.retrieve.preset import LEARNED, LearnedPreset
from graph_service.retrieve.sequences.picking import TripleTexts, Walk, most_walks, pick_walks
from graph_service.retrieve.sequences.wording import SequenceScorer, Wording
from graph_service.sorting import distinct, ranked
from graph_service.text.fold import words
from graph_service.text.function_words import content_words


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
        asked: The question as asked of the starts, each way once: starts that the same words name
            share theirs.
        asked_of: Which of these is asked of each start, int64 [starts].
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
        starts: Sequence[StartCandidate],
        name_relations: NameRelations,
        /,
        *,
        given: bool,
    ) -> None:
        region = call.region
        self._call = call
        self._question = question
        self._starts = starts
        self._given = given
        numbers = distinct(region.rel)
        labels = call.labels.relations(numbers)
        self.texts = dict(zip(numbers.tolist(), labels, strict=True))
        named = name_relations(call.labels.relation_ids(numbers), labels, call.encode)
        call.encode.learn(labels, [relation.vectors[0] for relation in named])
        self._relations = RelationTexts.of(named)
        spans = [start.span for start in starts]
        self._ways = ways = list(dict.fromkeys(spans))
        self.asked: list[Asked] = [read_asked(question, span, call.encode) for span in ways]
        self.asked_of: Int64 = np.array([ways.index(span) for span in spans], dtype=np.int64)
        call.clock.stage("names")
        self._likeness = self._relations.likeness(self.asked)
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
                if self._given or start.linked
                else preset.unlinked_doubt + preset.rank_doubt * start.rank
                for start in self._starts
            ]
        )
        counts = np.array([len(asked.words) for asked in self.asked], dtype=np.int64)
        whole = np.stack([like.nearest for like in self._likeness])
        words: Float64 = np.zeros((len(counts), counts.max(), whole.shape[1]))
        for way, like in enumerate(self._likeness):
            words[way, : counts[way]] = like.words
        of_start = self.asked_of
        return Fit(
            np.round(whole, SCORE_DIGITS)[of_start],
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
    def described(self) -> Float64:
        """``features.NAMES`` of each candidate, float64 [c, f]."""
        call = self._call
        ends: Ends = find_ends(self.candidates, call.region, self._kinds, self._literal_forms())
        found = describe(
            self.candidates,
            self._starts,
            self.asked,
            self.asked_of,
            self._relations,
            self._likeness,
            ends,
            self._kind_vectors,
            question_words=asked_by(self._question),
            question_length=max(len(self._question), 1),
            writes_capitals=writes_capitals(read_atoms(self._question)),
            given=self._given,
        )
        call.clock.stage("features")
        return np.round(found, SCORE_DIGITS)

    def promises(self) -> Float64:
        """Returns how promising each candidate is before it is put into words, float64 [c]."""
        candidates, fit = self.candidates, self._fit
        start, steps = candidates.start, candidates.steps
        at = start[:, None], candidates.relations
        total = np.where(steps, fit.whole[at], 0.0).sum(axis=1)
        said = np.where(steps[:, :, None], fit.words.transpose(0, 2, 1)[at], 0.0).max(axis=1)
        return np.round(fit.promise(start, candidates.length, total, said), SCORE_DIGITS)

    def doubts(self, numbers: Int64, /) -> Float64:
        """Returns the doubt about the start of some candidates, in units of cosine, float64 [n]."""
        return self._fit.doubt[self.candidates.start[numbers]]

    def own_text_scores(self, numbers: Int64, /) -> Float64:
        """Returns how like the question the words of some candidates are, less the costs of their
        steps, float64 [n]; whether the question speaks of each step is not looked at.
        """
        found = np.zeros(len(numbers))
        for way, rows in self._ways_of(numbers):
            sequences = self.candidates.sequences(numbers[rows])
            scorer = self._sequence_scorer(way, self._spoken_kinds(way))
            found[rows] = scorer.own_score(sequences)
        return found

    def text_features(self, numbers: Int64, /) -> Float64:
        """Returns ``features.TEXT_NAMES`` of some candidates, put into words, float64 [n, f]."""
        text = np.zeros((len(numbers), len(TEXT_NAMES)))
        for way, rows in self._ways_of(numbers):
            kinds = self._spoken_kinds(way)
            sequences = self.candidates.sequences(numbers[rows])
            for column, of_text in ((0, kinds), (4, {})):
                if column and not kinds:
                    text[rows, 4:] = text[rows, :3]
                    continue
                final = self._sequence_scorer(way, of_text).final(sequences)
                text[rows, column] = final.similarity
                text[rows, column + 1] = final.lacking
                text[rows, column + 2] = final.score
                if not column:
                    text[rows, 3] = float(bool(kinds))
        return text

    def _ways_of(self, numbers: Int64) -> Iterator[tuple[int, Int64]]:
        """Yields each way to ask that some candidates have, and the places of these."""
        owner = self.asked_of[self.candidates.start[numbers]]
        for way in distinct(owner).tolist():
            yield way, np.flatnonzero(owner == way)

    @cached_property
    def _kind_reader(self) -> KindReader:
        return KindReader(self.texts.values(), self._call.preset, encode=self._call.encode)

    def _spoken_kinds(self, way: int) -> dict[int, str]:
        """Returns the kind of the heads of each relation, where the question names that kind."""
        spoken = self._kind_reader.kinds_in(self.asked[way].text)
        return {rel: kind for rel, kind in self._kinds.items() if kind in spoken}

    def _sequence_scorer(self, way: int, kinds: Mapping[int, str]) -> SequenceScorer:
        """Returns what scores sequences in words for a way to ask."""
        asked, preset = self.asked[way], self._call.preset
        said = content_words(asked.text)
        wording = Wording(
            self.texts,
            kinds,
            hop_cost=preset.hop_cost,
            inverse_cost=preset.inverse_cost,
            unsupported_step_cost=preset.unsupported_step_cost,
            unsupported_step_margin=preset.unsupported_step_margin,
            spoken=None if said is None else len(said),
            extra_hop_cost=preset.extra_hop_cost,
        )
        return SequenceScorer(asked.vector.astype(np.float32), self._call.encode, wording)

    def finalists(self, numbers: Int64, /) -> Finalists:
        """Returns what is told of some candidates once their sequences are in words."""
        text = self.text_features(numbers)
        beside = compare(self.candidates, numbers, self.described, text)
        inputs = np.concatenate((self.described[numbers], text, beside), axis=1)
        self._call.clock.stage("sequences")
        return Finalists(numbers, np.round(inputs, SCORE_DIGITS), text[:, 2])

    @property
    def preset(self) -> LearnedPreset:
        """The preset, with all its parameters."""
        return self._call.preset

    @property
    def question(self) -> str:
        """The question as asked."""
        return self._question

    def note_stage(self, stage: str, /) -> None:
        """Ends a stage of the retrieval's timings."""
        self._call.clock.stage(stage)

    def prior_fit(self, numbers: Int64, /) -> PriorFit:
        """Returns how well the question's words fit some candidates, by the prior of relations."""
        candidates, prior = self.candidates, shipped_prior()
        asked = [asked_words(self._question, span) for span in self._ways]
        held, back = candidates.steps[numbers], candidates.backward[numbers]
        used, place = ranked(candidates.relations[numbers].ravel())
        labels = [self.texts[each] for each in candidates.relation_numbers[used].tolist()]
        way = self.asked_of[candidates.start[numbers]]
        place = place.reshape(held.shape)
        fit = prior.fit(asked, labels)[way[:, None], place, back.astype(np.int64)]
        return PriorFit(
            np.round(np.where(held, fit, 0.0).sum(axis=1) / held.sum(axis=1), SCORE_DIGITS),
            np.round(np.where(held, fit, np.inf).min(axis=1), SCORE_DIGITS),
            np.round(prior.fit_common(asked)[way], SCORE_DIGITS),
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

    def _literal_forms(self) -> list[int]:
        """Returns what each candidate's first literal end is: date, number, other text or none."""
        region, graph = self._call.region, self._call.labels.graph
        owner, node = self.candidates.end_owner, self.candidates.end_node
        literal = np.flatnonzero(region.literal[node])
        first = literal[np.unique(owner[literal], return_index=True)[1]]
        forms = [-1] * len(self.candidates)
        numbers = region.nodes[node[first]]
        for place, number in zip(owner[first].tolist(), numbers.tolist(), strict=True):
            if number >= graph.node_count:
                forms[place] = 2
                continue
            value = stored_value(graph.node_ids[number])
            forms[place] = 0 if isinstance(value, Time) else 1 if isinstance(value, Quantity) else 2
        return forms


class CandidateRanker(Protocol):
    """Orders the candidates of a question."""

    @property
    def name(self) -> str:
        """Says which it is, in provenance."""
        ...

    def rank(self, reader: QuestionReader, most: int, /) -> tuple[Finalists, Float64]:
        """Returns at most ``most`` candidates and their scores, float64 [n], higher is better."""
        ...


@runtime_checkable
class CalibratedRanker(CandidateRanker, Protocol):
    """A ranker whose scores tell how probably the first answer is right."""

    @property
    def calibration(self) -> AnswerConfidence:
        """The weights of that."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class NetworkRanker:
    """Ranks by a trained scorer: all candidates by its first networks, the best by its final ones.

    Attributes:
        scorer: The networks.
        graph: The graph that it was trained on; empty for the one that is shipped.
    """

    scorer: CandidateScorer
    graph: str = ""

    @property
    def calibration(self) -> AnswerConfidence:
        """The weights that ship: they fit a graph's own networks as far as these score alike."""
        return shipped_confidence()

    @property
    def name(self) -> str:
        """The hash of what it was trained on, its embedder's name and its graph, if any."""
        of_graph = f" for graph {self.graph}" if self.graph else ""
        return f"trained {self.scorer.data[:8]} on {self.scorer.embedder}{of_graph}"

    def rank(self, reader: QuestionReader, most: int, /) -> tuple[Finalists, Float64]:
        """Returns the best candidates and their scores."""
        first = self.scorer.first.score(reader.described)
        best = np.lexsort((np.arange(len(first)), -first))[:most]
        finalists = reader.finalists(np.sort(best))
        score = self.scorer.score(finalists.inputs)
        weight = reader.preset.prior_weight
        if weight:
            score = score + weight * reader.prior_fit(finalists.numbers).mean
        return finalists, np.round(score, SCORE_DIGITS)


@dataclass(frozen=True, slots=True, eq=False)
class Asking:
    """What learned ranking needs of a request beside the region.

    Attributes:
        starts: What is known of the start entities; by global node.
        given: Whether the caller gave them.
        ranker: Orders the candidates.
        name_relations: Gives the names of relations.
        coverage: Share of questions in which a set of readings holds the right answer; None for no
            set.
    """

    starts: Sequence[StartCandidate]
    given: bool
    ranker: CandidateRanker
    name_relations: NameRelations
    coverage: float | None = None

    def of_region(self, nodes: Sequence[int], /) -> list[StartCandidate]:
        """Returns what is known of a region's start entities.

        One that no words of the question name is the same thing as one that they do name, in
        another edition of the graph: it is told what is known of the first.
        """
        known = {start.node: start for start in self.starts}
        first = self.starts[0]
        return [known.get(node) or replace(first, node=node) for node in nodes]

    def mentions(self, used: Iterable[int], /) -> tuple[JointMention, ...]:
        """Returns what the question is taken to name, by the start entities of the walks chosen.

        Walks of other entities than the best one's are further answers, not further topics.
        """
        known = {start.node for start in self.starts}
        best = [node for node in used if node in known][:1]
        return tuple(joint_linking(self.starts, best))


def by_learning(
    call: RetrievalContext[LearnedPreset], question: str, asking: Asking, /
) -> Selection:
    """Returns the walks of the candidates that the ranker puts first."""
    region, preset = call.region, call.preset
    starts = asking.of_region(region.nodes[region.start_entities].tolist())
    reader = QuestionReader(call, question, starts, asking.name_relations, given=asking.given)
    candidates = reader.candidates
    if not len(candidates):
        return replace(pick_walks(call, (), reader.cuts, more=False), confident=False)
    most = min(preset.max_refined, preset.max_embedded)
    finalists, score = asking.ranker.rank(reader, most)
    empty = reader.answers_nothing(finalists.numbers)
    score = score - CONSTRAINT_RULES.wrong_end_cost * empty.astype(np.float64)
    order = np.lexsort((finalists.numbers, -score))
    relevance = float(finalists.text_scores[order[0]])
    cuts = reader.cuts
    if len(candidates) > len(order):
        cut = Cut("sequences", CutReason.LIMIT, most, len(order), len(candidates))
        cuts = (*cuts, cut)
    start = starts[int(candidates.start[finalists.numbers[order[0]]])]
    bears = relevance >= preset.min_relevance and not start.in_other_name
    candidates_ranked = [
        RankedCandidate(int(finalists.numbers[row]), float(score[row] - score[order[0]]))
        for row in order.tolist()
    ]
    calibration = _calibration(asking.ranker, preset)
    first = AnswerJudge(reader, starts, finalists, preset)
    # The probability is that of one statement, which is no account: its words must bear on it too.
    openly = asks_openly(question)
    confident = bears or (not openly and first.is_sure(calibration, candidates_ranked))
    chosen = choose(
        call,
        question,
        _mentions(starts),
        candidates,
        candidates_ranked,
        texts=reader.texts,
        confident=confident,
    )
    call.clock.stage("constraints")
    confidence = None
    if calibration is not None:
        confidence = calibration.probability(first.inputs(chosen.ranked))
        is_computed = chosen.answer is not None and bears
        is_sure = confidence >= preset.min_confidence and not start.in_other_name
        is_sure = is_sure and (bears or not openly)
        confident = is_sure or is_computed
        # A caller's own bounds hold besides.
        confident = confident and (bears or preset.min_relevance <= LEARNED.min_relevance)
        confident = confident and (is_sure or preset.min_confidence <= LEARNED.min_confidence)
    confident = confident and not chosen.misread
    is_empty = bool(empty[finalists.numbers == chosen.ranked[0].number].any())
    confident = confident and not is_empty
    unstated = calibration is not None and not confident and chosen.may_be_unstated
    if unstated:
        of_best = int(candidates.start[chosen.ranked[0].number])
        unstated = is_unstated(
            call,
            question,
            starts,
            of_best,
            reader.texts,
            given=asking.given,
            further_fit=first.further_fit(),
            further_labels=first.further_labels(of_best),
        )
    if confidence is not None and (unstated or is_empty):
        confidence = min(confidence, UNSTATED_RULES.right)
    answer_set = None
    if asking.coverage and calibration is not None and chosen.lists_entities:
        answer_set = _answer_set(call, candidates, chosen, asking.coverage, calibration)
    walks, more = _walks(call, reader, chosen, relevance, openly=openly)
    used = dict.fromkeys(int(region.nodes[walk.nodes[0]]) for walk in walks)
    return replace(
        _with_met(pick_walks(call, walks, cuts, more=more), region, walks),
        relevance=relevance,
        confidence=confidence,
        confident=confident,
        unstated=unstated,
        used_starts=tuple(used),
        constraints=chosen.constraints,
        answer=chosen.answer,
        read=interpret(call, candidates, chosen, relevance=relevance),
        answer_set=answer_set,
    )


def _answer_set(
    call: RetrievalContext[LearnedPreset],
    candidates: Candidates,
    chosen: Chosen,
    coverage: float,
    calibration: AnswerConfidence,
) -> PickedSet:
    """Returns the candidates that are close enough to the best, with what they lead to; but for
    those that lead to nothing new.
    """
    best, most = chosen.ranked[0].score, calibration.gap(coverage)
    readings: list[PickedReading] = []
    answers: set[int] = set()
    for ranked_candidate in chosen.ranked:
        gap = ranked_candidate.score - best
        if -gap > most:
            break
        number = ranked_candidate.number
        first, last = np.searchsorted(candidates.end_owner, (number, number + 1))
        nodes = call.region.nodes[candidates.end_node[first:last]].tolist()
        if answers.issuperset(nodes):
            continue
        answers.update(nodes)
        query = plain_query(call, candidates, chosen, number)
        listed = tuple(nodes[:MOST_OF_READING])
        readings.append(PickedReading(query, round(gap, SCORE_DIGITS), listed, len(nodes)))
    return PickedSet(coverage, bool(np.isfinite(most)), tuple(readings))


def _calibration(ranker: CandidateRanker, preset: LearnedPreset) -> AnswerConfidence | None:
    """Returns what tells how probably an answer is right, where the preset goes by that."""
    if preset.min_confidence and isinstance(ranker, CalibratedRanker):
        return ranker.calibration
    return None


class AnswerJudge:
    """What is told of the first answer, for its confidence.

    Args:
        reader: Of the question.
        starts: What is known of the start entities, in the region's order.
        finalists: The candidates that are in words.
        preset: All parameters.
    """

    def __init__(
        self,
        reader: QuestionReader,
        starts: Sequence[StartCandidate],
        finalists: Finalists,
        preset: LearnedPreset,
        /,
    ) -> None:
        self._reader = reader
        self._starts = starts
        self._finalists = finalists
        self._preset = preset

    @cached_property
    def _prior(self) -> PriorFit:
        return self._reader.prior_fit(self._finalists.numbers)

    def further_fit(self) -> float:
        """Returns how well the best candidate of several steps fits by the prior, the least of its
        steps; minus infinity for none.
        """
        steps = self._reader.candidates.steps[self._finalists.numbers]
        fit = self._prior.least[steps.sum(axis=1) > 1]
        return float(fit.max(initial=-np.inf))

    def further_labels(self, start: int, /) -> frozenset[str]:
        """Returns the labels of relations that one entity, reached by one statement of a start,
        has: but for kin, whose relations are not those of the start.

        Args:
            start: Which of the start entities.
        """
        candidates, texts = self._reader.candidates, self._reader.texts
        numbers = self._finalists.numbers
        is_near = (candidates.start[numbers] == start) & (candidates.length[numbers] == 2)
        is_near &= ~candidates.backward[numbers, 0] & (candidates.walks[numbers] == 1)
        steps = [candidates.sequence(number) for number in numbers[is_near].tolist()]
        return frozenset(
            texts[last]
            for (first, _), (last, _) in steps
            if not any(is_kin(word) for word in words(texts[first]))
        )

    def is_sure(
        self, calibration: AnswerConfidence | None, ranking: Sequence[RankedCandidate], /
    ) -> bool:
        """Returns whether the first of a ranking is right probably enough; without weights, no."""
        if calibration is None:
            return False
        return calibration.probability(self.inputs(ranking)) >= self._preset.min_confidence

    def inputs(self, ranking: Sequence[RankedCandidate], /) -> Float64:
        """Returns ``confidence.INPUT_NAMES`` of the first of some candidates, best first."""
        rows = {number: row for row, number in enumerate(self._finalists.numbers.tolist())}
        known = [one for one in ranking if one.number in rows]
        row = rows[known[0].number]
        start = self._starts[int(self._reader.candidates.start[known[0].number])]
        prior = self._prior
        gap = float(prior.least[row] - prior.common[row])
        read = self._finalists.read_scores
        found = (
            margin_of(np.array([one.score for one in known])),
            float(self._finalists.text_scores[row]),
            float(start.certainty),
            min(max(gap, LEAST_GAP), 0.0),
            0.0 if read is None else float(read[row]),
            float(start.in_other_name),
        )
        return np.array(found)


def _mentions(starts: Sequence[StartCandidate]) -> list[Mention]:
    """Returns the mentions of the start entities; several may share the same words."""
    exact = Counter(
        (start.start, start.end)
        for start in starts
        if start.start >= 0 and start.form is NameForm.EXACT
    )
    return [
        Mention(
            start.node,
            start.start,
            start.end,
            start.linked,
            is_name=start.linked and start.certainty > Certainty.COMMON,
            told_apart=start.neighbour_matches > 0 and exact[start.start, start.end] > 1,
            has_namesakes=exact[start.start, start.end] > 1,
        )
        for start in starts
    ]


def _walks(
    call: RetrievalContext[LearnedPreset],
    reader: QuestionReader,
    chosen: Chosen,
    relevance: float,
    *,
    openly: bool,
) -> tuple[tuple[Walk, ...], bool]:
    """Returns the walks of the best candidates, at most as many as may be asked for, and whether
    there are more.

    A walk's score falls from the relevance of the best by the scorer's difference, and by a share
    for each constraint that it does not meet and others do. Of a question that asks ``openly``
    a few walks of each sequence are read, and given in turns.
    """
    region, preset, candidates = call.region, call.preset, reader.candidates
    most = most_walks(preset)
    of_one = preset.walks_per_item if openly else most
    top = max(relevance, preset.least_score)
    found: list[Walk] = []
    seen: set[tuple[int, ...]] = set()
    texts: dict[int, TripleTexts] = {}
    best = chosen.ranked[0].score
    unread = int(candidates.walks[[one.number for one in chosen.ranked]].sum())
    for one in chosen.ranked:
        number = one.number
        start = int(candidates.start[number])
        edges = candidates.edges(number)
        value = round(preset.path_score(relevance, one.score - best), SCORE_DIGITS)
        met, missed = chosen.met_by(number, len(edges)), chosen.missed_by(number, len(edges))
        backward = candidates.backward[number, : edges.shape[1]].tolist()
        reversed_ = tuple(backward)
        if len(edges) > 1:
            way = int(reader.asked_of[start])
            if way not in texts:
                vector = reader.asked[way].vector.astype(np.float32)
                texts[way] = TripleTexts(call, vector, reader.texts)
            used, place = ranked(edges.ravel())
            like = texts[way].order(used)
            mean = np.round(like[place.reshape(edges.shape)].mean(axis=1), SCORE_DIGITS)
            # Who asks for more than a thing rarely asks for the thing itself.
            home = _ends_of(region, edges[:, -1], backward[-1]) == region.start_entities[start]
            # Walks of equal rank stay in the order of their keys.
            order = np.lexsort((-mean, home, missed))[:of_one]
            edges, met, missed = edges[order], met[order], missed[order]
        parts: tuple[ScorePart, ...] = (ScorePart("relevance", round(top, SCORE_DIGITS)),)
        if value != parts[0].amount:
            parts += (ScorePart("below_best", round(value - parts[0].amount, SCORE_DIGITS)),)
        begin = int(region.start_entities[start])
        nodes = _ends_of(region, edges, np.array(backward)).tolist()
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
            places = tuple(place for place, is_met in enumerate(meets) if is_met)
            found.append(
                Walk(
                    (begin, *reached),
                    edge_numbers,
                    reversed_,
                    number,
                    total,
                    of_total,
                    places,
                )
            )
        if len(found) >= most and not openly:
            break
    ordered = sorted(found, key=lambda walk: -walk.score)
    if openly:
        ordered = spread(ordered, region)
    return tuple(ordered[:most]), unread > 0 or len(found) > most


def _ends_of(region: Region, edges: Int64, backward: Bool | bool) -> Int32:
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


def _with_met(selection: Selection, region: Region, walks: Sequence[Walk]) -> Selection:
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
