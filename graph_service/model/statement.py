"""Entities and statements as they are loaded, stored and read back, with nothing lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any

import orjson

from graph_service.model.identity import content_statement_id, digest, edge_hash, key64
from graph_service.model.values import Value, decode_value, encode_value


class Rank(StrEnum):
    """Rank of a statement. Deprecated ones are stored, and are no edges unless asked for."""

    PREFERRED = "preferred"
    NORMAL = "normal"
    DEPRECATED = "deprecated"


class EntityKind(StrEnum):
    """What an entity is. ``ITEM`` covers every entity that is not a relation."""

    ITEM = "item"
    PROPERTY = "property"


class Standing(IntEnum):
    """By what an entity is in a graph: ``DESCRIBED`` by a source, ``MENTIONED`` by statements
    alone, ``NAMED`` by statements and by a file of names beside them.

    One that is not described goes with the last statement that mentions it.
    """

    DESCRIBED = 0
    MENTIONED = 1
    NAMED = 2


@dataclass(frozen=True, slots=True)
class Snak:
    """One relation with one value: a qualifier, or a part of a reference."""

    relation: str
    value: Value


@dataclass(frozen=True, slots=True)
class Reference:
    """One source of a statement: its parts, in order."""

    parts: tuple[Snak, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """What a graph says: head, relation, value, and how it is qualified and referenced."""

    id: str
    head: str
    relation: str
    value: Value
    rank: Rank = Rank.NORMAL
    qualifiers: tuple[Snak, ...] = ()
    references: tuple[Reference, ...] = ()
    context: str | None = None

    @property
    def key(self) -> int:
        """The signed 64-bit key of the statement's id."""
        return key64(self.id)


def make_statement(
    head: str,
    relation: str,
    value: Value,
    /,
    *,
    id: str | None = None,
    rank: Rank = Rank.NORMAL,
    qualifiers: Sequence[Snak] = (),
    references: Sequence[Reference] = (),
    context: str | None = None,
) -> Statement:
    """Returns a statement, with an id made from its content where none is given."""
    if id is None:
        id = content_statement_id(
            head,
            relation,
            encode_value(value),
            qualifiers=[(snak.relation, encode_value(snak.value)) for snak in qualifiers],
            context=context,
        )
    return Statement(id, head, relation, value, rank, tuple(qualifiers), tuple(references), context)


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity's terms and what else is known of it besides its statements.

    Attributes:
        labels: Label by language.
        aliases: Aliases by language, in order.
        datatype: The Wikibase data type of a property's values.
        redirect: The id of the entity that this one now is.
        revision: The source's revision number; of two documents the higher one counts.
        same_as: IRIs (or Wikidata ids) of the same entity elsewhere; look-up follows them.
        standing: By what it is in the graph it was read from. It is no part of its content, and a
            load does not ask for it.
    """

    id: str
    kind: EntityKind = EntityKind.ITEM
    labels: Mapping[str, str] = field(default_factory=dict)
    descriptions: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    datatype: str | None = None
    redirect: str | None = None
    revision: int | None = None
    same_as: tuple[str, ...] = ()
    standing: Standing = field(default=Standing.DESCRIBED, compare=False, repr=False)

    @property
    def key(self) -> int:
        """The signed 64-bit key of the entity's id."""
        return key64(self.id)


def encode_snaks(snaks: Sequence[Snak], /) -> str:
    """Returns snaks as a JSON array of ``[relation, encoded value]``."""
    if not snaks:
        return "[]"
    return orjson.dumps([[snak.relation, encode_value(snak.value)] for snak in snaks]).decode()


def decode_snaks(encoded: str | bytes, /) -> tuple[Snak, ...]:
    """Returns the snaks of ``encode_snaks``."""
    return tuple(Snak(relation, decode_value(value)) for relation, value in orjson.loads(encoded))


def encode_references(references: Sequence[Reference], /) -> str:
    """Returns references as a JSON array of arrays of ``[relation, encoded value]``."""
    if not references:
        return "[]"
    return orjson.dumps(
        [
            [[snak.relation, encode_value(snak.value)] for snak in reference.parts]
            for reference in references
        ]
    ).decode()


def decode_references(encoded: str | bytes, /) -> tuple[Reference, ...]:
    """Returns the references of ``encode_references``."""
    return tuple(
        Reference(tuple(Snak(relation, decode_value(value)) for relation, value in parts))
        for parts in orjson.loads(encoded)
    )


def encode_terms(entity: Entity, /) -> str:
    """Returns everything of an entity but its id, kind and redirect, as canonical JSON."""
    payload: dict[str, Any] = {}
    if entity.labels:
        payload["labels"] = dict(entity.labels)
    if entity.descriptions:
        payload["descriptions"] = dict(entity.descriptions)
    if entity.aliases:
        payload["aliases"] = {language: list(names) for language, names in entity.aliases.items()}
    if entity.datatype:
        payload["datatype"] = entity.datatype
    if entity.revision is not None:
        payload["revision"] = entity.revision
    if entity.same_as:
        payload["same_as"] = list(entity.same_as)
    return orjson.dumps(payload, option=orjson.OPT_SORT_KEYS).decode()


def decode_entity(
    id_: str,
    kind: str,
    redirect: str | None,
    terms: str | bytes,
    /,
    *,
    standing: Standing = Standing.DESCRIBED,
) -> Entity:
    """Returns the entity of ``encode_terms`` and its other columns."""
    payload = orjson.loads(terms)
    return Entity(
        id=id_,
        kind=EntityKind(kind),
        labels=payload.get("labels", {}),
        descriptions=payload.get("descriptions", {}),
        aliases={language: tuple(names) for language, names in payload.get("aliases", {}).items()},
        datatype=payload.get("datatype"),
        redirect=redirect,
        revision=payload.get("revision"),
        same_as=tuple(payload.get("same_as", ())),
        standing=standing,
    )


def statement_edge_hash(statement: Statement, /) -> bytes:
    """Returns the 16 bytes that a statement adds to the ``edges`` fingerprint."""
    return edge_hash(
        statement.id,
        statement.head,
        statement.relation,
        encode_value(statement.value),
        statement.rank.value,
    )


def statement_content_hash(statement: Statement, /) -> bytes:
    """Returns the 16 bytes that a statement adds to the ``content`` fingerprint."""
    return digest(
        (
            statement.id,
            statement.head,
            statement.relation,
            encode_value(statement.value),
            statement.rank.value,
            encode_snaks(statement.qualifiers),
            encode_references(statement.references),
            statement.context or "",
        ),
        person=b"content",
    )


def entity_content_hash(entity: Entity, /) -> bytes:
    """Returns the 16 bytes that an entity adds to the ``content`` fingerprint.

    The revision number is not content: the same terms under a later revision count the same.
    """
    terms = orjson.loads(encode_terms(entity))
    terms.pop("revision", None)
    encoded = orjson.dumps(terms, option=orjson.OPT_SORT_KEYS).decode()
    return digest((entity.id, entity.kind.value, entity.redirect or "", encoded), person=b"entity")
