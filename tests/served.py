"""A real server over a service, on a free port, in a thread."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from waiting import PATIENCE_S, wait_until

from graph_service import Service
from graph_service.server.app import make_app
from graph_service.server.connections import ConnectionLimits
from graph_service.server.options import ServerOptions
from graph_service.server.server import Server


@contextmanager
def served(service: Service, options: ServerOptions | None = None) -> Iterator[str]:
    """Serves until the block ends, and gives the address (without ``/graphql``)."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    settings = service.settings
    server = Server(
        make_app(service, options),
        ConnectionLimits.of(settings),
        shutdown_timeout_s=settings.shutdown_timeout_s,
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        wait_until(lambda: server.started, message="the server did not start")
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)
        listening.close()
