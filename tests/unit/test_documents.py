"""The documents name modules that exist, all parts of the packages, and links that lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from graph_service.cli.ask.explaining import _PARTS
from graph_service.cli.parser import make_parser
from tools.site.figures import FIGURES, FOLDER
from tools.site.reference import reference_pages

ROOT = Path(__file__).parents[2]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
}
# These are made when the site is built; other pages may link to them.
MADE = {f"docs/{path}": text for path, text in reference_pages().items()}
TOPS = (
    "graph_service",
    "loaders",
    "queries",
    "benchmarks",
    "client",
    "tests",
    "tools",
    "docs",
    "requirements",
)
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")


def prose(text: str) -> str:
    """Returns a page without its blocks of code."""
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def anchors(text: str) -> set[str]:
    """Returns what headings are linked by, as GitHub makes it of their words."""
    headings = re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE)
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in words}


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_exists(page: str) -> None:
    for name in re.findall(rf"`((?:{'|'.join(TOPS)})/[\w./-]*)`", PAGES[page]):
        assert (ROOT / name).exists(), name


@pytest.mark.parametrize("page", PAGES)
def test_modules_are_named_by_their_whole_path(page: str) -> None:
    """So that a search finds them, and a move of a module finds the pages that name it."""
    for name in re.findall(r"`([\w/]+\.py)`", prose(PAGES[page])):
        assert name.startswith(tuple(f"{top}/" for top in TOPS)), name


@pytest.mark.parametrize("page", PAGES | MADE)
def test_every_link_leads_somewhere(page: str) -> None:
    folder = (ROOT / page).parent
    for link in LINK.findall(prose((PAGES | MADE)[page])):
        if link.startswith(("http://", "https://")):
            continue
        file, _, anchor = link.partition("#")
        target = Path(os.path.normpath(folder / file)) if file else ROOT / page
        made = MADE.get(str(target.relative_to(ROOT)))
        assert made is not None or target.exists(), link
        if anchor:
            text = target.read_text(encoding="utf-8") if made is None else made
            assert anchor in anchors(text), link


@pytest.mark.parametrize("package", ["graph_service", "loaders", "queries"])
def test_the_architecture_names_every_part(package: str) -> None:
    """Modules of ``loaders`` and ``queries`` beside their pipeline may go with its row."""
    text = PAGES["docs/explanation/architecture.md"]
    for path in sorted((ROOT / package).iterdir()):
        if path.name.startswith("_") or not (path.is_dir() or path.suffix == ".py"):
            continue
        if package == "loaders" and path.suffix == ".py":
            continue
        assert f"`{package}/{path.name}" in text, path.name


ITEMS = re.findall(
    r"^(?:\d\. |\| )(.+?)(?=^\d\. |^\||^$|^#)", PAGES["CONTRIBUTING.md"], re.MULTILINE | re.DOTALL
)


@pytest.mark.parametrize("item", [item for item in ITEMS if ".py`" in item])
def test_what_is_to_be_changed_stands_in_the_file_that_is_named(item: str) -> None:
    files = [ROOT / name for name in re.findall(r"`([\w/]+\.py)`", item)]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    for name in re.findall(r"`(_?[A-Za-z]\w+)`", item):
        assert re.search(rf"\b{name}\b", text), name


def test_there_are_items_of_what_is_to_be_changed() -> None:
    assert len([item for item in ITEMS if ".py`" in item]) > 20


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        ([], "pytest -n 3 --dist loadfile"),
        (["FILE=tests/unit/test_x.py"], "pytest tests/unit/test_x.py"),
    ],
)
def test_one_file_of_tests_is_run_by_itself(arguments: list[str], command: str) -> None:
    """Without the checks and the processes that a whole run needs."""
    # Nothing is installed: ``-n`` runs nothing, ``-o`` takes the environment as it is. A make that
    # these tests run under would hand down its flags and its FILE.
    outside = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "FILE"))
    }
    done = subprocess.run(
        ["make", "-n", "-o", ".venv/.test", "VENV=.venv", "test", *arguments],
        cwd=ROOT, env=outside, capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert lines[-1].endswith(f"/bin/{command}")
    assert (len(lines) == 1) is bool(arguments)


def test_every_part_of_a_score_that_explain_names_is_in_the_table_of_parts() -> None:
    _, _, section = PAGES["docs/reference/retrieval.md"].partition(
        "### How a path's score is made\n"
    )
    named = re.findall(r"^\| (`.+?) \|", section.partition("\n### ")[0], re.MULTILINE)
    assert _PARTS.keys() <= {name for cell in named for name in re.findall(r"`(\w+)`", cell)}


def test_the_changelog_has_the_form_that_it_names() -> None:
    """https://keepachangelog.com/en/1.1.0/: versions, newest first, and six kinds of changes."""
    versions = re.findall(r"^## (.+)$", PAGES["CHANGELOG.md"], re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    for version in versions[1:]:
        assert re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}", version)
    for part in PAGES["CHANGELOG.md"].split("\n## ")[1:]:
        kinds = re.findall(r"^### (.+)$", part, re.MULTILINE)
        order = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
        assert kinds == [kind for kind in order if kind in kinds]


