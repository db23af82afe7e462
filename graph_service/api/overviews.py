"""What a graph is about as GraphQL types: its properties and classes with their counts."""

from __future__ import annotations

from collections.abc import Sequence

import strawberry

from graph_service.api.global_ids import Frame, view_frame
from graph_service.api.inputs import ViewRefInput, to_view_ref
from graph_service.api.items import (
    MOST_COUNTS,
    Context,
    ItemType,
    PropertyType,
    StatementType,
    item_type,
    ref_item,
    statement_type,
)
from graph_service.api.loading import OperationContext
from graph_service.api.pages import Listing, PageInfo, check_first
from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.graph_info import GraphInfo
from graph_service.model.request import ViewRef, check_languages
from graph_service.service.browsing import PageRequest
from graph_service.store.names import graph_of

_EXAMPLES = 3


@strawberry.type(description="A property of a graph, in a page of them.")
class PropertyUseEdge:
    """A property in a page."""

    cursor: str = strawberry.field(description="Where it stands, for the argument after.")
    node: PropertyType = strawberry.field(description="The property.")
    count: int = strawberry.field(description="How many statements have it, of every rank.")
    example: StatementType | None = strawberry.field(description="One of these statements.")


@strawberry.type(description="A page of the properties of a graph, those used most first.")
class PropertyUseConnection:
    """A page of properties."""

    edges: list[PropertyUseEdge] = strawberry.field(description="The properties of the page.")
    page_info: PageInfo = strawberry.field(description="Where the page stands in the list.")
    total_count: int = strawberry.field(description="How many properties there are.")

    @strawberry.field(description="The properties of the page, without counts.")
    def nodes(self) -> list[PropertyType]:
        """The nodes of the edges."""
        return [edge.node for edge in self.edges]


@strawberry.type(description="A class of a graph, what items are instances of, in a page of them.")
class ClassSizeEdge:
    """A class in a page."""

    cursor: str = strawberry.field(description="Where it stands, for the argument after.")
    node: ItemType = strawberry.field(description="The class.")
    count: int = strawberry.field(description="How many items are instances of it.")
    frame: strawberry.Private[Frame]
    view: strawberry.Private[ViewRef | None]

    @strawberry.field(description="Some of these items, three at most.")
    def examples(self, info: Context) -> list[ItemType]:
        """Some of its instances."""
        page = info.context.service.statement_page(
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
        heads = {one.edge.triple.head.id: one.edge.triple.head for one in page.items}
        return [ref_item(info.context, self.frame, head) for head in heads.values()]


@strawberry.type(description="A page of the classes of a graph, the largest first.")
class ClassSizeConnection:
    """A page of classes."""

    edges: list[ClassSizeEdge] = strawberry.field(description="The classes of the page.")
    page_info: PageInfo = strawberry.field(description="Where the page stands in the list.")
    total_count: int = strawberry.field(description="How many classes there are.")

    @strawberry.field(description="The classes of the page, without counts.")
    def nodes(self) -> list[ItemType]:
        """The nodes of the edges."""
        return [edge.node for edge in self.edges]


class _Request:
    """A page of what a graph is about: reads it, and makes its cursors."""

    def __init__(
        self,
        kind: str,
        context: OperationContext,
        graph: GraphInfo,
        view: ViewRefInput | None,
        languages: Sequence[str] | None,
        first: int,
        after: str | None,
    ) -> None:
        check_first(first, MOST_COUNTS)
        self.languages = tuple(languages or ("en",))
        check_languages(self.languages)
        self.view = to_view_ref(view)
        about = context.service.about(graph=graph.name, view=self.view)
        self.overview = about.overview
        self.frame = view_frame(graph.edition, self.languages, about.view_spec, about.view_id)
        self._listing = Listing((kind, about.view_id or ""), graph.edition)
        place = self._listing.number(after)
        self._begin = 0 if place is None else place + 1
        self._first = first
        self._after = after

    def page(self, count: int) -> tuple[range, PageInfo]:
        """Returns the indexes of the page in a list of so many elements, and where it stands."""
        shown = range(count)[self._begin : self._begin + self._first]
        has_next = self._begin + len(shown) < count
        info = self._listing.page_info(shown, after=self._after, has_next=has_next)
        return shown, info

    def cursor(self, index: int) -> str:
        """Returns the cursor after an element."""
        return self._listing.cursor(str(index))


def property_uses(
    context: OperationContext,
    graph: GraphInfo,
    /,
    *,
    view: ViewRefInput | None,
    languages: Sequence[str] | None,
    first: int,
    after: str | None,
) -> PropertyUseConnection:
    """Returns a page of the properties of a graph or of a view of it."""
    request = _Request("properties", context, graph, view, languages, first, after)
    uses = request.overview.relations
    shown, info = request.page(len(uses))
    examples = context.service.triples(
        [uses[index].example_id for index in shown],
        graph=graph.name,
        view=request.view,
        languages=request.languages,
    )
    edges = []
    for index in shown:
        use = uses[index]
        example = examples.get(use.example_id)
        label = None if example is None else example.triple.relation.label
        edges.append(
            PropertyUseEdge(
                cursor=request.cursor(index),
                node=PropertyType(
                    property_id=strawberry.ID(use.relation_id),
                    frame=request.frame.of_base(),
                    shown_label=label,
                ),
                count=use.count,
                example=(
                    None
                    if example is None
                    else statement_type(context, request.frame, example.triple)
                ),
            )
        )
    return PropertyUseConnection(edges=edges, page_info=info, total_count=len(uses))


def class_sizes(
    context: OperationContext,
    graph: GraphInfo,
    /,
    *,
    view: ViewRefInput | None,
    languages: Sequence[str] | None,
    first: int,
    after: str | None,
) -> ClassSizeConnection:
    """Returns a page of the classes of a graph or of a view of it."""
    request = _Request("classes", context, graph, view, languages, first, after)
    sizes = request.overview.classes
    shown, info = request.page(len(sizes))
    edges = [
        ClassSizeEdge(
            cursor=request.cursor(index),
            node=item_type(context, request.frame, sizes[index].class_id, None),
            count=sizes[index].count,
            frame=request.frame,
            view=request.view,
        )
        for index in shown
    ]
    return ClassSizeConnection(edges=edges, page_info=info, total_count=len(sizes))
