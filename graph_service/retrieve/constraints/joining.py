"""The one relation by which what walks pass is joined to what a question names.

That some statement joins them says little: of the countries *in Africa* some only have an embassy
there. The query that is shown to the user filters by one relation, and so does the answer.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from graph_service.model.graph import Int64
from graph_service.retrieve.constraints.meeting import (
    CandidateWalks,
    Met,
    Surroundings,
    noun_stems,
)
from graph_service.retrieve.constraints.naming import NamedNodes
from graph_service.retrieve.constraints.reciprocal import is_reciprocal


@dataclass(frozen=True, slots=True, eq=False)
class JoiningStep:
    """A relation by which nodes are joined to what is named.

    Attributes:
        relation: By its global number.
        is_forward: Whether it leads from the nodes to what is named.
        edges: Its local edges between them, int64.
    """

    relation: int
    is_forward: bool
    edges: Int64


def joining_step(
    passed: Int64, named: NamedNodes, around: Surroundings, own_stems: frozenset[str], /
) -> JoiningStep | None:
    """Returns the relation that joins nodes to what is named: one that the question says, else the
    one by which most of them are joined; None where none is.

    Args:
        passed: Distinct nodes.
        named: The name.
        around: What is said of the nodes.
        own_stems: Of the question's words beside names.
    """
    region = around.region
    edges = around.joining(passed, named.nodes)
    is_forward = np.isin(region.head[edges], passed) & np.isin(region.tail[edges], named.nodes)
    joined = np.where(is_forward, region.head[edges], region.tail[edges])
    steps = list(zip(region.rel[edges].tolist(), is_forward.tolist(), strict=True))
    if not steps:
        return None
    counts = Counter(step for step, _ in set(zip(steps, joined.tolist(), strict=True)))

    def rank(step: tuple[int, bool]) -> tuple[bool, int, tuple[int, bool]]:
        is_in_question = not own_stems.isdisjoint(noun_stems(around.text(step[0])))
        # Of equally many the one of the smaller number.
        return (not is_in_question, -counts[step], step)

    relation, forward = min(counts, key=rank)
    is_of_step = np.array([step == (relation, forward) for step in steps], dtype=bool)
    return JoiningStep(relation, forward, edges[is_of_step])


def of_one_step(
    named: NamedNodes,
    how: Met,
    walks: CandidateWalks,
    around: Surroundings,
    own_stems: frozenset[str],
    /,
) -> Met:
    """Returns which walks meet a name by ``joining_step`` alone.

    Args:
        named: The name.
        how: The walks that meet it by any relation.
        walks: The candidate's.
        around: What is said of their nodes.
        own_stems: Of the question's words beside names.
    """
    nodes = walks.nodes[:, how.column]
    step = joining_step(np.unique(nodes[how.walks]), named, around, own_stems)
    if step is None:
        return how
    region = around.region
    is_joined = np.zeros(region.node_count, dtype=bool)
    both_ways = is_reciprocal(around.text(step.relation))
    for is_forward in (True, False) if both_ways else (step.is_forward,):
        source, target = (region.head, region.tail) if is_forward else (region.tail, region.head)
        is_of_step = (region.rel == step.relation) & np.isin(target, named.nodes)
        is_joined[source[is_of_step]] = True
    return replace(how, walks=how.walks & is_joined[nodes])
