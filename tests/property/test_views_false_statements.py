"""Methods that make false statements: beside the true ones, in their place, or as chains (B3)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from error_texts import check_text
from graph_builder import Triple, build_graph, node_of
from hypothesis import given, settings
from hypothesis import strategies as st
from multigraphs import LEVELS, SEEDS, content, graphs, triples

from graph_service.errors import InputError
from graph_service.model.graph import RANK_CODES, KnowledgeGraph
from graph_service.model.statement import Rank
from graph_service.model.view_delta import ViewDelta
from graph_service.model.view_spec import (
    Cardinality,
    ChangeCode,
    Method,
    Replacement,
    Sampling,
    Scope,
    ViewSpec,
)
from graph_service.views.codec import decode_delta, encode_delta
from graph_service.views.delta import make_delta
from graph_service.views.draw import edges_at_level
from graph_service.views.overlay import lay

DRAWN = [
    Method.CONTRADICTION,
    Method.INSERTION,
    Method.TYPE_PRESERVING,
    Method.INVERSION,
]


def scope_of(graph: KnowledgeGraph) -> list[int]:
    return [
        edge
        for edge in range(graph.edge_count)
        if graph.tail[edge] < graph.entity_count and graph.rank[edge] != RANK_CODES[Rank.DEPRECATED]
    ]


def said(graph: KnowledgeGraph) -> set[tuple[int, int, int]]:
    return set(zip(graph.head[:].tolist(), graph.rel[:].tolist(), graph.tail.tolist(), strict=True))


def made_by(graph: KnowledgeGraph, delta: ViewDelta) -> list[tuple[int, int, int]]:
    """The new triples, those of changed edges first."""
    columns = (
        [*delta.heads_of_replaced(graph.head), *delta.added_head],
        [*delta.replaced_rel, *delta.added_rel],
        [*delta.replaced_tail, *delta.added_tail],
    )
    return [(int(h), int(r), int(t)) for h, r, t in zip(*columns, strict=True)]


def alike(graph: KnowledgeGraph, node: int, rel: int, *, is_head: bool) -> set[int]:
    """By brute force: the smallest class's members, else what stands where the node stands."""
    edges = scope_of(graph)
    kind = graph.find_relation("P31")
    members: dict[int, set[int]] = {}
    for edge in edges:
        if graph.rel[edge] == kind:
            members.setdefault(int(graph.tail[edge]), set()).add(int(graph.head[edge]))
    own = sorted((len(m), c) for c, m in members.items() if node in m and len(m) > 1)
    if own:
        return members[own[0][1]]
    ends = graph.head if is_head else graph.tail
    return {int(ends[edge]) for edge in edges if graph.rel[edge] == rel}


def spec_of(method: Method, **fields: Any) -> ViewSpec:
    """Contradictions beside any statement, as these rules of them hold for all."""
    if method is Method.CONTRADICTION:
        fields["cardinality"] = Cardinality.ANY
    return ViewSpec(method, **fields)


def candidates(graph: KnowledgeGraph, method: Method, edge: int) -> set[tuple[int, int, int]]:
    """All triples that an edge could make on its own."""
    head, rel, tail = (int(part[edge]) for part in (graph.head, graph.rel, graph.tail))
    tails = {(head, rel, other) for other in alike(graph, tail, rel, is_head=False)}
    heads = {(other, rel, tail) for other in alike(graph, head, rel, is_head=True)}
    found = {
        Method.CONTRADICTION: tails,
        Method.TYPE_PRESERVING: tails | heads,
        Method.INVERSION: {(tail, rel, head)},
        Method.INSERTION: {
            (head, int(graph.rel[e]), other)
            for e in scope_of(graph)
            for other in range(graph.entity_count)
        },
    }[method]
    if method in (Method.CONTRADICTION, Method.TYPE_PRESERVING):
        # Neither end becomes the other.
        found = {(h, r, t) for h, r, t in found if (h, t) == (head, tail) or h != t}
        found -= {(head, rel, head), (tail, rel, tail)}
    return {(h, r, t) for h, r, t in found - said(graph) if h != t or head == tail}


@st.composite
def typed_graphs(draw: st.DrawFn) -> KnowledgeGraph:
    """Multigraphs some of whose entities have classes."""
    rows = draw(triples(25))
    classes: list[Triple] = [
        (f"e{entity}", "P31", f"c{kind}")
        for entity, kind in draw(
            st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), max_size=8)
        )
    ]
    return build_graph(rows + classes)


