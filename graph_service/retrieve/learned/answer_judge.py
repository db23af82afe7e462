"""How sure the first answer is: its confidence, and what makes one doubt it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from graph_service.link.starts import StartCandidate
from graph_service.model.answer import AnswerKind
from graph_service.model.graph import Bool, Float64
from graph_service.retrieve.constraints.chosen import Chosen
from graph_service.retrieve.constraints.coverage import is_kin
from graph_service.retrieve.constraints.doubts import UNSAID
from graph_service.retrieve.constraints.judging import RankedCandidate
from graph_service.retrieve.constraints.unread import unread_words
from graph_service.retrieve.context import RetrievalContext
from graph_service.retrieve.learned.confidence import (
    COMPARED,
    DOUBTED,
    INPUT_NAMES,
    LEAST_GAP,
    LEAST_LIKE_UNREAD,
    SURELY_READ,
    AnswerConfidence,
    margin_of,
)
from graph_service.retrieve.learned.namesakes import is_lesser_namesake, sharers_of_name
from graph_service.retrieve.learned.question_reader import Finalists, PriorFit, QuestionReader
from graph_service.retrieve.learned.relation_prior import (
    common_labels,
    masked_words,
    shipped_prior,
)
from graph_service.retrieve.learned.unstated import (
    UNSTATED_RULES,
    asks_by_another_label,
    is_unstated,
)
from graph_service.retrieve.learned.wrong_targets import WrongTargets
from graph_service.retrieve.preset import LEARNED, LearnedPreset
from graph_service.text.fold import words
from graph_service.text.function_words import content_words
from graph_service.text.question_form import read_form


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said of a first answer.

    Attributes:
        confident: Whether it is called ``ok``.
        confidence: How probably it is right; None without weights of a confidence.
        unstated: Whether the graph surely has no statement of what is asked.
    """

    confident: bool
    confidence: float | None
    unstated: bool


