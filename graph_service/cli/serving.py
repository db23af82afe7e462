"""The verb ``serve`` of the command line."""

from __future__ import annotations

import faulthandler
import ipaddress
import os
import re
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from graph_service.cli.opening import note_missing_graph, open_from, require_embedder
from graph_service.cli.output import Output
from graph_service.cli.serve_options import ServeOptions
from graph_service.cli.serving_many import require_processes, serve_many
from graph_service.errors import InputError, SetupError
from graph_service.settings import Settings

if TYPE_CHECKING:
    from graph_service.server.options import ServerOptions

_HOST = re.compile(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]")
_ORIGIN = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*://(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?"
)

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]*")
OPEN_RATE = 10.0
"""Retrievals a second of each client, where other machines may call without a key."""

RESERVED_DESCRIPTORS = 256
"""Kept beside those of connections: the store, snapshots, loaded libraries."""


def serve(options: ServeOptions, output: Output, /) -> int:
    """Serves GraphQL over HTTP until it is stopped.

    Asked to end (SIGTERM), it says for ``--drain-s`` seconds that it is not ready, so that proxies
    send no more. Then it takes no more queries, answers those under way, and ends with 0; with 1
    where some were not answered in time.
    """
    from graph_service.byte_budget import use_one_arena
    from graph_service.server.app import make_app
    from graph_service.server.connections import ConnectionLimits
    from graph_service.server.request_log import set_up_logging
    from graph_service.server.server import Server, described
    from graph_service.server.traces import traced

    use_one_arena()
    if options.workers > 1:
        require_processes()
    set_up_logging(options.log_format, options.log_level)
    try:
        with (
            open_from(
                options,
                output,
                threads=options.threads,
                trust_snapshots=options.trust_snapshots,
                keys=options.keys,
            ) as service,
            ExitStack() as ended,
        ):
            settings = service.settings
            allowed = server_options(options, settings)
            if options.traces:
                traces = ended.enter_context(traced(service, documents=options.log_queries))
                if options.workers == 1:
                    allowed = replace(allowed, traces=traces)
            require_embedder(service, output)
            service.store.ping()
            for name in options.warm:
                service.graph(name)
            note_missing_graph(service, options.graph, output)
            limits = ConnectionLimits.of(settings)
            room = raise_descriptor_limit(limits.max_connections)
            if room < limits.max_connections:
                output.note(
                    f"at most {room} connections, not {limits.max_connections}: this process may "
                    "open no more files; raise it with ulimit -n"
                )
                limits = replace(limits, max_connections=room)
            with listen(options.host, options.port) as listening:
                for line in _addresses(options, allowed, listening):
                    output.note(line)
                if options.workers > 1:
                    # Each process opens the store for itself.
                    service.close()
                    return serve_many(options, settings, allowed, limits, listening)
                server = Server(
                    make_app(service, allowed),
                    limits,
                    shutdown_timeout_s=settings.shutdown_timeout_s,
                    drain_s=options.drain_s,
                    exits_process=True,
                )
                # uvicorn answers what is under way, and then raises the signal again.
                previous = signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
                try:
                    server.run(sockets=[listening])
                finally:
                    signal.signal(signal.SIGTERM, previous)
                    abandoned = server.abandoned
                    for job in abandoned:
                        output.note(f"abandoned: {described(job)}")
                    if server.is_at_work:
                        # Python would wait for their threads for ever.
                        _end_now(1 if abandoned else 0)
    finally:
        faulthandler.cancel_dump_traceback_later()
    return 0


def _addresses(
    options: ServeOptions, allowed: ServerOptions, listening: socket.socket
) -> Iterator[str]:
    """Yields where what is served can be reached."""
    host = f"[{options.host}]" if ":" in options.host else options.host
    address = f"http://{host}:{listening.getsockname()[1]}"
    yield (
        f"GraphQL on {address}/graphql, "
        + ("reading and writing" if options.writable else "reading only")
        + (f", {options.workers} processes" if options.workers > 1 else "")
        + "; stop with Ctrl-C"
    )
    if allowed.explorer:
        yield f"Explorer on {address}/"


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
    needed = connections + RESERVED_DESCRIPTORS
    if soft != resource.RLIM_INFINITY and soft < needed:
        new = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (new, hard))
            soft = new
    if soft == resource.RLIM_INFINITY:
        return connections
    return max(1, min(connections, soft - RESERVED_DESCRIPTORS))


