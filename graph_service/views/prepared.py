"""What drawing and measuring views needs of a base graph, made when first asked for."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from graph_service.byte_budget import held_bytes
from graph_service.model.entity_names import EntityName, entity_names
from graph_service.model.graph import Bool, Int32, Int64, KnowledgeGraph, Numbers
from graph_service.model.graph_arrays import find_positions
from graph_service.model.limits import Deadline
from graph_service.model.statement import Entity
from graph_service.views.functional import functional_relations
from graph_service.views.measure.deviation import BaseMeasure
from graph_service.views.pairs import PairIndex, contains
from graph_service.views.renaming import EntityReader
from graph_service.views.rules import Restorable, mine_restorable
from graph_service.views.scorer.counting import CountScorer, TripleScorer, least_likely
from graph_service.views.scorer.trial import ScorerQuality, judge_counts
from graph_service.views.times import UNTIMED, StatementReader, begin_of
from graph_service.views.types_of_entities import Signatures, TypesOfEntities

_UNKNOWN = -1
_UNREAD = UNTIMED - 1
_READ = 1000
"""Statements or entities read between two looks at the deadline."""
_WAIT_S = 0.05
"""Between two looks at the deadline while another thread works."""


class PreparedBase:
    """A base graph, with what its views share. Safe to use from several threads.

    Args:
        graph: The base.
        scorer: How plausible a triple is; counts where None.
        quality: What the scorer is worth; that of counts is found out.
        index: Which entities the base joins, where that is known.
        statements: Reads statements with their qualifiers; without it no statement has a time.
        entities: Reads entities with all their names; without it they have their labels alone.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        /,
        *,
        scorer: TripleScorer | None = None,
        quality: ScorerQuality | None = None,
        index: PairIndex | None = None,
        statements: StatementReader | None = None,
        entities: EntityReader | None = None,
    ) -> None:
        self.graph = graph
        self._lock = threading.RLock()
        self._index = index
        self._scorer = scorer
        self._quality = quality
        self._measure: BaseMeasure | None = None
        self._least: Int32 | None = None
        self._types: TypesOfEntities | None = None
        self._signatures: Signatures | None = None
        self._functional: Bool | None = None
        self._triples: Int64 | None = None
        self._statements = statements
        self._entities = entities
        self._begins: Int64 | None = None
        self._restorable: dict[tuple[int, int, float], Restorable] = {}

    def held_bytes(self) -> int:
        """Returns the bytes of what was made so far, without the graph; waits for nothing."""
        parts = (
            self._index,
            self._scorer,
            self._quality,
            self._measure,
            self._least,
            self._types,
            self._signatures,
            self._functional,
            self._triples,
            self._begins,
            *self._restorable.values(),
        )
        return held_bytes(*parts, shared=(self.graph,))

    @property
    def index(self) -> PairIndex:
        """Which entities the base joins, made at first use."""
        with self._lock:
            if self._index is None:
                self._index = PairIndex.build(self.graph)
            return self._index

    @property
    def types(self) -> TypesOfEntities:
        """Which entities are of the same type."""
        with self._lock:
            if self._types is None:
                self._types = TypesOfEntities.build(self.graph, self.index)
            return self._types

    @property
    def signatures(self) -> Signatures:
        """Which relations join entities of which types."""
        with self._lock:
            if self._signatures is None:
                self._signatures = Signatures.build(self.graph, self.index, self.types)
            return self._signatures

    @property
    def functional(self) -> Bool:
        """Which relations have one value for nearly every head, bool [relations]."""
        with self._lock:
            if self._functional is None:
                self._functional = functional_relations(self.graph, self.index)
            return self._functional

    def restorable(
        self, *, atoms: int, support: int, confidence: float, deadline: Deadline | None = None
    ) -> Restorable:
        """Returns what rules of some thresholds could restore, mined once for all views."""
        key = atoms, support, confidence
        with self._held(deadline):
            if key not in self._restorable:
                self._restorable = {
                    key: mine_restorable(
                        self.graph,
                        self.index,
                        atoms=atoms,
                        support=support,
                        confidence=confidence,
                        deadline=deadline or Deadline.none(),
                    )
                }
            return self._restorable[key]

    def begins(self, edges: Numbers, /, *, deadline: Deadline | None = None) -> Int64:
        """Returns when some edges began to hold (``times.begin_of``), int64.

        Each edge's is read once, for all levels and random seeds (8 bytes an edge).
        """
        deadline = deadline or Deadline.none()
        with self._held(deadline):
            if self._begins is None:
                self._begins = np.full(self.graph.edge_count, _UNREAD, dtype=np.int64)
            new = np.unique(edges[self._begins[edges] == _UNREAD])
            for start in range(0, len(new), _READ):
                deadline.check("reading when statements began")
                block = new[start : start + _READ]
                ids = self.graph.statement_ids.take(block)
                known = self._statements(ids) if self._statements is not None else {}
                self._begins[block] = [
                    begin_of(known[id_]) if id_ in known else UNTIMED for id_ in ids
                ]
            return self._begins[edges]

    def names_of(
        self, nodes: Int32, /, *, deadline: Deadline | None = None
    ) -> list[tuple[EntityName, ...]]:
        """Returns all names of some entities, each one's in order."""
        deadline = deadline or Deadline.none()
        names: list[tuple[EntityName, ...]] = []
        for start in range(0, len(nodes), _READ):
            deadline.check("reading the names of entities")
            block = nodes[start : start + _READ]
            ids = self.graph.node_ids.take(block)
            known = self._labelled(block, ids) if self._entities is None else self._entities(ids)
            for id_ in ids:
                entity = known.get(id_)
                # An id that leads elsewhere names nothing itself.
                if entity is None or entity.id != id_:
                    names.append(())
                else:
                    names.append(tuple(sorted(entity_names(entity))))
        return names

    def _labelled(self, nodes: Int32, ids: Sequence[str]) -> dict[str, Entity]:
        labels: dict[str, dict[str, str]] = {id_: {} for id_ in ids}
        for language, column in self.graph.node_labels.items():
            positions = find_positions(column.index, nodes)
            positions[positions == len(column.index)] = 0
            for position, node, id_ in zip(positions.tolist(), nodes.tolist(), ids, strict=True):
                if column.index[position] == node:
                    labels[id_][language] = column.texts[position]
        return {id_: Entity(id_, labels=some) for id_, some in labels.items()}

    def says(self, head: Int32, rel: Int32, tail: Int32, /) -> Bool:
        """Returns for each triple whether the base has it, whatever its rank."""
        with self._lock:
            if self._triples is None:
                graph = self.graph
                self._triples = np.sort(self.index.pack(graph.head[:], graph.rel[:], graph.tail))
        return contains(self._triples, self.index.pack(head, rel, tail))

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

    def least_likely(self, edges: Numbers, /, *, deadline: Deadline | None = None) -> Int32:
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
