"""Tables, KGTK edge files and label files (S1)."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from error_texts import check_counts, check_line, check_text, raises

from graph_service.cli import main
from graph_service.errors import InputError
from graph_service.model.classes import RDF_TYPE
from graph_service.model.statement import EntityKind, Rank, Snak
from graph_service.model.values import (
    Coordinates,
    EntityValue,
    MonolingualText,
    Quantity,
    StringValue,
    Time,
    Value,
)
from graph_service.store import open_store
from graph_service.store.protocol import Store
from loaders.items import Parsed
from loaders.load import load
from loaders.options import LoadOptions
from loaders.source import ByteSource, open_source
from loaders.tables import kgtk, names
from loaders.tables import reader as tables
from loaders.tables.dialect import check_encoding, recognise_dialect
from loaders.tables.header import check_columns
from loaders.tables.kgtk_values import read_kgtk_value

Reader = Callable[[ByteSource, LoadOptions, Mapping[str, Any]], Iterator[Parsed]]


def read(tmp_path: Path, text: str | bytes, reader: Reader, **options: Any) -> Parsed:
    path = tmp_path / "table"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    whole = Parsed()
    with open_source(path) as source:
        for parsed in reader(source, LoadOptions(**options), {}):
            whole.statements += parsed.statements
            whole.entities += parsed.entities
            whole.rejects += parsed.rejects
            whole.skipped += parsed.skipped
            whole.kept += parsed.kept
    return whole


def triples(parsed: Parsed) -> list[tuple[str, str, Value]]:
    return [(one.head, one.relation, one.value) for one in parsed.statements]


def test_three_columns_by_position_and_rejects_with_line_and_offset(tmp_path: Path) -> None:
    text = b"Q1\tP1\tQ2\r\nQ1\tP1\n\nQ1\tP1\t\xff\n\tP1\tQ2\nQ3\tP1\tQ4"
    found = read(tmp_path, text, tables.read_tsv)
    assert triples(found) == [("Q1", "P1", EntityValue("Q2")), ("Q3", "P1", EntityValue("Q4"))]
    assert [(reject.line, reject.offset) for reject in found.rejects] == [(2, 10), (4, 17), (5, 25)]
    check_text(
        [reject.reason.partition(";")[0] for reject in found.rejects], "3 columns", "UTF-8", "id"
    )


def test_columns_in_another_order_and_columns_passed_over(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "IsA\tobject\ttool\t1\n",
        tables.read_tsv,
        columns=("relation", "tail", "head", "-"),
    )
    assert triples(found) == [("tool", "IsA", EntityValue("object"))]


@pytest.mark.parametrize("relation", ["is a", "is_a", "Is an", "instance of", "instance_of"])
def test_the_relation_is_a_gives_a_class(tmp_path: Path, relation: str) -> None:
    rows = read(tmp_path, f"Pump\t{relation}\tmachine\n", tables.read_tsv)
    assert triples(rows) == [("Pump", RDF_TYPE, EntityValue("machine"))]


def test_a_file_of_names_of_relations_says_what_is_a_stands_for(tmp_path: Path) -> None:
    names_file = tmp_path / "relations.tsv"
    names_file.write_text("is a\tP279\n")
    rows = read(tmp_path, "Pump\tis a\tmachine\n", tables.read_tsv, relation_ids=names_file)
    assert triples(rows) == [("Pump", "P279", EntityValue("machine"))]


def test_columns_named_by_header(tmp_path: Path) -> None:
    text = "when,what,who\n1999,acts,ann\n"
    columns = ("head=who", "relation=what", "tail=when")
    found = read(tmp_path, text, tables.read_csv, columns=columns, literal_relations=("acts",))
    assert triples(found) == [("ann", "acts", StringValue("1999"))]
    with pytest.raises(InputError, match="no column 'whom'"):
        read(tmp_path, text, tables.read_csv, columns=("head=whom", "relation=what", "tail=when"))


def test_known_header_names_need_no_columns(tmp_path: Path) -> None:
    found = read(tmp_path, "object\tpredicate\tsubject\no\tp\ts\n", tables.read_tsv)
    assert triples(found) == [("s", "p", EntityValue("o"))]


def test_columns_that_cannot_be_guessed_are_asked_for(tmp_path: Path) -> None:
    with raises(InputError) as caught:
        read(tmp_path, "a\tb\tc\td\n", tables.read_tsv)
    assert "--columns head,relation,tail,-" in str(caught.value)


@pytest.mark.parametrize(
    "columns",
    [
        ("head", "tail"),
        ("head", "relation", "tail", "tail"),
        ("head", "relation", "who"),
        ("head=a", "relation", "tail=c"),
        ("qualifiers", "head", "relation", "tail"),
    ],
)
def test_wrong_columns_are_refused(columns: tuple[str, ...]) -> None:
    with pytest.raises(InputError):
        check_columns(columns)


def test_base_iri_ranks_guids_and_languages(tmp_path: Path) -> None:
    guid = "Q42$F078E5B3-F9A8-480E-B7AC-D97778CBBEF9"
    text = f"{guid.lower()}\tQ42\tsays\tja\tde\tpreferred\nx\ta\tsays\tno\t\tbest\n"
    found = read(
        tmp_path,
        text,
        tables.read_tsv,
        columns=("id", "head", "relation", "tail", "language", "rank"),
        base_iri="http://a/",
        literal_relations=("says",),
    )
    [statement] = found.statements
    assert (statement.id, statement.rank) == (guid, Rank.PREFERRED)
    assert (statement.head, statement.relation) == ("Q42", "http://a/says")
    assert statement.value == MonolingualText("ja", "de")
    assert "rank 'best'" in found.rejects[0].reason


def test_inline_qualifier_pairs_as_wd50k_has_them(tmp_path: Path) -> None:
    text = "Q1,P1,Q2,P3,Q3,P4,Q4\nQ1,P1,Q5\nQ1,P1,Q6,P3\n"
    found = read(
        tmp_path, text, tables.read_csv, columns=("head", "relation", "tail", "qualifiers")
    )
    assert [one.qualifiers for one in found.statements] == [
        (Snak("P3", EntityValue("Q3")), Snak("P4", EntityValue("Q4"))),
        (),
    ]
    assert [reject.line for reject in found.rejects] == [3]


def test_csv_quotes_and_cells_that_span_lines(tmp_path: Path) -> None:
    text = 'a,"says ""x""","one\ntwo"\nb,p,c\n"never ends,p,c\n'
    found = read(tmp_path, text, tables.read_csv, literal_relations=('says "x"',))
    assert triples(found) == [
        ("a", 'says "x"', StringValue("one\ntwo")),
        ("b", "p", EntityValue("c")),
    ]
    assert [(reject.line, reject.offset) for reject in found.rejects] == [(4, text.index('"never'))]


