"""What every family of scores reports: totals, totals by group, and mean and spread over runs.

A group is a question's type, its long-tail level or its number of reference triples (L9, O9).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
import orjson

from graph_service.errors import InputError
from graph_service.model.serialise import from_plain, to_plain
from queries.generate.citations import one_line
from queries.score.metric import Score

Scores = Mapping[str, Score]
MOST_REFERENCES = 3
AXES = ("kind", "level", "references")


@dataclass(frozen=True, slots=True)
class Groups:
    """What a case is grouped by; what is not known is left empty.

    Attributes:
        kind: The question's type, such as ``comparative``.
        level: Its long-tail level, such as ``IV``.
        references: Its number of reference triples.
    """

    kind: str = ""
    level: str = ""
    references: int | None = None

    def named(self) -> tuple[tuple[str, str], ...]:
        """Returns ``(axis, group)`` of each that is known; more than 3 references are one group.

        >>> Groups("critical", references=7).named()
        (('kind', 'critical'), ('references', '>3'))
        """
        groups = []
        if self.kind:
            groups.append(("kind", self.kind))
        if self.level:
            groups.append(("level", self.level))
        if self.references is not None:
            many = self.references > MOST_REFERENCES
            groups.append(("references", f">{MOST_REFERENCES}" if many else str(self.references)))
        return tuple(groups)


class Row(Protocol):
    """One scored case; ``failure`` says why it has no score."""

    @property
    def id(self) -> str:
        """Id of the case, unique among the rows."""

    @property
    def groups(self) -> Groups:
        """What it is grouped by."""

    @property
    def failure(self) -> str | None:
        """Why there is no score; None where there is."""


@runtime_checkable
class HasParts(Protocol):
    """A row that can have failed in a part: a fact, a rating, a label."""

    @property
    def failures(self) -> tuple[str, ...]:
        """Why parts have no score, one a part."""


def is_complete(row: Row, /) -> bool:
    """Returns whether neither a case nor any part of it failed."""
    return row.failure is None and not (isinstance(row, HasParts) and row.failures)


RowType = TypeVar("RowType", bound=Row)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; the first row is the head."""

    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Section:
    """Parts of a report under a heading."""

    heading: str
    parts: tuple[Part, ...]


Part: TypeAlias = "str | Mapping[str, Score | str] | Table | Section"
"""What people read of a report: a line, figures by name, a table, or parts under a heading."""


def lines_of(parts: Iterable[Part], /) -> Iterator[str]:
    """Yields the lines of parts of a report: figures and cells in columns, sections indented.

    >>> half = Score(0.5, 6)
    >>> for line in lines_of(["2 cases", Section("base", ({"F1": half, "recall": half},))]):
    ...     print(line)
    2 cases
    base
      F1      0.500 (n=6)
      recall  0.500 (n=6)
    """
    for part in parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, Section):
            yield part.heading
            yield from ("  " + line for line in lines_of(part.parts))
        else:
            rows = part.rows if isinstance(part, Table) else [
                (name, value if isinstance(value, str) else value.text())
                for name, value in part.items()
            ]  # fmt: skip
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            for row in rows:
                cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
                yield "  ".join(cells).rstrip()


class Report:
    """What a score gives: figures with what they rest on, and what failed.

    A score of the command line returns one. What it prints, its JSON and its exit code come of it.
    """

    __slots__ = ()

    @property
    def has_failed(self) -> bool:
        """Whether cases, or parts of them, have no score because something failed."""
        return False

    def parts(self) -> Iterable[Part]:
        """Returns what people read, from the top."""
        raise NotImplementedError

    def to_plain(self) -> dict[str, Any]:
        """Returns the report as JSON-ready data."""
        plain: dict[str, Any] = to_plain(self)
        return plain

    def lines(self) -> list[str]:
        """Returns the report for people."""
        return list(lines_of(self.parts()))


