"""The triples of the highest total prize (row O5; OKGQA section 3.2)."""

from __future__ import annotations

import numpy as np

from graph_service.model.graph import Float64, Int64
from graph_service.model.region import Region


def best_triplets(
    region: Region,
    /,
    *,
    node_prizes: Float64,
    edge_prizes: Float64,
    limit: int,
    similarity: Float64 | None = None,
) -> Int64:
    """Returns the local edges of the highest head + edge + tail prize, best first, int64.

    Args:
        region: The region.
        node_prizes: float64 [n].
        edge_prizes: float64 [m].
        limit: How many at most (n).
        similarity: Breaks ties of the total before the key does, float64 [m].
    """
    total = triple_totals(region, node_prizes=node_prizes, edge_prizes=edge_prizes)
    ties = np.zeros(region.edge_count) if similarity is None else similarity
    chosen: Int64 = np.lexsort((region.edges, region.edge_keys, -ties, -total))[:limit]
    return chosen


def triple_totals(region: Region, /, *, node_prizes: Float64, edge_prizes: Float64) -> Float64:
    """Returns head + edge + tail prize of each edge, float64 [m]."""
    total: Float64 = node_prizes[region.head] + edge_prizes + node_prizes[region.tail]
    return total
