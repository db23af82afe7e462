"""Where a load finds the entities and documents that it has written, by their keys.

A table or index by keys, which are random, has a page to write for nearly each row of a batch, and
the more so the larger it is. So rows are appended, and where they are is kept in memory until
there are many: those come into the table of places in the order of their keys, and a page takes many.
After a kill the rows themselves say what had not come in.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping

import orjson

from graph_service.sqlite_file import transaction
from graph_service.store.hashes import collision
from graph_service.store.sqlite.schema import of_edition

RowLocation = tuple[str, int | None, int | None]
"""Id, and the rows in ``entities`` and ``documents`` that there are. A named tuple would be walked
by each collection of garbage."""

RECENT_ROWS = 200_000
KNOWN_ROWS = 300_000
MERGED_ROWS = 2_000_000
_SELECT = """SELECT p.key, e.id, p.entity, p.document FROM places_$n p
    LEFT JOIN entities_$n e ON e.row = p.entity
    WHERE p.key IN (SELECT value FROM json_each(?))"""
_MERGE = """INSERT INTO places_$n
    SELECT key, max(entity), max(document) FROM (
        SELECT key, row AS entity, NULL AS document FROM entities_$n WHERE row > ?1 AND row <= ?2
        UNION ALL
        SELECT key, NULL, row FROM documents_$n WHERE row > ?3 AND row <= ?4
    ) WHERE true GROUP BY key ORDER BY key
    ON CONFLICT (key) DO UPDATE SET entity = ifnull(excluded.entity, entity),
        document = ifnull(excluded.document, document)"""
_LAST_ROWS = """SELECT ifnull((SELECT max(row) FROM entities_$n), 0),
    ifnull((SELECT max(row) FROM documents_$n), 0)"""


class RowLocations:
    """The rows that one load has written.

    Args:
        connection: Of the load.
        number: Of the edition.
        renew: Renews the load's lease, in a transaction of ``connection``.
    """

    def __init__(
        self, connection: sqlite3.Connection, number: int, /, *, renew: Callable[[], None]
    ) -> None:
        self._connection = connection
        self._number = number
        self._renew = renew
        self._recent: dict[int, RowLocation] = {}
        self._known: dict[int, RowLocation] = {}
        self._merged = False

    def prepare(self) -> None:
        """Makes ready for a batch, before its transaction: merges what there is, if it is time."""
        if not self._merged or len(self._recent) >= RECENT_ROWS:
            self._merge()
            self._merged = True
            # What was written lately is likely to be mentioned again.
            self._known, self._recent = self._recent, {}

    def find(self, keys: Mapping[str, int], /) -> dict[str, RowLocation]:
        """Returns the rows of each id, ids with their keys; ids that have no row are left out.

        Raises:
            KeyCollisionError: Two ids have one key.
        """
        locations: dict[str, RowLocation] = {}
        missing: dict[int, str] = {}
        for id_, key in keys.items():
            location = self._recent.get(key) or self._known.get(key)
            if location is not None:
                locations[id_] = _checked(id_, location)
            elif missing.setdefault(key, id_) != id_:
                raise collision(id_, missing[key])
        if not missing:
            return locations
        if len(self._known) + len(missing) > KNOWN_ROWS:
            self._known.clear()
        rows = self._connection.execute(
            of_edition(_SELECT, self._number), (orjson.dumps(list(missing)).decode(),)
        )
        for key, stored, entity, document in rows.fetchall():
            id_ = missing[key]
            # A document without statements and terms is no entity, and its id is not stored.
            location = self._known[key] = _checked(id_, (stored or id_, entity, document))
            locations[id_] = location
        return locations

    def remember(self, locations: Iterable[tuple[int, RowLocation]], /) -> None:
        """Caches the locations, by key, of rows that a batch has appended and committed."""
        self._recent.update(locations)

    def next_rows(self) -> tuple[int, int]:
        """Returns the rows that the next entity and the next document take."""
        entity, document = self._connection.execute(of_edition(_LAST_ROWS, self._number)).fetchone()
        return entity + 1, document + 1

    def _merge(self) -> None:
        """Brings the rows that are not in the table of places into it, some at a time."""
        connection = self._connection
        while True:
            with transaction(connection):
                self._renew()
                begin, end = self._bounds()
                if begin == end:
                    return
                connection.execute(
                    of_edition(_MERGE, self._number), (begin[0], end[0], begin[1], end[1])
                )
                connection.execute(
                    "UPDATE editions SET placed_entity = ?, placed_document = ? WHERE number = ?",
                    (*end, self._number),
                )

    def _bounds(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Returns the rows up to which the table knows entities and documents, and those up to
        which it may learn of them at once.
        """
        begin = self._connection.execute(
            "SELECT placed_entity, placed_document FROM editions WHERE number = ?", (self._number,)
        ).fetchone()
        last = self._connection.execute(of_edition(_LAST_ROWS, self._number)).fetchone()
        entity, document = (
            min(known + MERGED_ROWS, row) for known, row in zip(begin, last, strict=True)
        )
        return (begin[0], begin[1]), (entity, document)


def _checked(id_: str, location: RowLocation) -> RowLocation:
    if location[0] != id_:
        raise collision(id_, location[0])
    return location
