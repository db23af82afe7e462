"""What people read of a graph that they see for the first time."""

from __future__ import annotations

from dataclasses import dataclass

from graph_service.model.result import EntityRef


@dataclass(frozen=True, slots=True)
class Introduction:
    """What a graph is about.

    Attributes:
        text: In one line, such as ``331 people, films and other things around A and B``.
        central: The entities that most statements meet at, the most central first.
    """

    text: str
    central: tuple[EntityRef, ...]


@dataclass(frozen=True, slots=True)
class ExampleQuestion:
    """A question about a graph, made of its statements, whose retrieval was checked.

    Attributes:
        question: The question.
        answer: What retrieval answers, which is what the statements say; None where the graph has
            no statement that answers it, and retrieval says so.
    """

    question: str
    answer: str | None
