"""serve."""

from __future__ import annotations

import argparse
import ipaddress

from graph_service.cli.opening import open_from
from graph_service.cli.output import Output
from graph_service.errors import SetupError


def serve(options: argparse.Namespace, output: Output, /) -> int:
    """Serves GraphQL over HTTP until it is stopped."""
    import uvicorn

    from graph_service.api.app import LOCAL_HOSTS, ServerOptions, make_app

    with open_from(options, output) as service:
        key = service.settings.api_key
        local = _is_local(options.host)
        if not local and not key and not options.insecure:
            raise SetupError(
                f"{options.host} can be reached from other machines, and no API key is set.",
                hint="Set GRAPH_SERVICE_API_KEY, or say --insecure.",
            )
        service.store.ping()
        # On an open address the names under which clients reach us are not known; the key guards.
        hosts = (*LOCAL_HOSTS, options.host, *options.allow_host) if local else ()
        app = make_app(
            service,
            ServerOptions(
                writable=options.writable,
                api_key=key,
                hosts=hosts if not options.allow_host or local else tuple(options.allow_host),
                origins=tuple(options.allow_origin),
                graphiql=not options.no_graphiql,
                threads=service.settings.threads,
            ),
        )
        output.note(
            f"GraphQL on http://{options.host}:{options.port}/graphql, "
            + ("reading and writing" if options.writable else "reading only")
            + "; stop with Ctrl-C"
        )
        if not options.no_graphiql:
            output.note("GraphiQL at the same address loads its scripts from the network")
        uvicorn.run(app, host=options.host, port=options.port, log_level="warning")
    return 0


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
