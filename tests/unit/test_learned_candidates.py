"""Candidates of preset default-6: every trail from every start, by start and relations."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from retrieve_samples import multigraphs, region_of

from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.region import Region
from graph_service.retrieve.learned.candidates import Candidates, Fit, find_candidates
from graph_service.retrieve.preset import LEARNED, LearnedPreset

Sequence_ = tuple[tuple[int, bool], ...]


def candidates_of(
    region: Region,
    *,
    preset: LearnedPreset = LEARNED,
    likeness: dict[int, float] | None = None,
    words: tuple[dict[int, float], ...] = (),
    doubt: list[float] | None = None,
) -> tuple[Candidates, tuple[Cut, ...]]:
    numbers = np.unique(region.rel).astype(np.int64)
    starts = len(region.start_entities)
    like = np.zeros((1 + len(words), len(numbers)))
    for row, cosines in enumerate((likeness or {}, *words)):
        for relation, value in cosines.items():
            like[row, np.searchsorted(numbers, relation)] = value
    fit = Fit(
        np.tile(like[0], (starts, 1)),
        np.tile(like[1:], (starts, 1, 1)),
        np.full(starts, len(words)),
        np.array(doubt or [0.0] * starts),
    )
    return find_candidates(
        region,
        fit,
        preset,
        relation_numbers=numbers,
        deadline=Deadline.none(),
    )


def brute_force(region: Region, hops: int) -> dict[tuple[int, Sequence_], list[tuple[int, ...]]]:
    """Every trail by its start's place and its relations: the local edges, and the end."""
    moves: dict[int, list[tuple[int, int, bool]]] = defaultdict(list)
    for edge, (head, tail) in enumerate(
        zip(region.head.tolist(), region.tail.tolist(), strict=True)
    ):
        moves[head].append((edge, tail, False))
        if head != tail:
            moves[tail].append((edge, head, True))
    found: dict[tuple[int, Sequence_], list[tuple[int, ...]]] = defaultdict(list)

    def walk(place: int, nodes: list[int], edges: list[int], steps: list[tuple[int, bool]]) -> None:
        if edges:
            found[place, tuple(steps)].append((*edges, nodes[-1]))
        if len(edges) == hops or region.literal[nodes[-1]]:
            return
        for edge, other, back in moves[nodes[-1]]:
            if edge not in edges or other == nodes[-1]:
                step = (int(region.rel[edge]), back)
                walk(place, [*nodes, other], [*edges, edge], [*steps, step])

    for place, start in enumerate(region.start_entities.tolist()):
        walk(place, [start], [], [])
    return found


@given(
    region=multigraphs(),
    rels=st.lists(st.integers(0, 2), min_size=9, max_size=9),
    two=st.booleans(),
)
def test_candidates_are_all_trails_by_start_and_relations(
    region: Region, rels: list[int], two: bool
) -> None:
    region = replace(
        region,
        rel=np.array(rels[: region.edge_count], dtype=np.int32),
        start_entities=np.array([0, 1] if two and not region.literal[1] else [0], dtype=np.int32),
    )
    expected = brute_force(region, 3)
    found, cuts = candidates_of(region, preset=replace(LEARNED, candidates_per_length=10_000))
    keys = [(int(found.start[i]), found.sequence(i)) for i in range(len(found))]
    assert sorted(keys) == sorted(expected)
    assert len(set(keys)) == len(keys)
    assert cuts == ()
    for number, key in enumerate(keys):
        walks = expected[key]
        assert list(map(tuple, found.edges(number).tolist())) == sorted(w[:-1] for w in walks)
        assert found.walks[number] == len(walks)
        ends = found.end_node[found.end_owner == number].tolist()
        assert ends == sorted({walk[-1] for walk in walks})
        start, steps = key
        before = [keys.index((start, steps[:depth])) for depth in range(1, len(steps))]
        assert found.prefixes[number].tolist() == [*before, -1, -1][:2]
        assert found.shorter[number] == [-1, *before][-1]


@given(
    region=multigraphs(),
    rels=st.lists(st.integers(0, 2), min_size=9, max_size=9),
    most=st.integers(1, 6),
)
def test_sequences_chosen_before_their_walks_are_made_are_those_chosen_after(
    region: Region, rels: list[int], most: int
) -> None:
    region = replace(region, rel=np.array(rels[: region.edge_count], dtype=np.int32))
    like = {rel: 0.1 + 0.3 * rel for rel in set(region.rel.tolist())}
    every, _ = candidates_of(
        region, preset=replace(LEARNED, candidates_per_length=10_000), likeness=like
    )
    found, cuts = candidates_of(
        region, preset=replace(LEARNED, candidates_per_length=most), likeness=like
    )
    kept, totals = [], []
    for length in (1, 2, 3):
        numbers = np.flatnonzero(every.length == length).tolist()
        likeness = {
            number: sum(like[rel] for rel, _ in every.sequence(number)) for number in numbers
        }
        best = sorted(numbers, key=lambda one: (-round(likeness[one] / np.sqrt(length), 5), one))
        kept += sorted(best[:most] if length > 1 else best)
        totals += [len(numbers)] * (length > 1 and len(numbers) > most)
    assert [cut.total for cut in cuts] == totals
    assert len(found) == len(kept)
    for number, other in enumerate(kept):
        assert found.sequence(number) == every.sequence(other)
        assert found.start[number] == every.start[other]
        assert found.walks[number] == every.walks[other]
        assert found.edges(number).tolist() == every.edges(other).tolist()
        ends = [one.end_node[one.end_owner == n] for one, n in ((found, number), (every, other))]
        assert ends[0].tolist() == ends[1].tolist()
        shorter = int(every.shorter[other])
        assert found.shorter[number] == (kept.index(shorter) if shorter in kept else -1)


