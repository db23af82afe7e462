"""The entities of a range of keys: what the source says of each, and those that statements name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from graph_service.cluster.load_documents import Record, resolve_records
from graph_service.cluster.load_rows import MENTION, RECORD, RELATION
from graph_service.model.statement import Entity, Standing, decode_entity
from graph_service.store.hashes import collision
from graph_service.store.terms import merge_terms


@dataclass(frozen=True, slots=True)
class ResolvedEntities:
    """The entities of a range of keys.

    Attributes:
        entities: By key, each with its standing.
        relations: How many relations there are, with or without a name.
        named_relations: How many of the entities are names of relations alone.
        names: How many ids have a name and no statement; they are no entities.
    """

    entities: list[Entity]
    relations: int
    named_relations: int
    names: int


def record_of(row: Mapping[str, Any], /) -> Record:
    """Returns a row of ``load_rows`` as a record."""
    return Record(
        sequence=row["sequence"],
        line=row["line"],
        terms_hash=row["terms_hash"],
        revision=row["revision"],
        is_merged=row["is_merged"],
        statements_hash=row["statements_hash"],
        first=row["first"],
        end=row["end"],
    )


def resolve_entities(table: Any, /) -> ResolvedEntities:
    """Returns the entities of a range of keys.

    Args:
        table: All rows about them, in any order.

    Raises:
        KeyCollisionError: Two ids have one key.
    """
    table = table.sort_by([("key", "ascending"), ("sequence", "ascending")])
    entities: list[Entity] = []
    relations = named_relations = names = 0
    for rows in _groups(table):
        roles = {row["role"] for row in rows}
        relations += RELATION in roles
        records = [row for row in rows if row["role"] == RECORD]
        entity, is_described = _merged(records)
        if entity is None:
            if MENTION in roles:
                entities.append(Entity(rows[0]["entity"], standing=Standing.MENTIONED))
        elif is_described:
            entities.append(entity)
        elif MENTION in roles or RELATION in roles:
            named_relations += MENTION not in roles
            entities.append(replace(entity, standing=Standing.NAMED))
        else:
            names += 1
    return ResolvedEntities(entities, relations, named_relations, names)


def _groups(table: Any) -> Iterator[list[dict[str, Any]]]:
    """Yields the rows of each key."""
    for batch in _batches(table):
        for _, group in groupby(batch, key=itemgetter("key")):
            rows = list(group)
            for row in rows[1:]:
                if row["entity"] != rows[0]["entity"]:
                    raise collision(row["entity"], rows[0]["entity"])
            yield rows


_ROWS = 10_000


def _batches(table: Any) -> Iterator[list[dict[str, Any]]]:
    """Yields rows as dicts in pieces that do not cut a key."""
    begun: list[dict[str, Any]] = []
    for batch in table.to_batches(max_chunksize=_ROWS):
        rows = begun + batch.to_pylist()
        last = rows[-1]["key"]
        cut = next((at for at in range(len(rows), 0, -1) if rows[at - 1]["key"] != last), 0)
        if cut:
            yield rows[:cut]
        begun = rows[cut:]
    if begun:
        yield begun


def _merged(rows: Sequence[Mapping[str, Any]]) -> tuple[Entity | None, bool]:
    """Returns what the records of one entity come to, and whether one of them describes it."""
    entity: Entity | None = None
    is_described = False
    for index in resolve_records([record_of(row) for row in rows]).accepted:
        row = rows[index]
        new = decode_entity(row["entity"], row["kind"], row["redirect"], row["terms"])
        if row["revision"] is not None:
            new = replace(new, revision=row["revision"])
        entity = merge_terms(entity, new) if row["is_merged"] else new
        is_described = is_described or not row["is_names_only"]
    return entity, is_described
