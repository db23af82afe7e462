"""Typed values of statements and their one canonical encoding.

A value is what a statement says of its head: another entity, or a literal of one of
Wikibase's data types. The encoding is a compact JSON array whose first item names the type;
equal values have equal encodings, so it serves storage, hashing and comparison alike.

Source: the Wikibase data model, https://www.mediawiki.org/wiki/Wikibase/DataModel
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args, get_type_hints

import orjson

from graph_service.errors import StoreCorruptError

GREGORIAN = "Q1985727"
JULIAN = "Q1985786"
EARTH = "Q2"


@dataclass(frozen=True, slots=True)
class EntityValue:
    """Another entity, by its id (``Q42``, or an absolute IRI outside Wikidata)."""

    id: str


@dataclass(frozen=True, slots=True)
class StringValue:
    """Plain text.

    ``datatype`` is Wikibase's name for it (``string``, ``external-id``, ``commonsMedia``,
    ``math``, ...) or the IRI of an RDF literal's datatype, kept as it came.
    """

    text: str
    datatype: str = "string"


@dataclass(frozen=True, slots=True)
class MonolingualText:
    """Text in one language (a BCP 47 tag in lower case)."""

    text: str
    language: str


@dataclass(frozen=True, slots=True)
class Quantity:
    """A decimal number with an optional unit (an entity id) and optional bounds.

    Numbers stay decimal text without a leading ``+``, so that nothing is rounded.
    """

    amount: str
    unit: str | None = None
    lower: str | None = None
    upper: str | None = None


@dataclass(frozen=True, slots=True)
class Time:
    """A point or span in time.

    ``time`` is ``[-]YYYY-MM-DDThh:mm:ssZ`` with at least four digits of year, month and day
    ``00`` where they are not known; ``precision`` is Wikibase's (7 century, 9 year, 10 month,
    11 day, ...); ``calendar`` the id of the calendar the date is given in.
    """

    time: str
    precision: int = 11
    calendar: str = GREGORIAN
    before: int = 0
    after: int = 0
    timezone: int = 0


@dataclass(frozen=True, slots=True)
class Coordinates:
    """A place on a globe (an entity id), in degrees; ``precision`` in degrees too."""

    latitude: float
    longitude: float
    altitude: float | None = None
    precision: float | None = None
    globe: str = EARTH


@dataclass(frozen=True, slots=True)
class Iri:
    """An address that is a literal, such as a home page: never a node to walk through."""

    iri: str


@dataclass(frozen=True, slots=True)
class SomeValue:
    """There is a value, and it is not known."""

    @property
    def note(self) -> str:
        """What is known of the value, in words."""
        return "unknown value"


@dataclass(frozen=True, slots=True)
class NoValue:
    """The value of a statement that says that there is none: no children, no known author."""

    @property
    def note(self) -> str:
        """What is known of the value, in words."""
        return "no value"


@dataclass(frozen=True, slots=True)
class UnknownValue:
    """A value of a data type this version does not know, kept as canonical JSON."""

    datatype: str
    json: str


Value = (
    EntityValue
    | StringValue
    | MonolingualText
    | Quantity
    | Time
    | Coordinates
    | Iri
    | SomeValue
    | NoValue
    | UnknownValue
)


def encode_value(value: Value, /) -> str:
    """Returns the canonical encoding of a value.

    >>> encode_value(EntityValue("Q42"))
    '["e","Q42"]'
    >>> decode_value(encode_value(Quantity("1.96", "Q11573"))) == Quantity("1.96", "Q11573")
    True
    """
    return orjson.dumps(_FIELDS[type(value)](value)).decode()


def encode_fields(fields: Sequence[Any], /) -> str:
    """Returns the canonical encoding of a value given as its tag and fields.

    For readers that have no use for the value itself; ``value_of_fields`` makes it.

    >>> encode_fields(["e", "Q42"]) == encode_value(value_of_fields(["e", "Q42"]))
    True
    """
    return orjson.dumps(fields).decode()


def value_of_fields(fields: Sequence[Any], /) -> Value:
    """Returns the value of a tag and fields, as they are encoded; nothing is checked."""
    return _DECODERS[fields[0]](*fields[1:])


# By type, not by matching patterns: every load encodes each of its values.
_FIELDS: dict[type, Callable[[Any], list[Any]]] = {
    EntityValue: lambda value: ["e", value.id],
    StringValue: lambda value: (
        ["s", value.text] if value.datatype == "string" else ["s", value.text, value.datatype]
    ),
    MonolingualText: lambda value: ["m", value.text, value.language],
    Quantity: lambda value: ["q", value.amount, value.unit, value.lower, value.upper],
    Time: lambda value: [
        "t",
        value.time,
        value.precision,
        value.calendar,
        value.before,
        value.after,
        value.timezone,
    ],
    Coordinates: lambda value: [
        "c",
        value.latitude,
        value.longitude,
        value.altitude,
        value.precision,
        value.globe,
    ],
    Iri: lambda value: ["i", value.iri],
    SomeValue: lambda _: ["some"],
    NoValue: lambda _: ["none"],
    UnknownValue: lambda value: ["u", value.datatype, value.json],
}


_DECODERS: dict[str, Callable[..., Value]] = {
    "e": EntityValue,
    "s": StringValue,
    "m": MonolingualText,
    "q": Quantity,
    "t": Time,
    "c": Coordinates,
    "i": Iri,
    "some": SomeValue,
    "none": NoValue,
    "u": UnknownValue,
}


def decode_value(encoded: str | bytes, /) -> Value:
    """Returns the value of a canonical encoding; raises ``ValueError`` for anything else."""
    parts = orjson.loads(encoded)
    try:
        value = _DECODERS[parts[0]](*parts[1:])
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(f"not an encoded value: {encoded!r}") from error
    for name, kind in _field_types(parts[0]):
        if not isinstance(getattr(value, name), kind):
            raise ValueError(f"not an encoded value, for its {name}: {encoded!r}")
    return value


def stored_value(encoded: str | bytes, /) -> Value:
    """Returns a value that a store holds; raises ``StoreCorruptError`` where it is damaged."""
    try:
        return decode_value(encoded)
    except ValueError as error:
        raise StoreCorruptError(
            f"the store is damaged: {str(error)[:200]}",
            hint="Check it with graph-service verify, then restore a backup or load the graph "
            "again with --replace.",
        ) from error


@cache
def _field_types(tag: str) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(_DECODERS[tag])
    # JSON from elsewhere may write 51.0 degrees as 51.
    return tuple(
        (name, hint | int if float in (hint, *get_args(hint)) else hint)
        for name, hint in hints.items()
    )


def value_type(value: Value, /) -> str:
    """Returns the name of the value's type, as the API and the documents print it."""
    return _TYPE_NAMES[type(value)]


