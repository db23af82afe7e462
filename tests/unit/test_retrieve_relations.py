"""Preset ltgen: the relations of each entity ranked, statements drawn (L4), against brute force."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from error_texts import raises
from retrieve_samples import toy_encode

from graph_service.errors import DeadlineError, InputError
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.hashing import keyed_hashes
from graph_service.model.identity import digest, key64
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.overlay import EdgeSet, Overlay
from graph_service.model.ranking import Encoding, RankedRelation, SignedRelation
from graph_service.model.result import Strategy
from graph_service.model.statement import Entity, EntityKind, Statement, make_statement
from graph_service.model.values import EntityValue, StringValue, Value
from graph_service.rank import EmbeddingRanker
from graph_service.retrieve.context import Selection
from graph_service.retrieve.engine import ResolvedRequest, run
from graph_service.retrieve.preset import LTGEN, RelationPreset, resolve_preset

GraphMaker = Callable[..., KnowledgeGraph]
NAMES = ("father", "mother", "spouse", "place of birth", "child", "employer", "work of art", "pet")
RANKER = EmbeddingRanker(Encoding("toy", toy_encode))
WORD = (1 << 64) - 1


def properties() -> list[Entity]:
    return [
        Entity(f"P{i}", EntityKind.PROPERTY, labels={"en": name}) for i, name in enumerate(NAMES)
    ]


def drawn_graph(seed: int) -> list[Statement]:
    """Statements with hubs, loops, parallel ones and literals, over few entities."""
    draw = random.Random(seed)
    made: dict[str, Statement] = {}
    for place in range(90):
        value: Value = EntityValue(f"Q{int(9 * draw.random() ** 2)}")
        if draw.random() < 0.2:
            value = StringValue(f"text {place}")
        one = make_statement(
            f"Q{int(9 * draw.random() ** 2)}", f"P{draw.randrange(len(NAMES))}", value
        )
        made[one.id] = one
    return list(made.values())


def found_in(
    graph: KnowledgeGraph,
    ids: Sequence[str],
    question: str = "Who is the mother of the child?",
    strategy: Strategy = Strategy.TRIPLETS,
    *,
    ranker: Any = RANKER,
    overlay: Overlay | None = None,
    deadline: Deadline | None = None,
    min_score: float | None = None,
    **parameters: Any,
) -> Selection:
    return run(
        ResolvedRequest(
            strategy=strategy,
            question=question,
            graph=graph,
            start_entities=np.array([graph.find_node(id_) for id_ in ids], dtype=np.int32),
            preset=resolve_preset("ltgen", **parameters),
            encode=toy_encode,
            ranker=ranker,
            overlay=overlay,
            deadline=deadline or Deadline.none(),
            min_score=min_score,
        )
    )


def shown(graph: KnowledgeGraph, found: Selection) -> list[tuple[str, float, str]]:
    return [
        (
            graph.statement_ids.take([each.edge])[0],
            each.score,
            graph.node_ids.take([each.origin])[0],
        )
        for each in found.triples
    ]


def finalised(word: int) -> int:
    """splitmix64 with Python's whole numbers."""
    word ^= word >> 30
    word = word * 0xBF58476D1CE4E5B9 & WORD
    word ^= word >> 27
    word = word * 0x94D049BB133111EB & WORD
    return word ^ word >> 31


def place_of(id_: str, random_seed: int) -> int:
    """A statement's place in the draw, from the rule in words."""
    secret = digest((str(random_seed),), person=b"relations")
    low, high = (int.from_bytes(secret[i : i + 8], "little") for i in (0, 8))
    return finalised(finalised(key64(id_) + low & WORD) + high & WORD)


