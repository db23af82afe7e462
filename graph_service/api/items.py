"""Items, properties, values and statements as GraphQL types.

Names follow Wikibase's GraphQL where it has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

import strawberry
from strawberry.types import Info

from graph_service.api.inputs import ViewRefInput, to_view_ref
from graph_service.api.loading import OperationContext
from graph_service.model.pageviews import LongTailLevel
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
from graph_service.service.lookup import read_id
from graph_service.service.triples import entity_name
from graph_service.store.names import graph_of
from graph_service.text.fold import relation_words

Context = Info[OperationContext, None]


def _text_in(texts: dict[str, str] | Sequence[tuple[str, str]], language: str | None) -> str | None:
    known = dict(texts)
    if language is not None:
        return known.get(language)
    for code in ("en", "mul", *sorted(known)):
        if code in known:
            return known[code]
    return None


strawberry.enum(LongTailLevel, description="LTGen's: IV is the rarest, 10 to 100 views a month.")


@strawberry.type(name="PageViews", description="How often an item's article is read.")
class PageViewsType:
    """How often an item's article is read."""

    mean: float = strawberry.field(description="Views a month.")
    total: float = strawberry.field(description="A whole number, which may pass 2**31.")
    months: int = strawberry.field(description="How many are known.")
    first: str
    last: str
    level: LongTailLevel | None
    source: str


@strawberry.type(name="Item", description="An entity: a Wikidata item, a DBpedia resource, ...")
class ItemType:
    """An entity."""

    id: strawberry.ID
    edition: strawberry.Private[str]
    shown_label: strawberry.Private[str | None]
    shown_description: strawberry.Private[str | None] = None

    @strawberry.field(
        description="The label in a language; without one, the label the result was made with."
    )
    def label(self, info: Context, language_code: str | None = None) -> str | None:
        """The label."""
        if language_code is None and self.shown_label is not None:
            return self.shown_label
        entity = info.context.entity(self.edition, self.id)
        text = _text_in(dict(entity.labels), language_code) if entity else None
        return text if text or language_code else entity_name(self.id)

    @strawberry.field(description="The description in a language; else in any.")
    def description(self, info: Context, language_code: str | None = None) -> str | None:
        """The description."""
        if language_code is None and self.shown_description is not None:
            return self.shown_description
        entity = info.context.entity(self.edition, self.id)
        return _text_in(dict(entity.descriptions), language_code) if entity else None

    @strawberry.field(description="The aliases in a language.")
    def aliases(self, info: Context, language_code: str = "en") -> list[str]:
        """The aliases."""
        entity = info.context.entity(self.edition, self.id)
        return list(entity.aliases.get(language_code, ())) if entity else []

    @strawberry.field(description="Languages that have a label.")
    def label_languages(self, info: Context) -> list[str]:
        """The languages of labels."""
        entity = info.context.entity(self.edition, self.id)
        return sorted(entity.labels) if entity else []

    @strawberry.field(description="How often its article is read; null where that is not known.")
    def page_views(self, info: Context) -> PageViewsType | None:
        """The page views."""
        views = info.context.page_views(self.edition, self.id)
        if views is None:
            return None
        return PageViewsType(
            mean=views.mean,
            total=float(views.total),
            months=views.months,
            first=views.first,
            last=views.last,
            level=views.level,
            source=views.source,
        )

    @strawberry.field(
        description="Statements that have this item as their subject, of every rank; on a view, "
        "the view's."
    )
    def statements(
        self,
        info: Context,
        property_id: strawberry.ID | None = None,
        view: ViewRefInput | None = None,
        language_codes: list[str] | None = None,
        limit: int = 100,
    ) -> list[ItemStatementType]:
        """The statements."""
        shown = info.context.service.statements_of(
            self.id,
            graph=graph_of(self.edition),
            view=to_view_ref(view),
            relation_ids=[]
            if property_id is None
            else [read_id(property_id, argument="property_id")],
            languages=language_codes or ("en",),
            limit=limit,
        )
        return [
            ItemStatementType(
                statement=statement_type(
                    info.context, self.edition, item.edge.triple, item.statement
                ),
                change=ChangeType(edition=self.edition, change=item.edge.change),
            )
            for item in shown
        ]


@strawberry.type(name="Property", description="A relation.")
class PropertyType:
    """A relation."""

    id: strawberry.ID
    edition: strawberry.Private[str]
    shown_label: strawberry.Private[str | None]

    @strawberry.field(description="The label in a language; else as the result was made.")
    def label(self, info: Context, language_code: str | None = None) -> str | None:
        """The label."""
        if language_code is None and self.shown_label is not None:
            return self.shown_label
        entity = info.context.entity(self.edition, self.id)
        text = _text_in(dict(entity.labels), language_code) if entity else None
        return text if text or language_code else relation_words(self.id)