@pytest.mark.parametrize("method", DRAWN)
@settings(max_examples=25)
@given(graph=st.one_of(graphs(25), typed_graphs()), seed=SEEDS, level=LEVELS)
def test_new_triples_are_false_of_the_right_type_and_as_many_as_asked(
    method: Method, graph: KnowledgeGraph, seed: int, level: float
) -> None:
    delta, report = make_delta(graph, spec_of(method, level=level, random_seed=seed))
    scope = scope_of(graph)
    asked = edges_at_level(level, len(scope))
    made = made_by(graph, delta)
    assert len(made) == len(set(made)) == delta.changed_count == sum(report.counts.values())
    assert not set(made) & said(graph)
    assert report.scope_edges == len(scope)
    assert report.level_reached == (len(made) / len(scope) if scope else None)
    for edge, triple in zip(delta.replaced.tolist(), made, strict=False):
        assert edge in scope
        assert triple in candidates(graph, method, edge)
    possible = set().union(*(candidates(graph, method, edge) for edge in scope))
    assert set(made) <= possible
    if method in (Method.CONTRADICTION, Method.INSERTION):
        # What is true stays.
        assert not len(delta.removed)
        assert not len(delta.replaced)
    assert len(made) <= asked
    if len(made) < asked:
        assert report.notes
        if method in (Method.CONTRADICTION, Method.INVERSION):
            # Whatever an edge could make, another has made.
            assert set(made) == possible or method is Method.CONTRADICTION
            for edge in set(scope) - set(delta.replaced.tolist()):
                left = candidates(graph, method, edge) - set(made)
                assert not left or len(delta.added_head)


@pytest.mark.parametrize("method", DRAWN)
@settings(max_examples=25)
@given(graph=st.one_of(graphs(25), typed_graphs()), seed=SEEDS, low=LEVELS, high=LEVELS)
def test_smaller_levels_are_among_larger_ones(
    method: Method, graph: KnowledgeGraph, seed: int, low: float, high: float
) -> None:
    low, high = sorted((low, high))
    less, _ = make_delta(graph, spec_of(method, level=low, random_seed=seed))
    more, _ = make_delta(graph, spec_of(method, level=high, random_seed=seed))
    assert set(made_by(graph, less)) <= set(made_by(graph, more))
    assert set(less.replaced.tolist()) <= set(more.replaced.tolist())
    nothing, _ = make_delta(graph, spec_of(method, level=0.0, random_seed=seed))
    assert nothing.changed_count == 0


@pytest.mark.parametrize("method", DRAWN)
@settings(max_examples=15)
@given(rows=triples(20), data=st.data(), seed=SEEDS)
def test_order_of_loading_and_entities_without_statements_change_nothing(
    method: Method, rows: list[Triple], data: st.DataObject, seed: int
) -> None:
    ids = [f"S{i}" for i in range(len(rows))]
    order = data.draw(st.permutations(range(len(rows))))
    one = build_graph(rows, statement_ids=ids)
    other = build_graph(
        [rows[i] for i in order],
        statement_ids=[ids[i] for i in order],
        extra_entities=["lonely", "alone", "x1", "x2"],
    )
    spec = spec_of(method, level=0.6, random_seed=seed)
    assert content(one, make_delta(one, spec)[0]) == content(other, make_delta(other, spec)[0])


@settings(max_examples=30)
@given(graph=graphs(25), seed=SEEDS, method=st.sampled_from([*DRAWN, Method.EDGE_REWIRING]))
def test_new_heads_are_stored_and_laid(graph: KnowledgeGraph, seed: int, method: Method) -> None:
    """A delta without new heads has the bytes that it always had."""
    delta, _ = make_delta(graph, spec_of(method, level=0.7, random_seed=seed))
    data = encode_delta(graph, delta)
    assert data[4] == (1 if delta.replaced_head is None else 2)
    read = decode_delta(graph, data)
    assert content(graph, read) == content(graph, delta)
    overlay = lay(graph, delta, view_id="v")
    kinds = overlay.kinds.tolist()
    for place, edge in enumerate(overlay.base_edge.tolist()):
        if edge < 0:
            assert kinds[place] == ChangeCode.ADDED
        elif overlay.head[place] != graph.head[edge]:
            assert kinds[place] == ChangeCode.HEAD_CHANGED
        else:
            assert kinds[place] == ChangeCode.VALUE_CHANGED
    assert sorted(zip(overlay.head, overlay.rel, overlay.tail, strict=True)) == sorted(
        made_by(graph, read)
    )


FILMS: list[Triple] = [
    ("heat", "director", "mann"),
    ("mann", "spouse", "summer"),
    ("alien", "director", "scott"),
    ("scott", "spouse", "giannina"),
    ("jaws", "director", "spielberg"),
    ("spielberg", "spouse", "kate"),
    *((name, "P31", "film") for name in ("heat", "alien", "jaws")),
    *((n, "P31", "human") for n in ("mann", "scott", "spielberg", "summer", "giannina", "kate")),
]


def chains(count: int, *targets: str, seed: int = 0) -> tuple[list[list[str]], tuple[str, ...]]:
    graph = build_graph(FILMS)
    spec = ViewSpec(
        Method.INSERTION,
        count=count,
        random_seed=seed,
        entity_ids=("heat",),
        answer_ids=("summer",),
        target_ids=targets,
    )
    delta, report = make_delta(graph, spec)
    return sorted(
        [graph.node_ids[h], graph.relation_ids[r], graph.node_ids[t]]
        for h, r, t in made_by(graph, delta)
    ), report.notes


