"""Null means the default, for each argument and input field that has one.

Typed clients send null for whatever their caller did not set. GraphQL tells null from an absent
value, and a type such as ``Int! = 50`` refuses it. This schema's type is ``Int = 50`` instead, and
null, an absent value and the default itself give the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from graphql import (
    FieldNode,
    GraphQLArgument,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    Undefined,
    is_introspection_type,
)
from graphql.execution.values import VariableValues, get_argument_values
from graphql.utilities.coerce_input_value import coerce_default_value


def read_null_as_default(schema: GraphQLSchema, /) -> None:
    """Makes each argument and input field that has a default nullable, with the same default."""
    for type_ in schema.type_map.values():
        if isinstance(type_, GraphQLInputObjectType):
            defaults = _make_nullable(type_.fields)
            if defaults:
                type_.out_type = _then_filled(type_.out_type, defaults)  # type: ignore[assignment]
        elif isinstance(
            type_, (GraphQLObjectType, GraphQLInterfaceType)
        ) and not is_introspection_type(type_):
            for field in type_.fields.values():
                defaults = _make_nullable(field.args)
                if defaults and field.resolve is not None:
                    field.resolve = _called_filled(field.resolve, defaults)


def argument_values(
    field: GraphQLField, node: FieldNode, variables: VariableValues, /
) -> dict[str, Any]:
    """Returns the arguments of a field as its resolver gets them.

    Raises:
        GraphQLError: An argument has no value of its type.
    """
    return _filled(get_argument_values(field, node, variables), _defaults(field.args))


def _make_nullable(
    values: Mapping[str, GraphQLArgument] | Mapping[str, GraphQLInputField],
) -> dict[str, Any]:
    """Makes the types of values that have a default nullable; returns the defaults by name."""
    defaults = _defaults(values)
    for name in defaults:
        value = values[name]
        if isinstance(value.type, GraphQLNonNull):
            value.type = value.type.of_type
    return defaults


def _defaults(
    values: Mapping[str, GraphQLArgument] | Mapping[str, GraphQLInputField],
) -> dict[str, Any]:
    coerced = {name: coerce_default_value(value) for name, value in values.items()}
    return {
        name: default
        for name, default in coerced.items()
        if default is not None and default is not Undefined
    }


def _filled(values: dict[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    for name, default in defaults.items():
        if values.get(name) is None:
            values[name] = default
    return values


def _then_filled(
    convert: Callable[[dict[str, Any]], Any], defaults: Mapping[str, Any]
) -> Callable[[dict[str, Any]], Any]:
    return lambda values: convert(_filled(values, defaults))


def _called_filled(resolve: Callable[..., Any], defaults: Mapping[str, Any]) -> Callable[..., Any]:
    return lambda source, info, **values: resolve(source, info, **_filled(values, defaults))
