"""RDF to entities and statements (S1, S8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path

import pyoxigraph as ox
import pytest
from error_texts import check_counts

from graph_service.errors import SetupError
from graph_service.model.statement import Entity, EntityKind, Rank, Snak, Statement
from graph_service.model.values import (
    Coordinates,
    EntityValue,
    Iri,
    MonolingualText,
    NoValue,
    Quantity,
    SomeValue,
    StringValue,
    Time,
    Value,
)
from loaders.formats import Format
from loaders.items import Parsed, Reject
from loaders.options import LoadOptions
from loaders.rdf import node_file
from loaders.rdf import reader as rdf
from loaders.rdf.rdf_xml import read_rdf_xml
from loaders.rdf.turtle_reader import read_trig, read_turtle
from loaders.rdf.values import literal_value, read_date
from loaders.rdf.wikidata import StatementNodes
from loaders.source import open_source
from loaders.terms import LANGUAGE_REASON
from loaders.truthy import COPY_REASON, HeldTruthy

READERS: dict[Format, Callable[..., Iterator[Parsed]]] = {
    Format.NTRIPLES: rdf.read_ntriples,
    Format.NQUADS: rdf.read_nquads,
    Format.TURTLE: read_turtle,
    Format.TRIG: read_trig,
    Format.RDF_XML: read_rdf_xml,
}
XSD = "http://www.w3.org/2001/XMLSchema#"
WIKIDATA_PREFIXES = """
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wds: <http://www.wikidata.org/entity/statement/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix wdno: <http://www.wikidata.org/prop/novalue/> .
@prefix wdref: <http://www.wikidata.org/reference/> .
@prefix wdv: <http://www.wikidata.org/value/> .
@prefix p: <http://www.wikidata.org/prop/> .
@prefix ps: <http://www.wikidata.org/prop/statement/> .
@prefix psv: <http://www.wikidata.org/prop/statement/value/> .
@prefix pq: <http://www.wikidata.org/prop/qualifier/> .
@prefix pqv: <http://www.wikidata.org/prop/qualifier/value/> .
@prefix pr: <http://www.wikidata.org/prop/reference/> .
@prefix prov: <http://www.w3.org/ns/prov#> .
@prefix wikibase: <http://wikiba.se/ontology#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix geo: <http://www.opengis.net/ont/geosparql#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""


class Result:
    """What a document came to, all blocks together."""

    def __init__(self) -> None:
        self.statements: list[Statement] = []
        self.entities: list[Entity] = []
        self.rejects: list[Reject] = []
        self.skipped: Counter[str] = Counter()
        self.kept: Counter[str] = Counter()

    def add(self, parsed: Parsed) -> None:
        self.statements += parsed.statements
        self.entities += parsed.entities
        self.rejects += parsed.rejects
        self.skipped += parsed.skipped
        self.kept += parsed.kept

    def triples(self) -> list[tuple[str, str, Value]]:
        return [(one.head, one.relation, one.value) for one in self.statements]

    def entity(self, id_: str) -> Entity:
        return next(entity for entity in self.entities if entity.id == id_)


def read(
    tmp_path: Path, text: str | bytes, format_: Format, options: LoadOptions | None = None
) -> Result:
    path = tmp_path / "document"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    result = Result()
    held = HeldTruthy()
    with open_source(path) as source, closing(held):
        for parsed in READERS[format_](source, options or LoadOptions(), {}, hold_truthy=True):
            held.take(parsed)
            result.add(parsed)
        for parsed in held.pieces(None):
            result.add(parsed)
    return result


def test_a_bad_line_takes_no_good_line_along_trap_22(tmp_path: Path) -> None:
    good = "<http://a/s{}> <http://a/p> <http://a/o> .\n"
    lines = [
        good.format(1),
        "<http://a/s> <http://a/p> <http://a/with space> .\n",
        good.format(2),
        '<http://a/s> <http://a/p> "x"@en_US .\n',
        good.format(3),
        "half a line\n",
        good.format(4),
    ]
    result = read(
        tmp_path, "".join(lines).encode() + b'<http://a/s> <http://a/p> "\xff" .\n', Format.NTRIPLES
    )
    assert [one.head for one in result.statements] == [f"http://a/s{n}" for n in (1, 2, 3, 4)]
    assert [reject.line for reject in result.rejects] == [2, 4, 6, 8]
    offset_of_4 = sum(len(line) for line in lines[:3])
    assert result.rejects[1].offset == offset_of_4
    assert "IRI" in result.rejects[0].reason


