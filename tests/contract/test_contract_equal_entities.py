"""Entities of several sources that are one thing are one node, on both stores and both routes (B15).

A graph in which the entities of a thing have one id is the oracle: its statements have the same
ids, so that what is retrieved from both can be compared statement by statement.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from graphs import load_graph
from word_vectors import CountingWords

from graph_service import open_service
from graph_service.model.equal_entities import NotMerged
from graph_service.model.graph_info import GraphInfo
from graph_service.model.identity import key64
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import RetrievalResult, ScoredPath, Strategy, triples_of
from graph_service.model.statement import Entity, Statement, make_statement
from graph_service.model.values import EntityValue, StringValue, Time
from graph_service.model.view_spec import Change, Method, ViewSpec
from graph_service.retrieve.learned.network import shipped_scorer
from graph_service.retrieve.learned.rankers import NetworkRanker
from graph_service.service.browsing import PageRequest
from graph_service.service.service import Service
from graph_service.settings import Settings
from graph_service.store.lookup import read_merged_entities
from graph_service.store.protocol import Store

A, B, C = "http://a.org/", "http://b.org/", "http://c.org/"
RELATIONS = ("born in", "mayor", "spouse", "works at", "part of")
DBPEDIA = "http://dbpedia.org/resource/"
THINGS = 14


def things() -> list[list[str]]:
    """Ids of each thing: of three sources, of two, of one."""
    return [
        [f"{source}{number}" for source in (A, B, C)[: 3 - number % 3]] for number in range(THINGS)
    ]


def made_graph(seed: int) -> list[Statement]:
    """Statements of which no two say the same of the same things."""
    draw = random.Random(seed)
    statements: dict[tuple[int, str, int], Statement] = {}
    for _ in range(45):
        head, tail = draw.randrange(THINGS), draw.randrange(THINGS)
        relation = draw.choice(RELATIONS)
        if head == tail or (head, relation, tail) in statements:
            continue
        value = EntityValue(draw.choice(things()[tail]))
        statements[head, relation, tail] = make_statement(
            draw.choice(things()[head]), relation, value
        )
    mottos = (
        make_statement(ids[-1], "motto", StringValue(f"m{number}"))
        for number, ids in enumerate(things())
    )
    return [*statements.values(), *mottos]


def linked_entities(draw: random.Random) -> list[Entity]:
    """Entities whose links join the ids of each thing: by a chain, or by a third that is absent."""
    entities = []
    for number, ids in enumerate(things()):
        through_third = draw.random() < 0.5
        for place, id_ in enumerate(ids):
            others = (f"Q{number + 1}",) if through_third else tuple(ids[place + 1 : place + 2])
            entities.append(Entity(id_, labels={"en": f"Thing {number}"}, same_as=others))
    return entities


def merged_id(id_: str) -> str:
    """The id of a thing: of its ids that of the smallest key."""
    return min(next(ids for ids in things() if id_ in ids), key=key64)


def with_merged_ids(statements: Sequence[Statement]) -> list[Statement]:
    return [
        replace(
            item,
            head=merged_id(item.head),
            value=EntityValue(merged_id(item.value.id))
            if isinstance(item.value, EntityValue)
            else item.value,
        )
        for item in statements
    ]


@pytest.fixture
def load_both(
    store: Store, graph_names: Callable[[], str]
) -> Callable[[int], tuple[GraphInfo, GraphInfo]]:
    """Loads a graph of linked entities, and the same with merged ids."""

    def load(seed: int) -> tuple[GraphInfo, GraphInfo]:
        statements = made_graph(seed)
        linked = load_graph(store, graph_names(), statements, linked_entities(random.Random(seed)))
        labels = [
            Entity(min(ids, key=key64), labels={"en": f"Thing {number}"})
            for number, ids in enumerate(things())
        ]
        return linked, load_graph(store, graph_names(), with_merged_ids(statements), labels)

    return load


@pytest.fixture
def open_both(store: Store, tmp_path: Path) -> Iterator[Callable[..., tuple[Service, Service]]]:
    """Opens a service that answers from the snapshot, and one that answers from the store itself."""
    with ExitStack() as stack:

        def open_with(**options: Any) -> tuple[Service, Service]:
            vectors, cache = str(tmp_path / "v.db"), str(tmp_path / "cache")
            whole = Settings(vectors=vectors, cache_dir=cache, **options)
            # The weights that ship, as if they were trained on vectors of the tests' embedder.
            ranker = NetworkRanker(replace(shipped_scorer(), embedder=CountingWords().name))
            one, other = (
                open_service(store, embedder=CountingWords(), settings=settings)
                for settings in (whole, replace(whole, snapshot_edges=1))
            )
            for service in (one, other):
                stack.enter_context(service.ranking_by(ranker))
            return one, other

        yield open_with


@pytest.mark.parametrize("seed", range(3))
def test_a_region_is_that_of_the_graph_with_merged_ids(
    store: Store, load_both: Callable[[int], tuple[GraphInfo, GraphInfo]], seed: int
) -> None:
    linked, merged = load_both(seed)
    equal = read_merged_entities(store, linked.edition).equal
    graph = store.snapshot(linked)
    assert graph.node_keys[graph.equal.members].tolist() == equal.members.tolist()
    assert graph.equal.group.tolist() == equal.group.tolist()
    for start in (f"{A}0", f"{A}4"):
        for hops, hub, most in ((0, None, 99), (1, None, 99), (2, 6, 99), (3, 9, 99), (3, 5, 12)):
            one = store.neighbourhood(
                linked.edition, [start], hops=hops, max_edges=most, hub_degree=hub, equal=equal
            )
            two = store.neighbourhood(
                merged.edition, [merged_id(start)], hops=hops, max_edges=most, hub_degree=hub
            )
            case = (start, hops, hub, most)
            assert [edge.statement_id for edge in one.edges] == [
                edge.statement_id for edge in two.edges
            ], case
            degrees: dict[str, int] = {}
            for id_, degree in one.degrees.items():
                degrees[merged_id(id_)] = degrees.get(merged_id(id_), 0) + degree
            assert degrees == dict(two.degrees), case
            assert {(merged_id(id_), hop) for id_, hop in one.hops.items()} == {*two.hops.items()}
            assert one.truncated == two.truncated, case
            assert {*map(merged_id, one.unexpanded)} == {*two.unexpanded}, case


def compared(result: RetrievalResult) -> list[object]:
    """What of a result does not hang on which id a thing is named by."""
    return [
        result.region,
        result.truncated,
        [
            (
                round(item.score, 9),
                [(step.triple.statement_id, step.reversed) for step in item.steps]
                if isinstance(item, ScoredPath)
                else item.triple.statement_id,
            )
            for item in result.items
        ],
    ]


@pytest.mark.parametrize("preset", ["default-6", "okgqa"])
def test_a_question_has_the_result_of_the_graph_with_merged_ids(
    store: Store,
    load_both: Callable[[int], tuple[GraphInfo, GraphInfo]],
    open_both: Callable[..., tuple[Service, Service]],
    preset: str,
) -> None:
    """Every strategy, whichever id the question's entity has."""
    linked, merged = load_both(7)
    whole, part = open_both()
    crossing = 0
    for number in (0, 3, 4):
        for strategy in Strategy:
            request = RetrieveRequest(
                "Who is the mayor of where the spouse was born?",
                strategy,
                preset=preset,
                limit=8,
            )
            ids = sorted(things()[number], key=key64)
            wanted = whole.retrieve(replace(request, graph=merged.name, entity_ids=(ids[0],)))
            for service in (whole, part):
                found = service.retrieve(replace(request, graph=linked.name, entity_ids=(ids[0],)))
                assert compared(found) == compared(wanted), (number, strategy)
                other = service.retrieve(replace(request, graph=linked.name, entity_ids=(ids[-1],)))
                assert {triple.statement_id for triple in triples_of(other)} == {
                    triple.statement_id for triple in triples_of(wanted)
                }
            crossing += len({triple.head.id[:13] for triple in triples_of(found)}) > 1
    assert crossing > 3


