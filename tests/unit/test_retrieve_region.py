"""Cutting a region out of a graph or a view (O3), by hand and against a plain walk."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from graph_builder import build_graph
from hypothesis import given
from hypothesis import strategies as st

from graph_service.errors import DeadlineError, InputError
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.identity import key64
from graph_service.model.limits import CutReason, Deadline
from graph_service.model.overlay import EdgeSet, Overlay
from graph_service.model.region import Region
from graph_service.model.statement import Rank
from graph_service.model.values import EntityValue, SomeValue, StringValue, encode_value
from graph_service.retrieve.region.cut import extract_region, induced, prizeable


def overlay_of(
    graph: KnowledgeGraph,
    *,
    gone: list[int],
    extra: list[tuple[int, int, int]],
    new_nodes: tuple[str, ...] = (),
) -> Overlay:
    ids = [f"extra-{row}" for row in range(len(extra))]
    order = sorted(range(len(ids)), key=lambda row: key64(ids[row]))
    columns = np.array([extra[row] for row in order], dtype=np.int32).reshape(-1, 3)
    return Overlay(
        view_id="v",
        gone=EdgeSet.of(np.array(gone, dtype=np.int32), graph.edge_count),
        head=columns[:, 0],
        rel=columns[:, 1],
        tail=columns[:, 2],
        rank=np.ones(len(extra), dtype=np.uint8),
        keys=np.array([key64(ids[row]) for row in order], dtype=np.int64),
        statement_ids=tuple(ids[row] for row in order),
        base_edge=np.full(len(extra), -1, dtype=np.int32),
        best=np.ones(len(extra), dtype=np.bool_),
        kinds=np.full(len(extra), 3, dtype=np.uint8),
        new_nodes=new_nodes,
    )


def node(graph: KnowledgeGraph, id_: str) -> int:
    found = graph.find_node(id_)
    assert found is not None
    return found


def triples(graph: KnowledgeGraph, region: Region) -> set[tuple[str, str]]:
    """Head and tail of each edge of the region, by id; new nodes as ``new``."""

    def name(number: int) -> str:
        return graph.node_ids[number] if number < graph.node_count else "new"

    return {
        (name(int(region.nodes[h])), name(int(region.nodes[t])))
        for h, t in zip(region.head, region.tail, strict=True)
    }


@pytest.fixture(scope="module")
def family() -> KnowledgeGraph:
    return build_graph(
        [
            ("a", "child", "b"),
            ("c", "child", "b"),
            ("c", "lives", "hub"),
            ("d", "lives", "hub"),
            ("e", "lives", "hub"),
            ("f", "lives", "hub"),
            ("b", "born", StringValue("1917")),
            ("b", "died", SomeValue()),
            ("a", "child", "g"),
            ("a", "child", "h"),
        ],
        ranks={8: Rank.DEPRECATED, 9: Rank.PREFERRED},
    )


def test_both_ways_hop_by_hop(family: KnowledgeGraph) -> None:
    one = extract_region(family, [node(family, "a")], hops=1, max_edges=100)
    assert triples(family, one) == {("a", "b"), ("a", "h")}
    two = extract_region(family, [node(family, "a")], hops=2, max_edges=100)
    assert two.edge_count == 5
    assert two.hops[two.start_entities].tolist() == [0]
    assert sorted(two.hops.tolist()) == [0, 1, 1, 2, 2, 2]
    assert (np.diff(two.edge_keys) > 0).all()
    assert (np.diff(two.nodes) > 0).all()
    entity = ~two.literal
    assert two.node_keys[entity].tolist() == family.node_keys[two.nodes[entity]].tolist()
    ends = np.isin(two.tail, np.flatnonzero(two.literal))
    assert two.node_keys[two.literal].tolist() == two.edge_keys[ends].tolist()
    assert two.degrees.tolist() == family.degrees()[two.nodes].tolist()
    assert int(two.literal.sum()) == 2


def test_a_node_of_no_known_value_has_no_prize(family: KnowledgeGraph) -> None:
    region = extract_region(family, [node(family, "b")], hops=1, max_edges=100)
    may = prizeable(family, None, region)
    assert int((~may).sum()) == 1
    assert region.literal[~may].all()


def test_hubs_are_reached_and_not_walked_through_unless_asked_for(family: KnowledgeGraph) -> None:
    region = extract_region(family, [node(family, "c")], hops=2, max_edges=100, hub_degree=3)
    assert ("c", "hub") in triples(family, region)
    assert ("d", "hub") not in triples(family, region)
    hubs = [cut for cut in region.cuts if cut.reason is CutReason.HUB]
    # b has five edges (two children of, two literals) and is over the limit as well.
    assert [(cut.limit, cut.total) for cut in hubs] == [(3, 2)]
    region = extract_region(family, [node(family, "hub")], hops=1, max_edges=100, hub_degree=1)
    assert region.edge_count == 4


def test_ranks_and_relations_filter(family: KnowledgeGraph) -> None:
    a = [node(family, "a")]
    every = extract_region(family, a, hops=1, max_edges=9, ranks=(0, 1, 2))
    assert every.edge_count == 3
    best = extract_region(family, a, hops=1, max_edges=9, best_only=True)
    assert triples(family, best) == {("a", "h")}
    child = np.array([family.find_relation("child")], dtype=np.int32)
    b = [node(family, "b")]
    only = extract_region(family, b, hops=1, max_edges=9, relation_filter=(child, None))
    assert triples(family, only) == {("a", "b"), ("c", "b")}
    without = extract_region(family, b, hops=1, max_edges=9, relation_filter=(None, child))
    assert without.edge_count == 2
    assert without.literal.sum() == 2


def test_a_cap_keeps_fewer_hops_then_smaller_keys(family: KnowledgeGraph) -> None:
    a = [node(family, "a")]
    whole = extract_region(family, a, hops=2, max_edges=100)
    first = extract_region(family, a, hops=1, max_edges=100)
    capped = extract_region(family, a, hops=2, max_edges=3)
    later = sorted(set(whole.edge_keys.tolist()) - set(first.edge_keys.tolist()))
    assert capped.edge_keys.tolist() == sorted([*first.edge_keys.tolist(), later[0]])
    assert [(cut.what, cut.kept, cut.total) for cut in capped.cuts] == [("edges", 3, 5)]


def test_a_view_is_walked_from_both_ends(family: KnowledgeGraph) -> None:
    lost = next(
        edge
        for edge in range(family.edge_count)
        if family.head[edge] == node(family, "a") and family.tail[edge] == node(family, "b")
    )
    rel = int(family.rel[lost])
    new = family.node_count
    overlay = overlay_of(
        family,
        gone=[lost],
        extra=[(node(family, "a"), rel, node(family, "d")), (node(family, "d"), rel, new)],
        new_nodes=(encode_value(EntityValue("new")),),
    )
    found = extract_region(family, [node(family, "a")], hops=2, max_edges=9, overlay=overlay)
    assert triples(family, found) == {("a", "d"), ("a", "h"), ("d", "new"), ("d", "hub")}
    assert (np.diff(found.edge_keys) > 0).all()
    assert set(found.edges.tolist()) > {family.edge_count, family.edge_count + 1}
    back = extract_region(family, [new], hops=1, max_edges=9, overlay=overlay)
    assert triples(family, back) == {("d", "new")}
    assert back.node_keys[back.nodes == new].tolist() == [key64("new")]
    assert back.degrees[back.nodes == new].tolist() == [0]
    assert not back.literal.any()


def test_a_views_new_literal_is_an_end(family: KnowledgeGraph) -> None:
    overlay = overlay_of(
        family,
        gone=[],
        extra=[(node(family, "d"), 0, family.node_count)],
        new_nodes=(encode_value(StringValue("x")),),
    )
    found = extract_region(family, [node(family, "d")], hops=1, max_edges=9, overlay=overlay)
    literal = found.nodes == family.node_count
    assert found.literal[literal].tolist() == [True]
    assert found.node_keys[literal].tolist() == overlay.keys.tolist()
    with pytest.raises(InputError, match="no entity"):
        extract_region(family, [family.node_count], hops=1, max_edges=9, overlay=overlay)


def test_bad_seeds_and_a_past_deadline(family: KnowledgeGraph) -> None:
    for start_entities in ([], [-1], [family.node_count], [family.entity_count]):
        with pytest.raises(InputError):
            extract_region(family, start_entities, hops=1, max_edges=9)
    with pytest.raises(DeadlineError, match="walking the graph"):
        extract_region(family, [0], hops=1, max_edges=9, deadline=Deadline.after(0.0))


def test_induced_keeps_keys_and_seeds(family: KnowledgeGraph) -> None:
    region = extract_region(family, [node(family, "a")], hops=2, max_edges=100)
    keep = ~region.literal
    part = induced(region, keep)
    assert triples(family, part) == {("a", "b"), ("a", "h"), ("c", "b")}
    assert part.nodes[part.start_entities].tolist() == region.nodes[region.start_entities].tolist()
    assert set(part.edge_keys.tolist()) < set(region.edge_keys.tolist())


names = st.sampled_from("abcdefg")


@given(
    st.lists(st.tuples(names, names), min_size=1, max_size=12, unique=True),
    st.integers(1, 3),
    st.one_of(st.none(), st.integers(1, 4)),
)
def test_a_region_is_that_of_a_plain_walk(
    pairs: list[tuple[str, str]], hops: int, hub: int | None
) -> None:
    graph = build_graph([(head, "p", tail) for head, tail in pairs])
    start = pairs[0][0]
    degree = {name: sum((h == name) + (t == name) for h, t in pairs) for name in {*sum(pairs, ())}}
    edges: set[tuple[str, str]] = set()
    seen, frontier = {start}, {start}
    for _ in range(hops):
        walked = {name for name in frontier if name == start or hub is None or degree[name] <= hub}
        edges |= {pair for pair in pairs if walked & set(pair)}
        frontier = {name for pair in edges for name in pair} - seen
        seen |= frontier
    found = extract_region(graph, [node(graph, start)], hops=hops, max_edges=99, hub_degree=hub)
    assert triples(graph, found) == edges
    assert {graph.node_ids[int(number)] for number in found.nodes} == seen


def test_a_cap_keeps_the_smaller_keys_of_a_view_too(family: KnowledgeGraph) -> None:
    """Whether the base or the view has them: the view's are numbered after all of the base's."""
    b, rel = node(family, "b"), family.find_relation("lives") or 0
    others = [node(family, name) for name in "defgh"]
    overlay = overlay_of(family, gone=[], extra=[(other, rel, b) for other in others])
    whole = extract_region(family, [b], hops=1, max_edges=100, overlay=overlay)
    assert whole.edge_count == 9
    by_key = whole.edge_keys.tolist()
    assert (whole.edges >= family.edge_count).tolist() != sorted(whole.edges >= family.edge_count)
    for most in range(1, 9):
        capped = extract_region(family, [b], hops=1, max_edges=most, overlay=overlay)
        assert capped.edge_keys.tolist() == by_key[:most]
        assert capped.edges.tolist() == whole.edges[:most].tolist()


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("most", [2, 4, 100])
def test_numbers_too_large_for_a_table_are_looked_up(
    family: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch, hops: int, most: int
) -> None:
    """What is cut out does not depend on how it is looked up."""
    start = [node(family, "a"), node(family, "d")]
    overlay = overlay_of(family, gone=[2], extra=[(node(family, "d"), 0, node(family, "c"))])

    def cut() -> list[Region]:
        return [
            extract_region(family, start, hops=hops, max_edges=most, overlay=view)
            for view in (None, overlay)
        ]

    by_table = cut()
    monkeypatch.setattr("graph_service.retrieve.region.cut.TABLE", 0)
    for one, other in zip(by_table, cut(), strict=True):
        for field in fields(Region):
            values = getattr(one, field.name), getattr(other, field.name)
            assert np.array_equal(*values), field.name
