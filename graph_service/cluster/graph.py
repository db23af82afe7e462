"""A graph's Parquet files as DataFrames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from graph_service.cluster.paths import shared_path
from graph_service.errors import InputError
from graph_service.model.statement import Rank
from graph_service.store.parquet import ENTITIES, STATEMENTS, Manifest, read_manifest

_LOWER_BITS = 48


@dataclass(frozen=True)
class ClusterGraph:
    """A graph, opened with a session. Nothing is read before it is needed.

    Attributes:
        session: Of Spark Connect.
        manifest: What the graph's folder says of it.
        folder: The folder, which this process and the engine both see.
    """

    session: Any
    manifest: Manifest
    folder: Path

    @cached_property
    def statements(self) -> Any:
        """All statements, as the layout has them."""
        return self.session.read.parquet(str(self.folder / STATEMENTS))

    @cached_property
    def edges(self) -> Any:
        """The triples of the statements between entities: head_key, relation, tail_key."""
        rows = self.statements.where("tail_key IS NOT NULL")
        return rows.select("head_key", "relation", "tail_key")

    @cached_property
    def eligible(self) -> Any:
        """The statements that views change by default: between entities, and not deprecated."""
        rows = self.statements.where(f"tail_key IS NOT NULL AND rank <> '{Rank.DEPRECATED.value}'")
        return rows.select("key", "statement", "head_key", "head", "relation", "tail_key", "tail")

    @cached_property
    def linked(self) -> Any:
        """The keys of the entities that have a statement, column ``member``."""
        heads = self.statements.selectExpr("head_key AS member")
        tails = self.edges.selectExpr("tail_key AS member")
        return heads.unionByName(tails).distinct()

    @cached_property
    def ids(self) -> Any:
        """The id of each entity: member, id."""
        rows = self.session.read.parquet(str(self.folder / ENTITIES))
        return rows.selectExpr("key AS member", "entity AS id")


def open_graph(session: Any, folder: Path, /) -> ClusterGraph:
    """Returns the graph of a folder that ``export --format parquet`` wrote.

    Raises:
        InputError: As ``require_manifest``.
    """
    return ClusterGraph(session, require_manifest(folder), folder.absolute())


def require_manifest(folder: Path, /) -> Manifest:
    """Returns the manifest of a graph's folder.

    Raises:
        InputError: The folder is no such graph, its manifest is damaged, or an engine would read
            its path as a pattern.
    """
    manifest = read_manifest(shared_path(folder, argument="source"))
    if manifest is None:
        raise InputError(
            f"{folder} is no graph in Parquet: it has no graph.json",
            argument="source",
            hint="Write one: graph-service export graph.parquet --graph NAME",
        )
    return manifest


@dataclass(frozen=True, eq=False)
class Ascending:
    """Rows with distinct 64-bit numbers, counted by the upper bits of these.

    Nothing is sorted by the engine, and of a billion rows 16,000 numbers come here.

    Attributes:
        frame: The rows.
        column: The numbers.
        buckets: How many rows have which upper 16 bits, ascending.
    """

    frame: Any
    column: str
    buckets: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, frame: Any, column: str, /) -> Ascending:
        """Returns rows with their numbers counted."""
        from pyspark.sql import functions as F  # noqa: N812

        bucket = F.shiftright(F.col(column), _LOWER_BITS).alias("bucket")
        rows = frame.groupBy(bucket).agg(F.count("*").alias("rows")).collect()
        return cls(frame, column, tuple(sorted((int(row[0]), int(row[1])) for row in rows)))

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(rows for _, rows in self.buckets)

    def first(self, count: int, /) -> Any:
        """Returns the rows with the ``count`` smallest numbers."""
        from pyspark.sql import functions as F  # noqa: N812

        if count <= 0:
            return self.frame.where("false")
        for bucket, rows in self.buckets:
            if count <= rows:
                upper = F.shiftright(F.col(self.column), _LOWER_BITS)
                inside = self.frame.where(upper == F.lit(bucket)).select(self.column).toArrow()
                largest = int(np.sort(inside[self.column].to_numpy())[count - 1])
                return self.frame.where(F.col(self.column) <= F.lit(largest))
            count -= rows
        return self.frame


def numbered(frame: Any, column: str, /, *, name: str) -> Any:
    """Returns distinct numbers of 64 bits with their place in ascending order, from 0.

    Args:
        frame: Has the column.
        column: The numbers.
        name: Of the column of places.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    before, offsets = 0, []
    for bucket, count in Ascending.of(frame, column).buckets:
        offsets.append((bucket, before))
        before += count
    frame = frame.select(column, F.shiftright(F.col(column), _LOWER_BITS).alias("bucket"))
    session = frame.sparkSession
    before_buckets = session.createDataFrame(offsets or [(0, 0)], "bucket long, before long")
    inside = F.row_number().over(Window.partitionBy("bucket").orderBy(column))
    rows = frame.withColumn("inside", inside)
    return rows.join(before_buckets, "bucket").select(
        column, (F.col("inside") - 1 + F.col("before")).alias(name)
    )
