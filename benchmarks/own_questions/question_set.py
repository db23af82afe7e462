"""The graphs and the questions, with their gold answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from benchmarks.own_questions.facts import Facts, read_ntriples, read_tables
from benchmarks.own_questions.programs import Program
from loaders.options import LoadOptions
from queries.llm.chat import Message

FOLDER = Path(__file__).parent
_FERRIES, _SEEDS = FOLDER / "ferries", FOLDER / "seeds" / "seeds.nt"
_SEEDS_BASE = "http://tarnfell.example/"


class Split(StrEnum):
    """Which half of the questions: the one to develop with, or the one for final figures."""

    READ = "read"
    UNREAD = "unread"


class AnswerType(StrEnum):
    """What answers a question; ``ABSENT``: the graph has no answer."""

    ENTITIES = "entities"
    VALUES = "values"
    COUNT = "count"
    TRUTH = "truth"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """The right answer to a question, or to one of the two in it.

    Attributes:
        answers: Ids without the base of the graph, literals as its file writes them, a count in
            digits, or ``yes`` or ``no``. Empty if the graph has no answer.
        words: How the answer follows from the graph, in English.
        program: The same for ``programs.run``.
    """

    type: AnswerType
    answers: frozenset[str]
    words: str
    program: Program


@dataclass(frozen=True, slots=True)
class OwnQuestion:
    """A question with its right answers.

    Attributes:
        kind: Such as ``two-step`` or ``namesake``; the README explains each.
        text: The question. Of a conversation, its last turn.
        history: The turns before it.
        gold: One answer, or two for two questions in one.
    """

    id: str
    graph: str
    split: Split
    kind: str
    text: str
    history: tuple[Message, ...]
    gold: tuple[GoldAnswer, ...]

    @property
    def earlier(self) -> tuple[str, ...]:
        """The questions before it in its conversation, the latest last."""
        return tuple(turn.content for turn in self.history if turn.role == "user")

    @property
    def is_absent(self) -> bool:
        """Whether the graph has no answer."""
        return all(part.type is AnswerType.ABSENT for part in self.gold)


@dataclass(frozen=True, slots=True)
class OwnGraph:
    """A graph that questions are about.

    Attributes:
        source: The file to load.
        options: How.
        base: What its ids begin with; gold answers leave it out.
        facts: Reads its statements without the loaders.
    """

    source: Path
    options: LoadOptions
    base: str
    facts: Callable[[], Facts]


_LITERALS = (
    "adult_fare",
    "berths",
    "cars",
    "crossing_time",
    "date_of_birth",
    "distance",
    "employees",
    "first_sailing",
    "founded",
    "highest_point",
    "launched",
    "length",
    "opened",
    "passengers",
    "population",
    "runs_in_winter",
    "takes_bicycles",
    "ticket_office",
    "top_speed",
)
GRAPHS: Mapping[str, OwnGraph] = {
    "ferries": OwnGraph(
        source=_FERRIES / "statements.csv",
        options=LoadOptions(
            columns=("head=subject", "relation=relation", "tail=object"),
            label_files=(_FERRIES / "names.csv",),
            type_files=(_FERRIES / "classes.csv",),
            literal_relations=_LITERALS,
            strict=True,
        ),
        base="",
        facts=lambda: read_tables(_FERRIES),
    ),
    "seeds": OwnGraph(
        source=_SEEDS,
        options=LoadOptions(strict=True),
        base=_SEEDS_BASE,
        facts=lambda: read_ntriples(_SEEDS, base=_SEEDS_BASE),
    ),
}


def read_split(split: Split, /) -> list[OwnQuestion]:
    """Returns the questions of one half, in the order of the file."""
    lines = (FOLDER / f"{split.value}.jsonl").read_text(encoding="utf-8").splitlines()
    return [_question(line) for line in lines]


def _question(line: str) -> OwnQuestion:
    row = json.loads(line)
    return OwnQuestion(
        id=row["id"],
        graph=row["graph"],
        split=Split(row["split"]),
        kind=row["kind"],
        text=row["question"],
        history=tuple(Message(turn["role"], turn["content"]) for turn in row.get("history", ())),
        gold=tuple(
            GoldAnswer(
                AnswerType(part["type"]),
                frozenset(part["answers"]),
                part["words"],
                tuple(part["program"]),
            )
            for part in row["gold"]
        ),
    )
