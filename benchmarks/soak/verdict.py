"""What the lines of a run come to: figures, and what must not have happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.soak.answers import ANSWERED, LATE, REFUSED, WRONG

GROWTH = 0.05
"""Part of its middle value by which memory, descriptors or threads may grow after the start."""
FEW = 2.0
"""Descriptors or threads by which they may, where that is more."""
MIB = 2**20
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line through what was held over time, by least squares.

    Attributes:
        median: Of the values.
        per_minute: How much they grow a minute.
        growth: From the first to the last look, by the line.
        n: How many looks.
    """

    median: float
    per_minute: float
    growth: float
    n: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run came to.

    Attributes:
        figures: Lines of words.
        faults: What failed; none for a run that passed.
    """

    figures: Sequence[str]
    faults: Sequence[str]


@dataclass(slots=True)
class _Lines:
    """The lines of a run by what they tell of."""

    by_what: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def of(self, what: str) -> list[dict[str, Any]]:
        return self.by_what.get(what, [])


def line_through(at_s: Sequence[float], values: Sequence[float], /) -> Line:
    """Returns the line through values over seconds.

    >>> line_through([0, 60, 120], [10, 11, 12])
    Line(median=11.0, per_minute=1.0, growth=2.0, n=3)
    """
    if len(at_s) < 2:
        return Line(float(np.median(values)) if len(values) else 0.0, 0.0, 0.0, len(at_s))
    per_s = float(np.polyfit(at_s, values, 1)[0])
    growth = per_s * (at_s[-1] - at_s[0])
    return Line(float(np.median(values)), round(60 * per_s, 9), round(growth, 9), len(at_s))


def judge(records: Iterable[Mapping[str, Any]], /) -> Verdict:
    """Returns what the records of a run come to."""
    lines = _Lines()
    for record in records:
        lines.by_what.setdefault(record["what"], []).append(dict(record))
    figures, faults = [], []
    for part in (_beginning, _answers, _editions, _beside, _held):
        said, failed = part(lines)
        figures += said
        faults += failed
    return Verdict(figures, faults)


def _beginning(lines: _Lines) -> tuple[list[str], list[str]]:
    said = [f"{name}: {value}" for one in lines.of("about") for name, value in one["about"].items()]
    for one in lines.of("rate"):
        said.append(
            f"capacity: {one['capacity']:.1f} answers a second, asked by {one['connections']} "
            f"connections for {one['seconds']:.0f} s; load average {one['load_average']:.1f}"
        )
        said.append(f"asked then: {one['rate']:.1f} requests a second")
    return said, [] if lines.of("end") else ["the run did not come to its end"]


def _answers(lines: _Lines) -> tuple[list[str], list[str]]:
    requests = lines.of("request")
    faults = []
    if not requests:
        return [], ["nothing was asked"]
    counts = Counter(one["outcome"] for one in requests)
    seconds = requests[-1]["at"] - min(one["at"] for one in requests)
    answered = [one for one in requests if one["outcome"] == ANSWERED]
    refused = [one for one in requests if one["outcome"] == REFUSED]
    repeats = sum(one["repeat"] for one in answered)
    said = [
        f"requests: {len(requests):,} in {seconds:.0f} s; "
        + ", ".join(f"{counts[kind]:,} {kind}" for kind in (ANSWERED, REFUSED, LATE, WRONG)),
        f"answers: {len(answered) / max(seconds, 1e-9):.1f} a second; "
        f"{repeats / max(1, len(answered)):.1%} were repeats, given as they were kept",
        f"refusals: {_times(refused)}",
    ]
    for kind in sorted({one["kind"] for one in requests}):
        of_kind = [one for one in answered if one["kind"] == kind]
        asked = sum(one["kind"] == kind for one in requests)
        said.append(f"  {kind}: {len(of_kind):,} of {asked:,} answered, {_times(of_kind)}")
    lags = [one["lag_ms"] for one in requests]
    said.append(f"requests waited for a free connection here: {_spread(lags)}")
    for kind in (LATE, WRONG):
        if counts[kind]:
            notes = Counter(one["note"] for one in requests if one["outcome"] == kind)
            faults.append(f"{counts[kind]:,} requests were {kind}: {_most(notes)}")
    if not answered:
        faults.append("no request was answered")
    return said, faults


def _editions(lines: _Lines) -> tuple[list[str], list[str]]:
    answered = [
        one
        for what in ("capacity", "request")
        for one in lines.of(what)
        if one["outcome"] == ANSWERED
    ]
    mixed = Counter(one["mixed"] for one in answered if one["mixed"])
    seen = [one for each in lines.of("end") for one in each["editions"]]
    said = [f"answers checked for one edition: {len(answered):,}, of {len(seen)} editions"]
    faults = [f"{mixed.total():,} answers mix editions: {_most(mixed)}"] if mixed else []
    return said, faults


def _beside(lines: _Lines) -> tuple[list[str], list[str]]:
    loads, views = lines.of("load"), lines.of("view")
    said, faults = [], []
    if loads:
        took = [1000 * one["seconds"] for one in loads]
        said.append(f"loads with --replace: {len(loads)}, {_spread(took)}")
    if views:
        took = [1000 * one["seconds"] for one in views]
        said.append(f"views made by jobs: {len(views)}, {_spread(took)}")
    bad_loads = Counter(one["fault"] for one in loads if one["fault"])
    bad_views = Counter(one["state"] for one in views if one["state"] != "DONE")
    if bad_loads:
        faults.append(f"{bad_loads.total()} loads failed: {_most(bad_loads)}")
    if bad_views:
        faults.append(f"{bad_views.total()} views were not made: {_most(bad_views)}")
    return said, faults


def _held(lines: _Lines) -> tuple[list[str], list[str]]:
    settled = [one["at"] for one in lines.of("settled")]
    looks = [one for one in lines.of("held") if settled and settled[0] <= one["at"]]
    ended = [one["at"] for one in lines.of("asked")]
    looks = [one for one in looks if not ended or one["at"] <= ended[0]]
    if len(looks) < 2:
        return [], ["nobody looked at the processes after the start"]
    said, faults = [], []
    at_s = [one["at"] for one in looks]
    for name, unit, few, is_judged in (
        ("anonymous", MIB, 0.0, True),
        ("resident", MIB, 0.0, False),
        ("cached", MIB, 0.0, False),
        ("sockets", 1, FEW, True),
        ("files", 1, FEW, True),
        ("threads", 1, FEW, True),
        ("mappings", 1, FEW, True),
    ):
        line = line_through(at_s, [one[name] / unit for one in looks])
        most = max(one[name] / unit for one in looks)
        in_mib = " MiB" * (unit == MIB)
        said.append(
            f"{name}: median {line.median:.1f}{in_mib}, most {most:.1f}{in_mib}, "
            f"{line.per_minute:+.3f}{in_mib} a minute over {at_s[-1] - at_s[0]:.0f} s "
            f"(n = {line.n})"
        )
        if is_judged and line.growth > max(GROWTH * line.median, few):
            faults.append(
                f"{name} grew by {line.growth:.1f}{in_mib} from {line.median:.1f}{in_mib}, "
                f"which is more than {GROWTH:.0%}"
            )
    counts = {one["processes"] for one in looks}
    if len(counts) > 1:
        faults.append(f"processes ended and began: {sorted(counts)} at a time")
    taken = looks[-1]["processor_s"] - looks[0]["processor_s"]
    said.append(f"processor time of the server: {taken / (at_s[-1] - at_s[0]):.2f} s a second")
    return said, faults


def _times(requests: Sequence[Mapping[str, Any]]) -> str:
    return _spread([one["ms"] for one in requests])


def _spread(ms: Sequence[float]) -> str:
    if not ms:
        return "none"
    half, most = np.percentile(ms, [50, 99])
    return f"median {half:,.0f} ms, 99th percentile {most:,.0f}, longest {max(ms):,.0f}"


def _most(notes: Counter[str]) -> str:
    return "; ".join(f"{number} x {note}" for note, number in notes.most_common(_SHOWN))
