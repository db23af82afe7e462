"""Page views beside a graph: kept by entity, as one record a graph, in either store.

They are no statements: they are in no fingerprint, a view does not change them, and a newer
edition of the graph keeps them. A graph takes them along when it is deleted.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graph_service.errors import StoreCorruptError
from graph_service.model.graph import Int64
from graph_service.model.identity import key64
from graph_service.model.pageviews import PageViews
from graph_service.store.protocol import Record, Records

RECORD_KIND = "page-views"
UNKNOWN = -1
"""Stands for a month of which nothing is known; a month without a view has 0."""

_FORMAT = 1


@dataclass(frozen=True, slots=True, eq=False)
class PageViewTable:
    """Views by entity and month.

    Attributes:
        months: In order, ``2021-01`` and so on: [m].
        keys: ``key64`` of each entity's id, int64 [n], ascending.
        views: int64 [n, m]; ``UNKNOWN`` where nothing is known.
        sources: Where the views are from, in order of their first load.
        source_of: Place in ``sources`` of each entity's, int64 [n].
    """

    months: tuple[str, ...]
    keys: Int64
    views: Int64
    sources: tuple[str, ...]
    source_of: Int64

    def means(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Returns the mean monthly views of each entity, over the months known, float64 [n]."""
        known = self.views != UNKNOWN
        counts = known.sum(axis=1)
        totals = np.where(known, self.views, 0).sum(axis=1)
        means: np.ndarray[Any, np.dtype[np.float64]] = totals / np.maximum(1, counts)
        return means

    def find(self, entity: str, /) -> PageViews | None:
        """Returns the views of an entity, or None."""
        key = key64(entity)
        index = int(np.searchsorted(self.keys, key))
        if index == len(self.keys) or int(self.keys[index]) != key:
            return None
        row = self.views[index]
        known = np.flatnonzero(row != UNKNOWN)
        total = int(row[known].sum())
        return PageViews(
            entity=entity,
            mean=total / len(known),
            total=total,
            months=len(known),
            first=self.months[int(known[0])],
            last=self.months[int(known[-1])],
            source=self.sources[int(self.source_of[index])],
        )

    def known(self, entities: Sequence[str], months: Sequence[str], /) -> set[str]:
        """Returns those entities of which all of some months are known."""
        column_of = {month: column for column, month in enumerate(self.months)}
        if not set(months) <= set(column_of):
            return set()
        complete = (self.views[:, [column_of[month] for month in months]] != UNKNOWN).all(axis=1)
        held = set(self.keys[complete].tolist())
        return {entity for entity in entities if key64(entity) in held}


EMPTY = PageViewTable(
    (), np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.int64), (), np.zeros(0, np.int64)
)


def make_table(
    views: Mapping[str, Mapping[str, int]], /, *, months: Sequence[str], source: str
) -> PageViewTable:
    """Returns the table of some entities.

    Args:
        views: Views by entity id and month; a month that is absent has 0.
        months: The months that are known, in order.
        source: Where they are from.
    """
    order = sorted(views, key=key64)
    matrix = np.array(
        [[views[entity].get(month, 0) for month in months] for entity in order], dtype=np.int64
    ).reshape(len(order), len(months))
    keys = np.array([key64(entity) for entity in order], dtype=np.int64)
    return PageViewTable(
        tuple(months), keys, matrix, (source,), np.zeros(len(order), dtype=np.int64)
    )


def merge_tables(old: PageViewTable, new: PageViewTable, /) -> PageViewTable:
    """Returns both tables as one; the months of an entity that the new one knows are the new's."""
    months = tuple(sorted({*old.months, *new.months}))
    keys: Int64 = np.union1d(old.keys, new.keys).astype(np.int64)
    views = np.full((len(keys), len(months)), UNKNOWN, dtype=np.int64)
    sources = tuple(dict.fromkeys([*old.sources, *new.sources]))
    source_of = np.zeros(len(keys), dtype=np.int64)
    for table in (old, new):
        if not len(table.keys):
            continue
        rows = np.searchsorted(keys, table.keys)
        columns = np.searchsorted(months, table.months)
        there = np.ix_(rows, columns)
        views[there] = np.where(table.views == UNKNOWN, views[there], table.views)
        numbers = np.array([sources.index(source) for source in table.sources], dtype=np.int64)
        source_of[rows] = numbers[table.source_of]
    return PageViewTable(months, keys, views, sources, source_of)


def read_page_views(records: Records, graph: str, /) -> PageViewTable:
    """Returns the page views of a graph; an empty table where there are none.

    Raises:
        StoreCorruptError: The record is not one of ours.
    """
    return _table_of(records.get_record(RECORD_KIND, graph), graph)


def _table_of(record: Record | None, graph: str) -> PageViewTable:
    if record is None:
        return EMPTY
    try:
        if record.json["format"] != _FORMAT:
            raise ValueError(f"format {record.json['format']!r}")
        months, sources = tuple(record.json["months"]), tuple(record.json["sources"])
        columns = np.frombuffer(zlib.decompress(record.data), dtype="<i8").astype(np.int64)
        columns = columns.reshape(-1, len(months) + 2)
    except (KeyError, TypeError, ValueError, zlib.error) as error:
        raise StoreCorruptError(
            f"the page views of graph {graph!r} can't be read ({error})",
            hint="Delete them and fetch them again: graph-service pageviews delete --yes",
        ) from error
    return PageViewTable(months, columns[:, 0], columns[:, 2:], sources, columns[:, 1])


def save_page_views(records: Records, graph: str, table: PageViewTable, /) -> None:
    """Saves the page views of a graph, in place of those there are, at once."""
    records.save_record(_record_of(graph, table))


def merge_page_views(records: Records, graph: str, table: PageViewTable, /) -> PageViewTable:
    """Merges a table into the page views of a graph, and returns those that it has then.

    What another process saves at the same moment is merged too.

    Raises:
        StoreCorruptError: What is there can't be read.
    """
    while True:
        record = records.get_record(RECORD_KIND, graph)
        merged = merge_tables(_table_of(record, graph), table)
        version = "" if record is None else record.version
        if records.replace_record(replace(_record_of(graph, merged), version=version)):
            return merged


def _record_of(graph: str, table: PageViewTable) -> Record:
    columns = np.column_stack([table.keys, table.source_of, table.views])
    fields = {
        "format": _FORMAT,
        "months": list(table.months),
        "sources": list(table.sources),
        "entities": len(table.keys),
    }
    data = zlib.compress(columns.astype("<i8").tobytes(), 6)
    return Record(RECORD_KIND, graph, graph, fields, data)


def delete_page_views(records: Records, graph: str, /) -> bool:
    """Deletes the page views of a graph; returns whether there were any."""
    return records.delete_record(RECORD_KIND, graph)
