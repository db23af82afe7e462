"""Shortest paths of a question, and path deletion with its matched control (B3)."""

from __future__ import annotations

import tracemalloc
from itertools import product

import numpy as np
import pytest
from graph_builder import build_graph, node_of
from hypothesis import given, settings
from hypothesis import strategies as st
from multigraphs import LEVELS, SEEDS, content, graphs

from graph_service.errors import InputError
from graph_service.model.graph import RANK_CODES, KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.statement import Rank
from graph_service.model.view_spec import ControlMatch, Method, Scope, ViewSpec
from graph_service.views import paths as walking
from graph_service.views.delta import make_delta
from graph_service.views.draw import edges_at_level
from graph_service.views.measure.steps import MAX_STEPS
from graph_service.views.pairs import PairIndex
from graph_service.views.paths import Walker
from graph_service.views.scope import scope_edges


def walkable(graph: KnowledgeGraph) -> list[tuple[int, int, int]]:
    """Edges that paths go along, with both ends."""
    return [
        (edge, int(graph.head[edge]), int(graph.tail[edge]))
        for edge in range(graph.edge_count)
        if graph.tail[edge] < graph.entity_count and graph.rank[edge] != RANK_CODES[Rank.DEPRECATED]
    ]


def all_shortest(graph: KnowledgeGraph, start: int, end: int, hub: int) -> set[tuple[int, ...]]:
    """By brute force: every walk of one more edge, until some reach the end."""
    edges = walkable(graph)
    degree = [0] * graph.node_count
    for edge in range(graph.edge_count):
        degree[graph.head[edge]] += 1
        degree[graph.tail[edge]] += 1
    walks: list[tuple[int, tuple[int, ...]]] = [(start, ())]
    for _ in range(MAX_STEPS if start != end else 0):
        walks = [
            (after, (*walk, edge))
            for (node, walk), (edge, head, tail) in product(walks, edges)
            for here, after in {(head, tail), (tail, head)}
            if here == node and (after == end or degree[after] <= hub) and after != start
        ]
        found = {walk for node, walk in walks if node == end}
        if found:
            return found
    return set()


def questions(graph: KnowledgeGraph) -> st.SearchStrategy[list[str]]:
    ids = [graph.node_ids[node] for node in range(graph.entity_count)]
    return st.lists(st.sampled_from(ids), min_size=1, max_size=2, unique=True)


@settings(max_examples=40)
@given(graph=graphs(max_edges=10), data=st.data(), hub=st.sampled_from([3, 5, 2000]))
def test_the_statements_are_those_of_all_shortest_paths(
    graph: KnowledgeGraph, data: st.DataObject, hub: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walking, "HUB_DEGREE", hub)
        walker = Walker(graph, PairIndex.build(graph), Deadline.none())
        entities = [node_of(graph, id_) for id_ in data.draw(questions(graph))]
        answers = [node_of(graph, id_) for id_ in data.draw(questions(graph))]
        paths = walker.shortest(entities, answers)
        expected: set[int] = set()
        length, pairs = 0, []
        for entity, answer in product(entities, answers):
            found = all_shortest(graph, entity, answer, hub)
            assert set(walker.routes(entity, answer)) == found
            expected |= {edge for walk in found for edge in walk}
            length = max([length, *map(len, found)])
            pairs += [(entity, answer)] if found else []
        assert paths.edges.tolist() == sorted(expected)
        assert (paths.length, list(paths.pairs)) == (length, pairs)


@settings(max_examples=30)
@given(graph=graphs(max_edges=10), data=st.data(), seed=SEEDS, level=LEVELS, control=st.booleans())
def test_path_deletion_and_its_control(
    graph: KnowledgeGraph, data: st.DataObject, seed: int, level: float, control: bool
) -> None:
    """As many as the level of the paths' statements, on the paths or beside them; levels nest."""
    entities, answers = data.draw(questions(graph)), data.draw(questions(graph))

    def gone(**asked: float) -> set[int]:
        spec = ViewSpec(
            Method.PATH_DELETION,
            random_seed=seed,
            entity_ids=tuple(entities),
            answer_ids=tuple(answers),
            control=control,
            control_by=ControlMatch.NUMBER if control else ControlMatch.DISTANCE,
            **asked,  # type: ignore[arg-type]
        )
        delta, report = make_delta(graph, spec)
        assert delta.changed_count == len(delta.removed)
        assert report.scope_edges == len(on_paths)
        assert on_paths or report.notes
        return set(delta.removed.tolist())

    nodes = [node_of(graph, id_) for id_ in entities]
    lengths = [0]
    on_paths: set[int] = set()
    for start, end in product(nodes, [node_of(graph, id_) for id_ in answers]):
        found = all_shortest(graph, start, end, 2000)
        on_paths |= {edge for walk in found for edge in walk}
        lengths += map(len, found)
    near, region = set(nodes), set()
    for _ in range(max(lengths)):
        region |= {e for e, head, tail in walkable(graph) if {head, tail} & near}
        near |= {int(n) for e in region for n in (graph.head[e], graph.tail[e])}
    possible = region - on_paths if control else on_paths
    asked = edges_at_level(level, len(on_paths))
    removed = gone(level=level)
    assert removed <= possible
    assert len(removed) == min(asked, len(possible))
    assert gone(level=level / 2) <= removed
    assert len(gone(count=1)) == min(1, len(on_paths), len(possible))
    assert gone(level=1.0) == possible or control


