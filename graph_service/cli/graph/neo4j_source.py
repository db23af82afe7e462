"""A Neo4j as the source of a load: its address, its user, its mapping."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from graph_service.cli.graph.options import LoadVerbOptions
from graph_service.settings import read_settings

if TYPE_CHECKING:
    from loaders.property_graph.options import Neo4jOptions


def neo4j_source_of(options: LoadVerbOptions, /) -> tuple[str, Neo4jOptions | None]:
    """Returns a load's source without its password, and how it is read if it is a Neo4j.

    User and password stand in the address, or in ``NEO4J_USERNAME`` and ``NEO4J_PASSWORD``.

    Raises:
        InputError: The mapping can't be read, or says what is not known.
    """
    from loaders.property_graph.mapping import read_mapping
    from loaders.property_graph.options import Neo4jOptions, is_neo4j_source

    source = options.source
    if not is_neo4j_source(source):
        # A mapping is one of tables then.
        return source, None
    settings = read_settings()
    username, password = settings.neo4j_username, settings.neo4j_password or None
    parts = urlsplit(source)
    if parts.username is not None:
        username, password = unquote(parts.username), unquote(parts.password or "") or None
        source = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    if options.mapping is None:
        # Refused by the load, which says what a mapping is.
        return source, None
    mapping = read_mapping(options.mapping)
    # The driver is imported only where it is needed.
    from graph_service.store.neo4j.property_graph import open_property_graph

    database = options.source_database
    open_graph = partial(
        open_property_graph, username=username, password=password, database=database
    )
    return source, Neo4jOptions(mapping, open_graph, database=database)
