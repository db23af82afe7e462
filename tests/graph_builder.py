"""Builds a ``KnowledgeGraph`` from triples of plain strings, without a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from graph_service.model.graph import (
    RANK_CODES,
    KnowledgeGraph,
    LabelColumn,
    NameIndex,
    NodeKind,
    StringTable,
    Topology,
)
from graph_service.model.hashing import fingerprint, sum_hashes
from graph_service.model.identity import Fingerprints, content_statement_id, edge_hash, key64
from graph_service.model.statement import Rank
from graph_service.model.topology import edge_order
from graph_service.model.values import EntityValue, Value, encode_value
from graph_service.model.view_delta import ViewDelta
from graph_service.text.fold import normalise_name

Triple = tuple[str, str, str | Value]


def delta_by_key(graph: KnowledgeGraph, delta: ViewDelta) -> ViewDelta:
    """Returns a delta with its edges in order of their statements' keys."""
    order = np.argsort(graph.key_ranks(delta.replaced))
    removed = graph.in_key_order(delta.removed).astype(delta.removed.dtype)
    return replace(delta.with_replaced_in(order), removed=removed)


def node_of(graph: KnowledgeGraph, id_: str) -> int:
    """Returns the number of an entity that the graph has."""
    node = graph.find_node(id_)
    assert node is not None, id_
    return node


def build_graph(
    triples: Sequence[Triple],
    /,
    *,
    name: str = "test",
    labels: Mapping[str, str] | None = None,
    ranks: Mapping[int, Rank] | None = None,
    statement_ids: Sequence[str] | None = None,
    extra_entities: Sequence[str] = (),
) -> KnowledgeGraph:
    """Returns the graph of (head, relation, tail) triples.

    A tail that is a string is an entity; a ``Value`` is what it is. A triple given again is a
    statement of its own (its id has the count of earlier ones as context).

    Args:
        triples: In any order: the numbering does not depend on it.
        name: Of the graph.
        labels: English labels by entity or relation id; names for linking are made of them.
        ranks: Ranks by place in ``triples``; normal where not named.
        statement_ids: One a triple; made from the content where None.
        extra_entities: Entities without statements.
    """
    seen: dict[tuple[str, str, str], int] = {}
    rows = []
    for place, (head, relation, tail) in enumerate(triples):
        value = EntityValue(tail) if isinstance(tail, str) else tail
        encoded = encode_value(value)
        again = seen.get((head, relation, encoded), 0)
        seen[head, relation, encoded] = again + 1
        id_ = (
            content_statement_id(head, relation, encoded, context=str(again) if again else None)
            if statement_ids is None
            else statement_ids[place]
        )
        rank = (ranks or {}).get(place, Rank.NORMAL)
        rows.append((key64(id_), id_, head, relation, value, encoded, rank))
    rows.sort(key=lambda row: row[0])
    entities = {*extra_entities}
    for _, _, head, _, value, _, _ in rows:
        entities.add(head)
        if isinstance(value, EntityValue):
            entities.add(value.id)
    ordered = sorted(entities, key=key64)
    number = {id_: place for place, id_ in enumerate(ordered)}
    relations = sorted({row[3] for row in rows}, key=key64)
    relation_number = {id_: place for place, id_ in enumerate(relations)}
    literals = [row[5] for row in rows if not isinstance(row[4], EntityValue)]
    literal_kinds = [
        {"some": NodeKind.SOMEVALUE, "none": NodeKind.NOVALUE}.get(
            text.split('"')[1], NodeKind.LITERAL
        )
        for text in literals
    ]
    tails, next_literal = [], len(ordered)
    for row in rows:
        if isinstance(row[4], EntityValue):
            tails.append(number[row[4].id])
        else:
            tails.append(next_literal)
            next_literal += 1
    heads = np.array([number[row[2]] for row in rows], dtype=np.int32)
    rel = np.array([relation_number[row[3]] for row in rows], dtype=np.int32)
    ends = np.array(tails, dtype=np.int32)
    codes = np.array([RANK_CODES[row[6]] for row in rows], dtype=np.uint8)
    best_of: dict[tuple[int, int], int] = {}
    for h, r, code in zip(heads.tolist(), rel.tolist(), codes.tolist(), strict=True):
        best_of[h, r] = min(code, best_of.get((h, r), code))
    best = np.array(
        [
            code != RANK_CODES[Rank.DEPRECATED] and code == best_of[h, r]
            for h, r, code in zip(heads.tolist(), rel.tolist(), codes.tolist(), strict=True)
        ],
        dtype=np.bool_,
    )
    node_count = len(ordered) + len(literals)
    hashes = b"".join(edge_hash(row[1], row[2], row[3], row[5], row[6].value) for row in rows)
    edges = fingerprint(sum_hashes(hashes), len(rows))
    labels = labels or {}
    keys = np.array([row[0] for row in rows], dtype=np.int64)
    order = edge_order(heads, keys)
    return KnowledgeGraph(
        name=name,
        edition=f"{name}@1",
        fingerprints=Fingerprints(edges, edges),
        entity_count=len(ordered),
        node_keys=np.array([key64(id_) for id_ in ordered], dtype=np.int64),
        node_ids=StringTable.build([*ordered, *literals]),
        node_kinds=np.array([NodeKind.ENTITY] * len(ordered) + literal_kinds, dtype=np.uint8),
        relation_keys=np.array([key64(id_) for id_ in relations], dtype=np.int64),
        relation_ids=StringTable.build(relations),
        topology=Topology.build(
            heads[order],
            rel[order],
            ends[order],
            keys[order],
            entity_count=len(ordered),
            node_count=node_count,
            relation_count=len(relations),
        ),
        statement_keys=keys[order],
        statement_ids=StringTable.build([rows[place][1] for place in order.tolist()]),
        rank=codes[order],
        best=best[order],
        node_labels=_columns(ordered, labels),
        relation_labels=_columns(relations, labels),
        names=_names(ordered, labels),
    )


def _columns(ids: Sequence[str], labels: Mapping[str, str]) -> dict[str, LabelColumn]:
    index = [place for place, id_ in enumerate(ids) if id_ in labels]
    if not index:
        return {}
    texts = StringTable.build([labels[ids[place]] for place in index])
    return {"en": LabelColumn(np.array(index, dtype=np.int32), texts)}


def _names(ids: Sequence[str], labels: Mapping[str, str]) -> NameIndex:
    rows = sorted(
        (key64(normalise_name(labels[id_])), place)
        for place, id_ in enumerate(ids)
        if id_ in labels
    )
    longest = max(
        (len(normalise_name(labels[id_]).split()) for id_ in ids if id_ in labels), default=0
    )
    return NameIndex(
        np.array([key for key, _ in rows], dtype=np.int64),
        np.array([place for _, place in rows], dtype=np.int32),
        np.zeros(len(rows), dtype=np.bool_),
        longest,
    )
