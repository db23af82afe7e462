"""What of a graph a view of a part of it hangs on (O10): the part, what lies beside it, or more.

The part is what a question's region has. Three views of it are compared, by every method that is
drawn within a scope: drawn in the whole graph, drawn on the part as a graph of its own, and the
view of the whole graph, seen on the part.
"""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from graph_builder import build_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from multigraphs import LEVELS, SEEDS, graphs

from graph_service.model.graph import Int32, KnowledgeGraph
from graph_service.model.overlay import EdgeSet
from graph_service.model.statement import Rank
from graph_service.model.view_delta import ViewDelta
from graph_service.model.view_spec import TAKES, Method, Sampling, Scope, Takes, ViewSpec
from graph_service.retrieve.region.cut import extra_edges_bytes, extract_region
from graph_service.views.alone import (
    BEYOND,
    can_draw_alone,
    cheaper_nodes,
    draw_alone,
    reads_parallel_edges,
    with_parallel_edges,
)
from graph_service.views.delta import make_delta
from graph_service.views.overlay import lay
from graph_service.views.part import Part
from graph_service.views.scope import scope_edges

OF_QUESTION = Scope(of_question=True)
DRAWN_IN_A_SCOPE = [
    method
    for method in Method
    # Names are changed before a question is linked, and no question's scope is theirs.
    if TAKES.get(method, Takes()).has_scope
    and TAKES.get(method, Takes()).is_random
    and method is not Method.NAMES
]
BY_THE_PART = [Method.EDGE_DELETION]
BY_WHAT_IS_BESIDE = [*BY_THE_PART, Method.RELATION_SWAPPING, Method.INVERSION]
AS_THE_WHOLE_VIEW = [*BY_THE_PART, Method.INVERSION, Method.RELATION_REPLACEMENT]

Changes = tuple[frozenset[int], frozenset[tuple[int, ...]], frozenset[tuple[int, ...]]]


def changes(graph: KnowledgeGraph, delta: ViewDelta, within: Int32 | None = None) -> Changes:
    """What a delta changes, of some edges where they are given, and what it adds."""
    seen = set(range(graph.edge_count) if within is None else within.tolist())
    columns = (
        delta.replaced,
        delta.heads_of_replaced(graph.head),
        delta.replaced_rel,
        delta.replaced_tail,
        delta.ranks_of_replaced(graph.rank),
    )
    added = delta.added_head, delta.added_rel, delta.added_tail
    return (
        frozenset(seen.intersection(delta.removed.tolist())),
        frozenset(
            row for row in zip(*(c.tolist() for c in columns), strict=True) if row[0] in seen
        ),
        frozenset(zip(*(column.tolist() for column in added), strict=True)),
    )


def drawn_on(graph: KnowledgeGraph, spec: ViewSpec, scope: Int32, part: Int32) -> Changes:
    """What a view of a scope changes, drawn on a part of the graph as one of its own."""
    alone = Part.of(graph, part)
    places = np.searchsorted(alone.edges, scope).astype(np.int32)
    delta, _ = make_delta(alone.graph, spec, question_edges=places)
    return changes(graph, alone.in_base(delta))


def is_drawn_on_the_part(graph: KnowledgeGraph, spec: ViewSpec, edges: Int32) -> bool:
    scope, _ = scope_edges(graph, OF_QUESTION, question_edges=edges)
    delta, _ = make_delta(graph, spec, question_edges=edges)
    return changes(graph, delta) == drawn_on(graph, spec, scope, scope)


def is_drawn_on_what_is_beside(graph: KnowledgeGraph, spec: ViewSpec, edges: Int32) -> bool:
    scope, _ = scope_edges(graph, OF_QUESTION, question_edges=edges)
    delta, _ = make_delta(graph, spec, question_edges=edges)
    return changes(graph, delta) == drawn_on(graph, spec, scope, with_parallel_edges(graph, scope))


