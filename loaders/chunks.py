"""A source cut into chunks that tasks read on their own, with what the readers of a load give.

Lines of triples and of documents are cut into the blocks that a load on one machine reads. So a
chunk comes to what these blocks come to there. Packed lines are unpacked into chunks once. A plain
table is cut where no cell goes on. Any other file is one chunk.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from graph_service.cluster.load import READ, read_rows_folder
from graph_service.cluster.load_rows import (
    CHUNK_BITS,
    record_rows,
    scratch_schemas,
    statement_table,
)
from graph_service.cluster.load_workspace import Workspace
from graph_service.errors import InputError
from graph_service.model.serialise import from_plain, to_plain
from graph_service.store.encoded import encode_statements
from graph_service.store.parquet import ENTITIES, STATEMENTS, import_pyarrow
from loaders.files import SourceFile, UnreadableFileError
from loaders.formats import Format
from loaders.items import Parsed, Reject
from loaders.options import LoadOptions
from loaders.rdf.reader import TripleReader, holds_wikidata
from loaders.readers import DOCUMENT_FORMATS, BlockReader, read, record_counter
from loaders.source import LineBlock, line_blocks, open_source
from loaders.tables.dialect import encoding_of, recognise_dialect
from loaders.tables.rows import ColumnsError, Row, read_rows
from loaders.tally import GraphTally
from loaders.truthy import begins_full
from loaders.wikibase.documents import Languages
from loaders.wikibase.reader import DocumentReader
from loaders.workers import DOCUMENT_BLOCK_BYTES, WORKER_BLOCK_BYTES

CHUNK_BYTES = 16 << 20
"""Bytes of lines in a chunk, more or less: two minutes of a core at most."""
_LINES = (Format.NTRIPLES, Format.NQUADS, Format.WIKIBASE_JSON_LINES)
_TABLES = (Format.TSV, Format.CSV)
_FLUSHED_ROWS = 50_000


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file of a source.

    Attributes:
        path: As the load was given it.
        absolute: Where tasks find it.
        format: Its format; None where it is passed over, ``problem`` says why if it is a fault.
        compression: How it is packed.
        is_optional: Whether it is one of several.
        scope: Of its blank nodes, in hexadecimal digits; "" where it has none.
        is_wikidata: Whether its beginning is RDF of Wikidata's.
        records: How many records its bytes hold; None where its reader alone can count.
        problem: Why these can't be all, or why it can't be read; "" if they can.
        is_damaged: Whether its bytes ended in an error.
    """

    path: str
    absolute: str
    format: str | None
    compression: str | None = None
    is_optional: bool = False
    scope: str = ""
    is_wikidata: bool = False
    records: int | None = None
    problem: str = ""
    is_damaged: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A block of lines: the fields of ``LineBlock``, with its size in place of its bytes."""

    offset: int
    line: int
    size: int
    problem: str
    lost_lines: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """What one task reads.

    Attributes:
        file: Index of the file.
        blocks: The blocks of lines, if it is of lines.
        start, end: The part of a table; end None for the file's.
        line: The line at ``start``.
    """

    file: int
    blocks: tuple[Block, ...] = ()
    start: int = 0
    end: int | None = None
    line: int = 1


@dataclass(frozen=True, slots=True)
class SourcePlan:
    """How a source is cut.

    Attributes:
        files: In the order they are read.
        chunks: How many chunks there are.
        chunk_files: Index of the file of each chunk.
    """

    files: tuple[PlannedFile, ...]
    chunks: int
    chunk_files: tuple[int, ...]


@dataclass(slots=True)
class ChunkTally:
    """What a chunk came to.

    Attributes:
        tally: The counts, without rejects.
        rejects: What could not be read.
        records: Of a file that is one chunk: how many records its bytes hold, if that is known.
        problem: Why these can't be all.
        is_damaged: Whether its bytes ended in an error.
        statement_nodes: Whether triples of full Wikidata statements were passed over.
        has_documents: Whether entities came that are not merged.
    """

    tally: GraphTally = field(default_factory=GraphTally)
    rejects: list[Reject] = field(default_factory=list)
    records: int | None = None
    problem: str = ""
    is_damaged: bool = False
    statement_nodes: bool = False
    has_documents: bool = False


def plan_source(
    files: Sequence[SourceFile],
    options: LoadOptions,
    workspace: Workspace,
    /,
    *,
    chunk_bytes: int = CHUNK_BYTES,
) -> SourcePlan:
    """Cuts a source into chunks, which are written into the workspace.

    Args:
        files: Of the source.
        options: How it is read.
        workspace: Where the chunks go.
        chunk_bytes: Bytes of a chunk, more or less.

    Raises:
        InputError: A file can't be read, or not by a cluster.
    """
    planned: list[PlannedFile] = []
    chunk_files: list[int] = []
    for index, file in enumerate(files):
        chunks = _Chunks(workspace, index, len(chunk_files), chunk_bytes)
        planned.append(_plan_file(file, options, chunks))
        chunk_files += [index] * chunks.count
    return SourcePlan(tuple(planned), len(chunk_files), tuple(chunk_files))


class _Chunks:
    """Writes the chunks of a file."""

    def __init__(self, workspace: Workspace, file: int, first: int, chunk_bytes: int) -> None:
        self.workspace, self.file, self._first = workspace, file, first
        self.chunk_bytes = chunk_bytes
        self.count = 0

    def add(self, chunk: Chunk, data: Sequence[bytes] | None = None, /) -> None:
        """Adds a chunk, with its bytes where the file is packed."""
        index = self._first + self.count
        if data is not None:
            with self.workspace.new_file(_data_path(self.workspace, index)) as path:
                path.write_bytes(zlib.compress(b"".join(data), 1))
        with self.workspace.new_file(_chunk_path(self.workspace, index)) as path:
            path.write_bytes(orjson.dumps(to_plain(chunk)))
        self.count += 1


def _chunk_path(workspace: Workspace, index: int) -> Path:
    return workspace.folder / "chunks" / f"{index:08}.json"


def _data_path(workspace: Workspace, index: int) -> Path:
    return workspace.folder / "chunks" / f"{index:08}.lines.z"


def _plan_file(file: SourceFile, options: LoadOptions, chunks: _Chunks) -> PlannedFile:
    absolute = str(Path(file.path).absolute())
    with open_source(file.path, limits=options.limits) as source:
        try:
            format_ = file.format_of(source)
        except UnreadableFileError as error:
            return PlannedFile(file.path, absolute, None, problem=str(error))
        if format_ is None:
            return PlannedFile(file.path, absolute, None)
        if begins_full(format_, source):
            raise full_statements_error(file.path)
        planned = PlannedFile(
            file.path, absolute, format_.value, source.compression, is_optional=file.optional
        )
        if format_ in _LINES:
            if format_ is not Format.WIKIBASE_JSON_LINES:
                planned = replace(
                    planned,
                    scope=source.document_key().hex(),
                    is_wikidata=holds_wikidata(source.head),
                )
            counter = record_counter(format_)
            assert counter is not None
            source.watch(counter.feed)
            size = DOCUMENT_BLOCK_BYTES if format_ in DOCUMENT_FORMATS else WORKER_BLOCK_BYTES
            _cut_lines(line_blocks(source, size=size), planned, chunks)
            return replace(
                planned,
                records=counter.count,
                problem=counter.problem,
                is_damaged=source.is_damaged,
            )
        if format_ in _TABLES and source.compression is None:
            dialect = recognise_dialect(source.head, encoding=encoding_of(source, options.encoding))

            def pass_over(_row: Row, _parsed: Parsed) -> None:
                """Takes nothing: the rows are cut here, and read by tasks."""

            start, line = 0, 1
            for parsed in read_rows(source, {}, dialect, pass_over):
                at = int(parsed.position["offset"])
                if at - start >= chunks.chunk_bytes:
                    chunks.add(Chunk(chunks.file, start=start, end=at, line=line))
                    start, line = at, int(parsed.position["line"])
            chunks.add(Chunk(chunks.file, start=start, line=line))
            return planned
    chunks.add(Chunk(chunks.file))
    return planned


def _cut_lines(blocks: Iterator[LineBlock], planned: PlannedFile, chunks: _Chunks) -> None:
    begun: list[Block] = []
    data: list[bytes] = []
    size = 0

    def add() -> None:
        if begun:
            chunks.add(Chunk(chunks.file, tuple(begun)), data if planned.compression else None)
        begun.clear()
        data.clear()

    for block in blocks:
        begun.append(
            Block(block.offset, block.line, len(block.data), block.problem, block.lost_lines)
        )
        if planned.compression:
            data.append(block.data)
        size += len(block.data)
        if size >= chunks.chunk_bytes:
            add()
            size = 0
    add()


def full_statements_error(path: str, /) -> InputError:
    """Returns the error for full statements of Wikidata's in RDF, whose parts lie anywhere."""
    return InputError(
        f"{path} has full statements of Wikidata's in RDF, or truthy ones beside full ones; their "
        "parts may lie anywhere in the source, which a cluster does not gather",
        argument="source",
        hint="Load Wikidata's JSON dump, its truthy N-Triples alone, or this source on one machine.",
    )


