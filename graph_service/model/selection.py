"""The fields of GraphQL that the dataclasses of results are read from, as selections of documents.

The client reads all of a dataclass. Where it would need more of an item than its id and label, or
less, ``_ITEMS`` says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, get_args

from graph_service.model.contract import ItemId, Part, PropertyId, Statement
from graph_service.model.passage import Passage
from graph_service.model.result import (
    EntityRef,
    LinkedEntity,
    MatchingItem,
    RelationRef,
    Triple,
    TripleChange,
)
from graph_service.model.shapes import SHAPES, parts_of
from graph_service.model.values import Value
from graph_service.model.view_spec import ViewSpec

_ITEMS: Mapping[Any, str] = {
    MatchingItem: "itemId label description",
    LinkedEntity: "itemId label description",
    Passage: "itemId label",
}
VALUES: Mapping[str, type] = {SHAPES[model].name: model for model in get_args(Value)}
"""The values of statements, by their types in GraphQL."""
_STATEMENT = "...Statement subject { itemId label }"
_SELECTIONS: Mapping[Any, str] = {
    PropertyId: "propertyId",
    RelationRef: "propertyId label",
    Triple: _STATEMENT,
    Value: "...Value",
    ViewSpec: "json",
}
"""What is read of the types that no shape has."""


@cache
def selection(model: Any, /) -> str:
    """Returns the fields that the client reads a dataclass from.

    >>> from graph_service.model.result import RegionReport
    >>> selection(RegionReport)[:52]
    'before { nodes edges meanDegree clustering density }'
    """
    return " ".join(_selected(model, part) for part in parts_of(model) if part.is_read)


def fragment(model: Any, /) -> str:
    """Returns the fields that a dataclass is read from, as a fragment named as its type."""
    name = SHAPES[model].name
    return f"fragment {name} on {name} {{ {selection(model)} }}\n"


def value_fragment() -> str:
    """Returns the GraphQL fragment ``Value`` that selects a value's fields."""
    members = "".join(
        f"  ... on {name} {{ {selection(model)} }}\n"
        for name, model in VALUES.items()
        if selection(model)
    )
    return f"fragment Value on Value {{\n  __typename\n{members}}}\n"


def _selected(model: Any, part: Part) -> str:
    name = f"{part.alias}: {part.graphql}" if part.alias else part.graphql
    if part.kind is TripleChange:
        return f"{name} @include(if: $changes) {{ ...Change }}"
    inner = _inner(model, part.kind)
    return f"{name} {{ {inner} }}" if inner else name


def _inner(model: Any, kind: Any) -> str:
    if kind is EntityRef:
        return _ITEMS.get(model, "itemId label")
    if kind is ItemId:
        return _ITEMS.get(model, "itemId")
    if kind is Statement:
        has_subject = any(part.name == "subject" for part in parts_of(model))
        return "...Statement" if has_subject else _STATEMENT
    return _SELECTIONS.get(kind) or (selection(kind) if kind in SHAPES else "")
