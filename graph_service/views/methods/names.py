"""Names: labels and aliases with slips, of another entity, or gone (B3).

Statements and their ids stay; linking, search and all texts follow. A question that names an
entity as the base does then finds it by nothing else, or finds another one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graph_service.model.entity_names import EntityName, entity_names
from graph_service.model.graph import Bool, Int32, Int64, KnowledgeGraph, NodeKind, require_node
from graph_service.model.identity import key64
from graph_service.model.statement import Entity
from graph_service.model.view_delta import NameDelta, empty_delta, with_names
from graph_service.model.view_spec import Naming
from graph_service.views.draw import smallest
from graph_service.views.drawing import Draw, MethodResult
from graph_service.views.notes import shortfall
from graph_service.views.scope import scope_edges
from graph_service.views.slips import slip

Names = Sequence[EntityName]


def draw_names(draw: Draw, /) -> MethodResult:
    """Returns the view in which some entities have other names.

    The level is a share of the entities in scope that have a name: those at an end of a statement
    in scope, of whatever rank, that are no properties; around an entity by no steps, itself. Those that are drawn come first in hash
    order. What each is called does not hang on the level, so levels nest.
    """
    naming = draw.spec.naming
    units = _named(draw)
    if not len(units):
        draw.notes.append("no entity with a name is in scope")
    target = draw.target(len(units))
    if naming in (Naming.SWAPPED, Naming.NAMESAKES):
        nodes, partners = _exchanged(draw, units, target)
        was = draw.prepared.names_of(nodes, deadline=draw.deadline)
        now: Sequence[Names] = [was[index] for index in np.searchsorted(nodes, partners).tolist()]
    else:
        hashes = draw.stream.hashes(draw.graph.node_keys, at=units, purpose="order")
        nodes = units[smallest(hashes, target)]
        was = draw.prepared.names_of(nodes, deadline=draw.deadline)
        ids = draw.graph.node_ids.take(nodes)
        now = (
            [entity_names(Entity(id_)) for id_ in ids]
            if naming is Naming.GONE
            else _slipped(draw, ids, was)
        )
    other = [_texts(before) != _texts(after) for before, after in zip(was, now, strict=True)]
    if not all(other):
        draw.notes.append(f"{other.count(False)} of the entities drawn keep their names")
    changed = nodes[np.array(other, dtype=np.bool_)]
    new_names = [names for names, is_other in zip(now, other, strict=True) if is_other]
    return MethodResult(
        with_names(empty_delta(draw.graph), NameDelta.of(changed, new_names)), len(units)
    )


def _texts(names: Names) -> set[tuple[str, bool]]:
    return {(name.text, name.is_alias) for name in names}


def _named(draw: Draw) -> Int32:
    """Returns the entities in scope that have a name to lose, int32, ascending."""
    graph = draw.graph
    edges, notes = scope_edges(
        graph,
        draw.spec.scope,
        of_any_kind=True,
        deadline=draw.deadline,
    )
    draw.notes.extend(notes)
    nodes = np.unique(np.concatenate([graph.head[edges], graph.tail[edges]]))
    if draw.spec.scope.around_entity_ids and not draw.spec.scope.hops:
        around = draw.spec.scope.around_entity_ids
        nodes = np.unique(np.array([require_node(graph, id_) for id_ in around], dtype=np.int32))
        nodes = nodes[graph.degrees_of(nodes) > 0]
    nodes = nodes[graph.node_kinds[nodes] == NodeKind.ENTITY]
    named: Int32 = nodes[_has_name(graph, draw.spec.naming)[nodes]].astype(np.int32)
    return named


def _has_name(graph: KnowledgeGraph, naming: Naming) -> Bool:
    """Whether each entity has a name; one that its id gives can't be taken away, bool [E]."""
    has = np.zeros(graph.entity_count, dtype=np.bool_)
    index = graph.names
    has[index.nodes[index.is_alias] if naming is Naming.GONE else index.nodes] = True
    for column in graph.node_labels.values():
        has[column.index] = True
    return has


def _slipped(draw: Draw, ids: Sequence[str], was: Sequence[Names]) -> list[Names]:
    """Returns all names of some entities with a slip each; a name without letters stays."""
    each = [(id_, name) for id_, names in zip(ids, was, strict=True) for name in names]
    keys = [key64(f"{id_}\x00{name.language}\x00{name.text}") for id_, name in each]
    hashes = draw.stream.hashes(np.array(keys, dtype=np.int64), purpose="slip").tolist()
    slipped = iter(
        name._replace(text=slip(name.text, choice) or name.text)
        for (_, name), choice in zip(each, hashes, strict=True)
    )
    return [[next(slipped) for _ in names] for names in was]


def _exchanged(draw: Draw, units: Int32, target: int) -> tuple[Int32, Int32]:
    """Returns the entities of the first pairs that exchange their names, and whose names each gets.

    Both int32, the entities ascending.
    """
    group, members = _groups(draw, units)
    one, other = _pairs(draw, group, members)
    if 2 * len(one) < target:
        kind = "type" if draw.spec.naming is Naming.SWAPPED else "name"
        draw.notes.append(
            shortfall("entities", target, f"with another one of their {kind}", 2 * len(one))
        )
    one, other = one[: target // 2], other[: target // 2]
    nodes, partners = np.concatenate([one, other]), np.concatenate([other, one])
    order = np.argsort(nodes)
    return nodes[order], partners[order]


def _groups(draw: Draw, units: Int32) -> tuple[Int64, Int32]:
    """Returns entities that may exchange their names: a group, and a member of it each.

    A type is one of ``types_of_entities``; an entity without a class is of the smallest group of
    those that stand at one end of one relation.
    """
    graph = draw.graph
    if draw.spec.naming is Naming.NAMESAKES:
        held = np.isin(graph.names.nodes, units)
        return graph.names.name_keys[held], graph.names.nodes[held]
    types = draw.prepared.types
    sizes = np.diff(types.pools.indptr)
    pool = np.repeat(np.arange(len(sizes)), sizes)
    members = types.pools.members
    of_class = types.class_of[members]
    able = np.isin(members, units) & np.where(
        of_class >= 0, pool == of_class, (pool >= types.class_count) & (sizes[pool] > 1)
    )
    pool, members = pool[able], members[able]
    order = np.lexsort((pool, sizes[pool], members))
    nodes, first = np.unique(members[order], return_index=True)
    return pool[order[first]], nodes


def _pairs(draw: Draw, group: Int64, members: Int32) -> tuple[Int32, Int32]:
    """Returns pairs of two members of a group, each entity once, in the order of their hashes."""
    hashes = draw.stream.hashes(draw.graph.node_keys, at=members, purpose="order")
    order = np.lexsort((group, hashes))
    waiting: dict[int, int] = {}
    taken: set[int] = set()
    pairs: list[tuple[int, int]] = []
    for of_group, node in zip(group[order].tolist(), members[order].tolist(), strict=True):
        if node in taken:
            continue
        other = waiting.pop(of_group, None)
        if other is None or other in taken:
            waiting[of_group] = node
            continue
        pairs.append((other, node))
        taken.update((other, node))
    draw.deadline.check("pairing entities")
    both = np.array(pairs, dtype=np.int32).reshape(-1, 2)
    return both[:, 0], both[:, 1]
