"""Queries as SPARQL, run over exported N-Triples: their answers are those over the arrays (B12)."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from graphs import load_graph
from hypothesis import given, settings
from query_strategies import CLASSES, ITEMS, LINKS, queries

from graph_service.export import ExportedGraph, export
from graph_service.export.ntriples import NTriplesWriter, iri_of
from graph_service.export.report import Omissions
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.statement import Entity, Statement, make_statement
from graph_service.model.values import (
    EntityValue,
    MonolingualText,
    Quantity,
    StringValue,
    Time,
    Value,
)
from graph_service.query.algebra import (
    MEASURES,
    Condition,
    Entities,
    Fold,
    Instances,
    Query,
    Relation,
    Step,
    Text,
)
from graph_service.query.execution import execute
from graph_service.query.sparql import render_sparql
from graph_service.store import open_store

HOSTILE = 'it\'s a \\ "quote"\n} ; DROP ALL #'
DBPEDIA = "http://dbpedia.org/resource/Harry_Potter_and_the_Philosopher's_Stone"
AUTHOR = "http://dbpedia.org/ontology/author"


def statements() -> list[Statement]:
    draw = random.Random(11)
    made: dict[str, Statement] = {}

    def say(head: str, relation: str, value: Value) -> None:
        statement = make_statement(head, relation, value)
        made[statement.id] = statement

    for _ in range(40):
        say(draw.choice(ITEMS), draw.choice(LINKS), EntityValue(draw.choice(ITEMS)))
    dates: list[Value] = [
        Time("1994-00-00T00:00:00Z", 9),
        Time("1994-05-00T00:00:00Z", 10),
        Time("1994-05-03T00:00:00Z", 11),
        Time("2001-12-31T00:00:00Z", 11),
        Time("-0044-03-15T00:00:00Z", 11),
        Time("-0001-00-00T00:00:00Z", 9),
        StringValue("1994"),
        StringValue("1994-05"),
    ]
    for value in dates * 2:
        say(draw.choice(ITEMS), "P569", value)
    numbers: list[Value] = [
        Quantity("12"),
        Quantity("3.5"),
        Quantity("-3"),
        Quantity("100"),
        StringValue("12 moons"),
        StringValue('it\'s "a" \\ {x}'),
    ]
    for value in numbers * 2:
        say(draw.choice(ITEMS), "P2048", value)
    for _ in range(8):
        say(draw.choice(ITEMS), "P31", EntityValue(draw.choice(CLASSES)))
    say("Q102", "P279", EntityValue("Q101"))
    say("Q103", "P279", EntityValue("Q102"))
    say("Q101", "P279", EntityValue("Q103"))
    say("Q1", "P1", StringValue(HOSTILE))
    say("Q1", "P1", MonolingualText("another", "en"))
    say(DBPEDIA, AUTHOR, EntityValue("http://dbpedia.org/resource/J._K._Rowling"))
    return [*made.values()]


@dataclass(frozen=True)
class Exported:
    """A graph, its triples, and how the export writes its values."""

    graph: KnowledgeGraph
    triples: ox.Store
    written: Mapping[Value, str]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    folder = tmp_path_factory.mktemp("sparql")
    triples = ox.Store()
    with open_store(f"sqlite:///{folder / 'graph.db'}") as store:
        content = ExportedGraph(store, load_graph(store, "small", statements()))
        export(content, str(folder / "graph.nt"))
        triples.load(path=str(folder / "graph.nt"), format=ox.RdfFormat.N_TRIPLES)
        written = {one.value: term_of(one.value, content) for one in statements()}
        return Exported(store.snapshot(content.info), triples, written)


def term_of(value: Value, content: ExportedGraph) -> str:
    """A value of one of Wikidata's properties as the export writes it."""
    out = BytesIO()
    writer = NTriplesWriter(out, content, Omissions(), quads=False)
    writer.statement(make_statement("Q1", "P1", value))
    return out.getvalue().decode().splitlines()[-1].split(" ", 2)[2].removesuffix(" .")


def answers(triples: ox.Store, text: str) -> Any:
    found = triples.query(text)
    if isinstance(found, ox.QueryBoolean):
        return bool(found)
    assert isinstance(found, ox.QuerySolutions)
    if str(found.variables[0]) == "?count":
        return int(next(found)["count"].value)
    if str(found.variables[0]) == "?measure":
        row = next(found, None)
        return None if row is None else pytest.approx(float(row["measure"].value), abs=1e-9)
    return [str(row["x"]) for row in found]


def expected_answers(query: Query, exported: Exported) -> Any:
    found = execute(query, exported.graph)
    if found.measure is not None:
        return None if found.measure.number is None else float(found.measure.number)
    if query.fold is Fold.COUNT:
        return found.count
    if query.fold in (Fold.EXISTS, Fold.COMPARE):
        return found.truth is True
    return [
        iri_of(row.value.id) if isinstance(row.value, EntityValue) else exported.written[row.value]
        for row in found.rows
    ]


