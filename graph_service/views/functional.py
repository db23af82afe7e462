"""Which relations have one value, so that another value contradicts it.

A second film beside the films that an actor was in contradicts none of them, and a second place of
birth does. A relation counts as functional if nearly all of its heads have one value of it.
"""

from __future__ import annotations

import numpy as np

from graph_service.model.graph import Bool, KnowledgeGraph
from graph_service.views.pairs import PairIndex

FUNCTIONAL_SHARE = 0.95
"""Share of a relation's heads that have one value, at least."""


def functional_relations(graph: KnowledgeGraph, index: PairIndex, /) -> Bool:
    """Returns for each relation whether it is functional, bool [relations].

    Only statements count whose value is an entity and that are not deprecated. Copies of one
    statement are one value.
    """
    edges = np.flatnonzero(index.eligible)
    relations = len(graph.relation_ids)
    owners = graph.head[edges].astype(np.int64) * relations + graph.rel[edges]
    tails = graph.tail[edges]
    order = np.lexsort((tails, owners))
    owners, tails = owners[order], tails[order]
    is_new = np.ones(len(owners), dtype=np.bool_)
    is_new[1:] = (owners[1:] != owners[:-1]) | (tails[1:] != tails[:-1])
    distinct, values = np.unique(owners[is_new], return_counts=True)
    rel = distinct % relations if relations else distinct
    heads = np.bincount(rel, minlength=relations)
    single = np.bincount(rel[values == 1], minlength=relations)
    functional: Bool = (heads > 0) & (single >= FUNCTIONAL_SHARE * heads)
    return functional
