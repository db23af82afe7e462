"""What a view breaks of gold triples, paths and answers: against networkx and by hand."""

from __future__ import annotations

import networkx as nx
import pytest
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
from graph_service.views.measure.impact import MAX_STEPS, GoldCase, Impact, impact
from graph_service.views.overlay import lay


def node(graph: KnowledgeGraph, id_: str) -> int:
    found = graph.find_node(id_)
    assert found is not None
    return found


def edge(graph: KnowledgeGraph, id_: str) -> int:
    found = graph.find_edge(id_)
    assert found is not None
    return found


def of(graph: KnowledgeGraph, spec: ViewSpec, *cases: GoldCase) -> Impact:
    delta, _ = make_delta(graph, spec)
    return impact(graph, lay(graph, delta, view_id="v"), cases)


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
def test_shares_are_those_counted_by_hand(data: st.DataObject) -> None:
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
    after = {
        e: (int(graph.head[e]), int(graph.rel[e]), int(graph.tail[e]))
        for e in range(graph.edge_count)
    }
    before = dict(after)
    for gone in delta.removed.tolist():
        del after[gone]
    for changed, rel, tail in zip(
        delta.replaced.tolist(),
        delta.replaced_rel.tolist(),
        delta.replaced_tail.tolist(),
        strict=True,
    ):
        after[changed] = (int(graph.head[changed]), rel, tail)
    said = set(after.values())
    edges = st.integers(0, graph.edge_count - 1)
    entities = st.integers(0, graph.entity_count - 1)
    cases = tuple(
        GoldCase(
            str(number),
            tuple(data.draw(st.lists(entities, max_size=2))),
            tuple(
                tuple(one)
                for one in data.draw(st.lists(st.lists(edges, min_size=1, max_size=3), max_size=2))
            ),
            tuple(data.draw(st.lists(entities, max_size=2))),
        )
        for number in range(3)
    )
    found = impact(graph, lay(graph, delta, view_id="v"), cases)
    walks = []
    for triples in (before, after):
        walk: nx.Graph[int] = nx.Graph()
        walk.add_nodes_from(range(graph.entity_count))
        walk.add_edges_from((h, t) for e, (h, _, t) in triples.items() if graph.rank[e] != 2)
        walks.append(walk)
    for case, one in zip(cases, found.cases, strict=True):
        first = case.sets[0] if case.sets else ()
        assert one.broken_edges == tuple(e for e in first if before[e] not in said)
        whole = [all(before[e] in said for e in edges) for edges in case.sets]
        assert one.paths_broken == (not any(whole) if whole else None)
        starts, ends = set(case.entities), set(case.answers)
        base, view = (nearest(walk, starts, ends) for walk in walks)
        assert one.steps_base == base
        if base is None:
            assert one.answer_broken is None
        else:
            assert one.steps_view == view
            assert one.answer_broken == (view is None or view > base)
    assert found.triples.broken == sum(len(one.broken_edges) for one in found.cases)
    assert found.answers.of == sum(one.answer_broken is not None for one in found.cases)


def test_a_triple_said_by_another_statement_is_not_broken() -> None:
    """O10: a parallel statement, or one of the view's own, says it still."""
    graph = build_graph(
        [("a", "r", "b"), ("a", "r", "b"), ("a", "s", "c")], statement_ids=["S1", "S2", "S3"]
    )
    case = GoldCase("q", (node(graph, "a"),), ((edge(graph, "S1"),),), (node(graph, "b"),))
    one = of(graph, ViewSpec(Method.WITHHOLDING, statement_ids=("S1",)), case)
    assert (one.triples.broken, one.paths.broken, one.answers.broken) == (0, 0, 0)
    both = of(graph, ViewSpec(Method.WITHHOLDING, statement_ids=("S1", "S2")), case)
    assert (both.triples.share, both.paths.share, both.answers.share) == (1.0, 1.0, 1.0)
    again = ViewSpec(
        Method.CUSTOM,
        changes=(
            Change("S1", remove=True),
            Change("S2", remove=True),
            Change("S3", relation="r", value=EntityValue("b")),
        ),
    )
    assert of(graph, again, case).triples.broken == 0


def test_another_set_that_suffices_keeps_the_path() -> None:
    """K4: a question with an alternative has lost its triple and kept a path."""
    graph = build_graph([("a", "child", "b"), ("b", "father", "a")], statement_ids=["S1", "S2"])
    case = GoldCase(
        "q",
        (node(graph, "a"),),
        ((edge(graph, "S1"),), (edge(graph, "S2"),)),
        (node(graph, "b"),),
    )
    found = of(graph, ViewSpec(Method.WITHHOLDING, statement_ids=("S1",)), case)
    assert (found.triples.broken, found.paths.broken, found.answers.broken) == (1, 0, 0)


def test_new_entities_lead_on_and_literals_do_not() -> None:
    """O10: a way over an entity of a person's own changes is a way; text is an end."""
    graph = build_graph(
        [("a", "r", "b"), ("b", "r", "c"), ("a", "n", StringValue("x")), ("c", "r", "d")],
        statement_ids=["S1", "S2", "S3", "S4"],
    )
    case = GoldCase("q", (node(graph, "a"),), (), (node(graph, "c"),))
    spec = ViewSpec(
        Method.CUSTOM,
        changes=(
            Change("S1", value=EntityValue("new")),
            Change(head="new", relation="r", value=EntityValue("d")),
        ),
    )
    (one,) = of(graph, spec, case).cases
    assert (one.steps_base, one.steps_view, one.answer_broken) == (2, 3, True)
    assert one.paths_broken is None


def test_nothing_asked_is_no_share_and_time_is_kept() -> None:
    """The mean over nothing is None."""
    graph = build_graph([("a", "r", "b")])
    found = of(graph, ViewSpec(Method.EDGE_DELETION, level=1.0))
    assert (found.triples.share, found.paths.share, found.answers.share) == (None, None, None)
    delta, _ = make_delta(graph, ViewSpec(Method.EDGE_DELETION, level=1.0))
    with pytest.raises(DeadlineError, match="breaks"):
        impact(
            graph,
            lay(graph, delta, view_id="v"),
            [GoldCase("q", (), (), ())],
            deadline=Deadline.after(0.0),
        )
