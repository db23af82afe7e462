"""Stored views, their specifications and what they change, as GraphQL types."""

from __future__ import annotations

import strawberry

from graph_service.api.enums import LiteralType, ViewChangeKind
from graph_service.api.global_ids import Frame, IdKind, global_id, view_frame
from graph_service.api.items import (
    Context,
    ItemType,
    Node,
    StatementType,
    base_statement_id,
    ref_item,
    statement_type,
)
from graph_service.api.loading import OperationContext
from graph_service.api.pages import After, First, Listing, PageInfo
from graph_service.api.scalars import BigInt, DateTime
from graph_service.model.request import ViewRef
from graph_service.model.stored_view import (
    NAMES_CHANGED,
    Deviation,
    StoredView,
    ViewReport,
    ViewState,
)
from graph_service.model.values import (
    EntityValue,
    Iri,
    MonolingualText,
    Quantity,
    StringValue,
    Time,
    Value,
)
from graph_service.model.view_spec import Change, Method, Naming, Replacement, Sampling, ViewSpec
from graph_service.service import ViewChange
from graph_service.service.triples import ShownEdge


@strawberry.type(name="ViewScope", description="Which statements a view may change.")
class ViewScopeType:
    """Which statements a view may change."""

    statement_ids: list[strawberry.ID] = strawberry.field(description="These only, if any.")
    property_ids: list[strawberry.ID] = strawberry.field(description="Of these properties only.")
    around_item_ids: list[strawberry.ID] = strawberry.field(description="Around these items only.")
    hops: int = strawberry.field(description="Steps around such an item.")
    of_question: bool = strawberry.field(
        description="Around the items of the question that is asked only."
    )
    pruned: bool = strawberry.field(description="Only what PageRank keeps of that.")


@strawberry.type(name="LiteralChange", description="A literal that a change sets.")
class LiteralChangeType:
    """A literal that a change sets; its fields are those of ``LiteralInput``."""

    type: LiteralType = strawberry.field(description="What the content is.")
    content: str = strawberry.field(description="The text, number, time or address.")
    language_code: str | None = strawberry.field(description="Language of a monolingual text.")
    unit_id: strawberry.ID | None = strawberry.field(description="Item of the unit of a quantity.")
    precision: int | None = strawberry.field(description="Of a time.")


@strawberry.type(name="SpecifiedChange", description="A change that a caller has listed.")
class SpecifiedChangeType:
    """A change that a caller has listed; its fields are those of ``ChangeInput``."""

    statement_id: strawberry.ID | None = strawberry.field(
        description="The statement to change; null where one is added."
    )
    remove: bool = strawberry.field(description="Whether the statement goes.")
    subject_id: strawberry.ID | None = strawberry.field(
        description="The itemId of the subject of an added statement."
    )
    property_id: strawberry.ID | None = strawberry.field(description="The property that it gets.")
    item_id: strawberry.ID | None = strawberry.field(
        description="The itemId of its value, where that is an item."
    )
    literal: LiteralChangeType | None = strawberry.field(
        description="Its value, where that is a literal that the API can set; json has all others."
    )


@strawberry.type(name="ViewSpec", description="What a view is asked to be.")
class ViewSpecType:
    """What a view is asked to be; its fields are those of ``ViewSpecInput``."""

    method: Method = strawberry.field(description="How it changes its base.")
    level: float | None = strawberry.field(description="Share of the edges in scope that change.")
    count: int | None = strawberry.field(description="Number of edges that change.")
    random_seed: BigInt = strawberry.field(description="Random seed by which edges are drawn.")
    sampling: Sampling = strawberry.field(description="How edges are drawn.")
    scope: ViewScopeType = strawberry.field(description="What the view may change.")
    statement_ids: list[strawberry.ID] = strawberry.field(
        description="Withholding: the statements, in the order they go."
    )
    changes: list[SpecifiedChangeType] = strawberry.field(description="Custom: the changes.")
    scorer: str = strawberry.field(
        description="By which replacement finds a property least likely."
    )
    replacement: Replacement = strawberry.field(
        description="Which property takes another's place in a replacement."
    )
    nth: int = strawberry.field(description="Replacement: which of the least likely it is.")
    item_ids: list[strawberry.ID] = strawberry.field(
        description="Of path deletion and insertion: the items that the question names."
    )
    answer_ids: list[strawberry.ID] = strawberry.field(
        description="Of path deletion and insertion: the items that answer it."
    )
    target_ids: list[strawberry.ID] = strawberry.field(
        description="Insertion: the items that chains lead to, in this order."
    )
    control: bool = strawberry.field(
        description="Path deletion: whether as many other statements of the region go."
    )
    rule_atoms: int = strawberry.field(description="Rule deletion: statements of a body, at most.")
    rule_support: int = strawberry.field(description="Rule deletion: support of a rule, at least.")
    rule_confidence: float = strawberry.field(
        description="Rule deletion: PCA confidence of a rule, at least."
    )
    naming: Naming = strawberry.field(description="What becomes of names.")
    algorithm: int = strawberry.field(description="Version of the rules by which it is drawn.")
    json: str = strawberry.field(description="The whole specification, as files hold it.")


