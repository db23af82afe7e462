"""Wikibase JSON's snaks to typed values.

Source: https://doc.wikimedia.org/Wikibase/master/php/docs_topics_json.html
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import orjson

from graph_service.model.identity import normalise_entity_id
from graph_service.model.values import EARTH, GREGORIAN, encode_fields
from loaders.dates import is_possible

_TIME = re.compile(r"([+-]?)(\d{1,16})-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d)Z?")
_PREFIXES = {"item": "Q", "property": "P", "lexeme": "L", "mediainfo": "M"}
Fields = tuple[Any, ...]
"""The tag and fields of a value, as they are encoded."""


class MalformedError(ValueError):
    """A piece of JSON that is not what Wikibase writes; the message is the reject's reason."""


def read_snaks(
    snaks: Mapping[str, list[Any]] | list[Any],
    order: list[str] | None,
    skipped: Counter[str],
    /,
) -> list[tuple[str, str]]:
    """Returns snaks by property, with encoded values, in the order of their properties.

    Lists are the old format.
    """
    if isinstance(snaks, list):
        return [(snak["property"], encode_snak(snak, skipped)) for snak in snaks]
    if order and len(snaks) > 1:
        properties = [property_ for property_ in dict.fromkeys(order) if property_ in snaks]
        if len(properties) < len(snaks):
            named = set(properties)
            properties += [property_ for property_ in snaks if property_ not in named]
        return [
            (property_, encode_snak(snak, skipped))
            for property_ in properties
            for snak in snaks[property_]
        ]
    return [
        (property_, encode_snak(snak, skipped))
        for property_, group in snaks.items()
        for snak in group
    ]


def encode_snak(snak: Mapping[str, Any], skipped: Counter[str], /) -> str:
    """Returns the value of a snak encoded, see ``read_snak``."""
    fields = read_snak(snak, skipped)
    # Half of all values are entities, and the same ones again and again.
    return encode_entity(fields[1]) if fields[0] == "e" else encode_fields(fields)


@lru_cache(maxsize=65_536)
def encode_entity(id_: str, /) -> str:
    """Returns the encoding of a value that is an entity."""
    return encode_fields(("e", id_))


def read_snak(snak: Mapping[str, Any], skipped: Counter[str], /) -> Fields:
    """Returns the value of a snak as its tag and fields, see ``value_of_fields``.

    A data type that is not known, or a value not shaped like its data type, is kept as it came
    and counted in ``skipped`` (the name under which the report shows such counts).
    """
    type_ = snak.get("snaktype", "value")
    if type_ != "value":
        if type_ == "somevalue":
            return ("some",)
        if type_ == "novalue":
            return ("none",)
        raise MalformedError(f"snaktype {type_!r}; expected value, somevalue or novalue")
    data = snak["datavalue"]
    reader = _READERS.get(data["type"])
    if reader is not None:
        try:
            return reader(data["value"], snak.get("datatype"))
        except (KeyError, TypeError, ValueError, AttributeError):
            pass
    name = str(snak.get("datatype") or data["type"])
    skipped[f"values of data type {name} kept as they came"] += 1
    return ("u", name, orjson.dumps(data, option=orjson.OPT_SORT_KEYS).decode())


@lru_cache(maxsize=262_144)
def _entity(id_: str) -> Fields:
    return ("e", normalise_entity_id(id_))


def _read_entity_value(value: Any, _datatype: str | None) -> Fields:
    id_ = value.get("id")
    if id_ is None:
        id_ = f"{_PREFIXES[value['entity-type']]}{int(value['numeric-id'])}"
    return _entity(id_)


def _read_string(value: Any, datatype: str | None) -> Fields:
    if not isinstance(value, str):
        raise TypeError(value)
    if datatype == "url":
        return ("i", value)
    if not datatype or datatype == "string":
        return ("s", value)
    return ("s", value, datatype)


def _read_monolingual(value: Any, _datatype: str | None) -> Fields:
    text, language = value["text"], value["language"]
    if not isinstance(text, str):
        raise TypeError(text)
    return ("m", text, language.lower())


_DECIMAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")


def _decimal(raw: object) -> str:
    text = raw if isinstance(raw, str) else repr(raw)
    if isinstance(raw, bool) or not _DECIMAL.fullmatch(text):
        raise ValueError(raw)
    return text[1:] if text[0] == "+" else text


@lru_cache(maxsize=65_536)
def _unit(raw: str) -> str | None:
    return None if raw in ("1", "") else normalise_entity_id(raw)


def _read_quantity(value: Any, _datatype: str | None) -> Fields:
    lower, upper = value.get("lowerBound"), value.get("upperBound")
    return (
        "q",
        _decimal(value["amount"]),
        _unit(value.get("unit", "1")),
        None if lower is None else _decimal(lower),
        None if upper is None else _decimal(upper),
    )


@lru_cache(maxsize=65_536)
def normalise_time(raw: str, /) -> str:
    """Returns a Wikibase time stamp without its plus sign and with a year of 4 or more digits.

    Raises:
        ValueError: It is no time stamp, or one of a day or an hour that cannot be.

    >>> normalise_time("+00000002013-01-01T00:00:00Z"), normalise_time("-0109-01-01T00:00:00Z")
    ('2013-01-01T00:00:00Z', '-0109-01-01T00:00:00Z')
    """
    # Nearly all time stamps of a dump: +YYYY-MM-DDT00:00:00Z.
    match = _TIME.fullmatch(raw)
    if not match:
        raise ValueError(raw)
    sign, year, month, day, clock = match.groups()
    if not is_possible(int(sign + year), int(month), int(day), clock):
        raise ValueError(raw)
    if len(year) != 4:
        year = year.lstrip("0").zfill(4)
    return f"{'-' if sign == '-' else ''}{year}-{month}-{day}T{clock}Z"


def _read_time(value: Any, _datatype: str | None) -> Fields:
    precision = value["precision"]
    calendar = value.get("calendarmodel")
    if type(precision) is not int:
        raise TypeError(precision)
    return (
        "t",
        normalise_time(value["time"]),
        precision,
        # A calendar without a name is the one that Wikibase assumes.
        (_unit(calendar) if calendar else None) or GREGORIAN,
        int(value.get("before") or 0),
        int(value.get("after") or 0),
        int(value.get("timezone") or 0),
    )


def _read_coordinates(value: Any, _datatype: str | None) -> Fields:
    altitude, precision, globe = value.get("altitude"), value.get("precision"), value.get("globe")
    return (
        "c",
        float(value["latitude"]),
        float(value["longitude"]),
        None if altitude is None else float(altitude),
        None if precision is None else float(precision),
        (_unit(globe) if globe else None) or EARTH,
    )


_READERS: dict[str, Callable[[Any, str | None], Fields]] = {
    "wikibase-entityid": _read_entity_value,
    "string": _read_string,
    "monolingualtext": _read_monolingual,
    "quantity": _read_quantity,
    "time": _read_time,
    "globecoordinate": _read_coordinates,
    "globe-coordinate": _read_coordinates,
}
