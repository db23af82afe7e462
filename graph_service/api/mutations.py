"""The fields of mutations: each takes one input and gives a payload of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import strawberry

import graph_service.api.views  # noqa: F401 - gives stored views their type
from graph_service.api.derive import build, described, output_type
from graph_service.api.global_ids import Frame, IdKind, global_id
from graph_service.api.inputs import (
    CancelJobInput,
    CreateViewInput,
    DeleteGraphInput,
    DeletePassagesInput,
    DeleteViewInput,
    UpdateViewInput,
    to_spec,
)
from graph_service.api.items import Context
from graph_service.api.loading import OperationContext
from graph_service.api.scopes import Scope
from graph_service.errors import ForbiddenError, InputError, ReadOnlyError
from graph_service.model.browsing import (
    CancelledJob,
    CreatedView,
    DeletedGraph,
    DeletedPassages,
    DeletedView,
    UpdatedView,
)
from graph_service.model.source_names import source_name


@strawberry.type(
    description="All writes. A server refuses them unless its operator allows writing, and the key "
    "has the scope write; deleteGraph and deletePassages need admin."
)
class Mutation:
    """All writes."""

    @described(graphql_type=output_type(CreatedView | None))
    def create_view(
        self,
        info: Context,
        input: Annotated[CreateViewInput, strawberry.argument(description="What is to be made.")],
    ) -> object:
        """Makes a view and stores it; the same spec gives the same."""
        _allow(info.context, Scope.WRITE)
        view = info.context.service.views.create(
            to_spec(input.spec),
            graph=input.graph,
            name=input.name,
            note=input.note,
            wait=input.wait,
        )
        return _payload(info.context, CreatedView(view, view.reused))

    @described(graphql_type=output_type(UpdatedView | None))
    def update_view(
        self,
        info: Context,
        input: Annotated[
            UpdateViewInput, strawberry.argument(description="Which view, and what it gets.")
        ],
    ) -> object:
        """Gives a stored view another name or note."""
        _allow(info.context, Scope.WRITE)
        with _view_is_reference():
            view = info.context.service.views.update(
                input.reference, graph=input.graph, name=input.name, note=input.note
            )
        return _payload(info.context, UpdatedView(view))

    @described(graphql_type=output_type(CancelledJob | None))
    def cancel_job(
        self,
        info: Context,
        input: Annotated[CancelJobInput, strawberry.argument(description="Which view.")],
    ) -> object:
        """Cancels the making of a view; one that is done stays."""
        _allow(info.context, Scope.WRITE)
        with _view_is_reference():
            view = info.context.service.views.cancel(input.reference, graph=input.graph)
        return _payload(info.context, CancelledJob(view))

    @described(graphql_type=output_type(DeletedView | None))
    def delete_view(
        self,
        info: Context,
        input: Annotated[DeleteViewInput, strawberry.argument(description="Which view.")],
    ) -> object:
        """Deletes a stored view."""
        _allow(info.context, Scope.WRITE)
        service = info.context.service
        with _view_is_reference():
            view_id = service.views.delete(input.reference, graph=input.graph)
        graph = service.graph(input.graph).name
        return _payload(
            info.context,
            DeletedView(view_id),
            deleted_id=global_id(IdKind.VIEW, graph, view_id),
        )

    @described(graphql_type=output_type(DeletedGraph | None))
    def delete_graph(
        self,
        info: Context,
        input: Annotated[DeleteGraphInput, strawberry.argument(description="Which graph.")],
    ) -> object:
        """Deletes a graph with its views, passages and page views."""
        _allow(info.context, Scope.ADMIN)
        info.context.service.delete_graph(input.name)
        return DeletedGraph(input.name)

    @described(graphql_type=output_type(DeletedPassages | None))
    def delete_passages(
        self,
        info: Context,
        input: Annotated[DeletePassagesInput, strawberry.argument(description="Which passages.")],
    ) -> object:
        """Deletes a graph's passages, or those of one source."""
        _allow(info.context, Scope.ADMIN)
        passages = info.context.service.passages
        source = input.source
        if source is not None:
            # Clients know a source by its name; the store by its path.
            known = {passage_set.source for passage_set in passages.sets(graph=input.graph)}
            named = sorted(path for path in known if source_name(path) == source)
            if source not in known and len(named) > 1:
                raise InputError(
                    f"{len(named)} sources are called {source}",
                    argument="source",
                    hint="Delete one by its path: graph-service passages delete PATH",
                )
            source = source if source in known or not named else named[0]
        count = passages.delete(graph=input.graph, source=source)
        return DeletedPassages(count)


def _payload(context: OperationContext, made: object, /, **others: object) -> object:
    """Returns a payload for output; what it shows is the same in every frame."""
    return build(context, Frame(""), made, **others)


@contextmanager
def _view_is_reference() -> Iterator[None]:
    """Names the argument at fault as a field does whose view is its ``reference``."""
    try:
        yield
    except InputError as error:
        error.argument = "reference" if error.argument == "view" else error.argument
        raise


def _allow(context: OperationContext, needed: Scope) -> None:
    """Raises unless the server may be written to, and the caller may do so."""
    if not context.writable:
        raise ReadOnlyError(
            "this server only reads", hint="Start it with: graph-service serve --writable"
        )
    if not context.scope.includes(needed):
        raise ForbiddenError(
            f"the key has the scope {context.scope.value}, and this needs {needed.value}",
            hint="Ask the operator for another key: graph-service keys add",
        )
