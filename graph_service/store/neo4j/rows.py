"""A batch as the rows of its Cypher statements, and rows read back as ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from graph_service.errors import InputError
from graph_service.model.graph import RANK_CODES
from graph_service.model.identity import MAX_ID_BYTES, check_text, key64
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
    encode_references,
    encode_snaks,
    encode_terms,
)
from graph_service.model.values import (
    EntityValue,
    MonolingualText,
    StringValue,
    decode_value,
    display_value,
    encode_value,
    value_type,
)
from graph_service.store.decoding import decodes
from graph_service.store.hashes import RANK_BYTES, statement_hashes
from graph_service.store.neo4j.journal import LITERAL, RANK_SHIFT, Rows
from graph_service.store.neo4j.schema import hex_key, search_token, short_id
from graph_service.store.protocol import EdgeRow
from graph_service.store.search import indexed_names
from graph_service.store.texts import encode_entity_value, holds_nul

STATEMENT_COLUMNS = """r.key, r.id, coalesce(a.long_id, a.id), r.relation, b.value,
    coalesce(b.long_id, b.id), r.rank, r.qualifiers, r.references, r.context"""
"""Of ``(a)-[r]->(b)``: what ``statement_of_row`` takes."""

EDGE_COLUMNS = """r.key, r.id, coalesce(a.long_id, a.id), r.relation, b.value,
    coalesce(b.long_id, b.id), r.rank"""
"""Of ``(a)-[r]->(b)``: what ``edge_of_row`` takes."""

ENTITY_COLUMNS = "n.key, coalesce(n.long_id, n.id), n.kind, n.redirect, n.terms, n.bare, n.named"
"""Of an ``:Entity`` ``n``: what ``entity_of_row`` takes."""


@dataclass(frozen=True, slots=True)
class StatementRow:
    """A statement on its way in.

    Attributes:
        properties: Of its relationship, without its batch.
        literal: Properties of its literal node; None where the value is an entity.
        edge, content: Its two hashes, 16 bytes each.
    """

    key: int
    head: int
    tail: int
    relation: str
    properties: dict[str, Any]
    literal: dict[str, Any] | None
    rank_code: int
    edge: bytes
    content: bytes


def statement_row(item: Statement, key_of: Mapping[str, int], /) -> StatementRow:
    """Returns a statement's row; ``key_of`` has the keys of the entities it names.

    Raises:
        InputError: Text that no store can hold.
    """
    value = item.value
    try:
        encoded = encode_value(value)
        qualifiers = encode_snaks(item.qualifiers) if item.qualifiers else None
        references = encode_references(item.references) if item.references else None
        edge, content = statement_hashes(
            item.id,
            item.head,
            item.relation,
            encoded,
            RANK_BYTES[item.rank],
            qualifiers,
            references,
            item.context,
        )
    except (UnicodeEncodeError, TypeError) as error:
        raise InputError(
            f"statement {item.id[:80]!r} holds text that cannot be stored: {error}"
        ) from error
    if "\x00" in item.id or "\x00" in item.relation or "\x00" in (item.context or ""):
        raise InputError(f"statement {item.id[:80]!r} holds a NUL character")
    for json in (encoded, qualifiers, references):
        if json is not None and "\\u0000" in json and holds_nul(orjson.loads(json)):
            raise InputError(f"a value of statement {item.id[:80]!r} holds a NUL character")
    key = checked_key(item.id, "a statement id")
    properties: dict[str, Any] = {
        "id": item.id,
        "key": key,
        "relation": item.relation,
        "rank": item.rank.value,
    }
    if qualifiers is not None:
        properties["qualifiers"] = qualifiers
    if references is not None:
        properties["references"] = references
    if item.context is not None:
        properties["context"] = item.context
    literal: dict[str, Any] | None = None
    tail = key
    if isinstance(value, EntityValue):
        tail = key_of[value.id]
    else:
        literal = {"value": encoded, "label": display_value(value), "type": value_type(value)}
        if isinstance(value, (StringValue, MonolingualText)):
            literal["text"] = value.text
    return StatementRow(
        key,
        key_of[item.head],
        tail,
        item.relation,
        properties,
        literal,
        RANK_CODES[item.rank],
        edge,
        content,
    )


def journal_rows(rows: list[StatementRow], dtype: np.dtype[Any], /) -> Rows:
    """Returns the journal of statement rows, not marked as created."""
    journal = np.zeros(len(rows), dtype=dtype)
    journal["key"] = [row.key for row in rows]
    journal["head"] = [row.head for row in rows]
    journal["tail"] = [row.tail for row in rows]
    relation_keys = {relation: key64(relation) for relation in {row.relation for row in rows}}
    journal["relation"] = [relation_keys[row.relation] for row in rows]
    journal["edge"] = words_of([row.edge for row in rows])
    journal["content"] = words_of([row.content for row in rows])
    journal["flags"] = [
        (0 if row.literal is None else LITERAL) | row.rank_code << RANK_SHIFT for row in rows
    ]
    return journal


def words_of(hashes: list[bytes], /) -> Any:
    """Returns 16-byte hashes as two 64-bit words each."""
    return np.frombuffer(b"".join(hashes), dtype="<u8").reshape(-1, 2)


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
    properties = bare_properties(entity.id, key, edition)
    properties |= {"kind": entity.kind.value, "terms": terms, "bare": None}
    if entity.redirect is not None:
        checked_key(entity.redirect, "the target of a redirect")
        properties["redirect"] = entity.redirect
    label = _label(entity)
    if label is not None:
        properties["label"] = label
    names = indexed_names(entity).text
    if names:
        properties["search"] = f"{search_token(edition)} {names}"
    return properties


def bare_properties(id_: str, key: int, edition: str, /) -> dict[str, Any]:
    """Returns the properties of the node of an entity that is only mentioned."""
    short = short_id(id_)
    properties: dict[str, Any] = {
        "key": f"{edition}:{hex_key(key)}",
        "graph": edition,
        "id": short,
        "bare": True,
    }
    if short != id_:
        properties["long_id"] = id_
    names = indexed_names(Entity(id_)).text
    if names:
        properties["search"] = f"{search_token(edition)} {names}"
    return properties


def _label(entity: Entity) -> str | None:
    for language in ("en", "mul", *sorted(entity.labels)):
        if language in entity.labels:
            return entity.labels[language]
    return None


@decodes("an entity")
def entity_of_row(row: list[Any], /) -> Entity:
    """Returns the entity of ``ENTITY_COLUMNS``."""
    _, id_, kind, redirect, terms, bare, named = row
    if bare:
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