@dataclass(frozen=True, slots=True)
class ChunkReader:
    """The task of a chunk: its rows as Parquet files, and a record of what was counted.

    Attributes:
        workspace: Where the chunk lies, and where its rows go.
        files: Of the source.
        options: How it is read.
    """

    workspace: Workspace
    files: tuple[PlannedFile, ...]
    options: LoadOptions

    def __call__(self, index: int, /) -> None:
        """Reads a chunk.

        Raises:
            InputError: It holds what no store can hold, or a table does not say what it is.
        """
        chunk = from_plain(Chunk, orjson.loads(_chunk_path(self.workspace, index).read_bytes()))
        file = self.files[chunk.file]
        came = ChunkTally()
        with _RowFiles(self.workspace, index) as rows:
            try:
                for parsed in self._pieces(index, chunk, file, came):
                    self._take(parsed, file, came, rows)
            except ColumnsError as error:
                if not file.is_optional:
                    raise
                # One table among files that can be read is one reject, whatever its chunks.
                if chunk.start == 0:
                    came.rejects.append(Reject(file.path, 1, 0, str(error)))
        self.workspace.write_record(READ, index, to_plain(came))
        _data_path(self.workspace, index).unlink(missing_ok=True)

    def _pieces(
        self, index: int, chunk: Chunk, file: PlannedFile, came: ChunkTally
    ) -> Iterator[Parsed]:
        format_ = Format(file.format or "")
        if format_ in _LINES:
            reader = self._block_reader(format_, file)
            for block in self._blocks(index, chunk, file):
                yield from reader.read_block(block)
            return
        with open_source(file.absolute, limits=self.options.limits) as source:
            counter = record_counter(format_)
            if counter is not None:
                source.watch(counter.feed)
            start: dict[str, Any] = {}
            if chunk.start or chunk.end is not None:
                source.narrow(chunk.start, chunk.end)
                start = {"offset": chunk.start, "line": chunk.line}
            yield from read(format_, source, self.options, start)
            came.is_damaged = source.is_damaged
            if counter is not None:
                came.records, came.problem = counter.count, counter.problem

    def _block_reader(self, format_: Format, file: PlannedFile) -> BlockReader:
        options = self.options
        if format_ is Format.WIKIBASE_JSON_LINES:
            languages = Languages(frozenset(options.languages), options.fallback_languages)
            return DocumentReader(file.path, languages, None, options.batch_size, as_rows=True)
        return TripleReader(
            file.path,
            format_ is Format.NQUADS,
            bytes.fromhex(file.scope),
            options.term_languages,
            options.label_language,
            options.redirects == "alias",
            file.is_wikidata,
            as_rows=True,
        )

    def _blocks(self, index: int, chunk: Chunk, file: PlannedFile) -> Iterator[LineBlock]:
        packed = None
        if file.compression:
            packed = zlib.decompress(_data_path(self.workspace, index).read_bytes())
        at = 0
        with open(file.absolute, "rb") as plain:
            for block in chunk.blocks:
                if packed is not None:
                    data = packed[at : at + block.size]
                    at += block.size
                else:
                    plain.seek(block.offset)
                    data = plain.read(block.size)
                if len(data) != block.size:
                    raise InputError(
                        f"{file.path} is shorter than when its load began", argument="source"
                    )
                yield LineBlock(data, block.offset, block.line, block.problem, block.lost_lines)

    def _take(self, parsed: Parsed, file: PlannedFile, came: ChunkTally, rows: _RowFiles) -> None:
        parsed.mark(0)
        encoded = encode_statements(parsed.rows or parsed.all_statements)
        came.tally.count(parsed, len(encoded))
        came.tally.forms |= parsed.forms
        came.statement_nodes |= parsed.statement_nodes
        came.has_documents |= not parsed.terms_only
        came.rejects += [
            replace(reject, file=file.path) if reject.file == file.absolute else reject
            for reject in parsed.rejects
        ]
        is_names_only = file.format == Format.SAME_AS or (
            file.format in (Format.LABELS, Format.DESCRIPTIONS)
            and not self.options.entities_from_labels
        )
        rows.add(
            statement_table(encoded, parsed.lines, rows.next_statement),
            record_rows(
                parsed.entities,
                parsed.documents,
                encoded,
                lines=parsed.lines,
                entity_lines=parsed.entity_lines,
                first_statement=rows.next_statement,
                first_record=rows.next_record,
                is_merged=parsed.terms_only,
                is_names_only=is_names_only,
            ),
        )


