"""Whether a result gives the right answer, and what a user sees if it does not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from benchmarks.judging import end_of
from benchmarks.own_questions.question_set import AnswerType, OwnQuestion
from graph_service.model.answer import AnswerKind
from graph_service.model.result import PathsResult, Status, single_results
from graph_service.text.fold import fold
from queries.score.matching import renderings

_WITH_UNIT = re.compile(r"(-?\d+(?:\.\d+)?) \D.*")


class Verdict(StrEnum):
    """What a result is worth.

    ``RIGHT``: it gives exactly the gold answers; if the graph has none, the status is not ``ok``.
    ``WRONG_AND_OK``: it gives something else, and the status is ``ok``. ``SILENT``: the question
    is for a count or for yes or no, and an ``ok`` result has statements alone. ``REFUSED``: it
    does not give the answer, and the status says so.
    """

    RIGHT = "right"
    WRONG_AND_OK = "wrong and ok"
    SILENT = "silent"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Grade:
    """The verdict on a question, and whether the status was ``ok``."""

    question: OwnQuestion
    verdict: Verdict
    is_ok: bool
    got: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figures:
    """How many questions of a group had which verdict.

    Attributes:
        doubted: Questions with a right answer whose status is not ``ok``; part of ``right``.
        ok: Results with status ``ok``.
        right_of_ok: Share of those that are right; None if there are none.
    """

    questions: int
    right: int
    doubted: int
    wrong_and_ok: int
    silent: int
    refused: int
    ok: int
    right_of_ok: float | None


def grade(question: OwnQuestion, result: PathsResult, /, *, base: str = "") -> Grade:
    """Returns the grade of a result.

    The answer is the computed one if the result has one. Else it is the ends of the first paths,
    as many distinct ones as there are gold answers: the first must be right for one, all for a set.

    Args:
        question: With its gold answers.
        result: Of retrieving paths for it, with the ``earlier`` questions.
        base: What the graph's ids begin with.
    """
    is_ok = result.status is Status.OK
    gold = frozenset().union(*(part.answers for part in question.gold))
    singles = cast(tuple[PathsResult, ...], single_results(result))
    counts = [len(gold)] * len(singles)
    if len(singles) == len(question.gold):
        counts = [len(part.answers) for part in question.gold]
    got = tuple(
        dict.fromkeys(
            text
            for single, count in zip(singles, counts, strict=True)
            for text in answers_of(single, count=max(count, 1), base=base)
        )
    )
    if question.is_absent:
        verdict = Verdict.WRONG_AND_OK if is_ok else Verdict.RIGHT
        return Grade(question, verdict, is_ok, got)
    computed = any(part.type in (AnswerType.COUNT, AnswerType.TRUTH) for part in question.gold)
    if computed and all(single.answer is None for single in singles):
        verdict = Verdict.SILENT if is_ok else Verdict.REFUSED
    elif _are_equal(got, gold):
        verdict = Verdict.RIGHT
    else:
        verdict = Verdict.WRONG_AND_OK if is_ok else Verdict.REFUSED
    return Grade(question, verdict, is_ok, got)


def answers_of(result: PathsResult, /, *, count: int, base: str = "") -> tuple[str, ...]:
    """Returns what a result answers: its computed answer, else the ends of its first paths.

    Args:
        result: Of retrieving paths.
        count: How many distinct ends.
        base: Left out of ids that begin with it.
    """
    answer = result.answer
    if answer is None:
        answers = list(dict.fromkeys(end_of(path) for path in result.items))[:count]
    elif answer.entities and answer.kind not in (AnswerKind.COUNT, AnswerKind.YES_NO):
        answers = [entity.id for entity in answer.entities]
    else:
        answers = answer.value.split("; ")
    return tuple(text.removeprefix(base) for text in answers)


def is_same(answer: str, gold: str, /) -> bool:
    """Returns whether two texts are one id, number, date or name; a unit may be missing.

    >>> is_same("1986-00-00", "1986"), is_same("66.50", "66.5"), is_same("104", "104 m")
    (True, True, True)
    >>> is_same("V1", "V11"), is_same("2017", "2017-08-01")
    (False, False)
    """
    number = _WITH_UNIT.fullmatch(gold)
    return any(
        fold(answer) == fold(form) or renderings(answer) & renderings(form)
        for form in (gold, *(number.groups() if number else ()))
    )


def _are_equal(answers: Sequence[str], gold: Iterable[str]) -> bool:
    return all(any(is_same(answer, text) for text in gold) for answer in answers) and all(
        any(is_same(answer, text) for answer in answers) for text in gold
    )


def figures_of(grades: Iterable[Grade], /) -> Figures:
    """Returns the figures of some questions."""
    rows = list(grades)
    counts = {verdict: sum(row.verdict is verdict for row in rows) for verdict in Verdict}
    ok = sum(row.is_ok for row in rows)
    right_and_ok = sum(row.verdict is Verdict.RIGHT and row.is_ok for row in rows)
    doubted = sum(
        row.verdict is Verdict.RIGHT and not row.is_ok and not row.question.is_absent
        for row in rows
    )
    return Figures(
        questions=len(rows),
        right=counts[Verdict.RIGHT],
        doubted=doubted,
        wrong_and_ok=counts[Verdict.WRONG_AND_OK],
        silent=counts[Verdict.SILENT],
        refused=counts[Verdict.REFUSED],
        ok=ok,
        right_of_ok=right_and_ok / ok if ok else None,
    )


def figures_by_group(grades: Sequence[Grade], /) -> dict[str, Figures]:
    """Returns the figures by kind in the order of the file, by answerability, by graph, of all."""
    groups: dict[str, list[Grade]] = {}
    for name in dict.fromkeys(row.question.kind for row in grades):
        groups[name] = [row for row in grades if row.question.kind == name]
    groups["in the graph"] = [row for row in grades if not row.question.is_absent]
    groups["not in the graph"] = [row for row in grades if row.question.is_absent]
    for name in dict.fromkeys(row.question.graph for row in grades):
        groups[name] = [row for row in grades if row.question.graph == name]
    groups["all"] = list(grades)
    return {name: figures_of(rows) for name, rows in groups.items()}


def report_lines(grades: Sequence[Grade], /, *, misses: int = 0) -> list[str]:
    """Returns the figures as a table for a person, and below it some questions without right answer.

    Args:
        grades: Of all questions.
        misses: How many of those questions at most.
    """
    rows = _table_rows(figures_by_group(grades))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    for miss in [row for row in grades if row.verdict is not Verdict.RIGHT][:misses]:
        question = miss.question
        gold = ["; ".join(sorted(part.answers)) or "not in the graph" for part in question.gold]
        lines += [
            f"\n{question.id} {question.kind} [{miss.verdict}]: {question.text}",
            f"  gold  {' | '.join(gold)}",
            f"  got   {'; '.join(miss.got) or '-'}",
        ]
    return lines


def _table_rows(groups: Mapping[str, Figures]) -> list[list[str]]:
    head = ["", "n", "right", "doubted", "wrong and ok", "silent", "refused", "ok", "right of ok"]
    return [
        head,
        *(
            [
                name,
                str(row.questions),
                str(row.right),
                str(row.doubted),
                str(row.wrong_and_ok),
                str(row.silent),
                str(row.refused),
                str(row.ok),
                "-" if row.right_of_ok is None else f"{row.right_of_ok:.3f}",
            ]
            for name, row in groups.items()
        ),
    ]
