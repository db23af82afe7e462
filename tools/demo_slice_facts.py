"""What the demo slice takes besides the data files: labels, aliases and well-known facts.

The data files give ids, and labels of only some of them. ``demo/facts.jsonl`` names the rest, and
adds facts that are beyond doubt (dates of birth and death, marriages, offices), all written by hand.
Rows of the table ``disputed`` are in the sources and left out: rumoured, wrong, or odd when read
without their context.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("demo") / "facts.jsonl"
Triple = tuple[str, str, str]


def _read() -> dict[str, list[dict[str, Any]]]:
    tables: dict[str, list[dict[str, Any]]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        tables.setdefault(row["table"], []).append(row)
    return tables


def _triple(row: dict[str, Any]) -> Triple:
    head, relation, tail = row["triple"]
    return head, relation, tail


_TABLES = _read()
LABELS: dict[str, str] = {row["id"]: row["text"] for row in _TABLES["label"]}
DESCRIPTIONS: dict[str, str] = {row["id"]: row["text"] for row in _TABLES["description"]}
"""In Wikidata's manner, mainly where two entities share a name."""
ALIASES: dict[str, tuple[str, ...]] = {row["id"]: (*row["texts"],) for row in _TABLES["aliases"]}
PROPERTY_ALIASES: dict[str, tuple[str, ...]] = {
    row["id"]: (*row["texts"],) for row in _TABLES["property aliases"]
}
PROPERTIES: dict[str, tuple[str, str]] = {
    row["id"]: (row["label"], row["datatype"]) for row in _TABLES["property"]
}
"""Label, "" where a data file has it, and datatype."""
BIRTHS: dict[str, str] = {row["id"]: row["day"] for row in _TABLES["birth"]}
DEATHS: dict[str, str] = {row["id"]: row["day"] for row in _TABLES["death"]}
MARRIAGES: dict[tuple[str, str], tuple[str, str | None]] = {
    (row["ids"][0], row["ids"][1]): (row["start"], row["end"]) for row in _TABLES["marriage"]
}
"""Start and end (a day, or only a year), put on both spouse statements."""
ITEM_FACTS: tuple[Triple, ...] = tuple(map(_triple, _TABLES["statement"]))
OFFICES: tuple[tuple[str, str, str, str, str | None, str | None], ...] = tuple(
    (
        *(row["holder"], row["office"], row["start"], row["end"]),
        *(row["replaces"], row["replaced_by"]),
    )
    for row in _TABLES["office"]
)
FEMALE: frozenset[str] = frozenset(row["id"] for row in _TABLES["female"])
"""Everyone else of the family file is male."""
ADAMS_FAMILY: frozenset[str] = frozenset(row["id"] for row in _TABLES["adams family"])
FILMS: frozenset[str] = frozenset(row["id"] for row in _TABLES["film"])
DISPUTED: frozenset[Triple] = frozenset(map(_triple, _TABLES["disputed"]))
