"""The store in Neo4j: reader, and the life of its graphs. ``schema`` has the layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import neo4j
from platformdirs import user_cache_path

from graph_service.errors import (
    InputError,
    LoadInProgressError,
)
from graph_service.model.equal_entities import EqualEntities
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.graph_info import GraphInfo, UnfinishedLoad
from graph_service.model.identity import key64
from graph_service.model.limits import Deadline
from graph_service.model.neighbourhood import EdgeRow, Neighbourhood
from graph_service.model.overview import Overview
from graph_service.model.result import SearchHit
from graph_service.model.statement import Entity, Rank, Statement
from graph_service.store.decoding import decodes, decoding
from graph_service.store.lease import is_gone
from graph_service.store.lifecycle import CachedStore
from graph_service.store.lookup import (
    by_same_as,
    follow_redirects,
)
from graph_service.store.names import graph_of, require_graph_name, unknown_graph
from graph_service.store.neo4j.browse import count_relations, read_overview, read_statements
from graph_service.store.neo4j.driver import (
    CONNECT_TIMEOUT_S,
    LOAD_RETRY_S,
    RETRY_S,
    Connection,
    in_chunks,
    one_row,
    rows_of,
)
from graph_service.store.neo4j.editions import (
    drop_editions,
    published_names,
    require_published,
)
from graph_service.store.neo4j.equal_ids import read_pairs
from graph_service.store.neo4j.graph_infos import INFO_COLUMNS, INFO_WIDTH, info_of_row, time_text
from graph_service.store.neo4j.inspect import inspect_edition, inspect_server
from graph_service.store.neo4j.journal import HEAD_ROW, key_page, unpack
from graph_service.store.neo4j.load import Neo4jLoadSession
from graph_service.store.neo4j.load_lease import begin_load
from graph_service.store.neo4j.migration import ensure_schema
from graph_service.store.neo4j.passages import Neo4jPassages, mark_passages
from graph_service.store.neo4j.records import Neo4jRecords, delete_records
from graph_service.store.neo4j.region import read_neighbourhood, read_relations
from graph_service.store.neo4j.rows import (
    EDGE_COLUMNS,
    ENTITY_COLUMNS,
    STATEMENT_COLUMNS,
    edge_of_row,
    entity_of_row,
    statement_of_row,
)
from graph_service.store.neo4j.scan import (
    build_graph,
    relation_keys,
    scan_by_head,
    scan_entities,
    scan_sorted,
)
from graph_service.store.neo4j.schema import (
    MAX_NEW_TYPES,
    SEARCH_INDEX,
    hex_key,
    search_token,
)
from graph_service.store.protocol import EntityLookup, Inspected
from graph_service.store.search import CANDIDATE_LIMIT, are_enough, rank_hits, token_queries
from graph_service.store.snapshot.cache import DEFAULT_CACHE_BYTES, SnapshotCache

T = TypeVar("T")
IDS_A_QUERY = 5_000

_SEARCH = f"""CALL db.index.fulltext.queryNodes('{SEARCH_INDEX}', $query) YIELD node
    WITH node AS n ORDER BY n.key LIMIT $limit RETURN {ENTITY_COLUMNS}"""
_IS_UNFINISHED = "u.state IN ['loading', 'finished']"
_UNFINISHED_COLUMNS = "u.id, u.owner, u.source, u.started_at, u.statements, u.lease_until"
_UNFINISHED = f"""MATCH (u:GraphEdition) WHERE {_IS_UNFINISHED}
    RETURN {_UNFINISHED_COLUMNS} ORDER BY u.number"""


class Neo4jStore(Neo4jRecords, CachedStore[Neo4jPassages]):
    """A store in Neo4j. ``open_neo4j`` makes it; see ``Store`` for what it does."""

    def __init__(
        self,
        connection: Connection,
        cache: SnapshotCache,
        /,
        *,
        max_new_types: int,
        load_retry_s: float = LOAD_RETRY_S,
    ) -> None:
        CachedStore.__init__(self, cache, Neo4jPassages(connection))
        Neo4jRecords.__init__(self, connection)
        self._max_new_types = max_new_types
        self._load_retry_s = load_retry_s

    @property
    def url(self) -> str:
        """Its address, without user name and password."""
        return self._connection.url

    def graphs(self) -> list[GraphInfo]:
        """Returns all published graphs; see ``GraphReader.graphs``."""

        def read(tx: neo4j.Transaction) -> list[GraphInfo]:
            rows = rows_of(
                tx,
                f"""MATCH (g:Graph) WHERE g.current IS NOT NULL
                OPTIONAL MATCH (e:GraphEdition {{id: g.current}}) RETURN {INFO_COLUMNS}""",
                {},
            )
            loads = {graph_of(load.edition): load for load in _unfinished(tx)}
            infos = sorted(map(info_of_row, rows), key=lambda info: info.name)
            return [replace(info, unfinished=loads.get(info.name)) for info in infos]

        return self._connection.transaction(read, access="READ", what="listing graphs")

    def graph(self, name: str, /) -> GraphInfo:
        """Returns one graph; see ``GraphReader.graph``."""

        def read(tx: neo4j.Transaction) -> GraphInfo:
            rows = rows_of(
                tx,
                f"""MATCH (g:Graph {{name: $name}}) WHERE g.current IS NOT NULL
                OPTIONAL MATCH (e:GraphEdition {{id: g.current}})
                OPTIONAL MATCH (u:GraphEdition {{graph: $name}}) WHERE {_IS_UNFINISHED}
                RETURN {INFO_COLUMNS}, {_UNFINISHED_COLUMNS} ORDER BY u.number""",
                {"name": name},
            )
            if not rows:
                raise unknown_graph(name, published_names(tx))
            info, load = rows[-1][:INFO_WIDTH], rows[-1][INFO_WIDTH:]
            unfinished = None if set(load) == {None} else _unfinished_of_row(load)
            return replace(info_of_row(info), unfinished=unfinished)

        return self._connection.transaction(read, access="READ", what="reading a graph")

    def at_once(self) -> AbstractContextManager[None]:
        """Lets this thread's reads in the block share one session."""
        return self._connection.at_once()

    def within(self, deadline: Deadline, /) -> AbstractContextManager[None]:
        """Gives this thread's reads in the block a deadline; see ``Store.within``."""
        return self._connection.within(deadline)

    def unfinished_loads(self) -> list[UnfinishedLoad]:
        """Returns loads not published, in order of their editions' numbers."""
        return self._connection.transaction(_unfinished, access="READ", what="listing loads")

    def build(self, info: GraphInfo, /) -> KnowledgeGraph:
        """Returns the edition as arrays in memory, built now, whatever the cache has."""
        self._require(info.edition)
        # It takes as long as it takes, once, whoever asks first.
        with self.within(Deadline.none()), decoding(f"the statements of {info.edition}"):
            return build_graph(self._connection, info)

    def inspect(self, info: GraphInfo, /) -> Iterator[Inspected]:
        """Checks an edition's keys and indexes; see ``GraphReader.inspect``."""
        return inspect_edition(self._connection, info)

    def inspect_all(self) -> Iterator[Inspected]:
        """Checks what belongs to no edition; see ``Store.inspect_all``."""
        return inspect_server(self._connection)

    def scan_entities(self, edition: str, /) -> Iterator[list[Entity]]:
        """Yields every entity; see ``GraphReader.scan_entities``."""
        self._require(edition)
        return scan_entities(self._connection, edition)

    def scan_edges(self, edition: str, /) -> Iterator[list[EdgeRow]]:
        """Yields every statement; see ``GraphReader.scan_edges``."""
        self._require(edition)
        return scan_sorted(self._connection, edition, EDGE_COLUMNS, edge_of_row)

    def scan_statements(
        self, edition: str, /, *, in_order: bool = True
    ) -> Iterator[list[Statement]]:
        """Yields every statement whole; see ``GraphReader.scan_statements``."""
        self._require(edition)
        scan = scan_sorted if in_order else scan_by_head
        return scan(self._connection, edition, STATEMENT_COLUMNS, statement_of_row)

    def entities(self, edition: str, ids: Sequence[str], /) -> EntityLookup:
        """Returns entities by id; see ``GraphReader.entities``."""
        distinct = list(dict.fromkeys(ids))

        def read(tx: neo4j.Transaction) -> dict[str, Entity]:
            by_id = _entities_by_id(tx, edition, distinct)
            lost = [id_ for id_ in distinct if id_ not in by_id]
            if lost:
                by_id.update(_entities_same_as(tx, edition, lost))
            return follow_redirects(by_id, lambda targets: _entities_by_id(tx, edition, targets))

        reached = self._read(edition, read, what="reading entities")
        return EntityLookup(
            entities={id_: reached[id_] for id_ in distinct if id_ in reached},
            missing=tuple(id_ for id_ in distinct if id_ not in reached),
        )

    def statements(self, edition: str, ids: Sequence[str], /) -> dict[str, Statement]:
        """Returns whole statements by id; see ``GraphReader.statements``."""
        ids_by_key = {key64(id_): id_ for id_ in ids}

        def read(tx: neo4j.Transaction) -> dict[str, Statement]:
            statements: dict[str, Statement] = {}
            by_head = _heads_of(tx, edition, ids_by_key)
            for portion in in_chunks(list(by_head.items()), IDS_A_QUERY):
                rows = rows_of(
                    tx,
                    f"""UNWIND $rows AS row MATCH (a:Entity {{key: row.head}})-[r]->(b)
                    WHERE r.key IN row.keys RETURN {STATEMENT_COLUMNS}""",
                    {
                        "rows": [
                            {"head": f"{edition}:{hex_key(head)}", "keys": keys}
                            for head, keys in portion
                        ]
                    },
                )
                statements.update((row[1], statement_of_row(row)) for row in rows)
            return statements

        statements = self._read(edition, read, what="reading statements")
        return {id_: statements[id_] for id_ in dict.fromkeys(ids) if id_ in statements}

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
        return self._read(
            edition,
            lambda tx: read_statements(
                tx,
                edition,
                entity,
                incoming=incoming,
                relation_ids=relation_ids,
                entities_only=entities_only,
                after=after,
                limit=limit,
            ),
            deadline=deadline,
            what="reading statements",
        )

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
        return self._read(
            edition,
            lambda tx: count_relations(
                tx,
                edition,
                entity,
                incoming=incoming,
                entities_only=entities_only,
                loops=loops,
            ),
            deadline=deadline,
            what="counting statements",
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
        return self._read(
            edition,
            lambda tx: read_overview(tx, edition, equal),
            deadline=deadline,
            what="reading what a graph is about",
        )

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
        return self._read(
            edition,
            lambda tx: read_neighbourhood(
                tx,
                edition,
                ids,
                hops=hops,
                max_edges=max_edges,
                hub_degree=hub_degree,
                ranks=ranks,
                relation_ids=relation_ids,
                exclude_relation_ids=exclude_relation_ids,
                equal=equal,
                deadline=deadline or Deadline.none(),
            ),
            deadline=deadline,
            what="reading a neighbourhood",
        )

    def relations(self, edition: str, /) -> list[Entity]:
        """Returns the relations of statements; see ``GraphReader.relations``."""
        self._require(edition)
        keys = relation_keys(self._connection, edition)

        def read(tx: neo4j.Transaction) -> list[Entity]:
            rows = rows_of(
                tx,
                "UNWIND $keys AS key MATCH (r:Relation {key: key}) RETURN r.id",
                {"keys": keys},
            )
            ids = sorted((row[0] for row in rows), key=key64)
            entities = _entities_by_id(tx, edition, ids)
            return [entities.get(id_, Entity(id_)) for id_ in ids]

        return self._read(edition, read, what="reading the relations")

    def equal_pairs(self, edition: str, /) -> list[tuple[str, str]]:
        """Returns pairs of linked entities; see ``GraphReader.equal_pairs``."""
        return self._read(
            edition, lambda tx: read_pairs(tx, edition), what="reading the same entities"
        )

    def relations_of(
        self, edition: str, ids: Sequence[str], /, *, deadline: Deadline | None = None
    ) -> dict[str, frozenset[str]]:
        """Returns the relations that each of some heads has; see ``GraphReader.relations_of``."""
        return self._read(
            edition,
            lambda tx: read_relations(tx, edition, ids),
            deadline=deadline,
            what="reading the relations of entities",
        )

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
        sought = token_queries(query, prefix=prefix)

        def read(tx: neo4j.Transaction) -> list[Entity]:
            candidates: dict[str, Entity] = {}
            for turn, token_query in enumerate(sought):
                if turn == 1 and are_enough([*candidates.values()], query, limit=limit):
                    break
                # Quoted, or lower case of letters, digits and marks: nothing of Lucene's syntax.
                parts = [f'+"{token}"' for token in (search_token(edition), *token_query.tokens)]
                if token_query.begins:
                    parts.append(f"+{token_query.begins}*")
                parameters = {"query": " ".join(parts), "limit": CANDIDATE_LIMIT}
                for row in rows_of(tx, _SEARCH, parameters):
                    if row[0] not in candidates:
                        candidates[row[0]] = entity_of_row(row)
            return [*candidates.values()]

        entities = self._read(edition, read, deadline=deadline, what="searching")
        if not sought:
            return []
        return rank_hits(entities, query, languages=languages, limit=limit, prefix=prefix)

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
    ) -> Neo4jLoadSession:
        """Begins or resumes a load; see ``Store.begin_load``."""
        require_graph_name(graph)
        connection = self._connection.patient(self._load_retry_s)
        plan = begin_load(
            connection,
            graph,
            replace=replace,
            owner=owner,
            source=source,
            options=options or {},
            lease_s=lease_s,
            max_new_types=self._max_new_types,
        )
        drop_editions(connection)
        session = Neo4jLoadSession(connection, plan)
        try:
            session.copy_base()
        except BaseException as error:
            session.__exit__(type(error), error, error.__traceback__)
            raise
        return session

    def delete_graph(self, name: str, /) -> None:
        """Deletes a graph, its editions and its records; see ``Store.delete_graph``."""
        marked = False

        def mark(tx: neo4j.Transaction) -> None:
            nonlocal marked
            rows_of(tx, "MATCH (g:Graph {name: $name}) SET g.touched = timestamp()", {"name": name})
            held = one_row(
                tx,
                """MATCH (e:GraphEdition {graph: $name}) WHERE e.state IN ['loading', 'finished']
                SET e.touched = timestamp()
                WITH e WHERE e.state IN ['loading', 'finished']
                RETURN e.owner, e.source, e.started_at,
                    e.token IS NOT NULL AND e.lease_until > timestamp()""",
                {"name": name},
            )
            if held is not None and held[3] and not is_gone(held[0]):
                raise LoadInProgressError(
                    f"graph {name!r} is being loaded by {held[0]} from {held[1]}, begun {held[2]}",
                    hint="Wait for it to end, or stop it.",
                )
            known = published_names(tx)
            if name not in known and held is None:
                if marked:
                    return
                raise unknown_graph(name, known)
            marked = True
            rows_of(
                tx,
                """MATCH (e:GraphEdition {graph: $name})
                SET e.state = 'dropping', e.token = null""",
                {"name": name},
            )
            rows_of(tx, "MATCH (g:Graph {name: $name}) DELETE g", {"name": name})
            rows = rows_of(tx, "MATCH (r:GraphRecord {graph: $name}) RETURN r.id", {"name": name})
            delete_records(tx, [row[0] for row in rows])
            mark_passages(tx, name)

        self._connection.transaction(mark, what="deleting a graph")
        drop_editions(self._connection)
        self._passages.drop_marked()

    def ping(self) -> None:
        """Raises ``StoreUnavailableError`` unless the server answers now."""
        limit = Deadline.after(CONNECT_TIMEOUT_S)
        connection = self._connection.patient()
        connection.read("RETURN 1", deadline=limit, what="asking whether it answers")

    def close(self) -> None:
        """Closes the driver and its connections."""
        self._connection.close()

    def _require(self, edition: str) -> None:
        self._connection.transaction(
            lambda tx: require_published(tx, edition), access="READ", what="reading a graph"
        )

    def _read(
        self,
        edition: str,
        work: Callable[[neo4j.Transaction], T],
        /,
        *,
        what: str,
        deadline: Deadline | None = None,
    ) -> T:
        def checked(tx: neo4j.Transaction) -> T:
            with decoding(f"the edition {edition}"):
                result = work(tx)
            require_published(tx, edition)
            return result

        return self._connection.transaction(checked, access="READ", deadline=deadline, what=what)


