"""Blocks read by other processes come to the same load, in the same order (S1)."""

from __future__ import annotations

import bz2
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_service import worker_pool
from graph_service.errors import SetupError
from graph_service.model.identity import key64
from graph_service.model.statement import Rank, Reference, Snak, Statement, make_statement
from graph_service.model.values import EntityValue, Quantity, StringValue, Time
from graph_service.store import open_store
from graph_service.store.encoded import EncodedStatements, encode_statements, join_statements
from graph_service.store.protocol import Batch, Store
from loaders import workers
from loaders.load import load
from loaders.options import LoadOptions
from loaders.report import LoadReport
from loaders.subset.filters import Filters

WD = "http://www.wikidata.org/"


def document(number: int, revision: int = 1) -> str:
    claims = {
        "P31": [
            {
                "mainsnak": {
                    "snaktype": "value",
                    "property": "P31",
                    "datavalue": {
                        "type": "wikibase-entityid",
                        "value": {"id": f"Q{number % 7 + 1}"},
                    },
                },
                "id": f"Q{number}$00000000-0000-0000-0000-{one:012d}",
                "rank": "normal",
                "qualifiers": {"P585": [{"snaktype": "novalue", "property": "P585"}]},
            }
            for one in range(1 + revision % 3)
        ]
    }
    made = {
        "type": "item",
        "id": f"Q{number}",
        "lastrevid": revision,
        "labels": {"en": {"language": "en", "value": f"item {number}"}},
        "claims": claims,
    }
    return json.dumps(made) + "\n"


SOURCES = {
    # Later revisions of entities, some in the block of the earlier ones; and bad lines.
    "dump.json": "".join(
        document(number % 500 + 1, number // 300 + 1) + ("{bad\n" if number % 377 == 0 else "")
        for number in range(1200)
    ),
    "triples.nt": "".join(
        f"<{WD}entity/Q{n % 900 + 1}> <{WD}prop/direct/P{n % 9 + 1}> <{WD}entity/Q{n * 7 % 900 + 1}> .\n"
        f'<{WD}entity/Q{n % 900 + 1}> <http://www.w3.org/2000/01/rdf-schema#label> "x{n}"@en .\n'
        + ('<http://a/s> <http://a/p> "x"@en_US .\n' if n % 700 == 0 else "")
        for n in range(2_000)
    ),
    "quads.nq": "".join(
        f"_:b{n % 50} <http://a/p{n % 9}> _:b{n * 7 % 90} <http://a/g{n % 3}> .\n"
        for n in range(2_000)
    ),
}


def loaded(path: Path, database: Path, **options: Any) -> tuple[LoadReport, str]:
    rejects = database.with_suffix(".rejects")
    with open_store(f"sqlite:///{database}") as store:
        report = load(
            path,
            store=store,
            graph="g",
            options=LoadOptions(rejects_path=rejects, **options),
        )
    return report, rejects.read_text() if rejects.exists() else ""


@pytest.mark.parametrize(
    ("name", "filters"),
    [
        ("dump.json", Filters()),
        ("dump.json", Filters(classes=("Q3",), around_entities=("Q3",))),
        ("triples.nt", Filters(relations=("P3",))),
        ("quads.nq", Filters()),
    ],
)
def test_a_load_is_the_same_however_many_processes_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, filters: Filters
) -> None:
    monkeypatch.setattr(workers, "WORKER_BLOCK_BYTES", 8_000)
    monkeypatch.setattr(workers, "DOCUMENT_BLOCK_BYTES", 8_000)
    path = tmp_path / (name + ".bz2")
    path.write_bytes(bz2.compress(SOURCES[name].encode()))
    alone, rejects = loaded(path, tmp_path / "alone.db", workers=0, filters=filters)
    report, rejects_ = loaded(path, tmp_path / "two.db", workers=2, filters=filters, batch_size=700)
    assert alone.graph is not None
    assert report.graph is not None
    assert report.graph.fingerprints == alone.graph.fingerprints
    assert report.graph.counts == alone.graph.counts
    assert (report.read_statements, report.read_entities) == (
        alone.read_statements,
        alone.read_entities,
    )
    assert (report.skipped, report.rejects) == (alone.skipped, alone.rejects)
    assert rejects_ == rejects


