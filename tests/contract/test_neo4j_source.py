"""A property graph that is already in a Neo4j is loaded, and is not written to (S1)."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import neo4j
import pytest
from error_texts import check_counts, check_line, check_text, raises
from neo4j_server import Neo4jServer

from graph_service.cli import main
from graph_service.errors import InputError, StoreError
from graph_service.model.statement import Entity, Statement
from graph_service.model.values import (
    Coordinates,
    EntityValue,
    Quantity,
    StringValue,
    Time,
)
from graph_service.settings import SETTINGS
from graph_service.store import open_store
from graph_service.store.neo4j.driver import Connection
from graph_service.store.neo4j.property_graph import open_property_graph
from graph_service.store.protocol import Store
from loaders.items import Parsed
from loaders.load import load
from loaders.options import LoadOptions
from loaders.property_graph.mapping import read_mapping
from loaders.property_graph.options import Neo4jOptions
from loaders.property_graph.reader import CHANGED, NO_HEAD_ID, SHARED_ID, _Graph
from loaders.records import UNACCOUNTED_REASON, RecordCounts
from loaders.report import EXIT_REJECTS, LoadReport

pytestmark = pytest.mark.neo4j

FILMS = """
CREATE (keanu:$($p) {key: 1, name: 'Keanu Reeves', aka: ['The One', 'Neo'], bio: 'actor',
    born: date('1964-09-02'), height: 1.86, home: point({longitude: -118.2, latitude: 34.05}),
    photo: null, plays: [1, 2]})
CREATE (carrie:$($p):$($f) {key: 2, name: 'Carrie-Anne Moss'})
CREATE (odd:$($p) {name: 'without a key'})
CREATE (matrix:$($f) {title: 'The Matrix', `odd ``name`: 'x', released: 1999})
CREATE (other:$($o) {key: 9})
CREATE (keanu)-[:ACTED_IN {role: 'Neo', scenes: 41}]->(matrix)
CREATE (carrie)-[:ACTED_IN {role: 'Trinity'}]->(matrix)
CREATE (carrie)-[:KNOWS]->(keanu)
CREATE (keanu)-[:KNOWS]->(carrie)
CREATE (keanu)-[:ACTED_IN]->(other)
CREATE (keanu)-[:KNOWS]->(odd)
"""
MAPPING = """
base_iri = "http://films.example/"
type_relation = "P31"

[nodes.PERSON]
id = "key"
name = ["name", "aka"]
description = "bio"
type = "Q5"
relations = { born = "P569" }

[nodes.FILM]
id = "title"
iri = ""
name = "title"
literals = ["released"]

[relationships.ACTED_IN]
relation = "P161"
reverse = true

