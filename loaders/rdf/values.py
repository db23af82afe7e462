"""RDF terms to ids and typed values.

Years: Wikidata's RDF counts years before Christ as ISO 8601 does (``-0108`` is 109 BC) and
Wikibase's JSON does not (``-0109``); values made here are in the JSON's form. Other sources
(DBpedia) write the year as it is said, so theirs are kept as written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from urllib.parse import unquote

from graph_service.model.identity import WIKIDATA_ID
from graph_service.model.values import (
    Coordinates,
    EntityValue,
    Iri,
    MonolingualText,
    Quantity,
    StringValue,
    Time,
    Value,
)
from loaders.dates import is_possible, is_possible_zone

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
WIKIDATA = "http://www.wikidata.org/"
ENTITY = WIKIDATA + "entity/"
NAME_SCHEME = "urn:graph-service:"
GENID = re.compile(r"https?://www\.wikidata\.org/\.well-known/genid/")
_COMMONS_FILE = re.compile(r"https?://commons\.wikimedia\.org/wiki/Special:FilePath/(.+)")
_COMMONS_DATA = re.compile(r"https?://commons\.wikimedia\.org/data/main/(Data:.+)")
_NUMBERS = frozenset(
    XSD + name
    for name in [
        "integer",
        "decimal",
        "double",
        "float",
        "int",
        "long",
        "short",
        "byte",
        "nonNegativeInteger",
        "positiveInteger",
        "nonPositiveInteger",
        "negativeInteger",
        "unsignedLong",
        "unsignedInt",
        "unsignedShort",
        "unsignedByte",
    ]
)
_DATES = frozenset(
    XSD + name for name in ("dateTime", "dateTimeStamp", "date", "gYear", "gYearMonth")
)
_SCHEMA_DATES = frozenset(
    base + name
    for base in ("http://schema.org/", "https://schema.org/")
    for name in ("Date", "DateTime")
)
_NO_SECONDS = re.compile(r"(?<=T\d\d:\d\d)(?![:\d])")
"""After a time of day of schema.org, which may end with its minutes."""
_DAYS = frozenset(XSD + name for name in ("dateTime", "dateTimeStamp", "date"))
_LONG_YEAR = re.compile(r"[+-]?\d{5,}(?:Z|[+-]\d\d:\d\d)?")
"""Digits without a month: as a date, 20240101 is a day without hyphens and no year."""
_DATE = re.compile(
    r"([+-]?)(\d{1,16})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d:\d\d:\d\d)(?:\.(0+))?)?)?)?"
    r"(Z|[+-]\d\d:\d\d)?"
)
_WKT = "http://www.opengis.net/ont/geosparql#wktLiteral"
_POINT = re.compile(
    r"(?:<(?P<globe>[^>]+)>\s*)?POINT\s*\(\s*(?P<lon>[-+\d.eE]+)\s+(?P<lat>[-+\d.eE]+)\s*\)",
    re.IGNORECASE,
)
# A decimal with more digits than this before or after its point stays in its own notation.
_MAX_EXPONENT = 60


@lru_cache(maxsize=262_144)
def entity_id(iri: str, /) -> str:
    """Returns the id under which a resource is kept: ``Q42`` for Wikidata's, else its IRI.

    >>> entity_id("http://www.wikidata.org/entity/Q42"), entity_id("urn:graph-service:Rome")
    ('Q42', 'Rome')
    """
    if iri.startswith(ENTITY) or iri.startswith("https://www.wikidata.org/entity/"):
        local = iri.rpartition("/")[2]
        if WIKIDATA_ID.fullmatch(local) and iri.endswith("/entity/" + local):
            return local
    return entity_name(iri)


def entity_name(iri: str, /) -> str:
    """Returns the id that ``graph-service export`` made an IRI of, since it is none; else the IRI.

    >>> entity_name("urn:graph-service:_%3A0a"), entity_name("http://a/b")
    ('_:0a', 'http://a/b')
    """
    return unquote(iri[len(NAME_SCHEME) :]) if iri.startswith(NAME_SCHEME) else iri


def decimal_text(text: str, /) -> str | None:
    """Returns a number as decimal text without plus sign or exponent; None if it is none.

    >>> decimal_text("+1.50"), decimal_text("2.5E-3"), decimal_text("INF")
    ('1.50', '0.0025', None)
    """
    stripped = text.strip()
    try:
        decimal = Decimal(stripped)
    except InvalidOperation:
        return None
    if not decimal.is_finite() or "_" in stripped:
        return None
    if "e" in stripped or "E" in stripped:
        exponent = decimal.as_tuple().exponent
        if not isinstance(exponent, int) or abs(exponent) > _MAX_EXPONENT:
            return stripped.removeprefix("+")
        return format(decimal, "f")
    return stripped.removeprefix("+")


def read_date(text: str, /, *, astronomical: bool = False) -> Time | None:
    """Returns the time of an XSD date, with the precision it is written in; None if it is none.

    Args:
        text: ``dateTime``, ``date``, ``gYearMonth`` or ``gYear``.
        astronomical: Whether year 0 is 1 BC, as in Wikidata's RDF.

    >>> read_date("1952"), read_date("-0108-01-01T00:00:00Z", astronomical=True).time
    (Time(time='1952-00-00T00:00:00Z', precision=9, calendar='Q1985727', before=0, after=0, timezone=0), '-0109-01-01T00:00:00Z')
    """
    match = _DATE.fullmatch(text.strip())
    if not match:
        return None
    sign, digits, month, day, clock, _, zone = match.groups()
    year = -int(digits) if sign == "-" else int(digits)
    if astronomical and year <= 0:
        year -= 1
    # A day or month that is not known is Wikidata's; elsewhere a date ends before it.
    unknown = "00" in (month, day) and not astronomical
    if year == 0 or unknown:
        return None
    if not is_possible(year, int(month or 0), int(day or 0), clock or "00:00:00"):
        return None
    if month is None:
        precision = 9
    elif day is None:
        precision = 10
    elif clock is None or clock == "00:00:00":
        precision = 11
    else:
        precision = 14
    minutes = 0
    if zone and zone != "Z":
        minutes = int(zone[1:3]) * 60 + int(zone[4:6])
        minutes = -minutes if zone[0] == "-" else minutes
        if not is_possible_zone(minutes) or zone[4:] > "59":
            return None
    return Time(
        f"{'-' if year < 0 else ''}{abs(year):04d}-{month or '00'}-{day or '00'}"
        f"T{clock or '00:00:00'}Z",
        precision,
        timezone=minutes,
    )


_STAMP = re.compile(r"(-?)(\d+)-(\d\d)-(\d\d)(T.*)")


def julian_time(time: str, /) -> str:
    """Returns a day of the Gregorian calendar as the Julian calendar has it.

    Wikibase's RDF gives days in the Gregorian one, whatever calendar they are said to be in.
    Years before Christ count as in the JSON: there is no year 0.

    >>> julian_time("1582-10-15T00:00:00Z"), julian_time("-0045-12-30T00:00:00Z")
    ('1582-10-05T00:00:00Z', '-0044-01-01T00:00:00Z')
    """
    return _converted(time, _gregorian_day, _julian_date)


def gregorian_time(time: str, /) -> str:
    """Returns a day of the Julian calendar as the Gregorian calendar has it.

    >>> gregorian_time("1582-10-05T00:00:00Z"), gregorian_time("-0044-01-01T00:00:00Z")
    ('1582-10-15T00:00:00Z', '-0045-12-30T00:00:00Z')
    """
    return _converted(time, _julian_day, _gregorian_date)


def _converted(
    time: str,
    day_of: Callable[[int, int, int], int],
    date: Callable[[int], tuple[int, int, int]],
) -> str:
    match = _STAMP.fullmatch(time)
    if not match or "00" in (match[3], match[4]):
        return time
    year = -int(match[2]) + 1 if match[1] else int(match[2])
    year, month, day = date(day_of(year, int(match[3]), int(match[4])))
    shown = f"{year:04d}" if year > 0 else f"-{1 - year:04d}"
    return f"{shown}-{month:02d}-{day:02d}{match[5]}"


# Days are counted from 4713 BC. Source: E. G. Richards, "Mapping Time", 1998, chapter 25.
def _gregorian_day(year: int, month: int, day: int) -> int:
    late = (14 - month) // 12
    count = year + 4800 - late
    return _julian_day(year, month, day) - count // 100 + count // 400 + 38


def _julian_day(year: int, month: int, day: int) -> int:
    late = (14 - month) // 12
    count, month = year + 4800 - late, month + 12 * late - 3
    return day + (153 * month + 2) // 5 + 365 * count + count // 4 - 32083


def _julian_date(day: int) -> tuple[int, int, int]:
    return _date_of(day + 32082, -4800)


def _gregorian_date(day: int) -> tuple[int, int, int]:
    rest = day + 32044
    centuries = (4 * rest + 3) // 146097
    return _date_of(rest - 146097 * centuries // 4, 100 * centuries - 4800)


def _date_of(rest: int, year: int) -> tuple[int, int, int]:
    years = (4 * rest + 3) // 1461
    rest -= 1461 * years // 4
    month = (5 * rest + 2) // 153
    day = rest - (153 * month + 2) // 5 + 1
    return year + years + month // 10, month + 3 - 12 * (month // 10), day


def literal_value(
    text: str, datatype: str, language: str | None, /, *, wikidata: bool = False
) -> Value:
    """Returns the typed value of a literal; one that is not its datatype's keeps it as text.

    Args:
        text: Lexical form.
        datatype: IRI of the datatype.
        language: Tag, or None.
        wikidata: Whether the literal is Wikidata's, so that years count as there.
    """
    if language:
        return MonolingualText(text, language.lower())
    if datatype == XSD + "string":
        return StringValue(text)
    if datatype in _NUMBERS:
        amount = decimal_text(text)
        if amount is not None:
            return Quantity(amount)
    elif datatype in _DATES:
        time = read_date(text, astronomical=wikidata)
        if time is not None and not (datatype in _DAYS and _LONG_YEAR.fullmatch(text.strip())):
            return time
    elif datatype in _SCHEMA_DATES:
        time = read_date(_NO_SECONDS.sub(":00", text, count=1))
        if time is not None:
            return time
    elif datatype == _WKT:
        point = read_point(text)
        if point is not None:
            return point
    return StringValue(text, datatype)


def read_point(text: str, /) -> Coordinates | None:
    """Returns the coordinates of a well-known text ``Point(longitude latitude)``, or None."""
    match = _POINT.fullmatch(text.strip())
    if not match:
        return None
    try:
        latitude, longitude = float(match["lat"]), float(match["lon"])
    except ValueError:
        return None
    globe = match["globe"]
    if globe is None:
        return Coordinates(latitude, longitude)
    # Another reference system than a globe of Wikidata's may order its axes otherwise.
    return Coordinates(latitude, longitude, globe=entity_id(globe)) if GLOBE.match(globe) else None


GLOBE = re.compile(r"https?://www\.wikidata\.org/entity/Q\d+$")


def wikidata_resource_value(iri: str, /) -> Value:
    """Returns the value of an IRI that a Wikidata statement has: an entity, a file, an address."""
    id_ = entity_id(iri)
    if id_ is not iri and id_ != iri:
        return EntityValue(id_)
    if iri.startswith(ENTITY):
        return EntityValue(iri)
    match = _COMMONS_FILE.fullmatch(iri)
    if match:
        return StringValue(unquote(match[1]).replace("_", " "), "commonsMedia")
    match = _COMMONS_DATA.fullmatch(iri)
    if match:
        name = unquote(match[1]).replace("_", " ")
        return StringValue(name, "geo-shape" if name.endswith(".map") else "tabular-data")
    return Iri(iri)
