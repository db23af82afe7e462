"""Properties of a Neo4j, as its driver gives them, as typed values of ours."""

from __future__ import annotations

import math
import re
from decimal import Decimal

import neo4j.spatial
import neo4j.time
import orjson

from graph_service.model.values import (
    Coordinates,
    Quantity,
    StringValue,
    Time,
    UnknownValue,
    Value,
)

XSD = "http://www.w3.org/2001/XMLSchema#"
WGS84 = (4326, 4979)
_CLOCK = re.compile(r"T(\d\d:\d\d:\d\d)(?:\.0*)?")


def property_values(value: object, /) -> list[Value] | None:
    """Returns a property as values, one for each item of a list; None for one without a form.

    >>> property_values([1, "two"]), property_values(1.5e-3)
    ([Quantity(amount='1', unit=None, lower=None, upper=None), StringValue(text='two', datatype='string')], [Quantity(amount='0.0015', unit=None, lower=None, upper=None)])
    """
    items = value if isinstance(value, list) else [value]
    made = [_value(item) for item in items]
    values = [item for item in made if item is not None]
    return values if len(values) == len(items) else None


def _value(value: object) -> Value | None:
    match value:
        case bool():
            return StringValue("true" if value else "false", XSD + "boolean")
        case str():
            return StringValue(value)
        case int():
            return Quantity(str(value))
        case float():
            if math.isfinite(value):
                return Quantity(format(Decimal(repr(value)), "f"))
            return StringValue(
                {math.inf: "INF", -math.inf: "-INF"}.get(value, "NaN"), XSD + "double"
            )
        case neo4j.time.DateTime():
            return _moment(value)
        case neo4j.time.Date():
            return Time(f"{value.year:04d}-{value.month:02d}-{value.day:02d}T00:00:00Z")
        case neo4j.time.Time():
            return StringValue(value.iso_format(), XSD + "time")
        case neo4j.time.Duration():
            return StringValue(value.iso_format(), XSD + "duration")
        case neo4j.spatial.Point():
            if value.srid in WGS84:
                longitude, latitude, *height = value
                return Coordinates(latitude, longitude, height[0] if height else None)
            point = {"srid": value.srid, "coordinates": list(value)}
            return UnknownValue("point", orjson.dumps(point, option=orjson.OPT_SORT_KEYS).decode())
        case _:
            return None


def _moment(value: neo4j.time.DateTime) -> Value:
    text = value.iso_format()
    clock = _CLOCK.search(text)
    offset = value.utcoffset()
    minutes = 0 if offset is None else offset.total_seconds() / 60
    if clock is None or text[clock.end() : clock.end() + 1].isdigit() or minutes % 1:
        # Parts of a second, or of a minute of the zone, have no place in Wikibase's times.
        return StringValue(text, XSD + "dateTime")
    day = f"{value.year:04d}-{value.month:02d}-{value.day:02d}"
    return Time(f"{day}T{clock[1]}Z", 14, timezone=int(minutes))
