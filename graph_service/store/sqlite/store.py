"""The store in one SQLite file: reader, records, and the life of its graphs."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from graph_service.errors import (
    InputError,
)
from graph_service.model.equal_entities import EqualEntities
from graph_service.model.graph import RANKS, KnowledgeGraph
from graph_service.model.graph_info import GraphInfo, UnfinishedLoad
from graph_service.model.identity import key64
from graph_service.model.limits import Deadline
from graph_service.model.neighbourhood import EdgeRow, Neighbourhood
from graph_service.model.overview import Overview
from graph_service.model.result import SearchHit
from graph_service.model.statement import (
    Entity,
    Rank,
    Statement,
    decode_references,
    decode_snaks,
)
from graph_service.model.values import EntityValue, decode_value
from graph_service.store.decoding import decodes, decoding
from graph_service.store.fingerprinter import Fingerprinter, require_claimed
from graph_service.store.lifecycle import CachedStore
from graph_service.store.lookup import (
    by_same_as,
    follow_redirects,
    pairs_naming_one,
)
from graph_service.store.names import now_text, require_graph_name, unknown_edition, unknown_graph
from graph_service.store.protocol import EntityLookup, Inspected, Record
from graph_service.store.records import decode_record, encode_fields, version_of
from graph_service.store.search import CANDIDATE_LIMIT, are_enough, rank_hits, token_queries
from graph_service.store.snapshot.build import (
    NameChunk,
    build_from_columns,
)
from graph_service.store.snapshot.cache import DEFAULT_CACHE_BYTES, SnapshotCache
from graph_service.store.sqlite.backup import back_up
from graph_service.store.sqlite.browse import count_relations, read_overview
from graph_service.store.sqlite.database import Database, mapping_errors
from graph_service.store.sqlite.frozen import FrozenDatabase, is_frozen
from graph_service.store.sqlite.inspect import inspect_edition, inspect_file
from graph_service.store.sqlite.load import (
    Lease,
    SqliteLoadSession,
    drop_editions,
    graph_info,
)
from graph_service.store.sqlite.load_lease import (
    take_lease,
    unfinished_edition,
    unfinished_loads,
)
from graph_service.store.sqlite.passages import SqlitePassages
from graph_service.store.sqlite.region import read_neighbourhood, read_relations
from graph_service.store.sqlite.rows import entity_of_row
from graph_service.store.sqlite.scan import edge_chunks, entity_chunks, row_ranges
from graph_service.store.sqlite.schema import of_edition
from graph_service.store.texts import encode_entity_value

SCAN_ROWS = 5_000

_ENTITY_COLUMNS = "e.key, e.id, e.kind, e.redirect, e.revision, e.terms, e.bare"
# CROSS JOIN keeps the order of the joins: statements first, whatever the planner thinks.
_STATEMENT_ROWS = """SELECT s.key, s.id, h.id, r.id, s.tail, t.id, s.value, s.rank, s.qualifiers,
    s.sources, s.context FROM statements_$n s CROSS JOIN entities_$n h ON h.key = s.head
    CROSS JOIN relations_$n r ON r.number = s.relation LEFT JOIN entities_$n t ON t.key = s.tail """
_EDGE_ROWS = """SELECT s.key, s.id, h.id, r.id, s.tail, t.id, s.value, s.rank
    FROM statements_$n s CROSS JOIN entities_$n h ON h.key = s.head
    CROSS JOIN relations_$n r ON r.number = s.relation LEFT JOIN entities_$n t ON t.key = s.tail """

_NAMED = """SELECT o.id, n.id FROM same_as_$n s CROSS JOIN entities_$n n ON n.key = s.key
    CROSS JOIN entities_$n o ON o.key = s.entity
    WHERE n.redirect IS NULL AND o.redirect IS NULL"""
_NAMING_ONE = """SELECT s.key, e.id
    FROM (SELECT key FROM same_as_$n GROUP BY key HAVING count(*) > 1) k
    CROSS JOIN same_as_$n s ON s.key = k.key CROSS JOIN entities_$n e ON e.key = s.entity
    WHERE e.redirect IS NULL ORDER BY s.key, s.entity"""
_SAVE_RECORD = """INSERT INTO records (kind, key, graph, json, data, updated_at, name)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET graph = excluded.graph,
    json = excluded.json, data = excluded.data, updated_at = excluded.updated_at,
    name = coalesce(excluded.name, name)"""


class SqliteStore(CachedStore[SqlitePassages]):
    """A store in one file. ``open_sqlite`` makes it; see ``Store`` for what it does."""

    def __init__(self, database: Database, cache: SnapshotCache) -> None:
        super().__init__(cache, SqlitePassages(database))
        self._database = database

    @property
    def url(self) -> str:
        """The store's address, ``sqlite:///`` and the path."""
        return f"sqlite:///{self._database.path}"

    def graphs(self) -> list[GraphInfo]:
        """Returns all published graphs; see ``GraphReader.graphs``."""
        with self._database.reading() as connection:
            names = [name for (name,) in connection.execute("SELECT name FROM graphs").fetchall()]
            unfinished = {_graph_of(load.edition): load for load in unfinished_loads(connection)}
            infos = [(name, graph_info(connection, name)) for name in sorted(names)]
        return [
            replace(info, unfinished=unfinished.get(name))
            for name, info in infos
            if info is not None
        ]

    def graph(self, name: str, /) -> GraphInfo:
        """Returns one graph; see ``GraphReader.graph``."""
        with self._database.reading() as connection:
            info = graph_info(connection, name)
            if info is None:
                rows = connection.execute("SELECT name FROM graphs").fetchall()
                raise unknown_graph(name, [known for (known,) in rows])
            loads = [
                load for load in unfinished_loads(connection) if _graph_of(load.edition) == name
            ]
        return replace(info, unfinished=loads[0]) if loads else info

    def unfinished_loads(self) -> list[UnfinishedLoad]:
        """Returns loads not published, in order of their editions' numbers."""
        with self._database.reading() as connection:
            return unfinished_loads(connection)

    def build(self, info: GraphInfo, /) -> KnowledgeGraph:
        """Returns the edition as arrays in memory, built now, whatever the cache has."""
        number = self._edition(info.edition)
        with decoding(f"the statements of {info.edition}"):
            return self._build(info, number)

    def _build(self, info: GraphInfo, number: int) -> KnowledgeGraph:
        with self._database.reading() as connection:
            rows = connection.execute(
                of_edition("SELECT number, key, id FROM relations_$n", number)
            ).fetchall()
            name_rows = connection.execute(
                of_edition(
                    "SELECT name_keys, entity_keys, is_alias, longest FROM name_keys_$n", number
                )
            ).fetchall()
        relation_keys = np.zeros(max((row[0] for row in rows), default=0) + 1, dtype=np.int64)
        for relation, key, _ in rows:
            relation_keys[relation] = key
        return build_from_columns(
            info,
            edge_chunks(self._database, number, relation_keys),
            entity_chunks(self._database, number),
            lambda: {key: id_ for _, key, id_ in rows},
            [
                NameChunk(
                    np.frombuffer(keys, dtype=np.int64),
                    np.frombuffer(owners, dtype=np.int64),
                    np.frombuffer(aliases, dtype=np.uint8).astype(np.bool_),
                    longest,
                )
                for keys, owners, aliases, longest in name_rows
            ],
        )

    def inspect(self, info: GraphInfo, /) -> Iterator[Inspected]:
        """Checks an edition's keys and indexes; see ``GraphReader.inspect``."""
        return inspect_edition(self._database, self._edition(info.edition))

    def inspect_all(self) -> Iterator[Inspected]:
        """Checks what belongs to no edition; see ``Store.inspect_all``."""
        return inspect_file(self._database)

    def scan_entities(self, edition: str, /) -> Iterator[list[Entity]]:
        """Yields every entity; see ``GraphReader.scan_entities``."""
        return self._entities(self._edition(edition))

    def scan_edges(self, edition: str, /) -> Iterator[list[EdgeRow]]:
        """Yields every statement; see ``GraphReader.scan_edges``."""
        number = self._edition(edition)
        template = _EDGE_ROWS + "WHERE s.key >= ? ORDER BY s.key LIMIT ?"
        return ([edge_of_row(row) for row in rows] for rows in self._pages(template, number))

    def scan_statements(
        self, edition: str, /, *, in_order: bool = True
    ) -> Iterator[list[Statement]]:
        """Yields every statement whole; see ``GraphReader.scan_statements``."""
        number = self._edition(edition)
        if not in_order:
            return self._statements_as_they_lie(number)
        template = _STATEMENT_ROWS + "WHERE s.key >= ? ORDER BY s.key LIMIT ?"
        return ([statement_of_row(row) for row in rows] for rows in self._pages(template, number))

    def entities(self, edition: str, ids: Sequence[str], /) -> EntityLookup:
        """Returns entities by id; see ``GraphReader.entities``."""
        number = self._edition(edition)
        distinct = list(dict.fromkeys(ids))
        with self._database.reading() as connection:
            by_id = _entities_by_id(connection, number, distinct)
            lost = [id_ for id_ in distinct if id_ not in by_id]
            if lost:
                by_id.update(_entities_same_as(connection, number, lost))
            reached = follow_redirects(
                by_id, lambda targets: _entities_by_id(connection, number, targets)
            )
        return EntityLookup(
            entities={id_: reached[id_] for id_ in distinct if id_ in reached},
            missing=tuple(id_ for id_ in distinct if id_ not in reached),
        )

    def statements(self, edition: str, ids: Sequence[str], /) -> dict[str, Statement]:
        """Returns whole statements by id; see ``GraphReader.statements``."""
        number = self._edition(edition)
        requested = dict.fromkeys(ids)
        template = f"{_STATEMENT_ROWS} WHERE s.key IN (SELECT value FROM json_each(?))"  # noqa: S608
        with self._database.reading() as connection:
            rows = connection.execute(of_edition(template, number), (_keys(requested),)).fetchall()
        statements = {row[1]: statement_of_row(row) for row in rows}
        return {id_: statements[id_] for id_ in requested if id_ in statements}

    def statements_of(
        self,
        edition: str,
        entity: str,
        /,
        *,
        incoming: bool = False,
        relation_ids: Sequence[str] = (),
        entities_only: bool = False,
        after: int | None = None,
        limit: int = 1000,
        deadline: Deadline | None = None,
    ) -> list[Statement]:
        """Returns the statements at an entity; see ``GraphReader.statements_of``."""
        if limit < 0:
            raise InputError(f"limit must be at least 0, got {limit}", argument="limit")
        number = self._edition(edition)
        template = _STATEMENT_ROWS + f"WHERE s.{'tail' if incoming else 'head'} = ? "
        values: list[object] = [key64(entity)]
        if after is not None:
            template += "AND s.key > ? "
            values.append(after)
        if relation_ids:
            template += """AND s.relation IN (SELECT number FROM relations_$n
                WHERE key IN (SELECT value FROM json_each(?))) """
            values.append(_keys(relation_ids))
        if entities_only:
            template += "AND s.tail IS NOT NULL "
        with self._database.reading(deadline) as connection:
            rows = connection.execute(
                of_edition(template + "ORDER BY s.key LIMIT ?", number), (*values, limit)
            ).fetchall()
        return [statement_of_row(row) for row in rows]

    def relation_counts(
        self,
        edition: str,
        entity: str,
        /,
        *,
        incoming: bool = False,
        entities_only: bool = False,
        loops: bool = True,
        deadline: Deadline | None = None,
    ) -> dict[str, int]:
        """Counts the statements at an entity; see ``GraphReader.relation_counts``."""
        number = self._edition(edition)
        with self._database.reading(deadline) as connection, decoding("relations"):
            return count_relations(
                connection,
                number,
                key64(entity),
                incoming=incoming,
                entities_only=entities_only,
                loops=loops,
            )

    def overview(
        self,
        edition: str,
        /,
        *,
        equal: EqualEntities | None = None,
        deadline: Deadline | None = None,
    ) -> Overview:
        """Returns what an edition is about; see ``GraphReader.overview``."""
        number = self._edition(edition)
        with self._database.reading(deadline) as connection, decoding("relations"):
            return read_overview(connection, number, equal)

    def neighbourhood(
        self,
        edition: str,
        ids: Sequence[str],
        /,
        *,
        hops: int = 1,
        max_edges: int = 10_000,
        hub_degree: int | None = None,
        ranks: Sequence[Rank] = (Rank.PREFERRED, Rank.NORMAL),
        relation_ids: Sequence[str] = (),
        exclude_relation_ids: Sequence[str] = (),
        equal: EqualEntities | None = None,
        deadline: Deadline | None = None,
    ) -> Neighbourhood:
        """Returns the region around some entities; see ``GraphReader.neighbourhood``."""
        number = self._edition(edition)
        with self._database.reading(deadline) as connection, decoding("a region"):
            return read_neighbourhood(
                connection,
                number,
                ids,
                hops=hops,
                max_edges=max_edges,
                hub_degree=hub_degree,
                ranks=ranks,
                relation_ids=relation_ids,
                exclude_relation_ids=exclude_relation_ids,
                equal=equal,
                deadline=deadline or Deadline.none(),
            )

    def relations(self, edition: str, /) -> list[Entity]:
        """Returns the relations of statements; see ``GraphReader.relations``."""
        number = self._edition(edition)
        with self._database.reading() as connection:
            rows = connection.execute(
                of_edition("SELECT id FROM relations_$n ORDER BY key", number)
            ).fetchall()
            ids = [id_ for (id_,) in rows]
            entities = _entities_by_id(connection, number, ids)
        return [entities.get(id_, Entity(id_)) for id_ in ids]

    def equal_pairs(self, edition: str, /) -> list[tuple[str, str]]:
        """Returns pairs of linked entities; see ``GraphReader.equal_pairs``."""
        number = self._edition(edition)
        with self._database.reading() as connection:
            named = connection.execute(of_edition(_NAMED, number)).fetchall()
            naming = connection.execute(of_edition(_NAMING_ONE, number)).fetchall()
        return [*named, *pairs_naming_one(naming)]

    def relations_of(
        self, edition: str, ids: Sequence[str], /, *, deadline: Deadline | None = None
    ) -> dict[str, frozenset[str]]:
        """Returns the relations that each of some heads has; see ``GraphReader.relations_of``."""
        number = self._edition(edition)
        with (
            self._database.reading(deadline) as connection,
            decoding("the relations of entities"),
        ):
            return read_relations(connection, number, ids)

    def search(
        self,
        edition: str,
        query: str,
        /,
        *,
        languages: Sequence[str] = (),
        limit: int = 10,
        prefix: bool = False,
        deadline: Deadline | None = None,
    ) -> list[SearchHit]:
        """Returns entities by name; see ``GraphReader.search`` and ``store.search``."""
        number = self._edition(edition)
        sought = token_queries(query, prefix=prefix)
        if not sought:
            return []
        template = "SELECT rowid FROM names_$n WHERE names_$n MATCH ? ORDER BY rowid LIMIT ?"
        with self._database.reading(deadline) as connection:
            candidates: list[Entity] = []
            seen: set[int] = set()
            for turn, token_query in enumerate(sought):
                if turn == 1 and are_enough(candidates, query, limit=limit):
                    break
                parts = [f'"{token}"' for token in token_query.tokens]
                if token_query.begins:
                    parts.append(f'"{token_query.begins}" *')
                parameters = (" AND ".join(parts), CANDIDATE_LIMIT)
                rows = connection.execute(of_edition(template, number), parameters)
                keys = [key for (key,) in rows.fetchall() if key not in seen]
                seen.update(keys)
                candidates += _entities_by_key(connection, number, keys)
        return rank_hits(candidates, query, languages=languages, limit=limit, prefix=prefix)

    def save_record(self, record: Record, /) -> None:
        """Saves a record; see ``Records.save_record``."""
        with self._database.writing() as connection:
            connection.execute(_SAVE_RECORD, _record_row(record))

    def replace_record(self, record: Record, /, *, name: str | None = None) -> bool:
        """Saves a record if the stored one has its version; see ``Records.replace_record``."""
        with self._database.writing() as connection:
            row = connection.execute(
                "SELECT json FROM records WHERE kind = ? AND key = ?", (record.kind, record.key)
            ).fetchone()
            if version_of(None if row is None else row[0]) != record.version:
                return False
            try:
                connection.execute(_SAVE_RECORD, _record_row(record, name))
            except sqlite3.IntegrityError:
                return False
        return True

    def get_record(self, kind: str, key: str, /, *, with_data: bool = True) -> Record | None:
        """Returns a record, or None; see ``Records.get_record``."""
        with self._database.reading() as connection:
            row = connection.execute(
                """SELECT kind, key, graph, json, CASE WHEN ? THEN data END, updated_at
                    FROM records WHERE kind = ? AND key = ?""",
                (with_data, kind, key),
            ).fetchone()
        return None if row is None else decode_record(*row)

    def list_records(self, kind: str, /, *, graph: str | None = None) -> list[Record]:
        """Returns the records of a kind in order of their key, without ``data``."""
        with self._database.reading() as connection:
            rows = connection.execute(
                """SELECT kind, key, graph, json, NULL, updated_at FROM records
                    WHERE kind = ? AND (? IS NULL OR graph = ?) ORDER BY key""",
                (kind, graph, graph),
            ).fetchall()
        return [decode_record(*row) for row in rows]

    def delete_record(self, kind: str, key: str, /) -> bool:
        """Deletes a record; returns whether there was one."""
        with self._database.writing() as connection:
            deleted = connection.execute(
                "DELETE FROM records WHERE kind = ? AND key = ?", (kind, key)
            ).rowcount
        return deleted > 0

    def begin_load(
        self,
        graph: str,
        /,
        *,
        replace: bool = False,
        owner: str,
        source: str,
        options: Mapping[str, Any] | None = None,
        lease_s: float = 60.0,
    ) -> SqliteLoadSession:
        """Begins or resumes a load; see ``Store.begin_load``."""
        require_graph_name(graph)
        encoded = orjson.dumps(dict(options or {}), option=orjson.OPT_SORT_KEYS).decode()
        lease = Lease(owner, secrets.token_hex(16), lease_s)
        with self._database.writing(durable=False) as connection:
            number = take_lease(connection, graph, replace, lease, source, encoded)
        with mapping_errors(self._database.path):
            drop_editions(self._database.connection())
        return SqliteLoadSession(self._database, graph, number, lease)

    def delete_graph(self, name: str, /) -> None:
        """Deletes a graph, its editions and its records; see ``Store.delete_graph``."""
        with self._database.writing() as connection:
            unfinished = unfinished_edition(connection, name)
            if unfinished is not None and unfinished.is_held():
                raise unfinished.in_progress(name)
            known = [row[0] for row in connection.execute("SELECT name FROM graphs").fetchall()]
            if name not in known and unfinished is None:
                raise unknown_graph(name, known)
            connection.execute("DELETE FROM graphs WHERE name = ?", (name,))
            connection.execute("DELETE FROM records WHERE graph = ?", (name,))
            connection.execute(
                "UPDATE passage_sets SET state = 'dropping', token = NULL WHERE graph = ?", (name,)
            )
            connection.execute(
                "UPDATE editions SET state = 'dropping', token = NULL WHERE graph = ?", (name,)
            )
        with mapping_errors(self._database.path):
            drop_editions(self._database.connection())
        self._passages.drop_marked()

    def backup(self, out: Path, /, *, replace: bool = False) -> int:
        """Copies the file while it is in use; see ``sqlite_backup.back_up``."""
        return back_up(self._database, out, replace=replace, verify=_verify_copy)

    def ping(self) -> None:
        """Raises ``StoreUnavailableError`` unless the file answers now, and is the one opened."""
        self._database.require_file()
        with self._database.reading() as connection:
            connection.execute("SELECT count(*) FROM graphs").fetchone()

    def close(self) -> None:
        """Closes the connections of all threads."""
        self._database.close()

    def _edition(self, edition: str) -> int:
        """Returns the number of a published edition, whose tables are there."""
        name, _, number = edition.rpartition("@")
        with self._database.reading() as connection:
            row = (
                connection.execute(
                    """SELECT number FROM editions
                        WHERE number = ? AND graph = ? AND state = 'published'""",
                    (int(number), name),
                ).fetchone()
                if number.isascii() and number.isdigit() and len(number) < 18
                else None
            )
        if row is None:
            raise unknown_edition(edition)
        return int(row[0])

    def _pages(self, template: str, number: int) -> Iterator[list[tuple[Any, ...]]]:
        """Yields rows by pages of their key, so that no cursor stays open between them."""
        sql = of_edition(template, number)
        start = -(2**63)
        while True:
            with self._database.reading() as connection:
                rows = connection.execute(sql, (start, SCAN_ROWS)).fetchall()
            if rows:
                yield rows
            if len(rows) < SCAN_ROWS or rows[-1][0] == 2**63 - 1:
                return
            start = rows[-1][0] + 1

    def _statements_as_they_lie(self, number: int) -> Iterator[list[Statement]]:
        template = _STATEMENT_ROWS + "WHERE s.row > ? AND s.row <= ?"
        for rows in row_ranges(self._database, number, SCAN_ROWS):
            with self._database.reading() as connection:
                page = connection.execute(of_edition(template, number), rows).fetchall()
            yield [statement_of_row(row) for row in page]

    def _entities(self, number: int) -> Iterator[list[Entity]]:
        template = (
            f"SELECT {_ENTITY_COLUMNS} FROM entities_$n e WHERE e.key >= ? ORDER BY e.key LIMIT ?"  # noqa: S608
        )
        return ([entity_of_row(*row[1:]) for row in rows] for rows in self._pages(template, number))


