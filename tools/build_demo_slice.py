"""Writes the demo's slice of Wikidata and its gold questions.

Reads the data folder (``--data``, else GRAPH_SERVICE_TEST_DATA), adds the rows of
``demo/facts.jsonl``, and writes ``wikidata.jsonl`` and ``questions.jsonl``. The same input
gives the same bytes. Run it from the repository root, with the package installed::

    python -m tools.build_demo_slice --data PATH
"""

from __future__ import annotations

import argparse
import csv
import json
import lzma
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tools import demo_slice_facts as facts
from tools.demo_adams import AdamsTurtle
from tools.demo_question_texts import write_questions
from tools.demo_wikibase import Json, add_qualifier, item_snak, statement, time_snak

Triple = tuple[str, str, str]

LANGUAGES = ("ar", "de", "en", "es", "ru", "zh")
TERM_LANGUAGES = ("en", "de", "fr", "es", "ru", "zh", "ar", "ja")

PERSON_RELATIONS = frozenset(
    [
        "P17",
        "P19",
        "P20",
        "P21",
        "P27",
        "P31",
        "P69",
        "P102",
        "P103",
        "P106",
        "P119",
        "P140",
        "P166",
        "P241",
        "P509",
        "P551",
        "P607",
        "P641",
        "P737",
        "P1412",
        "P1853",
        "P26",
    ]
)
FILM_RELATIONS = frozenset(["P57", "P161", "P1431", "P155", "P156", "P495", "P1877"])
PLACE_RELATIONS = frozenset(["P17", "P131", "P159", "P112", "P276", "P361", "P138"])
COUNTRIES = frozenset({"Q30", "Q145", "Q40"})


class Slice:
    """The statements so far, by head and relation, and how many came from where."""

    def __init__(self, labels: dict[str, str]) -> None:
        self.labels = labels
        self.claims: dict[str, dict[str, list[Json]]] = {}
        self.seen: dict[Triple, Json] = {}
        self.counts: Counter[str] = Counter()

    def add(self, triple: Triple, source: str, /, qualifiers: list[Triple] | None = None) -> None:
        """Adds an item statement; a triple that is there already is left alone."""
        head, relation, tail = triple
        if triple in facts.DISPUTED:
            self.counts["left out: disputed"] += 1
        elif head not in self.labels or tail not in self.labels:
            self.counts["left out: no certain label"] += 1
        elif triple not in self.seen:
            found = statement(head, item_snak(relation, tail))
            for _, property_, value in qualifiers or ():
                if value in self.labels and property_ in facts.PROPERTIES:
                    add_qualifier(found, item_snak(property_, value))
            self.put(head, found, source)

    def put(self, head: str, found: Json, source: str, /) -> None:
        """Adds a finished statement."""
        snak = found["mainsnak"]
        if snak["snaktype"] == "value" and snak["datatype"] == "wikibase-item":
            self.seen[head, snak["property"], snak["datavalue"]["value"]["id"]] = found
        self.claims.setdefault(head, {}).setdefault(snak["property"], []).append(found)
        self.counts[source] += 1


def read_labels(data: Path) -> dict[str, str]:
    """Returns English labels; the family file and our own table win over the label table."""
    labels: dict[str, str] = {}
    with lzma.open(data / "wikidata_labels_en_partial.tsv.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            id_, label, *_ = line.rstrip("\n").split("\t")
            labels[id_] = label
    for row in family_rows(data):
        labels[row[0]], labels[row[2]] = row[3][1:-4], row[5][1:-4]
    return labels | facts.LABELS


def family_rows(data: Path) -> list[list[str]]:
    """Returns the rows of the family file: ids and labels of head, relation and tail."""
    path = data / "kgtk" / "community-detection-arnold.tsv"
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]