_TYPE_NAMES: dict[type, str] = {
    EntityValue: "entity",
    StringValue: "string",
    MonolingualText: "monolingualtext",
    Quantity: "quantity",
    Time: "time",
    Coordinates: "globe-coordinate",
    Iri: "url",
    SomeValue: "somevalue",
    NoValue: "novalue",
    UnknownValue: "unknown",
}


def display_value(value: Value, /, label_of: Callable[[str], str] = str) -> str:
    """Returns the value as a person reads it.

    Args:
        value: Any value.
        label_of: Gives the label of an entity id (of units and of entity values).

    >>> display_value(Time("1952-03-11T00:00:00Z", 11)), display_value(Time("1952-00-00T00:00:00Z", 9))
    ('1952-03-11', '1952')
    >>> display_value(Time("-0109-01-01T00:00:00Z", 9))
    '109 BC'
    """
    match value:
        case EntityValue(id=id_):
            return label_of(id_)
        case StringValue(text=text) | MonolingualText(text=text):
            return text
        case Quantity(amount=amount, unit=unit):
            return f"{amount} {label_of(unit)}" if unit else amount
        case Time():
            return _display_time(value)
        case Coordinates(latitude=latitude, longitude=longitude):
            return f"{latitude:g}, {longitude:g}"
        case Iri(iri=iri):
            return iri
        case SomeValue():
            return "unknown value"
        case NoValue():
            return "no value"
        case UnknownValue(json=json):
            return json


def plain_value(value: Value, /) -> str:
    """Returns the value as a program compares it: an id, a number, a date as far as it is known.

    A century or less is the first year of it, as ``time`` has it.

    >>> plain_value(Time("1947-07-30T00:00:00Z")), plain_value(Time("1952-00-00T00:00:00Z", 9))
    ('1947-07-30', '1952')
    >>> plain_value(Quantity("5.2", "Q11570")), plain_value(EntityValue("Q42"))
    ('5.2', 'Q42')
    """
    match value:
        case EntityValue(id=id_):
            return id_
        case Quantity(amount=amount):
            return amount
        case Time(time=time, precision=precision):
            date, _, clock = time.partition("T")
            sign = "-" if date.startswith("-") else ""
            year, month, day = date.lstrip("+-").split("-")
            if precision <= 9 or month == "00":
                return sign + year
            if precision == 10 or day == "00":
                return f"{sign}{year}-{month}"
            return f"{sign}{year}-{month}-{day}" + (f"T{clock}" if precision > 11 else "")
        case _:
            return display_value(value)


def _display_time(value: Time) -> str:
    negative = value.time.startswith("-")
    year_text, month, rest = value.time.lstrip("+-").split("-", 2)
    year, day, clock = int(year_text), rest[:2], rest[3:].rstrip("Z")
    era = " BC" if negative else ""
    if value.precision <= 5:
        return f"about {year} years {'BC' if negative else 'AD'}"
    if value.precision == 6:
        return f"{_ordinal((year + 999) // 1000)} millennium{era}"
    if value.precision == 7:
        return f"{_ordinal((year + 99) // 100)} century{era}"
    if value.precision == 8:
        return f"{year // 10 * 10}s{era}"
    shown = f"{year}" if negative else f"{year:04d}"
    if value.precision >= 10 and month != "00":
        shown += f"-{month}"
        if value.precision >= 11 and day != "00":
            shown += f"-{day}"
            if value.precision >= 12:
                shown += f" {clock}"
    return shown + era


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
