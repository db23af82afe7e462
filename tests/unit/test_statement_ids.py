"""Ids of statements in 16 bytes each: every id comes back as it was."""

from __future__ import annotations

import itertools
import logging
from pathlib import Path

import numpy as np
import pytest
from graphs import load_graph, sample_entities, sample_statements
from hypothesis import given
from hypothesis import strategies as st

from graph_service.model import statement_ids
from graph_service.model.graph import StringTable
from graph_service.model.statement_ids import CONTENT, GUID, OTHER, StatementIds
from graph_service.store.snapshot.file import FORMAT
from graph_service.store.sqlite.store import open_sqlite

HASH = "0123456789abcdef" * 2
UUID = "F078E5B3-F9A8-480E-B7AC-D97778CBBEF9"
HEADS = ("Q42", "Q4", "", "http://example.org/é")


@pytest.mark.parametrize(
    ("id_", "head", "form"),
    [
        (HASH, 0, CONTENT),
        (HASH.upper(), 0, OTHER),
        (HASH[:-1], 0, OTHER),
        (HASH[:-1] + "g", 0, OTHER),
        (f"Q42${UUID}", 0, GUID),
        (f"Q42${UUID}", 1, OTHER),
        (f"Q4${UUID}", 1, GUID),
        (f"q42${UUID}", 0, OTHER),
        (f"Q42-{UUID}", 0, OTHER),
        (f"Q42${UUID.lower()}", 0, OTHER),
        (f"Q42${UUID.replace('-', '_')}", 0, OTHER),
        (f"Q42${UUID}0", 0, OTHER),
        (f"${UUID}", 2, GUID),
        (f"http://example.org/é${UUID}", 3, GUID),
        (f"http://example.org/e${UUID}", 3, OTHER),
        ("", 0, OTHER),
        ("a name", 0, OTHER),
    ],
)
def test_each_form_is_told_and_comes_back(id_: str, head: int, form: int) -> None:
    """Among others, so that no place is mistaken for another."""
    texts = ["x", id_, HASH, "y"]
    heads = np.array([1, head, 0, 1], dtype=np.int32)
    found = StatementIds.pack(StringTable.build(texts), heads, StringTable.build(HEADS))
    assert found.forms.tolist() == [OTHER, form, CONTENT, OTHER]
    assert list(found) == texts
    assert found.take([3, 1, 1]) == ["y", id_, id_]
    assert len(found.others) == 2 + (form == OTHER)


ids = st.one_of(
    st.text(max_size=8),
    st.text("0123456789abcdef", min_size=32, max_size=32),
    st.tuples(st.sampled_from(HEADS), st.uuids()).map(lambda it: f"{it[0]}${str(it[1]).upper()}"),
)


@given(rows=st.lists(st.tuples(ids, st.integers(0, len(HEADS) - 1)), max_size=30))
def test_any_ids_come_back(rows: list[tuple[str, int]]) -> None:
    texts = StringTable.build([text for text, _ in rows])
    heads = np.array([head for _, head in rows], dtype=np.int32)
    assert list(StatementIds.pack(texts, heads, StringTable.build(HEADS))) == list(texts)


@given(
    rows=st.lists(st.tuples(ids, st.integers(0, len(HEADS) - 1)), max_size=30),
    cuts=st.lists(st.integers(0, 30), max_size=3),
    seed=st.integers(0, 99),
)
def test_tables_join_in_any_order(rows: list[tuple[str, int]], cuts: list[int], seed: int) -> None:
    """And to the same bytes as the ids that are packed at once in that order."""
    node_ids = StringTable.build(HEADS)

    def packed(some: list[tuple[str, int]]) -> StatementIds:
        heads = np.array([head for _, head in some], dtype=np.int32)
        return StatementIds.pack(StringTable.build(text for text, _ in some), heads, node_ids)

    bounds = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    parts = [packed(rows[a:b]) for a, b in itertools.pairwise(bounds)]
    order = np.random.default_rng(seed).permutation(len(rows))
    wanted = packed([rows[place] for place in order.tolist()])
    found = StatementIds.join(parts, order, wanted.heads, node_ids)
    assert list(found) == [rows[place][0] for place in order.tolist()]
    for name in ("numbers", "forms"):
        assert np.array_equal(getattr(found, name), getattr(wanted, name))
    assert list(found.others) == list(wanted.others)


def test_many_are_packed_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statement_ids, "_STEP", 3)
    texts = [f"{number:032x}" if number % 3 else f"Q4${UUID}" for number in range(20)]
    heads = np.ones(20, dtype=np.int32)
    found = StatementIds.pack(StringTable.build(texts), heads, StringTable.build(HEADS))
    assert list(found) == texts
    assert OTHER not in found.forms
    with pytest.raises(IndexError):
        found[20]
    with pytest.raises(IndexError):
        found[-1]


def test_a_snapshot_of_another_format_is_built_again_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with open_sqlite(tmp_path / "graph.db") as store:
        info = load_graph(store, "g", sample_statements(), sample_entities())
        graph = store.snapshot(info)
        assert sorted(graph.statement_ids) == sorted(one.id for one in sample_statements())
        place = store.snapshots.path_of(info)
        earlier = place.with_name(place.name.replace(f"{FORMAT}-", f"{FORMAT - 1}-", 1))
        place.rename(earlier)
        with caplog.at_level(logging.WARNING, "graph_service"):
            store.snapshot(info)
        assert f"{earlier.name} is of" in caplog.text
        assert place.exists()
        caplog.clear()
        store.snapshot(info)
        assert not caplog.text