def open_sqlite(
    path: str | Path,
    /,
    *,
    read_only: bool = False,
    busy_timeout_s: float = 30.0,
    snapshot_folder: Path | None = None,
    snapshot_cache_bytes: int = DEFAULT_CACHE_BYTES,
    trust_snapshots: bool = False,
) -> SqliteStore:
    """Opens a store's file, made where there is none.

    A file that this process may not write can be read all the same (``frozen``).

    Args:
        path: The file.
        read_only: Whether to refuse writing; the file must be there.
        busy_timeout_s: How long a write waits for another writer.
        snapshot_folder: Where snapshots are kept; beside the file if not given.
        snapshot_cache_bytes: Most bytes of snapshots kept.
        trust_snapshots: Whether to open snapshots without checking their content.
    """
    file = Path(path)
    if file.is_dir():
        raise InputError(f"{file} is a folder; expected a file", argument="store")
    if not file.absolute().parent.is_dir():
        raise InputError(f"there is no folder {file.absolute().parent}", argument="store")
    database = (
        FrozenDatabase(file, busy_timeout_s=busy_timeout_s)
        if is_frozen(file)
        else Database(file, read_only=read_only, busy_timeout_s=busy_timeout_s)
    )
    folder = snapshot_folder or file.with_name(file.name + ".snapshots")
    return SqliteStore(database, SnapshotCache(folder, snapshot_cache_bytes, trust=trust_snapshots))


