"""Python on an engine: tasks of their own, and tasks over ranges of keys.

Tasks write files into a folder that all machines see, and give the engine nothing back but that
they are done. Sail 0.7 does not sort within partitions, so a range is one group of rows, and sorted
by its task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import orjson

from graph_service.errors import GraphServiceError, InputError, StoreError
from graph_service.store.parquet import import_pyarrow

MAX_PARTITIONS = 4_096


def run_tasks(session: Any, indices: Sequence[int], work: Callable[[int], None], /) -> None:
    """Runs a task for each index, on all machines of an engine.

    Args:
        session: Of Spark Connect.
        indices: What is to be done.
        work: A picklable function, of a module that the machines have.

    Raises:
        InputError: A task refused its input.
    """
    if not indices:
        return

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield _errors_of(work, batch.column("index").to_pylist())

    rows = session.createDataFrame([(index,) for index in indices], "index bigint")
    rows = rows.repartition(min(len(indices), MAX_PARTITIONS))
    _raise_first(rows.mapInArrow(run, "error string").collect())


def run_ranges(rows: Any, bits: int, work: Callable[[int, Any], None], /) -> None:
    """Runs a task for each range of keys that has rows.

    Args:
        rows: Have a column ``key``.
        bits: There are as many ranges as numbers of so many bits.
        work: Takes the index of the range and its rows, in any order.

    Raises:
        InputError: A task refused its rows.
    """
    from pyspark.sql import functions as F  # noqa: N812

    def run(table: Any) -> Any:
        arrow = import_pyarrow("a load on a cluster")
        index = table["range"][0].as_py()
        answer = _errors_of(lambda _: work(index, table.drop_columns(["range"])), [index])
        return arrow.Table.from_batches([answer])

    grouped = rows.withColumn("range", range_of(F.col("key"), bits)).groupBy("range")
    _raise_first(grouped.applyInArrow(run, "error string").collect())


def range_of(key: Any, bits: int, /) -> Any:
    """Returns the range of a column of keys, which are signed: 0 holds the smallest."""
    from pyspark.sql import functions as F  # noqa: N812

    if not bits:
        return F.lit(0).cast("long")
    return F.shiftright(key, 64 - bits) + F.lit(1 << (bits - 1))


def _errors_of(work: Callable[[int], None], indices: Sequence[int]) -> Any:
    """Runs some tasks; returns the errors of ours that ended them, as one Arrow batch."""
    arrow = import_pyarrow("a load on a cluster")
    errors = []
    for index in indices:
        try:
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


def _raise_first(rows: Sequence[Any]) -> None:
    errors = sorted(str(row[0]) for row in rows)
    if not errors:
        return
    first = orjson.loads(errors[0])
    if first["is_input"]:
        raise InputError(first["message"], argument=first["argument"], hint=first["hint"])
    raise StoreError(first["message"], hint=first["hint"])
