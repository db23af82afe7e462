"""Only entities of some types, beside the question's own (S2)."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cli_runs import Cli
from demo_graph import ARNOLD, AURELIA, MARIA, QUESTION, copy_store, request
from error_texts import raises
from graph_builder import build_graph

from graph_service import Service
from graph_service.api.schema import execute
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.classes import INSTANCE_RELATIONS, SUBCLASS_RELATIONS
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.overlay import Overlay
from graph_service.model.request import ViewRef
from graph_service.model.result import RetrievalResult, Strategy, triples_of
from graph_service.model.statement import Rank
from graph_service.model.values import EntityValue, StringValue
from graph_service.model.view_delta import ViewDelta
from graph_service.model.view_spec import Change, Method, ViewSpec
from graph_service.retrieve.region.class_filter import instances_of
from graph_service.retrieve.region.cut import extract_region
from graph_service.views.overlay import lay

HUMAN, FILM = "Q5", "Q11424"


def drawn(draw: random.Random) -> tuple[KnowledgeGraph, Overlay]:
    """A graph with classes in circles, ranks, literals, and a view of it."""
    relations = ["P31", "P279", "P1", "P2"]
    triples = [
        (
            f"Q{draw.randrange(25)}",
            draw.choice(relations),
            f"Q{draw.randrange(25)}" if draw.random() < 0.85 else StringValue(f"text {place}"),
        )
        for place in range(80)
    ]
    ranks = {place: draw.choice(list(Rank)) for place in range(0, 80, 7)}
    graph = build_graph(triples, ranks=ranks)
    removed = sorted(draw.sample(range(graph.edge_count), 10))
    replaced = sorted(draw.sample([e for e in range(graph.edge_count) if e not in removed], 10))
    delta = ViewDelta(
        removed=np.array(removed, dtype=np.int32),
        replaced=np.array(replaced, dtype=np.int32),
        replaced_rel=np.array(
            [draw.randrange(graph.relation_count) for _ in replaced], dtype=np.int32
        ),
        replaced_tail=graph.tail[replaced],
        added_head=np.array([0, 1], dtype=np.int32),
        added_rel=np.array([0, 1], dtype=np.int32),
        added_tail=np.array([2, 3], dtype=np.int32),
    )
    return graph, lay(graph, delta, view_id="drawn")


def edges_of(graph: KnowledgeGraph, overlay: Overlay | None) -> list[tuple[int, str, int]]:
    """All statements that count, as (head, relation id, tail) of node numbers."""
    found = [
        (int(graph.head[e]), graph.relation_ids[int(graph.rel[e])], int(graph.tail[e]))
        for e in range(graph.edge_count)
        if graph.rank[e] < 2 and not (overlay is not None and e in overlay.gone.numbers)
    ]
    if overlay is not None:
        found += [
            (int(h), graph.relation_ids[int(r)], int(t))
            for h, r, t, rank in zip(
                overlay.head, overlay.rel, overlay.tail, overlay.rank, strict=True
            )
            if rank < 2
        ]
    return found


@pytest.mark.parametrize("seed", range(20))
def test_instances_are_those_of_the_types_and_their_subclasses(seed: int) -> None:
    draw = random.Random(seed)
    graph, view = drawn(draw)
    for overlay in (None, view):
        edges = edges_of(graph, overlay)
        types = draw.sample(range(graph.entity_count), 2)
        classes = set(types)
        while new := {h for h, r, t in edges if r in SUBCLASS_RELATIONS and t in classes} - classes:
            classes |= new
        expected = {h for h, r, t in edges if r in INSTANCE_RELATIONS and t in classes}
        told = instances_of(graph, overlay, types)(np.arange(graph.entity_count))
        assert set(np.flatnonzero(told).tolist()) == expected


@pytest.mark.parametrize("seed", range(10))
def test_a_region_is_reached_by_entities_of_the_types_alone(seed: int) -> None:
    draw = random.Random(seed)
    graph, view = drawn(draw)
    start_entities = draw.sample(range(graph.entity_count), 2)
    allowed = set(draw.sample(range(graph.entity_count), 12)) | set(start_entities)
    whole = extract_region(
        graph, np.array(start_entities, dtype=np.int32), hops=3, max_edges=1000, overlay=view
    )
    region = extract_region(
        graph,
        np.array(start_entities, dtype=np.int32),
        hops=3,
        max_edges=1000,
        overlay=view,
        is_instance=lambda nodes: np.isin(nodes, list(allowed)),
    )
    literal = whole.nodes[whole.literal].tolist()
    statements = dict(
        zip(
            whole.edges.tolist(),
            zip(whole.nodes[whole.head].tolist(), whole.nodes[whole.tail].tolist(), strict=True),
            strict=True,
        )
    )
    reached, expected = set(start_entities), set[int]()
    for _ in range(3):
        near = {
            edge: ends
            for edge, ends in statements.items()
            if reached.intersection(ends) and (allowed | set(literal)).issuperset(ends)
        }
        expected |= near.keys()
        reached |= {end for ends in near.values() for end in ends} - set(literal)
    assert set(region.edges.tolist()) == expected
    assert not region.cuts


def test_what_is_of_another_type_takes_no_room() -> None:
    """Q0 has 400 friends and, with larger keys or smaller ones, five films."""
    triples = [("Q0", "P1", f"Q{number}") for number in range(1, 401)]
    triples += [("Q0", "P2", f"Q{number}") for number in range(401, 406)]
    graph = build_graph(triples)
    films = [graph.find_node(f"Q{number}") or 0 for number in range(401, 406)]

    def of_films(max_edges: int) -> tuple[int, list[tuple[float, int, int | None]]]:
        region = extract_region(
            graph,
            [graph.find_node("Q0") or 0],
            hops=2,
            max_edges=max_edges,
            is_instance=lambda nodes: np.isin(nodes, films),
        )
        return region.edge_count, [(cut.limit, cut.kept, cut.total) for cut in region.cuts]

    assert of_films(50) == (5, [])
    # Ten times as many are looked at, which is said.
    assert of_films(20)[1] == [(200, 200, 405)]
    found, cuts = of_films(41)
    assert (found, cuts) == (5, [])


def entities_of(result: RetrievalResult) -> set[str]:
    found = set()
    for triple in triples_of(result):
        found.add(triple.head.id)
        if isinstance(triple.value, EntityValue):
            found.add(triple.value.id)
    return found


@pytest.mark.parametrize("preset", ["default", "okgqa"])
@pytest.mark.parametrize("strategy", list(Strategy))
def test_only_entities_of_the_types_stand_in_items(
    demo_service: Service, strategy: Strategy, preset: str
) -> None:
    asked = request("What did Maria Shriver study, and where?", strategy, preset=preset, limit=40)
    free = demo_service.retrieve(asked)
    result = demo_service.retrieve(replace(asked, type_ids=(HUMAN,)))
    found = entities_of(result) - {MARIA}
    humans = {
        id_
        for id_ in found
        for shown in demo_service.statements.of(id_, relation_ids=["P31"])
        if shown.statement.value == EntityValue(HUMAN)
    }
    assert found
    assert found == humans
    assert entities_of(free) - {MARIA} - humans, "the filter had nothing to do"
    assert result.provenance.parameters["type_ids"] == [HUMAN]
    assert result.id != free.id


def test_the_views_own_edges_decide(demo_service: Service) -> None:
    def ends(view: ViewRef | None) -> set[str]:
        return entities_of(
            demo_service.retrieve(request(strategy=Strategy.PATHS, view=view, type_ids=(HUMAN,)))
        )

    (is_human,) = demo_service.statements.of(AURELIA, relation_ids=["P31"])
    assert AURELIA in ends(None)
    gone = ViewSpec(Method.WITHHOLDING, count=1, statement_ids=(is_human.statement.id,))
    assert AURELIA not in ends(ViewRef(spec=gone))
    films = ViewSpec(
        Method.CUSTOM,
        changes=(Change(statement_id=is_human.statement.id, value=EntityValue(FILM)),),
    )
    assert AURELIA not in ends(ViewRef(spec=films))


def test_a_type_that_is_not_known_is_named(demo_service: Service) -> None:
    with raises(InputError) as error:
        demo_service.retrieve(request(type_ids=("Q999999999",)))
    assert error.value.argument == "type_ids"
    document = (
        'query { triplets(input: {question: "x Maria Shriver", typeIds: ["Q9999999"]}) { id } }'
    )
    (shown,) = execute(demo_service, document)["errors"]
    assert shown["extensions"]["argument"] == "typeIds"
    with pytest.raises(InputError, match="at most 100 values"):
        demo_service.retrieve(request(type_ids=("Q5",) * 101))


def test_types_by_the_client_and_on_the_command_line(
    demo_service: Service,
    cli: Cli,
    demo_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = demo_service.retrieve(request(type_ids=(HUMAN,), limit=5))
    assert Client.over(demo_service).triplets(QUESTION, type_ids=[HUMAN], limit=5) == expected
    monkeypatch.setenv("GRAPH_SERVICE_STORE", copy_store(demo_file, tmp_path))
    found = cli("retrieve", QUESTION, "--type", HUMAN, "--limit", "5", "--json").json
    assert found["id"] == expected.id
    assert {ARNOLD, AURELIA} <= entities_of(expected)
