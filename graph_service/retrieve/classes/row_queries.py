"""Queries through rows with two references: which books Ann borrowed, by the loans of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from graph_service.model.graph import Int64
from graph_service.query.algebra import (
    Among,
    Condition,
    Entities,
    Filter,
    Fold,
    InstanceOf,
    Instances,
    Query,
    Relation,
    Step,
    conditions_of,
    filters_of,
)
from graph_service.query.walking import Walks
from graph_service.retrieve.classes.graph_reading import GraphReading
from graph_service.retrieve.classes.row_words import RowNames, name_rows, says_rows
from graph_service.retrieve.classes.rules import CLASS_RULES
from graph_service.retrieve.classes.vocabulary import OF_LOCATION
from graph_service.retrieve.constraints.coverage import root
from graph_service.text.fold import words

Bridge: TypeAlias = tuple[Relation, Relation]
"""The two relations by which instances lead to an entity through something between them."""


class RowQueries:
    """Reads which rows join instances to an entity, and what words say of them.

    Args:
        reading: Of the question.
    """

    def __init__(self, reading: GraphReading, /) -> None:
        self._question = reading.question
        self._cosines = reading.cosines
        self._walker = reading.walker
        self._labels = reading.labels
        self._relation_labels = reading.relation_labels
        self._are_rows = reading.are_rows
        self._names: dict[Bridge, list[RowNames]] = {}

    def bridges(self, nodes: Int64, node: int, /) -> tuple[Bridge, ...]:
        """Returns by which two relations instances lead to an entity that none joins to them: where
        they are by the city of their building, but by nothing else where they say that themselves;
        or by rows, which have codes for names.
        """
        if len(nodes) > CLASS_RULES.bridged:
            return ()
        own = self._walker.relations_at(nodes)
        say_where = any(self._is_of_location(each) for each in own if not each.backward)
        bridges: list[Bridge] = []
        for pair in self._walker.bridges_to(nodes, node, most=CLASS_RULES.bridged):
            first, second = pair
            if first.backward:
                back = Relation(second.id, backward=True)
                at = Walks.at(np.array([node], dtype=np.int64))
                between = np.unique(self._walker.follow(at, back).targets)
                if self._are_rows(between):
                    bridges.append(pair)
            elif self._is_of_location(second) and (self._is_of_location(first) or not say_where):
                bridges.append(pair)
        return tuple(bridges)

    def nested(self, nodes: Int64, node: int, joining: Sequence[Relation], /) -> tuple[Bridge, ...]:
        """Returns the relations, each twice, by which instances are in what is in an entity, where
        some are in that itself.

        Args:
            nodes: The instances.
            node: The entity.
            joining: By which some of them are joined to it.
        """
        where = {each for each in joining if not each.backward and self._is_of_location(each)}
        if not where or len(nodes) > CLASS_RULES.bridged:
            return ()
        pairs = self._walker.bridges_to(nodes, node, most=CLASS_RULES.bridged)
        return tuple(pair for pair in pairs if pair[0] == pair[1] and pair[0] in where)

    def _is_of_location(self, relation: Relation) -> bool:
        label = self._relation_labels.get(relation.id, "")
        return not OF_LOCATION.isdisjoint(map(root, words(label)))

    def by_rows(
        self, query: Query, pair: Bridge, unread: Sequence[str], nodes: Int64, /
    ) -> Query | None:
        """Returns the query by the rows of the one class that some words name; None for none.

        A count may be of the rows or of what they join: who borrowed one book twice borrowed two
        books, or one. There is none then.
        """
        if pair not in self._names:
            rows = np.unique(self._walker.follow(Walks.at(nodes), pair[0]).targets)
            rows = rows[: CLASS_RULES.bridged]
            self._names[pair] = name_rows(self._walker, self._labels, rows)
        names = self._names[pair]
        question = self._question
        able = [each for each in names if says_rows(unread, each, question, self._cosines)]
        ids, others = _without_bridge(query, pair)
        if len(able) != 1 or not ids:
            return query if len(able) == len(names) == 1 and query.fold is not Fold.COUNT else None
        of_class = Condition((), InstanceOf((able[0].class_id,)))
        to_rows = Step(Relation(pair[1].id, backward=True), (of_class,))
        back = Step(Relation(pair[0].id))
        if query.fold is Fold.COUNT:
            at = Walks.at(self._walker.nodes(ids))
            rows = np.unique(self._walker.follow(at, to_rows.relation).targets)
            targets = self._walker.follow(Walks.at(rows), back.relation).targets
            if len(np.unique(targets)) < len(targets):
                return None
        if len(names) == 1:
            return query
        assert isinstance(query.start, Instances)
        instances = Condition((), InstanceOf(query.start.class_ids))
        return replace(
            query, start=Entities(ids), path=(to_rows, back), filters=(instances, *others)
        )


def bridge_of(query: Query, /) -> Bridge | None:
    """Returns the two relations of a filter that leads through rows; None where none does."""
    for each in filters_of(query):
        for condition in conditions_of(each):
            if len(condition.path) == 2 and condition.path[0].backward:
                return condition.path[0], condition.path[1]
    return None


def _without_bridge(query: Query, pair: Bridge) -> tuple[tuple[str, ...], tuple[Filter, ...]]:
    """Returns the entities that a filter of a query leads to by two relations, and its other
    filters; no entities where it is not of instances, or where the filter must not hold.
    """
    ids: tuple[str, ...] = ()
    others: list[Filter] = []
    for each in query.filters:
        is_bridge = isinstance(each, Condition) and each.path == pair
        if is_bridge and isinstance(each, Condition) and isinstance(each.test, Among):
            ids = each.test.ids
        else:
            others.append(each)
    if query.path or not isinstance(query.start, Instances):
        return (), query.filters
    return ids, tuple(others)
