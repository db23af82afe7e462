"""The reader of each format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from loaders import graph_lines
from loaders.formats import Format
from loaders.graph_parquet import read_graph_parquet
from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.rdf import reader as rdf
from loaders.rdf.json_ld import read_json_ld
from loaders.rdf.rdf_xml import read_rdf_xml
from loaders.rdf.turtle_reader import read_trig, read_turtle
from loaders.records import JsonLineCounter, RdfLineCounter, RecordCounter
from loaders.source import ByteSource, LineBlock
from loaders.subset.filters import DocumentFilter
from loaders.tables import kgtk, names, things
from loaders.tables import reader as tables
from loaders.tables.json_rows import object_counter
from loaders.tables.same_as import read_same_as
from loaders.wikibase import pages
from loaders.wikibase import reader as wikibase

DOCUMENT_FORMATS = frozenset(
    (Format.WIKIBASE_JSON, Format.WIKIBASE_JSON_LINES, Format.MEDIAWIKI_XML)
)
"""Formats that hold an entity with all its statements in one place."""


_COUNTERS: dict[Format, Callable[[], RecordCounter]] = {
    Format.NTRIPLES: RdfLineCounter,
    Format.NQUADS: RdfLineCounter,
    Format.WIKIBASE_JSON_LINES: JsonLineCounter,
    Format.GRAPH_LINES: JsonLineCounter,
}
"""What counts the records of formats of lines, apart from their readers."""


def record_counter(format_: Format, /, head: bytes = b"") -> RecordCounter | None:
    """Returns what counts a source's records by its bytes; None where its reader alone can.

    Args:
        format_: Of the source.
        head: Its first bytes, which tell which tables of things are JSON.
    """
    if format_ is Format.ROWS:
        return object_counter(head)
    counter = _COUNTERS.get(format_)
    return None if counter is None else counter()


class BlockReader(Protocol):
    """Reads a block of lines by itself."""

    def read_block(self, block: LineBlock, /) -> list[Parsed]:
        """Returns what a block holds, in pieces that each end at a line."""


class Reader(Protocol):
    """Reads a source of one format, from the beginning or right after a position."""

    def __call__(
        self, source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
    ) -> Iterator[Parsed]:
        """Yields the source in blocks."""


class RdfReader(Protocol):
    """Reads a source of RDF, from the beginning or right after a position."""

    def __call__(
        self,
        source: ByteSource,
        options: LoadOptions,
        start: Mapping[str, Any],
        /,
        *,
        hold_truthy: bool,
    ) -> Iterator[Parsed]:
        """Yields the source in blocks."""


_RDF_READERS: dict[Format, RdfReader] = {
    Format.NTRIPLES: rdf.read_ntriples,
    Format.NQUADS: rdf.read_nquads,
    Format.TURTLE: read_turtle,
    Format.TRIG: read_trig,
    Format.RDF_XML: read_rdf_xml,
    Format.JSON_LD: read_json_ld,
}
_READERS: dict[Format, Reader] = {
    Format.TSV: tables.read_tsv,
    Format.CSV: tables.read_csv,
    Format.KGTK: kgtk.read_kgtk,
    Format.LABELS: names.read_labels,
    Format.DESCRIPTIONS: names.read_descriptions,
    Format.TYPES: names.read_types,
    Format.SAME_AS: read_same_as,
    Format.GRAPH_LINES: graph_lines.read_graph_lines,
    Format.GRAPH_PARQUET: read_graph_parquet,
    Format.ROWS: things.read_things,
}


def block_reader(
    format_: Format,
    source: ByteSource,
    options: LoadOptions,
    /,
    *,
    documents: DocumentFilter | None = None,
    as_rows: bool = False,
    hold_truthy: bool = False,
) -> BlockReader | None:
    """Returns what reads each block of a source's lines by itself; None where none can.

    It can be sent to another process, and gives what ``read`` does; ``as_rows``, it gives
    statements as ``Parsed.rows``, which takes half the time. Triples can't be read so with
    ``hold_truthy``, for the parts of a full Wikidata statement may lie anywhere.
    """
    if format_ is Format.WIKIBASE_JSON_LINES:
        return wikibase.document_blocks(source, options, documents, as_rows=as_rows)
    if format_ in (Format.NTRIPLES, Format.NQUADS) and not hold_truthy:
        quads = format_ is Format.NQUADS
        return rdf.triple_blocks(source, options, quads=quads, as_rows=as_rows)
    return None


def read(
    format_: Format,
    source: ByteSource,
    options: LoadOptions,
    start: Mapping[str, Any],
    /,
    *,
    documents: DocumentFilter | None = None,
    hold_truthy: bool = False,
) -> Iterator[Parsed]:
    """Yields a source in blocks.

    Args:
        format_: Its format.
        source: Open, at its beginning.
        options: How to read it.
        start: The position of the last block that was taken; empty for the beginning.
        documents: Which of Wikibase's documents are wanted; other formats have none.
        hold_truthy: Whether full statements of Wikidata's are gathered from RDF, and its
            truthy ones given as ``Parsed.truthy``.
    """
    if format_ is Format.WIKIBASE_JSON:
        return wikibase.read_all(source, options, start, documents=documents)
    if format_ is Format.WIKIBASE_JSON_LINES:
        return wikibase.read_lines(source, options, start, documents=documents)
    if format_ is Format.MEDIAWIKI_XML:
        return pages.read_pages(source, options, start, documents=documents)
    if format_ in _RDF_READERS:
        return _RDF_READERS[format_](source, options, start, hold_truthy=hold_truthy)
    return _READERS[format_](source, options, start)
