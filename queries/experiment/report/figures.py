"""Figures of a run, as SVG and PNG, drawn by matplotlib: views, curves, radar, heat map, scatter.

The same figures give the same SVG: no date stands in it, and its ids do not change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from graph_service.errors import SetupError
from queries.experiment.analysis import Analysis, Curve, Part, Row
from queries.experiment.cells import CellKind, Condition
from queries.experiment.plan import AnswererKind
from queries.experiment.scoring import RANGES, TITLES
from queries.experiment.statistics import UNIT, Estimate

# Okabe and Ito's colours, which people who see few colours tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKS = ("o", "s", "^", "D", "v", "P", "X")
_RETRIEVED = "retrieved"
_ANSWERED = ("hits_at_1", "answer_named", "f1")
_LEAST_KINDS = 3
_Draw = Callable[[Callable[..., Any]], Any]


@dataclass(frozen=True, slots=True)
class FigureName:
    """A figure that was drawn.

    Attributes:
        score: What it shows; empty for one of several scores.
        name: Without folder and ending; there is an ``.svg`` and a ``.png`` of it.
    """

    score: str
    name: str


def draw_figures(analysis: Analysis, folder: Path, /) -> tuple[FigureName, ...]:
    """Draws all figures of a run.

    Args:
        analysis: What is drawn.
        folder: Where to; made where there is none.

    Raises:
        SetupError: matplotlib is not installed.
    """
    try:
        matplotlib: Any = import_module("matplotlib")
        figure: Any = import_module("matplotlib.figure")
    except ImportError as error:
        raise SetupError(
            "figures are drawn by matplotlib, which is not installed",
            hint="pip install 'graph-service[experiment]', or leave them out: --no-figures",
        ) from error
    folder.mkdir(parents=True, exist_ok=True)
    settings = {"svg.hashsalt": "graph-service", "font.size": 9, "axes.grid": True,
                "grid.alpha": 0.3, "svg.fonttype": "none"}  # fmt: skip
    written: list[FigureName] = []
    with matplotlib.rc_context(settings):
        for figure_name, draw in _figures(analysis):
            picture = draw(figure.Figure)
            for ending in ("svg", "png"):
                picture.savefig(
                    folder / f"{figure_name.name}.{ending}",
                    dpi=150,
                    bbox_inches="tight",
                    metadata={"Date": None} if ending == "svg" else {},
                )
            written.append(figure_name)
    return tuple(written)


def figure_names(analysis: Analysis, /) -> tuple[str, ...]:
    """Returns the names of the figures of a run, without drawing them."""
    return tuple(figure_name.name for figure_name, _ in _figures(analysis))


def _figures(analysis: Analysis) -> Iterator[tuple[FigureName, _Draw]]:
    for graph in dict.fromkeys(row.condition.graph for row in analysis.rows):
        for score in analysis.scores:
            for name, draw in _of_score(analysis, graph, score):
                yield FigureName(score, _safe(name)), draw
        points = _points(analysis, graph)
        if points:
            name = f"{graph}-retrieval-against-answer"
            yield FigureName("", _safe(name)), partial(_scatter, points)


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", name)


def _of_score(analysis: Analysis, graph: str, score: str) -> Iterator[tuple[str, _Draw]]:
    curves = [
        curve for curve in analysis.curves if (curve.condition.graph, curve.score) == (graph, score)
    ]
    kinds = [
        part for part in analysis.by_kind if (part.condition.graph, part.score) == (graph, score)
    ]
    rows = [
        row
        for row in analysis.rows
        if (row.condition.graph, row.score) == (graph, score) and row.condition.strategy is not None
    ]
    for answerer in dict.fromkeys(row.condition.answerer.name for row in rows):
        of_views = [row for row in rows if row.condition.answerer.name == answerer]
        if any(row.condition.kind is CellKind.VIEW for row in of_views):
            yield f"{graph}-{score}-views-{answerer}", partial(_views, of_views)
        own = [curve for curve in curves if curve.condition.answerer.name == answerer]
        # The base and one level say no more than the figure of the views.
        if any(len(curve.levels) > 2 for curve in own):
            yield f"{graph}-{score}-curves-{answerer}", partial(_curves, own)
        parts = [part for part in kinds if part.condition.answerer.name == answerer]
        if len({part.part for part in parts}) >= _LEAST_KINDS:
            yield f"{graph}-{score}-radar-{answerer}", partial(_radar, parts)
            yield f"{graph}-{score}-types-{answerer}", partial(_types, parts)
    if len({_column(row) for row in rows}) > 1 and any(
        row.condition.kind is CellKind.VIEW for row in rows
    ):
        yield f"{graph}-{score}-heat-map", partial(_heat_map, rows)


def _style(names: Sequence[str], name: str) -> dict[str, Any]:
    index = names.index(name)
    return {
        "color": _COLOURS[index % len(_COLOURS)],
        "marker": _MARKS[index % len(_MARKS)],
        "markersize": 4,
    }


def _panel(condition: Condition) -> str:
    strategy = condition.strategy
    assert strategy is not None
    preset = condition.preset
    return strategy.value if preset == "default" else f"{strategy.value}, {preset}"


def _reach(mean: Estimate) -> tuple[float, float, float]:
    """A mean, and how far its interval goes below and above it."""
    value = np.nan if mean.value is None else mean.value
    low = value if mean.low is None else mean.low
    high = value if mean.high is None else mean.high
    return value, max(value - low, 0.0), max(high - value, 0.0)


def _views(rows: Sequence[Row], make: Callable[..., Any]) -> Any:
    """A line for each view, with its interval and n; the base's mean is dashed. A panel a strategy."""
    panels = list(dict.fromkeys(_panel(row.condition) for row in rows))
    names = list(dict.fromkeys(_view_name(row.condition) for row in rows))
    figure = make(figsize=(3.4 * len(panels) + 1.6, 0.3 * len(names) + 1.3))
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    low, high = RANGES.get(rows[0].score, UNIT)
    for axis, panel in zip(axes, panels, strict=True):
        for row in (row for row in rows if _panel(row.condition) == panel):
            height = names.index(_view_name(row.condition))
            is_base = row.condition.kind is CellKind.BASE
            value, below, above = _reach(row.mean)
            colour = "#000000" if is_base else _COLOURS[0]
            axis.errorbar(value, height, xerr=[[below], [above]], fmt="o", markersize=4,
                          capsize=2.5, linewidth=1.2, color=colour)  # fmt: skip
            if is_base:
                axis.axvline(value, color="#555555", linestyle="--", linewidth=1)
            star = "*" if row.has_star else ""
            axis.text(1.02, height, f"{row.mean.n}{star}", va="center", fontsize=7,
                      transform=axis.get_yaxis_transform())  # fmt: skip
        axis.text(1.02, -0.9, "n", fontsize=7, transform=axis.get_yaxis_transform())
        axis.set_title(panel)
        axis.set_xlabel(TITLES[rows[0].score])
        axis.set_xlim(low - 0.03 * (high - low), high + 0.03 * (high - low))
        axis.set_yticks(range(len(names)), names)
        axis.set_ylim(len(names) - 0.4, -0.6)
    figure.suptitle(f"{rows[0].condition.graph}, {rows[0].condition.answerer.name}")
    figure.tight_layout()
    return figure


