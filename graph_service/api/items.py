"""Items, properties and statements as GraphQL types.

Names follow Wikibase's GraphQL where it has one. Each object is shown in a frame (edition, languages,
view), which is part of its global id.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Protocol, Union

import strawberry
from strawberry.types import Info

from graph_service.api.derive import build, described, member_type, output, output_type, show_as
from graph_service.api.global_ids import Frame, IdKind, global_id, view_frame
from graph_service.api.inputs import ViewRefInput, to_view_ref
from graph_service.api.loading import OperationContext
from graph_service.api.pages import (
    After,
    First,
    Listing,
    Page,
    check_first,
    page_of,
)
from graph_service.errors import StoreUnavailableError
from graph_service.model.browsing import (
    Direction,
    ItemRelation,
    ItemStatement,
    Neighbour,
    PageInfo,
)
from graph_service.model.contract import ItemId, PropertyId
from graph_service.model.contract import Statement as Stated
from graph_service.model.identity import web_address
from graph_service.model.overlay import VIEW_ID_PREFIX
from graph_service.model.pageviews import PageViews
from graph_service.model.request import MAX_RELATIONS, ViewRef
from graph_service.model.result import (
    EntityRef,
    RelationRef,
    Triple,
    TripleChange,
)
from graph_service.model.statement import Entity, Rank, Reference, Snak, Statement
from graph_service.model.values import (
    Coordinates,
    EntityValue,
    Iri,
    MonolingualText,
    NoValue,
    Quantity,
    SomeValue,
    StringValue,
    Time,
    UnknownValue,
    Value,
    display_value,
)
from graph_service.model.view_spec import ChangeKind
from graph_service.options import check_length
from graph_service.service.browsing import PageRequest, StatementPage
from graph_service.service.lookup import read_id
from graph_service.service.triples import ShownEdge, entity_name
from graph_service.store.names import graph_of
from graph_service.text.fold import relation_words

Context = Info[OperationContext, None]
MOST_COUNTS = 1000
"""Elements of a page of counts."""

PropertyIds = Annotated[
    list[strawberry.ID] | None,
    strawberry.argument(description="Statements of these properties only, at most 1,000."),
]
View = Annotated[
    ViewRefInput | None,
    strawberry.argument(description="The view whose statements are read; null for the graph."),
]
DirectionOf = Annotated[
    Direction | None,
    strawberry.argument(description="Which end this item is; null for either."),
]
LanguageCodes = Annotated[
    list[str] | None,
    strawberry.argument(description="Languages of labels, best first; English where null."),
]
LanguageCode = Annotated[
    str | None,
    strawberry.argument(description="A language; null for those that the query was asked in."),
]


def _best_text(
    texts: Mapping[str, str], languages: Sequence[str], others: Sequence[str]
) -> str | None:
    """Returns the text in the first language that has one; the arrays of a graph go by that too."""
    if not texts:
        return None
    return next(texts[code] for code in (*languages, *others, *sorted(texts)) if code in texts)


def _best_label(labels: Mapping[str, str], languages: Sequence[str]) -> str | None:
    return _best_text(labels, languages, ("mul", "en"))


@strawberry.interface(
    description="An object that has a global id, by which node reads it again and a cache keeps it."
)
class Node:
    """An object that has a global id."""

    @described
    def id(self) -> strawberry.ID:
        """The global id, opaque: it stands for the object as it is shown, with its graph, edition,
        view and languages. Keep it as it is.
        """
        return strawberry.ID(self._global_id())

    @abstractmethod
    def _global_id(self) -> str:
        """Returns the global id, which each kind of object makes of its own parts."""


@strawberry.type(name="Item", description="An entity: a Wikidata item, a DBpedia resource, ...")
class ItemType(Node):
    """An entity, shown in a frame; its terms are read when they are asked for."""

    item_id: strawberry.ID = strawberry.field(
        description="The id in the source, such as Q42 or an IRI."
    )
    frame: strawberry.Private[Frame]
    shown_label: strawberry.Private[str | None]
    shown_description: strawberry.Private[str | None] = None

    def _global_id(self) -> str:
        frame = self.frame
        return global_id(IdKind.ITEM, frame.edition, self.item_id, frame.languages, frame.names)

    def _entity(self, context: OperationContext) -> Entity | None:
        return context.named(self.frame, self.item_id)

    @described
    def label(self, info: Context, language_code: LanguageCode = None) -> str:
        """The label in a language. Where it has none: in those that the query was asked in, in
        English, in any; else what the id says. So there is always something to show.
        """
        if language_code is None and self.shown_label is not None:
            return self.shown_label
        entity = self._entity(info.context)
        labels = entity.labels if entity else {}
        if language_code is not None and language_code in labels:
            return labels[language_code]
        if self.shown_label is not None:
            return self.shown_label
        return _best_label(labels, self.frame.languages) or entity_name(self.item_id)

    @described
    def url(self) -> str | None:
        """Its web page: Wikidata's for an id such as Q42, else its IRI; null where it has none."""
        return web_address(self.item_id)

    @described
    def description(self, info: Context, language_code: LanguageCode = None) -> str | None:
        """The description in a language, or in the next best; null where there is none."""
        if language_code is None and self.shown_description is not None:
            return self.shown_description
        try:
            entity = self._entity(info.context)
        except StoreUnavailableError:
            if not info.context.is_from_memory:
                raise
            # The result says that it is from memory.
            return None
        if entity is None:
            return None
        requested = (language_code,) if language_code is not None else ()
        return _best_text(entity.descriptions, (*requested, *self.frame.languages), ("en", "mul"))

    @described
    def aliases(
        self,
        info: Context,
        language_code: Annotated[str, strawberry.argument(description="The language.")] = "en",
    ) -> list[str]:
        """The other names in a language."""
        entity = self._entity(info.context)
        return list(entity.aliases.get(language_code, ())) if entity else []

    @described
    def label_languages(self, info: Context) -> list[str]:
        """The languages that have a label."""
        entity = self._entity(info.context)
        return sorted(entity.labels) if entity else []

    @described(graphql_type=output_type(PageViews | None))
    def page_views(self, info: Context) -> PageViews | None:
        """How often its article is read; null where that is not known."""
        return info.context.page_views(self.frame.edition, self.item_id)

    @described
    def relations(
        self,
        info: Context,
        direction: DirectionOf = None,
        view: View = None,
        first: First = 100,
        after: After = None,
    ) -> ItemRelationConnection | None:
        """How many statements of each property have this item as their subject, and how many as
        their value, of every rank; on a view, the view's. The most come first. A cheap look at what
        can be walked to: statements gives those of one property. Items that are one thing with this
        count too.
        """
        check_first(first, MOST_COUNTS)
        reference = to_view_ref(view)
        frame = self.frame
        of_view = _key_of(info.context, frame.edition, reference)
        kind = ("relations", self.item_id, direction.value if direction else "", of_view)
        listing = Listing(kind, frame.edition)
        counts = info.context.service.statements.relation_counts(
            self.item_id,
            outgoing=direction is not Direction.INCOMING,
            incoming=direction is not Direction.OUTGOING,
            graph=graph_of(frame.edition),
            view=reference,
            languages=frame.languages,
        )
        rows = [
            ItemRelation(RelationRef(row.relation_id, row.label or ""), row.outgoing, row.count)
            for row in counts
        ]
        indexes, page_info = listing.index_page(len(rows), first=first, after=after)
        return ItemRelationConnection(
            edges=[
                build(info.context, frame, rows[index], cursor=listing.cursor(str(index)))
                for index in indexes
            ],
            page_info=page_info,
            total_count=len(rows),
        )

    @described
    def statements(
        self,
        info: Context,
        property_ids: PropertyIds = None,
        view: View = None,
        direction: Annotated[
            Direction,
            strawberry.argument(description="Which end of the statements this item is."),
        ] = Direction.OUTGOING,
        first: First = 100,
        after: After = None,
    ) -> StatementConnection | None:
        """Statements that have this item as their subject, or as their value, of every rank; on a
        view, the view's. Those of items of other sources that are one thing with this come too.
        """
        reference = to_view_ref(view)
        page = _Page(info.context, self, "statements", reference, property_ids or (), direction)
        rows = page.read(info.context, first, after)
        edges = [ItemStatement(edge.triple, edge.change) for edge in page.edges(info.context, rows)]
        return StatementConnection(
            edges=page.build(info.context, rows, edges),
            page_info=page.info(rows, after),
            total_count=rows.total,
        )

    @described
    def neighbours(
        self,
        info: Context,
        direction: DirectionOf = None,
        property_ids: PropertyIds = None,
        view: View = None,
        first: First = 100,
        after: After = None,
    ) -> NeighbourConnection | None:
        """The items at the other end of a statement, one edge a statement, of every rank; on a
        view, the view's. Those of items that are one thing with this come too.
        """
        reference = to_view_ref(view)
        page = _Page(info.context, self, "neighbours", reference, property_ids or (), direction)
        rows = page.read(info.context, first, after)
        edges = []
        for edge in page.edges(info.context, rows):
            triple = edge.triple
            item, outgoing = triple.head, triple.head.id in rows.entity_ids
            if outgoing:
                assert isinstance(triple.value, EntityValue)
                item = EntityRef(triple.value.id, triple.value_label)
            edges.append(Neighbour(item, triple, outgoing, edge.change))
        return NeighbourConnection(
            edges=page.build(info.context, rows, edges),
            page_info=page.info(rows, after),
            total_count=rows.total,
        )


