"""The least likely relation for each statement, by joins: ``views.methods.replacement``.

Most relations have no edge at either end of a statement, and their score follows from their number
of edges alone. So they are ranked once. A statement looks at the relations of its ends, and at so many
of the others, from the least likely, that what it takes is among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graph_service.cluster.choosing import Scratch
from graph_service.cluster.graph import ClusterGraph
from graph_service.cluster.scoring import lift, lift_without_edge, posterior
from graph_service.model.identity import key64

_HEAD_AND_TAIL = ("head_key", "tail_key")


@dataclass(frozen=True, slots=True, eq=False)
class Relations:
    """The relations between entities, and how likely each end makes them.

    Attributes:
        ids: Of all that have a statement, in the order of their numbers on one machine.
        ranked: relation, number, held (its statements and 1 more), rank (of those that neither end
            has, from the least likely).
        lifts: For each end of a statement: its key, relation, ``{end}_lift``.
    """

    ids: list[str]
    ranked: Any
    lifts: dict[str, Any]

    @classmethod
    def of(cls, graph: ClusterGraph, scratch: Scratch, /) -> Relations:
        """Counts the statements of a graph."""
        from pyspark.sql import functions as F  # noqa: N812

        counts = graph.eligible.groupBy("relation").agg(F.count("*").alias("rows")).collect()
        held = {str(row["relation"]): int(row["rows"]) + 1 for row in counts}
        ids = sorted(held, key=key64)
        scores = [_score_without_edges(held[id_]) for id_ in ids]
        order = sorted(range(len(ids)), key=lambda index: (scores[index], index))
        ranks = {index: rank for rank, index in enumerate(order)}
        ranked = graph.session.createDataFrame(
            [(id_, index, held[id_], ranks[index]) for index, id_ in enumerate(ids)]
            or [("", 0, 1, 0)],
            "relation string, number long, held long, rank long",
        )
        edges = sum(held.values()) - len(held)
        total = float(edges + max(1, graph.linked.count()))
        lifts = {}
        for end in _HEAD_AND_TAIL:
            pairs = graph.eligible.groupBy(end, "relation").agg(F.count("*").alias("rows"))
            pairs = scratch.store(pairs)
            degrees = pairs.groupBy(end).agg(F.sum("rows").alias("degree"))
            value = lift(F.col("rows"), F.col("degree"), F.col("held"), total=total)
            lifts[end] = scratch.store(
                pairs.join(degrees, end)
                .join(F.broadcast(ranked), "relation")
                .select(end, "relation", value.alias(f"{end}_lift"))
            )
        return cls(ids, ranked, lifts)


def _score_without_edges(held: int) -> float:
    odds = (1.0 / held) * (1.0 / held)
    return odds / (1.0 + odds)


def with_new_relations(
    rows: Any, relations: Relations, graph: ClusterGraph, scratch: Scratch, /
) -> Any:
    """Returns rows with ``new_relation``, the least likely that the base does not say.

    Of several rows with the same ends the first in hash order takes the least likely, the second
    the next, and so on. A row for which no relation is left repeats a statement.

    Args:
        rows: key, order, head_key, relation, tail_key.
        relations: Two at least.
        graph: The base.
        scratch: Where intermediate results go.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    same_pair = Window.partitionBy(*_HEAD_AND_TAIL).orderBy("order")
    edges = scratch.store(
        rows.select(
            "key",
            *_HEAD_AND_TAIL,
            F.col("relation").alias("own"),
            (F.row_number().over(same_pair) - 1).alias("turn"),
        )
    )
    # What other relations the base has between the two ends, whatever its rank.
    stated = (
        edges.join(graph.edges, list(_HEAD_AND_TAIL))
        .join(F.broadcast(relations.ranked.select("relation")), "relation", "left_semi")
        .where("relation <> own")
        .select("key", "relation")
        .distinct()
    )
    stated = scratch.store(stated)
    near = edges.selectExpr("key", "own AS relation").unionByName(stated)
    for end in _HEAD_AND_TAIL:
        at_end = relations.lifts[end].select(end, "relation")
        near = near.unionByName(
            edges.select("key", end).join(at_end, end).select("key", "relation")
        )
    near = scratch.store(near.distinct())
    counts = near.groupBy("key").agg(F.count("*").alias("near"))
    last = F.least(F.lit(len(relations.ids) - 1), F.col("near") + F.col("turn"))
    far = (
        edges.join(counts, "key")
        .select(
            "key", F.explode(F.sequence(F.lit(0).cast("long"), last.cast("long"))).alias("rank")
        )
        .join(F.broadcast(relations.ranked), "rank")
        .select("key", "relation")
    )
    candidates = scratch.store(near.unionByName(far).distinct())
    return rows.join(_chosen(edges, candidates, stated, relations), "key")


def _chosen(edges: Any, candidates: Any, stated: Any, relations: Relations) -> Any:
    """Returns the relation of each edge's turn among its candidates: key, new_relation."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    taken = stated.groupBy("key").agg(F.count("*").alias("taken"))
    scored = (
        edges.join(taken, "key", "left")
        .join(candidates, "key")
        .where("relation <> own")
        .join(F.broadcast(relations.ranked), "relation")
        .join(stated.withColumn("is_stated", F.lit(1)), ["key", "relation"], "left")
    )
    none = lift_without_edge(F.col("held"))
    for end in _HEAD_AND_TAIL:
        scored = scored.join(relations.lifts[end], [end, "relation"], "left")
        scored = scored.withColumn(f"{end}_lift", F.coalesce(f"{end}_lift", none))
    score = posterior(F.col("head_key_lift") * F.col("tail_key_lift"))
    least_first = Window.partitionBy("key").orderBy(
        F.coalesce("is_stated", F.lit(0)), score, F.col("number")
    )
    free = F.lit(len(relations.ids) - 1) - F.coalesce("taken", F.lit(0))
    turn = F.when(free > 0, F.col("turn") % F.greatest(free, F.lit(1))).otherwise(F.lit(0))
    placed = scored.select(
        "key",
        F.col("relation").alias("new_relation"),
        (F.row_number().over(least_first) - 1).alias("place"),
        turn.alias("turn"),
    )
    return placed.where("place = turn").select("key", "new_relation")


def count_repeats(changed: Any, graph: ClusterGraph, /) -> int:
    """Returns how many changed statements repeat one of the base or one before.

    Args:
        changed: head_key, new_relation, tail_key.
        graph: The base.
    """
    from pyspark.sql import functions as F  # noqa: N812

    triple = [*_HEAD_AND_TAIL, "relation"]
    made = changed.select(*_HEAD_AND_TAIL, F.col("new_relation").alias("relation"))
    counts = made.groupBy(*triple).agg(F.count("*").alias("rows"))
    stated = graph.edges.select(*triple).distinct().withColumn("is_stated", F.lit(1))
    repeated = F.col("rows") - 1 + F.coalesce("is_stated", F.lit(0))
    total = counts.join(stated, triple, "left").agg(F.sum(repeated)).collect()[0][0]
    return int(total or 0)
