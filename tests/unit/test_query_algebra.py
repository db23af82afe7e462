"""The form of queries: what is equal, what is refused, and answers worked out by hand (B13)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from graph_builder import build_graph

from graph_service.errors import DeadlineError, InputError
from graph_service.model.days import years
from graph_service.model.limits import Deadline
from graph_service.model.values import EntityValue, Quantity, Time
from graph_service.query.algebra import (
    Among,
    AnyOf,
    Comparable,
    Comparison,
    Condition,
    During,
    Entities,
    Fold,
    Instances,
    Not,
    Number,
    Order,
    Present,
    Query,
    Relation,
    Step,
    Targets,
    conditions_of_list,
)
from graph_service.query.execution import execute
from graph_service.query.result import QueryResult

PART, PRICE, MADE = Relation("part"), Relation("price"), Relation("made")
DEAR = Condition((PRICE,), Number(Comparison.OVER, "100"))
CHEAP = Condition((PRICE,), Number(Comparison.UNDER, "20"))
LIFT = build_graph(
    [
        ("lift", "part", "motor"),
        ("lift", "part", "rope"),
        ("lift", "part", "cabin"),
        ("motor", "price", Quantity("250")),
        ("rope", "price", Quantity("12.5")),
        ("cabin", "price", Quantity("250.0")),
        ("motor", "made", Time("1994-00-00T00:00:00Z", 9)),
        ("cabin", "made", Time("1994-05-03T00:00:00Z", 11)),
        ("rope", "made", Time("2001-01-01T00:00:00Z", 11)),
        ("cabin", "P31", "box"),
        ("box", "P279", "container"),
    ]
)


def ids(result: QueryResult) -> list[str]:
    return [row.value.id for row in result.rows if isinstance(row.value, EntityValue)]


def parts(**of_query: object) -> Query:
    return Query(Entities(("lift",)), (Step(PART),), **of_query)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (Query(Entities(("b", "a", "b"))), Query(Entities(("a", "b")))),
        (parts(filters=(DEAR, CHEAP)), parts(filters=(CHEAP, DEAR, CHEAP))),
        (
            Query(Entities(("lift",)), (Step(PART, (DEAR,)),), (CHEAP,)),
            parts(filters=(DEAR, CHEAP)),
        ),
        (parts(filters=(Not(Not(DEAR)),)), parts(filters=(DEAR,))),  # type: ignore[arg-type]
        (parts(filters=(AnyOf((DEAR,)),)), parts(filters=(DEAR,))),
        (parts(filters=(Not(AnyOf((DEAR, Not(CHEAP)))),)), parts(filters=(Not(DEAR), CHEAP))),
        (
            parts(filters=(Condition((PRICE,), Number(Comparison.OVER, "100.0")),)),
            parts(filters=(DEAR,)),
        ),
        (
            parts(filters=(Condition((), Among(("b", "a"))),)),
            parts(filters=(Condition((), Among(("a", "b"))),)),
        ),
    ],
)
def test_queries_of_one_meaning_are_equal(left: Query, right: Query) -> None:
    assert left == right
    assert hash(left) == hash(right)
    assert left.key == right.key


def test_other_queries_have_other_keys() -> None:
    order = Order((PRICE,), Comparable.NUMBERS)
    different = [
        parts(),
        parts(filters=(DEAR,)),
        parts(filters=(Not(DEAR),)),
        parts(filters=(AnyOf((DEAR, CHEAP)),)),
        parts(filters=(DEAR, CHEAP)),
        parts(order=order),
        parts(order=replace(order, fold=Fold.MEAN)),
        parts(order=replace(order, fold=Fold.COUNT)),
        parts(order=replace(order, first=2)),
        parts(order=replace(order, fold=Fold.SUM, filters=(DEAR,))),
        parts(fold=Fold.COUNT),
        Query(Instances(("lift",)), (Step(PART),)),
        Query(Targets((PART,))),
        Query(Targets((PART.reversed,))),
        Query(Entities(("lift",)), (Step(Relation("part", backward=True)),)),
        Query(Entities(("a", "b")), order=order, fold=Fold.COMPARE),
        Query(Entities(("b", "a")), order=order, fold=Fold.COMPARE),
    ]
    assert len({query.key for query in different}) == len(different)
    # The same on every machine and in every release: stored with results.
    assert parts(filters=(DEAR,)).key == "8eee27a3c4aaf38a70a00e044e56dd95"
    assert parts(order=order).key == "ed7af6caa2378f4f8f95116c9559884d"


def test_a_list_of_ends_has_its_relations_for_conditions() -> None:
    both = Query(Targets((PRICE, PART, PART)))
    assert both == Query(Targets((PART, PRICE)))
    ways = AnyOf(tuple(Condition((each.reversed,), Present()) for each in (PART, PRICE)))
    assert conditions_of_list(both) == frozenset((ways,))
    assert conditions_of_list(Query(Targets((PART,)), (Step(PRICE),))) is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: Query(Entities(())),
        lambda: Query(Targets(())),
        lambda: Query(Entities(("a",)), (Step(PART),) * 4),
        lambda: parts(filters=(Condition((PART,) * 3, Present()),)),
        lambda: parts(filters=(AnyOf(()),)),
        lambda: parts(filters=(Condition((PRICE,), Number(Comparison.OVER, "much")),)),
        lambda: parts(order=Order((PRICE,), Comparable.NUMBERS, rank=0)),
        lambda: parts(order=Order((PRICE,), Comparable.NUMBERS, first=0)),
        lambda: parts(order=Order((PRICE,), Comparable.NUMBERS, rank=1, first=2)),
        lambda: parts(order=Order((PRICE,), Comparable.NUMBERS, fold=Fold.EXISTS)),
        lambda: parts(order=Order((MADE,), Comparable.DATES, fold=Fold.COUNT)),
        lambda: parts(order=Order((), Comparable.NUMBERS, fold=Fold.COUNT)),
        lambda: parts(order=Order((PRICE,), Comparable.NUMBERS, unit="kg", fold=Fold.COUNT)),
        lambda: parts(order=Order((), Comparable.NUMBERS, filters=(Condition((), Present()),))),
        lambda: Query(Entities(("a", "b")), fold=Fold.COMPARE),
        lambda: Query(
            Entities(("a", "a")), order=Order((PRICE,), Comparable.NUMBERS), fold=Fold.COMPARE
        ),
    ],
)
def test_what_is_no_query_is_refused(make: object) -> None:
    with pytest.raises(InputError):
        make()  # type: ignore[operator]


def test_the_most_expensive_are_all_that_cost_as_much() -> None:
    result = execute(parts(order=Order((PRICE,), Comparable.NUMBERS, True, rank=1)), LIFT)
    assert sorted(ids(result)) == ["cabin", "motor"]
    assert {row.ordered_by for row in result.rows} == {Quantity("250"), Quantity("250.0")}
    second = execute(parts(order=Order((PRICE,), Comparable.NUMBERS, True, rank=2)), LIFT)
    assert ids(second) == ["rope"]


def test_dates_that_overlap_are_both_first() -> None:
    """1994 may be before or after 3 May 1994; 2001 is after both."""
    order = Order((MADE,), Comparable.DATES, rank=1)
    assert sorted(ids(execute(parts(order=order), LIFT))) == ["cabin", "motor"]
    last = Order((MADE,), Comparable.DATES, descending=True, rank=1)
    assert ids(execute(parts(order=last), LIFT)) == ["rope"]


def test_an_answer_rests_on_its_way_and_on_what_filters_saw() -> None:
    in_1994 = Condition((MADE,), During(years(1994, 1994)))
    result = execute(parts(filters=(DEAR, in_1994)), LIFT)
    statements = {
        LIFT.statement_ids[edge]: (
            LIFT.node_ids[LIFT.head[edge]],
            LIFT.relation_ids[LIFT.rel[edge]],
        )
        for edge in range(LIFT.edge_count)
    }
    by_id = {row.value: {statements[id_] for id_ in row.statements} for row in result.rows}
    assert by_id == {
        EntityValue(part): {("lift", "part"), (part, "price"), (part, "made")}
        for part in ("motor", "cabin")
    }


def test_instances_are_those_of_subclasses_too() -> None:
    result = execute(Query(Instances(("container",)), fold=Fold.COUNT), LIFT)
    assert (ids(result), result.count) == (["cabin"], 1)


def test_whether_there_is_one_is_unknown_where_the_path_leads_nowhere() -> None:
    exists = parts(filters=(DEAR,), fold=Fold.EXISTS)
    assert execute(exists, LIFT).truth is True
    over = Condition((PRICE,), Number(Comparison.OVER, "1000"))
    assert execute(parts(filters=(over,), fold=Fold.EXISTS), LIFT).truth is False
    nowhere = Query(Entities(("rope",)), (Step(PART),), fold=Fold.EXISTS)
    assert execute(nowhere, LIFT).truth is None


def test_two_are_compared_where_both_have_a_value() -> None:
    def compare(left: str, right: str) -> bool | None:
        order = Order((PRICE,), Comparable.NUMBERS, descending=True)
        return execute(Query(Entities((left, right)), order=order, fold=Fold.COMPARE), LIFT).truth

    assert compare("motor", "rope") is True
    assert compare("rope", "motor") is False
    assert compare("motor", "cabin") is False
    assert compare("motor", "lift") is None


def test_a_query_ends_at_its_deadline() -> None:
    with pytest.raises(DeadlineError, match="relations"):
        execute(parts(), LIFT, deadline=Deadline.after(0))
