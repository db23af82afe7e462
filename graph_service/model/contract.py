"""What callers get: how the dataclasses of results are shown, said once for all who show or read them.

``shapes.SHAPES`` has a shape for each dataclass that callers get: its name in GraphQL, and of each
field the name, the words that describe it and the attribute that it shows. Everything else is made
of that and of the dataclass's own type hints:

- ``api.derive`` makes the GraphQL types. A field that has no attribute has logic: it is a method of
  a class in ``api``, and takes its words from here.
- ``client.decode`` makes what the client selects, and reads the answer into the dataclass. It takes
  the fields that show an attribute of the dataclass and no others.
- The explorer's documents take fragments from the same selections.

So a new field of a result is an attribute of a dataclass and a line of ``SHAPES``.

A field whose name ends in ``_id`` or ``_ids`` is an id, one that ends in ``_at`` a moment. Any other
type that the attribute's own does not say is given as ``kind``.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any, NewType, Union, get_args, get_origin, get_type_hints

from graph_service.options import camel_case

Id = NewType("Id", str)
DateTime = NewType("DateTime", str)
BigInt = NewType("BigInt", int)


class ItemId(str):
    """The id of an item, which GraphQL shows as the item."""


class PropertyId(str):
    """The id of a property, which GraphQL shows as the property."""


class Statement:
    """A triple with its change, which GraphQL shows as a statement and its subject."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """How a value is shown that is not shown as it is stored.

    Attributes:
        shown: Type of what is shown.
        show: Makes the stored value that.
        read: Makes it the stored value again.
    """

    shown: Any
    show: Callable[[Any], Any]
    read: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a shape.

    Attributes:
        words: Its description.
        path: The attribute that it shows, with dots for one of another dataclass; None for a field
            with logic or one that ``build`` is passed, "" for the attribute of its own name.
        kind: Type of what is shown, or its ``Conversion``; None for the type of the attribute.
        alias: What the client calls it where another type of a union has a field of its name.
        read: Whether the client reads the attribute from this field.
    """

    words: str
    path: str | None = ""
    kind: Any = None
    alias: str = ""
    read: bool = True


@dataclass(frozen=True, slots=True)
class Shape:
    """How a dataclass is shown: its name in GraphQL, what it is, and its fields in order."""

    name: str
    words: str
    fields: Mapping[str, Field]


def shape(name: str, words: str, /, **fields: str | Field) -> Shape:
    """Returns a shape; a field that is given by its words alone shows the attribute of its name."""
    return Shape(
        name,
        words,
        {key: Field(value) if isinstance(value, str) else value for key, value in fields.items()},
    )


def at(
    words: str, /, *, path: str = "", kind: Any = None, alias: str = "", read: bool = True
) -> Field:
    """Returns a field that shows an attribute of another name, or as another type."""
    return Field(words, path, kind, alias, read)


def computed(words: str, /, *, kind: Any = None) -> Field:
    """Returns a field that shows no attribute.

    With a ``kind`` it is passed to ``api.derive.build`` by its name. Without one it has logic: a
    method of the GraphQL type gives it.
    """
    return Field(words, None, kind)


@dataclass(frozen=True, slots=True)
class Part:
    """A field that shows an attribute, with its type resolved.

    Attributes:
        path: The attribute.
        kind: Type of what is shown, or of each element of a list.
        is_list, is_optional: Whether it shows a list; whether it may be None.
        conversion: How the value is converted, if it is.
        is_read: Whether the client reads the attribute from it. A property of a dataclass is not.
    """

    name: str
    words: str
    path: str
    kind: Any
    is_list: bool
    is_optional: bool
    conversion: Conversion | None
    is_read: bool
    alias: str

    @property
    def graphql(self) -> str:
        """The field's name in GraphQL."""
        return camel_case(self.name)

    def value_of(self, source: Any, /) -> Any:
        """Returns what is shown of an object of the dataclass."""
        value = attrgetter(self.path)(source)
        return value if self.conversion is None or value is None else self.conversion.show(value)


def resolved(model: type, shape: Shape, /) -> tuple[Part, ...]:
    """Returns the fields of a dataclass's shape that show an attribute, in order."""
    return tuple(
        _part(model, name, field) for name, field in shape.fields.items() if field.path is not None
    )


def split_hint(hint: Any, /) -> tuple[Any, bool, bool]:
    """Returns the type in a hint, whether it is a tuple of that, and whether it may be None.

    >>> split_hint(tuple[str, ...] | None)
    (<class 'str'>, True, True)
    """
    is_optional = False
    if get_origin(hint) in (Union, types.UnionType):
        parts = [part for part in get_args(hint) if part is not type(None)]
        is_optional = len(parts) < len(get_args(hint))
        hint = parts[0] if len(parts) == 1 else hint
    if get_origin(hint) is tuple:
        return get_args(hint)[0], True, is_optional
    return hint, False, is_optional


def _part(model: type, name: str, field: Field) -> Part:
    path = field.path or name
    stored, is_stored = _attribute(model, path)
    kind, is_list, is_optional = split_hint(stored)
    conversion = None
    if isinstance(field.kind, Conversion):
        conversion = field.kind
        kind, is_list, may_be_none = split_hint(conversion.shown)
        is_optional = is_optional or may_be_none
    elif field.kind is not None:
        if isinstance(field.kind, type) and issubclass(field.kind, Enum) and kind is str:
            conversion = Conversion(field.kind, field.kind, value_of_enum)
        elif field.kind is float and kind is int:
            conversion = Conversion(float, float, int)
        kind = field.kind
    elif name == "id" or name.endswith(("_id", "_ids")):
        kind = Id
    elif name.endswith("_at"):
        kind = DateTime
    is_read = is_stored and field.read
    return Part(
        name, field.words, path, kind, is_list, is_optional, conversion, is_read, field.alias
    )


def value_of_enum(member: Enum, /) -> Any:
    """Returns the value of a member: how an enum is read that is a text in Python."""
    return member.value


def _attribute(model: type, path: str) -> tuple[Any, bool]:
    """Returns the type of an attribute, and whether it is stored all the way down."""
    hint: Any = model
    is_stored = True
    for name in path.split("."):
        owner = split_hint(hint)[0]
        attribute = getattr(owner, name, None)
        if isinstance(attribute, property):
            hint, is_stored = get_type_hints(attribute.fget)["return"], False
        else:
            hint = _hints(owner)[name]
            is_stored = is_stored and name in {each.name for each in dataclasses.fields(owner)}
    return hint, is_stored


@cache
def _hints(owner: Any) -> dict[str, Any]:
    return get_type_hints(owner)