def test_text_that_no_store_can_hold_is_rejected(tmp_path: Path) -> None:
    text = '<http://a/s> <http://a/p> "a\\u0000b" .\n<http://a/s> <http://a/p> "good" .\n'
    for format_ in (Format.NTRIPLES, Format.TURTLE):
        result = read(tmp_path, text, format_)
        assert [one.value for one in result.statements] == [StringValue("good")]
        assert "NUL" in result.rejects[0].reason


def test_quads_keep_their_context_and_differ_by_it(tmp_path: Path) -> None:
    text = "<http://a/s> <http://a/p> <http://a/o> <http://a/g{}> .\n"
    result = read(tmp_path, text.format(1) + text.format(2), Format.NQUADS)
    assert [one.context for one in result.statements] == ["http://a/g1", "http://a/g2"]
    assert len({one.id for one in result.statements}) == 2


def test_terms_types_links_and_redirects(tmp_path: Path) -> None:
    text = """
@prefix dbo: <http://dbpedia.org/ontology/> .
@prefix dbr: <http://dbpedia.org/resource/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
dbr:Rome a dbo:City ;
  rdfs:label "Rome"@en , "Rom"@DE , "Roma" ;
  skos:altLabel "Eternal City"@en ;
  rdfs:comment "capital of Italy"@en ;
  owl:sameAs <http://www.wikidata.org/entity/Q220> , <http://fr.dbpedia.org/resource/Rome> .
dbr:Roma dbo:wikiPageRedirects dbr:Rome .
dbo:birthPlace a owl:ObjectProperty ; rdfs:label "birth place"@en .
dbr:Rome rdfs:label 5 .
"""
    result = read(tmp_path, text, Format.TURTLE)
    rome = result.entity("http://dbpedia.org/resource/Rome")
    # Of two labels in a language (here the default of those without one) the first in order of
    # sorting is the label, wherever blocks and batches end, and the other one more name.
    assert rome.labels == {"en": "Roma", "de": "Rom"}
    assert rome.aliases == {"en": ("Rome", "Eternal City")}
    assert rome.descriptions == {"en": "capital of Italy"}
    assert rome.same_as == ("Q220", "http://fr.dbpedia.org/resource/Rome")
    assert result.entity("http://dbpedia.org/resource/Roma").redirect == rome.id
    assert result.entity("http://dbpedia.org/ontology/birthPlace").kind is EntityKind.PROPERTY
    relations = Counter(one.relation.rpartition("#")[2] for one in result.statements)
    assert relations == {"type": 2, "label": 1}


FOAF_NAME = "<http://xmlns.com/foaf/0.1/name>"


@pytest.mark.parametrize(
    ("triples", "labels", "aliases"),
    [
        ('<https://schema.org/name> "Ann Roe"', {"mul": "Ann Roe"}, {}),
        ('<http://schema.org/name> "Ann Roe"@en', {"en": "Ann Roe"}, {}),
        (f'{FOAF_NAME} "Ann Roe"', {"mul": "Ann Roe"}, {}),
        ('<http://purl.org/dc/terms/title> "Ann Roe"', {"mul": "Ann Roe"}, {}),
        # A label beside a name is what the thing is called.
        (
            f'{FOAF_NAME} "Ann Beatrice Roe"@en ; rdfs:label "Ann Roe"@en',
            {"en": "Ann Roe"},
            {"en": ("Ann Beatrice Roe",)},
        ),
    ],
)
def test_names_of_common_vocabularies_name_things(
    tmp_path: Path, triples: str, labels: dict[str, str], aliases: dict[str, tuple[str, ...]]
) -> None:
    prefix = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    result = read(tmp_path, f"{prefix}<http://a> {triples} .", Format.TURTLE)
    assert [(entity.labels, entity.aliases) for entity in result.entities] == [(labels, aliases)]
    assert not result.statements


