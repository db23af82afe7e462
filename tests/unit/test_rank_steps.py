"""Preset ltgen as a retriever, ranked by the API or by a ranker of one's own (L4, L7)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest
from error_texts import check_text, raises
from graphs import load_graph
from hand_chat import HandChat, script
from query_samples import triple
from word_vectors import CountingWords

from graph_service import Service, open_service
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.ranking import RankedRelation, SignedRelation
from graph_service.model.request import RetrieveOptions, RetrieveRequest, ViewRef
from graph_service.model.result import Status, Strategy, TripletsResult, triples_of
from graph_service.model.statement import Entity, EntityKind, Statement, make_statement
from graph_service.model.values import EntityValue, StringValue
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.rank import EmbeddingRanker
from graph_service.retrieve.preset import RelationPreset, resolve_preset
from graph_service.settings import Settings
from queries.generate.answer import answer
from queries.rank.prompted import PromptedRanker
from queries.rank.steps import (
    MAX_ENTITIES,
    PRESET,
    RELATIONS_AN_ENTITY,
    STATEMENTS_A_RELATION,
    RelationRetriever,
    StepLimits,
    by_relation,
)

PEOPLE = {"Q1": "Ann Lee", "Q2": "Bo Hansen", "Q3": "Carla Diaz", "Q4": "Dmitri Orlov"}
RELATIONS = {"P1": "spouse", "P2": "child", "P3": "employer", "P4": "author", "P5": "pet"}
ASKED = "Who is the spouse of Ann Lee?\nBo Hansen.\nAnd who is his employer?"


def statements() -> list[Statement]:
    made = [
        make_statement("Q1", "P1", EntityValue("Q2")),
        make_statement("Q2", "P5", StringValue("a dog")),
    ]
    made += [make_statement("Q1", "P2", EntityValue(f"Q{10 + i}")) for i in range(14)]
    made += [make_statement(f"Q{30 + i}", "P4", EntityValue("Q1")) for i in range(12)]
    made += [make_statement("Q2", "P3", EntityValue(f"Q{50 + i}")) for i in range(3)]
    made += [
        make_statement("Q1", "P5", EntityValue("Q1")),
        make_statement("Q60", "P3", EntityValue("Q1")),
    ]
    return made


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("steps")
    settings = Settings(vectors=str(folder / "vectors.db"))
    with open_service(
        f"sqlite:///{folder / 'g.db'}", settings=settings, embedder=CountingWords()
    ) as opened:
        entities = [
            *(Entity(id_, labels={"en": name}) for id_, name in PEOPLE.items()),
            *(
                Entity(id_, EntityKind.PROPERTY, labels={"en": name})
                for id_, name in RELATIONS.items()
            ),
        ]
        load_graph(opened.store, "people", statements(), entities)
        yield opened


@pytest.fixture(scope="module")
def client(service: Service) -> Client:
    return Client.over(service)


def own() -> EmbeddingRanker:
    """The API's own way of ranking, at hand here."""
    return EmbeddingRanker(CountingWords())


def test_what_is_kept_here_is_what_the_preset_keeps() -> None:
    rules = resolve_preset(PRESET)
    assert isinstance(rules, RelationPreset)
    assert (
        rules.max_entities, rules.relations_per_entity, rules.triples_per_relation,
    ) == (MAX_ENTITIES, RELATIONS_AN_ENTITY, STATEMENTS_A_RELATION)  # fmt: skip


def test_statements_stand_under_signed_relations() -> None:
    one = triple("s1", "Q1", "child", "Q2")
    back, self_ = triple("s2", "Q3", "child", "Q1"), triple("s3", "Q1", "like", "Q1")
    text = triple("s4", "Q5", "code", "1 Q1")
    found, relations = by_relation("Q1", [one, back, self_, text])
    assert found == {"child": (one,), "-child": (back,), "like": (self_,), "-like": (self_,)}
    assert [each.key for each in relations] == ["-child", "-like", "child", "like"]


@pytest.mark.parametrize("given", [(), ("Q1",), ("Q2", "Q1", "Q3")])
@pytest.mark.parametrize(
    "limits",
    [
        StepLimits(),
        StepLimits(relations_per_entity=2, triples_per_relation=3, draw_seed=9),
        StepLimits(max_entities=1),
    ],
)
def test_a_ranker_of_ones_own_gives_what_the_api_gives_l4_l5(
    client: Client, limits: StepLimits, given: tuple[str, ...]
) -> None:
    by_api = RelationRetriever(client, limits=limits).retrieve(
        Strategy.TRIPLETS, ASKED, entity_ids=given
    )
    here = RelationRetriever(client, own(), limits=limits).retrieve(
        Strategy.TRIPLETS, ASKED, entity_ids=given
    )
    assert isinstance(by_api, TripletsResult)
    assert isinstance(here, TripletsResult)
    assert by_api.items
    assert here.items == by_api.items
    assert here.linked == by_api.linked
    assert here.status is by_api.status is Status.OK


