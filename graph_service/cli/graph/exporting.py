"""The verbs ``export`` and ``backup`` of the command line."""

from __future__ import annotations

from graph_service.cli.gc_tuning import rare_collection
from graph_service.cli.graph.options import BackupOptions, ExportOptions
from graph_service.cli.opening import open_from
from graph_service.cli.output import Output
from graph_service.cli.readers import view_ref
from graph_service.errors import InputError
from graph_service.export import ExportFormat, exported_graph
from graph_service.export import export as run_export
from graph_service.export.run import STANDARD_OUTPUT


def export(options: ExportOptions, output: Output, /) -> int:
    """Writes a graph, or a view of it, to a file."""
    to_stdout = options.out == STANDARD_OUTPUT
    if to_stdout and output.as_json:
        raise InputError("the graph goes to standard output, so the report can't", argument="json")
    with rare_collection(), open_from(options, output) as service:
        report = run_export(
            exported_graph(service, graph=options.graph, view=view_ref(options.view)),
            options.out,
            format=ExportFormat(options.format) if options.format else None,
            labels=str(options.labels) if options.labels else None,
        )
    output.object(report.to_json())
    for line in report.lines():
        if to_stdout:
            output.note(line)
        else:
            output.line(line)
    return 0


def backup(options: BackupOptions, output: Output, /) -> int:
    """Copies a store's file while it is in use, and checks the copy."""
    from graph_service.store.sqlite.store import SqliteStore

    with open_from(options, output) as service:
        store = service.store
        if not isinstance(store, SqliteStore):
            raise InputError(
                f"{store.url} is a server; backup copies the file of a SQLite store",
                argument="store",
                hint="Export graphs (graph-service export FILE.jsonl.gz), or dump the database: "
                "neo4j-admin database dump neo4j",
            )
        size = store.backup(options.out, replace=options.replace)
    output.show(
        {"out": str(options.out), "bytes": size, "checked": True},
        f"{options.out}: {size:,} bytes, checked",
    )
    return 0
