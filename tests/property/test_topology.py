"""What joins what, packed: as the plain columns say, whatever the graph (B10)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from graph_builder import build_graph
from hypothesis import given
from hypothesis import strategies as st

from graph_service.model import topology
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.graph_info import GraphCounts, GraphInfo
from graph_service.model.topology import (
    Codes,
    EdgeHeads,
    RankedBits,
    Topology,
    edge_order,
)
from graph_service.store.snapshot.file import open_snapshot, write_snapshot

ENTITIES, RELATIONS = 150, 5
rows = st.lists(
    st.tuples(
        st.integers(0, ENTITIES - 1),
        st.integers(0, RELATIONS - 1),
        st.one_of(st.integers(0, ENTITIES - 1), st.none()),
    ),
    max_size=300,
)
Row = tuple[int, int, int | None]
Columns = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def columns(statements: list[Row], seed: int) -> Columns:
    """Head, relation, tail and key of each statement in the order of edges; None is a literal."""
    draw = np.random.default_rng(seed)
    keys = draw.permutation(np.arange(-200, 200, dtype=np.int64))[: len(statements)]
    head = np.array([row[0] for row in statements], dtype=np.int32)
    order = edge_order(head, keys)
    literals = sorted(
        key for key, row in zip(keys.tolist(), statements, strict=True) if row[2] is None
    )
    tail = [
        ENTITIES + literals.index(key) if row[2] is None else row[2]
        for key, row in zip(keys.tolist(), statements, strict=True)
    ]
    rel = np.array([row[1] for row in statements], dtype=np.int32)
    return head[order], rel[order], np.array(tail, dtype=np.int32)[order], keys[order]


def packed(made: Columns) -> Topology:
    head, rel, tail, keys = made
    return Topology.build(
        head,
        rel,
        tail,
        keys,
        entity_count=ENTITIES,
        node_count=ENTITIES + int((tail >= ENTITIES).sum()),
        relation_count=RELATIONS,
    )


def assert_says(found: Topology, made: Columns) -> None:
    """Compares everything that can be asked with the plain columns."""
    head, rel, tail, keys = made
    everything = np.arange(len(head))
    some = everything[::3][::-1].astype(np.int32)
    for column, plain in ((found.head, head), (found.rel, rel)):
        assert len(column) == len(plain)
        assert column[:].tolist() == column[everything].tolist() == plain.tolist()
        assert column[some].tolist() == plain[some].tolist()
        assert column[2:5].tolist() == plain[2:5].tolist()
        assert column[plain > 1].tolist() == plain[plain > 1].tolist()
        assert [column[edge] for edge in everything.tolist()] == plain.tolist()
        assert {column[:].dtype, column[some].dtype} == {np.dtype(np.int32)}
    assert keys[found.key_order].tolist() == sorted(keys.tolist())
    node_count = found.out_edges.node_count
    for adjacency, ends in ((found.out_edges, head), (found.in_edges, tail)):
        each = [np.flatnonzero(ends == node) for node in range(node_count)]
        each = [edges[np.argsort(keys[edges])].tolist() for edges in each]
        nodes = np.arange(node_count)[::-1].astype(np.int32)
        assert adjacency.degrees().tolist() == [len(edges) for edges in each]
        assert adjacency.degrees_of(nodes).tolist() == [len(edges) for edges in each[::-1]]
        assert [adjacency.of(node).tolist() for node in range(node_count)] == each
        for most in (None, 1):
            edges, owner = adjacency.gather(nodes, most=most)
            wanted = [edges[:most] for edges in each[::-1]]
            assert edges.tolist() == [edge for some in wanted for edge in some]
            assert owner.tolist() == [at for at, some in enumerate(wanted) for _ in some]


@given(statements=rows, seed=st.integers(0, 9))
def test_packed_columns_say_what_the_plain_ones_do(statements: list[Row], seed: int) -> None:
    made = columns(statements, seed)
    assert_says(packed(made), made)


@given(statements=rows)
def test_past_31_bits_edges_have_64_and_nothing_else_changes(statements: list[Row]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topology, "MOST_32_BIT", 2)
        made = columns(statements, 1)
        found = packed(made)
    if len(statements) > 2:
        assert found.key_order.dtype == found.out_edges.begins.dtype == np.int64
        assert found.in_edges.edges is not None
        assert (
            found.in_edges.edges.dtype == found.out_edges.edges_of(np.array([0])).dtype == np.int64
        )
    assert_says(found, made)


@pytest.mark.parametrize(
    ("count", "dtype"), [(256, np.uint8), (257, np.uint16), (70_000, np.int32)]
)
def test_codes_take_the_bytes_that_the_largest_needs(count: int, dtype: type) -> None:
    codes = Codes.pack(np.array([0, count - 1], dtype=np.int32), count=count)
    assert codes.data.dtype == dtype
    assert codes[:].tolist() == [0, count - 1]
    # Sums of what is read do not overflow.
    assert (codes[:] + codes[:]).tolist() == [0, 2 * count - 2]


def test_nobody_computes_with_a_column_by_mistake() -> None:
    heads = EdgeHeads.pack(np.array([0, 0, 1], dtype=np.int32))
    with pytest.raises(TypeError):
        _ = heads + np.arange(3)
    with pytest.raises(TypeError):
        _ = np.equal(heads, 1)
    with pytest.raises(TypeError):
        _ = [*heads]  # type: ignore[misc]
    assert np.asarray(heads).tolist() == [0, 0, 1]


def graph() -> KnowledgeGraph:
    return build_graph([(f"Q{n % 9}", f"P{n % 4}", f"Q{n * n % 13}") for n in range(60)])


def test_keys_and_ids_find_their_edges() -> None:
    built = graph()
    edges = np.arange(built.edge_count)
    assert [built.find_edge(id_) for id_ in built.statement_ids] == edges.tolist()
    assert built.find_edge("none") is None
    keys = built.statement_keys
    assert built.has_keys(np.concatenate([keys, keys + 1])).tolist() == [True] * 60 + [False] * 60
    assert built.has_keys(np.array([np.iinfo(np.int64).max, np.iinfo(np.int64).min])).sum() == 0
    assert not build_graph([], extra_entities=["Q1"]).has_keys(keys).any()
    by_key = built.topology.key_order
    assert built.key_ranks(by_key).tolist() == edges.tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graph_service.model.graph._FEW", 1)
        assert built.key_ranks(by_key[5:]).tolist() == edges[5:].tolist()
    assert np.all(np.diff(keys[built.in_key_order(edges)]) > 0)


@given(
    members=st.sets(st.integers(0, 299)),
    count=st.integers(300, 400),
    numbers=st.lists(st.integers(0, 299), max_size=50),
)
def test_ranked_bits_count_members(members: set[int], count: int, numbers: list[int]) -> None:
    bits = RankedBits.of(np.array(sorted(members), dtype=np.int64), count=count)
    assert bits.members().tolist() == sorted(members)
    asked = np.array(numbers, dtype=np.int32)
    below = [sum(one < number for one in members) for number in numbers]
    up_to = [sum(one <= number for one in members) for number in numbers]
    assert bits.members_up_to(asked).tolist() == up_to
    assert [part.tolist() for part in bits.span(asked)] == [below, up_to]


@pytest.mark.parametrize("alone", [0, 140])
def test_topology_takes_twelve_bytes_a_statement_and_comes_back_from_a_file(
    tmp_path: Path, alone: int
) -> None:
    """At six statements an entity; and at three, half of them named by no statement."""
    edges = [(f"Q{n % 150}", f"P{n % 40}", f"Q{n * n % 151}") for n in range(900)]
    built = build_graph(edges, extra_entities=[f"Q{1000 + n}" for n in range(alone)])
    part = built.topology
    assert part.in_edges.edges is not None
    arrays = [part.head.heads, part.rel.data, part.tail, part.in_edges.edges]
    arrays += [part.out_edges.begins, part.in_edges.begins]
    for bits in (part.head.first, part.out_edges.joined, part.in_edges.joined):
        arrays += [bits.words, bits.before]
    assert sum(array.nbytes for array in arrays) <= 12 * built.edge_count
    path = tmp_path / "g.snapshot"
    with path.open("wb") as file:
        write_snapshot(built, file)
    counts = GraphCounts(built.entity_count, built.edge_count, built.relation_count, 0)
    info = GraphInfo("test", "test@1", counts, built.fingerprints, "", "", {}, "", {})
    again, _ = open_snapshot(path, info)
    assert again.head[:].tolist() == built.head[:].tolist()
    assert again.rel[:].tolist() == built.rel[:].tolist()
    for node in range(built.node_count):
        assert again.in_edges.of(node).tolist() == built.in_edges.of(node).tolist()
        assert again.out_edges.of(node).tolist() == built.out_edges.of(node).tolist()