@pytest.mark.parametrize("seed", range(6))
def test_a_chain_leads_as_the_question_s_path_does_to_a_false_answer(seed: int) -> None:
    """heat -director-> another human -spouse-> the target, none of it said by the base."""
    found, notes = chains(1, "giannina", seed=seed)
    (first, second), between = found, {"scott", "spielberg", "kate"}
    if first[0] != "heat":
        first, second = second, first
    assert first[:2] == ["heat", "director"]
    assert first[2] in between - {"scott"}
    assert second == [first[2], "spouse", "giannina"]
    assert not notes
    two, _ = chains(2, "giannina", "kate", seed=seed)
    assert len(two) == 4
    assert all(triple in two for triple in found)
    drawn, _ = chains(1, seed=seed)
    assert drawn == chains(1, seed=seed)[0]
    ends = {triple[2] for triple in drawn} - {triple[0] for triple in drawn}
    assert len(ends) == 1
    assert ends <= {"scott", "spielberg", "giannina", "kate"}


def test_chains_that_cannot_be_made_are_said() -> None:
    triples, notes = chains(1, "summer")
    assert triples == []
    check_text(notes, "requested: 1", "made: 0", "paths: 1")
    triples, notes = chains(500)
    assert notes
    assert 0 < len(triples) < 100


def test_what_insertion_lacks_or_does_not_take_is_refused() -> None:
    question = {"entity_ids": ("a",), "answer_ids": ("b",)}
    for fields, argument in (
        ({"entity_ids": ("a",), "count": 1}, "answer_ids"),
        ({"answer_ids": ("a",), "count": 1}, "entity_ids"),
        ({"target_ids": ("a",), "count": 1}, "entity_ids"),
        ({**question, "level": 0.5}, "level"),
        ({**question, "count": 1, "scope": Scope(hops=1)}, "scope"),
        ({"level": 0.1, "sampling": Sampling.OKGQA}, "sampling"),
    ):
        with pytest.raises(InputError) as raised:
            ViewSpec(Method.INSERTION, **fields).validate()  # type: ignore[arg-type]
        assert raised.value.argument == argument
    with pytest.raises(InputError, match="no entity 'zz'"):
        make_delta(
            build_graph(FILMS),
            ViewSpec(Method.INSERTION, count=1, entity_ids=("zz",), answer_ids=("heat",)),
        )


def test_a_statement_said_both_ways_is_not_inverted() -> None:
    graph = build_graph([("a", "spouse", "b"), ("b", "spouse", "a"), ("a", "father", "c")])
    delta, report = make_delta(graph, ViewSpec(Method.INVERSION, level=1.0))
    assert made_by(graph, delta) == [
        (node_of(graph, "c"), graph.find_relation("father"), node_of(graph, "a"))
    ]
    assert report.counts["head-changed"] == 1
    check_text(report.notes[0], "requested: 3", "can be changed: 1")


def kind(graph: KnowledgeGraph, node: int) -> set[int]:
    """By brute force: the members of the smallest class, or the entity alone."""
    return alike(graph, node, -1, is_head=True) or {node}


@settings(max_examples=30)
@given(graph=st.one_of(graphs(25), typed_graphs()), seed=SEEDS, low=LEVELS, high=LEVELS)
def test_a_plausible_relation_joins_entities_of_the_same_types(
    graph: KnowledgeGraph, seed: int, low: float, high: float
) -> None:
    low, high = sorted((low, high))
    spec = ViewSpec(
        Method.RELATION_REPLACEMENT,
        level=high,
        random_seed=seed,
        replacement=Replacement.PLAUSIBLE,
    )
    delta, report = make_delta(graph, spec)
    less, _ = make_delta(graph, replace(spec, level=low))
    scope = scope_of(graph)

    def possible(edge: int) -> set[tuple[int, int, int]]:
        head, tail = int(graph.head[edge]), int(graph.tail[edge])
        heads, tails = kind(graph, head), kind(graph, tail)
        return {
            (head, rel, tail)
            for rel in range(graph.relation_count)
            if any(graph.rel[e] == rel and graph.head[e] in heads for e in scope)
            and any(graph.rel[e] == rel and graph.tail[e] in tails for e in scope)
        } - said(graph)

    made = made_by(graph, delta)
    assert len(set(made)) == len(made) == report.counts["relation-changed"]
    assert set(made_by(graph, less)) <= set(made)
    for edge, triple in zip(delta.replaced.tolist(), made, strict=True):
        assert triple in possible(edge)
    if len(made) < edges_at_level(high, len(scope)):
        assert report.notes
        for edge in set(scope) - set(delta.replaced.tolist()):
            assert not possible(edge) - set(made)


def test_a_relation_that_takes_most_changes_is_named() -> None:
    """``z`` is the rarest, and the least likely of every pair."""
    rows = [(f"a{i}", "xy"[i % 2], f"b{i}") for i in range(40)] + [("u", "z", "v")]
    graph = build_graph(rows)
    spec = ViewSpec(Method.RELATION_REPLACEMENT, level=0.5)
    delta, report = make_delta(graph, spec)
    counts = Counter(graph.relation_ids[rel] for rel in delta.replaced_rel.tolist())
    ((most, count),) = counts.most_common(1)
    check_text(report.notes, most, count)
