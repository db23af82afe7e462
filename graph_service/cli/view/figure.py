"""The figure of a sweep: ATS, SC2D and SD2 against the level, a line a method (OKGQA, figure 5).

Drawn as SVG by ourselves: three panels are no reason for a plotting library.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

METRICS = ("ats", "sc2d", "sd2")

_COLOURS = {
    "relation-swapping": "#0072b2",
    "relation-replacement": "#d55e00",
    "edge-rewiring": "#009e73",
    "edge-deletion": "#7b3294",
    "path-deletion": "#000000",
    "contradiction": "#e69f00",
    "insertion": "#cc79a7",
    "type-preserving": "#56b4e9",
    "inversion": "#8c6d1f",
    "rule-deletion": "#7f7f7f",
    "stale": "#a6761d",
    "names": "#b2182b",
}
"""Told apart by people who see red and green alike."""

_OTHERS = "#555555"
_PANEL, _HEIGHT, _LEFT, _TOP, _GAP = 300, 240, 50, 40, 64
_LEGEND = 56
_TICKS = tuple(index / 5 for index in range(6))


@dataclass(frozen=True, slots=True)
class Point:
    """Mean, least and largest figure of a method's views at a level."""

    level: float
    mean: float
    least: float
    largest: float


def draw_deviation(rows: Iterable[dict[str, Any]], /, *, title: str = "") -> str:
    """Returns the figure of a sweep's rows as SVG.

    Args:
        rows: As ``view sweep`` writes them, with ``method``, ``level``, ``ats``, ``sc2d``,
            ``sd2`` and ``ats_base``.
        title: Stands above.
    """
    rows = list(rows)
    methods = list(dict.fromkeys(str(row["method"]) for row in rows))
    methods.sort(key=lambda name: (name not in _COLOURS, [*_COLOURS, name].index(name)))
    width = len(METRICS) * (_PANEL + _GAP) + 8
    height = _TOP + _HEIGHT + 44 + _LEGEND
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        _text(width / 2, 16, title, size=13),
    ]
    for panel, metric in enumerate(METRICS):
        left = _LEFT + panel * (_PANEL + _GAP)
        parts += _axes(left, metric.upper())
        base = [float(row["ats_base"]) for row in rows] if metric == "ats" else []
        if base:
            y = _y(sum(base) / len(base))
            parts.append(
                f'<path d="M{left} {y:.1f}H{left + _PANEL}" stroke="#999999" '
                'stroke-dasharray="3 3" fill="none"/>'
            )
            parts.append(_text(left + _PANEL - 4, y - 4, "base", end=True, colour="#777777"))
        for index, method in enumerate(methods):
            points = points_of([row for row in rows if row["method"] == method], metric)
            parts += _line(left, points, _COLOURS.get(method, _OTHERS), index)
    for index, method in enumerate(methods):
        x, y = _LEFT + index * 220, height - 20
        colour = _COLOURS.get(method, _OTHERS)
        parts.append(f'<path d="M{x} {y}h28" stroke="{colour}" stroke-width="2"/>')
        parts.append(_mark(x + 14, y, colour, index))
        parts.append(f'<text x="{x + 36}" y="{y + 4}">{escape(method.replace("-", " "))}</text>')
    return "\n".join([*parts, "</svg>", ""])


def points_of(rows: Sequence[dict[str, Any]], metric: str, /) -> list[Point]:
    """Returns the points of one method's rows, by level."""
    levels: dict[float, list[float]] = {}
    for row in rows:
        levels.setdefault(float(row["level"]), []).append(float(row[metric]))
    return [
        Point(level, sum(values) / len(values), min(values), max(values))
        for level, values in sorted(levels.items())
    ]


def _x(left: float, level: float) -> float:
    return left + level * _PANEL


def _y(share: float) -> float:
    return _TOP + (1.0 - share) * _HEIGHT


def _axes(left: int, name: str) -> list[str]:
    bottom = _TOP + _HEIGHT
    parts = [
        f'<path d="M{left} {_TOP}V{bottom}H{left + _PANEL}" stroke="black" fill="none"/>',
        _text(left + _PANEL / 2, _TOP - 8, name, size=13),
        _text(left + _PANEL / 2, bottom + 34, "perturbation level"),
    ]
    for tick in _TICKS:
        x, y = _x(left, tick), _y(tick)
        parts.append(
            f'<path d="M{left} {y:.1f}H{left + _PANEL}" stroke="#e4e4e4" fill="none"/>'
            if tick
            else ""
        )
        parts.append(f'<path d="M{x:.1f} {bottom}v4M{left} {y:.1f}h-4" stroke="black"/>')
        parts.append(_text(x, bottom + 17, f"{tick:.1f}"))
        parts.append(_text(left - 8, y + 4, f"{tick:.1f}", end=True))
    return parts


def _line(left: int, points: list[Point], colour: str, index: int) -> list[str]:
    if not points:
        return []
    line = " ".join(f"{_x(left, p.level):.1f},{_y(p.mean):.1f}" for p in points)
    band = [(p.level, p.largest) for p in points]
    band += [(p.level, p.least) for p in reversed(points)]
    outline = " ".join(f"{_x(left, level):.1f},{_y(share):.1f}" for level, share in band)
    return [
        f'<polygon points="{outline}" fill="{colour}" fill-opacity="0.15" stroke="none"/>',
        f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>',
        *(_mark(_x(left, p.level), _y(p.mean), colour, index) for p in points),
    ]


def _mark(x: float, y: float, colour: str, index: int) -> str:
    shapes = (
        "M{x} {y}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
        "M{x} {y}m-4 -4h8v8h-8z",
        "M{x} {y}m0 -5l5 9h-10z",
        "M{x} {y}m0 -5l5 5l-5 5l-5 -5z",
    )
    path = shapes[index % len(shapes)].format(x=f"{x:.1f}", y=f"{y:.1f}")
    return f'<path d="{path}" fill="{colour}"/>'


def _text(
    x: float, y: float, text: str, *, size: int = 11, end: bool = False, colour: str = "black"
) -> str:
    anchor = "end" if end else "middle"
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'fill="{colour}">{escape(text)}</text>'
    )
