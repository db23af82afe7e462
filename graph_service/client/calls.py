"""Each call of the client as data: its document, its variables, and how to read the answer.

Parameters and docstring of a function here are those of the client's method of its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Generic, Literal, Required, TypeVar, Unpack, cast

from graph_service.client.decode import (
    decode,
    decode_comparison,
    decode_description,
    decode_edges,
    decode_item,
    decode_item_relations,
    decode_item_statements,
    decode_neighbours,
    decode_nodes,
    decode_outcome,
    decode_result,
    decode_view_changes,
)
from graph_service.client.documents import DOCUMENTS
from graph_service.errors import GraphServiceError, InputError, StoreError
from graph_service.model.browsing import (
    CancelledJob,
    CreatedView,
    DeletedGraph,
    DeletedPassages,
    DeletedView,
    GraphDescription,
    Item,
    ItemRelations,
    ItemStatement,
    ItemStatements,
    Neighbours,
    UpdatedView,
    ViewChanges,
)
from graph_service.model.graph_info import GraphInfo
from graph_service.model.pageviews import PageViews
from graph_service.model.passage import (
    ClientPassageSet,
    PassageRanking,
    PassagesResult,
    ScoredPassage,
)
from graph_service.model.request import RetrieveOptions, RetrieveRequest, ViewRef
from graph_service.model.result import (
    ClientComparison,
    MatchingItem,
    PathsResult,
    RetrievalResult,
    Strategy,
    SubgraphResult,
    TripletsResult,
)
from graph_service.model.statement import Rank
from graph_service.model.stored_view import StoredView
from graph_service.model.values import (
    EntityValue,
    Iri,
    MonolingualText,
    Quantity,
    StringValue,
    Time,
    Value,
)
from graph_service.model.view_spec import Change, Scope, ViewSpec
from graph_service.options import EXPERIMENTAL, camel_case, options_of

T = TypeVar("T")
View = ViewRef | ViewSpec | str
PAGE = 1000
"""Elements of a page of a list that is read whole."""


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One operation.

    Attributes:
        read: Makes the answer's data what the caller gets.
        connection: The field that holds a page of a list, where the caller gets the whole list.
    """

    document: str
    variables: Mapping[str, Any]
    read: Callable[[Mapping[str, Any]], T]
    connection: str = ""

    def next_page(self, data: Mapping[str, Any], /) -> Call[T] | None:
        """Returns the call for the page after the one that was read; None after the last."""
        if not self.connection:
            return None
        page = data[self.connection]["pageInfo"]
        if not page["hasNextPage"]:
            return None
        return replace(self, variables={**self.variables, "after": page["endCursor"]})

    def decode(self, data: Mapping[str, Any], /) -> T:
        """Returns what the caller gets; raises ``StoreError`` for data of another shape."""
        try:
            return self.read(data)
        except (InputError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise StoreError(
                "the answer is not as this version of the client reads it "
                f"({type(error).__name__}: {error})",
                hint="Compare the server's /version with graph_service.__version__.",
            ) from error


def _call(
    name: str,
    arguments: Mapping[str, Any],
    read: Callable[[Mapping[str, Any]], T],
    /,
    *,
    connection: str = "",
    **others: Any,
) -> Call[T]:
    """Returns a call whose variables are the arguments of a function here, under their own names.

    Args:
        name: Its document.
        arguments: The function's arguments, by name.
        read: As ``Call`` has it.
        connection: As ``Call`` has it.
        others: Further variables, and such as take the place of an argument.
    """
    variables = {camel_case(key.rstrip("_")): _sent(key, each) for key, each in arguments.items()}
    if "$changes" in DOCUMENTS[name]:
        # Nothing is changed without a view, and asking costs a fifth of the answer.
        variables["changes"] = arguments.get("view") is not None
    return Call(DOCUMENTS[name], {**variables, **others}, read, connection)


def _sent(name: str, value: Any) -> Any:
    """Returns an argument as a variable."""
    if name == "view":
        return view_input(value)
    if isinstance(value, Enum):
        return value.name
    return list(value) if isinstance(value, list | tuple) else value


def _mutation(name: str, read: Callable[[Mapping[str, Any]], T], /, **fields: Any) -> Call[T]:
    """Returns a call with one input; ``read`` gets its payload."""
    return Call(DOCUMENTS[name], {"input": fields}, lambda data: read(data["payload"]))


def _retrieve_input(question: str, options: RetrieveOptions) -> dict[str, Any]:
    known = {
        name: each
        for name, each in options_of(RetrieveRequest).items()
        if each.facts.of_api and name != "question"
    }
    fields: dict[str, Any] = {"question": question}
    experimental: dict[str, Any] = {}
    for key, value in options.items():
        if key == "details" or value is None:
            continue
        if key not in known:
            raise TypeError(
                f"unknown option {key!r}; expected one of {', '.join([*known, 'details'])}"
            )
        one = known[key]
        of = experimental if one.facts.is_experimental else fields
        of[one.graphql] = view_input(cast(View, value)) if key == "view" else _plain(value)
    if experimental:
        fields[EXPERIMENTAL] = experimental
    return fields


def _plain(value: object) -> object:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return value
    return [item.name if isinstance(item, Rank) else item for item in value]


def view_input(view: View | None, /) -> dict[str, Any] | None:
    """Returns a ``ViewRefInput``; None for None."""
    if view is None:
        return None
    if isinstance(view, str):
        return {"viewId": view}
    if isinstance(view, ViewSpec):
        return {"spec": spec_input(view)}
    view.validate()
    if view.spec is not None:
        return {"spec": spec_input(view.spec)}
    return {"viewId": view.id} if view.id is not None else {"name": view.name}


def spec_input(spec: ViewSpec | Scope, /) -> dict[str, Any]:
    """Returns the options of a specification or a scope that differ from their defaults, as input.

    A server of an earlier version does not know the newest ones, and refuses those it is sent.
    """
    values = {each: getattr(spec, name) for name, each in options_of(type(spec)).items()}
    return {
        each.graphql: _view_value(value) for each, value in values.items() if value != each.default
    }


def _view_value(value: object) -> object:
    match value:
        case Scope():
            return spec_input(value)
        case Change():
            return _change_input(value)
        case Enum():
            return value.name
        case tuple():
            return [_view_value(item) for item in value]
    return value


def _change_input(change: Change) -> dict[str, Any]:
    fields: dict[str, Any] = {"remove": True} if change.remove else {}
    if change.statement_id is not None:
        fields["statementId"] = change.statement_id
    if change.head is not None:
        fields["subjectId"] = change.head
    if change.relation is not None:
        fields["propertyId"] = change.relation
    if change.value is not None:
        fields["value"] = _value_input(change.value)
    return fields


def _value_input(value: Value) -> dict[str, Any]:
    carried: Value | None = None
    literal: dict[str, Any] = {}
    match value:
        case EntityValue(id=id_):
            return {"itemId": id_}
        case StringValue(text=text):
            literal = {"type": "STRING", "content": text}
            carried = StringValue(text)
        case MonolingualText(text=text, language=language):
            literal = {"type": "MONOLINGUAL_TEXT", "content": text, "languageCode": language}
            carried = value
        case Quantity(amount=amount, unit=unit):
            literal = {"type": "QUANTITY", "content": amount, "unitId": unit}
            carried = Quantity(amount, unit)
        case Time(time=time, precision=precision):
            literal = {"type": "TIME", "content": time, "precision": precision}
            carried = Time(time, precision)
        case Iri(iri=iri):
            literal = {"type": "URL", "content": iri}
            carried = value
        case _:
            pass
    if carried != value:
        raise InputError(
            f"a change over GraphQL can't set {value!r}: it carries items, plain strings, texts, "
            "quantities without bounds, Gregorian times and addresses",
            argument="value",
            hint="Make the view where the store is: graph-service view create --changes FILE",
        )
    return {"literal": literal}


_RESULTS: dict[Strategy, type[RetrievalResult]] = {
    Strategy.TRIPLETS: TripletsResult,
    Strategy.PATHS: PathsResult,
    Strategy.SUBGRAPH: SubgraphResult,
}


def triplets(question: str, /, **options: Unpack[RetrieveOptions]) -> Call[TripletsResult]:
    """Returns the triples of highest total prize for a question."""
    return _retrieval(Strategy.TRIPLETS, TripletsResult, question, options)


def paths(question: str, /, **options: Unpack[RetrieveOptions]) -> Call[PathsResult]:
    """Returns the best paths from the question's entities."""
    return _retrieval(Strategy.PATHS, PathsResult, question, options)


def subgraph(question: str, /, **options: Unpack[RetrieveOptions]) -> Call[SubgraphResult]:
    """Returns one connected subgraph for a question."""
    return _retrieval(Strategy.SUBGRAPH, SubgraphResult, question, options)


def retrieve(
    strategy: Strategy, question: str, /, **options: Unpack[RetrieveOptions]
) -> Call[RetrievalResult]:
    """Returns what the strategy returns for a question."""
    return _retrieval(strategy, _RESULTS[strategy], question, options)


def _retrieval(
    strategy: Strategy, expected: type[T], question: str, options: RetrieveOptions
) -> Call[T]:
    variables = {
        "input": _retrieve_input(question, options),
        "details": options.get("details", False),
        # Nothing is changed without a view, and asking costs a fifth of the answer.
        "changes": options.get("view") is not None,
    }
    return Call(DOCUMENTS[strategy.value], variables, lambda data: _read_result(data, expected))


def _read_result(data: Mapping[str, Any], expected: type[T]) -> T:
    result = decode_result(data["result"])
    if not isinstance(result, expected):
        raise TypeError(f"expected a {expected.__name__}, got a {type(result).__name__}")
    return result


class QuestionOptions(RetrieveOptions):
    """One question of many, with options of its own."""

    question: Required[str]


def retrieve_many(
    strategy: Strategy,
    questions: Sequence[str | QuestionOptions],
    /,
    **options: Unpack[RetrieveOptions],
) -> Call[tuple[RetrievalResult | GraphServiceError, ...]]:
    """Returns what the strategy returns for each of some questions, or its error; in order.

    A question is its text, or ``{"question": ..., "entity_ids": ...}`` with options of its own
    over those of all.
    """
    inputs: list[dict[str, Any]] = []
    has_view = options.get("view") is not None
    for each in questions:
        fields: dict[str, Any] = {"question": each} if isinstance(each, str) else dict(each)
        if "details" in fields:
            raise TypeError("details is of all questions alike, and of none alone")
        question = fields.pop("question")
        own: RetrieveOptions = {**options, **fields}  # type: ignore[typeddict-item]
        inputs.append(_retrieve_input(question, own))
        has_view = has_view or own.get("view") is not None
    variables = {
        "inputs": inputs,
        "strategy": strategy.name,
        "details": options.get("details", False),
        "changes": has_view,
    }
    return Call(
        DOCUMENTS["retrieve_many"],
        variables,
        lambda data: tuple(decode_outcome(row) for row in data["outcomes"]),
    )


def compare(
    strategy: Strategy,
    question: str,
    views: Sequence[View],
    /,
    **options: Unpack[RetrieveOptions],
) -> Call[tuple[ClientComparison, ...]]:
    """Returns the base's result and those of up to ten views, linked once."""
    variables = {
        "input": _retrieve_input(question, options),
        "details": options.get("details", False),
        "strategy": strategy.name,
        "views": [view_input(view) for view in views],
    }
    return Call(
        DOCUMENTS["compare"],
        variables,
        lambda data: tuple(decode_comparison(row) for row in data["comparisons"]),
    )


def neighbourhood(
    id_: str,
    /,
    *,
    graph: str | None = None,
    view: View | None = None,
    hops: int = 1,
    limit: int = 100,
    languages: Sequence[str] = ("en",),
) -> Call[SubgraphResult]:
    """Returns the statements within some hops of an item, nearest first."""
    return _call("neighbourhood", locals(), lambda data: _read_result(data, SubgraphResult))


def graphs() -> Call[tuple[GraphInfo, ...]]:
    """Returns all graphs that the caller may see."""
    return _call(
        "graphs",
        {"first": PAGE},
        lambda data: decode_nodes(GraphInfo, data["graphs"]),
        connection="graphs",
    )


def graph(name: str | None = None, /) -> Call[GraphInfo]:
    """Returns one graph; without a name, the only one there is."""
    return _call("graph", locals(), lambda data: decode(GraphInfo, data["graph"]))


def items(
    ids: Sequence[str], /, *, graph: str | None = None, language: str = "en"
) -> Call[tuple[Item | None, ...]]:
    """Returns items by id, in the order asked; None where the graph lacks one."""
    return _call(
        "items", locals(), lambda data: tuple(row and decode_item(row) for row in data["items"])
    )


def statements(
    id_: str,
    /,
    *,
    graph: str | None = None,
    view: View | None = None,
    relation_id: str | None = None,
    languages: Sequence[str] = ("en",),
    limit: int = 100,
) -> Call[tuple[ItemStatement, ...]]:
    """Returns the statements that have an item as their head, with qualifiers."""
    page = {"id": id_, "graph": graph, "view": view, "languages": languages, "first": limit}
    relation_ids = None if relation_id is None else [relation_id]
    return _call(
        "item_statements",
        {**page, "relation_ids": relation_ids},
        lambda data: (
            decode_edges(ItemStatement, data["item"]["statements"]) if data["item"] else ()
        ),
    )


def statement_page(
    id_: str,
    /,
    *,
    graph: str | None = None,
    view: View | None = None,
    relation_ids: Sequence[str] = (),
    direction: Literal["outgoing", "incoming"] = "outgoing",
    languages: Sequence[str] = ("en",),
    first: int = 100,
    after: str | None = None,
    details: bool = False,
) -> Call[ItemStatements | None]:
    """Returns a page of the statements that have an item as their head, or as their value.

    None if the graph lacks the item.
    """
    return _call(
        "statement_page",
        locals(),
        lambda data: data["item"] and decode_item_statements(data["item"]),
        direction=direction.upper(),
    )


def relations(
    id_: str,
    /,
    *,
    graph: str | None = None,
    view: View | None = None,
    direction: Literal["outgoing", "incoming"] | None = None,
    languages: Sequence[str] = ("en",),
    first: int = 100,
    after: str | None = None,
) -> Call[ItemRelations | None]:
    """Returns a page of the relations of an item's statements with their counts, the most first.

    None if the graph lacks the item.
    """
    return _call(
        "item_relations",
        locals(),
        lambda data: data["item"] and decode_item_relations(data["item"]),
        direction=direction and direction.upper(),
    )


def describe(
    name: str | None = None,
    /,
    *,
    view: View | None = None,
    languages: Sequence[str] = ("en",),
    first: int = 20,
) -> Call[GraphDescription]:
    """Returns what a graph is about: so many of its classes and relations, the largest first."""
    return _call("describe", locals(), lambda data: decode_description(data["graph"]))


def neighbours(
    id_: str,
    /,
    *,
    graph: str | None = None,
    view: View | None = None,
    relation_ids: Sequence[str] = (),
    direction: Literal["outgoing", "incoming"] | None = None,
    languages: Sequence[str] = ("en",),
    first: int = 100,
    after: str | None = None,
    details: bool = False,
) -> Call[Neighbours | None]:
    """Returns a page of the entities at the other end of an item's statements.

    None if the graph lacks the item.
    """
    return _call(
        "neighbours",
        locals(),
        lambda data: data["item"] and decode_neighbours(data["item"]["neighbours"]),
        direction=direction and direction.upper(),
    )


def search(
    query: str,
    /,
    *,
    graph: str | None = None,
    view: View | None = None,
    languages: Sequence[str] = (),
    limit: int = 10,
    prefix: bool = False,
) -> Call[tuple[MatchingItem, ...]]:
    """Returns items by name, best first; with ``prefix`` the last word may begin one.

    On a view of method ``names`` items are found by the names that it gives them.
    """
    return _call("search", locals(), lambda data: decode_edges(MatchingItem, data["hits"]))


def views(*, graph: str | None = None) -> Call[tuple[StoredView, ...]]:
    """Returns the stored views of a graph, oldest first."""
    return _call(
        "views",
        {"graph": graph, "first": PAGE},
        lambda data: decode_nodes(StoredView, data["views"]),
        connection="views",
    )


def view(reference: str, /, *, graph: str | None = None) -> Call[StoredView | None]:
    """Returns a stored view by id or name; None if there is none."""
    return _call("view", locals(), lambda data: data["view"] and decode(StoredView, data["view"]))


def view_diff(
    reference: str, /, *, graph: str | None = None, first: int = 50, after: str | None = None
) -> Call[ViewChanges | None]:
    """Returns a page of what a stored view changes; None if there is no such view."""
    return _call(
        "view_diff",
        locals(),
        lambda data: data["view"] and decode_view_changes(data["view"]["diff"]),
    )


def create_view(
    spec: ViewSpec,
    /,
    *,
    graph: str,
    name: str | None = None,
    note: str = "",
    wait: bool = True,
) -> Call[StoredView]:
    """Makes a view and stores it; the same specification gives the same view.

    A view that is there already is ``reused``: it keeps the name and note that it was given
    first, and ``update_view`` changes them. Without ``wait`` it returns at once, and ``view`` says how far it has come.
    """
    options = {"name": name, "note": note or None, "wait": None if wait else False}
    fields: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    return _mutation(
        "create_view",
        lambda payload: _created(decode(CreatedView, payload)),
        **fields,
        graph=graph,
        spec=spec_input(spec),
    )


def _created(made: CreatedView) -> StoredView:
    return replace(made.view, reused=made.reused)


def update_view(
    reference: str,
    /,
    *,
    graph: str | None = None,
    name: str | None = None,
    note: str | None = None,
) -> Call[StoredView]:
    """Gives a stored view another name or note and returns it; None leaves what it has."""
    return _mutation("update_view", lambda payload: decode(UpdatedView, payload).view, **locals())


def cancel_job(reference: str, /, *, graph: str | None = None) -> Call[StoredView]:
    """Cancels the making of a view and returns it; one that is done stays."""
    return _mutation("cancel_job", lambda payload: decode(CancelledJob, payload).view, **locals())


def delete_view(reference: str, /, *, graph: str | None = None) -> Call[str]:
    """Deletes a stored view and returns its id."""
    return _mutation(
        "delete_view", lambda payload: decode(DeletedView, payload).view_id, **locals()
    )


def delete_graph(name: str, /) -> Call[str]:
    """Deletes a graph with its views, passages and page views; returns its name."""
    return _mutation("delete_graph", lambda payload: decode(DeletedGraph, payload).name, **locals())


def passages(
    query: str,
    /,
    *,
    graph: str | None = None,
    k: int = 10,
    by: PassageRanking = PassageRanking.BOTH,
    min_score: float | None = None,
    languages: Sequence[str] = ("en",),
) -> Call[PassagesResult]:
    """Returns the passages of a graph that answer a query best."""
    return _call(
        "passages",
        locals(),
        lambda data: _read_passages(data["result"]),
        by=PassageRanking(by).name,
    )


def passage_sets(*, graph: str | None = None) -> Call[tuple[ClientPassageSet, ...]]:
    """Returns what was loaded as passages of a graph."""
    return _call(
        "passage_sets",
        locals(),
        lambda data: tuple(decode(ClientPassageSet, row) for row in data["sets"]),
    )


def delete_passages(*, graph: str | None = None, source: str | None = None) -> Call[int]:
    """Deletes a graph's passages, or those of one source; returns how many."""
    return _mutation(
        "delete_passages", lambda payload: decode(DeletedPassages, payload).deleted, **locals()
    )


def page_views(ids: Sequence[str], /, *, graph: str | None = None) -> Call[dict[str, PageViews]]:
    """Returns the page views of items, by the id asked for; those without are absent."""

    def read(data: Mapping[str, Any]) -> dict[str, PageViews]:
        return {
            id_: decode(PageViews, item["pageViews"], entity=item["itemId"])
            for id_, item in zip(ids, data["items"], strict=True)
            if item is not None and item["pageViews"] is not None
        }

    return _call("page_views", {"ids": ids, "graph": graph}, read)


def _read_passages(data: Mapping[str, Any]) -> PassagesResult:
    items = tuple(
        decode(ScoredPassage, row, entity_label=(row["passage"]["item"] or {}).get("label"))
        for row in data["items"]
    )
    return decode(PassagesResult, data, items=items)