@pytest.mark.parametrize(
    ("text", "datatype", "expected"),
    [
        ("1952-03-11", "date", Time("1952-03-11T00:00:00Z", 11)),
        ("1952-03-11Z", "date", Time("1952-03-11T00:00:00Z", 11)),
        ("1952", "gYear", Time("1952-00-00T00:00:00Z", 9)),
        ("1952-03", "gYearMonth", Time("1952-03-00T00:00:00Z", 10)),
        ("-0044-03-15", "date", Time("-0044-03-15T00:00:00Z", 11)),
        ("1952-03-11T10:20:30+01:00", "dateTime", Time("1952-03-11T10:20:30Z", 14, timezone=60)),
        (
            "1952-03-11T10:20:30.5Z",
            "dateTime",
            StringValue("1952-03-11T10:20:30.5Z", XSD + "dateTime"),
        ),
        ("soon", "date", StringValue("soon", XSD + "date")),
        ("+1.50", "decimal", Quantity("1.50")),
        ("0042", "integer", Quantity("0042")),
        ("2.5E-3", "double", Quantity("0.0025")),
        ("INF", "double", StringValue("INF", XSD + "double")),
        ("true", "boolean", StringValue("true", XSD + "boolean")),
    ],
)
def test_literals(text: str, datatype: str, expected: Value) -> None:
    assert literal_value(text, XSD + datatype, None) == expected


def test_years_before_christ_of_wikidata_are_one_off_trap_5() -> None:
    time = read_date("-0108-01-01T00:00:00Z", astronomical=True)
    assert time is not None
    assert time.time == "-0109-01-01T00:00:00Z"
    first = read_date("0000-01-01T00:00:00Z", astronomical=True)
    assert first is not None
    assert first.time == "-0001-01-01T00:00:00Z"


def test_blank_nodes_are_the_same_again_and_not_shared_between_documents(tmp_path: Path) -> None:
    turtle = '<http://a/s> <http://a/p> [ <http://a/q> "1" ] , _:x . _:x <http://a/q> "2" .'
    first = read(tmp_path, turtle, Format.TURTLE).triples()
    assert first == read(tmp_path, turtle, Format.TURTLE).triples()
    nodes = {head for head, _, _ in first if head.startswith("_:")}
    assert len(nodes) == 2
    assert {value.id for _, _, value in first if isinstance(value, EntityValue)} == nodes
    lines = '_:x <http://a/p> "1" .\n'
    [one] = read(tmp_path, lines, Format.NTRIPLES).triples()
    [other] = read(tmp_path, lines + "# other document\n", Format.NTRIPLES).triples()
    assert one[0] != other[0]


def test_turtle_goes_on_after_an_error(tmp_path: Path) -> None:
    many = "".join(f'a:s{n} a:p "{n}" .\n' for n in range(20_000))
    text = f'@prefix a: <http://a/> .\na:first a:p "1" .\na:bad a:p "\\q" ;\n  a:p 3 .\n{many}a:x a:p "\\q" .\na:last a:p "2" .'
    result = read(tmp_path, text, Format.TURTLE)
    heads = {one.head for one in result.statements}
    assert {"http://a/first", "http://a/last", "http://a/s0", "http://a/s19999"} <= heads
    # Of the statement with a bad string, the triple beside it is in.
    assert ("http://a/bad", "http://a/p", Quantity("3")) in result.triples()
    assert len(heads) == 20_003
    assert [reject.line for reject in result.rejects] == [3, 20_005]
    assert result.rejects[1].offset == text.index("a:x a:p")


def test_turtle_without_an_end_is_one_reject(tmp_path: Path) -> None:
    result = read(
        tmp_path, '<http://a/s> <http://a/p> "1" .\n<http://a/s> <http://a/p> "2', Format.TURTLE
    )
    assert len(result.statements) == 1
    assert [reject.line for reject in result.rejects] == [2]


