"""The explorer by keyboard, by a screen reader and on a phone (B2)."""

from __future__ import annotations

import re

import pytest
from explorer_page import (
    PHONE,
    QUESTION,
    Open,
    assert_accessible,
    at,
    drawn,
    needs_chromium,
    until,
)
from playwright.sync_api import expect

pytestmark = needs_chromium


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everyone_can_use_each_page(opened: Open, url: str, scheme: str) -> None:
    welcome = opened(url, scheme=scheme)
    expect(welcome.locator("#facts")).to_contain_text("entities")
    assert_accessible(welcome)
    page = drawn(
        opened(at(url, graph="demo", q=QUESTION, m="rr", level=40, open="Q2685"), scheme=scheme)
    )
    page.wait_for_selector("#item h3")
    page.click("#next-change")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert_accessible(page)
    graphs = opened(f"{url}graphs#graph=demo&view=deleted", scheme=scheme)
    graphs.wait_for_selector("#view .pager")
    assert_accessible(graphs)
    shown = opened(f"{url}experiments#name=small", scheme=scheme)
    shown.wait_for_selector("#charts svg")
    shown.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert_accessible(shown)


def test_the_journey_can_be_made_by_keyboard_alone(opened: Open, url: str) -> None:
    page = opened(at(url, graph="demo"))
    page.wait_for_selector("#facts li")

    def tab_to(selector: str) -> None:
        for _ in range(150):
            page.keyboard.press("Tab")
            if page.evaluate("(one) => document.activeElement.matches(one)", selector):
                return
        raise AssertionError(f"Tab never comes to {selector}")

    tab_to("nav a[href=experiments]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#experiments a")
    tab_to("#experiments tr:last-child a")
    page.keyboard.press("Enter")
    page.wait_for_selector("#charts svg")
    assert page.evaluate("document.activeElement.matches('#experiments a')"), "the focus stays"
    tab_to("#score")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#curves-title")).to_contain_text("Gold statements")
    assert page.evaluate("document.activeElement.id") == "score", "the focus stays"
    page.goto(at(url, graph="demo"))
    page.wait_for_selector("#facts li")
    tab_to("#question")
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    drawn(page)
    tab_to("#picture [data-node]")
    first = page.evaluate("document.activeElement.dataset.node")
    page.keyboard.press("ArrowRight")
    second = page.evaluate("document.activeElement.dataset.node")
    assert first != second
    page.keyboard.press("Enter")
    page.wait_for_selector("#item h3")
    assert f"open={second}" in page.url
    assert page.evaluate("document.activeElement.dataset.node") == second, "the focus stays"
    tab_to("#method")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector("#sides:not([hidden])")
    tab_to("#level")
    page.keyboard.press("ArrowRight")
    until(page, "location.hash.includes('level=35')")
    page.wait_for_selector("#main:not([aria-busy])")
    tab_to("#take-csv")
    with page.expect_download():
        page.keyboard.press("Enter")


def test_a_phone_shows_all_of_it(opened: Open, url: str) -> None:
    page = drawn(
        opened(at(url, graph="demo", q=QUESTION, m="ed", level=30, open="Q2685"), size=PHONE)
    )
    page.wait_for_selector("#item h3")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    graphs = opened(f"{url}graphs#graph=demo&view=deleted", size=PHONE)
    graphs.wait_for_selector("#view .pager")
    assert graphs.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    shown = opened(f"{url}experiments#name=small", size=PHONE)
    shown.wait_for_selector("#charts svg")
    assert shown.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_facts_are_cards_on_a_phone(opened: Open, url: str) -> None:
    page = drawn(opened(at(url, graph="demo", q=QUESTION), size=PHONE))
    assert page.locator("#paths .scroll").evaluate("(box) => box.scrollWidth <= box.clientWidth")
    box = page.locator("#table tbody tr").first.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # The picture stands between the sides of its frame, and does not promise more.
    frame = "document.querySelector('#picture')"
    assert page.evaluate(f"{frame}.scrollWidth <= {frame}.clientWidth + 1")
    expect(page.locator("#picture-said")).to_have_text(re.compile("only in the list below$"))


def test_statements_without_scores_have_no_column_of_them(opened: Open, url: str) -> None:
    page = drawn(opened(at(url, graph="demo", item="Q2685")))
    expect(page.locator("#table th.number")).to_have_count(0)
    page = drawn(opened(at(url, graph="demo", q=QUESTION)))
    expect(page.locator("#table th.number")).to_have_text("Score")


def test_names_are_not_broken_in_a_narrow_table(opened: Open, url: str) -> None:
    state = {"q": QUESTION, "m": "rr", "level": 30}
    page = drawn(opened(at(url, graph="demo", **state), size={"width": 768, "height": 900}))
    page.wait_for_selector("#table td.change")
    lines = page.evaluate(
        """() => Math.max(...[...document.querySelectorAll("#table tbody button")].filter(
             (name) => /Schwarzenegger/.test(name.textContent)).map((name) => {
               const words = document.createRange();
               const text = name.firstElementChild?.firstChild ?? name.firstChild;
               const at = text.data.indexOf("Schwarzenegger");
               words.setStart(text, at);
               words.setEnd(text, at + "Schwarzenegger".length);
               return words.getClientRects().length;
             }))"""
    )
    assert lines == 1
