"""What a run's scores come to: by condition, against base and no knowledge, over levels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from queries.experiment.attacks import ATTACK_TITLES, RIGHT
from queries.experiment.cells import Cell, CellKind, Condition
from queries.experiment.comparison import Compared, compare_methods, compare_strategies
from queries.experiment.scoring import RANGES, SCORES, ScoreLine
from queries.experiment.statistics import (
    ALPHA,
    UNIT,
    Estimate,
    Paired,
    area,
    crossing,
    estimate,
    holm,
    over_seeds,
)
from queries.experiment.subjects import Fate
from queries.experiment.table import Table, pair_tables, tables_of
from queries.score.metric import Float64
from queries.score.report import RunSpread

KNOWN = "right without knowledge"
NOT_KNOWN = "not right without knowledge"


@dataclass(frozen=True, slots=True)
class Row:
    """One score of one condition, its random seeds together.

    Attributes:
        seeds: Mean and deviation over the random seeds, each its mean over questions.
        runs: Mean and deviation over the runs of its model, each its mean over questions and seeds.
        missing: Answers that have no such score, and ``failed`` those that failed.
        bounds: The mean if the missing answers had the least value, or the greatest one.
        base, nothing: Differences to the base and to no knowledge, question by question.
        base_p, nothing_p: Their p after Holm, over all views' conditions of one graph and score.
    """

    condition: Condition
    score: str
    mean: Estimate
    seeds: RunSpread
    runs: RunSpread
    missing: int
    failed: int
    bounds: tuple[float, float] | None = None
    base: Paired | None = None
    nothing: Paired | None = None
    base_p: float | None = None
    nothing_p: float | None = None

    @property
    def has_star(self) -> bool:
        """Whether it differs from the base: p < .05 after Holm, with enough random seeds."""
        return (
            self.base is not None
            and self.base.is_firm
            and self.base_p is not None
            and self.base_p < ALPHA
        )


@dataclass(frozen=True, slots=True)
class Curve:
    """One score over the levels of a method, from the base (level 0) on.

    Attributes:
        condition: Of its last level.
        levels: From 0 up, or from the first view where the base has no such score; ``means`` at
            each are over the questions that have a value at all of them.
        area: Under the curve, over the range of the levels.
        crossing: Level at which it falls under no knowledge; None where it never does, or there
            is nothing to compare with.
        nothing: Mean without knowledge; None where there is none.
    """

    condition: Condition
    score: str
    levels: tuple[float, ...]
    means: tuple[Estimate, ...]
    area: Estimate
    nothing: float | None
    crossing: float | None


@dataclass(frozen=True, slots=True)
class Part:
    """One score of one condition over a part of its answers.

    Attributes:
        part: What they have in common: a fate of the gold, or a type of question.
        base: Difference to the base over the same questions; None on the base.
    """

    condition: Condition
    score: str
    part: str
    mean: Estimate
    answers: int
    base: Paired | None = None


@dataclass(frozen=True, slots=True)
class Analysis:
    """All figures of a run; what a score is not defined for is left out.

    Attributes:
        scores: Names of those that any condition has.
        by_fate: Rows split by whether the question's gold was kept, changed or lost.
        by_kind: Rows split by the type of question, where there are several.
        by_known: Rows split by whether the answer is right without knowledge, where some are and
            some are not: what a model knows by itself hides what a view does.
        methods: Every two methods of one amount, strategy, preset and answerer.
        strategies: Every two strategies of one view, preset and answerer.
    """

    scores: tuple[str, ...]
    rows: tuple[Row, ...]
    curves: tuple[Curve, ...]
    by_fate: tuple[Part, ...]
    by_kind: tuple[Part, ...]
    by_known: tuple[Part, ...] = ()
    methods: tuple[Compared, ...] = ()
    strategies: tuple[Compared, ...] = ()

    def row(self, condition: Condition, score: str, /) -> Row | None:
        """Returns a score of a condition; None where it has none."""
        rows = (
            candidate
            for candidate in self.rows
            if (candidate.condition, candidate.score) == (condition, score)
        )
        return next(rows, None)


def analyse(
    cells: Sequence[Cell],
    lines: Iterable[ScoreLine],
    /,
    *,
    scores: Sequence[str] = (),
) -> Analysis:
    """Returns the figures of a run.

    Args:
        cells: Of the plan, in order.
        lines: Scores of the run.
        scores: Which are taken; () for all that any answer has.
    """
    tables = tables_of(cells, lines)
    shown_scores = [
        name
        for name in (scores or SCORES)
        if any(not np.isnan(table.values(name)).all() for table in tables.values())
    ]
    builder = _Builder(tables)
    rows = _adjusted(
        [
            row
            for name in shown_scores
            for table in tables.values()
            if (row := builder.row(table, name))
        ]
    )
    fates = [
        part
        for name in shown_scores
        for table in tables.values()
        for part in builder.fates(table, name)
    ]
    kinds = [
        part
        for name in shown_scores
        for table in tables.values()
        for part in builder.kinds(table, name)
    ]
    known = [
        part
        for name in shown_scores
        for table in tables.values()
        for part in builder.known(table, name)
    ]
    return Analysis(
        tuple(shown_scores),
        tuple(rows),
        tuple(curve for name in shown_scores for curve in builder.curves(name)),
        tuple(fates),
        tuple(kinds),
        tuple(known),
        compare_methods(tables, shown_scores),
        compare_strategies(tables, shown_scores),
    )


def _adjusted(rows: Sequence[Row]) -> list[Row]:
    """The rows with p after Holm; a family is all views' conditions of a graph and a score."""
    adjusted = list(rows)
    families: dict[tuple[str, str], list[int]] = {}
    for position, row in enumerate(rows):
        if row.condition.kind is CellKind.VIEW:
            families.setdefault((row.condition.graph, row.score), []).append(position)
    for indices in families.values():
        base = holm([one.p if (one := rows[index].base) else None for index in indices])
        nothing = holm([one.p if (one := rows[index].nothing) else None for index in indices])
        for position, base_p, nothing_p in zip(indices, base, nothing, strict=True):
            adjusted[position] = replace(rows[position], base_p=base_p, nothing_p=nothing_p)
    return adjusted


