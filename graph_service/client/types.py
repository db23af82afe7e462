"""What the client returns besides the model's own types."""

from __future__ import annotations

from dataclasses import dataclass

from graph_service.model.result import EntityRef, RetrievalResult, Triple, TripleChange


@dataclass(frozen=True, slots=True)
class Item:
    """An item with its terms.

    Attributes:
        aliases: In English.
        label_languages: Languages that have a label.
    """

    id: str
    label: str
    description: str | None
    aliases: tuple[str, ...]
    label_languages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundItem:
    """An item found by name; ``matched`` is that name."""

    item: EntityRef
    matched: str
    language: str
    is_alias: bool
    score: float


@dataclass(frozen=True, slots=True)
class ItemStatement:
    """A statement of an item, and how it differs from the base where a view was asked."""

    triple: Triple
    change: TripleChange


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
class ClientComparison:
    """One view's result beside the base's; ``view_id`` is None for the base."""

    view_id: str | None
    view_spec: str | None
    result: RetrievalResult
    lost: tuple[str, ...]
    gained: tuple[str, ...]
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ViewChanges:
    """A page of a view's changes; ``next`` is the cursor of the next page, if there is one."""

    changes: tuple[ClientViewChange, ...]
    total: int
    next: str | None
