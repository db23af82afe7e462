"""The options of serve."""

from __future__ import annotations

from dataclasses import dataclass

from graph_service.cli.options import EmbedderOptions, GraphOptions
from graph_service.options import option


@dataclass(frozen=True, kw_only=True)
class ServeOptions(GraphOptions, EmbedderOptions):
    """What ``serve`` takes."""

    host: str = option("127.0.0.1", help="the address to listen on", metavar="ADDRESS")
    port: int = option(8000, help="the port; 0 for any that is free")
    writable: bool = option(False, help="allow mutations")
    insecure: bool = option(False, help="serve other machines without an API key")
    allow_hosts: tuple[str, ...] = option(
        (), help="answer under this name too, * for any", metavar="NAME"
    )
    allow_origins: tuple[str, ...] = option(
        (), help="let pages of this origin call", metavar="ORIGIN"
    )
    trust_snapshots: bool = option(
        False,
        help="open snapshots without checking their content (GRAPH_SERVICE_TRUST_SNAPSHOTS)",
    )
    no_graphiql: bool = option(False, help="no page at GET /graphql")
    threads: int | None = option(
        None, help="queries that run at once (GRAPH_SERVICE_THREADS, then 8)", least=1
    )
