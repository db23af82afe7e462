"""Reports of experiments: tables as recorded, figures that hold every line (B4, O9, O12).

``GRAPH_SERVICE_UPDATE_REPORTS=1`` writes the recorded files anew.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from error_texts import check_line
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from graph_service.errors import InputError, SetupError
from graph_service.model.result import Strategy
from queries.experiment.analysis import Analysis, analyse
from queries.experiment.cells import CellKind, cells_of
from queries.experiment.comparison import (
    compare,
    compare_methods,
    compare_strategies,
    find_condition,
)
from queries.experiment.impact import BrokenStatement, Impacts, ViewLine, impacts_of
from queries.experiment.plan import AnswererKind, Plan
from queries.experiment.plan_file import parse_plan
from queries.experiment.report.figures import draw_figures, figure_names
from queries.experiment.report.markdown import report_lines
from queries.experiment.report.tables import (
    comparisons_csv,
    conditions_csv,
    curves_csv,
    latex_tables,
    parts_csv,
    views_csv,
)
from queries.experiment.report.writing import write_report
from queries.experiment.scoring import ScoreLine
from queries.experiment.subjects import Fate
from queries.experiment.table import pair_tables, tables_of

GOLDEN = Path(__file__).parents[1] / "golden"
LOCK = {
    "graphs": {"demo": {"edges": "e" * 48}},
    "questions": {"q.jsonl": "f" * 64},
    "prompts": [],
    "versions": {"graph_service": "0"},
    "extractive": {
        "demo/paths/default": {
            "min_score": 0.5, "questions": 4, "right": 2, "wrong": 1, "abstained": 1,
        }
    },
}  # fmt: skip
BASE = "demo/base/paths/default/extractive"
KINDS = ("one-hop", "two-hop", "three-hop")


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    folder = tmp_path_factory.mktemp("plan")
    (folder / "q.jsonl").write_text('{"question": "Who?"}\n')
    return parse_plan(
        "graphs: [demo]\nquestions: q.jsonl\nmethods: [rr, ed]\nlevels: [0.1, 0.5]\n"
        "random_seeds: 0-1\n",
        source="small.yaml",
        folder=folder,
    )


def lines_of(plan: Plan) -> Iterator[ScoreLine]:
    """Six questions; those whose number is under the level's share of six have lost their gold."""
    for cell in cells_of(plan):
        condition = cell.condition
        level = condition.level or 0.0
        for number in range(6):
            shifted = (number + (cell.random_seed or 0)) % 6
            gone = shifted < level * 6
            fate = None
            if condition.kind is not CellKind.NO_KNOWLEDGE:
                fate = Fate.KEPT
                if gone:
                    fate = Fate.LOST if condition.method == "edge-deletion" else Fate.CHANGED
            right = float(condition.kind is not CellKind.NO_KNOWLEDGE and not gone)
            named = condition.answerer.kind is AnswererKind.EXTRACTIVE
            for score, value in (
                ("f1", right * (0.5 + number / 10)),
                ("retrieved", right),
                ("hits_at_1", right if named else None),
                ("abstained", 1.0 - right if not named else 0.0),
            ):
                why = None if value is not None else "only the rule names one entity"
                yield ScoreLine(cell.id, str(number), KINDS[number % 3], fate, score, value, why)


@pytest.fixture(scope="module")
def analysis(plan: Plan) -> Analysis:
    return analyse(cells_of(plan), lines_of(plan))


@pytest.fixture(scope="module")
def impacts(plan: Plan) -> Impacts:
    """Question i has i statements, the first of them broken where its gold is; 5 is never near."""
    found: list[ViewLine] = []
    for cell in cells_of(plan):
        condition = cell.condition
        if condition.kind is not CellKind.VIEW or condition.answerer.name != "extractive":
            continue
        for number in range(6):
            gone = (number + (cell.random_seed or 0)) % 6 < (condition.level or 0.0) * 6
            broken = (BrokenStatement(f"s{number}", "Ada | spouse | Bea"),) if number else ()
            base = None if number == 5 else 1
            view = None if gone and number % 2 else base
            found.append(
                ViewLine("demo", cell.view_name, str(number), Fate.CHANGED if gone else Fate.KEPT,
                         number, broken if gone else (), base, view, None)
            )  # fmt: skip
    return impacts_of(cells_of(plan), found)


