"""Choosing something new for each statement by joins: what ``views.choosing`` does on one machine.

Each row has an order of its candidates and takes the first one that makes no triple of the base nor
one that a row before it makes. All triples prefer rows alike, by their hashes. So deferred
acceptance, in which all rows propose at once, ends where taking turns would (Gale and Shapley 1962).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from graph_service.cluster.hashing import below, hashes_of_attempts
from graph_service.store.parquet import import_pyarrow
from graph_service.views.draw import Stream

_TRIPLE = ["new_head", "new_relation", "new_tail"]
_STEPS = (1, 16, 128)
"""Candidates of a row that are looked at in the first round, the second, and each one after."""


@dataclass(slots=True)
class Scratch:
    """Intermediate results as Parquet files, so that an engine computes each once.

    Attributes:
        session: Of Spark Connect.
        folder: Where the files go; it is deleted at the end.
    """

    session: Any
    folder: Path
    _numbers: Any = field(default_factory=count, init=False)

    def store(self, frame: Any, /) -> Any:
        """Writes a result; returns it as it is read again."""
        path = str(self._next_path())
        frame.write.mode("overwrite").parquet(path)
        return self.session.read.schema(frame.schema).parquet(path)

    def fetch(self, frame: Any, /) -> Any:
        """Returns a result as an Arrow table of this process, by way of files.

        An engine's answer would hold all rows at once in its driver too.
        """
        path = self._next_path()
        frame.write.mode("overwrite").parquet(str(path))
        # Sail writes no file where there is no row.
        if not path.exists():
            return frame.limit(0).toArrow()
        return import_pyarrow("a view").parquet.read_table(path)

    def add(self, table: Any, /) -> Any:
        """Returns an Arrow table as rows of the engine."""
        path = self._next_path()
        path.mkdir(parents=True)
        import_pyarrow("a view").parquet.write_table(table, path / "part-00000.parquet")
        return self.session.read.parquet(str(path))

    def clear(self) -> None:
        """Deletes the files that the choice wrote."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _next_path(self) -> Path:
        return self.folder / f"{next(self._numbers):04}"


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """How rows choose.

    Attributes:
        members: The candidates: pool, offset (from 0), member.
        stated: The triples of the base: head_key, relation, tail_key.
        purposes: What the hash of each attempt is drawn for; the last is a walk through the pool.
        walks: Whether rows walk through their pool after the drawn candidates.
        triple: Gives head, relation and tail of what a row makes of its candidate, by columns.
        allowed: A condition, as SQL, that a candidate meets.
        either_way: Whether any statement between the two entities refuses a candidate.
    """

    members: Any
    stated: Any
    purposes: Sequence[str]
    walks: bool
    triple: Callable[[Any], tuple[Any, Any, Any]]
    allowed: str
    either_way: bool = False