def test_a_view_is_honoured_by_both_ways_l4(client: Client) -> None:
    view = ViewRef(spec=ViewSpec(method=Method.EDGE_DELETION, level=0.5, random_seed=2))
    base = RelationRetriever(client).retrieve(Strategy.TRIPLETS, ASKED)
    by_api = RelationRetriever(client).retrieve(Strategy.TRIPLETS, ASKED, view=view)
    here = RelationRetriever(client, own()).retrieve(Strategy.TRIPLETS, ASKED, view=view)
    assert triples_of(here) == triples_of(by_api)
    assert triples_of(by_api) != triples_of(base)
    removed = {one.id for one in statements()} - {
        each.statement_id
        for id_ in PEOPLE
        for each in triples_of(client.neighbourhood(id_, view=view, limit=1000))
    }
    assert removed
    assert not removed & {each.statement_id for each in triples_of(by_api)}


def test_filters_mean_the_same_both_ways_and_what_would_cut_is_refused_l4(client: Client) -> None:
    given: RetrieveOptions = {"relation_ids": ("P1", "P2"), "exclude_relation_ids": ("P2",)}
    by_api = RelationRetriever(client).retrieve(Strategy.TRIPLETS, ASKED, **given)
    own_steps = RelationRetriever(client, own())
    here = own_steps.retrieve(Strategy.TRIPLETS, ASKED, **given)
    assert {each.relation.id for each in triples_of(by_api)} == {"P1"}
    assert triples_of(here) == triples_of(by_api)
    sent = own_steps.queries_of(here, **given)
    assert sent["variables"]["input"]["propertyIds"] == ["P1", "P2"]
    assert sent["around"][0]["variables"]["input"]["propertyIds"] == ["P1"]
    made = answer(ASKED, retriever=client, strategy=Strategy.TRIPLETS, retrieval=given)
    assert {each.relation.id for each in made.knowledge} == {"P1"}
    assert made.query is not None
    assert made.query["variables"]["input"]["excludePropertyIds"] == ["P2"]
    with raises(InputError) as raised:
        own_steps.retrieve(Strategy.TRIPLETS, ASKED, linking_accuracy=0.5)
    assert raised.value.argument == "linking_accuracy"


def test_the_draw_is_by_random_seed_and_written_down_l4(client: Client) -> None:
    def drawn(ranker: EmbeddingRanker | str, seed: int) -> TripletsResult:
        steps = RelationRetriever(client, ranker, limits=StepLimits(draw_seed=seed))
        found = steps.retrieve(Strategy.TRIPLETS, ASKED)
        assert isinstance(found, TripletsResult)
        return found

    for ranker in ("embedding", own()):
        first, again, other = drawn(ranker, 0), drawn(ranker, 0), drawn(ranker, 1)
        assert triples_of(first) == triples_of(again)
        assert (first.id, first.provenance) == (again.id, again.provenance)
        assert set(triples_of(first)) != set(triples_of(other))
        assert first.id != other.id
        parameters = other.provenance.parameters
        assert (parameters["draw_seed"], parameters["relations_per_entity"]) == (1, 5)
        assert parameters["triples_per_relation"] == 10
    assert drawn("embedding", 0).provenance.parameters["ranker"] == "embedding"
    assert drawn(own(), 0).provenance.parameters["ranker"] == "embedding words-1"


def test_the_whole_dialogue_goes_to_the_tagger_and_the_ranker_l4(client: Client) -> None:
    asked: list[tuple[str, str]] = []

    class Listening:
        name = "listening"

        def rank(
            self, question: str, relations: Sequence[SignedRelation], /, *, entity: str = ""
        ) -> tuple[RankedRelation, ...]:
            asked.append((question, entity))
            return tuple(RankedRelation(each, None) for each in relations)

    found = RelationRetriever(client, Listening()).retrieve(Strategy.TRIPLETS, ASKED)
    assert asked == [(ASKED, "Ann Lee"), (ASKED, "Bo Hansen")]
    assert [item.entity.id for item in found.linked] == ["Q1", "Q2"]
    assert found.provenance.parameters["ranked"] == {
        "Q1": ["-P3", "-P4", "-P5", "P1", "P2"],
        "Q2": ["-P1", "P3", "P5"],
    }


