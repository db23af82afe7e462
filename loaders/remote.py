"""Sources that are asked over the network: SPARQL endpoints and Neo4j."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any

from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.property_graph.options import is_neo4j_source
from loaders.sparql import reader as sparql
from loaders.sparql.earlier import Earlier
from loaders.sparql.options import is_endpoint_source


def is_remote_source(source: str, /) -> bool:
    """Returns whether a source is asked over the network.

    >>> is_remote_source("wikidata:Q42"), is_remote_source("bolt://host"), is_remote_source("a.nt")
    (True, True, False)
    """
    return is_endpoint_source(source) or is_neo4j_source(source)


def check(source: str, options: LoadOptions, /, *, earlier: Earlier | None = None) -> list[str]:
    """Returns the names of the formats that will be read; asks and begins nothing.

    Args:
        source: An endpoint's or a Neo4j's.
        options: How to read it.
        earlier: The edition that is to be refreshed.

    Raises:
        InputError: What ``read`` would refuse.
    """
    if is_neo4j_source(source):
        # The driver is imported only where it is needed.
        from loaders.property_graph import reader as property_graph

        property_graph.check(source, options)
        return [property_graph.FORMAT]
    return sparql.check(source, options, earlier=earlier)


def read(
    source: str,
    options: LoadOptions,
    start: Mapping[str, Any],
    /,
    *,
    stop: threading.Event | None = None,
    earlier: Earlier | None = None,
) -> Iterator[Parsed]:
    """Yields the source in pieces; see the readers of ``sparql`` and ``property_graph``.

    What has not changed since the ``earlier`` edition is taken from it.
    """
    if is_neo4j_source(source):
        from loaders.property_graph import reader as property_graph

        return property_graph.read(source, options, start, stop=stop)
    return sparql.read(source, options, start, stop=stop, earlier=earlier)
