"""A graph's statements between entities, grown to any number as columns: for views of whole graphs.

``benchmarks.growing`` writes whole entities, and a load of 100 million statements takes an hour. These
are drawn by the same rule at a million a second, and hold what views and their deviation read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.growing import HALF_SHARED
from benchmarks.scaling import graph_of_edges
from graph_service.model.graph import Float64, Int32, Int64, KnowledgeGraph
from graph_service.model.graph_info import GraphCounts, GraphInfo
from graph_service.model.hashing import fingerprint, keyed_hashes
from graph_service.model.identity import Fingerprints
from graph_service.model.statement import Rank
from graph_service.store.parquet import (
    MANIFEST,
    STATEMENTS,
    Manifest,
    Part,
    PartSums,
    import_pyarrow,
    schemas,
)

COLUMNS = ("key", "statement", "head_key", "head", "relation", "rank", "tail_key", "tail")
"""Columns of the layout that an engine reads for edge deletion and deviation."""
PART_ROWS = 1_000_000
_SECRET_BYTES = 16


@dataclass(frozen=True, slots=True, eq=False)
class BaseEdges:
    """The statements between entities of a graph in Parquet, without deprecated ones.

    Attributes:
        table: Their columns.
        head, tail: Numbers of entities, int64.
        rel: Numbers of relations, int32.
        keys: Of the statements, int64.
        entities: How many there are.
        relation_ids: In the order of their numbers.
        shared: For each statement, the share of copies in which its tail stays itself.
    """

    table: Any
    head: Int64
    tail: Int64
    rel: Int32
    keys: Int64
    entities: int
    relation_ids: list[str]
    shared: Float64

    @classmethod
    def read(cls, folder: Path, /) -> BaseEdges:
        """Reads the graph of a folder that ``export --format parquet`` wrote."""
        arrow = import_pyarrow("a grown graph")
        table = arrow.parquet.read_table(folder / STATEMENTS, columns=list(COLUMNS))
        compute = arrow.compute
        counts = compute.and_(
            compute.is_valid(table["tail_key"]),
            compute.not_equal(table["rank"].cast("string"), Rank.DEPRECATED.value),
        )
        table = table.filter(counts).combine_chunks()
        ends = np.concatenate([table[name].to_numpy() for name in ("head_key", "tail_key")])
        distinct, numbers = np.unique(ends, return_inverse=True)
        head, tail = np.split(numbers.astype(np.int64), 2)
        relation_ids, rel = np.unique(table["relation"].to_pylist(), return_inverse=True)
        degrees = np.bincount(tail, minlength=len(distinct))[tail]
        return cls(
            table,
            head,
            tail,
            rel.astype(np.int32),
            table["key"].to_numpy(),
            len(distinct),
            relation_ids.tolist(),
            degrees / (degrees + HALF_SHARED),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Copy:
    """One copy of a base.

    Attributes:
        number: From 0, which is the base itself.
        rows: How many of the base's statements it has, from the first.
        is_shared: Whether the tail of each is that of the base, bool.
    """

    number: int
    rows: int
    is_shared: Any

    def keys(self, keys: Int64, /) -> Int64:
        """Returns the keys of this copy's entities or statements."""
        if not self.number:
            return keys
        secret = self.number.to_bytes(_SECRET_BYTES, "little")
        return keyed_hashes(keys, secret).view(np.int64)


def copies(base: BaseEdges, statements: int, /, *, random_seed: int) -> Iterator[Copy]:
    """Yields copies that have so many statements together."""
    size = len(base.keys)
    for number, begin in enumerate(range(0, statements, size)):
        rows = min(size, statements - begin)
        drawn = np.random.default_rng((random_seed, number)).random(size)[:rows]
        yield Copy(number, rows, (drawn < base.shared[:rows]) | (not number))


