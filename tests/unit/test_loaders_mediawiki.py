"""MediaWiki's XML dumps: the Wikibase JSON of their pages, and what is no such dump."""

from __future__ import annotations

import bz2
import gzip
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest
from error_texts import raises

from graph_service.errors import InputError
from graph_service.store.protocol import Store
from loaders.formats import Format, recognise
from loaders.load import LoadOptions, load
from loaders.report import LoadReport
from loaders.source import SourceLimits
from loaders.subset.filters import Filters
from loaders.wikibase.pages import NO_TEXT_REASON, OTHER_PAGE_REASON

HEAD = (
    '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">\n'
    "  <siteinfo><sitename>Wikidata</sitename><dbname>wikidatawiki</dbname></siteinfo>\n"
)
ITEM, PROPERTY = "wikibase-item", "wikibase-property"


def document(id_: str, label: str, *tails: str) -> dict[str, Any]:
    """Returns the JSON of a page, as Wikibase exports it: without its revision."""
    return {
        "type": "property" if id_.startswith("P") else "item",
        "id": id_,
        "labels": {"en": {"language": "en", "value": label}},
        "descriptions": [],
        "aliases": [],
        "claims": {
            "P31": [
                {
                    "mainsnak": {
                        "snaktype": "value",
                        "property": "P31",
                        "datavalue": {
                            "type": "wikibase-entityid",
                            "value": {"entity-type": "item", "id": tail},
                        },
                    },
                    "type": "statement",
                    "id": f"{id_}$00000000-0000-0000-0000-{int(tail[1:]):012d}",
                    "rank": "normal",
                }
                for tail in tails
            ]
        }
        if tails
        else [],
    }


def revision(id_: int, text: object, model: str = ITEM) -> str:
    json_text = text if isinstance(text, str) else json.dumps(text)
    return (
        f"    <revision>\n      <id>{id_}</id>\n      <contributor><username>A</username>"
        f"<id>1</id></contributor>\n      <model>{model}</model>\n"
        f'      <text bytes="9" xml:space="preserve">{escape(json_text)}</text>\n'
        "    </revision>\n"
    )


def page(title: str, *revisions: str, namespace: int = 0) -> str:
    return (
        f"  <page>\n    <title>{title}</title>\n    <ns>{namespace}</ns>\n    <id>77</id>\n"
        + "".join(revisions)
        + "  </page>\n"
    )


def dump(*pages: str) -> str:
    return HEAD + "".join(pages) + "</mediawiki>\n"


DUMP = dump(
    page("Q42", revision(900, document("Q42", 'A <"&> name', "Q5"))),
    page("Property:P31", revision(901, document("P31", "instance of"), PROPERTY), namespace=120),
    page("Main Page", revision(902, "''Welcome''", "wikitext"), namespace=4),
    page("Lexeme:L1", revision(903, {"id": "L1", "lemmas": {}}, "wikibase-lexeme")),
    page("Q7", revision(904, {"entity": "Q7", "redirect": "Q42"})),
)
Run = Callable[..., LoadReport]