@strawberry.type(name="Property", description="A relation.")
class PropertyType(Node):
    """A relation, shown in a frame; its label is read when it is asked for."""

    property_id: strawberry.ID = strawberry.field(
        description="The id in the source, such as P31 or an IRI."
    )
    frame: strawberry.Private[Frame]
    shown_label: strawberry.Private[str | None]

    def _global_id(self) -> str:
        frame = self.frame
        return global_id(IdKind.PROPERTY, frame.edition, self.property_id, frame.languages)

    @described
    def label(self, info: Context, language_code: LanguageCode = None) -> str:
        """The label in a language. Where it has none: in those that the query was asked in, in
        English, in any; else the words of the id.
        """
        if language_code is None and self.shown_label is not None:
            return self.shown_label
        entity = info.context.entity(self.frame.edition, self.property_id)
        labels = entity.labels if entity else {}
        if language_code is not None and language_code in labels:
            return labels[language_code]
        if self.shown_label is not None:
            return self.shown_label
        return _best_label(labels, self.frame.languages) or relation_words(self.property_id)

    @described
    def url(self) -> str | None:
        """Its web page: Wikidata's for an id such as P31, else its IRI; null where it has none."""
        return web_address(self.property_id)


@output(EntityValue)
class ItemValue:
    """The value of a statement that is another item."""

    item: ItemType


