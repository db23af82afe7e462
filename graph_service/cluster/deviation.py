"""How far a view has gone from its base, by an engine: ``views.measure.deviation`` as joins (O11, B19).

Whatever has to be added up is added up as integers. So an engine's partitions and the order of its
tasks change no bit, and the driver divides once.

Hubs are what would make one task do all the work:

* Triangles are counted by degree: an edge goes from its end of fewer edges to that of more, so of
  m edges no more than ``sqrt(2 m)`` leave one node.
* A value of an end with many edges is joined by a broadcast of those few ends.
* Pairs of neighbours between two such ends are joined by salted keys.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from graph_service.cluster.choosing import Scratch
from graph_service.cluster.graph import ClusterGraph
from graph_service.cluster.paths import shared_path
from graph_service.cluster.scoring import lift, lift_without_edge, posterior
from graph_service.cluster.views import CHANGES, DEVIATION_FILE, REMOVED, SCRATCH, ClusterView
from graph_service.errors import InputError
from graph_service.model.serialise import to_plain
from graph_service.model.stored_view import Deviation
from graph_service.model.view_spec import ChangeKind
from graph_service.views.scorer.counting import COUNTS

HEAVY = 1 << 16
"""Edges of one relation from which an end is joined by broadcast and by salted keys."""
SALTS = 64
"""Keys that take the place of one, where neighbours of two such ends are joined."""

_BASE, _VIEW = 0, 1
_SIDES = (_BASE, _VIEW)
_HALF = 2**31
_FIXED_POINT = 2**48
"""Steps of a clustering coefficient: integers of 64 bits hold the sum over 32,768 relations."""
_TRIPLE = ("head_key", "relation", "tail_key")


def measure_view(graph: ClusterGraph, view: ClusterView, /, *, scorer: str = COUNTS) -> Deviation:
    """Returns how far a view has gone from its base, and writes it into the view's folder.

    The figures are those of one machine to 1e-9. What the scorer is worth is not told: its test
    set is drawn by numpy from all edges in memory.

    Args:
        graph: The base.
        view: What ``cluster view create`` drew from it.
        scorer: The scorer of ATS.

    Raises:
        InputError: The view is of another graph, the scorer does not run on a cluster, or an engine
            would read the view's path as a pattern.
    """
    require_scorer(scorer)
    view = replace(view, folder=shared_path(view.folder, argument="view"))
    if view.edges != graph.manifest.edges:
        raise InputError(
            f"the view was drawn from edges {view.edges[:12]}, and {graph.folder} has "
            f"{graph.manifest.edges[:12]}",
            argument="view",
        )
    scratch = Scratch(graph.session, view.folder / SCRATCH)
    measured = _Measured.of(graph, view, scratch)
    ats = _plausibility(measured, linked=graph.linked.count())
    deviation = Deviation(
        ats=ats[_VIEW],
        ats_base=ats[_BASE],
        ats_edges=measured.edges[_VIEW],
        unscored=0,
        scorer=scorer,
        sc2d=_similarity(_clustering_distance(measured)),
        sd2=_similarity(_degree_distance(measured)),
    )
    scratch.clear()
    path = view.folder / DEVIATION_FILE
    path.write_bytes(orjson.dumps(to_plain(deviation), option=orjson.OPT_INDENT_2))
    return deviation


def require_scorer(scorer: str, /) -> None:
    """Raises ``InputError`` for a scorer that a cluster does not run, naming it."""
    if scorer != COUNTS:
        raise InputError(
            f"a cluster does not measure ATS by the scorer {scorer!r}: its factors of entities lie "
            f"in a store, numbered by the arrays of one machine; expected {COUNTS}",
            argument="scorer",
            hint="Measure it on one machine: graph-service view show VIEW --graph GRAPH.",
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    """The edges that count, of the base and of the view.

    Attributes:
        scratch: Where intermediate results go.
        frame: layer (twice the relation's code, and 1 more in the view), head_key, tail_key.
        codes: layer of the base's relation and ``held``, its number of edges there and 1 more.
        edges: How many the base and the view have.
        relations: How many relations have an edge in the base, and in the view.
    """

    scratch: Scratch
    frame: Any
    codes: Any
    edges: tuple[int, int]
    relations: tuple[int, int]

    @classmethod
    def of(cls, graph: ClusterGraph, view: ClusterView, scratch: Scratch) -> _Measured:
        from pyspark.sql import functions as F  # noqa: N812

        base = graph.eligible.select("key", *_TRIPLE)
        changes = graph.session.read.parquet(str(view.folder / CHANGES))
        gone = changes.where(f"change <> '{ChangeKind.ADDED.value}'").select("key")
        made = changes.where(f"change <> '{REMOVED}'").select(*_TRIPLE)
        after = base.join(gone, "key", "left_anti").select(*_TRIPLE).unionByName(made)
        both = base.select(*_TRIPLE, F.lit(_BASE).alias("side")).unionByName(
            after.select(*_TRIPLE, F.lit(_VIEW).alias("side"))
        )
        both = scratch.store(both)
        rows = both.groupBy("relation", "side").agg(F.count("*").alias("rows")).collect()
        counts = {(str(row[0]), int(row[1])): int(row[2]) for row in rows}
        names = sorted({name for name, _ in counts})
        codes = graph.session.createDataFrame(
            [(name, 2 * code, counts.get((name, _BASE), 0) + 1) for code, name in enumerate(names)]
            or [("", 0, 1)],
            "relation string, layer long, held long",
        )
        frame = both.join(F.broadcast(codes), "relation").select(
            (F.col("layer") + F.col("side")).alias("layer"), "head_key", "tail_key"
        )
        edges, relations = (
            tuple(
                sum(amount for (_, of_side), amount in amounts.items() if of_side == side)
                for side in _SIDES
            )
            for amounts in (counts, dict.fromkeys(counts, 1))
        )
        return cls(
            scratch,
            scratch.store(frame),
            codes.select("layer", "held"),
            (edges[_BASE], edges[_VIEW]),
            (relations[_BASE], relations[_VIEW]),
        )

    @property
    def base(self) -> Any:
        """The edges of the base graph, without those that the view adds."""
        return self.frame.where("layer % 2 = 0")


def _degree_distance(measured: _Measured) -> float:
    """Returns the distance of the vectors of mean degrees."""
    from pyspark.sql import functions as F  # noqa: N812

    side = F.col("layer") % 2
    members = measured.frame.select(
        F.col("head_key").alias("member"), side.alias("side")
    ).unionByName(measured.frame.select(F.col("tail_key").alias("member"), side.alias("side")))
    degrees = members.groupBy("member").agg(
        F.sum(1 - F.col("side")).alias("base"), F.sum("side").alias("view")
    )
    # Few entities have a degree of their own, so their number comes here, not they.
    pairs = degrees.groupBy("base", "view").agg(F.count("*").alias("rows")).collect()
    base, view = (max(1, count) for count in measured.relations)
    squares = (int(row[2]) * (int(row[1]) / view - int(row[0]) / base) ** 2 for row in pairs)
    return math.sqrt(math.fsum(squares))


def _clustering_distance(measured: _Measured) -> float:
    """Returns the distance of the vectors of mean clustering coefficients."""
    from pyspark.sql import functions as F  # noqa: N812

    store = measured.scratch.store
    simple = store(
        measured.frame.where("head_key <> tail_key")
        .select(
            "layer",
            F.least("head_key", "tail_key").alias("low"),
            F.greatest("head_key", "tail_key").alias("high"),
        )
        .distinct()
    )
    members = simple.select("layer", F.col("low").alias("member")).unionByName(
        simple.select("layer", F.col("high").alias("member"))
    )
    degrees = members.groupBy("layer", "member").agg(F.count("*").alias("degree"))
    # An end of one edge is in no triangle.
    degrees = store(degrees.where("degree > 1"))
    for end, other in (("low", "high"), ("high", "low")):
        simple = _with_value_of_end(
            simple,
            degrees,
            value="degree",
            size="degree",
            end=end,
            other=other,
            out=f"{end}_degree",
        ).where(f"{end}_degree IS NOT NULL")
    simple = store(simple)
    triangles = store(_triangles(simple))
    coefficient = 2.0 * F.col("triangles") / (F.col("degree") * (F.col("degree") - 1))
    shares = triangles.join(degrees, ["layer", "member"]).select(
        "member",
        (F.col("layer") % 2).alias("side"),
        F.floor(coefficient * float(_FIXED_POINT)).cast("long").alias("share"),
    )
    sums = shares.groupBy("member").agg(
        F.sum(F.col("share") * (1 - F.col("side"))).alias("base"),
        F.sum(F.col("share") * F.col("side")).alias("view"),
    )
    base, view = (
        F.col(name).cast("double") / float(_FIXED_POINT) / float(max(1, count))
        for name, count in zip(("base", "view"), measured.relations, strict=True)
    )
    return math.sqrt(_sums(sums.select(((view - base) * (view - base)).alias("part")))[0])


def _triangles(simple: Any) -> Any:
    """Returns how many triangles each end is in: layer, member, triangles.

    Args:
        simple: Edges without direction, loops or repeats: layer, low, high, low_degree,
            high_degree.
    """
    from pyspark.sql import functions as F  # noqa: N812

    up = "low_degree <= high_degree"
    first = simple.selectExpr(
        "layer",
        f"IF({up}, low, high) AS start",
        f"IF({up}, high, low) AS low",
        f"IF({up}, high_degree, low_degree) AS low_degree",
    )
    second = first.withColumnsRenamed({"low": "high", "low_degree": "high_degree"})
    are_heavy = F.least("low_degree", "high_degree") >= HEAVY
    zero, salts = (F.lit(count).cast("long") for count in (0, SALTS))
    wedges = (
        first.join(second, ["layer", "start"])
        .where("low < high")
        .select(
            "layer",
            "low",
            "high",
            F.when(are_heavy, F.pmod("start", salts)).otherwise(zero).alias("salt"),
            "start",
        )
    )
    every = F.sequence(zero, F.when(are_heavy, salts - 1).otherwise(zero))
    closing = simple.select("layer", "low", "high", F.explode(every).alias("salt"))
    closed = wedges.join(closing, ["layer", "low", "high", "salt"])
    corners = closed.select("layer", F.explode(F.array("start", "low", "high")).alias("member"))
    return corners.groupBy("layer", "member").agg(F.count("*").alias("triangles"))


def _plausibility(measured: _Measured, *, linked: int) -> tuple[float, float]:
    """Returns the mean score of the edges of the base and of the view (``CountScorer``).

    Args:
        measured: The edges.
        linked: How many entities have a statement.
    """
    from pyspark.sql import functions as F  # noqa: N812

    total = float(measured.edges[_BASE] + max(1, linked))
    rows = measured.frame.select(
        (F.col("layer") - F.col("layer") % 2).alias("layer"),
        (F.col("layer") % 2).alias("side"),
        "head_key",
        "tail_key",
    ).join(F.broadcast(measured.codes), "layer")
    held = F.col("held")
    for end, other in (("head_key", "tail_key"), ("tail_key", "head_key")):
        pairs = measured.base.groupBy("layer", F.col(end).alias("member")).agg(
            F.count("*").alias("rows")
        )
        pairs = measured.scratch.store(pairs)
        nodes = pairs.groupBy("member").agg(F.sum("rows").alias("degree"))
        lifts = (
            pairs.join(nodes, "member")
            .join(F.broadcast(measured.codes), "layer")
            .withColumn("lift", lift(F.col("rows"), F.col("degree"), held, total=total))
            .select("layer", "member", "rows", "lift")
        )
        rows = _with_value_of_end(
            rows,
            measured.scratch.store(lifts),
            value="lift",
            size="rows",
            end=end,
            other=other,
            out=f"{end}_lift",
        )
        # No edge of the base has the relation at this end.
        rows = rows.withColumn(f"{end}_lift", F.coalesce(f"{end}_lift", lift_without_edge(held)))
        # One join after the other: Sail holds a side of each in memory.
        rows = measured.scratch.store(rows)
    score = posterior(F.col("head_key_lift") * F.col("tail_key_lift"))
    sums = _sums(rows.select("side", score.alias("part")), by=("side",))
    base, view = (
        sums.get(side, 0.0) / count if count else 0.0
        for side, count in zip(_SIDES, measured.edges, strict=True)
    )
    return base, view


def _with_value_of_end(
    edges: Any, values: Any, /, *, value: str, size: str, end: str, other: str, out: str
) -> Any:
    """Returns edges with a value of one of their ends, null where it has none.

    Args:
        edges: Have ``layer`` and both ends.
        values: layer, member, the value, and how many edges such an end has.
        value: Column of the value.
        size: Column of that number. Of ends with ``HEAVY`` edges there are few: they are broadcast,
            and their edges go through the other join by their other end, spread over all tasks.
        end: Column of the end.
        other: Column of the other end.
        out: Name of the new column.
    """
    from pyspark.sql import functions as F  # noqa: N812

    def named(rows: Any, member: str, name: str) -> Any:
        return rows.select("layer", F.col("member").alias(member), F.col(value).alias(name))

    heavy = named(values.where(F.col(size) >= HEAVY), end, "heavy")
    light = named(values.where(F.col(size) < HEAVY), "spread", "light")
    rows = edges.join(F.broadcast(heavy), ["layer", end], "left")
    is_light = F.col("heavy").isNull()
    rows = rows.withColumn("spread", F.when(is_light, F.col(end)).otherwise(F.col(other)))
    rows = rows.join(light, ["layer", "spread"], "left")
    return rows.withColumn(out, F.coalesce("heavy", "light")).drop("heavy", "light", "spread")


def _sums(parts: Any, /, *, by: Sequence[str] = ()) -> dict[int, float]:
    """Returns the sums of ``part``, from 0 to 1, by the number in a column; by 0 without one.

    Each is cut into two integers of 31 bits. Sums of up to 2 billion of those are exact.
    """
    from pyspark.sql import functions as F  # noqa: N812

    scaled = F.col("part") * float(_HALF)
    upper = F.floor(scaled).cast("long")
    lower = F.floor((scaled - upper.cast("double")) * float(_HALF)).cast("long")
    halves = parts.select(*by, upper.alias("upper"), lower.alias("lower"))
    rows = halves.groupBy(*by).agg(F.sum("upper").alias("upper"), F.sum("lower").alias("lower"))
    return {
        int(row[0]) if by else 0: ((row["upper"] or 0) * _HALF + (row["lower"] or 0)) / _HALF**2
        for row in rows.collect()
    }


def _similarity(distance: float) -> float:
    return 1.0 - distance / (distance + 1.0)
