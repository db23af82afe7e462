"""The tables of the SQLite store, and the way forward from older ones.

Three tables are the store's own. Each edition has a set of tables besides, whose suffix is the
edition's number, an integer of ours; it is dropped as a whole. No name from data is ever part
of a statement of SQL.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

APPLICATION_ID = 0x47524B53
"""``PRAGMA application_id``: says that a file is a store of ours."""

SCHEMA_VERSION = 5
"""``PRAGMA user_version``. Raise it with each change of a table, and add to ``MIGRATIONS``."""

PASSAGE_SETS = """CREATE TABLE passage_sets (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    graph TEXT NOT NULL,
    source TEXT NOT NULL,
    state TEXT NOT NULL,
    options TEXT NOT NULL,
    owner TEXT NOT NULL,
    token TEXT,
    lease_expires REAL NOT NULL,
    checkpoint TEXT,
    started_at TEXT NOT NULL,
    published_at TEXT NOT NULL DEFAULT '',
    passages INTEGER NOT NULL DEFAULT 0,
    words INTEGER NOT NULL DEFAULT 0,
    linked INTEGER NOT NULL DEFAULT 0,
    fingerprint TEXT NOT NULL DEFAULT '',
    report TEXT NOT NULL DEFAULT '{}',
    tool_version TEXT NOT NULL
)"""


# Names taken since schema 5: older files may hold two views of one name.
RECORD_NAMES = """CREATE UNIQUE INDEX IF NOT EXISTS records_by_name ON records (kind, graph, name)
    WHERE name IS NOT NULL"""

# Names of ids without a statement, in the columns of ``entities``.
UNUSED_NAMES = """CREATE TABLE IF NOT EXISTS spare_names_$n (
    row INTEGER PRIMARY KEY,
    key INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind INTEGER NOT NULL,
    redirect TEXT,
    revision INTEGER,
    terms TEXT NOT NULL
)"""


def _add_passages(connection: sqlite3.Connection) -> None:
    connection.execute(PASSAGE_SETS)


def _add_conflicts_and_names(connection: sqlite3.Connection) -> None:
    columns = {row[1] for row in connection.execute("PRAGMA table_info(editions)").fetchall()}
    if "conflicting" not in columns:
        connection.execute("ALTER TABLE editions ADD COLUMN conflicting INTEGER NOT NULL DEFAULT 0")
    _end_unfinished_loads(connection)
    for (edition_number,) in connection.execute("SELECT number FROM editions").fetchall():
        connection.execute(of_edition(UNUSED_NAMES, edition_number))


def _add_locations(connection: sqlite3.Connection) -> None:
    columns = {row[1] for row in connection.execute("PRAGMA table_info(editions)").fetchall()}
    for column in ("placed_entity", "placed_document"):
        if column not in columns:
            connection.execute(
                f"ALTER TABLE editions ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0"
            )
    _end_unfinished_loads(connection)


def _add_record_names(connection: sqlite3.Connection) -> None:
    columns = {row[1] for row in connection.execute("PRAGMA table_info(records)").fetchall()}
    if "name" not in columns:
        connection.execute("ALTER TABLE records ADD COLUMN name TEXT")
    connection.execute(RECORD_NAMES)


def _end_unfinished_loads(connection: sqlite3.Connection) -> None:
    """They have the tables of before; the same command begins them anew."""
    connection.execute(
        """UPDATE editions SET state = 'dropping', token = NULL, lease_expires = 0
            WHERE state IN ('loading', 'finished')"""
    )


MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {
    1: _add_passages,
    2: _add_conflicts_and_names,
    3: _add_locations,
    4: _add_record_names,
}
"""From version ``n`` to ``n + 1``: called inside the transaction that raises the number."""

STORE_TABLES = (
    """CREATE TABLE graphs (
        name TEXT PRIMARY KEY,
        current INTEGER NOT NULL,
        previous INTEGER
    ) WITHOUT ROWID""",
    # AUTOINCREMENT: a number, and with it a table's name, is never used twice.
    """CREATE TABLE editions (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        graph TEXT NOT NULL,
        state TEXT NOT NULL,
        replacing INTEGER NOT NULL,
        base INTEGER,
        base_rows INTEGER NOT NULL DEFAULT 0,
        copied_table INTEGER NOT NULL DEFAULT 0,
        copied_row INTEGER NOT NULL DEFAULT 0,
        placed_entity INTEGER NOT NULL DEFAULT 0,
        placed_document INTEGER NOT NULL DEFAULT 0,
        owner TEXT NOT NULL,
        token TEXT,
        lease_expires REAL NOT NULL,
        started_at TEXT NOT NULL,
        source TEXT NOT NULL,
        options TEXT NOT NULL,
        sequence INTEGER NOT NULL DEFAULT 0,
        checkpoint TEXT,
        sums BLOB NOT NULL,
        appended INTEGER NOT NULL DEFAULT 0,
        updated INTEGER NOT NULL DEFAULT 0,
        duplicates INTEGER NOT NULL DEFAULT 0,
        removed INTEGER NOT NULL DEFAULT 0,
        outdated INTEGER NOT NULL DEFAULT 0,
        conflicting INTEGER NOT NULL DEFAULT 0,
        report TEXT NOT NULL DEFAULT '{}',
        counts TEXT,
        edges TEXT,
        content TEXT,
        published_at TEXT,
        tool_version TEXT NOT NULL
    )""",
    "CREATE INDEX editions_by_graph ON editions (graph)",
    """CREATE TABLE records (
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        graph TEXT NOT NULL,
        json TEXT NOT NULL,
        data BLOB NOT NULL,
        updated_at TEXT NOT NULL,
        name TEXT,
        PRIMARY KEY (kind, key)
    )""",
    RECORD_NAMES,
    PASSAGE_SETS,
)

# Rows are appended in the order they come, so that a load writes its pages once and an entity's
# statements lie together. Heads and tails are the entities' keys, relations small numbers. In
# ``bare`` 0 is an entity that a source describes, 1 one that statements mention; of those with
# names alone, 2 has statements (while a load goes on, may have), 3 is a relation in use.
EDITION_TABLES = (
    """CREATE TABLE statements_$n (
        row INTEGER PRIMARY KEY,
        key INTEGER NOT NULL,
        id TEXT NOT NULL,
        head INTEGER NOT NULL,
        relation INTEGER NOT NULL,
        tail INTEGER,
        value TEXT,
        rank INTEGER NOT NULL,
        qualifiers TEXT,
        sources TEXT,
        context TEXT
    )""",
    """CREATE TABLE entities_$n (
        row INTEGER PRIMARY KEY,
        key INTEGER NOT NULL,
        id TEXT NOT NULL,
        kind INTEGER NOT NULL,
        bare INTEGER NOT NULL,
        redirect TEXT,
        revision INTEGER,
        terms TEXT NOT NULL
    )""",
    """CREATE TABLE relations_$n (
        number INTEGER PRIMARY KEY,
        key INTEGER NOT NULL UNIQUE,
        id TEXT NOT NULL
    )""",
    # Entity records of this load: ``first_row`` is the batch's first where the whole document is
    # in it, ``oldest_row`` that of the load's first document; begin and end hold its statements.
    """CREATE TABLE documents_$n (
        row INTEGER PRIMARY KEY,
        key INTEGER NOT NULL,
        batch INTEGER NOT NULL,
        line INTEGER NOT NULL,
        terms BLOB NOT NULL,
        first_row INTEGER,
        oldest_row INTEGER,
        begin_row INTEGER,
        end_row INTEGER
    )""",
    # Rows of entities and documents while a load goes on, up to ``placed_entity`` and
    # ``placed_document`` of the edition; see ``row_locations``.
    """CREATE TABLE places_$n (
        key INTEGER PRIMARY KEY,
        entity INTEGER,
        document INTEGER
    )""",
    # Where the rows of this load were read; ``lines`` are int64.
    """CREATE TABLE batches_$n (
        number INTEGER PRIMARY KEY,
        first_row INTEGER NOT NULL,
        source TEXT NOT NULL,
        lines BLOB NOT NULL
    )""",
    # A statement's rows, or a document's batches and lines.
    """CREATE TABLE conflicts_$n (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL,
        is_document INTEGER NOT NULL,
        batch INTEGER NOT NULL,
        line INTEGER NOT NULL,
        kept_batch INTEGER NOT NULL,
        kept_line INTEGER NOT NULL
    )""",
    UNUSED_NAMES,
    """CREATE TABLE same_as_$n (
        key INTEGER NOT NULL,
        entity INTEGER NOT NULL,
        PRIMARY KEY (key, entity)
    ) WITHOUT ROWID""",
)

NAMES_TABLE = """CREATE VIRTUAL TABLE names_$n
    USING fts5(tokens, content='', columnsize=0, detail=none, tokenize='ascii')"""

# Columns of the snapshot's name index, a chunk of entities a row: arrays of int64, int64, uint8.
NAME_KEYS_TABLE = """CREATE TABLE name_keys_$n (
    chunk INTEGER PRIMARY KEY,
    name_keys BLOB NOT NULL,
    entity_keys BLOB NOT NULL,
    is_alias BLOB NOT NULL,
    longest INTEGER NOT NULL
)"""

# Entities of many statements, both directions, whose counting would take longer than a look-up.
# Editions of schema 3 have none.
HUBS_TABLE = """CREATE TABLE hubs_$n (
    key INTEGER PRIMARY KEY,
    degree INTEGER NOT NULL
)"""
HAS_HUBS = "SELECT count(*) FROM sqlite_master WHERE name = 'hubs_$n'"
HUB_STATEMENTS = 128
"""Statements of one direction of which an entity that has more is in ``hubs``."""
SELECT_HUBS = """SELECT h.key, (SELECT count(*) FROM statements_$n s WHERE s.head = h.key)
        + (SELECT count(*) FROM statements_$n s WHERE s.tail = h.key)
    FROM (SELECT head AS key FROM statements_$n GROUP BY head HAVING count(*) > ?1
        UNION SELECT tail FROM statements_$n WHERE tail IS NOT NULL
            GROUP BY tail HAVING count(*) > ?1) h"""

# A set of passages; ``words`` are the tokens of title and text, ``length`` their number.
PASSAGE_TABLE = """CREATE TABLE passages_$n (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    title TEXT NOT NULL,
    source TEXT NOT NULL,
    text TEXT NOT NULL,
    entity TEXT,
    words TEXT NOT NULL,
    length INTEGER NOT NULL
)"""

PASSAGE_INDEX = """CREATE VIRTUAL TABLE passage_words_$n USING fts5(words, content='passages_$n',
    content_rowid='key', columnsize=0, detail=none, tokenize='ascii')"""

PASSAGE_DROPS = ("DROP TABLE IF EXISTS passage_words_$n", "DROP TABLE IF EXISTS passages_$n")

# Made when all rows are there: see ``row_locations``. Editions of schema 3 have one with their table.
ENTITY_INDEX = "CREATE UNIQUE INDEX IF NOT EXISTS entities_key_$n ON entities_$n (key)"
DOCUMENT_INDEX = """CREATE INDEX IF NOT EXISTS documents_key_$n
    ON documents_$n (key, first_row, oldest_row)"""
KEY_INDEX = "CREATE INDEX IF NOT EXISTS statements_key_$n ON statements_$n (key)"
# The relation is there so that the statements of one relation are found, and those of each are
# counted, without reading the others' rows. Editions of before have indexes without it.
HEAD_INDEX = """CREATE INDEX IF NOT EXISTS statements_head_$n
    ON statements_$n (head, key, relation)"""
TAIL_INDEX = """CREATE INDEX IF NOT EXISTS statements_tail_$n
    ON statements_$n (tail, key, relation) WHERE tail IS NOT NULL"""

LOAD_DROPS = (
    "DROP TABLE IF EXISTS batches_$n",
    "DROP TABLE IF EXISTS conflicts_$n",
    "DROP TABLE IF EXISTS documents_$n",
    "DROP TABLE IF EXISTS places_$n",
)
"""What of an edition is of no use once it is published."""

DROPS = (
    "DROP TABLE IF EXISTS names_$n",
    "DROP TABLE IF EXISTS name_keys_$n",
    "DROP TABLE IF EXISTS same_as_$n",
    "DROP TABLE IF EXISTS hubs_$n",
    *LOAD_DROPS,
    "DROP TABLE IF EXISTS statements_$n",
    "DROP TABLE IF EXISTS relations_$n",
    "DROP TABLE IF EXISTS entities_$n",
    "DROP TABLE IF EXISTS spare_names_$n",
)

# A later load may bring the statement that spare names wait for, so they come in as entities.
COPIED_TABLES = (
    (
        "SELECT max(row) FROM entities_$b",
        """INSERT INTO entities_$n SELECT * FROM entities_$b WHERE row > ? AND row <= ?""",
    ),
    (
        "SELECT max(number) FROM relations_$b",
        """INSERT INTO relations_$n SELECT * FROM relations_$b WHERE number > ? AND number <= ?""",
    ),
    (
        "SELECT max(row) FROM statements_$b",
        """INSERT INTO statements_$n SELECT * FROM statements_$b WHERE row > ? AND row <= ?""",
    ),
    (
        "SELECT max(row) FROM spare_names_$b",
        """INSERT INTO entities_$n (key, id, kind, bare, redirect, revision, terms)
            SELECT key, id, kind, 2, redirect, revision, terms FROM spare_names_$b
            WHERE row > ? AND row <= ?""",
    ),
)


def of_edition(template: str, number: int, /, *, base: int = 0) -> str:
    """Returns the SQL for the tables of one edition: ``$n`` is its number, ``$b`` its base's."""
    return template.replace("$n", str(int(number))).replace("$b", str(int(base)))
