"""The queries that a question may mean, on a small graph of parts (B13)."""

from __future__ import annotations

from dataclasses import replace

from graph_builder import build_graph

from graph_service.model.days import years
from graph_service.model.limits import CutReason
from graph_service.model.values import EntityValue, Quantity, Time
from graph_service.query.algebra import (
    Among,
    Comparable,
    Comparison,
    Condition,
    During,
    Entities,
    Fold,
    Instances,
    Number,
    Order,
    Query,
    Relation,
    Step,
)
from graph_service.query.enumeration import (
    Degree,
    EnumerationBudget,
    NamedTest,
    NamedThing,
    QuestionParts,
    enumerate_queries,
)
from graph_service.query.execution import execute

GRAPH = build_graph(
    [
        ("lift", "part", "motor"),
        ("lift", "part", "rope"),
        ("crane", "part", "hook"),
        ("motor", "price", Quantity("250", "euro")),
        ("rope", "price", Quantity("12", "euro")),
        ("hook", "price", Quantity("40", "euro")),
        ("motor", "made", Time("1994-05-03T00:00:00Z", 11)),
        ("rope", "made", Time("2001-00-00T00:00:00Z", 9)),
        ("motor", "supplier", "Acme"),
        ("rope", "supplier", "Bolt"),
        ("motor", "P31", "Part"),
        ("rope", "P31", "Part"),
        ("hook", "P31", "Part"),
    ]
)
LIFT = Step(Relation("part"))
PRICE, MADE, SUPPLIER = Relation("price"), Relation("made"), Relation("supplier")
SCORES = {"part": 1.0, "price": 0.8, "supplier": 0.4}
DEAREST = Degree(Comparable.NUMBERS, True, (10, 24), {"price": 0.9, "weight": 0.8})
LIFT_NAME = NamedThing("lift", (30, 34))


def best(parts: QuestionParts) -> Query:
    return enumerate_queries(parts, GRAPH).queries[0].query


def test_what_a_question_says_is_all_taken_up() -> None:
    """The most expensive part of the lift that was made in 1994, of Acme."""
    parts = QuestionParts(
        [LIFT_NAME, NamedThing("Acme", (60, 64))],
        [NamedTest(During(years(1994, 1994)), (50, 54))],
        [DEAREST],
        relation_scores=SCORES,
    )
    found = enumerate_queries(parts, GRAPH).queries
    best_score = [one for one in found if one.score == found[0].score]
    # From the lift to its parts and from Acme to what it supplies: two ways to say one thing.
    assert len(best_score) == 2
    (first,) = (one for one in best_score if one.query.start == Entities(("lift",)))
    assert first.query == Query(
        Entities(("lift",)),
        (LIFT,),
        (
            Condition((MADE,), During(years(1994, 1994))),
            Condition((SUPPLIER,), Among(("Acme",))),
        ),
        Order((PRICE,), Comparable.NUMBERS, True, 1, "euro"),
    )
    assert set(first.spans) == {(30, 34), (60, 64), (50, 54), (10, 24)}
    for one in best_score:
        assert [row.value for row in execute(one.query, GRAPH).rows] == [EntityValue("motor")]


def test_a_question_without_an_entity_starts_at_a_class() -> None:
    """Which part costs over 30?"""
    over = Number(Comparison.OVER, "30")
    parts = QuestionParts(
        [NamedThing("Part", (6, 10), is_class=True)],
        [NamedTest(over, (17, 24))],
        relation_scores={"price": 0.8},
    )
    assert best(parts) == Query(Instances(("Part",)), filters=(Condition((PRICE,), over),))


def test_a_choice_yields_only_what_it_names() -> None:
    """Which is more expensive, the rope or the hook?"""
    parts = QuestionParts(
        [NamedThing("rope", (30, 34)), NamedThing("hook", (42, 46))],
        degrees=[DEAREST],
        is_choice=True,
    )
    found = enumerate_queries(parts, GRAPH).queries
    order = Order((PRICE,), Comparable.NUMBERS, True, 1, "euro")
    assert [one.query for one in found] == [Query(Entities(("rope", "hook")), order=order)]
    compared = replace(parts, fold=Fold.COMPARE)
    (only,) = enumerate_queries(compared, GRAPH).queries
    assert execute(only.query, GRAPH).truth is False
    three = replace(compared, things=[*parts.things, LIFT_NAME])
    assert not enumerate_queries(three, GRAPH).queries
    alone = QuestionParts([NamedThing("rope", (0, 4))], degrees=[DEAREST], is_choice=True)
    assert not enumerate_queries(alone, GRAPH).queries


def test_words_that_told_namesakes_apart_are_no_filter() -> None:
    things = [LIFT_NAME, NamedThing("Acme", (60, 64))]
    parts = QuestionParts(things, relation_scores=SCORES)
    assert best(parts).filters
    used = QuestionParts(things, relation_scores=SCORES, used=[(60, 64)])
    assert not any(
        one.query.filters
        for one in enumerate_queries(used, GRAPH).queries
        if one.query.start == Entities(("lift",))
    )


def test_a_required_relation_is_on_every_path() -> None:
    parts = QuestionParts([LIFT_NAME], required=[frozenset({"supplier", "made"})])
    found = enumerate_queries(parts, GRAPH).queries
    assert found
    assert all({"supplier", "made"} & {one.id for one in each.query.relations} for each in found)


def test_whether_it_is_so_asks_for_the_named_end() -> None:
    parts = QuestionParts(
        [LIFT_NAME, NamedThing("rope", (8, 12))], fold=Fold.EXISTS, relation_scores={"part": 1.0}
    )
    expected = Query(
        Entities(("lift",)), (LIFT,), (Condition((), Among(("rope",))),), fold=Fold.EXISTS
    )
    queries = [one.query for one in enumerate_queries(parts, GRAPH).queries]
    assert expected in queries[:5]
    assert execute(expected, GRAPH).truth is True


def test_what_a_budget_cuts_is_named() -> None:
    parts = QuestionParts([LIFT_NAME], relation_scores=SCORES)
    cut = enumerate_queries(
        parts, GRAPH, budget=EnumerationBudget(beam=1, constrained=1, queries=1, nodes=1)
    )
    assert [one.what for one in cut.cuts] == ["nodes", "paths", "constrained"]
    assert all(one.reason is CutReason.WORK_BUDGET for one in cut.cuts)
    assert not enumerate_queries(parts, GRAPH).cuts


def test_no_query_starts_at_what_a_question_leaves_out() -> None:
    """The parts of the lift, except those of Acme."""
    acme = NamedThing("Acme", (60, 64), is_negated=True)
    parts = QuestionParts([LIFT_NAME, acme], relation_scores=SCORES)
    queries = [each.query for each in enumerate_queries(parts, GRAPH).queries]
    assert queries
    assert all(query.start == Entities(("lift",)) for query in queries)
