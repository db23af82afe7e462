"""The explorer's page of experiments (B2)."""

from __future__ import annotations

import csv
from pathlib import Path

from explorer_page import (
    Open,
    needs_chromium,
    until,
)
from explorer_store import LABELS
from playwright.sync_api import expect

pytestmark = needs_chromium


def test_experiments_are_shown_with_curves_and_tables(
    opened: Open, url: str, experiments: Path
) -> None:
    page = opened(f"{url}experiments")
    expect(page.locator("#experiments")).to_contain_text("Four methods")
    expect(page.locator("#experiments")).to_contain_text("damaged")
    expect(page.locator("#experiments")).to_contain_text(LABELS["Q901"])
    page.click("#experiments >> text=Four methods")
    page.wait_for_selector("#charts svg")
    lines = list(csv.DictReader((experiments / "small" / "curves.csv").read_text().splitlines()))
    own = [one for one in lines if (one["score"], one["answerer"]) == ("f1", "verbaliser")]
    points = page.locator("#charts .mark")
    assert points.count() == len(own)
    assert page.locator("#charts .band").count() == len({one["method"] for one in own})
    # Each number of the file is in the table of the picture, and the picture is drawn to scale.
    table = page.locator("#points").inner_text()
    assert all(f"{float(one['mean']):.3f}" in table for one in own)
    heights = page.evaluate(
        "[...document.querySelectorAll('#charts .mark')].map((one) => one.getCTM().f)"
    )
    means = [float(one["mean"]) for one in own]
    order = sorted(range(len(own)), key=lambda at: means[at])
    assert all(heights[a] >= heights[b] - 0.6 for a, b in zip(order, order[1:], strict=False))
    with page.expect_download() as download:
        page.click("#take-csv")
    taken = list(csv.DictReader(Path(download.value.path()).read_text().splitlines()))
    assert [float(one["mean"]) for one in taken] == means
    with page.expect_download() as download:
        page.click("#take-svg")
    assert Path(download.value.path()).read_text().count('class="mark"') == len(own)
    page.select_option("#score", "retrieved")
    expect(page.locator("#curves-title")).to_have_text("Gold statements retrieved by level")
    page.select_option("#by", "extractive")
    until(page, "location.hash.includes('by=extractive')")
    page.click("#kinds-part summary")
    expect(page.locator("#kinds")).to_contain_text("two-hop")
    page.goto(f"{url}experiments#name=damaged")
    expect(page.locator("#about")).to_contain_text("curves.csv is half written")
    expect(page.locator("#one-title")).to_have_text(LABELS["Q901"])
    assert page.locator("main img").count() == 0
    page.goto(f"{url}experiments#name=none")
    expect(page.locator("#problem")).to_contain_text("no experiment none")
