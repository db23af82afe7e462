"""The GraphQL schema: how a document is run, its limits and its errors.

``queries`` has the fields of queries, ``mutations`` those of mutations.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any
from uuid import uuid4

import strawberry
from graphql import DocumentNode, GraphQLError, GraphQLFormattedError, OperationDefinitionNode
from strawberry.exceptions import MissingQueryError
from strawberry.extensions import SchemaExtension
from strawberry.schema.config import StrawberryConfig
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError
from strawberry.types import ExecutionContext, ExecutionResult
from strawberry.types.graphql import OperationType

from graph_service.api.defaults import read_null_as_default
from graph_service.api.document_cache import DocumentCache
from graph_service.api.documents import invalidities, read_document
from graph_service.api.execution import Basis, BoundedExecution, Ended
from graph_service.api.introspection import drop_unknown_locations
from graph_service.api.loading import OperationContext
from graph_service.api.meter import Meter
from graph_service.api.mutations import Mutation
from graph_service.api.queries import MAX_IDS, Query
from graph_service.api.resolving import resolve_directly
from graph_service.api.results import PathsResultType, SubgraphResultType, TripletsResultType
from graph_service.api.scalars import SCALARS
from graph_service.api.scopes import Scope
from graph_service.api.telling import client_error, shortened
from graph_service.errors import (
    ForbiddenError,
    GraphNotFoundError,
    GraphServiceError,
    InputError,
    LimitError,
    ReadOnlyError,
)
from graph_service.model.browsing import ErrorCode
from graph_service.model.limits import Deadline
from graph_service.service import Service
from graph_service.service.experiments import ExperimentFolder
from graph_service.store.reads import Reads

MAX_ATTEMPTS = 3
MAX_ERRORS = 100
_QUERIES = (OperationType.QUERY,)
log = logging.getLogger("graph_service.api")

__all__ = ["MAX_IDS", "execute", "print_schema", "schema"]


def shown_error(error: GraphQLError, context: OperationContext, /) -> GraphQLFormattedError:
    """Returns an error as a client may see it."""
    cause = error.original_error
    extensions: dict[str, Any] = {"requestId": context.request_id}
    message = error.message
    if isinstance(cause, GraphServiceError):
        message, fields = client_error(cause, context)
        extensions.update(fields)
    elif cause is None or isinstance(cause, GraphQLError):
        extensions["code"] = "BAD_INPUT"
    else:
        log.error("request %s failed", context.request_id, exc_info=cause)
        extensions["code"] = "INTERNAL"
        message = f"An internal error happened; it is logged under request {context.request_id}."
    # Made of what is known: an error made anew would look for its lines in the document again.
    return {**error.formatted, "message": shortened(message), "extensions": extensions}


def shown_errors(
    errors: Sequence[GraphQLError], context: OperationContext, /
) -> list[GraphQLFormattedError]:
    """Returns errors as a client may see them; of very many the first, and how many there are."""
    shown = [shown_error(error, context) for error in errors[:MAX_ERRORS]]
    if len(errors) > MAX_ERRORS:
        more = LimitError(f"{len(errors)} errors happened; the first {MAX_ERRORS} are listed")
        shown.append(shown_error(GraphQLError(more.message, original_error=more), context))
    return shown


class NotAQueryError(InputError):
    """A mutation came in a way that is for queries alone."""


class _Schema(strawberry.Schema):
    """Strawberry's schema without its log of every error: ``execute`` reports them once."""

    def process_errors(
        self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None
    ) -> None:
        """Does nothing: ``execute`` logs and masks the errors."""


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
        count = sum(
            isinstance(definition, OperationDefinitionNode) for definition in document.definitions
        )
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
        config=StrawberryConfig(scalar_map=SCALARS),
        execution_context_class=BoundedExecution,
        types=[TripletsResultType, PathsResultType, SubgraphResultType, ErrorCode],
        extensions=[
            # ReadSession and checking the client's documents costs more than answering them.
            lambda: DocumentCache(read=read_document, check=_invalidities),
            _OneOperation,
        ],
    )


def _invalidities(document: DocumentNode) -> list[GraphQLError]:
    return invalidities(document, schema._schema)


schema = _make_schema()
resolve_directly(schema._schema)
read_null_as_default(schema._schema)
drop_unknown_locations(schema._schema)


