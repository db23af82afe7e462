"""Relation swapping: two edges exchange their relations (O10).

The hash order pairs the edges of the scope: first with second, third with fourth, and so on. Pairs
that cannot be swapped (one relation, or a result that the base or another swap already has)
are repaired with their neighbours in the sequence, then by exchange with good pairs. The level
cuts the sequence of pairs, which is in order of each pair's earlier member.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Bool, Int32, Int64, KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.views.draw import Stream, below
from graph_service.views.pairs import PairIndex, contains

ROTATIONS = 4
FEW = 16
"""Unpaired pairs that are left to the thorough search, which looks at all pairs for each."""

MAX_BROKEN = 256
"""Pairs that the thorough search tries to break for two unpaired edges."""

MAX_CHAINED = 32
"""Pairs that it breaks on trial to then break a second one."""

MAX_SEARCHES = 2_048
"""Thorough searches without success at which those left over stay unpaired."""


@dataclass(frozen=True, slots=True, eq=False)
class PairSequence:
    """Pairs in the order in which levels take them.

    Attributes:
        first, second: Edges of each pair, int32.
        clean: How many pairs, from the start, repeat no triple.
    """

    first: Int32
    second: Int32
    clean: int


@dataclass(slots=True, eq=False)
class _Pairing:
    """Edges of the scope by their place in the hash order, while they are being paired."""

    head: Int32
    rel: Int32
    tail: Int32
    parallel: Bool
    index: PairIndex

    def swappable(self, first: Int64, second: Int64) -> Bool:
        """Whether the two have different relations and no result is a triple of the base."""
        valid: Bool = self.rel[first] != self.rel[second]
        for one, other in ((first, second), (second, first)):
            at_risk = np.flatnonzero(self.parallel[one])
            if len(at_risk):
                packed = self.result(one[at_risk], other[at_risk])
                valid[at_risk] &= ~contains(self.index.parallel_triples, packed)
        return valid

    def result(self, edge: Int64, relation_of: Int64) -> Int64:
        """Packed triples of edges that take the relation of others."""
        return self.index.pack(self.head[edge], self.rel[relation_of], self.tail[edge])

    def fresh(self, edge: Int64, relation_of: Int64, taken: Int64) -> Bool:
        """Whether no triple of a row is taken, or made by an earlier row or twice in the row.

        Args:
            edge: Edges, [rows, edges of a row].
            relation_of: Edges whose relation each takes, of the same shape.
            taken: Packed triples made already, ascending.
        """
        flat = edge.ravel()
        fine = np.ones(len(edge), dtype=np.bool_)
        at_risk = np.flatnonzero(self.parallel[flat])
        if len(at_risk):
            packed = self.result(flat[at_risk], relation_of.ravel()[at_risk])
            order = np.argsort(packed, kind="stable")
            repeats = order[1:][packed[order[1:]] == packed[order[:-1]]]
            width = edge.shape[1]
            fine[at_risk[repeats] // width] = False
            fine[at_risk[contains(taken, packed)] // width] = False
        return fine

    def made(self, first: Int64, second: Int64) -> Int64:
        """Packed triples of pairs that could repeat one, ascending."""
        flat = np.concatenate([first, second])
        other = np.concatenate([second, first])
        at_risk = self.parallel[flat]
        return np.sort(self.result(flat[at_risk], other[at_risk]))


def pair_edges(
    graph: KnowledgeGraph,
    scope: Int32,
    /,
    *,
    stream: Stream,
    index: PairIndex,
    deadline: Deadline,
) -> PairSequence:
    """Returns all pairs that a scope can be swapped in.

    As many edges are paired as can be: all but one of an odd number, unless one relation holds
    more than half of them. Pairs that repeat a triple come last and only where neither the
    other unpaired edges nor breaking up one or two pairs offers another choice.
    """
    hashes = stream.hashes(graph.statement_keys[scope], purpose="order")
    edges = scope[np.argsort(hashes)]
    work = _Pairing(
        graph.head[edges], graph.rel[edges], graph.tail[edges], index.parallel[edges], index
    )
    count = len(edges) // 2
    places = np.arange(2 * count, dtype=np.int64).reshape(count, 2)
    first, second = places[:, 0].copy(), places[:, 1].copy()
    good = work.swappable(first, second)
    good &= work.fresh(_columns(first, second), _columns(second, first), _none())
    paired = [np.stack([first[good], second[good]])]
    left = (first[~good], second[~good])
    left = _rotate(work, paired, left)
    pairs = np.concatenate(paired, axis=1)
    deadline.check("pairing edges")
    pairs, left = _exchange(work, pairs, left, deadline)
    single = np.arange(2 * count, len(edges), dtype=np.int64)
    pool = np.sort(np.concatenate([*left, single]))
    pairs, pool = _search(work, pairs, pool, deadline, clean=True)
    clean = _in_order(pairs, len(edges))
    forced, pool = _search(work, pairs, pool, deadline, clean=False)
    if forced.shape[1] == pairs.shape[1]:
        sequence = clean
        clean_count = clean.shape[1]
    else:
        kept = _is_clean(work, forced)
        tidy = _in_order(forced[:, kept], len(edges))
        sequence = np.concatenate([tidy, _in_order(forced[:, ~kept], len(edges))], axis=1)
        clean_count = tidy.shape[1]
    return PairSequence(edges[sequence[0]], edges[sequence[1]], clean_count)


def _rotate(work: _Pairing, paired: list[Int64], left: tuple[Int64, Int64]) -> tuple[Int64, Int64]:
    """Pairs each first member with the next pair's second, among pairs that failed."""
    first, second = left
    taken = _none()
    for _ in range(ROTATIONS):
        if len(first) < 2:
            break
        second = np.roll(second, -1)
        taken = _merged(taken, work.made(paired[-1][0], paired[-1][1]))
        good = work.swappable(first, second)
        good &= work.fresh(_columns(first, second), _columns(second, first), taken)
        paired.append(np.stack([first[good], second[good]]))
        first, second = first[~good], second[~good]
    return first, second