def test_what_views_break_is_counted_over_questions_that_can_lose_it_o11(
    impacts: Impacts, plan: Plan
) -> None:
    assert len(impacts.rows) == 2 * 2 * 2, "two methods, levels and seeds, whoever answers"
    (row,) = (
        one
        for one in impacts.rows
        if (one.method, one.level, one.random_seed) == ("edge-deletion", 0.5, 0)
    )
    # Questions 0, 1 and 2 lost their gold: question 0 has no statement; 0 + 1 + ... + 5 = 15.
    assert (row.statements.broken, row.statements.of) == (2, 15)
    assert (row.sets.broken, row.sets.of, row.sets.share) == (3, 6, 0.5)
    # Of the five whose answer the base has near, 1 lost the way.
    assert (row.answers.broken, row.answers.of, row.answers.share) == (1, 5, 0.2)
    assert [(one.view, one.question) for one in impacts.examples] == [
        ("relation-replacement/0.1/0", "0"),
        ("edge-deletion/0.1/0", "0"),
    ]
    head, *rows = csv.reader(io.StringIO(views_csv(impacts)))
    by_name = [dict(zip(head, one, strict=True)) for one in rows]
    assert len(by_name) == 8
    # At .5 seed 1 loses 5, 0 and 1; answers of 1 and 5 go, and 5 was never near.
    (other,) = (
        one
        for one in by_name
        if (one["method"], one["level"], one["random_seed"]) == ("edge-deletion", "0.5", "1")
    )
    assert (other["statements_broken"], other["answers_broken"], other["sets_of"]) == (
        "2",
        "1",
        "6",
    )
    nothing = impacts_of(cells_of(plan), [])
    assert (nothing.rows, nothing.examples) == ((), ())


def test_the_figures_are_those_of_the_arithmetic(analysis: Analysis) -> None:
    rows = {
        (row.condition.name(), row.score): row
        for row in analysis.rows
        if row.condition.answerer.name == "extractive"
    }
    deletion = rows["demo/edge-deletion/0.5/paths/default/extractive", "hits_at_1"]
    # Seed 0 loses questions 0, 1, 2; seed 1 loses 5, 0, 1: 3 of 6 answers each.
    assert deletion.mean.value == 0.5
    assert deletion.base is not None
    # Each question's seeds averaged: 0, 0, .5, 1, 1, .5 against 1 everywhere.
    assert deletion.base.difference.value == -0.5
    # Both seeds have one mean, so they add nothing: Student's test of the questions.
    p = stats.ttest_1samp([-1, -1, -0.5, 0, 0, -0.5], 0).pvalue
    assert deletion.base.p == pytest.approx(p)
    # Four conditions with a view; the least p is of level .5: 4 p, the next is no less.
    assert deletion.base_p == pytest.approx(4 * p)
    assert not deletion.has_star
    assert deletion.base.is_firm
    # F1 of question i is .5 + i/10. Seed 0 keeps 3, 4, 5: 2.7/6; seed 1 keeps 2, 3, 4: 2.4/6.
    seeds = rows["demo/edge-deletion/0.5/paths/default/extractive", "f1"].seeds
    assert seeds.values == pytest.approx((0.45, 0.4))
    assert seeds.mean == pytest.approx(0.425)
    assert seeds.deviation == pytest.approx(0.05 / 2**0.5)
    assert rows["demo/base/paths/default/extractive", "f1"].seeds.deviation is None
    nothing = rows["demo/no-knowledge/extractive", "hits_at_1"]
    assert nothing.mean.value == 0.0
    (curve,) = (
        one
        for one in analysis.curves
        if (one.condition.method, one.condition.answerer.name, one.score)
        == ("edge-deletion", "extractive", "hits_at_1")
    )
    # 1 on the base, 5/6 at .1, 1/2 at .5: (.1 * (1 + 5/6)/2 + .4 * (5/6 + 1/2)/2) / .5.
    assert curve.area.value == pytest.approx((0.1 * 11 / 12 + 0.4 * 2 / 3) / 0.5)
    assert (curve.nothing, curve.crossing) == (0.0, None)
    parts = {
        (part.condition.name(), part.part): part
        for part in analysis.by_fate
        if part.score == "hits_at_1"
    }
    lost = parts["demo/edge-deletion/0.5/paths/default/extractive", "lost"]
    assert (lost.mean.value, lost.answers) == (0.0, 6)
    assert ("demo/edge-deletion/0.5/paths/default/extractive", "changed") not in parts


def test_tables_are_as_recorded(plan: Plan, analysis: Analysis, impacts: Impacts) -> None:
    """Read what differs before you record it anew."""
    made = {
        "experiment_report.md": "\n".join([*report_lines(plan, analysis, impacts, LOCK, ()), ""]),
        "experiment_tables.tex": latex_tables(analysis),
        "experiment_conditions.csv": conditions_csv(analysis),
    }
    for name, text in made.items():
        if os.environ.get("GRAPH_SERVICE_UPDATE_REPORTS"):
            (GOLDEN / name).write_text(text, encoding="utf-8")
        assert text == (GOLDEN / name).read_text(encoding="utf-8"), name
    for text in (curves_csv(analysis), parts_csv(analysis), comparisons_csv(analysis)):
        head, *rows = csv.reader(io.StringIO(text))
        assert rows
        assert {len(row) for row in rows} == {len(head)}