@strawberry.type(description="Another item.")
class ItemValue:
    """Another item."""

    item: ItemType


@strawberry.type(name="StringValue", description="Plain text, with its Wikibase or RDF data type.")
class StringValueType:
    """Plain text."""

    content: str
    datatype: str


@strawberry.type(name="MonolingualTextValue", description="Text in one language.")
class MonolingualTextValueType:
    """Text in one language."""

    language: str
    text: str


@strawberry.type(name="QuantityValue", description="A decimal number, exact, as text.")
class QuantityValueType:
    """A number."""

    amount: str
    unit: ItemType | None
    lower_bound: str | None
    upper_bound: str | None


@strawberry.type(name="TimeValue", description="A date with precision (9 year, 10 month, 11 day).")
class TimeValueType:
    """A date."""

    time: str
    precision: int
    calendar_model: strawberry.ID
    before: int
    after: int
    timezone: int


@strawberry.type(name="GlobeCoordinateValue", description="A place, in degrees.")
class GlobeCoordinateValueType:
    """A place."""

    latitude: float
    longitude: float
    altitude: float | None
    precision: float | None
    globe: strawberry.ID


@strawberry.type(name="UrlValue", description="An address.")
class UrlValueType:
    """An address."""

    url: str


@strawberry.type(name="SomeValue", description="There is a value, and it is not known.")
class SomeValueType:
    """An unknown value."""

    note: str = "unknown value"


@strawberry.type(name="NoValue", description="There is no value.")
class NoValueType:
    """No value."""

    note: str = "no value"


@strawberry.type(name="OtherValue", description="A value of a data type this version lacks.")
class OtherValueType:
    """A value of an unknown data type."""

    datatype: str
    json: str


ValueUnion = Annotated[
    ItemValue
    | StringValueType
    | MonolingualTextValueType
    | QuantityValueType
    | TimeValueType
    | GlobeCoordinateValueType
    | UrlValueType
    | SomeValueType
    | NoValueType
    | OtherValueType,
    strawberry.union("Value"),
]


def value_output(
    context: OperationContext, edition: str, value: Value, label: str | None, /
) -> ValueUnion:
    """Returns a typed value for output."""
    match value:
        case EntityValue(id=id_):
            return ItemValue(item=item_type(context, edition, id_, label))
        case StringValue():
            return StringValueType(content=value.text, datatype=value.datatype)
        case MonolingualText():
            return MonolingualTextValueType(language=value.language, text=value.text)
        case Quantity():
            return QuantityValueType(
                amount=value.amount,
                unit=item_type(context, edition, value.unit, None) if value.unit else None,
                lower_bound=value.lower,
                upper_bound=value.upper,
            )
        case Time():
            return TimeValueType(
                time=value.time,
                precision=value.precision,
                calendar_model=strawberry.ID(value.calendar),
                before=value.before,
                after=value.after,
                timezone=value.timezone,
            )
        case Coordinates():
            return GlobeCoordinateValueType(
                latitude=value.latitude,
                longitude=value.longitude,
                altitude=value.altitude,
                precision=value.precision,
                globe=strawberry.ID(value.globe),
            )
        case Iri(iri=iri):
            return UrlValueType(url=iri)
        case SomeValue():
            return SomeValueType()
        case NoValue():
            return NoValueType()
        case UnknownValue():
            return OtherValueType(datatype=value.datatype, json=value.json)


@strawberry.type(description="One property with one value: a qualifier, or a part of a reference.")
class PropertyValue:
    """One property with one value."""

    property: PropertyType
    value: ValueUnion
    value_text: str


@strawberry.type(name="Reference", description="One source of a statement.")
class ReferenceType:
    """One source of a statement."""

    parts: list[PropertyValue]


