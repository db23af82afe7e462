"""Fragments of RDF as people have them: told by content, whatever they are called."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyoxigraph as ox
import pytest

from graph_service.errors import InputError
from graph_service.model.statement import Entity, Statement
from graph_service.store.protocol import Store
from loaders.formats import Format, recognise
from loaders.load import load
from loaders.options import LoadOptions
from loaders.rdf.terms import LANGUAGE_TAG_REASON
from loaders.rdf.turtle_reader import RESOLVED_REASON
from loaders.report import LoadReport
from loaders.sparql.terms import Row, Term

RDF_XML = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:a="http://a/">
  <rdf:Description rdf:about="http://a/s"><a:p>text</a:p></rdf:Description>
</rdf:RDF>
"""
NT = '<http://a/s> <http://a/p> "text" .\n'
PREFIXES = "@prefix a: <http://a/> .\n"
LIST = (
    '<http://a/s>\n    <http://a/p> "one, two" ;\n    <http://a/q> <http://a/o> , <http://a/x> .\n'
)

# Name, text, format, number of statements.
FRAGMENTS: dict[str, tuple[str, str, Format, int]] = {
    "Turtle in a file named .rdf": ("a.rdf", PREFIXES + "a:s a:p a:o .\n", Format.TURTLE, 1),
    "Turtle in a file named .owl": ("a.owl", PREFIXES + "a:s a:p a:o .\n", Format.TURTLE, 1),
    "Turtle in a file named .xml": ("a.xml", LIST, Format.TURTLE, 3),
    "Turtle in a file named .nt": ("a.nt", PREFIXES + "a:s a:p a:o .\n", Format.TURTLE, 1),
    "Turtle in a file named .csv": ("a.csv", LIST, Format.TURTLE, 3),
    "Turtle in a file named .txt": ("a.txt", LIST, Format.TURTLE, 3),
    "Turtle in a file without a name's end": ("data", LIST, Format.TURTLE, 3),
    "Turtle without @prefix": ("a.ttl", LIST, Format.TURTLE, 3),
    "Turtle on one line without @prefix": (
        "a",
        '<http://a/s> <http://a/p> "x" ; <http://a/q> 5 .',
        Format.TURTLE,
        2,
    ),
    "remarks first": ("a.rdf", f"# a remark. With stops; and, commas\n\n# more\n{LIST}", Format.TURTLE, 3),
    "a byte order mark": ("a.ttl", f"\ufeff{PREFIXES}a:s a:p a:o .\n", Format.TURTLE, 1),
    "a byte order mark and N-Triples": ("a.nt", f"\ufeff{NT}", Format.NTRIPLES, 1),
    "PREFIX as SPARQL writes it": (
        "a.rdf",
        "PREFIX a: <http://a/>\nBASE <http://b/>\na:s a:p <o> .\n",
        Format.TURTLE,
        1,
    ),
    "prefix in lower case, with a full stop": ("a", "prefix a: <http://a/> .\na:s a:p a:o .", Format.TURTLE, 1),
    "a blank node with what it says first": (
        "a.rdf",
        '[ <http://a/p> "x" ; <http://a/q> [ <http://a/r> 1 ] ] .\n',
        Format.TURTLE,
        3,
    ),
    "an empty blank node first": ("a", "[] a <http://a/Class> ; <http://a/p> 1.5 .", Format.TURTLE, 2),
    "a collection": ("a", "<http://a/s> <http://a/p> ( 1 2 ) .", Format.TURTLE, 5),
    "prefixes that begin far below": ("a.rdf", "#\n" * 5_000 + PREFIXES + "a:s a a:o .\n", Format.TURTLE, 1),
    "lines of triples among lists": ("a.ttl", NT * 3 + LIST, Format.TURTLE, 6),
    "lines of triples among lists, no name": ("a", NT * 9 + LIST, Format.TURTLE, 12),
    "a long string with stops": ("a", PREFIXES + 'a:s a:p """one .\ntwo ; a:b .\n""" .\n', Format.TURTLE, 1),
    "N-Triples with remarks first": ("a.txt", f"# made. By hand\n\n{NT}", Format.NTRIPLES, 1),
    "N-Triples in a file named .rdf": ("a.rdf", NT, Format.NTRIPLES, 1),
    "N-Triples with tabs": ("a.tsv", "<http://a/s>\t<http://a/p>\t<http://a/o> .\n", Format.NTRIPLES, 1),
    "N-Quads in a file named .nt": ("a.nt", NT.replace(" .", " <http://a/g> ."), Format.NQUADS, 1),
    "TriG": ("a.trig", "@prefix a: <http://a/> .\na:g { a:s a:p a:o ; a:q 1 }\n", Format.TRIG, 2),
    "TriG with GRAPH, in a file named .ttl": (
        "a.ttl",
        f"{PREFIXES}a:s a:p a:o .\nGRAPH a:g {{ a:s a:p a:o . a:s a:p a:x . }}\n",
        Format.TRIG,
        3,
    ),
    "TriG with a graph without a name": ("a", "{ <http://a/s> <http://a/p> <http://a/o> . }\n", Format.TRIG, 1),
    "RDF/XML": ("a.ttl", RDF_XML, Format.RDF_XML, 1),
    "RDF/XML with a declaration": ("a", f'<?xml version="1.0" encoding="UTF-8"?>\n{RDF_XML}', Format.RDF_XML, 1),
    "RDF/XML with a remark first": ("a", f"<!-- made by hand -->\n{RDF_XML}", Format.RDF_XML, 1),
    "RDF/XML with a document type": (
        "a.owl",
        '<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [\n  <!ENTITY a "http://a/" >\n]>\n'
        + RDF_XML.replace("http://a/s", "&a;s"),
        Format.RDF_XML,
        1,
    ),
    "RDF/XML with a byte order mark": ("a.rdf", f"\ufeff{RDF_XML}", Format.RDF_XML, 1),
    "RDF/XML with another name for rdf": ("a", RDF_XML.replace("rdf:", "r:").replace("xmlns:rdf", "xmlns:r"), Format.RDF_XML, 1),
    "RDF/XML without a name before RDF": (
        "a",
        RDF_XML.replace("<rdf:", "<").replace("</rdf:", "</").replace("xmlns:rdf=", 'xmlns="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdf='),
        Format.RDF_XML,
        1,
    ),
    "JSON-LD": (
        "a.json",
        '{"@context": {"a": "http://a/"}, "@id": "a:s", "a:p": 1}',
        Format.JSON_LD,
        1,
    ),
    "JSON-LD without a context": (
        "a",
        '[\n {"@id": "http://a/s", "@type": ["http://a/Class"]}\n]',
        Format.JSON_LD,
        1,
    ),
    "RDF/XML of one node": (
        "a.xml",
        '<a:Thing xmlns:a="http://a/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        'rdf:about="http://a/s"/>',
        Format.RDF_XML,
        1,
    ),
}  # fmt: skip