def _verify_copy(path: Path) -> None:
    """Raises ``StoreCorruptError`` where a graph of a copy is not what its fingerprints claim."""
    with open_sqlite(path, read_only=True) as copy:
        for info in copy.graphs():
            fingerprinter = Fingerprinter()
            fingerprinter.add_edition(copy, info.edition)
            require_claimed(info.fingerprints, fingerprinter.fingerprints(), info.edition)


@decodes("a statement")
def edge_of_row(row: tuple[Any, ...], /) -> EdgeRow:
    """Returns an edge of key, id, head id, relation id, tail key, tail id, value, rank."""
    _, id_, head, relation, tail, tail_id, value, rank, *_ = row
    encoded = value if tail is None else encode_entity_value(tail_id)
    return EdgeRow(id_, head, relation, encoded, RANKS[rank])


@decodes("a statement")
def statement_of_row(row: tuple[Any, ...], /) -> Statement:
    """Returns a statement of the columns of an edge, then qualifiers, references, context."""
    _, id_, head, relation, tail, tail_id, value, rank, qualifiers, sources, context = row
    return Statement(
        id=id_,
        head=head,
        relation=relation,
        value=decode_value(value) if tail is None else EntityValue(tail_id),
        rank=RANKS[rank],
        qualifiers=decode_snaks(qualifiers) if qualifiers else (),
        references=decode_references(sources) if sources else (),
        context=context,
    )