def test_figures_hold_every_method_and_the_no_knowledge_line_o12_o9(
    analysis: Analysis, tmp_path: Path
) -> None:
    drawn = draw_figures(analysis, tmp_path / "once")
    names = {figure.name for figure in drawn}
    assert names == set(figure_names(analysis))
    assert {
        "demo-hits-at-1-curves-extractive", "demo-f1-radar-verbaliser", "demo-f1-heat-map",
        "demo-hits-at-1-views-extractive", "demo-f1-types-verbaliser",
        "demo-retrieval-against-answer",
    } <= names  # fmt: skip
    for figure in drawn:
        picture = (tmp_path / "once" / f"{figure.name}.png").read_bytes()
        assert picture.startswith(b"\x89PNG\r\n")
    curves = tmp_path / "once" / "demo-hits-at-1-curves-extractive.svg"
    texts = {
        text.text for text in ElementTree.parse(curves).iter("{http://www.w3.org/2000/svg}text")
    }
    assert {
        "relation-replacement",
        "edge-deletion",
        "no knowledge",
        "paths, n = 6",
        "level",
    } <= texts
    radar = (tmp_path / "once" / "demo-f1-radar-verbaliser.svg").read_text()
    assert all(kind in radar for kind in KINDS)
    # Each type has two of the six questions.
    assert "n = 2" in radar


