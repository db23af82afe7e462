"""Input types of the GraphQL schema, and their way into the model's."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

import strawberry

import graph_service.api.enums  # noqa: F401 - describes the enums before inputs have them
from graph_service.errors import InputError
from graph_service.model.contract import BigInt
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import Strategy
from graph_service.model.values import (
    EntityValue,
    Iri,
    MonolingualText,
    Quantity,
    StringValue,
    Time,
    Value,
)
from graph_service.model.view_spec import Change, LiteralType, Scope, ViewSpec
from graph_service.options import check_length, graphql_name, graphql_text, options_of
from graph_service.service.lookup import read_id

MAX_TIME_PRECISION = 14
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
_TIME = re.compile(r"[+-]?[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")


@strawberry.input(description="A typed literal.")
class LiteralInput:
    """A typed literal."""

    type: LiteralType = strawberry.field(description="What the content is.")
    content: str = strawberry.field(description="The text, number, time or address.")
    language_code: str | None = strawberry.field(
        default=None, description="Language of a monolingual text."
    )
    unit_id: strawberry.ID | None = strawberry.field(
        default=None, description="Item of the unit of a quantity."
    )
    precision: int | None = strawberry.field(
        default=None, description="Of a time: 9 is a year, 10 a month, 11 a day, which is taken."
    )


@strawberry.input(one_of=True, description="An item by its id, or a literal.")
class ValueInput:
    """An item by its id, or a literal."""

    item_id: strawberry.ID | None = strawberry.field(
        default=strawberry.UNSET, description="An item's itemId."
    )
    literal: LiteralInput | None = strawberry.field(
        default=strawberry.UNSET, description="A literal."
    )


@strawberry.input(
    description="Removes a statement, replaces its property or value, or (without statementId) "
    "adds one."
)
class ChangeInput:
    """One change of a person's own."""

    statement_id: strawberry.ID | None = strawberry.field(
        default=None, description="The statement to change; null to add one."
    )
    remove: bool = strawberry.field(default=False, description="Whether the statement goes.")
    subject_id: strawberry.ID | None = strawberry.field(
        default=None, description="The itemId of the subject of an added statement."
    )
    property_id: strawberry.ID | None = strawberry.field(
        default=None, description="The property that it gets."
    )
    value: ValueInput | None = strawberry.field(default=None, description="The value that it gets.")


class _Input:
    """An input that is made of options; they are given in GraphQL's words and snake case."""

    if TYPE_CHECKING:

        def __init__(self, **options: Any) -> None: ...


def _input_of(
    request: type, description: str, /, *, experimental: bool = False
) -> Callable[[type], type]:
    """Returns a decorator that gives a class the options of a request as its fields, as an input.

    Ids are GraphQL's; what is not given stays as the request has it.

    Args:
        request: Whose options they are.
        description: Of the input.
        experimental: Whether they are the experimental ones or all others.
    """

    def decorate(cls: type) -> type:
        for each in options_of(request).values():
            if not each.facts.of_api or each.facts.is_experimental is not experimental:
                continue
            name = graphql_name(each.name)
            kind: Any = _INPUTS.get(each.kind, each.kind)
            if each.name.endswith("_ids"):
                kind = strawberry.ID
            if each.facts.most is not None and each.kind is int and each.facts.most > 2**31:
                kind = BigInt
            is_absent = each.is_list or each.is_optional or each.kind in _INPUTS
            default = None if is_absent and each.default is not MISSING else each.default
            several = list[kind] if each.is_list else kind
            cls.__annotations__[name] = several | None if is_absent else several
            about = strawberry.field(description=graphql_text(each.facts.help))
            if default is not MISSING:
                about = strawberry.field(default=default, description=graphql_text(each.facts.help))
            setattr(cls, name, about)
        return strawberry.input(cls, description=description)

    return decorate


_INPUTS: dict[type, type] = {Change: ChangeInput}
"""Inputs of what is more than a word or a number, by the model's types."""


