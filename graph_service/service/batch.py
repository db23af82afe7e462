"""Many questions in one call: one edition of each graph, one time limit, one batch of vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graph_service.errors import GraphNotFoundError, GraphServiceError, InputError
from graph_service.model.graph_info import GraphInfo
from graph_service.model.limits import Deadline
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import RetrievalResult
from graph_service.service.retrieval import GraphSlice, Retriever, Stopwatch

Outcome = RetrievalResult | GraphServiceError
"""What became of one question of many: its result, or why it has none."""


def check_count(count: int, most: int, /) -> None:
    """Raises ``InputError`` for no questions, or more than one call may ask."""
    if not 1 <= count <= most:
        raise InputError(
            f"1 to {most} questions can be asked at once, got {count}", argument="inputs"
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Linked:
    """A question with what it is answered from."""

    request: RetrieveRequest
    source: GraphSlice
    watch: Stopwatch


def retrieve_many(
    requests: Sequence[RetrieveRequest],
    /,
    *,
    retriever: Retriever,
    find_graph: Callable[[str | None], GraphInfo],
    read: Callable[[GraphInfo, RetrieveRequest, Stopwatch], GraphSlice],
    deadline: Deadline,
    read_turns: Callable[[RetrieveRequest], RetrievalResult | None],
) -> list[Outcome]:
    """Returns the outcome of each question, in order; one that fails fails no other.

    All are linked first, and then what they ask is embedded at once.

    Args:
        requests: The questions.
        retriever: Answers them.
        find_graph: Finds a graph by name.
        read: Reads what a question is answered from.
        deadline: Of all together: questions that are not reached in time have its error.
        read_turns: Answers a text of several questions, or one that goes on with earlier ones; None
            for any other.

    Raises:
        GraphNotFoundError: A graph was there and is gone: the whole call can be made again.
    """
    questions: list[_Linked | Outcome] = []
    for request in requests:
        watch = Stopwatch()
        try:
            request.validate()
            info = find_graph(request.graph)
        except GraphServiceError as error:
            questions.append(error)
            continue
        try:
            questions.append(
                read_turns(request) or _Linked(request, read(info, request, watch), watch)
            )
        except GraphNotFoundError:
            raise
        except GraphServiceError as error:
            questions.append(error)
    linked = [question for question in questions if isinstance(question, _Linked)]
    try:
        pairs = [(question.request, question.source) for question in linked]
        retriever.embed_questions(pairs, deadline)
    except GraphServiceError as error:
        # Each would fail at its own vector.
        return [error if isinstance(question, _Linked) else question for question in questions]
    return [
        _outcome(question, retriever, deadline) if isinstance(question, _Linked) else question
        for question in questions
    ]


def _outcome(question: _Linked, retriever: Retriever, deadline: Deadline) -> Outcome:
    question.watch.skip()
    try:
        return retriever.retrieve(
            question.source, question.request, deadline=deadline, watch=question.watch
        )
    except GraphNotFoundError:
        raise
    except GraphServiceError as error:
        return error
