"""Vectors of the texts that a graph's entities have, for training a scorer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graph_service.artifacts.scorers import EntityTexts
from graph_service.embed import Vectors
from graph_service.model.graph import KnowledgeGraph, labels_of
from graph_service.text.fold import name_of_id

MAX_TEXTS = 100_000
"""Entities whose texts are embedded; of more, those with most edges."""

_A_STEP = 4_096


def entity_texts(
    graph: KnowledgeGraph,
    vectors: Vectors,
    /,
    *,
    progress: Callable[[float], None] | None = None,
) -> EntityTexts | None:
    """Returns the vectors of entities' labels, or of the names in their ids; None without any.

    What all the texts have in common, the mean of their vectors, is taken away.
    """
    nodes = np.arange(graph.entity_count, dtype=np.int32)
    labels = labels_of(graph.node_labels, nodes, ("en",))
    names = [
        label or name_of_id(id_)
        for label, id_ in zip(labels, graph.node_ids.take(nodes), strict=True)
    ]
    degrees = graph.degrees()
    named = [node for node, name in enumerate(names) if name]
    # By length a step's texts share a pass of the embedder; the vectors stay the same.
    chosen = sorted(named, key=lambda node: (-int(degrees[node]), node))[:MAX_TEXTS]
    chosen.sort(key=lambda node: (len(names[node] or ""), node))
    if not chosen:
        return None
    texts = np.zeros((graph.entity_count, vectors.embedder.dimension), dtype=np.float16)
    total = np.zeros(vectors.embedder.dimension)
    for start in range(0, len(chosen), _A_STEP):
        part = chosen[start : start + _A_STEP]
        rows = vectors.encode([names[node] or "" for node in part])
        total += rows.sum(axis=0, dtype=np.float64)
        texts[part] = rows
        if progress is not None:
            progress(min(1.0, (start + len(part)) / len(chosen)))
    texts[chosen] -= (total / len(chosen)).astype(np.float16)
    return EntityTexts(texts, len(chosen), vectors.embedder.name)