def is_the_whole_view(graph: KnowledgeGraph, spec: ViewSpec, edges: Int32) -> bool:
    """Whether the view of all, seen on a part with what lies beside it, is the part's own.

    A level is a share of what is in scope: the part's own view has as many changes.
    """
    scope, _ = scope_edges(graph, OF_QUESTION, question_edges=edges)
    part = with_parallel_edges(graph, scope)
    whole, _ = make_delta(graph, replace(spec, scope=Scope()))
    seen = changes(graph, whole, part)
    count = len(seen[0]) + len(seen[1])
    own, _ = make_delta(graph, replace(spec, level=None, count=count), question_edges=part)
    # What is added is at no edge of the base, so that it can't be said which of it is the part's.
    return seen[:2] == changes(graph, own)[:2] and not len(whole.added_head)


def random_case(seed: int, method: Method) -> tuple[KnowledgeGraph, ViewSpec, Int32]:
    draw = random.Random(seed)
    nodes = draw.randint(3, 14)
    rows = [
        (f"e{draw.randrange(nodes)}", f"r{draw.randrange(4)}", f"e{draw.randrange(nodes)}")
        for _ in range(draw.randint(8, 60))
    ]
    ranks = {
        place: draw.choice([Rank.PREFERRED, Rank.DEPRECATED])
        for place in range(len(rows))
        if draw.random() < 0.15
    }
    graph = build_graph(rows, ranks=ranks)
    near = graph.head[:] % 3 == 0
    spec = ViewSpec(
        method,
        level=draw.choice([0.2, 0.5, 0.8]),
        random_seed=seed,
        rule_support=1 if method is Method.RULE_DELETION else 10,
        scope=OF_QUESTION,
    )
    return graph, spec, np.flatnonzero(near).astype(np.int32)


@pytest.mark.parametrize("method", DRAWN_IN_A_SCOPE)
@pytest.mark.parametrize(
    ("holds", "methods"),
    [
        (is_drawn_on_the_part, BY_THE_PART),
        (is_drawn_on_what_is_beside, BY_WHAT_IS_BESIDE),
        (is_the_whole_view, AS_THE_WHOLE_VIEW),
    ],
)
def test_of_which_methods_a_view_is_that_of_a_part(
    holds: Callable[[KnowledgeGraph, ViewSpec, Int32], bool], methods: list[Method], method: Method
) -> None:
    """Of the others some case is otherwise: what is refused above the snapshot limit has to be."""
    found = (holds(*random_case(seed, method)) for seed in range(150))
    assert all(found) == (method in methods)


def test_the_service_knows_these_methods() -> None:
    assert set(BY_WHAT_IS_BESIDE) == {*DRAWN_IN_A_SCOPE} - BEYOND.keys()
    assert BEYOND.keys() | {*BY_WHAT_IS_BESIDE, Method.WITHHOLDING} == {*Method}
    for method in DRAWN_IN_A_SCOPE:
        spec = ViewSpec(method, level=0.5, scope=OF_QUESTION)
        assert can_draw_alone(spec) == (method in BY_WHAT_IS_BESIDE)
        assert reads_parallel_edges(spec) == (
            method in BY_WHAT_IS_BESIDE and method not in BY_THE_PART
        )
        pruned = replace(spec, scope=replace(OF_QUESTION, pruned=True))
        assert can_draw_alone(pruned)
        assert not reads_parallel_edges(pruned)


@settings(max_examples=150)
@given(data=st.data(), graph=graphs(), seed=SEEDS, level=LEVELS)
def test_a_view_drawn_alone_is_that_of_the_whole_graph(
    data: st.DataObject, graph: KnowledgeGraph, seed: int, level: float
) -> None:
    """O10: the same changes and the same report, with literals and ranks."""
    method = data.draw(st.sampled_from(BY_WHAT_IS_BESIDE))
    sampling = Sampling.EXACT
    if method is Method.RELATION_SWAPPING:
        sampling = data.draw(st.sampled_from(Sampling))
    spec = ViewSpec(method, level=level, random_seed=seed, sampling=sampling, scope=OF_QUESTION)
    edges = data.draw(st.lists(st.integers(0, graph.edge_count - 1), unique=True))
    question = np.array(sorted(edges), dtype=np.int32)
    expected, report = make_delta(graph, spec, question_edges=question)
    scope, _ = scope_edges(graph, OF_QUESTION, question_edges=question)
    found, own_report = draw_alone(graph, spec, scope)
    assert changes(graph, found) == changes(graph, expected)
    assert own_report == report
    near = with_parallel_edges(graph, scope)
    drawn = changes(graph, expected)
    assert drawn_on(graph, spec, scope, near if reads_parallel_edges(spec) else scope) == drawn


