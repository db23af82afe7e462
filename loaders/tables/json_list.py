"""Where the rows of a JSON document begin: in its array, or in the one list that an object has.

Programs answer with ``{"count": 2, "results": [{...}, {...}]}``, and GeoJSON with ``features``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from loaders.refusals import is_list_of_objects

_BLANK = "\ufeff \t\r\n"
_ENTITY_KEYS = frozenset({"claims", "entities", "labels", "graph-service"})
_DECODER = json.JSONDecoder(parse_float=Decimal)


@dataclass(frozen=True, slots=True)
class RowsStart:
    """Where the rows of a JSON document begin.

    Attributes:
        at: Characters before the bracket that opens their list.
        key: Under which the list stands; "" where the document is the list.
        others: Keys before it, whose values are no rows.
    """

    at: int
    key: str = ""
    others: tuple[str, ...] = ()


def rows_start(text: str, /) -> RowsStart | None:
    """Returns where the rows begin in the beginning of a document; None where it shows none.

    >>> rows_start('[{"a": 1}]'), rows_start('{"n": 1, "rows": [{"a": 1}]}').at
    (RowsStart(at=0, key='', others=()), 17)
    >>> rows_start('{"rows": [1, 2]}'), rows_start('{"entities": [{"id": "Q1"}]}')
    (None, None)
    """
    at = _next(text, 0)
    if text[at : at + 1] == "[":
        return RowsStart(at)
    if text[at : at + 1] != "{":
        return None
    others: list[str] = []
    at = _next(text, at + 1)
    while text[at : at + 1] == '"':
        try:
            key, at = _DECODER.raw_decode(text, at)
            at = _next(text, at)
            if text[at : at + 1] != ":":
                return None
            at = _next(text, at + 1)
            if key in _ENTITY_KEYS:
                return None
            if text[at : at + 1] == "[" and text[_next(text, at + 1) :][:1] == "{":
                return RowsStart(at, key, tuple(others))
            _, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return None
        others.append(key)
        at = _next(text, at)
        if text[at : at + 1] != ",":
            return None
        at = _next(text, at + 1)
    return None


def members_after(rest: str, /) -> Mapping[str, Any] | None:
    """Returns the members that follow the list of rows in an object; None if it does not end well.

    >>> members_after(', "next": null}'), members_after("}"), members_after(', "next"')
    ({'next': None}, {}, None)
    """
    try:
        value = json.loads("{" + rest.lstrip().removeprefix(","))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def second_list(members: Mapping[str, Any], /) -> str:
    """Returns the key of another list of objects; "" if there is none."""
    return next((key for key, value in members.items() if is_list_of_objects(value)), "")


def is_feature(value: Mapping[str, Any], /) -> bool:
    """Returns whether an object is a feature of GeoJSON."""
    return value.get("type") == "Feature" and "geometry" in value and "properties" in value


def feature_members(feature: Mapping[str, Any], /, *, outline: str) -> dict[str, Any]:
    """Returns what a feature of GeoJSON says as members of a flat object.

    Of a point they have ``latitude`` and ``longitude``.

    Args:
        feature: The feature.
        outline: What stands under ``geometry`` for any other shape.
    """
    properties = feature["properties"]
    members = dict(properties) if isinstance(properties, Mapping) else {}
    if "id" in feature:
        members.setdefault("id", feature["id"])
    geometry = feature["geometry"]
    if not isinstance(geometry, Mapping):
        return members
    point = geometry.get("coordinates")
    if geometry.get("type") == "Point" and isinstance(point, list) and len(point) >= 2:
        members.setdefault("longitude", point[0])
        members.setdefault("latitude", point[1])
    else:
        members.setdefault("geometry", outline)
    return members


def _next(text: str, at: int) -> int:
    """Returns where the next character stands that is no white space."""
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at
