"""Scored cases in a file: what is kept, what is done again, and what the file may not hold."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from error_texts import check_text, raises

from graph_service.errors import InputError
from queries.llm import Usage
from queries.score.geval import GEvalRow, QualityScore
from queries.score.report import Groups, read_report_groups
from queries.score.rows import RowFile, score_cases
from queries.score.talec_runs import read_run


def row(id_: str, failure: str | None = None) -> GEvalRow:
    scores = {"wit": QualityScore((4.0, None), ("late",), 1)}
    return GEvalRow(id_, Groups("who", "IV", 2), scores, {"wit": 3.0}, Usage(9, 1), failure)


def test_a_row_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    file = RowFile(path, GEvalRow, "by hand")
    assert not path.exists(), "it is made on the first row"
    file.add(row("1"))
    file.add(row("2", "late"))
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [line["basis"] for line in lines] == ["by hand", "by hand"]
    assert RowFile(path, GEvalRow, "by hand").rows == {"1": row("1"), "2": row("2", "late")}
    file.add(row("1", "again"))
    assert RowFile(path, GEvalRow, "by hand").rows["1"] == row("1", "again"), "the last one counts"


def test_without_a_path_rows_are_kept_in_memory_alone(tmp_path: Path) -> None:
    file = RowFile(None, GEvalRow, "by hand")
    file.add(row("1"))
    assert file.rows == {"1": row("1")}
    assert list(tmp_path.iterdir()) == []


def test_the_end_of_a_killed_run_is_dropped_and_empty_lines_are_none(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    RowFile(path, GEvalRow, "by hand").add(row("1"))
    whole = path.read_bytes()
    path.write_bytes(b"\n  \n" + whole + b'{"basis": "by ha')
    assert RowFile(path, GEvalRow, "by hand").rows == {"1": row("1")}
    assert path.read_bytes() == b"\n  \n" + whole


@pytest.mark.parametrize(
    "line",
    ["no JSON", "[]", '{"row": {}}', '{"basis": "by hand"}', '{"basis": "by hand", "row": {"id": 1}}',
     f'{{"basis": "{"x" * 100}", "row": 5}}'],
)  # fmt: skip
def test_what_is_no_scored_case_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "rows.jsonl"
    RowFile(path, GEvalRow, "by hand").add(row("1"))
    path.write_text(path.read_text() + line + "\n")
    with raises(InputError) as caught:
        RowFile(path, GEvalRow, "by hand")
    assert caught.value.argument == "out"
    check_text(caught.value.hint)


def test_rows_of_another_judge_are_never_mixed_in(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    RowFile(path, GEvalRow, "one judge").add(row("1"))
    with raises(InputError) as caught:
        RowFile(path, GEvalRow, "another")
    assert caught.value.argument == "out"
    check_text(caught.value.hint)


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    file = RowFile(tmp_path / "none" / "rows.jsonl", GEvalRow, "by hand")
    with raises(InputError) as caught:
        file.add(row("1"))
    assert caught.value.argument == "out"


@pytest.mark.parametrize("concurrency", [1, 3])
def test_cases_come_in_order_and_those_in_the_file_are_not_scored_again(concurrency: int) -> None:
    file = RowFile(None, GEvalRow, "by hand")
    for kept in (row("b"), row("c", "late")):
        file.add(kept)
    asked: list[str] = []
    told: list[tuple[int, int, int]] = []

    def score(case: str) -> GEvalRow:
        asked.append(case)
        return row(case, "anew")

    found = score_cases(
        list("dcba"),
        score,
        file,
        id_of=str,
        again=lambda one: one.failure is not None,
        concurrency=concurrency,
        progress=lambda state: told.append((state.done, state.total, state.failed)),
    )
    assert [one.id for one in found] == list("dcba")
    assert [one.failure for one in found] == ["anew", "anew", None, "anew"]
    assert sorted(asked) == ["a", "c", "d"]
    assert told == [(2, 4, 1), (3, 4, 2), (4, 4, 3)]
    asked.clear()
    assert score_cases(list("bd"), score, file, id_of=str) == (row("b"), row("d", "anew"))
    assert asked == [], "what failed stays as it is, unless it is asked for again"


def test_a_run_that_ends_by_an_error_asks_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    ended = threading.Event()
    shutdown = ThreadPoolExecutor.shutdown

    def end(pool: ThreadPoolExecutor, wait: bool = True, **options: Any) -> None:
        if wait:
            ended.set()
        shutdown(pool, wait, **options)
        ended.set()

    def score(case: int) -> GEvalRow:
        asked.append(case)
        if case == 0:
            raise InputError("spent")
        # The other worker holds a case until the pool has ended; the rest waits in line.
        assert ended.wait(600)
        return row(str(case))

    monkeypatch.setattr(ThreadPoolExecutor, "shutdown", end)
    file = RowFile(None, GEvalRow, "")
    with pytest.raises(InputError, match="spent"):
        score_cases(list(range(50)), score, file, id_of=str, concurrency=2)
    assert len(asked) <= 3


# Reports and runs that are read


def written(folder: Path, found: Any) -> Path:
    path = folder / "report.json"
    path.write_text(found if isinstance(found, str) else json.dumps(found))
    return path


@pytest.mark.parametrize(
    "found", [[], {"by": {"kind": {"who": {}}}}, {"by": {"kind": {"who": []}}}]
)
def test_a_file_without_scores_is_no_report(tmp_path: Path, found: Any) -> None:
    path = written(tmp_path, found)
    with raises(InputError) as caught:
        read_report_groups(path, "kind")
    assert caught.value.argument == "reports"


@pytest.mark.parametrize(
    "found", [{}, {"by": []}, {"by": {"level": {}}}, {"by": {"kind": {"a": {}}}}]
)
def test_a_report_without_groups_on_an_axis_is_told(tmp_path: Path, found: Any) -> None:
    path = written(tmp_path, found)
    with raises(InputError) as caught:
        read_report_groups(path, "level")
    assert caught.value.argument == "reports"


def test_groups_by_kind_are_found_where_citations_have_them(tmp_path: Path) -> None:
    score = {"value": 0.5, "n": 2}
    path = written(tmp_path, {"by_kind": {"who": {"F1": score}, "what": {"F1": score}}})
    found = read_report_groups(path, "kind")
    assert {kind: scores["F1"].value for kind, scores in found.items()} == {"who": 0.5, "what": 0.5}
    with raises(InputError):
        read_report_groups(path, "level")


def test_what_is_no_json_is_no_report(tmp_path: Path) -> None:
    for path in (written(tmp_path, "{"), tmp_path / "none.json"):
        with raises(InputError) as caught:
            read_report_groups(path, "kind")
        assert caught.value.argument == "reports"


def test_a_run_of_talec_without_a_judged_text_is_told(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("\n")
    with pytest.raises(InputError) as caught:
        read_run(str(path))
    assert caught.value.argument == "run"
    check_text(caught.value.message, path)
    path.write_text('{"id": 5}\n')
    with raises(InputError):
        read_run(str(path))
    path.write_text('{"row": {"id": 5}}\n')
    with raises(InputError):
        read_run(str(path))
