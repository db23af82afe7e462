"""Writes a graph to a file beside its place and moves it there when it is whole."""

from __future__ import annotations

import gzip
import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, Protocol, cast

from graph_service.errors import InputError
from graph_service.export.content import ExportedGraph
from graph_service.export.lines import LinesWriter
from graph_service.export.ntriples import NTriplesWriter
from graph_service.export.report import ExportReport, Omissions
from graph_service.export.tables import KgtkWriter, TsvWriter
from graph_service.file_lock import MOVES_OPEN_FILES, lock_file
from graph_service.model.identity import Fingerprints
from graph_service.model.statement import Entity, Statement
from graph_service.output_file import require_file_or_none
from graph_service.store.fingerprinter import Fingerprinter, require_claimed

STANDARD_OUTPUT = "-"
MAX_SHOWN_RELATIONS = 50
_SQLITE_MARK = b"SQLite format 3\0"


class ExportFormat(StrEnum):
    """What a graph can be written as."""

    JSONL = "jsonl"
    PARQUET = "parquet"
    NTRIPLES = "ntriples"
    NQUADS = "nquads"
    TSV = "tsv"
    KGTK = "kgtk"
    NEO4J_CSV = "neo4j-csv"


_SUFFIXES = {
    ".jsonl": ExportFormat.JSONL,
    ".ndjson": ExportFormat.JSONL,
    ".parquet": ExportFormat.PARQUET,
    ".nt": ExportFormat.NTRIPLES,
    ".nq": ExportFormat.NQUADS,
    ".tsv": ExportFormat.TSV,
    ".kgtk": ExportFormat.KGTK,
}


class _Writer(Protocol):
    def entity(self, entity: Entity, /) -> None: ...

    def statement(self, statement: Statement, /) -> None: ...

    def finish(self, fingerprints: Fingerprints, /) -> None: ...


def format_of(out: str, /) -> ExportFormat:
    """Returns the format that a file's name tells; raises ``InputError`` where it tells none."""
    suffixes = [suffix.lower() for suffix in Path(out).suffixes if suffix.lower() != ".gz"]
    format_ = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    if format_ is None:
        raise InputError(
            f"the name {out} tells no format; known are {', '.join(ExportFormat)}",
            argument="format",
            hint="Name it, for instance --format jsonl.",
        )
    return format_


def export(
    exported: ExportedGraph,
    out: str,
    /,
    *,
    format: ExportFormat | None = None,
    labels: str | None = None,
) -> ExportReport:
    """Writes a graph to a file, or to a folder: of Parquet files, or for Neo4j's import.

    It is written beside its place and renamed when it is whole: what stands under the name is
    always a whole export, whenever this is killed.

    Args:
        exported: What to write.
        out: The file (``.gz`` packs it), the folder, or ``-`` for standard output.
        format: As what; by the file's name if None.
        labels: A file for the labels beside a TSV.

    Raises:
        InputError: The name tells no format, the file can't be written, or another process is
            writing it; the folder holds something else.
        StoreCorruptError: The store no longer holds what the graph's fingerprints claim; nothing
            stands under the name then.
    """
    began = time.monotonic()
    format = format or format_of(out)
    if labels is not None and format is not ExportFormat.TSV:
        raise InputError(
            f"a file of labels goes with tsv; {format} holds them itself", argument="labels"
        )
    omissions = Omissions()
    if format is ExportFormat.NEO4J_CSV:
        entities, statements, fingerprints = _write_neo4j(exported, out)
        files: tuple[str, ...] = (out,)
        commands = _import_commands(exported, out)
    elif format is ExportFormat.PARQUET:
        entities, statements, fingerprints = _write_parquet(exported, out)
        files, commands = (out,), _load_commands(out, None, None)
    else:
        with ExitStack() as stack:
            file = stack.enter_context(replaced(out))
            names = stack.enter_context(replaced(labels)) if labels else None
            writer, tsv = _writer(format, file, names, exported, omissions)
            fingerprinter = Fingerprinter()
            for chunk in exported.entities():
                fingerprinter.add_entities(chunk)
                for entity in chunk:
                    writer.entity(entity)
            for rows in exported.statements():
                fingerprinter.add_statements(rows)
                for statement in rows:
                    writer.statement(statement)
            fingerprints = _checked(exported, fingerprinter.fingerprints())
            writer.finish(fingerprints)
        entities, statements = fingerprinter.entities, fingerprinter.statements
        files = (out, labels) if labels else (out,)
        commands = _load_commands(out, labels, tsv)
    left_out = omissions.rows()
    lossless = format in (ExportFormat.JSONL, ExportFormat.PARQUET, ExportFormat.NEO4J_CSV)
    same_edges = not any(row.edges for row in left_out)
    return ExportReport(
        graph=exported.info.name,
        edition=exported.info.edition,
        view=exported.view_id,
        format=format.value,
        files=files,
        entities=entities,
        statements=statements,
        fingerprints=fingerprints,
        comes_back="content" if lossless else "edges" if same_edges else None,
        left_out=left_out,
        commands=commands,
        seconds=time.monotonic() - began,
    )


def _checked(exported: ExportedGraph, fingerprints: Fingerprints) -> Fingerprints:
    """Returns the fingerprints of what was written.

    Raises:
        StoreCorruptError: A graph itself was written, and they are not the ones it claims.
    """
    if exported.overlay is None:
        require_claimed(exported.info.fingerprints, fingerprints, exported.info.edition)
    return fingerprints


