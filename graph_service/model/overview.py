"""What a graph is about: how often each relation is used, and how many items each class has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from graph_service.model.equal_entities import EqualEntities
from graph_service.model.identity import key64

_PAIRS_AT_ONCE = 2**20


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
        count: Items that a statement of any rank says are instances of it; those that are one
            thing count once.
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


def class_sizes(pairs: Iterable[tuple[int, int]], equal: EqualEntities, /) -> dict[int, int]:
    """Returns how many things each class has, by its key: of equal classes the smallest.

    Args:
        pairs: Keys of a class and of an instance of it; pairs may repeat.
        equal: Entities that are one thing, as 64-bit keys.
    """
    left = iter(pairs)
    known = np.zeros((0, 2), dtype=np.int64)
    while chunk := list(islice(left, _PAIRS_AT_ONCE)):
        keys = np.fromiter(chain.from_iterable(chunk), np.int64, 2 * len(chunk))
        things = equal.things(keys).reshape(-1, 2)
        known = np.unique(np.concatenate((known, things)), axis=0)
    classes, sizes = np.unique(known[:, 0], return_counts=True)
    return dict(zip(classes.tolist(), sizes.tolist(), strict=True))
