"""Figures of a run, as SVG and PNG, drawn by matplotlib: curves, radar, heat map, scatter.

The same figures give the same SVG: no date stands in it, and its ids do not change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from graph_service.errors import SetupError
from queries.experiment.analysis import Analysis, Curve, Part, Row
from queries.experiment.cells import CellKind
from queries.experiment.plan import AnswererKind
from queries.experiment.scoring import TITLES

# Okabe and Ito's colours, which people who see few colours tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKS = ("o", "s", "^", "D", "v", "P", "X")
_RETRIEVED = "retrieved"
_ANSWERED = ("hits_at_1", "answer_named", "f1")
_LEAST_KINDS = 3
_Draw = Callable[[Callable[..., Any]], Any]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure that was drawn.

    Attributes:
        score: What it shows; empty for one of several scores.
        name: Without folder and ending; there is an ``.svg`` and a ``.png`` of it.
    """

    score: str
    name: str


def draw_figures(analysis: Analysis, folder: Path, /) -> tuple[Drawn, ...]:
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
    written: list[Drawn] = []
    with matplotlib.rc_context(settings):
        for drawn, draw in _figures(analysis):
            picture = draw(figure.Figure)
            for ending in ("svg", "png"):
                picture.savefig(
                    folder / f"{drawn.name}.{ending}",
                    dpi=150,
                    bbox_inches="tight",
                    metadata={"Date": None} if ending == "svg" else {},
                )
            written.append(drawn)
    return tuple(written)


def figure_names(analysis: Analysis, /) -> tuple[str, ...]:
    """Returns the names of the figures of a run, without drawing them."""
    return tuple(drawn.name for drawn, _ in _figures(analysis))


def _figures(analysis: Analysis) -> Iterator[tuple[Drawn, _Draw]]:
    for graph in dict.fromkeys(row.condition.graph for row in analysis.rows):
        for score in analysis.scores:
            for name, draw in _of_score(analysis, graph, score):
                yield Drawn(score, _safe(name)), draw
        points = _points(analysis, graph)
        if points:
            name = f"{graph}-retrieval-against-answer"
            yield Drawn("", _safe(name)), partial(_scatter, points)


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
        own = [curve for curve in curves if curve.condition.answerer.name == answerer]
        if own:
            yield f"{graph}-{score}-curves-{answerer}", partial(_curves, own)
        parts = [part for part in kinds if part.condition.answerer.name == answerer]
        if len({part.part for part in parts}) >= _LEAST_KINDS:
            yield f"{graph}-{score}-radar-{answerer}", partial(_radar, parts)
    if any(row.condition.kind is CellKind.VIEW for row in rows):
        yield f"{graph}-{score}-heat-map", partial(_heat_map, rows)


def _style(names: Sequence[str], name: str) -> dict[str, Any]:
    index = names.index(name)
    return {
        "color": _COLOURS[index % len(_COLOURS)],
        "marker": _MARKS[index % len(_MARKS)],
        "markersize": 4,
    }


def _panel(curve: Curve) -> str:
    strategy = curve.condition.strategy
    assert strategy is not None
    preset = curve.condition.preset
    return strategy.value if preset == "default" else f"{strategy.value}, {preset}"


