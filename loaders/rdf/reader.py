"""RDF as a source: N-Triples, N-Quads, Turtle and RDF/XML.

The mapping: resources are entities, predicates relations; labels, descriptions and aliases
become terms by language; ``owl:sameAs`` becomes a link that look-up follows; everything else is
a statement with a typed value. Wikidata's predicates become its properties, see
``loaders.wikidata_rdf`` for its full statements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import IO, Any, cast

import pyoxigraph as ox

from graph_service.model.classes import RDF_TYPE
from loaders.items import FULL, Parsed, Reject, excerpt
from loaders.options import LoadOptions
from loaders.rdf.mapping import Mapper
from loaders.rdf.wikidata import StatementNodes, holds_full_statements
from loaders.source import (
    ByteSource,
    LineBlock,
    StreamReader,
    line_blocks,
)

_SCOPE_BYTES = 1 << 16
_CHUNK_TRIPLES = 5_000
_WIKIDATA = re.compile(rb"wikiba\.se/ontology|www\.wikidata\.org/prop/")
# RDF strings may hold NUL, written plainly or escaped; stores may not.
_NUL = re.compile(rb"\x00|\\u0000|\\U00000000")


def _scope(source: ByteSource) -> bytes:
    """Returns what tells this document's blank nodes from another's, wherever it lies."""
    return blake2b(source.head[:_SCOPE_BYTES], digest_size=16).digest()


def _mapper(source: ByteSource, options: LoadOptions) -> Mapper:
    full = holds_full_statements(source.head)
    nodes = StatementNodes(limit=options.max_held_triples) if full else None
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
            end_line = block.line
        else:
            mapper.begin(parsed, check_text=_NUL.search(block.data) is not None)
            format_ = ox.RdfFormat.N_QUADS if self.quads else ox.RdfFormat.N_TRIPLES
            _read_block(block, mapper, parsed, self.name, format_)
            mapper.end()
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
        _scope(source),
        options.term_languages,
        options.label_language,
        options.redirects == "alias",
        holds_full_statements(source.head) or _WIKIDATA.search(source.head) is not None,
        as_rows,
    )


def triple_blocks(
    source: ByteSource, options: LoadOptions, /, *, quads: bool, as_rows: bool
) -> TripleReader | None:
    """Returns the reader of blocks of triples; None where they can't be read one by one.

    That is so for Wikidata's full RDF, the parts of whose statements may lie anywhere.
    """
    if holds_full_statements(source.head):
        return None
    format_ = ox.RdfFormat.N_QUADS if quads else ox.RdfFormat.N_TRIPLES
    return _triple_reader(source, options, format_, as_rows=as_rows)


def read_ntriples(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
) -> Iterator[Parsed]:
    """Yields N-Triples block by block; each line that can't be read is a reject."""
    return _read_lines(source, options, start, ox.RdfFormat.N_TRIPLES)


def read_nquads(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
) -> Iterator[Parsed]:
    """Yields N-Quads block by block; the fourth term is the statement's context."""
    return _read_lines(source, options, start, ox.RdfFormat.N_QUADS)


def _read_lines(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], format_: ox.RdfFormat
) -> Iterator[Parsed]:
    mapper = _mapper(source, options)
    reader = _triple_reader(source, options, format_)
    if mapper.nodes is not None:
        # Parts of one statement may lie anywhere: nothing can be written before the end.
        results = (reader.read(block, mapper) for block in line_blocks(source))
        yield from _held(mapper, results, options, start)
        return
    for block in line_blocks(
        source, offset=int(start.get("offset", 0)), line=int(start.get("line", 1))
    ):
        yield reader.read(block, mapper)


def _read_block(
    block: LineBlock, mapper: Mapper, parsed: Parsed, name: str, format_: ox.RdfFormat
) -> None:
    try:
        # All of the block is parsed before any of it is taken, so that a block that fails can
        # be read again line by line (told to go on, the parser loses the next good line).
        quads = list(ox.parse(block.data, format=format_))
    except SyntaxError:
        pass
    else:
        if not mapper.check_text:
            for quad in quads:
                mapper.add(quad)
            return
    offset, line = block.offset, block.line
    for text in block.data.split(b"\n"):
        if text.strip():
            try:
                for quad in list(ox.parse(text, format=format_)):
                    problem = mapper.add_checked(quad)
                    if problem:
                        parsed.rejects.append(Reject(name, line, offset, problem, excerpt(text)))
            except SyntaxError as error:
                parsed.rejects.append(
                    Reject(name, line, offset, _reason(error), excerpt(text.strip()))
                )
        offset += len(text) + 1
        line += 1


def _reason(error: SyntaxError) -> str:
    text = re.sub(r"^Parser error at line \d+ ", "", error.msg)
    return f"not RDF: {text}"


