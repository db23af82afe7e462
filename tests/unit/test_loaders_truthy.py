"""Truthy statements of Wikidata's beside full ones: copies are left out, nothing else is."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from wikibase_rdf import write_entity

from graph_service.errors import InputError
from graph_service.model.values import EntityValue, MonolingualText
from graph_service.store import open_store
from graph_service.store.protocol import Store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.report import LoadReport
from loaders.subset.filters import Filters
from loaders.truthy import COPY_REASON, OWN_REASON

WD = "http://www.wikidata.org/entity/"
PROP = "http://www.wikidata.org/prop/"
RANK = "<http://wikiba.se/ontology#rank> <http://wikiba.se/ontology#{}Rank>"
COPY = COPY_REASON
OWN = OWN_REASON
# More than is looked at to tell a file's format.
FAR = "# so that what follows is not at the beginning\n" * 6_000


def truthy(head: str, relation: str, value: str) -> str:
    return f"<{WD}{head}> <{PROP}direct/{relation}> {value} .\n"


def full(head: str, relation: str, value: str, rank: str = "Normal") -> str:
    node = f"<{WD}statement/{head}-00000000-0000-0000-0000-{int(relation[1:]):012}>"
    return (
        f"<{WD}{head}> <{PROP}{relation}> {node} .\n"
        f"{node} <{PROP}statement/{relation}> {value} .\n{node} {RANK.format(rank)} .\n"
    )


def item(id_: str) -> str:
    return f"<{WD}{id_}>"


ONE_FULL = full("Q1", "P31", item("Q5"))
FIVE_TRUTHY = (
    truthy("Q1", "P31", item("Q5"))
    + truthy("Q1", "P31", item("Q6"))
    + truthy("Q1", "P106", item("Q5"))
    + truthy("Q2", "P31", item("Q5"))
    + truthy("Q3", "P569", '"1952-03-11T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>')
)


def loaded(store: Store, source: Path, **options: Any) -> LoadReport:
    made = LoadOptions(rejects_path=source.parent / "rejects.jsonl", **options)
    return load(source, store=store, graph="g", replace=True, options=made)


def heads_and_relations(store: Store, report: LoadReport) -> list[tuple[str, str]]:
    assert report.graph is not None
    found = [one for chunk in store.scan_statements(report.graph.edition) for one in chunk]
    return sorted((one.head, one.relation) for one in found)


@pytest.mark.parametrize("name", ["a.nt", "a.nq", "a.ttl"])
@pytest.mark.parametrize(
    "text",
    [
        ONE_FULL + FIVE_TRUTHY,
        FIVE_TRUTHY + ONE_FULL,
        FIVE_TRUTHY + FAR + ONE_FULL,
        ONE_FULL + FAR + FIVE_TRUTHY,
        FIVE_TRUTHY + FAR + ONE_FULL + truthy("Q1", "P31", item("Q5")),
    ],
)
def test_a_truthy_triple_is_a_copy_only_of_a_full_statement_in_the_load(
    tmp_path: Path, tmp_store: Store, name: str, text: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    report = loaded(tmp_store, path)
    assert heads_and_relations(tmp_store, report) == [
        ("Q1", "P106"),
        ("Q1", "P31"),
        ("Q1", "P31"),
        ("Q2", "P31"),
        ("Q3", "P569"),
    ]
    assert report.skipped == {COPY: text.count("direct/") - 4}
    assert report.kept == {OWN: 4}
    assert report.wikidata_forms == ["full", "truthy"]
    assert f"kept: 4 {OWN}" in report.lines()
    assert report.exit_code == 0


@pytest.mark.parametrize("workers", [0, 2])
def test_workers_find_full_statements_far_behind_truthy_ones(
    tmp_path: Path, tmp_store: Store, workers: int
) -> None:
    path = tmp_path / "a.nt"
    path.write_text(FIVE_TRUTHY + FAR + ONE_FULL)
    report = loaded(tmp_store, path, workers=workers)
    assert len(heads_and_relations(tmp_store, report)) == 5


@pytest.mark.parametrize("first", ["full.nt", "truthy.nt"])
def test_files_of_one_load_are_matched_in_any_order(
    tmp_path: Path, tmp_store: Store, first: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / ("a.nt" if first == "full.nt" else "b.nt")).write_text(ONE_FULL)
    (folder / ("b.nt" if first == "full.nt" else "a.nt")).write_text(FIVE_TRUTHY)
    report = loaded(tmp_store, folder)
    assert (report.skipped, report.kept) == ({COPY: 1}, {OWN: 4})
    assert len(heads_and_relations(tmp_store, report)) == 5


def time_claim(time: str, precision: int, calendar: str) -> dict[str, Any]:
    value = {
        "time": time,
        "precision": precision,
        "timezone": 0,
        "before": 0,
        "after": 0,
        "calendarmodel": WD + calendar,
    }
    return {"type": "time", "value": value}


def quantity_claim(amount: str, unit: str) -> dict[str, Any]:
    return {"type": "quantity", "value": {"amount": amount, "unit": unit, "upperBound": amount}}


GREGORIAN, JULIAN = "Q1985727", "Q1985786"
POINT = {"latitude": 52.25, "longitude": 8.5, "precision": 0.01, "globe": WD + "Q2"}
SNAKS: dict[str, dict[str, Any]] = {
    "a day": {"datavalue": time_claim("+1952-03-11T00:00:00Z", 11, GREGORIAN)},
    "a year": {"datavalue": time_claim("+1952-00-00T00:00:00Z", 9, GREGORIAN)},
    "a year with a day": {"datavalue": time_claim("+1952-03-11T00:00:00Z", 9, GREGORIAN)},
    "a month": {"datavalue": time_claim("+1952-03-00T00:00:00Z", 10, GREGORIAN)},
    "a Julian day": {"datavalue": time_claim("+1500-02-29T00:00:00Z", 11, JULIAN)},
    "a Julian year": {"datavalue": time_claim("+1500-00-00T00:00:00Z", 9, JULIAN)},
    "a day before Christ": {"datavalue": time_claim("-0044-03-15T00:00:00Z", 11, JULIAN)},
    "a quantity": {"datavalue": quantity_claim("+12.50", WD + "Q11573")},
    "a number": {"datavalue": quantity_claim("-0", "1")},
    "a place": {"datavalue": {"type": "globecoordinate", "value": POINT}},
    "a text": {
        "datavalue": {"type": "monolingualtext", "value": {"text": "x", "language": "zh-Hant"}}
    },
    "a file": {
        "datatype": "commonsMedia",
        "datavalue": {"type": "string", "value": "A b (c).jpg"},
    },
    "an address": {"datatype": "url", "datavalue": {"type": "string", "value": "http://a.b/c"}},
    "an unknown value": {"snaktype": "somevalue"},
    "no value": {"snaktype": "novalue"},
}


def document(snak: dict[str, Any], rank: str = "normal") -> dict[str, Any]:
    main = {"snaktype": "value", "property": "P1", **snak}
    claim = {
        "mainsnak": main,
        "type": "statement",
        "id": "Q1$00000000-0000-0000-0000-000000000001",
        "rank": rank,
    }
    return {"id": "Q1", "type": "item", "labels": {}, "claims": {"P1": [claim]}}


def truthy_of(rdf: str) -> str:
    """The truthy triple of the one statement in full RDF, as Wikibase makes it."""
    for line in rdf.splitlines():
        subject, _, rest = line.partition(" ")
        if "/entity/statement/" in subject:
            if f"{PROP}statement/P1>" in rest:
                return f"<{WD}Q1> " + rest.replace("/statement/P1>", "/direct/P1>", 1) + "\n"
            if f"{PROP}novalue/P1>" in rest:
                return f"<{WD}Q1> {rest}\n"
    raise AssertionError(rdf)


@pytest.mark.parametrize("rank", ["normal", "deprecated"])
@pytest.mark.parametrize("form", ["json", "rdf"])
@pytest.mark.parametrize("kind", SNAKS)
def test_values_that_are_written_differently_are_matched(
    tmp_path: Path, tmp_store: Store, kind: str, form: str, rank: str
) -> None:
    made = document(SNAKS[kind], rank)
    rdf = write_entity(made).decode()
    folder = tmp_path / "folder"
    folder.mkdir()
    if form == "json":
        (folder / "a.json").write_text(json.dumps(made))
        (folder / "b.nt").write_text(truthy_of(rdf))
    else:
        (folder / "a.nt").write_text(rdf + truthy_of(rdf))
    report = loaded(tmp_store, folder)
    # The full RDF has its own truthy triple, where the rank has one.
    assert report.skipped[COPY] == (2 if (form, rank) == ("rdf", "normal") else 1) - (
        (form, rank, kind) == ("rdf", "normal", "no value")
    )
    assert report.kept.get(OWN, 0) == 0
    assert heads_and_relations(tmp_store, report) == [("Q1", "P1")]
    assert report.wikidata_forms == ["full"]


def test_another_date_or_number_is_no_copy(tmp_path: Path, tmp_store: Store) -> None:
    """Ten days apart a Julian date and a Gregorian one are not the same day."""
    path = tmp_path / "a.nt"
    rdf = write_entity(document(SNAKS["a Julian day"])).decode()
    day = truthy_of(rdf)
    path.write_text(rdf + day.replace("1500-03-10", "1500-02-28") + day.replace("03-10", "03-11"))
    report = loaded(tmp_store, path)
    assert report.kept == {OWN: 2}
    # The full RDF has a truthy triple of its own.
    assert report.skipped[COPY] == 1


def test_filters_and_hops_leave_the_same_out_of_both_forms(tmp_path: Path) -> None:
    text = "".join(full(f"Q{n}", "P31", item("Q5")) for n in range(1, 9))
    text += "".join(truthy(f"Q{n}", "P31", item("Q5")) for n in range(1, 13))
    path = tmp_path / "a.nt"
    path.write_text(text + truthy("Q12", "P40", item("Q1")))
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        found = loaded(store, path, filters=Filters(entities=("Q1", "Q12")))
        assert heads_and_relations(store, found) == [("Q1", "P31"), ("Q12", "P31"), ("Q12", "P40")]
        assert (found.skipped[COPY], found.kept[OWN]) == (1, 2)
        found = loaded(store, path, filters=Filters(relations=("P40",)))
        assert heads_and_relations(store, found) == [("Q12", "P40")]
        # Q5 has 12 statements that lead to it; with the copies it would have 20.
        around = Filters(around_entities=("Q1",), hops=2, max_incoming=12)
        assert len(heads_and_relations(store, loaded(store, path, filters=around))) == 13


def test_redirects_are_resolved_before_copies_are_told(tmp_path: Path, tmp_store: Store) -> None:
    path = tmp_path / "a.nt"
    same = "<http://www.w3.org/2002/07/owl#sameAs>"
    path.write_text(
        full("Q1", "P31", item("Q50"))
        + truthy("Q1", "P31", item("Q5"))
        + f"{item('Q50')} {same} {item('Q5')} .\n"
    )
    report = loaded(tmp_store, path, redirects="resolve")
    assert report.skipped[COPY] == 1
    assert heads_and_relations(tmp_store, report) == [("Q1", "P31")]


def test_full_statements_of_rdf_xml(tmp_path: Path, tmp_store: Store) -> None:
    path = tmp_path / "Q1.rdf"
    path.write_text(f"""<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:p="{PROP}"
 xmlns:wdt="{PROP}direct/" xmlns:ps="{PROP}statement/" xmlns:wikibase="http://wikiba.se/ontology#">
 <rdf:Description rdf:about="{WD}Q1">
  <wdt:P31 rdf:resource="{WD}Q5"/><wdt:P21 rdf:resource="{WD}Q6"/>
  <p:P31 rdf:resource="{WD}statement/Q1-00000000-0000-0000-0000-000000000001"/>
 </rdf:Description>
 <rdf:Description rdf:about="{WD}statement/Q1-00000000-0000-0000-0000-000000000001">
  <ps:P31 rdf:resource="{WD}Q5"/>
 </rdf:Description>
