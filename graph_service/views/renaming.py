"""A base graph with the names that a view gives its entities: all else is the base's own arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from graph_service.model.graph import (
    Int32,
    Int64,
    KnowledgeGraph,
    LabelColumn,
    NameIndex,
    StringTable,
)
from graph_service.model.graph_arrays import join_texts, reorder_texts
from graph_service.model.identity import digest, key64
from graph_service.model.statement import Entity
from graph_service.model.view_delta import NameDelta
from graph_service.text.fold import normalise_name

EntityReader = Callable[[Sequence[str]], Mapping[str, Entity]]
"""Gives entities with all their names by id; unknown ones are absent."""


def rename(graph: KnowledgeGraph, names: NameDelta, /) -> KnowledgeGraph:
    """Returns a base graph whose entities have other names.

    Labels and the index of names are made anew where names differ. The numbers, the statements
    and their ids are the base's. The fingerprint of the content follows the names.

    Args:
        graph: The base.
        names: What some of its entities are called.
    """
    of_label = np.flatnonzero(~names.is_alias)
    labels = {}
    for language in sorted({*graph.node_labels, *names.languages}):
        language_index = names.languages.index(language) if language in names.languages else -1
        rows = of_label[names.language[of_label] == language_index]
        column = _column(graph.node_labels.get(language), names, rows)
        if len(column.index):
            labels[language] = column
    return replace(
        graph,
        fingerprints=replace(graph.fingerprints, content=_content(graph, names)),
        node_labels=labels,
        names=_index(graph.names, names),
    )


def _column(column: LabelColumn | None, names: NameDelta, rows: Int64) -> LabelColumn:
    """Returns the labels in one language: those that stay, and those in some rows of the names."""
    if column is None:
        column = LabelColumn(np.zeros(0, dtype=np.int32), StringTable.build([]))
    stay = np.flatnonzero(~np.isin(column.index, names.nodes))
    if not len(rows) and len(stay) == len(column.index):
        return column
    index = np.concatenate([column.index[stay], names.nodes[names.owner[rows]]])
    indices = np.concatenate([stay, len(column.texts) + rows])
    order = np.argsort(index, kind="stable")
    both = join_texts([column.texts, names.texts])
    return LabelColumn(index[order], reorder_texts(both, indices[order]))


def _index(index: NameIndex, names: NameDelta) -> NameIndex:
    """Returns the index of all names, each name and node once, a label before an alias."""
    stay = ~np.isin(index.nodes, names.nodes)
    normal = [normalise_name(names.texts[row]) for row in range(len(names.texts))]
    rows = np.array([row for row, name in enumerate(normal) if name], dtype=np.int64)
    new = np.array([key64(normal[row]) for row in rows.tolist()], dtype=np.int64)
    keys = np.concatenate([index.name_keys[stay], new])
    nodes: Int32 = np.concatenate([index.nodes[stay], names.nodes[names.owner[rows]]])
    is_alias = np.concatenate([index.is_alias[stay], names.is_alias[rows]])
    longest = max((name.count(" ") + 1 for name in normal if name), default=0)
    return NameIndex.of(keys, nodes, is_alias, longest=max(index.longest, longest))


def _content(graph: KnowledgeGraph, names: NameDelta) -> str:
    """Returns a fingerprint of the base's content and of what some entities are called instead."""
    columns = (
        graph.node_keys[names.nodes],
        names.owner,
        names.language,
        names.is_alias,
        names.texts.offsets,
        names.texts.data,
    )
    encoded = [np.ascontiguousarray(column).tobytes().hex() for column in columns]
    parts = (graph.fingerprints.content, *names.languages, *encoded)
    return digest(parts, size=24, person=b"names").hex()
