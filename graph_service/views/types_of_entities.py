"""Entities of the same type as another, by its classes or by where it stands.

An entity's type is the smallest class that it and another entity are instances of (P31 or
``rdf:type``). An entity without one is like those that stand at the same end of the same relation,
as in type-constrained corruption for link prediction (Krompass et al. 2015).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.graph import Int32, Int64, KnowledgeGraph
from graph_service.views.pairs import PairIndex
from graph_service.views.pools import Pools


@dataclass(frozen=True, slots=True, eq=False)
class TypesOfEntities:
    """Pools of entities of a type: a pool each class, each relation's tails, each one's heads.

    Attributes:
        pools: Their members.
        class_of: Pool of each entity's class, int64 [E]; -1 where it has none.
        class_count: How many of the pools are classes.
        relation_count: Of the base.
    """

    pools: Pools
    class_of: Int64
    class_count: int
    relation_count: int

    @classmethod
    def build(cls, graph: KnowledgeGraph, index: PairIndex, /) -> TypesOfEntities:
        """Returns the pools of a base graph."""
        entities = max(1, graph.entity_count)
        edges = np.flatnonzero(index.eligible)
        head, rel, tail = graph.head[edges], graph.rel[edges].astype(np.int64), graph.tail[edges]
        known = (graph.find_relation(id_) for id_ in sorted(INSTANCE_RELATIONS))
        says_class = np.isin(rel, [relation for relation in known if relation is not None])
        classes, of_class = np.unique(tail[says_class], return_inverse=True)
        members = head[says_class]
        count = len(classes)
        sizes = np.diff(Pools.of(of_class, members, count=count, most=entities).indptr)
        # The smallest class of each entity that has another member comes first.
        order = np.lexsort((of_class, sizes[of_class], members))
        order = order[sizes[of_class[order]] > 1]
        typed, first = np.unique(members[order], return_index=True)
        class_of = np.full(graph.entity_count, -1, dtype=np.int64)
        class_of[typed] = of_class[order[first]]
        pools = Pools.of(
            np.concatenate([of_class, count + rel, count + graph.relation_count + rel]),
            np.concatenate([members, tail, head]),
            count=count + 2 * graph.relation_count,
            most=entities,
        )
        return cls(pools, class_of, count, graph.relation_count)

    def of_tails(self, nodes: Int32, rel: Int32, /) -> Int64:
        """Returns the pool of some entities that are tails of some relations, int64."""
        classes = self.class_of[nodes]
        return np.where(classes >= 0, classes, self.class_count + rel)

    def of_heads(self, nodes: Int32, rel: Int32, /) -> Int64:
        """Returns the pool of some entities that are heads of some relations, int64."""
        classes = self.class_of[nodes]
        return np.where(classes >= 0, classes, self.class_count + self.relation_count + rel)


@dataclass(frozen=True, slots=True, eq=False)
class Signatures:
    """Which relations have heads, and which tails, of an entity's type.

    An entity without a class is a type of its own.

    Attributes:
        kind_of: Type of each entity, int64 [E].
        of_heads: Pools of relations by the type of a head.
        with_tails: ``type * R + relation`` of each tail, int64, ascending.
    """

    kind_of: Int64
    of_heads: Pools
    with_tails: Int64

    @classmethod
    def build(
        cls, graph: KnowledgeGraph, index: PairIndex, types: TypesOfEntities, /
    ) -> Signatures:
        """Returns the signatures of a base graph's relations."""
        count, most = types.class_count, max(1, graph.relation_count)
        edges = np.flatnonzero(index.eligible)
        own = count + np.arange(graph.entity_count, dtype=np.int64)
        members = types.pools.members[: types.pools.indptr[count]].astype(np.int64)
        classes = np.repeat(np.arange(count), types.pools.sizes(np.arange(count)))
        # All that each entity is an instance of, and itself.
        kinds = Pools.of(
            np.concatenate([members, own - count]),
            np.concatenate([classes, own]).astype(np.int32),
            count=graph.entity_count,
            most=count + graph.entity_count,
        )
        pairs = []
        for column in (graph.head[edges], graph.tail[edges]):
            packed = np.unique(column.astype(np.int64) * most + graph.rel[edges])
            nodes, rel = np.divmod(packed, most)
            sizes = kinds.sizes(nodes)
            rows = np.repeat(kinds.indptr[nodes] - np.cumsum(sizes) + sizes, sizes)
            of_end = kinds.members[rows + np.arange(len(rows))].astype(np.int64)
            pairs.append(np.unique(of_end * most + np.repeat(rel, sizes)))
        of_heads, relations = np.divmod(pairs[0], most)
        return cls(
            np.where(types.class_of >= 0, types.class_of, own),
            Pools.of(
                of_heads,
                relations.astype(np.int32),
                count=count + graph.entity_count,
                most=most,
            ),
            pairs[1],
        )
