"""A whole graph as CSV files for Neo4j's bulk import, in the layout of ``schema``.

The import makes a database that holds this graph alone, published as edition 0 (editions of
loads begin at 1); the indexes are made when the store is opened on it first. Pages, which are
bytes, are written in base 64: a CSV file holds no bytes.

Rows are written as they come. Only pages have an order of their own, for which their rows wait in
temporary files beside the CSV files. So memory does not grow with the graph.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import numpy as np
import orjson

from graph_service import __version__
from graph_service.model.graph_info import GraphCounts, GraphInfo
from graph_service.model.hashing import fingerprint
from graph_service.model.identity import Fingerprints, key64
from graph_service.model.statement import Entity, Standing, Statement, entity_content_hash
from graph_service.sorting import are_among
from graph_service.store.encoded import encode_statements
from graph_service.store.names import now_text
from graph_service.store.neo4j.journal import (
    CREATED,
    DESCRIBED,
    ENTITY_ROW,
    LITERAL,
    MENTIONED,
    NAMED,
    NAMED_RELATION,
    STATEMENT_ROW,
    Rows,
    heads_of,
    page_bits,
)
from graph_service.store.neo4j.journal_file import JournalFile
from graph_service.store.neo4j.rows import (
    entity_properties,
    journal_rows,
    literal_properties,
    mentioned_properties,
    relationship_rows,
    words_of,
)
from graph_service.store.neo4j.schema import (
    MAX_NEW_TYPES,
    STATEMENT_TYPE,
    hex_key,
    relation_iri,
    type_name,
)
from graph_service.store.protocol import LoadCounts

_ENTITY = ("key:ID", "graph", "id", "long_id", "kind", "terms", "bare:boolean",
           "named:boolean", "redirect", "label", "_search")  # fmt: skip
_LITERAL = (":ID", "value", "label", "type", "text")
_STATEMENT = (":START_ID", ":END_ID", ":TYPE", "id", "key:long", "relation", "rank",
              "qualifiers", "references", "context", "batch:int")  # fmt: skip
_RELATION = (":ID", "key:long", "id", "iri", "own_type", "type", "label")
_PAGE = ("key:ID", "kind", "places", "rows")
_SAME_AS = (":ID", "key", "target")
_GRAPH = (":ID", "name", "current")
_EDITION = (
    ":ID", "id", "number:long", "graph", "state", "replace:boolean", "owner", "source", "options",
    "started_at", "published_at", "sequence:long", "statements:long", "outdated:long", "report",
    "tool_version", "page_bits:long", "load_counts", "counts", "edges", "content", "untyped:long",
    "lease_until:long", "relations",
)  # fmt: skip
NODE_FILES = {
    "Entity": ("entities.csv", _ENTITY),
    "Literal": ("literals.csv", _LITERAL),
    "Relation": ("relations.csv", _RELATION),
    "GraphPage": ("pages.csv", _PAGE),
    "SameAs": ("same_as.csv", _SAME_AS),
    "Graph": ("graph.csv", _GRAPH),
    "GraphEdition": ("edition.csv", _EDITION),
}
"""Name and header of the file of each label."""
STATEMENTS_FILE = "statements.csv"


def is_csv_export(folder: Path, /) -> bool:
    """Returns whether a folder holds nothing but files of an export."""
    names = {name for name, _ in NODE_FILES.values()} | {STATEMENTS_FILE}
    return {path.name for path in folder.iterdir()} <= names


JOURNAL_STANDINGS = {
    Standing.DESCRIBED: DESCRIBED,
    Standing.MENTIONED: MENTIONED,
    Standing.NAMED: NAMED,
}
_TRUE = "true"


class Neo4jCsvWriter:
    """Writes the files of one graph into a folder that is there and empty.

    Use it as a context manager: ``entities`` and ``statements``, then ``finish``.

    Entities keep their standing, so that a later load takes the same ones away from the imported
    graph as from this one. A view may have taken the last statement of any, and is written with
    ``all_described``: nothing of it is a source's, and all of it stays.
    """

    def __init__(self, folder: Path, info: GraphInfo, /, *, all_described: bool = False) -> None:
        self._info = info
        self._all_described = all_described
        self._edition = f"{info.name}@0"
        self._files = ExitStack()
        self._out: dict[str, IO[str]] = {}
        for name, header in (*NODE_FILES.values(), (STATEMENTS_FILE, _STATEMENT)):
            out = self._files.enter_context((folder / name).open("w", encoding="utf-8", newline=""))
            out.write(",".join(header) + "\n")
            self._out[name] = out
        self._types: dict[str, str] = {}
        self._own_types: set[str] = set()
        self._entity_rows = JournalFile(folder, ENTITY_ROW)
        self._files.callback(self._entity_rows.close)
        self._statement_rows = JournalFile(folder, STATEMENT_ROW)
        self._files.callback(self._statement_rows.close)
        self._edge_sum = np.zeros(2, dtype=np.uint64)
        self._content_sum = np.zeros(2, dtype=np.uint64)
        self._literals = 0
        self._same_as = 0

    def __enter__(self) -> Neo4jCsvWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self._files.close()

    def entities(self, entities: Sequence[Entity], /) -> None:
        """Writes some entities; each entity comes once."""
        out, same_as = self._out["entities.csv"], self._out["same_as.csv"]
        rows = np.zeros(len(entities), dtype=ENTITY_ROW)
        keys = [entity.key for entity in entities]
        standings = [
            Standing.DESCRIBED if self._all_described else entity.standing for entity in entities
        ]
        rows["key"] = keys
        rows["bare"] = [JOURNAL_STANDINGS[standing] for standing in standings]
        if entities:
            rows["content"] = words_of(b"".join(map(entity_content_hash, entities)))
        self._entity_rows.add(rows)
        self._content_sum += rows["content"].sum(axis=0, dtype=np.uint64)
        for entity, key, standing in zip(entities, keys, standings, strict=True):
            is_mentioned = standing is Standing.MENTIONED
            properties = (
                mentioned_properties(entity.id, key, self._edition)
                if is_mentioned
                else entity_properties(entity, key, self._edition)
            )
            row = {
                "key:ID": properties["key"],
                "bare:boolean": _TRUE if is_mentioned else None,
                "named:boolean": _TRUE if standing is Standing.NAMED else None,
            }
            out.write(_line(_ENTITY, {**properties, **row}))
            for other in dict.fromkeys(entity.same_as):
                self._same_as += 1
                link = {
                    ":ID": f"{self._edition}:s{self._same_as}",
                    "key": f"{self._edition}:{hex_key(key64(other))}",
                    "target": properties["key"],
                }
                same_as.write(_line(_SAME_AS, link))

    def statements(self, statements: Sequence[Statement], /) -> None:
        """Writes some statements; each comes once."""
        out, literals = self._out[STATEMENTS_FILE], self._out["literals.csv"]
        prefix = f"{self._edition}:"
        encoded = encode_statements(statements)
        journal = journal_rows(encoded)
        journal["flags"] |= CREATED
        self._statement_rows.add(journal)
        self._edge_sum += journal["edge"].sum(axis=0, dtype=np.uint64)
        self._content_sum += journal["content"].sum(axis=0, dtype=np.uint64)
        self._literals += int(np.count_nonzero(journal["flags"] & LITERAL))
        written: list[str] = []
        for row in relationship_rows(encoded):
            id_, key, head, tail, relation, rank, value, qualifiers, references, context = row
            if value is None:
                end = prefix + hex_key(tail or 0)
            else:
                end = f"{prefix}l{hex_key(key)}"
                literals.write(_line(_LITERAL, {":ID": end, **literal_properties(value)}))
            written.append(
                f"{prefix}{hex_key(head)},{end},{self._type(relation)},"
                f"{_cell(id_)},{key},{_cell(relation)},{rank.value},"
                f"{_cell(qualifiers)},{_cell(references)},{_cell(context)},1\n"
            )
        out.write("".join(written))

    def _type(self, relation: str) -> str:
        type_ = self._types.get(relation)
        if type_ is None:
            type_ = type_name(relation)
            if type_ in self._own_types:
                type_ = type_name(relation, unique=True)
            if len(self._own_types) >= MAX_NEW_TYPES:
                type_ = STATEMENT_TYPE
            else:
                self._own_types.add(type_)
            self._types[relation] = type_
        return type_

    @property
    def relation_ids(self) -> list[str]:
        """The relations of the statements written so far."""
        return sorted(self._types, key=key64)

    @property
    def fingerprints(self) -> Fingerprints:
        """Those of what was written so far."""
        statements, entities = len(self._statement_rows), len(self._entity_rows)
        return Fingerprints(
            edges=fingerprint(self._edge_sum, statements),
            content=fingerprint(self._content_sum, statements + entities),
        )

    def finish(self, relations: Mapping[str, Entity], /) -> None:
        """Writes what the store keeps of a finished, published edition.

        Args:
            relations: Those of ``relation_ids`` that are entities too, for their labels.
        """
        self._write("relations.csv", _RELATION, self._relation_rows(relations))
        relations_alone = self._write_pages()
        statements, fingerprints = len(self._statement_rows), self.fingerprints
        counts = GraphCounts(
            entities=len(self._entity_rows) - relations_alone,
            statements=statements,
            relations=len(self._types),
            literals=self._literals,
        )
        info = self._info
        self._write(
            "graph.csv", _GRAPH, [{":ID": "graph", "name": info.name, "current": self._edition}]
        )
        self._write(
            "edition.csv",
            _EDITION,
            [
                {
                    ":ID": "edition",
                    "id": self._edition,
                    "number:long": 0,
                    "graph": info.name,
                    "state": "published",
                    "replace:boolean": "true",
                    "owner": "bulk import",
                    "source": info.source,
                    "options": orjson.dumps(dict(info.options)).decode(),
                    "started_at": info.published_at,
                    "published_at": now_text(),
                    "sequence:long": 1,
                    "statements:long": statements,
                    "outdated:long": 0,
                    "report": orjson.dumps(dict(info.report)).decode(),
                    "tool_version": __version__,
                    "page_bits:long": page_bits(statements),
                    "load_counts": orjson.dumps(
                        asdict(LoadCounts(statements, 0, 0, 0, 0))
                    ).decode(),
                    "counts": orjson.dumps(asdict(counts)).decode(),
                    "edges": fingerprints.edges,
                    "content": fingerprints.content,
                    "untyped:long": sum(t == STATEMENT_TYPE for t in self._types.values()),
                    "lease_until:long": 0,
                    "relations": orjson.dumps(list(map(key64, self.relation_ids))).decode(),
                }
            ],
        )

    def _write_pages(self) -> int:
        """Writes the pages; returns how many relations have names alone, and so are no entities."""
        relations = np.sort(np.array(list(map(key64, self._types)), dtype=np.int64))
        mentioned: set[int] = set()
        for index, page in self._statement_rows.pages():
            tails = page["tail"][(page["flags"] & LITERAL) == 0]
            nodes = np.concatenate((page["head"], tails))
            mentioned.update(nodes[are_among(nodes, relations)].tolist())
            self._write_page("s", index, page, _base64(heads_of(page)))
        unmentioned = np.setdiff1d(relations, np.array(sorted(mentioned), dtype=np.int64))
        count = 0
        for index, page in self._entity_rows.pages():
            alone = (page["bare"] == NAMED) & are_among(page["key"], unmentioned)
            page["bare"][alone] = NAMED_RELATION
            count += int(np.count_nonzero(alone))
            self._write_page("e", index, page)
        return count

    def _write_page(self, kind: str, index: int, rows: Rows, heads: str | None = None) -> None:
        key = f"{self._edition}:{kind}{index:08x}"
        row = {"key:ID": key, "kind": kind, "places": heads, "rows": _base64(rows)}
        self._write("pages.csv", _PAGE, [row])

    def _relation_rows(self, relations: Mapping[str, Entity]) -> Iterator[dict[str, Any]]:
        for relation in self.relation_ids:
            type_, key = self._types[relation], key64(relation)
            entity = relations.get(relation, Entity(relation))
            yield {
                ":ID": f"r{hex_key(key)}",
                "key:long": key,
                "id": relation,
                "iri": relation_iri(relation),
                "own_type": None if type_ == STATEMENT_TYPE else type_,
                "type": type_,
                "label": entity_properties(entity, key, self._edition).get("label"),
            }

    def _write(self, name: str, header: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
        self._out[name].writelines(_line(header, row) for row in rows)


def import_arguments(folder: Path, /) -> list[str]:
    """Returns the arguments of ``neo4j-admin database import full`` for the files of a folder."""
    nodes = [f"--nodes={label}={folder / name}" for label, (name, _) in NODE_FILES.items()]
    return [
        *nodes,
        f"--relationships={folder / STATEMENTS_FILE}",
        "--multiline-fields=true",
        "--overwrite-destination",
        "neo4j",
    ]


def _base64(rows: Rows) -> str:
    return base64.b64encode(rows.tobytes()).decode()


def _line(header: Sequence[str], row: Mapping[str, Any]) -> str:
    return ",".join([_cell(row.get(name)) for name in header]) + "\n"


def _cell(value: object) -> str:
    """Returns a cell: nothing for None, texts in quotes, so that an empty one is a text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return str(value)