def spec_type(encoded: str | None, /) -> ViewSpecType | None:
    """Returns a specification for output, of its canonical JSON; None for the base."""
    if encoded is None:
        return None
    spec = ViewSpec.from_json(encoded)
    return ViewSpecType(
        method=spec.method,
        level=spec.level,
        count=spec.count,
        random_seed=BigInt(spec.random_seed),
        sampling=spec.sampling,
        scope=ViewScopeType(
            statement_ids=list(map(strawberry.ID, spec.scope.statement_ids)),
            property_ids=list(map(strawberry.ID, spec.scope.relation_ids)),
            around_item_ids=list(map(strawberry.ID, spec.scope.around_entity_ids)),
            hops=spec.scope.hops,
            of_question=spec.scope.of_question,
            pruned=spec.scope.pruned,
        ),
        statement_ids=list(map(strawberry.ID, spec.statement_ids)),
        changes=list(map(_specified, spec.changes)),
        scorer=spec.scorer,
        replacement=spec.replacement,
        nth=spec.nth,
        item_ids=list(map(strawberry.ID, spec.entity_ids)),
        answer_ids=list(map(strawberry.ID, spec.answer_ids)),
        target_ids=list(map(strawberry.ID, spec.target_ids)),
        control=spec.control,
        rule_atoms=spec.rule_atoms,
        rule_support=spec.rule_support,
        rule_confidence=spec.rule_confidence,
        naming=spec.naming,
        algorithm=spec.algorithm,
        json=encoded,
    )


def _specified(change: Change) -> SpecifiedChangeType:
    def as_id(text: str | None) -> strawberry.ID | None:
        return None if text is None else strawberry.ID(text)

    value = change.value
    return SpecifiedChangeType(
        statement_id=as_id(change.statement_id),
        remove=change.remove,
        subject_id=as_id(change.head),
        property_id=as_id(change.relation),
        item_id=strawberry.ID(value.id) if isinstance(value, EntityValue) else None,
        literal=_literal(value),
    )


def _literal(value: Value | None) -> LiteralChangeType | None:
    def literal(kind: LiteralType, content: str, **facts: object) -> LiteralChangeType:
        return LiteralChangeType(
            **{
                "type": kind,
                "content": content,
                "language_code": None,
                "unit_id": None,
                "precision": None,
                **facts,
            }  # type: ignore[arg-type]
        )

    match value:
        case StringValue(text=text) if value == StringValue(text):
            return literal(LiteralType.STRING, text)
        case MonolingualText(text=text, language=language):
            return literal(LiteralType.MONOLINGUAL_TEXT, text, language_code=language)
        case Quantity(amount=amount, unit=unit) if value == Quantity(amount, unit):
            return literal(LiteralType.QUANTITY, amount, unit_id=unit)
        case Time(time=time, precision=precision) if value == Time(time, precision):
            return literal(LiteralType.TIME, time, precision=precision)
        case Iri(iri=iri):
            return literal(LiteralType.URL, iri)
        case _:
            return None


@strawberry.type(name="ViewCounts", description="How many statements a view changes.")
class ViewCountsType:
    """How many statements a view changes."""

    removed: int = strawberry.field(description="Those that it lacks.")
    relation_changed: int = strawberry.field(description="Those with another property.")
    value_changed: int = strawberry.field(description="Those with another value.")
    added: int = strawberry.field(description="Those that only it has.")
    head_changed: int = strawberry.field(description="Those with another subject.")
    rank_changed: int = strawberry.field(description="Those with another rank.")
    names_changed: int = strawberry.field(description="Items with other names.")


