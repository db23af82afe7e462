"""Names with values of a kind that the schema can't know: options of loaders, parameters of presets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
import strawberry

from graph_service.api.enums import NamedValueType


@strawberry.type(description="A name with a value: one option, parameter or figure of many.")
class NamedValue:
    """A name with a value."""

    name: str = strawberry.field(
        description="What it is called; a dot stands between the name of a group and that of a part."
    )
    type: NamedValueType = strawberry.field(description="What the value is.")
    text: str = strawberry.field(
        description="The value: a text as it is, anything else as JSON writes it."
    )
    number: float | None = strawberry.field(description="The value, where it is a number.")


def named_values(values: Mapping[str, Any], /, *, split: bool = False) -> list[NamedValue]:
    """Returns JSON-ready values under their names, in their order.

    Args:
        values: By name.
        split: Whether the parts of an object come one by one. Their names must have no dot.
    """
    pairs = _parts(values, "") if split else iter(values.items())
    return [_named_value(name, value) for name, value in pairs]


def _parts(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _parts(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _named_value(name: str, value: Any) -> NamedValue:
    number: float | None = None
    if value is None:
        kind = NamedValueType.NOTHING
    elif isinstance(value, bool):
        kind = NamedValueType.BOOLEAN
    elif isinstance(value, int | float):
        kind, number = NamedValueType.NUMBER, float(value)
    elif isinstance(value, str):
        return NamedValue(name=name, type=NamedValueType.TEXT, text=value, number=None)
    else:
        kind = NamedValueType.OBJECT if isinstance(value, Mapping) else NamedValueType.LIST
    return NamedValue(name=name, type=kind, text=orjson.dumps(value).decode(), number=number)