def test_nul_is_rejected(tmp_path: Path) -> None:
    found = read(tmp_path, "a\tp\tb\x00\na\tq\tx\x00\n", tables.read_tsv, literal_relations=("q",))
    assert found.statements == []
    assert all("NUL" in reject.reason for reject in found.rejects)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("Q5", EntityValue("Q5")),
        ("'l\\'eau \\| x'@fr-ca", MonolingualText("l'eau | x", "fr-ca")),
        ("'twice \\\\'quoted\\\\''@en", MonolingualText("twice 'quoted'", "en")),
        ('"a\\tb"', StringValue("a\tb")),
        ("^1952-03-11T00:00:00Z/11", Time("1952-03-11T00:00:00Z", 11)),
        ("^+1952-00-00T00:00:00Z/9", Time("1952-00-00T00:00:00Z", 9)),
        ("^-0109", Time("-0109-00-00T00:00:00Z", 9)),
        ("@52.5/-13.25", Coordinates(52.5, -13.25)),
        ("+1.96Q11573", Quantity("1.96", "Q11573")),
        ("10[9,11]kg", Quantity("10", "kg", "9", "11")),
        ("-5", Quantity("-5")),
        ("2.5E-3", Quantity("0.0025")),
        ("10.1073/PNAS", EntityValue("10.1073/PNAS")),
        ("True", StringValue("true", "boolean")),
    ],
)
def test_kgtk_values(cell: str, expected: Value) -> None:
    assert read_kgtk_value(cell) == expected


@pytest.mark.parametrize("cell", ["", "'no tag'", '"', "^soon", "@1", "3[a,b]"])
def test_kgtk_values_that_are_not_finished(cell: str) -> None:
    with pytest.raises(ValueError, match=r"expected|empty"):
        read_kgtk_value(cell)