def test_truthy_wikidata(tmp_path: Path) -> None:
    text = (
        WIKIDATA_PREFIXES
        + """
wd:Q1 a wikibase:Item , wdno:P40 ;
  wdt:P31 wd:Q5 ;
  wdt:P569 "-0108-01-01T00:00:00Z"^^xsd:dateTime ;
  wdt:P570 _:genid1 , <http://www.wikidata.org/.well-known/genid/1234> ;
  wdt:P856 <https://a.example/> ;
  wdt:P18 <http://commons.wikimedia.org/wiki/Special:FilePath/A%20b.jpg> ;
  wdt:P625 "<http://www.wikidata.org/entity/Q405> Point(8.5 52.25)"^^geo:wktLiteral ;
  wdt:P1082 "+12"^^xsd:decimal ;
  rdfs:label "one"@en .
wd:Q2 owl:sameAs wd:Q1 .
"""
    )
    result = read(tmp_path, text, Format.TURTLE)
    found = {(relation, value) for _, relation, value in result.triples()}
    assert found == {
        ("P40", NoValue()),
        ("P31", EntityValue("Q5")),
        ("P569", Time("-0109-01-01T00:00:00Z", 11)),
        ("P570", SomeValue()),
        ("P856", Iri("https://a.example/")),
        ("P18", StringValue("A b.jpg", "commonsMedia")),
        ("P625", Coordinates(52.25, 8.5, globe="Q405")),
        ("P1082", Quantity("12")),
    }
    assert result.entity("Q1").labels == {"en": "one"}
    assert result.entity("Q2").redirect == "Q1"
    assert sum(result.skipped.values()) == 1


def test_full_wikidata_statements(tmp_path: Path) -> None:
    text = (
        WIKIDATA_PREFIXES
        + """
wd:Q42 wdt:P569 "1952-01-01T00:00:00Z"^^xsd:dateTime ;
  p:P569 wds:q42-D8404CDA-25E4-4334-AF13-A3290BCD9C0F ;
  p:P40 wds:Q42-D8404CDA-25E4-4334-AF13-A3290BCD9C00 .
wds:q42-D8404CDA-25E4-4334-AF13-A3290BCD9C0F a wikibase:Statement , wikibase:BestRank , wdno:P7 ;
  wikibase:rank wikibase:PreferredRank ;
  ps:P569 "1952-01-01T00:00:00Z"^^xsd:dateTime ; psv:P569 wdv:t ;
  pq:P31 wd:Q5 ; pq:P2 "3"^^xsd:decimal ; pqv:P2 wdv:q ;
  prov:wasDerivedFrom wdref:r .
wds:Q42-D8404CDA-25E4-4334-AF13-A3290BCD9C00 a wikibase:Statement , wdno:P40 ;
  wikibase:rank wikibase:DeprecatedRank .
wdref:r pr:P248 wd:Q9 ; pr:P854 <http://a.example/> .
wdv:t a wikibase:TimeValue ; wikibase:timeValue "1952-01-01T00:00:00Z"^^xsd:dateTime ;
  wikibase:timePrecision 9 ; wikibase:timeTimezone 0 ; wikibase:timeCalendarModel wd:Q1985786 .
wdv:q a wikibase:QuantityValue ; wikibase:quantityAmount "+3"^^xsd:decimal ;
  wikibase:quantityUnit wd:Q11573 ; wikibase:quantityUpperBound "+4"^^xsd:decimal ;
  wikibase:quantityLowerBound "+2"^^xsd:decimal .
wds:orphan ps:P1 wd:Q1 .
"""
    )
    result = read(tmp_path, text, Format.TURTLE)
    by_relation = {one.relation: one for one in result.statements}
    birth, child = by_relation["P569"], by_relation["P40"]
    assert birth.id == "Q42$D8404CDA-25E4-4334-AF13-A3290BCD9C0F"
    assert birth.rank is Rank.PREFERRED
    assert birth.value == Time("1952-01-01T00:00:00Z", 9, "Q1985786")
    assert birth.qualifiers == (
        Snak("P2", Quantity("3", "Q11573", "2", "4")),
        Snak("P7", NoValue()),
        Snak("P31", EntityValue("Q5")),
    )
    [reference] = birth.references
    assert reference.parts == (
        Snak("P248", EntityValue("Q9")),
        Snak("P854", Iri("http://a.example/")),
    )
    assert (child.value, child.rank) == (NoValue(), Rank.DEPRECATED)
    check_counts(result.skipped, 1, 1)


