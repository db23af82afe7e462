"""The fields of mutations: each takes one input and gives a payload of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import strawberry

from graph_service.api.global_ids import IdKind, global_id
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
from graph_service.api.views import ViewType
from graph_service.errors import ForbiddenError, InputError, ReadOnlyError
from graph_service.model.source_names import source_name


@strawberry.type(description="What createView came to.")
class CreateViewPayload:
    """What createView came to."""

    view: ViewType = strawberry.field(description="The view, made or under way.")
    reused: bool = strawberry.field(
        description="Whether a view of this specification was there already. It keeps the name "
        "and note that it was given first; updateView changes them."
    )


@strawberry.type(description="What updateView came to.")
class UpdateViewPayload:
    """What updateView came to."""

    view: ViewType = strawberry.field(description="The view as it is now.")


@strawberry.type(description="What cancelJob came to.")
class CancelJobPayload:
    """What cancelJob came to."""

    view: ViewType = strawberry.field(description="The view as it is now.")


@strawberry.type(description="What deleteView came to.")
class DeleteViewPayload:
    """What deleteView came to."""

    deleted_id: strawberry.ID = strawberry.field(
        description="The global id of the view that is gone, for caches."
    )
    view_id: strawberry.ID = strawberry.field(description="Its viewId.")


@strawberry.type(description="What deleteGraph came to.")
class DeleteGraphPayload:
    """What deleteGraph came to."""

    name: str = strawberry.field(description="The name of the graph that is gone.")


@strawberry.type(description="What deletePassages came to.")
class DeletePassagesPayload:
    """What deletePassages came to."""

    deleted: int = strawberry.field(description="How many passages are gone.")


@strawberry.type(
    description="All writes. A server refuses them unless its operator allows writing, and the key "
    "has the scope write; deleteGraph and deletePassages need admin."
)
class Mutation:
    """All writes."""

    @strawberry.mutation(description="Makes a view and stores it; the same spec gives the same.")
    def create_view(
        self,
        info: Context,
        input: Annotated[CreateViewInput, strawberry.argument(description="What is to be made.")],
    ) -> CreateViewPayload | None:
        """Makes a view."""
        _allow(info.context, Scope.WRITE)
        view = info.context.service.views.create(
            to_spec(input.spec),
            graph=input.graph,
            name=input.name,
            note=input.note,
            wait=input.wait,
        )
        return CreateViewPayload(view=ViewType(model=view), reused=view.reused)

    @strawberry.mutation(description="Gives a stored view another name or note.")
    def update_view(
        self,
        info: Context,
        input: Annotated[
            UpdateViewInput, strawberry.argument(description="Which view, and what it gets.")
        ],
    ) -> UpdateViewPayload | None:
        """Gives a view another name or note."""
        _allow(info.context, Scope.WRITE)
        with _view_is_reference():
            view = info.context.service.views.update(
                input.reference, graph=input.graph, name=input.name, note=input.note
            )
        return UpdateViewPayload(view=ViewType(model=view))

    @strawberry.mutation(description="Cancels the making of a view; one that is done stays.")
    def cancel_job(
        self,
        info: Context,
        input: Annotated[CancelJobInput, strawberry.argument(description="Which view.")],
    ) -> CancelJobPayload | None:
        """Cancels the making of a view."""
        _allow(info.context, Scope.WRITE)
        with _view_is_reference():
            view = info.context.service.views.cancel(input.reference, graph=input.graph)
        return CancelJobPayload(view=ViewType(model=view))

    @strawberry.mutation(description="Deletes a stored view.")
    def delete_view(
        self,
        info: Context,
        input: Annotated[DeleteViewInput, strawberry.argument(description="Which view.")],
    ) -> DeleteViewPayload | None:
        """Deletes a view."""
        _allow(info.context, Scope.WRITE)
        service = info.context.service
        with _view_is_reference():
            view_id = service.views.delete(input.reference, graph=input.graph)
        graph = service.graph(input.graph).name
        return DeleteViewPayload(
            deleted_id=strawberry.ID(global_id(IdKind.VIEW, graph, view_id)),
            view_id=strawberry.ID(view_id),
        )

    @strawberry.mutation(description="Deletes a graph with its views, passages and page views.")
    def delete_graph(
        self,
        info: Context,
        input: Annotated[DeleteGraphInput, strawberry.argument(description="Which graph.")],
    ) -> DeleteGraphPayload | None:
        """Deletes a graph."""
        _allow(info.context, Scope.ADMIN)
        info.context.service.delete_graph(input.name)
        return DeleteGraphPayload(name=input.name)

    @strawberry.mutation(description="Deletes a graph's passages, or those of one source.")
    def delete_passages(
        self,
        info: Context,
        input: Annotated[DeletePassagesInput, strawberry.argument(description="Which passages.")],
    ) -> DeletePassagesPayload | None:
        """Deletes passages."""
        _allow(info.context, Scope.ADMIN)
        passages = info.context.service.passages
        source = input.source
        if source is not None:
            # Clients know a source by its name; the store by its path.
            known = {one.source for one in passages.sets(graph=input.graph)}
            named = sorted(path for path in known if source_name(path) == source)
            if source not in known and len(named) > 1:
                raise InputError(
                    f"{len(named)} sources are called {source}",
                    argument="source",
                    hint="Delete one by its path: graph-service passages delete PATH",
                )
            source = source if source in known or not named else named[0]
        count = passages.delete(graph=input.graph, source=source)
        return DeletePassagesPayload(deleted=count)


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
