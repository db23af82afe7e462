"""Wikibase documents made of edges, for tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Edge = tuple[str, str, str, str]


def documents_of(edges: Iterable[Edge], *, names: Iterable[str] = ()) -> dict[str, Any]:
    """Documents that hold edges (head, property, tail, rank), each with a qualifier."""
    documents: dict[str, Any] = {}

    def document(id_: str) -> Any:
        if id_ not in documents:
            documents[id_] = {
                "type": "property" if id_.startswith("P") else "item",
                "id": id_,
                "lastrevid": 3,
                "labels": {
                    "en": {"language": "en", "value": f"name of {id_}"},
                    "fr": {"language": "fr", "value": f"nom de {id_}"},
                },
                "descriptions": {},
                "aliases": {},
                "claims": {},
            }
        return documents[id_]

    for number, (head, property_, tail, rank) in enumerate(sorted(edges)):
        document(head)["claims"].setdefault(property_, []).append(
            {
                "mainsnak": snak(property_, tail),
                "type": "statement",
                "rank": rank,
                "id": f"{head}$00000000-0000-4000-8000-{number:012X}",
                "qualifiers": {"P99": [snak("P99", "Q900")]},
                "qualifiers-order": ["P99"],
            }
        )
        document(tail)
        document(property_)
    for id_ in ("P99", "Q900", *names):
        document(id_)
    return documents


def snak(property_: str, tail: str) -> dict[str, Any]:
    return {
        "snaktype": "value",
        "property": property_,
        "datatype": "wikibase-item",
        "datavalue": {
            "type": "wikibase-entityid",
            "value": {"entity-type": "item", "numeric-id": int(tail[1:]), "id": tail},
        },
    }
