"""KGTK's way to write typed values in a table's cell.

Source: the KGTK file format, https://kgtk.readthedocs.io/en/latest/data_model/.
"""

from __future__ import annotations

import re

from graph_service.model.identity import normalise_entity_id
from graph_service.model.values import (
    Coordinates,
    EntityValue,
    MonolingualText,
    Quantity,
    StringValue,
    Time,
    Value,
)
from loaders.dates import is_possible
from loaders.rdf.values import decimal_text

_DECIMAL = re.compile(
    r"(?P<amount>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"(?:\[(?P<lower>[^,\]]+),(?P<upper>[^,\]]+)\])?"
    r"(?P<unit>Q\d+|[a-zA-Z%][a-zA-Z0-9/*^-]*)?"
)
_COORDINATES = re.compile(
    r"@(?P<lat>[+-]?[\d.]+(?:[eE][+-]?\d+)?)/(?P<lon>[+-]?[\d.]+(?:[eE][+-]?\d+)?)"
)
_DATE = re.compile(
    r"\^(?P<sign>[+-]?)(?P<year>\d{1,16})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d)"
    r"(?:T(?P<clock>\d\d:\d\d(?::\d\d)?)(?:\.0+)?Z?)?)?)?(?:/(?P<precision>\d{1,2}))?"
)
_TAGGED = re.compile(r"'(?P<text>(?:[^'\\]|\\.)*)'@(?P<language>[A-Za-z]+(?:-[A-Za-z0-9]+)*)", re.S)
_STRING = re.compile(r'"(?P<text>(?:[^"\\]|\\.)*)"', re.S)
# Files written by hand or escaped twice hold bare quotes; the outermost ones still tell.
_TAGGED_LOOSELY = re.compile(r"'(?P<text>.*)'@(?P<language>[A-Za-z]+(?:-[A-Za-z0-9]+)*)", re.S)
_STRING_LOOSELY = re.compile(r'"(?P<text>.+)"', re.S)
_ESCAPE = re.compile(r"\\(.)", re.S)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "a": "\a", "b": "\b", "v": "\v", "f": "\f"}


def unescape(text: str, /) -> str:
    r"""Returns text without KGTK's backslashes.

    >>> unescape(r"Child\'s \"play\" \| x")
    'Child\'s "play" | x'
    """
    if "\\" not in text:
        return text
    text = text.replace("\\\\'", "\\'")
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), text)


def read_kgtk_value(cell: str, /, *, base_iri: str | None = None) -> Value:
    """Returns the value of a KGTK cell: a typed literal, else the entity of that name.

    Raises:
        ValueError: A literal that is not finished or not well formed, or an empty cell.
        InputError: Text that no store can hold.

    >>> read_kgtk_value("'chat'@fr"), read_kgtk_value("1.96Q11573").unit
    (MonolingualText(text='chat', language='fr'), 'Q11573')
    >>> read_kgtk_value("^1952-00-00T00:00:00Z/9").time
    '1952-00-00T00:00:00Z'
    """
    if not cell:
        raise ValueError("an empty value")
    initial = cell[0]
    if initial == "'":
        match = _TAGGED.fullmatch(cell) or _TAGGED_LOOSELY.fullmatch(cell)
        if not match:
            raise ValueError(f"expected 'text'@language, got {cell[:80]}")
        return MonolingualText(unescape(match["text"]), match["language"].lower())
    if initial == '"':
        match = _STRING.fullmatch(cell) or _STRING_LOOSELY.fullmatch(cell)
        if not match:
            raise ValueError(f'expected "text", got {cell[:80]}')
        return StringValue(unescape(match["text"]))
    if initial == "^":
        return _read_date(cell)
    if initial == "@":
        match = _COORDINATES.fullmatch(cell)
        if not match:
            raise ValueError(f"expected @latitude/longitude, got {cell[:80]}")
        return Coordinates(float(match["lat"]), float(match["lon"]))
    if initial in "+-.0123456789":
        match = _DECIMAL.fullmatch(cell)
        if match:
            return _read_quantity(match)
    if cell in ("True", "False"):
        return StringValue(cell.lower(), "boolean")
    return EntityValue(normalise_entity_id(cell, base_iri=base_iri))


def _read_quantity(match: re.Match[str]) -> Quantity:
    amount = decimal_text(match["amount"])
    bounds = [
        None if match[name] is None else decimal_text(match[name]) for name in ("lower", "upper")
    ]
    if amount is None or (match["lower"] is not None and None in bounds):
        raise ValueError(f"expected a number, got {match[0][:80]}")
    return Quantity(amount, match["unit"], bounds[0], bounds[1])


def _read_date(cell: str) -> Time | StringValue:
    match = _DATE.fullmatch(cell)
    if not match:
        raise ValueError(f"expected ^date or ^date/precision, got {cell[:80]}")
    month, day, clock = match["month"] or "00", match["day"] or "00", match["clock"] or "00:00:00"
    if len(clock) == 5:
        clock += ":00"
    implied = 9 if month == "00" else 10 if day == "00" else 11
    if clock != "00:00:00":
        implied = 14
    sign = "-" if match["sign"] == "-" else ""
    if not is_possible(int(sign + match["year"]), int(month), int(day), clock):
        return StringValue(cell.removeprefix("^"))
    return Time(
        f"{sign}{int(match['year']):04d}-{month}-{day}T{clock}Z",
        int(match["precision"]) if match["precision"] else implied,
    )