def _writer(
    format: ExportFormat,
    file: IO[bytes],
    labels: IO[bytes] | None,
    exported: ExportedGraph,
    omissions: Omissions,
) -> tuple[_Writer, TsvWriter | None]:
    if format is ExportFormat.JSONL:
        return LinesWriter(file, exported), None
    if format is ExportFormat.TSV:
        tsv = TsvWriter(file, labels, omissions)
        return tsv, tsv
    if format is ExportFormat.KGTK:
        return KgtkWriter(file, omissions), None
    quads = format is ExportFormat.NQUADS
    return NTriplesWriter(file, exported, omissions, quads=quads), None


def _load_commands(out: str, labels: str | None, tsv: TsvWriter | None) -> tuple[str, ...]:
    command = ["graph-service", "load", out, "--graph", "NAME"]
    if tsv is not None:
        command += [
            "--format",
            "tsv",
            "--columns",
            "head,relation,tail,id,rank,language,qualifiers",
        ]
        relations = tsv.literal_relations
        if relations and len(relations) <= MAX_SHOWN_RELATIONS:
            command += ["--literal-relations", ",".join(relations)]
        if labels is not None:
            command += ["--label-file", labels]
    return (shlex.join(command),)


def _import_commands(_exported: ExportedGraph, out: str) -> tuple[str, ...]:
    from graph_service.store.neo4j.bulk_csv import import_arguments

    arguments = import_arguments(Path(out).absolute())
    return (
        shlex.join(["neo4j-admin", "database", "import", "full", *arguments]),
        shlex.join(["graph-service", "graphs", "--store", "bolt://localhost:7687"]),
    )


def _write_neo4j(exported: ExportedGraph, out: str) -> tuple[int, int, Fingerprints]:
    """Returns how many entities and statements were written, and their fingerprints."""
    from graph_service.store.neo4j.bulk_csv import Neo4jCsvWriter, is_csv_export

    entities = statements = 0
    is_view = exported.overlay is not None
    with (
        replaced_folder(Path(out), is_export=is_csv_export) as folder,
        Neo4jCsvWriter(folder, exported.info, all_described=is_view) as writer,
    ):
        for chunk in exported.entities():
            entities += len(chunk)
            writer.entities(chunk)
        for rows in exported.statements(in_order=False):
            statements += len(rows)
            writer.statements(rows)
        fingerprints = _checked(exported, writer.fingerprints)
        known = exported.reader.entities(exported.info.edition, writer.relation_ids).entities
        writer.finish(known)
    return entities, statements, fingerprints


def _write_parquet(exported: ExportedGraph, out: str) -> tuple[int, int, Fingerprints]:
    """Returns how many entities and statements were written, and their fingerprints."""
    from graph_service.export.parquet import is_parquet_export, write_parquet

    if out == STANDARD_OUTPUT:
        raise InputError("parquet is a folder; expected its name", argument="out")
    with replaced_folder(Path(out), is_export=is_parquet_export) as folder:
        entities, statements, fingerprints = write_parquet(exported, folder)
        _checked(exported, fingerprints)
    return entities, statements, fingerprints


def is_database(path: Path) -> bool:
    """Returns whether a file that is there is SQLite's: a store, most likely the one read."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_SQLITE_MARK)) == _SQLITE_MARK


@contextmanager
def replaced(out: str, /) -> Iterator[IO[bytes]]:
    """Gives a file to write; it takes the place of ``out`` when the block ends without error.

    What a killed process left beside it is written over by the next.
    """
    if out == STANDARD_OUTPUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(out)
    partial = path.with_name(f".{path.name}.partial")
    require_file_or_none(path)
    if is_database(path):
        raise InputError(
            f"{path} is a database, which an export would take the place of",
            argument="out",
            hint="Name another file, or delete that one first.",
        )
    try:
        raw = partial.open("ab")
    except OSError as error:
        raise InputError(f"can't write {partial}: {error.strerror}", argument="out") from error
    with raw:
        if not lock_file(raw.fileno()):
            raise InputError(f"{path} is being written by another process", argument="out")
        raw.truncate(0)
        try:
            if path.suffix.lower() == ".gz":
                # No name and no time inside: the same graph makes the same bytes.
                with gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
                    yield cast(IO[bytes], packed)
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
        except BaseException:
            _let_go(raw)
            partial.unlink(missing_ok=True)
            raise
        _let_go(raw)
        partial.replace(path)


def _let_go(file: IO[bytes]) -> None:
    """Closes a file that is moved or deleted next, where that can't be done while it is open."""
    if not MOVES_OPEN_FILES:
        file.close()


@contextmanager
def replaced_folder(out: Path, /, *, is_export: Callable[[Path], bool]) -> Iterator[Path]:
    """Gives an empty folder; it takes the place of ``out`` when the block ends without error.

    Args:
        out: The folder's name.
        is_export: Returns whether a folder that is there holds nothing but an earlier export.

    Raises:
        InputError: ``out`` is there and is no folder of an earlier export.
    """
    if out.is_dir() and not is_export(out):
        raise InputError(
            f"{out} holds other files than an export's; expected a new folder", argument="out"
        )
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; expected a folder", argument="out")
    partial = out.with_name(f".{out.name}.partial")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
    except OSError as error:
        raise InputError(f"can't make {partial}: {error.strerror}", argument="out") from error
    try:
        yield partial
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    if out.is_dir():
        shutil.rmtree(out)
    partial.replace(out)