def test_sparql_has_the_answers_of_the_query(exported: Exported) -> None:
    answered, measured = [], []

    @settings(max_examples=180)
    @given(queries(has_units=False))
    def agree(query: Query) -> None:
        text = render_sparql(query)
        assert text is not None
        expected = expected_answers(query, exported)
        returned = answers(exported.triples, text)
        if isinstance(expected, list):
            assert isinstance(returned, list)
            assert sorted(returned) == sorted(expected), text
            answered.append(len(expected))
        else:
            assert returned == expected, text
            measured.append(query.fold in MEASURES and expected is not None)

    agree()
    assert sum(measured) > 3
    assert sum(count > 1 for count in answered) > 20


def test_text_of_the_graph_is_data(exported: Exported) -> None:
    same = Condition((), Text(HOSTILE))
    query = Query(Entities(("Q1",)), (Step(Relation("P1")),), (same,), fold=Fold.COUNT)
    text = render_sparql(query)
    assert text is not None
    assert answers(exported.triples, text) == execute(query, exported.graph).count == 1


def test_iris_are_written_whole(exported: Exported) -> None:
    query = Query(Entities((DBPEDIA,)), (Step(Relation(AUTHOR)),))
    text = render_sparql(query)
    assert text is not None
    assert answers(exported.triples, text) == ["<http://dbpedia.org/resource/J._K._Rowling>"]
    assert f"<{DBPEDIA}> <{AUTHOR}> ?x ." in text


@pytest.mark.parametrize(
    "query",
    [
        Query(Entities(("Wheelchair Lift W4",)), (Step(Relation("P1")),)),
        Query(Entities(("Q1",)), (Step(Relation("part of")),)),
        Query(Instances(("lift",))),
        Query(Entities(("http://a/<b>",)), (Step(Relation("P1")),)),
    ],
)
def test_ids_that_are_no_iris_have_no_sparql(query: Query) -> None:
    assert render_sparql(query) is None


def linked_entities() -> list[Entity]:
    """Items and classes that are one thing: by a link, by a chain, or by a third that is absent."""
    links = {
        "http://a.org/one": ["Q1"],
        "http://a.org/two": ["http://b.org/two"],
        "http://b.org/two": ["Q2"],
        "http://a.org/three": ["http://absent.org/3"],
        "Q3": ["http://absent.org/3"],
        "http://a.org/class": ["Q102"],
    }
    return [Entity(id_, same_as=tuple(same)) for id_, same in links.items()]


def linked_statements() -> list[Statement]:
    """Statements of which some are said of the same things in another source.

    Values are Wikidata's, as those of its properties are.
    """
    draw = random.Random(7)
    others = {
        "Q1": ["http://a.org/one"],
        "Q2": ["http://a.org/two", "http://b.org/two"],
        "Q3": ["http://a.org/three"],
        "Q102": ["http://a.org/class"],
    }

    def source_of(id_: str) -> str:
        return draw.choice([id_, *others.get(id_, [])])

    made: dict[str, Statement] = {}
    for stated in statements():
        for _ in range(2):
            statement = make_statement(source_of(stated.head), stated.relation, stated.value)
            made[statement.id] = statement
    return [*made.values()]


def test_sparql_joins_entities_that_are_one_thing(tmp_path: Path) -> None:
    """The answers of the arrays, each named by one entity of its thing (B12)."""
    triples = ox.Store()
    with open_store(f"sqlite:///{tmp_path / 'graph.db'}") as store:
        said = linked_statements()
        content = ExportedGraph(store, load_graph(store, "linked", said, linked_entities()))
        export(content, str(tmp_path / "graph.nt"))
        triples.load(path=str(tmp_path / "graph.nt"), format=ox.RdfFormat.N_TRIPLES)
        written = {one.value: term_of(one.value, content) for one in said}
        linked = Exported(store.snapshot(content.info), triples, written)
    graph = linked.graph
    assert graph.equal.group_count == 4
    first: dict[str, str] = {}
    for group in range(graph.equal.group_count):
        iris = [iri_of(graph.node_ids[node]) for node in graph.equal.of_group(group)]
        first.update(dict.fromkeys(iris, min(iris)))
    crossing = []

    @settings(max_examples=180)
    @given(queries(has_units=False))
    def agree(query: Query) -> None:
        text = render_sparql(query, joins_equal=True)
        plain = render_sparql(query)
        assert text is not None
        assert plain is not None
        expected = expected_answers(query, linked)
        returned = answers(triples, text)
        if isinstance(expected, list):
            assert isinstance(returned, list)
            expected = [first.get(term, term) for term in expected]
            assert sorted(returned) == sorted(expected), text
        else:
            assert returned == expected, text
        crossing.append(answers(triples, plain) != returned)

    agree()
    # Without the links the answers are others.
    assert sum(crossing) > 20
