"""Triples of Wikidata's statement, reference and value nodes, by node, in a temporary file.

A node's triples may lie anywhere in a document, so all of them wait until it ends. They lie in a
file without a name, which is gone with this process however it ends. Memory holds 64 MiB of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import pyoxigraph as ox

from graph_service.errors import SetupError

_CACHE_KIB = 64 << 10
_ROWS = 5_000
_CACHED_NODES = 4_096
_MAX_RECENT_TRIPLES = 100_000
_TABLES = """
    PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
    CREATE TABLE owners (node BLOB, iri TEXT, head TEXT, property TEXT);
    CREATE TABLE triples (
        node BLOB, is_statement INTEGER, predicate INTEGER, iri TEXT, text TEXT, datatype TEXT,
        language TEXT
    );
    BEGIN;
"""
# The last one that names a node is its owner.
_OWNERS = """SELECT iri, head, property FROM owners o WHERE NOT EXISTS
    (SELECT 1 FROM owners later WHERE later.node = o.node AND later.rowid > o.rowid)
    ORDER BY o.rowid"""
_ORPHANS = """SELECT count(DISTINCT node) FROM triples t WHERE is_statement
    AND NOT EXISTS (SELECT 1 FROM owners o WHERE o.node = t.node)"""


class NodeTriple(NamedTuple):
    """A triple of a node, without its subject.

    Attributes:
        iri: The object, if it is a resource; None for a blank node too.
        text: Of the object, if it is a literal; the label of a blank node.
        datatype, language: Of a literal; None for anything else.
    """

    predicate: str
    iri: str | None
    text: str | None
    datatype: str | None
    language: str | None


class NodeFile:
    """Triples of nodes, and the entities that name statement nodes.

    All of them are added before any is read. Close it in the end.

    Raises:
        SetupError: From what adds or ends: the folder for temporary files has no room.
    """

    def __init__(self) -> None:
        # What does not fit the cache lies in a file that SQLite makes for an empty name.
        self._connection = sqlite3.connect("", isolation_level=None)
        self._connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        self._connection.executescript(_TABLES)
        self._owners: list[tuple[bytes, str, str, str]] = []
        self._triples: list[tuple[object, ...]] = []
        self._recent: set[tuple[object, ...]] = set()
        self._predicates: dict[str, int] = {}
        self._names: list[str] = []
        self._last_node, self._last_key = "", b""
        self.triples_of = lru_cache(_CACHED_NODES)(self._read)

    def close(self) -> None:
        """Closes the temporary file, which deletes it."""
        self._connection.close()

    def add_owner(self, node: str, head: str, property_: str, /) -> None:
        """Adds that a statement node belongs to an entity."""
        self._owners.append((_key(node), node, head, property_))
        if len(self._owners) >= _ROWS:
            self._flush()

    def add(self, node: str, predicate: str, object_: object, /, *, is_statement: bool) -> None:
        """Adds a triple of a node."""
        if node != self._last_node:
            self._last_node, self._last_key = node, _key(node)
        predicate_index = self._predicates.setdefault(predicate, len(self._predicates))
        iri = text = datatype = language = None
        if type(object_) is ox.NamedNode:
            iri = object_.value
        elif type(object_) is ox.Literal:
            text, datatype, language = object_.value, object_.datatype.value, object_.language
        elif type(object_) is ox.BlankNode:
            # Two of them are two values.
            text = object_.value
        row = (self._last_key, is_statement, predicate_index, iri, text, datatype, language)
        if not is_statement:
            # Each document of an entity repeats the references and values that others have too.
            if row in self._recent:
                return
            if len(self._recent) >= _MAX_RECENT_TRIPLES:
                self._recent.clear()
            self._recent.add(row)
        self._triples.append(row)
        if len(self._triples) >= _ROWS:
            self._flush()

    def _flush(self) -> None:
        with _having_room():
            self._connection.executemany("INSERT INTO owners VALUES (?, ?, ?, ?)", self._owners)
            self._connection.executemany(
                "INSERT INTO triples VALUES (?, ?, ?, ?, ?, ?, ?)", self._triples
            )
        self._owners, self._triples = [], []

    def end(self) -> None:
        """Writes the last triples, after which nodes can be read."""
        self._flush()
        self._recent.clear()
        self._names = list(self._predicates)
        with _having_room():
            self._connection.execute("CREATE INDEX owners_node ON owners (node)")
            self._connection.execute("CREATE INDEX triples_node ON triples (node)")

    def owners(self) -> Iterator[tuple[str, str, str]]:
        """Yields each statement node that an entity names, with head and property."""
        with _having_room():
            yield from self._connection.execute(_OWNERS)

    def orphan_count(self) -> int:
        """Returns how many statement nodes no entity names."""
        with _having_room():
            (count,) = self._connection.execute(_ORPHANS).fetchone()
        return int(count)

    def _read(self, node: str, /) -> list[NodeTriple]:
        """Returns the triples of a node in the order they came, each once."""
        rows = self._connection.execute(
            """SELECT predicate, iri, text, datatype, language FROM triples WHERE node = ?
                ORDER BY rowid""",
            (_key(node),),
        )
        return [
            NodeTriple(self._names[predicate_index], *rest)
            for predicate_index, *rest in dict.fromkeys(rows)
        ]


def _key(node: str) -> bytes:
    return blake2b(node.encode(), digest_size=16).digest()


@contextmanager
def _having_room() -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise SetupError(
            "the folder for temporary files has no room for the parts of full Wikidata statements "
            f"({error})",
            hint="Set TMPDIR to a folder with room, or load the JSON of these entities.",
        ) from error