def open_neo4j(
    url: str,
    /,
    *,
    username: str | None = None,
    password: str | None = None,
    database: str | None = None,
    snapshot_folder: Path | None = None,
    snapshot_cache_bytes: int = DEFAULT_CACHE_BYTES,
    trust_snapshots: bool = False,
    max_new_types: int = MAX_NEW_TYPES,
    retry_s: float = RETRY_S,
    load_retry_s: float = LOAD_RETRY_S,
    connect_timeout_s: float = CONNECT_TIMEOUT_S,
) -> Neo4jStore:
    """Opens the store in a Neo4j server; makes its indexes where there are none.

    Args:
        url: ``bolt://`` or ``neo4j://`` address, which may hold user name and password.
        username: ``neo4j`` if not given.
        password: None where the server asks for none.
        database: Name of the database; ``neo4j`` if not given, the one that Community has.
        snapshot_folder: Where snapshots are kept; in the user's cache folder if not given.
        snapshot_cache_bytes: Most bytes of snapshots kept.
        trust_snapshots: Whether to open snapshots without checking their content.
        max_new_types: Most new relationship types a load may make.
        retry_s: How long a failed transaction is tried again, seconds.
        load_retry_s: The same of a load into a cluster (``neo4j://``), if that is longer.
        connect_timeout_s: How long to wait for a connection, seconds.

    Raises:
        StoreUnavailableError: The server does not answer, or refuses the password.
        SchemaVersionError: A newer version of this package has written here.
    """
    parts = urlsplit(url)
    address = url
    if parts.username is not None:
        username = unquote(parts.username)
        password = unquote(parts.password or "") or password
        address = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    connection = Connection(
        address,
        username=username,
        password=password,
        database=database or "neo4j",
        retry_s=retry_s,
        connect_timeout_s=connect_timeout_s,
    )
    try:
        store_id = ensure_schema(connection)
    except BaseException:
        connection.close()
        raise
    folder = snapshot_folder or user_cache_path("graph-service") / "snapshots" / store_id
    connection.share_bookmarks(folder / f"{store_id}.bookmarks")
    return Neo4jStore(
        connection,
        SnapshotCache(folder, snapshot_cache_bytes, trust=trust_snapshots),
        max_new_types=max_new_types,
        load_retry_s=load_retry_s,
    )


