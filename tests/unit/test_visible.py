"""What text of a graph, a model or a file may do on a terminal and in a spreadsheet: nothing."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graph_service
from graph_service.text.visible import spreadsheet, visible, visible_json, visible_line

ACTING = [
    "\x1b[2J", "\x1b]52;c;aGk=\x07", "\x9b31m", "\x9d0;t\x9c", "\b\b", "\r", "\x00", "\x7f", "\x85",
    *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A)),
    "\u2028", "\u2029", "\u200e", "\u200f", "\u061c", "\ufeff", "\ud800", "\U000e0041",
]  # fmt: skip
WRITTEN = [
    "می\u200cخواهم", "क\u094d\u200dष", "👩\u200d👩\u200d👧", "❤\ufe0f", "\u05d0\u200f!",
    "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "so\u00adft", "ភាសា\u200bខ្មែរ", "é", "e\u0301", "北京", "a\tb",
]  # fmt: skip


@pytest.mark.parametrize("text", ACTING)
def test_what_acts_on_a_terminal_is_an_escape(text: str) -> None:
    shown = visible(f"a{text}b")
    assert shown.isascii()
    assert shown.isprintable()
    assert text not in shown


@pytest.mark.parametrize("text", WRITTEN)
def test_what_writing_needs_stays(text: str) -> None:
    assert visible_line(text) == text


@given(st.text(st.characters(exclude_categories=())))
def test_no_text_holds_a_control_or_an_override(text: str) -> None:
    shown = visible_line(text)
    assert not {unicodedata.category(character) for character in shown.replace("\t", "")} & {
        "Cc", "Cs", "Zl", "Zp",
    }  # fmt: skip
    assert not {unicodedata.bidirectional(character) for character in shown} & {
        "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI",
    }  # fmt: skip
    assert visible_line(shown) == shown


@given(st.text())
def test_json_holds_the_same_text(text: str) -> None:
    for is_ascii in (True, False):
        shown = visible_json(json.dumps({"label": text}, ensure_ascii=is_ascii))
        assert json.loads(shown) == {"label": text}
        # So a stream that shows text leaves it as it is.
        assert visible(shown) == shown


COMPUTED = ["=1+1", "+cmd|x", "-2+3", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("x")']
PLAIN = ["-5", "+5.5", "-1e-3", "1+1", "a=b", "", "Q42", "'=1", "-.5"]


def test_a_spreadsheet_computes_no_text() -> None:
    rows: list[Sequence[object]] = [
        *([text] for text in COMPUTED),
        *([text] for text in PLAIN),
        [-5],
    ]
    cells = [
        row[0] if row else "" for row in csv.reader(io.StringIO(spreadsheet(rows), newline=""))
    ]
    shown = [text.replace("\r", r"\x0d") for text in COMPUTED]
    assert cells == [*(f"'{text}" for text in shown), *PLAIN, "-5"]


@pytest.mark.skipif(
    shutil.which("node") is None and os.environ.get("GRAPH_SERVICE_TEST_REQUIRE") != "1",
    reason="needs Node",
)
def test_the_explorer_guards_cells_as_python_does() -> None:
    assets = Path(graph_service.__file__).parent / "server" / "explorer" / "assets"
    source = (assets / "files.js").read_text(encoding="utf-8")
    functions = source[source.index("export function csvOf") : source.index("/** @param {Element}")]
    script = functions.replace("export ", "") + (
        "process.stdout.write(csvOf(JSON.parse(process.argv[1]).map((one) => [one])));"
    )
    done = subprocess.run(
        ["node", "-e", script, json.dumps([*COMPUTED, *PLAIN])],
        capture_output=True,
        check=True,
    )
    shown = [row[0] for row in csv.reader(io.StringIO(done.stdout.decode(), newline=""))]
    assert shown == [*(f"'{text}" for text in COMPUTED), *PLAIN]
