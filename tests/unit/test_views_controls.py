"""Controls that match their statements on paths, and contradictions that contradict (B3).

Specifications that earlier versions recorded still mean the views that they meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from error_texts import check_text, raises
from graph_builder import build_graph

from graph_service.errors import InputError
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.stored_view import ViewReport
from graph_service.model.view_spec import Cardinality, ControlMatch, Method, ViewSpec
from graph_service.views.delta import make_delta
from graph_service.views.functional import functional_relations
from graph_service.views.pairs import PairIndex

# The path is film -director-> ada -spouse-> bob; the other statements lie around it.
ROWS = [
    ("film", "director", "ada"),
    ("ada", "spouse", "bob"),
    ("film", "director", "cleo"),
    ("film", "genre", "drama"),
    ("cleo", "spouse", "dan"),
    ("cleo", "child", "eve"),
    ("far", "spouse", "away"),
]


def controls(
    rows: Sequence[tuple[str, str, str]], **fields: Any
) -> tuple[list[tuple[str, ...]], ViewReport]:
    graph = build_graph(list(rows))
    spec = ViewSpec(Method.PATH_DELETION, entity_ids=("film",), answer_ids=("bob",), control=True,
                    **{"level": 1.0, **fields})  # fmt: skip
    delta, report = make_delta(graph, spec)
    return stated(graph, delta.removed.tolist()), report


def stated(graph: KnowledgeGraph, edges: Sequence[int]) -> list[tuple[str, ...]]:
    return sorted(
        (
            graph.node_ids[graph.head[edge]],
            graph.relation_ids[graph.rel[edge]],
            graph.node_ids[graph.tail[edge]],
        )
        for edge in edges
    )


def test_a_control_has_distance_and_relation_of_its_statement() -> None:
    removed, report = controls(ROWS)
    assert removed == [("cleo", "spouse", "dan"), ("film", "director", "cleo")]
    check_text(report.notes, "2 of 2 controls")
    assert report.level_reached == 1.0


def test_another_relation_takes_its_turn_only_at_the_same_distance() -> None:
    rows = [row for row in ROWS if row[1] != "director" or row[2] == "ada"]
    # Nothing but its genre is beside the film, and nothing hangs on that.
    removed, report = controls(rows)
    assert removed == [("film", "genre", "drama")]
    check_text(report.notes, "1 of 2 statements", "0 of 1 controls")
    assert report.level_reached == 0.5
    removed, report = controls(rows, control_by=ControlMatch.RELATION)
    assert removed == []
    check_text(report.notes, "2 of 2 statements")


def test_of_equal_relations_the_control_has_ends_of_like_size() -> None:
    rows = [
        ("film", "director", "ada"), ("ada", "spouse", "bob"),
        ("film", "director", "busy"), ("film", "director", "idle"), ("idle", "spouse", "x"),
        *(("busy", "spouse", f"y{number}") for number in range(40)),
    ]  # fmt: skip
    # ada and idle have two statements each, busy has 41.
    removed, _ = controls(rows)
    assert ("film", "director", "idle") in removed
    assert ("film", "director", "busy") not in removed


def test_fewer_controls_are_a_part_of_more() -> None:
    both, _ = controls(ROWS)
    for seed in range(5):
        first, _ = controls(ROWS, level=None, count=1, random_seed=seed)
        assert len(first) == 1
        assert first[0] in both


def test_what_a_control_matches_needs_a_control() -> None:
    spec = ViewSpec(Method.PATH_DELETION, count=1, entity_ids=("a",), answer_ids=("b",),
                    control_by=ControlMatch.NUMBER)  # fmt: skip
    with raises(InputError):
        spec.validate()


# 20 of 21 people have one birthplace: a share of .952. Each has two friends.
PEOPLE = [
    *((f"p{number}", "born in", f"city{number % 4}") for number in range(21)),
    ("p0", "born in", "city3"),
    *((f"p{number}", "friend", f"p{(number + step) % 21}") for number in range(21)
      for step in (1, 2)),
]  # fmt: skip


def test_a_relation_with_one_value_for_most_heads_is_functional() -> None:
    graph = build_graph(PEOPLE)
    functional = functional_relations(graph, PairIndex.build(graph))
    assert {graph.relation_ids[rel]: bool(is_so) for rel, is_so in enumerate(functional)} == {
        "born in": True,
        "friend": False,
    }
    # A second person of two birthplaces: 19 of 21 are .905.
    graph = build_graph([*PEOPLE, ("p1", "born in", "city3")])
    assert not functional_relations(graph, PairIndex.build(graph)).any()
    # A copy is no second value.
    graph = build_graph([*PEOPLE[:21], ("p1", "born in", "city1")])
    assert functional_relations(graph, PairIndex.build(graph)).all()


@pytest.mark.parametrize(
    ("cardinality", "relations", "scope"),
    [
        (Cardinality.FUNCTIONAL, {"born in"}, 22),
        (Cardinality.SEVERAL, {"friend"}, 42),
        (Cardinality.ANY, {"born in", "friend"}, 64),
    ],
)
def test_false_values_stand_beside_values_of_the_kind_asked_for(
    cardinality: Cardinality, relations: set[str], scope: int
) -> None:
    graph = build_graph(PEOPLE)
    spec = ViewSpec(Method.CONTRADICTION, level=0.5, cardinality=cardinality)
    delta, report = make_delta(graph, spec)
    assert {graph.relation_ids[rel] for rel in delta.added_rel.tolist()} == relations
    assert report.scope_edges == scope
    assert report.level_reached == 0.5
    assert bool(report.notes) == (cardinality is not Cardinality.ANY)


def test_recorded_specifications_mean_what_they_meant() -> None:
    control = (
        '{"algorithm":1,"answerIds":["b"],"control":true,"count":1,"entityIds":["a"],'
        '"method":"path-deletion","randomSeed":0,"sampling":"exact"}'
    )
    beside = (
        '{"algorithm":1,"level":0.5,"method":"contradiction","randomSeed":0,"sampling":"exact"}'
    )
    assert ViewSpec.from_json(control).control_by is ControlMatch.NUMBER
    assert ViewSpec.from_json(beside).cardinality is Cardinality.ANY
    for recorded in (control, beside):
        assert ViewSpec.from_json(recorded).to_json() == recorded, "so their ids stay"
    for spec in (
        ViewSpec(Method.CONTRADICTION, level=0.5),
        ViewSpec(Method.PATH_DELETION, count=1, entity_ids=("a",), answer_ids=("b",)),
        ViewSpec(Method.PATH_DELETION, count=1, entity_ids=("a",), answer_ids=("b",), control=True),
    ):
        assert ViewSpec.from_json(spec.to_json()) == spec
    assert '"cardinality":"functional"' in ViewSpec(Method.CONTRADICTION, level=0.5).to_json()
