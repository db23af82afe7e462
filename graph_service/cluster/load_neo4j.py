"""A graph that a cluster loaded, as the files of Neo4j's bulk import."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from graph_service.cluster.load import LoadedGraph, standings_file
from graph_service.cluster.load_workspace import Workspace
from graph_service.errors import StoreError
from graph_service.model.graph_info import GraphInfo
from graph_service.model.identity import key64
from graph_service.model.statement import Entity, Standing
from graph_service.store.encoded import encode_statements
from graph_service.store.neo4j.bulk_csv import (
    NODE_FILES,
    STATEMENTS_FILE,
    Neo4jCsvWriter,
    import_arguments,
)
from graph_service.store.parquet import (
    ENTITIES,
    STATEMENTS,
    Part,
    entity_rows,
    import_pyarrow,
    schemas,
    statement_rows,
)

LAST_FILE = "edition.csv"
"""The file that is there when all others are."""
_STAGE = "neo4j-import"
_ROWS = 5_000


def write_import_files(
    workspace: Workspace, graph: Path, loaded: LoadedGraph, info: GraphInfo, out: Path, /
) -> None:
    """Writes the files of a bulk import from a graph's Parquet files, by this process alone.

    Args:
        workspace: Of the load.
        graph: The folder of the Parquet files.
        loaded: What is in them.
        info: What the import publishes.
        out: Where the files go.

    Raises:
        StoreError: The files are not those of the graph.
    """
    names = [*(name for name, _ in NODE_FILES.values()), STATEMENTS_FILE]
    names.sort(key=lambda name: name == LAST_FILE)
    folder = workspace.folder / "csv"
    if workspace.record(_STAGE, 0) is None:
        folder.mkdir(exist_ok=True)
        with Neo4jCsvWriter(folder, info) as writer:
            for part in loaded.parts:
                if part.table == STATEMENTS:
                    for columns in _columns(graph, part):
                        writer.statements(encode_statements(statement_rows(columns)))
            relations = {key64(id_): id_ for id_ in writer.relation_ids}
            named: dict[str, Entity] = {}
            for index, part in _entity_parts(loaded):
                standings = np.load(standings_file(workspace, index))
                first = 0
                for columns in _columns(graph, part):
                    entities = [
                        replace(entity, standing=Standing(standing))
                        for entity, standing in zip(
                            entity_rows(columns),
                            standings[first : first + len(columns["key"])].tolist(),
                            strict=True,
                        )
                    ]
                    first += len(entities)
                    named |= {each.id: each for each in entities if each.key in relations}
                    writer.entities(entities)
            if writer.fingerprints != loaded.fingerprints:
                raise StoreError(
                    f"the files in {graph} are not those that the load wrote: their fingerprints "
                    f"are {writer.fingerprints}, and those of the load {loaded.fingerprints}",
                    hint="Delete the folder, and run the same command again.",
                )
            writer.finish(named)
        workspace.write_record(_STAGE, 0, True)
    for name in names:
        if (folder / name).exists():
            (folder / name).replace(out / name)


def import_command(out: Path, /) -> str:
    """Returns the command that imports the files."""
    arguments = import_arguments(out.absolute())
    return shlex.join(["neo4j-admin", "database", "import", "full", *arguments])


def _entity_parts(loaded: LoadedGraph) -> Iterator[tuple[int, Part]]:
    """Yields the files of entities, each with the index of its range."""
    for part in loaded.parts:
        if part.table == ENTITIES:
            yield int(Path(part.file).stem.removeprefix("part-")), part


def _columns(graph: Path, part: Part) -> Iterator[dict[str, list[Any]]]:
    """Yields the rows of a file."""
    arrow = import_pyarrow("a graph as Parquet")
    names = schemas()[part.table].names
    with arrow.parquet.ParquetFile(graph / part.file, page_checksum_verification=True) as file:
        for batch in file.iter_batches(batch_size=_ROWS):
            yield {name: batch.column(name).to_pylist() for name in names}
