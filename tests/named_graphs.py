"""Graphs of entities with names, for tests of the linker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from graph_service.link import Mention
from graph_service.model.graph import (
    KnowledgeGraph,
    LabelColumn,
    NameIndex,
    NodeKind,
    StringTable,
    Topology,
)
from graph_service.model.identity import Fingerprints, key64
from graph_service.model.topology import edge_order
from graph_service.model.values import Value, encode_value
from graph_service.text.fold import normalise_name

Names = Mapping[str, Sequence[str]]
"""Entity id to its label and aliases; ``de:Name`` is a label in another language."""


def build_graph(names: Names, facts: Sequence[tuple[str, str, Value | str]] = ()) -> KnowledgeGraph:
    """Returns a graph of entities with names, and facts whose value is an id or a literal."""
    entities = sorted(names, key=key64)
    number = {id_: i for i, id_ in enumerate(entities)}
    relations = sorted({relation for _, relation, _ in facts}, key=key64)
    labels: dict[str, list[tuple[int, str]]] = {}
    index: list[tuple[int, int, bool]] = []
    longest = 1
    for id_, forms in names.items():
        for place, form in enumerate(forms):
            language, _, rest = form.partition(":")
            text = rest if rest and len(language) == 2 and language.islower() else form
            language = language if text is not form else "en"
            is_label = place == 0 or text is not form
            if is_label:
                labels.setdefault(language, []).append((number[id_], text))
            index.append((key64(normalise_name(text)), number[id_], not is_label))
            longest = max(longest, len(normalise_name(text).split()))
    index.sort()
    rows = sorted((key64(f"{h}{r}{v}"), h, r, v) for h, r, v in facts)
    literals = [row[3] for row in rows if not isinstance(row[3], str)]
    kinds = [NodeKind.PROPERTY if id_.startswith("P") else NodeKind.ENTITY for id_ in entities]
    tails, literal = [], 0
    for _, _, _, value in rows:
        if isinstance(value, str):
            tails.append(number[value])
        else:
            tails.append(len(entities) + literal)
            literal += 1
    heads = np.array([number[h] for _, h, _, _ in rows], dtype=np.int32)
    tail = np.array(tails, dtype=np.int32)
    keys = np.array([row[0] for row in rows], dtype=np.int64)
    order = edge_order(heads, keys)
    return KnowledgeGraph(
        name="test",
        edition="test@1",
        fingerprints=Fingerprints("0", "0"),
        entity_count=len(entities),
        node_keys=np.array([key64(id_) for id_ in entities], dtype=np.int64),
        node_ids=StringTable.build([*entities, *(encode_value(value) for value in literals)]),
        node_kinds=np.array([*kinds, *[NodeKind.LITERAL] * len(literals)], dtype=np.uint8),
        relation_keys=np.array([key64(r) for r in relations], dtype=np.int64),
        relation_ids=StringTable.build(relations),
        topology=Topology.build(
            heads[order],
            np.array([relations.index(r) for _, _, r, _ in rows], dtype=np.int32)[order],
            tail[order],
            keys[order],
            entity_count=len(entities),
            node_count=len(entities) + len(literals),
            relation_count=len(relations),
        ),
        statement_keys=keys[order],
        statement_ids=StringTable.build([str(key) for key in keys[order].tolist()]),
        rank=np.ones(len(rows), dtype=np.uint8),
        best=np.ones(len(rows), dtype=np.bool_),
        node_labels={
            language: LabelColumn(
                np.array([node for node, _ in sorted(column)], dtype=np.int32),
                StringTable.build([text for _, text in sorted(column)]),
            )
            for language, column in labels.items()
        },
        relation_labels={
            "en": LabelColumn(
                np.arange(len(relations), dtype=np.int32), StringTable.build(relations)
            )
        },
        names=NameIndex(
            name_keys=np.array([key for key, _, _ in index], dtype=np.int64),
            nodes=np.array([node for _, node, _ in index], dtype=np.int32),
            is_alias=np.array([alias for _, _, alias in index], dtype=np.bool_),
            longest=longest,
        ),
    )


def ids(graph: KnowledgeGraph, mentions: Sequence[Mention]) -> list[str]:
    """Returns the best candidate of each mention."""
    return [graph.node_ids[mention.candidates[0].node] for mention in mentions]
