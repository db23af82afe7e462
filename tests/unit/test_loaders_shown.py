"""What one graph over several sources, and tables as people have them, are shown by (S1).

Questions whose path crosses sources, the links of DBP15K, and Northwind's files as they are.
"""

from __future__ import annotations

import csv
import lzma
from dataclasses import replace
from pathlib import Path

import pytest
from graphs import load_graph
from word_vectors import CountingWords

from graph_service import open_service
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import PathsResult, Strategy
from graph_service.model.statement import Entity, Statement, make_statement
from graph_service.model.values import EntityValue
from graph_service.retrieve.learned.network import shipped_scorer
from graph_service.retrieve.learned.rankers import NetworkRanker
from graph_service.settings import Settings
from graph_service.store.protocol import Store
from loaders.load import load
from loaders.options import LoadOptions

DBPEDIA = "http://dbpedia.org/resource/"
QUESTIONS = 100
QUESTION = "Who is the mayor of the birth place of Person{}?"


def crossing_graph(*, is_merged: bool) -> tuple[list[Statement], list[Entity]]:
    """People and where they were born by one source, the mayors of those towns by another."""
    statements: list[Statement] = []
    entities = [
        Entity("birthPlace", labels={"en": "birth place"}),
        Entity("P6", labels={"en": "mayor"}),
        Entity("P36", labels={"en": "capital"}),
    ]
    for number in range(QUESTIONS):
        town, other = f"Q{1000 + number}", f"{DBPEDIA}Town{number}"
        if is_merged:
            other = town
        else:
            entities.append(Entity(other, labels={"en": f"Town{number}"}, same_as=(town,)))
        entities += [
            Entity(town, labels={"en": f"Town{number}"}),
            Entity(f"{DBPEDIA}Person{number}", labels={"en": f"Person{number}"}),
            Entity(f"Q{2000 + number}", labels={"en": f"Mayor{number}"}),
            Entity(f"Q{3000 + number}", labels={"en": f"Land{number}"}),
        ]
        statements += [
            make_statement(f"{DBPEDIA}Person{number}", "birthPlace", EntityValue(other)),
            make_statement(town, "P6", EntityValue(f"Q{2000 + number}")),
            make_statement(f"Q{3000 + number}", "P36", EntityValue(town)),
        ]
    return statements, entities


def hits(store: Store, graph: str, folder: Path) -> int:
    """How many questions have the mayor at the end of their best path."""
    settings = Settings(vectors=str(folder / "v.db"), cache_dir=str(folder / "cache"), graph=graph)
    ranker = NetworkRanker(replace(shipped_scorer(), embedder=CountingWords().name))
    count = 0
    service = open_service(store, embedder=CountingWords(), settings=settings)
    with service.ranking_by(ranker):
        for number in range(QUESTIONS):
            request = RetrieveRequest(
                QUESTION.format(number),
                Strategy.PATHS,
                entity_ids=(f"{DBPEDIA}Person{number}",),
                limit=1,
            )
            result = service.retrieve(request)
            assert isinstance(result, PathsResult)
            reached = [
                value.id
                for path in result.items
                if isinstance(value := path.steps[-1].triple.value, EntityValue)
            ]
            count += reached == [f"Q{2000 + number}"]
    return count


def test_questions_that_cross_sources_have_the_hits_of_merged_ids(
    tmp_store: Store, tmp_path: Path
) -> None:
    """Hits@1 of 100 questions lie within .02 of each other."""
    load_graph(tmp_store, "linked", *crossing_graph(is_merged=False))
    load_graph(tmp_store, "merged", *crossing_graph(is_merged=True))
    linked, merged = (hits(tmp_store, graph, tmp_path) for graph in ("linked", "merged"))
    assert merged > 0.5 * QUESTIONS
    assert abs(linked - merged) <= 0.02 * QUESTIONS


@pytest.mark.data
def test_links_of_dbp15k_join_its_editions(
    tmp_store: Store, data_dir: Path, tmp_path: Path
) -> None:
    folder = data_dir / "dbp15k_fr_en"
    ids: dict[str, str] = {}
    for number in (1, 2):
        with lzma.open(folder / f"ent_ids_{number}.xz", "rt", encoding="utf-8") as file:
            for line in file:
                key, _, iri = line.rstrip("\n").partition("\t")
                ids[key] = iri
    pairs = [line.split("\t") for line in (folder / "ref_ent_ids").read_text().splitlines()]
    links = tmp_path / "links.tsv"
    links.write_text("".join(f"{ids[left]}\t{ids[right]}\n" for left, right in pairs))
    for number in (1, 2):
        options = LoadOptions(
            entity_ids=folder / f"ent_ids_{number}.xz",
            same_as=(links,) if number == 2 else (),
            rejects_path=tmp_path / "rejects.jsonl",
        )
        source = folder / f"triples_{number}.xz"
        report = load(source, store=tmp_store, graph="both", options=options)
        assert report.records.total == report.source_records
        assert report.exit_code == 0
    assert (report.equal.entities, report.equal.groups) == (30_000, 15_000)
    assert report.graph is not None
    assert report.graph.counts.statements == 221_720


@pytest.mark.data
def test_northwind_loads_as_it_is(tmp_store: Store, data_dir: Path, tmp_path: Path) -> None:
    folder = data_dir / "northwind"
    tables = sorted(folder.glob("*.csv"))
    assert len(tables) == 11
    rows = 0
    for path in tables:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows += sum(1 for _ in csv.reader(file))
    options = LoadOptions(row="auto", rejects_path=tmp_path / "rejects.jsonl")
    report = load(folder, store=tmp_store, graph="northwind", options=options)
    assert report.exit_code == 0
    assert report.source_records == report.records.read == rows
    edition = tmp_store.graph("northwind").edition
    product = {
        statement.relation: statement.value
        for statement in tmp_store.statements_of(edition, "product/1")
    }
    assert product["supplier"] == EntityValue("supplier/1")
    assert product["category"] == EntityValue("category/1")
