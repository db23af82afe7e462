"""What a graph is about: how often each relation is used, and how many items each class has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from graph_service.model.identity import key64


@dataclass(frozen=True, slots=True)
class RelationUse:
    """A relation of a graph.

    Attributes:
        relation_id: The relation.
        count: Statements that have it, of every rank.
        example_id: The one of them whose key is the smallest.
    """

    relation_id: str
    count: int
    example_id: str


@dataclass(frozen=True, slots=True)
class ClassSize:
    """A class of a graph.

    Attributes:
        class_id: The class.
        count: Items that a statement of any rank says are instances of it.
    """

    class_id: str
    count: int


@dataclass(frozen=True, slots=True)
class Overview:
    """What a graph is about; those of more statements and items come first, ties by key."""

    relations: tuple[RelationUse, ...]
    classes: tuple[ClassSize, ...]

    @classmethod
    def of(cls, relations: Iterable[RelationUse], classes: Iterable[ClassSize], /) -> Overview:
        """Returns an overview of relations and classes in any order."""
        return cls(
            tuple(sorted(relations, key=lambda use: (-use.count, key64(use.relation_id)))),
            tuple(sorted(classes, key=lambda size: (-size.count, key64(size.class_id)))),
        )
