"""A small writer of Wikibase's RDF mapping: from the JSON of an entity to its full RDF.

Written from https://www.mediawiki.org/wiki/Wikibase/Indexing/RDF_Dump_Format, apart from the
loaders, so that what these make of both can be compared. N-Triples, in no order of meaning.
"""

from __future__ import annotations

import calendar
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import pyoxigraph as ox

WD = "http://www.wikidata.org/entity/"
PROP = "http://www.wikidata.org/prop/"
WIKIBASE = "http://wikiba.se/ontology#"
XSD = "http://www.w3.org/2001/XMLSchema#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
JULIAN = WD + "Q1985786"

Term = ox.NamedNode | ox.BlankNode | ox.Literal


def write_entity(document: Mapping[str, Any]) -> bytes:
    """Returns the full RDF of an entity's JSON."""
    lines = {str(triple) + " .\n" for triple in _Writer().entity(document)}
    return "".join(sorted(lines)).encode()


def iri(text: str) -> ox.NamedNode:
    return ox.NamedNode(text)


def typed(text: str, datatype: str) -> ox.Literal:
    return ox.Literal(text, datatype=iri(XSD + datatype))


class _Writer:
    def __init__(self) -> None:
        self._unknown = 0

    def entity(self, document: Mapping[str, Any]) -> Iterator[ox.Triple]:
        id_ = document["id"]
        subject = iri(WD + id_)
        about = iri(f"https://www.wikidata.org/wiki/Special:EntityData/{id_}")
        yield ox.Triple(about, iri("http://schema.org/about"), subject)
        yield ox.Triple(subject, iri(TYPE), iri(WIKIBASE + "Item"))
        claims = document["claims"] or {}
        for property_, group in claims.items():
            for claim in group:
                yield from self._claim(subject, property_, claim)

    def _claim(
        self, subject: ox.NamedNode, property_: str, claim: Mapping[str, Any]
    ) -> Iterator[ox.Triple]:
        node = iri(WD + "statement/" + claim["id"].replace("$", "-"))
        yield ox.Triple(subject, iri(PROP + property_), node)
        yield ox.Triple(node, iri(TYPE), iri(WIKIBASE + "Statement"))
        rank = claim["rank"].capitalize() + "Rank"
        yield ox.Triple(node, iri(WIKIBASE + "rank"), iri(WIKIBASE + rank))
        if claim["rank"] != "deprecated":
            yield ox.Triple(node, iri(TYPE), iri(WIKIBASE + "BestRank"))
            for term in self._simple(claim["mainsnak"]):
                yield ox.Triple(subject, iri(PROP + "direct/" + property_), term)
        yield from self._snak(node, "statement", claim["mainsnak"])
        for group in (claim.get("qualifiers") or {}).values():
            for snak in group:
                yield from self._snak(node, "qualifier", snak)
        for reference in claim.get("references") or []:
            digest = hashlib.sha1(json.dumps(reference["snaks"], sort_keys=True).encode())
            source = iri("http://www.wikidata.org/reference/" + digest.hexdigest())
            yield ox.Triple(node, iri("http://www.w3.org/ns/prov#wasDerivedFrom"), source)
            for group in reference["snaks"].values():
                for snak in group:
                    yield from self._snak(source, "reference", snak)

    def _snak(self, node: ox.NamedNode, kind: str, snak: Mapping[str, Any]) -> Iterator[ox.Triple]:
        property_ = snak["property"]
        if snak["snaktype"] == "novalue":
            yield ox.Triple(node, iri(TYPE), iri(PROP + "novalue/" + property_))
            return
        for term in self._simple(snak):
            yield ox.Triple(node, iri(f"{PROP}{kind}/{property_}"), term)
        if snak["snaktype"] != "value":
            return
        parts = _value_node(snak["datavalue"])
        if parts:
            digest = hashlib.sha1(json.dumps(snak["datavalue"], sort_keys=True).encode())
            value = iri("http://www.wikidata.org/value/" + digest.hexdigest())
            yield ox.Triple(node, iri(f"{PROP}{kind}/value/{property_}"), value)
            for name, term in parts.items():
                yield ox.Triple(value, iri(WIKIBASE + name), term)

    def _simple(self, snak: Mapping[str, Any]) -> Iterator[Term]:
        if snak["snaktype"] == "somevalue":
            self._unknown += 1
            if self._unknown % 2:
                yield ox.BlankNode(f"genid{self._unknown}")
            else:
                yield iri(f"http://www.wikidata.org/.well-known/genid/{self._unknown:032x}")
        elif snak["snaktype"] == "value":
            yield _simple_value(snak["datavalue"], snak.get("datatype"))


