"""Turtle and TriG as a source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from loaders.items import Parsed, Reject, excerpt
from loaders.options import LoadOptions
from loaders.rdf.mapping import Mapper
from loaders.rdf.reader import CHUNK_TRIPLES, holds_wikidata, mapper_of, node_pieces, reason_of
from loaders.rdf.terms import LANGUAGE_TAG_REASON, lenient_quads
from loaders.rdf.turtle import Kind, Piece, Pieces, graph_name, parts
from loaders.source import STANDARD_INPUT, ByteSource

RESOLVED_REASON = (
    "triples whose relative IRIs are resolved against the file's address (--base-iri for another)"
)
UNFINISHED_STATEMENT = (
    "the document ends before this statement does; it was cut, or is still being written"
)
UNFINISHED_GRAPH = "the document ends inside a graph; it was cut, or is still being written"
# A triple, why it can't be loaded, and whether its language tag is none.
Triple = tuple[ox.Quad, str, bool]
_CHUNK_BYTES = 1 << 16
_DIRECTIVE = re.compile(
    rb"@?(?P<word>prefix|base)\s*(?P<name>[^\s:<>]*:)?\s*<(?P<iri>[^<>\s]*)>", re.I
)
_ABSOLUTE = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*:")
_FILE = "file:///"
_COLUMNS = re.compile(r"^not RDF: (?:between columns \d+ and \d+|column \d+): ")


def base_of(source: ByteSource, options: LoadOptions, /) -> str | None:
    """Returns what relative IRIs of a document are resolved against; None for standard input."""
    if options.base_iri is not None or source.name == STANDARD_INPUT:
        return options.base_iri
    return Path(source.name).resolve().as_uri()


def _read(
    source: ByteSource,
    options: LoadOptions,
    start: Mapping[str, Any],
    /,
    *,
    format_: ox.RdfFormat,
    hold_truthy: bool,
) -> Iterator[Parsed]:
    """Yields a document. What can't be read costs the triple that it stands in.

    The name of a TriG graph is its statements' context.
    """
    done = int(start.get("triples", 0))
    with closing(mapper_of(source, options, hold_truthy=hold_truthy)) as mapper:
        mapper.index_blank_nodes = True
        document = _Document(source, options, mapper, format_)
        for parsed in document.read():
            if int(parsed.position["triples"]) > done or parsed.position.get("last"):
                yield parsed
        yield from node_pieces(mapper)


read_turtle = partial(_read, format_=ox.RdfFormat.TURTLE)
read_trig = partial(_read, format_=ox.RdfFormat.TRIG)


class _Document:
    """A document while it is read: its prefixes, its base, the graph it is in."""

    def __init__(
        self, source: ByteSource, options: LoadOptions, mapper: Mapper, format_: ox.RdfFormat
    ) -> None:
        self._name = source.name
        self._pieces = Pieces(source)
        self._mapper = mapper
        self._format = format_
        self._base = base_of(source, options)
        self._at_file = self._base is not None and options.base_iri is None
        self._prefixes: dict[str, str] = {}
        self._header = b""
        # The name of the graph with its opening bracket.
        self._graph = b""
        self._chunk: list[Piece] = []
        self._size = 0
        self._count = 0
        self._begin()

    def _begin(self) -> None:
        self._parsed = Parsed(terms_only=True)
        self._mapper.begin(self._parsed, check_text=True)

    def _end(self, *, last: bool) -> Parsed:
        self._mapper.end()
        self._parsed.count_skipped()
        position: dict[str, Any] = {"triples": self._count}
        self._parsed.position = {**position, "last": True} if last else position
        self._parsed.line = self._pieces.line
        return self._parsed

    def read(self) -> Iterator[Parsed]:
        """Yields the document in blocks of triples."""
        for piece in self._pieces:
            if not piece.is_complete and self._pieces.damage:
                # It was cut, and what cut it is told below.
                break
            if piece.kind is Kind.TRIPLES:
                self._chunk.append(piece)
                self._size += len(piece.data)
                if self._size < _CHUNK_BYTES:
                    continue
            elif piece.kind is Kind.DIRECTIVE and self._is_known(piece):
                continue
            yield from self._parse_chunk()
            if piece.kind is Kind.DIRECTIVE:
                self._direct(piece)
            elif piece.kind is not Kind.TRIPLES:
                if piece.kind is Kind.GRAPH_BEGINS and self._graph:
                    self._reject(piece, "a graph inside another; it is read as one beside it")
                self._graph = graph_name(piece.text) if piece.kind is Kind.GRAPH_BEGINS else b""
        yield from self._parse_chunk()
        problem = self._pieces.damage or (UNFINISHED_GRAPH if self._graph else "")
        if problem:
            self._reject(
                Piece(Kind.TRIPLES, b"", self._pieces.position, self._pieces.line), problem
            )
        yield self._end(last=True)

    def _is_known(self, piece: Piece) -> bool:
        """Returns whether a directive changes nothing, as where files were put together."""
        match = _DIRECTIVE.match(piece.text)
        if match is None or match["name"] is None or not _ABSOLUTE.match(match["iri"]):
            return False
        name = match["name"][:-1].decode("utf-8", "replace")
        return self._prefixes.get(name) == match["iri"].decode("utf-8", "replace")

    def _direct(self, piece: Piece) -> None:
        text = piece.text
        self._mapper.wikidata |= holds_wikidata(text)
        if not text.startswith(b"@"):
            # SPARQL's directive has no full stop.
            text = text.rstrip(b". \t")
        error: SyntaxError | None = None
        for lenient in (False, True):
            parser = ox.parse(
                self._header + text, format=self._format, base_iri=self._base, lenient=lenient
            )
            try:
                list(parser)
            except SyntaxError as refusal:
                error = error or refusal
                continue
            self._prefixes = dict(parser.prefixes)
            if parser.base_iri != self._base:
                self._base, self._at_file = parser.base_iri, False
            self._header = "".join(
                f"@prefix {name}: <{iri}> . " for name, iri in self._prefixes.items()
            ).encode()
            return
        assert error is not None
        self._reject(piece, _reason(error))

    def _parse_chunk(self) -> Iterator[Parsed]:
        chunk, self._chunk, self._size = self._chunk, [], 0
        if chunk:
            self._mapper.wikidata |= any(holds_wikidata(piece.data) for piece in chunk)
            yield from self._parse_pieces(chunk)

    def _parse_pieces(self, pieces: list[Piece]) -> Iterator[Parsed]:
        """Takes statements, those that can't be read apart from those around them."""
        *before, last = pieces
        if not last.is_complete:
            if before:
                yield from self._parse_pieces(before)
            yield from self._parse_parts(last, UNFINISHED_STATEMENT)
            return
        try:
            # All of it is parsed before any of it is taken.
            quads = self._parse(b"".join(piece.data for piece in pieces))
        except SyntaxError as error:
            if len(pieces) == 1:
                yield from self._parse_parts(pieces[0], _reason(error))
                return
            middle = len(pieces) // 2
            yield from self._parse_pieces(pieces[:middle])
            yield from self._parse_pieces(pieces[middle:])
        else:
            for quad in quads:
                yield from self._add(quad, pieces[0])

    def _parse(self, text: bytes) -> list[ox.Quad]:
        return list(ox.parse(self._wrapped(text), format=self._format, base_iri=self._base))

    def _wrapped(self, text: bytes) -> bytes:
        return self._header + self._graph + text + (b"\n}" if self._graph else b"")

    def _parse_parts(self, piece: Piece, reason: str) -> Iterator[Parsed]:
        """Takes each triple of a statement that can be read."""
        pieces = parts(piece)
        if not piece.is_complete:
            # Of what was cut the last object may be half of one: 12 of 1234.
            self._reject(pieces.pop(), UNFINISHED_STATEMENT)
            if not pieces:
                return
        results = list(self._read(pieces))
        if not any(quads for _, quads, _ in results):
            self._reject(piece, reason)
            return
        for part, triples, problem in results:
            if problem:
                self._reject(part, problem)
            for quad, forbidden, odd_tag in triples:
                if forbidden:
                    self._reject(part, forbidden)
                    continue
                self._parsed.kept[LANGUAGE_TAG_REASON] += odd_tag
                yield from self._add(quad, part)

    def _read(self, pieces: list[Piece]) -> Iterator[tuple[Piece, list[Triple], str]]:
        """Yields what triples of a statement hold, by halves, and why one can't be read."""
        if len(pieces) > 1:
            try:
                quads = self._parse(b"\n".join(piece.data for piece in pieces))
            except SyntaxError:
                middle = len(pieces) // 2
                yield from self._read(pieces[:middle])
                yield from self._read(pieces[middle:])
            else:
                yield pieces[0], [(quad, "", False) for quad in quads], ""
            return
        [piece] = pieces
        try:
            yield piece, self._lenient(piece.data), ""
        except SyntaxError as error:
            yield piece, [], _reason(error)

    def _lenient(self, text: bytes) -> list[Triple]:
        return list(lenient_quads(self._wrapped(text), format=self._format, base_iri=self._base))

    def _add(self, quad: ox.Quad, piece: Piece) -> Iterator[Parsed]:
        problem = self._mapper.add_checked(quad)
        if problem:
            self._reject(piece, problem, str(quad))
        else:
            self._parsed.counts.read += 1
            self._parsed.kept[RESOLVED_REASON] += self._at_file and any(
                isinstance(term, ox.NamedNode) and term.value.startswith(_FILE)
                for term in (quad.subject, quad.predicate, quad.object)
            )
        self._count += 1
        if self._count % CHUNK_TRIPLES == 0:
            yield self._end(last=False)
            self._begin()

    def _reject(self, piece: Piece, reason: str, text: str | bytes | None = None) -> None:
        shown = piece.text.strip() if text is None else text
        self._parsed.counts.rejected += 1
        self._parsed.rejects.append(
            Reject(self._name, piece.line, piece.offset, reason, excerpt(shown))
        )


def _reason(error: SyntaxError) -> str:
    # Columns are those of what the parser was given, not of the document.
    return _COLUMNS.sub("not RDF: ", reason_of(error))