def _view_name(condition: Condition) -> str:
    return f"{condition.method or 'base'} {condition.amount}".strip()


def _curves(curves: Sequence[Curve], make: Callable[..., Any]) -> Any:
    panels = list(dict.fromkeys(_panel(curve.condition) for curve in curves))
    methods = list(dict.fromkeys(curve.condition.method for curve in curves))
    # Intervals of one level stand beside each other, all of them within a sixth of a step.
    steps = np.diff(sorted({level for curve in curves for level in curve.levels}))
    apart = (float(steps.min()) / 6 if len(steps) else 0.0) / max(1, len(methods))
    bounds = RANGES.get(curves[0].score, UNIT)
    figure = make(figsize=(3.2 * len(panels) + 1.6, 3.2))
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axis, panel in zip(axes, panels, strict=True):
        of_panel = [curve for curve in curves if _panel(curve.condition) == panel]
        for curve in of_panel:
            name = curve.condition.method
            shift = (methods.index(name) - (len(methods) - 1) / 2) * apart
            means, below, above = zip(*map(_reach, curve.means), strict=True)
            axis.errorbar(np.asarray(curve.levels) + shift, means, yerr=[below, above], label=name,
                          linewidth=1.2, elinewidth=0.9, capsize=2, **_style(methods, name))  # fmt: skip
        nothing = next((curve.nothing for curve in of_panel), None)
        if nothing is not None:
            axis.axhline(nothing, color="#555555", linestyle="--", linewidth=1,
                         label="no knowledge")  # fmt: skip
        axis.set_title(f"{panel}, n = {_range(curve.means[0].n for curve in of_panel)}")
        axis.set_xlabel("level")
        margin = 0.03 * (bounds[1] - bounds[0])
        axis.set_ylim(bounds[0] - margin, bounds[1] + margin)
    axes[0].set_ylabel(TITLES[curves[0].score])
    axes[-1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
    figure.suptitle(f"{curves[0].condition.graph}, {curves[0].condition.answerer.name}")
    figure.tight_layout()
    return figure


def _of_types(parts: Sequence[Part]) -> dict[tuple[str, str], dict[str, Part]]:
    """The parts by panel and view, each by type: the base, and each method at its greatest level."""
    tops: dict[str, float] = {}
    for part in parts:
        amount = part.condition.level or part.condition.count or 0
        tops[part.condition.method] = max(tops.get(part.condition.method, 0), amount)
    views: dict[tuple[str, str], dict[str, Part]] = {}
    for part in parts:
        condition = part.condition
        amount = condition.level or condition.count or 0
        if condition.strategy is not None and amount == tops[condition.method]:
            views.setdefault((_panel(condition), _view_name(condition)), {})[part.part] = part
    return views


def _radar(parts: Sequence[Part], make: Callable[..., Any]) -> Any:
    """Means by type of question, with the number of questions of each; a panel a strategy."""
    kinds = sorted({part.part for part in parts})
    views = _of_types(parts)
    panels, names = (list(dict.fromkeys(key[index] for key in views)) for index in (0, 1))
    angles = np.linspace(0, 2 * np.pi, len(kinds), endpoint=False)
    figure = make(figsize=(4.2 * len(panels) + 1.4, 4.2))
    axes = figure.subplots(1, len(panels), squeeze=False, subplot_kw={"polar": True})[0]
    for axis, panel in zip(axes, panels, strict=True):
        own = {name: of_types for (title, name), of_types in views.items() if title == panel}
        for name, of_types in own.items():
            heights = [
                np.nan if kind not in of_types else _reach(of_types[kind].mean)[0] for kind in kinds
            ]
            axis.plot([*angles, angles[0]], [*heights, heights[0]], label=name, linewidth=1.2,
                      **_style(names, name))  # fmt: skip
        shown = [part for of_types in own.values() for part in of_types.values()]
        axis.set_xticks(angles, [f"{kind}\nn = {_counts(shown, kind)}" for kind in kinds])
        axis.tick_params(axis="x", pad=14)
        axis.set_ylim(*RANGES.get(parts[0].score, UNIT))
        # Between two types, where no line has a mark.
        axis.set_rlabel_position(np.degrees(np.pi / len(kinds)))
        axis.tick_params(axis="y", labelsize=7)
        axis.set_title(panel, pad=18)
    axes[-1].legend(loc="center left", bbox_to_anchor=(1.35, 0.5), frameon=False)
    figure.suptitle(_types_title(parts))
    figure.tight_layout()
    return figure


def _types(parts: Sequence[Part], make: Callable[..., Any]) -> Any:
    """What the radar shows, with intervals: a row for each type of question and view."""
    kinds = sorted({part.part for part in parts})
    views = _of_types(parts)
    panels, names = (list(dict.fromkeys(key[index] for key in views)) for index in (0, 1))
    step = len(names) + 1
    figure = make(figsize=(3.4 * len(panels) + 3.2, 0.17 * step * len(kinds) + 1.3))
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    low, high = RANGES.get(parts[0].score, UNIT)
    margin = 0.03 * (high - low)
    for axis, panel in zip(axes, panels, strict=True):
        for index, name in enumerate(names):
            of_types = views.get((panel, name), {})
            reaches = [_reach(part.mean) for part in of_types.values()]
            if not reaches:
                continue
            values, below, above = zip(*reaches, strict=True)
            heights = [kinds.index(kind) * step + index for kind in of_types]
            style = _style(names, name)
            axis.errorbar(values, heights, xerr=[below, above], label=name, linestyle="none",
                          elinewidth=1, capsize=2, **style)  # fmt: skip
            for part, height in zip(of_types.values(), heights, strict=True):
                axis.text(1.02, height, str(part.mean.n), va="center", fontsize=6,
                          transform=axis.get_yaxis_transform())  # fmt: skip
        axis.text(1.02, -1.6, "n", fontsize=7, transform=axis.get_yaxis_transform())
        axis.set_title(panel)
        axis.set_xlabel(TITLES[parts[0].score])
        axis.set_xlim(low - margin, high + margin)
        axis.set_yticks([index * step + (len(names) - 1) / 2 for index in range(len(kinds))], kinds)
        axis.set_ylim(step * len(kinds) - 1, -1)
        axis.grid(visible=False, axis="y")
    axes[-1].legend(loc="center left", bbox_to_anchor=(1.12, 0.5), frameon=False)
    figure.suptitle(_types_title(parts))
    figure.tight_layout()
    return figure


def _types_title(parts: Sequence[Part]) -> str:
    return f"{TITLES[parts[0].score]}, {parts[0].condition.answerer.name}, by type of question"


def _counts(parts: Sequence[Part], kind: str) -> str:
    """How many questions of a type have a value: a range where views differ in it."""
    return _range(part.mean.n for part in parts if part.part == kind)


def _range(counts: Iterable[int]) -> str:
    """The least and the greatest of some counts, or the only one.

    >>> _range([9, 7, 8]), _range([5, 5])
    ('7 to 9', '5')
    """
    ordered = sorted(counts)
    return " to ".join(map(str, dict.fromkeys((ordered[0], ordered[-1]))))


def _column(row: Row) -> str:
    strategy = "" if row.condition.strategy is None else row.condition.strategy.value
    return f"{strategy}\n{row.condition.preset}\n{row.condition.answerer.name}"


def _heat_map(rows: Sequence[Row], make: Callable[..., Any]) -> Any:
    columns = list(dict.fromkeys(_column(row) for row in rows))
    lines = list(dict.fromkeys(_view_name(row.condition) for row in rows))
    values = np.full((len(lines), len(columns)), np.nan)
    for row in rows:
        values[lines.index(_view_name(row.condition)), columns.index(_column(row))] = row.mean.value
    figure = make(figsize=(1.1 * len(columns) + 2.6, 0.32 * len(lines) + 1.6))
    axis = figure.subplots()
    low, high = RANGES.get(rows[0].score, UNIT)
    shown = axis.imshow(values, vmin=low, vmax=high, cmap="cividis", aspect="auto")
    axis.set_xticks(range(len(columns)), columns, fontsize=7)
    axis.set_yticks(range(len(lines)), lines)
    axis.grid(False)
    for (i, j), value in np.ndenumerate(values):
        if not np.isnan(value):
            axis.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7,
                      color="white" if value < low + 0.6 * (high - low) else "black")  # fmt: skip
    figure.colorbar(shown, ax=axis)
    axis.set_title(f"{rows[0].condition.graph}: {TITLES[rows[0].score]}")
    return figure