def _unfinished(tx: neo4j.Transaction) -> list[UnfinishedLoad]:
    return [_unfinished_of_row(row) for row in rows_of(tx, _UNFINISHED, {})]


@decodes("a load under way")
def _unfinished_of_row(row: list[Any]) -> UnfinishedLoad:
    if None in row:
        raise ValueError("it lacks a value")
    edition, owner, source, started_at, statements, lease_until = row
    return UnfinishedLoad(edition, owner, source, started_at, statements, time_text(lease_until))


def _entities_by_id(tx: neo4j.Transaction, edition: str, ids: Sequence[str]) -> dict[str, Entity]:
    keys = [f"{edition}:{hex_key(key64(id_))}" for id_ in ids]
    entities = _entities_by_key(tx, keys)
    requested = set(ids)
    return {entity.id: entity for entity in entities if entity.id in requested}


def _entities_by_key(tx: neo4j.Transaction, keys: Sequence[str]) -> list[Entity]:
    entities: list[Entity] = []
    for portion in in_chunks(keys, IDS_A_QUERY):
        rows = rows_of(
            tx,
            f"UNWIND $keys AS key MATCH (n:Entity {{key: key}}) RETURN {ENTITY_COLUMNS}",
            {"keys": list(portion)},
        )
        entities += [entity_of_row(row) for row in rows]
    return entities