def test_kgtk_edges_terms_and_qualifiers(tmp_path: Path) -> None:
    text = (
        "id\tnode1\tlabel\tnode2\trank\tnode1;label\tlabel;label\tnode2;label\tP585\tnode2;w\n"
        "e1\tQ1\tP22\tQ2\tpreferred\t'Ann'@en|'Anna'@de\t'father'@en\t'Bob'@en\t^2001-00-00T00:00:00Z/9\tz\n"
        "e2\tQ1\talias\t'Annie'@en\n"
        "e3\tQ1\tdescription\t'person'@en\n"
        "e4\tQ1\tlabel\tQ9\n"
        "e5\tQ1\tP1\t\n"
    )
    found = read(tmp_path, text, kgtk.read_kgtk)
    father, label = found.statements
    assert (father.rank, father.value) == (Rank.PREFERRED, EntityValue("Q2"))
    assert father.qualifiers == (Snak("P585", Time("2001-00-00T00:00:00Z", 9)),)
    # An edge called label whose end is an entity is no label.
    assert (label.relation, label.value) == ("label", EntityValue("Q9"))
    by_id = {entity.id: entity for entity in found.entities}
    assert by_id["Q1"].labels == {"en": "Ann", "de": "Anna"}
    assert by_id["Q1"].aliases == {"en": ("Annie",)}
    assert by_id["Q1"].descriptions == {"en": "person"}
    assert by_id["P22"].kind is EntityKind.PROPERTY
    assert by_id["Q2"].labels == {"en": "Bob"}
    check_counts(found.skipped, 1)
    assert [reject.line for reject in found.rejects] == [6]
    check_text([reject.reason for reject in found.rejects], "node2")


def test_names_and_classes_as_json_by_id(tmp_path: Path) -> None:
    """CoDEx's files of relations, types and classes."""
    made = '{"P1": {"label": "one", "description": "the first"}, "Q2": "two", "Q3": 7, "Q4": {}}'
    found = read(tmp_path, made, names.read_labels)
    property_, item = sorted(found.entities, key=lambda entity: entity.id)
    assert (property_.kind, property_.labels) == (EntityKind.PROPERTY, {"en": "one"})
    assert property_.descriptions == {"en": "the first"}
    assert item.labels == {"en": "two"}
    check_text([reject.reason for reject in found.rejects], "Q3", "7", "Q4")
    classes = read(tmp_path, '{"Q1": ["Q5", "Q6"], "Q2": "Q5", "Q3": [1]}', names.read_types)
    assert triples(classes) == [
        ("Q1", "P31", EntityValue("Q5")),
        ("Q1", "P31", EntityValue("Q6")),
        ("Q2", "P31", EntityValue("Q5")),
    ]
    assert len(classes.rejects) == 1
    [reject] = read(tmp_path, '{"Q1": "one"', names.read_labels).rejects
    assert reject.reason.startswith("not JSON")


def test_label_files_with_and_without_header_and_language(tmp_path: Path) -> None:
    found = read(tmp_path, "id,label\nQ1,one\nQ1,uno\n", names.read_labels)
    assert [(one.id, one.labels, one.aliases) for one in found.entities] == [
        ("Q1", {"en": "one"}, {"en": ("uno",)})
    ]
    found = read(tmp_path, "Q1\tone\ten\nQ1\tun\tfr\nP9\tx\tkgtk\n", names.read_labels)
    assert [(one.id, one.labels, one.kind) for one in found.entities] == [
        ("Q1", {"en": "one", "fr": "un"}, EntityKind.ITEM),
        ("P9", {"en": "x"}, EntityKind.PROPERTY),
    ]
    check_counts(found.skipped, 1)


def test_numbers_stand_for_ids_as_dbp15k_has_them(tmp_path: Path) -> None:
    ids = tmp_path / "ent_ids"
    ids.write_text(
        "0\thttp://fr.dbpedia.org/resource/\u00c9vian\n7\thttp://fr.dbpedia.org/resource/Paris\n"
    )
    relations = tmp_path / "rel_ids"
    relations.write_text("3\thttp://dbpedia.org/ontology/country\n")
    found = read(
        tmp_path,
        "0\t3\t7\n0\t3\t8\n0\t4\t7\n",
        tables.read_tsv,
        entity_ids=ids,
        relation_ids=relations,
    )
    assert triples(found) == [
        (
            "http://fr.dbpedia.org/resource/\u00c9vian",
            "http://dbpedia.org/ontology/country",
            EntityValue("http://fr.dbpedia.org/resource/Paris"),
        )
    ]
    assert [one.line for one in found.rejects] == [2, 3]
    check_text([one.reason for one in found.rejects], "'8'", "'4'")
    ids.write_text("0\n")
    with pytest.raises(InputError, match="2 columns, got 1"):
        read(tmp_path, "0\t3\t7\n", tables.read_tsv, entity_ids=ids)


