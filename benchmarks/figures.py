"""What one member of a benchmark measured, and how times are taken.

A time alone says more about the machine than about the code, so every figure stands beside that
of a reference which did the same work in the same run; their ratio travels between machines.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")
Detail = float | int | str


@dataclass(frozen=True, slots=True)
class Measured:
    """What a member returns.

    Attributes:
        own_ms: Milliseconds of each of our runs; at least one.
        reference_ms: Milliseconds of each run of the reference; empty where it did not run.
        unmeasured: Why the reference did not run, with the command that would let it.
        details: Further figures by name, units in the names.
    """

    own_ms: Sequence[float]
    reference_ms: Sequence[float] = ()
    unmeasured: str | None = None
    details: Mapping[str, Detail] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of a benchmark's table.

    Attributes:
        name: Name of the member.
        what: What was done, in words.
        reference: What it is compared with, in words.
        runs: How many runs of ours the median is of.
        own_median_ms, own_p95_ms: Ours; None where the member was skipped.
        reference_runs: How many runs of the reference.
        reference_median_ms: None where it did not run.
        ratio: Our median over the reference's: under 1 is faster.
        skipped: Why the member, or its reference alone, did not run.
        details: Further figures by name.
    """

    name: str
    what: str
    reference: str
    runs: int = 0
    own_median_ms: float | None = None
    own_p95_ms: float | None = None
    reference_runs: int = 0
    reference_median_ms: float | None = None
    ratio: float | None = None
    skipped: str | None = None
    details: Mapping[str, Detail] = field(default_factory=dict)


def figure(name: str, measured: Measured, /, *, what: str, reference: str) -> Figure:
    """Returns the row of what a member measured."""
    own = float(np.median(measured.own_ms))
    beside = float(np.median(measured.reference_ms)) if len(measured.reference_ms) else None
    return Figure(
        name=name,
        what=what,
        reference=reference,
        runs=len(measured.own_ms),
        own_median_ms=own,
        own_p95_ms=float(np.percentile(measured.own_ms, 95)),
        reference_runs=len(measured.reference_ms),
        reference_median_ms=beside,
        ratio=own / beside if beside else None,
        skipped=measured.unmeasured,
        details=dict(measured.details),
    )


def timed(
    function: Callable[[T], Any],
    cases: Iterable[T],
    /,
    *,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Returns how many milliseconds a function took on each case, by a clock of seconds.

    Garbage is collected before and not meanwhile: a reference that holds a large graph in Python
    objects would else slow down whatever is measured after it.
    """
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    times = []
    try:
        for case in cases:
            started = clock()
            function(case)
            times.append(1000 * (clock() - started))
    finally:
        if collecting:
            gc.enable()
    return times


def spread(items: Sequence[T], count: int, /) -> list[T]:
    """Returns some of a sequence, evenly spaced, the first always among them.

    >>> spread("abcdefgh", 3)
    ['a', 'c', 'f']
    """
    taken = min(count, len(items))
    return [items[len(items) * i // taken] for i in range(taken)]


def table_rows(figures: Sequence[Figure], /) -> list[list[str]]:
    """Returns the figures as rows for a person, the head first."""
    rows = [["name", "median ms", "95 % ms", "runs", "reference ms", "ratio", "reference"]]
    rows.extend(
        [
            item.name,
            _number(item.own_median_ms),
            _number(item.own_p95_ms),
            str(item.runs),
            _number(item.reference_median_ms),
            _number(item.ratio),
            item.reference,
        ]
        for item in figures
    )
    return rows


def notes(figures: Sequence[Figure], /) -> list[str]:
    """Returns what the table leaves out: each member's work, further figures, what was skipped."""
    lines = []
    for item in figures:
        parts = [item.what]
        parts.extend(f"{name} {_detail(value)}" for name, value in item.details.items())
        lines.append(f"{item.name}: {'; '.join(parts)}")
        if item.skipped:
            lines.append(f"  skipped: {item.skipped}")
    return lines


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _detail(value: Detail) -> str:
    return (
        f"{value:.4g}"
        if isinstance(value, float)
        else f"{value:,}"
        if isinstance(value, int)
        else value
    )
