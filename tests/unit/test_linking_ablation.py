"""K7 as an option of one call: a known share of the linking swapped for irrelevant entities.

The exact draw over a whole set of questions is ``queries.generate.ablation``, tested as K7 too.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from cli_runs import Cli
from demo_graph import ARNOLD, AURELIA, MARIA, QUESTION, copy_store, request
from error_texts import raises
from graph_builder import node_of
from served import served

from graph_service import Service, open_service
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import Strategy
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.service.linking_noise import add_linking_noise
from graph_service.settings import Settings

GraphMaker = Callable[..., KnowledgeGraph]

HALF = ViewSpec(Method.RELATION_REPLACEMENT, level=0.5, random_seed=3)
SHARES = (1.0, 0.8, 0.6, 0.4, 0.2, 0.0)


@pytest.fixture(scope="module")
def graph(demo_service: Service) -> KnowledgeGraph:
    return demo_service.arrays(demo_service.graph())


def neighbours(graph: KnowledgeGraph, node: int) -> set[int]:
    pairs = zip(graph.head[:].tolist(), graph.tail.tolist(), strict=True)
    return {one for pair in pairs if node in pair for one in pair}


def test_levels_nest_and_meet_their_share_k7(graph: KnowledgeGraph) -> None:
    entities = [node_of(graph, id_) for id_ in (MARIA, ARNOLD)]
    questions = [f"question {i}" for i in range(300)]
    levels = [
        {
            (question, node): stand_in
            for question in questions
            for node, stand_in in add_linking_noise(
                graph, question, entities, accuracy=share, random_seed=5
            ).items()
        }
        for share in SHARES
    ]
    for share, swapped in zip(SHARES, levels, strict=True):
        # 600 pairs: four standard deviations of a share are 0.08 at most.
        assert 1 - len(swapped) / 600 == pytest.approx(share, abs=0.08)
    assert not levels[0]
    assert len(levels[-1]) == 600
    for fewer, more in pairwise(levels):
        assert fewer.items() <= more.items()


def test_a_stand_in_is_irrelevant_and_alike_k7(graph: KnowledgeGraph) -> None:
    degrees = graph.degrees()
    alike = 0
    for seed in range(12):
        entities = [node_of(graph, id_) for id_ in (MARIA, AURELIA)]
        named = [node_of(graph, "Q42")]
        swapped = add_linking_noise(
            graph, QUESTION, entities, accuracy=0.0, random_seed=seed, named=named
        )
        assert set(swapped) == set(entities)
        near = {one for node in (*entities, *named) for one in neighbours(graph, node)}
        assert not near & set(swapped.values())
        assert len(set(swapped.values())) == 2
        assert all(node < graph.entity_count for node in swapped.values())
        alike += sum(
            int(degrees[a]).bit_length() == int(degrees[b]).bit_length() for a, b in swapped.items()
        )
    assert alike == 24
    draws = {
        tuple(add_linking_noise(graph, QUESTION, entities, accuracy=0.0, random_seed=seed).values())
        for seed in range(12)
    }
    assert len(draws) > 6


def test_one_entity_is_swapped_alike_with_and_without_another_k7(graph: KnowledgeGraph) -> None:
    maria, arnold = (node_of(graph, id_) for id_ in (MARIA, ARNOLD))
    for number in range(30):
        question = f"question {number}"
        both = add_linking_noise(graph, question, [arnold, maria], accuracy=0.5, random_seed=1)
        turned = add_linking_noise(graph, question, [maria, arnold], accuracy=0.5, random_seed=1)
        assert both == turned


def test_a_graph_without_an_irrelevant_entity_says_so_k7(small_graph: GraphMaker) -> None:
    small = small_graph([("Q1", "P1", "Q2"), ("Q2", "P1", "Q3")])
    with pytest.raises(InputError, match="no irrelevant entity"):
        add_linking_noise(small, "a", [node_of(small, "Q2")], accuracy=0.0, random_seed=0)


@pytest.mark.parametrize("strategy", list(Strategy))
def test_the_result_says_what_was_swapped_for_what_k7(
    demo_service: Service, strategy: Strategy
) -> None:
    wrong = demo_service.retrieve(request(strategy=strategy, linking_accuracy=0.0))
    (linked,) = wrong.linked
    assert linked.entity.id == MARIA
    assert linked.swapped_for is not None
    stand_in = linked.swapped_for
    assert stand_in.id != MARIA
    assert {item.origin_id for item in wrong.items} == {stand_in.id}
    # What is retrieved is what that entity would have given.
    asked = request(strategy=strategy, entity_ids=(stand_in.id,))
    assert demo_service.retrieve(asked).items == wrong.items
    assert wrong.provenance.parameters["linking_accuracy"] == 0.0
    right = demo_service.retrieve(request(strategy=strategy, linking_accuracy=1.0))
    own = demo_service.retrieve(request(strategy=strategy, entity_ids=(MARIA,)))
    assert right.items == own.items
    assert [each.entity for each in right.linked] == [each.entity for each in own.linked]
    assert len({right.id, own.id, wrong.id}) == 3


def test_given_entities_views_and_many_questions_k7(demo_service: Service) -> None:
    asked = request(entity_ids=(ARNOLD, AURELIA), linking_accuracy=0.0, linking_seed=4)
    result = demo_service.retrieve(asked)
    assert [linked.entity.id for linked in result.linked] == [ARNOLD, AURELIA]
    stand_ins_found = [linked.swapped_for.id for linked in result.linked]  # type: ignore[union-attr]
    assert len({*stand_ins_found, ARNOLD, AURELIA}) == 4
    assert demo_service.retrieve_many([asked]) == [result]
    base, view = demo_service.compare(asked, [ViewRef(spec=HALF)])
    assert base.result.linked == view.result.linked == result.linked


def test_what_is_no_share_is_refused_k7(demo_service: Service) -> None:
    for share in (-0.1, 1.1, float("nan")):
        with raises(InputError) as error:
            demo_service.retrieve(request(linking_accuracy=share))
        assert error.value.argument == "linking_accuracy"
    with Client.over(demo_service) as client, pytest.raises(InputError) as shown:
        client.paths(QUESTION, linking_accuracy=2.0)
    assert shown.value.argument == "experimental.linkingAccuracy"


def test_a_graph_that_is_not_read_whole_says_so_k7(
    demo_file: Path, demo_settings: Settings, tmp_path: Path
) -> None:
    settings = Settings(vectors=demo_settings.vectors, snapshot_edges=1)
    with (
        open_service(copy_store(demo_file, tmp_path), settings=settings) as service,
        raises(InputError) as error,
    ):
        service.retrieve(RetrieveRequest(QUESTION, Strategy.PATHS, linking_accuracy=0.5))
    assert error.value.argument == "linking_accuracy"


def test_near_far_and_on_the_command_line_k7(
    demo_service: Service,
    cli: Cli,
    demo_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = demo_service.retrieve(request(linking_accuracy=0.0, linking_seed=2, limit=2))
    options = {"linking_accuracy": 0.0, "linking_seed": 2, "limit": 2}
    near = Client.over(demo_service).triplets(QUESTION, **options)  # type: ignore[arg-type]
    with served(demo_service) as url, Client.connect(url) as client:
        far = client.triplets(QUESTION, **options)  # type: ignore[arg-type]
    assert near == far == expected
    monkeypatch.setenv("GRAPH_SERVICE_STORE", copy_store(demo_file, tmp_path))
    given = ("retrieve", QUESTION, "--linking-accuracy", "0", "--linking-seed", "2", "--limit", "2")
    assert cli(*given, "--json").json["id"] == expected.id
    swapped = expected.linked[0].swapped_for
    assert swapped is not None
    assert f"; swapped for {swapped.label} ({swapped.id})" in cli(*given).out
    assert f"at {swapped.label} ({swapped.id})" in cli(*given, "--explain").out
