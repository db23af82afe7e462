"""A table of a paper: its headings, and cells that hold a figure over runs or say why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from queries.score.metric import Score
from queries.score.report import over_runs

NOT_AVAILABLE = "not available"


class Form(Enum):
    """How a column prints its figures: a factor and the number of decimals.

    ``PERCENT`` and ``FINE_PERCENT`` are of a share, ``POINTS`` of a score from 0 to 100.
    """

    SHARE = (1.0, 3)
    PERCENT = (100.0, 1)
    FINE_PERCENT = (100.0, 2)
    POINTS = (1.0, 2)
    RATING = (1.0, 2)
    CORRELATION = (1.0, 4)
    COUNT = (1.0, 0)
    MEAN = (1.0, 1)

    def text(self, value: float, /) -> str:
        """Returns a value as the column prints it.

        >>> Form.PERCENT.text(0.9204)
        '92.0'
        """
        factor, decimals = self.value
        return f"{factor * value:.{decimals}f}"


@dataclass(frozen=True, slots=True)
class Figure:
    """A cell of a table.

    Attributes:
        value: The mean over runs; None where there is none.
        deviation: Standard deviation over runs (n - 1); None for fewer than two.
        runs: Runs that have a value.
        n: Cases of the first run that are in its figure.
        failed: Cases that failed, over all runs.
        reason: Why there is no value.
    """

    value: float | None
    deviation: float | None = None
    runs: int = 1
    n: int = 0
    failed: int = 0
    reason: str | None = None

    def text(self, form: Form, /) -> str:
        """Returns ``92.0 ± 1.5``, or ``not available``."""
        if self.value is None:
            return NOT_AVAILABLE
        spread = "" if self.deviation is None else f" ± {form.text(self.deviation)}"
        return f"{form.text(self.value)}{spread}"


def missing(reason: str, /) -> Figure:
    """Returns a cell without a value."""
    return Figure(None, runs=0, reason=reason)


def figure_of(scores: Sequence[Score], /) -> Figure:
    """Returns mean and standard deviation of one score over runs.

    >>> figure_of([Score(0.5, 9), Score(0.7, 9)]).text(Form.SHARE)
    '0.600 ± 0.141'
    """
    spread = over_runs(scores)
    if spread.mean is None:
        reasons = [score.reason for score in scores if score.reason]
        return missing(reasons[0] if reasons else "no run has a value")
    known = [score for score in scores if score.value is not None]
    return Figure(spread.mean, spread.deviation, len(known), known[0].n, spread.failed)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of figures: the paper's heading, and how it prints."""

    heading: str
    form: Form = Form.SHARE


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: what stands before its figures, and one figure a column."""

    labels: tuple[str, ...]
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table of a paper.

    Attributes:
        id: ``table-3``; what ``--only`` takes.
        title: As the paper has it, shortened.
        label_headings: Over the labels of the rows.
        columns: The paper's columns, in its order; ours stand after them, marked †.
        rows: One a model or setting.
        notes: What a reader should know.
    """

    id: str
    title: str
    label_headings: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def reasons(self) -> tuple[str, ...]:
        """Returns why cells have no value, each reason once, in the order of the cells."""
        figures = [figure for row in self.rows for figure in row.figures]
        return tuple(dict.fromkeys(f.reason or "" for f in figures if f.value is None))

    def cells(self) -> list[list[str]]:
        """Returns the headings and then the rows as texts; a cell without a value names its reason
        by number.
        """
        numbers = {reason: index for index, reason in enumerate(self.reasons(), 1)}
        head = [*self.label_headings, *(column.heading for column in self.columns)]
        lines = [head]
        for row in self.rows:
            texts = [
                figure.text(column.form)
                + ("" if figure.value is not None else f" ({numbers[figure.reason or '']})")
                for figure, column in zip(row.figures, self.columns, strict=True)
            ]
            lines.append([*row.labels, *texts])
        return lines

    def notes_of_cells(self) -> tuple[str, ...]:
        """Returns the notes, how many runs there were, what failed, and the numbered reasons."""
        figures = [figure for row in self.rows for figure in row.figures]
        runs = max((figure.runs for figure in figures), default=0)
        lines = [*self.notes]
        if runs > 1:
            lines.append(f"mean ± standard deviation of {runs} runs")
        failed = max((figure.failed for figure in figures), default=0)
        if failed:
            lines.append(f"up to {failed} cases of a cell failed, and are in no figure")
        lines += [
            f"({index}) {NOT_AVAILABLE}: {why}" for index, why in enumerate(self.reasons(), 1)
        ]
        return tuple(lines)

    def markdown(self) -> str:
        """Returns the table with its title and its notes as Markdown."""
        head, *rows = self.cells()
        lines = [f"## {self.title}", "", _row(head), _row(["---"] * len(head))]
        lines += [_row(row) for row in rows]
        notes = self.notes_of_cells()
        if notes:
            lines += ["", *(f"* {note}" for note in notes)]
        return "\n".join(lines) + "\n"

    def tex(self) -> str:
        """Returns the table for LaTeX, with a caption of title and notes and a label."""
        head, *rows = self.cells()
        form = "l" * len(self.label_headings) + "r" * len(self.columns)
        caption = ". ".join([self.title, *self.notes_of_cells()])
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{{form}}}",
            r"\hline",
            _tex_row(head),
            r"\hline",
            *(_tex_row(row) for row in rows),
            r"\hline",
            r"\end{tabular}",
            rf"\caption{{{_tex(caption)}}}",
            rf"\label{{tab:{self.id}}}",
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def to_plain(self) -> Mapping[str, Any]:
        """Returns the table as JSON-ready data; figures as they are, not as they print."""
        return {
            "id": self.id,
            "title": self.title,
            "labels": self.label_headings,
            "columns": [column.heading for column in self.columns],
            "rows": [
                {
                    "labels": row.labels,
                    "figures": [
                        {
                            "value": figure.value,
                            "deviation": figure.deviation,
                            "runs": figure.runs,
                            "n": figure.n,
                            "failed": figure.failed,
                            "reason": figure.reason,
                        }
                        for figure in row.figures
                    ],
                }
                for row in self.rows
            ],
            "notes": self.notes_of_cells(),
        }


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _tex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(_tex, cells)) + r" \\"


_TEX = {"&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "±": r"$\pm$", "†": r"\dag{}", "$": r"\$", "{": r"\{", "}": r"\}"}  # fmt: skip


def _tex(text: str) -> str:
    escaped = "".join(_TEX.get(sign, sign) for sign in text.replace("\\", "/"))
    return escaped.replace("~", r"\textasciitilde{}").replace("^", r"\textasciicircum{}")
