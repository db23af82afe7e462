"""Whether the beginning of a source is RDF, told by reading it."""

from __future__ import annotations

import io
import re
from itertools import islice
from typing import BinaryIO, cast

import pyoxigraph as ox

from loaders.rdf.document_type import root_element
from loaders.rdf.turtle import Kind, Piece, Pieces
from loaders.rdf.values import RDF
from loaders.source import ByteSource, SourceLimits

# So many statements tell what a document is.
_PIECES = 50
_ANY_BASE = "http://base.example/"
_PREFIX = re.compile(rb"(?:^|[\s\[(,;^])((?:[A-Za-z][\w.-]*)?):", re.ASCII)
_JSON_LD = re.compile(rb'"@(?:context|graph|id|type)"\s*:')
_HTML = frozenset(("html", "HTML"))


def turtle_format(head: bytes, /, *, complete: bool) -> tuple[ox.RdfFormat | None, bool]:
    """Returns the format of a document in Turtle's syntax, told by its first statements.

    Prefixes need not be declared and IRIs may be relative: what is to be said of those is said
    statement by statement.

    Args:
        head: Beginning of the document.
        complete: Whether that is all of it.

    Returns:
        Turtle or TriG; None for neither. And whether all of the beginning follows its grammar.
    """
    source = ByteSource(
        cast(BinaryIO, io.BytesIO(head)),
        name="",
        total_bytes=len(head),
        limits=SourceLimits(),
        close=False,
    )
    pieces = list(islice(Pieces(source), _PIECES))
    if not complete and len(pieces) < _PIECES:
        # The last one was cut.
        pieces = pieces[:-1]
    good = total = 0
    graph, graphs = b"", False
    declared = b""
    for piece in pieces:
        if piece.kind is Kind.GRAPH_BEGINS:
            graph, graphs = piece.text, True
        elif piece.kind is Kind.GRAPH_END:
            graph = b""
        else:
            total += 1
            good += _follows_grammar(piece, declared, graph)
            if piece.kind is Kind.DIRECTIVE:
                declared += piece.text + b"\n"
    if not good or 2 * good < total:
        return None, False
    return (ox.RdfFormat.TRIG if graphs else ox.RdfFormat.TURTLE), good == total


def _follows_grammar(piece: Piece, declared: bytes, graph: bytes) -> bool:
    text = piece.text
    if piece.kind is Kind.DIRECTIVE and not text.startswith(b"@"):
        text = text.rstrip(b". \t")
    names = sorted({match[1] for match in _PREFIX.finditer(graph + text)})
    assumed = b"".join(b"@prefix %s: <http://prefix.example/> . " % name for name in names)
    wrapped = graph + text + b"\n}" if graph else text
    try:
        quads = list(
            ox.parse(
                assumed + declared + wrapped,
                format=ox.RdfFormat.TRIG,
                base_iri=_ANY_BASE,
                lenient=True,
            )
        )
    except SyntaxError:
        return False
    return bool(quads) or piece.kind is Kind.DIRECTIVE


def is_json_ld(head: bytes, /) -> bool:
    """Returns whether the beginning of JSON has a key of JSON-LD."""
    return _JSON_LD.search(head) is not None


def xml_kind(head: bytes, /) -> str | None:
    """Returns what XML a document is, told by its first element: ``rdf``, or that element's name.

    None for what is no XML.
    """
    start = head.lstrip()
    if not start.startswith(b"<"):
        return None
    namespace_is_there = RDF.rstrip("#").encode() in head
    root = root_element(start)
    if root is None:
        # XML with a fault, or cut before its first element.
        broken = start[:5].lower() == b"<?xml" or re.match(rb"<(?:\w+:)?RDF[\s>]", start)
        return "rdf" if broken and (namespace_is_there or b"RDF" in head) else None
    namespace, _, name = root.rpartition(" ")
    if namespace == RDF or (namespace_is_there and name not in _HTML):
        # A document of one node needs no rdf:RDF around it.
        return "rdf"
    return name
