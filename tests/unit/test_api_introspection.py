"""Introspection says nothing that the tools of others do not know."""

from __future__ import annotations

from typing import Any

import pytest
from graphql import GraphQLDeprecatedDirective, build_client_schema, get_introspection_query
from graphql import print_schema as print_graphql

from graph_service import Service
from graph_service.api.schema import execute, schema

PLACES = {
    "QUERY", "MUTATION", "SUBSCRIPTION", "FIELD", "FRAGMENT_DEFINITION", "FRAGMENT_SPREAD",
    "INLINE_FRAGMENT", "VARIABLE_DEFINITION", "SCHEMA", "SCALAR", "OBJECT", "FIELD_DEFINITION",
    "ARGUMENT_DEFINITION", "INTERFACE", "UNION", "ENUM", "ENUM_VALUE", "INPUT_OBJECT",
    "INPUT_FIELD_DEFINITION",
}  # fmt: skip
"""GraphQL of September 2025, 3.13."""


def introspect(service: Service, **options: Any) -> Any:
    response = execute(service, get_introspection_query(**options))
    assert "errors" not in response
    return response["data"]


def test_directives_stand_where_the_specification_has_places(demo_service: Service) -> None:
    directives = introspect(demo_service)["__schema"]["directives"]
    assert {one["name"] for one in directives} == {
        "include", "skip", "deprecated", "specifiedBy", "oneOf",
    }  # fmt: skip
    for directive in directives:
        assert directive["locations"]
        assert set(directive["locations"]) <= PLACES, directive["name"]


def test_the_directives_of_other_schemas_are_left_alone() -> None:
    (ours,) = [one for one in schema._schema.directives if one.name == "deprecated"]
    assert len(GraphQLDeprecatedDirective.locations) == len(ours.locations) + 1
    assert ours.args.keys() == GraphQLDeprecatedDirective.args.keys()


@pytest.mark.parametrize(
    "options",
    [
        {},
        # What graphql-js 17, GraphiQL and code generators ask for in one.
        {
            "specified_by_url": True, "directive_is_repeatable": True, "schema_description": True,
            "input_value_deprecation": True, "one_of": True,
        },
        {"input_value_deprecation": True, "experimental_directive_deprecation": True},
    ],
)  # fmt: skip
def test_the_introspection_queries_of_tools_are_answered(
    demo_service: Service, options: dict[str, bool]
) -> None:
    """Within the limits of documents, and so that the schema can be made of the answer."""
    data = introspect(demo_service, **options)
    printed = print_graphql(build_client_schema(data))
    assert "type Query {" in printed
    assert ("input ViewRefInput @oneOf" in printed) == bool(options.get("one_of"))
