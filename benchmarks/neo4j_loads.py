"""Loads into Neo4j and snapshots from it, beside a bare ``UNWIND ... CREATE`` of such a payload.

They run on the server that ``--neo4j`` names, under labels and a graph's name of their own; both
are deleted afterwards. User and password are those of the settings.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

from benchmarks.codex import Codex, read_rows
from benchmarks.dumps import DIRECT, ENTITY, data_folder, labels_there_are, run_load
from benchmarks.figures import Detail, Measured
from graph_service.errors import SetupError
from graph_service.store.neo4j.driver import Connection
from graph_service.store.neo4j.store import Neo4jStore, open_neo4j

EDGES = 150_000
_PORTION = 10_000
_WARMING = 100_000
_XSD = "http://www.w3.org/2001/XMLSchema#"


def load_triples_into_neo4j(codex: Codex, /) -> Measured:
    """Loads N-Triples, half of them literals, and reads the snapshot back.

    Raises:
        SetupError: No server was named.
    """
    if codex.neo4j is None:
        raise SetupError(
            "no Neo4j is named to load into",
            hint="Name one that may be written to: --neo4j bolt://localhost:7687",
        )
    path = codex.folder / "half.nt"
    count = _write_triples(path, codex)
    # A server that has just started runs at half its speed: whoever came first would lose.
    _load_barely(path, codex, codex.neo4j, limit=_WARMING)
    own, details = _load(path, codex, codex.neo4j)
    details["triples_per_s"] = int(count / own * 1000)
    bare = _load_barely(path, codex, codex.neo4j)
    path.unlink()
    return Measured([own], [bare], details={"triples": count, **details})


def _write_triples(path: Path, codex: Codex) -> int:
    """Writes edges of CoDEx-M, and after each a literal of its head: a name, a number or a date."""
    rows = read_rows(codex.triples("m"))[:EDGES]
    labels = labels_there_are(data_folder(codex)) or ["a name"]
    with path.open("w", encoding="utf-8") as file:
        for place, (head, relation, tail) in enumerate(rows):
            literal = (
                f'"{labels[place % len(labels)]} {place}"@en',
                f'"{place}"^^<{_XSD}decimal>',
                f'"{1000 + place % 1000}-01-01T00:00:00Z"^^<{_XSD}dateTime>',
            )[place % 3]
            subject = f"<{ENTITY}{head}>"
            file.write(f"{subject} <{DIRECT}{relation}> <{ENTITY}{tail}> .\n")
            file.write(f"{subject} <{DIRECT}P9000{place % 3}> {literal} .\n")
    return 2 * len(rows)


def _load(path: Path, codex: Codex, url: str) -> tuple[float, dict[str, Detail]]:
    graph = f"bench-{uuid4().hex[:8]}"
    with _open(codex, url) as store:
        try:
            own, details = run_load(path, store=url, graph=graph)
            started = time.perf_counter()
            store.build(store.graph(graph))
            details["snapshot_ms"] = 1000 * (time.perf_counter() - started)
        finally:
            if any(info.name == graph for info in store.graphs()):
                store.delete_graph(graph)
    return own, details


def _open(codex: Codex, url: str) -> Neo4jStore:
    settings = codex.settings
    return open_neo4j(
        url,
        username=settings.neo4j_username,
        password=settings.neo4j_password or None,
        database=settings.neo4j_database,
        snapshot_folder=codex.folder / "neo4j-snapshots",
    )


def _load_barely(path: Path, codex: Codex, url: str, *, limit: int | None = None) -> float:
    """Returns the milliseconds of parsing and creating alone, with one index to find the ends."""
    settings = codex.settings
    label = f"Bare{uuid4().hex[:8]}"
    connection = Connection(
        url,
        username=settings.neo4j_username,
        password=settings.neo4j_password or None,
        database=settings.neo4j_database,
    )
    with closing(connection):
        connection.write(f"CREATE CONSTRAINT {label} FOR (n:{label}) REQUIRE n.key IS UNIQUE")
        try:
            return _create(islice(_rows(path), limit), connection, label)
        finally:
            for name in (f"{label}Literal", label):
                query = f"MATCH (n:{name}) WITH n LIMIT {_PORTION} DETACH DELETE n RETURN count(n)"
                while connection.write(query)[0][0]:
                    pass
            connection.write(f"DROP CONSTRAINT {label}")


def _create(rows: Iterator[dict[str, Any]], connection: Connection, label: str) -> float:
    create_nodes = f"UNWIND $rows AS row CREATE (n:{label} {{key: row, id: row}})"
    create_links = f"""UNWIND $rows AS row MATCH (a:{label} {{key: row.a}})
        MATCH (b:{label} {{key: row.b}}) CREATE (a)-[r:$(row.t)]->(b) SET r = row.p"""
    create_literals = f"""UNWIND $rows AS row MATCH (a:{label} {{key: row.a}})
        CREATE (a)-[r:$(row.t)]->(b:{label}Literal) SET r = row.p, b = row.v"""
    started = time.perf_counter()
    known: set[str] = set()
    while portion := list(islice(rows, _PORTION)):
        links = [row for row in portion if "b" in row]
        mentioned = {row["a"] for row in portion} | {row["b"] for row in links}
        connection.write(create_nodes, rows=sorted(mentioned - known))
        known |= mentioned
        connection.write(create_links, rows=links)
        connection.write(create_literals, rows=[row for row in portion if "v" in row])
    return 1000 * (time.perf_counter() - started)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yields what a relationship is created from, with properties as ours has them."""
    import pyoxigraph

    parsed = pyoxigraph.parse(path=str(path), format=pyoxigraph.RdfFormat.N_TRIPLES)
    for number, quad in enumerate(parsed):
        relation = str(quad.predicate.value).rpartition("/")[2]
        row: dict[str, Any] = {
            "a": str(quad.subject).rpartition("/")[2],
            "t": relation,
            "p": {
                "id": f"{number:032x}",
                "key": number,
                "relation": relation,
                "rank": "normal",
                "batch": number // _PORTION,
            },
        }
        if isinstance(quad.object, pyoxigraph.NamedNode):
            row["b"] = str(quad.object).rpartition("/")[2]
        else:
            text = str(quad.object)
            row["v"] = {"value": text, "label": text, "type": "string", "text": text}
        yield row