_LITERALS = (
    StringValue,
    MonolingualText,
    Quantity,
    Time,
    Coordinates,
    Iri,
    SomeValue,
    NoValue,
    UnknownValue,
)
show_as(ItemId, ItemType, lambda context, frame, id_: item_type(context, frame, id_, None))
VALUE: Any = Annotated[
    Union[ItemValue, *(member_type(model) for model in _LITERALS)],
    strawberry.union("Value", description="What a statement says of its subject."),
]


def value_output(
    context: OperationContext, frame: Frame, value: Value, label: str | None, /
) -> object:
    """Returns a typed value for output."""
    if isinstance(value, EntityValue):
        return ItemValue(item=item_type(context, frame, value.id, label))
    return build(context, frame, value)


show_as(Value, VALUE, lambda context, frame, value: value_output(context, frame, value, None))
show_as(PropertyId, PropertyType, lambda context, frame, id_: named_property(context, frame, id_))


@output(Snak)
class PropertyValue:
    """One property with one value."""

    model: strawberry.Private[Snak]
    frame: strawberry.Private[Frame]

    def value_text(self, info: Context) -> str:
        """Returns the value as a person reads it."""
        frame = self.frame

        def label_of(id_: str) -> str:
            entity = info.context.entity(frame.edition, id_)
            return _best_label(entity.labels if entity else {}, frame.languages) or entity_name(id_)

        return display_value(self.model.value, label_of)


