"""From the options of load to how its source is read."""

from __future__ import annotations

from dataclasses import replace

from graph_service.cli.graph.neo4j_source import neo4j_source_of
from graph_service.cli.graph.options import LoadVerbOptions
from graph_service.settings import read_settings
from loaders.options import LoadOptions
from loaders.sparql.options import EndpointOptions, is_endpoint_source
from loaders.subset.filters import Filters
from loaders.tables.mapping import read_tables_request

_WALK = ("hops", "direction", "max_incoming", "drop_relations")
"""Options of a walk from an endpoint, and of the filters of any other source."""


def load_request(options: LoadVerbOptions, /) -> tuple[str, LoadOptions]:
    """Returns a load's source without its password, and how it is read."""
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
