"""What the client returns besides the model's own types."""

from __future__ import annotations

from dataclasses import dataclass

from graph_service.model.graph_info import GraphInfo
from graph_service.model.result import (
    EntityRef,
    RelationRef,
    Triple,
    TripleChange,
)


@dataclass(frozen=True, slots=True)
class Item:
    """An item with its terms.

    Attributes:
        aliases: In English.
        label_languages: Languages that have a label.
        url: Its web page, at Wikidata or by its IRI; None for none.
    """

    id: str
    label: str
    description: str | None
    aliases: tuple[str, ...]
    label_languages: tuple[str, ...]
    url: str | None = None


@dataclass(frozen=True, slots=True)
class ItemStatement:
    """A statement of an item, and how it differs from the base where a view was asked."""

    triple: Triple
    change: TripleChange


@dataclass(frozen=True, slots=True)
class ItemStatements:
    """A page of the statements of an item.

    Attributes:
        item: The item.
        statements: The statements.
        cursors: For each of them the cursor of the page that begins after it.
        total: How many statements all pages have.
        next: The cursor of the next page, if there is one.
    """

    item: EntityRef
    statements: tuple[ItemStatement, ...]
    cursors: tuple[str, ...]
    total: int
    next: str | None


@dataclass(frozen=True, slots=True)
class ItemRelation:
    """How many statements of a relation an item is an end of; its head where ``outgoing``."""

    relation: RelationRef
    outgoing: bool
    count: int


@dataclass(frozen=True, slots=True)
class ItemRelations:
    """A page of the relations of an item's statements, the most first.

    Attributes:
        item: The item.
        relations: The relations with their counts.
        cursors: For each of them the cursor of the page that begins after it.
        total: How many pairs of relation and direction all pages have.
        next: The cursor of the next page, if there is one.
    """

    item: EntityRef
    relations: tuple[ItemRelation, ...]
    cursors: tuple[str, ...]
    total: int
    next: str | None


@dataclass(frozen=True, slots=True)
class ClassDescription:
    """A class of a graph: how many items are instances of it, and some of them."""

    item: EntityRef
    count: int
    examples: tuple[EntityRef, ...]


@dataclass(frozen=True, slots=True)
class RelationDescription:
    """A relation of a graph: how many statements have it, and one of them."""

    relation: RelationRef
    count: int
    example: Triple | None


@dataclass(frozen=True, slots=True)
class GraphDescription:
    """What a graph is about: the largest of its classes, and its relations that are used most.

    Attributes:
        info: The graph.
        class_count: How many classes it has.
    """

    info: GraphInfo
    classes: tuple[ClassDescription, ...]
    class_count: int
    relations: tuple[RelationDescription, ...]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An entity at the other end of a statement.

    Attributes:
        item: The neighbour.
        triple: The statement between both.
        outgoing: Whether the entity that was asked for is the head.
        change: How the statement differs from the base, where a view was asked.
    """

    item: EntityRef
    triple: Triple
    outgoing: bool
    change: TripleChange


@dataclass(frozen=True, slots=True)
class Neighbours:
    """A page of neighbours; ``next`` is the cursor of the next page, if there is one."""

    neighbours: tuple[Neighbour, ...]
    total: int
    next: str | None


@dataclass(frozen=True, slots=True)
class ClientViewChange:
    """One difference between a view and its base.

    Attributes:
        kind: ``removed``, ``relation-changed``, ``value-changed``, ``added``,
            ``head-changed``, ``rank-changed``, or ``names-changed`` of an item.
        words: Both statements in one line.
    """

    kind: str
    words: str
    before: Triple | None
    after: Triple | None


@dataclass(frozen=True, slots=True)
class ViewChanges:
    """A page of a view's changes; ``next`` is the cursor of the next page, if there is one."""

    changes: tuple[ClientViewChange, ...]
    total: int
    next: str | None
