"""A view beside its base in the explorer, and the page of graphs and their views (B2)."""

from __future__ import annotations

import re

from explorer_page import (
    QUESTION,
    Open,
    at,
    drawn,
    needs_chromium,
    nodes,
    until,
)
from playwright.sync_api import expect

pytestmark = needs_chromium


def test_a_view_stands_beside_its_base(opened: Open, url: str) -> None:
    page = drawn(opened(at(url, graph="demo", q=QUESTION)))
    before = nodes(page)
    page.select_option("#method", "er")
    page.wait_for_selector("#sides:not([hidden])")
    page.fill("#seed", "4")
    page.dispatch_event("#seed", "change")
    page.eval_on_selector(
        "#level", "(one) => { one.value = 30; one.dispatchEvent(new Event('change')); }"
    )
    expect(page.locator("#changes-said")).to_contain_text("changed")
    page.wait_for_selector("#main:not([aria-busy])")
    both = nodes(page)
    assert {id_: both[id_] for id_ in before} == before
    # A mark says what the view makes of a statement, not which answer cites it.
    expect(page.locator("#answers .base .tag")).to_have_text("changed in the view")
    expect(page.locator("#answers .view .tag")).to_have_text("only in the view")
    # The answers of both sides are in the picture.
    answers = page.locator("#answers .answer").all_inner_texts()
    marked = page.locator("#picture .in-answer text").all_text_contents()
    assert {answer.strip() for answer in answers} <= set(marked)
    expect(page.locator("#paths")).to_contain_text("only view")
    changed = page.locator("#picture .edge.changed .stroke[stroke-dasharray]")
    assert changed.count() > 0
    expect(page.locator("#picture .edge-label.changed").first).to_contain_text("≠")
    for side in ("base", "view"):
        page.click(f"#sides label:has([value={side}])")
        assert set(nodes(page).items()) <= set(both.items())
    page.click("#sides label:has([value=both])")
    page.select_option("#method", "rr")
    expect(page.locator("#answers .view .unsure")).to_have_count(1)
    page.click("#next-change")
    expect(page.locator("#change-at")).to_contain_text("1 of")
    page.click("#next-change")
    expect(page.locator("#change-at")).to_contain_text("2 of")
    assert page.locator("#picture .edge.selected").count() == 1
    page.click("text=Store and measure it")
    expect(page.locator("#figures")).to_contain_text("SC2D")
    page.select_option("#stored", label="deleted: Edge deletion 30 %, seed 0")
    expect(page.locator("#figures")).to_contain_text("Level reached")
    expect(page.locator("#changes-said")).to_contain_text("removed")


def test_the_making_of_a_view_shows_how_far_it_is_and_can_be_cancelled(
    opened: Open, url: str
) -> None:
    page = drawn(opened(at(url, graph="demo", q=QUESTION, m="er", level=25)))
    page.wait_for_selector("#sides:not([hidden])")
    state = {"now": "RUNNING"}

    def answer(route) -> None:  # type: ignore[no-untyped-def]
        name = route.request.post_data_json["operationName"]
        if name not in ("MakeView", "ViewDetails", "CancelView"):
            route.continue_()
            return
        if name == "CancelView":
            state["now"] = "CANCELLED"
        given = route.fetch() if name == "MakeView" else None
        if given is not None:
            state["view"] = given.json()["data"]["createView"]["view"]
        view = {**state["view"], "state": state["now"], "progress": 0.4}  # type: ignore[dict-item]
        data = {
            "MakeView": {"createView": {"view": view}},
            "CancelView": {"cancelJob": {"view": view}},
            "ViewDetails": {"view": view},
        }
        route.fulfill(json={"data": data[name]})

    page.route("**/graphql", answer)
    page.click("text=Store and measure it")
    expect(page.locator("#figures")).to_contain_text("40 %")
    page.click("#figures >> text=Cancel")
    expect(page.locator("#figures")).to_contain_text("cancelled")


def test_methods_of_the_menu_make_views_with_their_options(opened: Open, url: str) -> None:
    page = drawn(opened(at(url, graph="demo", q=QUESTION, level=60)))
    methods = page.locator("#method option").evaluate_all("(all) => all.map((one) => one.value)")
    assert methods == [
        "",
        *["ed", "pd", "rd", "st", "rs", "rr", "rp", "er", "tp", "iv", "co", "in", "ic"],
        *["ns", "nx", "nn", "ng"],
    ]
    # The others are made where their calls are tried.
    for method, sign in (("er", "≠"), ("tp", "≠"), ("co", "+"), ("ic", "+")):
        page.select_option("#method", method)
        until(page, f"location.hash.includes('m={method}')")
        page.wait_for_selector("#main:not([aria-busy])")
        assert page.locator("#problem .problem").count() == 0, method
        expect(page.locator("#method-about")).not_to_be_empty()
        expect(page.locator("#changes-said")).to_contain_text(sign)
        assert page.locator("#level-row").is_visible() == (method != "ic")
        assert page.locator("#near-row").is_visible() == (method != "ic")
    page.fill("#option-count", "5")
    page.keyboard.press("Enter")
    until(page, "location.hash.includes('o=count%3A5')")
    page.select_option("#method", "tp")
    page.check("#near")
    page.check("#option-pruned")
    until(page, "location.hash.includes('o=pruned%3A1')")
    page.uncheck("#near")
    until(page, "!location.hash.includes('pruned')")


def test_what_needs_an_answer_is_offered_where_there_is_one(opened: Open, url: str) -> None:
    page = drawn(opened(at(url, graph="demo", item="Q2685")))
    disabled = page.locator("#method option[disabled]")
    assert disabled.evaluate_all("(all) => all.map((one) => one.value)") == ["pd", "ic"]
    page.goto(at(url, graph="demo", item="Q2685", m="pd"))
    expect(page.locator("#problem")).to_contain_text("needs a question that an entity answers")


def test_a_statement_whose_subject_changed_is_no_removed_one(opened: Open, url: str) -> None:
    page = drawn(opened(at(url, graph="demo", q=QUESTION, m="iv", level=100, sel="")))
    changed = page.locator("#table tbody tr.changed")
    assert changed.count() >= 4
    # An inverted statement: what was its value is its subject.
    rows = [row.locator("td").all_inner_texts() for row in changed.all()]
    before = [row for row in rows if row[3] == "≠ before the change"]
    after = {(row[0], row[2]) for row in rows if row[3] == "≠ after the change"}
    assert before
    assert {(row[2], row[0]) for row in before} & after


def test_the_page_of_graphs_lists_views_and_pages_their_changes(opened: Open, url: str) -> None:
    page = opened(f"{url}graphs")
    expect(page.locator("#graphs")).to_contain_text("1,156")
    page.click("#graphs >> text=large")
    expect(page.locator("#views")).to_contain_text("rewired")
    page.click("#views >> text=rewired")
    expect(page.locator("#view .pager")).to_contain_text("Changes 1 to 50 of 5,")
    first = page.locator("#view tbody tr").last.inner_text()
    page.click("#view >> text=Next")
    expect(page.locator("#view .pager")).to_contain_text("Changes 51 to 100")
    assert page.locator("#view tbody tr").last.inner_text() != first
    page.click("#view >> text=Previous")
    expect(page.locator("#view .pager")).to_contain_text("Changes 1 to 50")
    page.click("text=Ask the base and this view")
    expect(page).to_have_url(re.compile("view="))
