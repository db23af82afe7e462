"""What both stores say of graphs by name, and the moment at which they say it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from graph_service.errors import GraphNotFoundError, InputError

_GRAPH_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")


def require_graph_name(name: str, /) -> None:
    """Raises ``InputError`` unless a graph may be called so.

    >>> require_graph_name("codex-s")
    """
    if not _GRAPH_NAME.fullmatch(name):
        raise InputError(
            f"a graph's name is 1 to 100 letters, digits, '-', '_' or '.'; got {name[:120]!r}",
            argument="graph",
        )


def unknown_graph(name: str, known: Iterable[str], /) -> GraphNotFoundError:
    """Returns the error that names the graphs there are."""
    listed = ", ".join(sorted(known))
    return GraphNotFoundError(
        f"there is no graph {name[:120]!r}; "
        + (f"this store has: {listed}" if listed else "this store has none"),
        argument="graph",
    )


def unknown_edition(edition: str, /) -> GraphNotFoundError:
    """Returns the error for an edition that is not published, or no longer."""
    return GraphNotFoundError(
        f"there is no published edition {edition[:120]!r}",
        argument="graph",
        hint="Ask for the graph again: a newer edition may have taken its place.",
    )


def graph_of(edition: str, /) -> str:
    """Returns the name of the graph that an edition is of.

    >>> graph_of("demo@7")
    'demo'
    """
    return edition.rpartition("@")[0]


def now_text() -> str:
    """Returns this machine's time in ISO 8601, UTC, with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
