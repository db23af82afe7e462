"""The report of a run, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graph_service.text.visible import visible_line
from queries.experiment.analysis import Analysis, Curve, Part, Row
from queries.experiment.cells import CellKind, Condition
from queries.experiment.comparison import Compared
from queries.experiment.impact import Impacts, Share, ViewImpact, ViewLine
from queries.experiment.plan import AnswererKind, Plan
from queries.experiment.report.figures import FigureName
from queries.experiment.report.summary import main_score, summary_lines
from queries.experiment.report.words import (
    difference,
    estimate_words,
    number,
    p_words,
    seeds_words,
    table_lines,
)
from queries.experiment.scoring import TITLES
from queries.experiment.subjects import Fate
from queries.experiment.usage import ModelUse

FIGURES_NAME = "figures"

_TEMPLATES = """Templates and rules answer without a language model. The verbaliser states what was retrieved,
whether or not it answers the question. Its scores measure the retrieval, and not whether a reader
notices a false statement. `extractive` names the entity at the end of the best item, so it can be right
or wrong as a model can. It knows no more than the retrieval, and without knowledge it never
answers. So neither shows what a model knows by itself, which of two contradicting statements it
believes, or how a false statement moves its words."""

_METHOD = """Random seeds of a condition are taken together. Questions and random seeds are both random:
the variance of a mean has a part of each, with Student's t of its own degrees of freedom. Intervals
are of 95 %: Wilson's for a mean, by the number of independent questions that would vary as much, and
Student's for a difference, and Clopper and Pearson's bound where all are one value.
"Over seeds" is the mean and the standard deviation (n - 1) of the means of each random seed, and how
many seeds there are. "Missing" are answers without that score, and what the mean would be if all of
them had the least value or all the greatest: conditions are compared on the questions that both have.
"Over runs" is the same over runs of one model, each with replies of its own: answers of one question
that differ by the run alone are one value. A difference pairs each question with itself. p is of the
same model as its interval, and adjusted by Holm's method over all conditions with a view of one graph and score. A
star marks an adjusted p < .05. With fewer than five random seeds there is a star only if the variance
between them is estimated 0. d_z is the mean difference over its standard deviation."""


_IMPACT = """A gold statement is broken if the view changed or lost it. A question's sets are broken if each
of its minimum sets has a broken statement. Its answer is further if no answer entity is as few
steps from its entities as on the base, of at most four, whatever the relations. These figures do
not depend on the retrieval or on who answers. Changes reached are those that the view makes, of as
many as its level or count says. A control that lacks a match for a statement on the paths is in no
score, so that it is compared on the other questions alone. Random seeds are taken together; `views.csv` has a
row for each."""


def report_lines(
    plan: Plan,
    analysis: Analysis,
    impacts: Impacts,
    lock: Mapping[str, Any],
    figures: Sequence[FigureName],
    /,
    *,
    uses: Sequence[ModelUse] = (),
) -> Iterator[str]:
    """Yields the lines of the report: one page first, then all figures as an appendix.

    Args:
        plan: The plan.
        analysis: Its figures.
        impacts: What its views break.
        lock: Of the run.
        figures: That were drawn.
        uses: What was asked of models.
    """
    yield f"# {plan.name}"
    yield ""
    yield from summary_lines(plan, analysis, lock, uses)
    yield from _main_picture(analysis, figures)
    yield ""
    yield "# Appendix"
    yield ""
    yield from _run(plan, analysis, lock)
    yield ""
    yield _METHOD
    if any(answerer.kind is not AnswererKind.MODEL for answerer in plan.answerers):
        yield ""
        yield "## What templates and rules can show"
        yield ""
        yield _TEMPLATES
        yield ""
        yield from _calibration(lock)
        yield from _abstained(analysis)
    if impacts.rows:
        yield ""
        yield "## What the views break"
        yield ""
        yield from _impacts(impacts)
    yield from _shown(figures, "")
    yield from _compared("Methods", analysis.methods)
    yield from _compared("Strategies", analysis.strategies)
    for score in analysis.scores:
        yield ""
        yield f"## {TITLES[score]}"
        yield ""
        yield from _rows([row for row in analysis.rows if row.score == score])
        yield from _shown(figures, score)
        curves = [curve for curve in analysis.curves if curve.score == score]
        if curves:
            yield ""
            yield "### Over the levels"
            yield ""
            yield from _curves(curves)
        for title, parts in (
            ("By what the view left of the gold", analysis.by_fate),
            ("By type of question", analysis.by_kind),
            ("By what no knowledge answers right", analysis.by_known),
        ):
            own = [part for part in parts if part.score == score]
            if own:
                yield ""
                yield f"### {title}"
                yield ""
                yield from _parts(own)


def _main_picture(analysis: Analysis, figures: Sequence[FigureName]) -> Iterator[str]:
    """The curves of the score of the first page, or else its views, which are drawn first."""
    score = main_score(analysis)
    own = [figure for figure in figures if figure.score == score]
    curves = [figure for figure in own if "-curves-" in figure.name]
    for figure in (curves or own)[:1]:
        yield ""
        yield f"![{figure.name.replace('-', ' ')}]({FIGURES_NAME}/{figure.name}.png)"


def _compared(what: str, rows: Sequence[Compared]) -> Iterator[str]:
    """Those of which a star says that they differ; ``comparisons.csv`` has all."""
    if not rows:
        return
    differ = [row for row in rows if row.has_star]
    yield ""
    yield f"## {what} beside each other"
    yield ""
    yield (
        f"{len(differ)} of {len(rows)} pairs that differ in nothing else have a star, p adjusted by "
        "Holm's\nmethod over the pairs of one graph and score. `comparisons.csv` has all of them."
    )
    if differ:
        yield ""
        yield from table_lines(
            ["score", "first", "second", "first minus second", "n", "p"],
            [
                [
                    TITLES[row.score],
                    row.first,
                    row.second,
                    difference(row.difference),
                    str(row.difference.difference.n),
                    p_words(row.p),
                ]
                for row in differ
            ],
        )


def _shown(figures: Sequence[FigureName], score: str) -> Iterator[str]:
    for figure in figures:
        if figure.score == score:
            yield ""
            yield f"![{figure.name.replace('-', ' ')}]({FIGURES_NAME}/{figure.name}.png)"


def _run(plan: Plan, analysis: Analysis, lock: Mapping[str, Any]) -> Iterator[str]:
    seen = {row.condition: row for row in analysis.rows}
    failed = sum(row.failed for row in seen.values())
    yield from table_lines(
        ["what", "value"],
        [
            *(
                [f"graph {name}, edges", f"`{fingerprints['edges'][:16]}`"]
                for name, fingerprints in lock["graphs"].items()
            ),
            *([f"questions {name}, SHA-256", f"`{digest[:16]}`"]
              for name, digest in lock["questions"].items()),
            ["answers by", ", ".join(answerer.name for answerer in plan.answerers)],
            ["conditions", str(len(seen))],
            ["answers that failed", str(failed)],
            *([["prompts", ", ".join(lock["prompts"])]] if lock["prompts"] else []),
            ["graph-service", str(lock["versions"]["graph_service"])],
        ],
    )  # fmt: skip


def _calibration(lock: Mapping[str, Any]) -> Iterator[str]:
    calibrations = lock.get("extractive") or {}
    if not calibrations:
        yield "The rule was not calibrated on other questions: it abstains as the plan says."
        return
    yield (
        "The rule abstains under a score that was chosen on other questions, on the base graph. It "
        "makes\nright minus wrong answers greatest there:"
    )
    yield ""
    yield from table_lines(
        ["retrieval", "abstains under", "questions", "right", "wrong", "abstained"],
        [
            [
                name,
                "never" if calibration["min_score"] is None else number(calibration["min_score"]),
                *(str(calibration[key]) for key in ("questions", "right", "wrong", "abstained")),
            ]
            for name, calibration in calibrations.items()
        ],
    )


def _abstained(analysis: Analysis) -> Iterator[str]:
    counts: dict[str, dict[str, list[float]]] = {}
    for part in analysis.by_fate:
        if part.score != "abstained":
            continue
        condition = part.condition
        if condition.answerer.kind is AnswererKind.MODEL or part.mean.value is None:
            continue
        key = f"{condition.answerer.name}, {condition.method}"
        counts.setdefault(key, {}).setdefault(part.part, []).extend(
            [part.mean.value * part.answers, part.answers]
        )
    if not counts:
        return
    yield ""
    yield "How often it says `[NA]`, by what the view left of the question's gold statements:"
    yield ""
    rows = []
    for key, fates in counts.items():
        shown = []
        for fate in Fate:
            fate_counts = fates.get(fate.value, [])
            totals, of = sum(fate_counts[0::2]), sum(fate_counts[1::2])
            shown.append(f"{totals:.0f} of {of:.0f}" if of else "-")
        rows.append([key, *shown])
    yield from table_lines(["who, method", *(fate.value for fate in Fate)], rows)


def _impacts(impacts: Impacts) -> Iterator[str]:
    groups: dict[tuple[str, str, str], list[ViewImpact]] = {}
    for row in impacts.rows:
        groups.setdefault((row.graph, row.method, row.amount), []).append(row)
    yield _IMPACT
    yield ""
    yield from table_lines(
        [
            "graph",
            "method",
            "level",
            "seeds",
            "changes reached",
            "questions without a change",
            "statements broken",
            "all sets broken",
            "answer further",
        ],
        [
            [
                *key,
                str(len(rows)),
                _share(sum((row.reached for row in rows), Share(0, 0))),
                str(sum(row.unchanged for row in rows)),
                *(
                    _share(sum((share for share in shares), Share(0, 0)))
                    for shares in zip(
                        *((row.statements, row.sets, row.answers) for row in rows), strict=True
                    )
                ),
            ]
            for key, rows in groups.items()
        ],
    )
    for why in dict.fromkeys(row.why for row in impacts.rows if row.why):
        yield ""
        yield f"Not all answers were looked for: {why}."
    if impacts.examples:
        yield ""
        yield "The first question of each method of which something is broken:"
        yield ""
        yield from (_example(line) for line in impacts.examples)


def _share(share: Share) -> str:
    return "-" if share.share is None else f"{number(share.share)} ({share.broken} of {share.of})"


def _example(line: ViewLine) -> str:
    broken = [f"broke {_code(statement.words or statement.id)}" for statement in line.broken]
    if line.is_further:
        now = "none" if line.steps_view is None else str(line.steps_view)
        before = f"{line.steps_base} step{'s' * (line.steps_base != 1)}"
        broken.append(f"the answer is {before} away on the base, {now} on the view")
    elif line.sets_broken and not broken:
        broken.append("each of its sets has a broken statement")
    return f"* {line.graph}, {line.view}, question {line.question}: {'; '.join(broken)}"


def _code(text: str) -> str:
    """Returns text of a graph as code, in which it marks nothing up."""
    return f"`{visible_line(text).replace('`', chr(39))}`"


def _condition(condition: Condition) -> list[str]:
    strategy = "" if condition.strategy is None else condition.strategy.value
    method = condition.method or condition.kind.value
    return [method, condition.amount, strategy, condition.preset, condition.answerer.name]


_NAMES = ["method", "level", "strategy", "preset", "answers by"]


def _rows(rows: Sequence[Row]) -> Iterator[str]:
    many = len({row.condition.graph for row in rows}) > 1
    has_runs = any(row.runs.deviation is not None for row in rows)
    yield from table_lines(
        [*(["graph"] if many else []), *_NAMES, "mean", "n", "over seeds",
         *(["over runs"] if has_runs else []), "to base", "p", "d_z", "to no knowledge", "p"],
        [
            [
                *([row.condition.graph] if many else []),
                *_condition(row.condition),
                estimate_words(row.mean),
                _count(row),
                seeds_words(row.seeds),
                *([seeds_words(row.runs)] if has_runs else []),
                difference(row.base),
                p_words(row.base_p) + "*" * row.has_star,
                "" if row.base is None or row.base.effect is None else number(row.base.effect),
                difference(row.nothing),
                p_words(row.nothing_p)
                if row.condition.kind is CellKind.VIEW
                else p_words(None if row.nothing is None else row.nothing.p),
            ]
            for row in rows
        ],
    )  # fmt: skip


def _count(row: Row) -> str:
    """How many questions have a value, and where answers lack one what the mean could be."""
    if not row.missing or row.bounds is None:
        return str(row.mean.n)
    return (
        f"{row.mean.n} (missing {row.missing}: {number(row.bounds[0])} to {number(row.bounds[1])})"
    )


def _curves(curves: Sequence[Curve]) -> Iterator[str]:
    yield from table_lines(
        ["graph", "method", "strategy", "preset", "answers by", "area", "under no knowledge from"],
        [
            [
                curve.condition.graph,
                *(part for i, part in enumerate(_condition(curve.condition)) if i != 1),
                estimate_words(curve.area),
                "never" if curve.crossing is None else number(curve.crossing),
            ]
            for curve in curves
        ],
    )


def _parts(parts: Sequence[Part]) -> Iterator[str]:
    yield from table_lines(
        [*_NAMES, "part", "mean", "answers", "to base"],
        [
            [
                *_condition(part.condition),
                part.part,
                estimate_words(part.mean),
                str(part.answers),
                difference(part.base),
            ]
            for part in parts
        ],
    )
