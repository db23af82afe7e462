"""What PageRank keeps around some entities: the graph that OKGQA-P perturbs (O10)."""

from __future__ import annotations

import numpy as np

from graph_service.model.graph import KnowledgeGraph, Numbers
from graph_service.model.limits import Deadline
from graph_service.model.region import Region
from graph_service.retrieve.preset import OKGQA
from graph_service.retrieve.region.cut import extract_region
from graph_service.retrieve.region.pagerank import personalised_pagerank, prune


def prune_as_okgqa(region: Region, /, *, deadline: Deadline) -> Region:
    """Returns what of a region PageRank keeps, with the parameters of preset ``okgqa``."""
    ranking = personalised_pagerank(
        region.head,
        region.tail,
        node_count=region.node_count,
        start_entities=region.start_entities,
        walk="along",
        damping=OKGQA.damping,
        tolerance=OKGQA.tolerance,
        max_iterations=OKGQA.max_iterations,
        deadline=deadline,
    )
    return prune(region, ranking.mass, min_mass=OKGQA.min_mass)


def pruned_edges(
    graph: KnowledgeGraph, entities: list[int], /, *, hops: int, deadline: Deadline
) -> Numbers:
    """Returns the edges that PageRank keeps of what lies around some entities, ascending."""
    region = extract_region(
        graph,
        np.unique(np.array(entities, dtype=np.int32)),
        hops=hops,
        max_edges=OKGQA.max_edges,
        hub_degree=OKGQA.hub_degree,
        deadline=deadline,
    )
    pruned = prune_as_okgqa(region, deadline=deadline)
    return np.sort(pruned.edges.astype(graph.edge_type))
