"""The picture of the leaderboard: answers among five statements, a row a retriever, a column a view.

It has a background of its own, and another one in dark schemes, so that it reads on any page.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.retrievers.measuring import Line

MEASURE = "answers@5"
_CELL, _ROW, _LEFT, _TOP, _RIGHT = 44, 22, 190, 128, 110
_STYLE = """<style>
.page { fill: #ffffff } text { fill: #1b1b1b } .none { fill: #eeeeee }
text.on-dark { fill: #ffffff } text.on-light { fill: #1b1b1b }
@media (prefers-color-scheme: dark) {
  .page { fill: #1e1e1e } text { fill: #eaeaea } .none { fill: #333333 }
}
</style>"""


def draw(lines: Sequence[Line], /) -> str:
    """Returns the picture as SVG.

    Args:
        lines: Of the leaderboard; a retriever without a line of a view has an empty cell there. Of
            several sets of a source only the first shows its base.
    """
    views = _columns(lines)
    retrievers = list(dict.fromkeys(line.retriever for line in lines))
    values = {(line.retriever, line.set, line.view): line.measures[MEASURE].value for line in lines}
    width, height = (
        max(480, _LEFT + _CELL * len(views) + _RIGHT),
        _TOP + _ROW * len(retrievers) + 16,
    )
    title = "Share of answers among the first five statements, by retriever and view"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="11" role="img" '
        f'aria-label="{title}">',
        _STYLE,
        '<rect class="page" width="100%" height="100%"/>',
        f'<text x="10" y="18" font-size="13">{title}</text>',
    ]
    for column, (set_name, view) in enumerate(views):
        x = _LEFT + _CELL * column + 24
        source = set_name.rpartition("/")[0]
        parts.append(
            f'<g transform="translate({x} {_TOP - 18}) rotate(-38)"><text>{escape(view)}'
            f'</text><text y="12" font-size="9">{escape(source)}</text></g>'
        )
    for row, retriever in enumerate(retrievers):
        y = _TOP + _ROW * row
        parts.append(
            f'<text x="{_LEFT - 8}" y="{y + 15}" text-anchor="end">{escape(retriever)}</text>'
        )
        for column, (set_name, view) in enumerate(views):
            value = values.get((retriever, set_name, view))
            parts.append(_cell(value, _LEFT + _CELL * column, y))
    return "\n".join([*parts, "</svg>\n"])


def _columns(lines: Sequence[Line]) -> list[tuple[str, str]]:
    """The set and view of each column."""
    columns: list[tuple[str, str]] = []
    sources: set[str] = set()
    for set_name, view in dict.fromkeys((line.set, line.view) for line in lines):
        source = set_name.partition("/")[0]
        if view != "base" or source not in sources:
            columns.append((set_name, view))
        sources.add(source)
    return columns


def _cell(value: float | None, x: int, y: int) -> str:
    box = f'<rect x="{x}" y="{y}" width="{_CELL - 2}" height="{_ROW - 2}" '
    if value is None:
        return f'{box}class="none"/>'
    shown = f"{value:.2f}".removeprefix("0")
    on = "on-dark" if value > 0.58 else "on-light"
    return (
        f'{box}fill="{_colour(value)}"/><text class="{on}" x="{x + _CELL // 2 - 1}" y="{y + 14}" '
        f'text-anchor="middle">{shown}</text>'
    )


def _colour(value: float) -> str:
    """From a light yellow at 0 to a dark blue at 1: told apart in grey too."""
    low, high = (253, 240, 200), (8, 48, 107)
    mixed = (round(a + (b - a) * value) for a, b in zip(low, high, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)
