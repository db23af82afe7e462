"""What a run's scores come to: by condition, against base and no knowledge, over levels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from queries.experiment.cells import Cell, CellKind, Condition
from queries.experiment.plan import Statistics
from queries.experiment.scoring import SCORES, ScoreLine
from queries.experiment.statistics import (
    Estimate,
    Paired,
    area,
    crossing,
    estimate,
    holm,
    over_seeds,
    paired,
    resampled_means,
)
from queries.experiment.subjects import Fate
from queries.score.metric import Float64, interval
from queries.score.report import RunSpread


@dataclass(frozen=True, slots=True)
class Row:
    """One score of one condition, its random seeds together.

    Attributes:
        seeds: Mean and deviation over the random seeds, each its mean over questions.
        missing: Answers that have no such score, and ``failed`` those that failed.
        base, nothing: Differences to the base and to no knowledge, question by question.
        base_p, nothing_p: Their p after Holm, over all views' conditions of one graph and score.
    """

    condition: Condition
    score: str
    mean: Estimate
    seeds: RunSpread
    missing: int
    failed: int
    base: Paired | None = None
    nothing: Paired | None = None
    base_p: float | None = None
    nothing_p: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """One score over the levels of a method, from the base (level 0) on.

    Attributes:
        condition: Of its last level.
        levels: From 0 up, and ``means`` at each.
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
    """

    scores: tuple[str, ...]
    rows: tuple[Row, ...]
    curves: tuple[Curve, ...]
    by_fate: tuple[Part, ...]
    by_kind: tuple[Part, ...]

    def row(self, condition: Condition, score: str, /) -> Row | None:
        """Returns a score of a condition; None where it has none."""
        rows = (
            candidate
            for candidate in self.rows
            if (candidate.condition, candidate.score) == (condition, score)
        )
        return next(rows, None)


class Table:
    """Scores of a condition as values float64 [questions, seeds], by name of the score."""

    def __init__(self, condition: Condition, questions: Sequence[str], seeds: Sequence[int | None]):
        self.condition = condition
        self.questions = {id_: index for index, id_ in enumerate(questions)}
        self.seeds = {seed: index for index, seed in enumerate(seeds)}
        shape = (len(self.questions), len(self.seeds))
        self.values: dict[str, Float64] = {name: np.full(shape, np.nan) for name in SCORES}
        self.lines = dict.fromkeys(SCORES, 0)
        self.failures = [0] * len(self.seeds)
        self.fates: dict[tuple[int, int], Fate | None] = {}
        self.kinds: dict[int, str] = {}

    @property
    def failed(self) -> int:
        """How many answers of the table failed, over all seeds."""
        return sum(self.failures)

    def add(self, line: ScoreLine, seed: int | None, /) -> None:
        """Takes a score of an answer."""
        cell = self.questions[line.question], self.seeds[seed]
        self.fates[cell] = line.fate
        self.kinds[cell[0]] = line.kind
        self.lines[line.score] += 1
        self.failures[cell[1]] += line.score == SCORES[0] and line.why == "failed"
        if line.value is not None:
            self.values[line.score][cell] = line.value

    def part(self, score: str, indices: set[tuple[int, int]], /) -> Float64:
        """Returns the values of some answers; those of the others are missing."""
        values = np.full_like(self.values[score], np.nan)
        for index in indices:
            values[index] = self.values[score][index]
        return values


def analyse(
    cells: Sequence[Cell],
    lines: Iterable[ScoreLine],
    /,
    *,
    statistics: Statistics,
    scores: Sequence[str] = (),
) -> Analysis:
    """Returns the figures of a run.

    Args:
        cells: Of the plan, in order.
        lines: Scores of the run.
        statistics: How they are drawn.
        scores: Which are taken; () for all that any answer has.
    """
    tables = tables_of(cells, lines)
    shown_scores = [
        name
        for name in (scores or SCORES)
        if any(not np.isnan(table.values[name]).all() for table in tables.values())
    ]
    builder = _Maker(tables, statistics)
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
    return Analysis(
        tuple(shown_scores),
        tuple(rows),
        tuple(curve for name in shown_scores for curve in builder.curves(name)),
        tuple(fates),
        tuple(kinds),
    )


def tables_of(cells: Sequence[Cell], lines: Iterable[ScoreLine], /) -> dict[Condition, Table]:
    """Returns the scores of a run by condition."""
    of_id = {cell.id: cell for cell in cells}
    seeds: dict[Condition, dict[int | None, None]] = {}
    for cell in cells:
        seeds.setdefault(cell.condition, {})[cell.random_seed] = None
    score_lines = list(lines)
    questions: dict[str, dict[str, None]] = {}
    for line in score_lines:
        questions.setdefault(of_id[line.cell].condition.graph, {})[line.question] = None
    tables = {
        condition: Table(condition, list(questions.get(condition.graph, {})), list(values))
        for condition, values in seeds.items()
    }
    for line in score_lines:
        cell = of_id[line.cell]
        tables[cell.condition].add(line, cell.random_seed)
    return tables


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


class _Maker:
    """Makes figures of tables, with the draws of a plan."""

    def __init__(self, tables: Mapping[Condition, Table], statistics: Statistics) -> None:
        self._tables = tables
        self._statistics = statistics

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

    def _estimate(self, values: Float64) -> Estimate:
        statistics = self._statistics
        return estimate(values, resamples=statistics.resamples, random_seed=statistics.random_seed)

    def _paired(self, values: Float64, other: Table | None, score: str) -> Paired | None:
        if other is None:
            return None
        statistics = self._statistics
        difference = paired(
            values,
            other.values[score][:, 0],
            resamples=statistics.resamples,
            permutations=statistics.permutations,
            random_seed=statistics.random_seed,
        )
        return difference if difference.difference.n else None

    def row(self, table: Table, score: str) -> Row | None:
        values = table.values[score]
        mean = self._estimate(values)
        if mean.value is None:
            return None
        return Row(
            table.condition,
            score,
            mean,
            over_seeds(values, failed=table.failures),
            table.lines[score] - int((~np.isnan(values)).sum()),
            table.failed,
            self._paired(values, self._base(table.condition), score),
            self._paired(values, self._nothing(table.condition), score),
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
        values = [base.values[score], *(table.values[score] for table in points)]
        means = [self._estimate(value) for value in values]
        if any(mean.value is None for mean in means):
            return None
        levels = (0.0, *(table.condition.level or 0.0 for table in points))
        heights = np.asarray([mean.value for mean in means], dtype=np.float64)
        statistics = self._statistics
        resampled = np.stack(
            [
                resampled_means(
                    value, resamples=statistics.resamples, random_seed=statistics.random_seed
                )
                for value in values
            ],
            axis=1,
        )
        bounds = interval(area(np.asarray(levels), resampled)) or (None, None)
        nothing = self._nothing(tables[0].condition)
        without = None if nothing is None else self._estimate(nothing.values[score]).value
        return Curve(
            points[-1].condition,
            score,
            levels,
            tuple(means),
            Estimate(float(area(np.asarray(levels), heights)), means[0].n, *bounds),
            without,
            None if without is None else crossing(levels, (heights - without).tolist()),
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

    def _parts(
        self, table: Table, score: str, questions: Mapping[str, set[tuple[int, int]]]
    ) -> list[Part]:
        parts: list[Part] = []
        for name, within in questions.items():
            values = table.part(score, within)
            mean = self._estimate(values)
            if mean.value is not None:
                answers = int((~np.isnan(values)).sum())
                base = self._paired(values, self._base(table.condition), score)
                parts.append(Part(table.condition, score, name, mean, answers, base))
        return parts
