"""What enumeration finds on random graphs with no budget: every path that leads somewhere."""

from __future__ import annotations

from itertools import product

from graph_builder import Triple, build_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from query_oracle import Oracle
from query_strategies import ITEMS

from graph_service.model.values import Quantity
from graph_service.query.algebra import Entities, Query, Relation, Step
from graph_service.query.enumeration import (
    EnumerationBudget,
    NamedThing,
    QuestionParts,
    enumerate_queries,
)
from graph_service.query.execution import execute

EVERYTHING = EnumerationBudget(
    beam=10**6, constrained=10**6, queries=10**6, nodes=10**6, step_cost=0.1
)
RELATIONS = ("P22", "P40", "P2048")


@st.composite
def triples(draw: st.DrawFn) -> list[Triple]:
    item = st.sampled_from(ITEMS[:5])
    links = draw(
        st.lists(st.tuples(item, st.sampled_from(RELATIONS[:2]), item), min_size=1, max_size=9)
    )
    values = draw(st.lists(st.tuples(item, st.just("P2048"), st.just(Quantity("1"))), max_size=3))
    return [*links, *values]


@settings(max_examples=15)
@given(triples())
def test_every_path_that_leads_somewhere_is_enumerated(rows: list[Triple]) -> None:
    graph = build_graph(rows)
    start = rows[0][0]
    found = enumerate_queries(QuestionParts([NamedThing(start, (0, 1))]), graph, budget=EVERYTHING)
    oracle = Oracle(graph)
    steps = [Step(Relation(id_, back)) for id_ in RELATIONS for back in (False, True)]
    expected = {
        query
        for length in (1, 2, 3)
        for path in product(steps, repeat=length)
        if oracle.answer(query := Query(Entities((start,)), path)).values
    }
    assert {one.query for one in found.queries} == expected
    assert not found.cuts
    scores = [one.score for one in found.queries]
    assert scores == sorted(scores, reverse=True)


@settings(max_examples=30)
@given(triples(), st.integers(1, 4), st.integers(1, 30))
def test_a_small_budget_finds_a_part_and_says_so(rows: list[Triple], beam: int, most: int) -> None:
    graph = build_graph(rows)
    parts = QuestionParts([NamedThing(rows[0][0], (0, 1)), NamedThing(rows[-1][0], (2, 3))])
    full = enumerate_queries(parts, graph, budget=EVERYTHING)
    few = enumerate_queries(parts, graph, budget=EnumerationBudget(beam=beam, queries=most))
    assert len(few.queries) <= most
    assert {one.query for one in few.queries} <= {one.query for one in full.queries}
    assert few.cuts or few.queries == full.queries
    for one in few.queries:
        if not one.query.filters:
            assert execute(one.query, graph).count
