"""Resolvers of the fields that an answer has by the hundred, without what Strawberry puts around them.

Around each resolver Strawberry makes an object for the call and converts its arguments, which for
the label of an item costs ten times the label. Our resolvers ask that object for the context alone,
which graphql-core's own has too, and take arguments that graphql-core has made what they are:
texts, numbers and ids. Fields of other arguments, and those of queries and mutations, are left.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import strawberry
from graphql import GraphQLField, GraphQLObjectType, GraphQLSchema
from strawberry.types.base import StrawberryOptional
from strawberry.types.field import StrawberryField
from strawberry.utils.str_converters import to_snake_case

from graph_service.api.derive import PATH

_AS_THEY_COME = (str, int, float, bool, strawberry.ID)
_DEFINITION = "strawberry-definition"


def resolve_directly(schema: GraphQLSchema, /) -> int:
    """Gives the fields of a schema's object types resolvers of their own; returns of how many.

    A schema whose fields are not made by Strawberry as it is known here stays as it is.
    """
    count = 0
    for type_ in schema.type_map.values():
        if not isinstance(type_, GraphQLObjectType) or type_ in (
            schema.query_type,
            schema.mutation_type,
        ):
            continue
        for field in type_.fields.values():
            resolver = _resolver(field)
            if resolver is not None:
                field.resolve = resolver
                count += 1
    return count


def _resolver(field: GraphQLField) -> Callable[..., Any] | None:
    made = (field.extensions or {}).get(_DEFINITION)
    if not isinstance(made, StrawberryField) or made.extensions or made.is_async:
        return None
    if made.is_basic_field:
        return _attribute(made.python_name)
    if PATH in made.metadata:
        return _attribute(made.metadata[PATH])
    resolver = made.base_resolver
    if resolver is None or not all(_comes_as_it_is(argument.type) for argument in made.arguments):
        return None
    takes_info = resolver.info_parameter is not None
    return _call(resolver.wrapped_func, takes_info, bool(made.arguments))


def _comes_as_it_is(kind: object) -> bool:
    return (kind.of_type if isinstance(kind, StrawberryOptional) else kind) in _AS_THEY_COME


def _attribute(name: str) -> Callable[..., Any]:
    read = attrgetter(name)
    return lambda source, _info: read(source)


def _call(function: Any, takes_info: bool, takes_arguments: bool) -> Callable[..., Any]:
    if takes_arguments:

        def with_arguments(source: Any, info: Any, **arguments: Any) -> Any:
            named = {_python_name(name): value for name, value in arguments.items()}
            return function(source, info, **named) if takes_info else function(source, **named)

        return with_arguments
    if takes_info:
        return lambda source, info: function(source, info)
    return lambda source, _info: function(source)


_PYTHON_NAMES: dict[str, str] = {}


def _python_name(name: str) -> str:
    known = _PYTHON_NAMES.get(name)
    if known is None:
        known = _PYTHON_NAMES[name] = to_snake_case(name)
    return known