@pytest.fixture
def zelda(
    store: Store, graph_name: str, open_both: Callable[..., tuple[Service, Service]]
) -> tuple[Service, Service]:
    """DBpedia says where Zelda was born, Wikidata who governs that place; both when he was born."""
    entities = [
        Entity(DBPEDIA + "Zelda", labels={"en": "Zelda"}, same_as=("Q900003",)),
        Entity(DBPEDIA + "Odderup", labels={"en": "Odderup"}, same_as=("Q900001",)),
        Entity("Q900001", labels={"en": "Odderup Town"}),
        Entity("Q900002", labels={"en": "Kirsten Holm"}),
        Entity("Q900003", labels={"en": "Zelda"}),
        Entity("Q900004", labels={"en": "town"}),
        Entity("birthPlace", labels={"en": "birth place"}),
        Entity("P6", labels={"en": "head of government"}),
        Entity("birthDate", labels={"en": "birth date"}),
        Entity("P569", labels={"en": "date of birth"}),
    ]
    statements = [
        make_statement(DBPEDIA + "Zelda", "birthPlace", EntityValue(DBPEDIA + "Odderup")),
        make_statement("Q900001", "P6", EntityValue("Q900002")),
        make_statement("Q900001", "P31", EntityValue("Q900004")),
        make_statement(DBPEDIA + "Zelda", "birthDate", Time("1920-05-01T00:00:00Z")),
        make_statement("Q900003", "birthDate", Time("1921-05-01T00:00:00Z")),
    ]
    load_graph(store, graph_name, statements, entities)
    return open_both(graph=graph_name)


