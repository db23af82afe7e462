"""RDF as a source: N-Triples and N-Quads, and what all of RDF shares.

The mapping: resources are entities, predicates relations; labels, descriptions and aliases
become terms by language; ``owl:sameAs`` becomes a link that look-up follows; everything else is
a statement with a typed value. Wikidata's predicates become its properties, see
``loaders.wikidata_rdf`` for its full statements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import pyoxigraph as ox

from loaders.items import FULL, Parsed, Reject, excerpt
from loaders.options import LoadOptions
from loaders.rdf.mapping import Mapper
from loaders.rdf.terms import LANGUAGE_TAG_REASON, lenient_quads
from loaders.rdf.wikidata import StatementNodes
from loaders.records import count_rdf_lines
from loaders.source import ByteSource, LineBlock, line_blocks

_PIECE_STATEMENTS = 500
CHUNK_TRIPLES = 5_000
"""Triples of a block, where lines don't cut a source into blocks."""
_WIKIDATA = (b"wikiba.se/ontology", b"www.wikidata.org/prop/")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# RDF strings may hold NUL, written plainly or escaped; stores may not.
_NUL = re.compile(rb"\x00|\\u0000|\\U00000000")


def holds_wikidata(data: bytes, /) -> bool:
    """Returns whether RDF has predicates that only Wikidata's has."""
    return any(mark in data for mark in _WIKIDATA)


def without_mark(data: bytes, /) -> bytes:
    """Returns the beginning of a document without the mark that says it is UTF-8."""
    return data.removeprefix(_BYTE_ORDER_MARK)


def mapper_of(source: ByteSource, options: LoadOptions, /, *, hold_truthy: bool) -> Mapper:
    """Returns the mapper of a document's triples; one that gathers full Wikidata statements."""
    nodes = StatementNodes() if hold_truthy else None
    return _triple_reader(source, options, ox.RdfFormat.TURTLE).mapper(nodes)


@dataclass(frozen=True, slots=True)
class TripleReader:
    """How lines of triples are read; it can be sent to another process.

    Attributes:
        name: Of the source, for rejects.
        quads: Whether lines may have a fourth term.
        scope: Tells this document's blank nodes from another's.
        languages, label_language, redirect_aliases, wikidata, as_rows: As for ``Mapper``.
    """

    name: str
    quads: bool
    scope: bytes
    languages: frozenset[str]
    label_language: str
    redirect_aliases: bool
    wikidata: bool
    as_rows: bool = False

    def mapper(self, nodes: StatementNodes | None = None, /) -> Mapper:
        """Returns a mapper of triples; of full Wikidata statements, if parts go to ``nodes``."""
        return Mapper(
            scope=self.scope,
            languages=self.languages,
            label_language=self.label_language,
            redirect_aliases=self.redirect_aliases,
            nodes=nodes,
            wikidata=self.wikidata,
            as_rows=self.as_rows,
        )

    def read_block(self, block: LineBlock, /) -> list[Parsed]:
        """Returns the statements and terms of a block of lines."""
        return [self.read(block, self.mapper())]

    def read(self, block: LineBlock, mapper: Mapper, /) -> Parsed:
        """Returns what a mapper makes of a block."""
        parsed = Parsed(terms_only=True)
        if block.problem:
            parsed.rejects.append(Reject(self.name, block.line, block.offset, block.problem))
            parsed.counts.rejected += block.lost_lines
            end_line = block.line
        else:
            mapper.begin(parsed, check_text=_NUL.search(block.data) is not None)
            mapper.wikidata |= holds_wikidata(block.data)
            format_ = ox.RdfFormat.N_QUADS if self.quads else ox.RdfFormat.N_TRIPLES
            _read_block(block, mapper, parsed, self.name, format_)
            mapper.end()
            parsed.count_skipped()
            end_line = block.line + block.data.count(b"\n")
        parsed.position = {"offset": block.offset + len(block.data), "line": end_line}
        parsed.line = end_line
        return parsed


