"""Properties of a Neo4j, as its driver gives them, as typed values of ours."""

from __future__ import annotations

import datetime
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
# The one day of year 0 that the driver's classes hold, as 0000-00-00.
_DAY_ZERO = "0000-12-31"
_EPOCH = datetime.date(1970, 1, 1)
_DAYS_OF_400_YEARS = 146_097
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
        case neo4j.time.Date() if not value.year:
            return StringValue(_DAY_ZERO, XSD + "date")
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
            return _beyond_the_driver(value)


def _beyond_the_driver(value: object) -> Value | None:
    """Returns a date or moment that the driver's classes can't hold: before year 1, after 9999.

    The driver gives such a value as its raw data, by the tags of the Bolt protocol.
    """
    raw = getattr(value, "raw_data", None)
    tag, fields = getattr(raw, "tag", None), getattr(raw, "fields", None)
    match tag, fields:
        case b"D", [int(days)]:
            return _dated(days, 0, 0, None)
        # UTC, with an offset or the name of a zone, whose offset that year nobody knows.
        case b"I", [int(seconds), int(nanoseconds), int(offset)]:
            return _dated(0, seconds + offset, nanoseconds, offset)
        case b"i", [int(seconds), int(nanoseconds), str()]:
            return _dated(0, seconds, nanoseconds, 0)
        # By the clock of their zone.
        case b"F", [int(seconds), int(nanoseconds), int(offset)]:
            return _dated(0, seconds, nanoseconds, offset)
        case (b"f", [int(seconds), int(nanoseconds), str()]) | (
            b"d",
            [int(seconds), int(nanoseconds)],
        ):
            return _dated(0, seconds, nanoseconds, 0)
        case _:
            return None


def _dated(days: int, seconds: int, nanoseconds: int, offset: int | None) -> Value:
    """Returns the time so many days and seconds after 1970; a day where ``offset`` is None."""
    more, second = divmod(seconds, 86_400)
    # The calendar repeats itself after 400 years.
    cycles, ordinal = divmod(_EPOCH.toordinal() + days + more - 1, _DAYS_OF_400_YEARS)
    day = datetime.date.fromordinal(ordinal + 1)
    year = day.year + 400 * cycles
    text = f"{'-' if year < 0 else ''}{abs(year):04d}-{day.month:02d}-{day.day:02d}"
    if offset is None:
        return Time(f"{text}T00:00:00Z") if year else StringValue(text, XSD + "date")
    clock = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
    if nanoseconds or offset % 60 or not year:
        zone = datetime.timezone(datetime.timedelta(seconds=offset))
        part = f".{nanoseconds:09d}" if nanoseconds else ""
        return StringValue(
            f"{text}T{clock}{part}{str(zone).removeprefix('UTC') or 'Z'}", XSD + "dateTime"
        )
    return Time(f"{text}T{clock}Z", 14, timezone=offset // 60)


def _moment(value: neo4j.time.DateTime) -> Value:
    text = value.iso_format()
    if not value.year:
        return StringValue(_DAY_ZERO + text[len(_DAY_ZERO) :], XSD + "dateTime")
    clock = _CLOCK.search(text)
    offset = value.utcoffset()
    minutes = 0 if offset is None else offset.total_seconds() / 60
    if clock is None or text[clock.end() : clock.end() + 1].isdigit() or minutes % 1:
        # Parts of a second, or of a minute of the zone, have no place in Wikibase's times.
        return StringValue(text, XSD + "dateTime")
    day = f"{value.year:04d}-{value.month:02d}-{value.day:02d}"
    return Time(f"{day}T{clock[1]}Z", 14, timezone=int(minutes))
