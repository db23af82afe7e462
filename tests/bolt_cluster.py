"""A Neo4j cluster that follows a script: Bolt 5.4 on 127.0.0.1, as the official driver speaks it.

Each member listens on a port of its own. ``ROUTE`` tells the driver which member leads and which
ones read. What a query finds is a ``Work``'s to say: one in memory, or a real server's. Faults come
from the script: an answer, a lost connection, silence, each at a message of a member. ::

    with BoltCluster(Memory, readers=("b", "c")) as cluster:
        cluster.script(Fault("COMMIT", on="a", does=Does.DIE_AFTER))
        connection = Connection(cluster.url, ...)
"""

from __future__ import annotations

import contextlib
import itertools
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import TracebackType
from typing import Any, Protocol, Self

import neo4j
from packstream import Structure, pack, unpack

VERSION = (5, 4)
NAMES = {
    0x01: "HELLO",
    0x02: "GOODBYE",
    0x0F: "RESET",
    0x10: "RUN",
    0x11: "BEGIN",
    0x12: "COMMIT",
    0x13: "ROLLBACK",
    0x2F: "DISCARD",
    0x3F: "PULL",
    0x54: "TELEMETRY",
    0x66: "ROUTE",
    0x6A: "LOGON",
    0x6B: "LOGOFF",
}
SUCCESS, RECORD, IGNORED, FAILURE = 0x70, 0x71, 0x7E, 0x7F
NOT_A_LEADER = "Neo.ClientError.Cluster.NotALeader"
DATABASE_UNAVAILABLE = "Neo.TransientError.General.DatabaseUnavailable"
BOOKMARK_TIMEOUT = "Neo.TransientError.Transaction.BookmarkTimeout"
INVALID_BOOKMARK = "Neo.ClientError.Transaction.InvalidBookmark"


class Does(Enum):
    """What a member does in place of an answer, or beside it."""

    DIE = "closes the connection before it does anything"
    DIE_AFTER = "does what is asked, and closes the connection without an answer"
    FAIL = "answers with an error"
    HANG = "never answers"
    ANSWER = "answers a query with rows of the script"


@dataclass(slots=True)
class Fault:
    """One line of a script; it happens ``times`` times.

    Attributes:
        message: Bolt's name of the message: RUN, COMMIT, ROUTE and so on.
        on: The member; None for whichever is asked.
        having: What the query must hold, for RUN.
        skip: How many that fit go by before.
        then: Called as it happens, such as to elect another leader.
    """

    message: str
    on: str | None = None
    does: Does = Does.DIE
    code: str = ""
    having: str = ""
    rows: Sequence[Sequence[Any]] = ()
    times: int = 1
    skip: int = 0
    then: Callable[[], object] = lambda: None


@dataclass(frozen=True, slots=True)
class Seen:
    """A message that a member got."""

    member: str
    message: str
    query: str
    extra: dict[str, Any]


class Work(Protocol):
    """What the transactions of one connection do."""

    def begin(self) -> None:
        """Begins a transaction."""

    def run(self, query: str, parameters: dict[str, Any], /) -> tuple[list[str], list[list[Any]]]:
        """Returns the columns and rows of a query."""

    def commit(self) -> None:
        """Commits."""

    def rollback(self) -> None:
        """Drops what the transaction did, where there is one."""

    def close(self) -> None:
        """Ends the connection's work."""


class Memory:
    """Rows in memory: ``ADD`` adds ``$row``, anything else returns all rows. One for a cluster."""

    def __init__(self) -> None:
        self.rows: list[Any] = []

    def __call__(self) -> Work:
        return _OfMemory(self)


class _OfMemory:
    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._added: list[Any] = []

    def begin(self) -> None:
        self._added = []

    def run(self, query: str, parameters: dict[str, Any], /) -> tuple[list[str], list[list[Any]]]:
        if query.startswith("ADD"):
            self._added.append(parameters["row"])
            return [], []
        return ["row"], [[row] for row in self._memory.rows + self._added]

    def commit(self) -> None:
        self._memory.rows += self._added
        self._added = []

    def rollback(self) -> None:
        self._added = []

    def close(self) -> None:
        self._added = []


class OfServer:
    """What a real server does: each connection has a session of its own there."""

    def __init__(self, driver: neo4j.Driver, /, *, database: str) -> None:
        self._driver = driver
        self._database = database

    def __call__(self) -> Work:
        return _OfSession(self._driver.session(database=self._database))


