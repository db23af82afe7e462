"""One whole retrieval (O3 to O7) on a small family, both presets, with a toy embedder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest
from error_texts import raises
from graph_builder import node_of
from retrieve_samples import asking_of, toy_encode
from threadpoolctl import threadpool_info, threadpool_limits

from graph_service.errors import DeadlineError, InputError
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.identity import key64
from graph_service.model.limits import CutReason, Deadline
from graph_service.model.overlay import EdgeSet, Overlay
from graph_service.model.result import Strategy
from graph_service.model.statement import Entity, EntityKind, make_statement
from graph_service.model.values import Quantity, SomeValue, StringValue, Time, encode_value
from graph_service.retrieve.context import Selection
from graph_service.retrieve.engine import ResolvedRequest, run
from graph_service.retrieve.labels import Labels
from graph_service.retrieve.learned.entity_question import without_mentions
from graph_service.retrieve.preset import resolve_preset
from graph_service.retrieve.region.cut import extract_region
from graph_service.retrieve.sequences.wording import from_start

GraphMaker = Callable[..., KnowledgeGraph]
PROPERTIES = {
    "P22": "father",
    "P25": "mother",
    "P26": "spouse",
    "P40": "child",
    "P569": "date of birth",
    "P106": "occupation",
    "P69": "educated at",
    "P2048": "height",
}
PEOPLE = {
    "Q1": "Maria Shriver",
    "Q2": "Arnold Schwarzenegger",
    "Q3": "Aurelia Schwarzenegger",
    "Q4": "Eunice Kennedy",
    "Q5": "Sargent Shriver",
    "Q6": "actor",
    "Q7": "journalist",
    "Q8": "Georgetown University",
    "Q9": "Katherine",
    "Q10": "Patrick",
    "Q11": "metre",
}
STATEMENTS = [
    ("Q1", "P26", "Q2"),
    ("Q2", "P25", "Q3"),
    ("Q1", "P25", "Q4"),
    ("Q1", "P22", "Q5"),
    ("Q2", "P106", "Q6"),
    ("Q1", "P106", "Q7"),
    ("Q1", "P69", "Q8"),
    ("Q2", "P40", "Q9"),
    ("Q2", "P40", "Q10"),
    ("Q1", "P40", "Q9"),
    ("Q1", "P40", "Q10"),
    make_statement("Q2", "P569", Time("1947-07-30T00:00:00Z", 11)),
    make_statement("Q2", "P2048", Quantity("1.88", "Q11")),
    make_statement("Q5", "P106", SomeValue()),
]


@pytest.fixture
def family(small_graph: GraphMaker) -> KnowledgeGraph:
    return small_graph(
        STATEMENTS,
        [
            *(Entity(id_, labels={"en": label}) for id_, label in PEOPLE.items()),
            *(
                Entity(id_, kind=EntityKind.PROPERTY, labels={"en": label})
                for id_, label in PROPERTIES.items()
            ),
        ],
    )


def ask(
    graph: KnowledgeGraph,
    strategy: Strategy,
    question: str,
    *start_entities: str,
    preset: str = "default",
    encode: Callable[..., npt.NDArray[np.float32]] = toy_encode,
    min_score: float | None = None,
    **overrides: object,
) -> Selection:
    numbers = [node_of(graph, seed) for seed in start_entities]
    names = {node_of(graph, seed): PEOPLE[seed] for seed in start_entities}
    return run(
        ResolvedRequest(
            strategy=strategy,
            question=question,
            graph=graph,
            start_entities=np.array(numbers, dtype=np.int32),
            preset=resolve_preset(preset, strategy=strategy, **overrides),
            encode=encode,
            min_score=min_score,
            asking=asking_of(question, names),
        )
    )


def shown(graph: KnowledgeGraph, edge: int) -> tuple[str, str, str]:
    return (
        graph.node_ids[int(graph.head[edge])],
        graph.relation_ids[int(graph.rel[edge])],
        graph.node_ids[int(graph.tail[edge])],
    )


CHAIN = [("Q1", "P26", "Q2"), ("Q2", "P25", "Q3")]
QUESTION = "Who is the mother of the spouse of Maria Shriver?"


def test_the_chain_asked_for_comes_first_whole(family: KnowledgeGraph) -> None:
    found = ask(family, Strategy.TRIPLETS, QUESTION, "Q1")
    assert [shown(family, item.edge) for item in found.triples[:2]] == CHAIN
    scores = [item.score for item in found.triples]
    assert scores == sorted(scores, reverse=True)
    for item in found.triples:
        assert item.score == pytest.approx(item.head_prize + item.edge_prize + item.tail_prize)
    paths = ask(family, Strategy.PATHS, QUESTION, "Q1")
    assert [shown(family, edge) for edge in paths.paths[0].edges] == CHAIN
    assert paths.paths[0].reversed == (False, False)
    tree = ask(family, Strategy.SUBGRAPH, QUESTION, "Q1", limit=2)
    assert {shown(family, item.edge) for item in tree.triples} == set(CHAIN)
    assert tree.objective == pytest.approx(sum(item.score - 0.1 for item in tree.triples))


def test_paths_are_walked_against_the_arrow_and_say_so(family: KnowledgeGraph) -> None:
    found = ask(family, Strategy.PATHS, "Whose mother is Aurelia Schwarzenegger?", "Q3", hops=1)
    assert [shown(family, edge) for edge in found.paths[0].edges] == [CHAIN[1]]
    assert found.paths[0].reversed == (True,)


NOT_SPOKEN_OF = "Which instrument does Maria Shriver play?"


def test_what_no_relation_bears_on_gets_the_nearest_with_low_confidence(
    family: KnowledgeGraph,
) -> None:
    relevance = set()
    for strategy in Strategy:
        found = ask(family, strategy, NOT_SPOKEN_OF, "Q1")
        assert found.triples or found.paths
        assert not found.confident
        relevance.add(found.relevance)
        edges = [item.edge for item in found.triples]
        assert len(set(edges)) == len(edges)
        if strategy is not Strategy.SUBGRAPH:
            scores = [triple.score for triple in found.triples]
            scores += [path.score for path in found.paths]
            assert scores == sorted(scores, reverse=True)
    (near,) = relevance
    assert near is not None
    assert near < 0.33
    sure = ask(family, Strategy.PATHS, QUESTION, "Q1")
    assert sure.confident
    assert sure.relevance is not None
    assert sure.relevance >= 0.33


@pytest.mark.parametrize("strategy", list(Strategy))
def test_an_entity_without_statements_has_nothing_relevant(
    small_graph: GraphMaker, strategy: Strategy
) -> None:
    graph = small_graph([("Q2", "P26", "Q3")], [Entity("Q1", labels={"en": "Maria Shriver"})])
    # Every word names some kind: those of no relation are none.
    found = ask(graph, strategy, NOT_SPOKEN_OF, "Q1", kind_similarity=0.0)
    assert (found.triples, found.paths, found.relevance) == ((), (), None)
    assert not found.confident


def test_a_relevance_below_none_at_all_counts_as_none(small_graph: GraphMaker) -> None:
    people = {"Q1": "Maria Shriver", "Q2": "Arnold Schwarzenegger"}
    graph = small_graph(
        [("Q2", "P26", "Q1")], [Entity(id_, labels={"en": label}) for id_, label in people.items()]
    )
    question = "Who is Maria Shriver's husband?"
    found = ask(graph, Strategy.PATHS, question, "Q1", inverse_cost=1.0, min_relevance=0.0)
    assert found.relevance is not None
    assert found.relevance < 0
    assert (len(found.paths), found.confident) == (1, False)


def test_a_step_that_the_question_does_not_speak_of_costs(family: KnowledgeGraph) -> None:
    # Maria Shriver has no height here; her spouse's is not an answer to a question for hers.
    question = "What is Maria Shriver's height?"
    found = ask(family, Strategy.PATHS, question, "Q1")
    free = ask(family, Strategy.PATHS, question, "Q1", unsupported_step_cost=0.0)
    assert [shown(family, edge)[1] for edge in free.paths[0].edges] == ["P26", "P2048"]
    first = found.paths[0].score if found.paths else 0.0
    assert first < free.paths[0].score


@pytest.mark.parametrize("strategy", list(Strategy))
@pytest.mark.parametrize("preset", ["default", "okgqa"])
def test_the_same_call_picks_the_same(
    family: KnowledgeGraph, strategy: Strategy, preset: str
) -> None:
    assert ask(family, strategy, QUESTION, "Q1", preset=preset) == ask(
        family, strategy, QUESTION, "Q1", preset=preset
    )


@pytest.mark.parametrize("preset", ["default", "okgqa"])
def test_the_last_bits_of_a_vector_change_nothing(family: KnowledgeGraph, preset: str) -> None:
    """Matrix products differ in their last bits by batch and threads."""

    def shaken(texts: list[str]) -> npt.NDArray[np.float32]:
        vectors = toy_encode(texts)
        return (vectors * np.float32(1.0 + 1e-7)).astype(np.float32)

    question = "Who is the spouse of Maria Shriver?"
    for strategy in Strategy:
        one = ask(family, strategy, question, "Q1", preset=preset)
        two = ask(family, strategy, question, "Q1", preset=preset, encode=shaken)
        assert [item.edge for item in one.triples] == [item.edge for item in two.triples]
        assert [path.edges for path in one.paths] == [path.edges for path in two.paths]


def test_matrix_products_are_made_in_one_thread(family: KnowledgeGraph) -> None:
    seen: set[int] = set()

    def encode(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        libraries = (each for each in threadpool_info() if each["user_api"] == "blas")
        seen.update(each["num_threads"] for each in libraries)
        return toy_encode(texts)

    with threadpool_limits(2, user_api="blas"):
        ask(family, Strategy.PATHS, QUESTION, "Q1", encode=encode)
    assert seen == {1}


def test_a_question_and_its_words_are_embedded_in_one_batch(family: KnowledgeGraph) -> None:
    batches: list[list[str]] = []

    def noting(texts: list[str]) -> npt.NDArray[np.float32]:
        batches.append(texts)
        return toy_encode(texts)

    question = "What is the faith of Maria Shriver's dad?"
    ask(family, Strategy.PATHS, question, "Q1", encode=noting)
    own = {"What is the faith of 's dad?", "faith", "dad"}
    assert sum(not own.isdisjoint(texts) for texts in batches) == 1


def test_no_text_is_embedded_twice_and_only_so_many(family: KnowledgeGraph) -> None:
    asked: list[str] = []

    def counting(texts: list[str]) -> npt.NDArray[np.float32]:
        asked.extend(texts)
        return toy_encode(texts)

    ask(family, Strategy.PATHS, QUESTION, "Q1", encode=counting)
    assert len(asked) == len(set(asked))
    found = ask(family, Strategy.PATHS, QUESTION, "Q1", max_embedded=6)
    cuts = [cut for cut in found.cuts if cut.what == "sequences"]
    assert [(cut.reason, cut.limit) for cut in cuts] == [(CutReason.LIMIT, 6)]
    assert cuts[0].kept <= 6


def test_o5_okgqa_triplets_score_by_similarity(family: KnowledgeGraph) -> None:
    found = ask(
        family, Strategy.TRIPLETS, "mother of Maria Shriver", "Q1", preset="okgqa", limit=99
    )
    assert found.solver is None
    by_triple = {shown(family, item.edge): item for item in found.triples}
    first = by_triple["Q1", "P25", "Q4"]
    # Three words, one of them the relation's and two the head's: 1/sqrt(3) and 2/sqrt(6).
    assert (first.edge_prize, first.head_prize) == pytest.approx((0.577, 0.816), abs=1e-3)
    assert by_triple["Q2", "P25", "Q3"].edge_prize == first.edge_prize
    for item in found.triples:
        assert item.score == pytest.approx(item.head_prize + item.edge_prize + item.tail_prize)
    scores = [item.score for item in found.triples]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == found.region_after.edges


def test_o6_o7_okgqa_paths_and_tree(family: KnowledgeGraph) -> None:
    paths = ask(family, Strategy.PATHS, QUESTION, "Q1", preset="okgqa")
    assert paths.paths
    tree = ask(family, Strategy.SUBGRAPH, QUESTION, "Q1", preset="okgqa")
    assert tree.gap == 0.0
    assert tree.solver in {"own", "pcst_fast"}
    prizes: dict[str, float] = {}
    total = 0.0
    for item in tree.triples:
        head, _, tail = shown(family, item.edge)
        prizes[head], prizes[tail] = item.head_prize, item.tail_prize
        total += item.edge_prize - 1.0
    assert tree.objective == pytest.approx(total + sum(prizes.values()))


def test_okgqa_drops_what_pagerank_does_not_reach(family: KnowledgeGraph) -> None:
    # The walk along edges from a person without statements of their own goes nowhere.
    found = ask(family, Strategy.TRIPLETS, "Who is Katherine?", "Q9", preset="okgqa")
    assert found.region_before.nodes > 1
    assert found.region_after.nodes == 1
    assert [cut.reason for cut in found.cuts] == [CutReason.MASS]
    assert found.triples == ()


def test_a_minimum_score_cuts_and_says_so(family: KnowledgeGraph) -> None:
    every = ask(family, Strategy.PATHS, QUESTION, "Q1")
    least = every.paths[0].score
    found = ask(family, Strategy.PATHS, QUESTION, "Q1", min_score=least)
    assert {path.score for path in found.paths} == {least}
    assert found.cuts[-1].reason is CutReason.MIN_SCORE
    assert found.cuts[-1].total == len(every.paths)


def test_a_minimum_score_keeps_a_tree_connected(family: KnowledgeGraph) -> None:
    # At the preset's cost the default's tree holds what scores best alone.
    for preset, least, edge_cost in (("default", 0.9, 0.01), ("okgqa", 15.0, 1.0)):
        ask_for = partial(ask, family, Strategy.SUBGRAPH, QUESTION, "Q1", preset=preset)
        every = ask_for(edge_cost=edge_cost)
        filtered = ask_for(edge_cost=edge_cost, min_score=least)
        assert 0 < len(filtered.triples) < len(every.triples)
        assert min(item.score for item in filtered.triples) >= least
        assert filtered.triples[0] == every.triples[0]
        assert filtered.cuts[-1].reason is CutReason.MIN_SCORE
        assert filtered.gap is None
        ends = [set(shown(family, item.edge)[::2]) for item in filtered.triples]
        joined = ends.pop(0)
        while near := [pair for pair in ends if pair & joined]:
            joined |= near[0]
            ends.remove(near[0])
        assert ends == []
    none = ask(family, Strategy.SUBGRAPH, QUESTION, "Q1", min_score=99.0)
    assert (none.triples, none.objective) == ((), 0.0)


@pytest.mark.parametrize("strategy", list(Strategy))
@pytest.mark.parametrize("preset", ["default", "okgqa"])
def test_an_entity_of_which_nothing_is_said(
    small_graph: GraphMaker, strategy: Strategy, preset: str
) -> None:
    graph = small_graph(
        [("Q1", "P26", "Q2")], [Entity(id_, labels={"en": PEOPLE[id_]}) for id_ in PEOPLE]
    )
    found = ask(graph, strategy, "Who is the spouse of Katherine?", "Q9", preset=preset)
    assert (found.triples, found.paths) == ((), ())
    assert found.region_before.nodes == 1


def test_a_region_may_be_given(family: KnowledgeGraph) -> None:
    start_entities = np.array([family.find_node("Q1")], dtype=np.int32)
    region = extract_region(family, start_entities, hops=2, max_edges=1000, hub_degree=2000)
    given = run(
        ResolvedRequest(
            strategy=Strategy.TRIPLETS,
            question=QUESTION,
            graph=family,
            start_entities=start_entities,
            preset=resolve_preset("default"),
            encode=toy_encode,
            asking=asking_of(QUESTION, {int(start_entities[0]): "Maria Shriver"}),
            region=region,
        )
    )
    assert given == ask(family, Strategy.TRIPLETS, QUESTION, "Q1")


def test_errors(family: KnowledgeGraph) -> None:
    with pytest.raises(InputError, match="question is empty"):
        ask(family, Strategy.PATHS, "  ", "Q1")
    with raises(InputError):
        ask(family, Strategy.PATHS, "Who?")
    with pytest.raises(DeadlineError):
        run(
            ResolvedRequest(
                strategy=Strategy.PATHS,
                question=QUESTION,
                graph=family,
                start_entities=np.array([family.find_node("Q1")], dtype=np.int32),
                preset=resolve_preset("default"),
                encode=toy_encode,
                deadline=Deadline.after(0.0),
            )
        )


def test_labels_of_every_kind_of_node(family: KnowledgeGraph) -> None:
    labels = Labels(family, None, ("de", "en"))
    texts = labels.nodes(np.arange(family.node_count))
    assert {"1947-07-30", "1.88 metre", "unknown value", "Maria Shriver"} <= set(texts)
    assert sorted(labels.relations(np.arange(family.relation_count))) == sorted(
        PROPERTIES[family.relation_ids[i]] for i in range(family.relation_count)
    )


def test_labels_stand_in_where_there_are_none(small_graph: GraphMaker) -> None:
    graph = small_graph(
        [
            ("http://x.org/Rome_City", "http://x.org/birthPlace", "http://x.org/b"),
            make_statement("http://x.org/b", "__music__album__artist", StringValue("who")),
        ]
    )
    labels = Labels(graph, None, ("en",))
    assert set(labels.nodes(np.arange(graph.node_count))) == {"rome city", "b", "who"}
    assert set(labels.relations(np.arange(2))) == {"birth place", "artist"}


def test_a_question_less_its_names() -> None:
    question = "Who is the father of Ada Lovelace's mother?"
    assert without_mentions(question, [(21, 33)]) == "Who is the father of 's mother?"
    assert without_mentions("Ada Lovelace?", [(0, 12)]) == "Ada Lovelace?"
    assert without_mentions("Who is it?", [(-1, -1), (5, 99)]) == "Who is it?"
    assert from_start(["spouse", "mother"]) == "spouse's mother"


def test_selections_compare_without_their_timings(family: KnowledgeGraph) -> None:
    found = ask(family, Strategy.PATHS, QUESTION, "Q1")
    assert set(found.timings_ms) >= {"region", "pagerank", "names", "sequences", "paths"}
    assert found == replace(found, timings_ms={})


def test_a_view_is_what_is_retrieved(family: KnowledgeGraph) -> None:
    """O10: a changed statement under its own edge number, a new relation and new nodes."""
    spouse = next(
        edge for edge in range(family.edge_count) if shown(family, edge) == ("Q1", "P26", "Q2")
    )
    q1, q3 = family.find_node("Q1"), family.find_node("Q3")
    ids = ("changed", "added")
    order = sorted(range(2), key=lambda row: key64(ids[row]))
    columns = np.array(
        [(q1, family.rel[spouse], q3), (q1, family.relation_count, family.node_count)],
        dtype=np.int32,
    )[order]
    overlay = Overlay(
        view_id="v",
        gone=EdgeSet.of(np.array([spouse]), family.edge_count),
        head=columns[:, 0],
        rel=columns[:, 1],
        tail=columns[:, 2],
        rank=np.ones(2, dtype=np.uint8),
        keys=np.array([key64(ids[row]) for row in order], dtype=np.int64),
        statement_ids=tuple(ids[row] for row in order),
        base_edge=np.array([spouse if ids[row] == "changed" else -1 for row in order], np.int32),
        best=np.ones(len(order), dtype=np.bool_),
        kinds=np.array([2, 3], dtype=np.uint8)[order],
        new_nodes=(encode_value(StringValue("trumpet")),),
        new_relations=("http://example.org/favouriteInstrument",),
    )

    def on_view(question: str, preset: str) -> list[int]:
        found = run(
            ResolvedRequest(
                strategy=Strategy.TRIPLETS,
                question=question,
                graph=family,
                start_entities=np.array([q1], dtype=np.int32),
                overlay=overlay,
                preset=resolve_preset(preset, limit=99),
                encode=toy_encode,
                asking=asking_of(question, {node_of(family, "Q1"): ""}),
            )
        )
        return [item.edge for item in found.triples]

    changed = family.edge_count + order.index(0)
    added = family.edge_count + order.index(1)
    assert on_view("Who is the spouse?", "default")[0] == changed
    assert on_view("Which favourite instrument?", "default")[0] == added
    whole = on_view("Who is the spouse?", "okgqa")
    assert {changed, added} <= set(whole)
    assert spouse not in whole
