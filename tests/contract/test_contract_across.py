"""One graph in both stores gives one answer: arrays, fingerprints, regions, search (S1, S2)."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from graphs import AnyStatement, load_graph, sample_entities, sample_statements

from graph_service.model.graph_info import GraphInfo
from graph_service.model.statement import Entity, Rank
from graph_service.store.protocol import Store
from graph_service.store.snapshot.file import arrays_of

pytestmark = pytest.mark.neo4j

ENTITIES = [
    *sample_entities(),
    *(
        Entity(f"Q{i}", labels={"en": f"Town number {i % 7}", "th": "กรุงเทพ"})
        for i in range(100, 160)
    ),
]
STATEMENTS: list[AnyStatement] = [
    *sample_statements(),
    *((f"Q{100 + i}", f"P{i % 3}", f"Q{100 + i * i % 60}") for i in range(60)),
]


@pytest.fixture
def both(tmp_store: Store, neo4j_store: Store) -> Iterator[list[tuple[Store, GraphInfo]]]:
    name = f"test-{uuid.uuid4().hex}"
    yield [
        (store, load_graph(store, name, STATEMENTS, ENTITIES)) for store in (tmp_store, neo4j_store)
    ]
    neo4j_store.delete_graph(name)


def test_both_stores_give_one_answer(both: list[tuple[Store, GraphInfo]]) -> None:
    (file, of_file), (server, of_server) = both
    assert of_file.fingerprints == of_server.fingerprints
    assert of_file.counts == of_server.counts
    ours, theirs = arrays_of(file.snapshot(of_file)), arrays_of(server.snapshot(of_server))
    assert ours.keys() == theirs.keys()
    for name in ours:
        assert np.array_equal(ours[name], theirs[name]), name
    options: tuple[dict[str, Any], ...] = (
        {"hops": 1},
        {"hops": 2, "hub_degree": 3},
        {"hops": 3, "max_edges": 17},
        {"hops": 2, "ranks": tuple(Rank), "relation_ids": ["P31", "P1"]},
    )
    for arguments in options:
        for start in (["Q42"], ["Q100", "Q5"], ["nope"], []):
            one = file.neighbourhood(of_file.edition, start, **arguments)
            two = server.neighbourhood(of_server.edition, start, **arguments)
            assert one == two
    for query in ("town", "number 3", "กรุง", "adams", "douglas", "Адамс", "亚当", "rome", "human"):
        found = file.search(of_file.edition, query, languages=["th", "en"], limit=30)
        assert found
        assert found == server.search(of_server.edition, query, languages=["th", "en"], limit=30)
