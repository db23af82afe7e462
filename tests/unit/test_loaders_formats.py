"""Formats are told by content, with the name as a hint."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from graph_service.errors import InputError
from loaders.formats import Format, recognise

ENTITY = '{"id":"Q1","type":"item","labels":{},"claims":{}}'


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a", ENTITY, Format.WIKIBASE_JSON_LINES),
        ("a", f"{ENTITY}\n{ENTITY}\n", Format.WIKIBASE_JSON_LINES),
        ("a", f"[\n{ENTITY},\n{ENTITY}\n]\n", Format.WIKIBASE_JSON_LINES),
        ("a", '{\n "id": "Q1",\n "claims": {}\n}\n', Format.WIKIBASE_JSON),
        ("a", '[\n {\n  "id": "Q1",\n  "claims": {}\n }\n]\n', Format.WIKIBASE_JSON),
        ("a.jsonl", f'{{"id": broken\n{ENTITY}\n', Format.WIKIBASE_JSON_LINES),
        ("a", "<http://a/s> <http://a/p> <http://a/o> .\n", Format.NTRIPLES),
        ("a", '# c\n<http://a/s> <http://a/p> "x\\"."@en .\n', Format.NTRIPLES),
        ("a.nt", "<http://a/s> <http://a/p> bad .\n" * 3, Format.NTRIPLES),
        ("a.nt", "<http://a/s> <http://a/p> 5 .\n<http://a/s> <http://a/p> _:b .\n", Format.TURTLE),
        ("a", "<http://a/s> <http://a/p> <http://a/o> <http://a/g> .\n", Format.NQUADS),
        ("a", "@prefix a: <http://a/> .\na:s a a:o .\n", Format.TURTLE),
        ("a.ttl", "<http://a/s> <http://a/p> <http://a/o> , <http://a/q> .\n", Format.TURTLE),
        ("a.trig", "{\n<http://a/s> <http://a/p> <http://a/o> .\n}\n", Format.TRIG),
        (
            "a",
            "{\n<http://a/s> <http://a/p> 'x' .\n<http://a/s> <http://a/p> 1 .\n}\n",
            Format.TRIG,
        ),
        ("a", '<?xml version="1.0"?><rdf:RDF/>', Format.RDF_XML),
        ("a", "node1\tlabel\tnode2\nQ1\tP1\tQ2\n", Format.KGTK),
        ("a", "id\tnode1\tlabel\tnode2\n", Format.KGTK),
        ("a", "relation\tfrom\tto\nP1\tQ1\tQ2\n", Format.KGTK),
        ("a", "node1\tlabel\tnode2\trelation\n", Format.KGTK),
        ("a.tsv", "label\trelation\tsubject_uri\tfrom\tto\nok\tP1\tQ1\t1\t2\n", Format.TSV),
        ("a", "Q1\tP1\tQ2\n", Format.TSV),
        ("a.csv", "Q1,P1,Q2\n", Format.CSV),
        ("a.tsv", "Q1\tuniverse\nQ2\tEarth\n", Format.LABELS),
        ("a.tsv", "Q1\tuniverse\tx\nQ2\tEarth\tx\nP3\tlife\tx\nQ4\tdeath\tx\n", Format.LABELS),
        ("a.tsv", "Q1\tis\tx\nQ2\tis\tx\nQ3\tis\tx\nQ4\tis\tx\n", Format.TSV),
        ("a.tsv", "Q1\tP1\tx\nQ2\tP2\tx\nQ3\tP3\tx\nQ4\tP4\tx\n", Format.TSV),
    ],
)
def test_recognised_by_content(tmp_path: Path, name: str, text: str, expected: Format) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert recognise(path) is expected
    packed = tmp_path / (name + ".gz")
    packed.write_bytes(gzip.compress(text.encode()))
    assert recognise(packed) is expected


@pytest.mark.parametrize("data", [b"", b"\x00\x01\x02\x03", b"just some words\nand more"])
def test_unknown_formats_name_those_there_are(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "unknown"
    path.write_bytes(data)
    with pytest.raises(InputError, match="wikibase-json|empty"):
        recognise(path)