HEAD = "Who is the head of government of the birth place of Zelda?"


@pytest.mark.parametrize("strategy", list(Strategy))
@pytest.mark.parametrize("preset", ["default-6", "okgqa"])
def test_a_path_crosses_from_one_source_to_another(
    zelda: tuple[Service, Service], strategy: Strategy, preset: str
) -> None:
    """The example of two sources: each statement keeps its id and the ids of its ends."""
    results = [
        service.retrieve(
            RetrieveRequest(HEAD, strategy, preset=preset, entity_ids=(start,), limit=20)
        )
        for service in zelda
        for start in (DBPEDIA + "Zelda", "Q900003")
    ]
    for result in results:
        told = {
            (triple.head.id, triple.relation.id, getattr(triple.value, "id", None)): triple.source
            for triple in triples_of(result)
        }
        assert told[DBPEDIA + "Zelda", "birthPlace", DBPEDIA + "Odderup"] == "dbpedia.org"
        assert told["Q900001", "P6", "Q900002"] == "www.wikidata.org"
    assert results[0].id == results[2].id
    assert results[1].id == results[3].id


def test_a_budget_leaves_a_subgraph_connected_through_things(
    zelda: tuple[Service, Service],
) -> None:
    """The statement of the one source touches that of the other."""
    request = RetrieveRequest(
        HEAD, Strategy.SUBGRAPH, preset="default-6", entity_ids=(DBPEDIA + "Zelda",), limit=20
    )
    for service in zelda:
        free = service.retrieve(request)
        assert free.tokens.count > 1
        tight = service.retrieve(replace(request, token_budget=free.tokens.count - 1))
        assert len(tight.items) == len(free.items) - 1 >= 1
        few = service.retrieve(replace(request, token_budget=16))
        assert {triple.source for triple in triples_of(few)} == {"dbpedia.org", "www.wikidata.org"}


@pytest.mark.parametrize("direction", [(True, False), (False, True), (True, True)])
def test_pages_of_statements_are_those_of_the_graph_with_merged_ids(
    store: Store,
    graph_names: Callable[[], str],
    open_both: Callable[..., tuple[Service, Service]],
    direction: tuple[bool, bool],
) -> None:
    """Whichever id is named: page by page, with totals and counts of relations."""
    within = [
        make_statement(f"{A}0", "part of", EntityValue(f"{B}0")),
        make_statement(f"{B}0", "part of", EntityValue(f"{C}0")),
        make_statement(f"{C}3", "spouse", EntityValue(f"{C}3")),
    ]
    statements = [*made_graph(3), *within]
    linked = load_graph(store, graph_names(), statements, linked_entities(random.Random(3)))
    merged = load_graph(store, graph_names(), with_merged_ids(statements))
    outgoing, incoming = direction
    page = PageRequest(4, outgoing=outgoing, incoming=incoming)

    def pages(service: Service, id_: str, graph: str, entities_only: bool) -> list[list[str]]:
        result: list[list[str]] = []
        after: int | None = None
        while True:
            rows = service.statements.page(
                id_, replace(page, after=after), graph=graph, entities_only=entities_only
            )
            ids = [item.edge.triple.statement_id for item in rows.items]
            result.append(ids)
            # A page says how many there are on all.
            assert rows.total == totals.setdefault((id_, graph), rows.total)
            if not rows.has_next:
                assert sum(map(len, result)) == rows.total
                return result
            after = rows.numbers[-1]

    services = open_both()
    shared = 0
    for ids, entities_only in product(things()[:6], (False, True)):
        for service in services:
            totals: dict[tuple[str, str], int] = {}
            expected = pages(service, merged_id(ids[0]), merged.name, entities_only)
            counts = service.statements.relation_counts(
                merged_id(ids[0]), outgoing=outgoing, incoming=incoming, graph=merged.name
            )
            for id_ in ids:
                found = pages(service, id_, linked.name, entities_only)
                assert sorted(sum(found, [])) == sorted(sum(expected, []))
                assert [len(each) for each in found] == [len(each) for each in expected]
                assert counts == service.statements.relation_counts(
                    id_, outgoing=outgoing, incoming=incoming, graph=linked.name
                )
            shared += len(ids) > 1 and sum(map(len, expected)) > 1
    assert shared > 4
    everyone = PageRequest(99, incoming=True)
    for service in services:
        rows = service.statements.page(f"{A}0", everyone, graph=linked.name)
        assert rows.entity_ids == {f"{A}0", f"{B}0", f"{C}0"}