def test_nothing_tagged_and_nothing_there_are_told_apart(client: Client) -> None:
    for ranker in ("embedding", own()):
        steps = RelationRetriever(client, ranker)
        nobody = steps.retrieve(Strategy.TRIPLETS, "How high is the mountain?")
        assert nobody.status is Status.NO_ENTITY_LINKED
        alone = steps.retrieve(Strategy.TRIPLETS, "What is it?", entity_ids=("Q4",))
        assert (alone.status, alone.items) == (Status.NOTHING_RELEVANT, ())
    sure = RelationRetriever(client, limits=StepLimits(min_link_score=1.0))
    dropped = sure.retrieve(Strategy.TRIPLETS, "who is ann lee married to")
    assert dropped.status is Status.NO_ENTITY_LINKED
    (cut,) = dropped.truncated
    assert (cut.what, cut.reason.value, cut.kept, cut.total) == ("entities", "min-score", 0, 1)
    # Who is given is no guess: the least confidence is for those that are tagged.
    kept = sure.retrieve(Strategy.TRIPLETS, "who is ann lee married to", entity_ids=("Q1",))
    assert kept.status is Status.OK


def test_paths_are_the_apis_alone_and_there_is_no_subgraph(client: Client) -> None:
    found = RelationRetriever(client).retrieve(Strategy.PATHS, ASKED, limit=3)
    assert [len(item.steps) for item in found.items] == [1, 1, 1]  # type: ignore[union-attr]
    with raises(InputError):
        RelationRetriever(client, own()).retrieve(Strategy.PATHS, ASKED)
    with pytest.raises(InputError, match="no subgraph"):
        RelationRetriever(client).retrieve(Strategy.SUBGRAPH, ASKED)
    with pytest.raises(InputError, match="at hand"):
        RelationRetriever(client).rank(ASKED)


def test_an_answer_keeps_the_queries_of_all_steps_l4(client: Client) -> None:
    found = answer(
        ASKED,
        retriever=RelationRetriever(client, own()),
        strategy=Strategy.TRIPLETS,
        preset="ltgen",
    )
    assert found.query is not None
    assert "spouse" in json.dumps(found.query["variables"])
    first, second = found.query["around"]
    assert first["variables"]["input"]["itemIds"] == ["Q1"]
    assert set(second["variables"]["input"]["propertyIds"]) == {"P1", "P3", "P5"}
    parameters = json.loads(found.to_json())["result"]["provenance"]["parameters"]
    assert parameters["relations_per_entity"] == 5
    one = answer(
        ASKED,
        retriever=RelationRetriever(client, limits=StepLimits(relations_per_entity=2)),
        strategy=Strategy.TRIPLETS,
        preset="ltgen",
        limit=4,
    )
    assert one.query is not None
    asked = one.query["variables"]["input"]
    assert "around" not in one.query
    assert (asked["preset"], asked["limit"]) == ("ltgen", 4)
    assert asked["experimental"] == {"propertiesPerItem": 2, "ranker": "embedding"}


def test_a_model_ranks_what_the_api_returned_l5(client: Client) -> None:
    # Listed by id, forward first: P1, P2, -P3, -P4, P5, -P5 of Ann; -P1, P3, P5 of Bo.
    model = HandChat(script("2\n1", "3"))
    found = RelationRetriever(
        client, PromptedRanker(model), limits=StepLimits(relations_per_entity=2)
    ).retrieve(Strategy.TRIPLETS, ASKED)
    assert isinstance(found, TripletsResult)
    assert len(model.asked) == 2
    assert [item.triple.relation.id for item in found.items] == ["P2"] * 10 + ["P5", "P1"]
    assert [item.origin_id for item in found.items[-2:]] == ["Q2", "Q1"]
    assert found.provenance.parameters["ranked"] == {"Q1": ["P2", "P1"], "Q2": ["P5", "-P1"]}


def test_a_model_that_ranks_nothing_fails_its_case_alone(client: Client) -> None:
    model = HandChat(script("none of them"))
    steps = RelationRetriever(client, PromptedRanker(model))
    found = answer(ASKED, retriever=steps, model=model, strategy=Strategy.TRIPLETS, preset="ltgen")
    assert found.failure is not None
    check_text(found.failure)
    assert found.sentences == ()


def test_a_request_of_the_service_takes_all_limits_l4(service: Service) -> None:
    found = service.retrieve(
        RetrieveRequest(
            ASKED,
            Strategy.TRIPLETS,
            preset="ltgen",
            min_link_score=0.5,
            max_entities=1,
            relations_per_entity=1,
            triples_per_relation=2,
            draw_seed=-3,
            ranker="embedding",
        )
    )
    parameters = found.provenance.parameters
    assert [parameters[name] for name in ("min_link_score", "max_entities", "draw_seed")] == [
        0.5, 1, -3,
    ]  # fmt: skip
    assert len(found.linked) == 1
    assert any(cut.what == "entities" and cut.kept == 1 for cut in found.truncated)
    assert found.provenance.preset == "ltgen-1"
    assert {item.score for item in found.items} == {1.0}