@pytest.mark.parametrize("kind", ["tsv", "kgtk"])
def test_qualifiers_of_a_file_of_their_own(tmp_path: Path, kind: str) -> None:
    qualifiers = tmp_path / "qualifiers.tsv"
    qualifiers.write_text(
        "node1\tlabel\tnode2\ne1\tP580\t^2001-00-00T00:00:00Z/9\ne2\tP1\tQ3\ne1\tP1\tQ4\n"
    )
    if kind == "tsv":
        found = read(
            tmp_path,
            "e1\tQ1\tP26\tQ2\ne3\tQ1\tP26\tQ5\n",
            tables.read_tsv,
            columns=("id", "head", "relation", "tail"),
            qualifier_file=qualifiers,
        )
        with pytest.raises(InputError, match="column of ids"):
            read(tmp_path, "Q1\tP1\tQ2\n", tables.read_tsv, qualifier_file=qualifiers)
    else:
        text = "id\tnode1\tlabel\tnode2\ne1\tQ1\tP26\tQ2\ne3\tQ1\tP26\tQ5\n"
        found = read(tmp_path, text, kgtk.read_kgtk, qualifier_file=qualifiers)
    assert [one.qualifiers for one in found.statements] == [
        (
            Snak("P580", Time("2001-00-00T00:00:00Z", 9)),
            Snak("P1", EntityValue("Q4")),
        ),
        (),
    ]


def test_types_and_descriptions_come_with_a_table(tmp_store: Store, tmp_path: Path) -> None:
    table = tmp_path / "t.tsv"
    table.write_text("Q1\tP26\tQ2\n")
    (tmp_path / "types.csv").write_text("id,class\nQ1,Q5\nhttp://a/x,http://a/Class\nQ7\n")
    (tmp_path / "about.tsv").write_text("Q1\twriter\ten\nQ1\t\u00e9crivain\tfr\n")
    (tmp_path / "names.tsv").write_text("Q1\tAnn\ten\n")
    report = load(
        table,
        store=tmp_store,
        graph="g",
        options=LoadOptions(
            type_files=(tmp_path / "types.csv",),
            description_files=(tmp_path / "about.tsv",),
            label_files=(tmp_path / "names.tsv",),
            rejects_path=tmp_path / "rejects",
        ),
    )
    assert report.formats == {"tsv": 1, "labels": 1, "types": 1, "descriptions": 1}
    check_text([one.reason for one in report.rejects], "1 cells")
    stored = [one for chunk in tmp_store.scan_statements("g@1") for one in chunk]
    assert {(one.head, one.relation, one.value) for one in stored} == {
        ("Q1", "P26", EntityValue("Q2")),
        ("Q1", "P31", EntityValue("Q5")),
        (
            "http://a/x",
            "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
            EntityValue("http://a/Class"),
        ),
    }
    ann = tmp_store.entities("g@1", ["Q1"]).entities["Q1"]
    assert (ann.labels, ann.descriptions) == (
        {"en": "Ann"},
        {"en": "writer", "fr": "\u00e9crivain"},
    )


def test_several_files_of_labels_and_ids_without_a_statement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "graph.tsv").write_text("Q1\tP1\tQ2\n")
    (tmp_path / "en.tsv").write_text("Q1\tone\nQ9\tnine\n")
    (tmp_path / "fr.json").write_text('{"Q2": "deux", "P1": "mène à"}')
    (tmp_path / "about.tsv").write_text("Q1\tthe first number\n")
    (tmp_path / "more.tsv").write_text("Q2\tthe second number\nQ8\tthe eighth number\n")
    store = f"sqlite:///{tmp_path / 'g.db'}"
    files = [
        *("--label-file", "en.tsv", "--label-file", "fr.json"),
        *("--description-file", "about.tsv", "--description-file", "more.tsv"),
    ]
    arguments = [word if word[0] == "-" else str(tmp_path / word) for word in files]

    def run(graph: str, *more: str) -> list[str]:
        source = str(tmp_path / "graph.tsv")
        assert main(["load", source, "--graph", graph, "--store", store, *arguments, *more]) == 0
        return capsys.readouterr().out.splitlines()

    lines = run("g")
    assert any("2 entities, 1 statement " in line for line in lines), lines
    check_line(lines, "2 ids")
    assert any("5 entities, 1 statement " in line for line in run("h", "--entities-from-labels"))
    with open_store(store) as opened:
        found = opened.entities("g@1", ["Q1", "Q2", "P1"]).entities
    assert [found[id_].labels for id_ in ("Q1", "Q2", "P1")] == [
        {"en": "one"},
        {"en": "deux"},
        {"en": "mène à"},
    ]
    assert [found[id_].descriptions for id_ in ("Q1", "Q2")] == [
        {"en": "the first number"},
        {"en": "the second number"},
    ]


