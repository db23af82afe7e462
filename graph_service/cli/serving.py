"""serve."""

from __future__ import annotations

import faulthandler
import ipaddress
import os
import re
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from graph_service.cli.opening import open_from
from graph_service.cli.output import Output
from graph_service.cli.serve_options import ServeOptions
from graph_service.errors import InputError, SetupError
from graph_service.settings import Settings

if TYPE_CHECKING:
    from graph_service.api.app import ServerOptions

_HOST = re.compile(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]")
_ORIGIN = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*://(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?"
)

SPARE_DESCRIPTORS = 256
"""Kept beside those of connections: the store, snapshots, loaded libraries."""


def serve(options: ServeOptions, output: Output, /) -> int:
    """Serves GraphQL over HTTP until it is stopped.

    Asked to end (SIGTERM), it takes no more queries, answers those under way, and ends with 0;
    with 1 where some were not answered in time.
    """
    from graph_service.api.app import make_app
    from graph_service.api.connections import ConnectionLimits
    from graph_service.api.server import Server, described

    try:
        with open_from(
            options,
            output,
            threads=options.threads,
            trust_snapshots=options.trust_snapshots,
        ) as service:
            settings = service.settings
            allowed = server_options(options, settings)
            service.store.ping()
            limits = ConnectionLimits.of(settings)
            room = raise_descriptor_limit(limits.max_connections)
            if room < limits.max_connections:
                output.note(
                    f"at most {room} connections, not {limits.max_connections}: this process may "
                    "open no more files; raise it with ulimit -n"
                )
                limits = replace(limits, max_connections=room)
            host = f"[{options.host}]" if ":" in options.host else options.host
            with listen(options.host, options.port) as listening:
                output.note(
                    f"GraphQL on http://{host}:{listening.getsockname()[1]}/graphql, "
                    + ("reading and writing" if options.writable else "reading only")
                    + "; stop with Ctrl-C"
                )
                if allowed.graphiql:
                    output.note("GraphiQL at the same address loads its scripts from the network")
                server = Server(
                    make_app(service, allowed),
                    limits,
                    shutdown_timeout_s=settings.shutdown_timeout_s,
                    ends_process=True,
                )
                # uvicorn answers what is under way, and then raises the signal again.
                previous = signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
                try:
                    server.run(sockets=[listening])
                finally:
                    signal.signal(signal.SIGTERM, previous)
                    if server.abandoned:
                        for place in server.abandoned:
                            output.note(f"abandoned: {described(place)}")
                        # Python would wait for their threads for ever.
                        _end_now(1)
    finally:
        faulthandler.cancel_dump_traceback_later()
    return 0


def _end_now(code: int) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def raise_descriptor_limit(connections: int, /) -> int:
    """Lets this process open as many files as connections need; returns how many those may be."""
    if sys.platform == "win32":
        return connections
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + SPARE_DESCRIPTORS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        new = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (new, hard))
            soft = new
    if soft == resource.RLIM_INFINITY:
        return connections
    return max(1, min(connections, soft - SPARE_DESCRIPTORS))


def server_options(options: ServeOptions, settings: Settings, /) -> ServerOptions:
    """Returns how the server may be used.

    Raises:
        SetupError: Other machines could reach it, and neither a key nor --insecure is given.
    """
    from graph_service.api.app import ANY_HOST, LOCAL_HOSTS, ServerOptions

    local = _is_local(options.host)
    if not local and not settings.api_key and not options.insecure:
        raise SetupError(
            f"{options.host} can be reached from other machines, and no API key is set.",
            hint="Set GRAPH_SERVICE_API_KEY, or say --insecure.",
        )
    for name in options.allow_hosts:
        if name != ANY_HOST and not _HOST.fullmatch(name):
            raise InputError(
                f"--allow-host takes a name without scheme and port, got {name!r}",
                argument="allow_host",
                hint="For instance: --allow-host graph.example.org",
            )
    for origin in options.allow_origins:
        if not _ORIGIN.fullmatch(origin):
            raise InputError(
                f"--allow-origin takes a scheme, a name and at most a port, got {origin!r}",
                argument="allow_origin",
                hint="For instance: --allow-origin https://page.example.org",
            )
    if ANY_HOST in options.allow_hosts and not settings.api_key:
        raise SetupError(
            "--allow-host '*' lets a page elsewhere reach this server under a name of its own, "
            "and no API key is set.",
            hint="Set GRAPH_SERVICE_API_KEY, or name the hosts.",
        )
    return ServerOptions(
        writable=options.writable,
        api_key=settings.api_key,
        hosts=(*LOCAL_HOSTS, options.host, *options.allow_hosts),
        # A name may be anyone's; an address is the one that the browser has connected to.
        addresses=not local,
        origins=options.allow_origins,
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
