"""GraphQL responses to the model's types."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar, cast, get_type_hints

from graph_service.client.errors import error_of
from graph_service.errors import GraphServiceError
from graph_service.model.browsing import (
    ClassDescription,
    ClientViewChange,
    GraphDescription,
    Item,
    ItemRelation,
    ItemRelations,
    ItemStatement,
    ItemStatements,
    Neighbour,
    Neighbours,
    RelationDescription,
    ViewChanges,
)
from graph_service.model.contract import ItemId, Part, PropertyId, Statement, value_of_enum
from graph_service.model.graph_info import GraphInfo
from graph_service.model.result import (
    ClientComparison,
    EntityRef,
    PathsResult,
    RelationRef,
    RetrievalResult,
    Status,
    SubgraphResult,
    Triple,
    TripleChange,
    TripletsResult,
)
from graph_service.model.selection import VALUES
from graph_service.model.shapes import SHAPES, parts_of
from graph_service.model.statement import Rank, Reference, Snak
from graph_service.model.values import UnknownValue, Value
from graph_service.model.view_spec import ChangeKind, ViewSpec

T = TypeVar("T")
Json = Mapping[str, Any]


def decode(model: type[T], data: Json, /, **others: Any) -> T:
    """Returns a dataclass of the contract from the object that ``selection`` selects.

    Args:
        model: The dataclass.
        data: The object.
        others: Attributes that stand elsewhere in the answer.
    """
    plan = _plan_of(cast(Hashable, model))
    values: dict[str, Any] = _carried(data, plan.statement) if plan.statement else {}
    values |= others
    nested: dict[str, dict[str, Any]] = {}
    for key, attribute, inner, read in plan.readers:
        if attribute in values:
            continue
        raw = data[key]
        value = raw if read is None else read(raw)
        if inner:
            nested.setdefault(attribute, {})[inner] = value
        else:
            values[attribute] = value
    for attribute, fields in nested.items():
        values[attribute] = plan.hints[attribute](**fields)
    return model(**values)


class _Reader(NamedTuple):
    """How one attribute is read.

    Attributes:
        key: The field of the answer.
        attribute: The attribute.
        inner: The attribute of the dataclass which that holds, if any.
        read: Makes it of what the answer has; None for what is taken as it is.
    """

    key: str
    attribute: str
    inner: str
    read: Callable[[Any], Any] | None


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a dataclass is read, with the types of its attributes.

    Attributes:
        statement: The field that has the statement of its triple; "" where it has none.
    """

    readers: tuple[_Reader, ...]
    statement: str
    hints: Mapping[str, Any]


@cache
def _plan_of(model: Any) -> _Plan:
    readers = []
    parts = parts_of(model)
    for part in parts:
        if part.is_read:
            attribute, _, inner = part.path.partition(".")
            readers.append(_Reader(part.alias or part.graphql, attribute, inner, _read(part)))
    statement = next((part.graphql for part in parts if part.kind is Statement), "")
    return _Plan(tuple(readers), statement, get_type_hints(model))


def _read(part: Part) -> Callable[[Any], Any] | None:
    element = _read_element(part)
    convert = part.conversion.read if part.conversion is not None else None
    if convert is value_of_enum:
        # A text in Python. A value that only a newer server knows is no error.
        return lambda raw: part.kind[raw].value if raw in part.kind.__members__ else raw.lower()
    if part.kind is ViewSpec and convert is not None:
        return lambda raw: raw and raw["json"]
    if part.is_list:
        read = tuple if element is None else lambda raw: tuple(map(element, raw))
        return read if convert is None else lambda raw: convert(read(raw))
    if element is None:
        return convert
    if convert is None:
        return (lambda raw: raw and element(raw)) if part.is_optional else element
    return lambda raw: convert(None if raw is None else element(raw))


def _read_element(part: Part) -> Callable[[Any], Any] | None:
    kind: Any = part.kind
    if kind is ViewSpec:
        return lambda raw: ViewSpec.from_json(raw["json"])
    if kind is EntityRef:
        return _ref
    if kind is RelationRef:
        return _relation
    if kind is ItemId:
        return itemgetter("itemId")
    if kind is PropertyId:
        return itemgetter("propertyId")
    if kind is Triple:
        return lambda raw: decode_triple(raw["subject"], raw)
    if kind == Value:
        return decode_value
    if kind in SHAPES:
        return lambda raw: decode(kind, raw)
    if kind is Status:
        # A status that only a newer server knows is another reason not to be sure.
        return lambda raw: Status.__members__.get(raw, Status.LOW_CONFIDENCE)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return lambda raw: kind[raw]
    return None


def _carried(data: Json, field: str) -> dict[str, Any]:
    """Returns the triple and the change of an object that has a statement in a field."""
    statement = data[field]
    subject = data["subject"] if "subject" in data else statement["subject"]
    return {
        "triple": replace(
            decode_triple(subject, statement),
            stands_for=tuple(data.get("standsFor", ())),
            source=data.get("source"),
        ),
        "change": _change(data.get("change")),
    }


