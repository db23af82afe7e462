"""Pages of the explorer in Chromium, and what its tests do with them.

``make test-explorer`` installs the wheel, Playwright and axe-core, and sets the variables that are
read here. Nothing of the repository but this folder is on the path.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from explorer_server import Served
from explorer_store import make_experiments, make_store
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

TOOLS = Path(os.environ["GRAPH_SERVICE_TEST_EXPLORER"])
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUESTION = "Who is the mother of Maria Shriver's husband?"
KEY = "key-of-the-explorer-ü"
WAIT_MS = 600_000
expect.set_options(timeout=WAIT_MS)
PHONE = {"width": 360, "height": 740}
DRAWN = "performance.getEntriesByName('drawn').length"
"""How often the page has drawn its picture."""
TABLET = {"width": 768, "height": 1024}
DESK = {"width": 1280, "height": 900}

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None and not os.environ.get("GRAPH_SERVICE_TEST_REQUIRE"),
    reason="no chromium is installed, so the explorer was not tried: apt-get install chromium",
)


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_store(tmp_path_factory.mktemp("explorer"))


@pytest.fixture(scope="session")
def experiments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_experiments(tmp_path_factory.mktemp("experiments"))


@pytest.fixture(scope="session")
def url(store: str, experiments: Path) -> Iterator[str]:
    served = Served(store, "--writable", "--experiments", str(experiments))
    yield served.url
    served.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # Root has no sandbox in a container; the pages are this machine's own.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Watched:
    """What a page asked for, and what the browser complained of."""

    def __init__(self, context: BrowserContext) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        context.on("request", lambda request: self.requests.append(request.url))
        context.on(
            "console",
            lambda said: said.type in ("error", "warning") and self.complaints.append(said.text),
        )
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))


Open = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Opens pages; at the end each has asked its own server alone, and broken no policy."""
    contexts: list[tuple[BrowserContext, Watched, str]] = []

    def open_page(address: str, *, scheme: str = "light", size: dict[str, int] = DESK) -> Page:
        context = browser.new_context(
            viewport=size,  # type: ignore[arg-type]
            color_scheme=scheme,  # type: ignore[arg-type]
            reduced_motion="reduce",
            accept_downloads=True,
        )
        context.set_default_timeout(WAIT_MS)
        contexts.append((context, Watched(context), address.split("#")[0]))
        page = context.new_page()
        page.goto(address)
        return page

    yield open_page
    for context, watched, address in contexts:
        own = re.match(r"https?://[^/]+/", address)
        assert own
        for asked in watched.requests:
            assert asked.startswith((own[0], "blob:")), asked
        allowed = "ERR_CONNECTION|401|Failed to load resource"
        assert not [text for text in watched.complaints if not re.search(allowed, text)]
        context.close()


def at(url: str, **state: object) -> str:
    return f"{url}#{urlencode(state, doseq=True)}"


def drawn(page: Page) -> Page:
    page.wait_for_selector("#picture svg")
    page.wait_for_selector("#main:not([aria-busy])")
    return page


def nodes(page: Page) -> dict[str, str]:
    """Returns where each node stands, by its id."""
    found: dict[str, str] = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll("#picture [data-node]")].map(
             (node) => [node.dataset.node, node.querySelector("text").getAttribute("x") + " " +
               node.querySelector("text").getAttribute("y")]))"""
    )
    return found


def until(page: Page, script: str) -> None:
    """Waits until a script is true; the page's policy forbids what Playwright has for it."""
    for _ in range(WAIT_MS // 50):
        if page.evaluate(script):
            return
        page.wait_for_timeout(50)
    raise AssertionError(script)


def downloaded(page: Page, kind: str) -> bytes:
    with page.expect_download() as download:
        page.click(f"#take-{kind}")
    return Path(download.value.path()).read_bytes()


def assert_accessible(page: Page) -> None:
    source = (TOOLS / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    # The debugger puts the script into the page, past the page's own policy.
    page.evaluate(source)
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    told = [
        f"{one['id']}: {one['help']}: {[node['html'][:150] for node in one['nodes'][:3]]}"
        for one in found["violations"]
    ]
    assert not told, "\n".join(told)
