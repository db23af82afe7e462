"""Relations around an entity, pages of one relation, and what a graph is about: beside brute force.

Each is read from arrays, from the store of a graph above the limit of arrays, and on views.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from graphs import load_graph, random_statements, sample_entities, sample_statements

from graph_service import Service
from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.identity import key64
from graph_service.model.request import ViewRef
from graph_service.model.statement import Statement
from graph_service.model.values import EntityValue
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.service.browsing import PageRequest
from graph_service.settings import Settings
from graph_service.store.neo4j import browse as neo4j_browse
from graph_service.store.protocol import Store
from graph_service.store.sqlite import store as sqlite_store

VIEW = ViewRef(spec=ViewSpec(Method.EDGE_DELETION, level=0.5, random_seed=1))


def service_of(store: Store, folder: Path, most: int) -> Service:
    """A service that embeds nothing and opens graphs of so many statements as arrays."""
    settings = replace(Settings(vectors=str(folder / "v.db")), snapshot_edges=most)
    return Service(store, vectors=lambda: pytest.fail("no vectors"), settings=settings)


@pytest.fixture
def services(store: Store, tmp_path: Path) -> tuple[Service, Service]:
    """One that reads arrays, and one that reads the store."""
    return service_of(store, tmp_path, 10**9), service_of(store, tmp_path, 0)


GRAPHS: dict[str, list[Any]] = {
    "random": random_statements(3),
    "kinds": sample_statements(),
    "classes": [
        *((f"Q{n}", "P31", f"Q{100 + n % 3}") for n in range(9)),
        *((f"Q{n}", "P31", "Q100") for n in range(4)),
        ("Q100", "P279", "Q101"),
        ("Q1", "P9", "Q1"),
        ("Q1", "P9", "Q1"),
    ],
}


def statements_of_view(service: Service, graph: str, view: ViewRef | None) -> list[Statement]:
    """All statements, by pages of every entity."""
    arrays = service.arrays(service.graph(graph))
    found = []
    for id_ in arrays.node_ids.take(range(arrays.entity_count)):
        page = service.statements.page(id_, PageRequest(1000), graph=graph, view=view)
        found += [item.statement for item in page.items]
    return found


def counted(statements: Sequence[Statement], entity: str, *, outgoing: bool) -> Counter[str]:
    return Counter(
        one.relation
        for one in statements
        if (one.head if outgoing else one.value) == (entity if outgoing else EntityValue(entity))
    )


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("view", [None, VIEW], ids=["base", "view"])
def test_relations_around_an_entity_are_counted(
    services: tuple[Service, Service],
    store: Store,
    graph_name: str,
    name: str,
    view: ViewRef | None,
) -> None:
    load_graph(store, graph_name, GRAPHS[name], sample_entities())
    statements = statements_of_view(services[0], graph_name, view)
    assert len(statements) > 3
    ids = {one.head for one in statements}
    ids |= {one.value.id for one in statements if isinstance(one.value, EntityValue)}
    for service in services:
        for id_ in sorted(ids):
            counts = service.statements.relation_counts(id_, graph=graph_name, view=view)
            for outgoing in (True, False):
                expected = counted(statements, id_, outgoing=outgoing)
                own = [one for one in counts if one.outgoing is outgoing]
                assert {one.relation_id: one.count for one in own} == expected
                one_way = service.statements.relation_counts(
                    id_, outgoing=outgoing, incoming=not outgoing, graph=graph_name, view=view
                )
                assert one_way == own
            assert [one.count for one in counts] == sorted(
                (one.count for one in counts), reverse=True
            )
        assert service.statements.relation_counts("nobody", graph=graph_name, view=view) == []


def pages(service: Service, entity: str, page: PageRequest, **named: Any) -> Iterator[list[str]]:
    """The ids of each page, and then those of all."""
    whole: list[str] = []
    total = 0
    while True:
        found = service.statements.page(entity, page, **named)
        whole += [item.statement.id for item in found.items]
        total = found.total
        yield whole
        if not found.has_next:
            break
        assert len(found.items) == page.first
        page = replace(page, after=found.numbers[-1])
    assert len(whole) == total


@pytest.mark.parametrize("name", ["random", "classes"])
def test_pages_from_the_store_reach_all_statements_in_order(
    services: tuple[Service, Service], store: Store, graph_name: str, name: str
) -> None:
    load_graph(store, graph_name, GRAPHS[name], sample_entities())
    arrays, stored = services
    statements = statements_of_view(arrays, graph_name, None)
    relations = sorted({one.relation for one in statements})
    for id_ in sorted({one.head for one in statements})[:6]:
        for ways in ((True, False), (False, True), (True, True)):
            for wanted in ((), relations[:1], relations[1:3]):
                for entities_only in (False, True):
                    expected = {
                        one.id
                        for one in statements
                        if (not wanted or one.relation in wanted)
                        and (not entities_only or isinstance(one.value, EntityValue))
                        and (
                            (ways[0] and one.head == id_)
                            or (ways[1] and one.value == EntityValue(id_))
                        )
                    }
                    for first in (1, 3, 1000):
                        page = PageRequest(
                            first, relation_ids=wanted, outgoing=ways[0], incoming=ways[1]
                        )
                        named = {"graph": graph_name, "entities_only": entities_only}
                        *_, found = pages(stored, id_, page, **named)
                        assert found == sorted(expected, key=key64)
                        *_, same = pages(arrays, id_, page, **named)
                        assert sorted(same) == sorted(expected)


def test_a_page_from_the_store_is_that_of_the_arrays(
    services: tuple[Service, Service], store: Store, graph_name: str
) -> None:
    """With values of every kind, labels, qualifiers and references; redirects are followed."""
    load_graph(store, graph_name, sample_statements(), sample_entities())
    for id_ in ("Q42", "Q4242"):
        one, two = (
            service.statements.page(id_, PageRequest(100), graph=graph_name, languages=("de",))
            for service in services
        )
        assert one.items == two.items
        assert len(one.items) > 5
    ids = [item.statement.id for item in one.items]
    first, second = (service.statements.triples(ids, graph=graph_name) for service in services)
    assert first == second
    assert services[1].statements.find(ids[0], graph=graph_name) == (
        services[0].statements.find(ids[0], graph=graph_name)
    )


@pytest.mark.parametrize("name", GRAPHS)
def test_what_a_graph_is_about_is_counted(
    services: tuple[Service, Service], store: Store, graph_name: str, name: str
) -> None:
    load_graph(store, graph_name, GRAPHS[name], sample_entities())
    for view in (None, VIEW):
        statements = statements_of_view(services[0], graph_name, view)
        uses = Counter(one.relation for one in statements)
        members: dict[str, set[str]] = {}
        for one in statements:
            if one.relation in INSTANCE_RELATIONS and isinstance(one.value, EntityValue):
                members.setdefault(one.value.id, set()).add(one.head)
        for service in services:
            about = service.about(graph=graph_name, view=view).overview
            assert {use.relation_id: use.count for use in about.relations} == uses
            assert {size.class_id: size.count for size in about.classes} == {
                id_: len(items) for id_, items in members.items()
            }
            for listed in (about.relations, about.classes):
                numbers = [each.count for each in listed]
                assert numbers == sorted(numbers, reverse=True)
            examples = {use.example_id: use.relation_id for use in about.relations}
            shown = service.statements.triples(list(examples), graph=graph_name, view=view)
            assert {id_: it.triple.relation.id for id_, it in shown.items()} == examples
            if view is None:
                for use in about.relations:
                    of_it = [one.id for one in statements if one.relation == use.relation_id]
                    assert use.example_id == min(of_it, key=key64)
            assert service.about(graph=graph_name, view=view).overview is about


def test_a_page_of_a_hub_reads_no_more_of_the_store(
    services: tuple[Service, Service],
    store: Store,
    graph_name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However many statements the hub has, those of the page are decoded, and one more."""
    rows = [(f"Q{n}", "P1", "Q0") for n in range(1, 3001)]
    rows += [("Q0", "P2", "Q1"), ("Q5", "P3", "Q0")]
    load_graph(store, graph_name, rows)
    decoded: list[int] = []
    module = sqlite_store if store.url.startswith("sqlite") else neo4j_browse
    read = module.statement_of_row

    def counting(row: Any) -> Statement:
        decoded.append(1)
        statement: Statement = read(row)
        return statement

    monkeypatch.setattr(module, "statement_of_row", counting)
    page = PageRequest(10, relation_ids=("P1",), outgoing=False, incoming=True)
    found = services[1].statements.page("Q0", page, graph=graph_name)
    assert (len(found.items), found.total, len(decoded)) == (10, 3000, 11)
    counts = services[1].statements.relation_counts("Q0", graph=graph_name)
    assert [(one.relation_id, one.outgoing, one.count) for one in counts] == [
        ("P1", False, 3000), ("P2", True, 1), ("P3", False, 1)
    ]  # fmt: skip
    assert len(decoded) == 11
    if isinstance(store, sqlite_store.SqliteStore):
        number = int(services[1].graph(graph_name).edition.rpartition("@")[2])
        plan = store._database.connection().execute(
            f"EXPLAIN QUERY PLAN SELECT relation, count(*) FROM statements_{number} "
            "WHERE tail = 1 GROUP BY relation"
        )
        assert any("COVERING INDEX" in row[3] for row in plan.fetchall())
