"""A load by an engine: what was read in chunks becomes a graph's Parquet files.

Three stages, each made of tasks that leave a record: documents that come more than once, the
statements of each range of keys, the entities of each range of keys. The layout is that of
``export --format parquet``, and so are the fingerprints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from graph_service.cluster.load_documents import Decisions, Resolved, resolve_records
from graph_service.cluster.load_entities import record_of, resolve_entities
from graph_service.cluster.load_rows import (
    layout_columns,
    mention_table,
    scratch_schemas,
    sums_of,
)
from graph_service.cluster.load_statements import (
    RangeCounts,
    StatementConflict,
    resolve_statements,
)
from graph_service.cluster.load_tasks import Engine, KeyRanges
from graph_service.cluster.load_workspace import Workspace
from graph_service.model.graph_info import GraphCounts
from graph_service.model.identity import Fingerprints
from graph_service.store.parquet import (
    ENTITIES,
    STATEMENTS,
    Manifest,
    Part,
    PartSums,
    entity_columns,
    import_pyarrow,
)
from graph_service.store.parquet_writer import GROUP_ROWS, PartWriter, part_file
from graph_service.store.protocol import LoadCounts

RANGE_ROWS = 200_000
"""Rows of a range of keys, more or less: what a task holds in memory."""
READ = "read"
"""The stage in which chunks of the source are read."""
_DOCUMENTS, _RANGE_BITS, _FINISHED = "documents", "range-bits", "finished"
_EDGES = ("edge_low", "edge_high", "content_low", "content_high")

Progress = Callable[[str, int, int], None]
"""Called with a stage, how many of its tasks are done, and how many it has."""


def read_rows_folder(workspace: Workspace, table: str, /) -> Path:
    """Returns the folder of the rows that were read, a file for each chunk."""
    return workspace.folder / READ / table


def standings_file(workspace: Workspace, index: int, /) -> Path:
    """Returns the file with the standings of the entities of a range, int8."""
    return workspace.folder / "standings" / f"{index:08}.npy"


@dataclass(frozen=True, slots=True)
class ReadRows:
    """What the chunks of a source came to.

    Attributes:
        statements, entities: How many rows there are.
        has_documents: Whether entities came as documents with all their statements.
    """

    statements: int
    entities: int
    has_documents: bool


@dataclass(frozen=True, slots=True)
class RowConflict:
    """What a source gives twice under one id with different content.

    Attributes:
        id: Of a statement, or of an entity where ``is_document``.
        sequence, line: Of what is left out.
        stored_sequence, stored_line: Of what stays.
    """

    id: str
    is_document: bool
    sequence: int
    line: int
    stored_sequence: int
    stored_line: int


@dataclass(frozen=True, slots=True)
class LoadedGraph:
    """A graph whose files are written, without its manifest.

    Attributes:
        parts: The files: those of entities, then those of statements.
        counts: What there is.
        load_counts: What became of the statements that were read.
        fingerprints: Of the graph.
        conflicts: What was left out since the source contradicts itself, in its order.
    """

    parts: tuple[Part, ...]
    counts: GraphCounts
    load_counts: LoadCounts
    fingerprints: Fingerprints
    conflicts: Sequence[RowConflict]

    def manifest(self, *, graph: str, edition: str, source: str) -> Manifest:
        """Returns the manifest of the files."""
        return Manifest(
            graph=graph,
            edition=edition,
            view=None,
            source=source,
            entities=sum(part.rows for part in self.parts if part.table == ENTITIES),
            statements=self.counts.statements,
            edges=self.fingerprints.edges,
            content=self.fingerprints.content,
            parts=self.parts,
        )


@dataclass(frozen=True, slots=True)
class ClusterLoad:
    """A load under way whose chunks were read.

    Attributes:
        engine: Runs the tasks.
        workspace: Holds what was read.
        folder: Where the graph's files go.
        read: How much was read.
        progress: Called after each stage.
        range_rows: Rows of a range, more or less.
    """

    engine: Engine
    workspace: Workspace
    folder: Path
    read: ReadRows
    progress: Progress
    range_rows: int = RANGE_ROWS

    def run(self) -> LoadedGraph:
        """Resolves what was read and writes the graph's files; goes on where it was killed.

        Raises:
            KeyCollisionError: Two ids have one key.
        """
        for table in (STATEMENTS, ENTITIES):
            (self.folder / table).mkdir(parents=True, exist_ok=True)
        decisions, conflicts = self._documents()
        folders = [read_rows_folder(self.workspace, STATEMENTS)]
        work: Callable[[int, Any], None] = _StatementRange(self.workspace, self.folder, decisions)
        self._run_ranges(STATEMENTS, folders, self.read.statements, work)
        statements = self._records(STATEMENTS)
        mentions = sum(record["mentions"] for record in statements)
        folders = [read_rows_folder(self.workspace, ENTITIES)]
        if mentions:
            folders.append(_mentions_folder(self.workspace))
        work = _EntityRange(self.workspace, self.folder)
        self._run_ranges(ENTITIES, folders, self.read.entities + mentions, work)
        return _loaded(statements, self._records(ENTITIES), conflicts)

    def _records(self, stage: str) -> list[Any]:
        done = sorted(self.workspace.done(stage))
        return [self.workspace.record(stage, index) for index in done]

    def _run_ranges(
        self, stage: str, folders: Sequence[Path], rows: int, work: Callable[[int, Any], None]
    ) -> None:
        """Runs the tasks of a stage that have no record."""
        workspace = self.workspace
        index = (STATEMENTS, ENTITIES).index(stage)
        # The same in each run of the load.
        bits = workspace.record(_RANGE_BITS, index)
        if bits is None:
            bits = max(0, (max(0, rows - 1) // self.range_rows).bit_length())
            workspace.write_record(_RANGE_BITS, index, bits)
        # A range without a row has no record.
        if workspace.record(_FINISHED, index) is None:
            self.engine.run_ranges(KeyRanges(folders, bits, workspace.done(stage)), work)
            workspace.write_record(_FINISHED, index, True)
        self.progress(stage, len(workspace.done(stage)), 1 << bits)

    def _documents(self) -> tuple[Decisions, list[RowConflict]]:
        """Returns what documents that came more than once mean, and which contradict others."""
        if not self.read.has_documents:
            return Decisions.of(()), []
        record = self.workspace.record(_DOCUMENTS, 0)
        if record is None:
            resolved, conflicts = self._resolve_documents()
            decisions = Decisions.of(resolved)
            fields = asdict(decisions) | {
                "first": list(decisions.first.items()),
                "oldest": list(decisions.oldest.items()),
            }
            record = {"decisions": fields, "conflicts": list(map(asdict, conflicts))}
            self.workspace.write_record(_DOCUMENTS, 0, record)
        fields = record["decisions"]
        for name in ("first", "oldest"):
            fields[name] = {int(key): int(sequence) for key, sequence in fields[name]}
        conflicts = [RowConflict(**each) for each in record["conflicts"]]
        self.progress(_DOCUMENTS, 1, 1)
        return Decisions(**fields), conflicts

    def _resolve_documents(self) -> tuple[list[tuple[int, Resolved]], list[RowConflict]]:
        table = self.engine.repeated_documents(read_rows_folder(self.workspace, ENTITIES))
        table = table.sort_by([("key", "ascending"), ("sequence", "ascending")])
        resolved: list[tuple[int, Resolved]] = []
        conflicts: list[RowConflict] = []
        for key, group in groupby(table.to_pylist(), key=itemgetter("key")):
            each = list(group)
            of_key = resolve_records([record_of(row) for row in each])
            resolved.append((key, of_key))
            conflicts += [
                RowConflict(
                    each[index]["entity"],
                    True,
                    each[index]["sequence"],
                    each[index]["line"],
                    each[stored]["sequence"],
                    each[stored]["line"],
                )
                for index, stored in of_key.conflicts
            ]
        return resolved, sorted(conflicts, key=lambda conflict: conflict.sequence)


@dataclass(frozen=True, slots=True)
class _StatementRange:
    """The task of a range of statements."""

    workspace: Workspace
    folder: Path
    decisions: Decisions

    def __call__(self, index: int, table: Any) -> None:
        # An engine may widen what was required, and merge chunks.
        table = table.select(scratch_schemas()[STATEMENTS].names)
        resolved = resolve_statements(table, self.decisions)
        part, mentions = None, 0
        if resolved.table.num_rows:
            pieces = (
                (layout_columns(piece), sums_of(piece, names=_EDGES))
                for piece in _pieces(resolved.table)
            )
            part = _write_part(self.workspace, self.folder, STATEMENTS, index, pieces)
            mentioned = mention_table(resolved.table)
            mentions = mentioned.num_rows
            path = _mentions_folder(self.workspace) / f"{index:08}.parquet"
            write_rows(self.workspace, path, mentioned)
        record = {
            "part": part,
            "mentions": mentions,
            "counts": asdict(resolved.counts),
            "conflicts": list(map(asdict, resolved.conflicts)),
        }
        self.workspace.write_record(STATEMENTS, index, record)


@dataclass(frozen=True, slots=True)
class _EntityRange:
    """The task of a range of entities."""

    workspace: Workspace
    folder: Path

    def __call__(self, index: int, table: Any) -> None:
        resolved = resolve_entities(table)
        entities = resolved.entities
        part = None
        if entities:
            offsets = range(0, len(entities), GROUP_ROWS)
            pieces = (entity_columns(entities[start : start + GROUP_ROWS]) for start in offsets)
            part = _write_part(self.workspace, self.folder, ENTITIES, index, pieces)
            standings = np.array([entity.standing for entity in entities], dtype=np.int8)
            with (
                self.workspace.new_file(standings_file(self.workspace, index)) as path,
                path.open("wb") as file,
            ):
                np.save(file, standings)
        record = {
            "part": part,
            "relations": resolved.relations,
            "named_relations": resolved.named_relations,
            "names": resolved.names,
        }
        self.workspace.write_record(ENTITIES, index, record)


def _mentions_folder(workspace: Workspace) -> Path:
    return workspace.folder / "mentions"


def write_rows(workspace: Workspace, path: Path, table: Any, /) -> None:
    """Writes rows for an engine to read."""
    arrow = import_pyarrow("a load on a cluster")
    with workspace.new_file(path) as written:
        arrow.parquet.write_table(table, written, compression="zstd")


def _pieces(table: Any) -> Iterator[Any]:
    for start in range(0, table.num_rows, GROUP_ROWS):
        yield table.slice(start, GROUP_ROWS)


def _write_part(
    workspace: Workspace,
    folder: Path,
    table: str,
    index: int,
    pieces: Iterator[tuple[dict[str, Any], Any]],
) -> dict[str, Any]:
    """Writes the file of a range; returns what the manifest says of it."""
    file = part_file(table, index)
    with workspace.new_file(folder / file) as path:
        writer = PartWriter(path, table, file=file)
        for columns, sums in pieces:
            writer.add(columns, sums)
        return asdict(writer.finish())


def _loaded(
    statements: Sequence[Any], entities: Sequence[Any], conflicts: Sequence[RowConflict]
) -> LoadedGraph:
    """Returns the graph that the records of all ranges make."""
    total = RangeCounts()
    of_statements: list[StatementConflict] = []
    for record in statements:
        for name, count in record["counts"].items():
            setattr(total, name, getattr(total, name) + count)
        of_statements += [StatementConflict(**each) for each in record["conflicts"]]
    of_statements.sort(key=lambda conflict: conflict.sequence)
    parts = tuple(
        Part(**record["part"])
        for records in (entities, statements)
        for record in records
        if record["part"] is not None
    )
    sums = PartSums()
    for part in parts:
        sums.add_part(part)
    load_counts = LoadCounts(
        written=total.read
        - total.outdated
        - total.conflicting_documents
        - total.updated
        - total.duplicates
        - total.conflicting,
        updated=total.updated,
        duplicates=total.duplicates,
        removed=total.removed,
        outdated=total.outdated,
        conflicting=total.conflicting + total.conflicting_documents,
    )
    counts = GraphCounts(
        entities=sums.entities - sum(record["named_relations"] for record in entities),
        statements=sums.statements,
        relations=sum(record["relations"] for record in entities),
        literals=total.literals,
        names=sum(record["names"] for record in entities),
    )
    return LoadedGraph(
        parts,
        counts,
        load_counts,
        sums.fingerprints(),
        (
            *conflicts,
            *(
                RowConflict(
                    each.id,
                    False,
                    each.sequence,
                    each.line,
                    each.stored_sequence,
                    each.stored_line,
                )
                for each in of_statements
            ),
        ),
    )
