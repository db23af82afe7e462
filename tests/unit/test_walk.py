"""The one walk of all regions, beside brute force over a list of edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from graph_service.model.limits import Cut, CutReason
from graph_service.walk import NewRows, RowRegion, walk

Ends = tuple[int, int]


class ListRegion(RowRegion[int, Ends]):
    """A region over edges of a list; an edge's key is its index."""

    def __init__(self, edges: Sequence[Ends]) -> None:
        super().__init__()
        self._edges = edges

    def read_degrees(self, nodes: Sequence[int]) -> Mapping[int, int]:
        ends = [end for edge in self._edges for end in edge]
        return {node: ends.count(node) for node in nodes if node in ends}

    def new_rows(self, nodes: Sequence[int], room: int) -> NewRows[Ends]:
        rows = {
            key: edge
            for key, edge in enumerate(self._edges)
            if key not in self.rows and not set(edge).isdisjoint(nodes)
        }
        return NewRows(rows, len(self.rows) + len(rows))

    def endpoints(self, row: Ends) -> Ends:
        return row


def brute_force(
    edges: Sequence[Ends], start: int, hops: int, max_edges: int, hub_degree: int | None
) -> tuple[list[int], dict[int, int], set[int]]:
    """Returns the keys of a region's edges, the hops of its nodes, and its hubs."""
    ends = [end for edge in edges for end in edge]
    region: list[int] = []
    steps = {start: 0} if start in ends else {}
    hubs: set[int] = set()
    for hop in range(hops):
        at = {node for node, step in steps.items() if step == hop}
        if hop and hub_degree is not None and len(region) < max_edges:
            hubs |= {node for node in at if ends.count(node) > hub_degree}
        at -= hubs
        new = [key for key, edge in enumerate(edges) if key not in region and at & set(edge)]
        region += new[: max_edges - len(region)]
        for key in region:
            for end in edges[key]:
                steps.setdefault(end, hop + 1)
    return sorted(region), steps, hubs


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=40),
    st.integers(0, 9),
    st.integers(0, 4),
    st.integers(0, 30),
    st.none() | st.integers(0, 6),
)
def test_a_region_is_that_of_brute_force(
    edges: list[Ends], start: int, hops: int, max_edges: int, hub_degree: int | None
) -> None:
    region = ListRegion(edges)
    cuts = walk(
        region,
        region.start_from([start, start]),
        hops=hops,
        max_edges=max_edges,
        hub_degree=hub_degree,
    )
    keys, steps, hubs = brute_force(edges, start, hops, max_edges, hub_degree)
    assert sorted(region.rows) == keys
    assert region.hops == steps
    assert set(region.hubs) == hubs
    of_hubs = [cut for cut in cuts if cut.reason is CutReason.HUB]
    assert [cut.total for cut in of_hubs] == ([len(hubs)] if hubs else [])


def test_what_is_left_out_is_counted() -> None:
    star = [(0, node) for node in range(1, 9)] + [(1, node) for node in range(10, 15)]
    region = ListRegion(star)
    cuts = walk(region, region.start_from([0]), hops=2, max_edges=10, hub_degree=5)
    assert sorted(region.rows) == list(range(8))
    assert cuts == (Cut("hubs", CutReason.HUB, 5, 0, 1),)
    region = ListRegion(star)
    cuts = walk(region, region.start_from([0]), hops=2, max_edges=10)
    assert sorted(region.rows) == list(range(10))
    assert cuts == (Cut("edges", CutReason.LIMIT, 10, 10, 13),)