def by_hand(
    statements: Sequence[Statement], ids: Sequence[str], question: str, rules: RelationPreset
) -> list[tuple[str, float, str]]:
    """L4's third step, written down from the rules and not from the code."""
    kept: list[list[list[Statement]]] = []
    for id_ in ids:
        groups: dict[tuple[str, bool], list[Statement]] = {}
        for one in statements:
            if one.head == id_:
                groups.setdefault((one.relation, False), []).append(one)
            if isinstance(one.value, EntityValue) and one.value.id == id_:
                groups.setdefault((one.relation, True), []).append(one)

        def likeness(signed: tuple[str, bool]) -> float:
            name = NAMES[int(signed[0][1:])]
            asked = "what has this as its" if signed[1] else "what is its"
            one, other = toy_encode([question, f"{asked} {name}?"]).astype(np.float64)
            return round(float(one @ other), 5)

        order = sorted(groups, key=lambda signed: (-likeness(signed), signed[0], signed[1]))
        of_entity = []
        for signed in order[: rules.relations_per_entity]:
            drawn = sorted(groups[signed], key=lambda one: place_of(one.id, rules.draw_seed))
            drawn = drawn[: rules.triples_per_relation]
            of_entity.append(sorted(drawn, key=lambda one: key64(one.id)))
        kept.append(of_entity)
    found: dict[str, tuple[str, float, str]] = {}
    for rank in range(rules.relations_per_entity):
        for id_, of_entity in zip(ids, kept, strict=True):
            for one in of_entity[rank] if rank < len(of_entity) else ():
                found.setdefault(one.id, (one.id, round(1 / (rank + 1), 5), id_))
    return list(found.values())


@pytest.mark.parametrize("seed", range(12))
def test_the_best_relations_of_each_entity_are_those_by_brute_force_l4(
    small_graph: GraphMaker, seed: int
) -> None:
    statements = drawn_graph(seed)
    graph = small_graph(statements, properties())
    for ids in (["Q0"], ["Q1", "Q0", "Q4"], ["Q3", "Q2", "Q1", "Q0", "Q5"]):
        for question, rules in (
            ("Who is the mother of the child?", LTGEN),
            ("Which work of art had its employer as father", replace(LTGEN, draw_seed=seed - 5)),
            ("pet", replace(LTGEN, relations_per_entity=2, triples_per_relation=3)),
            ("spouse child", replace(LTGEN, relations_per_entity=7, triples_per_relation=1)),
        ):
            expected = by_hand(statements, ids, question, rules)
            given = {
                name: getattr(rules, name)
                for name in ("relations_per_entity", "triples_per_relation", "draw_seed")
            }
            found = found_in(graph, ids, question, **given)
            assert shown(graph, found) == expected
            assert found.cuts == ()
            for each in found.triples:
                assert (each.head_prize, each.edge_prize, each.tail_prize) == (0.0, each.score, 0.0)
            paths = found_in(graph, ids, question, Strategy.PATHS, **given).paths
            assert [(path.edges[0], path.score, path.origin) for path in paths] == [
                (each.edge, each.score, each.origin) for each in found.triples
            ]
            for path in paths:
                assert len(path.edges) == 1
                ends = (graph.head, graph.tail)[path.reversed[0]]
                assert ends[path.edges[0]] == path.origin
                assert [(part.name, part.amount) for part in path.parts] == [
                    ("relation", path.score)
                ]


def test_the_draw_is_nested_by_random_seed_and_no_order_decides_l4(
    small_graph: GraphMaker,
) -> None:
    statements = [make_statement("Q1", "P1", EntityValue(f"Q{10 + i}")) for i in range(60)]
    one, other = (
        small_graph(statements, properties()),
        small_graph([*reversed(statements)], properties()),
    )

    def drawn(graph: KnowledgeGraph, count: int, seed: int) -> set[str]:
        found = found_in(graph, ["Q1"], triples_per_relation=count, draw_seed=seed)
        assert len(found.triples) == min(count, 60)
        return {id_ for id_, _, _ in shown(graph, found)}

    assert drawn(one, 10, 3) == drawn(other, 10, 3)
    assert drawn(one, 5, 3) < drawn(one, 10, 3) < drawn(one, 1000, 3)
    assert drawn(one, 10, 3) != drawn(one, 10, 4)
    # Every statement has its turn: a hundred start entities of five leave few of sixty out.
    assert len(set().union(*(drawn(one, 5, seed) for seed in range(100)))) > 55


