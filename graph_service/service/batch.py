"""Many questions in one call: one edition of each graph, one time limit, one batch of vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graph_service.embed import Vectors
from graph_service.errors import GraphNotFoundError, GraphServiceError, InputError
from graph_service.model.graph_info import GraphInfo
from graph_service.model.limits import Deadline
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import RetrievalResult
from graph_service.service.embedding import embed_questions
from graph_service.service.graph_slice import LinkedQuestion
from graph_service.service.stopwatch import Stopwatch

Outcome = RetrievalResult | GraphServiceError
"""What became of one question of many: its result, or why it has none."""


def check_count(count: int, most: int, /) -> None:
    """Raises ``InputError`` for no questions, or more than one call may ask."""
    if not 1 <= count <= most:
        raise InputError(
            f"1 to {most} questions can be asked at once, got {count}", argument="inputs"
        )


def retrieve_many(
    requests: Sequence[RetrieveRequest],
    /,
    *,
    find_graph: Callable[[str | None], GraphInfo],
    link: Callable[[GraphInfo, RetrieveRequest, Stopwatch], LinkedQuestion],
    answer: Callable[[LinkedQuestion], RetrievalResult],
    read_turns: Callable[[RetrieveRequest], RetrievalResult | None],
    vectors: Callable[[], Vectors],
    deadline: Deadline,
) -> list[Outcome]:
    """Returns the outcome of each question, in order; one that fails fails no other.

    All are linked first, and then what they ask is embedded at once.

    Args:
        requests: The questions.
        find_graph: Finds a graph by name.
        link: Reads what a question is answered from.
        answer: Answers a linked question.
        read_turns: Answers a text of several questions, or one that goes on with earlier ones; None
            for any other.
        vectors: Gives the text vectors; called when first needed.
        deadline: Of all together: questions that are not reached in time have its error.

    Raises:
        GraphNotFoundError: A graph was there and is gone: the whole call can be made again.
    """
    questions: list[LinkedQuestion | Outcome] = []
    for request in requests:
        watch = Stopwatch()
        try:
            request.validate()
            info = find_graph(request.graph)
        except GraphServiceError as error:
            questions.append(error)
            continue
        try:
            questions.append(read_turns(request) or link(info, request, watch))
        except GraphNotFoundError:
            raise
        except GraphServiceError as error:
            questions.append(error)
    linked = [question for question in questions if isinstance(question, LinkedQuestion)]
    try:
        embed_questions(vectors(), linked, deadline=deadline)
    except GraphServiceError as error:
        # Each would fail at its own vector.
        return [
            error if isinstance(question, LinkedQuestion) else question for question in questions
        ]
    return [
        _outcome(question, answer) if isinstance(question, LinkedQuestion) else question
        for question in questions
    ]


def _outcome(
    question: LinkedQuestion, answer: Callable[[LinkedQuestion], RetrievalResult]
) -> Outcome:
    question.watch.skip()
    try:
        return answer(question)
    except GraphNotFoundError:
        raise
    except GraphServiceError as error:
        return error