def public_triples(data: Path) -> Iterator[tuple[Triple, list[Triple]]]:
    """Yields CoDEx's and WD50K's Wikidata triples, sorted, with WD50K's qualifiers."""
    rows: set[tuple[str, ...]] = set()
    for name in ("s-train", "s-valid", "m-train", "m-valid"):
        with (data / "codex" / f"{name}.tsv").open(encoding="utf-8") as lines:
            rows.update(tuple(line.split()) for line in lines)
    with (data / "wd50k" / "statements-valid.csv").open(encoding="utf-8") as lines:
        rows.update(tuple(line.strip().split(",")) for line in lines)
    with lzma.open(data / "wd50k" / "statements-train.csv.xz", "rt", encoding="utf-8") as lines:
        rows.update(tuple(line.strip().split(",")) for line in lines)
    for row in sorted(rows, key=lambda row: (row[:3], -len(row), row)):
        head, relation, tail, *rest = row
        yield (
            (head, relation, tail),
            [(head, p, v) for p, v in zip(rest[::2], rest[1::2], strict=True)],
        )


def build(data: Path) -> tuple[list[Json], Counter[str]]:
    """Returns the entity documents, properties first, and the counts for the README."""
    labels = read_labels(data)
    slice_ = Slice(labels)
    adams = AdamsTurtle(data / "wikidata_docs" / "Q42.ttl", labels)
    for made in adams.statements():
        slice_.put("Q42", made, "Q42.ttl")
    slice_.counts.update(adams.dropped)
    people = {"Q42", "Q44461", "Q80596", "Q28421831", *facts.ADAMS_FAMILY}
    for head, relation, tail, *_ in family_rows(data):
        people |= {head, tail}
        slice_.add((head, relation, tail), "family file (kgtk)")
    public = list(public_triples(data))
    for triple, qualifiers in public:
        head, relation, tail = triple
        wanted = (head in people - {"Q42"} and relation in PERSON_RELATIONS) or (
            head in facts.FILMS and relation in FILM_RELATIONS
        )
        if relation in ("P17", "P27", "P495") and tail not in COUNTRIES:
            continue
        if wanted:
            slice_.add(triple, "CoDEx and WD50K", qualifiers)
    add_well_known(slice_, people)
    values = {tail for _, _, tail in slice_.seen}
    for triple, qualifiers in public:
        head, relation, tail = triple
        if relation in PLACE_RELATIONS and head in values - people - facts.FILMS:
            if head in ("Q30", "Q84", "Q1860", "Q188") or head not in facts.LABELS:
                continue
            if tail in facts.LABELS and (relation != "P17" or tail in COUNTRIES):
                slice_.add(triple, "CoDEx and WD50K", qualifiers)
    return documents(slice_, data), slice_.counts


def add_well_known(slice_: Slice, people: set[str]) -> None:
    """Adds the rows that were written by hand."""
    for person in sorted(people):
        slice_.add((person, "P31", "Q5"), "well-known")
        if person not in ("Q96076900", "Q28421831", "Q42"):
            sex = "Q6581072" if person in facts.FEMALE else "Q6581097"
            slice_.add((person, "P21", sex), "well-known")
    for film in sorted(facts.FILMS):
        slice_.add((film, "P31", "Q11424"), "well-known")
    for triple in facts.ITEM_FACTS:
        slice_.add(triple, "well-known")
    for relation, days in (("P569", facts.BIRTHS), ("P570", facts.DEATHS)):
        for person, day in sorted(days.items()):
            slice_.put(person, statement(person, time_snak(relation, day)), "well-known")
    for holder, office, start, last, before, after in facts.OFFICES:
        slice_.add((holder, "P39", office), "well-known")
        found = slice_.seen[holder, "P39", office]
        add_term(slice_, found, start, last)
        for link, item in (("P1365", before), ("P1366", after)):
            if item:
                add_qualifier(found, item_snak(link, item))
                slice_.counts["well-known qualifiers"] += 1
    for (one, other), (wedding, end) in sorted(facts.MARRIAGES.items()):
        for triple in ((one, "P26", other), (other, "P26", one)):
            add_term(slice_, slice_.seen[triple], wedding, end)


def add_term(slice_: Slice, found: Json, start: str | None, end: str | None) -> None:
    """Adds start and end time to a statement, where they are known."""
    for relation, time in (("P580", start), ("P582", end)):
        if time:
            add_qualifier(found, time_snak(relation, time))
            slice_.counts["well-known qualifiers"] += 1


