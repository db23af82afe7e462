"""The mapping file of a Neo4j that is already there: what it says, and errors by line."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import neo4j.spatial
import neo4j.time
import pytest
from error_texts import check_line, raises

from graph_service.cli import main
from graph_service.errors import InputError
from graph_service.model.values import (
    Coordinates,
    Quantity,
    StringValue,
    Time,
    UnknownValue,
    Value,
)
from graph_service.settings import SETTINGS
from graph_service.store import open_store
from graph_service.store.neo4j.properties import XSD, property_values
from graph_service.store.neo4j.property_graph import open_property_graph
from loaders.load import load
from loaders.options import LoadOptions
from loaders.property_graph.mapping import (
    GraphMapping,
    NodeMapping,
    RelationshipMapping,
    read_mapping,
)
from loaders.property_graph.options import Neo4jOptions
from loaders.property_graph.reader import quoted

WHOLE = """
base_iri = "http://films.example/"
language = "EN"
type_relation = "http://www.wikidata.org/entity/P31"

[nodes.Person]
id = "tmdb"
name = ["name", "aka"]
description = "bio"
type = "Q5"
literals = ["born"]
relations = { born = "P569" }

[nodes."Film `noir`"]
id = "title"
iri = ""

[relationships.ACTED_IN]
relation = "P161"
reverse = true
qualifiers = ["role"]
relations.role = "P453"

[relationships."*"]
"""


def test_a_mapping_says_all_it_can(tmp_path: Path) -> None:
    path = tmp_path / "mapping.toml"
    path.write_text(WHOLE)
    assert read_mapping(path) == GraphMapping(
        nodes=(
            NodeMapping(
                "Person",
                "tmdb",
                iri="http://films.example/",
                names=("name", "aka"),
                description="bio",
                language="en",
                type="Q5",
                literals=("born",),
                relations={"born": "P569"},
                line=6,
            ),
            NodeMapping("Film `noir`", "title", language="en", type="Film `noir`", line=14),
        ),
        relationships=(
            RelationshipMapping("ACTED_IN", "P161", True, ("role",), {"role": "P453"}, line=18),
            RelationshipMapping("*", line=24),
        ),
        type_relation="P31",
        path=str(path),
    )


NODE = '[nodes.A]\nid = "x"\n'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[nodes.A\n", 1),
        ("", 1),
        ('nodes = "A"\n', 1),
        ("x = 1\n" + NODE, 1),
        ("[nodes.A]\nname = 'x'\n", 1),
        (NODE + "\n[nodes.B]\nid = 7\n", 5),
        (NODE + 'name = "n"\nnam = "y"\n', 4),
        (NODE + "name = [1]\n", 3),
        (NODE + 'literals = "a"\n', 3),
        (NODE + "# [nodes.B]\n[relationships]\nR = 1\n", 5),
        (NODE + '[relationships.R]\nreverse = "x"\n', 4),
        (NODE + '[relationships."*"]\nrelation = "x"\n', 4),
        (NODE + "[nodes.A.relations]\nborn = 7\n", 4),
        (NODE + "[nodes.'B\\\\']\nid = 'x'\n", 3),
        (NODE + '[relationships."R"]\nrelation = ""\n', 4),
    ],
)  # fmt: skip
def test_errors_name_file_and_line(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "mapping.toml"
    path.write_text(text)
    with raises(InputError) as caught:
        read_mapping(path)
    assert caught.value.message.startswith(f"{path}, line {line}: ")


def test_a_mapping_that_can_not_be_read(tmp_path: Path) -> None:
    with raises(InputError):
        read_mapping(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b'x = "\xe9"')
    with pytest.raises(InputError, match="not UTF-8"):
        read_mapping(tmp_path / "latin.toml")
    (tmp_path / "deep.toml").write_text("a = " + "[" * 20_000)
    with pytest.raises(InputError, match="nested too deeply"):
        read_mapping(tmp_path / "deep.toml")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a", StringValue("a")),
        (True, StringValue("true", XSD + "boolean")),
        (7, Quantity("7")),
        (1e-7, Quantity("0.0000001")),
        (float("inf"), StringValue("INF", XSD + "double")),
        (neo4j.time.Date(1952, 3, 11), Time("1952-03-11T00:00:00Z", 11)),
        (neo4j.time.DateTime(2020, 1, 2, 3, 4, 5), Time("2020-01-02T03:04:05Z", 14)),
        (
            neo4j.time.DateTime(2020, 1, 2, 3, 4, 5, 7),
            StringValue("2020-01-02T03:04:05.000000007", XSD + "dateTime"),
        ),
        (neo4j.time.Time(1, 2, 3), StringValue("01:02:03.000000000", XSD + "time")),
        (neo4j.time.Duration(days=1), StringValue("P1D", XSD + "duration")),
        (neo4j.spatial.WGS84Point((2.0, 1.0)), Coordinates(1.0, 2.0)),
        (
            neo4j.spatial.CartesianPoint((1.0, 2.0)),
            UnknownValue("point", '{"coordinates":[1.0,2.0],"srid":7203}'),
        ),
    ],
)
def test_properties_become_typed_values(value: object, expected: Value) -> None:
    assert property_values(value) == [expected]
    assert property_values([value, value]) == [expected, expected]
    assert property_values([value, b"bytes"]) is None


@pytest.mark.parametrize("name", ["", "a\x00b", "a\\u0060"])
def test_names_that_could_end_their_quotes_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="no name"):
        quoted(name)


def test_what_goes_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mapping is for a Neo4j, a Neo4j needs one, and no password is kept with the graph."""
    for row in SETTINGS:
        monkeypatch.delenv(row.variable, raising=False)
    monkeypatch.chdir(tmp_path)
    Path("m.toml").write_text(NODE)
    Path("a.tsv").write_text("a\tb\tc\n")
    assert main(["load", "bolt://localhost:1", "--graph", "g"]) == 2
    assert "mapping" in capsys.readouterr().err
    assert main(["load", "a.tsv", "--graph", "g", "--mapping", "m.toml"]) == 2
    check_line(capsys.readouterr().err, "graph in a Neo4j")
    assert main(["load", "bolt://u:secret@localhost:1", "--graph", "g", "--mapping", "no"]) == 2
    assert "secret" not in capsys.readouterr().err
    open_graph = partial(open_property_graph, password="secret")
    options = LoadOptions(neo4j=Neo4jOptions(read_mapping(Path("m.toml")), open_graph))
    assert "secret" not in repr(options) + str(options.to_json())
    with (
        open_store("sqlite:///g.db") as store,
        pytest.raises(InputError, match="user and password"),
    ):
        load("bolt://u:p@localhost:1", store=store, graph="g", options=options)