COMMANDS = [
    (page, command)
    for page, text in PAGES.items()
    if page.startswith("docs/")
    for command in re.findall(r"^(?:    |\$ )graph-service ((?:.*\\\n)*.+)$", text, re.MULTILINE)
]


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_every_command_of_the_pages_is_understood(page: str, command: str) -> None:
    """Those of blocks marked ``console`` are run too, by tests of their own."""
    shown = re.split(r" +(?:[>|&]|#)", command.replace("\\\n", " "))[0]
    assert make_parser().parse_args(shlex.split(shown.rstrip(" &"))).run is not None


def test_lines_of_prose_end_at_100_characters() -> None:
    """But for tables, blocks of code, and addresses, which Markdown cannot break."""
    long = [
        f"{page}: {line}"
        for page, text in PAGES.items()
        if page.startswith("docs/") and page != "docs/reference/options.md"
        for line in prose(text).splitlines()
        if len(line) > 100 and not line.startswith(("|", "    ", "!["))
    ]
    assert not long, "\n".join(long)


def sentences(page: str) -> list[list[str]]:
    """Returns the words of each sentence outside of code, tables and headings."""
    lines = [
        line for line in prose(page).splitlines() if not line.startswith(("    ", "|", "![", "#"))
    ]
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)|`[^`]*`", r"\1", "\n".join(lines))
    parts = re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.) |(?<=[.!?:;])\s+", text)
    return [words for part in parts if len(words := re.findall(r"[A-Za-z']+", part)) > 1]


def reading_ease(page: str) -> float:
    """Returns Flesch's figure (1948), with a syllable for each group of vowels but a last e."""
    found = sentences(page)
    words = [word for sentence in found for word in sentence]
    syllables = sum(
        max(1, len(re.findall(r"[aeiouy]+", re.sub(r"e$", "", word.lower())))) for word in words
    )
    return 206.835 - 1.015 * len(words) / len(found) - 84.6 * syllables / len(words)


def test_reading_ease_is_flesch_s() -> None:
    # Two sentences, eight words, nine syllables: 206.835 - 1.015 * 4 - 84.6 * 9 / 8.
    page = "# A head of no account\n\nThe cat sat here. It drank `and more` warm coffee.\n"
    assert [len(one) for one in sentences(page)] == [4, 4]
    assert reading_ease(page) == pytest.approx(107.6, abs=0.01)


@pytest.mark.parametrize("page", [page for page in PAGES if len(sentences(PAGES[page])) > 3])
def test_pages_are_easy_to_read(page: str) -> None:
    assert reading_ease(PAGES[page]) > 50
    longest = max(sentences(PAGES[page]), key=len)
    assert len(longest) <= 40, " ".join(longest)


def test_the_figures_are_what_the_code_draws() -> None:
    for name, draw in FIGURES.items():
        shown = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
        assert shown == draw(), "python -m tools.site.figures"


def test_the_site_lists_every_page() -> None:
    listed = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    for page in PAGES:
        name = page.removeprefix("docs/")
        if name != page:
            assert f" {name}\n" in listed or f": {Path(name).parent}/\n" in listed, page