class _OfSession:
    def __init__(self, session: neo4j.Session) -> None:
        self._session = session
        self._tx: neo4j.Transaction | None = None

    def begin(self) -> None:
        self._tx = self._session.begin_transaction()

    def run(self, query: str, parameters: dict[str, Any], /) -> tuple[list[str], list[list[Any]]]:
        assert self._tx is not None
        result = self._tx.run(query, parameters)
        return list(result.keys()), result.values()

    def commit(self) -> None:
        assert self._tx is not None
        self._tx.commit()
        self._tx = None

    def rollback(self) -> None:
        if self._tx is not None:
            self._tx.close()
        self._tx = None

    def close(self) -> None:
        self.rollback()
        self._session.close()


class BoltCluster:
    """Members of a cluster, each with a port; a context manager.

    Args:
        work: Makes what the transactions of a connection do.
        leader: Name of the member that takes writes.
        readers: Names of the others.
    """

    def __init__(
        self, work: Callable[[], Work], *, leader: str = "a", readers: Sequence[str] = ("b", "c")
    ) -> None:
        self.leader: str | None = leader
        self.readers = list(readers)
        self.seen: list[Seen] = []
        self.committed = 0
        self._work = work
        self._faults: list[Fault] = []
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._sockets: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._ports: dict[str, int] = {}
        self._numbers = itertools.count(1)
        for member in (leader, *readers):
            listener = socket.create_server(("127.0.0.1", 0))
            self._ports[member] = listener.getsockname()[1]
            self._sockets.add(listener)
            self._spawn(self._listen, member, listener)

    @property
    def url(self) -> str:
        """Its address: the member that leads first is asked for the table."""
        return f"neo4j://{self.address(next(iter(self._ports)))}"

    def address(self, member: str) -> str:
        """Host and port of a member."""
        return f"127.0.0.1:{self._ports[member]}"

    def script(self, *faults: Fault) -> None:
        """Adds faults; the first that fits a message happens."""
        with self._lock:
            self._faults += faults

    def elect(self, member: str | None) -> None:
        """Makes another member the leader, or none; the one before becomes a reader."""
        with self._lock:
            if self.leader is not None:
                self.readers.append(self.leader)
            self.leader = member
            if member in self.readers:
                self.readers.remove(member)

    def left(self) -> list[Fault]:
        """Returns the faults that have not happened."""
        with self._lock:
            return list(self._faults)

    def asked(self, message: str, having: str = "") -> list[Seen]:
        """Returns the messages of a kind that came, in order."""
        with self._lock:
            return [one for one in self.seen if one.message == message and having in one.query]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        self._ended.set()
        with self._lock:
            sockets, threads = list(self._sockets), list(self._threads)
        for one in sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        for thread in threads:
            thread.join(10)

    def _spawn(self, target: Callable[..., None], *given: object) -> None:
        thread = threading.Thread(target=target, args=given, daemon=True)
        with self._lock:
            self._threads.append(thread)
        thread.start()

    def _listen(self, member: str, listener: socket.socket) -> None:
        while not self._ended.is_set():
            try:
                found, _ = listener.accept()
            except OSError:
                return
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._sockets.add(found)
            self._spawn(self._serve, member, found)

    def _serve(self, member: str, link: socket.socket) -> None:
        work = self._work()
        try:
            _Conversation(self, member, link, work).hold()
        except OSError:
            pass
        finally:
            link.close()
            with self._lock:
                self._sockets.discard(link)
            with contextlib.suppress(neo4j.exceptions.DriverError, neo4j.exceptions.Neo4jError):
                work.close()

    def _fault_at(self, seen: Seen) -> Fault | None:
        with self._lock:
            self.seen.append(seen)
            for fault in self._faults:
                if fault.message != seen.message or fault.on not in (None, seen.member):
                    continue
                if fault.having not in seen.query:
                    continue
                if fault.skip:
                    fault.skip -= 1
                    continue
                fault.times -= 1
                if not fault.times:
                    self._faults.remove(fault)
                fault.then()
                return fault
        return None

    def _bookmark(self) -> str:
        return f"FB:{self.committed:06d}"

    def _table(self) -> dict[str, Any]:
        with self._lock:
            readers = [self.address(name) for name in self.readers]
            leader = [] if self.leader is None else [self.address(self.leader)]
            # As Neo4j does: the leader reads where there is no other.
            servers = [
                {"role": "WRITE", "addresses": leader},
                {"role": "READ", "addresses": readers or leader},
                {"role": "ROUTE", "addresses": [self.address(name) for name in self._ports]},
            ]
            return {"rt": {"ttl": 300, "db": "neo4j", "servers": servers}}


class _LostError(OSError):
    """The script ends the connection."""


