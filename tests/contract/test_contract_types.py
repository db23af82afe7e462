"""Both routes to a region, and both stores, tell types alike (S2)."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from error_texts import raises
from graphs import load_graph
from word_vectors import Letters

from graph_service import open_service
from graph_service.errors import InputError
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import Strategy, TripletsResult
from graph_service.model.statement import Entity, Rank, Statement, make_statement
from graph_service.model.values import EntityValue, StringValue
from graph_service.service import store_types
from graph_service.settings import Settings
from graph_service.store.protocol import Store


def drawn(draw: random.Random) -> list[Statement]:
    """Things of eight classes, four of them below others in a circle, one with many instances."""
    made = [
        make_statement(f"Q{i}", "P31", EntityValue(f"Q{draw.choice([101, 101, *range(102, 109)])}"),
                       rank=draw.choice([Rank.NORMAL, Rank.PREFERRED, Rank.DEPRECATED]))
        for i in range(1, 41)
    ]  # fmt: skip
    made += [
        make_statement(f"Q{a}", "P279", EntityValue(f"Q{b}"))
        for a, b in ((103, 102), (104, 103), (102, 104), (105, 104), (107, 106))
    ]
    made += [make_statement(f"Q{i}", "P31", EntityValue("Q108")) for i in range(101, 106)]
    for place in range(400):
        value = (
            StringValue(f"text {place}")
            if draw.random() < 0.2
            else EntityValue(f"Q{draw.randrange(1, 41)}")
        )
        made.append(make_statement(f"Q{draw.randrange(1, 41)}", f"P{draw.randrange(1, 5)}", value))
    return list({statement.id: statement for statement in made}.values())


@pytest.mark.parametrize("at_once", [20_000, 12])
def test_types_are_read_from_the_store_as_from_the_snapshot(
    store: Store,
    graph_name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    at_once: int,
) -> None:
    """S2: also where a class has more instances than are read at once."""
    monkeypatch.setattr(store_types, "_EDGES_AT_ONCE", at_once)
    entities = [Entity(f"Q{i}", labels={"en": f"Thing Number {i}"}) for i in range(1, 109)]
    load_graph(
        store,
        graph_name,
        drawn(random.Random(3)),
        [*entities, Entity("Q900", redirect="Q101")],
    )
    whole = open_service(
        store, embedder=Letters(), settings=Settings(vectors=str(tmp_path / "a.db"))
    )
    part = open_service(
        store,
        embedder=Letters(),
        settings=Settings(vectors=str(tmp_path / "b.db"), snapshot_edges=1),
    )
    some = 0
    for preset in ("okgqa", "default"):
        # How many are read at once is the same to every strategy.
        for strategy in Strategy if at_once > 12 else (Strategy.TRIPLETS,):
            for types in (("Q900",), ("Q104", "Q108"), ("Q107",), ("Q30",)):
                request = RetrieveRequest(
                    "Which part is near Thing Number 5?",
                    strategy,
                    graph=graph_name,
                    entity_ids=("Q5", "Q17"),
                    preset=preset,
                    limit=30,
                    type_ids=types,
                )
                expected, found = whole.retrieve(request), part.retrieve(request)
                assert found.items == expected.items, (preset, strategy, types)
                assert found.region == expected.region
                assert found.id == expected.id
                some += bool(found.items)
    assert some > (8 if at_once > 12 else 2)
    for service in (whole, part):
        with raises(InputError) as error:
            service.retrieve(
                RetrieveRequest(
                    "Near Thing Number 5?", Strategy.PATHS, graph=graph_name, type_ids=("Q999",)
                )
            )
        assert error.value.argument == "type_ids"


@pytest.mark.parametrize("preset", ["default", "okgqa"])
def test_what_is_of_another_type_does_not_fill_the_region(
    store: Store, graph_name: str, tmp_path: Path, preset: str
) -> None:
    """A person of 300 friends and three films: a region of 40 statements holds the films."""
    made = [make_statement("Q1", "P1", EntityValue(f"Q{n}")) for n in range(1000, 1300)]
    made += [make_statement("Q1", "P2", EntityValue(f"Q{n}")) for n in (11, 12, 13)]
    made += [make_statement(f"Q{n}", "P31", EntityValue("Q2")) for n in (11, 12, 13)]
    labels = {"Q1": "Ann Lee", "Q2": "film", "Q11": "Red Sea", "Q12": "Blue Sky", "Q13": "Old Oak"}
    load_graph(
        store, graph_name, made, [Entity(id_, labels={"en": name}) for id_, name in labels.items()]
    )
    found = []
    for most in (10_000, 1):
        service = open_service(
            store,
            embedder=Letters(),
            settings=Settings(vectors=str(tmp_path / "v.db"), snapshot_edges=most),
        )
        request = RetrieveRequest(
            "Which of them knows Ann Lee?",
            Strategy.TRIPLETS,
            graph=graph_name,
            preset=preset,
            max_edges=40,
            type_ids=("Q2",),
        )
        found.append(service.retrieve(request))
    for result in found:
        assert isinstance(result, TripletsResult)
        values = {item.triple.value for item in result.items}
        assert values == {EntityValue(f"Q{n}") for n in (11, 12, 13)}
        assert not [cut for cut in result.truncated if cut.what == "edges"]
    assert found[0].items == found[1].items
    assert found[0].id == found[1].id