def _exchange(
    work: _Pairing, pairs: Int64, left: tuple[Int64, Int64], deadline: Deadline
) -> tuple[Int64, tuple[Int64, Int64]]:
    """Breaks good pairs, block by block, to make two good ones of each and a failed one."""
    first, second = left
    untried = np.ones(pairs.shape[1], dtype=np.bool_)
    broken = np.zeros(pairs.shape[1], dtype=np.bool_)
    added: list[Int64] = []
    taken: Int64 | None = None
    while len(first) > FEW:
        deadline.check("pairing edges")
        # What is left over is mostly of the commonest relation: only pairs without it can help.
        commonest = np.argmax(np.bincount(work.rel[first]))
        outside = (work.rel[pairs[0]] != commonest) & (work.rel[pairs[1]] != commonest)
        block = np.flatnonzero(outside & untried)[: len(first)]
        if not len(block):
            break
        untried[block] = False
        size = len(block)
        one, two = pairs[0, block], pairs[1, block]
        a, b = first[:size], second[:size]
        good = work.swappable(a, one) & work.swappable(b, two)
        if taken is None:
            taken = work.made(pairs[0], pairs[1])
        for new in added[-2:]:
            taken = _merged(taken, work.made(new[0], new[1]))
        rows = np.stack([a, one, b, two], axis=1)
        good &= work.fresh(rows, np.stack([one, a, two, b], axis=1), taken)
        broken[block[good]] = True
        added.append(np.stack([a[good], one[good]]))
        added.append(np.stack([b[good], two[good]]))
        rest = np.concatenate([~good, np.ones(len(first) - size, dtype=np.bool_)])
        first, second = first[rest], second[rest]
    return np.concatenate([pairs[:, ~broken], *added], axis=1), (first, second)


