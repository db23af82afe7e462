"""From the options of load to how its source is read."""

from __future__ import annotations

from dataclasses import replace

from graph_service.cli.graph.neo4j_source import neo4j_source_of
from graph_service.cli.graph.options import LoadVerbOptions, Neo4jSourceOptions
from graph_service.errors import InputError
from graph_service.settings import read_settings
from loaders.options import LoadOptions
from loaders.property_graph.options import is_neo4j_source
from loaders.sparql.options import EndpointOptions, is_endpoint_source
from loaders.subset.filters import Filters
from loaders.tables.mapping import read_tables_request

_WALK = ("hops", "direction", "max_incoming", "drop_relations")
"""Options of a walk from an endpoint, and of the filters of any other source."""


def load_request(options: LoadVerbOptions, /) -> tuple[str, LoadOptions]:
    """Returns a load's source without its password, and how it is read."""
    _check_remote_options(options)
    source, neo4j = neo4j_source_of(options)
    tables = options.mapping is not None and neo4j is None and not is_endpoint_source(source)
    filters, endpoint = options.filters, _endpoint(options)
    if is_endpoint_source(source):
        unasked = Filters()
        filters = replace(filters, **{name: getattr(unasked, name) for name in _WALK})
    reading = options.reading
    return source, replace(
        reading,
        languages=tuple(code.lower() for code in reading.languages),
        fallback_languages=tuple(code.lower() for code in reading.fallback_languages),
        filters=filters,
        endpoint=endpoint,
        neo4j=neo4j,
        tables_request=read_tables_request(options.mapping) if tables and options.mapping else None,
    )


def _check_remote_options(options: LoadVerbOptions) -> None:
    """Raises ``InputError`` for options of sources that are asked over the network, on another one."""
    # The database has a default, which a file does not read.
    if options.source_database != Neo4jSourceOptions().source_database and not is_neo4j_source(
        options.source
    ):
        raise InputError(
            f"--source-database has no effect on {options.source}, which is no Neo4j; expected an "
            "address such as bolt://localhost:7687",
            argument="source_database",
        )
    if options.no_cache and not is_endpoint_source(options.source):
        raise InputError(
            f"--no-cache has no effect on {options.source}, which is no endpoint; expected a "
            "source such as wikidata:Q42",
            argument="no_cache",
        )


def _endpoint(options: LoadVerbOptions) -> EndpointOptions | None:
    """Returns how an endpoint is read; None where a file is, and nothing says otherwise."""
    walk = options.walk
    if not is_endpoint_source(options.source):
        unasked = EndpointOptions()
        walk = replace(walk, **{name: getattr(unasked, name) for name in _WALK})
        # Refused by the load: a file has no address.
        return None if walk == unasked else walk
    settings = read_settings()
    return replace(
        walk,
        contact=walk.contact or settings.contact or None,
        cache_dir=None if options.no_cache else settings.cache_path / "sparql",
    )