class AnswerJudge:
    """Judges the first answer to a question.

    Args:
        reader: Of the question.
        wrong_targets: Tells which candidates lead to something else.
        finalists: The best candidates.
        empty: Which of them lead to nothing new, bool [finalists].
        best: Which of them is ranked first.
        calibration: Weights of the confidence; None where the preset goes without.
        is_word: Whether a word is one of the language as it is written.
    """

    def __init__(
        self,
        reader: QuestionReader,
        wrong_targets: WrongTargets,
        finalists: Finalists,
        empty: Bool,
        best: int,
        calibration: AnswerConfidence | None,
        /,
        *,
        is_word: Callable[[str], bool],
    ) -> None:
        self._reader = reader
        self._is_word = is_word
        self._wrong_targets = wrong_targets
        self._start_entities = reader.start_entities
        self._finalists = finalists
        self._empty = empty
        self._calibration = calibration
        preset = reader.preset
        self._preset = preset
        self.relevance = self._text_score(int(finalists.numbers[best]))
        # The probability is that of one statement, which is no account: its words must bear on it.
        form = read_form(reader.question)
        self.openly = form.asks_for_account
        # A cause or a manner may be a value: *how did X die*.
        self.asks_for_values = not self.openly or form.word == "how"
        self._in_other_name = self._start_of(int(finalists.numbers[best])).in_other_name
        self._bears = self.relevance >= preset.min_relevance and not self._in_other_name

    def is_confident(self, ranking: Sequence[RankedCandidate], /) -> bool:
        """Returns whether the first of a ranking is sure enough for constraints to be read of it."""
        if self._bears or self.openly or self._calibration is None:
            return self._bears
        return self._calibration.probability(self.inputs(ranking)) >= self._preset.min_confidence

    def verdict(
        self, call: RetrievalContext[LearnedPreset], chosen: Chosen, /, *, by_caller: bool
    ) -> Verdict:
        """Returns what is said of the answer that was chosen.

        Args:
            call: The retrieval.
            chosen: After constraints.
            by_caller: Whether the caller named the start entities by their ids.
        """
        number = chosen.ranked[0].number
        is_empty = bool(self._empty[self._finalists.numbers == number].any())
        inputs = self.inputs(chosen.ranked, chosen)
        is_doubted = (
            is_empty or self._is_misread(chosen, inputs) or self._is_misplaced(number, chosen)
        )
        if self._calibration is None:
            return Verdict(self._bears and not is_doubted, None, unstated=False)
        confidence = self._calibration.probability(inputs)
        if chosen.answer is not None and chosen.compares:
            confidence = max(confidence, COMPARED)
        if is_doubted or self._in_other_name or (self.openly and not self._bears):
            confidence = min(confidence, DOUBTED)
        confident = confidence >= self._preset.min_confidence
        # A caller's own bound of relevance holds besides.
        confident = confident and (
            self._bears or self._preset.min_relevance <= LEARNED.min_relevance
        )
        unstated = (
            not (confident and confidence >= UNSTATED_RULES.sure)
            and chosen.may_be_unstated
            and self._is_unstated(call, number, by_caller=by_caller)
        )
        confident = confident and not unstated
        if unstated or is_empty:
            confidence = min(confidence, UNSTATED_RULES.right)
        return Verdict(confident, confidence, unstated)

    def _is_misread(self, chosen: Chosen, inputs: Float64) -> bool:
        """Returns whether the question may be misread.

        That its words speak of other relations than are walked says nothing where two others say
        that they ask for these: published questions in such words, which ask for no common relation
        rather, and the cross-encoder. A word that no published question has tells nothing. That no
        word speaks of them says nothing either where the cross-encoder is sure alone.
        """
        input_of = dict(zip(INPUT_NAMES, inputs.tolist(), strict=True))
        if not chosen.doubt:
            return self._is_hardly_read(chosen, input_of)
        if not chosen.may_be_outweighed:
            return True
        if chosen.doubt == UNSAID and input_of["reading"] >= SURELY_READ:
            return False
        number = chosen.ranked[0].number
        labels = self._reader.walked_labels(number)
        fits_best = input_of["prior_gap"] == 0.0 and input_of["reading"] > 0.0
        start = self._start_of(number)
        own_words = content_words(" ".join(masked_words(self._reader.question, start.span))) or []
        is_known = shipped_prior().knows(own_words)
        return not (is_known and fits_best and labels.issubset(common_labels()))

    def _is_hardly_read(self, chosen: Chosen, input_of: Mapping[str, float]) -> bool:
        """Returns whether words are left unread, and nothing speaks for what is read: neither the
        likeness of its words, nor published questions, nor the cross-encoder.
        """
        reading = chosen.reading
        if reading is None or chosen.answer is not None:
            return False
        is_sure = input_of["prior_gap"] == 0.0 or input_of["reading"] >= SURELY_READ
        is_like = self.relevance >= LEAST_LIKE_UNREAD
        return not (is_like or is_sure) and bool(unread_words(reading.judge, reading.best))

    def _is_misplaced(self, number: int, chosen: Chosen) -> bool:
        """Returns whether a candidate surely leads to another kind of thing than is asked for."""
        reader, wrong_targets = self._reader, self._wrong_targets
        met = [each.text for each in chosen.constraints if each.met]
        lists = chosen.answer is None or chosen.answer.kind is AnswerKind.ENTITIES
        return (
            (wrong_targets.stops_short(number) and not wrong_targets.asks_for_any(met))
            or bool(wrong_targets.leads_to_no_location(np.array([number]))[0])
            or wrong_targets.leads_to_other_locations(number)
            or (lists and wrong_targets.answers_another_word(number))
            or is_lesser_namesake(self._start_of(number), self._start_entities)
            or any(map(self._is_another_name, self._start_entities))
            or (not met and self._is_one_of_several(number))
            or wrong_targets.answers_who_by_rows(number)
            or wrong_targets.answers_by_another_kind(number)
            or asks_by_another_label(
                reader.question,
                self._start_of(number),
                reader.walked_labels(number),
                reader.texts.values(),
            )
        )

    def _is_another_name(self, start: StartCandidate) -> bool:
        """Returns whether one word that is linked is another name rather than a slip of the pen:
        *Iceland*, where the graph has Ireland alone.
        """
        if not (start.linked and start.typos) or start.words > 1:
            return False
        return self._is_word(self._reader.question[start.start : start.end])

    def _is_one_of_several(self, number: int) -> bool:
        """Returns whether the words that name the start are a part of another's name too, who is about
        as well known and has other values of the same relations: *the father of Patrick*.
        """
        candidates = self._reader.candidates
        sharers = sharers_of_name(self._start_of(number), self._start_entities)
        if not sharers:
            return False
        is_same = np.isin(candidates.start, sharers)
        for steps in (candidates.length, candidates.relations, candidates.backward):
            is_same &= (steps == steps[number]).reshape(len(steps), -1).all(axis=1)
        end_nodes = self._end_nodes_of(number)
        return any(
            self._end_nodes_of(each) != end_nodes for each in np.flatnonzero(is_same).tolist()
        )

    def _end_nodes_of(self, number: int) -> set[int]:
        candidates = self._reader.candidates
        first, last = np.searchsorted(candidates.end_owner, (number, number + 1))
        return set(candidates.end_node[first:last].tolist())

    def _is_unstated(
        self, call: RetrievalContext[LearnedPreset], number: int, *, by_caller: bool
    ) -> bool:
        start = int(self._reader.candidates.start[number])
        return is_unstated(
            call,
            self._reader.question,
            self._start_entities,
            start,
            self._reader.texts,
            by_caller=by_caller,
            further_fit=self._further_fit(),
            further_labels=self._further_labels(start, number),
        )

    def _text_score(self, number: int) -> float:
        """Returns how like the question a candidate's words are."""
        return float(self._reader.text_scores(np.array([number]))[0])

    def _start_of(self, number: int) -> StartCandidate:
        return self._start_entities[int(self._reader.candidates.start[number])]

    @cached_property
    def _prior(self) -> PriorFit:
        return self._reader.prior_fit(self._finalists.numbers)

    def _further_fit(self) -> float:
        """Returns how well the best candidate of several steps fits by the prior, the least of its
        steps; minus infinity for none.
        """
        steps = self._reader.candidates.steps[self._finalists.numbers]
        fit = self._prior.least[steps.sum(axis=1) > 1]
        return float(fit.max(initial=-np.inf))

    def _further_labels(self, start: int, best: int, /) -> frozenset[str]:
        """Returns the labels of relations that one entity, reached by one statement of a start,
        has, and those of the best candidate after its first: but for kin, whose relations are not
        those of the start.

        Args:
            start: Which of the start entities.
            best: The best candidate.
        """
        candidates, texts = self._reader.candidates, self._reader.texts
        numbers = self._finalists.numbers
        is_near = (candidates.start[numbers] == start) & (candidates.length[numbers] == 2)
        is_near &= ~candidates.backward[numbers, 0] & (candidates.walks[numbers] == 1)
        near = [best, *numbers[is_near].tolist()]
        return frozenset(
            texts[relation]
            for (first, _), *others in map(candidates.sequence, near)
            for relation, _ in others
            if not any(is_kin(word) for word in words(texts[first]))
        )

    def inputs(
        self, ranking: Sequence[RankedCandidate], /, chosen: Chosen | None = None
    ) -> Float64:
        """Returns ``confidence.INPUT_NAMES`` of the first of some candidates, best first.

        Args:
            ranking: The candidates.
            chosen: What constraints made of them; None as long as none are read.
        """
        rows = {
            candidate_id: row for row, candidate_id in enumerate(self._finalists.numbers.tolist())
        }
        known = [candidate for candidate in ranking if candidate.number in rows]
        row = rows[known[0].number]
        start = self._start_of(known[0].number)
        prior = self._prior
        gap = float(prior.least[row] - prior.common[row])
        read = self._finalists.read_scores
        values = (
            margin_of(np.array([candidate.score for candidate in known])),
            self._text_score(known[0].number),
            float(start.certainty),
            min(max(gap, LEAST_GAP), 0.0),
            0.0 if read is None else float(read[row]),
            float(start.in_other_name),
            float(chosen is not None and chosen.answer is not None),
        )
        return np.array(values)