def test_revisions_in_one_batch_replace_each_other(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    path.write_text(document(1, 2) + document(1, 3) + document(2, 2) + document(2, 1))
    report, _ = loaded(path, tmp_path / "g.db")
    assert report.counts is not None
    assert report.graph is not None
    # Three statements of revision 2 become one; the older document comes too late.
    assert (report.counts.removed, report.counts.outdated) == (2, 2)
    assert report.graph.counts.statements == 4


def test_a_broken_load_read_by_processes_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "WORKER_BLOCK_BYTES", 8_000)
    monkeypatch.setattr(workers, "DOCUMENT_BLOCK_BYTES", 8_000)
    path = tmp_path / "triples.nt"
    path.write_text(SOURCES["triples.nt"])
    whole, _ = loaded(path, tmp_path / "whole.db", workers=0)
    options = LoadOptions(batch_size=100, workers=2, rejects_path=tmp_path / "rejects")
    with open_store(f"sqlite:///{tmp_path / 'broken.db'}") as store:
        monkeypatch.setattr(worker_pool, "_receive", dying_after(8))
        with pytest.raises(SetupError, match="ended by itself") as caught:
            load(path, store=store, graph="g", options=options)
        assert "--workers 0" in str(caught.value)
        monkeypatch.undo()
        report = load(path, store=store, graph="g", options=options)
    assert report.resumed
    assert report.graph is not None
    assert whole.graph is not None
    assert report.graph.fingerprints == whole.graph.fingerprints


def dying_after(answers: int) -> Any:
    real, left = worker_pool._receive, [answers]

    def receive(pipe: Any) -> bytes:
        left[0] -= 1
        if left[0] < 0:
            raise EOFError
        return real(pipe)

    return receive


ids = st.sampled_from(["Q1", "Q2", "http://a/ü", "_:b"])
snaks = st.builds(Snak, st.sampled_from(["P1", "P2"]), st.builds(EntityValue, ids))
statements = st.builds(
    lambda head, relation, value, rank, qualifiers, parts, context: make_statement(
        head,
        relation,
        value,
        rank=rank,
        qualifiers=qualifiers,
        references=[Reference(tuple(parts))] if parts else [],
        context=context,
    ),
    ids,
    st.sampled_from(["P1", "http://a/p"]),
    st.one_of(
        st.builds(EntityValue, ids),
        st.builds(
            StringValue,
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")),
        ),
        st.just(Quantity("1.50", "Q11573")),
        st.just(Time("1952-03-11T00:00:00Z")),
    ),
    st.sampled_from(list(Rank)),
    st.lists(snaks, max_size=2),
    st.lists(snaks, max_size=2),
    st.none() | st.just("http://a/g"),
)


@given(st.lists(st.lists(statements, max_size=5), min_size=1, max_size=4))
def test_encoded_statements_are_the_statements(parts: list[list[Statement]]) -> None:
    flat = [one for part in parts for one in part]
    joined = join_statements([encode_statements(part) for part in parts])
    assert list(joined) == flat
    assert len(joined) == len(flat)
    assert joined[:2] == flat[:2]
    if flat:
        assert joined[-1] == flat[-1]
    assert isinstance(joined, EncodedStatements)
    assert joined.sums.tolist() == encode_statements(flat).sums.tolist()
    assert list(join_statements([*parts, encode_statements([])])) == flat


@given(st.lists(statements, max_size=6), st.data())
def test_statements_at_some_places_are_encoded_as_if_they_were_all(
    items: list[Statement], data: st.DataObject
) -> None:
    places = sorted(data.draw(st.sets(st.integers(0, len(items) - 1)) if items else st.just(set())))
    assert encode_statements(items).at(places) == encode_statements([items[one] for one in places])


def test_the_line_of_an_entity_is_that_of_its_first_statement() -> None:
    encoded = encode_statements(
        [make_statement(head, "P1", EntityValue("Q9")) for head in ("Q1", "Q2", "Q2")]
    )
    assert list(encoded.indices_of(key64("Q2"))) == [1, 2]
    assert list(encoded.indices_of(key64("Q9"))) == []
    assert encoded.line_of(key64("Q2"), [3, 5, 6]) == 5
    assert encoded.line_of(key64("Q9"), [3, 5, 6]) == encoded.line_of(key64("Q2"), []) == 0


def test_both_ways_into_a_store_are_one(tmp_store: Store) -> None:
    made = [make_statement("Q1", "P1", EntityValue(f"Q{n}")) for n in range(5)]
    prints = []
    for batch in (Batch(statements=made), Batch(statements=encode_statements(made))):
        with tmp_store.begin_load("g", owner="a", source="s", replace=True) as session:
            session.write(batch)
            session.finish()
            prints.append(session.publish().fingerprints)
    assert prints[0] == prints[1]
