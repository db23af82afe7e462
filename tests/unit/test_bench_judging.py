"""How one question is judged, and why it went wrong (B5): retrieval is written down by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchmarks.families import FamilyQuestion, GoldChain
from benchmarks.judging import FamilyJudge, Judgement, told_by, value_text
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.identity import Fingerprints
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import (
    EntityRef,
    LinkedEntity,
    PathsResult,
    Prizes,
    Provenance,
    RelationRef,
    ScoredPath,
    ScoredTriple,
    Status,
    Step,
    Strategy,
    Tokens,
    Triple,
    TripletsResult,
)
from graph_service.model.values import (
    EntityValue,
    MonolingualText,
    Quantity,
    SomeValue,
    StringValue,
    Time,
)
from graph_service.retrieve.learned.rankers import NoteRanking
from graph_service.service import Service

GraphMaker = Callable[..., KnowledgeGraph]

GRAPH = [
    ("ada", "spouse", "bob"),
    ("bob", "spouse", "ada"),
    ("bob", "job", "painter"),
    ("bob", "nation", "france"),
    ("ada", "nation", "spain"),
    ("carl", "spouse", "dora"),
    ("film", "cast", "ada"),
    ("film", "cast", "carl"),
    ("show", "cast", "ada"),
]
Walk = Sequence[str]
"""``ada >spouse bob``: nodes and signed relations in turn."""


def path(walk: str) -> ScoredPath:
    parts = walk.split()
    steps = []
    for here, relation, there in zip(parts[:-1:2], parts[1::2], parts[2::2], strict=True):
        head, tail = (here, there) if relation[0] == ">" else (there, here)
        steps.append(Step(triple(f"{head} {relation[1:]} {tail}"), relation[0] == "<"))
    return ScoredPath(tuple(steps), 1.0)


def triple(text: str) -> Triple:
    head, relation, tail = text.split()
    ref = EntityRef(head, head)
    return Triple(text, ref, RelationRef(relation, relation), EntityValue(tail), tail)


class Written:
    """A service whose results are written down."""

    def __init__(
        self, graph: KnowledgeGraph, paths: Sequence[str], triples: Sequence[str], linked: str
    ) -> None:
        self._graph = graph
        self._paths = paths
        self._triples = triples
        self._linked = linked.split()
        self.requests: list[RetrieveRequest] = []
        self.hops = 3

    def graph(self, name: str) -> Any:
        return SimpleNamespace(name=name)

    def arrays(self, info: Any) -> KnowledgeGraph:
        return self._graph

    @contextmanager
    def noting_rankings(self, note: NoteRanking) -> Iterator[None]:
        yield

    def retrieve(self, request: RetrieveRequest) -> PathsResult | TripletsResult:
        self.requests.append(request)
        linked = request.entity_ids or self._linked
        limits = {"hops": self.hops, "hub_degree": None, "max_edges": 100}
        common: dict[str, Any] = {
            "id": "",
            "question": request.question,
            "status": Status.OK,
            "linked": tuple(LinkedEntity(EntityRef(i, i), i, 0, 1, 1.0) for i in linked),
            "truncated": (),
            "tokens": Tokens(0, ""),
            "region": None,
            "provenance": Provenance(
                "g", "g@1", Fingerprints("", ""), None, None, request.strategy, "default-6",
                limits, "words", None, "0",
            ),
            "timings_ms": {"total": 3.0},
        }  # fmt: skip
        if request.strategy is Strategy.PATHS:
            return PathsResult(**common, items=tuple(map(path, self._paths)))
        prizes = Prizes(0, 0, 0)
        items = (ScoredTriple(triple(text), 1.0, prizes) for text in self._triples)
        return TripletsResult(**common, items=tuple(items))


QUESTION = FamilyQuestion(
    id="q",
    family="f",
    set="s",
    text="what does ada's spouse do?",
    topics=("ada",),
    shape="2-hop",
    chains=(GoldChain("ada", (("spouse", False), ("job", False))),),
    answers=frozenset({"painter"}),
)


@pytest.fixture
def judged(small_graph: GraphMaker) -> Callable[..., Judgement]:
    graph = small_graph(GRAPH)

    def judge(
        *paths: str,
        question: FamilyQuestion = QUESTION,
        triples: Sequence[str] = (),
        linked: str = "ada",
        given: bool = False,
        hops: int = 3,
    ) -> Judgement:
        written = Written(graph, paths, triples, linked)
        written.hops = hops
        service = cast("Service", written)
        found = FamilyJudge(service, "g", preset="default", given=given).judge(question)
        assert {request.entity_ids for request in written.requests} == {
            question.topics if given else ()
        }
        return found

    return judge


def test_a_right_answer(judged: Callable[..., Judgement]) -> None:
    found = judged(
        "ada >spouse bob >job painter",
        "ada >spouse bob",
        triples=["bob job painter", "ada nation spain"],
        linked="ada carl",
    )
    assert found.figures == {
        "sequence@1": 1.0,
        "Hits@1": 1.0,
        "Hits@10": 1.0,
        "F1": 1.0,
        "ok": 1.0,
        "right of ok": 1.0,
        # One of the two statements of the chain; one of two links.
        "recall@5": 0.5,
        "recall@10": 0.5,
        "linked": 1.0,
        "precision": 0.5,
    }
    assert (found.cause, found.status, found.ms) == ("", "ok", 3.0)
    assert found.gold == "ada >spouse >job"
    assert found.got == "ada >spouse >job = painter"


def test_entities_that_are_given_are_not_linked(judged: Callable[..., Judgement]) -> None:
    found = judged("ada >spouse bob >job painter", given=True)
    assert {"linked", "precision"}.isdisjoint(found.figures)


def test_hits_count_distinct_ends(judged: Callable[..., Judgement]) -> None:
    ends = [f"ada >knows e{i}" for i in range(9)]
    assert judged(*ends, *ends, "ada >spouse bob >job painter").figures["Hits@10"] == 1.0
    tenth = [*ends, "ada >knows e9"]
    assert judged(*tenth, "ada >spouse bob >job painter").figures["Hits@10"] == 0.0


def test_f1_is_of_all_ends_of_the_first_sequence(judged: Callable[..., Judgement]) -> None:
    both = replace(QUESTION, answers=frozenset({"painter", "singer", "cook", "clerk"}))
    way = "ada >spouse bob >job"
    found = judged(
        f"{way} painter", f"{way} singer", f"{way} thief", "ada >job cook", question=both
    )
    # Two of three, and two of four.
    assert found.figures["F1"] == pytest.approx(2 * 2 / (3 + 4))
    assert judged(question=both).figures["F1"] == 0.0


def test_recall_counts_the_first_five(judged: Callable[..., Judgement]) -> None:
    triples = ["ada spouse bob", *(f"a r{i} b" for i in range(4)), "bob job painter"]
    found = judged("ada >nation spain", triples=triples).figures
    assert (found["recall@5"], found["recall@10"]) == (0.5, 1.0)


@pytest.mark.parametrize(
    ("paths", "linked", "cause"),
    [
        (["ada >spouse bob"], "ada", "too short"),
        (["ada >spouse bob >job painter <job eve"], "ada", "too long"),
        (["ada >spouse bob >nation france"], "ada", "wrong relation"),
        (["ada >nation spain"], "ada", "wrong relation"),
        (["ada <spouse bob >job painter"], "ada", "wrong direction"),
        (["ada >spouse bob >job other"], "ada", "other end"),
        (["carl >spouse dora >job painter"], "ada carl", "other start"),
        (["carl >spouse dora"], "carl", "linked wrong"),
        ([], "carl", "linked wrong"),
        ([], "", "nothing linked"),
        ([], "ada", "nothing found"),
    ],
)
def test_causes(
    judged: Callable[..., Judgement], paths: Sequence[str], linked: str, cause: str
) -> None:
    found = judged(*paths, linked=linked)
    assert found.cause == cause
    assert found.figures["sequence@1"] == float(cause == "other end")


def test_what_the_region_lacks_was_cut(judged: Callable[..., Judgement]) -> None:
    assert judged("ada >spouse bob", hops=1).cause == "cut"
    assert judged("ada >spouse bob", hops=2).cause == "too short"


def test_a_constraint_that_is_ignored(judged: Callable[..., Judgement]) -> None:
    typed = replace(
        QUESTION,
        shape="1-hop inverse+type",
        chains=(GoldChain("ada", (("cast", True),)),),
        answers=frozenset({"film"}),
        is_constrained=True,
    )
    found = judged("ada <cast show", question=typed)
    assert (found.figures["sequence@1"], found.cause) == (1.0, "constraint ignored")


def test_a_conjunction_is_right_from_any_topic_with_an_answer(
    judged: Callable[..., Judgement],
) -> None:
    step = (("cast", True),)
    both = replace(
        QUESTION,
        topics=("ada", "carl"),
        shape="conjunction",
        chains=(GoldChain("ada", step), GoldChain("carl", step)),
        answers=frozenset({"film"}),
        gold=(frozenset({("film", "cast", "ada"), ("film", "cast", "carl")}),),
        is_constrained=True,
    )
    right = judged("carl <cast film", question=both, triples=["film cast ada"], linked="carl")
    assert (right.figures["sequence@1"], right.cause) == (1.0, "")
    assert (right.figures["linked"], right.figures["recall@5"]) == (0.5, 0.5)
    wrong = judged("ada <cast show", question=both)
    assert (wrong.figures["sequence@1"], wrong.cause) == (0.0, "constraint ignored")


def test_any_sequence_that_ends_at_the_answers(judged: Callable[..., Judgement]) -> None:
    """MetaQA gives answers alone: what ends at exactly those is right."""
    exact = replace(QUESTION, any_exact=True, answers=frozenset({"spain"}))
    assert judged("ada >nation spain", question=exact).figures["sequence@1"] == 1.0
    assert judged("ada <spouse bob", question=exact).figures["sequence@1"] == 0.0
    assert judged("ada >nation spain").figures["sequence@1"] == 0.0


def test_loops_have_gold_of_their_own(judged: Callable[..., Judgement]) -> None:
    loop = replace(
        QUESTION,
        shape="loop",
        chains=(GoldChain("ada", (("spouse", False), ("spouse", False))),),
        answers=frozenset({"ada"}),
        gold=(frozenset({("ada", "spouse", "bob"), ("bob", "spouse", "ada")}),),
    )
    found = judged("ada >spouse bob >spouse ada", question=loop, triples=["bob spouse ada"])
    assert (found.figures["sequence@1"], found.figures["recall@5"]) == (1.0, 0.5)


def test_an_open_question_is_judged_by_its_relations(judged: Callable[..., Judgement]) -> None:
    about = replace(
        QUESTION,
        shape="open",
        chains=(),
        answers=frozenset(),
        relevant=frozenset({"spouse", "nation", "cast"}),
    )
    triples = ["ada spouse bob", "bob spouse ada", "film cast ada", "bob job painter"]
    found = judged("ada >nation spain", question=about, triples=triples)
    assert found.figures == {"coverage": pytest.approx(2 / 3), "linked": 1.0, "precision": 1.0}
    assert found.cause == ""


def test_a_count_that_no_result_tells_is_wrong(judged: Callable[..., Judgement]) -> None:
    count = replace(QUESTION, answers=frozenset({"bob", "eve"}), told="2", is_constrained=True)
    found = judged("ada >spouse bob >job painter", question=count)
    assert found.figures == {
        "right first": 0.0,
        "ok": 1.0,
        "right of ok": 0.0,
        "linked": 1.0,
        "precision": 1.0,
    }
    assert found.cause == "constraint ignored"
    assert judged("carl >spouse dora", question=count, linked="ada carl").cause == found.cause
    assert judged(question=count, linked="carl").cause == "linked wrong"


def test_yes_and_no_are_told() -> None:
    def told(value: object) -> str:
        return told_by(cast("Any", SimpleNamespace(answer=SimpleNamespace(value=value))))

    assert [told(value) for value in (True, False, "Yes", 7, None)] == ["yes", "no", "yes", "7", ""]


def test_values_as_question_sets_write_them() -> None:
    assert [
        value_text(value)
        for value in (
            EntityValue("Q1"),
            Time("1952-03-11T00:00:00Z"),
            Quantity("12.5", "Q11573"),
            StringValue("Anna"),
            MonolingualText("Oslo", "no"),
            SomeValue(),
        )
    ] == ["Q1", "1952-03-11", "12.5", "Anna", "Oslo", ""]