def _keys(ids: Iterable[str]) -> str:
    return orjson.dumps([key64(id_) for id_ in ids]).decode()


def _entities_by_key(
    connection: sqlite3.Connection, number: int, keys: Iterable[int]
) -> list[Entity]:
    template = (
        f"SELECT {_ENTITY_COLUMNS} FROM entities_$n e "  # noqa: S608
        "WHERE e.key IN (SELECT value FROM json_each(?))"
    )
    rows = connection.execute(
        of_edition(template, number), (orjson.dumps(list(keys)).decode(),)
    ).fetchall()
    return [entity_of_row(*row[1:]) for row in rows]


def _entities_by_id(
    connection: sqlite3.Connection, number: int, ids: Sequence[str]
) -> dict[str, Entity]:
    requested = set(ids)
    entities = _entities_by_key(connection, number, {key64(id_): None for id_ in ids})
    return {entity.id: entity for entity in entities if entity.id in requested}


def _entities_same_as(
    connection: sqlite3.Connection, number: int, ids: Sequence[str]
) -> dict[str, Entity]:
    return by_same_as(_entities_naming(connection, number, ids), set(ids))


def _entities_naming(
    connection: sqlite3.Connection, number: int, ids: Sequence[str]
) -> list[Entity]:
    rows = connection.execute(
        of_edition(
            "SELECT DISTINCT entity FROM same_as_$n WHERE key IN (SELECT value FROM json_each(?))",
            number,
        ),
        (_keys(ids),),
    ).fetchall()
    return _entities_by_key(connection, number, [key for (key,) in rows])


def _graph_of(edition: str) -> str:
    return edition.rpartition("@")[0]


def _record_row(record: Record, name: str | None = None) -> tuple[object, ...]:
    return (
        record.kind,
        record.key,
        record.graph,
        encode_fields(record),
        record.data,
        record.updated_at or now_text(),
        name,
    )