TWO_STATEMENTS = """
wd:Q42 p:P1 wds:Q42-D8404CDA-25E4-4334-AF13-A3290BCD9C0F ;
  p:P2 wds:Q42-D8404CDA-25E4-4334-AF13-A3290BCD9C00 .
wds:Q42-D8404CDA-25E4-4334-AF13-A3290BCD9C0F a wikibase:Statement ; ps:P1 wd:Q5 ;
  pq:P3 [] , [] , "x" ; prov:wasDerivedFrom wdref:r .
wds:Q42-D8404CDA-25E4-4334-AF13-A3290BCD9C00 a wikibase:Statement ; ps:P2 "y" ;
  prov:wasDerivedFrom wdref:r .
wdref:r pr:P248 wd:Q9 ; pr:P854 <http://a.example/> .
"""


def test_triples_of_full_statements_that_come_again_count_once(tmp_path: Path) -> None:
    # As files of several entities have them that were put together.
    text = WIKIDATA_PREFIXES + TWO_STATEMENTS
    once = read(tmp_path, text.replace("[] , [] , ", ""), Format.TURTLE).statements
    assert [len(one.references[0].parts) for one in once] == [2, 2]
    again = text.replace("[] , [] , ", "") + TWO_STATEMENTS.replace("[] , [] , ", "")
    assert read(tmp_path, again, Format.TURTLE).statements == once
    # Two blank nodes are two values that are not known.
    [first, _] = read(tmp_path, text, Format.TURTLE).statements
    values = [one.value for one in first.qualifiers]
    assert values == [StringValue("x"), SomeValue(), SomeValue()]


def test_parts_of_full_statements_lie_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        WIKIDATA_PREFIXES
        + "".join(
            f"wd:Q{n} p:P1 wds:Q{n}-D8404CDA-25E4-4334-AF13-A3290BCD9C0F .\n" for n in range(2_000)
        )
        + "".join(
            f'wds:Q{n}-D8404CDA-25E4-4334-AF13-A3290BCD9C0F ps:P1 wd:Q{n + 1} ; pq:P2 "{n}" .\n'
            for n in reversed(range(2_000))
        )
    )
    expected = read(tmp_path, text, Format.TURTLE).statements
    assert [one.value for one in expected] == [EntityValue(f"Q{n + 1}") for n in range(2_000)]
    # Little of it in memory at a time, and nothing of it remembered.
    for name, number in (
        ("_CACHE_KIB", 40),
        ("_ROWS", 7),
        ("_CACHED_NODES", 0),
        ("_MAX_RECENT_TRIPLES", 1),
    ):
        monkeypatch.setattr(node_file, name, number)
    assert read(tmp_path, text, Format.TURTLE).statements == expected
    # SQLite says so of a disk without room too.
    monkeypatch.setattr(node_file, "_TABLES", f"PRAGMA max_page_count = 20; {node_file._TABLES}")
    with pytest.raises(SetupError, match=r"no room .* full") as caught:
        read(tmp_path, text, Format.TURTLE)
    assert "TMPDIR" in (caught.value.hint or "")


def test_the_file_is_given_back_where_a_load_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[bool] = []
    monkeypatch.setattr(StatementNodes, "close", lambda self: closed.append(True))
    path = tmp_path / "a.ttl"
    path.write_text(WIKIDATA_PREFIXES + TWO_STATEMENTS)
    with open_source(path) as source:
        pieces = read_turtle(source, LoadOptions(), {}, hold_truthy=True)
        next(pieces)
        assert not closed
        assert isinstance(pieces, Generator)
        pieces.close()
    assert closed


