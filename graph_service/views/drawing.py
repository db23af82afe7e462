"""What a method of perturbation draws from, and what it comes to."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from graph_service.model.graph import Int32, KnowledgeGraph, Numbers
from graph_service.model.limits import Deadline
from graph_service.model.view_delta import ViewDelta, empty_delta
from graph_service.model.view_spec import ViewSpec
from graph_service.views.draw import Stream, edges_at_level, smallest
from graph_service.views.notes import shortfall
from graph_service.views.pairs import PairIndex, contains
from graph_service.views.prepared import PreparedBase
from graph_service.views.scope import scope_edges


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """One view being drawn.

    Attributes:
        prepared: The base, and what its views share.
        spec: What is asked; valid.
        stream: The hash stream of its random seed and method.
        question_edges: Base edges of the question's region, int32 or int64; None without a
            question.
        deadline: When to give up.
        notes: What is to be said of the view, in words; methods add to it.
    """

    prepared: PreparedBase
    spec: ViewSpec
    stream: Stream
    question_edges: Numbers | None
    deadline: Deadline
    notes: list[str]

    @property
    def graph(self) -> KnowledgeGraph:
        """The base graph that the view changes."""
        return self.prepared.graph

    @property
    def index(self) -> PairIndex:
        """Which entities the base joins."""
        return self.prepared.index

    def scope(self, *, of_any_kind: bool = False) -> Numbers:
        """Returns the edges that the view may change, int32 or int64, ascending.

        Args:
            of_any_kind: With those whose value is no entity, and deprecated ones.
        """
        edges, notes = scope_edges(
            self.graph,
            self.spec.scope,
            of_any_kind=of_any_kind,
            question_edges=self.question_edges,
            deadline=self.deadline,
        )
        self.deadline.check("drawing edges")
        self.notes.extend(notes)
        if self.spec.count is not None and self.spec.count > len(edges):
            self.notes.append(shortfall("edges", self.spec.count, "in scope", len(edges)))
        if not len(edges):
            self.notes.append("no edge is in scope")
        return edges

    def target(self, available: int, /) -> int:
        """Returns how many of the available edges the level or the count is."""
        if self.spec.level is not None:
            return edges_at_level(self.spec.level, available)
        return min(self.spec.count or 0, available)

    def first(self, edges: Numbers, count: int, /) -> Numbers:
        """Returns the first ``count`` of some edges in hash order, ascending."""
        hashes = self.stream.hashes(self.graph.statement_keys, at=edges, purpose="order")
        return edges[smallest(hashes, count)]


@dataclass(frozen=True, slots=True, eq=False)
class MethodResult:
    """What a method changes.

    Attributes:
        delta: The changes.
        scope: How many edges could have been changed.
        unavoidable: Changes that repeat a triple because no other choice existed.
        is_share: Whether the changes are a share of the scope.
    """

    delta: ViewDelta
    scope: int
    unavoidable: int = 0
    is_share: bool = True


def without(graph: KnowledgeGraph, removed: Numbers, /) -> ViewDelta:
    """Returns the delta that lacks some edges, ascending."""
    return replace(empty_delta(graph), removed=removed)


def replaced(
    graph: KnowledgeGraph, edges: Numbers, /, *, rel: Int32 | None = None, tail: Int32 | None = None
) -> ViewDelta:
    """Returns the delta that gives some edges, ascending, other relations or tails."""
    return replace(
        empty_delta(graph),
        replaced=edges,
        replaced_rel=graph.rel[edges] if rel is None else rel,
        replaced_tail=graph.tail[edges] if tail is None else tail,
    )


def added(graph: KnowledgeGraph, head: Int32, rel: Int32, tail: Int32, /) -> ViewDelta:
    """Returns the delta that has some statements more."""
    return replace(empty_delta(graph), added_head=head, added_rel=rel, added_tail=tail)


def repeats(graph: KnowledgeGraph, delta: ViewDelta, index: PairIndex, /) -> int:
    """Returns how many edges of a new relation repeat a triple of the base or of one before."""
    # Both ends stay: only an edge that others run beside can say what they say.
    crowded = index.parallel[delta.replaced]
    edges = delta.replaced[crowded]
    packed = index.pack(graph.head[edges], delta.replaced_rel[crowded], graph.tail[edges])
    ascending = np.sort(packed)
    again = np.zeros(len(packed), dtype=np.bool_)
    again[1:] = ascending[1:] == ascending[:-1]
    return int(np.count_nonzero(again | contains(index.parallel_triples, ascending)))
