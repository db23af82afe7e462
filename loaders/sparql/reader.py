"""A subgraph from an endpoint: which walk reads it, and with what."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any

from graph_service.errors import InputError
from graph_service.http.address import split_address
from graph_service.http.faults import StoppedError
from loaders.formats import Format
from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.sparql.dialects import Dialect, dialect_of
from loaders.sparql.documents import DocumentWalk
from loaders.sparql.earlier import Earlier
from loaders.sparql.endpoint import Endpoint
from loaders.sparql.options import FULL, TRUTHY, EndpointOptions
from loaders.sparql.walk import State, Walk
from loaders.wikibase.entity_data import WIKIDATA_API, EntityData

SPARQL_FORMAT = "sparql"
# Since 2025 Wikidata's query service is split, and the main part has no scholarly articles.
SPLIT_HOST = "query.wikidata.org"
SPLIT_REASON = (
    "part of Wikidata that the endpoint does not hold: what scholarly articles say of these "
    "entities (https://query-scholarly.wikidata.org/sparql)"
)


def read(
    source: str,
    options: LoadOptions,
    start: Mapping[str, Any],
    /,
    *,
    stop: threading.Event | None = None,
    earlier: Earlier | None = None,
) -> Iterator[Parsed]:
    """Yields the statements and then the names of a subgraph.

    Args:
        source: ``wikidata:Q42`` or ``dbpedia:Rome``.
        options: With ``endpoint``; its ``languages`` are English where there are none.
        start: The position of the last piece that was written, or nothing.
        stop: When set, reading ends soon; no piece is left half read.
        earlier: An edition whose documents need not come again where they have not changed.

    Raises:
        InputError: The source, the contact or an option is wrong.
        EndpointError: The endpoint refuses or is away; reading can go on later.
    """
    walk = _prepare(source, options, start, stop, earlier)
    walk.prune_cache()
    missing = {} if start else _not_held(walk)
    try:
        for piece in walk.pieces():
            piece.skipped.update(missing)
            missing = {}
            yield piece
    except StoppedError:
        return


def _not_held(walk: Walk) -> dict[str, int]:
    """Returns what an endpoint is known not to have, as the report counts it."""
    host = split_address(walk.address).hostname
    return {SPLIT_REASON: 1} if host == SPLIT_HOST and walk.goes_in else {}


def check(source: str, options: LoadOptions, /, *, earlier: Earlier | None = None) -> list[str]:
    """Returns the names of the formats that will be read; asks and begins nothing.

    Raises:
        InputError: What ``read`` would refuse.
    """
    walk = _prepare(source, options, {}, None, earlier)
    documents = [Format.WIKIBASE_JSON.value] if isinstance(walk, DocumentWalk) else []
    return [SPARQL_FORMAT, *documents]


def statements_of(settings: EndpointOptions, dialect: Dialect, /) -> str:
    """Returns which statements are read, ``full`` or ``truthy``.

    Raises:
        InputError: Full ones are asked for of what is not Wikidata.
    """
    if not dialect.wikidata:
        if settings.entity_data is not None or settings.statements == FULL:
            raise InputError(
                "full statements, with ranks, qualifiers and references, are Wikidata's; "
                "DBpedia has none",
                argument="statements",
            )
        return TRUTHY
    if settings.statements is not None:
        return settings.statements
    # Another endpoint may hold other data than Wikidata's own API: it is not guessed.
    own = settings.is_preset or (split_address(settings.endpoint or "").hostname or "").endswith(
        ".wikidata.org"
    )
    return FULL if own or settings.entity_data is not None else TRUTHY


def _prepare(
    source: str,
    options: LoadOptions,
    start: Mapping[str, Any],
    stop: threading.Event | None,
    earlier: Earlier | None = None,
) -> Walk:
    settings = options.endpoint or EndpointOptions()
    settings.check()
    dialect, start_entities = dialect_of(
        source,
        languages=(*options.languages, *options.fallback_languages),
        drop_relations=settings.drop_relations,
        keep_relations=settings.keep_relations,
    )
    address = settings.address(source, dialect.endpoint)
    endpoint = Endpoint(address, options=settings, stop=stop)
    state = (
        State.from_json(start)
        if start
        else State(
            1,
            start_entities,
            queued=set(start_entities),
            start_entities=set(start_entities),
            dropped=(*dialect.drops.iris, *dialect.drops.beginnings),
        )
    )
    if statements_of(settings, dialect) == TRUTHY:
        if earlier is not None:
            raise InputError(
                "truthy statements come from the SPARQL endpoint alone, which tells no revisions",
                argument="refresh",
                hint="Load it anew with --replace.",
            )
        return Walk(source, options, settings, dialect, endpoint, state)
    entities = EntityData(
        settings.entity_data or WIKIDATA_API,
        manners=settings.manners(),
        languages=dialect.languages,
        stop=stop,
    )
    if earlier is not None and not entities.is_api:
        raise InputError(
            f"{settings.entity_data} gives one whole document a request and tells no revisions; "
            "the address of an api.php does",
            argument="refresh",
            hint="Load it anew with --replace.",
        )
    return DocumentWalk(source, options, settings, dialect, endpoint, state, entities, earlier)
