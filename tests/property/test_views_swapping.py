"""Pairing for relation swapping (O10), against all pairings of small multigraphs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

import numpy as np
import pytest
from graph_builder import build_graph

from graph_service.model.graph import Bool, Int64, KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.views.delta import make_delta
from graph_service.views.draw import Stream, ascending, smallest
from graph_service.views.pairs import PairIndex, Sieve, contains, pack_triples
from graph_service.views.swapping import chains, method
from graph_service.views.swapping.method import PairSequence, pair_edges
from graph_service.views.swapping.pairing import Pairing


def paired(graph: KnowledgeGraph, seed: int) -> PairSequence:
    index = PairIndex.build(graph)
    return pair_edges(
        graph,
        np.flatnonzero(index.eligible).astype(np.int32),
        stream=Stream(seed, Method.RELATION_SWAPPING, 1),
        index=index,
        deadline=Deadline.none(),
    )


def drawn(rng: random.Random, *, edges: int, nodes: int, relations: int) -> KnowledgeGraph:
    def end() -> str:
        return f"e{rng.randrange(nodes)}"

    return build_graph([(end(), f"r{rng.randrange(relations)}", end()) for _ in range(edges)])


def most_clean(graph: KnowledgeGraph) -> int:
    """The most pairs that repeat nothing, of all pairings that leave as few edges as can be."""
    head, rel, tail = graph.head[:].tolist(), graph.rel[:].tolist(), graph.tail.tolist()
    base = set(zip(head, rel, tail, strict=True))
    count = len(head)
    left_over = count - 2 * min(count // 2, count - max(Counter(rel).values()))

    @cache
    def best(used: int, made: frozenset[tuple[int, int, int]], spare: int) -> int:
        one = next((place for place in range(count) if not used >> place & 1), None)
        if one is None:
            return 0
        found = best(used | 1 << one, made, spare - 1) if spare else -count
        for other in range(one + 1, count):
            if used >> other & 1 or rel[one] == rel[other]:
                continue
            both = used | 1 << one | 1 << other
            new = {(head[one], rel[other], tail[one]), (head[other], rel[one], tail[other])}
            found = max(found, best(both, made, spare))
            if len(new) == 2 and not new & base and not new & made:
                found = max(found, 1 + best(both, made | new, spare))
        return found

    return best(0, frozenset(), left_over)


def test_as_many_pairs_repeat_nothing_as_in_the_best_pairing() -> None:
    """O10: by brute force; the bounded search may miss the best in one of a hundred."""
    rng = random.Random(7)
    missed = 0
    for seed in range(250):
        graph = drawn(
            rng, edges=rng.randint(2, 8), nodes=rng.randint(1, 6), relations=rng.randint(2, 4)
        )
        clean = paired(graph, seed).clean
        best = most_clean(graph)
        assert clean <= best
        missed += clean < best
    assert missed <= 2


@pytest.mark.parametrize("rows", [3, 4, 5, 8, 13, 21, 40])
def test_chains_of_pairs_are_found(rows: int) -> None:
    """O10: pairs of parallel edges that single exchanges often can't place."""
    graph = build_graph(
        [(f"e{i}", f"r{i % 4}", f"f{i}") for i in range(rows)]
        + [(f"e{i}", f"r{(i + 1) % 4}", f"f{i}") for i in range(rows)]
        + [(f"g{i}", f"r{i % 4}", f"g{i + 1}") for i in range(6 * rows)]
    )
    for seed in range(30):
        sequence = paired(graph, seed)
        assert sequence.clean == len(sequence.first) == graph.edge_count // 2


def test_chains_in_vain_are_tried_so_often_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """O10: four from one place that is left, 256 in a row."""
    rng = random.Random(11)
    tried: list[Counter[int]] = []
    meeting = False
    meet = chains._meet

    def met(*given: Any) -> bool:
        nonlocal meeting
        meeting = True
        tried.append(Counter())
        try:
            return meet(*given)
        finally:
            meeting = False

    def refused(_: Pairing, left: Sequence[int], joined: Sequence[tuple[int, int]], /) -> bool:
        if meeting:
            tried[-1][joined[-1][0]] += 1
        return False

    monkeypatch.setattr(chains, "_meet", met)
    monkeypatch.setattr(Pairing, "replace", refused)
    for seed in range(6):
        paired(drawn(rng, edges=160, nodes=9, relations=5), seed)
    assert max(most for counts in tried for most in counts.values()) == 4
    tried.clear()
    paired(drawn(rng, edges=700, nodes=16, relations=8), 1)
    assert sum(counts.total() for counts in tried) == 256


class Unfit:
    """Pairs of which no two edges fit, but in one block (numbered from 1; 0 for none)."""

    def __init__(self, fruitful: int) -> None:
        self.blocks, self.fruitful = 0, fruitful
        self.rel = np.tile(np.array([1, 2], dtype=np.int32), 30_000)

    def pairs(self) -> Int64:
        return np.arange(20_000, 60_000).reshape(2, -1)

    def fits(self, first: Int64, *_: Int64) -> Bool:
        return np.zeros(len(first), dtype=np.bool_)

    def join_new(self, fine: Bool, *_: object, freed: Int64) -> Bool:
        self.blocks += 1
        joined = np.zeros(len(fine), dtype=np.bool_)
        joined[0] = self.blocks == self.fruitful
        return joined


@pytest.mark.parametrize(("fruitful", "blocks"), [(0, 4), (1, 5), (4, 8), (5, 4)])
def test_exchanges_in_vain_come_to_an_end(fruitful: int, blocks: int) -> None:
    """O10: so many blocks in a row; one that makes a pair begins the count anew."""
    work = Unfit(fruitful)
    left = np.arange(0, 400, 2)
    method._exchange(cast(Pairing, work), left, left + 400, Deadline.none())
    assert work.blocks == blocks


