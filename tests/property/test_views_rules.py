"""Rules of a graph beside brute force, and the deletion of what they could restore (B3)."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from graph_builder import Triple, build_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from multigraphs import LEVELS, SEEDS, content, graphs, triples

from graph_service.model.graph import RANK_CODES, KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.statement import Rank
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.views import rules as mining
from graph_service.views.delta import make_delta
from graph_service.views.draw import edges_at_level
from graph_service.views.pairs import PairIndex
from graph_service.views.rules import mine_restorable

Body = tuple[int, ...]


def by_hand(
    graph: KnowledgeGraph, atoms: int, support: int, confidence: float
) -> tuple[int, dict[int, set[tuple[Body, float]]]]:
    """Number of rules, and the bodies of each statement that they restore, by all substitutions."""
    edges = [
        e
        for e in range(graph.edge_count)
        if graph.tail[e] < graph.entity_count
        and graph.rank[e] != RANK_CODES[Rank.DEPRECATED]
        and graph.head[e] != graph.tail[e]
    ]
    of_triple: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    for e in edges:
        of_triple[int(graph.head[e]), int(graph.rel[e]), int(graph.tail[e])].append(e)
    steps: dict[tuple[int, int], dict[tuple[int, bool], int]] = defaultdict(dict)
    for (h, r, t), said in of_triple.items():
        steps[h, t][r, True] = said[0]
        steps[t, h][r, False] = said[0]
    bodies: dict[tuple[object, ...], dict[tuple[int, int], list[Body]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for (x, y), joined in steps.items():
        for step, e in joined.items():
            bodies[(step,)][x, y].append((e,))
        for (z, end), others in steps.items():
            if atoms == 2 and z == y and end not in (x, y):
                for step, e in joined.items():
                    for other, f in others.items():
                        bodies[step, other][x, end].append((e, f))
    found: dict[int, set[tuple[Body, float]]] = defaultdict(set)
    count = 0
    for relation in range(graph.relation_count):
        starts = {h for h, r, _ in of_triple if r == relation}
        for shape, pairs in bodies.items():
            if shape == ((relation, True),):
                continue
            heads = [pair for pair in pairs if (pair[0], relation, pair[1]) in of_triple]
            of = sum(pair[0] in starts for pair in pairs)
            if len(heads) < support or not of or len(heads) / of < confidence:
                continue
            count += 1
            for x, y in heads:
                said = of_triple[x, relation, y]
                if len(said) == 1:
                    found[said[0]] |= {(body, len(heads) / of) for body in pairs[x, y]}
    return count, dict(found)


@settings(max_examples=60)
@given(
    graph=graphs(25),
    atoms=st.sampled_from([1, 2]),
    support=st.integers(1, 3),
    confidence=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    chunk=st.sampled_from([1, 7, 1 << 21]),
)
def test_rules_and_what_they_restore_are_those_of_all_substitutions(
    graph: KnowledgeGraph, atoms: int, support: int, confidence: float, chunk: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mining, "_CHUNK", chunk)
        found = mine_restorable(
            graph,
            PairIndex.build(graph),
            atoms=atoms,
            support=support,
            confidence=confidence,
            deadline=Deadline.none(),
        )
    count, expected = by_hand(graph, atoms, support, confidence)
    got: dict[int, set[tuple[Body, float]]] = defaultdict(set)
    for head, first, second, value in zip(
        found.head.tolist(),
        found.first.tolist(),
        found.second.tolist(),
        found.confidence.tolist(),
        strict=True,
    ):
        got[head].add(((first,) if second < 0 else (first, second), value))
    assert got == expected
    assert found.rules == count
    assert found.left_out == 0


@settings(max_examples=40)
@given(graph=graphs(25), seed=SEEDS, low=LEVELS, high=LEVELS)
def test_what_goes_can_be_restored_and_levels_nest(
    graph: KnowledgeGraph, seed: int, low: float, high: float
) -> None:
    low, high = sorted((low, high))

    def removed(level: float) -> set[int]:
        spec = ViewSpec(
            Method.RULE_DELETION,
            level=level,
            random_seed=seed,
            rule_support=1,
            rule_confidence=0.3,
        )
        delta, report = make_delta(graph, spec)
        assert delta.changed_count == len(delta.removed)
        assert report.scope_edges == len(possible)
        asked = edges_at_level(level, len(possible))
        assert len(delta.removed) <= asked
        assert len(delta.removed) == asked or report.notes
        return set(delta.removed.tolist())

    _, possible = by_hand(graph, 2, 1, 0.3)
    gone = removed(high)
    assert removed(low) <= gone
    for edge in gone:
        # The other path is still there, whole.
        assert any(not set(body) & gone for body, _ in possible[edge])


@settings(max_examples=20)
@given(rows=triples(20), data=st.data(), seed=SEEDS)
def test_the_same_on_a_graph_loaded_in_another_order(
    rows: list[Triple], data: st.DataObject, seed: int
) -> None:
    ids = [f"S{i}" for i in range(len(rows))]
    order = data.draw(st.permutations(range(len(rows))))
    one = build_graph(rows, statement_ids=ids)
    other = build_graph(
        [rows[i] for i in order],
        statement_ids=[ids[i] for i in order],
        extra_entities=["lonely", "x1", "x2"],
    )
    spec = ViewSpec(
        Method.RULE_DELETION, level=0.7, random_seed=seed, rule_support=1, rule_confidence=0.3
    )
    assert content(one, make_delta(one, spec)[0]) == content(other, make_delta(other, spec)[0])


def test_thresholds_worked_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four live where they were born; one of them was born elsewhere too."""
    rows = [(f"p{i}", "born", f"c{i}") for i in range(4)]
    rows += [(f"p{i}", "lives", f"c{i}") for i in range(4)] + [("p0", "born", "c9")]
    graph = build_graph(rows)

    def gone(**fields: float) -> tuple[int, tuple[str, ...]]:
        spec = ViewSpec(Method.RULE_DELETION, level=1.0, rule_atoms=1, **fields)  # type: ignore[arg-type]
        delta, report = make_delta(graph, spec)
        return len(delta.removed), report.notes

    # lives(x, y) from born(x, y): support 4, of the 5 pairs born(x, y) whose x lives somewhere 4/5.
    # born(x, y) from lives(x, y): support 4, confidence 4/4. Of each pair one can go, not both.
    assert gone(rule_support=4, rule_confidence=0.8)[0] == 4
    assert gone(rule_support=4, rule_confidence=0.81)[0] == 4
    assert gone(rule_support=4, rule_confidence=1.0) == (4, ())
    assert gone(rule_support=5)[0] == 0
    monkeypatch.setattr(mining, "MAX_BODIES", 0)
    spec = ViewSpec(Method.RULE_DELETION, level=1.0, rule_support=1)
    _, report = make_delta(build_graph([("a", "r", "b"), ("b", "s", "c"), ("a", "t", "c")]), spec)
    assert "too many bodies" in report.notes[0]


@given(rows=triples())
def test_steps_are_turned_round_in_a_graph_of_many_nodes(rows: list[Triple]) -> None:
    graph = build_graph(rows)
    small = mining._Steps(graph, PairIndex.build(graph))
    # The same steps between nodes of large numbers, without the columns that all nodes have.
    large = mining._Steps.__new__(mining._Steps)
    above = 1_500_000_000
    large.relations, large.nodes, large.step = small.relations, above + small.nodes, small.step
    large.start, large.end = small.start + np.int32(above), small.end + np.int32(above)
    large.pairs = large.start.astype(np.int64) * large.nodes + large.end
    places = np.arange(len(small.step))
    turned = small.turned(places)
    assert large.turned(places).tolist() == turned.tolist()
    assert small.turned(turned).tolist() == places.tolist()
    assert small.start[turned].tolist() == small.end.tolist()