def test_a_statement_of_two_entities_counts_for_the_better_rank_l4(
    small_graph: GraphMaker,
) -> None:
    graph = small_graph([("Q1", "P2", "Q2"), ("Q1", "P1", "Q3"), ("Q2", "P4", "Q5")], properties())

    class ByName:
        name = "by name"

        def rank(
            self, question: str, relations: Sequence[SignedRelation], /, *, entity: str = ""
        ) -> tuple[RankedRelation, ...]:
            order = sorted(relations, key=lambda each: (each.words, each.reverse))
            return tuple(RankedRelation(each, None) for each in order)

    found = found_in(graph, ["Q1", "Q2"], ranker=ByName())
    # Q1: mother, spouse. Q2: child, spouse (reversed): of one rank, and Q1 is named first.
    assert [(score, origin) for _, score, origin in shown(graph, found)] == [
        (1.0, "Q1"), (1.0, "Q2"), (0.5, "Q1"),
    ]  # fmt: skip
    swapped = found_in(graph, ["Q2", "Q1"], ranker=ByName())
    assert [origin for _, _, origin in shown(graph, swapped)] == ["Q2", "Q1", "Q2"]


def test_the_ranker_is_given_the_whole_dialogue_and_the_entitys_name_l4(
    small_graph: GraphMaker,
) -> None:
    asked: list[tuple[str, str, tuple[str, ...]]] = []

    class Listening:
        name = "listening"

        def rank(
            self, question: str, relations: Sequence[SignedRelation], /, *, entity: str = ""
        ) -> tuple[RankedRelation, ...]:
            asked.append((question, entity, tuple(each.text for each in relations)))
            return tuple(RankedRelation(each, None) for each in relations)

    graph = small_graph(
        [("Q1", "P2", "Q2"), ("Q1", "http://e.org/ontology/birthPlace", "Q3")],
        [*properties(), Entity("Q1", labels={"en": "Ann"})],
    )
    found_in(graph, ["Q1", "Q2"], "Who is Ann?\nA poet.\nAnd her spouse?", ranker=Listening())
    ((question, entity, texts), (_, other, of_other)) = asked
    assert question == "Who is Ann?\nA poet.\nAnd her spouse?"
    assert (entity, other) == ("Ann", "Q2")
    assert set(texts) == {"what is its spouse?", "what is its birth place?"}
    assert of_other == ("what has this as its spouse?",)


def test_views_are_honoured_new_relations_too_l4(small_graph: GraphMaker) -> None:
    statements = [make_statement("Q1", f"P{i}", EntityValue(f"Q{10 + i}")) for i in range(4)]
    graph = small_graph(statements, properties())
    number = {id_: i for i, id_ in enumerate(graph.statement_ids.take(range(4)))}
    gone, changed = number[statements[1].id], number[statements[2].id]
    overlay = Overlay(
        view_id="v",
        gone=EdgeSet.of(np.array([gone, changed]), graph.edge_count),
        statement_ids=("new", "own"),
        keys=np.array([-5, 5], dtype=np.int64),
        base_edge=np.array([changed, -1], dtype=np.int32),
        best=np.ones(2, dtype=np.bool_),
        kinds=np.array([2, 3], dtype=np.uint8),
        head=np.array([graph.find_node("Q1")] * 2, dtype=np.int32),
        rel=np.array([graph.find_relation("P3"), graph.relation_count], dtype=np.int32),
        tail=np.array([graph.find_node("Q10"), graph.find_node("Q11")], dtype=np.int32),
        rank=np.array([1, 1], dtype=np.uint8),
        new_nodes=(),
        new_relations=("http://e.org/motherOfPearl",),
    )
    found = found_in(graph, ["Q1"], "mother of pearl", overlay=overlay)
    edges = [each.edge for each in found.triples]
    assert edges[0] == graph.edge_count + 1
    assert set(edges) == {
        number[statements[0].id], number[statements[3].id], graph.edge_count, graph.edge_count + 1,
    }  # fmt: skip


