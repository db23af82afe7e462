"""LTGen's three steps: entities tagged, their statements fetched, relations ranked (L4)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest
from hand_chat import HandChat, script
from query_samples import triple, triplets
from word_vectors import WordVectors

from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from graph_service.model.result import (
    EntityRef,
    LinkedEntity,
    RetrievalResult,
    Status,
    Strategy,
    SubgraphResult,
    Triple,
    TripletsResult,
    triples_of,
)
from queries.generate.answer import answer
from graph_service.rank.embedding import EmbeddingRanker
from queries.rank.prompted import PromptedRanker
from graph_service.model.ranking import RankedRelation, SignedRelation
from queries.rank.steps import RelationRetriever, StepLimits, by_relation


@dataclass
class Graph:
    """Tags what it is told to, and has the statements it is given."""

    statements: Mapping[str, Sequence[Triple]]
    tagged: Sequence[tuple[str, float]] = ()
    asked: list[dict[str, Any]] = field(default_factory=list)

    def triplets(
        self,
        question: str,
        /,
        *,
        graph: str | None = None,
        view: ViewRef | None = None,
        entity_ids: tuple[str, ...] = (),
        preset: str = "default",
        limit: int | None = None,
        max_hops: int | None = None,
        max_edges: int | None = None,
    ) -> TripletsResult:
        self.asked.append({"question": question, "view": view, "limit": limit})
        tagged = [(id_, 1.0) for id_ in entity_ids] or self.tagged
        mention = "" if entity_ids else "it"
        linked = tuple(
            LinkedEntity(EntityRef(id_, f"name of {id_}"), mention, 0, 2, score)
            for id_, score in tagged
        )
        return cast(TripletsResult, replace(triplets([], question=question), linked=linked))

    def neighbourhood(
        self,
        id_: str,
        /,
        *,
        graph: str | None = None,
        view: ViewRef | None = None,
        hops: int = 1,
        limit: int = 100,
    ) -> SubgraphResult:
        self.asked.append({"around": id_, "view": view, "hops": hops})
        found = triplets(
            [(each, 1.0) for each in self.statements.get(id_, ())], strategy=Strategy.SUBGRAPH
        )
        return cast(SubgraphResult, found)


class ByLength:
    """Ranks relations by the length of their name, the longest first."""

    name = "by length"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def rank(
        self, question: str, relations: Sequence[SignedRelation], /, *, entity: str = ""
    ) -> tuple[RankedRelation, ...]:
        self.asked.append((question, entity))
        ordered = sorted(relations, key=lambda each: (-len(each.label), each.reverse))
        return tuple(RankedRelation(each, float(len(each.label))) for each in ordered)


def around(id_: str) -> list[Triple]:
    found = [triple(f"{id_}-{i}", id_, f"relation{'x' * i}", f"Q{100 + i}") for i in range(7)]
    found += [triple(f"{id_}-many-{i}", id_, "relationxxxxxxx", f"Q{300 + i}") for i in range(30)]
    return [*found, triple(f"{id_}-back", "Q900", "relationxxxxxxxx", id_)]


def test_statements_stand_under_signed_relations() -> None:
    own = triple("s1", "Q1", "child", "Q2")
    back, self_ = triple("s2", "Q3", "child", "Q1"), triple("s3", "Q1", "like", "Q1")
    text = triple("s4", "Q5", "code", "1 Q1")
    found, relations = by_relation("Q1", [own, back, self_, text])
    assert found == {"child": (own,), "-child": (back,), "like": (self_,), "-like": (self_,)}
    assert [each.key for each in relations] == ["-child", "-like", "child", "like"]


def test_sure_entities_five_relations_and_ten_statements_are_kept_l4() -> None:
    tagged = [
        ("Q1", 0.9),
        ("Q2", 0.21),
        ("Q3", 0.22),
        ("Q4", 0.5),
        ("Q5", 0.6),
        ("Q6", 0.7),
        ("Q7", 0.8),
    ]
    graph = Graph({id_: around(id_) for id_, _ in tagged}, tagged)
    ranker = ByLength()
    found = RelationRetriever(graph, ranker).retrieve(Strategy.TRIPLETS, "Who?\nAnd then?")
    # Q2 is not sure enough, and of the other six Q3 is the least sure.
    assert [item.entity.id for item in found.linked] == ["Q1", "Q4", "Q5", "Q6", "Q7"]
    assert ranker.asked[0] == ("Who?\nAnd then?", "name of Q1")
    of_first = [each for each in triples_of(found) if each.statement_id.startswith("Q1-")]
    many = [each for each in of_first if "many" in each.statement_id]
    assert len(many) == 10
    # By rank: the reverse one, ten of the many, then the three next longest.
    assert [each.statement_id for each in of_first if each not in many] == [
        "Q1-back", "Q1-6", "Q1-5", "Q1-4",
    ]  # fmt: skip
    scores = {item.triple.statement_id: item.score for item in found.items}
    assert (scores["Q1-back"], scores["Q1-6"], scores["Q1-4"]) == (1.0, 0.33333, 0.2)
    assert [item.triple.statement_id for item in found.items[:2]] == ["Q1-back", "Q4-back"]


def test_the_draw_is_by_random_seed_and_written_down_l4() -> None:
    graph = Graph({"Q1": around("Q1")}, [("Q1", 1.0)])

    def drawn(seed: int) -> RetrievalResult:
        limits = StepLimits(random_seed=seed)
        return RelationRetriever(graph, ByLength(), limits=limits).retrieve(
            Strategy.TRIPLETS, "Who?"
        )

    first, again, other = drawn(0), drawn(0), drawn(1)
    assert triples_of(first) == triples_of(again)
    assert (first.id, first.provenance) == (again.id, again.provenance)
    assert set(triples_of(first)) != set(triples_of(other))
    assert first.id != other.id
    assert other.provenance.parameters["draw_seed"] == 1
    assert other.provenance.parameters["relation_ranker"] == "by length"


def test_given_entities_are_the_oracle_and_views_are_passed_on_l4() -> None:
    graph = Graph({"Q8": around("Q8")}, [("Q1", 1.0)])
    view = ViewRef(name="r30")
    found = RelationRetriever(graph, ByLength()).retrieve(
        Strategy.TRIPLETS, "Who?", entity_ids=("Q8",), view=view, limit=2
    )
    assert [item.entity.id for item in found.linked] == ["Q8"]
    assert len(found.items) == 2
    assert [each["view"] for each in graph.asked] == [view, view]
    assert graph.asked[1]["hops"] == 1


def test_nothing_tagged_and_nothing_there_are_told_apart() -> None:
    steps = RelationRetriever(Graph({}, [("Q1", 0.1)]), ByLength())
    assert steps.retrieve(Strategy.TRIPLETS, "Who?").status is Status.NO_ENTITY_LINKED
    steps = RelationRetriever(Graph({}, [("Q1", 0.9)]), ByLength())
    assert steps.retrieve(Strategy.TRIPLETS, "Who?").status is Status.NOTHING_RELEVANT
    with pytest.raises(InputError, match="not for paths"):
        steps.retrieve(Strategy.PATHS, "Who?")
    for fields in ({"relations": 0}, {"confidence": 1.5}):
        with pytest.raises(InputError):
            StepLimits(**cast(Any, fields))


def test_an_answer_keeps_the_queries_of_all_steps_l4() -> None:
    graph = Graph({"Q1": around("Q1")}, [("Q1", 1.0)])
    steps = RelationRetriever(graph, EmbeddingRanker(WordVectors()))
    found = answer("Who?", retriever=steps, strategy=Strategy.TRIPLETS)
    assert found.query is not None
    assert "Who?" in json.dumps(found.query["variables"])
    (around_q1,) = found.query["around"]
    assert "neighbourhood" in around_q1["document"]
    assert around_q1["variables"]["id"] == "Q1"
    assert json.loads(found.to_json())["result"]["provenance"]["parameters"]["relations"] == 5


def test_a_model_that_ranks_nothing_fails_its_case_alone() -> None:
    graph = Graph({"Q1": around("Q1")}, [("Q1", 1.0)])
    model = HandChat(script("none of them"))
    steps = RelationRetriever(graph, PromptedRanker(model))
    found = answer("Who?", retriever=steps, model=model, strategy=Strategy.TRIPLETS)
    assert found.failure is not None
    assert "relations were not ranked" in found.failure
    assert found.sentences == ()
