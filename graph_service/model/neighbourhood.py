"""What a store returns of the statements around some entities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graph_service.model.limits import Cut
from graph_service.model.statement import Rank

MAX_COUNTED = 2_000_000
"""Statements of the entities walked through up to which what ``neighbourhood`` cuts is counted."""


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """A statement as neighbourhoods and snapshots read it; ``value`` is encoded."""

    statement_id: str
    head: str
    relation: str
    value: str
    rank: Rank


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The statements within some hops of some entities, in order of their keys.

    Attributes:
        hops: Steps from the nearest start entity, by entity id.
        degrees: Degree in the whole graph, both directions, by entity id.
        unexpanded: Hubs that were reached and not walked through.
    """

    edges: tuple[EdgeRow, ...]
    hops: Mapping[str, int]
    degrees: Mapping[str, int]
    unexpanded: tuple[str, ...]
    truncated: tuple[Cut, ...]
