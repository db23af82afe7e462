"""Loads of the real data folder, with counts taken from its own descriptions (S1, S8)."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_service.model.statement import Rank, Statement
from graph_service.model.values import (
    NoValue,
    Quantity,
    SomeValue,
    Time,
)
from graph_service.store.protocol import Store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.report import LoadReport
from loaders.wikibase.normal_form import normal_form

pytestmark = pytest.mark.data


@pytest.fixture
def options(tmp_path: Path) -> LoadOptions:
    return LoadOptions(rejects_path=tmp_path / "rejects.jsonl")


def statements(store: Store, report: LoadReport) -> dict[str, Statement]:
    assert report.graph is not None
    return {one.id: one for chunk in store.scan_statements(report.graph.edition) for one in chunk}


def test_wikibase_documents(tmp_store: Store, data_dir: Path, options: LoadOptions) -> None:
    folder = data_dir / "wikidata_docs" / "wikibase_sdk_json"
    report = load(folder, store=tmp_store, graph="sdk", options=options)
    found = statements(tmp_store, report)
    # SPARQL answers, a search answer and claims without their entity hold nothing to load, and
    # Q970917 has one id for two statements.
    assert report.rejected == 11
    assert report.skipped == {"lexemes": 3, "media info": 2}
    values = [one.value for one in found.values()]
    assert sum(isinstance(value, Quantity) for value in values) >= 200
    assert sum(isinstance(value, NoValue) for value in values) >= 1
    assert sum(isinstance(value, SomeValue) for value in values) >= 1
    assert {value.precision for value in values if isinstance(value, Time)} >= {3, 9, 10, 11}
    ranks = {rank: sum(one.rank is rank for one in found.values()) for rank in Rank}
    # Two documents are revisions of Q4115189: of the older one's statements, two of them
    # deprecated and one preferred, six are gone.
    assert report.read_statements == 902
    assert report.counts is not None
    assert report.counts.removed == 6
    assert (ranks[Rank.DEPRECATED], ranks[Rank.PREFERRED]) == (4, 7)


def test_json_and_rdf_of_the_same_statements_agree_l2(
    tmp_store: Store, data_dir: Path, options: LoadOptions
) -> None:
    folder = data_dir / "wikidata_docs"
    json_report = load(
        folder / "wbgetentities-Q6-Q42-P31.json", store=tmp_store, graph="json", options=options
    )
    rdf_report = load(folder / "Q42.ttl", store=tmp_store, graph="rdf", options=options)
    assert json_report.skipped == {"missing entities": 1}
    assert (json_report.read_statements, rdf_report.read_statements) == (70, 307)
    from_json, from_rdf = statements(tmp_store, json_report), statements(tmp_store, rdf_report)
    both = from_json.keys() & from_rdf.keys()
    assert len(both) == 51
    pairs = [(normal_form(from_json[id_]), normal_form(from_rdf[id_])) for id_ in sorted(both)]

    def edited(name: str) -> list[str]:
        return sorted(
            one.relation for one, two in pairs if getattr(one, name) != getattr(two, name)
        )

    # Edited between the two revisions, years apart. Values: a letter before an identifier, an
    # occupation and a college made more exact, and six addresses of the Open Directory, whose
    # notation was changed. Qualifiers were added, and references to most statements; those of
    # 21 statements are the same ones still.
    assert edited("value") == ["P1015", "P106", "P69", *["P998"] * 6]
    assert edited("qualifiers") == ["P1006", "P106", "P119", "P244", "P26", "P69", "P735"]
    assert len(edited("references")) == 30
    assert edited("head") == edited("relation") == edited("rank") == []


def test_turtle_of_kgtk_and_broken_lines(
    tmp_store: Store, data_dir: Path, options: LoadOptions
) -> None:
    small = load(data_dir / "kgtk/small_values.ttl", store=tmp_store, graph="a", options=options)
    amounts = {one.value for one in statements(tmp_store, small).values()}
    assert Quantity("0.00000019860001065575846") in amounts
    exponent = load(
        data_dir / "kgtk/small_values_with_exponent.ttl",
        store=tmp_store,
        graph="b",
        options=options,
    )
    assert small.graph is not None
    assert exponent.graph is not None
    assert small.graph.fingerprints == exponent.graph.fingerprints
    named_nt = load(
        data_dir / "kgtk/import-ntriples-file3.ttl.nt",
        store=tmp_store,
        graph="c",
        options=options,
    )
    assert named_nt.formats == {"turtle": 1}
    assert [reject.line for reject in named_nt.rejects] == [79, 85]
    assert named_nt.read_statements == 98
    corrupted = load(data_dir / "kgtk/corrupted.ttl", store=tmp_store, graph="d", options=options)
    assert {one.head for one in statements(tmp_store, corrupted).values()} == {"Q2", "Q3"}


@pytest.mark.parametrize(
    ("path", "columns", "read", "rejected"),
    [
        ("codex/s-train.tsv", (), 32_888, 0),
        ("pathquestion/2H-kb.txt", (), 1_211, 0),
        ("pathquestion/PQL2-KB.txt", (), 4_247, 0),
        ("kgtk/community-detection-arnold.tsv", (), 494, 0),
        ("dbpedia50/train.txt", ("head", "tail", "relation"), 32_388, 0),
        ("conceptnet_li2016/dev1.txt", ("relation", "tail", "head", "-"), 1_200, 0),
        ("wd50k/statements-valid.csv", ("head", "relation", "tail", "qualifiers"), 23_913, 0),
        ("dbpedia_extraction/extract_Bruges-gold.tql", (), 74, 0),
        ("kgtk/dates0.jsonl", (), 20, 0),
        ("kgtk/P100.jsonl", (), 15, 0),
    ],
)
def test_counts(
    tmp_store: Store,
    data_dir: Path,
    options: LoadOptions,
    path: str,
    columns: tuple[str, ...],
    read: int,
    rejected: int,
) -> None:
    options = LoadOptions(columns=columns, rejects_path=options.rejects_path)
    report = load(data_dir / path, store=tmp_store, graph="g", options=options)
    assert (report.read_statements, report.rejected) == (read, rejected)
    assert report.counts is not None
    assert report.counts.written + report.counts.duplicates + report.counts.updated == read
    if "wd50k" in path:
        assert sum(bool(one.qualifiers) for one in statements(tmp_store, report).values()) == 3_235
