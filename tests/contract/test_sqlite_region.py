"""A region is read from the file at a cost that follows what is kept of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from graphs import load_graph

from graph_service.doctor.verification import verify_store
from graph_service.model.limits import Cut, CutReason
from graph_service.model.neighbourhood import Neighbourhood
from graph_service.store import neighbourhood
from graph_service.store.sqlite import finish, inspect, region
from graph_service.store.sqlite.store import SqliteStore, open_sqlite

# Q0 has 40 neighbours; each has 30 statements of its own, some of them shared.
ROWS = [("Q0", "P1", f"Q{n}") for n in range(1, 41)] + [
    (f"Q{n}", f"P{place % 3}", f"Q{100 + (n * place) % 500}")
    for n in range(1, 41)
    for place in range(30)
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "graph.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with open_sqlite(path) as opened:
        yield opened


def read(store: SqliteStore, *, max_edges: int = 10_000, hops: int = 2) -> Neighbourhood:
    return store.neighbourhood(
        store.graph("g").edition,
        ["Q0"],
        hops=hops,
        max_edges=max_edges,
        exclude_relation_ids=["P2"],
    )


@pytest.mark.parametrize("most", [1, 41, 100, 500, 5000])
def test_a_hop_read_in_small_steps_keeps_the_same_statements(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    load_graph(store, "g", ROWS)
    whole = read(store)
    assert len(whole.edges) > 600
    found = read(store, max_edges=most)
    with monkeypatch.context() as patch:
        patch.setattr(neighbourhood, "_DEVIATIONS", -(most**0.5) / 2)
        assert read(store, max_edges=most) == found
    with monkeypatch.context() as patch:
        # All at once, as if nothing were known of keys.
        patch.setattr(neighbourhood, "_DEVIATIONS", 1e9)
        assert read(store, max_edges=most) == found
    if most < len(whole.edges):
        assert len(found.edges) == most
        assert found.truncated[0].limit == most


def test_a_hop_reads_little_more_than_it_keeps(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_graph(store, "g", ROWS)
    there = len(read(store).edges)
    rows = 0
    select = region._Neighbours._select

    def counted(self: Any, template: str, values: Any) -> list[Any]:
        nonlocal rows
        found = select(self, template, values)
        rows += len(found) if "BETWEEN" in template else 0
        return found

    monkeypatch.setattr(region._Neighbours, "_select", counted)
    found = read(store, max_edges=100)
    assert found.truncated == (Cut("edges", CutReason.LIMIT, 100, 100, there),)
    # The filter leaves a third of them out, and the first hop is among the second's.
    assert rows < 400 < there / 2


def test_degrees_of_hubs_are_those_that_were_counted(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_graph(store, "g", ROWS)
    wanted = read(store)
    assert wanted.degrees["Q0"] == 40
    for module in (finish, inspect):
        monkeypatch.setattr(module, "HUB_STATEMENTS", 3)
    load_graph(store, "g", [("Q1", "P1", "Q2")])
    number = store.graph("g").edition.rpartition("@")[2]
    with closing(sqlite3.connect(path)) as other:
        hubs = dict(other.execute(f"SELECT key, degree FROM hubs_{number}").fetchall())
        assert 41 < len(hubs) < len(wanted.degrees)
        again = read(store)
        changed = {
            id_: degree for id_, degree in again.degrees.items() if degree != wanted.degrees[id_]
        }
        assert not changed.keys() - {"Q1", "Q2"}
        with other:
            other.execute(f"UPDATE hubs_{number} SET degree = 1000 + degree")
        assert sum(degree > 1000 for degree in read(store).degrees.values()) > 41
        assert "degrees" in {item.part for item in verify_store(store, graph="g") if item.fault}
        with other:
            # As in an edition that an earlier version made.
            other.execute(f"DROP TABLE hubs_{number}")
        assert read(store) == again
    assert not [item for item in verify_store(store, graph="g") if item.fault]
