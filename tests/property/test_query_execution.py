"""Queries on random graphs and views, beside brute force."""

from __future__ import annotations

import pytest
from graph_builder import build_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from query_oracle import Oracle
from query_strategies import queries, valued_triples

from graph_service.model.statement import Rank
from graph_service.model.values import encode_value
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.query.algebra import Query
from graph_service.query.execution import execute
from graph_service.query.result import QueryLimits, QueryResult
from graph_service.views.delta import make_delta
from graph_service.views.overlay import lay


def check(oracle: Oracle, query: Query, result: QueryResult) -> None:
    """Holds a result to what brute force finds."""
    expected = oracle.answer(query)
    values = [encode_value(row.value) for row in result.rows]
    assert len(values) == len({*values}) == result.count
    assert {*values} == expected.values
    assert result.truth == expected.truth
    assert result.unordered == expected.unordered
    measure = result.measure
    assert (measure and (measure.number, measure.values)) == expected.measure
    assert not result.truncated
    assert result.is_complete
    if query.order is not None:
        positions = [oracle.position(value, query.order) for value in values]
        assert positions == sorted(positions)
        assert all(row.ordered_by is not None for row in result.rows)
    if query.path:
        assert all(
            oracle.supports(value, row.statements)
            for value, row in zip(values, result.rows, strict=True)
        )


@settings(max_examples=150)
@given(st.data())
def test_answers_are_those_of_brute_force(data: st.DataObject) -> None:
    triples = data.draw(valued_triples())
    ranks = {0: Rank.DEPRECATED, 1: Rank.PREFERRED} if data.draw(st.booleans()) else {}
    graph = build_graph(triples, ranks=ranks if len(triples) > 1 else {})
    query = data.draw(queries())
    check(Oracle(graph), query, execute(query, graph))


@pytest.mark.parametrize(
    "method",
    [
        Method.RELATION_SWAPPING,
        Method.RELATION_REPLACEMENT,
        Method.EDGE_REWIRING,
        Method.EDGE_DELETION,
    ],
)
@settings(max_examples=30)
@given(st.data())
def test_answers_of_a_view_are_those_of_brute_force(method: Method, data: st.DataObject) -> None:
    graph = build_graph(data.draw(valued_triples()))
    spec = ViewSpec(method, level=0.5, random_seed=data.draw(st.integers(0, 9)))
    overlay = lay(graph, make_delta(graph, spec)[0], view_id="v")
    query = data.draw(queries())
    check(Oracle(graph, overlay), query, execute(query, graph, overlay=overlay))


@settings(max_examples=80)
@given(valued_triples(), queries(), st.integers(0, 6), st.integers(1, 4))
def test_a_cut_says_so_and_makes_no_answers(
    triples: list[tuple[str, str, object]], query: Query, statements: int, walks: int
) -> None:
    """Less work gives fewer answers, unless something is said not to hold."""
    graph = build_graph(triples)  # type: ignore[arg-type]
    result = execute(query, graph, limits=QueryLimits(statements=statements, walks=walks))
    full = execute(query, graph)
    if not result.truncated:
        assert result == full


@settings(max_examples=50)
@given(valued_triples(), queries())
def test_few_rows_are_the_first_of_all(
    triples: list[tuple[str, str, object]], query: Query
) -> None:
    graph = build_graph(triples)  # type: ignore[arg-type]
    full = execute(query, graph)
    few = execute(query, graph, limits=QueryLimits(rows=1))
    assert few.rows == full.rows[:1]
    assert few.count == full.count
    assert [cut.total for cut in few.truncated] == [full.count] * (full.count > 1)
