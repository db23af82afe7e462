"""Bringing a Neo4j store up to date: one process at a time, and again from its beginning if it ends.

A process claims the step from one version to the next, and renews its claim as it goes on. Others
wait for it. They take the step over if its process has ended, or was silent for too long.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from uuid import uuid4

import neo4j

from graph_service.errors import SchemaVersionError, StoreError
from graph_service.store.lease import is_gone, owner_name
from graph_service.store.neo4j.driver import Connection, one_row, rows_of
from graph_service.store.neo4j.schema import (
    NAME_STATEMENTS,
    PASSAGE_INDEX,
    PASSAGE_STATEMENTS,
    SCHEMA_VERSION,
    SEARCH_INDEX,
    STATEMENTS,
    UNUSED_NAME_STATEMENTS,
    caption_in_cypher,
)

_FIRST_WAIT_S, _MOST_WAIT_S = 0.05, 2.0
"""Between two looks at whether the indexes are made, or another process has ended its step."""
_CLAIM_S = 60.0
"""How long a process that is silent keeps its step. Each part of a step takes far less."""
_SEARCH_STATEMENTS = tuple(
    statement for statement in STATEMENTS if statement.startswith("CREATE FULLTEXT INDEX")
)
# An unfinished load has the journal of before; the same command begins it anew.
_DROP_UNFINISHED = """MATCH (e:GraphEdition) WHERE e.state IN ['loading', 'finished']
    SET e.state = 'dropping', e.token = null, e.lease_until = 0"""
_STEPS = {
    1: PASSAGE_STATEMENTS,
    2: (*UNUSED_NAME_STATEMENTS, _DROP_UNFINISHED),
    3: NAME_STATEMENTS,
    4: (
        _DROP_UNFINISHED,
        f"DROP INDEX {SEARCH_INDEX} IF EXISTS",
        f"DROP INDEX {PASSAGE_INDEX} IF EXISTS",
        f"MATCH (r:Relation) WHERE r.label IS NULL SET r.label = {caption_in_cypher('r.id')}",
    ),
}
"""From version ``n`` to ``n + 1``; each may be run again."""
_ENTITY_ID = "coalesce(n.long_id, n.id)"
_SET_CAPTION = f"n.label = coalesce(n.label, {caption_in_cypher(_ENTITY_ID)})"
_SET_SEARCH = "n._search = coalesce(n.search, n._search)"
_PORTIONED_STEPS = {
    4: {
        "Entity": f"SET {_SET_CAPTION}, {_SET_SEARCH} REMOVE n.search",
        "SpareName": f"SET {_SET_CAPTION}",
        "Passage": f"SET {_SET_SEARCH} REMOVE n.search",
    }
}
"""What is done after it to all nodes of a label, by portions; each may be run again."""
_INDEXES_AFTER = {4: _SEARCH_STATEMENTS}
"""Indexes that are made at the end, of what the portions wrote."""
_PORTION = 5_000
_VERSION_OF_OLD_IMPORTS = 4
"""Of files for Neo4j's import tool that a version before 5 wrote."""
_META = "MATCH (m:GraphServiceMeta {id: 'schema'})"
_VERSION = f"{_META} RETURN m.version, m.store_id"


def ensure_schema(connection: Connection, /) -> str:
    """Makes the indexes once, and brings an older store up to date; returns the store's id.

    Raises:
        SchemaVersionError: A newer version of this package has written here.
    """
    rows = connection.read(_VERSION, what="opening the store")
    if not rows:
        for statement in STATEMENTS:
            connection.write(statement, what="making the indexes")
        _await_indexes(connection)
        rows = connection.write(
            "MERGE (m:GraphServiceMeta {id: 'schema'}) "
            "ON CREATE SET m.version = $version, m.store_id = randomUUID() "
            "RETURN m.version, m.store_id",
            what="making the indexes",
            version=_version_without_meta(connection),
        )
    version, store_id = rows[0]
    if version < SCHEMA_VERSION:
        version = _bring_up_to_date(connection)
    if version > SCHEMA_VERSION:
        raise SchemaVersionError(
            f"the graphs in Neo4j at {connection.url} have schema {version}, this version reads "
            f"up to {SCHEMA_VERSION}",
            hint="Install a newer graph-service.",
        )
    return str(store_id)


def _version_without_meta(connection: Connection, /) -> int:
    """Returns the version of a database that names none: empty, or filled by Neo4j's import tool."""
    query = "MATCH (n:Entity) WITH n LIMIT 1000 WHERE n.search IS NOT NULL RETURN count(n)"
    [[old]] = connection.read(query, what="opening the store")
    return _VERSION_OF_OLD_IMPORTS if old else SCHEMA_VERSION