def _triple_reader(
    source: ByteSource, options: LoadOptions, format_: ox.RdfFormat, /, *, as_rows: bool = False
) -> TripleReader:
    return TripleReader(
        source.name,
        format_ == ox.RdfFormat.N_QUADS,
        source.document_key(),
        options.term_languages,
        options.label_language,
        options.redirects == "alias",
        holds_wikidata(source.head),
        as_rows,
    )


def triple_blocks(
    source: ByteSource, options: LoadOptions, /, *, quads: bool, as_rows: bool
) -> TripleReader:
    """Returns the reader of blocks of triples, each by itself."""
    format_ = ox.RdfFormat.N_QUADS if quads else ox.RdfFormat.N_TRIPLES
    return _triple_reader(source, options, format_, as_rows=as_rows)


def _read_lines(
    source: ByteSource,
    options: LoadOptions,
    start: Mapping[str, Any],
    /,
    *,
    format_: ox.RdfFormat,
    hold_truthy: bool,
) -> Iterator[Parsed]:
    """Yields triples block by block; each line that can't be read is a reject.

    The fourth term of a quad is the statement's context.
    """
    reader = _triple_reader(source, options, format_)
    with closing(mapper_of(source, options, hold_truthy=hold_truthy)) as mapper:
        for block in line_blocks(
            source, offset=int(start.get("offset", 0)), line=int(start.get("line", 1))
        ):
            yield reader.read(block, mapper)
        yield from node_pieces(mapper)


read_ntriples = partial(_read_lines, format_=ox.RdfFormat.N_TRIPLES)
read_nquads = partial(_read_lines, format_=ox.RdfFormat.N_QUADS)


def _read_block(
    block: LineBlock, mapper: Mapper, parsed: Parsed, name: str, format_: ox.RdfFormat
) -> None:
    try:
        # All of the block is parsed before any of it is taken, so that a block that fails can
        # be read again line by line (told to go on, the parser loses the next good line).
        quads = list(ox.parse(without_mark(block.data), format=format_))
    except SyntaxError:
        pass
    else:
        # Where the parser finds another number of triples than there are lines, each is looked at.
        if not mapper.check_text and len(quads) == count_rdf_lines(block.data):
            for quad in quads:
                mapper.add(quad)
            parsed.counts.read += len(quads)
            return
    offset, line = block.offset, block.line
    for text in block.data.split(b"\n"):
        # CR ends a line too, and is no line's end to whoever counts lines.
        for part in text.split(b"\r"):
            size = len(part) + 1
            if offset == 0:
                part = without_mark(part)
            if part.strip():
                problem = _read_line(part, mapper, parsed, format_)
                if problem:
                    parsed.counts.rejected += 1
                    rejected = Reject(name, line, offset, problem, excerpt(part.strip()))
                    parsed.rejects.append(rejected)
            offset += size
        line += 1


def _read_line(text: bytes, mapper: Mapper, parsed: Parsed, format_: ox.RdfFormat) -> str:
    """Takes the triple of a line; returns why it can't be read, "" if it can."""
    try:
        triples = list(lenient_quads(text, format=format_))
    except SyntaxError as error:
        return reason_of(error)
    # A line holds one triple, or a remark.
    for quad, problem, odd_tag in triples:
        problem = problem or mapper.add_checked(quad)
        if problem:
            return problem
        parsed.kept[LANGUAGE_TAG_REASON] += odd_tag
    parsed.counts.read += bool(triples)
    return ""


def reason_of(error: SyntaxError, /) -> str:
    """Returns why a parser refused a piece, as a reject says it."""
    text = re.sub(r"^Parser error at line \d+ ", "", error.msg)
    return f"not RDF: {text}"


def node_pieces(mapper: Mapper, /) -> Iterator[Parsed]:
    """Yields the full Wikidata statements, whose parts may lie anywhere in the document."""
    nodes = mapper.nodes
    if nodes is None:
        return
    statements = nodes.statements()
    while True:
        piece = Parsed(terms_only=True, statements=list(islice(statements, _PIECE_STATEMENTS)))
        piece.skipped.update(nodes.skipped)
        nodes.skipped.clear()
        if piece.statements:
            piece.forms.add(FULL)
        yield piece
        if len(piece.statements) < _PIECE_STATEMENTS:
            return
