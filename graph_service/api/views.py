"""Stored views, their specifications and what they change, as GraphQL types."""

from __future__ import annotations

import strawberry

from graph_service.api.derive import output
from graph_service.api.global_ids import Frame, IdKind, global_id, view_frame
from graph_service.api.items import Context, ItemType, Node, StatementType, ref_item, stated
from graph_service.api.loading import OperationContext
from graph_service.api.pages import After, First, Listing, Page, edge_of, page_of
from graph_service.model.browsing import ClientViewChange, ViewChangeKind
from graph_service.model.request import ViewRef
from graph_service.model.stored_view import NAMES_CHANGED, StoredView
from graph_service.service import ViewChange
from graph_service.service.triples import ShownEdge


@output(ClientViewChange)
class ViewChangeType:
    """One difference between a view and its base."""

    id: strawberry.ID
    kind: ViewChangeKind
    words: str
    subject: ItemType
    before: StatementType | None
    after: StatementType | None


ViewChangeEdge = edge_of(
    "ViewChangeEdge", ViewChangeType, "A change in a page of them.", node_words="The change."
)


@page_of(
    ViewChangeEdge,
    "A page of a view's changes: those removed, changed, added, then names.",
    edges="The changes of the page.",
    nodes="The changes of the page, without cursors.",
    total="How many changes all pages have.",
)
class ViewChangeConnection(Page):
    """A page of a view's changes."""


@output(StoredView)
class ViewType(Node):
    """A stored view, with a page of what it changes."""

    model: strawberry.Private[StoredView]

    def _global_id(self) -> str:
        return global_id(IdKind.VIEW, self.model.graph, self.model.id)

    def diff(
        self, info: Context, first: First = 50, after: After = None
    ) -> ViewChangeConnection | None:
        """Returns a page of what the view changes."""
        context, view = info.context, self.model
        edition = context.service.graph(view.graph).edition
        listing = Listing(("diff", view.graph, view.id), edition)
        last = listing.number(after)
        start = 0 if last is None else last + 1
        changes, total = context.service.views.diff(
            ViewRef(id=view.id), graph=view.graph, first=first, offset=start
        )
        frame = view_frame(edition, ("en",), view.spec.to_json(), view.id)
        positions = range(start, start + len(changes))
        return ViewChangeConnection(
            edges=[
                ViewChangeEdge(
                    cursor=listing.cursor(str(position)),
                    node=_view_change(context, frame, change, f"{view.id}/{position}"),
                )
                for position, change in zip(positions, changes, strict=True)
            ],
            page_info=listing.page_info(
                positions, after=after, has_next=start + len(changes) < total
            ),
            total_count=total,
        )


def _view_change(
    context: OperationContext, frame: Frame, change: ViewChange, local: str
) -> ViewChangeType:
    def statement(edge: ShownEdge | None) -> StatementType | None:
        if edge is None:
            return None
        return stated(context, frame, edge)

    edge = change.after or change.before
    if edge is not None:
        head = edge.triple.head
        kind = change.after.change.kind.value if change.after else "removed"
    else:
        assert change.entity is not None
        head, kind = change.entity, NAMES_CHANGED
    return ViewChangeType(
        id=strawberry.ID(global_id(IdKind.VIEW_CHANGE, frame.edition, local, frame.languages)),
        kind=ViewChangeKind(kind),
        words=change.words,
        subject=ref_item(context, frame, head),
        before=statement(change.before),
        after=statement(change.after),
    )


ViewEdge = edge_of("ViewEdge", ViewType, "A view in a page of them.", node_words="The view.")


@page_of(
    ViewEdge,
    "A page of the stored views of a graph, oldest first.",
    edges="The views of the page.",
    nodes="The views of the page, without cursors.",
    total="How many views the graph has.",
)
class ViewConnection(Page):
    """A page of the stored views of a graph, oldest first."""
