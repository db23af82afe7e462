"""How statements and entities become rows of the SQLite store, and rows become them again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from graph_service.model.graph import RANKS
from graph_service.model.statement import Entity, EntityKind, Standing, decode_entity
from graph_service.store.decoding import decodes
from graph_service.store.hashes import RANK_BYTES, Uint64, content_sums, statement_hashes
from graph_service.store.texts import encode_entity_value

KINDS = (EntityKind.ITEM, EntityKind.PROPERTY)
KIND_CODES = {kind: code for code, kind in enumerate(KINDS)}
STANDINGS = (
    Standing.DESCRIBED,
    Standing.MENTIONED,
    Standing.NAMED,
    Standing.NAMED,
    Standing.NAMED,
)
"""By the number in the column ``bare``, which ``schema`` explains."""


@decodes("an entity")
def entity_of_row(
    id_: str, kind: int, redirect: str | None, revision: int | None, terms: str, code: int = 0, /
) -> Entity:
    """Returns the entity of its columns."""
    standing = STANDINGS[code]
    entity = decode_entity(id_, KINDS[kind].value, redirect, terms, standing=standing)
    return entity if revision is None else replace(entity, revision=revision)


def sums_of_rows(rows: Iterable[Sequence[Any]], /) -> Uint64:
    """Returns what statements add to both fingerprints: four words, wrapping.

    Args:
        rows: Their id, head, relation, key and id of the tail, value, rank, qualifiers, sources
            and context, as the tables have them.
    """
    hashes = [
        statement_hashes(
            id_,
            head,
            relation,
            value if tail is None else encode_entity_value(tail_id),
            RANK_BYTES[RANKS[rank]],
            qualifiers,
            sources,
            context,
        )
        for id_, head, relation, tail, tail_id, value, rank, qualifiers, sources, context in rows
    ]
    return content_sums(
        b"".join(edge for edge, _ in hashes), b"".join(content for _, content in hashes)
    )