def loaded(store: Store, path: Path, **options: object) -> tuple[LoadReport, list[Statement]]:
    made = LoadOptions(rejects_path=path.parent / "rejects.jsonl", **options)  # type: ignore[arg-type]
    report = load(path, store=store, graph="g", options=made)
    assert report.graph is not None
    edition = report.graph.edition
    return report, [one for chunk in store.scan_statements(edition) for one in chunk]


@pytest.mark.parametrize("case", FRAGMENTS)
def test_fragments_are_told_by_content(tmp_path: Path, tmp_store: Store, case: str) -> None:
    name, text, format_, count = FRAGMENTS[case]
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert recognise(path) is format_
    report, _ = loaded(tmp_store, path)
    assert (report.read_statements, report.rejected) == (count, 0)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.xml", "<?xml version='1.0'?>\n<feed xmlns='http://a/'><entry/></feed>", "begins with <feed>"),
        ("a.rdf", "<!DOCTYPE html><html><body>404 Not Found</body></html>", "a web page"),
        ("a.rdf", "name,age\nAnn,3\nBob,4\n", "not recognised|columns"),
        ("a.owl", "Prefix(:=<http://a/>)\nOntology(<http://a/o>\nDeclaration(Class(:A))\n)", "not recog"),
    ],
)  # fmt: skip
def test_what_is_no_rdf_of_ours_is_refused_in_words(
    tmp_path: Path, tmp_store: Store, name: str, text: str, said: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load(path, store=tmp_store, graph="g", options=LoadOptions(rejects_path=tmp_path / "r"))
    assert any(part in caught.value.message for part in said.split("|")), caught.value.message


def test_utf_16_is_told_by_its_mark_and_refused_in_a_packed_file(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_bytes(LIST.encode("utf-16"))
    assert recognise(path) is Format.TURTLE
    path.write_bytes(gzip.compress(LIST.encode("utf-16")))
    with pytest.raises(InputError, match="UTF-16"):
        recognise(path)


RELATIVE = "<#me> <http://a/p> <other> .\n<http://a/s> <http://a/p> <http://a/o> .\n"


@pytest.mark.parametrize("name", ["a.ttl", "a.rdf", "data"])
def test_relative_iris_are_resolved_against_the_file_or_the_base(
    tmp_path: Path, tmp_store: Store, name: str
) -> None:
    path = tmp_path / name
    path.write_text(RELATIVE)
    report, found = loaded(tmp_store, path)
    address = path.resolve().as_uri()
    assert {one.head for one in found} == {f"{address}#me", "http://a/s"}
    assert (report.rejected, report.kept) == (0, {RESOLVED_REASON: 1})
    assert report.graph is not None
    tmp_store.delete_graph("g")
    report, found = loaded(tmp_store, path, base_iri="http://b/doc")
    assert {one.head for one in found} == {"http://b/doc#me", "http://a/s"}
    assert report.kept == {}


def test_relative_iris_of_rdf_xml_are_resolved(tmp_path: Path, tmp_store: Store) -> None:
    path = tmp_path / "a.rdf"
    path.write_text(RDF_XML.replace("http://a/s", "#me"))
    _, [one] = loaded(tmp_store, path)
    assert one.head == f"{path.resolve().as_uri()}#me"


def test_relative_iris_of_lines_are_refused_line_by_line(tmp_path: Path, tmp_store: Store) -> None:
    path = tmp_path / "a.nt"
    path.write_text("<me> <http://a/p> <http://a/o> .\n" + NT)
    report, found = loaded(tmp_store, path)
    assert [one.head for one in found] == ["http://a/s"]
    [reject] = report.rejects
    assert (reject.line, "--base-iri" in reject.reason) == (1, True)


def test_prefixes_that_are_not_declared_cost_their_statements(
    tmp_path: Path, tmp_store: Store
) -> None:
    path = tmp_path / "a.rdf"
    path.write_text("wd:Q1 wdt:P31 wd:Q5 .\n<http://a/s> <http://a/p> 1 , b:x , 2 .\n")
    report, found = loaded(tmp_store, path)
    assert [one.head for one in found] == ["http://a/s", "http://a/s"]
    assert [(one.line, "prefix" in one.reason) for one in report.rejects] == [(1, True), (2, True)]


BLOCK = """@prefix a: <http://a/> .
@prefix l: <http://www.w3.org/2000/01/rdf-schema#> .
a:s l:label "one"@en , "classical"@zh-classical , "two"@fr ;
  a:p "before" ; a:q "x"@abcdefghij ;
  a:bad "bad \\q escape" , "good beside it" ;
  a:r a:with%zz , a:o ;
  a:iri <http://a/with space> , <http://a/ok> ;
  a:nested [ a:in "x"@toolonglanguage ; a:bad "\\q" ; a:deep [ a:p 1 ] ] ;
  a:last "after" .
a:next a:p "next" .
"""


def entity(store: Store, id_: str) -> Entity:
    return next(one for chunk in store.scan_entities("g@1") for one in chunk if one.id == id_)


def test_a_fault_in_a_list_costs_that_triple_alone(tmp_path: Path, tmp_store: Store) -> None:
    path = tmp_path / "a.ttl"
    path.write_text(BLOCK)
    report, found = loaded(tmp_store, path)
    relations = sorted(one.relation.removeprefix("http://a/") for one in found)
    good = ["bad", "deep", "in", "iri", "last", "nested", "p", "p", "p", "q", "r"]
    assert relations == good
    assert entity(tmp_store, "http://a/s").labels == {
        "en": "one",
        "zh-classical": "classical",
        "fr": "two",
    }
    assert report.kept == {LANGUAGE_TAG_REASON: 3}
    assert [one.line for one in report.rejects] == [5, 6, 7, 8]
    offsets = [BLOCK.index(part) for part in ('"bad \\q', "a:with%", "<http://a/with s", '"\\q"')]
    assert [one.offset for one in report.rejects] == offsets


@pytest.mark.parametrize("name", ["a.nt", "a.ttl", "a.rdf"])
def test_odd_language_tags_are_kept_in_every_format(
    tmp_path: Path, tmp_store: Store, name: str
) -> None:
    path = tmp_path / name
    tags = ["zh-classical", "simple", "x-default", "roa-tara", "be-x-old", "abcdefghijk", "en"]
    if name.endswith(".rdf"):
        path.write_text(
            RDF_XML.replace(
                "<a:p>text</a:p>", "".join(f"<a:p xml:lang='{tag}'>x</a:p>" for tag in tags)
            )
        )
    else:
        path.write_text("".join(NT.replace(' "text"', f' "x"@{tag}') for tag in tags))
    report, found = loaded(tmp_store, path)
    assert sorted(getattr(one.value, "language", "") for one in found) == sorted(tags)
    assert (report.rejected, report.kept) == (0, {LANGUAGE_TAG_REASON: 2})


@pytest.mark.parametrize(
    ("text", "good", "lines"),
    [
        # A bracket, a string and a long string without an end.
        ("a:s a:p [ a:q 1 ;\na:x a:p 1 .\na:y a:p 2 .\n", 1, [2]),
        ('a:s a:p "no end .\na:x a:p 1 .\na:y a:p 2 .\n', 2, [2]),
        ('a:s a:p "no end ;\n  a:q 1 .\na:y a:p 2 .\n', 2, [2]),
        ('a:x a:p 1 .\na:s a:p """no end .\na:y a:p 2 .\n', 2, [3]),
        # Marks too many, and a statement without its full stop.
        ("a:s a:p 1 ;; a:q 2 ; .\na:x a:p 1 . .\na:y a:p 2 .\n", 4, [3]),
        ("a:x a:p 1\na:y a:p 2 .\na:z a:p 3 .\n", 1, [2]),
        ("a:x a:p .\na:y a:p 2 .\n", 1, [2]),
        ("a:x a:p 1 .\na:y a:p 2", 1, [3]),
        # Names with full stops, numbers, and a datatype and tag at the end.
        ('a:x.y a:p 1.5 , .5 , 1. a:z a:p "x"@en.\na:w a:p "2"^^a:t.\n', 5, []),
        ("@prefix b: <http://b/>\na:y a:p 2 .\na:z a:p b:x .\n", 0, [2, 4]),
    ],
)
def test_turtle_goes_on_behind_what_it_can_not_read(
    tmp_path: Path, tmp_store: Store, text: str, good: int, lines: list[int]
) -> None:
    path = tmp_path / "a.ttl"
    path.write_text(f"{PREFIXES}{text}a:end a:p a:end .\n")
    report, found = loaded(tmp_store, path, format="turtle")
    ends = sum(one.head == "http://a/end" for one in found)
    assert (len(found) - ends, [one.line for one in report.rejects]) == (good, lines)


def test_prefixes_may_be_said_again_and_anew(tmp_path: Path, tmp_store: Store) -> None:
    path = tmp_path / "a.ttl"
    one = "@prefix a: <http://a/> .\n@base <http://b/> .\na:s a:p <x> .\n"
    other = "@prefix a: <http://c/> .\nPREFIX : <y/>\na:s a:p :z .\n"
    path.write_text(one + one + other + one)
    _, found = loaded(tmp_store, path)
    assert {(one.head, getattr(one.value, "id", "")) for one in found} == {
        ("http://a/s", "http://b/x"),
        ("http://c/s", "http://b/y/z"),
    }


def test_leading_newlines_are_not_an_empty_file(tmp_path: Path, tmp_store: Store) -> None:
    path = tmp_path / "a.nt"
    path.write_text("\n" * 3_000_000 + NT)
    report, found = loaded(tmp_store, path)
    assert (len(found), report.formats) == (1, {"ntriples": 1})
    path.write_text("\n" * 17_000_000)
    with pytest.raises(InputError, match="white space"):
        recognise(path)


@pytest.mark.parametrize("name", ["a.rdf", "a"])
def test_entities_made_of_entities_are_refused(tmp_path: Path, tmp_store: Store, name: str) -> None:
    """855 bytes of them ran for more than 500 seconds."""
    path = tmp_path / name
    levels = "".join(
        f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">\n' if n else '<!ENTITY e0 "ha">\n'
        for n in range(12)
    )
    path.write_text(
        f"<?xml version='1.0'?>\n<!DOCTYPE rdf:RDF [\n{levels}]>\n"
        + RDF_XML.replace("text", "&e11;").replace("http://a/s", "&e11;")
    )
    with pytest.raises(InputError, match="entity e1"):
        load(path, store=tmp_store, graph="g", options=LoadOptions(rejects_path=tmp_path / "r"))


@pytest.mark.parametrize(
    "declared",
    ['<!ENTITY % p "x">', '<!ENTITY f SYSTEM "file:///etc/passwd">', f'<!ENTITY l "{"x" * 2_000}">'],
)  # fmt: skip
def test_entities_from_elsewhere_are_refused(
    tmp_path: Path, tmp_store: Store, declared: str
) -> None:
    path = tmp_path / "a.rdf"
    path.write_text(f"<!DOCTYPE rdf:RDF [{declared}]>\n{RDF_XML}")
    with pytest.raises(InputError, match="without bounds"):
        load(path, store=tmp_store, graph="g", options=LoadOptions(rejects_path=tmp_path / "r"))


def test_answers_of_endpoints_keep_odd_language_tags() -> None:
    head = Term("uri", "http://a/s")
    quad = Row(head, head, Term("literal", 'a "b"\n', language="zh-classical")).quad()
    assert isinstance(quad.object, ox.Literal)
    assert (quad.object.value, quad.object.language) == ('a "b"\n', "zh-classical")
    with pytest.raises(ValueError, match="no language tag"):
        Row(head, head, Term("literal", "x", language='en" .')).quad()


def test_long_broken_statements_take_no_longer_than_their_length(
    tmp_path: Path, tmp_store: Store
) -> None:
    """Each of them took the square of its length, or more."""
    path = tmp_path / "a.ttl"
    marks = " . ; , " * 40_000
    path.write_text(
        f'{PREFIXES}a:s a:p "no end {marks} x\na:p "\\q"{", 1" * 5_000} .\n'
        f'a:t a:p 1{", 2" * 5_000} , "\\q" , a:with%zz .\na:end a:p """no end\n'
    )
    report, found = loaded(tmp_store, path)
    assert {one.head for one in found} == {"http://a/s", "http://a/t"}
    assert report.read_statements == 5_000 + 5_001
    assert [one.line for one in report.rejects] == [2, 4, 4, 5]
