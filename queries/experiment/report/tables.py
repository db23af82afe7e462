"""The figures of a run as CSV, and as LaTeX tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from graph_service.text.visible import spreadsheet
from queries.experiment.analysis import Analysis, Part, Row
from queries.experiment.cells import CellKind, Condition
from queries.experiment.impact import Impacts
from queries.experiment.report.words import number
from queries.experiment.scoring import TITLES
from queries.experiment.statistics import Estimate, Paired
from queries.score.report import RunSpread

_CONDITION = ("graph", "method", "level", "count", "strategy", "preset", "answerer")
_DIFFERENCE = ("difference", "low", "high", "p", "p_holm", "d_z")
_ESCAPED = {
    "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}",
}  # fmt: skip

Cell = str | float | int | None


def conditions_csv(analysis: Analysis, /) -> str:
    """Returns every score of every condition."""
    head = ["score", *_CONDITION, "mean", "low", "high", "questions", "missing", "failed"]
    head += ["least", "greatest"]
    for name in ("seed", "run"):
        head += [f"{name}s", f"{name}_mean", f"{name}_deviation"]
    for name in ("base", "nothing"):
        head += [f"{name}_{part}" for part in (*_DIFFERENCE, "seed_variance", "seed_p")]
    return spreadsheet([[*head, "base_star"], *map(_row, analysis.rows)])


def _row(row: Row) -> list[Cell]:
    return [
        row.score, *_of(row.condition), *_estimate(row.mean), row.mean.n, row.missing, row.failed,
        *((None, None) if row.bounds is None else map(_rounded, row.bounds)),
        *_spread(row.seeds), *_spread(row.runs),
        *_paired(row.base, row.base_p), *_seeds(row.base),
        *_paired(row.nothing, row.nothing_p), *_seeds(row.nothing), int(row.has_star),
    ]  # fmt: skip


def _spread(spread: RunSpread) -> list[Cell]:
    return [sum(value is not None for value in spread.values), spread.mean, spread.deviation]


def curves_csv(analysis: Analysis, /) -> str:
    """Returns every curve, a line a level."""
    head = [
        "score", "graph", "method", "strategy", "preset", "answerer", "level", "mean", "low", "high",
        "area", "area_low", "area_high", "crossing",
    ]  # fmt: skip
    rows: list[list[Cell]] = []
    for curve in analysis.curves:
        condition = curve.condition
        strategy = "" if condition.strategy is None else condition.strategy.value
        rows += [
            [
                curve.score, condition.graph, condition.method, strategy, condition.preset,
                condition.answerer.name, level, *_estimate(mean), *_estimate(curve.area),
                curve.crossing,
            ]
            for level, mean in zip(curve.levels, curve.means, strict=True)
        ]  # fmt: skip
    return spreadsheet([head, *rows])


def parts_csv(analysis: Analysis, /) -> str:
    """Returns every score by fate of the gold, type of question, and what no knowledge gets."""
    head = ["score", *_CONDITION, "by", "part", "mean", "low", "high", "questions", "answers"]
    head += [f"base_{part}" for part in _DIFFERENCE]
    rows = [
        _part(by, part)
        for by, parts in (
            ("fate", analysis.by_fate),
            ("kind", analysis.by_kind),
            ("known", analysis.by_known),
        )
        for part in parts
    ]
    return spreadsheet([head, *rows])


def _part(by: str, part: Part) -> list[Cell]:
    return [
        part.score, *_of(part.condition), by, part.part, *_estimate(part.mean), part.mean.n,
        part.answers, *_paired(part.base, None),
    ]  # fmt: skip


def comparisons_csv(analysis: Analysis, /) -> str:
    """Returns every two methods, and every two strategies, that differ in nothing else."""
    head = ["score", "of", "first", "second", "first_mean", "second_mean", "questions", "seeds"]
    head += [*_DIFFERENCE, "seed_variance", "seed_p", "star"]
    rows: list[list[Cell]] = [
        [
            row.score, of, row.first, row.second, _rounded(row.first_mean.value),
            _rounded(row.second_mean.value), row.difference.difference.n, row.difference.seeds,
            *_paired(row.difference, row.p), *_seeds(row.difference), int(row.has_star),
        ]
        for of, rows in (("method", analysis.methods), ("strategy", analysis.strategies))
        for row in rows
    ]  # fmt: skip
    return spreadsheet([head, *rows])


def views_csv(impacts: Impacts, /) -> str:
    """Returns what each view breaks of gold statements, minimum sets and nearest answers."""
    head = ["graph", "method", "level", "count", "random_seed", "questions"]
    for name in ("statements", "sets", "answers"):
        head += [f"{name}_broken", f"{name}_of", f"{name}_share"]
    head += ["answers_why", "changes", "changes_expected", "reached", "questions_unchanged"]
    rows: list[list[Cell]] = [
        [
            row.graph, row.method, row.level, row.count, row.random_seed, row.questions,
            *(
                cell
                for share in (row.statements, row.sets, row.answers)
                for cell in (share.broken, share.of, share.share)
            ),
            row.why, row.reached.broken, row.reached.of, row.reached.share, row.unchanged,
        ]
        for row in impacts.rows
    ]  # fmt: skip
    return spreadsheet([head, *rows])


def _of(condition: Condition) -> list[Cell]:
    return [
        condition.graph,
        condition.method or condition.kind.value,
        condition.level,
        condition.count,
        "" if condition.strategy is None else condition.strategy.value,
        condition.preset,
        condition.answerer.name,
    ]


def _estimate(estimate: Estimate) -> list[Cell]:
    return [*map(_rounded, (estimate.value, estimate.low, estimate.high))]


def _rounded(value: float | None) -> float | None:
    """The last digits of quantiles depend on the machine's library of mathematics."""
    return None if value is None else float(f"{value:.10g}")