def execute(
    service: Service,
    document: str,
    variables: dict[str, Any] | None = None,
    /,
    *,
    operation_name: str | None = None,
    writable: bool = False,
    scope: Scope = Scope.ADMIN,
    queries_only: bool = False,
    deadline: Deadline | None = None,
    masked: bool = False,
    request_id: str = "",
    meter: Meter | None = None,
    basis: Basis | None = None,
    experiments: ExperimentFolder | None = None,
) -> dict[str, Any]:
    """Runs one operation and returns the response: ``data`` and ``errors``, JSON-ready.

    A response to an operation that did not begin (no GraphQL of this schema, variables that do not
    fit) has no ``data``, as the GraphQL specification says.

    All fields of a query read one edition of a graph. An edition is kept for as long as it takes
    to publish two newer ones; a query that takes longer is run again.

    Args:
        service: What is asked.
        document: In GraphQL.
        variables: By name.
        operation_name: Which of the document's operations is meant.
        writable: Whether mutations are allowed.
        scope: What the caller may do.
        queries_only: Whether nothing but a query may be sent in this way.
        deadline: Of a query; the service's time limit from now on where it is not given.
        masked: Whether errors keep to themselves where the store is, and what the server lacks.
        request_id: Stands in errors and in the log; a new one where it is not given.
        meter: Counts what the operation costs, and says what it may cost.
        basis: Told what the answer rests on.
        experiments: Those that the caller may see; None for none.

    Raises:
        NotAQueryError: The operation is a mutation, and only queries are taken.
    """
    deadline = deadline or Deadline.after(service.settings.read_timeout_s)
    request_id = request_id or uuid4().hex
    for attempt in range(1, MAX_ATTEMPTS + 1):
        context = OperationContext(
            service,
            writable=writable,
            scope=scope,
            operation_name=operation_name,
            request_id=request_id,
            deadline=deadline,
            masked=masked,
            meter=meter,
            experiments=experiments,
        )
        with nullcontext() if meter is None else meter.timed():
            response, lost_edition = _execute(context, document, variables, queries_only)
        if basis is not None:
            basis.reads = _reads_of(context, response)
        if not lost_edition or attempt == MAX_ATTEMPTS:
            break
    return response


def _execute(
    context: OperationContext,
    document: str,
    variables: dict[str, Any] | None,
    queries_only: bool,
) -> tuple[dict[str, Any], bool]:
    """Returns the response, and whether an edition that a query had begun with went meanwhile."""
    operation_name = context.operation_name
    try:
        result = schema.execute_sync(
            document,
            variable_values=variables,
            context_value=context,
            operation_name=operation_name,
            allowed_operation_types=_QUERIES if queries_only else None,
        )
    except (CannotGetOperationTypeError, InvalidOperationTypeError, MissingQueryError) as error:
        if queries_only and isinstance(error, InvalidOperationTypeError):
            raise NotAQueryError("only queries run by GET; send a mutation by POST") from error
        message = str(error)
        if isinstance(error, CannotGetOperationTypeError):
            message = (
                "the document has no operation"
                if operation_name is None
                else f"the document has no operation named {operation_name!r}"
            )
        return {"errors": [shown_error(GraphQLError(message), context)]}, False
    except Ended as ended:
        if context.meter is not None:
            context.meter.end_early()
        ending = GraphQLError(ended.error.message, original_error=ended.error)
        return {"data": None, "errors": [shown_error(ending, context)]}, False
    response: dict[str, Any] = {"data": result.data}
    if result.errors:
        response["errors"] = shown_errors(result.errors, context)
        if result.data is None and all(error.path is None for error in result.errors):
            # No field failed, so none was begun.
            del response["data"]
    if context.meter is not None and "data" in response:
        errors = result.errors or ()
        context.meter.end(
            _roots_of(errors, ForbiddenError, ReadOnlyError), _roots_of(errors, InputError)
        )
    return response, _has_lost_edition(context, result)


def _reads_of(context: OperationContext, response: Mapping[str, Any]) -> Reads | None:
    """Returns what a whole answer rests on; None where it does not last, or that is not known."""
    if context.reading is None or not context.lasts or "errors" in response:
        return None
    return context.reading.reads if context.reading.reads.are_known else None


def _roots_of(errors: Sequence[GraphQLError], *kinds: type[Exception]) -> frozenset[str]:
    """Returns the fields of the root that ended in an error of some kinds."""
    return frozenset(
        str(error.path[0])
        for error in errors
        if error.path and len(error.path) == 1 and isinstance(error.original_error, kinds)
    )


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
