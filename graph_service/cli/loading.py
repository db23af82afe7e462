"""load, graphs."""

from __future__ import annotations

import argparse
import signal
import sys
import threading

from graph_service.cli.endpoint_options import endpoint_options_of
from graph_service.cli.load_options import load_options_of
from graph_service.cli.neo4j_source import neo4j_source_of
from graph_service.cli.opening import open_from, open_store_from
from graph_service.cli.output import Output
from graph_service.errors import InputError
from graph_service.service import Service


def load(options: argparse.Namespace, output: Output, /) -> int:
    """Loads a source into a graph; 3 where anything was rejected."""
    from loaders.load import load as run_load
    from loaders.progress import ProgressBar
    from loaders.sparql.options import is_endpoint_source

    source, neo4j = neo4j_source_of(options)
    load_options = load_options_of(
        options,
        walks=is_endpoint_source(source),
        endpoint=endpoint_options_of(options),
        neo4j=neo4j,
    )
    stop = threading.Event()
    previous = signal.signal(signal.SIGINT, lambda *_: stop.set())
    try:
        with (
            open_store_from(options, output) as store,
            ProgressBar(shown=False if options.quiet else None) as bar,
        ):
            report = run_load(
                source,
                store=store,
                graph=options.graph,
                replace=options.replace,
                options=load_options,
                progress=bar,
                stop=stop,
            )
    finally:
        signal.signal(signal.SIGINT, previous)
    output.object(report.to_json())
    for line in report.lines():
        output.line(line)
    return report.exit_code


def graphs(options: argparse.Namespace, output: Output, /) -> int:
    """Lists graphs, or deletes one."""
    with open_from(options, output) as service:
        if options.action == "delete":
            _delete(service, options, output)
            return 0
        known = service.graphs()
        unfinished = service.store.unfinished_loads()
        output.object({"graphs": known, "unfinished": unfinished})
        if not known:
            output.line("no graphs yet; load one: graph-service load SOURCE --graph NAME")
        else:
            rows = [["graph", "edition", "entities", "statements", "published", "source"]]
            rows.extend(
                [
                    info.name,
                    info.edition,
                    f"{info.counts.entities:,}",
                    f"{info.counts.statements:,}",
                    info.published_at,
                    info.source,
                ]
                for info in known
            )
            output.table(rows)
        for info in known:
            for reason, number in sorted(info.report.get("incomplete", {}).items()):
                output.line(f"NOT COMPLETE: {info.edition}: {number:,} {reason}")
        for started in unfinished:
            output.line(
                f"unfinished: {started.edition} from {started.source}, {started.statements:,} "
                f"statements so far, begun {started.started_at} by {started.owner}"
            )
    return 0


def _delete(service: Service, options: argparse.Namespace, output: Output) -> None:
    if not options.name:
        raise InputError("name the graph to delete", argument="name")
    info = service.graph(options.name)
    views = service.list_views(graph=info.name)
    if not options.yes:
        if output.as_json or not sys.stdin.isatty():
            raise InputError(
                f"deleting graph {info.name!r} would delete {info.counts.statements:,} statements "
                f"and {len(views)} views",
                hint="Say --yes.",
            )
        reply = input(
            f"Delete graph {info.name} ({info.counts.statements:,} statements, "
            f"{len(views)} views)? Type its name: "
        )
        if reply.strip() != info.name:
            output.line("nothing deleted")
            return
    service.delete_graph(info.name)
    output.object({"deleted": info.name, "views": len(views)})
    output.line(f"deleted graph {info.name} and {len(views)} views")