def _paired(paired: Paired | None, p_holm: float | None) -> list[Cell]:
    if paired is None:
        return [None] * 6
    return [*_estimate(paired.difference), *map(_rounded, (paired.p, p_holm, paired.effect))]


def _seeds(paired: Paired | None) -> list[Cell]:
    return [None] * 2 if paired is None else [*map(_rounded, (paired.seed_variance, paired.seed_p))]


def latex_tables(analysis: Analysis, /) -> str:
    r"""Returns a table a graph, score and answerer, for ``\usepackage{booktabs}``.

    A row is a method, strategy and preset, a column a level; under each mean stands its interval.
    Where a condition has several random
    seeds, or else several runs of a model, the standard deviation over them stands behind the mean. A
    star marks p < .05 against the
    base, after Holm; with fewer than five random seeds only if these have no effect.
    """
    lines: list[str] = []
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in analysis.rows:
        key = (row.score, row.condition.graph, row.condition.answerer.name)
        groups.setdefault(key, []).append(row)
    for (score, graph, answerer), rows in groups.items():
        views = [row for row in rows if row.condition.kind is CellKind.VIEW]
        if views:
            title = f"{TITLES[score]}, graph {graph}, {answerer}"
            label = re.sub(r"[^A-Za-z0-9]+", "-", f"{score}-{graph}-{answerer}")
            lines += [*_latex(title, label, rows, views), ""]
    return "\n".join(lines)


def _latex(title: str, label: str, rows: Sequence[Row], views: Sequence[Row]) -> Iterator[str]:
    amounts = list(dict.fromkeys(row.condition.amount for row in views))
    bases = {
        (row.condition.strategy, row.condition.preset): row
        for row in rows
        if row.condition.kind is CellKind.BASE
    }
    yield r"\begin{table}"
    yield rf"\caption{{{_escaped(title)}. {_caption(rows)}}}"
    yield rf"\label{{tab:{label}}}"
    yield rf"\begin{{tabular}}{{lllr{'r' * (1 + len(amounts))}}}"
    yield r"\toprule"
    yield _line(["method", "strategy", "preset", "n", "base", *amounts])
    yield r"\midrule"
    methods = dict.fromkeys(
        (row.condition.method, row.condition.strategy, row.condition.preset) for row in views
    )
    for method, strategy, preset in methods:
        base = bases.get((strategy, preset))
        own = {
            row.condition.amount: row
            for row in views
            if (row.condition.method, row.condition.strategy, row.condition.preset)
            == (method, strategy, preset)
        }
        shown = [base, *(own.get(amount) for amount in amounts)]
        names = [method, "" if strategy is None else strategy.value, preset]
        yield _line([*names, _counts(own.values()), *map(_value, shown)], done=4)
        yield _line(["", "", "", "", *map(_interval, shown)], done=4)
    yield r"\bottomrule"
    yield r"\end{tabular}"
    yield r"\end{table}"


def _caption(rows: Sequence[Row]) -> str:
    """What a table's numbers are over, and what its marks mean."""
    seeds, runs = (
        max(sum(value is not None for value in spread.values) for spread in spreads)
        for spreads in ([row.seeds for row in rows], [row.runs for row in rows])
    )
    parts = [
        f"Means over {_counts(rows)} questions; n is that of the views. In brackets are intervals of "
        r"95\,\%, over questions and random seeds."
    ]
    if seeds > 1:
        otherwise = f", and of {runs} runs where there is one seed" if runs > 1 else ""
        parts.append(
            rf"$\pm$ is the standard deviation of the means of {seeds} random seeds at most{otherwise}."
        )
    elif runs > 1:
        parts.append(rf"$\pm$ is the standard deviation of the means of {runs} runs of the model.")
    parts.append(
        r"$^{*}$ differs from the base: $p < .05$ after Holm's method over all conditions with a "
        "view of this graph and score."
    )
    return " ".join(parts)


def _value(row: Row | None) -> str:
    if row is None or row.mean.value is None:
        return "--"
    star = "$^{*}$" if row.has_star else ""
    spread = row.runs.deviation if row.seeds.deviation is None else row.seeds.deviation
    around = "" if spread is None else rf" $\pm$ {number(spread)}"
    return number(row.mean.value) + around + star


def _interval(row: Row | None) -> str:
    if row is None or row.mean.low is None or row.mean.high is None:
        return ""
    return rf"{{\footnotesize [{number(row.mean.low)}, {number(row.mean.high)}]}}"


def _counts(rows: Iterable[Row]) -> str:
    """How many questions have a value: a range where rows differ in it."""
    counts = sorted({row.mean.n for row in rows})
    return " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))


def _line(cells: Sequence[str], *, done: int | None = None) -> str:
    escaped = [_escaped(cell) for cell in cells[:done]]
    if done is not None:
        escaped += cells[done:]
    return " & ".join(escaped) + r" \\"


def _escaped(text: str) -> str:
    return "".join(_ESCAPED.get(character, character) for character in text)