def server_options(options: ServeOptions, settings: Settings, /) -> ServerOptions:
    """Returns how the server may be used.

    Raises:
        SetupError: Other machines or pages could reach it, and neither a key nor --insecure is
            given; or a file of keys or of documents can't be read, or does not hold.
    """
    from graph_service.server.admission import ANY_HOST, LOCAL_HOSTS
    from graph_service.server.keyring import Keyring
    from graph_service.server.options import ServerOptions
    from graph_service.server.trusted_documents import read_trusted
    from graph_service.service.experiments import check_folder

    asks_for_key = Keyring(settings.key_file, api_key=settings.api_key).asks
    local = _is_local(options.host)
    if not local and not asks_for_key and not options.insecure:
        raise SetupError(
            f"{options.host} can be reached from other machines, and no API key is set.",
            hint="Set GRAPH_SERVICE_API_KEY, give --keys FILE, or say --insecure.",
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
    if options.allow_any_origin and not asks_for_key and not options.insecure:
        raise SetupError(
            "--allow-any-origin lets every page that a user of this server visits read from it, "
            "and no API key is set.",
            hint="Set GRAPH_SERVICE_API_KEY, give --keys FILE, name the pages: "
            "--allow-origin ORIGIN, or say --insecure.",
        )
    if ANY_HOST in options.allow_hosts and not asks_for_key:
        raise SetupError(
            "--allow-host '*' lets a page elsewhere reach this server under a name of its own, "
            "and no API key is set.",
            hint="Set GRAPH_SERVICE_API_KEY, give --keys FILE, or name the hosts.",
        )
    if not _HEADER.fullmatch(options.address_header):
        raise InputError(
            f"--address-header takes the name of a header, got {options.address_header!r}",
            argument="address_header",
            hint="For instance: --address-header X-Forwarded-For",
        )
    if options.experiments is not None:
        check_folder(options.experiments)
    documents = tuple(map(Path, options.documents))
    read_trusted(documents)
    rate = options.rate
    if rate is None:
        rate = 0.0 if local or asks_for_key else OPEN_RATE
    return ServerOptions(
        writable=options.writable,
        api_key=settings.api_key,
        keys=settings.key_file,
        hosts=(*LOCAL_HOSTS, options.host, *options.allow_hosts),
        # A name may be anyone's; an address is the one that the browser has connected to.
        addresses=not local,
        origins=tuple(as_sent(origin) for origin in options.allow_origins),
        any_origin=options.allow_any_origin,
        graphiql=not options.no_graphiql,
        explorer=not options.no_explorer,
        experiments=options.experiments,
        threads=settings.threads,
        warm=options.warm,
        log_queries=options.log_queries,
        documents=documents,
        max_cost=options.max_cost,
        rate=rate,
        address_header=options.address_header,
        cache_bytes=int(options.cache_mb * 2**20),
    )


def as_sent(origin: str, /) -> str:
    """Returns an origin as browsers send it: in lower case, and without its scheme's own port.

    >>> as_sent("HTTPS://Page.Example:443"), as_sent("http://localhost:3000")
    ('https://page.example', 'http://localhost:3000')
    """
    origin = origin.lower()
    scheme, _, rest = origin.partition("://")
    port = {"http": ":80", "https": ":443"}.get(scheme)
    return f"{scheme}://{rest.removesuffix(port)}" if port else origin


def listen(host: str, port: int, /, *, option: str = "--port N") -> socket.socket:
    """Returns a bound socket for a server.

    Args:
        host: Its address.
        port: 0 for any that is free.
        option: Where the caller said the port, for the error.

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
            f"can't listen on {host}, port {port}: {error}", hint=f"Choose another: {option}"
        ) from error
    return listening


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
