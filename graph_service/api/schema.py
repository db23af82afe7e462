"""The GraphQL schema: queries, mutations, limits and errors."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import strawberry
from graphql import DocumentNode, GraphQLError, GraphQLFormattedError, OperationDefinitionNode
from strawberry.exceptions import MissingQueryError
from strawberry.extensions import SchemaExtension
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError
from strawberry.types import ExecutionContext, ExecutionResult
from strawberry.types.graphql import OperationType

from graph_service.api.catalogue import (
    GraphType,
    SearchHitType,
    ViewConnectionType,
    ViewType,
    graph_type,
    parse_cursor,
    view_type,
)
from graph_service.api.document_cache import KeptDocuments
from graph_service.api.documents import invalidities, read_document
from graph_service.api.execution import BoundedExecution, Ended
from graph_service.api.inputs import (
    CreateViewInput,
    RetrieveInput,
    ViewRefInput,
    to_request,
    to_spec,
    to_view_ref,
)
from graph_service.api.items import Context, ItemType, entity_item
from graph_service.api.loading import OperationContext
from graph_service.api.passages import (
    PassageSetType,
    PassagesResultType,
    passage_set_type,
    passages_type,
)
from graph_service.api.resolving import resolve_directly
from graph_service.api.results import (
    ComparisonType,
    OutcomeType,
    PathsResultType,
    QuestionErrorType,
    SubgraphResultType,
    TripletsResultType,
    comparison_type,
    result_type,
)
from graph_service.errors import (
    GraphNotFoundError,
    GraphServiceError,
    InputError,
    LimitError,
    ReadOnlyError,
    ViewNotFoundError,
)
from graph_service.model.limits import Deadline
from graph_service.model.passage import PassageRanking
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import (
    PathsResult,
    Strategy,
    SubgraphResult,
    TripletsResult,
)
from graph_service.options import camel_case, graphql_name
from graph_service.service import Outcome, Service
from graph_service.service.batch import check_count

MAX_IDS = 200
MAX_ATTEMPTS = 3
MAX_MESSAGE = 1_000
MAX_ERRORS = 100
log = logging.getLogger("graph_service.api")


@strawberry.type
class Query:
    """All reads. Those on a graph take a view."""

    @strawberry.field(description="All published graphs.")
    def graphs(self, info: Context) -> list[GraphType]:
        """All published graphs."""
        return [graph_type(item) for item in info.context.service.graphs()]

    @strawberry.field(description="One graph; without a name, the only one there is.")
    def graph(self, info: Context, name: strawberry.ID | None = None) -> GraphType:
        """One graph."""
        return graph_type(info.context.service.graph(name))

    @strawberry.field(description="An item by id; redirects are followed. Null if missing.")
    def item(
        self, info: Context, id: strawberry.ID, graph: strawberry.ID | None = None
    ) -> ItemType | None:
        """An item by id."""
        return _items(info.context, [id], graph, argument="id")[0]

    @strawberry.field(description="Items by id, in the order asked; null where missing.")
    def items_by_id(
        self, info: Context, ids: list[strawberry.ID], graph: strawberry.ID | None = None
    ) -> list[ItemType | None]:
        """Items by id."""
        if len(ids) > MAX_IDS:
            raise InputError(f"at most {MAX_IDS} ids, got {len(ids)}", argument="ids")
        return _items(info.context, ids, graph, argument="ids")

    @strawberry.field(description="Items by their names, best first.")
    def search_items(
        self,
        info: Context,
        query: str,
        graph: strawberry.ID | None = None,
        language_codes: list[str] | None = None,
        limit: int = 10,
    ) -> list[SearchHitType]:
        """Items by name."""
        context = info.context
        edition = context.service.graph(graph).edition
        hits = context.service.search(
            query, graph=graph, languages=language_codes or (), limit=limit
        )
        return [
            SearchHitType(
                item=entity_item(context, edition, hit.entity),
                matched=hit.matched,
                language_code=hit.language,
                is_alias=hit.is_alias,
                score=hit.score,
            )
            for hit in hits
        ]

    @strawberry.field(description="The triples of highest total prize for a question.")
    def triplets(self, info: Context, input: RetrieveInput) -> TripletsResultType:
        """The best triples."""
        result = info.context.service.retrieve(to_request(input, Strategy.TRIPLETS))
        assert isinstance(result, TripletsResult)
        return TripletsResultType(result=result)

    @strawberry.field(description="The best paths from the question's items.")
    def paths(self, info: Context, input: RetrieveInput) -> PathsResultType:
        """The best paths."""
        result = info.context.service.retrieve(to_request(input, Strategy.PATHS))
        assert isinstance(result, PathsResult)
        return PathsResultType(result=result)

    @strawberry.field(description="One connected subgraph of high prize and low cost.")
    def subgraph(self, info: Context, input: RetrieveInput) -> SubgraphResultType:
        """One connected subgraph."""
        result = info.context.service.retrieve(to_request(input, Strategy.SUBGRAPH))
        assert isinstance(result, SubgraphResult)
        return SubgraphResultType(result=result)

    @strawberry.field(
        description="The same retrieval for many questions, in order: one edition of each graph, one "
        "time limit, one batch of vectors. One that fails fails no other."
    )
    def retrieve_many(
        self, info: Context, strategy: Strategy, inputs: list[RetrieveInput]
    ) -> list[OutcomeType]:
        """What each question retrieves."""
        service = info.context.service
        check_count(len(inputs), service.settings.max_questions)
        requests: list[RetrieveRequest] = []
        outcomes: list[Outcome | None] = []
        for given in inputs:
            try:
                requests.append(to_request(given, strategy))
                outcomes.append(None)
            except InputError as error:
                outcomes.append(error)
        found = iter(service.retrieve_many(requests) if requests else ())
        return [
            _outcome_type(next(found) if one is None else one, info.context) for one in outcomes
        ]

    @strawberry.field(
        description="The same retrieval on the base and on up to ten views, linked once."
    )
    def compare(
        self,
        info: Context,
        input: RetrieveInput,
        strategy: Strategy,
        views: list[ViewRefInput],
    ) -> list[ComparisonType]:
        """The same retrieval on several views."""
        references = [to_view_ref(view) for view in views]
        comparisons = info.context.service.compare(
            to_request(input, strategy),
            [reference for reference in references if reference is not None],
        )
        return [comparison_type(comparison) for comparison in comparisons]

    @strawberry.field(description="The statements within some hops of an item, nearest first.")
    def neighbourhood(
        self,
        info: Context,
        id: strawberry.ID,
        graph: strawberry.ID | None = None,
        view: ViewRefInput | None = None,
        hops: int = 1,
        limit: int = 100,
        language_codes: list[str] | None = None,
    ) -> SubgraphResultType:
        """The statements around an item."""
        result = info.context.service.neighbourhood(
            id,
            graph=graph,
            view=to_view_ref(view),
            hops=hops,
            limit=limit,
            languages=language_codes or ("en",),
        )
        return SubgraphResultType(result=result)

    @strawberry.field(description="Passages of text beside a graph that answer a query best.")
    def passages(
        self,
        info: Context,
        query: str,
        graph: strawberry.ID | None = None,
        k: int = 10,
        by: PassageRanking = PassageRanking.BOTH,
        min_score: float | None = None,
        language_codes: list[str] | None = None,
    ) -> PassagesResultType:
        """The best passages."""
        service = info.context.service
        edition = service.graph(graph).edition
        result = service.passages.search(
            query,
            graph=graph,
            k=k,
            by=by,
            min_score=min_score,
            languages=language_codes or ("en",),
        )
        return passages_type(info.context, edition, result)

    @strawberry.field(description="What was loaded as passages of a graph, by load.")
    def passage_sets(
        self, info: Context, graph: strawberry.ID | None = None
    ) -> list[PassageSetType]:
        """The sets of passages."""
        return [passage_set_type(one) for one in info.context.service.passages.sets(graph=graph)]

    @strawberry.field(description="The stored views of a graph, oldest first.")
    def views(
        self,
        info: Context,
        graph: strawberry.ID | None = None,
        first: int = 50,
        after: str | None = None,
    ) -> ViewConnectionType:
        """The stored views of a graph."""
        if not 1 <= first <= 1000:
            raise InputError(f"first must be 1 to 1000, got {first}", argument="first")
        views = info.context.service.views.list(graph=graph)
        offset = parse_cursor(after)
        page = views[offset : offset + first]
        end = offset + len(page)
        return ViewConnectionType(
            items=[view_type(view) for view in page],
            total=len(views),
            end_cursor=str(end) if end < len(views) else None,
        )

    @strawberry.field(description="A stored view by id or name; null if there is none.")
    def view(
        self, info: Context, id: strawberry.ID, graph: strawberry.ID | None = None
    ) -> ViewType | None:
        """A stored view."""
        try:
            return view_type(info.context.service.views.get(id, graph=graph))
        except ViewNotFoundError:
            return None


@strawberry.type
class Mutation:
    """All writes; refused unless the server was started with --writable."""

    @strawberry.mutation(description="Makes a view and stores it; the same spec gives the same.")
    def create_view(self, info: Context, input: CreateViewInput) -> ViewType:
        """Makes a view."""
        _check_writable(info.context)
        view = info.context.service.views.create(
            to_spec(input.spec),
            graph=input.graph,
            name=input.name,
            note=input.note,
            wait=input.wait,
        )
        return view_type(view)

    @strawberry.mutation(
        description="Cancels the making of a view and returns it; one that is done stays."
    )
    def cancel_job(
        self, info: Context, id: strawberry.ID, graph: strawberry.ID | None = None
    ) -> ViewType:
        """Cancels the making of a view."""
        _check_writable(info.context)
        with _view_is_id():
            return view_type(info.context.service.views.cancel(id, graph=graph))

    @strawberry.mutation(description="Deletes a stored view and returns its id.")
    def delete_view(
        self, info: Context, id: strawberry.ID, graph: strawberry.ID | None = None
    ) -> strawberry.ID:
        """Deletes a view."""
        _check_writable(info.context)
        with _view_is_id():
            return strawberry.ID(info.context.service.views.delete(id, graph=graph))

    @strawberry.mutation(
        description="Deletes a graph with its views, passages and page views; returns its name."
    )
    def delete_graph(self, info: Context, name: strawberry.ID) -> strawberry.ID:
        """Deletes a graph."""
        _check_writable(info.context)
        info.context.service.delete_graph(name)
        return name

    @strawberry.mutation(
        description="Deletes a graph's passages, or those of one source; returns how many."
    )
    def delete_passages(
        self, info: Context, graph: strawberry.ID | None = None, source: str | None = None
    ) -> int:
        """Deletes passages."""
        _check_writable(info.context)
        return info.context.service.passages.delete(graph=graph, source=source)


def _outcome_type(outcome: Outcome, context: OperationContext) -> OutcomeType:
    if not isinstance(outcome, GraphServiceError):
        return OutcomeType(result=result_type(outcome), error=None)
    message, shown = _told(outcome, context)
    return OutcomeType(
        result=None,
        error=QuestionErrorType(
            code=outcome.code,
            message=_shortened(message),
            argument=shown.get("argument"),
            hint=shown.get("hint"),
            retryable=outcome.retryable,
        ),
    )


@contextmanager
def _view_is_id() -> Iterator[None]:
    """Names the argument at fault as a field does whose view is its ``id``."""
    try:
        yield
    except InputError as error:
        error.argument = "id" if error.argument == "view" else error.argument
        raise


def _check_writable(context: OperationContext) -> None:
    if not context.writable:
        raise ReadOnlyError(
            "this server only reads", hint="Start it with: graph-service serve --writable"
        )


def _items(
    context: OperationContext, ids: list[strawberry.ID], graph: str | None, *, argument: str
) -> list[ItemType | None]:
    edition = context.service.graph(graph).edition
    found = context.service.entities(ids, graph=graph, argument=argument).found
    return [entity_item(context, edition, found[id_]) if id_ in found else None for id_ in ids]


def shown_error(error: GraphQLError, context: OperationContext, /) -> GraphQLFormattedError:
    """Returns an error as a client may see it."""
    cause = error.original_error
    extensions: dict[str, Any] = {"requestId": context.request_id}
    message = error.message
    if isinstance(cause, GraphServiceError):
        message, fields = _told(cause, context)
        extensions.update(fields)
    elif cause is None or isinstance(cause, GraphQLError):
        extensions["code"] = "BAD_INPUT"
    else:
        log.error("request %s failed", context.request_id, exc_info=cause)
        extensions["code"] = "INTERNAL"
        message = f"An internal error happened; it is logged under request {context.request_id}."
    # Made of what is known: an error made anew would look for its lines in the document again.
    return {**error.formatted, "message": _shortened(message), "extensions": extensions}


def shown_errors(
    errors: Sequence[GraphQLError], context: OperationContext, /
) -> list[GraphQLFormattedError]:
    """Returns errors as a client may see them; of very many the first, and how many there are."""
    shown = [shown_error(error, context) for error in errors[:MAX_ERRORS]]
    if len(errors) > MAX_ERRORS:
        more = LimitError(f"{len(errors)} errors happened; the first {MAX_ERRORS} are listed")
        shown.append(shown_error(GraphQLError(more.message, original_error=more), context))
    return shown


def _told(error: GraphServiceError, context: OperationContext) -> tuple[str, dict[str, Any]]:
    """Returns the message of an error of ours, and what it says beside that, for the client."""
    fields: dict[str, Any] = {"code": error.code}
    if error.argument:
        fields["argument"] = _camel(error.argument)
    if error.retryable:
        fields["retryable"] = True
    if context.masked and error.about_server:
        log.warning("request %s: %s", context.request_id, error)
        told = f"{error.about_server}; the server's log says more under {context.request_id}"
        return told, fields
    if error.hint:
        fields["hint"] = error.hint
    return error.message, fields


def _shortened(message: str) -> str:
    """Returns a message of a length to be read: it may quote what was sent, a megabyte."""
    return message if len(message) <= MAX_MESSAGE else f"{message[: MAX_MESSAGE - 1]}…"


def _camel(name: str) -> str:
    return ".".join(camel_case(graphql_name(part)) for part in name.split("."))


class _Schema(strawberry.Schema):
    """Strawberry's schema without its log of every error: ``execute`` reports them once."""

    def process_errors(
        self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None
    ) -> None:
        """Leaves errors to ``execute``."""