def test_limits_say_what_they_left_out(small_graph: GraphMaker) -> None:
    statements = drawn_graph(3)
    graph = small_graph(statements, properties())
    whole = found_in(graph, ["Q0"])
    few = found_in(graph, ["Q0"], limit=3)
    assert few.triples == whole.triples[:3]
    assert few.cuts == (Cut("items", CutReason.LIMIT, 3, 3, len(whole.triples)),)
    above = found_in(graph, ["Q0"], min_score=0.5)
    assert {each.score for each in above.triples} == {1.0, 0.5}
    assert above.cuts[0].reason is CutReason.MIN_SCORE
    # Of the relations those of the most statements are looked at, the same for all entities.
    counts: dict[tuple[str, bool], int] = {}
    for one in statements:
        if one.head == "Q0":
            counts[one.relation, False] = counts.get((one.relation, False), 0) + 1
        if one.value == EntityValue("Q0"):
            counts[one.relation, True] = counts.get((one.relation, True), 0) + 1
    most = sorted(counts, key=lambda signed: (-counts[signed], signed))[:2]
    capped = found_in(graph, ["Q0"], max_embedded=2)
    assert capped.cuts == (Cut("embedded", CutReason.LIMIT, 2, 2, len(counts)),)
    found = {id_ for id_, _, _ in shown(graph, capped)}
    assert found <= {one.id for one in statements if (one.relation, one.head != "Q0") in most
                     or (one.relation, one.value == EntityValue("Q0")) in most}  # fmt: skip
    with pytest.raises(DeadlineError):
        found_in(graph, ["Q0"], deadline=Deadline.after(0))


def test_an_entity_without_statements_gives_nothing(small_graph: GraphMaker) -> None:
    graph = small_graph([("Q1", "P1", "Q2")], [*properties(), Entity("Q9", labels={"en": "Bo"})])
    assert found_in(graph, ["Q9"]).triples == ()
    assert [origin for _, _, origin in shown(graph, found_in(graph, ["Q9", "Q2"]))] == ["Q2"]


@pytest.mark.parametrize(
    ("preset", "parameters", "argument", "said"),
    [
        ("ltgen", {"relations_per_entity": 0}, "relations_per_entity", "from 1 to 1000"),
        ("ltgen", {"triples_per_relation": 1001}, "triples_per_relation", "from 1 to 1000"),
        ("ltgen", {"max_entities": 0}, "max_entities", "from 1 to 100"),
        ("ltgen", {"min_link_score": 1.5}, "min_link_score", "from 0 to 1"),
        ("ltgen", {"draw_seed": 2**63}, "draw_seed", "whole number"),
        ("ltgen", {"draw_seed": 0.5}, "draw_seed", "whole number"),
        ("ltgen", {"ranker": " "}, "ranker", "be a name"),
        ("ltgen", {"hops": 2}, "hops", "one step"),
        (
            "ltgen",
            {"edge_cost": 0.5},
            "edge_cost",
            "no edge_cost",
        ),
        (
            "default",
            {"max_entities": 3},
            "max_entities",
            "no max_entities",
        ),
        ("okgqa", {"ranker": "embedding"}, "ranker", "no ranker"),
    ],
)
def test_parameters_out_of_bounds_are_named(
    preset: str, parameters: Mapping[str, Any], argument: str, said: str
) -> None:
    with pytest.raises(InputError, match=said) as caught:
        resolve_preset(preset, **parameters)
    assert caught.value.argument == argument


def test_the_parameters_are_those_that_matter_and_other_presets_have_none_of_them() -> None:
    parameters = resolve_preset("ltgen", draw_seed=7).parameters()
    assert parameters == {
        "max_mentions": 100,
        "hops": 1,
        "hub_degree": None,
        "max_edges": 200_000,
        "max_wedges": 50_000,
        "max_embedded": 5000,
        "limit": 1000,
        "min_link_score": 0.35,
        "max_entities": 5,
        "relations_per_entity": 5,
        "triples_per_relation": 10,
        "draw_seed": 7,
        "ranker": "embedding",
    }
    for name in ("default", "okgqa"):
        assert (
            not {"ranker", "draw_seed", "max_entities"} & resolve_preset(name).parameters().keys()
        )


def test_there_is_no_subgraph_of_several_entities_statements(small_graph: GraphMaker) -> None:
    graph = small_graph([("Q1", "P1", "Q2")], properties())
    with raises(InputError) as caught:
        found_in(graph, ["Q1"], strategy=Strategy.SUBGRAPH)
    assert caught.value.argument == "strategy"


def test_keyed_hashes_are_the_finaliser_twice() -> None:
    keys = np.array([0, 1, -1, 2**62, -(2**63)], dtype=np.int64)
    secret = digest(("7",), person=b"relations")
    low, high = (int.from_bytes(secret[i : i + 8], "little") for i in (0, 8))
    assert keyed_hashes(keys, secret).tolist() == [
        finalised(finalised((key + low) & WORD) + high & WORD) for key in keys.tolist()
    ]
    assert replace(LTGEN, draw_seed=1) != LTGEN
