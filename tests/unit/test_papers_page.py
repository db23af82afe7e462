"""docs/reference/papers.md explains every row id that code, tests and documents name."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import graphql
import pytest

from benchmarks.__main__ import make_parser as benchmarks_parser
from graph_service.cli.parser import make_parser
from queries.experiment.cells import cells_of
from queries.experiment.plan_file import read_plan
from queries.experiment.scoring import SCORES

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "reference" / "papers.md").read_text(encoding="utf-8")
ROWS = {
    found[1]: found[2]
    for found in re.finditer(
        r"^### ([SKOLTB]\d+): .+?\n(.*?)(?=^##|\Z)", TEXT, re.MULTILINE | re.DOTALL
    )
}
COMMANDS = re.findall(r"^    graph-service (.+)$", re.sub(r"\\\n +", "", TEXT), re.MULTILINE)
QUERIES = re.findall(r"```graphql\n(.*?)```", TEXT, re.DOTALL)
ROW_ID = re.compile(r"(?<![\w$./-])[SKOLTB][1-9]\d?(?![\w-])")
BENCHMARKS = re.findall(
    r"^    python -m benchmarks (.+)$", re.sub(r"\\\n +", "", TEXT), re.MULTILINE
)
PACKAGES = ("graph_service", "loaders", "queries", "tests", "tools")


def spoken(path: Path) -> str:
    """Returns what a module says of itself: docstrings, comments, and rows that tests end on."""
    text = path.read_text(encoding="utf-8")
    said = [*re.findall(r'"""(.*?)"""', text, re.DOTALL), *re.findall(r"# (.*)", text)]
    rows = re.findall(r"def test_\w+_([skoltb]\d{1,2})\(", text)
    return "\n".join([*said, *(row.upper() for row in rows)])


MODULES = {path: spoken(path) for name in PACKAGES for path in sorted((ROOT / name).rglob("*.py"))}


def test_the_rows_are_numbered_without_gaps() -> None:
    last = {"S": 8, "K": 10, "O": 14, "L": 9, "T": 8, "B": 21}
    assert list(ROWS) == [f"{letter}{n + 1}" for letter in last for n in range(last[letter])]


def test_every_row_id_that_code_and_tests_name_stands_on_the_page() -> None:
    named = 0
    for path, text in MODULES.items():
        # Examples in docstrings show ids of statements (S1), which are not rows.
        prose = re.sub(r"^\s*(?:>>>|\.\.\. ).*$|``.*?``", "", text, flags=re.MULTILINE)
        found = {*ROW_ID.findall(prose)}
        assert not found - ROWS.keys(), path
        named += len(found)
    assert named > 300


@pytest.mark.parametrize(
    "page", sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))
)
def test_every_row_id_that_documents_name_stands_on_the_page(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    assert {*ROW_ID.findall(prose)} <= ROWS.keys()


@pytest.mark.parametrize("row", ROWS)
def test_every_row_names_a_module_and_what_shows_it_or_says_what_is_missing(row: str) -> None:
    text = ROWS[row]
    shown = re.search(r"^    (graph-service|python -m benchmarks) |```graphql", text, re.MULTILINE)
    assert ("Modules: " in text and shown) or "\nMissing: " in text


def test_every_module_of_the_page_exists() -> None:
    modules = re.findall(r"`((?:graph_service|loaders|queries|tests|tools)/[^`]+)`", TEXT)
    assert len(modules) > 100
    assert [name for name in modules if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_of_the_page_are_understood(command: str) -> None:
    assert make_parser().parse_args(shlex.split(command)).run is not None


@pytest.mark.parametrize("command", BENCHMARKS)
def test_the_benchmarks_of_the_page_are_understood(command: str) -> None:
    assert benchmarks_parser().parse_args(shlex.split(command)).run is not None


@pytest.mark.parametrize("query", QUERIES)
def test_the_queries_of_the_page_are_valid(query: str) -> None:
    printed = (ROOT / "docs" / "schema.graphql").read_text(encoding="utf-8")
    assert graphql.validate(graphql.build_schema(printed), graphql.parse(query)) == []


def test_nothing_refers_to_what_the_repository_lacks() -> None:
    """Who reads a numbered trap or issue cannot look it up; the reason itself is said instead."""
    private = re.compile(
        r"\btraps? \d|\b(?:spec|design|traps|conventions)\.md\b|\bissue (?:\d|\"|Views)|\bdesign: |\bsettled[):]|"
        r'"Settled"',
        re.IGNORECASE,
    )
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = MODULES | {path: path.read_text(encoding="utf-8") for path in pages}
    assert {path: found[0] for path, text in texts.items() if (found := private.search(text))} == {}


def test_the_plan_of_the_perturbed_graphs_is_read(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "rerun-the-papers.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```yaml\n(graphs: .*?)```", page, re.DOTALL)
    (tmp_path / "plan.yaml").write_text(text)
    (tmp_path / "Q").write_text('{"id": "1", "question": "Who?"}\n')
    (tmp_path / "passages.jsonl").write_text('{"id": "1", "passages": "Ada is a poet."}\n')
    plan = read_plan(tmp_path / "plan.yaml", scores=SCORES)
    # Three prompts: without knowledge, and of three strategies on the base and on 4 * 5 * 5 views.
    assert len(cells_of(plan)) == 3 + 3 * 3 * (1 + 4 * 5 * 5)