@strawberry.type(name="ViewReport", description="What making a view came to.")
class ViewReportType:
    """What making a view came to."""

    scope_edges: int = strawberry.field(
        description="Edges that could be changed; of names the items."
    )
    level_asked: float | None = strawberry.field(description="The share that was asked for.")
    level_reached: float | None = strawberry.field(description="The share that was changed.")
    counts: ViewCountsType | None = strawberry.field(
        description="How many statements changed; null until it is done."
    )
    unavoidable: int = strawberry.field(
        description="Changes that repeat a statement, because no other choice was left."
    )
    notes: list[str] = strawberry.field(description="Why a level was not reached.")


@strawberry.type(
    name="Deviation",
    description="How far a view is from its base. 1 is the base itself, 0 the farthest.",
)
class DeviationType:
    """How far a view is from its base."""

    ats: float = strawberry.field(description="Mean plausibility of the view's edges (ATS).")
    ats_base: float = strawberry.field(description="The same of the base.")
    ats_edges: int = strawberry.field(description="How many edges ats is the mean of.")
    unscored: int = strawberry.field(description="Edges of which no plausibility is known.")
    scorer: str = strawberry.field(description="What tells plausibility.")
    sc2d: float = strawberry.field(description="Likeness of clustering coefficients (SC2D).")
    sd2: float = strawberry.field(description="Likeness of degrees (SD2).")
    scorer_accuracy: float | None = strawberry.field(
        description="Share of edges held out, and of as many wrong ones, that the scorer tells right."
    )
    scorer_calibration_error: float | None = strawberry.field(
        description="Mean distance there between its score and the share of right edges."
    )


@strawberry.type(name="ViewChange", description="One difference between a view and its base.")
class ViewChangeType:
    """One difference between a view and its base."""

    id: strawberry.ID = strawberry.field(description="A global id, opaque.")
    kind: ViewChangeKind = strawberry.field(description="What became of the statement.")
    words: str = strawberry.field(description="Both statements in one line.")
    subject: ItemType = strawberry.field(
        description="What they are said of; that of the view, where it has another."
    )
    before: StatementType | None = strawberry.field(
        description="The statement of the base; null for an added one, and for names."
    )
    after: StatementType | None = strawberry.field(
        description="The statement of the view; null for a removed one, and for names."
    )


@strawberry.type(description="A change in a page of them.")
class ViewChangeEdge:
    """A change in a page."""

    cursor: str = strawberry.field(description="Where it stands, for the argument after.")
    node: ViewChangeType = strawberry.field(description="The change.")


@strawberry.type(
    description="A page of a view's changes: those removed, changed, added, then names."
)
class ViewChangeConnection:
    """A page of a view's changes."""

    edges: list[ViewChangeEdge] = strawberry.field(description="The changes of the page.")
    page_info: PageInfo = strawberry.field(description="Where the page stands in the list.")
    total_count: int = strawberry.field(description="How many changes all pages have.")

    @strawberry.field(description="The changes of the page, without cursors.")
    def nodes(self) -> list[ViewChangeType]:
        """The nodes of the edges."""
        return [edge.node for edge in self.edges]


