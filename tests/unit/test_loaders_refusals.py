"""Formats that are known and not read: each is refused by its name, with the way out."""

from __future__ import annotations

import bz2
import io
import zipfile
from pathlib import Path

import pytest
from error_texts import raises

from graph_service.errors import InputError
from graph_service.store import open_store
from loaders.formats import Format, recognise
from loaders.load import load
from loaders.options import LoadOptions

XML = '<?xml version="1.0"?>\n'
FIXED = "id   name         price\n1    Hub bearing    3.5\n2    Brake disc    14.5\n"
RDF_JSON = '{"http://x/a": {"http://x/p": [{"type": "uri", "value": "http://x/b"}]}}'


def zipped(*names: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return data.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "way_out"),
    [
        ("a.trix", XML + '<TriX xmlns="http://t/"><graph/></TriX>', "riot"),
        ("a.srx", XML + '<sparql xmlns="http://s/"/>', "TSV"),
        ("a.graphml", XML + '<graphml xmlns="http://g/"/>', "CSV"),
        ("a.gexf", XML + '<gexf xmlns="http://g/"/>', "CSV"),
        ("a.rj", RDF_JSON, "riot"),
        ("a.json", RDF_JSON, "riot"),
        ("a.json", '{"head": {"vars": []}, "results": {"bindings": []}}', "TSV"),
        ("a.json", '{"type": "Topology", "objects": {}}', "GeoJSON"),
        ("a.json", '{"a": [{"x": 1}], "b": [{"x": 1}]}', "folder"),
        ("a.json", '{"a": {"x": 1}, "b": {"x": 2}}', "jq"),
        ("a.json", '{"id": [1, 2], "name": ["A", "B"]}', "records"),
        ("a.json", '[["id", "name"], [1, "A"]]', "@csv"),
        ("a.json", "[1, 2]", "CSV"),
        ("a.n3", "@prefix : <http://x/> .\n{ :a :p :b } => { :b :q :a } .\n", "EYE"),
        ("a.ttl", "@prefix : <http://x/> .\n:a :p :b .\n{ :a :p ?x } => {} .\n", "EYE"),
        ("a.md", "| id | name |\n|----|:----:|\n| 1 | A |\n", "CSV"),
        ("a.csv", "id | name\n--- | ---\n1 | A\n", "CSV"),
        ("a.txt", "id | name\n----+-----\n 1 | A\n(1 row)\n", "psql"),
        ("a.txt", "+--+--+\n|id|b |\n+--+--+\n|1 |A |\n+--+--+\n", "mysql"),
        ("a.txt", FIXED, "read_fwf"),
        ("a.csv", FIXED, "read_fwf"),
        ("a.csv", "id,M\u00fc\n1,2\n".encode("utf-32"), "iconv"),
        ("a.csv", zipped("[Content_Types].xml", "xl/workbook.xml"), ".xlsx"),
        ("a.xlsb", zipped("[Content_Types].xml", "xl/workbook.bin"), "Save it"),
        ("a.zip", zipped("t.csv"), "Unpack"),
        ("a.feather", b"ARROW1\0\0xx", "CSV"),
        ("a.nt", "version https://git-lfs.github.com/spec/v1\noid x\n", "git lfs pull"),
        ("a.nt.bz2", bz2.compress(b"<a> <b> <c> .\n")[:-20] + b"x" * 20, ""),
        ("a.nt.gz", b"\x1f\x8b", ""),
    ],
)
def test_formats_that_are_not_read_are_refused_by_name(
    tmp_path: Path, name: str, content: str | bytes, way_out: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with (
        open_store(f"sqlite:///{tmp_path / 'g.db'}") as store,
        raises(InputError) as caught,
    ):
        load(path, store=store, graph="g")
    assert way_out in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.cypher", 'CREATE (a:P {name: "A"}), (b:P), (a)-[:K]->(b);\n'),
        ("a.sql", "INSERT INTO a VALUES (1, 2, 3);\n"),
        ("a.py", "print(a, b, c)\n"),
    ],
)
def test_programs_with_commas_are_no_tables(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match="not recognised"):
        recognise(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.trig", "<http://a> <http://p> <http://b> .\n<http://g> { <http://a> <http://p> 1 }\n", Format.TRIG),
        ("a.n3", "@prefix : <http://x/> .\n:a :p '{} => {}', <http://x/?a> . # } =>\n", Format.TURTLE),
        ("a.ttl", "@prefix : <http://x/> .\n:a :p \"\"\"{ :a :b\n } => {}\"\"\" .\n", Format.TURTLE),
        ("a", "head;relation;tail\na;p;b\nc;p;d\n", Format.CSV),
        ("a", "head|relation|tail\na|p|b\nc|p|d\n", Format.CSV),
        ("a.csv", "name\nAnn  Lee\nBob  Ray\n", Format.CSV),
        ("a.csv", "id,text\n1,a  b\n2,c  d\n", Format.CSV),
    ],
)  # fmt: skip
def test_what_looks_like_one_of_them_is_read(
    tmp_path: Path, name: str, text: str, expected: Format
) -> None:
    (tmp_path / name).write_text(text)
    assert recognise(tmp_path / name) is expected


def test_in_a_folder_they_are_rejects(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "a.csv").write_text("id,name,price\n1,A,3\n2,B,4\n")
    (folder / "b.xlsx").write_bytes(b"PK\x03\x04 not all of it")
    (folder / "c.csv").write_text("| id | name |\n|----|------|\n| 1 | A |\n")
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        options = LoadOptions(rejects_path=tmp_path / "rejects")
        report = load(folder, store=store, graph="g", options=options)
    assert report.rejected == 2
    assert report.records.read == 3


def test_files_that_systems_leave_in_folders_are_passed_over_and_named(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "a.csv").write_text("id,name,price\n1,A,3\n2,B,4\n")
    for name in ("._a.csv", ".DS_Store", "~$a.xlsx", "desktop.ini"):
        (folder / name).write_bytes(b"[.\x00\x05\x16\x07")
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        report = load(folder, store=store, graph="g")
    assert report.rejected == 0
    assert report.records.read == 3
    assert len(report.unrecognised) == 4
