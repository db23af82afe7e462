"""Queries as Cypher, run on a real Neo4j: their answers are those over the arrays."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from typing import Any

import neo4j
import pytest
from graphs import load_graph
from hypothesis import given, settings
from neo4j_server import Neo4jServer
from query_strategies import CLASSES, ITEMS, LINKS, queries

from graph_service.model.graph import KnowledgeGraph
from graph_service.model.statement import Entity, Rank, Statement, make_statement
from graph_service.model.values import (
    EntityValue,
    Iri,
    MonolingualText,
    NoValue,
    Quantity,
    SomeValue,
    StringValue,
    Time,
    Value,
    encode_value,
)
from graph_service.query.algebra import (
    MEASURES,
    Comparable,
    Condition,
    Entities,
    Fold,
    Order,
    Query,
    Relation,
    Step,
    Text,
)
from graph_service.query.cypher import render_cypher
from graph_service.query.execution import _bounds, execute
from graph_service.store.protocol import Batch, Store

pytestmark = pytest.mark.neo4j
HOSTILE = 'it\'s a \\ "quote"\n}) DETACH DELETE n //'


def statements() -> list[Statement]:
    draw = random.Random(11)
    made: dict[str, Statement] = {}

    def say(head: str, relation: str, value: Value) -> None:
        rank = draw.choice([Rank.NORMAL, Rank.NORMAL, Rank.PREFERRED, Rank.DEPRECATED])
        statement = make_statement(head, relation, value, rank=rank)
        made[statement.id] = statement

    for _ in range(40):
        say(draw.choice(ITEMS), draw.choice(LINKS), EntityValue(draw.choice(ITEMS)))
    dates: list[Value] = [
        Time("1994-00-00T00:00:00Z", 9),
        Time("1994-05-00T00:00:00Z", 10),
        Time("1994-05-03T00:00:00Z", 11),
        Time("1990-01-01T00:00:00Z", 8),
        Time("1901-00-00T00:00:00Z", 7),
        Time("-0044-03-15T00:00:00Z", 11),
        Time("-0109-01-01T00:00:00Z", 7),
        Time("12000-00-00T00:00:00Z", 9),
        StringValue("1994"),
        StringValue("1994-05"),
        StringValue("1994", "external-id"),
        EntityValue("2001"),
        SomeValue(),
        NoValue(),
    ]
    for value in dates * 2:
        say(draw.choice(ITEMS), "P569", value)
    numbers: list[Value] = [
        Quantity("12"),
        Quantity("12.0", "Q11573"),
        Quantity("3.5", "Q11573", "3", "4"),
        Quantity("-3", None, "-4", "-2"),
        StringValue("+12"),
        StringValue("12 m"),
        StringValue('it\'s "a" \\ {x}'),
        MonolingualText("12", "en"),
        Iri("https://example.org/'12'"),
    ]
    for value in numbers * 2:
        say(draw.choice(ITEMS), "P2048", value)
    for _ in range(8):
        say(draw.choice(ITEMS), "P31", EntityValue(draw.choice(CLASSES)))
    say("Q102", "P279", EntityValue("Q101"))
    say("Q103", "P279", EntityValue("Q102"))
    say("Q101", "P279", EntityValue("Q103"))
    say(HOSTILE, HOSTILE, StringValue(HOSTILE))
    return [*made.values()]


@pytest.fixture(scope="module")
def graph(neo4j_store: Store) -> Iterator[KnowledgeGraph]:
    name = f"queries-{uuid.uuid4().hex}"
    info = load_graph(neo4j_store, name, statements(), [Entity("Q1", labels={"en": "one"})])
    yield neo4j_store.snapshot(info)
    neo4j_store.delete_graph(name)


@pytest.fixture(scope="module")
def driver(neo4j_server: Neo4jServer) -> Iterator[neo4j.Driver]:
    password = neo4j_server.password
    auth = (neo4j_server.username or "", password) if password else None
    with neo4j.GraphDatabase.driver(
        neo4j_server.url, auth=auth, notifications_min_severity="OFF"
    ) as driver:
        yield driver


def answers(driver: neo4j.Driver, server: Neo4jServer, text: str) -> list[Any]:
    with driver.session(database=server.database) as session:
        return [record["answer"] for record in session.run(text)]


def expected_answers(query: Query, graph: KnowledgeGraph) -> list[Any]:
    found = execute(query, graph)
    if found.measure is not None:
        return [None if found.measure.number is None else float(found.measure.number)]
    if query.fold is Fold.COUNT:
        return [found.count]
    if query.fold is Fold.EXISTS:
        return [bool(found.truth)]
    if query.fold is Fold.COMPARE:
        return [found.truth]
    return [
        row.value.id if isinstance(row.value, EntityValue) else encode_value(row.value)
        for row in found.rows
    ]


def as_texts(answers: list[Any]) -> list[str]:
    """Answers in no order; of a mean as many digits as all sums have alike."""
    return sorted(f"{each:.9g}" if isinstance(each, float) else str(each) for each in answers)


def test_cypher_has_the_answers_of_the_query(
    driver: neo4j.Driver, neo4j_server: Neo4jServer, graph: KnowledgeGraph
) -> None:
    answered = []

    @settings(max_examples=45)
    @given(queries())
    def agree(query: Query) -> None:
        text = render_cypher(query, graph=graph.name)
        returned = answers(driver, neo4j_server, text)
        expected = expected_answers(query, graph)
        assert as_texts(returned) == as_texts(expected), text
        answered.append(len(expected))

    agree()
    assert sum(count > 1 for count in answered) > 3


def test_an_order_is_that_of_the_query(
    driver: neo4j.Driver, neo4j_server: Neo4jServer, graph: KnowledgeGraph
) -> None:
    for kind, relation in ((Comparable.DATES, "P569"), (Comparable.NUMBERS, "P2048")):
        for descending in (False, True):
            order = Order((Relation(relation),), kind, descending)
            query = Query(Entities(tuple(ITEMS)), order=order)
            returned = answers(driver, neo4j_server, render_cypher(query, graph=graph.name))
            rows = execute(query, graph).rows
            # Of equal numbers, 12 and +12, either may come first.
            of_item = {
                row.value.id: _bounds(row.ordered_by, order)
                for row in rows
                if isinstance(row.value, EntityValue) and row.ordered_by is not None
            }
            assert len(returned) == len(of_item) == len(rows) > 4
            assert [of_item[id_] for id_ in returned] == [*of_item.values()]


def test_text_of_the_graph_is_data(
    driver: neo4j.Driver, neo4j_server: Neo4jServer, graph: KnowledgeGraph
) -> None:
    same = Condition((), Text(HOSTILE))
    query = Query(Entities((HOSTILE,)), (Step(Relation(HOSTILE)),), (same,))
    text = render_cypher(query, graph=graph.name)
    assert answers(driver, neo4j_server, text) == [encode_value(StringValue(HOSTILE))]


OTHERS = {
    "Q1": ["http://a.org/one"],
    "Q2": ["http://a.org/two", "http://b.org/two"],
    "Q3": ["http://a.org/three"],
    "Q102": ["http://a.org/class"],
}


def linked_statements() -> list[Statement]:
    """Statements of which some are said of the same things in another source."""
    draw = random.Random(7)

    def source_of(id_: str) -> str:
        return draw.choice([id_, *OTHERS.get(id_, [])])

    made: dict[str, Statement] = {}
    for stated in statements():
        for _ in range(2):
            value = stated.value
            if isinstance(value, EntityValue):
                value = EntityValue(source_of(value.id))
            head = source_of(stated.head)
            statement = make_statement(head, stated.relation, value, rank=stated.rank)
            made[statement.id] = statement
    return [*made.values()]


@pytest.fixture
def linked(neo4j_store: Store) -> Iterator[KnowledgeGraph]:
    """A graph of three sources: things joined by a link, by a chain, and by a third that is absent.

    It is loaded in two steps, so that the second adds to groups of the first.
    """
    name = f"linked-{uuid.uuid4().hex}"
    entities = [
        Entity("http://a.org/one", same_as=("Q1",)),
        Entity("http://a.org/two", same_as=("http://b.org/two",)),
        Entity("http://a.org/three", same_as=("http://absent.org/3",)),
        Entity("http://a.org/class", same_as=("Q102",)),
    ]
    load_graph(neo4j_store, name, linked_statements(), entities)
    later = [
        Entity("http://b.org/two", same_as=("Q2",)),
        Entity("Q3", same_as=("http://absent.org/3",)),
    ]
    with neo4j_store.begin_load(name, replace=False, owner="test", source="test") as load:
        load.write(Batch(entities=later, terms_only=True))
        load.finish()
        info = load.publish()
    yield neo4j_store.snapshot(info)
    neo4j_store.delete_graph(name)


def test_cypher_joins_entities_that_are_one_thing(
    driver: neo4j.Driver, neo4j_server: Neo4jServer, linked: KnowledgeGraph
) -> None:
    """The answers of the arrays, each named by the entity of its thing that they name (B12, B15)."""
    assert linked.equal.group_count == 4
    crossing = []

    @settings(max_examples=16)
    @given(queries(has_measures=False))
    def agree(query: Query) -> None:
        text = render_cypher(query, graph=linked.name, joins_equal=True)
        returned = answers(driver, neo4j_server, text)
        expected = expected_answers(query, linked)
        assert as_texts(returned) == as_texts(expected), text
        plain = answers(driver, neo4j_server, render_cypher(query, graph=linked.name))
        crossing.append(plain != returned)

    agree()
    # Without the links the answers are others.
    assert sum(crossing) > 0
    for fold in sorted(MEASURES):
        order = Order((Relation("P2048"),), Comparable.NUMBERS, unit="Q11573")
        query = Query(Entities(tuple(ITEMS)), (Step(Relation("P40")),), (), order, fold)
        text = render_cypher(query, graph=linked.name, joins_equal=True)
        expected = expected_answers(query, linked)
        assert expected != [None]
        assert as_texts(answers(driver, neo4j_server, text)) == as_texts(expected)