def test_what_a_graph_is_about_is_that_of_the_graph_with_merged_ids(
    store: Store,
    graph_names: Callable[[], str],
    open_both: Callable[..., tuple[Service, Service]],
) -> None:
    """Sizes of classes, of equal ones too, the number of things, and the most central of them."""
    draw = random.Random(5)
    kinds = {
        # An instance that two sources name, and classes that are one thing.
        (draw.choice(ids), draw.choice(things()[draw.randrange(3)]))
        for ids in things()[3:]
        for _ in range(3)
    }
    within = [make_statement(head, "P31", EntityValue(tail)) for head, tail in sorted(kinds)]
    statements = [*made_graph(5), *within]
    linked = load_graph(store, graph_names(), statements, linked_entities(random.Random(5)))
    merged = load_graph(store, graph_names(), with_merged_ids(statements))
    whole, part = open_both()
    expected = whole.about(graph=merged.name).overview
    assert sum(size.count for size in expected.classes) < len(kinds)
    for service in (whole, part):
        about = service.about(graph=linked.name).overview
        assert about.classes == expected.classes
        assert about.relations == expected.relations
        text = service.introduction(graph=linked.name).text
        assert text.startswith(f"{THINGS} ")
    central = whole.introduction(graph=linked.name).central
    assert [entity.id for entity in central] == [
        entity.id for entity in whole.introduction(graph=merged.name).central
    ]


def test_sources_that_contradict_each_other_both_speak(zelda: tuple[Service, Service]) -> None:
    for service in zelda:
        result = service.retrieve(
            RetrieveRequest("What is the birth date of Zelda?", Strategy.TRIPLETS, limit=20)
        )
        dates = {
            (triple.value_label, triple.source)
            for triple in triples_of(result)
            if triple.relation.id == "birthDate"
        }
        assert dates == {("1920-05-01", "dbpedia.org"), ("1921-05-01", "www.wikidata.org")}


def test_a_thing_is_of_a_type_if_one_source_says_so(zelda: tuple[Service, Service]) -> None:
    results = [
        service.retrieve(
            RetrieveRequest(
                HEAD, Strategy.TRIPLETS, entity_ids=(DBPEDIA + "Zelda",), type_ids=("Q900004",)
            )
        )
        for service in zelda
    ]
    for result in results:
        related = {triple.relation.id for triple in triples_of(result)}
        assert "birthPlace" in related
        # A person of no type asked for is not reached.
        assert "P6" not in related
    assert results[0].id == results[1].id


def test_on_a_view_things_stay_one(zelda: tuple[Service, Service]) -> None:
    """A view changes statements by their ids; what it leaves is reached through every entity."""
    whole, part = zelda
    (dead,) = (
        each
        for each in whole.statements.of("Q900003", graph=whole.graph().name)
        if each.edge.triple.head.id == "Q900003"
    )
    withheld = ViewSpec(Method.WITHHOLDING, count=1, statement_ids=(dead.edge.triple.statement_id,))
    added = Change(head="Q900001", relation="P6", value=EntityValue("Q900004"))
    request = RetrieveRequest(HEAD, Strategy.PATHS, entity_ids=("Q900003",), limit=20)
    results = [service.retrieve(replace(request, view=ViewRef(spec=withheld))) for service in zelda]
    for result in results:
        heads = {triple.head.id for triple in triples_of(result)}
        assert {DBPEDIA + "Zelda", "Q900001"} <= heads
        assert "Q900003" not in heads
    assert results[0].id == results[1].id
    custom = ViewRef(spec=ViewSpec(Method.CUSTOM, changes=(added,)))
    triples = triples_of(whole.retrieve(replace(request, view=custom)))
    assert {getattr(triple.value, "id", "") for triple in triples} >= {"Q900002", "Q900004"}


def test_groups_of_one_source_and_large_ones_stay_apart(store: Store, graph_name: str) -> None:
    """One wrong link among many right ones would make a node of two things."""
    many = [f"http://s{number}.org/x" for number in range(51)]
    entities = [
        Entity(f"{A}1", same_as=("Q1",)),
        Entity(f"{A}2", same_as=("Q1",)),
        Entity(f"{B}3", same_as=(f"{C}3",)),
        *(Entity(id_, same_as=("Q2",)) for id_ in many),
        Entity("x", same_as=("y",)),
    ]
    ids = [f"{A}1", f"{A}2", f"{B}3", f"{C}3", "x", "y", *many]
    info = load_graph(store, graph_name, [(id_, "p", "O") for id_ in ids], entities)
    merged = read_merged_entities(store, info.edition)
    graph = store.snapshot(info)
    assert {*graph.node_ids.take(graph.equal.members)} == {f"{B}3", f"{C}3", "x", "y"}
    assert merged.equal.members.tolist() == graph.node_keys[graph.equal.members].tolist()
    assert {(group.reason, len(group.members)) for group in merged.unmerged} == {
        (NotMerged.ONE_SOURCE, 2),
        (NotMerged.TOO_MANY, 51),
    }
