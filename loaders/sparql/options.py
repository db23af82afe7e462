"""What a load from an endpoint can be told."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph_service.errors import InputError
from graph_service.http.host_client import RequestPolicy

SOURCE = re.compile(r"(wikidata|dbpedia):(.+)", re.DOTALL)
DIRECTIONS = ("both", "out", "in")
FULL, TRUTHY = "full", "truthy"
STATEMENTS = (FULL, TRUTHY)


def is_endpoint_source(source: str, /) -> bool:
    """Returns whether a source is read from an endpoint: ``wikidata:...`` or ``dbpedia:...``.

    >>> is_endpoint_source("wikidata:Q42"), is_endpoint_source("./wikidata:Q42")
    (True, False)
    """
    return SOURCE.fullmatch(source) is not None


@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """How a subgraph is taken from an endpoint.

    Attributes:
        endpoint: Its address; None for the source's public one.
        hops: Steps around the start entities: the statements of every entity fewer steps
            away are in.
        direction: ``out`` for statements that an entity is the head of, ``in`` for those it is
            the value of, ``both``.
        max_incoming: An entity that is the value of more statements than this is a hub, and none
            of those are taken, unless it is a start entity.
        max_statements: Where the walk ends; None for no limit.
        drop_relations: A file of relations to leave out, one IRI (or, ending in ``*``, the
            beginning of IRIs) a line; None for the source's own list.
        keep_relations: Of the relations that the list leaves out, those to keep: IRIs, or their
            last parts.
        statements: Of Wikidata, ``full`` for whole statements, from entities' documents, or
            ``truthy`` for the best ones without rank, qualifiers and references, by SPARQL
            alone; None for full ones from Wikidata's own endpoint, truthy ones from another.
        entity_data: Where documents come from: the address of a Wikibase's ``api.php`` or
            ``Special:EntityData``; None for Wikidata's API.
        contact: A mail address or URL for the user agent.
        interval_s: Seconds between the end of a request and the next; None for 1, or for 0 where
            the endpoint is on this machine.
        timeout_s: Seconds, whole, that one request may take.
        max_attempts: How often a query is sent before it counts as failed.
        max_wait_s: The longest pause an endpoint may ask for (Retry-After) before the load stops,
            to be resumed later.
        page_rows: Rows a page.
        entities_per_query: Entities whose statements are asked for together.
        max_answer_bytes: Size limit of an answer, unpacked.
        max_rows: Rows of one question that are held; what has more is not complete.
        max_bytes: Bytes that one run of the load reads at most, of each host.
        max_seconds: How long one run of the load asks at most.
        cache_dir: Where answers are kept; None not to keep them.
        cache_days: How long they are good.
    """

    endpoint: str | None = None
    hops: int = 1
    direction: str = "both"
    max_incoming: int = 500
    max_statements: int | None = None
    drop_relations: Path | None = None
    keep_relations: tuple[str, ...] = ()
    statements: str | None = None
    entity_data: str | None = None
    contact: str | None = None
    interval_s: float | None = None
    timeout_s: int = 70
    max_attempts: int = 5
    max_wait_s: float = 300.0
    page_rows: int = 5_000
    entities_per_query: int = 40
    max_answer_bytes: int = 1 << 28
    max_rows: int = 500_000
    max_bytes: int = 1 << 33
    max_seconds: float = 86_400.0
    cache_dir: Path | None = None
    cache_days: float = 7.0

    def check(self) -> None:
        """Raises ``InputError`` for a value out of range."""
        for name, least in (
            ("hops", 1),
            ("max_incoming", 1),
            ("max_statements", 1),
            ("timeout_s", 1),
            ("max_attempts", 1),
            ("page_rows", 20),
            ("entities_per_query", 1),
            ("max_answer_bytes", 1),
            ("max_rows", 1),
            ("max_bytes", 1),
            ("max_seconds", 1),
        ):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(f"{name} is {value}; expected {least} or more", argument=name)
        if self.direction not in DIRECTIONS:
            raise InputError(
                f"direction {self.direction!r}; expected one of {', '.join(DIRECTIONS)}",
                argument="direction",
            )
        if self.statements is not None and self.statements not in STATEMENTS:
            raise InputError(
                f"statements {self.statements!r}; expected one of {', '.join(STATEMENTS)}",
                argument="statements",
            )
        if self.statements == TRUTHY and self.entity_data is not None:
            raise InputError(
                "truthy statements come from the SPARQL endpoint alone, and an address of "
                "entities' documents is given; leave one of the two out",
                argument="entity_data",
            )
        if self.interval_s is not None and not 0 <= self.interval_s < math.inf:
            raise InputError(
                f"an interval of {self.interval_s} seconds; expected 0 or more",
                argument="interval_s",
            )

    def manners(self) -> RequestPolicy:
        """Returns how hosts are asked."""
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
        return {
            "endpoint": self.endpoint,
            "hops": self.hops,
            "direction": self.direction,
            "max_incoming": self.max_incoming,
            "max_statements": self.max_statements,
            "drop_relations": str(self.drop_relations) if self.drop_relations else None,
            "keep_relations": list(self.keep_relations),
            "statements": self.statements,
            "entity_data": self.entity_data,
        }