def _points(analysis: Analysis, graph: str) -> list[tuple[Row, Row]]:
    """Conditions with what was retrieved, and the first score of answers that they have."""
    of: dict[tuple[Any, str], Row] = {(row.condition, row.score): row for row in analysis.rows}
    points: list[tuple[Row, Row]] = []
    for row in analysis.rows:
        if row.score != _RETRIEVED or row.condition.graph != graph:
            continue
        if row.condition.strategy is None:
            continue
        for name in _ANSWERED:
            answered = of.get((row.condition, name))
            if answered is not None:
                points.append((row, answered))
                break
    return points


def _scatter(points: Sequence[tuple[Row, Row]], make: Callable[..., Any]) -> Any:
    who = list(dict.fromkeys(row.condition.answerer.name for row, _ in points))
    methods = list(dict.fromkeys(row.condition.method or "base" for row, _ in points))
    figure = make(figsize=(3.6 * len(who) + 1.6, 3.6))
    axes = figure.subplots(1, len(who), squeeze=False)[0]
    for axis, name in zip(axes, who, strict=True):
        own = [pair for pair in points if pair[0].condition.answerer.name == name]
        for method in methods:
            pairs = [pair for pair in own if (pair[0].condition.method or "base") == method]
            if pairs:
                style = _style(methods, method)
                axis.scatter(
                    [row.mean.value for row, _ in pairs],
                    [row.mean.value for _, row in pairs],
                    label=method, color=style["color"], marker=style["marker"], s=24, alpha=0.8,
                )  # fmt: skip
        axis.plot([0, 1], [0, 1], color="#999999", linewidth=0.8, linestyle=":")
        axis.set_xlim(-0.03, 1.03)
        axis.set_ylim(-0.03, 1.03)
        axis.set_xlabel(TITLES[_RETRIEVED])
        axis.set_ylabel(TITLES[own[0][1].score])
        kind = own[0][0].condition.answerer.kind
        axis.set_title(name if kind is AnswererKind.MODEL else f"{name}, no language model")
    axes[-1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
    figure.tight_layout(w_pad=3)
    return figure
