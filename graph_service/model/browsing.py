"""What clients get of a graph page by page, and of a write: rows, pages and payloads."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from graph_service.model.graph_info import GraphInfo
from graph_service.model.result import EntityRef, RelationRef, RetrievalResult, Triple, TripleChange
from graph_service.model.stored_view import StoredView


class Direction(Enum):
    """Which end of a statement an item is."""

    OUTGOING = "outgoing"
    INCOMING = "incoming"


class ViewChangeKind(Enum):
    """What a view did to a statement."""

    REMOVED = "removed"
    RELATION_CHANGED = "relation-changed"
    VALUE_CHANGED = "value-changed"
    ADDED = "added"
    HEAD_CHANGED = "head-changed"
    RANK_CHANGED = "rank-changed"
    NAMES_CHANGED = "names-changed"


class ErrorCode(Enum):
    """What ``extensions.code`` of an error says."""

    BAD_INPUT = "BAD_INPUT"
    GRAPH_NOT_FOUND = "GRAPH_NOT_FOUND"
    VIEW_NOT_FOUND = "VIEW_NOT_FOUND"
    VIEW_STALE = "VIEW_STALE"
    EDITION_GONE = "EDITION_GONE"
    DOCUMENT_NOT_FOUND = "DOCUMENT_NOT_FOUND"
    PERSISTED_QUERY_NOT_SUPPORTED = "PERSISTED_QUERY_NOT_SUPPORTED"
    READ_ONLY = "READ_ONLY"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    MAX_COST_EXCEEDED = "MAX_COST_EXCEEDED"
    THROTTLED = "THROTTLED"
    TIMEOUT = "TIMEOUT"
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
    SETUP = "SETUP"
    FORBIDDEN = "FORBIDDEN"
    INTERNAL = "INTERNAL"


@dataclass(frozen=True, slots=True)
class PageInfo:
    """Where a page stands in its list, with the cursors of its first and last elements."""

    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


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


@dataclass(frozen=True, slots=True)
class CreatedView:
    """A view that was made or under way, and whether it was there already."""

    view: StoredView
    reused: bool


@dataclass(frozen=True, slots=True)
class UpdatedView:
    """A view with its new name and note."""

    view: StoredView


@dataclass(frozen=True, slots=True)
class CancelledJob:
    """A view whose making was cancelled, as it is now."""

    view: StoredView


@dataclass(frozen=True, slots=True)
class DeletedView:
    """The id of a view that was deleted."""

    view_id: str


@dataclass(frozen=True, slots=True)
class DeletedGraph:
    """The name of a graph that was deleted."""

    name: str


@dataclass(frozen=True, slots=True)
class DeletedPassages:
    """How many passages were deleted."""

    deleted: int


@dataclass(frozen=True, slots=True)
class QuestionError:
    """Why one question of many has no result; ``code`` is that of the error's class."""

    code: str
    message: str
    argument: str | None
    hint: str | None
    retryable: bool


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """What became of one question of many: a result, or an error."""

    result: RetrievalResult | None
    error: QuestionError | None
