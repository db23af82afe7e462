"""Queries on a store that is not read whole: the answers are those on its arrays."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from graphs import load_graph
from hypothesis import given, settings
from query_strategies import CLASSES, ITEMS, LINKS, queries

import graph_service.query.stored
from graph_service.model.graph_info import GraphInfo
from graph_service.model.limits import CutReason
from graph_service.model.statement import Rank, Statement, make_statement
from graph_service.model.values import EntityValue, NoValue, Quantity, SomeValue, Time, Value
from graph_service.query.algebra import (
    Comparison,
    Condition,
    Entities,
    Fold,
    Instances,
    Number,
    Query,
    Relation,
    Step,
)
from graph_service.query.execution import execute
from graph_service.query.result import QueryLimits
from graph_service.query.stored import execute_stored
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


@pytest.fixture
def info(store: Store, graph_name: str) -> GraphInfo:
    return load_graph(store, graph_name, valued_statements(5))


@pytest.mark.parametrize("read_alone", [8, 0])
def test_the_store_and_the_arrays_have_one_answer(
    store: Store, info: GraphInfo, monkeypatch: pytest.MonkeyPatch, read_alone: int
) -> None:
    """Whether entities are read one by one or together."""
    monkeypatch.setattr(graph_service.query.stored, "_READ_ALONE", read_alone)
    graph = store.snapshot(info)
    answered = []

    @settings(max_examples=60)
    @given(queries())
    def agree(query: Query) -> None:
        expected = execute(query, graph)
        assert execute_stored(query, store, info) == expected
        answered.append(expected.count)

    agree()
    assert sum(count > 0 for count in answered) > 10


def test_statements_that_were_not_read_are_said_to_be_cut(store: Store, info: GraphInfo) -> None:
    query = Query(Entities(tuple(ITEMS)), (Step(Relation("P22")),), fold=Fold.COUNT)
    full = execute_stored(query, store, info)
    cut = execute_stored(query, store, info, limits=QueryLimits(statements=2))
    assert full.count > 2 >= cut.count > 0
    assert [one.reason for one in cut.truncated] == [CutReason.WORK_BUDGET]
    assert not cut.is_complete


def test_pages_of_one_entity_are_read_one_after_the_other(
    store: Store, graph_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_service.query.stored, "_PAGE", 3)
    parts = [make_statement("lift", "part", EntityValue(f"part {i}")) for i in range(10)]
    prices = [make_statement(f"part {i}", "price", Quantity(str(i))) for i in range(10)]
    info = load_graph(store, graph_name, [*parts, *prices])
    dear = Condition((Relation("price"),), Number(Comparison.AT_LEAST, "4"))
    query = Query(Entities(("lift",)), (Step(Relation("part")),), (dear,))
    assert execute_stored(query, store, info).count == 6
    assert execute_stored(query, store, info) == execute(query, store.snapshot(info))
    nobody = replace(query, start=Entities(("nobody",)))
    assert execute_stored(nobody, store, info).count == 0
    assert execute_stored(Query(Instances(("part",))), store, info).count == 0