def choose(rows: Any, choice: Choice, /, *, stream: Stream, scratch: Scratch) -> Any:
    """Returns the rows that get something, with new_head, new_relation and new_tail.

    Args:
        rows: key, order (signed), pool, size of the pool, and what ``choice`` names.
        choice: How they choose.
        stream: The draws.
        scratch: Where intermediate results go.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    draws = len(choice.purposes) - 1 if choice.walks else len(choice.purposes)
    size = F.col("size")
    if choice.walks:
        rows = rows.withColumn("step", F.when(size > draws, F.lit(0)).otherwise(F.lit(draws)))
        rows = rows.withColumn("last", F.when(size > 0, size + draws).otherwise(F.lit(0)))
    else:
        rows = rows.withColumn("step", F.lit(0)).withColumn("last", F.lit(draws))
    rows = rows.withColumn("step", F.col("step").cast("long"))
    rows = rows.withColumn("last", F.col("last").cast("long"))
    waiting = scratch.store(rows.where("step < last"))
    accepted: Any = None
    round_ = 0
    while True:
        while not _is_empty(waiting):
            steps = _STEPS[min(round_, len(_STEPS) - 1)]
            round_ += 1
            offered = _offered(waiting, choice, stream, steps=steps, draws=draws)
            chosen = scratch.store(_first_free(offered, choice))
            waiting, settled = _advance(waiting, chosen, steps)
            waiting = scratch.store(waiting)
            accepted = settled if accepted is None else accepted.unionByName(settled)
            accepted = scratch.store(accepted)
        if accepted is None:
            return waiting.selectExpr("*", *(f"CAST(NULL AS {t}) AS {n}" for n, t in _TYPES))
        # Of rows that make one triple the first keeps it, and the others go on.
        turn = F.row_number().over(Window.partitionBy(*_TRIPLE).orderBy("order"))
        crowded = accepted.groupBy(*_TRIPLE).agg(F.count("*").alias("rows")).where("rows > 1")
        losers = scratch.store(
            accepted.join(crowded.drop("rows"), _TRIPLE)
            .withColumn("turn", turn)
            .where("turn > 1")
            .drop("turn")
        )
        if _is_empty(losers):
            return accepted
        accepted = scratch.store(accepted.join(losers.select("key"), "key", "left_anti"))
        waiting = losers.drop(*_TRIPLE).withColumn("step", F.col("step") + 1)
        waiting = scratch.store(waiting.where("step < last"))


_TYPES = (("new_head", "BIGINT"), ("new_relation", "STRING"), ("new_tail", "BIGINT"))


def _is_empty(frame: Any) -> bool:
    return not frame.limit(1).collect()


def _offered(waiting: Any, choice: Choice, stream: Stream, *, steps: int, draws: int) -> Any:
    """Returns what each row proposes at its next steps: ``at``, ``member`` and the triple."""
    from pyspark.sql import functions as F  # noqa: N812

    end = F.least(F.col("step") + (steps - 1), F.col("last") - 1)
    rows = waiting.withColumn("at", F.explode(F.sequence(F.col("step"), end)))
    attempt = F.least(F.col("at"), F.lit(len(choice.purposes) - 1))
    hashes_ = hashes_of_attempts(F.col("key"), attempt, stream, choice.purposes)
    offset = below(hashes_, F.col("size"))
    if choice.walks:
        offset = (offset + F.greatest(F.col("at") - draws, F.lit(0))) % F.col("size")
    rows = rows.withColumn("offset", offset).join(choice.members, ["pool", "offset"])
    head, relation, tail = choice.triple(F.col("member"))
    rows = rows.where(choice.allowed)
    return (
        rows.withColumn("new_head", head)
        .withColumn("new_relation", relation)
        .withColumn("new_tail", tail)
    )


def _first_free(offered: Any, choice: Choice) -> Any:
    """Returns the first step of each row whose triple the base has not: key, at and the triple."""
    from pyspark.sql import functions as F  # noqa: N812

    proposals = offered.select("key", "at", *_TRIPLE)
    if choice.either_way:
        pairs = choice.stated.selectExpr("head_key AS new_head", "tail_key AS new_tail")
        turned = pairs.selectExpr("new_tail AS new_head", "new_head AS new_tail")
        stated = pairs.unionByName(turned)
        columns = ["new_head", "new_tail"]
    else:
        stated = choice.stated.selectExpr(
            "head_key AS new_head", "relation AS new_relation", "tail_key AS new_tail"
        )
        columns = _TRIPLE
    free = proposals.join(stated, columns, "left_anti")
    first = free.groupBy("key").agg(F.min_by(F.struct("at", *_TRIPLE), F.col("at")).alias("choice"))
    return first.select("key", *(F.col(f"choice.{name}").alias(name) for name in ("at", *_TRIPLE)))


def _advance(waiting: Any, chosen: Any, steps: int) -> tuple[Any, Any]:
    """Returns the rows that go on looking, and those that have chosen."""
    from pyspark.sql import functions as F  # noqa: N812

    settled = waiting.drop("step").join(chosen, "key").withColumnRenamed("at", "step")
    rest = waiting.join(chosen.select("key"), "key", "left_anti")
    rest = rest.withColumn("step", F.least(F.col("step") + steps, F.col("last")))
    return rest.where("step < last"), settled
