"""A server that does to each connection what a script says, HTTP or not."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

Script = Callable[[socket.socket, threading.Event], None]
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@contextlib.contextmanager
def scripted(script: Script, *, heads: list[bytes] | None = None) -> Iterator[str]:
    """Runs the server; gives its address.

    Args:
        heads: Filled with the first bytes that each connection brought.
    """
    listening = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def serve() -> None:
        while not ended.is_set():
            try:
                client, _ = listening.accept()
            except OSError:
                return
            with client, contextlib.suppress(OSError):
                client.settimeout(600)
                head = client.recv(1 << 16)
                if heads is not None:
                    heads.append(head)
                script(client, ended)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/sparql"
    finally:
        ended.set()
        # Wakes the thread that waits for a connection.
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(10)


def slowly(beginning: bytes, piece: bytes, pause_s: float = 0.02) -> Script:
    """Sends a piece again and again, until the client goes away."""

    def script(client: socket.socket, ended: threading.Event) -> None:
        client.sendall(beginning)
        while not ended.wait(pause_s):
            client.sendall(piece)

    return script


def at_once(reply: bytes) -> Script:
    """Sends one reply, and closes the connection."""
    return lambda client, ended: client.sendall(reply)
