"""A load by an engine that speaks Spark Connect: its source, its report and its files.

``loaders.chunks`` cuts the source, tasks read the chunks, and ``graph_service.cluster.load`` makes
a graph of what they read. What was counted and rejected is reported as on one machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from graph_service import __version__
from graph_service.cluster.load import (
    RANGE_ROWS,
    READ,
    ClusterLoad,
    LoadedGraph,
    Progress,
    ReadRows,
    RowConflict,
)
from graph_service.cluster.load_rows import CHUNK_BITS
from graph_service.cluster.load_tasks import Engine
from graph_service.cluster.load_workspace import Workspace, open_workspace
from graph_service.cluster.paths import shared_path
from graph_service.errors import InputError
from graph_service.model.graph_info import GraphInfo
from graph_service.model.serialise import from_plain, to_plain
from graph_service.store.names import now_text
from graph_service.store.parquet import MANIFEST
from graph_service.store.protocol import Conflict
from loaders.chunks import (
    CHUNK_BYTES,
    ChunkReader,
    ChunkTally,
    SourcePlan,
    chunk_tally,
    full_statements_error,
    plan_source,
)
from loaders.files import SourceFile, source_files
from loaders.items import Reject
from loaders.options import LoadOptions
from loaders.readers import DOCUMENT_FORMATS
from loaders.rejects import RejectsFile, conflict_reject
from loaders.report import UNRECOGNISED_REASON, LoadReport
from loaders.source import STANDARD_INPUT
from loaders.tables.dialect import check_encoding
from loaders.tables.header import check_columns
from loaders.tables.plan import request_of
from loaders.tally import GraphTally


class TargetKind(StrEnum):
    """What a load on a cluster writes."""

    PARQUET = "parquet"
    NEO4J_IMPORT = "neo4j-import"


@dataclass(frozen=True, slots=True)
class Target:
    """What a load writes, and where.

    Attributes:
        kind: The files.
        folder: A new folder, which this process and the engine both see.
    """

    kind: TargetKind
    folder: Path


@dataclass(frozen=True, slots=True)
class LoadSizes:
    """How large the tasks of a load are.

    Attributes:
        chunk_bytes: Bytes of a chunk of the source, more or less.
        range_rows: Rows of a range of keys, more or less.
    """

    chunk_bytes: int = CHUNK_BYTES
    range_rows: int = RANGE_ROWS


def read_target(text: str, /) -> Target:
    """Returns what ``--to`` names: ``parquet:FOLDER`` or ``neo4j-import:FOLDER``.

    Raises:
        InputError: It is neither, or the folder is no path that an engine reads.
    """
    kind, _, location = text.partition(":")
    location = location.removeprefix("file://")
    if kind not in tuple(TargetKind) or not location or "://" in location:
        raise InputError(
            f"{text!r} is no target; expected parquet:FOLDER or neo4j-import:FOLDER, a path that "
            "this process and the engine both see",
            argument="to",
            hint="For instance --to parquet:/mnt/shared/wikidata.parquet",
        )
    return Target(TargetKind(kind), shared_path(Path(location), argument="to"))


def cluster_load(
    source: str,
    target: Target,
    /,
    *,
    graph: str,
    options: LoadOptions,
    open_engine: Callable[[], AbstractContextManager[Engine]],
    progress: Progress = lambda _stage, _done, _total: None,
    sizes: LoadSizes = LoadSizes(),
) -> LoadReport:
    """Loads a file or a folder of files by an engine.

    Run again after it was killed, with the same source and options, it goes on where it was: no
    task that was done is done again.

    Args:
        source: Path.
        target: What to write.
        graph: Name of the graph.
        options: How to read the source.
        open_engine: Opens what runs the tasks.
        progress: Called as stages go on.
        sizes: How large tasks are.

    Raises:
        InputError: The source or an option is wrong or not for a cluster, nothing in it could be
            read, or something was rejected and ``options.strict``.
        SetupError: No engine answers.
        StoreError: Two ids have one key.
    """
    began = time.monotonic()
    options.check()
    _require_supported(source, options)
    check_columns(options.columns)
    check_encoding(options.encoding)
    files = source_files(source, options)
    is_parquet = target.kind is TargetKind.PARQUET
    finished = MANIFEST if is_parquet else "edition.csv"
    workspace = open_workspace(target.folder, finished=finished)
    decisive = {
        **options.to_json(),
        "files": [[str(Path(file.path).absolute()), *file.identity] for file in files],
        "sizes": asdict(sizes),
        "graph": graph,
        "target": target.kind,
        "tool": __version__,
    }
    stored = workspace.begin(decisive)
    if stored is not None:
        plan = from_plain(SourcePlan, stored)
    else:
        plan = plan_source(files, options, workspace, chunk_bytes=sizes.chunk_bytes)
        _require_same_kind(files, plan)
        workspace.write_plan(decisive, to_plain(plan))
    folder = target.folder if is_parquet else workspace.folder / "graph"
    with ExitStack() as stack:
        engine = stack.enter_context(open_engine())
        done = workspace.done(READ)
        progress(READ, len(done), plan.chunks)
        left = [index for index in range(plan.chunks) if index not in done]
        if left:
            engine.run_tasks(left, ChunkReader(workspace, plan.files, options))
            progress(READ, plan.chunks, plan.chunks)
        report = _Report(source, graph, plan, options, resumed=stored is not None)
        stack.callback(report.close)
        read = report.read(workspace)
        loaded = ClusterLoad(engine, workspace, folder, read, progress, sizes.range_rows).run()
        return _publish(report, loaded, target, workspace, folder, began)


def _publish(
    report: _Report,
    loaded: LoadedGraph,
    target: Target,
    workspace: Workspace,
    folder: Path,
    began: float,
) -> LoadReport:
    """Writes what makes the graph whole, and deletes the workspace."""
    result = report.finish(loaded, seconds=time.monotonic() - began)
    info = result.graph
    assert info is not None
    if target.kind is TargetKind.PARQUET:
        manifest = loaded.manifest(graph=info.name, edition=info.edition, source=info.source)
        with workspace.new_file(folder / MANIFEST) as path:
            path.write_bytes(manifest.to_bytes())
    else:
        from graph_service.cluster.load_neo4j import write_import_files

        write_import_files(workspace, folder, loaded, info, target.folder)
    workspace.remove()
    return result


def _require_supported(source: str, options: LoadOptions) -> None:
    """Raises ``InputError`` for what a cluster does not load, naming it."""
    refused = None
    if source == STANDARD_INPUT:
        refused = "standard input"
    elif options.endpoint is not None or options.neo4j is not None:
        refused = "what is asked over a network"
    elif request_of(options) is not None:
        refused = "tables whose rows are things (--row, --mapping)"
    elif not options.filters.is_empty:
        refused = "a part of a source (filters)"
    elif options.redirects == "resolve":
        refused = "with --redirects resolve"
    if refused is not None:
        raise InputError(
            f"a cluster does not load {refused}; expected files that are loaded as they are",
            argument="source",
            hint="Load it on one machine: graph-service load.",
        )


def _require_same_kind(files: Sequence[SourceFile], plan: SourcePlan) -> None:
    """Raises ``InputError`` for documents beside triples or tables, whose order would matter."""
    formats = {
        planned.format
        for file, planned in zip(files, plan.files, strict=True)
        if file.selected and planned.format is not None
    }
    documents = formats & DOCUMENT_FORMATS
    if documents and formats - documents:
        raise InputError(
            f"a cluster does not load documents ({', '.join(sorted(documents))}) beside statements "
            f"({', '.join(sorted(formats - documents))}), of which a document replaces some",
            argument="source",
            hint="Load each by itself, or all on one machine: graph-service load.",
        )


@dataclass(frozen=True, slots=True)
class _Counted:
    """What ``GraphTally.end_file`` asks of a counter."""

    count: int
    problem: str

    def feed(self, data: bytes, /) -> None:
        """Takes nothing: all bytes were counted."""


class _Report:
    """What is counted and rejected, in the order of the source."""

    def __init__(
        self, source: str, graph: str, plan: SourcePlan, options: LoadOptions, *, resumed: bool
    ) -> None:
        self._source, self._graph, self._plan = source, graph, plan
        self._options, self._resumed = options, resumed
        self._tally = GraphTally()
        self._rejects = RejectsFile(options.rejects_path, committed={})

    def close(self) -> None:
        """Closes the file of rejects."""
        self._rejects.close()

    def read(self, workspace: Workspace, /) -> ReadRows:
        """Counts what the chunks came to.

        Raises:
            InputError: Nothing can be loaded, or something was rejected of a strict load.
        """
        tally = self._tally
        has_documents = False
        chunk = 0
        for index, file in enumerate(self._plan.files):
            last = ChunkTally(records=file.records, problem=file.problem)
            is_damaged = file.is_damaged
            if file.format is None:
                if file.problem:
                    self._reject([Reject(file.path, 0, 0, file.problem)])
                else:
                    tally.pass_over(file.path, UNRECOGNISED_REASON)
                last.problem = ""
            else:
                tally.formats[file.format] += 1
            while chunk < self._plan.chunks and self._plan.chunk_files[chunk] == index:
                came = chunk_tally(workspace, chunk)
                chunk += 1
                _add(tally, came.tally)
                self._reject(came.rejects)
                if came.statement_nodes or len(tally.forms) > 1:
                    raise full_statements_error(file.path)
                has_documents |= came.has_documents
                is_damaged |= came.is_damaged
                if came.records is not None:
                    last.records, last.problem = came.records, came.problem
            counted = None if last.records is None else _Counted(last.records, last.problem)
            self._reject(tally.end_file(file.path, counted, is_damaged=is_damaged, is_remote=False))
        if not (tally.statements or tally.entities):
            raise InputError(
                f"{self._source} holds nothing that can be loaded"
                f"{tally.reasons(self._rejects.path)}",
                argument="source",
            )
        return ReadRows(tally.statements, tally.entities, has_documents)

    def finish(self, loaded: LoadedGraph, /, *, seconds: float) -> LoadReport:
        """Returns the report of the graph that was made."""
        tally, options = self._tally, self._options
        fields: dict[str, Any] = {
            "source": self._source,
            "formats": dict(tally.formats),
            "graph_name": self._graph,
            "status": "published",
            "read_statements": tally.statements,
            "read_entities": tally.entities,
            "kept": {reason: count for reason, count in tally.kept.items() if count},
            "incomplete": dict(tally.incomplete),
            "wikidata_forms": sorted(tally.forms),
            "records": tally.records,
            "source_records": tally.source_records,
            "unrecognised": tuple(tally.unrecognised),
            "seconds": seconds,
            "resumed": self._resumed,
        }
        self._reject([self._conflict(conflict) for conflict in loaded.conflicts])
        fields |= {
            "skipped": {reason: count for reason, count in tally.skipped.items() if count},
            "rejected": tally.rejected,
            "rejects": tuple(tally.first_rejects),
            "rejects_path": str(self._rejects.path) if tally.rejected else None,
        }
        report = LoadReport(graph=None, counts=loaded.load_counts, **fields)
        info = GraphInfo(
            name=self._graph,
            edition=f"{self._graph}@1",
            counts=loaded.counts,
            fingerprints=loaded.fingerprints,
            source=self._source,
            published_at=now_text(),
            options=options.to_json(),
            tool_version=__version__,
            report=report.to_json(),
        )
        return LoadReport(graph=info, counts=loaded.load_counts, **fields)

    def _conflict(self, conflict: RowConflict) -> Reject:
        return conflict_reject(
            Conflict(
                conflict.id,
                conflict.is_document,
                self._path_of(conflict.sequence),
                conflict.line,
                self._path_of(conflict.stored_sequence),
                conflict.stored_line,
            )
        )

    def _path_of(self, sequence: int) -> str:
        return self._plan.files[self._plan.chunk_files[sequence >> CHUNK_BITS]].path

    def _reject(self, rejects: Sequence[Reject]) -> None:
        if not rejects:
            return
        self._tally.reject(rejects)
        self._rejects.add(rejects)
        if self._options.strict:
            raise self._rejects.strict_error(rejects[0], nothing="published", mend="source")


def _add(tally: GraphTally, other: GraphTally) -> None:
    """Adds what a chunk came to, but its rejects."""
    tally.statements += other.statements
    tally.entities += other.entities
    tally.skipped.update(other.skipped)
    tally.kept.update(other.kept)
    tally.incomplete.update(other.incomplete)
    tally.forms |= other.forms
    tally.file_records.add(other.file_records)