def chain_of_choices() -> Region:
    """0 leads to 1 by relation 0; from there one edge each of relations 1 to 5 to 2 to 6."""
    edges = [(0, 1), *((1, node) for node in range(2, 7))]
    return region_of(7, edges, rel=[0, 1, 2, 3, 4, 5])


def test_most_promising_of_a_length_stay_and_the_cut_is_told() -> None:
    preset = replace(LEARNED, candidates_per_length=2)
    found, cuts = candidates_of(chain_of_choices(), preset=preset, likeness={3: 0.9, 5: 0.5})
    longer = [found.sequence(i) for i in range(len(found)) if found.length[i] == 2]
    assert longer == [((0, False), (3, False)), ((0, False), (5, False))]
    assert found.shorter.tolist() == [-1, 0, 0]
    assert cuts == (Cut("sequences", CutReason.LIMIT, 2, 2, 5),)


def test_relations_that_say_different_words_are_promising_together() -> None:
    # All are as like the whole question; 0 says the first word, as 1 does, and 3 the second.
    preset = replace(LEARNED, candidates_per_length=1)
    likeness = dict.fromkeys(range(6), 0.4)
    words = ({0: 0.9, 1: 0.9}, {0: 0.2, 3: 0.8})
    found, _ = candidates_of(chain_of_choices(), preset=preset, likeness=likeness, words=words)
    assert found.sequence(1) == ((0, False), (3, False))
    # A word that is like no relation takes nothing off.
    found, _ = candidates_of(
        chain_of_choices(), preset=preset, likeness={**likeness, 1: 0.5}, words=({1: -0.9},)
    )
    assert found.sequence(1) == ((0, False), (1, False))


def test_doubt_about_a_start_takes_off_its_promise() -> None:
    # Two starts, 0 and 4, with the same two steps.
    region = region_of(6, [(0, 1), (1, 2), (4, 3), (3, 5)], rel=[0, 1, 0, 1], start_entities=(0, 4))
    preset = replace(LEARNED, candidates_per_length=1)
    for doubt, kept in (([0.5, 0.0], 1), ([0.0, 0.5], 0)):
        found, _ = candidates_of(region, preset=preset, doubt=doubt)
        assert found.start[found.length == 2].tolist() == [kept]


def test_a_budget_walks_on_from_the_most_promising_and_tells_it() -> None:
    # 0 leads to 1 by relation 0 and to 2 by relation 1; both lead on by ten edges of relation 2.
    edges = [(0, 1), (0, 2)]
    edges += [(1, node) for node in range(3, 13)] + [(2, node) for node in range(13, 23)]
    region = region_of(23, edges, rel=[0, 1] + [2] * 20)
    preset = replace(LEARNED, work_budget=12)
    found, cuts = candidates_of(region, preset=preset, likeness={1: 0.8})
    longer = [found.sequence(i) for i in range(len(found)) if found.length[i] == 2]
    assert ((1, False), (2, False)) in longer
    assert ((0, False), (2, False)) not in longer
    assert any(cut.reason is CutReason.WORK_BUDGET for cut in cuts)


def test_sequences_come_by_length_and_past_their_end_hold_no_step() -> None:
    found, _ = candidates_of(chain_of_choices())
    assert all(left <= right for left, right in pairwise(found.length.tolist()))
    assert (found.steps.sum(axis=1) == found.length).all()


def test_a_region_without_edges_has_no_candidates() -> None:
    found, cuts = candidates_of(region_of(1, []))
    assert len(found) == 0
    assert cuts == ()


def test_a_deadline_that_is_past_ends_the_walk() -> None:
    from counted_deadline import CountedDeadline

    from graph_service.errors import DeadlineError

    region = chain_of_choices()
    with pytest.raises(DeadlineError, match="walking"):
        find_candidates(
            region,
            Fit(np.zeros((1, 6)), np.zeros((1, 0, 6)), np.zeros(1, dtype=np.int64), np.zeros(1)),
            LEARNED,
            relation_numbers=np.arange(6),
            deadline=CountedDeadline(0),
        )
