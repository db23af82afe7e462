"""The verb ``mcp`` of the command line."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from graph_service.cli.mcp_options import McpOptions
from graph_service.cli.opening import (
    note_missing_graph,
    open_from,
    refuse_store_options,
    require_embedder,
    settings_of,
)
from graph_service.cli.output import Output
from graph_service.cli.serving import listen
from graph_service.client import AsyncClient
from graph_service.errors import GraphServiceError, InputError, SetupError
from graph_service.settings import Settings

if TYPE_CHECKING:
    from graph_service.mcp.server import GraphServer
    from graph_service.server.keyring import Keyring

_ADDRESS = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[A-Za-z0-9._-]+)):(?P<port>[0-9]+)")
_LOOK_TIMEOUT_S = 5.0
_LOCAL = ("127.0.0.1", "localhost", "[::1]")


def mcp(options: McpOptions, output: Output, /) -> int:
    """Serves MCP over stdio, or over HTTP, until the client closes it or it is stopped."""
    if find_spec("mcp") is None:
        raise SetupError(
            "the MCP server needs the package mcp, which is not installed.",
            hint="pip install 'graph-service[mcp]'",
        )
    from graph_service.mcp.server import GraphServer, Profile

    settings = settings_of(options, keys=options.keys)
    keyring = _keyring(options, settings)
    profile = Profile(options.tools)
    with _client(options, output, settings, keyring) as (client, find_fault):
        if keyring is None:
            GraphServer(
                client,
                graph=settings.graph or None,
                profile=profile,
                operations=options.operations,
            ).run("stdio")
        else:
            # Which graph is meant where none is named depends on what exists for a caller.
            graph = None if settings.key_file else settings.graph or None
            server = GraphServer(
                client,
                graph=graph,
                masked=True,
                profile=profile,
                operations=options.operations,
            )
            _serve_http(server, options, output, settings, keyring, find_fault)
    return 0


def _keyring(options: McpOptions, settings: Settings) -> Keyring | None:
    """Returns who may call over HTTP; None for stdio, where the caller is the operator."""
    from graph_service.server.keyring import Keyring

    if options.http is None:
        return None
    if options.server and settings.key_file:
        raise InputError(
            "--keys needs --store; with --server, that server decides which graphs a key may see",
            argument="keys",
            hint="Give --store instead of --server, or unset GRAPH_SERVICE_KEYS.",
        )
    return Keyring(settings.key_file, api_key=settings.api_key)


@contextmanager
def _client(
    options: McpOptions, output: Output, settings: Settings, keyring: Keyring | None
) -> Iterator[tuple[AsyncClient, Callable[[], Awaitable[str]]]]:
    """Gives a client of the store that the options name, or of the server, and what finds faults."""
    if options.server:
        refuse_store_options(options)
        output.note(f"server {options.server}")
        far = AsyncClient.connect(options.server, api_key=settings.api_key)
        yield far, partial(_find_fault, far.graphs, "the server does not answer")
        return
    with open_from(options, output) as service:
        require_embedder(service, output)
        note_missing_graph(service, options.graph, output)
        ping = partial(asyncio.to_thread, service.store.ping)
        find_fault = partial(_find_fault, ping, "the store does not answer")
        if keyring is not None and settings.key_file:
            from graph_service.mcp.callers import OfCallers

            yield AsyncClient(OfCallers(service, keyring)), find_fault
        else:
            yield AsyncClient.over(service, writable=False), find_fault


async def _find_fault(look: Callable[[], Awaitable[object]], fault: str) -> str:
    """Returns a fault where a look fails or takes too long, else nothing."""
    try:
        async with asyncio.timeout(_LOOK_TIMEOUT_S):
            await look()
    except (GraphServiceError, TimeoutError):
        return fault
    return ""


def _serve_http(
    server: GraphServer,
    options: McpOptions,
    output: Output,
    settings: Settings,
    keyring: Keyring,
    find_fault: Callable[[], Awaitable[str]],
) -> None:
    import uvicorn

    from graph_service.mcp.server import PATH, http_app
    from graph_service.mcp.sessions import SessionLimits
    from graph_service.server.connections import BoundedProtocol, ConnectionGate, ConnectionLimits

    host, port = _host_and_port(options.http or "")
    with listen(host, port, option="--http HOST:PORT") as listening:
        _require_key(listening, options, keyring)
        shown = f"[{host}]" if ":" in host else host
        names = dict.fromkeys((*_LOCAL, shown, *options.allow_hosts))
        port = listening.getsockname()[1]
        app = http_app(
            server,
            hosts=[name + end for name in names for end in ("", ":*")],
            origins=[*(f"http://{name}:{port}" for name in names), *options.allow_origins],
            keyring=keyring,
            sessions=SessionLimits(
                most=options.max_sessions,
                most_per_client=options.max_sessions_per_client,
                idle_s=options.session_idle,
            ),
            find_fault=find_fault,
        )
        output.note(f"MCP on http://{shown}:{port}{PATH}; stop with Ctrl-C")
        limits = ConnectionLimits.of(settings)
        config = uvicorn.Config(
            app,
            http=partial(BoundedProtocol, ConnectionGate(limits)),  # type: ignore[arg-type]
            ws="none",
            log_level="warning",
            timeout_keep_alive=limits.keep_alive_s,  # type: ignore[arg-type]
            timeout_graceful_shutdown=5,
        )
        uvicorn.Server(config).run(sockets=[listening])


def _host_and_port(address: str) -> tuple[str, int]:
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise InputError(
            f"--http takes HOST:PORT, got {address!r}",
            argument="http",
            hint="For instance: --http 127.0.0.1:8001",
        )
    return match["six"] or match["host"], int(match["port"])


def _require_key(listening: socket.socket, options: McpOptions, keyring: Keyring) -> None:
    """Raises ``SetupError`` where other machines could call, and neither key nor flag is given."""
    if keyring.asks or options.insecure:
        return
    address = listening.getsockname()[0]
    if not ipaddress.ip_address(address).is_loopback:
        raise SetupError(
            f"{address} can be reached from other machines, and no API key is set.",
            hint="Set GRAPH_SERVICE_API_KEY, give --keys FILE, or say --insecure.",
        )
