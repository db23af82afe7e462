"""The options of the verb ``serve``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graph_service.cli.options import EmbedderOptions, GraphOptions
from graph_service.options import option


@dataclass(frozen=True, kw_only=True)
class ServeOptions(GraphOptions, EmbedderOptions):
    """The options of ``serve`` on the command line."""

    host: str = option("127.0.0.1", help="the address to listen on", metavar="ADDRESS")
    port: int = option(8000, help="the port; 0 for any that is free")
    writable: bool = option(False, help="allow mutations")
    keys: str | None = option(
        None,
        help="the file of keys that clients need, made by graph-service keys (GRAPH_SERVICE_KEYS)",
        metavar="FILE",
    )
    documents: tuple[str, ...] = option(
        (),
        help="answer only the GraphQL documents of this file, a JSON object of ids and documents or Apollo's manifest, and show no GraphiQL",
        metavar="FILE",
        is_plural=True,
    )
    insecure: bool = option(False, help="serve other machines, or all pages, without an API key")
    allow_hosts: tuple[str, ...] = option(
        (), help="answer under this name too, * for any", metavar="NAME"
    )
    allow_origins: tuple[str, ...] = option(
        (), help="let pages of this origin call and read answers (CORS)", metavar="ORIGIN"
    )
    allow_any_origin: bool = option(False, help="let all pages call and read answers (CORS)")
    trust_snapshots: bool = option(
        False,
        help="open snapshots without checking their content (GRAPH_SERVICE_TRUST_SNAPSHOTS)",
    )
    no_graphiql: bool = option(False, help="show browsers no GraphiQL at /graphql")
    no_explorer: bool = option(False, help="serve no pages of the explorer at /")
    experiments: Path | None = option(
        None,
        help="show the experiments of this folder: those in its folders, as experiment run and "
        "report write them, and its own",
        metavar="DIR",
    )
    threads: int | None = option(
        None, help="queries that run at once (GRAPH_SERVICE_THREADS, then 4)", least=1
    )
    workers: int = option(
        1,
        help="processes that answer; all limits are for all of them together",
        least=1,
        most=64,
    )
    max_cost: float = option(
        1000.0,
        help="what one operation may cost, in retrievals; what costs more is refused",
        least=1,
        most=1e6,
        metavar="COST",
    )
    rate: float | None = option(
        None,
        help="cost that each client may use in a second; 0 for no limit; default: 10 if other machines may call without a key, else no limit",
        least=0,
        most=1e6,
        metavar="COST",
    )
    address_header: str = option(
        "",
        help="behind a proxy: the header in which it names the client's address, such as "
        "X-Forwarded-For",
        metavar="NAME",
    )
    cache_mb: float = option(
        64.0,
        help="MiB of memory for answers, each used again until its graph changes; 0 for none",
        least=0,
        most=1e6,
    )
    log_format: str = option(
        "text", help="how the log on standard error is written", choices=("text", "json")
    )
    log_level: str = option(
        "warning",
        help="the least that is logged; info has a line for each request",
        choices=("debug", "info", "warning", "error"),
    )
    log_queries: bool = option(
        False, help="log documents and variables too, with the texts of users in them"
    )
    traces: bool = option(
        False,
        help="send spans of requests by OTLP over HTTP to where OTEL_EXPORTER_OTLP_ENDPOINT says "
        "(needs graph-service[otel])",
    )
    drain_s: float = option(
        0.0,
        help="seconds from SIGTERM in which the server says that it is not ready and still answers",
        least=0,
    )
    warm: tuple[str, ...] = option(
        (),
        help="open this graph and ask it a question before the server says that it is ready",
        metavar="GRAPH",
    )
