"""How often answers are right by how sure they are said to be, as numbers and as a picture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

BINS = 10
_LEFT, _TOP, _SIZE = 50, 20, 260
_STYLE = """<style>
.page { fill: #ffffff } text { fill: #1b1b1b } .frame { stroke: #999999; fill: none }
.even { stroke: #999999 } .share { stroke: #0072b2; fill: #0072b2 } .bound { stroke: #d55e00 }
@media (prefers-color-scheme: dark) {
  .page { fill: #1e1e1e } text { fill: #eaeaea } .share { stroke: #56b4e9; fill: #56b4e9 }
}
</style>"""


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Answers of like confidence.

    Attributes:
        answers: How many.
        confidence: Their mean.
        right: Share of them that are right.
        low, high: Its interval of 95 % (Wilson).
    """

    answers: int
    confidence: float
    right: float
    low: float
    high: float


def reliability(answers: Iterable[tuple[float, bool]], /) -> tuple[ReliabilityBin, ...]:
    """Returns answers by tenths of the scale: the confidence of each, and whether it is right."""
    by_tenth: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for confidence, is_right in answers:
        by_tenth[min(int(BINS * confidence), BINS - 1)].append((confidence, is_right))
    return tuple(_bin(rows) for _, rows in sorted(by_tenth.items()))


def _bin(rows: Sequence[tuple[float, bool]]) -> ReliabilityBin:
    confidence, right = np.mean(rows, axis=0).tolist()
    low, high = wilson_interval(right, len(rows))
    return ReliabilityBin(len(rows), confidence, right, low, high)


def wilson_interval(share: float, count: int, /) -> tuple[float, float]:
    """Returns the interval of 95 % of a share of so many.

    >>> tuple(round(end, 3) for end in wilson_interval(0.9, 50))
    (0.786, 0.957)
    """
    z_squared = 1.959964**2 / count
    middle = (share + z_squared / 2) / (1 + z_squared)
    half = (z_squared * (share * (1 - share) + z_squared / 4)) ** 0.5 / (1 + z_squared)
    return middle - half, middle + half


def draw(bins: Sequence[ReliabilityBin], /, *, bound: float) -> str:
    """Returns the picture as SVG.

    Args:
        bins: Of some answers.
        bound: The confidence from which on an answer is called ``ok``.
    """
    width, height = _LEFT + _SIZE + 40, _TOP + _SIZE + 55
    title = "Share of answers that are right, by confidence"
    bottom = _TOP + _SIZE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="11" role="img" '
        f'aria-label="{title}">',
        _STYLE,
        '<rect class="page" width="100%" height="100%"/>',
        f'<rect class="frame" x="{_LEFT}" y="{_TOP}" width="{_SIZE}" height="{_SIZE}"/>',
        _line("even", (0.0, 0.0), (1.0, 1.0), "4 4"),
        _line("bound", (bound, 0.0), (bound, 1.0), "2 3"),
        f'<text x="{_x(bound) - 4:.1f}" y="{bottom - 8}" text-anchor="end">ok from {bound:g}</text>',
    ]
    parts += [_ticks(tick) for tick in np.linspace(0.0, 1.0, 6).tolist()]
    most = max((each.answers for each in bins), default=1)
    parts += [_bin_of_picture(each, most) for each in bins]
    middle = _TOP + _SIZE / 2
    return "\n".join(
        [
            *parts,
            f'<text x="{_LEFT + _SIZE / 2}" y="{bottom + 35}" text-anchor="middle">confidence</text>',
            f'<text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">share that '
            "is right</text>",
            "</svg>\n",
        ]
    )


def _ticks(value: float) -> str:
    return (
        f'<text x="{_x(value):.1f}" y="{_TOP + _SIZE + 15}" text-anchor="middle">{value:g}</text>'
        f'<text x="{_LEFT - 6}" y="{_y(value) + 4:.1f}" text-anchor="end">{value:g}</text>'
    )


def _bin_of_picture(each: ReliabilityBin, most: int) -> str:
    radius = 2.5 + 3.5 * (each.answers / most) ** 0.5
    interval = _line("share", (each.confidence, each.low), (each.confidence, each.high), "")
    return (
        f'{interval}<circle class="share" cx="{_x(each.confidence):.1f}" cy="{_y(each.right):.1f}" '
        f'r="{radius:.1f}"><title>{each.right:.2f} of {each.answers}</title></circle>'
    )


def _line(name: str, start: tuple[float, float], end: tuple[float, float], dashes: str) -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<line class="{name}" x1="{_x(start[0]):.1f}" y1="{_y(start[1]):.1f}" '
        f'x2="{_x(end[0]):.1f}" y2="{_y(end[1]):.1f}"{dashed}/>'
    )


def _x(value: float) -> float:
    return _LEFT + _SIZE * value


def _y(value: float) -> float:
    return _TOP + _SIZE * (1.0 - value)