def _held(
    mapper: Mapper, results: Iterator[Parsed], options: LoadOptions, start: Mapping[str, Any]
) -> Iterator[Parsed]:
    """Yields what a source with full Wikidata statements comes to, once it is read to its end.

    The position counts the pieces already written; a resumed load reads all of the source
    again and goes on after them.
    """
    gathered: list[Parsed] = list(results)
    done = int(start.get("pieces", 0))
    pieces = [*gathered, *_node_pieces(mapper, options)]
    for number, piece in enumerate(pieces, start=1):
        if number > done:
            piece.position = {"pieces": number}
            yield piece


def _node_pieces(mapper: Mapper, options: LoadOptions) -> Iterator[Parsed]:
    assert mapper.nodes is not None
    statements, skipped = mapper.nodes.statements()
    size = options.batch_size
    for first in range(0, max(1, len(statements)), size):
        piece = Parsed(terms_only=True, statements=statements[first : first + size])
        if first == 0:
            piece.skipped.update(skipped)
        if piece.statements:
            piece.forms.add(FULL)
        yield piece


def read_turtle(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
) -> Iterator[Parsed]:
    """Yields Turtle as it is parsed. After an error, reading goes on behind the next full stop
    at a line's end; what lies between is one reject.
    """
    mapper = _mapper(source, options)
    results = _turtle_results(source, options, mapper)
    if mapper.nodes is not None:
        yield from _held(mapper, results, options, start)
        return
    done = int(start.get("triples", 0))
    for parsed in results:
        if int(parsed.position["triples"]) > done or parsed.position.get("last"):
            yield parsed


def _turtle_results(source: ByteSource, options: LoadOptions, mapper: Mapper) -> Iterator[Parsed]:
    reader = _TurtleReader(source)
    count = 0
    mapper.number_blank_nodes = True
    parsed = Parsed(terms_only=True)
    mapper.begin(parsed, check_text=True)
    while True:
        parser = ox.parse(
            cast(IO[bytes], reader),
            format=ox.RdfFormat.TURTLE,
            base_iri=options.base_iri,
        )
        fault: SyntaxError | None = None
        quads = iter(parser)
        while True:
            try:
                quad = next(quads)
            except StopIteration:
                break
            except SyntaxError as error:
                fault = error
                break
            problem = mapper.add_checked(quad)
            if problem:
                parsed.rejects.append(
                    Reject(source.name, reader.line_now, reader.position, problem, str(quad)[:200])
                )
            count += 1
            if count % _CHUNK_TRIPLES == 0:
                mapper.end()
                parsed.position, parsed.line = {"triples": count}, reader.line_now
                yield parsed
                parsed = Parsed(terms_only=True)
                mapper.begin(parsed, check_text=True)
        if fault is None:
            break
        if reader.damage:
            break
        line, offset, text, goes_on = reader.recover(fault.lineno or 1, parser.prefixes)
        parsed.rejects.append(Reject(source.name, line, offset, _reason(fault), excerpt(text)))
        if not goes_on:
            break
    if reader.damage:
        parsed.rejects.append(Reject(source.name, reader.line_now, reader.position, reader.damage))
    mapper.end()
    parsed.position, parsed.line = {"triples": count, "last": True}, reader.line_now
    yield parsed


class _TurtleReader(StreamReader):
    """Turtle as the parser reads it, with enough of the past kept to go on after an error."""

    _KEPT_BYTES = 1 << 20
    _STATEMENT_END = re.compile(rb"\.[ \t]*(?:#[^\n]*)?\r?\n")

    def __init__(self, source: ByteSource) -> None:
        super().__init__(source)
        self._kept = b""
        self._kept_line = 1
        self._kept_offset = 0
        self._again = b""
        self._first_line = 1

    @property
    def line_now(self) -> int:
        """The line up to which bytes were handed out."""
        return self._kept_line + self._kept.count(b"\n")

    def readinto(self, buffer: object, /) -> int:
        view = memoryview(cast(bytearray, buffer))
        if self._again:
            size = min(len(view), len(self._again))
            view[:size] = self._again[:size]
            self._again = self._again[size:]
            return size
        size = super().readinto(buffer)
        self._keep(bytes(view[:size]))
        return size

    def _keep(self, data: bytes) -> None:
        self._kept += data
        if len(self._kept) > 2 * self._KEPT_BYTES:
            cut = self._kept.rfind(b"\n", 0, self._KEPT_BYTES) + 1 or self._KEPT_BYTES
            self._kept_line += self._kept.count(b"\n", 0, cut)
            self._kept_offset += cut
            self._kept = self._kept[cut:]

    def recover(self, fault_line: int, prefixes: Mapping[str, str]) -> tuple[int, int, bytes, bool]:
        """Goes to the statement behind a fault.

        Returns:
            Line, byte offset and text of the line at fault, and whether there is more to read.
        """
        line = self._first_line + fault_line - 1
        at = 0
        for _ in range(line - self._kept_line):
            at = self._kept.find(b"\n", at) + 1
            if not at:
                break
        offset = self._kept_offset + at
        while (found := self._STATEMENT_END.search(self._kept, at)) is None:
            if not self._read_on():
                text = self._kept[at:].partition(b"\n")[0]
                return line, offset, text, False
            at = max(0, offset - self._kept_offset)
        text = self._kept[at:].partition(b"\n")[0]
        rest = self._kept[found.end() :]
        self._first_line = self._kept_line + self._kept.count(b"\n", 0, found.end())
        header = "".join(f"@prefix {name}: <{iri}> . " for name, iri in prefixes.items())
        # On one line with what follows, so that line numbers stay what they are.
        self._again = header.encode() + rest
        return line, offset, text, True

    def _read_on(self) -> bool:
        """Reads more into what is kept; returns whether there was more."""
        scratch = bytearray(1 << 16)
        size = super().readinto(scratch)
        self._keep(bytes(scratch[:size]))
        return size > 0