class _RowFiles:
    """Writes the rows of a chunk, some at a time; a context manager."""

    def __init__(self, workspace: Workspace, index: int) -> None:
        self._arrow = import_pyarrow("a load on a cluster")
        self._workspace, self._index = workspace, index
        self.next_statement = self.next_record = index << CHUNK_BITS
        self._statements: list[Any] = []
        self._records: list[dict[str, Any]] = []
        self._pending = 0

    def __enter__(self) -> _RowFiles:
        name = f"{self._index:08}.parquet"
        schemas = scratch_schemas()
        self._files = ExitStack()
        self._writers = {}
        for table in (STATEMENTS, ENTITIES):
            path = read_rows_folder(self._workspace, table) / name
            written = self._files.enter_context(self._workspace.new_file(path))
            self._writers[table] = self._files.enter_context(
                self._arrow.parquet.ParquetWriter(written, schemas[table], compression="zstd")
            )
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        if kind is None:
            self._flush()
        self._files.__exit__(kind, *rest)

    def add(self, statements: Any, records: list[dict[str, Any]], /) -> None:
        """Adds rows of statements and their records; many rows at once go to disk."""
        self._statements.append(statements)
        self._records += records
        self.next_statement += statements.num_rows
        self.next_record += len(records)
        self._pending += statements.num_rows + len(records)
        if self._pending >= _FLUSHED_ROWS:
            self._flush()

    def _flush(self) -> None:
        if self._statements:
            self._writers[STATEMENTS].write_table(self._arrow.concat_tables(self._statements))
        if self._records:
            schema = scratch_schemas()[ENTITIES]
            self._writers[ENTITIES].write_table(
                self._arrow.Table.from_pylist(self._records, schema=schema)
            )
        self._statements, self._records, self._pending = [], [], 0


def chunk_tally(workspace: Workspace, index: int, /) -> ChunkTally:
    """Returns what a chunk came to, which was read."""
    return from_plain(ChunkTally, workspace.record(READ, index))
