"""The figures of the explanations, drawn as SVG: ``python -m tools.site.figures``.

Each is a card with colours of its own for light and for dark readers, so that it can be read on any
page. Sizes are in pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "images"

_STYLE = """
  text { font: 14px system-ui, sans-serif; fill: #1f2328; }
  .small { font-size: 12px; } .strong { font-weight: 600; } .middle { text-anchor: middle; }
  .card { fill: #ffffff; stroke: #d0d7de; } .box { fill: #f6f8fa; stroke: #57606a; }
  .chosen { fill: #ddf4ff; stroke: #0969da; } .wrong { fill: #ffebe9; stroke: #cf222e; }
  .line { stroke: #57606a; fill: none; } .way { stroke: #0969da; stroke-width: 3; fill: none; }
  .bad { stroke: #cf222e; stroke-width: 2; stroke-dasharray: 5 4; fill: none; }
  .bar { fill: #0969da; } .head { fill: #57606a; } .way-head { fill: #0969da; }
  .bad-head { fill: #cf222e; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .card { fill: #0d1117; stroke: #30363d; }
    .box { fill: #161b22; stroke: #8b949e; } .chosen { fill: #0c2d6b; stroke: #58a6ff; }
    .wrong { fill: #490202; stroke: #ff7b72; } .line { stroke: #8b949e; }
    .way { stroke: #58a6ff; } .bad { stroke: #ff7b72; } .bar { fill: #58a6ff; }
    .head { fill: #8b949e; } .way-head { fill: #58a6ff; } .bad-head { fill: #ff7b72; }
  }
"""


def figure(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    """Returns a whole SVG with a card behind its parts."""
    heads = "".join(
        f'<marker id="{kind}" markerWidth="9" markerHeight="9" refX="8" refY="4.5" orient="auto" '
        f'markerUnits="userSpaceOnUse"><path class="{kind}" d="M0 0 9 4.5 0 9Z"/></marker>'
        for kind in ("head", "way-head", "bad-head")
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" role="img" aria-label="{escape(title)}">',
            f"<title>{escape(title)}</title><style>{_STYLE}</style><defs>{heads}</defs>",
            f'<rect class="card" x="1" y="1" width="{width - 2}" height="{height - 2}" rx="8"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


def words(x: float, y: float, text: str, kind: str = "") -> str:
    """Returns a line of text; ``kind`` are its classes."""
    return f'<text x="{x}" y="{y}" class="{kind}">{escape(text)}</text>'


def box(x: float, y: float, width: float, height: float, *lines: str, kind: str = "box") -> str:
    """Returns a box with centred lines; the first is strong if there are more."""
    top = y + height / 2 + 5 - 9 * (len(lines) - 1)
    texts = [
        words(
            x + width / 2,
            top + 18 * place,
            line,
            "middle strong" if place == 0 and len(lines) > 1 else "middle small",
        )
        for place, line in enumerate(lines)
    ]
    return (
        f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'
        + "".join(texts)
    )


def arrow(x1: float, y1: float, x2: float, y2: float, kind: str = "line") -> str:
    """Returns a straight arrow; ``kind`` is line, way or bad."""
    head = {"line": "head", "way": "way-head", "bad": "bad-head"}[kind]
    return f'<path class="{kind}" d="M{x1} {y1} {x2} {y2}" marker-end="url(#{head})"/>'


def retrieval() -> str:
    """The steps from a question to a path, on the graph of the demo."""
    steps = (
        ("1 Link", "who is meant?"),
        ("2 Region", "what lies around?"),
        ("3 Rank", "which relations?"),
        ("4 Pick", "statements, paths, tree"),
    )
    parts = [
        words(360, 30, "Who is the mother of Maria Shriver's husband?", "middle strong"),
        *(box(20 + 175 * n, 48, 155, 50, *step) for n, step in enumerate(steps)),
        *(arrow(175 + 175 * n, 73, 193 + 175 * n, 73) for n in range(3)),
        box(30, 200, 140, 40, "Maria Shriver", kind="chosen"),
        box(285, 150, 150, 40, "Arnold Schwarzenegger", kind="chosen"),
        box(540, 150, 155, 40, "Aurelia Schwarzenegger", kind="chosen"),
        box(285, 250, 150, 40, "Eunice Kennedy Shriver"),
        box(540, 250, 155, 40, "Sargent Shriver"),
        arrow(172, 208, 283, 174, "way"),
        arrow(437, 170, 538, 170, "way"),
        arrow(172, 232, 283, 266),
        arrow(437, 270, 538, 270),
        words(228, 180, "spouse", "small middle"),
        words(487, 162, "mother", "small middle"),
        words(228, 268, "mother", "small middle"),
        words(487, 262, "spouse", "small middle"),
        words(30, 325, "score 0.76: spouse, then mother", "small"),
        words(30, 345, "[Q230654, spouse: Arnold Schwarzenegger]", "small"),
        words(30, 363, "[Q2685, mother: Aurelia Schwarzenegger]", "small"),
        words(400, 325, "a lower score: mother, then spouse", "small"),
    ]
    return figure(720, 380, "A question is linked, its region cut out, its relations ranked", parts)


def linking() -> str:
    """Two entities of one name, and the values that stand in the question."""
    parts = [
        words(
            360,
            32,
            "Which team did the Chicago player Ann Lee, born in 1954, join?",
            "middle strong",
        ),
        box(40, 90, 200, 70, "Ann Lee (Q1)", "basketball player", kind="chosen"),
        box(40, 200, 200, 70, "Ann Lee (Q2)", "painter"),
        box(420, 60, 250, 36, "date of birth: 1954", kind="chosen"),
        box(420, 108, 250, 36, "place of residence: Chicago", kind="chosen"),
        box(420, 186, 250, 36, "date of birth: 1961"),
        box(420, 234, 250, 36, "place of residence: Rome"),
        arrow(240, 110, 418, 80, "way"),
        arrow(240, 130, 418, 126, "way"),
        arrow(240, 225, 418, 206),
        arrow(240, 245, 418, 252),
        words(
            40,
            310,
            "Q1 has two values that stand in the question, Q2 has none: Q1 is meant.",
            "small",
        ),
    ]
    return figure(720, 330, "Of two entities of one name, the values in the question decide", parts)


def identity() -> str:
    """A load writes a new edition and moves one pointer."""
    parts = [
        box(40, 40, 140, 44, "graph demo"),
        box(290, 30, 170, 64, "demo@1", "edges 2bb0...", kind="box"),
        box(290, 130, 170, 64, "demo@2", "edges differ", kind="chosen"),
        words(185, 54, "before", "small"),
        arrow(182, 62, 288, 62),
        arrow(150, 86, 288, 160, "way"),
        words(165, 140, "now", "small"),
        box(540, 30, 150, 64, "a reader", "goes on here"),
        box(540, 130, 150, 64, "a new query", "reads this"),
        arrow(538, 62, 462, 62),
        arrow(538, 162, 462, 162, "way"),
        box(40, 130, 110, 64, "a load", "writes demo@2"),
        arrow(152, 180, 288, 180),
        words(
            40, 232, "Until the load is done nobody sees demo@2. Then one pointer moves.", "small"
        ),
    ]
    return figure(720, 255, "A load writes a new edition; one pointer moves to it", parts)


def views() -> str:
    """A base, a view of it, and levels that nest."""

    def graph(left: float, title: str, changed: bool) -> list[str]:
        kind = "bad" if changed else "line"
        return [
            words(left + 140, 30, title, "middle strong"),
            box(left, 60, 100, 36, "Maria"),
            box(left + 190, 60, 100, 36, "Arnold"),
            box(left + 190, 150, 100, 36, "Aurelia"),
            box(left, 150, 100, 36, "Eunice"),
            arrow(left + 100, 78, left + 188, 78, kind),
            words(left + 144, 70, "sibling" if changed else "spouse", "small middle"),
            arrow(left + 240, 98, left + 240, 148),
            words(left + 247, 128, "mother", "small"),
            arrow(left + 50, 98, left + 50, 148),
            words(left + 57, 128, "mother", "small"),
        ]

    levels = ((0.1, 64, "10 %"), (0.3, 192, "30 %"), (0.5, 320, "50 %"))
    parts = [
        *graph(30, "the base", False),
        *graph(390, "a view: one relation replaced", True),
        words(30, 222, "Levels nest: what changes at 10 % changes at 30 % too.", "small"),
        *(
            f'<rect class="box" x="30" y="{236 + 24 * n}" width="640" height="16" rx="3"/>'
            f'<rect class="bar" x="30" y="{236 + 24 * n}" width="{width}" height="16" rx="3"/>'
            + words(676, 249 + 24 * n, label, "small")
            for n, (_, width, label) in enumerate(levels)
        ),
    ]
    return figure(720, 325, "A view is its base with some statements changed; levels nest", parts)


def scores() -> str:
    """Citations of an answer beside what was given and what suffices."""
    rows = (
        ("[Q1, spouse: Bob]", True, True),
        ("[Q2, mother: Eve]", True, True),
        ("[Q2, place of birth: Rome]", True, False),
        ("[Q2, place of birth: Paris]", False, False),
    )
    parts = [
        words(30, 32, "an answer cites", "strong"),
        words(330, 32, "was given?", "strong"),
        words(470, 32, "in the minimum set?", "strong"),
    ]
    for n, (text, given, gold) in enumerate(rows):
        top = 46 + 44 * n
        parts.append(box(30, top, 250, 34, text, kind="box" if given else "wrong"))
        parts.append(words(355, top + 22, "yes" if given else "no"))
        parts.append(words(530, top + 22, "yes" if gold else "no"))
    parts += [
        words(
            30,
            248,
            "The minimum set has a third statement, which the answer does not cite.",
            "small",
        ),
        words(30, 276, "correctness 3/4", "strong"),
        words(210, 276, "precision 2/4", "strong"),
        words(380, 276, "recall 2/3", "strong"),
        words(530, 276, "F1 0.57", "strong"),
    ]
    return figure(
        720, 300, "Four citations: three were given, two of them are in the minimum set", parts
    )


def limits() -> str:
    """How often the right relations come first, by the number of steps; MetaQA."""
    rows = (
        ("one step", 0.790, 0.74, 0.83),
        ("two steps", 0.770, 0.72, 0.82),
        ("three steps", 0.442, 0.38, 0.51),
    )
    parts = [words(30, 32, "The first path has the right relations (MetaQA, default-5)", "strong")]
    for n, (text, share, low, high) in enumerate(rows):
        top = 52 + 48 * n
        parts += [
            words(30, top + 22, text),
            f'<rect class="bar" x="140" y="{top}" width="{480 * share:.0f}" height="32" rx="3"/>',
            f'<path class="bad" style="stroke-dasharray:none" '
            f'd="M{140 + 480 * low:.0f} {top + 16}H{140 + 480 * high:.0f}"/>',
            words(640, top + 22, f"{share:.3f}".removeprefix("0")),
        ]
    parts.append(
        words(
            30,
            212,
            "red: interval of 95 %; three steps are made of the two-step questions",
            "small",
        )
    )
    return figure(720, 230, "The right relations come first: .790, .770 and .442", parts)


FIGURES: dict[str, Callable[[], str]] = {
    "identity": identity,
    "limits": limits,
    "linking": linking,
    "retrieval": retrieval,
    "scores": scores,
    "views": views,
}


if __name__ == "__main__":
    for name, draw in FIGURES.items():
        (FOLDER / f"{name}.svg").write_text(draw(), encoding="utf-8")
