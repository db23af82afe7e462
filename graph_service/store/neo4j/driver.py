"""The one connection to Neo4j: transactions with retries and time limits, errors as ours.

A transaction may run twice: when the reply to its commit is lost it is run again, so each one is
written so that its second run finds the work done and does nothing.

At an address ``neo4j://`` the driver asks for the members of the cluster: reads go to any, writes
to the leader. A member that fails is left out, and the transaction is run again on another.
"""

from __future__ import annotations

import copy
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal, TypeVar, cast
from urllib.parse import urlsplit

import neo4j
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    DriverError,
    ForbiddenOnReadOnlyDatabase,
    IncompleteCommit,
    Neo4jError,
    NotALeader,
    ResultFailedError,
    SessionExpired,
    TransientError,
    WriteServiceUnavailable,
)

from graph_service import __version__
from graph_service.errors import (
    DeadlineError,
    GraphServiceError,
    InputError,
    SetupError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
)
from graph_service.model.limits import Deadline
from graph_service.store.neo4j import watchdog
from graph_service.store.neo4j.bookmarks import SharedBookmarks
from graph_service.store.neo4j.watchdog import Watchdog

T = TypeVar("T")
Row = list[Any]
Access = Literal["READ", "WRITE"]
_DriverFault = Neo4jError | DriverError | OSError
SCHEMES = frozenset(("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"))
ROUTED_SCHEMES = frozenset(scheme for scheme in SCHEMES if scheme.startswith("neo4j"))
CONNECT_TIMEOUT_S = 30.0
"""The driver's own: a server whose machine is busy takes some seconds to greet."""
_SHARED_READS_S = 10.0
"""How long the reads of ``at_once`` may take together; then they go on by themselves."""
RETRY_S = 5.0
PROBE_S = 3.0
"""How long a server may take to answer something short before it counts as silent, seconds."""
RETRY_AFTER_S = 5.0
"""How often a server that is away is asked whether it is back, seconds."""
LOAD_RETRY_S = 60.0
"""A cluster notices after some 25 s that its leader is gone, and elects another."""
_MADE_MEANWHILE = frozenset(
    (
        "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists",
        "Neo.ClientError.Schema.IndexAlreadyExists",
        "Neo.ClientError.Schema.ConstraintAlreadyExists",
    )
)
"""``IF NOT EXISTS`` looks before it takes its lock: of two that make an index at once, one fails."""
_OF_OTHER_HISTORY = frozenset(
    (
        "Neo.ClientError.Transaction.InvalidBookmark",
        "Neo.ClientError.Transaction.InvalidBookmarkMixture",
    )
)
_BEHIND = "Neo.TransientError.Transaction.BookmarkTimeout"
_READ_TRIES = 3
"""How often a read is run whose rows can't be decoded. Neo4j reads each property as it is at that
moment, so a node that another process deletes meanwhile has nulls; the next run finds it gone."""
_FULL = ("OutOfMemory", "MemoryPool", "TransactionMemoryLimit", "StackOverFlow")
_FULL_WORDS = ("No space left", "disk is full", "Java heap space", "MemoryPoolOutOfMemory")


_log = logging.getLogger(__name__)