@settings(max_examples=100)
@given(data=st.data(), graph=graphs())
def test_a_part_is_found_again_in_its_base(data: st.DataObject, graph: KnowledgeGraph) -> None:
    """Literals and ids too."""
    edges = sorted(data.draw(st.sets(st.integers(0, graph.edge_count - 1))))
    part = Part.of(graph, np.array(edges, dtype=np.int32))
    found = Part.within(part.graph, graph)
    for one, other in (
        (found.edges, part.edges),
        (found.nodes, part.nodes),
        (found.relations, part.relations),
    ):
        assert one.tolist() == other.tolist()
        assert one.dtype == np.int32
    for ids, of_base, places in (
        (part.graph.statement_ids, graph.statement_ids, part.edges),
        (part.graph.node_ids, graph.node_ids, part.nodes),
        (part.graph.relation_ids, graph.relation_ids, part.relations),
    ):
        assert ids.take(range(len(ids))) == of_base.take(places)


@settings(max_examples=100)
@given(data=st.data(), graph=graphs())
def test_beside_edges_lie_all_between_the_same_entities(
    data: st.DataObject, graph: KnowledgeGraph
) -> None:
    every = range(graph.edge_count)
    to_entities = [edge for edge in every if graph.tail[edge] < graph.entity_count]
    some = sorted(data.draw(st.sets(st.sampled_from(to_entities)))) if to_entities else []
    ends = [{int(graph.head[edge]), int(graph.tail[edge])} for edge in every]
    expected = [edge for edge in every if any(ends[edge] == ends[one] for one in some)]
    assert with_parallel_edges(graph, np.array(some, dtype=np.int32)).tolist() == expected


def test_of_a_pair_the_end_is_looked_at_that_costs_less() -> None:
    """A hub of 1,000 statements with three pairs, and an entity of three statements, all pairs."""
    hub, walked = 0, 1
    head = np.array([hub, hub, hub, walked, walked, walked])
    tail = np.array([2, 3, 4, 5, 6, 7])
    degrees = np.array([1000, 3, 20, 20, 20, 20, 20, 20])
    assert cheaper_nodes(head, tail, degrees).tolist() == [walked, 2, 3, 4]


def bytes_taken(others: int, method: Method) -> int:
    """By a question's view, on a graph of a region and some other statements."""
    region = [(f"a{i % 7}", f"r{i % 3}", f"a{i * 5 % 11}") for i in range(200)]
    graph = build_graph(
        region + [(f"x{i}", f"r{i % 3}", f"x{i * 7 % others}") for i in range(others)]
    )
    start = graph.find_node("a1")
    assert start is not None
    spec = ViewSpec(method, level=0.5, scope=OF_QUESTION)
    edges = extract_region(graph, [start], hops=2, max_edges=500).edges.astype(np.int32)

    def look() -> None:
        scope, _ = scope_edges(graph, OF_QUESTION, question_edges=edges)
        overlay = lay(graph, draw_alone(graph, spec, scope)[0], view_id="v")
        assert len(overlay.gone)
        assert extra_edges_bytes(overlay) <= 16 * len(edges)

    look()  # What is made at the first call alone.
    tracemalloc.start()
    look()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("method", BY_WHAT_IS_BESIDE)
def test_a_view_of_a_question_costs_what_its_region_has(method: Method) -> None:
    """Not a byte for each of 60,000 statements more."""
    assert bytes_taken(61_000, method) - bytes_taken(1_000, method) < 20_000


@settings(max_examples=100)
@given(data=st.data(), count=st.integers(0, 400))
def test_a_set_of_edges_has_its_own(data: st.DataObject, count: int) -> None:
    some = data.draw(st.lists(st.integers(0, count - 1))) if count else []
    asked = data.draw(st.lists(st.integers(0, count - 1))) if count else []
    edges = EdgeSet.of(np.array(some, dtype=np.int32), count)
    assert edges.has(np.array(asked, dtype=np.int64)).tolist() == [e in some for e in asked]
    assert edges.mask().tolist() == [edge in some for edge in range(count)]
    assert (len(edges), edges.edge_count) == (len({*some}), count)
    assert (edges.marks is None) == (len(some) < count // 32)