def write_parquet(base: BaseEdges, statements: int, folder: Path, /, *, random_seed: int) -> None:
    """Writes a grown graph as files of ``COLUMNS``, in a new folder; it has no entities' files.

    What each row adds to the fingerprints is its key, for want of the hashes of what it says.
    """
    (folder / STATEMENTS).mkdir(parents=True)
    parts: list[Part] = []
    pending: list[Any] = []
    for copy in copies(base, statements, random_seed=random_seed):
        pending.append(_columns(base, copy))
        if sum(map(len, pending)) + len(base.keys) > PART_ROWS:
            parts.append(_write_part(pending, folder, len(parts)))
            pending = []
    if pending:
        parts.append(_write_part(pending, folder, len(parts)))
    sums = PartSums()
    for part in parts:
        sums.add_part(part)
    prints = sums.fingerprints()
    name = folder.stem
    manifest = Manifest(
        graph=name,
        edition=f"{name}@1",
        view=None,
        source="benchmarks.grown_edges",
        entities=0,
        statements=statements,
        edges=prints.edges,
        content=prints.content,
        parts=tuple(parts),
    )
    (folder / MANIFEST).write_bytes(manifest.to_bytes())


def _columns(base: BaseEdges, copy: Copy) -> Any:
    arrow = import_pyarrow("a grown graph")
    table = base.table.slice(0, copy.rows)
    if copy.number:
        suffix = f"~{copy.number}"
        stays = arrow.array(copy.is_shared)
        columns = {name: table[name] for name in COLUMNS}
        for name in ("key", "head_key", "tail_key"):
            columns[name] = arrow.array(copy.keys(table[name].to_numpy()))
        for name in ("statement", "head", "tail"):
            columns[name] = arrow.compute.binary_join_element_wise(table[name], suffix, "")
        for name in ("tail_key", "tail"):
            columns[name] = arrow.compute.if_else(stays, table[name], columns[name])
        table = arrow.table(columns)
    return table.cast(arrow.schema([schemas()[STATEMENTS].field(name) for name in COLUMNS]))


def _write_part(tables: list[Any], folder: Path, number: int) -> Part:
    arrow = import_pyarrow("a grown graph")
    table = arrow.concat_tables(tables).sort_by("key")
    file = f"{STATEMENTS}/part-{number:05}.parquet"
    arrow.parquet.write_table(
        table, folder / file, compression="zstd", use_dictionary=["relation", "rank"]
    )
    keys = table["key"].to_numpy()
    words = np.array([keys.view(np.uint64).sum(), 0], dtype=np.uint64)
    sums = fingerprint(words, len(keys))
    return Part(file, STATEMENTS, len(keys), int(keys[0]), int(keys[-1]), sums, sums)


def grown_info(base: BaseEdges, statements: int, /) -> GraphInfo:
    """Returns what a store would say of a grown graph."""
    entities = base.entities * -(-statements // len(base.keys))
    counts = GraphCounts(entities, statements, len(base.relation_ids), 0)
    prints = Fingerprints(f"{statements:048x}", f"{statements:048x}")
    return GraphInfo("grown", f"grown@{statements}", counts, prints, "", "", {}, "", {})


def grown_graph(base: BaseEdges, statements: int, /, *, random_seed: int) -> KnowledgeGraph:
    """Returns the arrays of a grown graph: the same edges and keys of statements as its files.

    Numbers of entities lie anywhere among the copies, as those of hashed ids do.
    """
    info = grown_info(base, statements)
    draw = np.random.default_rng(random_seed)
    number = draw.permutation(info.counts.entities).astype(np.int32)
    head, rel, tail = (np.empty(statements, dtype=np.int32) for _ in range(3))
    keys = np.empty(statements, dtype=np.int64)
    begin = 0
    for copy in copies(base, statements, random_seed=random_seed):
        rows = slice(begin, begin + copy.rows)
        offset = copy.number * base.entities
        head[rows] = number[base.head[: copy.rows] + offset]
        tail[rows] = number[base.tail[: copy.rows] + np.where(copy.is_shared, 0, offset)]
        rel[rows] = base.rel[: copy.rows]
        keys[rows] = copy.keys(base.keys[: copy.rows])
        begin += copy.rows
    return graph_of_edges(head, rel, tail, keys, info=info, draw=draw)
