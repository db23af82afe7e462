"""Attacks by connections: heads and bodies that never end, and clients that read nothing."""

from __future__ import annotations

import os
import socket
from contextlib import ExitStack, suppress
from pathlib import Path

from server_process import ServerProcess, answer_of

from tools.attack.target import HEAD, PATIENCE_S, Target, until


def slow_heads(target: Target) -> str:
    """980 connections of one address that never finish their heads."""
    return _held(target, HEAD, 980, ["127.0.0.1"])


def slow_heads_of_many_addresses(target: Target) -> str:
    """980 of ten addresses: fewer than the server keeps, more than it has descriptors."""
    return _held(target, HEAD, 980, [f"127.0.1.{i}" for i in range(1, 11)])


def slow_bodies(target: Target) -> str:
    """100 bodies that never come, where the answer does not need them."""
    head = HEAD.replace(b"/graphql", b"/none") + b"Content-Length: 1000000\r\n\r\n{"
    return _held(target, head, 100, ["127.0.0.1"])


def _held(target: Target, sent: bytes, count: int, addresses: list[str]) -> str:
    with ExitStack() as held:
        connections = []
        for i in range(count):
            connection = held.enter_context(target.server.connect(addresses[i % len(addresses)]))
            with suppress(OSError):
                connection.sendall(sent)
            connections.append(connection)
        waited = target.wait_of_others(40)
        for connection in connections:
            answer_of(connection, PATIENCE_S)
    return f"{waited}, all closed"


def slow_readers(target: Target) -> str:
    """20 clients that ask for megabytes and read nothing."""
    page = b"GET /graphql HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n"
    with ExitStack() as held:
        for _ in range(20):
            connection = held.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.settimeout(PATIENCE_S)
            connection.connect(("127.0.0.1", target.server.port))
            connection.sendall(page * 2000)
        waited = target.wait_of_others(40)
        until(lambda: _sockets(target.server) <= 8, "the server leaves them")
    return f"{waited}, all left"


def _sockets(server: ServerProcess) -> int:
    named = []
    for link in Path(f"/proc/{server.process.pid}/fd").iterdir():
        with suppress(OSError):
            named.append(os.readlink(link))
    return sum(name.startswith("socket:") for name in named)
