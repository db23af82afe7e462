"""The triples most like the question (row O5; OKGQA section 3.2)."""

from __future__ import annotations

import numpy as np

from graph_service.model.graph import Float64, Int64
from graph_service.model.region import Region
from graph_service.retrieve.similarity import SIMILARITY_DIGITS


def best_triplets(
    region: Region, /, *, node_similarity: Float64, edge_similarity: Float64, limit: int
) -> Int64:
    """Returns the local edges of the highest head + edge + tail similarity, best first, int64.

    The paper says total prize; its code, which this follows, adds up similarities. Ties go by
    the smallest key.

    Args:
        region: The region.
        node_similarity: Rounded cosines, float64 [n].
        edge_similarity: Rounded cosines, float64 [m].
        limit: How many at most (n).
    """
    total = triple_totals(region, nodes=node_similarity, edges=edge_similarity)
    order = np.lexsort((region.edge_keys, -np.round(total, SIMILARITY_DIGITS)))
    chosen: Int64 = order[:limit]
    return chosen


def triple_totals(region: Region, /, *, nodes: Float64, edges: Float64) -> Float64:
    """Returns what head, edge and tail have together, of each edge: float64 [m].

    Args:
        region: The region.
        nodes: A number of each node, float64 [n].
        edges: A number of each edge, float64 [m].
    """
    total: Float64 = nodes[region.head] + edges + nodes[region.tail]
    return total
