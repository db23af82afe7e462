"""JSON-LD as a source: a document, read whole by pyoxigraph. Nothing is fetched for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import accumulate, starmap
from typing import Any

import pyoxigraph as ox

from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.rdf.json_ld_contexts import RemoteContextError, with_local_contexts
from loaders.rdf.reader import holds_wikidata, mapper_of, reason_of, without_mark
from loaders.rdf.terms import iri_problem, lenient_quads
from loaders.rdf.turtle_reader import base_of
from loaders.rdf.whole import Triple, document_pieces
from loaders.source import ByteSource

UNMAPPED_REASON = "values of keys that the context of JSON-LD gives no IRI"
_NO_TRIPLES = (
    "JSON-LD without a triple: none of its keys has an IRI; give it a context, for instance "
    '"@context": {"@vocab": "https://example.org/"}'
)

_MAX_DEPTH = 500
"""Levels of JSON: the parser has a stack of its thread, and ends the process beyond it."""
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"{}[]"))


def read_json_ld(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /, *, hold_truthy: bool
) -> Iterator[Parsed]:
    """Yields a document of JSON-LD, which is read whole; up to the line limit long."""
    data, damage = source.read_all(what="JSON-LD", instead="convert it to N-Quads")
    triples: list[Triple] = []
    problem, line = damage, 1
    if data:
        # What is damaged is no document, so the damage is what went wrong.
        triples, problem, line = _parse(without_mark(data), base_of(source, options))
        problem = damage or problem
    with closing(mapper_of(source, options, hold_truthy=hold_truthy)) as mapper:
        mapper.wikidata |= holds_wikidata(data)
        yield from document_pieces(source.name, mapper, triples, start, problem=problem, line=line)


def _depth(document: bytes) -> int:
    """Returns how deep JSON is nested."""
    brackets = _STRING.sub(b"", document).translate(None, _NO_BRACKETS)
    return max(accumulate(1 if bracket in b"{[" else -1 for bracket in brackets), default=0)


def _parse(data: bytes, base_iri: str | None) -> tuple[list[Triple], str, int]:
    """Returns the triples in the order of the document, and what was wrong on which line."""
    try:
        text = with_local_contexts(data.decode("utf-8", "surrogateescape"))
        document = text.encode("utf-8", "surrogateescape")
        if _depth(document) > _MAX_DEPTH:
            return [], "JSON nested too deeply", 1
        quads = lenient_quads(document, format=ox.RdfFormat.JSON_LD, base_iri=base_iri)
        triples = list(starmap(_triple, quads))
    except RemoteContextError as error:
        return [], _remote(error.address), error.line
    except SyntaxError as error:
        return [], reason_of(error).replace("not RDF", "not JSON-LD", 1), error.lineno or 1
    return triples, _NO_TRIPLES if all(triple.skipped for triple in triples) else "", 1


def _triple(quad: ox.Quad, problem: str, has_odd_tag: bool) -> Triple:
    # Keys that no context defines stay as they are, which is no IRI.
    skipped = UNMAPPED_REASON if iri_problem(quad.predicate.value) else ""
    return Triple(f"{quad} .", quad, problem, skipped, has_odd_tag)


def _remote(address: str) -> str:
    return (
        f"JSON-LD whose context lies at {address}, and no context is fetched, save that "
        "schema.org's is known; write it into the document in place of its address: "
        '"@context": {...}'
    )