class _OneOperation(SchemaExtension):
    """Runs the one operation that the client means; a query reads one edition of each graph.

    Of several operations Strawberry would run the first where none is named; GraphQL asks for
    an error.
    """

    def on_execute(self) -> Iterator[None]:
        """Checks before the first field runs."""
        context: OperationContext = self.execution_context.context
        document = self.execution_context.graphql_document
        assert document is not None
        count = sum(isinstance(one, OperationDefinitionNode) for one in document.definitions)
        if count > 1 and context.operation_name is None:
            raise GraphQLError(f"the document has {count} operations: say which by operationName")
        if self.execution_context.operation_type is not OperationType.QUERY:
            yield
            return
        with context.service.one_reading(context.deadline) as context.reading:
            context.deadline = context.reading.deadline
            yield


def _make_schema() -> _Schema:
    return _Schema(
        query=Query,
        mutation=Mutation,
        execution_context_class=BoundedExecution,
        types=[TripletsResultType, PathsResultType, SubgraphResultType],
        extensions=[
            # ReadSession and checking the client's documents costs more than answering them.
            lambda: KeptDocuments(read=read_document, check=_invalidities),
            _OneOperation,
        ],
    )


def _invalidities(document: DocumentNode) -> list[GraphQLError]:
    return invalidities(document, schema._schema)