def test_a_hub_is_no_step_between_two_people() -> None:
    """Both are human; the question is about the film that they made."""
    rows = [(f"q{i}", "is", "human") for i in range(walking.HUB_DEGREE + 1)]
    rows += [("film", "director", "q1"), ("film", "actor", "q2")]
    graph = build_graph(rows)
    spec = ViewSpec(Method.PATH_DELETION, level=1.0, entity_ids=("q1",), answer_ids=("q2",))
    delta, _ = make_delta(graph, spec)
    assert {graph.relation_ids[graph.rel[e]] for e in delta.removed.tolist()} == {
        "director",
        "actor",
    }
    # A hub that answers is reached all the same.
    spec = ViewSpec(Method.PATH_DELETION, count=1, entity_ids=("q1",), answer_ids=("human",))
    assert make_delta(graph, spec)[0].changed_count == 1


def test_the_same_on_a_graph_loaded_in_another_order() -> None:
    rows = [("a", "r", "b"), ("b", "s", "c"), ("a", "t", "d"), ("d", "u", "c"), ("a", "v", "e")]
    ids = [f"S{i}" for i in range(len(rows))]
    one = build_graph(rows, statement_ids=ids)
    other = build_graph(rows[::-1], statement_ids=ids[::-1], extra_entities=["x1", "x2"])
    for control in (False, True):
        spec = ViewSpec(
            Method.PATH_DELETION, count=2, entity_ids=("a",), answer_ids=("c",), control=control
        )
        assert content(one, make_delta(one, spec)[0]) == content(other, make_delta(other, spec)[0])


def test_the_order_of_the_question_s_entities_makes_no_other_view() -> None:
    spec = ViewSpec(Method.PATH_DELETION, count=1, entity_ids=("a", "b"), answer_ids=("c", "d"))
    same = ViewSpec(Method.PATH_DELETION, count=1, entity_ids=("b", "a"), answer_ids=("d", "c"))
    assert spec.to_json() == same.to_json()
    assert ViewSpec.from_json(spec.to_json()) == spec
    assert '"answerIds":["c","d"]' in spec.to_json()


@pytest.mark.parametrize(
    ("fields", "argument"),
    [
        ({"answer_ids": ("b",)}, "entity_ids"),
        ({"entity_ids": ("a",)}, "answer_ids"),
        ({"entity_ids": ("a",), "answer_ids": ("b",), "scope": Scope(hops=1)}, "scope"),
        ({"entity_ids": ("a",), "answer_ids": ("b",), "statement_ids": ("S",)}, "statement_ids"),
    ],
)
def test_what_path_deletion_lacks_or_does_not_take_is_refused(
    fields: dict[str, object], argument: str
) -> None:
    with pytest.raises(InputError) as raised:
        ViewSpec(Method.PATH_DELETION, count=1, **fields).validate()  # type: ignore[arg-type]
    assert raised.value.argument == argument
    with pytest.raises(InputError) as raised:
        ViewSpec(Method.EDGE_DELETION, count=1, entity_ids=("a",)).validate()
    assert raised.value.argument == "entity_ids"


def bytes_taken(others: int) -> int:
    """By a question's paths and scopes, on a graph of a region and some other statements."""
    region = [(f"a{i % 7}", f"r{i % 3}", f"a{i * 5 % 11}") for i in range(40)]
    graph = build_graph(
        region + [(f"x{i}", f"r{i % 3}", f"x{i * 7 % others}") for i in range(others)]
    )
    index = PairIndex.build(graph)
    mine = [e for e in range(graph.edge_count) if graph.node_ids[graph.head[e]][0] == "a"]
    walker = Walker(graph, index, Deadline.none())

    def look() -> None:
        assert len(walker.shortest([node_of(graph, "a1")], [node_of(graph, "a2")]).edges)
        around = Scope(around_entity_ids=("a1",), relation_ids=("r0", "r1"))
        assert len(scope_edges(graph, around)[0])
        edges = np.array(mine, dtype=np.int32)
        of_question = Scope(of_question=True)
        assert len(scope_edges(graph, of_question, question_edges=edges)[0])

    look()  # What is made at the first call alone.
    tracemalloc.start()
    look()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_what_is_aimed_at_a_question_costs_what_its_region_has() -> None:
    """Not what the graph has: not half a byte for each of 29,000 statements more."""
    assert bytes_taken(30_000) - bytes_taken(1_000) < 14_000
