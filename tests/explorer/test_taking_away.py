"""What people take away from the explorer: files, pictures, calls (B2)."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import re
import shlex
from pathlib import Path

import pytest
from explorer_page import (
    DRAWN,
    PHONE,
    QUESTION,
    Open,
    at,
    downloaded,
    drawn,
    needs_chromium,
    until,
)
from playwright.sync_api import Page

from graph_service.cli import main as command_line

pytestmark = needs_chromium


def test_all_can_be_taken_away(opened: Open, url: str, tmp_path: Path) -> None:
    address = at(url, graph="demo", q=QUESTION, m="ed", level=30)
    page = drawn(opened(address))
    svg = downloaded(page, "svg")
    again = drawn(opened(address, scheme="dark", size=PHONE))
    assert downloaded(again, "svg") == svg, "same address, same picture, byte for byte"
    assert b"removed" in svg
    assert b"<script" not in svg
    png = downloaded(page, "png")
    assert png.startswith(b"\x89PNG")
    rows = list(csv.DictReader(io.StringIO(downloaded(page, "csv").decode())))
    told = json.loads(downloaded(page, "json"))
    assert len(rows) == len(told["statements"]) == page.locator("#table tbody tr").count()
    assert told["provenance"]["edition"] == "demo@1"
    html = tmp_path / "taken.html"
    html.write_bytes(downloaded(page, "html"))
    alone = page.context.browser.new_context(offline=True)  # type: ignore[union-attr]
    taken = alone.new_page()
    taken.goto(html.as_uri())
    assert taken.locator("svg [data-edge] .stroke").count() == len(rows)
    assert taken.locator("tbody tr").count() == len(rows)
    alone.close()


SHOW_PIXELS = """async ([png, svg]) => {
  const pixels = async (address) => {
    const image = new Image();
    image.src = address;
    await image.decode();
    const brush = new OffscreenCanvas(image.width, image.height).getContext("2d");
    brush.drawImage(image, 0, 0);
    return brush.getImageData(0, 0, image.width, image.height);
  };
  const [one, other] = [await pixels(png), await pixels(svg)];
  let far = 0, inked = 0;
  for (let at = 0; at < one.data.length; at += 4) {
    const over = [0, 1, 2].map((part) => Math.abs(one.data[at + part] - other.data[at + part]));
    far += Math.max(...over) > 64;
    inked += one.data[at] + one.data[at + 1] + one.data[at + 2] < 600;
  }
  const all = one.data.length / 4;
  return {size: [one.width, one.height], other: [other.width, other.height], far: far / all, inked: inked / all};
}"""


def test_the_png_shows_what_the_svg_shows(opened: Open, url: str) -> None:
    page = drawn(opened(at(url, graph="demo", q=QUESTION, m="ed", level=30)))
    svg, png = downloaded(page, "svg").decode(), downloaded(page, "png")
    size = re.search(r'width="(\d+)" height="(\d+)"', svg)
    assert size
    sizes = {"width": int(size[1]), "height": int(size[2])}
    # The SVG as a browser shows it by itself, twice as large.
    shown = page.context.browser.new_context(viewport=sizes, device_scale_factor=2)  # type: ignore[union-attr]
    alone = shown.new_page()
    alone.set_content(f"<body style='margin: 0'>{svg}</body>")
    seen = alone.screenshot()
    data = [f"data:image/png;base64,{base64.b64encode(one).decode()}" for one in (png, seen)]
    found = alone.evaluate(SHOW_PIXELS, data)
    shown.close()
    assert found["size"] == found["other"] == [2 * sizes["width"], 2 * sizes["height"]]
    assert found["far"] < 0.005, "it shows something else"
    assert found["inked"] > 0.01, "it is empty"


def calls_of(page: Page) -> list[str]:
    """Returns the calls that a page gives: GraphQL, Python, the command line."""
    page.evaluate("for (const one of document.querySelectorAll('#calls details')) one.open = true")
    return [text.inner_text() for text in page.locator("#calls pre").all()]


def results_of(
    calls: list[str], page: Page, url: str, capsys: pytest.CaptureFixture[str]
) -> list[list[str]]:
    """Returns the ids of the results of a view that each of the three calls gives."""
    document, variables = calls[0].split("# Variables:\n")
    sent = {"query": document, "variables": json.loads(variables)}
    data = page.request.post(f"{url}graphql", data=sent).json()["data"]
    by_graphql = [data[name][1]["result"]["resultId"] for name in ("paths", "subgraph")]
    names: dict[str, object] = {}
    exec(calls[1], names)
    by_python = [names[f"{name}_of_view"].id for name in ("paths", "subgraph")]  # type: ignore[attr-defined]
    by_command_line = []
    # How the subgraph is called differs by one word, and each call opens the store.
    paths = [line for line in calls[2].splitlines() if "subgraph" not in line and "view" in line]
    for line in paths:
        capsys.readouterr()
        assert command_line(shlex.split(os.path.expandvars(line))[1:] + ["--json"]) == 0, line
        if "--view" in line:
            by_command_line.append(json.loads(capsys.readouterr().out)["id"])
    return [by_graphql, by_python, [*by_command_line, *by_graphql[1:]]]


STATES: dict[str, dict[str, object]] = {
    "plain": {"m": "rs", "level": 30, "out": "P21", "n": 10},
    "near": {"m": "rr", "near": 1, "o": ["nth:2", "hops:1", "draw:1", "pruned:1"]},
    "aimed": {"m": "pd", "level": 100, "o": ["control:1"]},
    "rules": {"m": "rd", "o": ["atoms:1", "confidence:40", "support:3"]},
    "names": {"m": "nx", "level": 60, "near": 1, "o": ["hops:1"]},
}


def test_the_calls_give_what_the_page_shows(
    opened: Open,
    url: str,
    store: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GRAPH_SERVICE_STORE", store)
    page = opened(url)
    for name, state in STATES.items():
        before = page.evaluate(DRAWN)
        page.goto(at(url, graph="demo", q=QUESTION, **state))
        until(page, f"{DRAWN} > {before} || document.querySelector('#problem .problem')")
        assert not page.locator("#problem .problem").count(), name
        found = results_of(calls_of(page), page, url, capsys)
        assert found[0] == found[1] == found[2], name


def test_the_calls_around_an_entity_run(
    opened: Open,
    url: str,
    store: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GRAPH_SERVICE_STORE", store)
    page = drawn(opened(at(url, graph="demo", item="Q2685", m="iv", near=1, n=60)))
    graphql, python, lines = calls_of(page)
    document, variables = graphql.split("# Variables:\n")
    sent = {"query": document, "variables": json.loads(variables)}
    data = page.request.post(f"{url}graphql", data=sent).json()["data"]
    names: dict[str, object] = {}
    exec(python, names)
    assert data["view"]["resultId"] == names["perturbed"].id  # type: ignore[attr-defined]
    for line in lines.splitlines():
        assert command_line(shlex.split(os.path.expandvars(line))[1:]) == 0
    assert "Arnold Schwarzenegger" in capsys.readouterr().out
