"""What a load from an endpoint can be told."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph_service.errors import InputError
from graph_service.model.serialise import to_plain
from graph_service.options import check_bounds, option

if TYPE_CHECKING:
    from graph_service.http.host_client import RequestPolicy

SOURCE = re.compile(r"(wikidata|dbpedia):(.+)", re.DOTALL)
DIRECTIONS = ("both", "out", "in")
FULL, TRUTHY = "full", "truthy"
STATEMENTS = (FULL, TRUTHY)
WALK = "around an entity, from an endpoint or with --around-entity"
_ENDPOINT = "from an endpoint"
PRESETS = {"qlever": {"wikidata": "https://qlever.dev/api/wikidata"}}
"""Endpoints with the data of a source, by the name that ``--endpoint`` takes for their address."""
_DECISIVE = (
    *("endpoint", "hops", "direction", "max_incoming", "max_statements", "drop_relations"),
    *("keep_relations", "statements", "entity_data"),
)


def is_endpoint_source(source: str, /) -> bool:
    """Returns whether a source is read from an endpoint: ``wikidata:...`` or ``dbpedia:...``.

    >>> is_endpoint_source("wikidata:Q42"), is_endpoint_source("./wikidata:Q42")
    (True, False)
    """
    return SOURCE.fullmatch(source) is not None


@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """How a subgraph is taken from an endpoint. ``docs/reference/options.md`` lists the options.

    Attributes:
        endpoint: None for the source's public one.
        hops: The statements of every entity fewer steps away from a start entity are in.
        max_incoming: Of a hub no statement is taken that it is the value of, unless it is a start
            entity.
        drop_relations: IRIs (or, ending in ``*``, beginnings of IRIs); None for the source's own
            list.
        statements: ``truthy`` for the best ones without rank, qualifiers and references; None for
            full ones from Wikidata's own endpoint, truthy ones from another.
        contact: For the user agent.
        interval_s: From the end of a request to the next; None for 1, or for 0 where the endpoint
            is on this machine.
        timeout_s: Seconds, whole, that one request may take.
        max_attempts: How often a query is sent before it counts as failed.
        max_wait_s: The longest pause an endpoint may ask for (Retry-After) before the load stops,
            to be resumed later.
        page_rows: Rows a page.
        entities_per_query: Entities whose statements are asked for together.
        max_answer_bytes: Size limit of an answer, unpacked.
        max_rows: Of one question; what has more is not complete.
        max_bytes: In one run of the load, of each host.
        max_seconds: Of one run of the load.
        cache_dir: Where answers are kept; None not to keep them.
        cache_days: How long they are good.
    """

    endpoint: str | None = option(
        None,
        help="another SPARQL endpoint: its address, or qlever for the public one of Wikidata",
        metavar="URL",
        group=_ENDPOINT,
    )
    hops: int = option(1, help="steps around the entity", least=1, group=WALK)
    direction: str = option(
        "both",
        help="statements whose head an entity is (out), whose value it is (in), or both",
        choices=DIRECTIONS,
        group=WALK,
    )
    max_incoming: int = option(
        500,
        help="entities that are the value of more statements are hubs, left out",
        least=1,
        group=WALK,
    )
    max_statements: int | None = option(None, help="stop the walk there", least=1, group=_ENDPOINT)
    drop_relations: Path | None = option(
        None, help="relations to leave out, one IRI a line", group=WALK
    )
    keep_relations: tuple[str, ...] = option(
        (),
        help="keep this one of the relations that are left out, such as wikiPageWikiLink",
        metavar="IRI",
        group=_ENDPOINT,
    )
    statements: str | None = option(
        None,
        help="of Wikidata: whole statements from entities' documents, or the best ones by SPARQL "
        "alone (full; with --endpoint truthy)",
        choices=STATEMENTS,
        group=_ENDPOINT,
    )
    entity_data: str | None = option(
        None,
        help="where documents come from: an api.php or Special:EntityData (Wikidata's API)",
        metavar="URL",
        group=_ENDPOINT,
    )
    contact: str | None = option(
        None,
        help="whom its operators can write to; default: GRAPH_SERVICE_CONTACT",
        metavar="MAIL_OR_URL",
        group=_ENDPOINT,
    )
    interval_s: float | None = option(
        None,
        help="pause between requests in seconds (1)",
        least=0,
        metavar="S",
        group=_ENDPOINT,
    )
    timeout_s: int = 70
    max_attempts: int = 5
    max_wait_s: float = 300.0
    page_rows: int = 5_000
    entities_per_query: int = 40
    max_answer_bytes: int = 1 << 28
    max_rows: int = option(
        500_000,
        help="an entity with more statements is left out and said",
        least=1,
        group=_ENDPOINT,
    )
    max_bytes: int = option(
        1 << 33, help="stop, to go on later, after reading so much", least=1, group=_ENDPOINT
    )
    max_seconds: float = option(
        86_400.0,
        help="stop, to go on later, after so long",
        least=1,
        metavar="S",
        group=_ENDPOINT,
    )
    cache_dir: Path | None = None
    cache_days: float = 7.0

    def check(self) -> None:
        """Raises ``InputError`` for a value out of range."""
        check_bounds(self)
        for name, least in (
            ("timeout_s", 1),
            ("max_attempts", 1),
            ("page_rows", 20),
            ("entities_per_query", 1),
            ("max_answer_bytes", 1),
        ):
            value = getattr(self, name)
            if value < least:
                raise InputError(f"{name} is {value}; expected {least} or more", argument=name)
        if self.statements == TRUTHY and self.entity_data is not None:
            raise InputError(
                "truthy statements come from the SPARQL endpoint alone, and an address of "
                "entities' documents is given; leave one of the two out",
                argument="entity_data",
            )

    def address(self, source: str, default: str, /) -> str:
        """Returns the address of the endpoint that a source such as ``wikidata:Q42`` is read from.

        Raises:
            InputError: The endpoint is a preset's name, and it does not hold this source.
        """
        if self.endpoint is None:
            return default
        preset = PRESETS.get(self.endpoint.lower())
        if preset is None:
            return self.endpoint
        name = source.partition(":")[0]
        if name not in preset:
            raise InputError(
                f"{self.endpoint} has no endpoint of {name} that is known here; expected an address",
                argument="endpoint",
            )
        return preset[name]

    @property
    def is_preset(self) -> bool:
        """Whether the endpoint is known to hold the source's own data."""
        return self.endpoint is None or self.endpoint.lower() in PRESETS

    def manners(self) -> RequestPolicy:
        """Returns how hosts are asked."""
        from graph_service.http.host_client import RequestPolicy

        return RequestPolicy(
            contact=self.contact,
            interval_s=self.interval_s,
            timeout_s=self.timeout_s,
            max_attempts=self.max_attempts,
            max_wait_s=self.max_wait_s,
            max_answer_bytes=self.max_answer_bytes,
            max_total_bytes=self.max_bytes,
            max_total_s=self.max_seconds,
            cache_dir=self.cache_dir,
            cache_days=self.cache_days,
        )

    def to_json(self) -> dict[str, Any]:
        """Returns what decides the result; how politely it is fetched does not."""
        plain: dict[str, Any] = to_plain(self)
        return {name: plain[name] for name in _DECISIVE}
