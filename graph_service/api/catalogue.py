"""Graphs, views and search hits as GraphQL types."""

from __future__ import annotations

import orjson
import strawberry
from strawberry.scalars import JSON

from graph_service.api.items import (
    Context,
    ItemType,
    StatementType,
    base_statement_id,
    ref_item,
    statement_type,
)
from graph_service.api.loading import OperationContext
from graph_service.errors import InputError
from graph_service.model.graph_info import GraphInfo
from graph_service.model.request import ViewRef
from graph_service.model.serialise import to_plain
from graph_service.model.stored_view import StoredView, ViewState
from graph_service.model.view_spec import Method
from graph_service.service import ViewChange
from graph_service.service.triples import ShownEdge

MAX_CURSOR_DIGITS = 18


@strawberry.type(name="Graph", description="A published graph.")
class GraphType:
    """A published graph."""

    name: strawberry.ID
    edition: str
    source: str
    published_at: str
    items: int
    statements: int
    properties: int
    literals: int
    edges_fingerprint: str
    content_fingerprint: str
    options: JSON
    report: JSON
    tool_version: str
    unfinished_load: JSON | None


def graph_type(info: GraphInfo, /) -> GraphType:
    """Returns a graph for output."""
    return GraphType(
        name=strawberry.ID(info.name),
        edition=info.edition,
        source=info.source,
        published_at=info.published_at,
        items=info.counts.entities,
        statements=info.counts.statements,
        properties=info.counts.relations,
        literals=info.counts.literals,
        edges_fingerprint=info.fingerprints.edges,
        content_fingerprint=info.fingerprints.content,
        options=to_plain(info.options),
        report=to_plain(info.report),
        tool_version=info.tool_version,
        unfinished_load=to_plain(info.unfinished),
    )


@strawberry.type(name="SearchHit", description="An item found by name.")
class SearchHitType:
    """An item found by name."""

    item: ItemType
    matched: str
    language_code: str
    is_alias: bool
    score: float


@strawberry.type(name="ViewChange", description="One difference between a view and its base.")
class ViewChangeType:
    """One difference between a view and its base."""

    kind: str = strawberry.field(description="removed, relation-changed, value-changed or added.")
    words: str = strawberry.field(description="Both statements in one line.")
    subject: ItemType
    before: StatementType | None
    after: StatementType | None


@strawberry.type(name="ChangeConnection", description="A page of a view's changes.")
class ChangeConnectionType:
    """A page of a view's changes."""

    items: list[ViewChangeType]
    total: int
    end_cursor: str | None = strawberry.field(description="Give it as after for the next page.")


@strawberry.type(name="View", description="A perturbed view of a graph, stored.")
class ViewType:
    """A stored view."""

    id: strawberry.ID
    name: str | None
    graph: strawberry.ID
    method: Method
    edges_fingerprint: str = strawberry.field(description="Of the base it was made for.")
    spec: JSON
    state: ViewState
    progress: float
    level_reached: float | None
    counts: JSON
    report: JSON
    deviation: JSON | None = strawberry.field(
        description="ats, ats_base, sc2d and sd2: how far it is from its base."
    )
    error: str = strawberry.field(description="Why making it has failed.")
    note: str
    created_at: str
    stale: bool = strawberry.field(description="Whether the base has changed since.")

    @strawberry.field(description="What the view changes.")
    def diff(
        self, info: Context, first: int = 50, after: str | None = None
    ) -> ChangeConnectionType:
        """What the view changes."""
        context = info.context
        offset = parse_cursor(after)
        reference = ViewRef(id=self.id)
        changes, total = context.service.views.diff(
            reference, graph=self.graph, first=first, offset=offset
        )
        edition = context.service.graph(self.graph).edition
        end = offset + len(changes)
        return ChangeConnectionType(
            items=[_view_change(context, edition, change) for change in changes],
            total=total,
            end_cursor=str(end) if end < total else None,
        )


def parse_cursor(after: str | None, /) -> int:
    """Returns the offset of a cursor that an earlier page gave."""
    if after is None:
        return 0
    if not (after.isascii() and after.isdigit() and len(after) <= MAX_CURSOR_DIGITS):
        raise InputError(f"not a cursor of ours: {after[:40]!r}", argument="after")
    return int(after)


def _view_change(context: OperationContext, edition: str, change: ViewChange) -> ViewChangeType:
    def statement(edge: ShownEdge | None) -> StatementType | None:
        if edge is None:
            return None
        return statement_type(
            context, edition, edge.triple, base_id=base_statement_id(edge.triple, edge.change)
        )

    edge = change.after or change.before
    assert edge is not None
    return ViewChangeType(
        kind=change.after.change.kind.value if change.after else "removed",
        words=change.words,
        subject=ref_item(context, edition, edge.triple.head),
        before=statement(change.before),
        after=statement(change.after),
    )


def view_type(view: StoredView, /) -> ViewType:
    """Returns a stored view for output."""
    return ViewType(
        id=strawberry.ID(view.id),
        name=view.name,
        graph=strawberry.ID(view.graph),
        method=view.spec.method,
        edges_fingerprint=view.edges,
        spec=orjson.loads(view.spec.to_json()),
        state=view.state,
        progress=view.progress,
        level_reached=view.report.level_reached,
        counts=to_plain(view.report.counts),
        report=to_plain(view.report),
        deviation=to_plain(view.deviation),
        error=view.error,
        note=view.note,
        created_at=view.created_at,
        stale=view.stale,
    )


@strawberry.type(name="ViewConnection", description="A page of views.")
class ViewConnectionType:
    """A page of views."""

    items: list[ViewType]
    total: int
    end_cursor: str | None
