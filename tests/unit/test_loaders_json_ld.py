"""JSON-LD as a source: contexts, what is wrong with a document, and where."""

from __future__ import annotations

import gzip
import socket
from pathlib import Path

import pytest
from error_texts import raises

from graph_service.errors import InputError
from graph_service.model.statement import Statement
from graph_service.model.values import EntityValue, Quantity, StringValue, Time
from graph_service.store import Store
from loaders.formats import Format, recognise
from loaders.load import load
from loaders.options import LoadOptions
from loaders.rdf import whole
from loaders.rdf.json_ld import UNMAPPED_REASON
from loaders.report import LoadReport

VOCABULARY = '"@context": {"@vocab": "http://a/"}'
PAIR = f"""{{{VOCABULARY}, "@graph": [
  {{"@id": "http://x/1", "@type": "Shop", "owner": {{"@id": "http://x/2"}}, "floors": 2.5}},
  {{"@id": "http://x/2", "owns": {{"address": "Kay 1"}}, "tags": ["a", "b"]}}
]}}
"""
PRODUCT = """{
  "@context": ["https://schema.org/", {"shop": "http://shop/"}],
  "@type": "Product", "@id": "http://x/tent", "name": "Drift Tent", "alternateName": "DT2",
  "releaseDate": "2021-03-15", "shop:rank": 4,
  "offers": {"@type": "Offer", "price": "399.00", "availability": "InStock",
             "validFrom": "2021-03-15T09:30"}
}"""
EVENT = """{"@context": "http://schema.org", "@type": "Event", "@id": "http://x/e",
  "name": "Fair", "startDate": "2024-05", "eventStatus": "https://schema.org/EventScheduled"}"""


def loaded(store: Store, path: Path, text: str | bytes) -> tuple[LoadReport, list[Statement]]:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    options = LoadOptions(rejects_path=path.parent / "rejects.jsonl", base_iri="http://base/")
    report = load(path, store=store, graph="g", options=options)
    assert report.graph is not None
    chunks = store.scan_statements(report.graph.edition)
    return report, [statement for chunk in chunks for statement in chunk]


def test_a_document_becomes_statements(tmp_path: Path, tmp_store: Store) -> None:
    report, statements = loaded(tmp_store, tmp_path / "a.jsonld", PAIR)
    assert report.formats == {"json-ld": 1}
    assert (report.rejected, report.records.total) == (0, 7)
    values = {(one.relation, one.value) for one in statements}
    assert ("http://a/owner", EntityValue("http://x/2")) in values
    assert ("http://a/floors", Quantity("2.5")) in values
    assert {value for relation, value in values if relation == "http://a/tags"} == {
        StringValue("a"),
        StringValue("b"),
    }


def test_schema_org_is_known_without_its_context(
    tmp_path: Path, tmp_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "socket", lambda *_: pytest.fail("the network was asked"))
    report, statements = loaded(tmp_store, tmp_path / "a.json", PRODUCT)
    values = {one.relation: one.value for one in statements}
    assert report.rejected == 0
    assert values["http://schema.org/releaseDate"] == Time("2021-03-15T00:00:00Z", 11)
    assert values["http://schema.org/validFrom"] == Time("2021-03-15T09:30:00Z", 14)
    assert values["http://schema.org/price"] == Quantity("399.00")
    assert values["http://schema.org/availability"] == EntityValue("http://schema.org/InStock")
    assert values["http://shop/rank"] == Quantity("4")
    assert report.graph is not None
    entity = tmp_store.entities(report.graph.edition, ["http://x/tent"]).entities["http://x/tent"]
    assert entity.labels["mul"] == "Drift Tent"
    assert [*entity.aliases.values()] == [("DT2",)]


def test_a_month_and_an_address_of_schema_org(tmp_path: Path, tmp_store: Store) -> None:
    _, statements = loaded(tmp_store, tmp_path / "a.jsonld", EVENT)
    values = {one.relation: one.value for one in statements}
    assert values["http://schema.org/startDate"] == Time("2024-05-00T00:00:00Z", 10)
    assert values["http://schema.org/eventStatus"] == EntityValue(
        "https://schema.org/EventScheduled"
    )


