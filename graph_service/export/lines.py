"""JSON lines that hold all of a graph: the one format that leaves nothing out.

The first line says what it is; then one line an entity, one a statement, and a last line with
their numbers and the fingerprints, by which a file that was cut short is told. Values are
written as the store encodes them (``model.values.encode_value``).
"""

from __future__ import annotations

from typing import IO, Any

import orjson

from graph_service import __version__
from graph_service.export.content import ExportedGraph
from graph_service.model.identity import Fingerprints
from graph_service.model.statement import (
    Entity,
    EntityKind,
    Rank,
    Statement,
    encode_references,
    encode_snaks,
    encode_terms,
)
from graph_service.model.values import encode_value

LINES_VERSION = 1


class LinesWriter:
    """Writes the lines of a graph."""

    def __init__(self, out: IO[bytes], exported: ExportedGraph, /) -> None:
        self._out = out
        self._counts = {"entities": 0, "statements": 0}
        head = {
            "graph-service": "graph-lines",
            "version": LINES_VERSION,
            "graph": exported.info.name,
            "edition": exported.info.edition,
            "view": exported.view_id,
            "source": exported.info.source,
            "tool": __version__,
        }
        out.write(orjson.dumps(head) + b"\n")

    def entity(self, entity: Entity, /) -> None:
        """Writes an entity as a line of JSON."""
        row: dict[str, Any] = {"entity": entity.id}
        if entity.kind is not EntityKind.ITEM:
            row["kind"] = entity.kind.value
        if entity.redirect is not None:
            row["redirect"] = entity.redirect
        terms = encode_terms(entity)
        if terms != "{}":
            row["terms"] = orjson.Fragment(terms)
        self._out.write(orjson.dumps(row) + b"\n")
        self._counts["entities"] += 1

    def statement(self, statement: Statement, /) -> None:
        """Writes a statement as a line of JSON."""
        row: dict[str, Any] = {
            "statement": statement.id,
            "head": statement.head,
            "relation": statement.relation,
            "value": orjson.Fragment(encode_value(statement.value)),
        }
        if statement.rank is not Rank.NORMAL:
            row["rank"] = statement.rank.value
        if statement.qualifiers:
            row["qualifiers"] = orjson.Fragment(encode_snaks(statement.qualifiers))
        if statement.references:
            row["references"] = orjson.Fragment(encode_references(statement.references))
        if statement.context is not None:
            row["context"] = statement.context
        self._out.write(orjson.dumps(row) + b"\n")
        self._counts["statements"] += 1

    def finish(self, fingerprints: Fingerprints, /) -> None:
        """Writes the last line, which says that the file is complete."""
        row = {"end": True, **self._counts, "edges": fingerprints.edges}
        self._out.write(orjson.dumps({**row, "content": fingerprints.content}) + b"\n")
