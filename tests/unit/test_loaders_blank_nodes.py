"""Blank nodes, of statements and as names of graphs, belong to one document and to no other."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest

from graph_service.model.values import EntityValue
from graph_service.store.protocol import Store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.source import HEAD_BYTES

ADDRESS = "<http://a/{0}> <http://a/address> _:x .\n_:x <http://a/city> <http://a/{1}> .\n"
LICENCE = "# You may use this data as you like, and nobody warrants anything.\n"


def addresses(store: Store, graph: str) -> list[tuple[str, str]]:
    statements = [
        item for chunk in store.scan_statements(store.graph(graph).edition) for item in chunk
    ]
    cities = {item.head: item for item in statements if item.relation == "http://a/city"}
    assert len(cities) == sum(item.relation == "http://a/city" for item in statements)
    return sorted(
        (item.head, cities[item.value.id].value.id)  # type: ignore[union-attr]
        for item in statements
        if isinstance(item.value, EntityValue) and item.relation == "http://a/address"
    )


def contexts(store: Store, graph: str) -> list[str | None]:
    return sorted(
        (
            item.context
            for chunk in store.scan_statements(store.graph(graph).edition)
            for item in chunk
        ),
        key=str,
    )


@pytest.mark.parametrize("size", [1 << 16, 1 << 17, HEAD_BYTES, 2 * HEAD_BYTES])
@pytest.mark.parametrize("name", ["{}.nt", "{}.ttl", "{}.nt.gz"])
def test_documents_that_begin_alike_share_no_blank_node(
    tmp_store: Store, tmp_path: Path, name: str, size: int
) -> None:
    beginning = LICENCE * (size // len(LICENCE) + 1)
    for who, city in (("Ada", "Paris"), ("Bob", "Osloo")):
        data = (beginning + ADDRESS.format(who, city)).encode()
        (tmp_path / name.format(who)).write_bytes(gzip.compress(data) if "gz" in name else data)
    report = load(tmp_path, store=tmp_store, graph="g")
    assert report.read_statements == 4
    expected = [("http://a/Ada", "http://a/Paris"), ("http://a/Bob", "http://a/Osloo")]
    assert addresses(tmp_store, "g") == expected


def test_the_same_document_has_the_same_blank_nodes_wherever_it_lies(
    tmp_store: Store, tmp_path: Path
) -> None:
    for size in (1, 3 * HEAD_BYTES):
        data = (LICENCE * (size // len(LICENCE)) + ADDRESS.format("Ada", "Paris")).encode()
        (tmp_path / "a.nt").write_bytes(data)
        (tmp_path / "other").mkdir(exist_ok=True)
        (tmp_path / "other" / "b.nt").write_bytes(data)
        (tmp_path / "c.nt.gz").write_bytes(gzip.compress(data))
        first = load(tmp_path / "a.nt", store=tmp_store, graph="a", replace=True)
        for path in (tmp_path / "other" / "b.nt", tmp_path / "c.nt.gz"):
            second = load(path, store=tmp_store, graph="b", replace=True)
            assert first.graph is not None
            assert second.graph is not None
            # A packed copy that is larger than what is looked at first is another document.
            same = size == 1 or path.suffix != ".gz"
            assert (first.graph.fingerprints == second.graph.fingerprints) is same


def test_standard_input_has_the_blank_nodes_of_its_file(
    tmp_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = ADDRESS.format("Ada", "Paris").encode()
    (tmp_path / "a.nt").write_bytes(data)
    first = load(tmp_path / "a.nt", store=tmp_store, graph="a")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    second = load("-", store=tmp_store, graph="b")
    assert first.graph is not None
    assert second.graph is not None
    assert first.graph.fingerprints == second.graph.fingerprints


@pytest.mark.parametrize(
    ("name", "text", "graphs", "statements"),
    [
        ("a.trig", "[] { <http://a/s> <http://a/p> <http://a/o> }", 1, 1),
        ("a.trig", "GRAPH [ ] { <http://a/s> <http://a/p> <http://a/o> . }", 1, 1),
        ("a.trig", "graph # x\n[\n] { <http://a/s> <http://a/p> 1 } _:n { <http://a/s> <http://a/p> 1 }", 2, 2),
        ("a.trig", "[] { <http://a/s> <http://a/p> 1 } [] { <http://a/s> <http://a/p> 1 }", 2, 2),
        (
            "a.trig",
            "[] {" + "".join(f"<http://a/s{n}> <http://a/p> 'some text' .\n" for n in range(5000)) + "}",
            1,
            5000,
        ),
        ("a.trig", "_:n { _:n <http://a/p> 1 . _:m <http://a/p> 1 }", 1, 2),
        ("a.nq", "<http://a/s> <http://a/p> <http://a/o> _:g .\n" * 2, 1, 1),
        (
            "a.nq",
            "<http://a/s> <http://a/p> _:g _:g .\n<http://a/s> <http://a/p> _:g <http://a/g> .\n",
            2,
            2,
        ),
    ],
)  # fmt: skip
def test_blank_names_of_graphs_are_the_document_s_own(
    tmp_store: Store, tmp_path: Path, name: str, text: str, graphs: int, statements: int
) -> None:
    path = tmp_path / name
    path.write_text(text)
    first = load(path, store=tmp_store, graph="g")
    assert first.graph is not None
    names = contexts(tmp_store, "g")
    assert len(names) == statements
    assert len(set(names)) == graphs
    assert all(str(context).startswith(("_:", "http://a/")) for context in names)
    again = load(path, store=tmp_store, graph="g")
    assert again.graph is not None
    assert again.graph.fingerprints == first.graph.fingerprints
    other = load(path, store=tmp_store, graph="h")
    assert other.graph is not None
    assert other.graph.fingerprints == first.graph.fingerprints


def test_blank_names_of_graphs_of_two_documents_are_two(tmp_store: Store, tmp_path: Path) -> None:
    line = "<http://a/s> <http://a/p> <http://a/o> _:g .\n"
    (tmp_path / "a.nq").write_text(line)
    (tmp_path / "b.nq").write_text("# another file\n" + line)
    load(tmp_path, store=tmp_store, graph="g", options=LoadOptions())
    assert len(set(contexts(tmp_store, "g"))) == 2


NESTED = """
@prefix : <http://a/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:shop :address [ :street "Kay 1" ; :town "Voss" ] ; :weight [ :value 2.50 ; :unit "kg" ] ;
  :owner [ rdfs:label "Ann" ; :born "1950" ] ; :note [ :text "%s" ] ; :rank [ :value 3 ] .
"""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (LoadOptions(), ["2.50, kg", "Ann", "Kay 1, Voss"]),
        (LoadOptions(languages=("de",)), []),
    ],
)
def test_blank_nodes_are_called_by_what_they_hold(
    tmp_store: Store, tmp_path: Path, options: LoadOptions, expected: list[str]
) -> None:
    path = tmp_path / "a.ttl"
    path.write_text(NESTED % ("x" * 100))
    load(path, store=tmp_store, graph="g", options=options)
    edition = tmp_store.graph("g").edition
    entities = [each for chunk in tmp_store.scan_entities(edition) for each in chunk]
    assert sorted(text for each in entities for text in each.labels.values()) == expected
