"""Two conditions, of one run or of two, question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from graph_service.errors import InputError
from queries.experiment.cells import Condition
from queries.experiment.scoring import RANGES, SCORES
from queries.experiment.statistics import (
    UNIT,
    Estimate,
    Paired,
    estimate,
    holm,
    question_means,
)
from queries.experiment.table import Table, pair_tables
from queries.score.metric import Float64


@dataclass(frozen=True, slots=True)
class Compared:
    """One score of two conditions over the questions that both have.

    Attributes:
        first, second: Their names.
        difference: First minus second.
        p: After Holm, over all rows of one score.
        only_first, only_second: Questions that the other has not.
    """

    first: str
    second: str
    score: str
    first_mean: Estimate
    second_mean: Estimate
    difference: Paired
    p: float | None
    only_first: int
    only_second: int


def find_condition(tables: Mapping[Condition, Table], name: str, /) -> Table:
    """Returns the scores of a condition by its name; raises ``InputError`` naming those there are."""
    for condition, table in tables.items():
        if condition.name() == name:
            return table
    known = "\n  ".join(condition.name() for condition in tables)
    raise InputError(f"there is no condition {name!r}; there are\n  {known}", argument="first")


def compare(pairs: Sequence[tuple[Table, Table]], /) -> tuple[Compared, ...]:
    """Returns every score that both conditions of a pair have.

    Raises:
        InputError: No pair has a question in common.
    """
    compared: list[Compared] = []
    for score in SCORES:
        rows = [row for first, second in pairs if (row := _compared(first, second, score))]
        adjusted = holm([row.difference.p for row in rows])
        compared += [replace(row, p=p) for row, p in zip(rows, adjusted, strict=True)]
    if not compared:
        raise InputError("the two have no question with a score in common", argument="out")
    return tuple(compared)


def _compared(first: Table, second: Table, score: str) -> Compared | None:
    shared = [id_ for id_ in first.questions if id_ in second.questions]
    left, right = (_of(table, shared, score) for table in (first, second))
    both = ~np.isnan(question_means(left)) & ~np.isnan(question_means(right))
    common = [id_ for id_, is_known in zip(shared, both, strict=True) if is_known]
    difference = pair_tables(first, second, score, questions=common) if common else None
    if difference is None:
        return None
    bounds = RANGES.get(score, UNIT)
    return Compared(
        first.condition.name(),
        second.condition.name(),
        score,
        estimate(left[both], bounds=bounds),
        estimate(right[both], bounds=bounds),
        difference,
        None,
        len(first.questions) - len(shared),
        len(second.questions) - len(shared),
    )


def _of(table: Table, questions: Sequence[str], score: str) -> Float64:
    values: Float64 = table.values[score][[table.questions[id_] for id_ in questions]]
    return values