@pytest.fixture
def run(tmp_store: Store, tmp_path: Path) -> Run:
    def run(path: Path, **options: Any) -> LoadReport:
        chosen = LoadOptions(rejects_path=tmp_path / "rejects.jsonl", **options)
        return load(path, store=tmp_store, graph="g", options=chosen)

    return run


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("pages-articles.xml", bytes),
        ("pages-articles.xml.bz2", bz2.compress),
        ("dump.rdf.gz", gzip.compress),
    ],
)
def test_items_and_properties_of_a_dump_are_loaded(
    run: Run, tmp_store: Store, tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / name
    path.write_bytes(pack(DUMP.encode()))
    assert recognise(path) is Format.MEDIAWIKI_XML
    report = run(path)
    assert (report.exit_code, report.read_statements) == (0, 1)
    assert report.skipped == {OTHER_PAGE_REASON: 1, "lexemes": 1}
    [[statement]] = tmp_store.scan_statements("g@1")
    assert (statement.id[:4], statement.head, statement.relation) == ("Q42$", "Q42", "P31")
    found = tmp_store.entities("g@1", ["Q42", "P31", "Q7"]).entities
    assert found["Q42"].labels == {"en": 'A <"&> name'}
    assert found["Q42"].revision == 900
    assert found["Q7"].id == "Q42"
    assert found["P31"].labels == {"en": "instance of"}


def test_the_newest_revision_of_a_page_is_read(run: Run, tmp_store: Store, tmp_path: Path) -> None:
    path = tmp_path / "history.xml"
    path.write_text(
        dump(
            page(
                "Q1",
                revision(10, document("Q1", "old", "Q2")),
                revision(12, document("Q1", "new", "Q3")),
                revision(11, "not even JSON"),
            )
        )
    )
    assert run(path).exit_code == 0
    assert tmp_store.entities("g@1", ["Q1"]).entities["Q1"].labels == {"en": "new"}
    assert [one.id[-1] for chunk in tmp_store.scan_statements("g@1") for one in chunk] == ["3"]


def test_an_older_dump_does_not_undo_a_newer_one(
    run: Run, tmp_store: Store, tmp_path: Path
) -> None:
    for number, (revision_, label) in enumerate([(12, "new"), (11, "old")]):
        path = tmp_path / f"{number}.xml"
        path.write_text(dump(page("Q1", revision(revision_, document("Q1", label, "Q2")))))
        report = run(path)
    assert report.counts is not None
    assert report.counts.outdated == 1
    assert tmp_store.entities("g@2", ["Q1"]).entities["Q1"].labels == {"en": "new"}


def test_a_page_that_cannot_be_read_costs_itself(
    run: Run, tmp_store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "dump.xml"
    good = page("Q2", revision(2, document("Q2", "good", "Q5")))
    before = HEAD + "  <page>\n    <title>Q1</title>\n    <ns>0</ns>\n    <id>77</id>\n"
    path.write_text(
        dump(
            page("Q1", revision(1, '{"broken"')),
            good,
            page("Q3", "    <revision><id>3</id><model>wikibase-item</model><text/></revision>\n"),
            page("Q4", revision(4, document("Q4", "x" * 3000, "Q5"))),
        )
    )
    report = run(path, limits=SourceLimits(max_line_bytes=2000))
    first, second = report.rejects
    line = before.count("\n") + 5
    assert (first.line, "not JSON" in first.reason) == (line, True)
    data = path.read_bytes()
    assert data[first.offset :].startswith(b"<text")
    assert "at most 2000" in second.reason
    assert report.skipped == {NO_TEXT_REASON: 1}
    assert tmp_store.graph("g").counts.statements == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DUMP[: DUMP.index("<title>Property")], "no element found"),
        (DUMP.replace("</ns>", "</sn>", 2).replace("</sn>", "</ns>", 1), "mismatched tag"),
    ],
)
def test_xml_that_ends_early_is_one_reject_and_what_came_before_is_in(
    run: Run, tmp_store: Store, tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "dump.xml"
    path.write_text(text)
    report = run(path)
    assert report.rejected == 1
    assert said in report.rejects[0].reason
    assert tmp_store.graph("g").counts.statements == 1


def test_a_document_type_is_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    path.write_text('<!DOCTYPE mediawiki [<!ENTITY a "b">]>\n' + DUMP)
    with pytest.raises(InputError, match="document type declaration"):
        run(path)


def test_a_stopped_load_goes_on_where_it_was(tmp_store: Store, tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    pages = [page(f"Q{n}", revision(n, document(f"Q{n}", f"n{n}", "Q5"))) for n in range(1, 41)]
    path.write_text(dump(*pages))
    options = LoadOptions(rejects_path=tmp_path / "rejects.jsonl", batch_size=3)
    stop = threading.Event()
    kept = {"progress": lambda _: stop.set(), "stop": stop}
    first = load(path, store=tmp_store, graph="g", options=options, **kept)  # type: ignore[arg-type]
    assert first.status == "stopped"
    assert 0 < first.read_statements < 40
    second = load(path, store=tmp_store, graph="g", options=options)
    assert (second.resumed, second.read_statements) == (True, 40)
    whole = load(path, store=tmp_store, graph="h", options=options)
    assert whole.graph is not None
    assert second.graph is not None
    assert second.graph.fingerprints == whole.graph.fingerprints


def test_filters_choose_among_the_pages(run: Run, tmp_store: Store, tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    path.write_text(DUMP)
    run(path, filters=Filters(entities=("P31",)))
    assert tmp_store.entities("g@1", ["Q42", "P31"]).missing == ("Q42",)


RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.nt", "<!doctype html>\n<html><body>503, try again</body></html>"),
        ("page.xml", '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>'),
        ("a.csv", "<html><p>a, b, c</p>\n<p>a, b, c</p>\n"),
        ("feed.xml", '<?xml version="1.0"?><rss version="2.0"><channel/></rss>'),
        ("a.rdf", '<sparql xmlns="http://www.w3.org/2005/sparql-results#"/>'),
        ("a.xml", '<?xml version="1.0"?>\nnothing'),
        (
            "a.rdf",
            f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:a="http://a/"><a:B><a:p>x</a:p></a:B></rdf:RDF>',
        ),
        ("a.rdf", f'<rdf:RDF xmlns:rdf="{RDF}"/>'),
        ("a.json", '{"name": "x", "type": "module"}'),
        ("a.json", '{"id": "x", "labels": ["bug"]}'),
        ("a.json", '{"id": "x", "title": "t", "text": "some words"}'),
        ("letter", "Dear all, we met,\nand, as it,\ntalked, ate\nand drank\n, or\n"),
    ],
)
def test_what_is_not_what_it_looks_like_is_refused_and_nothing_is_published(
    run: Run, tmp_store: Store, tmp_path: Path, name: str, text: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with raises(InputError):
        run(path)
    assert tmp_store.graphs() == []


def test_rdf_xml_without_rdf_rdf_is_read(run: Run, tmp_store: Store, tmp_path: Path) -> None:
    path = tmp_path / "one.rdf"
    path.write_text(
        f'<!-- c --><a:B xmlns:rdf="{RDF}" xmlns:a="http://a/" rdf:about="http://a/x">'
        "<a:p>x</a:p></a:B>"
    )
    assert run(path).read_statements == 2


def test_a_dump_named_rdf_xml_publishes_nothing(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    path.write_text(DUMP)
    with pytest.raises(InputError, match="blank nodes"):
        run(path, format="rdf-xml")
