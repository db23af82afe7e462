"""Questions with a known answer, as the scorer of relation sequences is trained on them.

Each question is asked through the service. What the ranker would be told of every candidate is
written down, together with which candidates are right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graph_service.model.graph import Bool, Float64
from graph_service.model.hashing import keyed_hashes
from graph_service.model.identity import digest
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import Strategy
from graph_service.retrieve.learned.features import NAMES
from graph_service.retrieve.learned.network import Networks
from graph_service.retrieve.learned.question_reader import Finalists, QuestionReader
from graph_service.service import Service

Float32 = npt.NDArray[np.float32]
SignedStep = tuple[str, bool]
"""A relation's id, and whether it is walked from value to subject."""
MOST_FINALISTS = 40
MOST_OTHERS = 6
"""Candidates beside the best that are put into words, drawn: the final networks see easy ones too."""
_MOST_END_IDS = 2_000
_PROMISE = {
    "sum_cosine": 6.0, "mean_cosine": 2.0, "step_mean": 3.0, "covered_mean": 3.0, "linked": 1.0,
    "name_covered": -1.0, "part_of_name": -0.5, "backward": -0.3, "shared_least": 1.0,
    "link_rank": -0.5,
}  # fmt: skip
"""Weights by hand that put nearly every right candidate among the first forty."""


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question and what is right for it.

    Attributes:
        text: As asked.
        graph: Name of the graph that answers it.
        family: Which set it comes from; sets made alike are one family.
        start_ids: Entities that it is about.
        chains: Right sequences: where each begins, its relations' ids and directions.
        answer_ids: Ids of all answers; where there are no chains, every sequence is right that
            leads to exactly these.
    """

    text: str
    graph: str
    family: str
    start_ids: tuple[str, ...]
    chains: tuple[tuple[str, tuple[SignedStep, ...]], ...] = ()
    answer_ids: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """One question as the ranker saw it: c candidates, n of them the best.

    Attributes:
        family: Of the question.
        text: The question.
        by_ids: Whether its entities were given by their ids, not linked.
        described: ``features.NAMES`` of each candidate, float32 [c, f].
        right: Which candidates are right, bool [c].
        finalists: Places of the best, int64 [n].
        inputs: ``features.FINAL_NAMES`` of each, float32 [n, g].
    """

    family: str
    text: str
    by_ids: bool
    described: Float32
    right: Bool
    finalists: npt.NDArray[np.int64]
    inputs: Float32


def request_of(question: AnsweredQuestion, /, *, by_ids: bool) -> RetrieveRequest:
    """Returns the request for the one best path; of the question's own entities if ``by_ids``."""
    return RetrieveRequest(
        question.text,
        Strategy.PATHS,
        graph=question.graph,
        preset="default-6",
        limit=1,
        entity_ids=question.start_ids if by_ids else (),
    )


class ExampleRecorder:
    """Asks questions and keeps what their candidates look like; stands in for a ranker.

    Args:
        first: Choose the candidates that are put into words, as in use; None for weights by hand.
        same: Gives of steps that say the same the one that chains have.
    """

    name = "recorder"

    def __init__(
        self,
        *,
        first: Networks | None = None,
        same: Callable[[SignedStep], SignedStep] = lambda step: step,
    ) -> None:
        self._first = first
        self._same = same
        self._question: AnsweredQuestion | None = None
        self._by_ids = False
        self.examples: list[Example] = []

    def record(self, service: Service, question: AnsweredQuestion, /, *, by_ids: bool) -> None:
        """Asks a question; it becomes an example where some candidate is right and some wrong."""
        self._question, self._by_ids = question, by_ids
        service.retrieve(request_of(question, by_ids=by_ids))

    def rank(self, reader: QuestionReader, _most: int, /) -> tuple[Finalists, Float64]:
        """Writes an example down, and goes on with one candidate."""
        question = self._question
        assert question is not None, "questions are asked by ask"
        right = right_candidates(reader, question, same=self._same)
        described = reader.described
        promise = (
            np.round(described @ _promise(), 5)
            if self._first is None
            else self._first.score(described)
        )
        order = np.lexsort((np.arange(len(right)), -promise))
        secret = digest((question.text,), person=b"examples")
        sample = np.argsort(keyed_hashes(np.arange(len(right)), secret))[:MOST_OTHERS]
        selected = np.unique(
            np.concatenate((order[:MOST_FINALISTS], sample, np.flatnonzero(right)))
        )
        if right.any() and not right.all():
            self.examples.append(
                Example(
                    question.family,
                    question.text,
                    self._by_ids,
                    reader.described.astype(np.float32),
                    right,
                    selected,
                    reader.final_inputs(selected, reader.literal_scores(selected)).astype(
                        np.float32
                    ),
                )
            )
        return with_fewest_walks(reader, selected), np.zeros(1)


def with_fewest_walks(reader: QuestionReader, numbers: npt.NDArray[np.int64], /) -> Finalists:
    """Returns the one of some candidates that has the fewest walks: who records needs no answer."""
    index = int(reader.candidates.walks[numbers].argmin())
    return Finalists(numbers[index : index + 1])


def right_candidates(
    reader: QuestionReader,
    question: AnsweredQuestion,
    /,
    *,
    same: Callable[[SignedStep], SignedStep] = lambda step: step,
) -> Bool:
    """Returns which of a reader's candidates are right, bool [c].

    Args:
        reader: Of the question.
        question: With what is right.
        same: Gives of steps that say the same the one that chains have.
    """
    candidates = reader.candidates
    start_relations, ids = reader.start_ids(), reader.relation_ids()
    right = np.zeros(len(candidates), dtype=np.bool_)
    for index in range(len(candidates)):
        start = start_relations[candidates.start[index]]
        if question.chains:
            steps = tuple(same((ids[rel], back)) for rel, back in candidates.sequence(index))
            right[index] = (start, steps) in question.chains
        elif start in question.start_ids:
            end_ids = reader.end_ids(index, most=_MOST_END_IDS) - {start}
            right[index] = bool(end_ids) and end_ids == question.answer_ids
    return right


def _promise() -> Float64:
    weights = np.zeros(len(NAMES))
    for name, weight in _PROMISE.items():
        weights[NAMES.index(name)] = weight
    return weights


def hash_of(questions: Iterable[AnsweredQuestion], /) -> str:
    """Returns a hash of questions and what is right for them, 32 hexadecimal digits."""
    parts: list[str] = []
    for question in questions:
        fields: tuple[Any, ...] = (
            question.text,
            question.family,
            question.start_ids,
            question.chains,
            tuple(sorted(question.answer_ids)),
        )
        parts.append(repr(fields))
    return digest(sorted(parts), person=b"questions").hex()