@_input_of(Scope, "Which statements a view may change; all where it is empty.")
class ScopeInput(_Input):
    """Which statements a view may change: the options of ``Scope``."""


_INPUTS[Scope] = ScopeInput


@_input_of(ViewSpec, "What a perturbed view is asked to be: a level or a count.")
class ViewSpecInput(_Input):
    """What a perturbed view is asked to be: the options of ``ViewSpec``."""


@strawberry.input(
    one_of=True,
    description="A stored view by id or name, or a specification computed for this query alone.",
)
class ViewRefInput:
    """Which view a query runs on."""

    view_id: strawberry.ID | None = strawberry.field(
        default=strawberry.UNSET, description="The viewId of a stored view."
    )
    name: str | None = strawberry.field(
        default=strawberry.UNSET, description="The name of a stored view."
    )
    spec: ViewSpecInput | None = strawberry.field(
        default=strawberry.UNSET, description="What the view is to be; nothing is stored."
    )


_INPUTS[ViewRef] = ViewRefInput


@_input_of(
    RetrieveRequest,
    "Options for research: any of them may change or go with any version.",
    experimental=True,
)
class ExperimentalInput(_Input):
    """The options of ``RetrieveRequest`` that are for research."""


@_input_of(RetrieveRequest, "One question to one graph, or to a view of it.")
class RetrieveInput(_Input):
    """One question to one graph: the other options of ``RetrieveRequest``."""

    experimental: ExperimentalInput | None = strawberry.field(
        default=None, description="Options for research, which may change with any version."
    )


@strawberry.input(description="A view to make and store.")
class CreateViewInput:
    """A view to make and store."""

    graph: str = strawberry.field(description="The name of the graph.")
    spec: ViewSpecInput = strawberry.field(description="What the view is to be.")
    name: str | None = strawberry.field(
        default=None,
        description="A name of your choice, that no other view of the graph as it is has.",
    )
    note: str = strawberry.field(default="", description="Anything worth remembering.")
    wait: bool = strawberry.field(
        default=True,
        description="False returns at once, with state RUNNING; ask view(reference:) then.",
    )


@strawberry.input
class StoredViewInput:
    """Which stored view an input is about; it is no type of the schema itself."""

    reference: str = strawberry.field(description="The view's viewId or name.")
    graph: str | None = strawberry.field(
        default=None, description="The name of its graph; may be left out if there is one."
    )


@strawberry.input(description="A view whose making is to be cancelled.")
class CancelJobInput(StoredViewInput):
    """A view whose making is to be cancelled."""


@strawberry.input(description="A stored view that gets another name or note.")
class UpdateViewInput(StoredViewInput):
    """A stored view that gets another name or note."""

    name: str | None = strawberry.field(
        default=None, description="The new name; null leaves the one that it has."
    )
    note: str | None = strawberry.field(
        default=None, description="The new note; null leaves the one that it has."
    )


@strawberry.input(description="A stored view to delete.")
class DeleteViewInput(StoredViewInput):
    """A stored view to delete."""


@strawberry.input(description="A graph to delete.")
class DeleteGraphInput:
    """A graph to delete."""

    name: str = strawberry.field(description="The name of the graph.")


@strawberry.input(description="Passages to delete.")
class DeletePassagesInput:
    """Passages to delete."""

    graph: str | None = strawberry.field(
        default=None, description="The name of their graph; may be left out if there is one."
    )
    source: str | None = strawberry.field(
        default=None, description="Those of this source only; null for all."
    )


def to_request(fields: RetrieveInput, strategy: Strategy, /) -> RetrieveRequest:
    """Returns the model's request. Details are read where a query asks for them."""
    values = _options_in(fields, RetrieveRequest)
    if fields.experimental is not None:
        values |= _options_in(fields.experimental, RetrieveRequest, experimental=True)
    if "view" in values:
        values["view"] = to_view_ref(values["view"])
    return RetrieveRequest(**{**values, "strategy": strategy})