def _search(
    work: _Pairing, pairs: Int64, pool: Int64, deadline: Deadline, *, clean: bool
) -> tuple[Int64, Int64]:
    """Pairs what is left, each against all that is left and then against every pair.

    Args:
        work: The edges.
        pairs: Pairs so far, int64 [2, pairs].
        pool: Unpaired places, ascending.
        deadline: When to give up.
        clean: Whether a pair must repeat no triple, or only join two relations.

    Returns:
        The pairs, and the places still unpaired.
    """
    if not len(pool):
        return pairs, pool
    taken = work.made(pairs[0], pairs[1])
    failures = 0
    position = 0
    while position < len(pool) and failures < MAX_SEARCHES:
        deadline.check("pairing edges")
        alike = bool((work.rel[pool] == work.rel[pool[0]]).all())
        if alike and not ((work.rel[pairs] != work.rel[pool[0]]).all(axis=0)).any():
            break
        if not alike:
            partner = _partner(work, pool, position, taken, clean=clean)
            if partner is not None:
                new = np.array([[pool[position]], [pool[partner]]])
                pairs = np.concatenate([pairs, new], axis=1)
                pool = np.delete(pool, [position, partner])
                taken = _merged(taken, work.made(new[0], new[1]))
                position = failures = 0
                continue
        if position + 1 < len(pool):
            swap = _breakable(work, pairs, pool[position], pool[position + 1 :], taken, clean=clean)
            if swap is not None:
                other, broken, new = swap
                pairs = np.concatenate([np.delete(pairs, broken, axis=1), new], axis=1)
                pool = np.delete(pool, [position, position + 1 + other])
                taken = work.made(pairs[0], pairs[1])
                position = failures = 0
                continue
            chain = (
                _chain(work, pairs, pool[position], pool[position + 1], taken) if clean else None
            )
            if chain is not None:
                pairs = chain
                pool = np.delete(pool, [position, position + 1])
                taken = work.made(pairs[0], pairs[1])
                position = failures = 0
                continue
        failures += 1
        position += 1
    return pairs, pool


def _partner(
    work: _Pairing, pool: Int64, position: int, taken: Int64, *, clean: bool
) -> int | None:
    later = pool[position + 1 :]
    mine = np.full(len(later), pool[position])
    valid = _valid(work, mine, later, taken, clean=clean)
    found = np.flatnonzero(valid)
    return position + 1 + int(found[0]) if len(found) else None


def _breakable(
    work: _Pairing, pairs: Int64, place: np.int64, others: Int64, taken: Int64, *, clean: bool
) -> tuple[int, int, Int64] | None:
    """The unpaired edge to join in, the pair to break, and the two new pairs."""
    mine = np.full(pairs.shape[1], place)
    ways = ((pairs[0], pairs[1]), (pairs[1], pairs[0]))
    mine_fits = [_joins(work, mine, one, clean=clean) for one, _ in ways]
    if not (mine_fits[0].any() or mine_fits[1].any()):
        return None
    # Unpaired edges of one relation mostly fail alike: the first few, and one of each relation.
    _, starts = np.unique(work.rel[others], return_index=True)
    tried = np.unique(np.concatenate([np.arange(min(len(others), FEW)), starts]))
    for offset in tried.tolist():
        theirs = np.full(pairs.shape[1], others[offset])
        for fits, (one, two) in zip(mine_fits, ways, strict=True):
            both = np.flatnonzero(fits & _joins(work, theirs, two, clean=clean))
            for at in both[:MAX_BROKEN].tolist():
                new = np.array([[place, others[offset]], [one[at], two[at]]])
                if not clean or _replaces(work, pairs[:, at : at + 1], new, taken):
                    return offset, at, new
    return None