@strawberry.type(name="Statement", description="What a graph says of an item.")
class StatementType(Node):
    """What a graph says of an item."""

    statement_id: strawberry.ID = strawberry.field(
        description="The id in the source; of a statement that a view made, one of its content."
    )
    subject: ItemType = strawberry.field(description="What it is said of.")
    rank: Rank = strawberry.field(description="How good it is beside others of its property.")
    property: PropertyType = strawberry.field(description="What is said.")
    value: object = strawberry.field(graphql_type=VALUE, description="The value, typed.")
    value_text: str = strawberry.field(description="The value as a person reads it.")
    frame: strawberry.Private[Frame]
    base_id: strawberry.Private[str]

    def _global_id(self) -> str:
        frame = self.frame
        return global_id(
            IdKind.STATEMENT, frame.edition, self.statement_id, frame.languages, frame.view
        )

    def _statement(self, context: OperationContext) -> Statement | None:
        return context.statement(self.frame.edition, self.base_id)

    @described(graphql_type=output_type(tuple[Snak, ...]))
    def qualifiers(
        self,
        info: Context,
        property_id: Annotated[
            strawberry.ID | None,
            strawberry.argument(description="Those of this property only."),
        ] = None,
    ) -> list[object]:
        """The qualifiers, in order."""
        statement = self._statement(info.context)
        return [
            build(info.context, self.frame, snak)
            for snak in (statement.qualifiers if statement else ())
            if property_id is None or snak.relation == property_id
        ]

    @described(graphql_type=output_type(tuple[Reference, ...]))
    def references(self, info: Context) -> list[object]:
        """The references."""
        statement = self._statement(info.context)
        groups = statement.references if statement else ()
        return [build(info.context, self.frame, group) for group in groups]


def item_type(
    context: OperationContext,
    frame: Frame,
    id_: str,
    label: str | None,
    /,
    *,
    description: str | None = None,
) -> ItemType:
    """Returns an item for output, named so that its terms can be read with the others'."""
    context.pending(frame.edition).entity_ids.add(id_)
    return ItemType(
        item_id=strawberry.ID(id_), frame=frame, shown_label=label, shown_description=description
    )


def ref_item(context: OperationContext, frame: Frame, ref: EntityRef, /) -> ItemType:
    """Returns the item of a reference."""
    return item_type(context, frame, ref.id, ref.label, description=ref.description)


def entity_item(context: OperationContext, frame: Frame, entity: Entity, /) -> ItemType:
    """Returns the item of an entity that was read."""
    context.pending(frame.edition).entities[entity.id] = entity
    return item_type(context, frame, entity.id, None)


def property_type(frame: Frame, id_: str, label: str | None, /) -> PropertyType:
    """Returns a relation for output; without a label, its label is read when it is shown."""
    return PropertyType(property_id=strawberry.ID(id_), frame=frame, shown_label=label)


def named_property(context: OperationContext, frame: Frame, id_: str, /) -> PropertyType:
    """Returns a relation for output, named so that its label can be read with the others'."""
    context.pending(frame.edition).entity_ids.add(id_)
    return property_type(frame, id_, None)


class HasTriple(Protocol):
    """A triple, and how it differs from the base."""

    @property
    def triple(self) -> Triple:
        """The triple that a statement is made of."""

    @property
    def change(self) -> TripleChange:
        """How it differs from the base."""


def statement_type(
    context: OperationContext,
    frame: Frame,
    triple: Triple,
    /,
    *,
    base_id: str | None = None,
) -> StatementType:
    """Returns a triple's statement for output; qualifiers are read when asked for.

    A statement of the base is the same through every view, and has the same id.
    """
    base = base_id or triple.statement_id
    context.pending(frame.edition).statement_ids.add(base)
    if frame.view and not triple.statement_id.startswith(VIEW_ID_PREFIX):
        frame = frame.of_base()
    return StatementType(
        statement_id=strawberry.ID(triple.statement_id),
        subject=ref_item(context, frame, triple.head),
        rank=triple.rank,
        property=property_type(frame, triple.relation.id, triple.relation.label),
        value=value_output(context, frame, triple.value, triple.value_label),
        value_text=triple.value_label,
        frame=frame,
        base_id=base,
    )


@strawberry.type(
    name="Change",
    description="How a statement of a view differs from its base; for people who study the view.",
)
class ChangeType:
    """How a statement of a view differs from its base."""

    frame: strawberry.Private[Frame]
    change: strawberry.Private[TripleChange]

    @described
    def kind(self) -> ChangeKind:
        """What the view changed."""
        return self.change.kind

    @described
    def base_statement(self, info: Context) -> StatementType | None:
        """The statement of the base, where the view changed one."""
        if self.change.base is None:
            return None
        return statement_type(info.context, self.frame, self.change.base)


