"""What a graph's questions look like to the ranker, recorded so that a killed training goes on (B7).

Examples are written to a folder a few questions at a time, each file whole or not at all. The same
questions in the same order find what is there already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from graph_service.errors import DeadlineError, InputError
from graph_service.model.graph import Float64
from graph_service.model.identity import digest, key64
from graph_service.model.limits import CutReason
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import Strategy
from graph_service.retrieve.learned.features import FINAL_NAMES
from graph_service.retrieve.learned.network import CandidateScorer
from graph_service.retrieve.learned.question_reader import Finalists, QuestionReader
from graph_service.retrieve.learned.rankers import NetworkRanker
from graph_service.service import Service
from queries.training.blending import OWN
from queries.training.examples import (
    AnsweredQuestion,
    Example,
    hash_of,
    right_candidates,
    with_fewest_walks,
)
from queries.training.kept_examples import read_examples, write_examples

PRESET = "default-6"
AT_ONCE = 20
"""Questions of a file."""
_TRIES = 5
"""A question whose new texts take longer than the time limit is asked again: vectors are kept."""


class CandidateRecorder:
    """Keeps what the final networks are told of the shipped scorer's choice; stands in for a ranker.

    An example's ``described`` is of the finalists alone, so that a thousand take 50 MB.

    Args:
        scorer: The shipped one.
    """

    name = "recorder"

    def __init__(self, scorer: CandidateScorer, /) -> None:
        self._ranker = NetworkRanker(scorer)
        self._request: tuple[AnsweredQuestion, bool] | None = None
        self._example: Example | None = None

    def record(
        self, service: Service, question: AnsweredQuestion, /, *, by_ids: bool
    ) -> Example | None:
        """Returns the example that a question makes; None where there is no candidate.

        Raises:
            DeadlineError: The time of one read was not enough for its texts.
        """
        self._request, self._example = (question, by_ids), None
        result = service.retrieve(
            RetrieveRequest(
                question.text,
                Strategy.PATHS,
                graph=question.graph,
                preset=PRESET,
                limit=1,
                entity_ids=question.start_ids if by_ids else (),
            )
        )
        if any(cut.reason is CutReason.DEADLINE for cut in result.truncated):
            raise DeadlineError("the time of one read was not enough to embed all texts")
        return self._example

    def rank(self, reader: QuestionReader, most: int, /) -> tuple[Finalists, Float64]:
        """Keeps the example of the candidates that the shipped scorer chooses; goes on with one."""
        assert self._request is not None, "questions are asked by ask"
        question, scores = self._request
        finalists, _ = self._ranker.rank(reader, most)
        numbers = finalists.numbers
        self._example = Example(
            question.family,
            question.text,
            scores,
            reader.described[numbers].astype(np.float32),
            right_candidates(reader, question)[numbers],
            np.arange(len(numbers)),
            reader.final_inputs(numbers, reader.literal_scores(numbers)).astype(np.float32),
        )
        return with_fewest_walks(reader, numbers), np.zeros(1)


@dataclass(slots=True)
class Recorded:
    """The examples of some questions.

    Attributes:
        examples: Of those that found any candidate.
        requests: How often each question was asked, by text: users' own with its entities given and
            without.
        unanswerable: Questions of which an entity is not in the graph.
        failed: Questions that were asked in vain, with why.
    """

    examples: list[Example] = field(default_factory=list)
    requests: dict[str, int] = field(default_factory=dict)
    unanswerable: int = 0
    failed: list[str] = field(default_factory=list)


def record(
    service: Service,
    questions: Sequence[AnsweredQuestion],
    scorer: CandidateScorer,
    folder: Path,
    /,
    *,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Recorded:
    """Returns the examples of questions, those that are kept in a folder without asking them.

    Args:
        service: With all graphs that the questions are of.
        questions: In an order that does not change from run to run.
        scorer: The shipped one.
        folder: Where examples are kept; of these questions and this graph alone (``folder_name``).
        progress: Called with how many questions are done, and of how many.
    """
    folder.mkdir(parents=True, exist_ok=True)
    recorder, recorded = CandidateRecorder(scorer), Recorded()
    with service.ranking_by(recorder):
        for first in range(0, len(questions), AT_ONCE):
            some = tuple(questions[first : first + AT_ONCE])
            known = [question for question in some if _is_known(service, question)]
            recorded.unanswerable += len(some) - len(known)
            for question in known:
                before = recorded.requests.get(question.text, 0)
                recorded.requests[question.text] = before + len(_ways(question))
            path = folder / f"{first:06d}-{hash_of(some)[:16]}.npz"
            stored = _stored_examples(path)
            if stored is None:
                failed = len(recorded.failed)
                stored = [
                    example
                    for question in known
                    for way in _ways(question)
                    for example in _example_of(service, recorder, question, way, recorded)
                ]
                if len(recorded.failed) == failed:
                    write_examples(path, known, stored)
            recorded.examples.extend(stored)
            progress(min(first + AT_ONCE, len(questions)), len(questions))
    return recorded


def folder_name(service: Service, graph: str, scorer: CandidateScorer, /) -> str:
    """Returns the name of the folder that a graph's examples are kept in.

    It changes with all that they depend on, beside the questions: the graph, the embedder, the
    shipped weights, what is told of candidates.
    """
    info = service.graph(graph)
    parts = (info.fingerprints.content, info.fingerprints.edges, scorer.embedder, scorer.data)
    return f"{info.name}-{digest((*parts, *FINAL_NAMES), person=b'training').hex()[:16]}"


def _ways(question: AnsweredQuestion) -> tuple[bool, ...]:
    """Returns whether a question is asked with its entities: users' own both ways, walks in turn."""
    if question.family == OWN:
        return (True, False)
    return (key64(question.text) % 2 == 0,)


def _is_known(service: Service, question: AnsweredQuestion) -> bool:
    graph = service.arrays(service.graph(question.graph))
    return all(graph.find_node(id_) is not None for id_ in question.start_ids)


def _example_of(
    service: Service,
    recorder: CandidateRecorder,
    question: AnsweredQuestion,
    way: bool,
    result: Recorded,
) -> list[Example]:
    for tried in range(1, _TRIES + 1):
        try:
            example = recorder.record(service, question, by_ids=way)
        except DeadlineError as error:
            if tried == _TRIES:
                result.failed.append(f"{question.text}: {error.message}")
        else:
            return [] if example is None else [example]
    return []


def _stored_examples(path: Path) -> list[Example] | None:
    if not path.is_file():
        return None
    try:
        return list(read_examples(path)[1])
    except InputError:
        return None  # Not of this version: asked anew.