def _chain(
    work: _Pairing, pairs: Int64, place: np.int64, other: np.int64, taken: Int64
) -> Int64 | None:
    """All pairs after breaking two of them for two unpaired edges, where that can be."""
    mine = np.full(pairs.shape[1], place)
    for one, two in ((pairs[0], pairs[1]), (pairs[1], pairs[0])):
        for at in np.flatnonzero(work.swappable(mine, one))[:MAX_CHAINED].tolist():
            new = np.array([[place], [one[at]]])
            if not _replaces(work, pairs[:, at : at + 1], new, taken):
                continue
            then = np.concatenate([np.delete(pairs, at, axis=1), new], axis=1)
            made = work.made(then[0], then[1])
            found = _breakable(work, then, two[at], np.array([other]), made, clean=True)
            if found is not None:
                _, broken, last = found
                return np.concatenate([np.delete(then, broken, axis=1), last], axis=1)
    return None


def _joins(work: _Pairing, one: Int64, other: Int64, *, clean: bool) -> Bool:
    differs: Bool = work.rel[one] != work.rel[other]
    return work.swappable(one, other) if clean else differs


def _replaces(work: _Pairing, old: Int64, new: Int64, taken: Int64) -> bool:
    """Whether new pairs make only triples that are free once an old pair is broken."""
    freed = work.made(old[0], old[1])
    made = work.made(new[0], new[1])
    again = bool((made[1:] == made[:-1]).any())
    return not again and not bool((contains(taken, made) & ~contains(freed, made)).any())


def _valid(work: _Pairing, one: Int64, other: Int64, taken: Int64, *, clean: bool) -> Bool:
    if not clean:
        differs: Bool = work.rel[one] != work.rel[other]
        return differs
    valid = work.swappable(one, other)
    for edge, relation_of in ((one, other), (other, one)):
        at_risk = np.flatnonzero(valid & work.parallel[edge])
        if len(at_risk):
            packed = work.result(edge[at_risk], relation_of[at_risk])
            valid[at_risk[contains(taken, packed)]] = False
    return valid


def _is_clean(work: _Pairing, pairs: Int64) -> Bool:
    """Whether a pair repeats no triple of the base or of an earlier pair, bool [pairs]."""
    first, second = pairs
    clean = work.swappable(first, second)
    clean &= work.fresh(_columns(first, second), _columns(second, first), _none())
    return clean


def _in_order(pairs: Int64, size: int) -> Int64:
    """Pairs with their earlier member first, in order of that member."""
    partner = np.full(size, -1, dtype=np.int64)
    partner[np.minimum(pairs[0], pairs[1])] = np.maximum(pairs[0], pairs[1])
    first = np.flatnonzero(partner >= 0)
    return np.stack([first, partner[first]])


def _columns(first: Int64, second: Int64) -> Int64:
    return np.stack([first, second], axis=1)


def _merged(ascending: Int64, more: Int64) -> Int64:
    """Both together, ascending; ``more`` is short and ascending."""
    merged: Int64 = np.insert(ascending, np.searchsorted(ascending, more), more)
    return merged


def _none() -> Int64:
    return np.zeros(0, dtype=np.int64)


def swap_with_replacement(
    graph: KnowledgeGraph, scope: Int32, draws: int, /, *, stream: Stream
) -> Int32:
    """Returns the relation of each edge in scope after some draws of two edges each, int32.

    Sampling ``okgqa``: edges are drawn with replacement, relations exchanged one draw after the
    other, nothing checked. Swaps within one relation do nothing and edges drawn twice count
    once, so less is reached than asked; levels do not nest.
    """
    relations: list[int] = graph.rel[scope].tolist()
    hashes = stream.hashes(np.arange(2 * draws, dtype=np.int64), purpose="draw")
    drawn = below(hashes, len(scope)).tolist() if len(scope) else []
    for one, two in zip(drawn[::2], drawn[1::2], strict=True):
        relations[one], relations[two] = relations[two], relations[one]
    return np.array(relations, dtype=np.int32)