@strawberry.type(name="Statement", description="What a graph says of an item.")
class StatementType:
    """What a graph says of an item."""

    id: strawberry.ID
    rank: Rank
    property: PropertyType
    value: ValueUnion
    value_text: str = strawberry.field(description="The value as a person reads it.")
    stands_for: list[strawberry.ID] = strawberry.field(
        description="Statements left out for this one, which says the same: in another language, "
        "or of another edition of the item."
    )
    edition: strawberry.Private[str]
    base_id: strawberry.Private[str]
    whole: strawberry.Private[Statement | None] = None

    def _statement(self, context: OperationContext) -> Statement | None:
        return self.whole or context.statement(self.edition, self.base_id)

    @strawberry.field(description="The qualifiers, in order.")
    def qualifiers(
        self, info: Context, property_id: strawberry.ID | None = None
    ) -> list[PropertyValue]:
        """The qualifiers."""
        statement = self._statement(info.context)
        snaks = statement.qualifiers if statement else ()
        return _snaks(
            info.context,
            self.edition,
            (snak for snak in snaks if property_id is None or snak.relation == property_id),
        )

    @strawberry.field(description="The references.")
    def references(self, info: Context) -> list[ReferenceType]:
        """The references."""
        statement = self._statement(info.context)
        groups: Iterable[Reference] = statement.references if statement else ()
        return [
            ReferenceType(parts=_snaks(info.context, self.edition, group.parts)) for group in groups
        ]


def _snaks(context: OperationContext, edition: str, snaks: Iterable[Snak]) -> list[PropertyValue]:
    listed = list(snaks)
    pending = context.pending(edition)
    for snak in listed:
        pending.entity_ids.add(snak.relation)
        if isinstance(snak.value, EntityValue):
            pending.entity_ids.add(snak.value.id)
        elif isinstance(snak.value, Quantity) and snak.value.unit:
            pending.entity_ids.add(snak.value.unit)

    def label_of(id_: str) -> str:
        entity = context.entity(edition, id_)
        return (_text_in(dict(entity.labels), None) if entity else None) or entity_name(id_)

    return [
        PropertyValue(
            property=PropertyType(
                id=strawberry.ID(snak.relation), edition=edition, shown_label=None
            ),
            value=value_output(context, edition, snak.value, None),
            value_text=display_value(snak.value, label_of),
        )
        for snak in listed
    ]


def item_type(
    context: OperationContext,
    edition: str,
    id_: str,
    label: str | None,
    /,
    *,
    description: str | None = None,
) -> ItemType:
    """Returns an item for output, named so that its terms can be read with the others'."""
    context.pending(edition).entity_ids.add(id_)
    return ItemType(
        id=strawberry.ID(id_), edition=edition, shown_label=label, shown_description=description
    )


def ref_item(context: OperationContext, edition: str, ref: EntityRef, /) -> ItemType:
    """Returns the item of a reference."""
    return item_type(context, edition, ref.id, ref.label, description=ref.description)


def entity_item(context: OperationContext, edition: str, entity: Entity, /) -> ItemType:
    """Returns the item of an entity that was read."""
    context.pending(edition).entities[entity.id] = entity
    return item_type(context, edition, entity.id, None)


def property_type(edition: str, relation: RelationRef, /) -> PropertyType:
    """Returns a relation for output."""
    return PropertyType(id=strawberry.ID(relation.id), edition=edition, shown_label=relation.label)


def statement_type(
    context: OperationContext,
    edition: str,
    triple: Triple,
    whole: Statement | None = None,
    /,
    *,
    base_id: str | None = None,
) -> StatementType:
    """Returns a triple's statement for output; qualifiers are read when asked for."""
    base = base_id or triple.statement_id
    context.pending(edition).statement_ids.add(base)
    return StatementType(
        id=strawberry.ID(triple.statement_id),
        rank=triple.rank,
        property=property_type(edition, triple.relation),
        value=value_output(context, edition, triple.value, triple.value_label),
        value_text=triple.value_label,
        stands_for=[strawberry.ID(id_) for id_ in triple.stands_for],
        edition=edition,
        base_id=base,
        whole=whole,
    )


@strawberry.type(
    name="Change",
    description="How a statement of a view differs from its base; for people who study the view.",
)
class ChangeType:
    """How a statement of a view differs from its base."""

    edition: strawberry.Private[str]
    change: strawberry.Private[TripleChange]

    @strawberry.field
    def kind(self) -> ChangeKind:
        """What was changed."""
        return self.change.kind

    @strawberry.field
    def base_statement(self, info: Context) -> StatementType | None:
        """The statement of the base."""
        if self.change.base is None:
            return None
        return statement_type(info.context, self.edition, self.change.base)


@strawberry.type(name="ItemStatement", description="A statement of an item, on the base or a view.")
class ItemStatementType:
    """A statement of an item."""

    statement: StatementType
    change: ChangeType


def base_statement_id(triple: Triple, change: TripleChange, /) -> str:
    """Returns the id under which the base has a triple's qualifiers and references."""
    return change.base.statement_id if change.base else triple.statement_id
