"""Frozen data to JSON-ready dicts and back, by the types that the dataclasses declare."""

from __future__ import annotations

import dataclasses
import types
from collections import Counter
from collections.abc import Mapping
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import orjson

from graph_service.errors import InputError
from graph_service.model.values import Value, decode_value, encode_value

T = TypeVar("T")
_VALUE_TYPES: tuple[type, ...] = get_args(Value)
_PLAIN_TYPES = (str, float, int, bool, type(None))


def to_plain(item: Any, /) -> Any:
    """Returns an item as JSON's types: a dataclass as a dict of its fields, a set as a sorted list.

    Enums become their values, paths texts, typed values (``graph_service.model.values``) their
    encoding.
    """
    kind = type(item)
    if kind in _PLAIN_TYPES:
        return item
    if issubclass(kind, _VALUE_TYPES):
        return orjson.loads(encode_value(cast(Value, item)))
    names = _field_names(kind)
    if names is not None:
        return {name: to_plain(getattr(item, name)) for name in names}
    if isinstance(item, Enum):
        return item.value
    if isinstance(item, Mapping):
        return {str(key): to_plain(value) for key, value in item.items()}
    if isinstance(item, list | tuple):
        return [to_plain(part) for part in item]
    if isinstance(item, set | frozenset):
        return sorted(to_plain(part) for part in item)
    return str(item) if isinstance(item, PurePath) else item


def from_plain(kind: type[T], data: Any, /) -> T:
    """Returns the dataclass whose ``to_plain`` is ``data``.

    Raises:
        InputError: A field is missing or has another type; its path is named.
    """
    return cast(T, _decode(kind, data, kind.__name__))


_FIELD_NAMES: dict[type[Any], tuple[str, ...] | None] = {}


def _field_names(kind: type[Any]) -> tuple[str, ...] | None:
    """Returns the fields of a dataclass; None for any other type. Each type is looked at once."""
    if kind not in _FIELD_NAMES:
        is_data = dataclasses.is_dataclass(kind)
        fields = tuple(field.name for field in dataclasses.fields(kind)) if is_data else None
        _FIELD_NAMES[kind] = fields
    return _FIELD_NAMES[kind]


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _decode(kind: Any, data: Any, path: str) -> Any:
    if kind is Any:
        return data
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _decode_union(get_args(kind), data, path)
    if origin in (tuple, list, set):
        if not isinstance(data, list | tuple):
            raise InputError(f"{path}: expected a list, got {type(data).__name__}")
        inner = get_args(kind)[0]
        return origin(_decode(inner, part, f"{path}[{i}]") for i, part in enumerate(data))
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(data, Mapping):
            raise InputError(f"{path}: expected an object, got {type(data).__name__}")
        inner = int if origin is Counter else get_args(kind)[1]
        values = {key: _decode(inner, part, f"{path}.{key}") for key, part in data.items()}
        return Counter(values) if origin is Counter else values
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _decode_dataclass(kind, data, path)
    if isinstance(kind, type) and issubclass(kind, Enum):
        try:
            return kind(data)
        except ValueError as error:
            raise InputError(f"{path}: {error}") from error
    if kind is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    if isinstance(kind, type) and (
        not isinstance(data, kind) or (isinstance(data, bool) and kind is not bool)
    ):
        raise InputError(f"{path}: expected {kind.__name__}, got {type(data).__name__}")
    return data


def _decode_union(kinds: tuple[Any, ...], data: Any, path: str) -> Any:
    if set(kinds) & set(_VALUE_TYPES):
        if data is None and type(None) in kinds:
            return None
        try:
            return decode_value(orjson.dumps(data))
        except (ValueError, TypeError) as error:
            raise InputError(f"{path}: {error}") from error
    if data is None and type(None) in kinds:
        return None
    rest = [kind for kind in kinds if kind is not type(None)]
    failures: list[str] = []
    for kind in rest:
        try:
            return _decode(kind, data, path)
        except InputError as error:
            failures.append(error.message)
    raise InputError(f"{path}: " + "; ".join(failures))


def _decode_dataclass(kind: type, data: Any, path: str) -> Any:
    if not isinstance(data, Mapping):
        raise InputError(f"{path}: expected an object, got {type(data).__name__}")
    hints = _hints(kind)
    values: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        if field.name in data:
            values[field.name] = _decode(
                hints[field.name], data[field.name], f"{path}.{field.name}"
            )
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise InputError(f"{path}.{field.name}: missing")
    return kind(**values)
