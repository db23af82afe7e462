"""Loads a graph by Spark: what ``cluster load`` does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from graph_service.cli.cluster.options import ClusterLoadOptions
from graph_service.cli.output import Output
from graph_service.cluster.load_tasks import Engine, SparkEngine
from graph_service.cluster.session import open_session


def load(options: ClusterLoadOptions, output: Output, /) -> int:
    """Loads files by an engine; 3 where anything was rejected."""
    from loaders.cluster import LoadSizes, TargetKind, cluster_load, read_target

    target = read_target(options.to)
    reading = options.reading
    report = cluster_load(
        options.source,
        target,
        graph=options.graph,
        options=replace(
            reading,
            languages=tuple(code.lower() for code in reading.languages),
            fallback_languages=tuple(code.lower() for code in reading.fallback_languages),
        ),
        open_engine=lambda: _engine(options.remote),
        sizes=LoadSizes(chunk_bytes=options.chunk_mib << 20),
    )
    output.show({**report.to_json(), "to": str(target.folder)}, *report.lines())
    if target.kind is TargetKind.PARQUET:
        output.line(f"graph-service load {target.folder} --graph {options.graph}")
    else:
        from graph_service.cluster.load_neo4j import import_command

        output.line(import_command(target.folder))
    return report.exit_code


@contextmanager
def _engine(remote: str) -> Iterator[Engine]:
    with open_session(remote) as session:
        yield SparkEngine(session)
