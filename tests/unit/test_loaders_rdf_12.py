"""RDF to the letter: annotations of RDF 1.2, declared encodings, documents that were cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from error_texts import check_counts, raises

from graph_service.errors import InputError
from graph_service.model.statement import Statement
from graph_service.store.protocol import Store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.rdf.mapping import DIRECTION_REASON
from loaders.rdf.turtle_reader import UNFINISHED_GRAPH, UNFINISHED_STATEMENT
from loaders.report import EXIT_REJECTS, LoadReport

PREFIX = "@prefix : <http://a/> .\n"
RDF = (
    '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://a/" '
    'xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:its="http://www.w3.org/2005/11/its"'
)


@pytest.fixture
def options(tmp_path: Path) -> LoadOptions:
    return LoadOptions(rejects_path=tmp_path / "rejects.jsonl")


def loaded(
    store: Store, path: Path, data: str | bytes, options: LoadOptions
) -> tuple[LoadReport, list[Statement]]:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    report = load(path, store=store, graph="g", options=options, replace=True)
    edition = store.graph("g").edition
    return report, [item for chunk in store.scan_statements(edition) for item in chunk]


def triples(statements: list[Statement]) -> set[tuple[str, str]]:
    return {(item.head, item.relation) for item in statements if not item.head.startswith("_:")}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.ttl", ":a :p :b {| :conf 0.9 |} . :c :q :d .", {("a", "p"), ("c", "q")}),
        ("a.ttl", ":a :p :b {|:conf 0.9|}. :c :q :d .", {("a", "p"), ("c", "q")}),
        ("a.ttl", ":a :p :b ~ :r {| :x 1 ; :y 2 , 3 |} , :e ; :s :f .", {("a", "p"), ("a", "s")}),
        (
            "a.ttl",
            ":a :p :b {| :x [ :y 1 ] |} {| :z ( 1 ) |} . :c :q 1 .",
            {("a", "p"), ("c", "q")},
        ),
        ("a.ttl", "<< :a :p :b >> :src :s . :c :q :d .", {("c", "q")}),
        ("a.ttl", ":a :p <<( :a :p :b )>> . :c :q :d .", {("c", "q")}),
        ("a.trig", ":g { :a :p :b {| :conf 0.9 |} . :c :q :d }", {("a", "p"), ("c", "q")}),
        ("a.trig", "{ :a :p :b {| :conf 0.9 |} } :g{:c :q :d{|:x 1|}}", {("a", "p"), ("c", "q")}),
    ],
)
def test_annotations_assert_their_statement(
    tmp_store: Store,
    tmp_path: Path,
    options: LoadOptions,
    name: str,
    text: str,
    expected: set[tuple[str, str]],
) -> None:
    report, statements = loaded(tmp_store, tmp_path / name, PREFIX + text, options)
    assert report.rejected == 0
    named = triples(statements) - {("http://a/r", "http://a/x"), ("http://a/r", "http://a/y")}
    assert named == {(f"http://a/{head}", f"http://a/{relation}") for head, relation in expected}
    assert report.skipped["triples about triples (RDF-star)"] >= 1


def test_annotations_are_read_wherever_the_bytes_are_cut(
    tmp_store: Store, tmp_path: Path, options: LoadOptions
) -> None:
    """Reads of 64 KiB end at each place of an annotation in turn."""
    for size in range(65_440, 65_540, 3):
        text = PREFIX + "#" * (size - 60) + "\n:a :p :b {| :conf 0.9 |} . :c :q :d .\n"
        report, statements = loaded(tmp_store, tmp_path / "a.ttl", text, options)
        assert report.rejected == 0, size
        assert triples(statements) == {("http://a/a", "http://a/p"), ("http://a/c", "http://a/q")}


def test_an_error_beside_annotations_costs_itself_alone(
    tmp_store: Store, tmp_path: Path, options: LoadOptions
) -> None:
    text = PREFIX + ":a :p :b {| :x 1 ; :y 2 |} , <bad iri> , :c ; :q :d ."
    report, statements = loaded(tmp_store, tmp_path / "a.ttl", text, options)
    assert report.rejected == 1
    assert triples(statements) == {("http://a/a", "http://a/p"), ("http://a/a", "http://a/q")}
    assert sum(item.relation == "http://a/p" for item in statements) == 2


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [
        ("iso-8859-1", "ISO-8859-1"),
        ("cp1252", "windows-1252"),
        ("utf-8", "UTF-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-8", "UTF-16"),
        ("utf-8", "ISO-8859-1"),
        ("utf-8", "US-ASCII"),
        ("utf-8", ""),
        ("koi8-r", "KOI8-R"),
        ("gb18030", "GB18030"),
    ],
)
def test_rdf_xml_is_read_in_the_encoding_that_it_declares(
    tmp_store: Store, tmp_path: Path, options: LoadOptions, encoding: str, declared: str
) -> None:
    name = "Привет" if encoding == "koi8-r" else "München"
    declaration = f' encoding="{declared}"' if declared else ""
    text = (
        f'<?xml version="1.0"{declaration}?>\n{RDF}><r:Description r:about="http://a/s">'
        f'<rdfs:label xml:lang="de">{name}</rdfs:label><p>1</p></r:Description></r:RDF>'
    )
    loaded(tmp_store, tmp_path / "a.rdf", text.encode(encoding), options)
    edition = tmp_store.graph("g").edition
    assert tmp_store.entities(edition, ["http://a/s"]).entities["http://a/s"].labels == {"de": name}


@pytest.mark.parametrize(
    "declared",
    ["UTF-8", "klingon"],
)
def test_xml_in_no_encoding_that_is_known_is_refused_by_name(
    tmp_store: Store, tmp_path: Path, options: LoadOptions, declared: str
) -> None:
    path = tmp_path / "a.rdf"
    text = f'<?xml version="1.0" encoding="{declared}"?>{RDF}><r:Bag r:about="http://a/ü"/></r:RDF>'
    path.write_bytes(text.encode("latin-1"))
    with raises(InputError):
        load(path, store=tmp_store, graph="g", options=options)


def test_entities_are_checked_in_any_encoding(
    tmp_store: Store, tmp_path: Path, options: LoadOptions
) -> None:
    path = tmp_path / "a.rdf"
    bomb = '<!DOCTYPE r:RDF [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    for declared in ("UTF-16", "ISO-8859-1"):
        path.write_text(
            f'<?xml version="1.0" encoding="{declared}"?>{bomb}{RDF}>'
            '<r:Description r:about="http://a/s"><p>&b;</p></r:Description></r:RDF>'
        )
        with raises(InputError):
            load(path, store=tmp_store, graph="g", options=options)


def test_rdf_xml_1_2_is_read(tmp_store: Store, tmp_path: Path, options: LoadOptions) -> None:
    text = (
        f'{RDF} r:version="1.2" its:version="2.0"><r:Description r:about="http://a/s">'
        '<p its:dir="ltr" xml:lang="en">x</p><rdfs:label its:dir="rtl" xml:lang="ar">y</rdfs:label>'
        '<q r:parseType="Triple"><r:Description r:about="http://a/t"><p r:resource="http://a/o"/>'
        '</r:Description></q><s r:resource="http://a/o" r:annotation="http://a/note"/>'
        "</r:Description></r:RDF>"
    )
    report, statements = loaded(tmp_store, tmp_path / "a.rdf", text, options)
    assert report.rejected == 0
    assert triples(statements) == {("http://a/s", "http://a/p"), ("http://a/s", "http://a/s")}
    assert report.kept == {DIRECTION_REASON: 2}
    check_counts(report.skipped, 2)
    assert report.records.total == 5


@pytest.mark.parametrize(
    ("name", "text", "reason", "relations"),
    [
        ("a.ttl", ":a :p 1 . :a :q 12", UNFINISHED_STATEMENT, {"p"}),
        ("a.ttl", ":a :p 1 ; :q 2 ; :r 12", UNFINISHED_STATEMENT, {"p", "q"}),
        ("a.ttl", ":a :p 1 ; :q <http://a/b", UNFINISHED_STATEMENT, {"p"}),
        ("a.trig", ":g { :a :p 1 . :a :q 2 .", UNFINISHED_GRAPH, {"p", "q"}),
        ("a.trig", "{ :a :p 1 . :a :q 2", UNFINISHED_GRAPH, {"p"}),
        ("a.trig", ":g { :a :p 1 . GRAPH :h { :a :q 1 } }", "graph inside another", {"p", "q"}),
    ],
)
def test_a_document_that_was_cut_is_told(
    tmp_store: Store,
    tmp_path: Path,
    options: LoadOptions,
    name: str,
    text: str,
    reason: str,
    relations: set[str],
) -> None:
    report, statements = loaded(tmp_store, tmp_path / name, PREFIX + text, options)
    assert report.exit_code == EXIT_REJECTS
    assert any(reason in reject.reason for reject in report.rejects)
    assert {item.relation for item in statements} == {f"http://a/{name}" for name in relations}