@dataclass(frozen=True, slots=True)
class PlainReport(Report):
    """A report of data that has no type of its own.

    Attributes:
        data: Its JSON.
        shown: What people read.
        failed: Whether cases, or parts of them, failed.
    """

    data: Mapping[str, Any]
    shown: Sequence[Part]
    failed: bool = False

    @property
    def has_failed(self) -> bool:
        """Whether cases, or parts of them, failed."""
        return self.failed

    def parts(self) -> Iterable[Part]:
        """Returns the lines, figures and tables as they were given."""
        return self.shown

    def to_plain(self) -> dict[str, Any]:
        """Returns the data as JSON-ready values."""
        plain: dict[str, Any] = to_plain(self.data)
        return plain


@dataclass(frozen=True, slots=True)
class CaseReport(Report):
    """Scores over a set of cases.

    Attributes:
        title: What was scored.
        basis: What the scores rest on: judge, prompt, threshold, by name.
        cases: How many cases there are, those that failed included.
        failures: How many failed, by the first words of the reason, most frequent first.
        reasons: The first reason of each in full.
        scores: Over all cases, by name.
        by: By axis (``kind``, ``level``, ``references``) and group; axes with one group are left out.
        notes: What a reader should know.
        rows: The cases, one by one.
    """

    title: str
    cases: int
    scores: Scores
    basis: Mapping[str, str] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    by: Mapping[str, Mapping[str, Scores]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    rows: Sequence[Row] = ()

    @property
    def has_failed(self) -> bool:
        """Whether a case, or a part of one, failed."""
        return not all(map(is_complete, self.rows))

    def score(self, name: str, /) -> Score:
        """Returns a score by name; raises ``InputError`` naming those there are."""
        if name not in self.scores:
            raise InputError(f"unknown score {name!r}; there are {', '.join(self.scores)}")
        return self.scores[name]

    def parts(self) -> Iterator[Part]:
        """Yields what was scored, failures, notes, and the scores, over all cases and by group."""
        yield f"{self.title}: {self.cases} cases, {sum(self.failures.values())} failed"
        yield from (f"{name}: {value}" for name, value in self.basis.items())
        for why, count in self.failures.items():
            yield f"failed {count} times: {self.reasons.get(why, why)}"
        yield from self.notes
        yield self.scores
        for axis, groups in self.by.items():
            for group, scores in groups.items():
                yield Section(f"{axis} {group}", (scores,))


def files_report(reports: Mapping[str, CaseReport], /) -> PlainReport:
    """Returns the reports of several files that are compared, by the name of the file."""
    return PlainReport(
        {"files": [{"file": name, **report.to_plain()} for name, report in reports.items()]},
        [Section(name, tuple(report.parts())) for name, report in reports.items()],
        failed=any(report.has_failed for report in reports.values()),
    )


def make_report(
    title: str,
    rows: Sequence[RowType],
    summarise: Callable[[Sequence[RowType]], Scores],
    /,
    *,
    basis: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> CaseReport:
    """Returns the scores of some rows, over all of them and over each group.

    Args:
        title: What was scored.
        rows: The cases; those that failed are among them.
        summarise: From rows to scores; called once for all, and once a group.
        basis: What the scores rest on.
        notes: What a reader should know.
    """
    reasons: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for row in rows:
        if row.failure is not None:
            why = row.failure.partition(":")[0]
            counts[why] += 1
            reasons.setdefault(why, one_line(row.failure))
    counted = sorted(counts.items(), key=lambda x: (-x[1], x))
    axes: dict[str, dict[str, list[RowType]]] = {}
    for row in rows:
        for axis, group in row.groups.named():
            axes.setdefault(axis, {}).setdefault(group, []).append(row)
    return CaseReport(
        title=title,
        cases=len(rows),
        scores=summarise(rows),
        basis=dict(basis or {}),
        failures=dict(counted),
        by={
            axis: {group: summarise(groups[group]) for group in sorted(groups, key=_group_order)}
            for axis, groups in axes.items()
            if len(groups) > 1
        },
        notes=tuple(notes),
        reasons={why: reasons[why] for why, _ in counted},
        rows=tuple(rows),
    )


def _group_order(name: str) -> tuple[bool, str]:
    return name.startswith(">"), name


@dataclass(frozen=True, slots=True)
class RunSpread:
    """One score over several runs (O9).

    Attributes:
        values: Of each run in order; None where it had none.
        mean: Over the runs that have a value; None where none has.
        deviation: Sample standard deviation (n - 1); None for fewer than two such runs.
        failed: Cases that failed, over all runs.
    """

    values: tuple[float | None, ...]
    mean: float | None
    deviation: float | None
    failed: int

    def text(self) -> str:
        """Returns ``0.600 +- 0.141 (runs 0.500 0.700, failed=2)``."""
        if self.mean is None:
            return "none (no run has a value)"
        spread = "" if self.deviation is None else f" +- {self.deviation:.3f}"
        shown = " ".join("none" if value is None else f"{value:.3f}" for value in self.values)
        failed = f", failed={self.failed}" if self.failed else ""
        return f"{self.mean:.3f}{spread} (runs {shown}{failed})"


def over_runs(scores: Sequence[Score], /) -> RunSpread:
    """Returns mean and deviation of one score over runs.

    >>> over_runs([Score(0.5, 9), Score(0.7, 9)]).text()
    '0.600 +- 0.141 (runs 0.500 0.700)'
    """
    values = [score.value for score in scores]
    known = np.asarray([value for value in values if value is not None], dtype=np.float64)
    return RunSpread(
        tuple(values),
        float(known.mean()) if len(known) else None,
        float(known.std(ddof=1)) if len(known) > 1 else None,
        sum(score.failed for score in scores),
    )


def read_report_groups(path: str | Path, axis: str, /) -> dict[str, dict[str, Score]]:
    """Returns the scores of each group of a report that ``score ... --json`` printed.

    Args:
        path: The report.
        axis: One of ``AXES``.

    Raises:
        InputError: The file cannot be read, is no such report, or has no groups on that axis.
    """
    fields = _read_report(path)
    listed = fields.get("by", {}).get(axis) if isinstance(fields.get("by"), dict) else None
    if listed is None and axis == "kind":
        # Citations are grouped by kind alone.
        listed = fields.get("by_kind")
    if not isinstance(listed, dict) or not listed:
        raise InputError(
            f"{path}: scores by {axis} were expected; it has none, or all of its cases are of one",
            argument="reports",
        )
    return {group: _scores(scores, path) for group, scores in listed.items()}


def _expected(path: str | Path) -> str:
    return f"a report that `score ... --json` printed was expected at {path}"


def _read_report(path: str | Path) -> dict[str, Any]:
    try:
        fields = orjson.loads(Path(path).read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise InputError(f"{_expected(path)}; {error}", argument="reports") from error
    if not isinstance(fields, dict):
        raise InputError(f"{_expected(path)}; it has no scores", argument="reports")
    return fields


def _scores(listed: Any, path: str | Path) -> dict[str, Score]:
    if not isinstance(listed, dict) or not listed:
        raise InputError(f"{_expected(path)}; it has no scores", argument="reports")
    return {name: from_plain(Score, score) for name, score in listed.items()}


def merge_groups(
    reports: Sequence[Mapping[str, Mapping[str, Score]]], /
) -> dict[str, dict[str, Score]]:
    """Returns the scores of several reports by name, each with its score in every group.

    Args:
        reports: Of ``read_report_groups``; a score that a group lacks is left out there.

    Raises:
        InputError: Two reports have a score of one name.

    >>> table = merge_groups([{"general": {"F1": Score(0.4, 9)}, "specific": {"F1": Score(0.5, 9)}}])
    >>> {group: score.value for group, score in table["F1"].items()}
    {'general': 0.4, 'specific': 0.5}
    """
    merged: dict[str, dict[str, Score]] = {}
    for report in reports:
        own: dict[str, dict[str, Score]] = {}
        for group, scores in report.items():
            for name, score in scores.items():
                own.setdefault(name, {})[group] = score
        twice = sorted(own.keys() & merged.keys())
        if twice:
            raise InputError(
                f"two reports have the score {twice[0]!r}; give one report of each kind",
                argument="reports",
            )
        merged |= own
    return merged
