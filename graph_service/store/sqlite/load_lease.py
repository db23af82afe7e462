"""Who may load into a graph: the lease of an edition that is being loaded."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass

import orjson

from graph_service import __version__
from graph_service.errors import (
    LoadInProgressError,
)
from graph_service.model.graph_info import UnfinishedLoad
from graph_service.store.lease import is_gone
from graph_service.store.names import now_text
from graph_service.store.sqlite.load import (
    Lease,
    create_edition,
)


@dataclass(frozen=True, slots=True)
class UnfinishedEdition:
    """An edition that is being loaded, or whose load died.

    Attributes:
        number: Of the edition.
        owner: Who has, or had, its lease.
        source, options, replacing, base: What is loaded.
        lease_expires: Seconds since 1970.
        started_at: ISO 8601, UTC.
    """

    number: int
    owner: str
    source: str
    options: str
    replacing: bool
    base: int | None
    lease_expires: float
    started_at: str

    def is_held(self, *, but_by: str = "") -> bool:
        """Returns whether a process that may live has its lease, if it is not that of an owner."""
        is_running = self.lease_expires > time.time() and not is_gone(self.owner)
        return is_running and self.owner != but_by

    def in_progress(self, graph: str, /) -> LoadInProgressError:
        """Returns the error that says who loads it."""
        seconds = max(1, round(self.lease_expires - time.time()))
        return LoadInProgressError(
            f"graph {graph!r} is being loaded by {self.owner} from {self.source}, "
            f"begun {self.started_at}",
            hint=f"Wait for it, or try again in {seconds} s: a load that died gives way then.",
        )


def unfinished_loads(connection: sqlite3.Connection, /) -> list[UnfinishedLoad]:
    """Returns the loads of all graphs that have not ended, those that began first first."""
    rows = connection.execute(
        """SELECT graph, number, owner, source, started_at, appended, lease_expires FROM editions
            WHERE state IN ('loading', 'finished') ORDER BY number"""
    ).fetchall()
    return [
        UnfinishedLoad(
            f"{graph}@{edition_number}",
            owner,
            source,
            started_at,
            appended,
            time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(lease_expires)),
        )
        for graph, edition_number, owner, source, started_at, appended, lease_expires in rows
    ]


def unfinished_edition(connection: sqlite3.Connection, graph: str, /) -> UnfinishedEdition | None:
    """Returns the edition of a graph whose load has not ended; None where there is none."""
    row = connection.execute(
        """SELECT number, owner, source, options, replacing, base, lease_expires, started_at
            FROM editions WHERE graph = ? AND state IN ('loading', 'finished')
            ORDER BY number DESC LIMIT 1""",
        (graph,),
    ).fetchone()
    if row is None:
        return None
    number, owner, source, options, replacing, base, lease_expires, started_at = row
    return UnfinishedEdition(
        int(number), owner, source, options, bool(replacing), base, lease_expires, started_at
    )


def take_lease(
    connection: sqlite3.Connection,
    graph: str,
    replacing: bool,
    lease: Lease,
    source: str,
    options: str,
) -> int:
    """Returns the edition to load into: the one left unfinished, or a new one."""
    row = connection.execute("SELECT current FROM graphs WHERE name = ?", (graph,)).fetchone()
    base = None if row is None or replacing else row[0]
    unfinished = unfinished_edition(connection, graph)
    if unfinished is not None:
        if unfinished.is_held(but_by=lease.owner):
            raise unfinished.in_progress(graph)
        begun = (unfinished.source, unfinished.options, unfinished.replacing, unfinished.base)
        if begun == (source, options, replacing, base):
            connection.execute(
                "UPDATE editions SET owner = ?, token = ?, lease_expires = ? WHERE number = ?",
                (lease.owner, lease.token, lease.until(), unfinished.number),
            )
            return unfinished.number
        connection.execute(
            "UPDATE editions SET state = 'dropping', token = NULL WHERE number = ?",
            (unfinished.number,),
        )
    sums, base_rows = bytes(32), 0
    if base is not None:
        sums, counts = connection.execute(
            "SELECT sums, counts FROM editions WHERE number = ?", (base,)
        ).fetchone()
        base_rows = orjson.loads(counts)[1]
    cursor = connection.execute(
        """INSERT INTO editions (graph, state, replacing, base, base_rows, owner, token,
            lease_expires, started_at, source, options, sums, tool_version)
            VALUES (?, 'loading', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            graph,
            replacing,
            base,
            base_rows,
            lease.owner,
            lease.token,
            lease.until(),
            now_text(),
            source,
            options,
            sums,
            __version__,
        ),
    )
    number = int(cursor.lastrowid or 0)
    create_edition(connection, number)
    return number
