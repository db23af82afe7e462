"""The gaps of sets of readings, by split conformal prediction on questions with known answers (B12)."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from graph_service.errors import DeadlineError
from graph_service.model.graph import Float64
from graph_service.model.result import PathsResult
from graph_service.model.values import decode_value, plain_value
from graph_service.retrieve.learned.confidence import AnswerConfidence
from graph_service.retrieve.learned.network import CandidateScorer
from graph_service.retrieve.learned.question_reader import Finalists, QuestionReader
from graph_service.retrieve.learned.rankers import CalibratedRanker, NetworkRanker
from graph_service.retrieve.learned.reading import with_reading
from graph_service.service import Service
from queries.training.examples import AnsweredQuestion, request_of, right_candidates

LEAST_COVERAGE, MOST_COVERAGE = 0.5, 0.99
LEAST_QUESTIONS = 20
"""With fewer the gaps that ship are kept."""
_MOST_END_IDS = 2_000


@dataclass(frozen=True, slots=True)
class SetCalibration:
    """What a graph's own questions say of its sets of readings.

    Attributes:
        questions: How many had a set.
        gaps: By share, as ``AnswerConfidence.gaps``; empty where the questions are too few.
    """

    questions: int = 0
    gaps: Mapping[float, float] = field(default_factory=dict)

    def notes(self) -> dict[str, Any]:
        """Returns the figures, JSON-ready."""
        return {"questions": self.questions, "gaps": {str(s): gap for s, gap in self.gaps.items()}}


class _RightAnswerRecorder:
    """Ranks as another ranker does, and keeps what the right candidates lead to."""

    name = "recorder of right answers"

    def __init__(self, ranker: CalibratedRanker, /) -> None:
        self._ranker = ranker
        self.question: AnsweredQuestion | None = None
        self.values: set[str] = set()

    @property
    def calibration(self) -> AnswerConfidence:
        """Weights that ship, without gaps: a set has all readings."""
        return replace(self._ranker.calibration, gaps={})

    def rank(self, reader: QuestionReader, most: int, /) -> tuple[Finalists, Float64]:
        """Returns the best candidates and their scores."""
        assert self.question is not None, "questions are asked by calibrate_sets"
        right = np.flatnonzero(right_candidates(reader, self.question)).tolist()
        end_ids = (id_ for each in right for id_ in reader.end_ids(each, most=_MOST_END_IDS))
        self.values = {_value(id_) for id_ in end_ids}
        return self._ranker.rank(reader, most)


def calibrate_sets(
    service: Service,
    scorer: CandidateScorer,
    questions: Sequence[AnsweredQuestion],
    /,
    *,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> SetCalibration:
    """Returns the gaps of questions that the scorer did not learn from, asked as they are.

    A question without a set (its answer is computed, or nothing is linked) is left out, and so is
    one that was not answered in time.
    """
    recorder = _RightAnswerRecorder(with_reading(NetworkRanker(scorer), service.vectors.embedder))
    gaps: list[float] = []
    with service.ranking_by(recorder):
        for index, question in enumerate(questions):
            recorder.question, recorder.values = question, set()
            request = replace(request_of(question, by_ids=False), coverage=MOST_COVERAGE)
            try:
                result = service.retrieve(request)
            except DeadlineError:
                continue
            assert isinstance(result, PathsResult)
            gap = gap_of_right(result, recorder.values)
            if gap is not None:
                gaps.append(gap)
            progress(index + 1, len(questions))
    if len(gaps) < LEAST_QUESTIONS:
        return SetCalibration(len(gaps))
    return SetCalibration(len(gaps), conformal_gaps(gaps))


def gap_of_right(result: PathsResult, answers: Container[str], /) -> float | None:
    """Returns how far below the best the first reading is that lists a right answer.

    Infinity where none does; None where the result has no answer set.
    """
    if result.answer_set is None:
        return None
    for reading in result.answer_set.readings:
        if any(value in answers for value in reading.values):
            return abs(reading.gap)
    return math.inf


def conformal_gaps(gaps: Sequence[float], /) -> dict[float, float]:
    """Returns the least gap within which the right answer is, by share of exchangeable questions.

    By split conformal prediction: of n gaps in order the one of rank (n + 1) times the share,
    rounded up. Shares that none or an infinite gap would reach are left out.
    """
    ordered = sorted(gaps)
    reached = {}
    for percent in range(round(100 * LEAST_COVERAGE), round(100 * MOST_COVERAGE) + 1):
        rank = math.ceil((len(ordered) + 1) * percent / 100)
        if rank <= len(ordered) and math.isfinite(ordered[rank - 1]):
            reached[percent / 100] = ordered[rank - 1]
    return reached


def _value(id_: str) -> str:
    """Returns the id of a node as sets list it: an entity's, or a literal's plain value."""
    try:
        return plain_value(decode_value(id_))
    except ValueError:
        return id_
