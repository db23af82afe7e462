"""Blocks of a source read by other processes, their results in order."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from graph_service.errors import InputError, SetupError
from graph_service.store.encoded import encode_statements
from graph_service.worker_pool import WorkerDiedError, WorkerPool, default_worker_count
from loaders.formats import Format
from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.readers import DOCUMENT_FORMATS, BlockReader, block_reader, read
from loaders.source import HEAD_BYTES, ByteSource, LineBlock, line_blocks
from loaders.subset.selection import Selection

# Starting processes takes half a second: that of 20,000 statements.
WORTHWHILE_BYTES = 4 << 20
# Of the shortest lines that are triples, a block of this size holds fewer than a batch may;
# documents are cut at the size of a batch anyway, and the larger the block the less is repeated.
WORKER_BLOCK_BYTES, DOCUMENT_BLOCK_BYTES = 1 << 18, 1 << 20


@dataclass(frozen=True, slots=True)
class SelectedReader:
    """Reads blocks, leaves out what is not selected, and encodes the rest.

    Attributes:
        reader: Reads a block.
        selection: What is loaded; None for everything.
        chosen: Whether the reader chooses entities itself.
    """

    reader: BlockReader
    selection: Selection | None
    chosen: bool

    def __call__(self, block: LineBlock, /) -> list[Parsed]:
        """Returns what a block holds, with statements encoded."""
        pieces = self.reader.read_block(block)
        for parsed in pieces:
            if self.selection is not None:
                self.selection.apply(parsed, chosen=self.chosen)
            try:
                parsed.encoded = encode_statements(parsed.rows or parsed.statements)
            except InputError:
                # The store says of which statement, and nothing of its batch is in.
                parsed.statements.extend(row.statement() for row in parsed.rows)
            else:
                parsed.statements = []
            parsed.rows = []
        return pieces


def read_selected(
    format_: Format,
    source: ByteSource,
    options: LoadOptions,
    start: Mapping[str, Any],
    /,
    *,
    selection: Selection | None,
    hold_truthy: bool = False,
) -> Generator[Parsed, None, None]:
    """Yields what is selected of a source, in blocks, read by other processes where that pays.

    Args:
        format_: Its format.
        source: Open, at its beginning.
        options: How to read it.
        start: The position of the last block that was taken; empty for the beginning.
        selection: What is loaded; None for everything.
        hold_truthy: Whether truthy statements of Wikidata's are given as ``Parsed.truthy``.
    """
    documents = selection.documents if selection is not None else None
    chosen = format_ in DOCUMENT_FORMATS
    as_rows = selection is None
    reader = block_reader(
        format_, source, options, documents=documents, as_rows=as_rows, hold_truthy=hold_truthy
    )
    if reader is None:
        for parsed in read(
            format_, source, options, start, documents=documents, hold_truthy=hold_truthy
        ):
            if selection is not None:
                selection.apply(parsed, chosen=chosen)
            yield parsed
        return
    blocks = line_blocks(
        source,
        offset=int(start.get("offset", 0)),
        line=int(start.get("line", 1)),
        size=DOCUMENT_BLOCK_BYTES if chosen else WORKER_BLOCK_BYTES,
    )
    work = SelectedReader(reader, selection, chosen)
    count = _worker_count(source, options)
    if not count:
        for block in blocks:
            yield from work(block)
        return
    with WorkerPool(work, count=count) as pool, closing(pool.results(blocks)) as results:
        try:
            for pieces in results:
                yield from pieces
        except WorkerDiedError as error:
            raise SetupError(
                f"a process that read line {error.item.line} and the lines after it ended by "
                f"itself (exit code {error.exit_code}); there may be too little memory",
                hint="Run the same command again with --workers 0: it goes on where it was.",
            ) from error


def _worker_count(source: ByteSource, options: LoadOptions) -> int:
    if options.workers is not None:
        return options.workers
    large = source.total_bytes >= WORTHWHILE_BYTES or (
        not source.total_bytes and len(source.head) >= HEAD_BYTES
    )
    return default_worker_count() if large else 0
