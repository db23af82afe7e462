"""What a question is answered from: a graph or a part of it, its view, and what the question names."""

from __future__ import annotations

from dataclasses import dataclass, replace

from graph_service.artifacts.views import AppliedView
from graph_service.model.graph import RANK_CODES, Int32, KnowledgeGraph
from graph_service.model.overlay import Overlay
from graph_service.model.region import Region
from graph_service.model.request import RetrieveRequest
from graph_service.model.statement import Rank
from graph_service.retrieve.kinds import HeadRelations
from graph_service.retrieve.preset import AnyPreset
from graph_service.retrieve.region.cut import IsInstance
from graph_service.service.linking import Linking, OpenGraph
from graph_service.service.lookup import find_relations
from graph_service.service.stopwatch import Stopwatch

DEFAULT_RANKS = (Rank.PREFERRED, Rank.NORMAL)


@dataclass(frozen=True, slots=True, eq=False)
class ClassPart:
    """The part of a stored graph that a question about a class is answered from.

    Attributes:
        arrays: What instances of the classes that it names have.
        overlay: The view of it, if any.
        is_cut: Whether limits left something out.
        has_all_classes: Whether it is the whole graph, with the classes that are not named too.
    """

    arrays: KnowledgeGraph
    overlay: Overlay | None
    is_cut: bool
    has_all_classes: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class GraphSlice:
    """What a question is answered from.

    Attributes:
        base: The graph, or the part of it that the store gave.
        linking: What the question names there.
        preset: The request's, with all its parameters.
        view: The request's view of ``base``; None for the graph itself.
        region: Where the store made it; of ``base.arrays``.
        head_relations: Reads the relations of entities in the whole graph, where ``base`` is a part.
        is_instance: Tells the entities of the types that the request names, where ``base`` is no part.
        classes: What a question about a class is answered from, where ``base`` is a part.
    """

    base: OpenGraph
    linking: Linking
    preset: AnyPreset
    view: AppliedView | None = None
    region: Region | None = None
    head_relations: HeadRelations | None = None
    is_instance: IsInstance | None = None
    classes: ClassPart | None = None

    @property
    def overlay(self) -> Overlay | None:
        """What the view changes; None for the graph itself."""
        return self.view.overlay if self.view else None

    @property
    def named(self) -> OpenGraph:
        """The graph with the names that its view gives entities."""
        return as_named(self.base, self.view)


@dataclass(frozen=True, slots=True, eq=False)
class LinkedQuestion:
    """A question with what it is answered from.

    Attributes:
        request: The question.
        source: What it is answered from.
        watch: Counts the time of its stages.
    """

    request: RetrieveRequest
    source: GraphSlice
    watch: Stopwatch


def as_named(base: OpenGraph, applied: AppliedView | None, /) -> OpenGraph:
    """Returns a graph with the names that a view gives its entities."""
    return base if applied is None else replace(base, arrays=applied.graph_of(base.arrays))


def rank_codes(request: RetrieveRequest, /) -> tuple[int, ...]:
    """Returns the codes of the ranks of statements that a request reads."""
    return tuple(RANK_CODES[rank] for rank in request.ranks or DEFAULT_RANKS)


def relation_filter(
    graph: KnowledgeGraph, overlay: Overlay | None, request: RetrieveRequest, /
) -> tuple[Int32 | None, Int32] | None:
    """Returns the relations that a request keeps and leaves out, int32; None for no filter."""
    if not request.relation_ids and not request.exclude_relation_ids:
        return None
    include = find_relations(graph, overlay, request.relation_ids) if request.relation_ids else None
    return include, find_relations(
        graph, overlay, request.exclude_relation_ids, argument="exclude_relation_ids"
    )