def stated(context: OperationContext, frame: Frame, item: HasTriple, /) -> StatementType:
    """Returns the statement of a triple that may be of a view; the base has its qualifiers."""
    base = item.change.base
    base_id = base.statement_id if base else None
    return statement_type(context, frame, item.triple, base_id=base_id)


show_as(EntityRef, ItemType, ref_item)
show_as(Triple, StatementType, statement_type)
show_as(
    RelationRef,
    PropertyType,
    # A relation that is known by its id alone has no label; it is read where it is asked for.
    lambda _, frame, relation: property_type(frame, relation.id, relation.label or None),
)
show_as(Stated, StatementType, stated)
show_as(TripleChange, ChangeType, lambda _, frame, change: ChangeType(frame=frame, change=change))


@page_of(
    output_type(ItemStatement),
    "A page of the statements of an item, in order of their keys.",
    edges="The statements of the page.",
    nodes="The statements of the page, without cursors.",
    total="How many statements all pages have.",
)
class StatementConnection(Page):
    """A page of the statements at an item."""


@page_of(
    output_type(Neighbour),
    "A page of the neighbours of an item, in order of the statements' heads and keys.",
    edges="The neighbours of the page.",
    nodes="The neighbours of the page, without cursors; one may come twice.",
    total="How many edges all pages have.",
)
class NeighbourConnection(Page):
    """A page of the items at the other end of statements."""


@page_of(
    output_type(ItemRelation),
    "A page of the properties of an item's statements, the most first.",
    edges="The properties of the page.",
    nodes="The properties of the page, without counts; one may come twice.",
    total="How many pairs of property and direction all pages have.",
)
class ItemRelationConnection(Page):
    """A page of relations of an item's statements."""


def _key_of(context: OperationContext, edition: str, view: ViewRef | None) -> str:
    """Returns what tells one view from another in the name of a listing.

    A name is no key: another view may have it by the next page.
    """
    if view is None:
        return ""
    if view.spec is not None:
        return view.spec.to_json()
    return context.service.views.get(view.id or view.name or "", graph=graph_of(edition)).id


class _Page:
    """One page of the statements at an item, and its cursors."""

    def __init__(
        self,
        context: OperationContext,
        item: ItemType,
        kind: str,
        view: ViewRef | None,
        property_ids: Sequence[str],
        direction: Direction | None = None,
    ) -> None:
        self._item = item
        self._kind = kind
        self._view = view
        check_length(property_ids, MAX_RELATIONS, argument="property_ids")
        self._relation_ids = tuple(read_id(id_, argument="property_ids") for id_ in property_ids)
        self._direction = direction
        self._listing = Listing(
            (
                kind,
                item.item_id,
                direction.value if direction else "",
                _key_of(context, item.frame.edition, view),
                *sorted(self._relation_ids),
            ),
            item.frame.edition,
        )

    def read(self, context: OperationContext, first: int, after: str | None, /) -> StatementPage:
        """Returns the statements of the page."""
        frame = self._item.frame
        neighbours = self._kind == "neighbours"
        return context.service.statements.page(
            self._item.item_id,
            PageRequest(
                first=first,
                after=self._listing.number(after),
                relation_ids=self._relation_ids,
                outgoing=self._direction is not Direction.INCOMING,
                incoming=self._direction is not Direction.OUTGOING,
            ),
            graph=graph_of(frame.edition),
            view=self._view,
            languages=frame.languages,
            entities_only=neighbours,
        )

    def edges(self, context: OperationContext, page: StatementPage, /) -> list[ShownEdge]:
        """Returns the edges of a page, whose statements no field has to read again."""
        known = context.pending(self._item.frame.edition).statements
        for item in page.items:
            base = item.edge.change.base
            known[base.statement_id if base else item.edge.triple.statement_id] = item.statement
        return [item.edge for item in page.items]

    def build(
        self, context: OperationContext, page: StatementPage, edges: Sequence[object], /
    ) -> list[object]:
        """Returns the elements of a page for output, with their cursors."""
        frame = self._item.frame
        frame = view_frame(frame.edition, frame.languages, page.view_spec, page.view_id)
        return [
            build(context, frame, edge, cursor=self._listing.cursor(str(index)))
            for edge, index in zip(edges, page.numbers, strict=True)
        ]

    def info(self, page: StatementPage, after: str | None, /) -> PageInfo:
        """Returns where the page stands in the list."""
        return self._listing.page_info(page.numbers, after=after, has_next=page.has_next)
