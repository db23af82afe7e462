"""Copying and deleting whole editions, in transactions of a bounded size.

One transaction over some hundred thousand relationships runs a small heap out of memory, and so
does ``DETACH DELETE`` of a hub. So relationships go first, in counted portions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import neo4j
import numpy as np

from graph_service.store.names import graph_of, unknown_edition
from graph_service.store.neo4j.driver import Connection, Row, one_row, rows_of
from graph_service.store.neo4j.journal import ENTITY_ROW, STATEMENT_ROW, Rows, unpack
from graph_service.store.neo4j.schema import hex_key, search_token

PORTION = 10_000
NODES_A_COPY = 5_000
PAGES_AT_ONCE = 256
"""Of 1,024 rows at most: 22 MB as they come."""

_DELETE_LITERALS = "FOREACH (x IN CASE WHEN b:Literal THEN [b] ELSE [] END | DELETE x)"


def require_published(tx: neo4j.Transaction, edition: str, /) -> None:
    """Raises ``GraphNotFoundError`` unless the edition is published.

    An edition is marked before anything of it is deleted: what was read of one that is published
    afterwards was whole.
    """
    row = one_row(tx, "MATCH (e:GraphEdition {id: $id}) RETURN e.state", {"id": edition})
    if row is None or row[0] != "published":
        raise unknown_edition(edition)


def read_edition(
    connection: Connection, edition: str, query: str, parameters: Mapping[str, Any], /, *, what: str
) -> list[Row]:
    """Returns rows of a published edition, none of them of a node that is deleted meanwhile.

    Raises:
        GraphNotFoundError: The edition was deleted meanwhile.
    """

    def read(tx: neo4j.Transaction) -> list[Row]:
        rows = rows_of(tx, query, parameters)
        require_published(tx, edition)
        return rows

    return connection.transaction(read, access="READ", what=what)


def published_names(tx: neo4j.Transaction, /) -> list[str]:
    """Returns the names of the graphs that are published."""
    rows = rows_of(tx, "MATCH (g:Graph) WHERE g.current IS NOT NULL RETURN g.name", {})
    return [name for (name,) in rows if name is not None]


def read_statement_rows(connection: Connection, edition: str, /) -> Rows:
    """Returns the ``STATEMENT_ROW`` of a published edition, by key; see ``read_entity_rows``."""
    return _read_rows(connection, edition, "s", STATEMENT_ROW)


def read_entity_rows(connection: Connection, edition: str, /) -> Rows:
    """Returns the ``ENTITY_ROW`` of a published edition, by key.

    Raises:
        GraphNotFoundError: The edition was deleted meanwhile.
    """
    return _read_rows(connection, edition, "e", ENTITY_ROW)


def _read_rows(connection: Connection, edition: str, part: str, dtype: np.dtype[Any]) -> Rows:
    """Returns the rows of the pages of a part of an edition, some pages read at a time."""
    after, end = f"{edition}:{part}", f"{edition}:{chr(ord(part) + 1)}"
    query = """MATCH (p:GraphPage) WHERE p.key > $after AND p.key < $end
        RETURN p.key, p.rows ORDER BY p.key LIMIT $limit"""
    data = bytearray()
    while True:
        pages = read_edition(
            connection,
            edition,
            query,
            {"after": after, "end": end, "limit": PAGES_AT_ONCE},
            what="reading what the graph has",
        )
        for _, rows in pages:
            data += unpack(rows, dtype).tobytes()
        if len(pages) < PAGES_AT_ONCE:
            return np.frombuffer(data, dtype=dtype)
        after = pages[-1][0]


def copy_edition(
    connection: Connection,
    base: str,
    edition: str,
    base_rows: Rows,
    renew: Callable[[neo4j.Transaction], None],
    /,
) -> None:
    """Copies what ``base`` has into ``edition``; goes on where a killed process stopped.

    ``base_rows`` are the ``STATEMENT_ROW`` of the base; ``renew`` renews the lease inside a
    transaction, or raises.
    """
    portions = list(_portions(base_rows))

    def step(tx: neo4j.Transaction) -> bool:
        renew(tx)
        row = one_row(
            tx,
            "MATCH (e:GraphEdition {id: $edition}) RETURN coalesce(e.copied, 'n:')",
            {"edition": edition},
        )
        cursor: str = row[0] if row else "done"
        if cursor == "done":
            return False
        if cursor.startswith("n:"):
            following = _copy_nodes(tx, base, edition, cursor[2:])
        elif cursor.startswith("s:"):
            following = _copy_unused_names(tx, base, edition, cursor[2:])
        else:
            index = int(cursor[2:])
            if index < len(portions):
                _copy_statements(tx, base, edition, portions[index])
                following = f"r:{index + 1}"
            else:
                following = "done"
        rows_of(
            tx,
            "MATCH (e:GraphEdition {id: $edition}) SET e.copied = $cursor",
            {"edition": edition, "cursor": following},
        )
        return True

    while connection.transaction(step, what="copying the graph's last state"):
        pass


def _portions(rows: Rows) -> Iterator[list[tuple[int, list[int] | None]]]:
    """Yields heads with their statement keys (None for all of a head's), in portions."""
    ordered = rows[np.lexsort((rows["key"], rows["head"]))]
    heads = ordered["head"]
    if not len(heads):
        return
    begins = np.flatnonzero(np.append(True, heads[1:] != heads[:-1])).tolist()
    stops = [*begins[1:], len(heads)]
    portion: list[tuple[int, list[int] | None]] = []
    size = 0
    for start, end in zip(begins, stops, strict=True):
        head = int(heads[start])
        if end - start > PORTION:
            for cut in range(start, end, PORTION):
                yield [(head, ordered["key"][cut : min(cut + PORTION, end)].tolist())]
            continue
        if size + end - start > PORTION:
            yield portion
            portion, size = [], 0
        portion.append((head, None))
        size += end - start
    if portion:
        yield portion


_COPY_NODES = """MATCH (a:Entity) WHERE a.key > $after AND a.key < $end
    WITH a ORDER BY a.key LIMIT $limit
    CREATE (b:Entity) SET b = a {.*, graph: $edition, equal: null,
        key: $edition + ':' + right(a.key, 16), batch: null,
        _search: $token + substring(a._search, $cut)}
    RETURN max(a.key), count(*)"""
# Names kept aside become entities: the load may bring the statement they wait for.
_COPY_UNUSED_NAMES = """MATCH (a:SpareName) WHERE a.key > $after AND a.key < $end
    WITH a ORDER BY a.key LIMIT $limit
    CREATE (b:Entity) SET b = a {.*, graph: $edition, spare: null, equal: null,
        key: $edition + ':' + right(a.key, 16),
        _search: $token + substring(a.spare, $cut)}
    RETURN max(a.key), count(*)"""


def _copy_portion(
    tx: neo4j.Transaction, query: str, base: str, edition: str, after: str
) -> str | None:
    """Copies the next nodes after a key; returns the last one's key, None where none is left."""
    row = one_row(
        tx,
        query,
        {
            "after": after or f"{base}:",
            "end": f"{base}:g",
            "limit": NODES_A_COPY,
            "edition": edition,
            "token": search_token(edition),
            "cut": len(search_token(base)),
        },
    )
    return None if row is None or not row[1] else str(row[0])


def _copy_nodes(tx: neo4j.Transaction, base: str, edition: str, after: str) -> str:
    last = _copy_portion(tx, _COPY_NODES, base, edition, after)
    if last is None:
        return "s:"
    rows_of(
        tx,
        """MATCH (a:SameAs) WHERE a.target > $after AND a.target <= $last
        CREATE (b:SameAs) SET b.key = $edition + ':' + right(a.key, 16),
            b.target = $edition + ':' + right(a.target, 16)""",
        {"after": after or f"{base}:", "last": last, "edition": edition},
    )
    return f"n:{last}"


def _copy_unused_names(tx: neo4j.Transaction, base: str, edition: str, after: str) -> str:
    last = _copy_portion(tx, _COPY_UNUSED_NAMES, base, edition, after)
    return "r:0" if last is None else f"s:{last}"


def _copy_statements(
    tx: neo4j.Transaction, base: str, edition: str, portion: list[tuple[int, list[int] | None]]
) -> None:
    rows = [
        {"a": f"{base}:{hex_key(head)}", "b": f"{edition}:{hex_key(head)}", "keys": keys}
        for head, keys in portion
    ]
    parameters = {"rows": rows, "edition": edition}
    rows_of(
        tx,
        """UNWIND $rows AS row MATCH (a:Entity {key: row.a})-[r]->(t:Entity)
        WHERE row.keys IS NULL OR r.key IN row.keys
        MATCH (b:Entity {key: row.b}) MATCH (u:Entity {key: $edition + ':' + right(t.key, 16)})
        CREATE (b)-[q:$(type(r))]->(u) SET q = r {.*, batch: 0}""",
        parameters,
    )
    rows_of(
        tx,
        """UNWIND $rows AS row MATCH (a:Entity {key: row.a})-[r]->(t:Literal)
        WHERE row.keys IS NULL OR r.key IN row.keys
        MATCH (b:Entity {key: row.b})
        CREATE (b)-[q:$(type(r))]->(u:Literal) SET q = r {.*, batch: 0}, u = properties(t)""",
        parameters,
    )


def drop_editions(connection: Connection, /) -> None:
    """Deletes all editions marked for it; may be broken off and called again."""
    rows = connection.read(
        "MATCH (e:GraphEdition) WHERE e.state = 'dropping' RETURN e.id ORDER BY e.number"
    )
    # Another process deletes them too: the id of one that is gone meanwhile is null.
    for edition in [id_ for (id_,) in rows if id_ is not None]:
        _drop_relationships(connection, edition)
        for label, key in (
            ("Entity", "key"),
            ("SpareName", "key"),
            ("SameAs", "target"),
            ("GraphPage", "key"),
            ("LoadJournal", "key"),
        ):
            _drop_nodes(connection, label, key, edition)
        connection.write(
            "MATCH (e:GraphEdition {id: $edition}) WHERE e.state = 'dropping' DELETE e",
            edition=edition,
        )
        # Locked before it is looked at: a load that begins now must not lose it.
        connection.write(
            """MATCH (g:Graph {name: $graph}) SET g.touched = timestamp()
            WITH g WHERE g.current IS NULL
                AND NOT EXISTS { MATCH (e:GraphEdition {graph: g.name}) } DELETE g""",
            graph=graph_of(edition),
        )


def drop_journal(connection: Connection, edition: str, /) -> None:
    """Deletes the journal of an edition that is published."""
    _drop_nodes(connection, "LoadJournal", "key", edition)


def _drop_nodes(connection: Connection, label: str, key: str, edition: str) -> None:
    # Label and property are one of the pairs above, never data.
    query = (
        f"MATCH (n:{label}) WHERE n.{key} >= $start AND n.{key} < $end "
        "WITH n LIMIT $limit DELETE n RETURN count(*)"
    )
    # Pages and journals are large, entities small.
    limit = PORTION if label in ("Entity", "SpareName", "SameAs") else 200
    while connection.write(
        query,
        start=f"{edition}:",
        end=f"{edition};",
        limit=limit,
        what="deleting an old edition",
    )[0][0]:
        pass


def _drop_relationships(connection: Connection, edition: str) -> None:
    after = f"{edition}:"
    while True:
        rows = connection.read(
            """MATCH (n:Entity) WHERE n.key > $after AND n.key < $end
            WITH n ORDER BY n.key LIMIT $limit RETURN n.key, COUNT { (n)-->() }""",
            after=after,
            end=f"{edition};",
            limit=PORTION,
        )
        if not rows:
            return
        portion: list[str] = []
        size = 0
        for key, degree in rows:
            if key is None:
                # Deleted meanwhile, as all of them are then: relationships go first.
                return
            if size and size + degree > PORTION:
                _drop_out_edges(connection, portion)
                portion, size = [], 0
            if degree:
                portion.append(key)
                size += degree
        if portion:
            _drop_out_edges(connection, portion)
        after = rows[-1][0]


def _drop_out_edges(connection: Connection, keys: list[str]) -> None:
    parameters: dict[str, Any] = {"keys": keys, "limit": PORTION}
    while connection.write(
        f"""UNWIND $keys AS key MATCH (a:Entity {{key: key}})-[r]->(b)
        WITH r, b LIMIT $limit DELETE r {_DELETE_LITERALS} RETURN count(*)""",
        what="deleting an old edition",
        **parameters,
    )[0][0]:
        pass


def delete_statements(
    tx: neo4j.Transaction, edition: str, to_delete: dict[int, list[tuple[int, int]]], /
) -> None:
    """Deletes relationships by the key of their head and their own key and batch."""
    rows_of(
        tx,
        f"""UNWIND $rows AS row MATCH (a:Entity {{key: row.head}})-[r]->(b)
        WHERE [r.key, r.batch] IN row.to_delete DELETE r {_DELETE_LITERALS}""",
        {
            "rows": [
                {"head": f"{edition}:{hex_key(head)}", "to_delete": [list(pair) for pair in pairs]}
                for head, pairs in to_delete.items()
            ]
        },
    )
