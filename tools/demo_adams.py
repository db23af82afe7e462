"""Reads the statements of Douglas Adams (Q42) from Wikidata's full RDF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from tools import demo_slice_facts as facts
from tools.demo_wikibase import Json, add_qualifier, item_snak, snak

WD = "http://www.wikidata.org/entity/"
WB = "http://wikiba.se/ontology#"
PROP = "http://www.wikidata.org/prop/"
PROV = "http://www.w3.org/ns/prov#wasDerivedFrom"
RANKS = {"PreferredRank": "preferred", "NormalRank": "normal", "DeprecatedRank": "deprecated"}

ADAMS_RELATIONS = frozenset(
    [
        "P19",
        "P20",
        "P21",
        "P22",
        "P25",
        "P26",
        "P27",
        "P31",
        "P40",
        "P69",
        "P103",
        "P106",
        "P108",
        "P119",
        "P136",
        "P140",
        "P166",
        "P463",
        "P509",
        "P551",
        "P569",
        "P570",
        "P734",
        "P735",
        "P737",
        "P800",
        "P937",
        "P1303",
        "P1411",
        "P1412",
        "P1477",
        "P1559",
        "P2021",
        "P2048",
        "P3373",
    ]
)
REFERENCE_RELATIONS = frozenset(["P248", "P143", "P813", "P854", "P1476", "P577"])


def short(term: ox.NamedNode) -> str:
    """Returns the last part of an IRI."""
    return term.value.rsplit("/", 1)[-1].rsplit("#", 1)[-1]


class AdamsTurtle:
    """Reads Q42's statements, with rank, qualifiers and references, from full Wikidata RDF."""

    def __init__(self, path: Path, labels: dict[str, str]) -> None:
        self.store = ox.Store()
        self.store.load(path=str(path), format=ox.RdfFormat.TURTLE)
        self.labels = labels
        self.dropped: Counter[str] = Counter()

    def objects(self, subject: Any, predicate: str) -> list[Any]:
        """Returns the objects of one predicate, in a fixed order."""
        quads = self.store.quads_for_pattern(subject, ox.NamedNode(predicate), None)
        return sorted((quad.object for quad in quads), key=str)

    def statements(self) -> Iterator[Json]:
        """Yields the statements of the relations that the slice keeps."""
        head = ox.NamedNode(WD + "Q42")
        for relation in sorted(ADAMS_RELATIONS, key=lambda p: int(p[1:])):
            for node in self.objects(head, PROP + relation):
                made = self.statement(node, relation)
                if made:
                    yield made

    def statement(self, node: ox.NamedNode, relation: str) -> Json | None:
        """Returns one statement, or None where its value has no label that we are sure of."""
        mainsnak = self.snak(node, relation, "statement")
        if mainsnak is None:
            self.dropped["left out: no certain label"] += 1
            return None
        entity, guid = short(node).split("-", 1)
        rank = RANKS[short(self.objects(node, WB + "rank")[0])]
        made: Json = {"mainsnak": mainsnak, "type": "statement", "id": f"{entity}${guid}"}
        made["rank"] = rank
        predicates = {q.predicate.value for q in self.store.quads_for_pattern(node, None, None)}
        stem = PROP + "qualifier/"
        for name in sorted(p[len(stem) :] for p in predicates if p.startswith(stem)):
            if "/" in name:
                continue
            qualifier = self.snak(node, name, "qualifier")
            if qualifier:
                add_qualifier(made, qualifier)
            else:
                self.dropped["qualifiers left out: no certain label"] += 1
        references = [self.reference(r) for r in self.objects(node, PROV)]
        kept = [r for r in references if r["snaks"]]
        self.dropped["references left out: nothing with a label"] += len(references) - len(kept)
        if kept:
            made["references"] = kept
        return made

    def reference(self, node: ox.NamedNode) -> Json:
        """Returns a reference with the parts whose properties and items have labels."""
        snaks: Json = {}
        for relation in sorted(REFERENCE_RELATIONS):
            found = self.snak(node, relation, "reference")
            if found:
                snaks[relation] = [found]
        return {"hash": short(node), "snaks": snaks, "snaks-order": sorted(snaks)}

    def snak(self, node: Any, relation: str, kind: str) -> Json | None:
        """Returns the first value of a relation as a snak, or None if it cannot be named."""
        if relation not in facts.PROPERTIES:
            return None
        values = self.objects(node, f"{PROP}{kind}/{relation}")
        if not values:
            return None
        value, datatype = values[0], facts.PROPERTIES[relation][1]
        if isinstance(value, ox.BlankNode):
            return snak(relation, datatype, None)
        if datatype in ("time", "quantity"):
            full = self.objects(node, f"{PROP}{kind}/value/{relation}")
            return self.full_value(relation, datatype, full[0])
        if isinstance(value, ox.NamedNode):
            if datatype == "url":
                return snak(relation, datatype, {"value": value.value, "type": "string"})
            item = short(value)
            return item_snak(relation, item) if item in self.labels else None
        if datatype == "monolingualtext":
            text = {"text": value.value, "language": value.language}
            return snak(relation, datatype, {"value": text, "type": "monolingualtext"})
        return snak(relation, datatype, {"value": value.value, "type": "string"})

    def full_value(self, relation: str, datatype: str, node: Any) -> Json:
        """Returns a time with precision and calendar, or a quantity with its unit."""

        def one(name: str) -> str:
            found = self.objects(node, WB + name)[0]
            return str(found.value)

        if datatype == "time":
            time, precision = one("timeValue"), int(one("timePrecision"))
            if precision == 9:
                time = time[:4] + "-00-00T00:00:00Z"
            value: Json = {
                "time": "+" + time,
                "timezone": int(one("timeTimezone")),
                "before": 0,
                "after": 0,
                "precision": precision,
                "calendarmodel": one("timeCalendarModel"),
            }
        else:
            unit = one("quantityUnit")
            unit = "1" if unit == WD + "Q199" else unit
            value = {"amount": one("quantityAmount"), "unit": unit}
        return snak(relation, datatype, {"value": value, "type": datatype})
