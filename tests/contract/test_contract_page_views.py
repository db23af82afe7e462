"""Both stores keep page views alike (L1)."""

from __future__ import annotations

import pytest
from graphs import load_graph

from graph_service.errors import StoreCorruptError
from graph_service.store.page_views import (
    RECORD_KIND,
    make_table,
    merge_page_views,
    read_page_views,
    save_page_views,
)
from graph_service.store.protocol import Record, Store

MONTHS = ("2021-01", "2021-02", "2021-03")


def test_views_go_with_their_graph(store: Store, graph_name: str) -> None:
    """L1: in both stores: kept whole, over editions, until the graph is deleted; a record that is
    damaged is said to be.
    """
    before = load_graph(store, graph_name, [("Q1", "P1", "Q2")])
    table = make_table({"Q1": {"2021-01": 2**40}}, months=MONTHS, source="s")
    save_page_views(store, graph_name, table)
    after = load_graph(store, graph_name, [("Q1", "P1", "Q3")])
    assert after.fingerprints != before.fingerprints
    found = read_page_views(store, graph_name).find("Q1")
    assert found is not None
    assert (found.total, found.months) == (2**40, 3)
    store.save_record(Record(RECORD_KIND, graph_name, graph_name, {"format": 1}, b"x"))
    with pytest.raises(StoreCorruptError, match="pageviews delete"):
        read_page_views(store, graph_name)
    store.delete_graph(graph_name)
    assert store.get_record(RECORD_KIND, graph_name) is None


def test_page_views_that_two_processes_merge_at_once_are_all_there(
    store: Store, graph_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_graph(store, graph_name, [("Q1", "P1", "Q2")])
    tables = [
        make_table({id_: {"2021-01": 7}}, months=MONTHS, source=id_) for id_ in ("Q1", "Q2", "Q3")
    ]
    merge_page_views(store, graph_name, tables[0])
    replace_record = store.replace_record

    def late(record: Record, /) -> bool:
        """Lets another writer be first, once."""
        monkeypatch.setattr(store, "replace_record", replace_record)
        merge_page_views(store, graph_name, tables[1])
        return replace_record(record)

    monkeypatch.setattr(store, "replace_record", late)
    merged = merge_page_views(store, graph_name, tables[2])
    saved = read_page_views(store, graph_name)
    assert len(merged.keys) == len(saved.keys) == 3
    assert saved.sources == ("Q1", "Q2", "Q3")
