"""Python on an engine: tasks of their own, and tasks over ranges of keys.

Tasks write files into a folder that all machines see, and give the engine nothing back but that
they are done. Sail 0.7 does not sort within partitions, so a range is one group of rows, and sorted
by its task.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, Protocol

import orjson

from graph_service.cluster.load_rows import RECORD
from graph_service.errors import GraphServiceError, InputError, SetupError, StoreError
from graph_service.store.parquet import import_pyarrow

MAX_PARTITIONS = 4_096
_SLOTS = threading.BoundedSemaphore(os.cpu_count() or 1)
"""Of the tasks of one process. Sail begins all tasks at once, each in a thread: all chunks of a source
would be in memory, and none be done until nearly all are."""


@dataclass(frozen=True, slots=True)
class KeyRanges:
    """Ranges of keys, and the rows in them.

    Attributes:
        folders: Parquet files with the rows, which have a column ``key``.
        bits: There are as many ranges as numbers of so many bits.
        done: Ranges that are left out.
    """

    folders: Sequence[Path]
    bits: int
    done: Collection[int]


class Engine(Protocol):
    """What runs the tasks of a load."""

    def run_tasks(self, indices: Sequence[int], work: Callable[[int], None], /) -> None:
        """Runs a task for each index, on all machines.

        Args:
            indices: What is to be done.
            work: A picklable function, of a module that the machines have.

        Raises:
            InputError: A task refused its input.
        """

    def run_ranges(self, ranges: KeyRanges, work: Callable[[int, Any], None], /) -> None:
        """Runs a task for each range of keys that has rows, but for those that are done.

        Args:
            ranges: The ranges and their rows.
            work: Takes the index of the range and its rows, in any order.

        Raises:
            InputError: A task refused its rows.
        """

    def repeated_documents(self, folder: Path, /) -> Any:
        """Returns the records that are not merged, of entities that have several, in any order."""


@dataclass(frozen=True, slots=True)
class SparkEngine:
    """An engine that speaks Spark Connect.

    Attributes:
        session: With it.
    """

    session: Any

    def run_tasks(self, indices: Sequence[int], work: Callable[[int], None], /) -> None:
        """Runs a task for each index; see ``Engine``."""

        def run(batches: Iterator[Any]) -> Iterator[Any]:
            for batch in batches:
                yield errors_of(work, batch.column("index").to_pylist())

        rows = self.session.createDataFrame([(index,) for index in indices], "index bigint")
        rows = rows.repartition(min(len(indices), MAX_PARTITIONS))
        raise_first(_collected(rows.mapInArrow(run, "error string")))

    def run_ranges(self, ranges: KeyRanges, work: Callable[[int, Any], None], /) -> None:
        """Runs a task for each range of keys that has rows; see ``Engine``."""
        from pyspark.sql import functions as F  # noqa: N812

        def run(table: Any) -> Any:
            arrow = import_pyarrow("a load on a cluster")
            index = table["range"][0].as_py()
            answer = errors_of(lambda _: work(index, table.drop_columns(["range"])), [index])
            return arrow.Table.from_batches([answer])

        rows = reduce(lambda some, more: some.unionByName(more), map(self._rows, ranges.folders))
        rows = rows.withColumn("range", range_of(F.col("key"), ranges.bits))
        if ranges.done:
            rows = rows.where(~F.col("range").isin(sorted(ranges.done)))
        raise_first(_collected(rows.groupBy("range").applyInArrow(run, "error string")))

    def repeated_documents(self, folder: Path, /) -> Any:
        """Returns the records of entities that have several; see ``Engine``."""
        from pyspark.sql import functions as F  # noqa: N812

        documents = self._rows(folder).where(f"role = '{RECORD}' AND NOT is_merged").drop("terms")
        counted = documents.groupBy("key").agg(F.count("*").alias("documents"))
        return documents.join(counted.where("documents > 1").select("key"), "key").toArrow()

    def _rows(self, folder: Path) -> Any:
        return self.session.read.parquet(str(folder))


def range_of(key: Any, bits: int, /) -> Any:
    """Returns the range of a column of keys, which are signed: 0 holds the smallest."""
    from pyspark.sql import functions as F  # noqa: N812

    if not bits:
        return F.lit(0).cast("long")
    return F.shiftright(key, 64 - bits) + F.lit(1 << (bits - 1))


def errors_of(work: Callable[[int], None], indices: Sequence[int]) -> Any:
    """Runs some tasks; returns the errors of ours that ended them, as one Arrow batch."""
    arrow = import_pyarrow("a load on a cluster")
    errors = []
    for index in indices:
        try:
            with _SLOTS:
                work(index)
        except GraphServiceError as error:
            # An engine would try the task again, and wrap the error in a page of its own.
            errors.append(
                orjson.dumps(
                    {
                        "message": error.message,
                        "hint": error.hint,
                        "argument": getattr(error, "argument", None),
                        "is_input": isinstance(error, InputError),
                    }
                ).decode()
            )
    return arrow.RecordBatch.from_pydict(
        {"error": errors}, schema=arrow.schema([("error", arrow.string())])
    )


def _collected(rows: Any) -> Any:
    """Returns the rows of a frame; raises ``SetupError`` where a machine lacks this program."""
    from pyspark.errors import PySparkException

    try:
        return rows.collect()
    except PySparkException as error:
        if "ModuleNotFoundError" not in str(error):
            raise
        missing = str(error).partition("ModuleNotFoundError: ")[2].partition("\n")[0]
        raise SetupError(
            f"a machine of the engine can't read the source: {missing}",
            hint='Install the same version there: pip install "graph-service[cluster]".',
        ) from error


def raise_first(rows: Sequence[Any]) -> None:
    """Raises the first error that ``errors_of`` returned, as it was raised."""
    errors = sorted(str(row[0]) for row in rows)
    if not errors:
        return
    first = orjson.loads(errors[0])
    if first["is_input"]:
        raise InputError(first["message"], argument=first["argument"], hint=first["hint"])
    raise StoreError(first["message"], hint=first["hint"])