def _options_in(
    fields: object, request: type, *, experimental: bool = False, prefix: str = ""
) -> dict[str, Any]:
    """Returns what an input gives of a request's options, by their names in Python.

    Raises:
        InputError: A list is too long; names it, below the prefix.
    """
    values: dict[str, Any] = {}
    for each in options_of(request).values():
        if not each.facts.of_api or each.facts.is_experimental is not experimental:
            continue
        value: Any = getattr(fields, graphql_name(each.name))
        if value is None:
            continue
        if each.is_list:
            check_length(value, each.facts.most_values, argument=prefix + each.name)
        values[each.name] = tuple(value) if each.is_list else value
    return values


def to_view_ref(reference: ViewRefInput | None, /) -> ViewRef | None:
    """Returns the model's reference to a view; None for the base."""
    if reference is None:
        return None
    return ViewRef(
        id=reference.view_id or None,
        name=reference.name or None,
        spec=to_spec(reference.spec) if reference.spec else None,
    )


def to_spec(fields: ViewSpecInput, /) -> ViewSpec:
    """Returns the model's specification of a view."""
    values = _options_in(fields, ViewSpec)
    if "scope" in values:
        values["scope"] = _to_scope(values["scope"])
    values["changes"] = tuple(_to_change(change) for change in values.get("changes", ()))
    for name in ("entity_ids", "answer_ids", "target_ids"):
        argument = graphql_name(name)
        values[name] = tuple(read_id(id_, argument=argument) for id_ in values.get(name, ()))
    spec = ViewSpec(**values)
    spec.validate()
    return spec


def _to_scope(fields: ScopeInput) -> Scope:
    values = _options_in(fields, Scope, prefix="scope.")
    for name in ("relation_ids", "around_entity_ids"):
        argument = f"scope.{graphql_name(name)}"
        values[name] = tuple(read_id(id_, argument=argument) for id_ in values.get(name, ()))
    return Scope(**values)


def _to_change(fields: ChangeInput) -> Change:
    return Change(
        statement_id=fields.statement_id,
        remove=fields.remove,
        head=_read_id(fields.subject_id, "subject_id"),
        relation=_read_id(fields.property_id, "property_id"),
        value=_to_value(fields.value) if fields.value else None,
    )


def _read_id(id_: strawberry.ID | None, argument: str) -> str | None:
    return None if id_ is None else read_id(id_, argument=argument)


def _to_value(fields: ValueInput) -> Value:
    if isinstance(fields.item_id, str):
        return EntityValue(read_id(fields.item_id, argument="item_id"))
    literal = fields.literal
    if not literal:
        raise InputError("a value is an item's id or a literal", argument="value")
    match literal.type:
        case LiteralType.STRING:
            return StringValue(literal.content)
        case LiteralType.MONOLINGUAL_TEXT:
            if not literal.language_code:
                raise InputError("monolingual text needs a languageCode", argument="languageCode")
            return MonolingualText(literal.content, literal.language_code.lower())
        case LiteralType.QUANTITY:
            amount = _matching(_NUMBER, literal.content, "a decimal number such as 1.96")
            return Quantity(amount.removeprefix("+"), literal.unit_id)
        case LiteralType.TIME:
            time = _matching(_TIME, literal.content, "a time such as 1947-07-30T00:00:00Z")
            precision = 11 if literal.precision is None else literal.precision
            if not 0 <= precision <= MAX_TIME_PRECISION:
                raise InputError(
                    f"precision must be 0 to {MAX_TIME_PRECISION} (9 year, 10 month, 11 day), "
                    f"got {precision}",
                    argument="precision",
                )
            return Time(time.removeprefix("+"), precision)
        case LiteralType.URL:
            return Iri(_matching(_URL, literal.content, "an address such as https://example.org"))


def _matching(pattern: re.Pattern[str], content: str, expected: str) -> str:
    if not pattern.fullmatch(content):
        raise InputError(f"expected {expected}, got {content[:80]!r}", argument="content")
    return content
