"""Grown data: as many statements as asked for, the same for one seed, hubs that grow along (B10)."""

from __future__ import annotations

import io
from collections import Counter
from itertools import pairwise
from pathlib import Path

import orjson
import pytest
from graphs import load_graph, sample_entities, sample_statements

from benchmarks.growing import (
    Base,
    Described,
    bytes_by_part,
    grow,
    grown_arrays,
    read_base,
    write_ntriples,
    write_wikibase_json,
)
from graph_service.export.content import ExportedGraph
from graph_service.model.statement import Statement, make_statement
from graph_service.model.values import EntityValue, UnknownValue
from graph_service.store.protocol import Store
from graph_service.store.snapshot.file import arrays_of
from loaders.load import load
from loaders.options import LoadOptions


@pytest.fixture
def base(tmp_store: Store) -> Base:
    # Wikibase's JSON has no form for a value of an unknown type.
    known = [one for one in sample_statements() if not isinstance(one.value, UnknownValue)]
    info = load_graph(tmp_store, "base", known, sample_entities())
    return read_base(tmp_store, info.edition)


def statements(found: list[Described]) -> list[Statement]:
    return [each for one in found for each in one.statements]


def test_it_has_as_many_statements_as_asked_for_and_the_same_for_one_seed(base: Base) -> None:
    size = len(statements(list(base.entities)))
    for count in (1, size, 3 * size + 1):
        found = statements(list(grow(base, count, random_seed=1)))
        assert len(found) == count
        assert len({each.id for each in found}) == count
        assert found == statements(list(grow(base, count, random_seed=1)))
    again = statements(list(grow(base, 3 * size + 1, random_seed=2)))
    assert again[:size] == found[:size]
    assert again != found


def test_a_copy_keeps_values_ranks_and_qualifiers(base: Base) -> None:
    size = len(statements(list(base.entities)))
    found = statements(list(grow(base, 2 * size, random_seed=1)))
    for one, copied in zip(found[:size], found[size:], strict=True):
        assert (one.relation, one.rank, one.qualifiers) == (
            copied.relation,
            copied.rank,
            copied.qualifiers,
        )
        assert one.head != copied.head
        if not isinstance(one.value, EntityValue):
            assert one.value == copied.value


def test_hubs_grow_with_the_graph_and_others_do_not(tmp_store: Store) -> None:
    """500 statements name one entity; the most named of the others is named once."""
    info = load_graph(
        tmp_store,
        "star",
        [
            make_statement(f"Q{number}", f"P{place}", EntityValue(tail))
            for number in range(100, 600)
            for place, tail in ((1, "Q5"), (2, f"Q{number + 1_000}"))
        ],
    )
    base = read_base(tmp_store, info.edition)
    found = statements(list(grow(base, 8_000, random_seed=1)))
    degrees = Counter(each.value.id for each in found if isinstance(each.value, EntityValue))
    ordered = [count for _, count in degrees.most_common()]
    assert degrees["Q5"] > 0.9 * 500 * 8
    assert all(more >= less for more, less in pairwise(ordered))
    assert ordered[-1] == 1


def test_json_comes_back_whole(base: Base, tmp_store: Store, tmp_path: Path) -> None:
    out = io.BytesIO()
    count = 2 * len(statements(list(base.entities)))
    write_wikibase_json(grow(base, count, random_seed=1), out)
    assert len(orjson.loads(out.getvalue())) == len(list(grow(base, count, random_seed=1)))
    path = tmp_path / "grown.json"
    path.write_bytes(out.getvalue())
    report = load(str(path), store=tmp_store, graph="back", options=LoadOptions(workers=0))
    assert (report.rejected, report.read_statements) == (0, count)


def test_ntriples_come_back_but_for_what_they_do_not_hold(
    base: Base, tmp_store: Store, tmp_path: Path
) -> None:
    out = io.BytesIO()
    like = ExportedGraph(tmp_store, tmp_store.graph("base"))
    write_ntriples(grow(base, 60, random_seed=1), out, like)
    path = tmp_path / "grown.nt"
    path.write_bytes(out.getvalue())
    report = load(str(path), store=tmp_store, graph="back", options=LoadOptions(workers=0))
    assert report.rejected == 0
    assert 0 < report.read_statements <= 60


def test_grown_arrays_are_those_of_the_grown_statements(base: Base, tmp_store: Store) -> None:
    info = tmp_store.graph("base")
    for count in (5, 40):
        found = statements(list(grow(base, count, random_seed=1)))
        graph = grown_arrays(base, count, info, random_seed=1)
        assert sorted(graph.statement_ids) == sorted(each.id for each in found)
        ids = graph.node_ids
        assert {
            (ids[head], ids[tail])
            for head, tail in zip(graph.head[:].tolist(), graph.tail.tolist(), strict=True)
            if tail < graph.entity_count
        } == {(each.head, each.value.id) for each in found if isinstance(each.value, EntityValue)}


def test_every_byte_of_a_snapshot_is_in_one_part(base: Base, tmp_store: Store) -> None:
    graph = tmp_store.snapshot(tmp_store.graph("base"))
    found = bytes_by_part(graph)
    assert sum(found.values()) == sum(array.nbytes for array in arrays_of(graph).values())
    assert all(found.values())
