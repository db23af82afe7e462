"""What a noun names in a graph that has no class of it: the ends of a relation.

The *suppliers* are what parts are supplied by, *captains* the values of ``captain``, and *films* what
has a director. The labels of relations tell so first, then how people say common relations
(``text.relation_phrases``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from graph_service.model.classes import INSTANCE_RELATIONS, SUBCLASS_RELATIONS
from graph_service.model.graph import Int64, KnowledgeGraph
from graph_service.query.algebra import Relation
from graph_service.query.walking import Walker
from graph_service.retrieve.constraints.coverage import means, root, sides_of
from graph_service.retrieve.labels import Labels
from graph_service.text.fold import words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.nouns import singular

MOST_RELATIONS = 500
"""Relations of a graph at most in which nouns are looked for at the ends of all."""
_OF_ANYTHING = frozenset({"person", "people", "thing", "place", "one", "name", "type", "kind"})
"""Nouns that say too little of what has a relation."""
_DOERS = ("er", "or")
_STATEMENTS_PER_CLASS = 50
"""Statements beside each that gives something a class, at least, where few things have one."""


@dataclass(frozen=True, slots=True, eq=False)
class Role:
    """All ends of a relation, as nodes that ascend."""

    relation: Relation
    nodes: Int64


class RoleReader:
    """Reads which relations have what a noun names at their ends.

    Args:
        walker: Of the graph or view.
        labels: Of its relations.
    """

    def __init__(self, walker: Walker, labels: Labels, /) -> None:
        self._walker = walker
        graph = walker.graph
        self._relations: list[tuple[str, str]] = []
        if graph.relation_count <= MOST_RELATIONS and not _has_classes(graph):
            numbers = np.arange(graph.relation_count, dtype=np.int64)
            ids = labels.relation_ids(numbers)
            self._relations = [
                (id_, label)
                for id_, label in zip(ids, labels.relations(numbers), strict=True)
                if id_ not in INSTANCE_RELATIONS | SUBCLASS_RELATIONS
            ]

    def roles(self, noun: Sequence[str], /) -> list[Role]:
        """Returns what some words may name: one role where its ends are all that any have, else
        each; none in a graph whose things have classes.

        Args:
            noun: Folded words, as *home ports*.
        """
        own = (*noun[:-1], singular(noun[-1]))
        if _OF_ANYTHING.issuperset(own):
            return []
        fits = sorted(self._fits(own), key=lambda each: -each[0])
        for _, equal in groupby(fits, key=lambda each: each[0]):
            roles = [role for _, relation in equal if (role := self._role(relation)) is not None]
            if roles:
                largest = max(roles, key=lambda role: len(role.nodes))
                holds_all = all(np.isin(role.nodes, largest.nodes).all() for role in roles)
                return [largest] if holds_all else roles
        return []

    def _fits(self, noun: Sequence[str]) -> Iterator[tuple[int, Relation]]:
        """Yields the relations that have a noun at an end, with how surely: by the whole label, by
        its noun or verb, by how people say what has it, or what it leads to.
        """
        for id_, label in self._relations:
            label_words = [
                singular(word) for word in words(label) if word not in {"has", "is", "the"}
            ]
            before_of = (
                label_words[: label_words.index("of")] if "of" in label_words else label_words
            )
            if label_words == [*noun]:
                yield 4, Relation(id_)
            elif label_words == [*noun, "of"]:
                yield 4, Relation(id_, backward=True)
            elif len(noun) > 1 or label_words[-1:] == ["of"]:
                continue
            elif before_of[-1:] == [*noun] or _does(noun[0], label_words):
                yield 3, Relation(id_)
            else:
                values, subjects = sides_of(label)
                if means(noun[0], subjects):
                    yield 2, Relation(id_, backward=True)
                elif means(noun[0], values):
                    yield 1, Relation(id_)

    def _role(self, relation: Relation) -> Role | None:
        """Returns the ends of a relation; None where these are literals, or have classes."""
        nodes = np.unique(self._walker.targets_of((relation,)).targets)
        is_entity = nodes < self._walker.graph.entity_count
        if not len(nodes) or not is_entity.all() or len(self._walker.classes_of(nodes)):
            return None
        return Role(relation, nodes)


def _has_classes(graph: KnowledgeGraph) -> bool:
    """Returns whether more than a few statements of a graph say of what class something is."""
    numbers = [graph.find_relation(id_) for id_ in sorted(INSTANCE_RELATIONS)]
    stating = np.isin(graph.rel, [each for each in numbers if each is not None])
    return int(stating.sum()) * _STATEMENTS_PER_CLASS > graph.edge_count


def _does(noun: str, label: Sequence[str]) -> bool:
    """Returns whether a noun is for who does what a label says in the passive.

    >>> _does("supplier", ["supplied", "by"]), _does("owner", ["made", "by"])
    (True, False)
    """
    verbs = [word for word in label[:-1] if word not in EMPTY_IN_ENGLISH]
    if label[-1:] != ["by"] or not noun.endswith(_DOERS):
        return False
    return any(root(verb) == root(noun) for verb in verbs)
