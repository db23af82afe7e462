"""Names with values of a kind that no schema knows: options of loaders, parameters of presets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import orjson


class NamedValueType(Enum):
    """What a named value is."""

    NOTHING = "nothing"
    BOOLEAN = "boolean"
    NUMBER = "number"
    TEXT = "text"
    LIST = "list"
    OBJECT = "object"


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A name with a value.

    Attributes:
        text: The value: a text as it is, anything else as JSON writes it.
    """

    name: str
    type: NamedValueType
    text: str

    @property
    def number(self) -> float | None:
        """The value, where it is a number."""
        return float(self.text) if self.type is NamedValueType.NUMBER else None


def by_name(values: Iterable[NamedValue], /) -> dict[str, Any]:
    """Returns the values by their names; the other way round of ``named_values``."""
    return {
        each.name: each.text if each.type is NamedValueType.TEXT else orjson.loads(each.text)
        for each in values
    }


def named_values(values: Mapping[str, Any], /, *, split: bool = False) -> tuple[NamedValue, ...]:
    """Returns JSON-ready values under their names, in their order.

    Args:
        values: By name.
        split: Whether the parts of an object come one by one. Their names must have no dot.
    """
    pairs = _parts(values, "") if split else iter(values.items())
    return tuple(_named_value(name, value) for name, value in pairs)


def _parts(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _parts(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _named_value(name: str, value: Any) -> NamedValue:
    if isinstance(value, str):
        return NamedValue(name, NamedValueType.TEXT, value)
    if value is None:
        kind = NamedValueType.NOTHING
    elif isinstance(value, bool):
        kind = NamedValueType.BOOLEAN
    elif isinstance(value, int | float):
        kind = NamedValueType.NUMBER
    else:
        kind = NamedValueType.OBJECT if isinstance(value, Mapping) else NamedValueType.LIST
    return NamedValue(name, kind, orjson.dumps(value).decode())
