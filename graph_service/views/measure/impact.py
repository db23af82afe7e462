"""What a view breaks of a set of questions: gold triples, paths and answers.

Deviation (ATS, SC2D, SD2) says how far a whole graph has gone; this says what of it matters. With
the gold of a question (its entities, sets of statements that suffice, and answers):

* a **gold triple** is broken when no statement of the view says it any more;
* a question's **paths** are broken when in each of its sets a triple is;
* an **answer** is broken when no answer entity is as few steps from the question's entities as
  on the base, walked both ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import RANK_CODES, Bool, Int32, KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.overlay import Overlay
from graph_service.model.statement import Rank

MAX_STEPS = 4
"""Steps within which an answer is looked for."""


@dataclass(frozen=True, slots=True)
class GoldCase:
    """A question's gold in the numbers of a base graph.

    Attributes:
        id: Of the question.
        entities: Nodes that it names.
        sets: Edges of each set that suffices, in the order walked; the first is the one counted
            as gold triples.
        answers: Nodes that answer it.
    """

    id: str
    entities: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]
    answers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CaseImpact:
    """What a view breaks of one question.

    Attributes:
        triples: How many gold triples it has, and ``broken_edges`` which of them are broken.
        paths_broken: Whether no set is whole any more; None where the question has none.
        steps_base, steps_view: Steps to the nearest answer; None where there is none within
            ``MAX_STEPS``.
        answer_broken: Whether it is further than on the base; None where the base has none.
    """

    id: str
    triples: int
    broken_edges: tuple[int, ...]
    paths_broken: bool | None
    steps_base: int | None
    steps_view: int | None
    answer_broken: bool | None


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many; ``share`` is None over nothing."""

    broken: int
    of: int

    @property
    def share(self) -> float | None:
        """Returns ``broken / of``."""
        return self.broken / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Impact:
    """What a view breaks of a set of questions."""

    triples: Share
    paths: Share
    answers: Share
    cases: tuple[CaseImpact, ...]


def impact(
    graph: KnowledgeGraph,
    overlay: Overlay,
    cases: Sequence[GoldCase],
    /,
    *,
    deadline: Deadline | None = None,
) -> Impact:
    """Returns what a view breaks of some questions.

    Args:
        graph: The base.
        overlay: The view laid over it.
        cases: The questions' gold.
        deadline: When to give up.
    """
    deadline = deadline or Deadline.none()
    said = _Said(graph, overlay, deadline)
    base, view = _Steps(graph, None, deadline), _Steps(graph, overlay, deadline)
    found = []
    for case in cases:
        deadline.check("looking for what a view breaks")
        gold = case.sets[0] if case.sets else ()
        steps_base = base.nearest(case.entities, case.answers, MAX_STEPS)
        steps_view = (
            None if steps_base is None else view.nearest(case.entities, case.answers, MAX_STEPS)
        )
        found.append(
            CaseImpact(
                id=case.id,
                triples=len(gold),
                broken_edges=tuple(edge for edge in gold if not said.still(edge)),
                paths_broken=all(not all(said.still(edge) for edge in edges) for edges in case.sets)
                if case.sets
                else None,
                steps_base=steps_base,
                steps_view=steps_view,
                answer_broken=None
                if steps_base is None
                else steps_view is None or steps_view > steps_base,
            )
        )
    paths = [one.paths_broken for one in found if one.paths_broken is not None]
    answers = [one.answer_broken for one in found if one.answer_broken is not None]
    return Impact(
        triples=Share(
            sum(len(one.broken_edges) for one in found), sum(one.triples for one in found)
        ),
        paths=Share(sum(paths), len(paths)),
        answers=Share(sum(answers), len(answers)),
        cases=tuple(found),
    )


class _Said:
    """Which triples of the base a view still says, by whichever statement."""

    def __init__(self, graph: KnowledgeGraph, overlay: Overlay, deadline: Deadline) -> None:
        self._graph = graph
        self._deadline = deadline
        self._overlay = overlay
        self._extra = set(
            zip(overlay.head.tolist(), overlay.rel.tolist(), overlay.tail.tolist(), strict=True)
        )

    def still(self, edge: int) -> bool:
        self._deadline.check("looking for what a view breaks")
        if not self._overlay.gone[edge]:
            return True
        graph = self._graph
        head, rel, tail = int(graph.head[edge]), int(graph.rel[edge]), int(graph.tail[edge])
        if (head, rel, tail) in self._extra:
            return True
        out = graph.out_edges
        others = out.edges[out.indptr[head] : out.indptr[head + 1]]
        same = (graph.rel[others] == rel) & (graph.tail[others] == tail)
        return bool((same & ~self._overlay.gone[others]).any())


class _Steps:
    """Steps between entities of a graph, or of a view of it, both ways, over current edges."""

    def __init__(self, graph: KnowledgeGraph, overlay: Overlay | None, deadline: Deadline) -> None:
        self._graph = graph
        self._deadline = deadline
        deprecated = RANK_CODES[Rank.DEPRECATED]
        walked = graph.rank != deprecated
        extra_head = extra_tail = np.zeros(0, dtype=np.int32)
        self._nodes = graph.node_count
        if overlay is not None:
            walked = walked & ~overlay.gone
            current = overlay.rank != deprecated
            extra_head, extra_tail = overlay.head[current], overlay.tail[current]
            self._nodes += len(overlay.new_nodes)
        self._walked: Bool = walked
        self._extra = {
            True: _Ends.of(extra_head, extra_tail),
            False: _Ends.of(extra_tail, extra_head),
        }

    def nearest(self, starts: Sequence[int], ends: Sequence[int], most: int) -> int | None:
        """Steps from the nearest start to the nearest end, or None beyond ``most``."""
        if not starts or not ends:
            return None
        wanted = set(ends)
        if wanted & set(starts):
            return 0
        seen = np.zeros(self._nodes, dtype=np.bool_)
        front = np.unique(np.array(starts, dtype=np.int32))
        seen[front] = True
        for step in range(1, most + 1):
            self._deadline.check("looking for the steps to an answer")
            reached = np.unique(self._beyond(front))
            front = reached[~seen[reached]]
            if wanted.intersection(front.tolist()):
                return step
            seen[front] = True
            # A literal ends a walk.
            literal = (front >= self._graph.entity_count) & (front < self._graph.node_count)
            front = front[~literal]
            if not len(front):
                return None
        return None

    def _beyond(self, front: Int32) -> Int32:
        graph = self._graph
        known = front[front < graph.node_count]
        parts = [self._extra[out].others(front) for out in (True, False)]
        for adjacency, other in ((graph.out_edges, graph.tail), (graph.in_edges, graph.head)):
            starts, stops = adjacency.indptr[known], adjacency.indptr[known + 1]
            counts = stops - starts
            offsets = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
            edges = adjacency.edges[np.repeat(starts, counts) + offsets]
            parts.append(other[edges[self._walked[edges]]])
        return np.concatenate(parts)


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """Extra edges by one end: ``node`` ascending, and the other end of each."""

    node: Int32
    other: Int32

    @classmethod
    def of(cls, node: Int32, other: Int32) -> _Ends:
        order = np.argsort(node, kind="stable")
        return cls(node[order], other[order])

    def others(self, nodes: Int32) -> Int32:
        starts = np.searchsorted(self.node, nodes, side="left")
        counts = np.searchsorted(self.node, nodes, side="right") - starts
        offsets = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        found: Int32 = self.other[np.repeat(starts, counts) + offsets]
        return found
