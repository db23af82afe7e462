"""DataFrames as tables of things."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace as with_fields
from pathlib import Path
from typing import Any, Protocol, cast

from graph_service.errors import InputError
from graph_service.store.protocol import Store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.report import LoadReport
from loaders.tables.mapping import AUTO, TablesRequest
from loaders.tables.typed_cells import cell_text


class Frame(Protocol):
    """A DataFrame of pandas, or of Polars."""

    @property
    def columns(self) -> Iterable[Any]:
        """The names of the columns."""


def load_frames(
    frames: Mapping[str, Frame],
    /,
    *,
    store: Store,
    graph: str,
    row: str | None = None,
    request: TablesRequest | None = None,
    replace: bool = False,
    options: LoadOptions | None = None,
) -> LoadReport:
    """Loads DataFrames into a graph, a row a thing, and publishes it.

    A load of frames that is interrupted begins again.

    Args:
        frames: By the name of their table, such as ``parts``; each may refer to the others.
        store: Where to.
        graph: Name of the graph.
        row: The column that names the rows; None to look.
        request: What a mapping says of the tables, which are named ``parts.csv``.
        replace: Whether the graph is to hold these frames alone.
        options: How they are read.

    Raises:
        InputError: A frame has no rows, or nothing tells what its rows are.
    """
    with tempfile.TemporaryDirectory(prefix="graph-service-frames-") as folder:
        for name, frame in frames.items():
            _write(Path(folder) / f"{name}.csv", frame)
        source = Path(folder)
        if len(frames) == 1:
            source = source / f"{next(iter(frames))}.csv"
        options = with_fields(options or LoadOptions(), row=row or AUTO, tables_request=request)
        return load(source, store=store, graph=graph, replace=replace, options=options)


def _write(path: Path, frame: Frame) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow([str(name) for name in frame.columns])
        for row in _rows(frame):
            writer.writerow([_text(value) for value in row])


def _rows(frame: Any) -> Iterable[Sequence[Any]]:
    if hasattr(frame, "itertuples"):
        return cast(Iterable[Sequence[Any]], frame.itertuples(index=False, name=None))
    if hasattr(frame, "iter_rows"):
        return cast(Iterable[Sequence[Any]], frame.iter_rows())
    raise InputError(f"expected a DataFrame of pandas or Polars, got {type(frame).__name__}")


def _text(value: Any) -> str:
    # Arrays and numbers of numpy, and series of Polars, become Python's.
    for name in ("tolist", "to_list"):
        if hasattr(value, name):
            value = getattr(value, name)()
            break
    # What is missing differs from itself (NaN, NaT), or can't be compared (pandas.NA).
    try:
        is_missing = bool(value != value)
    except (TypeError, ValueError):
        is_missing = True
    return "" if is_missing else cell_text(value)
