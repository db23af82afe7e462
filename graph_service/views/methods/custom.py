"""Withheld knowledge (K6) and a person's own changes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from graph_service.errors import InputError
from graph_service.model.graph import Int32, KnowledgeGraph, Numbers
from graph_service.model.identity import normalise_entity_id
from graph_service.model.limits import Deadline
from graph_service.model.values import EntityValue, Value, encode_value
from graph_service.model.view_delta import ViewDelta
from graph_service.model.view_spec import Change
from graph_service.views.drawing import Draw, MethodResult, without
from graph_service.views.scope import edges_of


def draw_withholding(draw: Draw, /) -> MethodResult:
    """Returns the view without the first of the statements that its specification names."""
    spec = draw.spec
    delta, named = withhold(
        draw.graph, spec.statement_ids, count=spec.count, deadline=draw.deadline
    )
    return MethodResult(delta, named)


def draw_custom(draw: Draw, /) -> MethodResult:
    """Returns the view with a person's own changes."""
    graph = draw.graph
    delta = apply_changes(graph, draw.spec.changes, deadline=draw.deadline)
    return MethodResult(delta, graph.edge_count, is_share=False)


def withhold(
    graph: KnowledgeGraph,
    statement_ids: tuple[str, ...],
    /,
    *,
    count: int | None,
    deadline: Deadline | None = None,
) -> tuple[ViewDelta, int]:
    """Returns the delta without the first ``count`` of some statements, of any kind of value.

    Counts nest: what 1 withholds, 2 withholds too. An id given twice takes up two places.

    Returns:
        The delta, and how many distinct statements were named in all.

    Raises:
        InputError: A statement that the graph does not have.
    """
    edges = edges_of(graph, statement_ids, argument="statement_ids", deadline=deadline)
    removed = np.unique(_edges(graph, edges[:count]))
    return without(graph, removed), len(set(edges))


@dataclass(slots=True)
class _Draft:
    """A person's changes while their nodes and relations get numbers."""

    graph: KnowledgeGraph
    removed: list[int] = field(default_factory=list)
    replaced: dict[int, tuple[int, int]] = field(default_factory=dict)
    added: list[tuple[int, int, int]] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    by_id: dict[str, int] = field(default_factory=dict)
    relation_by_id: dict[str, int] = field(default_factory=dict)
    touched: dict[int, int] = field(default_factory=dict)
    added_by: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def entity(self, id_: str) -> int:
        known = self.graph.find_node(id_)
        if known is not None:
            return known
        if id_ not in self.by_id:
            self.by_id[id_] = self._new_node(encode_value(EntityValue(id_)))
        return self.by_id[id_]

    def value(self, value: Value) -> int:
        if isinstance(value, EntityValue):
            return self.entity(value.id)
        # A literal belongs to its statement, so equal ones are nodes apart.
        return self._new_node(encode_value(value))

    def relation(self, id_: str) -> int:
        known = self.graph.find_relation(id_)
        if known is not None:
            return known
        if id_ not in self.relation_by_id:
            self.relation_by_id[id_] = self.graph.relation_count + len(self.relations)
            self.relations.append(id_)
        return self.relation_by_id[id_]

    def _new_node(self, encoded: str) -> int:
        self.nodes.append(encoded)
        return self.graph.node_count + len(self.nodes) - 1


def apply_changes(
    graph: KnowledgeGraph, changes: tuple[Change, ...], /, *, deadline: Deadline | None = None
) -> ViewDelta:
    """Returns the delta of a person's own changes; new entities and relations are allowed.

    Raises:
        InputError: A change that names no known statement, contradicts itself or another, or
            changes nothing; says which one, counted from 1.
    """
    deadline = deadline or Deadline.none()
    draft = _Draft(graph)
    for index, change in enumerate(changes, start=1):
        deadline.check("laying the changes")
        try:
            if change.statement_id is None:
                _add(draft, change, index)
            else:
                _change(draft, change, change.statement_id, index)
        except InputError as error:
            raise InputError(
                f"change {index}: {error.message}", argument="changes", hint=error.hint
            ) from error
    replaced = sorted(draft.replaced)
    return ViewDelta(
        removed=_edges(graph, sorted(draft.removed)),
        replaced=_edges(graph, replaced),
        replaced_rel=_int32([draft.replaced[edge][0] for edge in replaced]),
        replaced_tail=_int32([draft.replaced[edge][1] for edge in replaced]),
        added_head=_int32([head for head, _, _ in draft.added]),
        added_rel=_int32([rel for _, rel, _ in draft.added]),
        added_tail=_int32([tail for _, _, tail in draft.added]),
        new_nodes=tuple(draft.nodes),
        new_relations=tuple(draft.relations),
    )


def _change(draft: _Draft, change: Change, statement_id: str, number: int) -> None:
    graph = draft.graph
    edge = graph.find_edge(statement_id)
    if edge is None:
        raise InputError(f"graph {graph.name!r} has no statement {statement_id!r}")
    if edge in draft.touched:
        raise InputError(
            f"statement {statement_id!r} is already changed by change {draft.touched[edge]}"
        )
    draft.touched[edge] = number
    head_id = graph.node_ids[int(graph.head[edge])]
    if change.head is not None and normalise_entity_id(change.head) != head_id:
        raise InputError(
            f"a statement keeps its head ({head_id!r}), got {change.head!r}",
            hint="Remove the statement and add another one.",
        )
    if change.remove:
        if change.relation is not None or change.value is not None:
            raise InputError("a removed statement takes no relation or value")
        draft.removed.append(edge)
        return
    if change.relation is None and change.value is None:
        raise InputError("expected remove, a relation or a value, got none of them")
    rel, tail = int(graph.rel[edge]), int(graph.tail[edge])
    old_value = graph.node_ids[tail]
    same_value = change.value is None or (
        change.value == EntityValue(old_value)
        if tail < graph.entity_count
        else encode_value(change.value) == old_value
    )
    new_rel = (
        rel if change.relation is None else draft.relation(normalise_entity_id(change.relation))
    )
    if same_value and new_rel == rel:
        raise InputError(f"statement {statement_id!r} has that relation and value already")
    new_tail = tail
    if change.value is not None and not same_value:
        new_tail = draft.value(_normalised(change.value))
    draft.replaced[edge] = (new_rel, new_tail)


def _add(draft: _Draft, change: Change, number: int) -> None:
    if change.remove:
        raise InputError("remove needs a statement id")
    if change.head is None or change.relation is None or change.value is None:
        missing = [
            name
            for name, field in (
                ("head", change.head),
                ("relation", change.relation),
                ("value", change.value),
            )
            if field is None
        ]
        raise InputError(
            f"a statement that is added needs head, relation and value; {', '.join(missing)} "
            "is missing",
            hint="Give a statement id to change or remove one that is there.",
        )
    head = normalise_entity_id(change.head)
    relation = normalise_entity_id(change.relation)
    value = _normalised(change.value)
    content = (head, relation, encode_value(value))
    if content in draft.added_by:
        raise InputError(f"adds the same statement as change {draft.added_by[content]}")
    draft.added_by[content] = number
    draft.added.append((draft.entity(head), draft.relation(relation), draft.value(value)))


def _normalised(value: Value) -> Value:
    return EntityValue(normalise_entity_id(value.id)) if isinstance(value, EntityValue) else value


def _edges(graph: KnowledgeGraph, numbers: list[int]) -> Numbers:
    return np.array(numbers, dtype=graph.edge_type)


def _int32(numbers: list[int]) -> Int32:
    return np.array(numbers, dtype=np.int32)