</rdf:RDF>""")
    report = loaded(tmp_store, path)
    assert (report.skipped, report.kept) == ({COPY: 1}, {OWN: 1})
    assert heads_and_relations(tmp_store, report) == [("Q1", "P21"), ("Q1", "P31")]


def test_standard_input_can_not_be_read_again(
    tmp_path: Path, tmp_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Pipe:
        buffer = io.BytesIO((FIVE_TRUTHY + FAR + ONE_FULL).encode())

    monkeypatch.setattr(sys, "stdin", Pipe())
    with pytest.raises(InputError, match="before full ones"):
        load("-", store=tmp_store, graph="g", options=LoadOptions(format="ntriples"))
    assert tmp_store.unfinished_loads() == []


def test_wikidata_far_behind_other_triples_is_read_as_such(
    tmp_path: Path, tmp_store: Store
) -> None:
    for name in ("a.nt", "a.ttl"):
        path = tmp_path / name
        path.write_text("<http://a/s> <http://a/p> <http://a/o> .\n" + FAR + FIVE_TRUTHY)
        report = loaded(tmp_store, path)
        assert ("Q2", "P31") in heads_and_relations(tmp_store, report)
        assert report.wikidata_forms == ["truthy"]


def test_numbers_of_thousands_of_digits(tmp_path: Path, tmp_store: Store) -> None:
    path = tmp_path / "a.nt"
    long, about = "9" * 5_000, "<https://www.wikidata.org/wiki/Special:EntityData/Q1>"
    integer = "http://www.w3.org/2001/XMLSchema#integer"
    node = f"<{WD}statement/Q1-00000000-0000-0000-0000-000000000031>"
    path.write_text(
        ONE_FULL
        + f'{about} <http://schema.org/version> "{long}"^^<{integer}> .\n'
        + f'{node} <{PROP}qualifier/P{long}> "x" .\n{node} <{PROP}qualifier/P2> "{long}" .\n'
        + truthy("Q2", "P2", f'"{long}"^^<{integer}>')
        + truthy("Q2", "P3", f'"1e{long}"^^<http://www.w3.org/2001/XMLSchema#double>')
    )
    report = loaded(tmp_store, path)
    assert heads_and_relations(tmp_store, report) == [("Q1", "P31"), ("Q2", "P2"), ("Q2", "P3")]


def test_a_tag_that_is_none_is_kept_in_statements(tmp_path: Path, tmp_store: Store) -> None:
    path = tmp_path / "a.nt"
    path.write_text(truthy("Q1", "P1705", '"x"@zh-classical') + truthy("Q1", "P31", item("Q5")))
    report = loaded(tmp_store, path)
    assert report.graph is not None
    [chunk] = tmp_store.scan_statements(report.graph.edition)
    assert {one.value for one in chunk} == {MonolingualText("x", "zh-classical"), EntityValue("Q5")}
    assert (report.rejected, sum(report.kept.values())) == (0, 1)