def decode_value(data: Json, /) -> Value:
    """Returns the typed value of a ``Value`` object."""
    return cast(Value, decode(VALUES.get(data["__typename"], UnknownValue), data))


def decode_triple(subject: Json, data: Json, /) -> Triple:
    """Returns a triple of its subject and its statement."""
    return Triple(
        statement_id=data["statementId"],
        head=_ref(subject),
        relation=_relation(data["property"]),
        value=decode_value(data["value"]),
        value_label=data["valueText"],
        rank=Rank[data["rank"]],
        qualifiers=_rows(Snak, data.get("qualifiers", ())),
        references=_rows(Reference, data.get("references", ())),
    )


def _rows(model: type[T], rows: Sequence[Json]) -> tuple[T, ...]:
    return tuple(decode(model, row) for row in rows)


def _change(data: Json | None) -> TripleChange:
    if data is None:
        return TripleChange()  # It was not asked for: there is no view.
    base = data["baseStatement"]
    return TripleChange(ChangeKind[data["kind"]], base and decode_triple(base["subject"], base))


def _ref(data: Json) -> EntityRef:
    return EntityRef(data["itemId"], data["label"], data.get("description"))


def _relation(data: Json) -> RelationRef:
    return RelationRef(data["propertyId"], data["label"])


def decode_result(data: Json, /) -> RetrievalResult:
    """Returns the result of a ``Result`` object."""
    name = data["__typename"]
    model = _RESULTS.get(name, SubgraphResult)
    if "items" not in data:  # Of several strategies, whose items have names of their own.
        data = {**data, "items": data["paths" if model is PathsResult else "scored"]}
    return decode(model, data)


_RESULTS: Mapping[str, type[RetrievalResult]] = {
    SHAPES[model].name: model for model in (TripletsResult, PathsResult, SubgraphResult)
}


def decode_outcome(data: Json, /) -> RetrievalResult | GraphServiceError:
    """Returns a question's result, or its error as the class of its code."""
    error = data["error"]
    return decode_result(data["result"]) if error is None else error_of(error["message"], error)


def decode_comparison(data: Json, /) -> ClientComparison:
    """Returns one row of a comparison."""
    return decode(ClientComparison, data, result=decode_result(data["result"]))


def decode_item(data: Json, /) -> Item:
    """Returns an item with its terms."""
    return Item(
        id=data["itemId"],
        label=data["label"],
        description=data["description"],
        aliases=tuple(data["aliases"]),
        label_languages=tuple(data["labelLanguages"]),
        url=data["url"],
    )


def decode_edges(model: type[T], page: Json, /) -> tuple[T, ...]:
    """Returns the edges of a page."""
    return _rows(model, page["edges"])


def decode_nodes(model: type[T], page: Json, /) -> tuple[T, ...]:
    """Returns the nodes of the edges of a page."""
    return tuple(decode(model, edge["node"]) for edge in page["edges"])


def decode_item_statements(item: Json, /) -> ItemStatements:
    """Returns a page of the statements of an item."""
    page = item["statements"]
    return ItemStatements(
        item=_ref(item),
        statements=decode_edges(ItemStatement, page),
        cursors=tuple(edge["cursor"] for edge in page["edges"]),
        total=page["totalCount"],
        next=end_cursor(page),
    )


def decode_item_relations(item: Json, /) -> ItemRelations:
    """Returns a page of the relations of an item."""
    page = item["relations"]
    return ItemRelations(
        item=_ref(item),
        relations=decode_edges(ItemRelation, page),
        cursors=tuple(edge["cursor"] for edge in page["edges"]),
        total=page["totalCount"],
        next=end_cursor(page),
    )


def decode_description(graph: Json, /) -> GraphDescription:
    """Returns what a graph is about."""
    return GraphDescription(
        info=decode(GraphInfo, graph),
        classes=decode_edges(ClassDescription, graph["classes"]),
        class_count=graph["classes"]["totalCount"],
        relations=decode_edges(RelationDescription, graph["relations"]),
    )


def decode_neighbours(page: Json, /) -> Neighbours:
    """Returns a page of the neighbours of an item."""
    return Neighbours(decode_edges(Neighbour, page), page["totalCount"], end_cursor(page))


def decode_view_changes(page: Json, /) -> ViewChanges:
    """Returns a page of what a view changes."""
    return ViewChanges(decode_nodes(ClientViewChange, page), page["totalCount"], end_cursor(page))


def end_cursor(page: Json, /) -> str | None:
    """Returns the cursor of the page after one; None after the last."""
    info = page["pageInfo"]
    cursor: str | None = info["endCursor"] if info["hasNextPage"] else None
    return cursor
