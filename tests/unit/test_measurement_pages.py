"""Pages of measurements begin with their figure and how to run it, and end with what was tried."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from error_texts import check_text

PAGES = {
    path.name: path.read_text(encoding="utf-8")
    for path in sorted((Path(__file__).parents[2] / "docs" / "measurements").glob("*.md"))
    if path.name != "index.md"
}
MAX_COLUMNS = 8
MAX_FIGURE_WORDS = 60
APPENDIX = "Appendix"


def faults_of(page: str) -> list[str]:
    """Returns what a page lacks of the form, in words; nothing for a page that has it."""
    head, *sections = re.split(r"^## ", page, flags=re.MULTILINE)
    title, _, first = head.strip().partition("\n\n")
    faults = []
    if not title.startswith("# ") or not re.match(r"\*\*[^*]*\d[^*]*\*\*", first):
        faults.append("no figure in bold right after the title")
    if "\n\n" in first or len(first.split()) > MAX_FIGURE_WORDS:
        faults.append(f"not one paragraph of {MAX_FIGURE_WORDS} words before the first section")
    if not sections or not sections[0].startswith("Run it\n"):
        faults.append("the first section is not 'Run it'")
    elif not re.search(r"^    \w|`[^`]+ [^`]+`", sections[0], re.MULTILINE):
        faults.append("'Run it' has no command")
    titles = [section.partition("\n")[0] for section in sections]
    in_order = sorted(titles, key=lambda title: title.startswith(APPENDIX))
    if titles != in_order:
        faults.append("a section follows an appendix")
    tried = re.compile(r"tried|did not|didn't|helped|before and after", re.IGNORECASE)
    faults += [
        f"{title!r} is no appendix"
        for title in titles
        if tried.search(title) and not title.startswith(APPENDIX)
    ]
    columns = [line.count("|") - 1 for line in page.splitlines() if line.startswith("|---")]
    if max(columns, default=0) > MAX_COLUMNS:
        faults.append(f"a table of {max(columns)} columns")
    return faults


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_begins_with_its_figure_and_ends_with_what_was_tried(name: str) -> None:
    assert faults_of(PAGES[name]) == []


def test_a_page_of_another_form_is_named() -> None:
    page = "# A\n\nWords.\n\n| a |\n|---|\n\n## What did not help\n\n" + "|" + "---|" * 9
    assert faults_of(page) == [
        "no figure in bold right after the title",
        "not one paragraph of 60 words before the first section",
        "the first section is not 'Run it'",
        "'What did not help' is no appendix",
        "a table of 9 columns",
    ]
    assert faults_of("# A\n\n**.5** of x.\n\n## Run it\n\n    make x\n") == []
    check_text(
        faults_of("# A\n\n**.5** of x.\n\n## Run it\n\nSo.\n\n## Appendix: a\n\n## Figures\n"),
        "'Run it'",
    )