[relationships.KNOWS]
"""


@pytest.fixture
def run(neo4j_server: Neo4jServer) -> Iterator[Callable[..., list[list[object]]]]:
    """Runs Cypher on the test server."""
    auth = None
    if neo4j_server.password is not None:
        auth = (neo4j_server.username or "neo4j", neo4j_server.password)
    with neo4j.GraphDatabase.driver(neo4j_server.url, auth=auth) as driver:

        def run(query: str, **parameters: object) -> list[list[object]]:
            found = driver.execute_query(
                query, parameters_=parameters, database_=neo4j_server.database
            )
            return [record.values() for record in found.records]

        yield run


@pytest.fixture
def labels(run: Callable[..., list[list[object]]]) -> Iterator[dict[str, str]]:
    """Labels that no other test has; what carries them is removed afterwards."""
    tail = uuid.uuid4().hex
    names = {"PERSON": f"Person {tail}", "FILM": f"Film`{tail}", "OTHER": f"Other{{{tail}}}"}
    yield names
    for name in names.values():
        run("MATCH (n:$($name)) DETACH DELETE n", name=name)


@pytest.fixture
def films(run: Callable[..., list[list[object]]], labels: dict[str, str]) -> dict[str, str]:
    run(FILMS, p=labels["PERSON"], f=labels["FILM"], o=labels["OTHER"])
    return labels


@pytest.fixture
def loads(
    neo4j_server: Neo4jServer, films: dict[str, str], tmp_path: Path
) -> Callable[..., LoadReport]:
    """Loads from the test server by a mapping, whose labels are put in their places."""

    def load_it(store: Store, graph: str, mapping: str = MAPPING, **fields: object) -> LoadReport:
        path = tmp_path / "mapping.toml"
        path.write_text(with_labels(mapping, films))
        stop = fields.pop("stop", None)
        options = LoadOptions(
            rejects_path=tmp_path / "rejects.jsonl",
            neo4j=Neo4jOptions(
                read_mapping(path),
                partial(
                    open_property_graph,
                    username=neo4j_server.username,
                    password=neo4j_server.password,
                    database=neo4j_server.database,
                ),
                database=neo4j_server.database,
                **fields,  # type: ignore[arg-type]
            ),
        )
        return load(neo4j_server.url, store=store, graph=graph, options=options, stop=stop)  # type: ignore[arg-type]

    return load_it


def with_labels(mapping: str, labels: dict[str, str]) -> str:
    for name, label in labels.items():
        mapping = mapping.replace(f"[nodes.{name}", f"[nodes.'{label}'")
    return mapping


def content(store: Store, graph: str) -> tuple[list[Entity], set[tuple[object, ...]]]:
    edition = store.graph(graph).edition
    entities = [item for chunk in store.scan_entities(edition) for item in chunk]
    statements = [item for chunk in store.scan_statements(edition) for item in chunk]
    return entities, {parts(item) for item in statements}


def parts(item: Statement) -> tuple[object, ...]:
    qualifiers = tuple((snak.relation, snak.value) for snak in item.qualifiers)
    return item.head, item.relation, item.value, qualifiers


KEANU, CARRIE = "http://films.example/1", "http://films.example/2"
STATEMENTS = {
    (KEANU, "P31", EntityValue("Q5"), ()),
    (CARRIE, "P31", EntityValue("Q5"), ()),
    (KEANU, "P569", Time("1964-09-02T00:00:00Z", 11), ()),
    (KEANU, "height", Quantity("1.86"), ()),
    (KEANU, "home", Coordinates(34.05, -118.2), ()),
    (KEANU, "plays", Quantity("1"), ()),
    (KEANU, "plays", Quantity("2"), ()),
    ("The Matrix", "released", Quantity("1999"), ()),
    (
        "The Matrix",
        "P161",
        EntityValue(KEANU),
        (("role", StringValue("Neo")), ("scenes", Quantity("41"))),
    ),
    ("The Matrix", "P161", EntityValue(CARRIE), (("role", StringValue("Trinity")),)),
    (CARRIE, "KNOWS", EntityValue(KEANU), ()),
    (KEANU, "KNOWS", EntityValue(CARRIE), ()),
}


def test_a_property_graph_becomes_entities_and_statements(
    loads: Callable[..., LoadReport], tmp_store: Store, films: dict[str, str]
) -> None:
    """S1: labels, ids, names, types, typed properties, directions, qualifiers; the rest counted."""
    report = loads(tmp_store, "films")
    entities, statements = content(tmp_store, "films")
    film_type = ("The Matrix", "P31", EntityValue(films["FILM"]), ())
    assert statements == STATEMENTS | {film_type}
    by_id = {entity.id: entity for entity in entities}
    assert by_id[KEANU].labels == {"en": "Keanu Reeves"}
    assert set(by_id[KEANU].aliases["en"]) == {"The One", "Neo"}
    assert by_id[KEANU].descriptions == {"en": "actor"}
    # A node of two labels belongs to the first in the file.
    assert by_id[CARRIE].labels == {"en": "Carrie-Anne Moss"}
    check_counts(report.skipped, 1, 1, 1, 1)
    assert report.rejected == 0
    assert report.formats == {"neo4j": 1}
    check_line(report.lines(), "10 in", "7 read", "0 rejected", "3 passed")


def test_relationships_from_nodes_without_an_id_are_passed_over(
    loads: Callable[..., LoadReport],
    run: Callable[..., list[list[object]]],
    tmp_store: Store,
    films: dict[str, str],
) -> None:
    run(
        "MATCH (odd:$($p) {name: 'without a key'}), (keanu:$($p) {key: 1}) "
        "CREATE (odd)-[:KNOWS]->(keanu) CREATE (odd)-[:UNNAMED]->(keanu)",
        p=films["PERSON"],
    )
    report = loads(tmp_store, "films")
    assert report.skipped[NO_HEAD_ID] == 1
    assert report.records == RecordCounts(read=7, passed_over=4)
    assert report.source_records == 11
    assert report.exit_code == 0


def test_a_relationship_that_is_lost_is_told(
    loads: Callable[..., LoadReport], tmp_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server counts what there is, apart from the pages that are read."""
    read = _Graph._relationships
    monkeypatch.setattr(_Graph, "_relationships", lambda *args: read(*args)[1:])
    report = loads(tmp_store, "films")
    assert report.exit_code == EXIT_REJECTS
    assert report.incomplete == {UNACCOUNTED_REASON: 1}
    assert "please report it" in report.rejects[0].reason


