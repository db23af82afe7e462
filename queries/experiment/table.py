"""Scores by condition, as tables of questions by random seeds, and differences of two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from queries.experiment.cells import Cell, Condition
from queries.experiment.scoring import RANGES, SCORES, ScoreLine
from queries.experiment.statistics import UNIT, Paired, paired, question_means
from queries.experiment.subjects import Fate
from queries.score.metric import Float64


class Table:
    """Scores of a condition, by question, by the random seed of its view and by run of its model.

    Answers of one question and random seed that differ by the run alone are one value, their mean:
    a run has no effect of its own on several questions, as a random seed of a view has.

    Args:
        condition: What all of its cells share.
        questions: Ids.
        seeds: Of its views.
        runs: Of its model, from 1; ``(None,)`` where it is asked once.
    """

    def __init__(
        self,
        condition: Condition,
        questions: Sequence[str],
        seeds: Sequence[int | None],
        runs: Sequence[int | None] = (None,),
    ):
        self.condition = condition
        self.questions = {id_: index for index, id_ in enumerate(questions)}
        self.seeds = {seed: index for index, seed in enumerate(seeds)}
        self.runs = {run: index for index, run in enumerate(runs)}
        shape = (len(self.questions), len(self.seeds), len(self.runs))
        self._answers: dict[str, Float64] = {name: np.full(shape, np.nan) for name in SCORES}
        self._values: dict[str, Float64] = {}
        self.lines = dict.fromkeys(SCORES, 0)
        self._failures = np.zeros(shape[1:], dtype=np.int64)
        self.fates: dict[tuple[int, int], Fate | None] = {}
        self.kinds: dict[int, str] = {}

    @property
    def random_seeds(self) -> list[int]:
        """Its random seeds; none on the base, without knowledge and of a stored view."""
        return [seed for seed in self.seeds if seed is not None]

    @property
    def failed(self) -> int:
        """How many answers of the table failed, over all seeds and runs."""
        return int(self._failures.sum())

    @property
    def failures(self) -> list[int]:
        """How many answers of each seed failed."""
        return [int(count) for count in self._failures.sum(axis=1)]

    @property
    def failures_of_runs(self) -> list[int]:
        """How many answers of each run failed."""
        return [int(count) for count in self._failures.sum(axis=0)]

    def values(self, score: str, /) -> Float64:
        """Returns a score as float64 [questions, seeds]: means of the runs that have a value."""
        if score not in self._values:
            answers = self._answers[score]
            flat = answers.reshape(-1, answers.shape[2])
            self._values[score] = question_means(flat).reshape(answers.shape[:2])
        return self._values[score]

    def values_of_runs(self, score: str, /) -> Float64:
        """Returns a score as float64 [questions, runs]: means of the seeds that have a value."""
        answers = self._answers[score].transpose(0, 2, 1)
        flat = answers.reshape(-1, answers.shape[2])
        return question_means(flat).reshape(answers.shape[:2])

    def missing(self, score: str, /) -> int:
        """Returns how many answers lack a score."""
        return self.lines[score] - int((~np.isnan(self._answers[score])).sum())

    def bounds(self, score: str, lowest: float, highest: float, /) -> tuple[float, float] | None:
        """Returns the mean if every answer without a score had its least, or its greatest value.

        None if there is no answer.
        """
        answers, missing = self._answers[score], self.missing(score)
        if not self.lines[score]:
            return None
        total = float(np.nansum(answers))
        least, most = ((total + missing * value) / self.lines[score] for value in (lowest, highest))
        return least, most

    def add(self, line: ScoreLine, seed: int | None, run: int | None = None, /) -> None:
        """Takes a score of an answer."""
        question, column, layer = self.questions[line.question], self.seeds[seed], self.runs[run]
        self.fates[question, column] = line.fate
        self.kinds[question] = line.kind
        self.lines[line.score] += 1
        self._failures[column, layer] += line.score == SCORES[0] and line.why == "failed"
        if line.value is not None:
            self._answers[line.score][question, column, layer] = line.value
            self._values.pop(line.score, None)

    def part(self, score: str, indices: set[tuple[int, int]], /) -> Float64:
        """Returns the values of some answers; those of the others are missing."""
        of_all = self.values(score)
        values = np.full_like(of_all, np.nan)
        for index in indices:
            values[index] = of_all[index]
        return values


def tables_of(cells: Sequence[Cell], lines: Iterable[ScoreLine], /) -> dict[Condition, Table]:
    """Returns the scores of a run by condition."""
    of_id = {cell.id: cell for cell in cells}
    seeds: dict[Condition, dict[int | None, None]] = {}
    runs: dict[Condition, dict[int | None, None]] = {}
    for cell in cells:
        seeds.setdefault(cell.condition, {})[cell.random_seed] = None
        runs.setdefault(cell.condition, {})[cell.run] = None
    score_lines = list(lines)
    questions: dict[str, dict[str, None]] = {}
    for line in score_lines:
        questions.setdefault(of_id[line.cell].condition.graph, {})[line.question] = None
    tables = {
        condition: Table(
            condition,
            list(questions.get(condition.graph, {})),
            list(of_seed),
            list(runs[condition]),
        )
        for condition, of_seed in seeds.items()
    }
    for line in score_lines:
        cell = of_id[line.cell]
        tables[cell.condition].add(line, cell.random_seed, cell.run)
    return tables


def pair_tables(
    first: Table,
    second: Table,
    score: str,
    /,
    *,
    values: Float64 | None = None,
    questions: Sequence[str] | None = None,
) -> Paired | None:
    """Returns a score of one condition minus that of another, question by question.

    Where one has all random seeds of the other, and two or more are common, these are paired and
    no others are used. Else each side adds the variance of its own.

    Args:
        first: Taken from.
        second: Taken off; of the same questions, or of those of ``questions``.
        score: Its name.
        values: Taken in place of all values of the first, float64 [questions, seeds].
        questions: Ids that both have; by default all of the first.

    Returns:
        None if no question has a value in both.
    """
    left = first.values(score) if values is None else values
    right = second.values(score)
    if questions is not None:
        left = left[[first.questions[id_] for id_ in questions]]
        right = right[[second.questions[id_] for id_ in questions]]
    own, other = first.random_seeds, second.random_seeds
    common = [seed for seed in own if seed in other]
    shared = len(common) > 1 and len(common) == min(len(own), len(other))
    if shared:
        left = left[:, [first.seeds[seed] for seed in common]]
        right = right[:, [second.seeds[seed] for seed in common]]
    counts = [len(common)] if shared else [len(seeds) for seeds in (own, other) if seeds]
    difference = paired(
        left,
        right,
        are_seeds_shared=shared,
        seeds=min(counts, default=0),
        bounds=RANGES.get(score, UNIT),
    )
    return difference if difference.difference.n else None
