"""What a graph is about as GraphQL types: its properties and classes with their counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import strawberry

from graph_service.api.derive import build, output, output_type
from graph_service.api.global_ids import Frame, view_frame
from graph_service.api.inputs import ViewRefInput, to_view_ref
from graph_service.api.items import (
    MOST_COUNTS,
    Context,
    ItemType,
    item_type,
    ref_item,
)
from graph_service.api.loading import OperationContext
from graph_service.api.pages import Listing, Page, check_first, page_of
from graph_service.model.browsing import ClassDescription, RelationDescription
from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.graph_info import GraphInfo
from graph_service.model.overview import Overview
from graph_service.model.request import ViewRef, check_languages
from graph_service.model.result import RelationRef
from graph_service.service.browsing import PageRequest
from graph_service.store.names import graph_of

_EXAMPLES = 3


@page_of(
    output_type(RelationDescription),
    "A page of the properties of a graph, those used most first.",
    edges="The properties of the page.",
    nodes="The properties of the page, without counts.",
    total="How many properties there are.",
)
class PropertyUseConnection(Page):
    """A page of the properties of a graph, those used most first."""


@output(ClassDescription)
class ClassSizeEdge:
    """A class in a page, with the number of its instances and some of them."""

    cursor: str
    node: ItemType
    count: int
    frame: strawberry.Private[Frame]
    view: strawberry.Private[ViewRef | None]

    def examples(self, info: Context) -> list[ItemType]:
        """Returns three of its instances at most."""
        page = info.context.service.statements.page(
            self.node.item_id,
            PageRequest(
                _EXAMPLES,
                relation_ids=sorted(INSTANCE_RELATIONS),
                outgoing=False,
                incoming=True,
            ),
            graph=graph_of(self.frame.edition),
            view=self.view,
            languages=self.frame.languages,
        )
        heads = {item.edge.triple.head.id: item.edge.triple.head for item in page.items}
        return [ref_item(info.context, self.frame, head) for head in heads.values()]


@page_of(
    ClassSizeEdge,
    "A page of the classes of a graph, the largest first.",
    edges="The classes of the page.",
    nodes="The classes of the page, without counts.",
    total="How many classes there are.",
)
class ClassSizeConnection(Page):
    """A page of the classes of a graph, the largest first."""


@dataclass(frozen=True, slots=True)
class Request:
    """Which page is read of what a graph is about."""

    graph: GraphInfo
    view: ViewRefInput | None
    languages: Sequence[str] | None
    first: int
    after: str | None


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a graph or a view is about, and how that is shown and listed."""

    overview: Overview
    view: ViewRef | None
    frame: Frame
    listing: Listing


def _read(context: OperationContext, request: Request, kind: str) -> _Reading:
    check_first(request.first, MOST_COUNTS)
    languages = tuple(request.languages or ("en",))
    check_languages(languages)
    view = to_view_ref(request.view)
    about = context.service.about(graph=request.graph.name, view=view)
    edition = request.graph.edition
    frame = view_frame(edition, languages, about.view_spec, about.view_id)
    listing = Listing((kind, about.view_id or about.view_spec or ""), edition)
    return _Reading(about.overview, view, frame, listing)


def property_uses(context: OperationContext, request: Request, /) -> PropertyUseConnection:
    """Returns a page of the properties of a graph or of a view of it."""
    reading = _read(context, request, "properties")
    uses, frame = reading.overview.relations, reading.frame
    indexes, page_info = reading.listing.index_page(
        len(uses), first=request.first, after=request.after
    )
    examples = context.service.statements.triples(
        [uses[index].example_id for index in indexes],
        graph=request.graph.name,
        view=reading.view,
        languages=frame.languages,
    )
    edges = []
    for index in indexes:
        use = uses[index]
        example = examples.get(use.example_id)
        relation = example.triple.relation if example else RelationRef(use.relation_id, "")
        row = RelationDescription(relation, use.count, example.triple if example else None)
        edges.append(build(context, frame, row, cursor=reading.listing.cursor(str(index))))
    return PropertyUseConnection(edges=edges, page_info=page_info, total_count=len(uses))


def class_sizes(context: OperationContext, request: Request, /) -> ClassSizeConnection:
    """Returns a page of the classes of a graph or of a view of it."""
    reading = _read(context, request, "classes")
    sizes, frame = reading.overview.classes, reading.frame
    indexes, page_info = reading.listing.index_page(
        len(sizes), first=request.first, after=request.after
    )
    edges = [
        ClassSizeEdge(
            cursor=reading.listing.cursor(str(index)),
            node=item_type(context, frame, sizes[index].class_id, None),
            count=sizes[index].count,
            frame=frame,
            view=reading.view,
        )
        for index in indexes
    ]
    return ClassSizeConnection(edges=edges, page_info=page_info, total_count=len(sizes))