class _OfThread(threading.local):
    shared: neo4j.Session | None = None
    deadline: Deadline | None = None


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
        self._of_process = _DriverOfProcess(self._make_driver, self._answers)
        self._of_thread = _OfThread()
        self._fails_at_once = True

    @property
    def is_routed(self) -> bool:
        """Whether the address is that of a cluster, whose members may differ for a moment."""
        return urlsplit(self.url).scheme.lower() in ROUTED_SCHEMES

    def share_bookmarks(self, file: Path, /) -> None:
        """Reads what other processes have written, and they what this one writes.

        They hand on through ``file`` what they have reached. One server alone needs none.
        """
        if self.is_routed:
            self._of_process.bookmark_file = file

    def patient(self, retry_s: float = 0.0, /) -> Connection:
        """Returns the same connection, which asks a server that was found away just now too.

        Args:
            retry_s: How long failed transactions of a cluster are tried again, if that is longer.
        """
        other = copy.copy(self)
        other._fails_at_once = False
        if self.is_routed:
            other._retry_s = max(self._retry_s, retry_s)
        return other

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
        access: Access = "WRITE",
        deadline: Deadline | None = None,
        what: str = "writing",
    ) -> T:
        """Runs ``work`` in a transaction, again if it fails for a passing reason.

        Once a read has failed because the server is away, transactions fail at once, and one in
        some seconds asks whether it is back.

        Work that reads decodes its rows itself, so that nodes deleted meanwhile are read again.

        Raises:
            DeadlineError: The deadline came; the server has stopped the query.
            StoreUnavailableError: The server does not answer, before the deadline or at it.
            StoreError: Any other failure of the server or of the way there.
        """
        if deadline is None and access == "READ":
            deadline = self._of_thread.deadline
        for _ in range(_READ_TRIES - 1 if access == "READ" else 0):
            try:
                return self._run(work, access, deadline, what)
            except StoreCorruptError:
                continue
        return self._run(work, access, deadline, what)

    def _run(
        self,
        work: Callable[[neo4j.Transaction], T],
        access: Access,
        deadline: Deadline | None,
        what: str,
    ) -> T:
        if self._fails_at_once:
            self._require_no_outage(what)
        if self._of_thread.shared is not None and access == "READ":
            try:
                # A query is run alike by either.
                return work(cast("neo4j.Transaction", self._of_thread.shared))
            except (Neo4jError, DriverError, OSError) as error:
                cause = _root(error)
                if not _is_transient(cause):
                    raise
                self._of_process.is_silent = not isinstance(cause, Neo4jError)
                # This read and those after it in the block run by themselves, elsewhere.
                self._of_thread.shared = None
        failed: float | None = None
        pause = 0.05
        if deadline is not None:
            deadline.check(what)
        while True:
            began = time.monotonic()
            try:
                result = self._attempt(work, access, deadline)
                self._of_process.outage = None
                return result
            except (Neo4jError, DriverError, OSError) as error:
                cause = _root(error)
                mapped = map_error(cause, self.url, what, deadline)
                if not isinstance(cause, Neo4jError):
                    # One that refuses connections may be starting, and is tried again at once.
                    self._of_process.is_silent = time.monotonic() - began >= PROBE_S
                if self._is_of_another_history(cause, access):
                    continue
                if _code(cause) == _BEHIND:
                    # The leader is behind nobody.
                    access = "WRITE"
                failed = failed or time.monotonic()
                left = self._retry_s - (time.monotonic() - failed)
                if deadline is not None:
                    left = min(left, deadline.left())
                is_final = isinstance(mapped, (StoreFullError, DeadlineError)) or (
                    self._of_process.is_silent and not self.is_routed
                )
                if not _is_transient(cause) or is_final or left <= pause:
                    if access == "READ" and isinstance(mapped, StoreUnavailableError):
                        self._note_outage(cause)
                    raise mapped from error
                if self._fails_at_once and self._of_process.outage is not None:
                    raise mapped from error
                time.sleep(pause)
                pause = min(pause * 2, 1.0)

    def _note_outage(self, cause: _DriverFault) -> None:
        """Makes transactions fail at once for a while, if the server answers nothing at all."""
        if isinstance(cause, Neo4jError):
            return
        # A member of a cluster that is silent says nothing of the others.
        is_known_silent = self._of_process.is_silent and not self.is_routed
        if is_known_silent or not self._answers():
            self._of_process.outage = _Outage(cause, time.monotonic() + RETRY_AFTER_S)

    def _require_no_outage(self, what: str) -> None:
        """Raises the error of an outage, unless the server is back or it is time to ask it again."""
        outage = self._of_process.outage
        if outage is None:
            return
        if not outage.takes_turn() or not self._answers():
            raise map_error(outage.cause, self.url, what) from outage.cause
        self._of_process.outage = None

    def _is_of_another_history(self, cause: _DriverFault, access: Access) -> bool:
        """Returns whether bookmarks were dropped that no member can ever reach.

        After a database was restored or made anew the states before it are of no use: what they
        stood for is gone. The leader lacks no state of its own history.
        """
        behind = _code(cause) == _BEHIND and (access == "WRITE" or not self.is_routed)
        if not behind and _code(cause) not in _OF_OTHER_HISTORY:
            return False
        if not self._of_process.open()[1].forget():
            return False
        _log.warning(
            "Neo4j at %s does not know the state that was last seen of it (%s): it was restored "
            "or made anew, and is read as it is now",
            self.url,
            _code(cause),
        )
        return True

    @contextmanager
    def within(self, deadline: Deadline, /) -> Iterator[None]:
        """Gives this thread's reads in the block a deadline, where they have none of their own."""
        outer, self._of_thread.deadline = self._of_thread.deadline, deadline
        try:
            yield
        finally:
            self._of_thread.deadline = outer

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Lets this thread's reads in the block share one session, each query by itself.

        That takes half the messages and the processor time of a transaction for each read. They
        are short, and have no time limits of their own. If one fails for a passing reason, it and
        the rest run in transactions.

        Raises:
            StoreError: Any failure of the server or of the way there.
        """
        driver, bookmarks = self._of_process.open()
        if self._of_process.is_silent or self._of_process.outage is not None:
            yield
            return
        try:
            with (
                driver.session(
                    database=self._database, default_access_mode="READ", bookmark_manager=bookmarks
                ) as session,
                self._of_process.watchdog.limit(session, _SHARED_READS_S),
            ):
                self._of_thread.shared = session
                try:
                    yield
                finally:
                    self._of_thread.shared = None
        except (Neo4jError, DriverError, OSError) as error:
            raise map_error(_root(error), self.url, "reading") from error

    def _attempt(
        self,
        work: Callable[[neo4j.Transaction], T],
        access: Access,
        deadline: Deadline | None,
    ) -> T:
        driver, bookmarks = self._of_process.open()
        timeout = None
        wait_s = self._connect_timeout_s * 2
        if deadline is not None and deadline.at is not None:
            # Zero would mean no limit to the server.
            timeout = max(0.001, deadline.left())
            # A server that answers is never taken for one that does not, however late it is asked.
            wait_s = min(wait_s, timeout + watchdog.GRACE_S)
        if self._of_process.is_silent:
            self._probe(driver)
        with driver.session(
            database=self._database,
            default_access_mode=access,
            bookmark_manager=bookmarks,
            connection_acquisition_timeout=wait_s,
        ) as session:
            watch = self._of_process.watchdog
            with (
                nullcontext() if timeout is None else watch.limit(session, timeout),
                session.begin_transaction(timeout=timeout) as tx,
            ):
                result = work(tx)
                tx.commit()
        if access == "WRITE":
            bookmarks.save()
        return result

    def _probe(self, driver: neo4j.Driver) -> None:
        """Finds out, in little time, whether a server answers again that was silent."""
        with (
            driver.session(
                database=self._database,
                default_access_mode="READ",
                connection_acquisition_timeout=PROBE_S,
            ) as session,
            self._of_process.watchdog.limit(session, PROBE_S),
        ):
            session.run("RETURN 1").consume()
        self._of_process.is_silent = False

    def _answers(self) -> bool:
        """Returns whether the server answers something short in time."""
        began = time.monotonic()
        try:
            self._probe(self._of_process.open()[0])
        except Neo4jError:
            return True
        except (DriverError, OSError, StoreError):
            self._of_process.is_silent = time.monotonic() - began >= PROBE_S
            return False
        return True

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
        self._of_process.close()


class _Outage:
    """A time in which a server does not answer.

    Args:
        cause: How a read failed.
        ask_at: When the server is asked again, ``time.monotonic()``.
    """

    def __init__(self, cause: _DriverFault, retry_at: float, /) -> None:
        self.cause = cause
        self._retry_at = retry_at
        self._lock = threading.Lock()

    def takes_turn(self) -> bool:
        """Returns whether the caller is to ask the server: one may, and the next later."""
        with self._lock:
            now = time.monotonic()
            is_due = now >= self._retry_at
            if is_due:
                self._retry_at = now + RETRY_AFTER_S
            return is_due


class _DriverOfProcess:
    """The driver of this process, made when first needed, and what belongs to it.

    Args:
        make: Makes a driver.
        answers: Returns whether the server answers; see ``Watchdog``.

    Attributes:
        is_silent: Whether the server did not answer when it was last asked.
        outage: While a read has failed because the server is away, and none succeeded since.
    """

    def __init__(self, make: Callable[[], neo4j.Driver], answers: Callable[[], bool], /) -> None:
        self.is_silent = False
        self.outage: _Outage | None = None
        self.watchdog = Watchdog(answers)
        self._answers = answers
        self.bookmark_file: Path | None = None
        self._make = make
        self._lock = threading.Lock()
        self._driver: neo4j.Driver | None = None
        self._bookmarks = SharedBookmarks()
        self._pid = 0
        self._closed = False

    def open(self) -> tuple[neo4j.Driver, SharedBookmarks]:
        """Returns the driver and the bookmarks that its sessions share.

        Raises:
            StoreError: It was closed.
        """
        with self._lock:
            if self._closed:
                raise StoreError("the store is closed; open it again")
            if self._driver is None or self._pid != os.getpid():
                # A forked child must leave the parent's sockets alone: closing them would speak
                # on them, so the inherited driver is let go without a word.
                self._driver = self._make()
                self._bookmarks = SharedBookmarks(self._bookmarks.held())
                self.watchdog = Watchdog(self._answers)
                self._pid = os.getpid()
            self._bookmarks.file = self.bookmark_file
            return self._driver, self._bookmarks

    def close(self) -> None:
        """Closes the driver, if it is this process's."""
        with self._lock:
            self._closed = True
            if self._driver is not None and self._pid == os.getpid():
                self._driver.close()
                self.watchdog.close()
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


