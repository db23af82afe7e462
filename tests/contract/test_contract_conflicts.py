"""What one load gives twice under one id with different content is told, never overwritten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from graph_service.model.statement import Entity, Rank, Statement, make_statement
from graph_service.model.values import EntityValue
from graph_service.store.encoded import EncodedStatements, encode_statements
from graph_service.store.neo4j import batch as neo4j_batch
from graph_service.store.neo4j import load as neo4j_load
from graph_service.store.protocol import Batch, Conflict, LoadCounts, Store
from graph_service.store.sqlite import finish as sqlite_finish
from graph_service.store.sqlite import load as sqlite_load

A, B = "a.jsonl", "b.jsonl"


def claim(id_: str, tail: str, head: str = "Q1", rank: Rank = Rank.NORMAL) -> Statement:
    return make_statement(head, "P1", EntityValue(tail), id=id_, rank=rank)


def document(
    *statements: Statement, line: int, revision: int | None = None, source: str = A, label: str = ""
) -> Batch:
    """Returns the whole document of Q1; without revision and label, one without a record."""
    described = revision is not None or label
    return Batch(
        entities=(Entity("Q1", labels={"en": label} if label else {}, revision=revision),)
        if described
        else (),
        statements=statements,
        documents=frozenset({"Q1"}),
        source=source,
        lines=[line] * len(statements),
        entity_lines=[line] if described else [],
    )


def alone(*statements: Statement, lines: Sequence[int] = (), source: str = A) -> Batch:
    return Batch(statements=statements, source=source, lines=lines)


def load(store: Store, graph: str, *batches: Batch) -> tuple[LoadCounts, list[Conflict], set[str]]:
    """Returns the counts, the conflicts, and the values that the statements have in the end."""
    with store.begin_load(graph, owner="test", source="test") as session:
        for batch in batches:
            session.write(batch)
        session.finish()
        # As a load that was killed in between does.
        counts = session.finish(report={})
        conflicts = [one for chunk in session.conflicts() for one in chunk]
        info = session.publish()
    tails = {
        f"{one.id} {one.value.id}"
        for chunk in store.scan_statements(info.edition)
        for one in chunk
        if isinstance(one.value, EntityValue)
    }
    assert info.counts.statements == len(tails)
    return counts, conflicts, tails


@pytest.mark.parametrize("together", [True, False])
def test_the_first_statement_of_an_id_is_kept(
    store: Store, graph_name: str, together: bool
) -> None:
    one, other, same = claim("s", "Q2"), claim("s", "Q3"), claim("s", "Q2")
    batches = (
        [alone(one, other, same, lines=[4, 7, 9])]
        if together
        else [alone(one, lines=[4]), alone(other, lines=[7]), alone(same, lines=[9])]
    )
    counts, conflicts, tails = load(store, graph_name, *batches)
    assert conflicts == [Conflict("s", False, A, 7, A, 4)]
    assert counts == LoadCounts(1, 0, 1, 0, 0, 1)
    assert tails == {"s Q2"}


def test_a_batch_that_comes_encoded_is_written_without_decoding_it(
    store: Store, graph_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = (
        document(claim("a", "Q2"), claim("b", "Q3"), line=4),
        # Another document of Q1, left out, beside one of Q4 that has no terms.
        Batch(
            statements=[claim("a", "Q5"), claim("c", "Q6", head="Q4")],
            documents=frozenset({"Q1", "Q4"}),
            source=A,
            lines=[7, 8],
        ),
    )
    expected = load(store, f"{graph_name}-plain", *batches)
    encoded = [replace(one, statements=encode_statements(one.statements)) for one in batches]
    with monkeypatch.context() as patch:
        patch.setattr(EncodedStatements, "_statement", None)
        with store.begin_load(graph_name, owner="test", source="test") as session:
            for batch in encoded:
                session.write(batch)
            session.finish()
            session.abort()
    assert load(store, graph_name, *encoded) == expected
    assert expected[1] == [Conflict("Q1", True, A, 7, A, 4)]


def test_places_of_both_files_are_told(store: Store, graph_name: str) -> None:
    counts, conflicts, tails = load(
        store,
        graph_name,
        alone(claim("r", "Q5"), claim("s", "Q2"), lines=[10, 11]),
        alone(claim("s", "Q2", rank=Rank.PREFERRED), claim("t", "Q7"), lines=[1, 2], source=B),
        alone(claim("t", "Q8"), source=B),
    )
    assert sorted(conflicts, key=lambda one: one.id) == [
        Conflict("s", False, B, 1, A, 11),
        Conflict("t", False, B, 0, B, 2),
    ]
    assert (counts.written, counts.conflicting) == (3, 2)
    assert tails == {"r Q5", "s Q2", "t Q7"}


def test_what_an_earlier_load_wrote_is_updated(store: Store, graph_name: str) -> None:
    load(store, graph_name, alone(claim("s", "Q2"), claim("t", "Q2")))
    counts, conflicts, tails = load(
        store, graph_name, alone(claim("s", "Q3")), alone(claim("s", "Q2"), claim("t", "Q2"))
    )
    assert [(one.id, one.is_document) for one in conflicts] == [("s", False)]
    assert counts == LoadCounts(0, 1, 1, 0, 0, 1)
    assert tails == {"s Q3", "t Q2"}


@pytest.mark.parametrize("revision", [None, 5])
@pytest.mark.parametrize("label", ["", "one"])
def test_another_document_of_an_entity_is_left_out_whole(
    store: Store, graph_name: str, revision: int | None, label: str
) -> None:
    first = document(claim("s", "Q2"), line=3, revision=revision, label=label)
    second = document(
        claim("s", "Q3"), claim("t", "Q4"), line=8, revision=revision, label=label, source=B
    )
    counts, conflicts, tails = load(store, graph_name, first, alone(claim("u", "Q9")), second)
    assert conflicts == [Conflict("Q1", True, B, 8, A, 3)]
    assert (counts.written, counts.conflicting, counts.removed) == (2, 2, 0)
    assert tails == {"s Q2", "u Q9"}


def test_a_document_that_differs_in_its_names_alone_conflicts(
    store: Store, graph_name: str
) -> None:
    _, conflicts, _ = load(
        store,
        graph_name,
        document(claim("s", "Q2"), line=1, label="one"),
        document(claim("s", "Q2"), line=2, label="two"),
    )
    assert [one.line for one in conflicts] == [2]
    found = store.entities(store.graph(graph_name).edition, ["Q1"]).entities
    assert found["Q1"].labels == {"en": "one"}


def test_a_newer_revision_replaces_and_an_older_one_is_outdated(
    store: Store, graph_name: str
) -> None:
    counts, conflicts, tails = load(
        store,
        graph_name,
        document(claim("s", "Q2"), claim("gone", "Q2"), line=1, revision=5),
        document(claim("s", "Q3"), line=2, revision=6),
        document(claim("s", "Q4"), line=3, revision=4),
    )
    assert conflicts == []
    assert counts == LoadCounts(2, 1, 0, 1, 1, 0)
    assert tails == {"s Q3"}


def test_the_same_document_twice_is_a_duplicate(store: Store, graph_name: str) -> None:
    one = document(claim("s", "Q2"), claim("t", "Q2"), line=1, revision=5, label="one")
    again = document(claim("t", "Q2"), claim("s", "Q2"), line=2, revision=5, label="one")
    counts, conflicts, tails = load(store, graph_name, one, again)
    assert conflicts == []
    assert counts == LoadCounts(2, 0, 2, 0, 0, 0)
    assert tails == {"s Q2", "t Q2"}


def test_a_document_of_an_earlier_load_is_no_conflict(store: Store, graph_name: str) -> None:
    load(store, graph_name, document(claim("s", "Q2"), line=1, label="one"))
    counts, conflicts, tails = load(
        store, graph_name, document(claim("s", "Q3"), line=1, label="two")
    )
    assert (conflicts, tails, counts.updated) == ([], {"s Q3"}, 1)


def test_a_statement_on_its_own_gives_way_to_the_document_and_is_told(
    store: Store, graph_name: str
) -> None:
    counts, conflicts, tails = load(
        store,
        graph_name,
        alone(claim("s", "Q2"), claim("gone", "Q2"), lines=[1, 2]),
        document(claim("s", "Q3"), line=3, revision=1),
        alone(claim("s", "Q4"), lines=[6]),
    )
    assert conflicts == [Conflict("s", False, A, 1, A, 3), Conflict("s", False, A, 6, A, 3)]
    assert counts == LoadCounts(2, 0, 0, 1, 0, 2)
    assert tails == {"s Q3"}


def test_names_on_their_own_conflict_too(store: Store, graph_name: str) -> None:
    def names(label: str, line: int) -> Batch:
        entity = Entity("Q1", labels={"en": label})
        return Batch(entities=(entity,), source=A, entity_lines=[line])

    _, conflicts, _ = load(store, graph_name, names("one", 1), names("one", 2), names("two", 3))
    assert conflicts == [Conflict("Q1", True, A, 3, A, 2)]


def test_one_id_under_two_heads(store: Store, graph_name: str) -> None:
    counts, conflicts, tails = load(
        store,
        graph_name,
        alone(claim("s", "Q2"), claim("s", "Q2", head="Q7"), lines=[1, 2]),
    )
    assert conflicts == [Conflict("s", False, A, 2, A, 1)]
    assert (counts.conflicting, tails) == (1, {"s Q2"})
    assert "Q7" in store.entities(store.graph(graph_name).edition, ["Q7"]).missing


@pytest.mark.parametrize("revision", [None, 4])
def test_statements_beside_a_document_that_is_left_out_keep_their_entities(
    store: Store, graph_name: str, revision: int | None
) -> None:
    """In one batch with another or an older document: what it alone names is no entity."""
    first = document(
        claim("s", "Q2"), line=1, revision=5 if revision else None, label="one" if revision else ""
    )
    second = document(claim("s", "Q3"), line=2, revision=revision, label="one" if revision else "")
    beside = [claim("u", "Q8", head="Q7"), claim("v", "Q7", head="Q9"), claim("w", "Q2", head="Q2")]
    batch = replace(
        second, statements=(*second.statements, *beside), lines=[*second.lines, 3, 4, 5]
    )
    counts, conflicts, tails = load(store, graph_name, first, batch)
    assert [one.id for one in conflicts] == ([] if revision else ["Q1"])
    assert (counts.written, counts.outdated, counts.conflicting) == (
        (4, 1, 0) if revision else (4, 0, 1)
    )
    assert tails == {"s Q2", "u Q8", "v Q7", "w Q2"}
    edition = store.graph(graph_name).edition
    found = store.entities(edition, [f"Q{n}" for n in range(10)]).entities
    assert sorted(found) == ["Q1", "Q2", "Q7", "Q8", "Q9"]


def test_conflicts_are_told_and_left_out_in_steps(
    store: Store, graph_names: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """More statements than a step takes: each is told once, and nothing of them is counted."""
    for module, limit in (
        (sqlite_finish, "GONE_ROWS"),
        (sqlite_load, "CONFLICT_ROWS"),
        (neo4j_load, "WRITE_ROWS"),
        (neo4j_batch, "WRITE_ROWS"),
    ):
        monkeypatch.setattr(module, limit, 2)
    graph, plain = graph_names(), graph_names()
    kept = [claim(f"s{n}", "Q2", head=f"Q1{n}") for n in range(5)]
    others = [claim(f"s{n}", f"Q3{n}", head=f"Q1{n}") for n in range(5)]
    numbers = list(range(1, 6))
    counts, conflicts, tails = load(
        store, graph, alone(*kept, lines=numbers), alone(*others, lines=numbers, source=B)
    )
    assert counts == LoadCounts(5, 0, 0, 0, 0, 5)
    assert sorted(conflicts, key=lambda one: one.id) == [
        Conflict(f"s{n}", False, B, n + 1, A, n + 1) for n in range(5)
    ]
    assert tails == {f"s{n} Q2" for n in range(5)}
    load(store, plain, alone(*kept, lines=numbers))
    assert store.graph(graph).fingerprints == store.graph(plain).fingerprints
    assert store.graph(graph).counts == store.graph(plain).counts
    entities = store.entities(store.graph(graph).edition, ["Q2", *(f"Q3{n}" for n in range(5))])
    assert (sorted(entities.entities), len(entities.missing)) == (["Q2"], 5)
