"""The explorer: pages that show what was retrieved, and what a perturbation did to it.

They are static files of this package, need no build, and send requests to their own server alone.
They speak the public GraphQL API, with the documents of ``documents.graphql``, which
``assets/documents.json`` holds as trusted documents. ``assets/LICENSES.txt`` has the licences of
what others wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graph_service.server.assets import Assets, PageSet, Refuse

VERSIONS: Mapping[str, str] = {
    "d3-dispatch": "3.0.1",
    "d3-force": "3.0.0",
    "d3-quadtree": "3.0.1",
    "d3-timer": "3.0.1",
}
"""The npm packages that the files of others come from."""
PINNED: Mapping[str, str] = {
    "d3-dispatch.min.js": "94b3bbdb6b98dc1325a15762b051013e8253999b0e0436b27d1da17b952ba0af",
    "d3-force.min.js": "1e07b473241328795d5ea9ad479a7bbabd765012fa2ef95633c83b69868dff6b",
    "d3-quadtree.min.js": "57e2ad12824ed82893ba447523f2a2fb9beeb9222aafb2c778a9f5b313348b0e",
    "d3-timer.min.js": "911ceda305f014b6b53ca68d5c896a9a387da120cfd56a421a2c60cca2fc9b36",
}
"""The SHA-256 of each, as published."""
OWN = (
    "answer.js",
    "api.js",
    "arrows.js",
    "asking.js",
    "calls.js",
    "chain.js",
    "chart.js",
    "classes.js",
    "curves.js",
    "details.js",
    "documents.json",
    "dom.js",
    "experiments.js",
    "explorer.css",
    "export.js",
    "figures.js",
    "fan.js",
    "files.js",
    "graphs.js",
    "icon.svg",
    "item.js",
    "layout.js",
    "legend.js",
    "listing.js",
    "main.js",
    "methods.js",
    "perturb.js",
    "picture.js",
    "question.js",
    "route.js",
    "score_names.js",
    "server.js",
    "state.js",
    "tables.js",
    "union.js",
    "welcome.js",
)
ADDRESSES: Mapping[str, str] = {
    "/": "explore.html",
    "/graphs": "graphs.html",
    "/experiments": "experiments.html",
}
"""The file of each page."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""A picture is drawn from a blob of the page's own where a PNG is made of it."""
PAGES = PageSet(
    name="the explorer",
    address="explorer",
    option="--no-explorer",
    pinned=PINNED,
    own=OWN,
    pages=tuple(ADDRESSES.values()),
    policy=POLICY,
)
_FOLDER = Path(__file__).parent / "assets"


@cache
def read_assets(folder: Path = _FOLDER, /) -> Assets:
    """Returns the files of the pages.

    Raises:
        SetupError: One is missing, or is not the one that its project published.
    """
    return PAGES.read(folder)


def routes(refuse: Refuse, /) -> list[Route]:
    """Returns the routes of the pages, and of the files that they load.

    Pages come without a key: they ask for it when the API does.

    Args:
        refuse: Says why a request is refused.

    Raises:
        SetupError: A file is missing or has changed.
    """
    assets = read_assets()

    def shown(name: str) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        async def show(request: Request) -> Response:
            return refuse(request) or PAGES.page(assets, name)

        return show

    pages = [Route(address, shown(name), methods=["GET"]) for address, name in ADDRESSES.items()]
    return [*pages, PAGES.file_route(assets, refuse)]