def _curves(curves: Sequence[Curve], make: Callable[..., Any]) -> Any:
    panels = list(dict.fromkeys(_panel(curve) for curve in curves))
    methods = list(dict.fromkeys(curve.condition.method for curve in curves))
    figure = make(figsize=(3.2 * len(panels) + 1.6, 3.2))
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axis, panel in zip(axes, panels, strict=True):
        for curve in (curve for curve in curves if _panel(curve) == panel):
            style = _style(methods, curve.condition.method)
            means = [mean.value for mean in curve.means]
            axis.plot(curve.levels, means, label=curve.condition.method, linewidth=1.4, **style)
            low = [mean.value if mean.low is None else mean.low for mean in curve.means]
            high = [mean.value if mean.high is None else mean.high for mean in curve.means]
            axis.fill_between(
                curve.levels, low, high, color=style["color"], alpha=0.12, linewidth=0
            )
        nothing = next((curve.nothing for curve in curves if _panel(curve) == panel), None)
        if nothing is not None:
            axis.axhline(nothing, color="#555555", linestyle="--", linewidth=1,
                         label="no knowledge")  # fmt: skip
        axis.set_title(panel)
        axis.set_xlabel("level")
        axis.set_ylim(-0.03, 1.03)
    axes[0].set_ylabel(TITLES[curves[0].score])
    axes[-1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
    figure.suptitle(f"{curves[0].condition.graph}, {curves[0].condition.answerer.name}")
    figure.tight_layout()
    return figure


def _radar(parts: Sequence[Part], make: Callable[..., Any]) -> Any:
    """By type of question: the base, and each method at its greatest level, a panel a strategy."""
    kinds = sorted({part.part for part in parts})
    panels = list(
        dict.fromkeys(
            (part.condition.strategy, part.condition.preset)
            for part in parts
            if part.condition.strategy is not None
        )
    )
    angles = np.linspace(0, 2 * np.pi, len(kinds), endpoint=False)
    closed = np.append(angles, angles[0])
    figure = make(figsize=(3.8 * len(panels) + 1.4, 3.8))
    axes = figure.subplots(1, len(panels), squeeze=False, subplot_kw={"polar": True})[0]
    methods = list(dict.fromkeys(part.condition.method or "base" for part in parts))
    for axis, panel in zip(axes, panels, strict=True):
        own = [part for part in parts if (part.condition.strategy, part.condition.preset) == panel]
        for method in methods:
            named = [part for part in own if (part.condition.method or "base") == method]
            if not named:
                continue
            top = max(part.condition.level or part.condition.count or 0 for part in named)
            values = {
                part.part: part.mean.value
                for part in named
                if (part.condition.level or part.condition.count or 0) == top
            }
            heights = [np.nan if values.get(k) is None else values[k] for k in kinds]
            label = method if not top else f"{method} {top:g}"
            axis.plot(closed, [*heights, heights[0]], label=label, linewidth=1.3,
                      **_style(methods, method))  # fmt: skip
        axis.set_xticks(angles, kinds)
        axis.tick_params(axis="x", pad=9)
        axis.set_ylim(0, 1)
        axis.set_title(panel[0].value if panel[0] is not None else "", pad=16)
    axes[-1].legend(loc="center left", bbox_to_anchor=(1.35, 0.5), frameon=False)
    title = f"{TITLES[parts[0].score]}, {parts[0].condition.answerer.name}, by type of question"
    figure.suptitle(title)
    figure.tight_layout()
    return figure


def _heat_map(rows: Sequence[Row], make: Callable[..., Any]) -> Any:
    def across(row: Row) -> str:
        strategy = "" if row.condition.strategy is None else row.condition.strategy.value
        return f"{strategy}\n{row.condition.preset}\n{row.condition.answerer.name}"

    def down(row: Row) -> str:
        return f"{row.condition.method or 'base'} {row.condition.amount}".strip()

    columns = list(dict.fromkeys(across(row) for row in rows))
    lines = list(dict.fromkeys(down(row) for row in rows))
    values = np.full((len(lines), len(columns)), np.nan)
    for row in rows:
        values[lines.index(down(row)), columns.index(across(row))] = row.mean.value
    figure = make(figsize=(1.1 * len(columns) + 2.6, 0.32 * len(lines) + 1.6))
    axis = figure.subplots()
    shown = axis.imshow(values, vmin=0, vmax=1, cmap="cividis", aspect="auto")
    axis.set_xticks(range(len(columns)), columns, fontsize=7)
    axis.set_yticks(range(len(lines)), lines)
    axis.grid(False)
    for (i, j), value in np.ndenumerate(values):
        if not np.isnan(value):
            axis.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7,
                      color="white" if value < 0.6 else "black")  # fmt: skip
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