def test_keys_without_an_iri_are_counted(tmp_path: Path, tmp_store: Store) -> None:
    text = '{"@context": {"p": "http://a/p"}, "@id": "http://x/1", "p": 1, "note": "x", "m": 2}'
    report, statements = loaded(tmp_store, tmp_path / "a.jsonld", text)
    assert [one.relation for one in statements] == ["http://a/p"]
    assert report.skipped == {UNMAPPED_REASON: 2}
    assert report.rejected == 0


DEFECTS = {
    "a remote context": '{"@context": "https://example.org/c.jsonld",\n"@id": "http://x/1", "p": 1}',
    "one of two contexts": '{"@context": ["https://schema.org", "https://example.org/"], "p": 1}',
    "an import": '{"@context": {"@import": "https://example.org/c"}, "@id": "http://x/1", "p": 1}',
    "a context of a term": (
        '{"@context": {"p": {"@id": "http://a/p", "@context": "https://example.org/"}}, "p": {}}'
    ),
    "a file as context": '{"@context": "context.jsonld", "@id": "http://x/1", "p": 1}',
    "no comma": f'{{{VOCABULARY},\n "p": 1 "q": 2}}',
    "no end": f'{{{VOCABULARY}, "@graph": [\n {{"@id": "http://x/1", "p": 1}},\n {{"@id": "http',
    "a context without its end": '{"@context": {"a": "http://a/"',
    "keys without IRIs": '{"name": "x", "price": 1, "@id": "http://x/1"}',
    "a context alone": f"{{{VOCABULARY}}}",
    "two documents": f'{{{VOCABULARY}, "@id": "http://x/1", "p": 1}}\n{{"@id": "http://x/2"}}',
    "too many levels": "{" + VOCABULARY + ', "p": ' + '{"p": ' * 20_000 + "1" + "}" * 20_001,
    "nothing": "",
    "a table": "name,price\nx,1\n",
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_what_is_wrong_is_said(tmp_path: Path, tmp_store: Store, defect: str) -> None:
    path = tmp_path / "a.jsonld"
    path.write_text(DEFECTS[defect])
    with raises(InputError):
        load(path, store=tmp_store, graph="g", options=LoadOptions(rejects_path=tmp_path / "r"))


def test_a_packed_document_that_was_cut_is_one_reject(tmp_path: Path, tmp_store: Store) -> None:
    path = tmp_path / "a.jsonld.gz"
    path.write_bytes(gzip.compress(PAIR.encode())[:-12])
    with raises(InputError):
        load(path, store=tmp_store, graph="g", options=LoadOptions(rejects_path=tmp_path / "r"))


def test_the_others_of_a_folder_are_read(tmp_path: Path, tmp_store: Store) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.jsonld").write_text(PAIR)
    (folder / "b.jsonld").write_text('{"@context": "http://example.org/c", "@id": "http://x/1"}')
    options = LoadOptions(rejects_path=tmp_path / "r")
    report = load(folder, store=tmp_store, graph="g", options=options)
    assert (report.read_statements, report.rejected) == (7, 1)


def test_bad_iris_and_relative_ones(tmp_path: Path, tmp_store: Store) -> None:
    text = f'{{{VOCABULARY}, "@id": "me", "p": [{{"@id": "http://x/ 1"}}, {{"@id": "b"}}]}}'
    report, statements = loaded(tmp_store, tmp_path / "a.jsonld", text)
    assert [one.value for one in statements] == [EntityValue("http://base/b")]
    assert report.rejected == 1


def test_blank_nodes_have_the_same_ids_again(tmp_path: Path, tmp_store: Store) -> None:
    _, once = loaded(tmp_store, tmp_path / "a.jsonld", PAIR)
    _, again = loaded(tmp_store, tmp_path / "b.jsonld", PAIR)
    assert sorted(one.id for one in once) == sorted(one.id for one in again)


def test_reading_goes_on_after_a_block(
    tmp_path: Path, tmp_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole, "CHUNK_TRIPLES", 3)
    report, statements = loaded(tmp_store, tmp_path / "a.jsonld", PAIR)
    assert (report.read_statements, len(statements)) == (7, 7)


def test_names_and_tables_beside_json_ld(tmp_path: Path) -> None:
    path = tmp_path / "a.JSONLD"
    path.write_text(PAIR)
    assert recognise(path) is Format.JSON_LD
    rows = tmp_path / "wrapped.json"
    rows.write_text('{"@context": {"@vocab": "http://a/"}, "items": [{"name": "x", "size": 1}]}')
    assert recognise(rows) is Format.JSON_LD
