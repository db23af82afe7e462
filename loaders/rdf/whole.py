"""Documents of RDF that a parser reads as a whole, given in blocks of triples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyoxigraph as ox

from loaders.items import Parsed, Reject, excerpt
from loaders.rdf.mapping import Mapper
from loaders.rdf.reader import CHUNK_TRIPLES, node_pieces
from loaders.rdf.terms import LANGUAGE_TAG_REASON


@dataclass(frozen=True, slots=True)
class Triple:
    """A triple of a document.

    Attributes:
        text: As a reject shows it.
        quad: Its terms; None if it has none.
        problem: Why it can't be loaded, "" if it can.
        skipped: Why it is left out and counted; "" if it is not.
        has_odd_tag: Whether its language tag is none by BCP 47.
    """

    text: str
    quad: ox.Quad | None
    problem: str = ""
    skipped: str = ""
    has_odd_tag: bool = False


def document_pieces(
    name: str,
    mapper: Mapper,
    triples: Iterable[Triple],
    start: Mapping[str, Any],
    /,
    *,
    problem: str,
    line: int,
) -> Iterator[Parsed]:
    """Yields a document in blocks of triples, those after the position ``start``.

    Args:
        name: Of the source, for rejects.
        mapper: Of the document.
        triples: In the order of the document.
        start: Position of the last block that was taken; empty for the beginning.
        problem: Why the document could not be read to its end; "" if it could.
        line: Where that is.
    """
    mapper.index_blank_nodes = True
    done = int(start.get("triples", 0))
    parsed = Parsed(terms_only=True)
    if problem:
        parsed.rejects.append(Reject(name, line, 0, problem))
        parsed.counts.rejected += 1
    mapper.begin(parsed, check_text=True)
    count = 0
    for count, triple in enumerate(triples, start=1):
        reason = _add(triple, mapper, parsed)
        parsed.counts.read += not reason
        if reason:
            parsed.counts.rejected += 1
            parsed.rejects.append(Reject(name, 0, 0, reason, excerpt(triple.text)))
        if count % CHUNK_TRIPLES == 0:
            mapper.end()
            parsed.count_skipped()
            parsed.position = {"triples": count}
            if count > done:
                yield parsed
            parsed = Parsed(terms_only=True)
            mapper.begin(parsed, check_text=True)
    mapper.end()
    parsed.count_skipped()
    parsed.position = {"triples": count, "last": True}
    if not start.get("last"):
        yield parsed
    yield from node_pieces(mapper)


def _add(triple: Triple, mapper: Mapper, parsed: Parsed) -> str:
    """Adds a triple; returns why it can't be, "" if it can."""
    if triple.skipped:
        parsed.skipped[triple.skipped] += 1
        return ""
    if triple.quad is None or triple.problem:
        return triple.problem
    problem = mapper.add_checked(triple.quad)
    if not problem:
        parsed.kept[LANGUAGE_TAG_REASON] += triple.has_odd_tag
    return problem