@pytest.mark.data
def test_codex_s_has_as_many_entities_with_names_as_without(data_dir: Path, tmp_path: Path) -> None:
    source = data_dir / "codex" / "s-train.tsv"
    names = data_dir / "wikidata_labels_en_partial.tsv.xz"
    ids = {id_ for line in source.read_text().split("\n") if line for id_ in line.split("\t")[::2]}
    relations = data_dir / "codex" / "relations-en.json"
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        options = LoadOptions(label_files=(names, relations), rejects_path=tmp_path / "rejects")
        report = load(source, store=store, graph="codex", options=options)
        assert report.graph is not None
        assert report.graph.counts.entities == len(ids) == 2034
        assert report.graph.counts.names > 100_000
        assert all(one.labels for one in store.relations("codex@1"))


@pytest.mark.parametrize(
    "text",
    [
        "head;relation;tail\r\nRom;liegt in;Italien\r\nK\u00f6ln;liegt in;Deutschland\r\n",
        "\ufeffhead;relation;tail\r\nRom;liegt in;Italien\r\nK\u00f6ln;liegt in;Deutschland\r\n",
        "sep=;\nhead;relation;tail\nRom;liegt in;Italien\nK\u00f6ln;liegt in;Deutschland\n",
        "head|relation|tail\nRom|liegt in|Italien\nK\u00f6ln|liegt in|Deutschland\n",
        'head;relation;tail\n"Rom";"liegt in";Italien\nK\u00f6ln;liegt in;"Deutschland"\n',
    ],
)
def test_other_separators_than_commas(tmp_path: Path, text: str) -> None:
    parsed = read(tmp_path, text, tables.read_csv)
    assert triples(parsed) == [
        ("Rom", "liegt in", EntityValue("Italien")),
        ("K\u00f6ln", "liegt in", EntityValue("Deutschland")),
    ]
    assert parsed.rejects == []


def test_a_line_that_names_the_separator_is_followed_against_what_the_rows_look_like() -> None:
    assert recognise_dialect(b"sep=;\na,b,c;d\n1,2,3;4\n").delimiter == ";"
    assert recognise_dialect(b"a;b\n1,5;2,5\n1,5;3,5\n").delimiter == ";"
    assert recognise_dialect(b"a,b\nx;y,z\n").delimiter == ","


def test_windows_1252_is_read_where_it_is_named(tmp_path: Path) -> None:
    text = "head;relation;tail\nK\u00f6ln;liegt in;Deutschland\nRom;liegt in;Italien\n".encode(
        "cp1252"
    )
    [reject] = read(tmp_path, text, tables.read_csv).rejects
    assert "--encoding cp1252" in reject.reason
    parsed = read(tmp_path, text, tables.read_csv, encoding="cp1252")
    assert triples(parsed)[0] == ("K\u00f6ln", "liegt in", EntityValue("Deutschland"))
    for name in ("utf-16", "no-such", "cp037"):
        with raises(InputError):
            check_encoding(name)


def test_quoted_tabs_as_r_and_pandas_write_them(tmp_path: Path) -> None:
    text = '"head"\t"relation"\t"tail"\n"Ada"\t"knows"\t"Bob ""B"""\n'
    assert triples(read(tmp_path, text, tables.read_tsv)) == [
        ("Ada", "knows", EntityValue('Bob "B"'))
    ]


def test_an_edge_list_without_a_relation_is_refused_or_has_the_one_that_is_said(
    tmp_path: Path,
) -> None:
    text = "source,target,weight\nann,ben,3\nben,cat,much\n"
    with pytest.raises(InputError, match="no relation") as caught:
        read(tmp_path, text, tables.read_csv)
    assert "--edge-relation knows" in str(caught.value)
    assert "head=source,relation=weight,tail=target" in str(caught.value)
    parsed = read(tmp_path, text, tables.read_csv, edge_relation="knows")
    assert triples(parsed) == [
        ("ann", "knows", EntityValue("ben")),
        ("ben", "knows", EntityValue("cat")),
    ]
    assert [one.qualifiers for one in parsed.statements] == [
        (Snak("weight", Quantity("3")),),
        (Snak("weight", StringValue("much")),),
    ]
    with raises(InputError):
        read(tmp_path, "a\tb\tc\n", tables.read_tsv, edge_relation="knows")


