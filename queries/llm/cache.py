"""Replies kept in one SQLite file, keyed by the whole request: nothing is asked twice.

The key covers the model, every message, every parameter, and name and version of the prompt; the
address of the endpoint is no part of it, so that a run can be replayed where there is none.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import orjson

from graph_service.errors import (
    InputError,
    StoreCorruptError,
)
from graph_service.model.serialise import from_plain, to_plain
from graph_service.sqlite_file import SqliteFile
from queries.llm.chat import (
    ChatModel,
    ChatOptions,
    Message,
    Reply,
    ReplyError,
    ReplyFault,
)
from queries.llm.request import ChatRequest

REPLY_FILE = SqliteFile(
    name="file of replies",
    application_id=0x67737263,
    schema=1,
    remedy="Name another file, or delete it; what is needed is asked again.",
)
_BUSY_MS = 30_000
_SET_ASIDE = "unreadable"


class ReplyCache:
    """One SQLite file of replies, shared by threads and processes; opened by ``open_cache``.

    Beside replies it keeps the failures of requests and the timings of cases, so that a replay
    can tell both as they were.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, /) -> None:
        self.path = path
        self._connection = connection
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """How many replies there are, failures not counted."""
        rows = self._query("SELECT count(*) FROM reply WHERE reply IS NOT NULL", ())
        return int(rows[0][0])

    def reply(self, key: str, /) -> Reply | ReplyError | None:
        """Returns the reply under a key, the failure it ended in, or None where there is neither.

        A reply that was set aside is one as well; ``is_set_aside`` tells.

        Raises:
            StoreCorruptError: What is kept there is no reply.
        """
        rows = self._query("SELECT reply, failure FROM reply WHERE key = ?", (bytes.fromhex(key),))
        if not rows:
            return None
        reply, failure = rows[0]
        try:
            if reply is None:
                failure_fields = orjson.loads(failure)
                return ReplyError(
                    failure_fields["message"],
                    fault=ReplyFault(failure_fields["fault"]),
                    tries=failure_fields["tries"],
                )
            return from_plain(Reply, orjson.loads(reply))
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, InputError) as error:
            raise StoreCorruptError(
                f"{self.path} holds no readable reply under key {key}: {error}",
                hint="Delete the file; what is needed is asked again.",
            ) from error

    def add(self, request: ChatRequest, outcome: Reply | ReplyError, /) -> None:
        """Keeps what came of a request; only failures and what was set aside are replaced."""
        reply = failure = None
        if isinstance(outcome, Reply):
            reply = orjson.dumps(to_plain(outcome)).decode()
        else:
            failure = orjson.dumps(
                {"message": outcome.message, "fault": outcome.fault.value, "tries": outcome.tries}
            ).decode()
        self._change(
            "INSERT INTO reply (key, model, prompt, request, reply, failure, created) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
            "reply = excluded.reply, failure = excluded.failure, created = excluded.created "
            "WHERE reply.failure IS NOT NULL",
            (
                bytes.fromhex(request.key()),
                request.model,
                request.prompt,
                orjson.dumps(to_plain(request)).decode(),
                reply,
                failure,
                time.time(),
            ),
        )

    def set_aside(self, key: str, /) -> None:
        """Marks a reply as one that could not be read; it stays, until another comes."""
        self._change(
            "UPDATE reply SET failure = ? WHERE key = ? AND reply IS NOT NULL",
            (_SET_ASIDE, bytes.fromhex(key)),
        )

    def is_set_aside(self, key: str, /) -> bool:
        """Returns whether the reply under a key was set aside."""
        return bool(
            self._query(
                "SELECT 1 FROM reply WHERE key = ? AND reply IS NOT NULL AND failure IS NOT NULL",
                (bytes.fromhex(key),),
            )
        )

    def models(self) -> tuple[str, ...]:
        """Returns the models whose replies it holds, sorted."""
        return tuple(row[0] for row in self._query("SELECT DISTINCT model FROM reply ORDER BY 1"))

    def is_empty(self) -> bool:
        """Returns whether nothing of any run is kept: no reply, and no timings."""
        (row,) = self._query("SELECT NOT EXISTS (SELECT 1 FROM reply) AND "
                             "NOT EXISTS (SELECT 1 FROM timing)")  # fmt: skip
        return bool(row[0])

    def timings(self, key: str, /) -> Mapping[str, Any] | None:
        """Returns the timings kept under a key of 32 hexadecimal digits; None where there are none."""
        rows = self._query("SELECT timings FROM timing WHERE key = ?", (bytes.fromhex(key),))
        if not rows:
            return None
        stored: Mapping[str, Any] = orjson.loads(rows[0][0])
        return stored

    def store_timings(self, key: str, timings: Mapping[str, Any], /) -> None:
        """Keeps timings; the first ones stay."""
        self._change(
            "INSERT OR IGNORE INTO timing VALUES (?, ?)",
            (bytes.fromhex(key), orjson.dumps(to_plain(timings)).decode()),
        )

    def _query(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._lock, REPLY_FILE.mapping_errors(self.path):
            return self._connection.execute(statement, values).fetchall()

    def _change(self, statement: str, values: Sequence[Any]) -> None:
        with self._lock, REPLY_FILE.mapping_errors(self.path), self._connection:
            self._connection.execute(statement, values)


@contextlib.contextmanager
def open_cache(path: str | Path, /, *, must_exist: bool = False) -> Iterator[ReplyCache]:
    """Opens or makes a file of replies.

    Args:
        path: The file.
        must_exist: Whether a missing file is an error, as for a replay.

    Raises:
        InputError: There is no such file, or it cannot be made.
        StoreCorruptError: It is no file of replies, or is damaged.
        SchemaVersionError: A newer version of this package made it.
    """
    file = Path(path)
    if must_exist and not file.exists():
        raise InputError(f"there is no file of replies at {file}", argument="cache")
    try:
        connection = sqlite3.connect(file, timeout=_BUSY_MS / 1000, check_same_thread=False)
    except sqlite3.Error as error:
        raise InputError(f"can't open {file}: {error}", argument="cache") from error
    try:
        with REPLY_FILE.mapping_errors(file):
            _prepare(file, connection)
        yield ReplyCache(file, connection)
    finally:
        connection.close()


def _prepare(file: Path, connection: sqlite3.Connection) -> None:
    REPLY_FILE.is_made(connection, file)
    connection.execute("PRAGMA journal_mode = WAL")
    # A reply has cost money: it is on the disk before anything is made of it.
    connection.execute("PRAGMA synchronous = FULL")
    # A file of an earlier version lacks the table of timings.
    with connection:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS reply (key BLOB PRIMARY KEY, model TEXT NOT NULL, "
            "prompt TEXT NOT NULL, request TEXT NOT NULL, reply TEXT, failure TEXT, "
            "created REAL NOT NULL) WITHOUT ROWID"
        )
        connection.execute(
            "CREATE TABLE IF NOT EXISTS timing (key BLOB PRIMARY KEY, timings TEXT NOT NULL) "
            "WITHOUT ROWID"
        )
        REPLY_FILE.stamp(connection)


class CachedChat:
    """A model whose replies are kept: each request is asked once and given again. Thread-safe.

    Args:
        cache: Where replies are kept.
        name: The model whose replies these are.
        inner: The model to ask for what is not kept; None for a replay, which asks nobody.
        retry_failed: Whether replies that were set aside before this run are asked for anew.
    """

    def __init__(
        self,
        cache: ReplyCache,
        name: str,
        /,
        *,
        inner: ChatModel | None = None,
        retry_failed: bool = False,
    ) -> None:
        self._cache = cache
        self._name = name
        self._inner = inner
        self._retry_failed = retry_failed
        self._renewed: set[str] = set()
        self._lock = threading.Lock()
        self._under_way: dict[str, threading.Lock] = {}
        self.sent = 0
        self.reused = 0

    @property
    def name(self) -> str:
        """Name of the model whose replies are cached."""
        return self._name

    def complete(self, messages: Sequence[Message], /, **options: Unpack[ChatOptions]) -> Reply:
        """Returns the reply; see ``ChatModel.complete``.

        A request that failed before is asked again, but in a replay, where it fails as it did.

        Raises:
            InputError: In a replay, the request was never asked.
        """
        request = ChatRequest.of(self._name, messages, **options)
        key = request.key()
        with self._lock:
            own = self._under_way.setdefault(key, threading.Lock())
        # Two threads with one question: the second waits for the first one's reply.
        with own:
            cached = self._cache.reply(key)
            if isinstance(cached, Reply) and not self._asks_anew(key):
                with self._lock:
                    self.reused += 1
                return replace(cached, key=key)
            if self._inner is None:
                if isinstance(cached, ReplyError):
                    raise cached
                last = messages[-1].content if messages else ""
                raise InputError(
                    f"{self._cache.path.name} holds no reply of {self._name} to this request "
                    f"(key {key}, which ends {last[-80:]!r}); the prompt, the model, a parameter "
                    "or the knowledge has changed since the run",
                    argument="replay",
                    hint="Run it again with an endpoint, without --replay.",
                )
            try:
                reply = self._inner.complete(messages, **options)
            except ReplyError as error:
                self._cache.add(request, error)
                raise
            self._cache.add(request, reply)
            with self._lock:
                self.sent += 1
                self._renewed.add(key)
            return replace(reply, key=key)

    def set_aside(self, reply: Reply, /) -> None:
        """Marks a kept reply that could not be read."""
        self._cache.set_aside(reply.key)

    def _asks_anew(self, key: str) -> bool:
        if self._inner is None or not self._retry_failed or key in self._renewed:
            return False
        return self._cache.is_set_aside(key)