schema = _make_schema()
resolve_directly(schema._schema)


def execute(
    service: Service,
    document: str,
    variables: dict[str, Any] | None = None,
    /,
    *,
    operation_name: str | None = None,
    writable: bool = False,
    deadline: Deadline | None = None,
    masked: bool = False,
) -> dict[str, Any]:
    """Runs one operation and returns the response: ``data`` and ``errors``, JSON-ready.

    All fields of a query read one edition of a graph. An edition is kept for as long as it takes
    to publish two newer ones; a query that takes longer is run again.

    Args:
        service: What is asked.
        document: In GraphQL.
        variables: By name.
        operation_name: Which of the document's operations is meant.
        writable: Whether mutations are allowed.
        deadline: Of a query; the service's time limit from now on where it is not given.
        masked: Whether errors keep to themselves where the store is, and what the server lacks.
    """
    deadline = deadline or Deadline.after(service.settings.read_timeout_s)
    for attempt in range(1, MAX_ATTEMPTS + 1):
        context = OperationContext(
            service,
            writable=writable,
            operation_name=operation_name,
            deadline=deadline,
            masked=masked,
        )
        response, lost_edition = _execute(context, document, variables)
        if not lost_edition or attempt == MAX_ATTEMPTS:
            break
    return response


def _execute(
    context: OperationContext, document: str, variables: dict[str, Any] | None
) -> tuple[dict[str, Any], bool]:
    """Returns the response, and whether an edition that a query had begun with went meanwhile."""
    operation_name = context.operation_name
    try:
        result = schema.execute_sync(
            document,
            variable_values=variables,
            context_value=context,
            operation_name=operation_name,
        )
    except (CannotGetOperationTypeError, InvalidOperationTypeError, MissingQueryError) as error:
        message = str(error)
        if isinstance(error, CannotGetOperationTypeError):
            message = (
                "the document has no operation"
                if operation_name is None
                else f"the document has no operation named {operation_name!r}"
            )
        return {"data": None, "errors": [shown_error(GraphQLError(message), context)]}, False
    except Ended as ended:
        ending = GraphQLError(ended.error.message, original_error=ended.error)
        return {"data": None, "errors": [shown_error(ending, context)]}, False
    response: dict[str, Any] = {"data": result.data}
    if result.errors:
        response["errors"] = shown_errors(result.errors, context)
    return response, _has_lost_edition(context, result)


def _has_lost_edition(context: OperationContext, result: ExecutionResult) -> bool:
    return (
        context.reading is not None
        and context.reading.has_met_graphs
        and any(
            isinstance(error.original_error, GraphNotFoundError) for error in result.errors or ()
        )
    )


def print_schema() -> str:
    """Returns the schema in GraphQL's own language."""
    return f"{schema.as_str().rstrip()}\n"


if __name__ == "__main__":
    print(print_schema(), end="")
