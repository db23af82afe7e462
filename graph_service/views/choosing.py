"""Choosing something new for each edge: from a pool, each in turn, none what another has taken.

Each edge has an order of its pool: sixteen members drawn at random, where it has more, then all in
turn from a drawn one on. As if the edges came one by one in hash order, each takes the first member that makes no
triple of the base nor one that an earlier edge made. So what an edge gets is the same at every
level, and an edge that gets nothing leaves its place to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Bool, Int32, Int64, Numbers
from graph_service.model.limits import Deadline
from graph_service.views.draw import Stream, ascending, below
from graph_service.views.drawing import Draw
from graph_service.views.notes import NOTHING_LEFT, shortfall
from graph_service.views.pools import Pools

DRAWS = 16
"""Members drawn at random before all are taken in turn."""

Refused = Callable[[Int64, Int32], Bool]
Packed = Callable[[Int64, Int32], Int64]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The order in which each row looks at its pool.

    Attributes:
        pools: All pools.
        pool: That of each row, int64.
        keys: Key of each row, from which its order is drawn, int64.
        stream: The draws.
    """

    pools: Pools
    pool: Int64
    keys: Int64
    stream: Stream

    def at(self, rows: Int64, steps: Int64, /) -> Int32:
        """Returns the candidate of some rows at a step of their orders, int32."""
        pool = self.pool[rows]
        sizes = self.pools.sizes(pool)
        offsets = np.empty(len(rows), dtype=np.int64)
        attempts = np.minimum(steps, DRAWS)
        for attempt in np.unique(attempts).tolist():
            group = attempts == attempt
            purpose = "choice" if attempt < DRAWS else "walk"
            hashes = self.stream.hashes(self.keys[rows[group]], purpose=purpose, attempt=attempt)
            offsets[group] = below(hashes, sizes[group])
        offsets = (offsets + np.maximum(steps - DRAWS, 0)) % sizes
        members: Int32 = self.pools.members[self.pools.indptr[pool] + offsets]
        return members

    def first(self) -> Int64:
        """Returns the step at which each row begins: a small pool is taken in turn at once."""
        return np.where(self.pools.sizes(self.pool) > DRAWS, 0, DRAWS)

    def last(self) -> Int64:
        """Returns after how many steps each row has seen its whole pool, int64."""
        sizes = self.pools.sizes(self.pool)
        return np.where(sizes > 0, sizes + DRAWS, 0)


def take_turns(
    candidates: Candidates, /, *, refused: Refused, packed: Packed, deadline: Deadline
) -> Int32:
    """Returns what each row takes, int32; -1 where nothing is left for it.

    Args:
        candidates: The order of each row; the rows are in the order of their turns.
        refused: Tells for some rows which candidates they can't take.
        packed: The triple that some rows make of their candidates.
        deadline: When to give up.
    """
    last = candidates.last()
    steps = candidates.first()
    taken = np.full(len(last), -1, dtype=np.int32)
    made = np.zeros(len(last), dtype=np.int64)
    waiting = np.flatnonzero(last > 0)
    while len(waiting):
        rows = waiting
        while len(rows):
            deadline.check("choosing what edges get")
            offered = candidates.at(rows, steps[rows])
            bad = refused(rows, offered)
            taken[rows[~bad]] = offered[~bad]
            made[rows[~bad]] = packed(rows[~bad], offered[~bad])
            rows = rows[bad]
            steps[rows] += 1
            rows = rows[steps[rows] < last[rows]]
        # Deferred acceptance: of rows that make one triple the first keeps it and the others go
        # on. As all triples prefer rows alike, this ends where taking turns would.
        settled = np.flatnonzero(taken >= 0)
        order = settled[np.argsort(made[settled], kind="stable")]
        again = order[1:][made[order[1:]] == made[order[:-1]]]
        taken[again] = -1
        steps[again] += 1
        waiting = np.sort(again[steps[again] < last[again]])
    return taken


def first_able(
    draw: Draw, scope: Numbers, target: int, choose: Callable[[Numbers], Int32], /
) -> tuple[Numbers, Int32]:
    """Returns the first edges in hash order that get something, ascending, and what they get.

    Args:
        draw: The view being drawn.
        scope: Edges that may change.
        target: How many are to change.
        choose: Gives what some edges in hash order get, -1 for nothing; what an edge gets depends
            on those before it alone.
    """
    hashes = draw.stream.hashes(draw.graph.statement_keys, at=scope, purpose="order")
    order = scope[ascending(hashes)]
    length = target
    while True:
        edges = order[:length]
        chosen = choose(edges)
        able = np.flatnonzero(chosen >= 0)[:target]
        if len(able) == target or length == len(order):
            break
        length = min(len(order), length + max(target - len(able), length))
    if len(able) < target:
        draw.notes.append(shortfall("edges", target, "can be changed", len(able), NOTHING_LEFT))
    edges, chosen = edges[able], chosen[able]
    by_edge = np.argsort(edges)
    return edges[by_edge], chosen[by_edge]
