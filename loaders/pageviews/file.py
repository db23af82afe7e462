"""Tables of page views: entity or title, month, views, with tabs between."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field

import numpy as np

from graph_service.errors import InputError
from graph_service.model.graph import Int64
from graph_service.model.identity import check_text
from loaders.items import Reject, excerpt
from loaders.source import ByteSource, line_blocks

# As people write a month, and as the API's timestamps have it: 2021-01, 202101, 20210100, 2021010100.
_MONTH = re.compile(r"(\d{4})-?(0[1-9]|1[0-2])(?:-?\d\d){0,2}")
_MAX_VIEWS = 10**15


@dataclass(slots=True)
class ViewRows:
    """What a table holds, by name.

    Attributes:
        names: Distinct names, in order of their first line.
        months: Distinct months, in order.
        views: Views of each name and month, int64 [names, months]; 0 where no line gives any.
        rejects: Lines that were not taken.
    """

    names: list[str] = field(default_factory=list)
    months: tuple[str, ...] = ()
    views: Int64 = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    rejects: list[Reject] = field(default_factory=list)


def read_view_rows(source: ByteSource, /) -> ViewRows:
    """Returns the rows of a table; a first line whose third column is no number is a header.

    A line that can't be read is rejected, and so is a second one of the same name and month.
    """
    table = ViewRows()
    name_rows: dict[str, int] = {}
    month_columns: dict[str, int] = {}
    seen: set[tuple[int, int]] = set()
    columns = (array("q"), array("q"), array("q"))
    for block in line_blocks(source):
        if block.problem:
            table.rejects.append(Reject(source.name, block.line, block.offset, block.problem))
            continue
        next_offset, next_line = block.offset, block.line
        for raw in block.data.split(b"\n"):
            offset, line, next_offset, next_line = (
                next_offset,
                next_line,
                next_offset + len(raw) + 1,
                next_line + 1,
            )
            text = raw.removeprefix(b"\xef\xbb\xbf") if offset == 0 else raw
            if not text.strip():
                continue
            try:
                name, month, views = _row(text)
                row = name_rows.setdefault(name, len(name_rows))
                column = month_columns.setdefault(month, len(month_columns))
                if (row, column) in seen:
                    raise InputError(f"the views of {name!r} in {month} were given before")
            except InputError as error:
                # A header is no reject, and nothing that should be loaded.
                if line > 1 or not _is_header(text):
                    table.rejects.append(
                        Reject(source.name, line, offset, error.message, excerpt(raw))
                    )
                continue
            seen.add((row, column))
            for values, value in zip(columns, (row, column, views), strict=True):
                values.append(value)
    table.names = list(name_rows)
    table.months = tuple(sorted(month_columns))
    order = np.searchsorted(table.months, list(month_columns)) if month_columns else np.zeros(0)
    table.views = np.zeros((len(name_rows), len(month_columns)), dtype=np.int64)
    rows, months, counts = (np.array(values, dtype=np.int64) for values in columns)
    table.views[rows, order.astype(np.int64)[months]] = counts
    return table


def _row(line: bytes) -> tuple[str, str, int]:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8: byte {error.start} of the line") from error
    columns = [column.strip() for column in text.split("\t")]
    if len(columns) != 3 or not columns[0]:
        raise InputError(
            f"expected entity or title, month and views with tabs between, got {len(columns)} "
            "columns"
        )
    name, when, views = columns
    check_text(name, what="a name")
    month = _MONTH.fullmatch(when)
    if month is None:
        raise InputError(f"expected a month such as 2021-01, got {when[:40]!r}")
    if not (views.isascii() and views.isdecimal()) or int(views[:20]) > _MAX_VIEWS:
        raise InputError(f"expected a number of views, got {views[:40]!r}")
    return name, f"{month[1]}-{month[2]}", int(views)


def _is_header(line: bytes) -> bool:
    columns = line.split(b"\t")
    return len(columns) == 3 and not any(character in b"0123456789" for character in columns[2])
