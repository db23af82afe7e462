"""Entities of the same type as another, as DataFrames (``views.types_of_entities``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graph_service.cluster.choosing import Scratch
from graph_service.cluster.graph import ClusterGraph, numbered
from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.views.functional import FUNCTIONAL_SHARE

EVERYONE = "*"
"""The pool of all entities that have a statement."""
_CLASS, _TAILS, _HEADS = "c", "t", "h"


@dataclass(frozen=True, slots=True, eq=False)
class TypePools:
    """Pools of entities of a type.

    Attributes:
        members: pool, offset (from 0, by key), member.
        sizes: pool, size.
        class_of: member, of_class: the pool of each entity's class, where it has one.
    """

    members: Any
    sizes: Any
    class_of: Any


def everyone(graph: ClusterGraph, scratch: Scratch, /) -> tuple[Any, int]:
    """Returns the pool of all entities that have a statement, and its size."""
    from pyspark.sql import functions as F  # noqa: N812

    rows = numbered(scratch.store(graph.linked), "member", name="offset")
    members = scratch.store(rows.withColumn("pool", F.lit(EVERYONE)))
    return members, members.count()


def pools_of_types(graph: ClusterGraph, scratch: Scratch, /) -> TypePools:
    """Returns the pools of a graph: one a class, one for each relation's tails and its heads."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    eligible = graph.eligible
    instances = eligible.where(F.col("relation").isin(*sorted(INSTANCE_RELATIONS)))
    of_class = instances.select(
        F.col("tail_key").alias("class_key"), F.col("head_key").alias("member")
    ).distinct()
    classes = scratch.store(of_class)
    sizes = classes.groupBy("class_key").agg(F.count("*").alias("size"))
    # The smallest class with another member, of two the one with the smaller key.
    smallest = (
        classes.join(sizes.where("size > 1"), "class_key")
        .groupBy("member")
        .agg(F.min(F.struct("size", "class_key")).alias("least"))
    )
    class_of = smallest.select(
        "member",
        F.concat(F.lit(_CLASS), F.col("least.class_key").cast("string")).alias("of_class"),
    )
    pairs = (
        classes.select(
            F.concat(F.lit(_CLASS), F.col("class_key").cast("string")).alias("pool"), "member"
        )
        .unionByName(
            eligible.select(
                F.concat(F.lit(_TAILS), F.col("relation")).alias("pool"),
                F.col("tail_key").alias("member"),
            )
        )
        .unionByName(
            eligible.select(
                F.concat(F.lit(_HEADS), F.col("relation")).alias("pool"),
                F.col("head_key").alias("member"),
            )
        )
        .distinct()
    )
    position = F.row_number().over(Window.partitionBy("pool").orderBy("member"))
    members = scratch.store(
        pairs.withColumn("offset", (position - 1).cast("long")).select("pool", "offset", "member")
    )
    pool_sizes = members.groupBy("pool").agg(F.count("*").alias("size"))
    return TypePools(members, scratch.store(pool_sizes), scratch.store(class_of))


def with_pool(rows: Any, pools: TypePools, /, *, of_tails: Any) -> Any:
    """Returns rows with the pool of the entities that are like one end, and its size.

    Args:
        rows: head_key, relation, tail_key.
        pools: The pools.
        of_tails: Whether it is the tail's, a condition by columns; else the head's.
    """
    from pyspark.sql import functions as F  # noqa: N812

    rows = rows.withColumn(
        "member", F.when(of_tails, F.col("tail_key")).otherwise(F.col("head_key"))
    )
    rows = rows.join(pools.class_of, "member", "left")
    at_end = F.concat(F.when(of_tails, F.lit(_TAILS)).otherwise(F.lit(_HEADS)), F.col("relation"))
    rows = rows.withColumn("pool", F.coalesce(F.col("of_class"), at_end))
    return rows.drop("member", "of_class").join(pools.sizes, "pool")


def functional_relations(graph: ClusterGraph, /) -> frozenset[str]:
    """Returns the relations that have one value (``views.functional``)."""
    from pyspark.sql import functions as F  # noqa: N812

    values = graph.eligible.groupBy("relation", "head_key").agg(
        F.min("tail_key").alias("least"), F.max("tail_key").alias("most")
    )
    is_single = (F.col("least") == F.col("most")).cast("long")
    rows = values.groupBy("relation").agg(
        F.count("*").alias("heads"), F.sum(is_single).alias("single")
    )
    return frozenset(
        str(row["relation"])
        for row in rows.collect()
        if row["single"] >= FUNCTIONAL_SHARE * row["heads"]
    )
