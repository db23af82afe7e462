"""The options of the verb ``mcp``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from graph_service.cli.options import EmbedderOptions, GraphOptions
from graph_service.options import option

_OVER_HTTP = ("http",)


@dataclass(frozen=True, kw_only=True)
class McpOptions(GraphOptions, EmbedderOptions):
    """The options of ``mcp`` on the command line."""

    server: str | None = option(
        None, help="ask a graph-service that is served, instead of opening a store", metavar="URL"
    )
    http: str | None = option(
        None, help="serve streamable HTTP at this address instead of stdio", metavar="HOST:PORT"
    )
    tools: Literal["facts", "research"] = option(
        "facts",
        help="four tools that look up facts (facts), or also those for views and passages (research)",
    )
    operations: Path | None = option(
        None,
        help="folder of .graphql files; each named query in them is a tool too",
        metavar="DIR",
    )
    keys: str | None = option(
        None,
        help="with --http: the file of keys that clients need (GRAPH_SERVICE_KEYS)",
        metavar="FILE",
        needs=_OVER_HTTP,
    )
    insecure: bool = option(
        False, help="with --http: serve other machines without an API key", needs=_OVER_HTTP
    )
    allow_hosts: tuple[str, ...] = option(
        (), help="with --http: answer under this name too", metavar="NAME", needs=_OVER_HTTP
    )
    allow_origins: tuple[str, ...] = option(
        (), help="with --http: let pages of this origin call", metavar="ORIGIN", needs=_OVER_HTTP
    )
    max_sessions: int = option(
        1000,
        help="with --http: sessions at once; the oldest idle one makes room",
        least=1,
        needs=_OVER_HTTP,
    )
    max_sessions_per_client: int = option(
        100,
        help="with --http: sessions of one key at once, of one address where no key is needed",
        least=1,
        needs=_OVER_HTTP,
    )
    session_idle: float = option(
        300.0,
        help="with --http: seconds after which a session without a request ends",
        least=0.001,
        most=1e6,
        metavar="SECONDS",
        needs=_OVER_HTTP,
    )