def test_shared_cells_never_let_a_taken_triple_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """O10: where the table is smaller than the triples, it may only refuse too much."""
    rng = random.Random(3)
    graph = drawn(rng, edges=200, nodes=12, relations=5)
    monkeypatch.setattr("graph_service.views.swapping.pairing.MAX_CELLS", 64)
    index = PairIndex.build(graph)
    scope = np.flatnonzero(index.eligible).astype(np.int32)
    assert not Pairing.of(graph, scope, index).exact
    sequence = paired(graph, 5)
    base = set(zip(graph.head[:].tolist(), graph.rel[:].tolist(), graph.tail.tolist(), strict=True))
    made = set()
    for one, other in zip(
        sequence.first[: sequence.clean].tolist(),
        sequence.second[: sequence.clean].tolist(),
        strict=True,
    ):
        for edge, giver in ((one, other), (other, one)):
            triple = (int(graph.head[edge]), int(graph.rel[giver]), int(graph.tail[edge]))
            assert triple not in base
            assert triple not in made
            made.add(triple)
    assert made


def test_hashes_are_ordered_by_all_their_bits() -> None:
    """O10: also where the upper 48 are alike."""
    rng = np.random.default_rng(1)
    hashes = rng.permutation(np.arange(2_000, dtype=np.uint64) * np.uint64(977))
    assert (ascending(hashes) == np.argsort(hashes)).all()
    for distance in (15, 16, 31, 32, 33, 43, 47, 48):
        spread = hashes << np.uint64(distance)
        assert (ascending(spread) == np.argsort(spread)).all()
    assert len(ascending(hashes[:0])) == 0


@pytest.mark.parametrize("distance", [0, 20, 30, 32, 43, 48, 53])
def test_hashes_past_the_cache_are_ordered_by_all_their_bits(
    monkeypatch: pytest.MonkeyPatch, distance: int
) -> None:
    """O10: dealt into buckets; also where their upper bits are alike."""
    monkeypatch.setattr("graph_service.views.draw._CACHED", 16)
    monkeypatch.setattr("graph_service.views.draw._BLOCK", 100)
    rng = np.random.default_rng(distance)
    hashes = rng.permutation(np.arange(2_000, dtype=np.uint64)) << np.uint64(distance)
    order = np.argsort(hashes)
    assert (ascending(hashes) == order).all()
    for count in (0, 1, 77, 1_999, 2_000):
        assert smallest(hashes, count).tolist() == sorted(order[:count].tolist())


def test_a_sieve_lets_its_own_through_and_few_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """O10: what looks a pair up in a graph past the processor's cache."""
    monkeypatch.setattr("graph_service.views.pairs._BLOCK", 100)
    numbers = np.arange(0, 60_000, 7)
    wanted = np.arange(60_000)
    through = Sieve.of(numbers).through(wanted)
    assert set(numbers.tolist()) <= set(through.tolist())
    assert len(numbers) < len(through) < len(numbers) + 0.15 * (len(wanted) - len(numbers))
    assert len(Sieve.of(numbers[:0]).through(wanted)) == 0


@pytest.mark.parametrize("seed", range(6))
def test_graphs_past_the_cache_have_the_same_views(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """O10: what is done block by block, and looked up otherwise, changes no delta."""
    rng = random.Random(seed)
    graph = drawn(rng, edges=rng.randint(40, 400), nodes=rng.randint(4, 40), relations=9)
    specs = [
        ViewSpec(method, level=level, random_seed=seed)
        for method in (Method.RELATION_SWAPPING, Method.EDGE_REWIRING, Method.EDGE_DELETION)
        for level in (0.3, 1.0)
    ]

    def deltas() -> list[list[list[int]]]:
        made = [make_delta(graph, spec)[0] for spec in specs]
        return [
            [
                column.tolist()
                for column in (one.removed, one.replaced, one.replaced_rel, one.replaced_tail)
            ]
            for one in made
        ]

    whole = deltas()
    for name in ("draw._CACHED", "draw._BLOCK", "pairs._CACHED", "pairs._BLOCK"):
        monkeypatch.setattr(f"graph_service.views.{name}", 8)
    for name in ("pairing._ROWS", "method._ROWS"):
        monkeypatch.setattr(f"graph_service.views.swapping.{name}", 4)
    assert deltas() == whole


def test_numbers_looked_up_in_order_are_those_looked_up_as_they_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """O10: on graphs past the processor's cache the queries are sorted first."""
    rng = np.random.default_rng(4)
    known = np.unique(rng.integers(0, 10_000, 3_000))
    wanted = rng.integers(-5, 10_005, 2_000)
    plain = contains(known, wanted)
    assert plain.tolist() == np.isin(wanted, known).tolist()
    monkeypatch.setattr("graph_service.views.pairs._CACHED", 16)
    assert contains(known, wanted).tolist() == plain.tolist()


def test_a_triple_has_one_number_on_every_machine_in_large_graphs_too() -> None:
    """O10: past 63 bits the number is a hash. A view drawn elsewhere must refuse the same triples."""
    head, rel, tail = (
        np.array(column, dtype=np.int32)
        for column in ([0, 1, 2_000_000_000], [0, 7, 40_000], [1, 0, 1_999_999_999])
    )
    exact = pack_triples(head, rel % 2, tail, node_count=2_100_000_000, relation_count=2)
    assert exact.tolist() == [2, 4_200_000_001, 8_400_000_003_999_999_998]
    hashed = pack_triples(head, rel, tail, node_count=2_100_000_000, relation_count=50_000)
    assert hashed.tolist() == [-7995527694508729151, 2853417899451699159, 2211515233749884337]
