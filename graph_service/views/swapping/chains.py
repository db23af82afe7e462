"""Pairing what is left over for swapping: by breaking one good pair, or several in a chain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Bool, Int64
from graph_service.model.limits import Deadline
from graph_service.views.swapping.pairing import Pairing

MAX_SEARCHED = 20_000_000
"""Combinations of an unpaired edge and a pair that the search looks at (some 0.3 s)."""

MAX_CHAINED = 10_000_000
"""Combinations of a place left and a pair that chains are looked for in."""

MAX_TRIED = 4
"""Chains tried in vain from one place left."""

MAX_FRUITLESS = 256
"""Chains tried in vain, in a row, after which the rest stays as it is (some 8 ms)."""

MAX_MOVES = 16
"""Times in a row that other places are left unpaired where no chain is found."""

MAX_MOVED = 200_000
"""Combinations looked at after which that is given up (some 5 ms)."""

MOVE_STRIDE = 7

MAX_CLASSES = 512
"""Kinds of unpaired edges that the search takes on at once."""

_CHUNK = 1 << 16


def pair_rest(work: Pairing, deadline: Deadline, /) -> None:
    """Pairs unpaired places as far as it finds how, repeating nothing; none is lost.

    Work is bounded by counts, not by the clock: the same pairs on every machine.
    """
    _search(work, deadline)
    _chain(work, deadline)


def _search(work: Pairing, deadline: Deadline) -> None:
    """Pairs what is left with each other, and by breaking one pair, until nothing more helps."""
    looked = 0
    gained = True
    while gained:
        gained = False
        deadline.check("pairing edges")
        kinds = _kinds(work)
        if not kinds:
            return
        firsts = np.array([members[0] for members in kinds])
        looked += len(firsts) ** 2
        direct = work.fits(firsts[:, None], firsts[None, :])
        for kind, other in zip(
            *(side.tolist() for side in np.nonzero(np.triu(direct))), strict=True
        ):
            deadline.check("pairing edges")
            while kinds[kind] and kinds[other]:
                if not work.replace((), ((kinds[kind][0], kinds[other][0]),)):
                    break
                kinds[kind].pop(0)
                kinds[other].pop(0)
                gained = True
        left = [members for members in kinds if members]
        gained_more, cells = _break_one(work, left, MAX_SEARCHED - looked, deadline)
        gained |= gained_more
        looked += cells
        if looked >= MAX_SEARCHED:
            return


def _kinds(work: Pairing) -> list[list[int]]:
    """Unpaired places by group and relation: those of one kind fit alike. In order of places."""
    alone = work.alone()
    if len(alone) < 2:
        return []
    kinds: dict[tuple[int, int], list[int]] = {}
    for index, group, rel in zip(
        alone.tolist(), work.group[alone].tolist(), work.rel[alone].tolist(), strict=True
    ):
        kinds.setdefault((group, rel), []).append(index)
    return list(kinds.values())[:MAX_CLASSES]


def _break_one(
    work: Pairing, kinds: list[list[int]], budget: int, deadline: Deadline
) -> tuple[bool, int]:
    """Breaks a pair for two unpaired places wherever that makes two good ones."""
    gained, looked = False, 0
    pairs = work.pairs()
    rels = {int(work.rel[members[0]]) for members in kinds}
    if len(rels) == 1:
        pairs = pairs[:, (work.rel[pairs] != rels.pop()).all(axis=0)]
    start = 0
    while start < pairs.shape[1] and sum(map(len, kinds)) > 1 and looked < budget:
        deadline.check("pairing edges")
        kinds = [members for members in kinds if members]
        size = max(1, _CHUNK // (2 * len(kinds)))
        one, two = pairs[:, start : start + size]
        start += size
        firsts = np.array([members[0] for members in kinds])[:, None]
        with_one, with_two = work.fits(firsts, one, one), work.fits(firsts, two, one)
        looked += 2 * with_one.size
        for a, b in _sharing(with_one, with_two):
            deadline.check("pairing edges")
            if a == b and len(kinds[a]) < 2:
                continue
            if not kinds[a] or not kinds[b]:
                continue
            for at in np.flatnonzero(with_one[a] & with_two[b]).tolist():
                u, v = kinds[a][0], kinds[b][a == b]
                x, y = int(one[at]), int(two[at])
                if work.partner[x] == y and work.replace((x,), ((u, x), (v, y))):
                    gained = True
                    kinds[a].pop(0)
                    kinds[b].pop(0)
                    if not kinds[a] or not kinds[b] or (a == b and len(kinds[a]) < 2):
                        break
    return gained, looked


def _sharing(one: Bool, two: Bool) -> list[tuple[int, int]]:
    """Rows of the first and of the second that are both true in some column, in order."""
    # Few are: without the others the product is small.
    columns = np.flatnonzero(one.any(axis=0) & two.any(axis=0))
    one, two = one[:, columns], two[:, columns]
    first, second = np.flatnonzero(one.any(axis=1)), np.flatnonzero(two.any(axis=1))
    shared = one[first].astype(np.float32) @ two[second].T.astype(np.float32)
    a, b = np.nonzero(shared)
    return list(zip(first[a].tolist(), second[b].tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class _Chain:
    """Pairs to break (of ``taken`` and ``left``), those to make, and the place that is left."""

    taken: list[int]
    left: list[int]
    joined: list[tuple[int, int]]
    end: int


@dataclass(slots=True, eq=False)
class _Forest:
    """Places that breaking pairs one after the other can leave unpaired, from unpaired ones on.

    Attributes:
        kinds: Unpaired places by kind; the first of each is the root of a tree.
        hole: Places, the roots first.
        tree: Number in ``kinds`` of the root that each comes from.
        parent: Number of the hole that each comes from, itself for a root.
        through: The place that the parent takes, which leaves this one; itself for a root.
        fruitless: Chains tried in vain since the last one that was not.
    """

    kinds: list[list[int]]
    hole: list[int]
    tree: list[int]
    parent: list[int]
    through: list[int]
    fruitless: int = 0

    def add(self, hole: int, *, parent: int, through: int) -> None:
        """Adds a hole to the forest, under its parent."""
        self.hole.append(hole)
        self.tree.append(self.tree[parent])
        self.parent.append(parent)
        self.through.append(through)

    def chain(self, hole: int, root: int) -> _Chain:
        """Returns the way from a root, given anew, to a hole."""
        taken, left = [], []
        while self.parent[hole] != hole:
            taken.append(self.through[hole])
            left.append(self.hole[hole])
            hole = self.parent[hole]
        joined = list(zip(taken, [*left[1:], root], strict=True)) if taken else []
        return _Chain(taken, left, joined, left[0] if left else root)


def _chain(work: Pairing, deadline: Deadline) -> None:
    """Pairs what is left by breaking several pairs in a chain, until nothing more helps.

    An unpaired place takes a member of a pair, whose other member takes one of the next, until
    two that are left fit each other: the augmenting paths of a matching, shortest first. Odd
    cycles of pairs are passed over, and places of one kind are looked at once.
    """
    looked = moves = fruitless = 0
    while looked < MAX_CHAINED and fruitless < MAX_FRUITLESS:
        kinds = _kinds(work)
        if sum(map(len, kinds)) < 2:
            return
        every = list(range(len(kinds)))
        roots = [members[0] for members in kinds]
        forest = _Forest(kinds, roots, every[:], every[:], roots[:], fruitless)
        gained, cells = _explore(work, forest, MAX_CHAINED - looked, deadline)
        looked += cells
        fruitless = forest.fruitless
        if gained:
            moves = 0
            continue
        moves += 1
        if moves > MAX_MOVES or looked > MAX_MOVED or not _move(work, forest, moves, deadline):
            return


def _explore(work: Pairing, forest: _Forest, budget: int, deadline: Deadline) -> tuple[bool, int]:
    """Grows a forest until two of its places could be joined; says how much it looked at."""
    seen = set(work.kind(np.array(forest.hole)).tolist())
    paired = len(work.partner) - len(work.alone())
    if paired > budget:
        return False, paired
    taken = np.concatenate(list(work.pairs()))
    rows = max(1, _CHUNK // max(1, len(taken)))
    begin = looked = 0
    while begin < len(forest.hole):
        end = len(forest.hole)
        for start in range(begin, end, rows):
            deadline.check("pairing edges")
            part = range(start, min(start + rows, end))
            looked += len(part) * len(taken)
            if looked > budget:
                return False, looked
            _grow(work, forest, part, taken, seen, deadline)
        if _meet(work, forest, end, deadline):
            return True, looked
        begin = end
    return False, looked


def _move(work: Pairing, forest: _Forest, turn: int, deadline: Deadline) -> bool:
    """Leaves other places unpaired than before, for another search from there."""
    roots = len(forest.kinds)
    for step in range(len(forest.hole) - roots):
        deadline.check("pairing edges")
        hole = roots + (turn * MOVE_STRIDE + step) % (len(forest.hole) - roots)
        chain = forest.chain(hole, forest.kinds[forest.tree[hole]][0])
        if len({*chain.left, *chain.taken}) == 2 * len(chain.left) and work.replace(
            chain.left, chain.joined
        ):
            return True
    return False


def _grow(
    work: Pairing,
    forest: _Forest,
    part: range,
    taken: Int64,
    seen: set[int],
    deadline: Deadline,
) -> None:
    """Adds the places that some holes can leave by taking a member of a pair."""
    holes = np.array(forest.hole[part.start : part.stop])[:, None]
    fine = work.fits(holes, taken, holes, taken) & (work.partner[taken] != holes)
    columns = np.flatnonzero(fine.any(axis=0))
    freed = taken[columns]
    kinds, first = np.unique(work.kind(work.partner[freed]), return_index=True)
    for kind, column in zip(kinds.tolist(), columns[first].tolist(), strict=True):
        deadline.check("pairing edges")
        if kind not in seen:
            seen.add(kind)
            through = int(taken[column])
            forest.add(
                int(work.partner[through]),
                parent=part.start + int(np.argmax(fine[:, column])),
                through=through,
            )


def _meet(work: Pairing, forest: _Forest, begin: int, deadline: Deadline) -> bool:
    """Joins holes from ``begin`` on with any, where that makes whole chains of good pairs."""
    holes = np.array(forest.hole)
    new = holes[begin:, None]
    fine = work.fits(new, holes, new, holes)
    gained = False
    tried = [0] * len(fine)
    for row, other in zip(*(side.tolist() for side in np.nonzero(fine)), strict=True):
        deadline.check("pairing edges")
        one = begin + row
        mine, theirs = forest.kinds[forest.tree[one]], forest.kinds[forest.tree[other]]
        if other > one or not mine or not theirs or (mine is theirs and len(mine) < 2):
            continue
        if tried[row] == MAX_TRIED or forest.fruitless == MAX_FRUITLESS:
            continue
        lasts = (mine[0], theirs[mine is theirs])
        chains = [forest.chain(hole, end) for hole, end in zip((one, other), lasts, strict=True)]
        left = [*chains[0].left, *chains[1].left]
        through = [*chains[0].taken, *chains[1].taken]
        if len({*left, *through}) < 2 * len(left):
            continue
        if any(int(work.partner[y]) != x for x, y in zip(through, left, strict=True)):
            continue
        joined = [*chains[0].joined, *chains[1].joined, (chains[0].end, chains[1].end)]
        if work.replace(left, joined):
            gained = True
            forest.fruitless = 0
            for members, end in zip((mine, theirs), lasts, strict=True):
                members.remove(end)
        else:
            tried[row] += 1
            forest.fruitless += 1
    return gained
