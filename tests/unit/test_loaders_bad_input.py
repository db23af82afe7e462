"""Bad input by the command line: what is said, which exit code, and everything good is in (S1)."""

from __future__ import annotations

import bz2
import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph_service.cli import main
from graph_service.errors import InputError
from graph_service.model.values import EntityValue
from graph_service.store import open_store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.source import HEAD_BYTES, SourceLimits

NT = "<http://a/s{}> <http://a/p> <http://a/o> .\n"
XSD = "http://www.w3.org/2001/XMLSchema#"


def entity(number: int, **more: Any) -> str:
    claim = {
        "mainsnak": {
            "snaktype": "value",
            "property": "P1",
            "datavalue": {"type": "string", "value": f"value {number}"},
        },
        "id": f"Q{number}$00000000-0000-0000-0000-000000000000",
        "rank": "normal",
    }
    made = {"id": f"Q{number}", "type": "item", "labels": {}, "claims": {"P1": [claim]}, **more}
    return json.dumps(made) + "\n"


def nested(depth: int) -> str:
    return '{"id": "Q9", "claims": {}, "x": ' + "[" * depth + "]" * depth + "}\n"


def truncated(data: bytes) -> bytes:
    packed = gzip.compress(data)
    return packed[: len(packed) * 2 // 3]


MANY = "".join(entity(n * 7919) for n in range(1, 4000)).encode()
SHOPS = b"name,city,founded\nMoor Bakery,Leeds,1999\nPine Books,York,2004\nAtlas Gym,Leeds,2011\n"
BAD: dict[str, tuple[str, bytes, int, list[str]]] = {
    "truncated gzip": ("a.json.gz", truncated(MANY), 2000, ["ends early"]),
    "truncated bzip2": (
        "a.nt.bz2",
        bz2.compress("".join(NT.format(n * 7919) for n in range(60_000)).encode())[:-300],
        1,
        ["ends early"],
    ),
    "invalid UTF-8 in triples": (
        "a.nt",
        NT.format(1).encode() + b'<http://a/s> <http://a/p> "\xff\xfe" .\n' + NT.format(2).encode(),
        2,
        ["not RDF"],
    ),
    "invalid UTF-8 in JSON": (
        "a.jsonl",
        entity(1).encode()
        + b'{"id": "Q2", "labels": {"en": {"value": "\xff"}}}\n'
        + entity(3).encode(),
        2,
        ["not JSON"],
    ),
    "invalid UTF-8 in a table": ("a.tsv", b"a\tp\tb\nc\tp\t\xff\nd\tp\te\n", 2, ["not UTF-8"]),
    "a language tag that RDF forbids": (
        "a.nt",
        (NT.format(1) + '<http://a/s> <http://a/p> "x"@en_US .\n' + NT.format(2)).encode(),
        2,
        ["not RDF"],
    ),
    "a Turtle error in the middle": (
        "a.ttl",
        (
            b"@prefix a: <http://a/> .\na:one a:p a:o .\na:two a:p ;; a:q [ .\n"
            b"a:three a:p a:o .\na:four a:p a:o .\n"
        ),
        2,
        ["not RDF"],
    ),
    "IRIs with spaces and quotes": (
        "a.nt",
        (
            NT.format(1)
            + "<http://a/with space> <http://a/p> <http://a/o> .\n"
            + '<http://a/with"quote> <http://a/p> <http://a/o> .\n'
            + "<http://a/O'Neill> <http://a/p> <http://a/%22o%22> .\n"
        ).encode(),
        2,
        ["IRI", "IRI"],
    ),
    "JSON nested deeply": ("a.jsonl", (entity(1) + nested(2000) + entity(2)).encode(), 2, ["JSON"]),
    "JSON nested deeply with a lone surrogate": (
        "a.jsonl",
        (entity(1) + nested(200_000).replace('"x"', '"\\ud800"') + entity(2)).encode(),
        2,
        ["JSON"],
    ),
    "a line that never ends": ("a.csv", b'a,p,b\n"c,p,d\ne,p,f\n', 1, ["never ends"]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_reported_and_the_good_is_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    name, data, good, reasons = BAD[case]
    path = tmp_path / name
    path.write_bytes(data)
    rejects = tmp_path / "rejects.jsonl"
    arguments = ["load", str(path), "--graph", "g", "--store", f"sqlite:///{tmp_path / 'g.db'}"]
    assert main([*arguments, "--json", "--quiet", "--rejects-path", str(rejects)]) == 3
    report = json.loads(capsys.readouterr().out)
    assert report["exit_code"] == 3
    assert report["graph"]["counts"]["statements"] >= good
    written = [json.loads(line) for line in rejects.read_text().splitlines()]
    assert len(written) == len(reasons)
    for found, reason in zip(written, reasons, strict=True):
        assert reason in found["reason"]
        assert found["file"] == str(path)
        assert (found["line"], found["offset"]) >= (1, 0)
        assert "Traceback" not in json.dumps(found)
    assert main([*arguments, "--strict", "--quiet", "--rejects-path", str(rejects)]) == 2
    assert reasons[0] in capsys.readouterr().err
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        assert store.graph("g").edition == "g@1"
        assert store.unfinished_loads() == []


def lines_with_a_long_one(size: int) -> bytes:
    return NT.format(1).encode() + b"<http://a/" + b"x" * size + b"> .\n" + NT.format(2).encode()


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("a.nt", lines_with_a_long_one),
        (
            "a.jsonl",
            lambda size: (entity(1) + '{"x": "' + "y" * size + '"}\n' + entity(2)).encode(),
        ),
        ("a.tsv", lambda size: b"a\tp\tb\n" + b"x" * size + b"\tp\tb\nc\tp\td\n"),
    ],
)
def test_lines_of_a_hundred_megabytes(
    tmp_path: Path, name: str, make: Callable[[int], bytes]
) -> None:
    path = tmp_path / f"{name}.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(make(101_000_000))
    options = LoadOptions(rejects_path=tmp_path / "rejects", format=None, workers=0)
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        report = load(path, store=store, graph="g", options=options)
    assert report.read_statements == 2
    [reject] = report.rejects
    assert "100000000" in reject.reason
    assert reject.line == 2


@pytest.mark.parametrize("workers", [0, 1])
def test_a_bomb_is_stopped_by_its_ratio_and_what_came_before_is_in(
    tmp_path: Path, workers: int
) -> None:
    path = tmp_path / "bomb.nt.gz"
    with gzip.open(path, "wb") as file:
        file.write(NT.format(1).encode())
        for _ in range(40):
            file.write(b"\n" * 100_000)
    limits = SourceLimits(max_ratio=50, ratio_floor_bytes=500_000)
    options = LoadOptions(rejects_path=tmp_path / "rejects", limits=limits, workers=workers)
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        report = load(path, store=store, graph="g", options=options)
        stored = [one for chunk in store.scan_statements("g@1") for one in chunk]
    assert [one.value for one in stored] == [EntityValue("http://a/o")]
    assert report.exit_code == 3
    assert "decompression bomb" in report.rejects[0].reason


def test_a_dump_given_as_one_document_is_told_the_format_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    entities = ",\n".join(f'{{"id": "Q{number}", "labels": {{}}}}' for number in range(1, 100))
    path.write_text(f"[\n{entities}\n]\n", encoding="utf-8")
    limits = SourceLimits(max_line_bytes=2_000)
    options = LoadOptions(rejects_path=tmp_path / "rejects", limits=limits, format="wikibase-json")
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        with pytest.raises(InputError, match="--format wikibase-json-lines"):
            load(path, store=store, graph="g", options=options)
        report = load(path, store=store, graph="g", options=replace(options, format=None))
    assert report.graph is not None
    assert report.graph.counts.entities == 99


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.json", b"", "is empty"),
        ("a.bin", b"\x00\x01\x02", "not recognised"),
        ("a.json", b'{"error": {"info": "no such entity"}}', "no such entity"),
        ("a.nt", b"<http://a/s> <http://a/p> oops .\n", "can be loaded"),
        ("a.json.gz", gzip.compress(b"x", mtime=0)[:12], "gzip|not recognised|is empty"),
        ("a.csv", b"x" * HEAD_BYTES + b"\ny,1,2\n", "within 262,144 bytes"),
        ("a.csv", b'"x,' + b"y\n" * HEAD_BYTES, "within 262,144 bytes"),
        ("a.xlsx", b"", "an Excel workbook"),
        ("a.xlsx", b"PK\x03\x04" + b"x" * 100, "an Excel workbook"),
        ("a\udcff.csv", b"name,age\nAnn,3\nBob,4\n", "is not UTF-8"),
    ],
)
def test_sources_with_nothing_good_are_refused_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, data: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    arguments = ["load", str(path), "--graph", "g", "--store", f"sqlite:///{tmp_path / 'g.db'}"]
    assert main([*arguments, "--quiet", "--rejects-path", str(tmp_path / "r")]) == 2
    err = capsys.readouterr().err
    assert any(part in err for part in message.split("|")), err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.csv.gz", gzip.compress(SHOPS, mtime=0)[:-60], "ends early"),
        ("a.csv", b"name,city,founded\nAnn,Rome\nBob,Oslo,2,3\n", "expected 3 columns, got 2"),
        ("a.csv", b"name,city,founded\n", "holds no rows"),
    ],
)
def test_a_table_without_a_whole_row_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, data: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    store = f"sqlite:///{tmp_path / 'g.db'}"
    assert main(["load", str(path), "--graph", "g", "--store", store, "--row", "auto"]) == 2
    assert message in capsys.readouterr().err


def test_an_address_of_the_web_is_told_to_be_downloaded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = f"sqlite:///{tmp_path / 'g.db'}"
    assert main(["load", "https://example.org/a.csv", "--graph", "g", "--store", store]) == 2
    assert "Download it" in capsys.readouterr().err


@pytest.mark.data
def test_the_corrupted_turtle_of_kgtk(
    tmp_path: Path, data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is good Turtle with triples that Wikibase's model does not have: they are counted."""
    arguments = ["load", str(data_dir / "kgtk" / "corrupted.ttl"), "--graph", "g", "--json"]
    store = f"sqlite:///{tmp_path / 'g.db'}"
    assert (
        main([*arguments, "--store", store, "--quiet", "--rejects-path", str(tmp_path / "r")]) == 0
    )
    report = json.loads(capsys.readouterr().out)
    assert report["skipped"]["triples of statement nodes outside Wikibase's model"] == 2
    assert report["graph"]["counts"]["statements"] == 2
