"""The Parquet folder of ``graph-service export``, in which nothing is left out, as a source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from graph_service.errors import InputError
from graph_service.model.hashing import Uint64, fingerprint
from graph_service.store.encoded import encode_statements
from graph_service.store.parquet import (
    ENTITIES,
    STATEMENTS,
    Columns,
    Part,
    entity_columns,
    entity_rows,
    import_pyarrow,
    read_manifest,
    schemas,
    statement_rows,
)
from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.source import ByteSource
from loaders.terms import with_terms_in

_ROWS = 5_000
"""Rows that are handed on at once."""


def graph_parts(folder: Path, /) -> list[Path] | None:
    """Returns the files of a folder that is a graph in our layout; None for any other folder.

    Raises:
        InputError: A file is missing, cut short, or another one than the manifest names.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        return None
    for part in manifest.parts:
        _open_part(folder, part).close()
    return [folder / part.file for part in manifest.parts]


def _open_part(folder: Path, part: Part) -> Any:
    """Returns a part as a file of pyarrow's."""
    arrow = import_pyarrow(f"{folder}, a graph as Parquet,")
    path = folder / part.file
    try:
        file = arrow.parquet.ParquetFile(path, page_checksum_verification=True)
    except (arrow.ArrowException, OSError) as error:
        raise _damaged(path, f"it can't be read as Parquet: {error}") from error
    missing = set(schemas()[part.table].names) - set(file.schema_arrow.names)
    if missing:
        file.close()
        raise _damaged(path, f"it lacks the columns {', '.join(sorted(missing))}")
    if file.metadata.num_rows != part.rows:
        rows = file.metadata.num_rows
        file.close()
        raise _damaged(path, f"it has {rows:,} rows, and its manifest says {part.rows:,}")
    return file


def _damaged(path: Path, problem: str) -> InputError:
    return InputError(
        f"{path} is not the file that its graph.json names: {problem}",
        argument="source",
        hint="Copy the whole folder again, or export the graph again.",
    )


def read_graph_parquet(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
) -> Iterator[Parsed]:
    """Yields a part of a graph in pieces; at its end its rows are checked by their fingerprint.

    Raises:
        InputError: The part is damaged.
    """
    path = Path(source.name)
    folder = path.parent.parent
    manifest = read_manifest(folder)
    part = next(
        (part for part in (manifest.parts if manifest else ()) if folder / part.file == path), None
    )
    if part is None:
        raise _damaged(path, "the manifest does not name it")
    arrow = import_pyarrow("a graph as Parquet")
    done = int(start.get("row", 0))
    sums = np.array([int(word) for word in start.get("sums", ("0",) * 4)], dtype=np.uint64)
    with _open_part(folder, part) as file:
        try:
            for first, columns in _pieces(file, part, done):
                parsed = Parsed()
                sums = sums + _take(part, columns, parsed, options)
                parsed.counts.read += len(columns["key"])
                done = first + len(columns["key"])
                parsed.line = done
                # JSON has no numbers of 64 bits everywhere.
                parsed.position = {"row": done, "sums": [str(word) for word in sums.tolist()]}
                yield parsed
        except (arrow.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
            raise _damaged(path, f"after row {done:,}: {error}") from error
    _require_sums(path, part, sums)


def _pieces(file: Any, part: Part, done: int) -> Iterator[tuple[int, Columns]]:
    """Yields the rows after the first ``done``, each piece with the row it begins at."""
    names = [
        name
        for name in schemas()[part.table].names
        if not name.endswith(("_low", "_high")) and name not in ("text", "language", "value_type")
    ]
    groups: list[int] = []
    first = 0
    for group in range(file.num_row_groups):
        rows = file.metadata.row_group(group).num_rows
        if groups or first + rows > done:
            groups.append(group)
        else:
            first += rows
    if not groups:
        return
    for batch in file.iter_batches(batch_size=_ROWS, row_groups=groups, columns=names):
        skipped = max(0, min(done - first, batch.num_rows))
        taken = batch.slice(skipped)
        if taken.num_rows:
            yield first + skipped, {name: taken.column(name).to_pylist() for name in names}
        first += batch.num_rows


def _take(part: Part, columns: Columns, parsed: Parsed, options: LoadOptions) -> Uint64:
    """Adds rows to a piece; returns what they add to ``edges`` and ``content`` (four words)."""
    if part.table == STATEMENTS:
        encoded = encode_statements(statement_rows(columns))
        if options.filters.is_empty and options.redirects == "follow":
            parsed.encoded = encoded
        else:
            # Filters look at statements as such.
            parsed.statements.extend(encoded)
        return encoded.sums
    entities = entity_rows(columns)
    _, added = entity_columns(entities)
    parsed.entities.extend(
        with_terms_in(entity, options.term_languages, parsed.skipped) for entity in entities
    )
    return np.concatenate([np.zeros(2, dtype=np.uint64), added])


def _require_sums(path: Path, part: Part, sums: Uint64) -> None:
    content = fingerprint(sums[2:], part.rows)
    edges = part.edges if part.table == ENTITIES else fingerprint(sums[:2], part.rows)
    if (edges, content) != (part.edges, part.content):
        raise _damaged(
            path,
            f"its rows have the fingerprint {content}, and the manifest says {part.content}",
        )
