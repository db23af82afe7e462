"""Documents drawn from the schema: valid by its grammar, with arguments good and bad."""

from __future__ import annotations

import json
import random
from typing import Any

from demo_graph import QUESTION
from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    Undefined,
    build_schema,
    is_composite_type,
)
from graphql.type import get_named_type

from tools.attack.target import SCHEMA

MAX_DEPTH = 3
MAX_FIELDS = 3
_BY_NAME: dict[str, tuple[Any, ...]] = {
    "graph": ("demo", "demo", "demo", "star", "none"),
    "question": (QUESTION, QUESTION, "Who knows Q2685?", "", "?" * 300),
    "query": ("Maria", "Shriver", "", "\u202e"),
    "languageCodes": ("en", "de", "x" * 40),
    "first": (0, 1, 3, 10, -1, 2**31 - 1),
    "limit": (0, 1, 3, 10, -1, 2**31 - 1),
}
_BY_TYPE: dict[str, tuple[Any, ...]] = {
    "ID": ("Q2685", "Q230654", "P26", "Q1", "", "nobody", "ed:0.3:1"),
    "String": ("demo", "en", "default", "counts", "", "a" * 200, "\ud83d\ude00"),
    "Int": (0, 1, 2, 4, 384, -1, 2**31 - 1, -(2**31)),
    "Float": (0, 0.3, 1.0, -0.5, 1e308),
    "Boolean": (True, False),
    "BigInt": (7, 0, -1, 2**62),
}


def draw_documents(generator: random.Random, count: int, /) -> list[str]:
    """Returns queries of which each draws its fields and arguments anew."""
    schema = build_schema(SCHEMA.read_text(encoding="utf-8"))
    assert schema.query_type is not None
    return [_Drawing(schema, generator).selections(schema.query_type, 0) for _ in range(count)]


class _Drawing:
    """One document.

    Args:
        schema: Of the server.
        generator: Draws.
    """

    def __init__(self, schema: GraphQLSchema, generator: random.Random) -> None:
        self._schema = schema
        self._random = generator

    def selections(self, type_: Any, depth: int) -> str:
        """Returns the selection set of an object of some type."""
        if isinstance(type_, GraphQLUnionType) or (
            isinstance(type_, GraphQLInterfaceType) and self._random.random() < 0.7
        ):
            types = self._schema.get_possible_types(type_)
            part = self._random.choice(sorted(types, key=str))
            return f"{{ __typename ... on {part.name} {self.selections(part, depth)} }}"
        assert isinstance(type_, (GraphQLObjectType, GraphQLInterfaceType))
        names = sorted(
            name
            for name, field in type_.fields.items()
            if depth < MAX_DEPTH or not is_composite_type(get_named_type(field.type))
        )
        drawn_names = self._random.sample(names, min(len(names), MAX_FIELDS))
        return (
            f"{{ __typename {' '.join(self._field(type_, name, depth) for name in drawn_names)} }}"
        )

    def _field(self, type_: Any, name: str, depth: int) -> str:
        field = type_.fields[name]
        parts = []
        for argument, definition in field.args.items():
            text = self._argument(definition, argument)
            if text is not None:
                parts.append(f"{argument}: {text}")
        text = name + (f"({', '.join(parts)})" if parts else "")
        named = get_named_type(field.type)
        return f"{text} {self.selections(named, depth + 1)}" if is_composite_type(named) else text

    def _argument(self, definition: GraphQLArgument | GraphQLInputField, name: str) -> str | None:
        is_optional = not isinstance(definition.type, GraphQLNonNull) or (
            definition.default_value is not Undefined
        )
        if is_optional and self._random.random() < 0.7:
            return None
        return self._value(definition.type, name)

    def _value(self, type_: Any, name: str) -> str:
        if isinstance(type_, GraphQLNonNull):
            return self._value(type_.of_type, name)
        if isinstance(type_, GraphQLList):
            items = [self._value(type_.of_type, name) for _ in range(self._random.randint(0, 3))]
            return f"[{', '.join(items)}]"
        if isinstance(type_, GraphQLEnumType):
            return str(self._random.choice(sorted(type_.values)))
        if isinstance(type_, GraphQLInputObjectType):
            return self._object(type_)
        pool = _BY_NAME.get(name) or _BY_TYPE.get(type_.name, _BY_TYPE["String"])
        # Good values stand first, and are drawn more often: one bad argument ends a field.
        good = pool[: (len(pool) + 1) // 2]
        return json.dumps(self._random.choice(good if self._random.random() < 0.8 else pool))

    def _object(self, type_: GraphQLInputObjectType) -> str:
        fields = dict(type_.fields)
        if type_.is_one_of:
            name = self._random.choice(sorted(fields))
            return f"{{{name}: {self._value(fields[name].type, name)}}}"
        parts = []
        for name, field in fields.items():
            text = self._argument(field, name)
            if text is not None:
                parts.append(f"{name}: {text}")
        return f"{{{', '.join(parts)}}}"
