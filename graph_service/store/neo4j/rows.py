"""A batch as the rows of its Cypher statements, and rows read back as ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import orjson

from graph_service.errors import InputError
from graph_service.model.graph import RANKS
from graph_service.model.identity import MAX_ID_BYTES, check_text, key64
from graph_service.model.neighbourhood import EdgeRow
from graph_service.model.statement import (
    Entity,
    Rank,
    Reference,
    Snak,
    Standing,
    Statement,
    decode_entity,
    decode_references,
    decode_snaks,
    encode_terms,
)
from graph_service.model.values import (
    EntityValue,
    MonolingualText,
    StringValue,
    decode_value,
    display_value,
    value_type,
)
from graph_service.store.decoding import decodes
from graph_service.store.encoded import EncodedStatements
from graph_service.store.neo4j.journal import LITERAL, RANK_SHIFT, STATEMENT_ROW, Rows
from graph_service.store.neo4j.schema import caption_of, hex_key, search_token, short_id
from graph_service.store.search import indexed_names
from graph_service.store.texts import encode_entity_value, holds_nul

STATEMENT_COLUMNS = """r.key, r.id, coalesce(a.long_id, a.id), r.relation, b.value,
    coalesce(b.long_id, b.id), r.rank, r.qualifiers, r.references, r.context"""
"""Of ``(a)-[r]->(b)``: what ``statement_of_row`` takes."""

EDGE_COLUMNS = """r.key, r.id, coalesce(a.long_id, a.id), r.relation, b.value,
    coalesce(b.long_id, b.id), r.rank"""
"""Of ``(a)-[r]->(b)``: what ``edge_of_row`` takes."""

RelationshipRow = tuple[
    str, int, int, int | None, str, Rank, str | None, str | None, str | None, str | None
]
"""Id, key, head, tail or None, relation, rank, value or None, qualifiers, references, context."""

ENTITY_COLUMNS = "n.key, coalesce(n.long_id, n.id), n.kind, n.redirect, n.terms, n.bare, n.named"
"""Of an ``:Entity`` ``n``: what ``entity_of_row`` takes."""


def relationship_rows(encoded: EncodedStatements, /) -> Iterator[RelationshipRow]:
    """Yields what the relationship of each statement is created from."""
    return zip(
        encoded.ids,
        encoded.keys,
        encoded.heads,
        encoded.tails,
        map(encoded.relation_ids.__getitem__, encoded.relations),
        map(RANKS.__getitem__, encoded.ranks),
        encoded.values,
        encoded.qualifiers,
        encoded.sources,
        encoded.contexts,
        strict=True,
    )


def literal_properties(encoded: str, /) -> dict[str, Any]:
    """Returns the properties of the node of an encoded value that is no entity."""
    value = decode_value(encoded)
    properties = {"value": encoded, "label": display_value(value), "type": value_type(value)}
    if isinstance(value, (StringValue, MonolingualText)):
        properties["text"] = value.text
    return properties


def journal_rows(encoded: EncodedStatements, /) -> Rows:
    """Returns the journal of statements, ``STATEMENT_ROW``, not marked as created."""
    journal = np.zeros(len(encoded), dtype=STATEMENT_ROW)
    if not len(encoded):
        return journal
    is_literal = np.array([tail is None for tail in encoded.tails])
    journal["key"] = journal["tail"] = encoded.keys
    journal["tail"][~is_literal] = [tail for tail in encoded.tails if tail is not None]
    journal["head"] = encoded.heads
    journal["relation"] = np.array([key64(id_) for id_ in encoded.relation_ids])[encoded.relations]
    journal["edge"], journal["content"] = words_of(encoded.edges), words_of(encoded.contents)
    journal["flags"] = np.where(is_literal, LITERAL, 0) | np.array(encoded.ranks) << RANK_SHIFT
    return journal


def words_of(hashes: bytes, /) -> Any:
    """Returns 16-byte hashes, one after the other, as two 64-bit words each."""
    return np.frombuffer(hashes, dtype="<u8").reshape(-1, 2)


def checked_key(id_: str, what: str, /) -> int:
    """Returns the key of an id; raises ``InputError`` for one that no store can hold."""
    if not id_:
        raise InputError(f"{what} is empty")
    if "\x00" in id_ or len(id_) * 4 > MAX_ID_BYTES:
        check_text(id_, what=what)
    try:
        return key64(id_)
    except UnicodeEncodeError as error:
        raise InputError(f"{what} holds a lone surrogate: {id_[:80]!r}") from error


def entity_properties(entity: Entity, key: int, edition: str, /) -> dict[str, Any]:
    """Returns the properties of an entity's node.

    Raises:
        InputError: Text that no store can hold.
    """
    try:
        terms = encode_terms(entity)
    except TypeError as error:
        raise InputError(f"a term of {entity.id!r} holds a lone surrogate: {error}") from error
    if "\\u0000" in terms and holds_nul(orjson.loads(terms)):
        raise InputError(f"a term of {entity.id!r} holds a NUL character")
    properties = mentioned_properties(entity.id, key, edition)
    properties |= {"kind": entity.kind.value, "terms": terms, "bare": None}
    if entity.redirect is not None:
        checked_key(entity.redirect, "the target of a redirect")
        properties["redirect"] = entity.redirect
    label = _label(entity)
    if label is not None:
        properties["label"] = label
    names = indexed_names(entity).text
    if names:
        properties["_search"] = f"{search_token(edition)} {names}"
    return properties


def mentioned_properties(id_: str, key: int, edition: str, /) -> dict[str, Any]:
    """Returns the properties of the node of an entity that is only mentioned."""
    short = short_id(id_)
    properties: dict[str, Any] = {
        "key": f"{edition}:{hex_key(key)}",
        "graph": edition,
        "id": short,
        "label": caption_of(id_),
        "bare": True,
    }
    if short != id_:
        properties["long_id"] = id_
    names = indexed_names(Entity(id_)).text
    if names:
        properties["_search"] = f"{search_token(edition)} {names}"
    return properties


def _label(entity: Entity) -> str | None:
    for language in ("en", "mul", *sorted(entity.labels)):
        if language in entity.labels:
            return entity.labels[language]
    return None


@decodes("an entity")
def entity_of_row(row: list[Any], /) -> Entity:
    """Returns the entity of ``ENTITY_COLUMNS``."""
    _, id_, kind, redirect, terms, is_mentioned, named = row
    if is_mentioned:
        return Entity(id_, standing=Standing.MENTIONED)
    standing = Standing.NAMED if named else Standing.DESCRIBED
    return decode_entity(id_, kind, redirect, terms, standing=standing)


@decodes("a statement")
def edge_of_row(row: list[Any], /) -> EdgeRow:
    """Returns the edge of ``EDGE_COLUMNS``."""
    _, id_, head, relation, value, tail, rank = row
    return EdgeRow(
        id_, head, relation, value if value is not None else encode_entity_value(tail), Rank(rank)
    )


@decodes("a statement")
def statement_of_row(row: list[Any], /) -> Statement:
    """Returns the statement of ``STATEMENT_COLUMNS``."""
    _, id_, head, relation, value, tail, rank, qualifiers, references, context = row
    decoded: tuple[Snak, ...] = decode_snaks(qualifiers) if qualifiers else ()
    sources: tuple[Reference, ...] = decode_references(references) if references else ()
    return Statement(
        id_,
        head,
        relation,
        decode_value(value) if value is not None else EntityValue(tail),
        Rank(rank),
        decoded,
        sources,
        context,
    )