def _simple_value(data: Mapping[str, Any], datatype: str | None) -> Term:
    value = data["value"]
    match data["type"]:
        case "wikibase-entityid":
            return iri(WD + _entity(value))
        case "string" if datatype == "url":
            return iri(value)
        case "string" if datatype == "commonsMedia":
            return iri("http://commons.wikimedia.org/wiki/Special:FilePath/" + quote(value, ""))
        case "string" if datatype in ("geo-shape", "tabular-data"):
            name = quote(value.replace(" ", "_"), ":/")
            return iri("http://commons.wikimedia.org/data/main/" + name)
        case "string":
            return ox.Literal(value)
        case "monolingualtext":
            return ox.Literal(value["text"], language=value["language"].lower())
        case "quantity":
            return typed(value["amount"], "decimal")
        case "time":
            return typed(_xsd_time(value), "dateTime")
        case "globecoordinate":
            point = f"Point({value['longitude']} {value['latitude']})"
            globe = value.get("globe") or WD + "Q2"
            if not globe.endswith("/Q2"):
                point = f"<{globe.replace('https:', 'http:')}> {point}"
            return ox.Literal(
                point, datatype=iri("http://www.opengis.net/ont/geosparql#wktLiteral")
            )
        case other:
            raise ValueError(other)


def _entity(value: Mapping[str, Any]) -> str:
    return value.get("id") or f"{'QP'[value['entity-type'] == 'property']}{value['numeric-id']}"


def _value_node(data: Mapping[str, Any]) -> dict[str, Term]:
    value = data["value"]
    match data["type"]:
        case "quantity":
            unit = value.get("unit", "1")
            parts: dict[str, Term] = {
                "quantityAmount": typed(value["amount"], "decimal"),
                "quantityUnit": iri(WD + "Q199" if unit == "1" else unit),
            }
            for name, key in (("quantityUpperBound", "upperBound"), ("quantityLowerBound", "lowerBound")):  # fmt: skip
                if value.get(key) is not None:
                    parts[name] = typed(value[key], "decimal")
            return parts
        case "time":
            return {
                "timeValue": typed(_xsd_time(value), "dateTime"),
                "timePrecision": typed(str(value["precision"]), "integer"),
                "timeTimezone": typed(str(value.get("timezone", 0)), "integer"),
                "timeCalendarModel": iri(value["calendarmodel"].replace("https:", "http:")),
            }
        case "globecoordinate":
            parts = {
                "geoLatitude": typed(repr(float(value["latitude"])), "double"),
                "geoLongitude": typed(repr(float(value["longitude"])), "double"),
                "geoGlobe": iri((value.get("globe") or WD + "Q2").replace("https:", "http:")),
            }
            if value.get("precision") is not None:
                parts["geoPrecision"] = typed(repr(float(value["precision"])), "double")
            return parts
        case _:
            return {}


def _xsd_time(value: Mapping[str, Any]) -> str:
    """Days of the Julian calendar become Gregorian ones; years before Christ count from 0."""
    stamp = value["time"]
    year_text, month_text, rest = stamp[1:].split("-", 2)
    year = -int(year_text) if stamp[0] == "-" else int(year_text)
    month, day, clock = int(month_text) or 1, int(rest[:2]) or 1, rest[2:]
    year = year + 1 if year < 0 else year
    if value["calendarmodel"].endswith("Q1985786") and value["precision"] >= 11:
        year, month, day = _gregorian(year, month, day)
    day = min(day, calendar.monthrange(2000 if year % 4 == 0 else 2001, month)[1])
    return f"{'-' if year < 0 else ''}{abs(year):04d}-{month:02d}-{day:02d}{clock}"


def _gregorian(year: int, month: int, day: int) -> tuple[int, int, int]:
    """Walks from the Julian date to the Gregorian one by how far apart the calendars are then."""
    centuries = year if month > 2 else year - 1
    gap = centuries // 100 - centuries // 400 - 2
    day += gap
    while day > (length := _length(year, month)):
        day -= length
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)
    while day < 1:
        year, month = (year - 1, 12) if month == 1 else (year, month - 1)
        day += _length(year, month)
    return year, month, day


def _length(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return (
        29 if month == 2 and leap else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]
    )
