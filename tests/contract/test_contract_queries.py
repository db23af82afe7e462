"""Queries over graphs whose sources have several ids of one thing (B13)."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest
from graphs import load_graph
from hypothesis import given, settings
from query_strategies import CLASSES, ITEMS, LINKS, queries

from graph_service.model.identity import key64
from graph_service.model.statement import Entity, Rank, Statement, make_statement
from graph_service.model.values import EntityValue, NoValue, Quantity, SomeValue, Time, Value
from graph_service.query.algebra import (
    Entities,
    Query,
    Relation,
    Step,
)
from graph_service.query.execution import execute
from graph_service.query.result import QueryResult
from graph_service.store.protocol import Store


def valued_statements(seed: int) -> list[Statement]:
    """Statements between some entities, of their classes and with values, of all ranks."""
    draw = random.Random(seed)
    made: dict[str, Statement] = {}

    def say(head: str, relation: str, value: Value) -> None:
        rank = draw.choice([Rank.NORMAL, Rank.NORMAL, Rank.PREFERRED, Rank.DEPRECATED])
        statement = make_statement(head, relation, value, rank=rank)
        made[statement.id] = statement

    for _ in range(40):
        say(draw.choice(ITEMS), draw.choice(LINKS), EntityValue(draw.choice(ITEMS)))
    for _ in range(12):
        day = Time(f"{draw.choice([1990, 1994, 2001])}-05-0{draw.randint(1, 3)}T00:00:00Z")
        dates: list[Value] = [day, SomeValue(), NoValue()]
        say(draw.choice(ITEMS), "P569", draw.choice(dates))
        amount = draw.choice(["12", "3.5", "100"])
        say(draw.choice(ITEMS), "P2048", Quantity(amount, draw.choice([None, "Q11573"])))
        say(draw.choice(ITEMS), "P31", EntityValue(draw.choice(CLASSES)))
    say("Q102", "P279", EntityValue("Q101"))
    say("Q103", "P279", EntityValue("Q102"))
    return [*made.values()]


def id_elsewhere(id_: str) -> str:
    """An id of the same thing in another source; of the two the first has the smaller key."""
    ids = (f"http://b.org/{id_}/{number}" for number in count())
    return next(other for other in ids if key64(other) > key64(id_))


ELSEWHERE = {id_: id_elsewhere(id_) for id_ in (*ITEMS, *CLASSES)}


def of_two_sources(statements: list[Statement], seed: int) -> list[Statement]:
    """The same statements, each of whose ends now has the one id and now the other."""
    draw = random.Random(seed)

    def either(id_: str) -> str:
        return draw.choice([id_, ELSEWHERE.get(id_, id_)])

    return [
        replace(
            each,
            head=either(each.head),
            value=EntityValue(either(each.value.id))
            if isinstance(each.value, EntityValue)
            else each.value,
        )
        for each in statements
    ]


def compared(result: QueryResult) -> QueryResult:
    """A result whose statements have no order: theirs is that of the ids of their heads."""
    rows = [replace(row, statements=tuple(sorted(row.statements))) for row in result.rows]
    return replace(result, rows=tuple(rows))


@pytest.mark.parametrize("seed", range(3))
def test_entities_that_are_one_thing_are_one_node(
    store: Store, graph_names: Callable[[], str], seed: int
) -> None:
    """Random queries have the answers of the graph whose things have one id each."""
    distinct = {(each.head, each.relation, str(each.value)): each for each in valued_statements(5)}
    statements = [*distinct.values()]
    links = [Entity(id_, same_as=(other,)) for id_, other in ELSEWHERE.items()]
    merged = store.snapshot(load_graph(store, graph_names(), statements))
    info = load_graph(store, graph_names(), of_two_sources(statements, seed), links)
    linked = store.snapshot(info)
    answered = []

    @settings(max_examples=200)
    @given(queries())
    def agree(query: Query) -> None:
        expected = execute(query, merged)
        result = execute(query, linked)
        assert compared(result) == compared(expected)
        if isinstance(query.start, Entities):
            others = Entities(tuple(ELSEWHERE.get(id_, id_) for id_ in query.start.ids))
            assert execute(replace(query, start=others), linked) == result
        answered.append(expected.count)

    agree()
    assert sum(count > 0 for count in answered) > 20


def test_a_statement_of_another_source_leads_back_no_more_than_itself(
    store: Store, graph_name: str
) -> None:
    """Both sources say who the mother is: who has the same mother is the brother, not the child."""
    mother, other = "http://a.org/mother", "http://b.org/mother"
    statements = [
        make_statement("http://a.org/child", "mother", EntityValue(mother)),
        make_statement("http://b.org/child", "mother", EntityValue(other)),
        make_statement("http://b.org/brother", "mother", EntityValue(other)),
    ]
    links = [
        Entity("http://a.org/child", same_as=("http://b.org/child",)),
        Entity(mother, same_as=(other,)),
    ]
    info = load_graph(store, graph_name, statements, links)
    path = (Step(Relation("mother")), Step(Relation("mother", backward=True)))
    query = Query(Entities(("http://a.org/child",)), path)
    result = execute(query, store.snapshot(info))
    assert [row.value for row in result.rows] == [EntityValue("http://b.org/brother")]


def test_sources_that_contradict_each_other_both_answer(store: Store, graph_name: str) -> None:
    dates = [Time("1920-05-01T00:00:00Z"), Time("1921-05-01T00:00:00Z")]
    statements = [
        make_statement("http://a.org/zelda", "born", dates[0]),
        make_statement("http://b.org/zelda", "born", dates[1]),
    ]
    links = [Entity("http://a.org/zelda", same_as=("http://b.org/zelda",))]
    info = load_graph(store, graph_name, statements, links)
    query = Query(Entities(("http://b.org/zelda",)), (Step(Relation("born")),))
    result = execute(query, store.snapshot(info))
    assert {(row.value, row.statements) for row in result.rows} == {
        (date, (statement.id,)) for date, statement in zip(dates, statements, strict=True)
    }
