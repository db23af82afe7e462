"""The leaderboard as text: two tables a set for a page, and all figures as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from benchmarks.retrievers.measuring import BASE, MEASURES, Line

_OF_BASE = ("answers@5", "answers@10", "answers@20", "statements@20", "hits@1")
_OF_VIEW = ("answers@5", "hits@1")
_TITLES = {"answers@10": "@10", "answers@20": "@20", "hits@1": "Hits@1"}


def share(line: Line, measure: str, /) -> str:
    """Returns a share with its interval, such as ``.83 (.77 to .88)``."""
    estimate = line.measures[measure]
    if estimate.value is None:
        return "-"
    value, low, high = (
        "-" if number is None else f"{number:.2f}".removeprefix("0")
        for number in (estimate.value, estimate.low, estimate.high)
    )
    return f"{value} ({low} to {high})"


def markdown(lines: Sequence[Line], /) -> str:
    """Returns two tables for each set, a row a retriever: the base, and each view."""
    return "\n".join(
        "\n".join(_tables([line for line in lines if line.set == name]))
        for name in dict.fromkeys(line.set for line in lines)
    )


def _tables(lines: Sequence[Line]) -> list[str]:
    views = list(dict.fromkeys(line.view for line in lines if line.view != BASE))
    by_cell = {(line.retriever, line.view): line for line in lines}
    retrievers = list(dict.fromkeys(line.retriever for line in lines))
    has_memory = any(line.peak_mb for line in lines)
    head = ["retriever", *(_TITLES.get(name, name) for name in _OF_BASE), "ms"]
    head += ["MB"] if has_memory else []
    rows: list[list[str]] = []
    for retriever in retrievers:
        base = by_cell[retriever, BASE]
        row = [retriever, *(share(base, name) for name in _OF_BASE), f"{base.median_ms:.0f}"]
        row += [f"{base.peak_mb:.0f}" if base.peak_mb else "-"] if has_memory else []
        rows.append(row)
    text = [f"### {lines[0].set}", "", f"{lines[0].questions} questions.", "", *_table(head, rows)]
    if views:
        measures = ", ".join(_TITLES.get(name, name) for name in _OF_VIEW)
        text += [f"The same on views: {measures}.", ""]
        of_views = [
            [each, *(_of_view(by_cell[each, view]) for view in views)] for each in retrievers
        ]
        text += _table(["retriever", *views], of_views)
    return text


def _of_view(line: Line) -> str:
    return ", ".join(share(line, name) for name in _OF_VIEW)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [_row(head), f"|{'---|' * len(head)}", *map(_row, rows), ""]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def csv_text(lines: Sequence[Line], /) -> str:
    """Returns all figures, a line a retriever and view: means, ends of intervals, times, memory."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [f"{measure}{end}" for measure in MEASURES for end in ("", " low", " high")]
    writer.writerow(["set", "view", "retriever", "questions", *names, "ms", "MB"])
    for line in lines:
        estimates = [line.measures[measure] for measure in MEASURES]
        shares = [number for each in estimates for number in (each.value, each.low, each.high)]
        writer.writerow(
            [
                *(line.set, line.view, line.retriever, line.questions),
                *("" if number is None else f"{number:.3f}" for number in shares),
                f"{line.median_ms:.1f}",
                f"{line.peak_mb:.0f}" if line.peak_mb else "",
            ]
        )
    return text.getvalue()
