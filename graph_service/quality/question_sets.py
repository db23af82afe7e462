"""Published question sets as chains: where each begins, what it follows, what it should find.

A chain is a start and a sequence of relations with directions. PathQuestion and WorldCup 2014 give
it in the file; MetaQA gives the answers, and every sequence that ends at exactly those is right.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from graph_service.errors import InputError

Step = tuple[str, bool]
"""A relation's id, and whether it is walked from tail to head."""
_OPENERS: Mapping[str, Callable[..., IO[str]]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}
_BRACKETS = re.compile(r"\[([^\]]*)\]")


@dataclass(frozen=True, slots=True)
class ChainQuestion:
    """A question with what it asks for.

    Attributes:
        text: As a person would ask it; marks that give the entity away are taken off.
        start: Id of the entity it begins at; used to judge, never given to retrieval.
        steps: The chain's relations, or empty where the set gives answers alone.
        nodes: Entities along the chain, the start first; empty where the set gives answers alone.
        answers: Ids of all answers; empty where the set gives chains.
    """

    text: str
    start: str
    steps: tuple[Step, ...] = ()
    nodes: tuple[str, ...] = ()
    answers: frozenset[str] = frozenset()

    def is_simple(self) -> bool:
        """Returns whether the chain visits no entity twice."""
        return len(set(self.nodes)) == len(self.nodes)

    def chain_id(self) -> str:
        """Returns what questions that are paraphrases of one another have in common."""
        if self.steps:
            walked = [f"{'<' if back else '>'}{relation}" for relation, back in self.steps]
            return "\t".join((self.start, *walked))
        return "\t".join((self.start, *sorted(self.answers)))


def read_questions(path: Path, /, *, format_name: str) -> list[ChainQuestion]:
    """Returns the questions of a file, packed or not, in its order.

    Args:
        path: The file; ``.gz``, ``.bz2`` and ``.xz`` too.
        format_name: ``pathquestion``, ``worldcup``, ``metaqa`` or ``chains``.

    Raises:
        InputError: There is no such format or file, or a line is not of it.
    """
    reader = FORMATS.get(format_name)
    if reader is None:
        raise InputError(
            f"unknown format {format_name!r}; expected one of {', '.join(FORMATS)}",
            argument="format",
        )
    if not path.is_file():
        raise InputError(f"there is no file {path}", argument="questions")
    questions: list[ChainQuestion] = []
    with open_text(path) as file:
        for line_number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                question = reader(line.rstrip("\r\n"), line_number)
            except (ValueError, KeyError, TypeError, IndexError) as error:
                raise InputError(
                    f"{path} line {line_number} is no question of format {format_name}: {error}",
                    argument="questions",
                ) from error
            if question is not None:
                questions.append(question)
    if not questions:
        raise InputError(f"{path} holds no questions", argument="questions")
    return questions


def open_text(path: Path, /) -> IO[str]:
    """Opens a text file, packed or not."""
    opener: Callable[..., IO[str]] = _OPENERS.get(path.suffix, open)
    return opener(path, "rt", encoding="utf-8")


def _chain(text: str, path: str) -> ChainQuestion:
    parts = path.split("#")
    if "<end>" in parts:
        parts = parts[: parts.index("<end>")]
    if len(parts) < 3 or len(parts) % 2 == 0:
        raise ValueError(f"expected entity#relation#entity..., got {path!r}")
    steps = tuple((relation, False) for relation in parts[1::2])
    return ChainQuestion(_clean(text), parts[0], steps, tuple(parts[::2]))


def _pathquestion(line: str, _number: int) -> ChainQuestion | None:
    text, _, path = line.split("\t")[:3]
    return _chain(text, path)


def _worldcup(line: str, _number: int) -> ChainQuestion | None:
    text, _, path = line.split("\t")[:3]
    if "*" in path:
        return None  # A conjunction of chains; the set of such questions is another.
    return _chain(text, path)


def _metaqa(line: str, number: int) -> ChainQuestion | None:
    columns = line.split("\t")
    if number == 1 and columns[0] == "question":
        return None
    text, answers = columns[0], columns[-1]
    marked = _BRACKETS.search(text)
    if len(columns) < 2 or not marked:
        raise ValueError("expected a question with its [entity] in brackets, and answers a|b|c")
    start = marked.group(1)
    return ChainQuestion(
        _clean(_BRACKETS.sub(r"\1", text)), start, answers=frozenset(answers.split("|"))
    )


def _chains(line: str, _number: int) -> ChainQuestion | None:
    row: dict[str, Any] = json.loads(line)
    steps = tuple((str(relation), bool(back)) for relation, back in row.get("steps", ()))
    answers = frozenset(map(str, row.get("answers", ())))
    if not steps and not answers:
        raise ValueError("expected steps [[relation, backward], ...] or answers [id, ...]")
    nodes = tuple(map(str, row.get("nodes", ())))
    return ChainQuestion(str(row["question"]), str(row["start"]), steps, nodes, answers)


def _clean(text: str) -> str:
    return " ".join(text.split())


FORMATS: Mapping[str, Callable[[str, int], ChainQuestion | None]] = {
    "pathquestion": _pathquestion,
    "worldcup": _worldcup,
    "metaqa": _metaqa,
    "chains": _chains,
}
"""Formats of question sets by name; ``chains`` is JSON lines of ``question``, ``start`` and
``steps`` (``[[relation, backward], ...]``) or ``answers``."""
