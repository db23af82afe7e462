"""Steps to the nearest answer in a graph and in views of it: against networkx and by hand."""

from __future__ import annotations

import networkx as nx
from error_texts import raises
from graph_builder import build_graph
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_service.errors import DeadlineError
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.statement import Rank
from graph_service.model.values import EntityValue, StringValue
from graph_service.model.view_spec import Change, Method, ViewSpec
from graph_service.views.delta import make_delta
from graph_service.views.measure.steps import MAX_STEPS, Steps
from graph_service.views.overlay import lay


def node(graph: KnowledgeGraph, id_: str) -> int:
    found = graph.find_node(id_)
    assert found is not None
    return found


def nearest(walk: nx.Graph[int], starts: set[int], ends: set[int]) -> int | None:
    steps = [
        int(nx.shortest_path_length(walk, one, other))
        for one in starts
        for other in ends
        if one in walk and other in walk and nx.has_path(walk, one, other)
    ]
    return min(steps) if steps and min(steps) <= MAX_STEPS else None


@settings(max_examples=150)
@given(data=st.data())
def test_steps_are_those_of_networkx(data: st.DataObject) -> None:
    """O10, O11: any method, on random multigraphs."""
    nodes = data.draw(st.integers(2, 9))
    drawn = data.draw(
        st.lists(
            st.tuples(st.integers(0, nodes - 1), st.integers(0, 2), st.integers(0, nodes - 1)),
            min_size=2,
            max_size=25,
        )
    )
    graph = build_graph(
        [(f"e{h}", f"r{r}", f"e{t}") for h, r, t in drawn],
        ranks={0: Rank.DEPRECATED} if data.draw(st.booleans()) else {},
    )
    method = data.draw(
        st.sampled_from([Method.RELATION_SWAPPING, Method.EDGE_REWIRING, Method.EDGE_DELETION])
    )
    spec = ViewSpec(method, level=data.draw(st.sampled_from([0.2, 0.6, 1.0])))
    delta, _ = make_delta(graph, spec)
    before = {e: (int(graph.head[e]), int(graph.tail[e])) for e in range(graph.edge_count)}
    after = dict(before)
    for gone in delta.removed.tolist():
        del after[gone]
    for changed, tail in zip(delta.replaced.tolist(), delta.replaced_tail.tolist(), strict=True):
        after[changed] = (after[changed][0], tail)
    entities = st.lists(st.integers(0, graph.entity_count - 1), max_size=2)
    starts, ends = data.draw(entities), data.draw(entities)
    for ways, overlay in ((before, None), (after, lay(graph, delta, view_id="v"))):
        walk: nx.Graph[int] = nx.Graph()
        walk.add_nodes_from(range(graph.entity_count))
        walk.add_edges_from(pair for e, pair in ways.items() if graph.rank[e] != 2)
        assert Steps(graph, overlay).nearest(starts, ends) == nearest(walk, {*starts}, {*ends})


def test_new_entities_lead_on_and_literals_do_not() -> None:
    """O10: a way over an entity of a person's own changes is a way; text is an end."""
    graph = build_graph(
        [("a", "r", "b"), ("b", "r", "c"), ("a", "n", StringValue("x")), ("c", "r", "d")],
        statement_ids=["S1", "S2", "S3", "S4"],
    )
    spec = ViewSpec(
        Method.CUSTOM,
        changes=(
            Change("S1", value=EntityValue("new")),
            Change(head="new", relation="r", value=EntityValue("d")),
        ),
    )
    delta, _ = make_delta(graph, spec)
    start, end = [node(graph, "a")], [node(graph, "c")]
    assert Steps(graph).nearest(start, end) == 2
    on_view = Steps(graph, lay(graph, delta, view_id="v"))
    assert on_view.nearest(start, end) == 3
    assert on_view.nearest(start, end, most=2) is None


def test_nothing_is_near_nothing_and_time_is_kept() -> None:
    graph = build_graph([("a", "r", "b")])
    start, end = [node(graph, "a")], [node(graph, "b")]
    assert Steps(graph).nearest([], end) is Steps(graph).nearest(start, []) is None
    assert Steps(graph).nearest(start, start) == 0
    with raises(DeadlineError):
        Steps(graph, deadline=Deadline.after(0.0)).nearest(start, end)
