"""GraphiQL, an editor for queries, from files of this package: no request goes to another host.

The page comes without a key and asks for it. Its Content-Security-Policy lets it run its own
scripts and call its own server alone. ``assets/LICENSES.txt`` has the licences of what others
wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from starlette.responses import Response
from starlette.routing import Route

from graph_service.server.assets import Assets, PageSet, Refuse

VERSIONS: Mapping[str, str] = {"graphiql": "4.1.2", "react": "18.3.1", "react-dom": "18.3.1"}
"""The npm packages that the files of others come from."""
PINNED: Mapping[str, str] = {
    "graphiql.min.css": "30487e07635d312a63f647b140d37740a73c53332b0975bf4b1fe985ca6ec885",
    "graphiql.min.js": "867226ba8af5ce7949903fc53932f78dac9f4bfc6cc8da0fd3869b8bc6c5256b",
    "react-dom.production.min.js": "35f4f974f4b2bcd44da73963347f8952e341f83909e4498227d4e26b98f66f0d",
    "react.production.min.js": "d949f1c3687aedadcedac85261865f29b17cd273997e7f6b2bfc53b2f9d4c4dd",
}
"""The SHA-256 of each, as published."""
PAGE = "page.html"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Styles may be inline: GraphiQL's menus set theirs by elements. Scripts may not."""
PAGES = PageSet(
    name="GraphiQL",
    address="graphiql",
    option="--no-graphiql",
    pinned=PINNED,
    own=("page.css", "page.js"),
    pages=(PAGE,),
    policy=POLICY,
)
_FOLDER = Path(__file__).parent / "assets"


@cache
def read_assets(folder: Path = _FOLDER, /) -> Assets:
    """Returns the files of the page.

    Raises:
        SetupError: One is missing, or is not the one that its project published.
    """
    return PAGES.read(folder)


def page(*, needs_key: bool) -> Response:
    """Returns the page.

    Args:
        needs_key: Whether it asks for a key.
    """
    return PAGES.page(read_assets(), PAGE, {"NEEDS_KEY": "yes" if needs_key else "no"})


def routes(refuse: Refuse, /) -> list[Route]:
    """Returns the routes of the files that the page loads.

    Args:
        refuse: Says why a request is refused.

    Raises:
        SetupError: A file is missing or has changed.
    """
    return [PAGES.file_route(read_assets(), refuse)]
