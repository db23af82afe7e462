"""What drawing and measuring views needs of a base graph, made when first asked for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from graph_service.byte_budget import held_bytes
from graph_service.model.graph import Int32, KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.views.measure.deviation import BaseMeasure
from graph_service.views.pairs import PairIndex
from graph_service.views.scorer.counting import CountScorer, TripleScorer, least_likely
from graph_service.views.scorer.trial import ScorerQuality, judge_counts

_UNKNOWN = -1
_WAIT_S = 0.05
"""Between two looks at the deadline while another thread works."""


class PreparedBase:
    """A base graph, with what its views share. Safe to use from several threads.

    Args:
        graph: The base.
        scorer: How plausible a triple is; counts where None.
        quality: What the scorer is worth; that of counts is found out.
        index: Which entities the base joins, where that is known.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        /,
        *,
        scorer: TripleScorer | None = None,
        quality: ScorerQuality | None = None,
        index: PairIndex | None = None,
    ) -> None:
        self.graph = graph
        self._lock = threading.RLock()
        self._index = index
        self._scorer = scorer
        self._quality = quality
        self._measure: BaseMeasure | None = None
        self._least: Int32 | None = None

    def held_bytes(self) -> int:
        """Returns the bytes of what was made so far, without the graph; waits for nothing."""
        parts = (self._index, self._scorer, self._quality, self._measure, self._least)
        return held_bytes(*parts, shared=(self.graph,))

    @property
    def index(self) -> PairIndex:
        """Which entities it joins."""
        with self._lock:
            if self._index is None:
                self._index = PairIndex.build(self.graph)
            return self._index

    @property
    def scorer(self) -> TripleScorer:
        """How plausible a triple is."""
        with self._lock:
            if self._scorer is None:
                self._scorer = CountScorer.build(self.graph, index=self.index)
            return self._scorer

    @contextmanager
    def _held(self, deadline: Deadline | None) -> Iterator[None]:
        """Holds the lock; who waits for another's work gives up at its own deadline."""
        deadline = deadline or Deadline.none()
        while not self._lock.acquire(timeout=_WAIT_S):
            deadline.check("waiting for what another view prepares")
        try:
            yield
        finally:
            self._lock.release()

    def measure(self, *, deadline: Deadline | None = None) -> BaseMeasure:
        """Returns the base's own part of its views' deviation."""
        with self._held(deadline):
            if self._measure is None:
                if isinstance(self.scorer, CountScorer):
                    self._quality = judge_counts(self.graph, self.index)
                self._measure = BaseMeasure.of(
                    self.graph,
                    scorer=self.scorer,
                    index=self.index,
                    quality=self._quality,
                    deadline=deadline,
                )
            return self._measure

    def least_likely(self, edges: Int32, /, *, deadline: Deadline | None = None) -> Int32:
        """Returns the least likely relation of some edges other than their own, int32.

        Each edge's is worked out once, for all levels and random seeds (4 bytes an edge).
        """
        with self._held(deadline):
            if self._least is None:
                self._least = np.full(self.graph.edge_count, _UNKNOWN, dtype=np.int32)
            new = edges[self._least[edges] == _UNKNOWN]
            if len(new):
                self._least[new] = least_likely(
                    self.scorer,
                    self.graph.head[new],
                    self.graph.tail[new],
                    self.index.relations,
                    own=self.graph.rel[new],
                    deadline=deadline,
                )
            return self._least[edges]
