"""``graph-service serve`` in a process of its own, with limits small enough to be met."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from waiting import PATIENCE_S, wait_until

_SERVE = "from graph_service.cli import main; sys.exit(main(sys.argv[1:]))"


@dataclass(frozen=True)
class ServerProcess:
    """A server that has said where it listens.

    Attributes:
        process: The server's.
        port: On 127.0.0.1.
    """

    process: subprocess.Popen[str]
    port: int

    @property
    def url(self) -> str:
        """The address, without ``/graphql``."""
        return f"http://127.0.0.1:{self.port}"

    def connect(self, source: str = "127.0.0.1") -> socket.socket:
        """Returns a connection from an address of this machine."""
        return socket.create_connection(
            ("127.0.0.1", self.port), timeout=PATIENCE_S, source_address=(source, 0)
        )

    def listens(self) -> bool:
        """Whether it takes connections."""
        try:
            self.connect().close()
        except ConnectionError:
            return False
        return True


@contextmanager
def server_process(
    store: str, *options: str, before: str = "", **settings: object
) -> Iterator[ServerProcess]:
    """Serves a store until the block ends.

    Args:
        store: Its address.
        options: Of ``graph-service serve``.
        before: Python that the process runs first.
        settings: By the ends of their variables' names: ``threads=1``.
    """
    environment = {f"GRAPH_SERVICE_{name.upper()}": str(value) for name, value in settings.items()}
    arguments = ["serve", "--port", "0", *options]
    process = subprocess.Popen(
        [sys.executable, "-c", f"import sys\n{before}\n{_SERVE}", *arguments],
        env={**os.environ, "GRAPH_SERVICE_STORE": store, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        server = ServerProcess(process, _port(process))
        # It says where before it listens there.
        wait_until(server.listens)
        yield server
    finally:
        process.kill()
        process.communicate()


def _port(process: subprocess.Popen[str]) -> int:
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        found = re.search(r"GraphQL on http://\S+:(\d+)/graphql", line)
        if found:
            return int(found[1])
    raise AssertionError("".join(said))


def answer_of(connection: socket.socket, limit_s: float = PATIENCE_S) -> bytes:
    """Returns all that comes until the server closes the connection, which it must."""
    connection.settimeout(limit_s)
    parts: list[bytes] = []
    limit = time.monotonic() + limit_s
    try:
        while part := connection.recv(65_536):
            parts.append(part)
            assert time.monotonic() < limit, b"".join(parts)[:1000]
    except ConnectionResetError:
        pass
    return b"".join(parts)
