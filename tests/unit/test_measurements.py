"""``make measurements``: its table is what the pages say, and a run goes on after it was stopped."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from error_texts import raises

from benchmarks.__main__ import make_parser as benchmarks_parser
from graph_service.cli.parser import make_parser
from tools.measurements import (
    DATA,
    PARTS,
    PageFigure,
    Part,
    compare,
    find_figure,
    main,
    read_parts,
)

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "measurements"
TABLE = read_parts(PARTS)
LIMIT_MINUTES = 60


def as_one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("\\\n", " "))


@pytest.mark.parametrize("part", TABLE, ids=lambda part: part.name)
def test_a_page_has_the_commands_and_the_figures_of_its_parts(part: Part) -> None:
    page = (PAGES / part.page).read_text(encoding="utf-8")
    for command in part.commands:
        assert command in as_one_line(page)
        match shlex.split(command):
            case ["graph-service", *arguments]:
                parser = make_parser()
            case ["python", "-m", "benchmarks", *arguments]:
                parser = benchmarks_parser()
            case _:
                pytest.fail(command)
        assert parser.parse_args(arguments).run is not None
    for figure in part.figures:
        assert f"{figure.value:.3f}".removeprefix("0") in page, figure


def test_all_parts_fit_into_an_hour_and_have_names_of_their_own() -> None:
    assert sum(part.minutes for part in TABLE) <= LIMIT_MINUTES
    assert len({part.name for part in TABLE}) == len(TABLE)


def test_the_index_says_how_each_page_is_made_anew() -> None:
    """By which parts, or why by none."""
    index = (PAGES / "index.md").read_text(encoding="utf-8")
    for page in sorted(path.name for path in PAGES.glob("*.md") if path.name != "index.md"):
        parts = [part for part in TABLE if part.page == page]
        minutes = sum(part.minutes for part in parts)
        row = next(line for line in index.splitlines() if f"]({page})" in line)
        assert row.endswith(f"| {minutes:g} |" if parts else "| by hand |"), row


RESULT = {
    "sets": [
        {"name": "a", "found": {"value": 0.5, "low": 0.4, "high": 0.6}},
        {"name": "b", "found": 0.25},
    ]
}


def test_a_figure_is_found_by_keys_and_names() -> None:
    assert find_figure(RESULT, "sets/b/found") == 0.25
    for at in ("sets/c/found", "sets/b/lost", "sets/b/found/more"):
        with pytest.raises(KeyError, match=at):
            find_figure(RESULT, at)


@pytest.mark.parametrize(
    ("at", "value", "line"),
    [
        ("sets/a/found", 0.4, ""),
        ("sets/a/found", 0.39, "is 0.39 on the page, now 0.500 (0.400 to 0.600)"),
        ("sets/b/found", 0.2504, ""),
        ("sets/b/found", 0.251, "is 0.251 on the page, now 0.25"),
        ("sets/c/found", 0.25, "is 0.25 on the page; the result has no such figure"),
    ],
)
def test_what_lies_outside_of_the_interval_differs(at: str, value: float, line: str) -> None:
    part = Part("p", "p.md", 1, (), (PageFigure(at, value),))
    assert compare(part, RESULT) == ([f"p.md: {at} {line}"] if line else [])


def python(code: str) -> str:
    return f"python -c {shlex.quote(code)}"


# Says that it runs, and ends only if there is a file that lets it.
WAITS = f"""
import pathlib, time
data = pathlib.Path("{DATA}".strip("'"))
with (data / "began").open("a") as file:
    file.write("x")
while not (data / "go").exists():
    time.sleep(.02)
print(1)
"""
COUNTS = """
import pathlib
with pathlib.Path("../../counted").open("a") as file:
    file.write("x")
print('{"value": 2}')
"""


def write_table(path: Path, rows: dict[str, list[str]]) -> None:
    path.write_text(
        "".join(
            f"[[part]]\nname = {json.dumps(name)}\npage = 'p.md'\nminutes = 1\n"
            f"commands = {json.dumps(commands)}\nfigures = {{ value = 2 }}\n"
            for name, commands in rows.items()
        ),
        encoding="utf-8",
    )


def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path) -> None:
    data, out, table = tmp_path / "data", tmp_path / "out", tmp_path / "parts.toml"
    data.mkdir()
    write_table(table, {"one": [python(COUNTS)], "two": [python(WAITS), python(COUNTS)]})
    options = ["--data", str(data), "--out", str(out), "--parts", str(table)]
    command = [sys.executable, "-m", "tools.measurements", *options]
    running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    limit = time.monotonic() + 600
    while not (data / "began").exists():
        assert running.poll() is None
        assert time.monotonic() < limit
        time.sleep(0.02)
    with raises(SystemExit):
        main(options)
    running.send_signal(signal.SIGTERM)
    told, _ = running.communicate(timeout=600)
    assert running.returncode == 130
    assert "Stopped." in told
    # What it ran is gone too, or it would hold the lock.
    (data / "go").touch()
    assert main(options) == 0
    assert (data / "began").read_text() == "xx"
    assert (tmp_path / "counted").read_text() == "xx"
    assert main(options) == 0
    assert (tmp_path / "counted").read_text() == "xx"
    write_table(table, {"one": [python(COUNTS + "#")]})
    assert main(options) == 0
    assert (tmp_path / "counted").read_text() == "xxx"


def test_a_failing_part_stops_no_other_and_runs_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, out = tmp_path / "parts.toml", tmp_path / "out"
    options = ["--data", str(tmp_path), "--out", str(out), "--parts", str(table)]
    fails = python("import sys; print('why', file=sys.stderr); sys.exit(3)")
    write_table(
        table, {"bad": [fails], "talks": [python("print('no JSON')")], "good": [python(COUNTS)]}
    )
    assert main(options) == 1
    told = capsys.readouterr().out
    assert "1 of 3 parts measured." in told
    assert "* failed: bad: exit code 3" in told
    assert "* failed: talks: no JSON" in told
    assert (out / "bad" / "log.txt").read_text() == "why\n"
    assert (out / "summary.md").read_text() in told
    write_table(table, {"bad": [python("print('{\"value\": 3}')")], "good": [python(COUNTS)]})
    assert main(options) == 0
    told = capsys.readouterr().out
    assert "[2 of 2] good: finished before" in told
    assert "* p.md: value is 2 on the page, now 3" in told
    assert "1 of 2 figures differ" in told


def test_a_graph_of_which_lines_were_rejected_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, out = tmp_path / "parts.toml", tmp_path / "out"
    options = ["--data", str(tmp_path), "--out", str(out), "--parts", str(table)]
    (tmp_path / "graph.tsv").write_text("Q1\tP1\tQ2\n\tP1\tQ2\n", encoding="utf-8")
    (tmp_path / "none.tsv").write_text("\tP1\tQ2\n", encoding="utf-8")
    load = "graph-service load FOLDER/{}.tsv --columns head,relation,tail --graph g"
    write_table(
        table,
        {
            "some": [load.format("graph"), python(COUNTS)],
            "none": [load.format("none"), python(COUNTS)],
        },
    )
    assert main(options) == 1
    told = capsys.readouterr().out
    assert "1 of 2 parts measured." in told
    assert "* failed: none: exit code 2" in told
