"""Everything in the schema says what it means, to those who know none of our papers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLScalarType,
    get_named_type,
    is_specified_scalar_type,
)

import graph_service
from graph_service import Service, errors
from graph_service.api.schema import execute, schema
from graph_service.model.browsing import ErrorCode
from graph_service.model.limits import CutKind
from graph_service.model.result import ScorePartName

TYPES = {
    name: kind
    for name, kind in schema._schema.type_map.items()
    if not name.startswith("__") and not is_specified_scalar_type(kind)
}
ROW = re.compile(r"\b[SOKLB]\d{1,2}\b")


def described() -> Iterator[tuple[str, str | None]]:
    """Yields each coordinate of the schema with its description."""
    for name, kind in TYPES.items():
        yield name, kind.description
        if isinstance(kind, GraphQLEnumType):
            for value, about in kind.values.items():
                yield f"{name}.{value}", about.description
        elif isinstance(kind, GraphQLInputObjectType):
            for field, of in kind.fields.items():
                yield f"{name}.{field}", of.description
        elif isinstance(kind, GraphQLObjectType | GraphQLInterfaceType):
            for field, one in kind.fields.items():
                yield f"{name}.{field}", one.description
                for argument, given in one.args.items():
                    yield f"{name}.{field}({argument}:)", given.description


def test_everything_has_a_description() -> None:
    assert len(list(described())) > 500
    assert [name for name, text in described() if not (text and text.strip())] == []


def test_descriptions_are_sentences_that_name_no_row_of_our_plan() -> None:
    assert [name for name, text in described() if text and ROW.search(text)] == []
    odd = [
        name
        for name, text in described()
        if text and not (text[0].isupper() or text[0].isdigit()) or not (text or "").endswith(".")
    ]
    assert odd == []


def test_descriptions_are_for_those_who_call_the_api() -> None:
    of_operators = re.compile(r"(?<!\w)--[a-z]|command line|GRAPH_SERVICE_")
    assert [name for name, text in described() if text and of_operators.search(text)] == []


@pytest.mark.parametrize("field", ["triplets", "paths", "subgraph"])
def test_the_example_of_a_retrieval_runs(demo_service: Service, field: str) -> None:
    queries = schema._schema.query_type
    assert queries is not None
    (example,) = re.findall("`(.+?)`", queries.fields[field].description or "")
    answer = execute(demo_service, example)
    assert answer["data"][field]["status"] == "OK"
    assert "Arnold Schwarzenegger" in str(answer)


def test_no_field_is_bare_json() -> None:
    scalars = {name for name, kind in TYPES.items() if isinstance(kind, GraphQLScalarType)}
    assert scalars == {"DateTime", "BigInt"}


def test_roots_may_be_null_and_mutations_take_one_input_and_give_a_payload() -> None:
    queries, mutations = schema._schema.query_type, schema._schema.mutation_type
    assert queries is not None
    assert mutations is not None
    for field in (*queries.fields.values(), *mutations.fields.values()):
        assert not str(field.type).endswith("!")
    for name, field in mutations.fields.items():
        capital = name[0].upper() + name[1:]
        assert {key: str(one.type) for key, one in field.args.items()} == {
            "input": f"{capital}Input!"
        }
        assert str(field.type) == f"{capital}Payload"


def test_connections_are_as_relay_has_them() -> None:
    connections = {name: kind for name, kind in TYPES.items() if name.endswith("Connection")}
    assert len(connections) == 9
    for kind in connections.values():
        assert isinstance(kind, GraphQLObjectType)
        assert str(kind.fields["pageInfo"].type) == "PageInfo!"
        edge = get_named_type(kind.fields["edges"].type)
        assert isinstance(edge, GraphQLObjectType)
        assert edge.name.endswith("Edge")
        assert str(edge.fields["cursor"].type) == "String!"
        node = get_named_type(edge.fields["node"].type)
        assert str(kind.fields["nodes"].type) == f"[{node.name}!]!"
        assert "id" in node.fields
    for kind in TYPES.values():
        for field in getattr(kind, "fields", {}).values() if hasattr(kind, "interfaces") else ():
            if get_named_type(field.type).name in connections:
                assert {"first", "after"} <= field.args.keys()


def test_who_implements_node_has_a_global_id() -> None:
    nodes = {name for name, kind in TYPES.items()
             if "Node" in {one.name for one in getattr(kind, "interfaces", ())}}  # fmt: skip
    assert nodes == {"Item", "Property", "Statement", "Graph", "View"}


def _calls(name: str) -> Iterator[ast.Call]:
    """Yields the calls of a name in the package's source."""
    for path in Path(graph_service.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name and node.args:
                yield node


def test_the_enums_have_what_the_code_says() -> None:
    """A word that the code gives and the enum lacks would be an internal error."""
    cuts = {one.args[0].value for one in _calls("Cut") if isinstance(one.args[0], ast.Constant)}
    assert len(cuts) > 5
    assert cuts <= {one.value for one in CutKind}
    parts = {
        one.args[0].value for one in _calls("ScorePart") if isinstance(one.args[0], ast.Constant)
    }
    assert {"relevance", "relation"} <= parts <= {one.value for one in ScorePartName}
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    codes = {kind.code for kind in kinds if issubclass(kind, errors.GraphServiceError)}
    assert codes | {"FORBIDDEN"} == {one.value for one in ErrorCode}
