"""Two conditions, of one run or of two, question by question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from graph_service.errors import InputError
from queries.experiment.cells import Condition
from queries.experiment.scoring import RANGES, SCORES
from queries.experiment.statistics import (
    ALPHA,
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

    @property
    def has_star(self) -> bool:
        """Whether they differ: p < .05 after Holm, with enough random seeds."""
        return self.p is not None and self.p < ALPHA and self.difference.is_firm


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
    compared = [row for score in SCORES for row in _adjusted(pairs, score)]
    if not compared:
        raise InputError("the two have no question with a score in common", argument="out")
    return tuple(compared)


def compare_methods(
    tables: Mapping[Condition, Table], scores: Sequence[str], /
) -> tuple[Compared, ...]:
    """Returns every two methods of one amount, graph, strategy, preset and answerer."""
    return _compare_alike(
        tables, scores, lambda condition: (replace(condition, method=""), condition.method)
    )


def compare_strategies(
    tables: Mapping[Condition, Table], scores: Sequence[str], /
) -> tuple[Compared, ...]:
    """Returns every two strategies of one graph, view, preset and answerer, on the base too."""
    return _compare_alike(
        tables, scores, lambda condition: (replace(condition, strategy=None), condition.strategy)
    )


def _compare_alike(
    tables: Mapping[Condition, Table],
    scores: Sequence[str],
    parts: Callable[[Condition], tuple[Condition, object]],
) -> tuple[Compared, ...]:
    """Two conditions each that differ in one part alone; p is adjusted in each graph and score."""
    pairs: dict[str, list[tuple[Table, Table]]] = {}
    for first, second in combinations(tables.values(), 2):
        own, other = parts(first.condition), parts(second.condition)
        if own[0] == other[0] and own[1] and other[1]:
            pairs.setdefault(first.condition.graph, []).append((first, second))
    rows = (
        row for of_graph in pairs.values() for score in scores for row in _adjusted(of_graph, score)
    )
    return tuple(rows)


def _adjusted(pairs: Sequence[tuple[Table, Table]], score: str) -> list[Compared]:
    rows = [row for first, second in pairs if (row := _compared(first, second, score))]
    adjusted = holm([row.difference.p for row in rows])
    return [replace(row, p=p) for row, p in zip(rows, adjusted, strict=True)]


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
    values: Float64 = table.values(score)[[table.questions[id_] for id_ in questions]]
    return values
