"""The one connection to Neo4j: transactions with retries and time limits, errors as ours.

A transaction may run twice: when the reply to its commit is lost it is run again, so each one is
written so that its second run finds the work done and does nothing.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

import neo4j
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    DriverError,
    IncompleteCommit,
    Neo4jError,
    ResultFailedError,
)

from graph_service import __version__
from graph_service.errors import (
    DeadlineError,
    GraphServiceError,
    InputError,
    SetupError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
)
from graph_service.model.limits import Deadline

T = TypeVar("T")
Row = list[Any]
SCHEMES = frozenset(("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"))
CONNECT_TIMEOUT_S = 10.0
RETRY_S = 5.0
_MADE_MEANWHILE = frozenset(
    (
        "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists",
        "Neo.ClientError.Schema.IndexAlreadyExists",
        "Neo.ClientError.Schema.ConstraintAlreadyExists",
    )
)
"""``IF NOT EXISTS`` looks before it takes its lock: of two that make an index at once, one fails."""
_FULL = ("OutOfMemory", "MemoryPool", "TransactionMemoryLimit", "StackOverFlow")
_FULL_WORDS = ("No space left", "disk is full", "Java heap space", "MemoryPoolOutOfMemory")


class Connection:
    """One driver a process; safe in several threads, and across fork.

    Args:
        url: ``bolt://``, ``neo4j://`` or their ``+s`` and ``+ssc`` forms.
        retry_s: How long a failed transaction is tried again, seconds.
    """

    def __init__(
        self,
        url: str,
        /,
        *,
        username: str | None,
        password: str | None,
        database: str,
        retry_s: float = RETRY_S,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
    ) -> None:
        self.url = url
        self._auth = (username or "neo4j", password) if password is not None else None
        self._database = database
        self._retry_s = retry_s
        self._connect_timeout_s = connect_timeout_s
        self._lock = threading.Lock()
        self._driver: neo4j.Driver | None = None
        self._bookmarks: neo4j.api.BookmarkManager | None = None
        self._pid = 0
        self._closed = False

    def read(
        self,
        query: str,
        /,
        *,
        deadline: Deadline | None = None,
        what: str = "reading the graph",
        **parameters: Any,
    ) -> list[Row]:
        """Returns the rows of one query, run in a transaction of its own, on any member."""
        return self.transaction(
            lambda tx: rows_of(tx, query, parameters), access="READ", deadline=deadline, what=what
        )

    def write(self, query: str, /, *, what: str = "writing", **parameters: Any) -> list[Row]:
        """Runs one query that may run twice, in a transaction of its own; returns its rows."""
        return self.transaction(lambda tx: rows_of(tx, query, parameters), what=what)

    def transaction(
        self,
        work: Callable[[neo4j.Transaction], T],
        /,
        *,
        access: Literal["READ", "WRITE"] = "WRITE",
        deadline: Deadline | None = None,
        what: str = "writing",
    ) -> T:
        """Runs ``work`` in a transaction, again if it fails for a passing reason.

        Raises:
            DeadlineError: The deadline came; the server has stopped the query.
            StoreError: Any failure of the server or of the way there.
        """
        began = time.monotonic()
        pause = 0.05
        while True:
            if deadline is not None:
                deadline.check(what)
            try:
                return self._attempt(work, access, deadline)
            except (Neo4jError, DriverError, OSError) as error:
                cause = _root(error)
                mapped = map_error(cause, self.url, what, deadline)
                # A lost reply to a commit is tried again too: every work here may run twice.
                passing = (
                    isinstance(cause, (IncompleteCommit, OSError))
                    or cause.is_retryable()
                    or (isinstance(cause, Neo4jError) and cause.code in _MADE_MEANWHILE)
                )
                left = self._retry_s - (time.monotonic() - began)
                if deadline is not None:
                    left = min(left, deadline.left())
                full = isinstance(mapped, (StoreFullError, DeadlineError))
                if not passing or full or left <= pause:
                    raise mapped from error
                time.sleep(pause)
                pause = min(pause * 2, 1.0)

    def _attempt(
        self,
        work: Callable[[neo4j.Transaction], T],
        access: Literal["READ", "WRITE"],
        deadline: Deadline | None,
    ) -> T:
        driver, bookmarks = self._open()
        timeout = None
        if deadline is not None and deadline.at is not None:
            # Zero would mean no limit to the server.
            timeout = max(0.001, deadline.left())
        with (
            driver.session(
                database=self._database, default_access_mode=access, bookmark_manager=bookmarks
            ) as session,
            session.begin_transaction(timeout=timeout) as tx,
        ):
            result = work(tx)
            tx.commit()
            return result

    def _open(self) -> tuple[neo4j.Driver, neo4j.api.BookmarkManager]:
        with self._lock:
            if self._closed:
                raise StoreError("the store is closed; open it again")
            if self._driver is None or self._bookmarks is None or self._pid != os.getpid():
                # A forked child must leave the parent's sockets alone: closing them would speak
                # on them, so the inherited driver is let go without a word.
                self._driver = self._make_driver()
                self._bookmarks = neo4j.GraphDatabase.bookmark_manager()
                self._pid = os.getpid()
            return self._driver, self._bookmarks

    def _make_driver(self) -> neo4j.Driver:
        try:
            if urlsplit(self.url).scheme.lower() not in SCHEMES:
                raise ValueError("unknown scheme")
            return neo4j.GraphDatabase.driver(
                self.url,
                auth=self._auth,
                user_agent=f"graph-service/{__version__}",
                connection_timeout=self._connect_timeout_s,
                connection_acquisition_timeout=self._connect_timeout_s * 2,
                liveness_check_timeout=30.0,
                max_transaction_retry_time=0.0,
                notifications_min_severity="OFF",
                telemetry_disabled=True,
                keep_alive=True,
            )
        except (ConfigurationError, ValueError) as error:
            raise InputError(
                f"not an address of Neo4j: {self.url!r} ({error})",
                argument="store",
                hint="Expected bolt://host:7687 or neo4j://host:7687.",
            ) from error

    def close(self) -> None:
        """Closes the driver of this process."""
        with self._lock:
            self._closed = True
            if self._driver is not None and self._pid == os.getpid():
                self._driver.close()
            self._driver = None


def rows_of(tx: neo4j.Transaction, query: str, parameters: Mapping[str, Any], /) -> list[Row]:
    """Returns the rows of a query within a transaction, each a list of its columns."""
    # The text is one of this package's constants; what comes from data goes in as parameters.
    return tx.run(query, dict(parameters)).values()


def one_row(tx: neo4j.Transaction, query: str, parameters: Mapping[str, Any], /) -> Row | None:
    """Returns the first row of a query within a transaction, or None."""
    rows = rows_of(tx, query, parameters)
    return rows[0] if rows else None


def in_chunks(rows: Sequence[T], size: int, /) -> list[Sequence[T]]:
    """Returns the rows in runs of at most ``size``."""
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _root(error: Neo4jError | DriverError | OSError) -> Neo4jError | DriverError | OSError:
    if isinstance(error, ResultFailedError) and isinstance(error.__cause__, (Neo4jError, OSError)):
        return error.__cause__
    return error


def _reason(text: str) -> str:
    r"""Returns why, of what the driver says in several lines.

    >>> _reason("Couldn't connect to h:1 (resolved to ()):\nFailed (reason [Errno 111] refused)")
    '[Errno 111] refused'
    >>> _reason("Connection lost:")
    'Connection lost'
    """
    found = re.search(r"\(reason (.*)\)", text)
    if found is not None:
        return found[1]
    return text.splitlines()[0].rstrip(":") if text else ""


def map_error(
    error: Neo4jError | DriverError | OSError,
    url: str,
    what: str,
    deadline: Deadline | None = None,
    /,
) -> GraphServiceError:
    """Returns an error of the driver as one of ours."""
    code = (error.code or "") if isinstance(error, Neo4jError) else ""
    text = str(error)
    if "TransactionTimedOut" in code or (deadline is not None and deadline.passed()):
        return DeadlineError(
            f"the time allowed ran out while {what}",
            hint="Ask for fewer hops or edges, or raise the time limit.",
        )
    if isinstance(error, AuthError) or ".Security." in code:
        refused: StoreError = StoreUnavailableError(
            f"Neo4j at {url} refused the user name or password ({code or type(error).__name__})",
            hint="Set NEO4J_USERNAME and NEO4J_PASSWORD to the ones it was started with.",
        )
        # Only waiting helps against the limit on attempts; nothing but a new password otherwise.
        refused.retryable = "RateLimit" in code
        return refused
    if "DatabaseNotFound" in code:
        return SetupError(
            f"Neo4j at {url} has no such database ({text})",
            hint="Set NEO4J_DATABASE to one that it has; Community has just neo4j.",
        )
    if any(word in code for word in _FULL) or any(word in text for word in _FULL_WORDS):
        return StoreFullError(
            f"Neo4j at {url} ran out of memory or disk while {what} ({code})",
            hint="Raise server.memory.heap.max_size or free disk space, then run it again.",
        )
    if isinstance(error, (DriverError, OSError)) or code.startswith("Neo.TransientError"):
        return StoreUnavailableError(
            f"Neo4j at {url} does not answer while {what} ({_reason(text) or code})",
            hint="Start it (docker compose up -d neo4j) or check the address, then try again.",
        )
    return StoreError(f"Neo4j at {url} failed while {what}: {code} {text}")