class _Builder:
    """Makes the figures of an analysis from the tables of answers."""

    def __init__(self, tables: Mapping[Condition, Table]) -> None:
        self._tables = tables

    def _base(self, condition: Condition) -> Table | None:
        if condition.kind is not CellKind.VIEW:
            return None
        base = replace(condition, kind=CellKind.BASE, method="", level=None, count=None)
        return self._tables.get(base)

    def _nothing(self, condition: Condition) -> Table | None:
        if condition.kind is CellKind.NO_KNOWLEDGE:
            return None
        return self._tables.get(
            Condition(condition.graph, CellKind.NO_KNOWLEDGE, condition.answerer)
        )

    def _paired(
        self, table: Table, other: Table | None, score: str, values: Float64 | None = None
    ) -> Paired | None:
        return None if other is None else pair_tables(table, other, score, values=values)

    def row(self, table: Table, score: str) -> Row | None:
        values = table.values(score)
        mean = estimate(values, bounds=RANGES.get(score, UNIT))
        if mean.value is None:
            return None
        return Row(
            table.condition,
            score,
            mean,
            over_seeds(values, failed=table.failures),
            over_seeds(table.values_of_runs(score), failed=table.failures_of_runs),
            table.missing(score),
            table.failed,
            # An attack's score is of some questions by its definition.
            None if score in ATTACK_TITLES else table.bounds(score, *RANGES.get(score, UNIT)),
            self._paired(table, self._base(table.condition), score),
            self._paired(table, self._nothing(table.condition), score),
        )

    def curves(self, score: str) -> list[Curve]:
        families: dict[Condition, list[Table]] = {}
        for table in self._tables.values():
            if table.condition.level is not None:
                families.setdefault(replace(table.condition, level=None), []).append(table)
        points = [self._curve(tables, score) for tables in families.values()]
        return [curve for curve in points if curve is not None]

    def _curve(self, tables: Sequence[Table], score: str) -> Curve | None:
        base = self._base(tables[0].condition)
        points = sorted(
            (table for table in tables if table.condition.level),
            key=lambda table: table.condition.level or 0.0,
        )
        if base is None or not points:
            return None
        bounds = RANGES.get(score, UNIT)
        levels = [0.0, *(table.condition.level or 0.0 for table in points)]
        values = [base.values(score), *(table.values(score) for table in points)]
        if np.isnan(values[0]).all():
            # The base has no score of an attack.
            levels, values = levels[1:], values[1:]
        of_levels = np.stack(np.broadcast_arrays(*values), axis=-1)
        # A question without a value at one level is at none, so that every level has the same.
        of_levels[np.isnan(of_levels).any(axis=-1)] = np.nan
        means = [estimate(of_levels[..., index], bounds=bounds) for index in range(len(levels))]
        if len(levels) < 2 or means[0].value is None:
            return None
        heights = [mean.value or 0.0 for mean in means]
        areas = area(np.asarray(levels), of_levels)
        nothing = self._nothing(tables[0].condition)
        without = None
        if nothing is not None:
            is_common = ~np.isnan(of_levels).all(axis=(1, 2))
            without = estimate(nothing.values(score)[is_common]).value
        return Curve(
            points[-1].condition,
            score,
            tuple(levels),
            tuple(means),
            estimate(areas, bounds=bounds),
            without,
            None if without is None else crossing(levels, [height - without for height in heights]),
        )

    def fates(self, table: Table, score: str) -> list[Part]:
        if table.condition.kind is not CellKind.VIEW:
            return []
        questions = {
            fate.value: {question for question, own_fate in table.fates.items() if own_fate is fate}
            for fate in Fate
        }
        return self._parts(table, score, questions)

    def kinds(self, table: Table, score: str) -> list[Part]:
        kinds = sorted({kind for kind in table.kinds.values() if kind})
        questions = {
            kind: {question for question in table.fates if table.kinds[question[0]] == kind}
            for kind in kinds
        }
        return self._parts(table, score, questions) if len(kinds) > 1 else []

    def known(self, table: Table, score: str) -> list[Part]:
        """By what no knowledge answers right in most runs, of the first score that says what is."""
        nothing = self._nothing(table.condition)
        name = next((own for own in RIGHT if nothing and np.nansum(nothing.values(own))), None)
        if nothing is None or name is None:
            return []
        right = {index for index, row in enumerate(nothing.values(name)) if row[0] > 0.5}
        questions = {
            part: {cell for cell in table.fates if (cell[0] in right) is is_known}
            for part, is_known in ((KNOWN, True), (NOT_KNOWN, False))
        }
        return self._parts(table, score, questions)

    def _parts(
        self, table: Table, score: str, questions: Mapping[str, set[tuple[int, int]]]
    ) -> list[Part]:
        parts: list[Part] = []
        for name, within in questions.items():
            values = table.part(score, within)
            mean = estimate(values, bounds=RANGES.get(score, UNIT))
            if mean.value is not None:
                answers = int((~np.isnan(values)).sum())
                base = self._paired(table, self._base(table.condition), score, values)
                parts.append(Part(table.condition, score, name, mean, answers, base))
        return parts
