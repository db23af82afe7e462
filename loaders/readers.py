"""The reader of each format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from loaders import graph_lines
from loaders.formats import Format
from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.rdf import reader as rdf
from loaders.source import ByteSource, LineBlock
from loaders.subset.filters import DocumentFilter
from loaders.tables import kgtk, names
from loaders.tables import reader as tables
from loaders.wikibase import pages
from loaders.wikibase import reader as wikibase

DOCUMENT_FORMATS = frozenset(
    (Format.WIKIBASE_JSON, Format.WIKIBASE_JSON_LINES, Format.MEDIAWIKI_XML)
)
"""Formats that hold an entity with all its statements in one place."""


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


_READERS: dict[Format, Reader] = {
    Format.NTRIPLES: rdf.read_ntriples,
    Format.NQUADS: rdf.read_nquads,
    Format.TURTLE: rdf.read_turtle,
    Format.RDF_XML: rdf.read_rdf_xml,
    Format.TSV: tables.read_tsv,
    Format.CSV: tables.read_csv,
    Format.KGTK: kgtk.read_kgtk,
    Format.LABELS: names.read_labels,
    Format.DESCRIPTIONS: names.read_descriptions,
    Format.TYPES: names.read_types,
    Format.GRAPH_LINES: graph_lines.read_graph_lines,
}


def block_reader(
    format_: Format,
    source: ByteSource,
    options: LoadOptions,
    /,
    *,
    documents: DocumentFilter | None = None,
    as_rows: bool = False,
) -> BlockReader | None:
    """Returns what reads each block of a source's lines by itself; None where none can.

    It can be sent to another process, and gives what ``read`` does; ``as_rows``, it gives
    statements as ``Parsed.rows``, which takes half the time.
    """
    if format_ is Format.WIKIBASE_JSON_LINES:
        return wikibase.document_blocks(source, options, documents, as_rows=as_rows)
    if format_ in (Format.NTRIPLES, Format.NQUADS):
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
) -> Iterator[Parsed]:
    """Yields a source in blocks.

    Args:
        format_: Its format.
        source: Open, at its beginning.
        options: How to read it.
        start: The position of the last block that was taken; empty for the beginning.
        documents: Which of Wikibase's documents are wanted; other formats have none.
    """
    if format_ is Format.WIKIBASE_JSON:
        return wikibase.read_whole(source, options, start, documents=documents)
    if format_ is Format.WIKIBASE_JSON_LINES:
        return wikibase.read_lines(source, options, start, documents=documents)
    if format_ is Format.MEDIAWIKI_XML:
        return pages.read_pages(source, options, start, documents=documents)
    return _READERS[format_](source, options, start)