def test_intervals_of_one_figure_do_not_lie_on_each_other(
    analysis: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A height of its own for each view, and for each view of each type of question."""
    pictures: dict[str, Figure] = {}
    monkeypatch.setattr(
        Figure, "savefig", lambda figure, path, **_: pictures.update({Path(path).stem: figure})
    )
    draw_figures(analysis, tmp_path)
    # The base and two methods at two levels; of types at the greatest level alone.
    for name, rows in (("views", 5), ("types", 3 * len(KINDS))):
        (axis,) = pictures[f"demo-hits-at-1-{name}-extractive"].axes
        heights = [y for marks in _marks(axis) for y in marks[1].tolist()]
        assert len(heights) == len(set(heights)) == rows
    # Of one level the intervals of curves stand beside each other.
    (axis,) = pictures["demo-hits-at-1-curves-extractive"].axes
    first, second = (marks[0].tolist() for marks in _marks(axis))
    assert not set(first) & set(second)


def _marks(axis: Axes) -> list[NDArray[np.float64]]:
    """x and y of the means of each drawn set of intervals, float64 [2, means]."""
    return [
        np.array(bars.lines[0].get_data(), dtype=np.float64)
        for bars in axis.containers
        if isinstance(bars, ErrorbarContainer)
    ]


def test_common_random_seeds_of_two_conditions_are_paired(plan: Plan) -> None:
    tables = tables_of(cells_of(plan), lines_of(plan))
    first, second = (
        find_condition(tables, f"demo/{method}/0.5/paths/default/extractive")
        for method in ("edge-deletion", "relation-replacement")
    )
    shared = pair_tables(first, second, "hits_at_1")
    assert shared is not None
    # Each random seed loses the same questions in both: all differences are 0, and p is 1.
    assert (shared.difference.value, shared.p, shared.seeds) == (0.0, 1.0, 2)
    # The same scores under other random seeds: each side adds its own.
    other = copy(second)
    other.seeds = {7: 0, 8: 1}
    apart = pair_tables(first, other, "hits_at_1")
    assert apart is not None
    assert (apart.difference.value, apart.seeds) == (0.0, 2)
    assert not replace(apart, seed_variance=0.1).is_firm
    only = pair_tables(first, find_condition(tables, BASE), "hits_at_1", questions=["0", "3"])
    assert only is not None
    # Question 0 is lost by both seeds, question 3 by none.
    assert (only.difference.value, only.difference.n, only.seeds) == (-0.5, 2, 2)


def test_methods_are_compared_with_each_other(plan: Plan) -> None:
    tables = tables_of(cells_of(plan), lines_of(plan))
    worse = find_condition(tables, "demo/edge-deletion/0.5/paths/default/extractive")
    better = find_condition(tables, "demo/relation-replacement/0.5/paths/default/extractive")
    worse.values("hits_at_1")[:], better.values("hits_at_1")[:] = 0.0, 1.0
    rows = compare_methods(tables, ["hits_at_1"])
    assert [(row.first, row.second) for row in rows] == [
        tuple(
            f"demo/{method}/{level}/paths/default/extractive"
            for method in ("relation-replacement", "edge-deletion")
        )
        for level in (0.1, 0.5)
    ], "verbalisers have no such score"
    # All six differ by 1: p is 2 / 2^6, twice for the two pairs.
    assert rows[1].difference.difference.value == 1.0
    assert rows[1].p == pytest.approx(2 * 2 / 2**6)
    assert not rows[1].has_star
    assert replace(rows[1], p=0.01).has_star
    assert rows[0].p == 1.0
    assert compare_strategies(tables, ["hits_at_1"]) == (), "there is one strategy"
    for table in list(tables.values()):
        if table.condition.strategy is not None:
            condition = replace(table.condition, strategy=Strategy.TRIPLETS)
            tables[condition] = other = copy(table)
            other.condition = condition
    both = compare_strategies(tables, ["hits_at_1"])
    assert len(both) == 1 + 4, "the base, and two methods at two levels"
    assert both[0].first == BASE
    assert both[0].second == BASE.replace("paths", "triplets")


def test_what_no_knowledge_answers_right_stands_apart(plan: Plan) -> None:
    lines = [
        replace(line, value=float(line.question in "012"))
        if line.cell == "demo/no-knowledge/extractive" and line.score == "hits_at_1"
        else line
        for line in lines_of(plan)
    ]
    analysis = analyse(cells_of(plan), lines)
    parts = {
        (part.condition.name(), part.part): part
        for part in analysis.by_known
        if part.score == "hits_at_1"
    }
    known = parts["demo/edge-deletion/0.5/paths/default/extractive", "right without knowledge"]
    # Of questions 0, 1 and 2 seed 0 loses all, and seed 1 keeps 2.
    assert known.mean.value == pytest.approx(1 / 6)
    assert known.answers == 6
    assert known.base is not None
    assert known.base.difference.value == pytest.approx(-5 / 6)
    rest = parts["demo/edge-deletion/0.5/paths/default/extractive", "not right without knowledge"]
    assert rest.mean.value == pytest.approx(5 / 6)
    assert ("demo/no-knowledge/extractive", "right without knowledge") not in parts
    assert analyse(cells_of(plan), lines_of(plan)).by_known == (), "nothing is known"
    head, *rows = csv.reader(io.StringIO(parts_csv(analysis)))
    assert {"known"} <= {row[head.index("by")] for row in rows}


def test_stars_follow_p_and_random_seeds(analysis: Analysis) -> None:
    row = next(row for row in analysis.rows if row.base is not None and row.base.seeds == 2)
    assert row.base is not None
    sure = replace(row, base_p=0.01, base=replace(row.base, seeds=5, seed_variance=0.2, seed_p=0.3))
    assert sure.has_star
    assert not replace(sure, base_p=0.05).has_star
    few = replace(sure.base, seeds=4) if sure.base is not None else None
    assert not replace(sure, base=few).has_star
    text = latex_tables(replace(analysis, rows=(sure,)))
    # Each caption says what a star means.
    without = latex_tables(replace(analysis, rows=(replace(sure, base=few),)))
    assert text.count("$^{*}$") == without.count("$^{*}$") + 1


def test_without_matplotlib_tables_are_written_and_pictures_named(
    plan: Plan,
    analysis: Analysis,
    impacts: Impacts,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("queries.experiment.report.figures.import_module", missing)
    with pytest.raises(SetupError, match="demo-f1-radar-verbaliser") as raised:
        write_report(plan, analysis, impacts, LOCK, tmp_path, figures=True)
    assert "graph-service[experiment]" in str(raised.value.hint)
    written = {path.name for path in tmp_path.iterdir()}
    assert {"report.md", "tables.tex", "conditions.csv", "comparisons.csv"} <= written
    assert not (tmp_path / "figures").exists()
    text = (tmp_path / "tables.tex").read_text()
    assert r"\label{tab:hits-at-1-demo-extractive}" in text
    check_line(text, "6 questions")
    assert r"{\footnotesize [0.381, 0.819]}" in text
    assert "means of 2 random seeds" in text


def test_two_runs_are_compared_question_by_question(plan: Plan) -> None:
    cells = cells_of(plan)
    first = tables_of(cells, lines_of(plan))
    base = find_condition(first, "demo/base/paths/default/extractive")
    worse = find_condition(first, "demo/edge-deletion/0.5/paths/default/extractive")
    found = {row.score: row for row in compare([(worse, base)])}
    assert found["hits_at_1"].difference.difference.value == -0.5
    assert found["hits_at_1"].p == pytest.approx(
        stats.ttest_1samp([-1, -1, -0.5, 0, 0, -0.5], 0).pvalue
    )
    assert found["hits_at_1"].first_mean.value == 0.5
    with pytest.raises(InputError, match="there are\n  demo/no-knowledge"):
        find_condition(first, "demo/other")