def _bring_up_to_date(connection: Connection, /) -> int:
    """Returns the version of the store once no step is left, done by this process or another."""
    claim = _Claim(connection)
    wait = _FIRST_WAIT_S
    while True:
        # Of the leader: another member may not know yet that it was done, and loads end with it.
        version = int(connection.write(_VERSION, what="opening the store")[0][0])
        if version >= SCHEMA_VERSION:
            return version
        if claim.take(version):
            try:
                _migrate(connection, version, claim)
            finally:
                claim.release()
        else:
            time.sleep(wait)
            wait = min(2 * wait, _MOST_WAIT_S)


class _Claim:
    """What lets one process at a time do a step."""

    def __init__(self, connection: Connection, /) -> None:
        self._connection = connection
        self._token = uuid4().hex

    def take(self, version: int, /) -> bool:
        """Returns whether the step from a version is this process's now."""

        def claim(tx: neo4j.Transaction) -> bool:
            # It writes first: whoever claims beside it waits for the node.
            row = one_row(
                tx,
                f"""{_META} SET m.claimed_at = timestamp() RETURN m.version, m.migrated_by,
                m.migrated_until > timestamp() AND m.migration <> $token""",
                {"token": self._token},
            )
            if row is None or row[0] != version or (row[2] and not is_gone(str(row[1]))):
                return False
            rows_of(
                tx,
                f"""{_META} SET m.migration = $token, m.migrated_by = $owner,
                m.migrated_until = timestamp() + $claim_ms""",
                {
                    "token": self._token,
                    "owner": owner_name(),
                    "claim_ms": int(_CLAIM_S * 1000),
                },
            )
            return True

        return self._connection.transaction(claim, what="bringing the store up to date")

    def renew(self) -> bool:
        """Returns whether the step is still this process's; it has the full time for the next part."""
        return bool(
            self._connection.write(
                f"""{_META} WHERE m.migration = $token
                SET m.migrated_until = timestamp() + $claim_ms RETURN 1""",
                what="bringing the store up to date",
                token=self._token,
                claim_ms=int(_CLAIM_S * 1000),
            )
        )

    def complete(self, version: int, /) -> None:
        """Notes that the step from a version is done, if it is this process's."""
        self._connection.write(
            f"{_META} WHERE m.migration = $token AND m.version = $old SET m.version = $old + 1",
            what="bringing the store up to date",
            token=self._token,
            old=version,
        )

    def release(self) -> None:
        """Lets the next process begin at once; where the store is away, the claim runs out."""
        with suppress(StoreError):
            self._connection.write(
                f"""{_META} WHERE m.migration = $token
                REMOVE m.migration, m.migrated_by, m.migrated_until""",
                what="bringing the store up to date",
                token=self._token,
            )


def _migrate(connection: Connection, old: int, claim: _Claim, /) -> None:
    """Brings the store from a version to the next, unless another process takes the step over."""
    for statement in _STEPS[old]:
        if not claim.renew():
            return
        connection.write(statement, what="bringing the store up to date")
    for label, change in _PORTIONED_STEPS.get(old, {}).items():
        query = f"""MATCH (n:{label}) WHERE n.key > $after WITH n ORDER BY n.key LIMIT $limit
            {change} RETURN max(n.key)"""
        after = ""
        while after is not None:
            if not claim.renew():
                return
            [[after]] = connection.write(
                query, what="bringing the store up to date", after=after, limit=_PORTION
            )
    for statement in _INDEXES_AFTER.get(old, ()):
        if not claim.renew():
            return
        connection.write(statement, what="making the indexes")
    _await_indexes(connection, look=claim.renew)
    claim.complete(old)


def _await_indexes(connection: Connection, *, look: Callable[[], object] = bool) -> None:
    """Waits until the indexes are made, however large the graphs; others' do not count.

    Args:
        connection: To the store.
        look: Called before each look at them.
    """
    query = """SHOW INDEXES YIELD name, state
        WHERE name STARTS WITH 'graph_service' AND state <> 'ONLINE' RETURN name, state"""
    wait = _FIRST_WAIT_S
    while rows := connection.write(query, what="making the indexes"):
        failed = [name for name, state in rows if state == "FAILED"]
        if failed:
            raise StoreError(
                f"Neo4j at {connection.url} could not make {', '.join(sorted(failed))}",
                hint="Its log says why. Drop these indexes, then run the command again.",
            )
        time.sleep(wait)
        wait = min(2 * wait, _MOST_WAIT_S)
        look()