def test_what_others_add_while_a_graph_is_read_is_no_fault(
    loads: Callable[..., LoadReport],
    run: Callable[..., list[list[object]]],
    tmp_store: Store,
    films: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = _Graph._without_id

    def adding(graph: _Graph, index: int) -> Parsed:
        if index == 1:
            run("CREATE (:$($p) {key: 99})", p=films["PERSON"])
        return read(graph, index)

    monkeypatch.setattr(_Graph, "_without_id", adding)
    report = loads(tmp_store, "films")
    assert report.exit_code == 0
    assert report.kept == {CHANGED: 1}
    assert report.source_records == report.records.total == 10


@pytest.mark.parametrize("sizes", [(1, 1), (2, 2), (1, 100)])
def test_pages_of_any_size_give_the_same_graph(
    loads: Callable[..., LoadReport], tmp_store: Store, sizes: tuple[int, int]
) -> None:
    """Also nodes with more relationships than a page has, which come in pieces."""
    loads(tmp_store, "whole")
    loads(tmp_store, "pages", page_nodes=sizes[0], page_relationships=sizes[1])
    assert tmp_store.graph("pages").fingerprints == tmp_store.graph("whole").fingerprints


def test_a_load_that_was_stopped_goes_on(
    loads: Callable[..., LoadReport], tmp_store: Store
) -> None:
    """It may be stopped after each piece, also within the relationships of one node."""
    loads(tmp_store, "whole")

    class AfterCalls(threading.Event):
        """Says so once it was asked often enough for one piece to be read."""

        asked = 0

        def is_set(self) -> bool:
            self.asked += 1
            return self.asked > 2

    stops = 0
    report = None
    while report is None or report.status == "stopped":
        assert stops < 60
        report = loads(tmp_store, "parts", page_nodes=1, page_relationships=1, stop=AfterCalls())
        stops += report.status == "stopped"
    assert stops > 5
    assert report.resumed
    assert tmp_store.graph("parts").fingerprints == tmp_store.graph("whole").fingerprints
    assert report.records == RecordCounts(read=7, passed_over=3)
    assert report.source_records == 10


def test_other_relationships_come_under_their_own_names(
    loads: Callable[..., LoadReport], tmp_store: Store
) -> None:
    mapping = MAPPING.replace("[relationships.KNOWS]", '[relationships."*"]')
    loads(tmp_store, "films", mapping)
    assert (KEANU, "KNOWS", EntityValue(CARRIE), ()) in content(tmp_store, "films")[1]
    only = MAPPING.replace("[relationships.KNOWS]", "")
    loads(tmp_store, "fewer", only)
    assert not [row for row in content(tmp_store, "fewer")[1] if row[1] == "KNOWS"]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("[nodes.PERSON]", "[nodes.Nobody]", 5),
        ('id = "title"', 'id = "none"', 12),
        ("[relationships.KNOWS]", "[relationships.NEVER]", 22),
    ],
)
def test_what_the_graph_does_not_have_is_said_by_line(
    loads: Callable[..., LoadReport],
    tmp_store: Store,
    old: str,
    new: str,
    line: int,
) -> None:
    # The labels that it has are those of other tests too, so that no text is recorded.
    with pytest.raises(InputError) as caught:
        loads(tmp_store, "films", MAPPING.replace(old, new))
    assert f"mapping.toml, line {line}: " in caught.value.message
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("It has ")
    assert tmp_store.graphs() == []


def test_an_id_must_be_unique(
    loads: Callable[..., LoadReport],
    run: Callable[..., list[list[object]]],
    films: dict[str, str],
    tmp_store: Store,
) -> None:
    run("CREATE (:$($label) {key: 2}), (:$($label) {key: 3})", label=films["PERSON"])
    with raises(InputError):
        loads(tmp_store, "films")


@pytest.mark.parametrize("other", ["2", "http://www.wikidata.org/entity/2"])
def test_an_id_must_be_unique_as_text(
    loads: Callable[..., LoadReport],
    run: Callable[..., list[list[object]]],
    films: dict[str, str],
    tmp_store: Store,
    other: str,
) -> None:
    run("CREATE (:$($label) {key: $key})", label=films["PERSON"], key=other)
    mapping = MAPPING.replace('base_iri = "http://films.example/"\n', "")
    expected = f"2 of them have '{other}' or 2, which are one id as text"
    with pytest.raises(InputError, match=expected):
        loads(tmp_store, "films", mapping=mapping)
    assert tmp_store.graphs() == []


def test_nodes_of_two_labels_with_one_id_are_counted(
    loads: Callable[..., LoadReport],
    run: Callable[..., list[list[object]]],
    films: dict[str, str],
    tmp_store: Store,
) -> None:
    mapping = MAPPING.replace('iri = ""\n', "")
    assert SHARED_ID not in loads(tmp_store, "films", mapping=mapping).kept
    run("CREATE (:$($label) {title: 1}), (:$($label) {title: '2'})", label=films["FILM"])
    report = loads(tmp_store, "again", mapping=mapping)
    assert report.kept[SHARED_ID] == 2
    # Under an address of its own each label's ids are its own.
    assert SHARED_ID not in loads(tmp_store, "apart").kept