def test_relationships_of_neo4j_admin(tmp_path: Path) -> None:
    text = ":START_ID,roles:string[],:END_ID,:TYPE\np1,Neo,m1,ACTED_IN\np2,,m1,DIRECTED\n"
    parsed = read(tmp_path, text, tables.read_csv)
    assert triples(parsed) == [
        ("p1", "ACTED_IN", EntityValue("m1")),
        ("p2", "DIRECTED", EntityValue("m1")),
    ]
    assert [one.qualifiers for one in parsed.statements] == [
        (Snak("roles", StringValue("Neo")),),
        (),
    ]
    spaces = ":START_ID(Person),:END_ID(Movie),:TYPE\n1,1,LIKES\n"
    assert triples(read(tmp_path, spaces, tables.read_csv)) == [
        ("Person/1", "LIKES", EntityValue("Movie/1"))
    ]


MOVIES = """movieId:ID(Movie),title,year:int,rating:float,released:date,seen:boolean,tags:string[],:LABEL
tt1,The Matrix,1999,8.7,1999-03-31,true,action;cyber;,Movie;Film
tt2,"Reloaded, The",n/a,,,no,,Movie
,No id,2003,,,,,Movie
tt3,Short,2003
"""
PEOPLE = (
    "personId:ID(Person),name:string,born:int,note:IGNORE,:LABEL\n1,Keanu Reeves,1964,x,Person\n"
)
ROLES = ":START_ID(Person),role,:END_ID(Movie),:TYPE\n1,Neo,tt1,ACTED_IN\n"


def test_bars_in_a_column_do_not_separate_cells() -> None:
    """One bar a row is as regular as semicolons of which a few rows have one too many."""
    rows = [f"P-{n};{n},5;red|blue{';more' if n % 30 == 0 else ''}\n" for n in range(90)]
    head = "".join(["No;Price;Colours\n", *rows]).encode()
    assert recognise_dialect(head).delimiter == ";"
    assert recognise_dialect(b"Prices, all in euro\n" + head).delimiter == ";"


def test_nodes_of_neo4j_admin(tmp_path: Path) -> None:
    parsed = read(tmp_path, MOVIES, tables.read_csv)
    assert set(triples(parsed)) == {
        ("Movie/tt1", RDF_TYPE, EntityValue("class/Movie")),
        ("Movie/tt1", RDF_TYPE, EntityValue("class/Film")),
        ("Movie/tt1", "year", Quantity("1999")),
        ("Movie/tt1", "rating", Quantity("8.7")),
        ("Movie/tt1", "released", Time("1999-03-31T00:00:00Z")),
        ("Movie/tt1", "seen", StringValue("true", "boolean")),
        ("Movie/tt1", "tags", StringValue("action")),
        ("Movie/tt1", "tags", StringValue("cyber")),
        ("Movie/tt2", RDF_TYPE, EntityValue("class/Movie")),
        ("Movie/tt2", "year", StringValue("n/a")),
        ("Movie/tt2", "seen", StringValue("false", "boolean")),
    }
    labels = {entity.id: entity.labels.get("en") for entity in parsed.entities}
    assert labels["Movie/tt1"] == "The Matrix"
    assert labels["Movie/tt2"] == "Reloaded, The"
    assert labels["class/Movie"] == "Movie"
    [movie] = [entity for entity in parsed.entities if entity.id == "class/Movie"]
    assert movie.aliases["en"] == ("Movies",)
    check_counts(parsed.kept, 1)
    check_text([reject.reason for reject in parsed.rejects], "8 columns")
    with pytest.raises(InputError, match="2 columns of ids"):
        read(tmp_path, "a:ID,b:ID\n1,2\n", tables.read_csv)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_folder_of_neo4j_admin_is_one_graph(
    tmp_path: Path, tmp_store: Store, encoding: str
) -> None:
    """Nodes and relationships in files of their own, also as Windows writes them."""
    folder = tmp_path / "import"
    folder.mkdir()
    for name, text in (("movies", MOVIES), ("people", PEOPLE), ("roles", ROLES)):
        (folder / f"{name}.csv").write_bytes(text.encode(encoding))
    options = LoadOptions(rejects_path=tmp_path / "rejects", encoding="cp1252")
    report = load(folder, store=tmp_store, graph="films", options=options)
    assert report.rejected == 2
    assert report.skipped["cells of the column note, which is ignored"] == 1
    edition = tmp_store.graph("films").edition
    acted = tmp_store.statements_of(edition, "Person/1", relation_ids=["ACTED_IN"])
    assert [(each.value, each.qualifiers) for each in acted] == [
        (EntityValue("Movie/tt1"), (Snak("role", StringValue("Neo")),))
    ]
    names = tmp_store.entities(edition, ["Person/1", "Movie/tt1"]).entities
    assert {entity.labels["en"] for entity in names.values()} == {"Keanu Reeves", "The Matrix"}