def read_rdf_xml(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
) -> Iterator[Parsed]:
    """Yields RDF/XML (an ontology), which is read whole by rdflib; up to the line limit long."""
    parsed = Parsed(terms_only=True, position={"triples": 0, "last": True})
    data, problem = source.read_whole(what="RDF/XML", instead="convert it to N-Triples")
    quads: list[ox.Quad] = []
    at_line = 1
    if not problem:
        quads, problem, at_line = _parse_rdf_xml(data, options.base_iri)
        if quads and not any(map(_names_resource, quads)):
            # So rdflib reads XML of any kind, in which nothing has an id to be found by.
            quads, problem = [], "no RDF/XML with resources: all it describes is blank nodes"
    mapper = _mapper(source, options)
    mapper.number_blank_nodes = True
    done = int(start.get("triples", 0))
    if problem:
        parsed.rejects.append(Reject(source.name, at_line, 0, problem))
    mapper.begin(parsed, check_text=True)
    for count, quad in enumerate(quads, start=1):
        reason = mapper.add_checked(quad)
        if reason:
            parsed.rejects.append(Reject(source.name, 0, 0, reason, str(quad)[:200]))
        if count % _CHUNK_TRIPLES == 0:
            mapper.end()
            parsed.position = {"triples": count}
            if count > done:
                yield parsed
            parsed = Parsed(terms_only=True)
            mapper.begin(parsed, check_text=True)
    mapper.end()
    parsed.position = {"triples": len(quads), "last": True}
    if not start.get("last"):
        yield parsed


def _names_resource(quad: ox.Quad) -> bool:
    """Returns whether a triple has a resource with an IRI, besides a class of a blank node."""
    return isinstance(quad.subject, ox.NamedNode) or (
        isinstance(quad.object, ox.NamedNode) and quad.predicate.value != RDF_TYPE
    )


def _ntriples_term(term: Any) -> str:
    """Returns a term of rdflib's as N-Triples writes it; its own form of literals spans lines."""
    import rdflib

    if not isinstance(term, rdflib.Literal):
        return str(term.n3())
    datatype = ox.NamedNode(str(term.datatype)) if term.datatype else None
    return str(ox.Literal(str(term), datatype=datatype, language=term.language))


def _parse_rdf_xml(data: bytes, base_iri: str | None) -> tuple[list[ox.Quad], str, int]:
    """Returns the triples in the order of the document, and what was wrong on which line."""
    import xml.sax

    import rdflib

    recorded: list[Any] = []

    class Recorder(rdflib.Graph):
        """Takes the triples in the order of the document, by which blank nodes are numbered."""

        def add(self, triple: Any) -> Recorder:
            recorded.append(triple)
            return self

    graph = Recorder()
    problem, line = "", 0
    # Lexical forms are data: "0042" stays as it is written.
    normalise, rdflib.NORMALIZE_LITERALS = rdflib.NORMALIZE_LITERALS, False
    try:
        graph.parse(data=data, format="xml", publicID=base_iri)
    except xml.sax.SAXParseException as error:
        problem, line = f"not XML: {error.getMessage()}", error.getLineNumber() or 0
    except (rdflib.exceptions.ParserError, ValueError) as error:
        problem = f"not RDF/XML: {error}"
    except TypeError:
        # rdflib fails at the words of its own error where an element has no namespace.
        problem = "not RDF/XML: elements without a namespace inside one another"
    finally:
        rdflib.NORMALIZE_LITERALS = normalise
    triples: list[ox.Quad] = []
    bad = 0
    for subject, predicate, object_ in recorded:
        try:
            text = f"{subject.n3()} {predicate.n3()} {_ntriples_term(object_)} ."
            triples.extend(ox.parse(text, format=ox.RdfFormat.N_TRIPLES))
        except (SyntaxError, ValueError):
            bad += 1
    if bad and not problem:
        problem = f"{bad} triples with IRIs or language tags that RDF forbids"
    return triples, problem, line
