"""RDF/XML as a source: an ontology, read whole by rdflib, or by pyoxigraph if it is RDF 1.2."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

import pyoxigraph as ox

from graph_service.model.classes import RDF_TYPE
from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.rdf.document_type import DocumentTypeError, check_document_type
from loaders.rdf.reader import holds_wikidata, mapper_of
from loaders.rdf.terms import lenient_quads
from loaders.rdf.turtle_reader import base_of
from loaders.rdf.whole import Triple, document_pieces
from loaders.rdf.xml_encoding import EncodingError, as_utf_8
from loaders.source import ByteSource

# Attributes that RDF/XML 1.2 has and 1.1 has not.
_RDF_12 = re.compile(
    rb"""parseType\s*=\s*["']Triple["']|:(?:annotation|annotationNodeID|version|dir)\s*="""
)


def read_rdf_xml(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /, *, hold_truthy: bool
) -> Iterator[Parsed]:
    """Yields RDF/XML (an ontology), which is read whole by rdflib; up to the line limit long."""
    data, problem = source.read_all(what="RDF/XML", instead="convert it to N-Triples")
    triples: list[str] = []
    at_line = 1
    # What came before damage is read.
    damage, problem = (problem, "") if data else ("", problem)
    if not problem:
        try:
            data = as_utf_8(data)
        except EncodingError as error:
            problem = f"not RDF/XML: {error}"
    if not problem:
        triples, problem, at_line = _parse(data, base_of(source, options))
        if triples and not any(map(_names_resource, triples)):
            # So rdflib reads XML of any kind, in which nothing has an id to be found by.
            triples, problem = [], "no RDF/XML with resources: all it describes is blank nodes"
    problem = damage or problem
    with closing(mapper_of(source, options, hold_truthy=hold_truthy)) as mapper:
        mapper.wikidata |= holds_wikidata(data)
        yield from document_pieces(
            source.name, mapper, map(_triple, triples), start, problem=problem, line=at_line
        )


def _names_resource(triple: str) -> bool:
    """Returns whether a triple has a resource with an IRI, besides a class of a blank node."""
    subject, predicate, value = triple.split(" ", 2)
    return subject.startswith("<") or (value.startswith("<") and predicate != f"<{RDF_TYPE}>")


def _triple(text: str) -> Triple:
    """Returns a triple written as N-Triples."""
    try:
        [(quad, problem, odd_tag)] = lenient_quads(text.encode(), format=ox.RdfFormat.N_TRIPLES)
    except (SyntaxError, UnicodeEncodeError) as error:
        return Triple(text, None, f"not RDF: {error}")
    return Triple(text, quad, problem, has_odd_tag=odd_tag)


def _term(term: Any) -> str:
    """Returns a term of rdflib's as N-Triples writes it; its own form of literals spans lines."""
    import rdflib

    if isinstance(term, rdflib.BNode):
        return str(term.n3())
    if not isinstance(term, rdflib.Literal):
        return f"<{term}>"
    text = str(ox.Literal(str(term)))
    if term.language:
        return f"{text}@{term.language}"
    return f"{text}^^<{term.datatype}>" if term.datatype else text


def _parse_12(data: bytes, base_iri: str | None) -> tuple[list[str], str, int]:
    triples: list[str] = []
    try:
        check_document_type(data)
        quads = ox.parse(data, format=ox.RdfFormat.RDF_XML, base_iri=base_iri)
        triples.extend(f"{quad.triple} ." for quad in quads)
    except DocumentTypeError as error:
        return triples, error.reason, error.line
    except SyntaxError as error:
        return triples, f"not RDF/XML: {error.msg}", error.lineno or 0
    return triples, "", 0


def _parse(data: bytes, base_iri: str | None) -> tuple[list[str], str, int]:
    """Returns the triples in the order of the document, and what was wrong on which line.

    rdflib knows no RDF 1.2 and passes its triple terms and directions over, so that a document
    with them is read by pyoxigraph.
    """
    if _RDF_12.search(data):
        return _parse_12(data, base_iri)
    import xml.sax

    import rdflib

    recorded: list[str] = []

    class Recorder(rdflib.Graph):
        """Takes the triples in the order of the document, by which blank nodes are numbered."""

        def add(self, triple: Any) -> Recorder:
            recorded.append(" ".join((*map(_term, triple), ".")))
            return self

    graph = Recorder()
    problem, line = "", 0
    # Lexical forms are data: "0042" stays as it is written.
    normalise, rdflib.NORMALIZE_LITERALS = rdflib.NORMALIZE_LITERALS, False
    try:
        check_document_type(data)
        graph.parse(data=data, format="xml", publicID=base_iri)
    except DocumentTypeError as error:
        problem, line = error.reason, error.line
    except xml.sax.SAXParseException as error:
        problem, line = f"not XML: {error.getMessage()}", error.getLineNumber() or 0
    except (rdflib.exceptions.ParserError, ValueError) as error:
        problem = f"not RDF/XML: {error}"
    except TypeError:
        # rdflib fails at the words of its own error where an element has no namespace.
        problem = "not RDF/XML: elements without a namespace inside one another"
    finally:
        rdflib.NORMALIZE_LITERALS = normalise
    return recorded, problem, line
