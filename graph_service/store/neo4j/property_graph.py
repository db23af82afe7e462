"""A property graph of a Neo4j, read for a load: its rows, and its properties as values of ours."""

from __future__ import annotations

from typing import Any

from graph_service.model.values import Value
from graph_service.store.neo4j.driver import Connection
from graph_service.store.neo4j.properties import property_values


class Neo4jPropertyGraph:
    """Made by ``open_property_graph``; nothing is ever written to it."""

    def __init__(self, connection: Connection, /) -> None:
        self._connection = connection

    def rows(self, query: str, /, **parameters: Any) -> list[list[Any]]:
        """Returns the rows of a query, run in a transaction in which the server refuses to write.

        Raises:
            StoreError: The server does not answer.
        """
        return self._connection.read(query, what="reading the graph to load", **parameters)

    def values(self, value: object, /) -> list[Value] | None:
        """Returns a property as values, one for each item of a list; None for one without a form."""
        return property_values(value)

    def close(self) -> None:
        """Closes the connections to the database."""
        self._connection.close()


def open_property_graph(
    url: str,
    /,
    *,
    username: str | None = None,
    password: str | None = None,
    database: str = "neo4j",
) -> Neo4jPropertyGraph:
    """Returns the graph of a server; it connects at the first query."""
    return Neo4jPropertyGraph(
        Connection(url, username=username, password=password, database=database)
    )
