"""Null, an absent value and the default itself give the same, wherever the schema has a default."""

from __future__ import annotations

from typing import Any

import pytest
from demo_graph import MARIA, QUESTION
from graphql import (
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNonNull,
    GraphQLObjectType,
    Undefined,
    parse_value,
    print_ast,
)
from graphql.utilities import (
    ast_from_value,
    coerce_input_literal,
    coerce_input_value,
    value_from_ast_untyped,
)

from graph_service import Service
from graph_service.api.meter import Meter
from graph_service.api.schema import execute, schema
from graph_service.model.passage import make_passage

pytestmark = pytest.mark.usefixtures("processor")

TYPES = {name: of for name, of in schema._schema.type_map.items() if not name.startswith("__")}
ARGUMENTS = {
    f"{name}.{field}.{argument}": value
    for name, of in TYPES.items()
    if isinstance(of, GraphQLObjectType | GraphQLInterfaceType)
    for field, its in of.fields.items()
    for argument, value in its.args.items()
    if value.default_value is not Undefined and value.default_value is not None
}
INPUTS = {
    f"{name}.{field}": value
    for name, of in TYPES.items()
    if isinstance(of, GraphQLInputObjectType)
    for field, value in of.fields.items()
    if value.default_value is not Undefined and value.default_value is not None
}
SPEC = "{ method: EDGE_DELETION, count: 3 }"
REQUIRED = {
    "RetrieveInput": 'question: "q"',
    "CreateViewInput": f'graph: "demo", spec: {SPEC}',
    "ViewSpecInput": "method: EDGE_DELETION",
}
OF_ITEM = f'itemId: "{MARIA}"'
# A query for each argument that has a default; ? is where the argument stands.
QUERIES = {
    "Graph.classes.first": "{ graph { classes(?) { nodes { itemId } } } }",
    "Graph.relations.first": "{ graph { relations(?) { nodes { propertyId } } } }",
    "Item.aliases.languageCode": f"{{ item({OF_ITEM}) {{ aliases(?) }} }}",
    "Item.relations.first": f"{{ item({OF_ITEM}) {{ relations(?) {{ nodes {{ propertyId }} }} }} }}",
    "Item.statements.direction": f"{{ item({OF_ITEM}) {{ statements(?) {{ totalCount }} }} }}",
    "Item.statements.first": f"{{ item({OF_ITEM}) {{ statements(?) {{ nodes {{ valueText }} }} }} }}",
    "Item.neighbours.first": f"{{ item({OF_ITEM}) {{ neighbours(?) {{ nodes {{ itemId }} }} }} }}",
    "Query.graphs.first": "{ graphs(?) { nodes { name } } }",
    "Query.searchItems.prefix": '{ searchItems(query: "Maria", ?) { nodes { itemId } } }',
    "Query.searchItems.first": '{ searchItems(query: "Maria", ?) { nodes { itemId } } }',
    "Query.neighbourhood.hops": f"{{ neighbourhood({OF_ITEM}, ?) {{ resultId }} }}",
    "Query.neighbourhood.limit": f"{{ neighbourhood({OF_ITEM}, ?) {{ resultId }} }}",
    "Query.passages.k": '{ passages(query: "notes", ?) { items { score } } }',
    "Query.passages.by": '{ passages(query: "notes", ?) { items { score } } }',
    "Query.views.first": "{ views(?) { nodes { viewId } } }",
    "View.diff.first": "{ views { nodes { diff(?) { nodes { kind } } } } }",
}


def test_the_schema_says_that_they_may_be_null() -> None:
    assert len(INPUTS) > 15
    strict = [
        name
        for name, value in {**ARGUMENTS, **INPUTS}.items()
        if isinstance(value.type, GraphQLNonNull)
    ]
    assert strict == []


@pytest.mark.parametrize("name", INPUTS)
def test_null_in_an_input_is_the_default(name: str) -> None:
    type_name, field = name.split(".")
    of, default = TYPES[type_name], ast_from_value(INPUTS[name].default_value, INPUTS[name].type)
    assert isinstance(of, GraphQLInputObjectType)
    assert default is not None
    before = REQUIRED.get(type_name, "")
    absent = coerce_input_literal(parse_value(f"{{ {before} }}"), of)
    assert absent[field] not in (None, Undefined)
    for written in ("null", print_ast(default)):
        value = parse_value(f"{{ {before} {field}: {written} }}")
        assert coerce_input_literal(value, of) == absent
    # Of a variable, as JSON has it.
    plain = value_from_ast_untyped(parse_value(f"{{ {before} }}"))
    assert coerce_input_value({**plain, field: None}, of) == absent


@pytest.fixture
def service(own_service: Service) -> Service:
    with own_service.store.passages.begin("demo", source="s", options={}, owner="t") as session:
        session.write([make_passage("Some notes.")], checkpoint={})
        session.publish()
    return own_service


def answered(service: Service, document: str, variables: dict[str, Any]) -> tuple[Any, Any]:
    """Returns what an operation gives, and what it costs."""
    meter = Meter(1e9)
    response = execute(service, document, variables, meter=meter)
    assert "errors" not in response, response
    return response["data"], (meter.requested, meter.actual)


def test_null_in_an_argument_is_the_default(service: Service) -> None:
    view = f'{{ graph: "demo", spec: {SPEC}, note: null, wait: null }}'
    document = f"mutation {{ createView(input: {view}) {{ view {{ note state }} }} }}"
    made = execute(service, document, writable=True)
    assert made["data"] == {"createView": {"view": {"note": "", "state": "DONE"}}}
    assert QUERIES.keys() == ARGUMENTS.keys()
    for name, query in QUERIES.items():
        argument, of = name.split(".")[-1], ARGUMENTS[name]
        default = ast_from_value(of.default_value, of.type)
        assert default is not None
        absent = answered(service, query.replace("(?)", "").replace("?", ""), {})
        for written in ("null", print_ast(default)):
            document = query.replace("?", f"{argument}: {written}")
            assert answered(service, document, {}) == absent, name
        document = f"query($v: {of.type}) {query.replace('?', f'{argument}: $v')}"
        assert answered(service, document, {"v": None}) == absent, name


def test_null_gives_the_same_result_of_the_same_cost(demo_service: Service) -> None:
    document = "query($i: RetrieveInput!) { paths(input: $i) { resultId } }"
    view = {"spec": {"method": "EDGE_DELETION", "count": 3}}
    absent = {"question": QUESTION, "view": view}
    null: dict[str, Any] = {
        **absent,
        "preset": None,
        "prove": None,
        "experimental": {"linkingSeed": None},
        "view": {"spec": {**view["spec"], "sampling": None, "randomSeed": None, "nth": None}},
    }
    assert answered(demo_service, document, {"i": null}) == answered(
        demo_service, document, {"i": absent}
    )
