"""Views drawn by an engine: the same ids, changes and reports as on one machine.

What a method changes follows from hashes of keys and from joins over the whole graph; swapping
alone pairs statements in this process. A method that looks at paths, rules, times or names is refused
by name.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from graph_service import __version__
from graph_service.cluster.choosing import Choice, Scratch, choose
from graph_service.cluster.graph import Ascending, ClusterGraph, numbered
from graph_service.cluster.hashing import below, hashes, ordered
from graph_service.cluster.paths import shared_path
from graph_service.cluster.pools import (
    EVERYONE,
    everyone,
    functional_relations,
    pools_of_types,
    with_pool,
)
from graph_service.cluster.replacement import Relations, count_repeats, with_new_relations
from graph_service.cluster.swapping import Swapping
from graph_service.errors import InputError
from graph_service.model.serialise import to_plain
from graph_service.model.stored_view import ViewReport
from graph_service.model.view_spec import (
    Cardinality,
    ChangeKind,
    Method,
    Replacement,
    Sampling,
    Scope,
    ViewSpec,
)
from graph_service.store.parquet import import_pyarrow
from graph_service.views.choosing import DRAWS
from graph_service.views.draw import Stream, edges_at_level
from graph_service.views.methods.replacement import commonest_note
from graph_service.views.methods.rewiring import DRAWS as REWIRING_DRAWS
from graph_service.views.notes import NO_SECOND_RELATION, NOTHING_LEFT, shortfall
from graph_service.views.scorer.counting import COUNTS

LAYOUT, VERSION = "view-parquet", 1
VIEW_FILE, CHANGES = "view.json", "changes"
REMOVED = "removed"
_CHANGED = ("key", "statement", "head_key", "head", "relation", "tail_key", "tail")
"""Columns of changes, before ``change``: the base statement, and what the view has in its place."""
SCRATCH = "work"
DEVIATION_FILE = "deviation.json"
HEADS_MOVE = frozenset((Method.INVERSION, Method.TYPE_PRESERVING))
"""Methods whose deltas give heads."""


@dataclass(frozen=True, slots=True)
class ClusterView:
    """A view that an engine drew.

    Attributes:
        id: The identity that one machine gives it.
        spec, report: What was asked, and how far it is that.
        graph: Name of the base; ``edges`` its fingerprint.
        folder: Where it lies.
    """

    id: str
    spec: ViewSpec
    report: ViewReport
    graph: str
    edges: str
    folder: Path

    def to_json(self) -> dict[str, Any]:
        """Returns the content of ``view.json``."""
        return {
            "graph-service": LAYOUT,
            "version": VERSION,
            "tool": __version__,
            "view": self.id,
            "graph": self.graph,
            "edges": self.edges,
            "spec": orjson.loads(self.spec.to_json()),
            "report": to_plain(self.report),
        }


@dataclass(slots=True)
class _ClusterDraw:
    """One view being drawn (``views.drawing.Draw``)."""

    graph: ClusterGraph
    spec: ViewSpec
    stream: Stream
    scratch: Scratch
    scope: Ascending = field(init=False)
    notes: list[str] = field(default_factory=list)
    repeats: int = 0

    def open_scope(self) -> None:
        """Makes the statements that may change: key, order, head_key, relation, tail_key."""
        from pyspark.sql import functions as F  # noqa: N812

        rows = self.graph.eligible
        if self.spec.scope.relation_ids:
            relation_ids = sorted(set(self.spec.scope.relation_ids))
            named = self.graph.statements.where(F.col("relation").isin(*relation_ids))
            known = {row["relation"] for row in named.select("relation").distinct().collect()}
            for id_ in self.spec.scope.relation_ids:
                if id_ not in known:
                    raise InputError(
                        f"graph {self.graph.manifest.graph!r} has no relation {id_!r}",
                        argument="scope.relation_ids",
                    )
            rows = rows.where(F.col("relation").isin(*relation_ids))
        order = ordered(hashes(F.col("key"), self.stream, purpose="order"))
        self.scope = Ascending.of(rows.withColumn("order", order), "order")
        count = self.spec.count
        if count is not None and count > self.scope.rows:
            self.notes.append(shortfall("edges", count, "in scope", self.scope.rows))
        if not self.scope.rows:
            self.notes.append("no edge is in scope")

    def narrow_scope(self, relation_ids: Set[str], kind: str) -> None:
        """Leaves out the statements of other relations than some, and notes how many there are.

        Args:
            relation_ids: Of the relations that stay.
            kind: What they are called.
        """
        from pyspark.sql import functions as F  # noqa: N812

        every = self.scope.rows
        rows = self.scope.frame.where(F.col("relation").isin(*sorted(relation_ids)))
        self.scope = Ascending.of(rows, "order")
        if self.scope.rows < every:
            self.notes.append(
                f"{every - self.scope.rows} of {every} edges in scope are of relations that are "
                f"not {kind}"
            )

    @property
    def target(self) -> int:
        if self.spec.level is not None:
            return edges_at_level(self.spec.level, self.scope.rows)
        return min(self.spec.count or 0, self.scope.rows)

    def first_able(self, choose_among: Callable[[Any], Any]) -> Any:
        """Returns the first rows in hash order that get something (``views.choosing.first_able``)."""
        target, length = self.target, self.target
        while True:
            able = Ascending.of(self.scratch.store(choose_among(self.scope.first(length))), "order")
            if able.rows >= target or length == self.scope.rows:
                break
            length = min(self.scope.rows, length + max(target - able.rows, length))
        if able.rows < target:
            self.notes.append(shortfall("edges", target, "can be changed", able.rows, NOTHING_LEFT))
        return able.first(target)

    def choose(self, rows: Any, choice: Choice) -> Any:
        return choose(rows, choice, stream=self.stream, scratch=self.scratch)


def _deletion(draw: _ClusterDraw) -> Any:
    return draw.scope.first(draw.target).selectExpr(*_CHANGED, f"'{REMOVED}' AS change")


def _inversion(draw: _ClusterDraw) -> Any:
    from pyspark.sql import functions as F  # noqa: N812

    triple = ["head_key", "relation", "tail_key"]
    turned = draw.graph.edges.selectExpr("tail_key AS head_key", "relation", "head_key AS tail_key")
    # Of statements that say the same the first alone is turned.
    first = draw.scope.frame.groupBy(*triple).agg(F.min("order").alias("order"))

    def choose_among(rows: Any) -> Any:
        able = rows.where("head_key <> tail_key").join(first, [*triple, "order"], "left_semi")
        return able.join(turned, triple, "left_anti")

    return draw.first_able(choose_among).selectExpr(
        "key",
        "statement",
        "tail_key AS head_key",
        "tail AS head",
        "relation",
        "head_key AS tail_key",
        "head AS tail",
        f"'{ChangeKind.HEAD_CHANGED.value}' AS change",
    )


def _type_preserving(draw: _ClusterDraw) -> Any:
    from pyspark.sql import functions as F  # noqa: N812

    pools = pools_of_types(draw.graph, draw.scratch)
    end = hashes(F.col("key"), draw.stream, purpose="end")
    turned = F.col("has_new_head")
    choice = _by_turns(
        draw,
        pools.members,
        lambda member: (
            F.when(turned, member).otherwise(F.col("head_key")),
            F.col("relation"),
            F.when(turned, F.col("tail_key")).otherwise(member),
        ),
        "member <> tail_key AND member <> head_key",
    )

    def choose_among(rows: Any) -> Any:
        rows = rows.withColumn("has_new_head", below(end, F.lit(2)) == 0)
        return draw.choose(with_pool(rows, pools, of_tails=~turned), choice)

    rows = draw.first_able(choose_among)
    member = F.when(turned, F.col("new_head")).otherwise(F.col("new_tail"))
    return (
        rows.withColumn("member", member)
        .join(draw.graph.ids, "member")
        .selectExpr(
            "key",
            "statement",
            "new_head AS head_key",
            "IF(has_new_head, id, head) AS head",
            "relation",
            "new_tail AS tail_key",
            "IF(has_new_head, tail, id) AS tail",
            f"IF(has_new_head, '{ChangeKind.HEAD_CHANGED.value}', "
            f"'{ChangeKind.VALUE_CHANGED.value}') AS change",
        )
    )


def _contradiction(draw: _ClusterDraw) -> Any:
    from pyspark.sql import functions as F  # noqa: N812

    kind = draw.spec.cardinality
    if kind is not Cardinality.ANY:
        relation_ids: Set[str] = functional_relations(draw.graph)
        if kind is Cardinality.SEVERAL:
            rows = draw.scope.frame.select("relation").distinct().collect()
            relation_ids = {str(row["relation"]) for row in rows} - relation_ids
        draw.narrow_scope(relation_ids, kind.value)
    pools = pools_of_types(draw.graph, draw.scratch)
    choice = _by_turns(
        draw,
        pools.members,
        lambda member: (F.col("head_key"), F.col("relation"), member),
        "member <> tail_key AND member <> head_key",
    )

    def choose_among(rows: Any) -> Any:
        return draw.choose(with_pool(rows, pools, of_tails=F.lit(True)), choice)

    return _with_new_tails(draw, draw.first_able(choose_among), ChangeKind.ADDED)


def _insertion(draw: _ClusterDraw) -> Any:
    from pyspark.sql import functions as F  # noqa: N812

    members, size = everyone(draw.graph, draw.scratch)
    by_key = numbered(draw.scope.frame, "key", name="position")
    relations = draw.scope.frame.select("key", F.col("relation").alias("drawn_relation"))
    relations = draw.scratch.store(by_key.join(relations, "key").drop("key"))
    relation_hashes = hashes(F.col("key"), draw.stream, purpose="relation")
    position = below(relation_hashes, F.lit(draw.scope.rows))
    choice = _by_turns(
        draw,
        members,
        lambda member: (F.col("head_key"), F.col("drawn_relation"), member),
        "member <> head_key",
    )

    def choose_among(rows: Any) -> Any:
        rows = rows.withColumn("position", position).join(relations, "position").drop("position")
        return draw.choose(_with_everyone(rows, size), choice)

    return _with_new_tails(draw, draw.first_able(choose_among), ChangeKind.ADDED)


def _replacement(draw: _ClusterDraw) -> Any:
    relations = Relations.of(draw.graph, draw.scratch)
    rows = draw.scope.first(draw.target)
    if len(relations.ids) < 2:
        if draw.target:
            draw.notes.append(
                shortfall("edges", draw.target, "can be changed", 0, NO_SECOND_RELATION)
            )
        return rows.where("false").selectExpr(
            *_CHANGED, f"'{ChangeKind.RELATION_CHANGED.value}' AS change"
        )
    changed = draw.scratch.store(with_new_relations(rows, relations, draw.graph, draw.scratch))
    draw.repeats = count_repeats(changed, draw.graph)
    counts = {
        str(row["new_relation"]): int(row["count"])
        for row in changed.groupBy("new_relation").count().collect()
    }
    most = max(relations.ids, key=lambda id_: counts.get(id_, 0))
    changes = sum(counts.values())
    if changes > 1 and 2 * counts[most] > changes:
        draw.notes.append(commonest_note(most, counts[most], changes))
    return _with_new_relations(changed)


def _with_new_relations(changed: Any) -> Any:
    """Returns the changes of rows that got new relations."""
    return changed.drop("relation").selectExpr(
        "*", "new_relation AS relation", f"'{ChangeKind.RELATION_CHANGED.value}' AS change"
    )


def _swapping(draw: _ClusterDraw) -> Any:
    swapping = Swapping(draw.graph, draw.scope.frame, draw.stream, draw.scratch)
    is_okgqa = draw.spec.sampling is Sampling.OKGQA
    swap = swapping.with_replacement if is_okgqa else swapping.in_pairs
    changed, notes = swap(draw.target)
    draw.notes.extend(notes)
    draw.repeats = count_repeats(changed, draw.graph)
    return _with_new_relations(changed)


def _rewiring(draw: _ClusterDraw) -> Any:
    from pyspark.sql import functions as F  # noqa: N812

    members, size = everyone(draw.graph, draw.scratch)
    members_of_edges = draw.graph.statements.selectExpr("head_key AS member").unionByName(
        draw.graph.edges.selectExpr("tail_key AS member")
    )
    degrees = members_of_edges.groupBy("member").agg(F.count("*").alias("degree"))
    heads = draw.scope.frame.selectExpr("head_key AS member").distinct()
    most = degrees.join(heads, "member").agg(F.max("degree")).collect()[0][0]
    if most is not None and most >= size - 1:
        raise _too_dense(draw)
    choice = Choice(
        members=members,
        stated=draw.graph.edges,
        purposes=("tail",) * REWIRING_DRAWS,
        walks=False,
        triple=lambda member: (F.col("head_key"), F.col("relation"), member),
        allowed="member <> head_key",
        either_way=True,
    )
    rows = _with_everyone(draw.scope.first(draw.target), size)
    chosen = draw.scratch.store(draw.choose(rows, choice))
    if chosen.count() < draw.target:
        raise _too_dense(draw)
    return _with_new_tails(draw, chosen, ChangeKind.VALUE_CHANGED)


def _with_everyone(rows: Any, size: int) -> Any:
    """Returns rows that choose among all entities that have a statement."""
    from pyspark.sql import functions as F  # noqa: N812

    return rows.withColumn("pool", F.lit(EVERYONE)).withColumn("size", F.lit(size).cast("long"))


def _with_new_tails(draw: _ClusterDraw, rows: Any, change: ChangeKind) -> Any:
    """Returns the changes of rows that got new tails."""
    return (
        rows.withColumnRenamed("new_tail", "member")
        .join(draw.graph.ids, "member")
        .selectExpr(
            "key",
            "statement",
            "new_head AS head_key",
            "head",
            "new_relation AS relation",
            "member AS tail_key",
            "id AS tail",
            f"'{change.value}' AS change",
        )
    )


def _too_dense(draw: _ClusterDraw) -> InputError:
    return InputError(
        f"a head of graph {draw.graph.manifest.graph!r} is joined to so many entities that "
        f"{REWIRING_DRAWS} drawn tails are not enough, and a cluster does not list the others",
        argument="method",
        hint="Make this view on one machine: graph-service view create.",
    )


def _by_turns(
    draw: _ClusterDraw,
    members: Any,
    triple: Callable[[Any], tuple[Any, Any, Any]],
    allowed: str,
) -> Choice:
    return Choice(
        members=members,
        stated=draw.graph.edges,
        purposes=(*("choice",) * DRAWS, "walk"),
        walks=True,
        triple=triple,
        allowed=allowed,
    )


METHODS: Mapping[Method, Callable[[_ClusterDraw], Any]] = {
    Method.EDGE_DELETION: _deletion,
    Method.INVERSION: _inversion,
    Method.TYPE_PRESERVING: _type_preserving,
    Method.CONTRADICTION: _contradiction,
    Method.INSERTION: _insertion,
    Method.EDGE_REWIRING: _rewiring,
    Method.RELATION_REPLACEMENT: _replacement,
    Method.RELATION_SWAPPING: _swapping,
}
"""How each method that a cluster draws does so."""


def require_supported(spec: ViewSpec, /) -> None:
    """Raises ``InputError`` for a specification that a cluster does not draw, naming what."""
    refused = None
    if spec.method not in METHODS:
        refused = f"method {spec.method.value}"
    elif spec.entity_ids:
        refused = f"{spec.method.value} with chains from a question's entities"
    elif spec.scope != Scope(hops=spec.scope.hops, relation_ids=spec.scope.relation_ids):
        refused = "a scope other than relations"
    elif spec.method is Method.RELATION_REPLACEMENT and (
        spec.scorer != COUNTS
        or spec.replacement is not Replacement.ARGMIN
        or spec.sampling is not Sampling.EXACT
        or spec.nth != 1
    ):
        refused = "another replacement than by the least likely relation of counts"
    if refused is not None:
        raise InputError(
            f"a cluster does not draw {refused}; expected one of "
            f"{', '.join(method.value for method in METHODS)}",
            argument="method",
            hint="Make this view on one machine: graph-service view create.",
        )


def create_view(graph: ClusterGraph, spec: ViewSpec, out: Path, /) -> ClusterView:
    """Draws a view into a folder: its changes as Parquet, and ``view.json`` when it is whole.

    Args:
        graph: The base.
        spec: What is asked.
        out: A new folder, which this process and the engine both see.

    Raises:
        InputError: The specification does not hold, a cluster does not draw it, or ``out`` holds
            other files or is no path for an engine.
    """
    spec.validate()
    require_supported(spec)
    out = shared_path(out, argument="to")
    if out.exists() and {path.name for path in out.iterdir()} - {
        VIEW_FILE,
        CHANGES,
        DEVIATION_FILE,
        SCRATCH,
    }:
        raise InputError(
            f"{out} holds other files than a view's; expected a new folder", argument="to"
        )
    shutil.rmtree(out, ignore_errors=True)
    scratch = Scratch(graph.session, out / SCRATCH)
    stream = Stream(spec.random_seed, spec.method, spec.algorithm)
    draw = _ClusterDraw(graph, spec, stream, scratch)
    draw.open_scope()
    changes = METHODS[spec.method](draw).select(*_CHANGED, "change")
    _write_changes(changes, out / CHANGES)
    view = ClusterView(
        id=spec.identity(graph.manifest.edges),
        spec=spec,
        report=_report(draw, out),
        graph=graph.manifest.graph,
        edges=graph.manifest.edges,
        folder=out,
    )
    scratch.clear()
    (out / VIEW_FILE).write_bytes(orjson.dumps(view.to_json(), option=orjson.OPT_INDENT_2))
    return view


def _write_changes(changes: Any, folder: Path) -> None:
    changes.write.mode("overwrite").parquet(str(folder))
    if not folder.exists():
        # Sail writes no file where there is no row.
        folder.mkdir(parents=True)
        table = changes.limit(0).toArrow()
        import_pyarrow("a view").parquet.write_table(table, folder / "part-00000.parquet")


def _report(draw: _ClusterDraw, out: Path) -> ViewReport:
    rows = draw.graph.session.read.parquet(str(out / CHANGES)).groupBy("change").count().collect()
    came = {str(row[0]): int(row[1]) for row in rows}
    always = (REMOVED, ChangeKind.RELATION_CHANGED, ChangeKind.VALUE_CHANGED, ChangeKind.ADDED)
    counts = {str(change): 0 for change in always} | came
    total = sum(counts.values())
    return ViewReport(
        scope_edges=draw.scope.rows,
        level_asked=draw.spec.level,
        level_reached=total / draw.scope.rows if draw.scope.rows else None,
        counts=counts,
        unavoidable=draw.repeats,
        notes=tuple(draw.notes),
    )
