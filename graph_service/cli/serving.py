"""serve."""

from __future__ import annotations

import argparse
import ipaddress
import math
import signal
import socket
import sys
from typing import TYPE_CHECKING

from graph_service.cli.opening import open_from
from graph_service.cli.output import Output
from graph_service.errors import InputError, SetupError
from graph_service.settings import Settings

if TYPE_CHECKING:
    from graph_service.api.app import ServerOptions

KEEP_ALIVE_S = 75
GRACE_S = 5
"""How much longer than a read may take a stopping server waits for its answers."""


def serve(options: argparse.Namespace, output: Output, /) -> int:
    """Serves GraphQL over HTTP until it is stopped.

    Asked to end (SIGTERM), it takes no more queries, answers those under way, and ends with 0.
    """
    import uvicorn

    from graph_service.api.app import make_app

    if options.threads is not None and options.threads < 1:
        raise InputError(f"--threads must be at least 1, got {options.threads}", argument="threads")
    with open_from(options, output) as service:
        allowed = server_options(options, service.settings)
        service.store.ping()
        host = f"[{options.host}]" if ":" in options.host else options.host
        with listen(options.host, options.port) as listening:
            output.note(
                f"GraphQL on http://{host}:{listening.getsockname()[1]}/graphql, "
                + ("reading and writing" if options.writable else "reading only")
                + "; stop with Ctrl-C"
            )
            if allowed.graphiql:
                output.note("GraphiQL at the same address loads its scripts from the network")
            config = uvicorn.Config(
                make_app(service, allowed),
                log_level="warning",
                # Longer than clients keep theirs: who closes first must not be the one that is
                # being written to.
                timeout_keep_alive=KEEP_ALIVE_S,
                timeout_graceful_shutdown=math.ceil(service.settings.read_timeout_s) + GRACE_S,
            )
            # uvicorn answers what is under way, and then raises the signal again.
            previous = signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
            try:
                uvicorn.Server(config).run(sockets=[listening])
            finally:
                signal.signal(signal.SIGTERM, previous)
    return 0


def server_options(options: argparse.Namespace, settings: Settings, /) -> ServerOptions:
    """Returns how the server may be used.

    Raises:
        SetupError: Other machines could reach it, and neither a key nor --insecure is given.
    """
    from graph_service.api.app import LOCAL_HOSTS, ServerOptions

    local = _is_local(options.host)
    if not local and not settings.api_key and not options.insecure:
        raise SetupError(
            f"{options.host} can be reached from other machines, and no API key is set.",
            hint="Set GRAPH_SERVICE_API_KEY, or say --insecure.",
        )
    # On an open address the names under which clients reach us are not known; the key guards.
    open_to = (*LOCAL_HOSTS, options.host) if local or options.allow_host else ()
    return ServerOptions(
        writable=options.writable,
        api_key=settings.api_key,
        hosts=(*open_to, *options.allow_host),
        origins=tuple(options.allow_origin),
        graphiql=not options.no_graphiql,
        threads=settings.threads,
    )


def listen(host: str, port: int, /) -> socket.socket:
    """Returns a bound socket for a server.

    Raises:
        SetupError: The address can't be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only where the protocol is named; with it on, an
    # answer waits 40 ms for the client's acknowledgement of its head.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        raise SetupError(
            f"can't listen on {host}, port {port}: {error}", hint="Choose another: --port N"
        ) from error
    return listening


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
