"""What a load needs of a property graph; whoever begins the load says how one is opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from graph_service.model.values import Value


class PropertyGraph(Protocol):
    """A property graph that answers Cypher and is only read."""

    def rows(self, query: str, /, **parameters: Any) -> list[list[Any]]:
        """Returns the rows of a query, each a list of its columns."""

    def values(self, value: object, /) -> list[Value] | None:
        """Returns a property as values, one for each item of a list; None for one without a form."""

    def close(self) -> None:
        """Closes the connections to the database."""


OpenGraph: TypeAlias = Callable[[str], PropertyGraph]
"""Opens the graph at an address without a user."""