def test_rdf_xml_by_rdflib_keeps_lexical_forms(tmp_path: Path) -> None:
    text = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
         xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:a="http://a/">
  <rdf:Description rdf:about="http://a/s">
    <rdfs:label xml:lang="fr">un</rdfs:label>
    <a:p rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">0042</a:p>
    <a:q rdf:parseType="Resource"><a:r>line
two</a:r></a:q>
  </rdf:Description>
</rdf:RDF>"""
    result = read(tmp_path, text, Format.RDF_XML)
    assert result.entity("http://a/s").labels == {"fr": "un"}
    values = [value for _, _, value in result.triples()]
    assert Quantity("0042") in values
    assert StringValue("line\ntwo") in values
    again = read(tmp_path, text, Format.RDF_XML)
    assert [one.id for one in again.statements] == [one.id for one in result.statements]
    broken = read(tmp_path, text.replace("</rdf:RDF>", ""), Format.RDF_XML)
    assert len(broken.rejects) == 1
    assert broken.rejects[0].reason.startswith("not XML")


def test_labels_of_languages_not_asked_for_are_counted(tmp_path: Path) -> None:
    text = '<http://a/s> <http://www.w3.org/2000/01/rdf-schema#label> "x"@fr .\n'
    result = read(tmp_path, text, Format.NTRIPLES, LoadOptions(languages=("en",)))
    assert result.skipped == {LANGUAGE_REASON: 1}
    # What is said of the entity in its statements stays, whatever the language.
    text = '<http://a/s> <http://a/p> "x"@fr .\n'
    result = read(tmp_path, text, Format.NTRIPLES, LoadOptions(languages=("en",)))
    assert result.triples() == [("http://a/s", "http://a/p", MonolingualText("x", "fr"))]


NASTY = r"""# a remark. with <brackets> and "quotes" ; and , marks .
@prefix a: <http://a/> . @prefix : <http://b.c/d#> .
@base <http://base.example/x/> .
PREFIX e.f: <http://e.f/>
BASE <http://other.example/>
a:s.t a:p.q <rel.(1)> , <http://a/b.c#d> ; :p 'it' , "" , '' , "a.b" , DDDlong . " "" ' # no remark
 next. lineDDD , SSSx ' '' . \SSS ySSS ; a <z> .
a:s a:p 1.5 , .5 , 1. a:s a:q -1.e5 , +.7E-3 , true;; a:r _:b.1 .
_:b.1 a:p [ a:x [ ] ; a:y ( 1 "two"@en-GB <#three> ( ) ) ] .
[ a:only "said"^^a:type.x ] .
( a:one ) a:p a:with\.escape\,s , a:per%41cent ,a:tight .a:s a:p"near"@en.
<http://a/é#ü> a:p "日本.\u00e9 \"quoted\". end\\" . # last
a:s a:p e.f:g.h , :a:b:c , a: , : .""".replace("DDD", '"""').replace("SSS", "'''")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1 << 16])
def test_turtle_is_cut_where_its_statements_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr("loaders.rdf.turtle._READ_BYTES", size)
    monkeypatch.setattr("loaders.rdf.turtle_reader._CHUNK_BYTES", size)
    result = read(tmp_path, NASTY, Format.TURTLE)
    assert result.rejects == []
    whole = list(ox.parse(NASTY.encode(), format=ox.RdfFormat.TURTLE))
    assert len(result.statements) == len(whole)
    heads = Counter(one.head for one in result.statements if not one.head.startswith("_:"))
    assert heads == Counter(
        quad.subject.value for quad in whole if isinstance(quad.subject, ox.NamedNode)
    )


@pytest.mark.data
def test_real_turtle_is_what_its_parser_gives_at_once(tmp_path: Path, data_dir: Path) -> None:
    data = (data_dir / "wikidata_docs" / "Q42.ttl").read_bytes()
    for text in (data, data.replace(b" .\n", b".\n")):
        result = read(tmp_path, text, Format.TURTLE)
        assert (len(result.statements), result.rejects) == (307, [])
        assert result.skipped[COPY_REASON] == 300