@dataclass(slots=True)
class _Conversation:
    """One connection to a member."""

    cluster: BoltCluster
    member: str
    link: socket.socket
    work: Work
    rows: Iterator[list[Any]] = field(default_factory=lambda: iter(()))
    failed: bool = False
    in_transaction: bool = False
    writes: bool = False

    def hold(self) -> None:
        if self._read(4) != b"\x60\x60\xb0\x17":
            raise _LostError("no Bolt")
        self._read(16)
        self.link.sendall(bytes((0, 0, VERSION[1], VERSION[0])))
        while True:
            message = unpack(self._message())
            name = NAMES[message.tag]
            if name == "GOODBYE":
                return
            self._take(name, message.fields)

    def _take(self, name: str, fields: list[Any]) -> None:
        query = fields[0] if name == "RUN" else ""
        extra = fields[{"RUN": 2, "ROUTE": 2}.get(name, 0)] if fields else {}
        if name == "ROUTE":
            extra = {**extra, "bookmarks": fields[1]}
        if name == "RESET":
            self.failed = self.in_transaction = False
            self.work.rollback()
        if self.failed:
            self._send(IGNORED)
            return
        fault = self.cluster._fault_at(Seen(self.member, name, query, extra))
        does = None if fault is None else fault.does
        if does is Does.DIE:
            raise _LostError("by the script")
        if does is Does.HANG:
            self.cluster._ended.wait(600)
            raise _LostError("by the script")
        try:
            if fault is not None and does is Does.FAIL:
                self._fail(fault.code, "by the script")
                return
            if fault is not None and does is Does.ANSWER:
                self.rows = iter([list(row) for row in fault.rows])
                self._send(SUCCESS, {"fields": ["x"] * len(fault.rows[0]), "t_first": 0})
                return
            records, answer = self._answer(name, fields, extra)
        except neo4j.exceptions.Neo4jError as error:
            self._fail(error.code or "Neo.DatabaseError.General.UnknownError", error.message or "")
            return
        if does is Does.DIE_AFTER:
            raise _LostError("by the script")
        for record in records:
            self._send(RECORD, record)
        self._send(SUCCESS, answer)

    def _answer(
        self, name: str, fields: list[Any], extra: dict[str, Any]
    ) -> tuple[list[list[Any]], dict[str, Any]]:
        cluster = self.cluster
        if name == "HELLO":
            return [], {"server": "Neo4j/5.26.0", "connection_id": f"bolt-{next(cluster._numbers)}"}
        if name == "ROUTE":
            return [], cluster._table()
        if name == "BEGIN":
            self.writes = extra.get("mode") != "r"
            self.work.begin()
            self.in_transaction = True
        elif name == "RUN":
            if not self.in_transaction:
                self.work.begin()
            columns, rows = self.work.run(fields[0], fields[1])
            self.rows = iter(rows)
            return [], {"fields": columns, "t_first": 0, "qid": 0}
        elif name in ("PULL", "DISCARD"):
            most = extra.get("n", -1)
            found = list(self.rows if most < 0 else itertools.islice(self.rows, most))
            following = next(self.rows, None)
            if following is not None:
                self.rows = itertools.chain([following], self.rows)
                return found, {"has_more": True}
            if not self.in_transaction:
                self.work.commit()
                return found, {"type": "r", "t_last": 0, "bookmark": cluster._bookmark()}
            return (found if name == "PULL" else []), {"type": "r", "t_last": 0}
        elif name == "COMMIT":
            self.work.commit()
            self.in_transaction = False
            with cluster._lock:
                cluster.committed += self.writes
                return [], {"bookmark": cluster._bookmark()}
        elif name == "ROLLBACK":
            self.work.rollback()
            self.in_transaction = False
        return [], {}

    def _fail(self, code: str, message: str) -> None:
        self.failed = True
        self._send(FAILURE, {"code": code, "message": message})

    def _send(self, tag: int, *fields: Any) -> None:
        data = pack(Structure(tag, list(fields)))
        parts = [data[start : start + 65_535] for start in range(0, len(data), 65_535)]
        chunks = b"".join(struct.pack(">H", len(part)) + part for part in parts)
        self.link.sendall(chunks + b"\x00\x00")

    def _message(self) -> bytes:
        parts: list[bytes] = []
        while True:
            (size,) = struct.unpack(">H", self._read(2))
            if size:
                parts.append(self._read(size))
            elif parts:
                return b"".join(parts)

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self.link.recv(size - len(data))
            if not part:
                raise _LostError("the client closed it")
            data += part
        return bytes(data)
