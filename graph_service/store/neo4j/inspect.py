"""Whether what Neo4j holds beside a graph's statements is what follows from them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from graph_service.model.graph_info import GraphInfo
from graph_service.model.hashing import fingerprint
from graph_service.model.identity import Fingerprints, key64
from graph_service.store.decoding import decoding
from graph_service.store.encoded import row_of_statement
from graph_service.store.hashes import RANK_BYTES, statement_hashes
from graph_service.store.neo4j.driver import Connection
from graph_service.store.neo4j.editions import (
    read_edition,
    read_entity_rows,
    read_statement_rows,
)
from graph_service.store.neo4j.journal import (
    DOCUMENT_ROW,
    ENTITY_ROW,
    STATEMENT_ROW,
    UNUSED,
    unpack,
)
from graph_service.store.neo4j.rows import (
    ENTITY_COLUMNS,
    STATEMENT_COLUMNS,
    entity_of_row,
    entity_properties,
    mentioned_properties,
    statement_of_row,
    words_of,
)
from graph_service.store.neo4j.scan import SCAN_ROWS, scan_by_head
from graph_service.store.neo4j.schema import STATEMENTS, hex_key, key_of_hex
from graph_service.store.protocol import Inspected

_DERIVED = ("key", "graph", "id", "long_id", "label")
"""Properties of an entity's node that follow from its id, terms and edition."""


def inspect_server(connection: Connection, /) -> Iterator[Inspected]:
    """Checks that every index is there and online, and the journals of loads under way."""
    indexes = connection.read(
        "SHOW INDEXES YIELD name, state RETURN name, state", what="listing indexes"
    )
    states: dict[str, str] = {row[0]: row[1] for row in indexes}
    expected = re.findall(r"graph_service_\w+", " ".join(STATEMENTS))
    wrong = [
        f"{name} is {states.get(name, 'missing')}"
        for name in dict.fromkeys(expected)
        if states.get(name) != "ONLINE"
    ]
    yield Inspected("database", "; ".join(wrong))
    loads = _loads(connection)
    if any(not load.is_complete for load in loads):
        # A query sees what others commit while it runs: what is broken is so in the next one too.
        later = {(load.edition, load.sequence, load.batches) for load in _loads(connection)}
        loads = [
            load
            for load in loads
            if load.is_complete or (load.edition, load.sequence, load.batches) in later
        ]
    for load in loads:
        fault = "" if load.is_complete else f"it has batches {[*load.batches]} of {load.sequence}"
        yield Inspected(load.part, fault)


@dataclass(frozen=True, slots=True)
class _Load:
    """A load under way: how many batches it has written, and those that its journal has."""

    edition: str
    sequence: int
    batches: tuple[int, ...]

    @property
    def part(self) -> str:
        return f"journal of the load {self.edition}"

    @property
    def is_complete(self) -> bool:
        return sorted(self.batches) == list(range(1, self.sequence + 1))


def _loads(connection: Connection) -> list[_Load]:
    editions = connection.read(
        """MATCH (e:GraphEdition) WHERE e.state = 'loading'
        OPTIONAL MATCH (j:LoadJournal) WHERE j.key STARTS WITH e.id + ':'
        WITH e, j ORDER BY j.key
        RETURN e.id, e.sequence, collect([j.batch, j.statements, j.entities, j.documents])
        ORDER BY e.id""",
        what="reading journals",
    )
    loads = []
    for edition, sequence, rows in editions:
        if edition is None or sequence is None:
            # It ended meanwhile.
            continue
        load = _Load(edition, sequence, tuple(row[0] for row in rows if row[0] is not None))
        with decoding(load.part):
            for _, statements, entities, documents in rows:
                unpack(statements, STATEMENT_ROW)
                unpack(entities, ENTITY_ROW)
                unpack(documents, DOCUMENT_ROW)
        loads.append(load)
    return loads


def inspect_edition(connection: Connection, info: GraphInfo, /) -> Iterator[Inspected]:
    """Checks an edition's pages, keys and what search reads."""
    with decoding("the pages of an edition"):
        statements = read_statement_rows(connection, info.edition)
        entities = read_entity_rows(connection, info.edition)
        # Names kept aside are in the pages, for later loads, and are no part of the graph.
        entities = entities[entities["bare"] != UNUSED]
        content = statements["content"].sum(axis=0, dtype=np.uint64)
        content = content + entities["content"].sum(axis=0, dtype=np.uint64)
        paged = Fingerprints(
            fingerprint(statements["edge"].sum(axis=0, dtype=np.uint64), len(statements)),
            fingerprint(content, len(statements) + len(entities)),
        )
    yield Inspected("pages", "" if paged == info.fingerprints else "they are of another graph")
    yield Inspected("keys", _wrong_statements(connection, info, statements))
    yield Inspected("name index", _wrong_entities(connection, info))


def _wrong_statements(connection: Connection, info: GraphInfo, pages: Any) -> str:
    """Says how many statements have another key, head or content than their page tells."""
    wrong = seen = 0
    for rows in scan_by_head(connection, info.edition, STATEMENT_COLUMNS, list):
        seen += len(rows)
        with decoding("a statement"):
            items = [row_of_statement(statement_of_row(row)) for row in rows]
            hashes = [
                statement_hashes(
                    *(item.id, item.head, item.relation, item.value, RANK_BYTES[item.rank]),
                    *(item.qualifiers, item.references, item.context),
                )
                for item in items
            ]
        keys = np.array([key64(item.id) for item in items], dtype=np.int64)
        positions = np.minimum(np.searchsorted(pages["key"], keys), max(len(pages) - 1, 0))
        stored = pages[positions]
        right = stored["key"] == keys
        right &= keys == np.array([row[0] for row in rows], dtype=np.int64)
        right &= stored["head"] == np.array([key64(item.head) for item in items], dtype=np.int64)
        right &= (stored["content"] == words_of(b"".join([content for _, content in hashes]))).all(
            axis=1
        )
        wrong += int(np.count_nonzero(~right))
    missing = len(pages) - seen
    if wrong:
        return f"{wrong:,} statements are not as their pages say"
    return f"{missing:,} statements of the pages are gone" if missing else ""


def _wrong_entities(connection: Connection, info: GraphInfo) -> str:
    query = f"""MATCH (n:Entity) WHERE n.key > $after AND n.key < $end
        RETURN {ENTITY_COLUMNS}, n {{{", ".join("." + name for name in (*_DERIVED, "_search"))}}}
        ORDER BY n.key LIMIT $limit"""
    after, wrong = f"{info.edition}:", 0
    while True:
        parameters = {"after": after, "end": f"{info.edition};", "limit": SCAN_ROWS}
        rows = read_edition(connection, info.edition, query, parameters, what="reading entities")
        for *columns, stored in rows:
            with decoding("an entity"):
                entity = entity_of_row(columns)
                key = key64(entity.id)
                expected = (
                    mentioned_properties(entity.id, key, info.edition)
                    if columns[5]
                    else entity_properties(entity, key, info.edition)
                )
            same = key_of_hex(columns[0]) == key and stored["key"].endswith(hex_key(key))
            # The order of the tokens is that in which the names came, which is not kept.
            same &= set((stored["_search"] or "").split()) == set(
                expected.get("_search", "").split()
            )
            wrong += not same or any(stored.get(name) != expected.get(name) for name in _DERIVED)
        if len(rows) < SCAN_ROWS:
            return f"{wrong:,} entities are indexed under other names than theirs" if wrong else ""
        after = rows[-1][0]