def _code(error: _DriverFault) -> str:
    return (error.code or "") if isinstance(error, Neo4jError) else ""


def _is_transient(cause: _DriverFault) -> bool:
    """Returns whether to try again: a lost reply to a commit too, as all work may run twice."""
    if isinstance(cause, (IncompleteCommit, OSError)):
        return True
    return cause.is_retryable() or _code(cause) in _MADE_MEANWHILE


def _root(error: _DriverFault) -> _DriverFault:
    cause = error.__cause__
    if isinstance(error, ResultFailedError) and isinstance(cause, (Neo4jError, OSError)):
        return cause
    if isinstance(error, SessionExpired) and isinstance(cause, WriteServiceUnavailable):
        return cause
    return error


def _reason(text: str) -> str:
    r"""Returns why, of what the driver says in several lines.

    >>> _reason("Couldn't connect to h:1 (resolved to ()):\nFailed (reason [Errno 111] refused)")
    '[Errno 111] refused'
    >>> _reason("Connection lost:")
    'Connection lost'
    """
    match = re.search(r"\(reason (.*)\)", text)
    if match is not None:
        return match[1]
    return text.splitlines()[0].rstrip(":") if text else ""


def map_error(
    error: _DriverFault,
    url: str,
    what: str,
    deadline: Deadline | None = None,
    /,
) -> GraphServiceError:
    """Returns an error of the driver as one of ours."""
    code = _code(error)
    text = str(error)
    is_over = deadline is not None and deadline.passed()
    if "TransactionTimedOut" in code or (is_over and ".Transaction." in code):
        return DeadlineError(
            f"the time allowed ran out while {what}",
            hint=DeadlineError.read_hint,
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
    if isinstance(error, (NotALeader, ForbiddenOnReadOnlyDatabase, WriteServiceUnavailable)):
        return StoreUnavailableError(
            f"Neo4j at {url} has no member that takes writes while {what} ({code or _reason(text)})",
            hint="Wait until its cluster has elected a leader, then run it again.",
        )
    if isinstance(error, (DriverError, OSError, TransientError)):
        return StoreUnavailableError(
            f"Neo4j at {url} does not answer while {what} ({_reason(text) or code})",
            hint="Start it (docker compose up -d neo4j) or check the address, then try again.",
        )
    return StoreError(f"Neo4j at {url} failed while {what}: {code} {text}")
