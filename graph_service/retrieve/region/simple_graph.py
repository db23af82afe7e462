"""A region as a simple directed graph, as OKGQA's code keeps one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graph_service.model.limits import Cut, CutReason
from graph_service.model.region import Region


def last_of_parallel(region: Region, /) -> Region:
    """Returns a region in which no two edges have the same head and tail.

    That code adds edges to networkx's ``DiGraph``, where the last one of a head and tail replaces
    those before it. Which came last there depended on the endpoint's answer; here it is the edge
    of the largest key. How many went is a cut.

    Args:
        region: The region; its edges ascend in the order of their keys.
    """
    order = np.lexsort((region.edge_keys, region.tail, region.head))
    head, tail = region.head[order], region.tail[order]
    last = np.ones(len(order), dtype=bool)
    last[:-1] = (head[1:] != head[:-1]) | (tail[1:] != tail[:-1])
    if last.all():
        return region
    remaining = np.sort(order[last])
    cut = Cut("statements", CutReason.PARALLEL, 1, len(remaining), region.edge_count)
    return replace(
        region,
        edges=region.edges[remaining],
        edge_keys=region.edge_keys[remaining],
        head=region.head[remaining],
        tail=region.tail[remaining],
        rel=region.rel[remaining],
        cuts=(*region.cuts, cut),
    )
