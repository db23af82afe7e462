"""Statements nearest to an open question, against brute force (O5, O6; preset default)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from retrieve_samples import region_of

from graph_service.model.graph import Float64
from graph_service.model.limits import Cut, CutReason
from graph_service.model.region import Region
from graph_service.retrieve.preset import DEFAULT, SequencePreset
from graph_service.retrieve.sequences.nearest import nearest_walks
from graph_service.retrieve.sequences.walks import Walk

Triples = list[tuple[int, int]]
ALL = replace(DEFAULT, max_compared=1000, max_compared_first=500)


def ask(
    region: Region,
    like: list[float],
    *,
    preset: SequencePreset = ALL,
    max_length: int = 2,
    promise: Callable[..., Float64] | None = None,
) -> tuple[tuple[Walk, ...], tuple[Cut, ...]]:
    values = np.array(like)
    walks, more, cuts = nearest_walks(
        region,
        preset,
        likeness=lambda edges: values[edges],
        promise=promise or (lambda edges, targets: np.zeros(len(edges))),
        max_length=max_length,
        max_walks=1000,
    )
    assert not more
    return walks, cuts


def brute(
    edges: Triples, start_entities: list[int], like: list[float], literals: frozenset[int]
) -> dict[tuple[int, ...], float]:
    """Score of each simple walk of up to two steps from a seed, by its edges in one order."""
    found: dict[tuple[int, ...], float] = {}
    steps = [
        (edge, *ends)
        for edge, (head, tail) in enumerate(edges)
        if head != tail
        for ends in ((head, tail), (tail, head))
    ]
    for one in steps:
        if one[1] not in start_entities:
            continue
        bonus = 0.1 if one[2] in start_entities else 0.0
        key: tuple[int, ...] = (one[0],)
        found[key] = max(found.get(key, -9.0), round(like[one[0]] + bonus, 5))
    for one, two in product(steps, steps):
        if one[1] not in start_entities or one[2] in literals or one[2] in start_entities:
            continue
        if two[1] != one[2] or two[2] == one[1]:
            continue
        bonus = 0.1 if two[2] in start_entities else 0.0
        key = min((one[0], two[0]), (two[0], one[0]))
        score = round((like[one[0]] + like[two[0]]) / 2 - 0.02 + bonus, 5)
        found[key] = max(found.get(key, -9.0), score)
    return found


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=14),
    st.sets(st.integers(0, 3), min_size=1, max_size=3),
    st.data(),
)
def test_all_walks_of_two_steps_are_scored_as_by_brute_force(
    edges: Triples, start_entities: set[int], data: st.DataObject
) -> None:
    like = [
        data.draw(st.integers(-20, 90).map(lambda number: number / 100), label="like")
        for _ in edges
    ]
    literals = frozenset({6})
    edges = [(head, tail) for head, tail in edges if head != 6]
    region = region_of(7, edges, literals=literals, start_entities=sorted(start_entities))
    walks, cuts = ask(region, like)
    assert cuts == ()
    expected = brute(edges, sorted(start_entities), like, literals)
    found = {min(walk.edges, walk.edges[::-1]): walk.score for walk in walks}
    assert found == pytest.approx(expected)
    assert len(found) == len(walks)
    assert [walk.score for walk in walks] == sorted(found.values(), reverse=True)
    for walk in walks:
        assert walk.nodes[0] in start_entities
        assert len(set(walk.nodes)) == len(walk.nodes)
        for edge, back, start, end in zip(
            walk.edges, walk.reversed, walk.nodes[:-1], walk.nodes[1:], strict=True
        ):
            assert edges[edge] == ((end, start) if back else (start, end))


def test_what_joins_two_entities_is_compared_first_then_what_looks_promising() -> None:
    # 0 and 1 are asked about; 2 joins them, 3 to 9 hang on 0 alone.
    edges = [(0, node) for node in range(3, 10)] + [(0, 2), (1, 2)]
    compared: list[int] = []

    def promise(edge: np.ndarray, target: np.ndarray) -> Float64:
        compared.extend(target.tolist())
        return np.asarray(target == 7, dtype=np.float64)

    walks, (cut,) = ask(
        region_of(10, edges, start_entities=[0, 1]),
        [0.5] * 9,
        preset=replace(DEFAULT, max_compared=6, max_compared_first=3),
        promise=promise,
    )
    assert (cut.what, cut.reason, cut.limit) == ("statements", CutReason.LIMIT, 6)
    ends = {walk.nodes[-1] for walk in walks if len(walk.nodes) == 2}
    assert ends == {2, 7}
    assert walks[0].nodes == (0, 2, 1)


def test_one_step_and_nothing_at_all() -> None:
    edges = [(0, 1), (1, 2)]
    walks, _ = ask(region_of(3, edges), [0.1, 0.9], max_length=1)
    assert [walk.edges for walk in walks] == [(0,)]
    assert ask(region_of(3, [(1, 2)]), [0.5]) == ((), ())