def documents(slice_: Slice, data: Path) -> list[Json]:
    """Returns a document for every property and item that a statement mentions."""
    mentioned: set[str] = set(slice_.claims)
    properties: set[str] = set()

    def visit(found: Json) -> None:
        properties.add(found["property"])
        value = found.get("datavalue", {}).get("value")
        if isinstance(value, dict):
            if "id" in value:
                mentioned.add(value["id"])
            elif value.get("unit", "1") != "1":
                mentioned.add(value["unit"].rsplit("/", 1)[-1])

    for relations in slice_.claims.values():
        for found in (f for group in relations.values() for f in group):
            visit(found["mainsnak"])
            for group in [found.get("qualifiers", {})] + [
                r["snaks"] for r in found.get("references", ())
            ]:
                for one in (s for snaks in group.values() for s in snaks):
                    visit(one)
    source = data / "wikidata_docs" / "wbgetentities-Q6-Q42-P31.json"
    official = json.loads(source.read_text(encoding="utf-8"))["entities"]
    multilingual = {
        language: json.loads(
            (data / "codex" / f"relations-{language}.json").read_text(encoding="utf-8")
        )
        for language in LANGUAGES
    }
    made = [property_document(p, multilingual) for p in sorted(properties, key=number)]
    made += [item_document(q, slice_, official) for q in sorted(mentioned, key=number)]
    return made


def number(id_: str) -> int:
    """Returns the number of an id."""
    return int(id_[1:])


def terms(texts: dict[str, str]) -> Json:
    """Returns labels or descriptions in Wikibase's shape."""
    return {lang: {"language": lang, "value": text} for lang, text in sorted(texts.items()) if text}


def alias_terms(id_: str, aliases: dict[str, tuple[str, ...]]) -> Json:
    """Returns English aliases in Wikibase's shape."""
    found = [{"language": "en", "value": text} for text in aliases.get(id_, ())]
    return {"en": found} if found else {}


def property_document(id_: str, multilingual: dict[str, Json]) -> Json:
    """Returns a property with its labels: ours in English, CoDEx's in five other languages."""
    english, datatype = facts.PROPERTIES[id_]
    labels = {"en": english}
    descriptions = {}
    for language, rows in multilingual.items():
        row = rows.get(id_, {})
        if language != "en":
            labels[language] = row.get("label") or ""
        descriptions[language] = row.get("description") or ""
    return {
        "type": "property",
        "id": id_,
        "datatype": datatype,
        "labels": terms(labels),
        "descriptions": terms(descriptions),
        "aliases": alias_terms(id_, facts.PROPERTY_ALIASES),
        "claims": {},
    }


def item_document(id_: str, slice_: Slice, official: Json) -> Json:
    """Returns an item with its statements; Q42 with its labels in several languages."""
    labels, descriptions = {"en": slice_.labels[id_]}, {}
    if id_ in facts.DESCRIPTIONS:
        descriptions["en"] = facts.DESCRIPTIONS[id_]
    made: Json = {"type": "item", "id": id_}
    if id_ in official and "labels" in official[id_]:
        for language in TERM_LANGUAGES:
            labels[language] = official[id_]["labels"].get(language, {}).get("value", "")
            descriptions[language] = (
                official[id_]["descriptions"].get(language, {}).get("value", "")
            )
    made["labels"] = terms(labels)
    made["descriptions"] = terms(descriptions)
    made["aliases"] = alias_terms(id_, facts.ALIASES)
    claims = slice_.claims.get(id_, {})
    made["claims"] = {relation: claims[relation] for relation in sorted(claims, key=number)}
    if id_ == "Q42":
        made["lastrevid"] = 1997465481
    return made


def main() -> None:
    """Reads the data folder and writes the two files."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("GRAPH_SERVICE_TEST_DATA"))
    parser.add_argument("--out", type=Path, default=Path("queries/datasets/demo"))
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("name the data folder with --data or GRAPH_SERVICE_TEST_DATA")
    made, counts = build(arguments.data)
    lines = [json.dumps(d, ensure_ascii=False, separators=(",", ":")) + "\n" for d in made]
    (arguments.out / "wikidata.jsonl").write_text("".join(lines), encoding="utf-8")
    write_questions(made, arguments.out / "questions.jsonl")
    for name, count in sorted(counts.items()):
        print(f"{count:5d}  {name}", file=sys.stderr)


if __name__ == "__main__":
    main()
