"""Snaks and statements in the shape of Wikibase's JSON."""

from __future__ import annotations

import hashlib
import json
from typing import Any

Json = dict[str, Any]

CALENDAR = "http://www.wikidata.org/entity/Q1985727"


def item_snak(relation: str, item: str) -> Json:
    """Returns a snak whose value is an item."""
    value = {"entity-type": "item", "numeric-id": int(item[1:]), "id": item}
    return snak(relation, "wikibase-item", {"value": value, "type": "wikibase-entityid"})


def time_snak(relation: str, day: str) -> Json:
    """Returns a snak of a day (``1917-05-29``) or a year (``1966``)."""
    year_only = len(day) == 4
    value = {
        "time": f"+{day}-00-00T00:00:00Z" if year_only else f"+{day}T00:00:00Z",
        "timezone": 0,
        "before": 0,
        "after": 0,
        "precision": 9 if year_only else 11,
        "calendarmodel": CALENDAR,
    }
    return snak(relation, "time", {"value": value, "type": "time"})


def snak(relation: str, datatype: str, datavalue: Json | None) -> Json:
    """Returns a snak; without a value it says somevalue."""
    found: Json = {"snaktype": "value" if datavalue else "somevalue", "property": relation}
    if datavalue:
        found["datavalue"] = datavalue
    found["datatype"] = datatype
    return found


def statement(head: str, mainsnak: Json, /) -> Json:
    """Returns a statement of normal rank whose GUID is a hash of its content.

    The first 128 bits of SHA-256 over "graph-service demo slice", the head, the relation and the
    value as JSON, with the version and variant bits of a UUID 8.
    """
    text = json.dumps([head, mainsnak["property"], mainsnak["datavalue"]["value"]], sort_keys=True)
    raw = bytearray(hashlib.sha256(b"graph-service demo slice\n" + text.encode()).digest()[:16])
    raw[6] = raw[6] & 0x0F | 0x80
    raw[8] = raw[8] & 0x3F | 0x80
    h = raw.hex().upper()
    guid = f"{head}${h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"
    return {"mainsnak": mainsnak, "type": "statement", "id": guid, "rank": "normal"}


def add_qualifier(found: Json, qualifier: Json, /) -> None:
    """Adds a qualifier snak, keeping Wikibase's order list beside it."""
    qualifiers = found.setdefault("qualifiers", {})
    order = found.setdefault("qualifiers-order", [])
    if qualifier["property"] not in order:
        order.append(qualifier["property"])
    qualifiers.setdefault(qualifier["property"], []).append(qualifier)
