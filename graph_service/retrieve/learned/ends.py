"""What the candidates of a question lead to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Float64, Int64
from graph_service.model.region import Region
from graph_service.retrieve.kinds import KINDS
from graph_service.retrieve.learned.candidates import Candidates


@dataclass(frozen=True, slots=True, eq=False)
class EndKinds:
    """What candidates lead to, ``c`` candidates.

    Attributes:
        shares: Share of ends that are dates, numbers, other text, persons, entities: [c, 5].
        kind: Number in ``KINDS`` of the commonest kind of end; -1 where none is known. int64 [c].
        meets: Whether another of the starts is among them, float64 [c].
        back: Whether its own start is, float64 [c].
    """

    shares: Float64
    kind: Int64
    meets: Float64
    back: Float64


def find_end_kinds(
    candidates: Candidates,
    region: Region,
    kinds: Mapping[int, str],
    literal_form: Sequence[int],
    /,
) -> EndKinds:
    """Returns what candidates lead to.

    Args:
        candidates: c of them.
        region: Theirs.
        kinds: Kind of the heads of each relation, by global number.
        literal_form: 0, 1 or 2 for each candidate whose first literal end is a date, a number or
            other text; -1 for one that has none.
    """
    count = len(candidates)
    owner, node = candidates.end_owner, candidates.end_node
    total = np.maximum(np.bincount(owner, minlength=count), 1)
    kind_of_node = np.full(region.node_count, -1)
    number = {kind: i for i, kind in enumerate(KINDS)}
    relations = candidates.relation_numbers
    of_relation = np.full(int(relations.max(initial=-1)) + 1, -1)
    of_relation[relations] = [number.get(kinds.get(rel, ""), -1) for rel in relations.tolist()]
    heads = of_relation.take(region.rel)
    # Of several, that of the statement of the smallest key: later assignments win.
    known_edges = np.flatnonzero(heads >= 0)[::-1]
    kind_of_node[region.head.take(known_edges).astype(np.int64)] = heads.take(known_edges)
    literal = region.literal[node]
    kind = kind_of_node[node]
    shares = np.zeros((count, 5))
    part = np.bincount(owner[literal], minlength=count) / total
    form = np.asarray(literal_form, dtype=np.int64)
    for column in range(3):
        shares[:, column] = np.where(form == column, part, 0.0)
    person = (kind == number["person"]) & ~literal
    shares[:, 3] = np.bincount(owner[person], minlength=count) / total
    shares[:, 4] = 1.0 - part
    known = (kind >= 0) & ~literal
    cell = (owner * len(KINDS) + kind)[known]
    commonest = np.bincount(cell, minlength=count * len(KINDS)).reshape(count, len(KINDS))
    best = np.where(commonest.any(axis=1), commonest.argmax(axis=1), -1)
    is_start = np.zeros(region.node_count, dtype=bool)
    is_start[region.start_entities] = True
    own = region.start_entities[candidates.start].take(owner) == node
    meets = np.bincount(owner[is_start[node] & ~own], minlength=count) > 0
    back = np.bincount(owner[own], minlength=count) > 0
    return EndKinds(shares, best, meets.astype(np.float64), back.astype(np.float64))