@strawberry.type(name="View", description="A perturbed view of a graph, stored.")
class ViewType(Node):
    """A stored view."""

    stored: strawberry.Private[StoredView]

    def _global_id(self) -> str:
        return global_id(IdKind.VIEW, self.stored.graph, self.stored.id)

    @strawberry.field(
        description="The view's id: a hash of what its base says and of its specification."
    )
    def view_id(self) -> strawberry.ID:
        """The view's id."""
        return strawberry.ID(self.stored.id)

    @strawberry.field(description="The name that a person gave it.")
    def name(self) -> str | None:
        """The name."""
        return self.stored.name

    @strawberry.field(description="The name of its graph.")
    def graph(self) -> str:
        """The graph."""
        return self.stored.graph

    @strawberry.field(description="How it changes its base.")
    def method(self) -> Method:
        """The method."""
        return self.stored.spec.method

    @strawberry.field(description="Fingerprint of the statements of the base it was made for.")
    def edges_fingerprint(self) -> str:
        """The fingerprint of its base."""
        return self.stored.edges

    @strawberry.field(description="What it was asked to be.")
    def spec(self) -> ViewSpecType:
        """The specification."""
        spec = spec_type(self.stored.spec.to_json())
        assert spec is not None
        return spec

    @strawberry.field(description="How far the making of it has come.")
    def state(self) -> ViewState:
        """The state."""
        return self.stored.state

    @strawberry.field(description="Share of that work which is done, 0 to 1.")
    def progress(self) -> float:
        """The progress."""
        return self.stored.progress

    @strawberry.field(description="What making it came to.")
    def report(self) -> ViewReportType:
        """The report."""
        return _report(self.stored.report)

    @strawberry.field(description="How far it is from its base; null until it is done.")
    def deviation(self) -> DeviationType | None:
        """The deviation."""
        return None if self.stored.deviation is None else _deviation(self.stored.deviation)

    @strawberry.field(description="Why making it has failed; empty where it has not.")
    def error(self) -> str:
        """The error."""
        return self.stored.error

    @strawberry.field(description="What its maker wanted to remember.")
    def note(self) -> str:
        """The note."""
        return self.stored.note

    @strawberry.field(description="When it was made.")
    def created_at(self) -> DateTime:
        """When it was made."""
        return DateTime(self.stored.created_at)

    @strawberry.field(description="Whether the statements of its base have changed since.")
    def stale(self) -> bool:
        """Whether it is stale."""
        return self.stored.stale

    @strawberry.field(
        description="What the view changes: statements removed, changed, then added; then names."
    )
    def diff(
        self, info: Context, first: First = 50, after: After = None
    ) -> ViewChangeConnection | None:
        """What the view changes."""
        context, view = info.context, self.stored
        edition = context.service.graph(view.graph).edition
        listing = Listing(("diff", view.graph, view.id), edition)
        last = listing.number(after)
        start = 0 if last is None else last + 1
        changes, total = context.service.views.diff(
            ViewRef(id=view.id), graph=view.graph, first=first, offset=start
        )
        frame = view_frame(edition, ("en",), view.spec.to_json(), view.id)
        places = range(start, start + len(changes))
        return ViewChangeConnection(
            edges=[
                ViewChangeEdge(
                    cursor=listing.cursor(str(place)),
                    node=_view_change(context, frame, change, f"{view.id}/{place}"),
                )
                for place, change in zip(places, changes, strict=True)
            ],
            page_info=listing.page_info(places, after=after, has_next=start + len(changes) < total),
            total_count=total,
        )


def view_type(view: StoredView, /) -> ViewType:
    """Returns a stored view for output."""
    return ViewType(stored=view)


def _report(report: ViewReport) -> ViewReportType:
    counts = report.counts
    return ViewReportType(
        scope_edges=report.scope_edges,
        level_asked=report.level_asked,
        level_reached=report.level_reached,
        counts=ViewCountsType(
            removed=counts.get("removed", 0),
            relation_changed=counts.get("relation-changed", 0),
            value_changed=counts.get("value-changed", 0),
            added=counts.get("added", 0),
            head_changed=counts.get("head-changed", 0),
            rank_changed=counts.get("rank-changed", 0),
            names_changed=counts.get(NAMES_CHANGED, 0),
        )
        if counts
        else None,
        unavoidable=report.unavoidable,
        notes=list(report.notes),
    )


def _deviation(deviation: Deviation) -> DeviationType:
    return DeviationType(
        ats=deviation.ats,
        ats_base=deviation.ats_base,
        ats_edges=deviation.ats_edges,
        unscored=deviation.unscored,
        scorer=deviation.scorer,
        sc2d=deviation.sc2d,
        sd2=deviation.sd2,
        scorer_accuracy=deviation.scorer_accuracy,
        scorer_calibration_error=deviation.scorer_calibration_error,
    )


def _view_change(
    context: OperationContext, frame: Frame, change: ViewChange, local: str
) -> ViewChangeType:
    def statement(edge: ShownEdge | None) -> StatementType | None:
        if edge is None:
            return None
        return statement_type(
            context, frame, edge.triple, base_id=base_statement_id(edge.triple, edge.change)
        )

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


@strawberry.type(description="A view in a page of them.")
class ViewEdge:
    """A view in a page."""

    cursor: str = strawberry.field(description="Where it stands, for the argument after.")
    node: ViewType = strawberry.field(description="The view.")


@strawberry.type(description="A page of the stored views of a graph, oldest first.")
class ViewConnection:
    """A page of views."""

    edges: list[ViewEdge] = strawberry.field(description="The views of the page.")
    page_info: PageInfo = strawberry.field(description="Where the page stands in the list.")
    total_count: int = strawberry.field(description="How many views the graph has.")

    @strawberry.field(description="The views of the page, without cursors.")
    def nodes(self) -> list[ViewType]:
        """The nodes of the edges."""
        return [edge.node for edge in self.edges]
