"""Relation swapping: two edges exchange their relations (O10).

The hash order pairs the edges of the scope: first with second, third with fourth, and so on. Pairs
that cannot be swapped (one relation, or a result that the base or another swap already has)
are repaired: rotated among themselves, then exchanged with good pairs, then searched for one by
one. The level cuts the sequence of pairs, which is in order of each pair's earlier member.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Bool, Int32, Int64, KnowledgeGraph, Numbers, Uint8
from graph_service.model.limits import Deadline
from graph_service.views.draw import Stream, ascending, below
from graph_service.views.pairs import PairIndex
from graph_service.views.swapping.chains import pair_rest
from graph_service.views.swapping.pairing import Pairing

ROTATIONS = 3
FEW = 16
"""Failed pairs that are left to the search."""

_ROWS = 1 << 18

MAX_VAIN = 4
"""Exchanges in a row without a gain, after which the search takes over."""


@dataclass(frozen=True, slots=True, eq=False)
class PairSequence:
    """Pairs in the order in which levels take them.

    Attributes:
        first, second: Edges of each pair, or their places: int32 or int64; no more than were
            wanted.
        clean: How many pairs, from the start, repeat no triple, of all.
        count: How many there are.
    """

    first: Numbers
    second: Numbers
    clean: int
    count: int


def pair_edges(
    graph: KnowledgeGraph,
    scope: Numbers,
    /,
    *,
    stream: Stream,
    index: PairIndex,
    deadline: Deadline,
    count: int | None = None,
) -> PairSequence:
    """Returns all pairs that a scope can be swapped in.

    As many edges are paired as can be: all but one of an odd number, unless one relation holds
    more than half of them. Pairs that repeat a triple come last, and only of edges that cannot
    be paired well with each other, nor by breaking up good pairs along a chain (the search for
    those is bounded: ``chains``).

    Args:
        graph: The base.
        scope: Its edges that may be paired, int32 or int64, ascending.
        stream: The hash order.
        index: The base's ``PairIndex``.
        deadline: When to give up.
        count: How many pairs to return, from the start; all where None.
    """
    edges = ascending(stream.hashes(graph.statement_keys, at=scope, purpose="order"))
    if len(scope) < graph.edge_count:
        edges = scope[edges]
    sequence = pair_positions(Pairing.of(graph, edges, index), deadline, count=count)
    return PairSequence(
        edges[sequence.first], edges[sequence.second], sequence.clean, sequence.count
    )


def pair_positions(
    work: Pairing, deadline: Deadline, /, *, count: int | None = None
) -> PairSequence:
    """Returns the pairs of ``pair_edges`` as places in the hash order.

    Args:
        work: The edges in that order, without pairs.
        deadline: When to give up.
        count: How many pairs to return, from the start; all where None.
    """
    first = work.join_neighbours()
    second = first + 1
    for _ in range(ROTATIONS):
        if len(first) < 2:
            break
        deadline.check("pairing edges")
        second = np.roll(second, -1)
        fine = work.fits(first, second)
        joined = work.join_new(fine, (first, second))
        first, second = first[~joined], second[~joined]
    _exchange(work, first, second, deadline)
    pair_rest(work, deadline)
    deadline.check("pairing edges")
    forced = _force(work)
    good = work.pairs()
    first, second = np.concatenate([good[:, :count], forced], axis=1)[:, :count]
    clean = good.shape[1]
    return PairSequence(first, second, clean, clean + forced.shape[1])


def _exchange(work: Pairing, first: Int64, second: Int64, deadline: Deadline) -> None:
    """Breaks good pairs, block by block, to make two good ones of each and a failed one."""
    pairs = work.pairs()
    rels = work.rel[pairs]
    untried = np.ones(pairs.shape[1], dtype=np.bool_)
    vain = 0
    while len(first) > FEW and vain < MAX_VAIN:
        deadline.check("pairing edges")
        # What is left over is mostly of the commonest relation: only pairs without it can help.
        commonest = np.argmax(np.bincount(work.rel[first]))
        block = _outside(untried, rels, commonest, count=len(first))
        if not len(block):
            break
        untried[block] = False
        one, two = pairs[:, block]
        a, b = first[: len(block)], second[: len(block)]
        fine = work.fits(a, one, one) & work.fits(b, two, one)
        joined = work.join_new(fine, (a, one), (b, two), freed=one)
        vain = 0 if joined.any() else vain + 1
        rest = np.ones(len(first), dtype=np.bool_)
        rest[: len(block)] = ~joined
        first, second = first[rest], second[rest]


def _outside(untried: Bool, rels: Uint8 | Int32, commonest: np.intp, *, count: int) -> Int64:
    """Returns the first ``count`` untried pairs without a relation."""
    parts = [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(untried), _ROWS):
        rows = slice(start, start + _ROWS)
        fine = untried[rows] & (rels[0, rows] != commonest) & (rels[1, rows] != commonest)
        parts.append(start + np.flatnonzero(fine))
        count -= len(parts[-1])
        if count <= 0:
            break
    block: Int64 = np.concatenate(parts)
    return block[: len(block) + min(0, count)]


def _force(work: Pairing) -> Numbers:
    """Pairs what is left whatever it repeats, [2, pairs]; breaks good pairs if it must."""
    alone = work.alone()
    counts = np.bincount(work.rel[alone]) if len(alone) else np.zeros(1, dtype=np.int64)
    commonest = int(np.argmax(counts))
    excess = 2 * int(counts[commonest]) - len(alone)
    if excess >= 2:
        pairs = work.pairs()
        able = np.flatnonzero((work.rel[pairs] != commonest).all(axis=0))
        # The last in the sequence: levels below them keep theirs.
        broken = able[len(able) - min(len(able), excess // 2) :]
        work.part(pairs[0, broken])
        alone = np.concatenate([alone, pairs[:, broken].ravel()])
    # In order of relations, each with the one half the number on: unlike while none has half.
    alone = alone[np.lexsort((alone, work.rel[alone]))]
    is_commonest = work.rel[alone] == commonest
    others = len(alone) - int(is_commonest.sum())
    surplus = max(len(alone) % 2, len(alone) - 2 * others)
    alone = np.delete(alone, np.flatnonzero(is_commonest)[:surplus])
    half = len(alone) // 2
    pairs = np.sort(np.stack([alone[:half], alone[half:]]), axis=0)
    # Breaking pairs can make room: those that now repeat nothing stand with the others.
    joined = work.join_new(work.fits(pairs[0], pairs[1]), (pairs[0], pairs[1]))
    forced: Numbers = pairs[:, ~joined].astype(work.partner.dtype)
    return forced[:, np.argsort(forced[0])]


def swap_with_replacement(
    rel: Int32, keys: Int64, draws: int, /, *, stream: Stream, deadline: Deadline
) -> Int32:
    """Returns the relation of each edge after some draws of two edges each, int32.

    Sampling ``okgqa``: edges are drawn with replacement, relations exchanged one draw after the
    other, nothing checked. Swaps within one relation do nothing and edges drawn twice count
    once, so less is reached than asked; levels do not nest.

    Args:
        rel: Relation of each edge in scope.
        keys: Key of its statement.
        draws: How many.
        stream: The draws.
        deadline: When to give up.
    """
    relations: list[int] = rel.tolist()
    hashes = stream.hashes(np.arange(2 * draws, dtype=np.int64), purpose="draw")
    by_key = np.argsort(keys)
    edges = by_key[below(hashes, len(keys))].tolist() if len(keys) else []
    for start in range(0, len(edges), _ROWS):
        deadline.check("swapping relations")
        part = edges[start : start + _ROWS]
        for first, second in zip(part[::2], part[1::2], strict=True):
            relations[first], relations[second] = relations[second], relations[first]
    return np.array(relations, dtype=np.int32)