def test_utf_16_is_read_as_it_is_in_utf_8(tmp_path: Path, tmp_store: Store) -> None:
    """Excel's Unicode text: tabs, little endian with its mark; other formats too."""
    text = "head\trelation\ttail\nZürich\tland\tSchweiz 😀\n"
    prints = []
    for name, encoding in (("a.txt", "utf-8"), ("b.txt", "utf-16"), ("c.txt", "utf-16-be")):
        mark = codecs.BOM_UTF16_BE if encoding == "utf-16-be" else b""
        (tmp_path / name).write_bytes(mark + text.encode(encoding))
        load(tmp_path / name, store=tmp_store, graph=name[0], options=LoadOptions())
        prints.append(tmp_store.graph(name[0]).fingerprints)
    assert prints[0] == prints[1] == prints[2]
    # Half a character at the end.
    (tmp_path / "d.txt").write_bytes(text.encode("utf-16") + b"\x3d\xd8")
    options = LoadOptions(rejects_path=tmp_path / "rejects")
    report = load(tmp_path / "d.txt", store=tmp_store, graph="d", options=options)
    assert "UTF-16 data" in (tmp_path / "rejects").read_text()
    assert report.rejected == 1
    assert tmp_store.graph("d").counts.statements == 1


def test_a_header_that_is_not_known_is_no_statement(tmp_path: Path) -> None:
    for header, problem in (
        ("person,kind,friend", "looks like a header"),
        ("x,relationship,y", "looks like a header"),
        ("from_node,type,to_node", "no relation"),
        ("src,since,dst", "no relation"),
    ):
        with pytest.raises(InputError, match=problem) as caught:
            read(tmp_path, f"{header}\nann,knows,ben\nben,knows,cid\n", tables.read_csv)
        head, relation, tail = header.split(",")
        assert f"--columns head={head},relation={relation},tail={tail}" in str(caught.value)
    for data in (
        "ann\tknows\tben\n",
        "IsA\tobject\ttool\n",
        "type\tsubclass of\tkind\nx\tp\ttype\n",
    ):
        assert read(tmp_path, data, tables.read_tsv).statements


@pytest.mark.parametrize(
    "header", ["node_1,edge,node_2", "source_id,relation,target_id", "entity1,rel,entity2"]
)
def test_a_header_whose_ends_say_what_they_are_is_known(tmp_path: Path, header: str) -> None:
    parsed = read(tmp_path, f"{header}\nann,knows,ben\n", tables.read_csv)
    assert triples(parsed) == [("ann", "knows", EntityValue("ben"))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("item,property,value\nQ1,P31,Q2\n", [("Q1", "P31", "Q2")]),
        ("Source,Relationship,Destination\na,p,b\nc,p,d\n", [("a", "p", "b"), ("c", "p", "d")]),
        (
            ":START_ID,:END_ID,:TYPE,source,relation\np1,m1,ACTED_IN,imdb,lead\n",
            [("p1", "ACTED_IN", "m1")],
        ),
    ],
)
def test_the_last_role_of_three_columns_and_names_of_neo4js_properties(
    tmp_path: Path, text: str, expected: list[tuple[str, str, str]]
) -> None:
    parsed = read(tmp_path, text, tables.read_csv)
    assert triples(parsed) == [(head, name, EntityValue(tail)) for head, name, tail in expected]


@pytest.mark.parametrize("first", ["http://a.org/1\tp\tO", "Q1\tp\tO", "ann\tlabel\tvalue"])
def test_a_first_statement_is_no_header(tmp_path: Path, first: str) -> None:
    rest = first.replace("\t", "x\t", 1)
    parsed = read(tmp_path, f"{first}\n{rest}\n{rest}\n", tables.read_tsv)
    assert len(parsed.statements) == 3


