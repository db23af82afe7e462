"""Relation swapping: an engine reads and writes the statements, and this process pairs them (O10).

A pair that repeats a triple is repaired along chains that may lead through any other pair. So the
pairing has all edges of the scope in one memory: of each its key, its relation and its partner, and
neither its ends nor its ids. It is the pairing of one machine, so the pairs are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from graph_service.cluster.choosing import Scratch
from graph_service.cluster.graph import ClusterGraph
from graph_service.model.graph import Int32, Int64, Numbers, Uint8
from graph_service.model.identity import key64
from graph_service.model.limits import Deadline
from graph_service.model.topology import edge_type
from graph_service.store.parquet import import_pyarrow
from graph_service.views.draw import Stream, ascending
from graph_service.views.methods.swapping import notes_of_pairs, notes_with_replacement
from graph_service.views.pairs import contains
from graph_service.views.swapping.method import pair_positions, swap_with_replacement
from graph_service.views.swapping.pairing import Crowd, Pairing, relation_type

_BLOCK = 1 << 20
_HEAD_AND_TAIL = ("head_key", "tail_key")


@dataclass(frozen=True, slots=True, eq=False)
class _KeyedCrowd:
    """Edges whose two nodes others join too.

    Attributes:
        crowd: They, of all ranks.
        keys: Of their statements, ascending.
        group: Of each of these.
    """

    crowd: Crowd
    keys: Int64
    group: Int64


@dataclass(frozen=True, eq=False)
class Swapping:
    """The relations of a graph's edges, for swapping.

    Attributes:
        graph: The base.
        rows: Its edges in scope: key, head_key, relation, tail_key and what else they have.
        stream: The draws.
        scratch: Where intermediate results go.
    """

    graph: ClusterGraph
    rows: Any
    stream: Stream
    scratch: Scratch

    def in_pairs(self, target: int, /) -> tuple[Any, list[str]]:
        """Returns the edges that get another relation, so many or fewer, and what is to be noted.

        They have ``new_relation``.
        """
        crowd = self._crowd()
        keys, rel, group = self._in_hash_order(crowd)
        work = Pairing(rel, group, crowd.crowd)
        sequence = pair_positions(work, Deadline.none(), count=target // 2)
        changed = np.concatenate([sequence.first, sequence.second])
        donors = np.concatenate([sequence.second, sequence.first])
        return self._with_relations(keys[changed], rel[donors]), notes_of_pairs(target, sequence)

    def with_replacement(self, target: int, /) -> tuple[Any, list[str]]:
        """Returns the same by edges that are drawn with replacement (sampling ``okgqa``)."""
        keys, rel = self._in_scope()
        rel = rel.astype(np.int32)
        relations = swap_with_replacement(
            rel, keys, target // 2, stream=self.stream, deadline=Deadline.none()
        )
        is_changed = relations != rel
        rows = self._with_relations(keys[is_changed], relations[is_changed])
        return rows, notes_with_replacement(target, int(np.count_nonzero(is_changed)))

    @cached_property
    def _relation_ids(self) -> list[str]:
        """The relations in the order of their numbers on one machine."""
        rows = self.graph.statements.select("relation").distinct().collect()
        return sorted((str(row["relation"]) for row in rows), key=key64)

    def _numbered(self, rows: Any) -> Any:
        """Returns rows with ``number``, that of their relation."""
        from pyspark.sql import functions as F  # noqa: N812

        numbers = self.graph.session.createDataFrame(
            [(id_, code) for code, id_ in enumerate(self._relation_ids)] or [("", 0)],
            "relation string, number int",
        )
        return rows.join(F.broadcast(numbers), "relation")

    def _in_scope(self) -> tuple[Int64, Uint8 | Int32]:
        """Returns key and relation of the edges in scope, in any order."""
        table = self.scratch.fetch(self._numbered(self.rows).select("key", "number"))
        kind = relation_type(len(self._relation_ids))
        return table["key"].to_numpy(), table["number"].to_numpy().astype(kind)

    def _in_hash_order(self, crowd: _KeyedCrowd) -> tuple[Int64, Uint8 | Int32, Numbers]:
        """Returns key, relation and group of the edges in scope, as ``Pairing`` has them."""
        keys, rel = self._in_scope()
        order = ascending(self.stream.hashes(keys, purpose="order"))
        keys, rel = keys[order], rel[order]
        group: Numbers = np.full(len(keys), crowd.crowd.groups, dtype=edge_type(len(keys)))
        for start in range(0, len(keys), _BLOCK):
            part = keys[start : start + _BLOCK]
            at = np.flatnonzero(contains(crowd.keys, part))
            group[start + at] = crowd.group[np.searchsorted(crowd.keys, part[at])]
        return keys, rel, group

    def _crowd(self) -> _KeyedCrowd:
        from pyspark.sql import functions as F  # noqa: N812

        unordered = [
            F.least(*_HEAD_AND_TAIL).alias("low"),
            F.greatest(*_HEAD_AND_TAIL).alias("high"),
        ]
        edges = self.graph.statements.where("tail_key IS NOT NULL")
        edges = edges.select("key", *_HEAD_AND_TAIL, "relation", *unordered)
        joined = edges.groupBy("low", "high").agg(F.count("*").alias("rows")).where("rows > 1")
        rows = edges.join(joined.select("low", "high"), ["low", "high"], "left_semi")
        table = self.scratch.fetch(self._numbered(rows).select("key", "number", *_HEAD_AND_TAIL))
        nodes = np.stack([table[name].to_numpy() for name in _HEAD_AND_TAIL], axis=1)
        distinct, group = np.unique(nodes, axis=0, return_inverse=True)
        group = group.reshape(-1)
        keys = table["key"].to_numpy()
        by_key = np.argsort(keys)
        crowd = Crowd(group, len(distinct), table["number"].to_numpy(), len(self._relation_ids))
        return _KeyedCrowd(crowd, keys[by_key], group[by_key])

    def _with_relations(self, keys: Int64, rel: Numbers) -> Any:
        """Returns the rows of some keys, with ``new_relation``."""
        arrow = import_pyarrow("a view")
        relation_ids = arrow.array(self._relation_ids, arrow.string())
        relations = arrow.DictionaryArray.from_arrays(rel.astype(np.int32), relation_ids)
        table = arrow.table({"key": keys, "new_relation": relations.cast(arrow.string())})
        return self.scratch.store(self.rows.join(self.scratch.add(table), "key"))
