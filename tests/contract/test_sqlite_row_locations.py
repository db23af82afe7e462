"""Rows of entities and documents are found whenever the table of places learns of them."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from graphs import statement

from graph_service.errors import KeyCollisionError
from graph_service.model.graph_info import GraphInfo
from graph_service.model.identity import key64
from graph_service.model.statement import Entity, make_statement
from graph_service.model.values import EntityValue
from graph_service.store import encoded
from graph_service.store.protocol import Batch, Conflict, LoadCounts
from graph_service.store.sqlite import batch as sqlite_batch
from graph_service.store.sqlite import row_locations
from graph_service.store.sqlite.row_locations import RowLocations
from graph_service.store.sqlite.store import SqliteStore, open_sqlite

Result = tuple[LoadCounts, list[Conflict], GraphInfo]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with open_sqlite(tmp_path / "graph.db") as opened:
        yield opened


def merge_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly each batch merges what those before it wrote, some rows at a time."""
    monkeypatch.setattr(row_locations, "RECENT_ROWS", 3)
    monkeypatch.setattr(row_locations, "KNOWN_ROWS", 2)
    monkeypatch.setattr(row_locations, "MERGED_ROWS", 2)


def drawn_batches(random_seed: int) -> list[Batch]:
    """Returns documents of a few entities, some given again or changed, names and statements."""
    draw = random.Random(random_seed)
    return [_drawn(draw, line) for line in range(1, 25)]


def _drawn(draw: random.Random, line: int) -> Batch:
    heads = draw.sample([f"Q{number}" for number in range(8)], 2)
    statements = [
        make_statement(head, "P1", EntityValue(f"Q{draw.randrange(12)}"), id=f"{head}-{place}")
        for head in heads
        for place in range(draw.randrange(3))
    ]
    kind = draw.choice(("document", "document", "document", "statements", "names"))
    labels = {"en": draw.choice(("one", "two"))}
    if kind == "names":
        named = tuple(Entity(head, labels=labels) for head in heads)
        return Batch(entities=named, terms_only=True, names_only=True)
    if kind == "statements":
        return Batch(statements=statements, source="s", lines=[line] * len(statements))
    revision = draw.choice((None, 1, 2))
    # One of the two has no record of its own, and maybe no statements.
    return Batch(
        entities=(Entity(heads[0], labels=labels, revision=revision),),
        statements=statements,
        documents=frozenset(heads),
        source="s",
        lines=[line] * len(statements),
        entity_lines=[line],
    )


class AwayError(Exception):
    """Ends a session in the middle of a load."""


def loaded(store: SqliteStore, graph: str, batches: list[Batch], *, sessions: int) -> Result:
    """Loads batches in some sessions, each of which goes on with what those before it left."""
    each = -(-len(batches) // sessions)
    for begin in range(0, len(batches), each):
        try:
            with store.begin_load(graph, owner="o", source="s") as load:
                assert load.sequence == begin
                for batch in batches[begin : begin + each]:
                    load.write(batch)
                raise AwayError
        except AwayError:
            pass
    with store.begin_load(graph, owner="o", source="s") as load:
        counts = load.finish()
        conflicts = [one for chunk in load.conflicts() for one in chunk]
        return counts, conflicts, load.publish()


@pytest.mark.parametrize("random_seed", range(12))
def test_a_load_is_the_same_whenever_places_are_merged(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, random_seed: int
) -> None:
    first, second = drawn_batches(random_seed), drawn_batches(random_seed + 100)
    wanted = [
        loaded(store, "whole", first, sessions=1),
        # On top of it, so that what is there is copied and found.
        loaded(store, "whole", second, sessions=1),
    ]
    merge_often(monkeypatch)
    for graph, sessions in (("merged", 1), ("parts", 5)):
        found = [
            loaded(store, graph, first, sessions=sessions),
            loaded(store, graph, second, sessions=sessions),
        ]
        for mine, other in zip(found, wanted, strict=True):
            assert mine[:2] == other[:2]
            assert mine[2].counts == other[2].counts
            assert mine[2].fingerprints == other[2].fingerprints


def test_a_killed_finish_leaves_a_load_that_can_be_written_to(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Resolving deletes entities: none of them may be taken to be there afterwards."""
    merge_often(monkeypatch)
    gone = make_statement("Q1", "P1", EntityValue("Q2"), id="a")
    stays = make_statement("Q1", "P1", EntityValue("Q3"), id="b")
    with store.begin_load("g", owner="o", source="s") as load:
        load.write(Batch(statements=[gone, stays]))
        load.write(Batch(statements=[stays], documents=frozenset({"Q1"})))
        with monkeypatch.context() as patch:
            patch.setattr("graph_service.store.sqlite.finish.Finish._conclude", None)
            with pytest.raises(TypeError):
                load.finish()
        load.write(Batch(statements=[make_statement("Q3", "P1", EntityValue("Q2"), id="c")]))
        load.finish()
        info = load.publish()
    assert (info.counts.entities, info.counts.statements) == (3, 2)
    assert not store.entities(info.edition, ["Q1", "Q2", "Q3"]).missing


def forget(places_: RowLocations) -> None:
    places_._recent.clear()
    places_._known.clear()


@pytest.mark.parametrize("prepare", [RowLocations.prepare, forget, lambda _: None])
def test_an_id_of_another_ones_key_is_told_wherever_that_is_found(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, prepare: Callable[[RowLocations], None]
) -> None:
    for module in (sqlite_batch, encoded):
        monkeypatch.setattr(module, "key64", lambda id_: key64(id_.removeprefix("twin of ")))
    monkeypatch.setattr(row_locations, "RECENT_ROWS", 1)
    with store.begin_load("g", owner="o", source="s") as load:
        load.write(Batch(statements=[statement(("Q1", "P1", "Q2"))]))
        load._known.locations.prepare()
        prepare(load._known.locations)
        for batch in (
            Batch(statements=[statement(("Q3", "P1", "twin of Q2"))]),
            Batch(entities=[Entity("twin of Q1")]),
            Batch(documents=frozenset({"twin of Q1"})),
        ):
            with pytest.raises(KeyCollisionError, match="twin of"):
                load.write(batch)
        assert load.sequence == 1


def test_a_batch_writes_few_pages_of_what_is_there(tmp_path: Path) -> None:
    """Keys are random: a table in their order has a page to write for each of a batch's rows."""
    path = tmp_path / "graph.db"
    with open_sqlite(path) as store, store.begin_load("g", owner="o", source="s") as load:
        for begin in range(0, 60_000, 5_000):
            load.write(_documents(begin, 5_000))
        pages = load._connection.execute("PRAGMA page_count").fetchone()[0]
        with closing(sqlite3.connect(path)) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            load.write(_documents(60_000, 300))
            _, written, _ = other.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    assert pages > 500
    assert written < 60


def _documents(begin: int, count: int) -> Batch:
    ids = [f"Q{number}" for number in range(begin, begin + count)]
    return Batch(
        entities=[Entity(id_, labels={"en": id_}) for id_ in ids],
        statements=[statement((id_, "P1", "Q0")) for id_ in ids],
        documents=frozenset(ids),
    )