def test_a_table_of_houses_and_their_values_is_none_of_statements(tmp_path: Path) -> None:
    text = "city,property,value\nUlm,Villa,500000\nBonn,Cottage,300000\n"
    with raises(InputError):
        read(tmp_path, text, tables.read_csv)


def test_labels_of_edges_that_are_empty_are_no_relations(tmp_path: Path) -> None:
    text = "Source;Target;Type;Id;Label;Weight\n1;2;Directed;0;;1.0\n2;3;Directed;1;;2.0\n"
    with pytest.raises(InputError, match="list of edges"):
        read(tmp_path, text, tables.read_csv)


def test_columns_beside_a_statement_are_counted(tmp_path: Path) -> None:
    parsed = read(tmp_path, "head,relation,tail,note\na,p,b,x\na,p,c,\n", tables.read_csv)
    assert len(parsed.statements) == 2
    check_counts(parsed.skipped, 1)


def test_sparql_results_are_read_as_terms(tmp_path: Path) -> None:
    entity, direct = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
    text = (
        f"?s\t?p\t?o\n<{entity}Q1>\t<{direct}P31>\t<{entity}Q2>\n"
        f'<{entity}Q1>\t<http://www.w3.org/2000/01/rdf-schema#label>\t"Uni\\tverse"@en\n'
        f"<{entity}Q1>\t<{direct}P2>\t5\n<{entity}Q1>\t\t5\n<{entity}Q1>\t<{direct}P2>\tfive\n"
    )
    parsed = read(tmp_path, text, tables.read_tsv)
    assert triples(parsed) == [("Q1", "P31", EntityValue("Q2")), ("Q1", "P2", Quantity("5"))]
    assert [entity.labels for entity in parsed.entities] == [{"en": "Uni\tverse"}]
    assert [reject.line for reject in parsed.rejects] == [5, 6]
    turned = text.replace("?s\t?p\t?o", "?o\t?p\t?s").replace("\t5\n", "\t<http://e.org/5>\n")
    assert triples(read(tmp_path, turned, tables.read_tsv))[0][0] == "Q2"


@pytest.mark.parametrize("before", ["", "\n\n", "  \r\n", ",,\n\n", '"",\n'])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_blank_lines_before_a_header_are_passed_over(
    tmp_path: Path, before: str, mark: str
) -> None:
    text = f"{before}head,relation,tail\r\na,p,b\r\n,,\r\nc,p,d\r\n".replace(",", mark)
    parsed = read(tmp_path, text, tables.read_csv)
    assert triples(parsed) == [("a", "p", EntityValue("b")), ("c", "p", EntityValue("d"))]
    assert not parsed.rejects


def test_blank_lines_before_a_header_of_kgtk_are_passed_over(tmp_path: Path) -> None:
    parsed = read(tmp_path, "\nnode1\tlabel\tnode2\nQ1\tP1\tQ2\n", kgtk.read_kgtk)
    assert triples(parsed) == [("Q1", "P1", EntityValue("Q2"))]


@pytest.mark.parametrize(
    "text",
    [
        "Q1\tM\u00fcnchen\nQ2\tEarth\n",
        "?item\t?itemLabel\n<http://www.wikidata.org/entity/Q1>\t\"M\u00fcnchen\"@en\n"
        "<http://www.wikidata.org/entity/Q2>\t\"Earth\"@en\n",
        "item,itemLabel\nhttp://www.wikidata.org/entity/Q1,M\u00fcnchen\nQ2,Earth\n",
        "qid;label\nQ1;M\u00fcnchen\nQ2;Earth\n",
        '\ncode,name\n"Q1","M\u00fcnchen"\n"Q2","Earth"\n',
    ],
)  # fmt: skip
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_files_of_names_are_read_however_they_are_written(
    tmp_path: Path, text: str, encoding: str
) -> None:
    path = tmp_path / "names"
    path.write_bytes(text.encode(encoding))
    with open_source(path) as source:
        pieces = list(names.read_labels(source, LoadOptions(encoding=encoding), {}))
    labels = {e.id: e.labels["en"] for piece in pieces for e in piece.entities}
    assert labels == {"Q1": "M\u00fcnchen", "Q2": "Earth"}


def test_the_first_name_of_a_file_without_a_header_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "names"
    path.write_text("P2561\tname\nP31\tinstance of\n")
    with open_source(path) as source:
        pieces = list(names.read_labels(source, LoadOptions(), {}))
    assert {e.id for piece in pieces for e in piece.entities} == {"P2561", "P31"}
