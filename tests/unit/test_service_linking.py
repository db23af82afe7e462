"""What a result shows as linked, by the linker alone and by linking and retrieval together."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

import pytest
from demo_graph import ARNOLD, MARIA, request

from graph_service import Service
from graph_service.link.joint import JointMention
from graph_service.model.result import PathsResult, Status, Strategy
from graph_service.retrieve.learned.network import shipped_scorer
from graph_service.retrieve.learned.rankers import NetworkRanker
from graph_service.retrieve.learned.strategy import Asking
from graph_service.retrieve.preset import LEARNED, OKGQA
from graph_service.service.linking import Linking, OpenGraph, QuestionLinker

QUESTION = "What did Schwarzenegger and his wife Maria Shriver found?"


def mentions(linking: Linking, *used: int) -> tuple[JointMention, ...]:
    """What a question names by the entities that the paths start from."""

    def no_names(*_: object) -> NoReturn:
        raise AssertionError("names no relation")

    ranker = NetworkRanker(shipped_scorer())
    return Asking(linking.candidates, linking.are_from_caller, ranker, no_names).mentions(used)


def test_linking_with_retrieval_shows_what_it_used(demo_service: Service) -> None:
    info = demo_service.graph()
    base = OpenGraph(info, demo_service.arrays(info))
    linker = QuestionLinker(demo_service.store)
    asked = request(QUESTION)
    alone = linker.link(base, asked, OKGQA)
    assert [one.entity.id for one in alone.entities] == [MARIA]

    linking = linker.link(base, asked, LEARNED)
    assert linking.entities == ()
    assert [one.node for one in linking.candidates] == linking.start_entities.tolist()
    assert not linking.are_from_caller
    assert linker.meant(base, asked, linking, mentions(linking)) == alone.entities

    arnold = base.arrays.find_node(ARNOLD)
    maria = base.arrays.find_node(MARIA)
    assert arnold is not None
    assert maria is not None
    # The best path's entity is what is meant; those of later paths are further answers.
    first, second = linker.meant(base, asked, linking, mentions(linking, arnold, maria))
    assert (first.entity.id, first.mention) == (ARNOLD, "Schwarzenegger")
    assert second == alone.entities[0]
    assert first.entity.description
    assert len(first.alternatives) <= 5


def test_entities_that_the_caller_gave_are_what_is_meant(demo_service: Service) -> None:
    info = demo_service.graph()
    base = OpenGraph(info, demo_service.arrays(info))
    linker = QuestionLinker(demo_service.store)
    asked = replace(request("who is her mother?"), entity_ids=(MARIA,))
    linking = linker.link(base, asked, LEARNED)
    assert linking.are_from_caller
    (start,) = linking.candidates
    assert (start.start, start.end, start.linked) == (-1, -1, False)
    (meant,) = linker.meant(
        base, asked, linking, mentions(linking, *linking.start_entities.tolist())
    )
    assert (meant.entity.id, meant.start) == (MARIA, -1)


def ask(service: Service, question: str, **options: object) -> PathsResult:
    result = service.retrieve(
        replace(request(question, strategy=Strategy.PATHS, preset="default-6"), **options)  # type: ignore[arg-type]
    )
    assert isinstance(result, PathsResult)
    return result


@pytest.mark.parametrize(
    ("question", "mention", "entity", "relations"),
    [
        ("Who is Maria Shriver's husband?", "Maria Shriver", MARIA, ["spouse"]),
        ("who is maria shriver's husband's mother?", "maria shriver", MARIA, ["spouse", "mother"]),
        # No name of the graph, but a part of several; what is asked fits one.
        ("what position did schwarzenegger hold?", "schwarzenegger", ARNOLD, ["position held"]),
    ],
)
def test_the_learned_preset_finds_what_is_asked_of_whom(
    demo_service: Service, question: str, mention: str, entity: str, relations: list[str]
) -> None:
    result = ask(demo_service, question, limit=3)
    assert result.status is Status.OK
    linked = next(one for one in result.linked if one.entity.id == entity)
    assert linked.mention == mention
    best = result.items[0]
    assert [step.triple.relation.label for step in best.steps] == relations
    assert best.steps[0].triple.head.id == entity
    assert best.score == pytest.approx(sum(part.amount for part in best.parts), abs=1e-9)
    scores = [item.score for item in result.items]
    assert scores == sorted(scores, reverse=True)
    assert result.relevance == pytest.approx(best.score)


def test_provenance_names_what_ranked_and_what_started(demo_service: Service) -> None:
    parameters = ask(demo_service, "Who is Maria Shriver's husband?").provenance.parameters
    assert parameters["ranker"].startswith("trained ")
    assert parameters["starts"]["of_name"] == 4
    assert LEARNED.parameters().items() <= {**parameters, "limit": LEARNED.limit}.items()


def test_the_store_route_gives_the_same_result(demo_service: Service) -> None:
    question = "Who is the mother of Maria Shriver's husband?"
    settings = replace(demo_service.settings, snapshot_edges=1)
    from_store = Service(demo_service.store, settings=settings, vectors=demo_service.vectors)
    whole, read = ask(demo_service, question), ask(from_store, question)
    assert "read" in read.timings_ms
    assert read.items == whole.items
    assert read.id == whole.id


def test_a_question_that_names_nothing_is_told_so(demo_service: Service) -> None:
    result = ask(demo_service, "what is it?")
    assert result.status is Status.NO_ENTITY_LINKED
    assert result.items == ()