def _entities_same_as(tx: neo4j.Transaction, edition: str, ids: Sequence[str]) -> dict[str, Entity]:
    return by_same_as(_entities_naming(tx, edition, ids), set(ids))


def _entities_naming(tx: neo4j.Transaction, edition: str, ids: Sequence[str]) -> list[Entity]:
    rows = rows_of(
        tx,
        "UNWIND $keys AS key MATCH (s:SameAs {key: key}) RETURN DISTINCT s.target",
        {"keys": [f"{edition}:{hex_key(key64(id_))}" for id_ in ids]},
    )
    return _entities_by_key(tx, [row[0] for row in rows])


def _heads_of(tx: neo4j.Transaction, edition: str, keys: Mapping[int, str]) -> dict[int, list[int]]:
    """Returns the statement keys that there are, by the key of their head."""
    row = one_row(tx, "MATCH (e:GraphEdition {id: $id}) RETURN e.page_bits", {"id": edition})
    if row is None or not keys:
        return {}
    pages: dict[str, list[int]] = {}
    for key in keys:
        pages.setdefault(f"{edition}:s{key_page(key, row[0]):08x}", []).append(key)
    by_head: dict[int, list[int]] = {}
    for portion in in_chunks(list(pages), 500):
        rows = rows_of(
            tx,
            "UNWIND $pages AS key MATCH (p:GraphPage {key: key}) RETURN p.key, p.places",
            {"pages": list(portion)},
        )
        for page, data in rows:
            heads = unpack(data, HEAD_ROW)
            for key in pages[page]:
                index = int(heads["key"].searchsorted(key))
                if index < len(heads) and int(heads["key"][index]) == key:
                    by_head.setdefault(int(heads["head"][index]), []).append(key)
    return by_head
