"""Input types and enums of the GraphQL schema, and their way into the model's."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING
from enum import Enum
from typing import TYPE_CHECKING, Any

import strawberry

from graph_service.errors import InputError
from graph_service.model.render import TextFormat
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import Status, Strategy
from graph_service.model.statement import Rank
from graph_service.model.stored_view import ViewState
from graph_service.model.values import (
    EntityValue,
    Iri,
    MonolingualText,
    Quantity,
    StringValue,
    Time,
    Value,
)
from graph_service.model.view_spec import Change, ChangeKind, Method, Sampling, Scope, ViewSpec
from graph_service.options import graphql_name, graphql_text, options_of
from graph_service.service.lookup import read_id

MAX_TIME_PRECISION = 14
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
_TIME = re.compile(r"[+-]?[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")

strawberry.enum(Strategy, description="The three retrievals.")
strawberry.enum(Status, description="How a retrieval ended; finding nothing is no error.")
strawberry.enum(Method, description="How a view changes its base.")
strawberry.enum(
    Sampling,
    description="EXACT draws without replacement, OKGQA with, as that paper's code does.",
)
strawberry.enum(ChangeKind, description="How a statement of a view differs from its base.")
strawberry.enum(ViewState, description="How far the making of a view has come.")
strawberry.enum(Rank, description="Wikibase's rank of a statement.")
strawberry.enum(TextFormat, description="How a result is written as text.")


@strawberry.enum(description="Type of a literal given in a change.")
class LiteralType(Enum):
    """Type of a literal given in a change."""

    STRING = "string"
    MONOLINGUAL_TEXT = "monolingualtext"
    QUANTITY = "quantity"
    TIME = "time"
    URL = "url"


@strawberry.input(description="A typed literal.")
class LiteralInput:
    """A typed literal."""

    type: LiteralType
    content: str
    language_code: str | None = None
    unit_id: strawberry.ID | None = None
    precision: int | None = None


@strawberry.input(one_of=True, description="An item by its id, or a literal.")
class ValueInput:
    """An item by its id, or a literal."""

    item_id: strawberry.ID | None = strawberry.UNSET
    literal: LiteralInput | None = strawberry.UNSET


@strawberry.input(
    description="Removes a statement, replaces its property or value, or (without statementId) "
    "adds one."
)
class ChangeInput:
    """One change of a person's own."""

    statement_id: strawberry.ID | None = None
    remove: bool = False
    subject_id: strawberry.ID | None = None
    property_id: strawberry.ID | None = None
    value: ValueInput | None = None


class _Input:
    """An input that is made of options; they are given in GraphQL's words and snake case."""

    if TYPE_CHECKING:

        def __init__(self, **options: Any) -> None: ...


def _input_of(request: type, description: str, /) -> Callable[[type], type]:
    """Returns a decorator that gives a class the options of a request as its fields, as an input.

    Ids are GraphQL's; what is not given stays as the request has it.
    """

    def decorate(cls: type) -> type:
        for each in options_of(request).values():
            if not each.facts.of_api:
                continue
            name = graphql_name(each.name)
            kind: Any = _GIVEN.get(each.kind, each.kind)
            if each.name.endswith("_ids") or each.name == "graph":
                kind = strawberry.ID
            is_absent = each.is_list or each.is_optional or each.kind in _GIVEN
            default = None if is_absent and each.default is not MISSING else each.default
            several = list[kind] if each.is_list else kind
            cls.__annotations__[name] = several | None if is_absent else several
            about = strawberry.field(description=graphql_text(each.facts.help))
            if default is not MISSING:
                about = strawberry.field(default=default, description=graphql_text(each.facts.help))
            setattr(cls, name, about)
        return strawberry.input(cls, description=description)

    return decorate


_GIVEN: dict[type, type] = {Change: ChangeInput}
"""Inputs of what is more than a word or a number, by the model's types."""


@_input_of(Scope, "Which statements a view may change; all where it is empty.")
class ScopeInput(_Input):
    """Which statements a view may change: the options of ``Scope``."""


_GIVEN[Scope] = ScopeInput


@_input_of(ViewSpec, "What a perturbed view is asked to be: a level or a count.")
class ViewSpecInput(_Input):
    """What a perturbed view is asked to be: the options of ``ViewSpec``."""


@strawberry.input(
    one_of=True,
    description="A stored view by id or name, or a specification computed for this query alone.",
)
class ViewRefInput:
    """Which view a query runs on."""

    id: strawberry.ID | None = strawberry.UNSET
    name: str | None = strawberry.UNSET
    spec: ViewSpecInput | None = strawberry.UNSET


_GIVEN[ViewRef] = ViewRefInput


@_input_of(RetrieveRequest, "One question to one graph, or to a view of it.")
class RetrieveInput(_Input):
    """One question to one graph: the options of ``RetrieveRequest``."""


@strawberry.input(description="A view to make and store.")
class CreateViewInput:
    """A view to make and store."""

    graph: strawberry.ID
    spec: ViewSpecInput
    name: str | None = None
    note: str = ""
    wait: bool = strawberry.field(
        default=True, description="False returns at once, with state running; ask view(id) then."
    )


def to_request(given: RetrieveInput, strategy: Strategy, /) -> RetrieveRequest:
    """Returns the model's request. Details are read where a query asks for them."""
    values = _given(given, RetrieveRequest)
    if "view" in values:
        values["view"] = to_view_ref(values["view"])
    return RetrieveRequest(**{**values, "strategy": strategy})


def _given(given: object, request: type) -> dict[str, Any]:
    """Returns what an input gives of a request's options, by their names in Python."""
    values: dict[str, Any] = {}
    for each in options_of(request).values():
        value: Any = getattr(given, graphql_name(each.name)) if each.facts.of_api else None
        if value is not None:
            values[each.name] = tuple(value) if each.is_list else value
    return values


def to_view_ref(given: ViewRefInput | None, /) -> ViewRef | None:
    """Returns the model's reference to a view; None for the base."""
    if given is None:
        return None
    return ViewRef(
        id=given.id or None,
        name=given.name or None,
        spec=to_spec(given.spec) if given.spec else None,
    )


def to_spec(given: ViewSpecInput, /) -> ViewSpec:
    """Returns the model's specification of a view."""
    values = _given(given, ViewSpec)
    if "scope" in values:
        values["scope"] = _to_scope(values["scope"])
    values["changes"] = tuple(_to_change(change) for change in values.get("changes", ()))
    spec = ViewSpec(**values)
    spec.validate()
    return spec


def _to_scope(given: ScopeInput) -> Scope:
    values = _given(given, Scope)
    for name in ("relation_ids", "around_entity_ids"):
        argument = f"scope.{graphql_name(name)}"
        values[name] = tuple(read_id(id_, argument=argument) for id_ in values.get(name, ()))
    return Scope(**values)


def _to_change(given: ChangeInput) -> Change:
    return Change(
        statement_id=given.statement_id,
        remove=given.remove,
        head=_read_id(given.subject_id, "subject_id"),
        relation=_read_id(given.property_id, "property_id"),
        value=_to_value(given.value) if given.value else None,
    )


def _read_id(given: strawberry.ID | None, argument: str) -> str | None:
    return None if given is None else read_id(given, argument=argument)


def _to_value(given: ValueInput) -> Value:
    if isinstance(given.item_id, str):
        return EntityValue(read_id(given.item_id, argument="item_id"))
    literal = given.literal
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
