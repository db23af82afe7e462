"""What it costs to make a view: by its method, and by the statements that it reads and changes.

The weights are processor time, measured on 1,156 and 287,681 statements and rounded up, so that
few views take longer. ``docs/reference/api.md`` has the table.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from graph_service.model.view_spec import Method, Replacement, Scope, ViewSpec
from graph_service.options import options_of
from graph_service.retrieve.preset import LEARNED

SECOND = 100 / 3
"""Cost of a second of making a view, at which a time limit of 30 s lets one cost 1,000."""
INLINE_VIEW = 0.2
NAMED = 0.0015
"""For each statement or change that a specification names."""
PAIRS = {Method.PATH_DELETION: 0.12, Method.INSERTION: 1.0}
"""For each pair of a question's entity and an answer, between which paths are looked for."""
REGION = LEARNED.max_edges
"""Statements around a question's entities at most, and around one entity in nearly every graph."""
REGION_HOPS = 2
_PER = 100_000


class Weight(NamedTuple):
    """What a method costs for each 100,000 statements.

    Attributes:
        graph: Of the graph, once for all views of an operation.
        scope: In scope.
        changed: That change.
    """

    graph: float
    scope: float
    changed: float


WEIGHTS: Mapping[Method, Weight] = {
    Method.RELATION_SWAPPING: Weight(2, 0, 2),
    Method.RELATION_REPLACEMENT: Weight(3, 4, 25),
    Method.EDGE_REWIRING: Weight(1, 0, 2),
    Method.EDGE_DELETION: Weight(0, 0, 0.2),
    Method.PATH_DELETION: Weight(1, 0, 0),
    Method.CONTRADICTION: Weight(2, 0, 100),
    Method.INSERTION: Weight(1, 0, 3),
    Method.TYPE_PRESERVING: Weight(2, 0, 600),
    Method.INVERSION: Weight(1, 0, 2),
    Method.RULE_DELETION: Weight(500, 0, 1),
    Method.STALE: Weight(0, 30, 2),
    Method.NAMES: Weight(2, 0, 7),
    Method.WITHHOLDING: Weight(0, 0, 0),
    Method.CUSTOM: Weight(0, 0, 0),
}
_PLAUSIBLE = Weight(5, 30, 5)
_NTH = Weight(3, 4, 100)
_RULES_OF_ONE = Weight(5, 0, 1)


def weight_of(spec: ViewSpec, /) -> Weight:
    """Returns what a specification's method costs, with its parameters."""
    if spec.method is Method.RELATION_REPLACEMENT:
        if spec.replacement is Replacement.PLAUSIBLE:
            return _PLAUSIBLE
        if spec.nth > 1:
            return _NTH
    if spec.method is Method.RULE_DELETION and spec.rule_atoms == 1:
        return _RULES_OF_ONE
    return WEIGHTS[spec.method]


@dataclass(slots=True)
class ViewCosts:
    """What the views of one operation cost to make: what several share, they cost once.

    Attributes:
        count_statements: Returns how many statements a graph has.
    """

    count_statements: Callable[[str | None], int]
    _parts: dict[Hashable, float] = field(default_factory=dict)

    def add(self, spec: ViewSpec, graph: str | None, question: Hashable = None, /) -> None:
        """Adds a view of a graph, in the scope of a question where its specification says so."""
        statements = self.count_statements(graph)
        of_question = question if spec.scope.of_question else None
        within = _in_scope(spec.scope, statements)
        # A pruned scope is a graph of its own.
        graph_part = within if spec.scope.pruned else statements
        weight = weight_of(spec)
        shared = (graph, weight, of_question if spec.scope.pruned else None)
        self._parts[shared] = weight.graph * graph_part / _PER
        self._parts[graph, spec, of_question] = (
            INLINE_VIEW
            + (weight.scope * within + weight.changed * _changed(spec, within)) / _PER
            + NAMED * (len(spec.statement_ids) + len(spec.changes) + len(spec.scope.statement_ids))
            + PAIRS.get(spec.method, 0.0) * len(spec.entity_ids) * len(spec.answer_ids)
        )

    @property
    def total(self) -> float:
        """What all of them cost."""
        return sum(self._parts.values())


def read_spec(fields: Mapping[str, Any], /) -> ViewSpec:
    """Returns the specification of GraphQL's input, as far as its cost goes; unchecked."""
    values = _values(fields, ViewSpec)
    values["changes"] = tuple(map(repr, values.get("changes", ())))
    if "scope" in values:
        values["scope"] = Scope(**_values(values["scope"], Scope))
    return ViewSpec(**values)


def _values(fields: Mapping[str, Any], kind: type) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for each in options_of(kind).values():
        value = fields.get(each.graphql)
        if value is not None:
            # A list that is too long is refused for that, and not for its cost.
            values[each.name] = tuple(value[: each.facts.most_values]) if each.is_list else value
    return values


def _in_scope(scope: Scope, statements: int) -> int:
    """Returns how many statements a scope has at most, as far as that is known without the graph."""
    most = statements
    if scope.statement_ids:
        most = min(most, len(scope.statement_ids))
    if scope.of_question or scope.pruned:
        most = min(most, REGION)
    if scope.around_entity_ids and scope.hops <= REGION_HOPS:
        most = min(most, REGION * len(scope.around_entity_ids))
    return most


def _changed(spec: ViewSpec, within: int) -> float:
    if spec.count is not None:
        return max(0, min(spec.count, within))
    return within * max(0.0, min(spec.level or 0.0, 1.0))