def test_years_that_the_driver_cannot_hold(
    loads: Callable[..., LoadReport],
    run: Callable[..., list[list[object]]],
    films: dict[str, str],
    tmp_store: Store,
) -> None:
    run(
        "MATCH (n:$($label) {key: 1}) SET n.born = date('-0044-03-15'), "
        "n.plays = [date('-0500-01-01'), date('2000-01-01')], "
        "n.home = datetime('+12022-01-01T00:00:00Z')",
        label=films["PERSON"],
    )
    report = loads(tmp_store, "films")
    _, statements = content(tmp_store, "films")
    values = {value for head, relation, value, _ in statements if head == KEANU}
    assert {
        Time("-0044-03-15T00:00:00Z", 11),
        Time("-0500-01-01T00:00:00Z", 11),
        Time("2000-01-01T00:00:00Z", 11),
        Time("12022-01-01T00:00:00Z", 14),
    } <= values
    assert not any("bytes" in reason for reason in report.skipped)


def test_texts_that_no_store_can_hold_are_rejected(
    loads: Callable[..., LoadReport],
    run: Callable[..., list[list[object]]],
    films: dict[str, str],
    tmp_store: Store,
) -> None:
    run(
        "CREATE (:$($label) {key: 'nul', name: $text}), (:$($label) {key: 'ok', bio: 'x'})",
        label=films["PERSON"],
        text="a\x00b",
    )
    report = loads(tmp_store, "films")
    check_text([reject.reason for reject in report.rejects], "'a\\x00b'")
    assert report.exit_code == 3
    # Texts and numbers are ids side by side.
    ids = {entity.id for entity in content(tmp_store, "films")[0]}
    assert {"http://films.example/ok", KEANU, CARRIE} <= ids


def test_the_source_is_never_written_to(
    loads: Callable[..., LoadReport],
    run: Callable[..., list[list[object]]],
    films: dict[str, str],
    neo4j_server: Neo4jServer,
    tmp_store: Store,
) -> None:
    """Its transactions are for reading: the server itself refuses to write in them."""
    count = "MATCH (n) WHERE any(l IN labels(n) WHERE l IN $labels) OPTIONAL MATCH (n)-[r]->() \
        RETURN count(DISTINCT n), count(r), collect(properties(n))"
    before = run(count, labels=[*films.values()])
    indexes = run("SHOW INDEXES YIELD name RETURN name ORDER BY name")
    loads(tmp_store, "films")
    assert run(count, labels=[*films.values()]) == before
    assert run("SHOW INDEXES YIELD name RETURN name ORDER BY name") == indexes
    connection = Connection(
        neo4j_server.url,
        username=neo4j_server.username,
        password=neo4j_server.password,
        database=neo4j_server.database,
    )
    with pytest.raises(StoreError, match="(?i)read access mode|AccessMode"):
        connection.read("CREATE (:Never)")
    connection.close()


def test_the_command_line_loads_from_a_neo4j(
    neo4j_server: Neo4jServer,
    films: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for row in SETTINGS:
        monkeypatch.delenv(row.variable, raising=False)
    monkeypatch.chdir(tmp_path)
    Path("mapping.toml").write_text(with_labels(MAPPING, films))
    source = neo4j_server.url
    if neo4j_server.password is not None:
        user = f"{neo4j_server.username}:{neo4j_server.password}@"
        source = source.replace("bolt://", f"bolt://{user}")
    arguments = ["--graph", "films", "--mapping", "mapping.toml", "--quiet"]
    if neo4j_server.database != "neo4j":
        arguments += ["--source-database", neo4j_server.database]
    assert main(["load", source, *arguments, "--store", "sqlite:///films.db"]) == 0
    assert "13 statements" in capsys.readouterr().out
    assert main(["item", KEANU, "--store", "sqlite:///films.db"]) == 0
    assert "Keanu Reeves" in capsys.readouterr().out
    with open_store("sqlite:///films.db") as store:
        assert store.graph("films").source == neo4j_server.url
    if neo4j_server.password is not None:
        assert neo4j_server.password.encode() not in Path("films.db").read_bytes()
    Path("mapping.toml").write_text("[nodes.X]\n")
    assert main(["load", source, *arguments, "--store", "sqlite:///films.db"]) == 2
    check_line(capsys.readouterr().err, "mapping.toml", "line 1", "'X'")
