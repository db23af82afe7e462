"""What a load from a Neo4j can be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from loaders.property_graph.mapping import GraphMapping
    from loaders.property_graph.protocol import OpenGraph

SCHEMES = frozenset(("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"))


def is_neo4j_source(source: str, /) -> bool:
    """Returns whether a source is the address of a Neo4j.

    >>> is_neo4j_source("bolt://localhost:7687"), is_neo4j_source("neo4j.nt")
    (True, False)
    """
    return "://" in source and urlsplit(source).scheme.lower() in SCHEMES


@dataclass(frozen=True, slots=True)
class Neo4jOptions:
    """How a graph in a Neo4j is read.

    Attributes:
        mapping: What of it, and as what.
        open_graph: Opens it by its address; holds the user and the password, which are kept
            nowhere.
        database: Its name.
        page_nodes: Nodes a page.
        page_relationships: Relationships that are asked for together, about.
    """

    mapping: GraphMapping
    open_graph: OpenGraph = field(repr=False)
    database: str = "neo4j"
    page_nodes: int = 1_000
    page_relationships: int = 5_000

    def to_json(self) -> dict[str, Any]:
        """Returns what decides the result, for the store to compare a resumed load with."""
        return {"mapping": self.mapping.to_json(), "database": self.database}
