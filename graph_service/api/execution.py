"""Runs a document's fields, and ends them when their time is over.

A field whose deadline has passed fails by itself, and its siblings go on: a list of a million
items would fail a million times. So the time is also looked at where fields become many.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sized
from dataclasses import dataclass
from typing import Any

from graphql import (
    FieldNode,
    FragmentSpreadNode,
    GraphQLList,
    InlineFragmentNode,
    OperationType,
    get_named_type,
    is_leaf_type,
)
from graphql.pyutils import Path
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from graph_service.api.loading import OperationContext
from graph_service.errors import DeadlineError, LimitError, StoreUnavailableError
from graph_service.model.limits import Deadline
from graph_service.observation import note_operation
from graph_service.store.reads import Reads

GRACE_S = 1.0
"""How much longer than its deadline a query may take to give what it has."""

MAX_OBJECTS = 250_000

CACHEABLE_FIELDS = frozenset(
    (
        *("triplets", "paths", "subgraph", "retrieveMany", "compare", "neighbourhood"),
        *("item", "items", "searchItems", "__typename", "__schema", "__type"),
    )
)
"""Fields of the root whose answers a server may store. Passages depend on which vectors a file has, and
graphs and views tell of loads and jobs under way."""


@dataclass(slots=True)
class Basis:
    """What an answer rests on.

    Attributes:
        reads: What was read of the store; None where it does not last or is not known.
    """

    reads: Reads | None = None


class Ended(BaseException):
    """Ends a whole operation; no field may catch it.

    Attributes:
        error: What the client is told.
    """

    def __init__(self, error: LimitError | StoreUnavailableError) -> None:
        super().__init__(error.message)
        self.error = error


class BoundedExecution(StrawberryGraphQLCoreExecutionContext):
    """Ends an operation some time after its deadline, or where its answer grows too large."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._objects = 0
        self._written: dict[str | int, Deadline] = {}

    def execute_operation(self, serially: bool | None = None) -> Any:
        """Runs the fields, if the operation may cost what it does."""
        context: OperationContext = self.context_value
        named = self._root_fields()
        note_operation(self.operation.operation.value, named)
        if not CACHEABLE_FIELDS.issuperset(named):
            context.lasts = False
        if context.meter is not None:
            is_query = self.operation.operation is OperationType.QUERY
            context.meter.begin(
                self.schema,
                self.operation,
                self.fragment_definitions,
                self.variable_values,
                context.count_statements,
                # A mutation may take longer.
                limit_s=context.service.settings.read_timeout_s if is_query else math.inf,
            )
        return super().execute_operation(serially)

    def _root_fields(self) -> tuple[str, ...]:
        """Returns the names of the fields that are asked for, as the schema has them."""
        names: dict[str, None] = {}
        left = [self.operation.selection_set]
        seen: set[str] = set()
        while left:
            for selection in left.pop().selections:
                if isinstance(selection, FieldNode):
                    names[selection.name.value] = None
                elif isinstance(selection, InlineFragmentNode):
                    left.append(selection.selection_set)
                elif isinstance(selection, FragmentSpreadNode):
                    name = selection.name.value
                    if name not in seen:
                        seen.add(name)
                        left.append(self.fragment_definitions[name].selection_set)
        return tuple(name for name in names if name != "__typename") or tuple(names)

    def complete_list_value(
        self,
        return_type: GraphQLList[Any],
        field_details_list: Any,
        info: Any,
        path: Path,
        result: Any,
        *arguments: Any,
    ) -> Any:
        """Completes a list, unless the operation has to end."""
        self._check(path)
        if isinstance(result, Sized) and not is_leaf_type(get_named_type(return_type)):
            self._objects += len(result)
            meter = self.context_value.meter
            if meter is not None:
                meter.count(path, len(result))
            if self._objects > MAX_OBJECTS:
                raise Ended(
                    LimitError(
                        f"an answer has at most {MAX_OBJECTS} objects in its lists",
                        hint="Ask for fewer, or in several queries.",
                    )
                )
        return super().complete_list_value(
            return_type, field_details_list, info, path, result, *arguments
        )

    def handle_field_error(
        self, raw_error: Exception, return_type: Any, field_details_list: Any, path: Path
    ) -> None:
        """Notes that a field has failed, unless the operation has to end."""
        self._check(path, getattr(raw_error, "original_error", raw_error))
        super().handle_field_error(raw_error, return_type, field_details_list, path)

    def _check(self, path: Path, cause: BaseException | None = None) -> None:
        context: OperationContext = self.context_value
        deadline = context.deadline
        if self.operation.operation is not OperationType.QUERY:
            # What a mutation writes takes its time; what it then says of that has a limit.
            root = path.as_list()[0]
            deadline = self._written.get(root)
            if deadline is None:
                limit = Deadline.after(context.service.settings.read_timeout_s)
                deadline = self._written[root] = limit
        if deadline is not None and _is_over(deadline):
            if isinstance(cause, StoreUnavailableError):
                # That is why the time is over: to ask for less would not help.
                raise Ended(cause)
            try:
                deadline.check("putting the answer together")
            except DeadlineError as error:
                raise Ended(error) from None


def _is_over(deadline: Deadline) -> bool:
    """Returns whether nobody waits for an answer, or it should have been there a while ago."""
    if deadline.stop is not None and deadline.stop.requested:
        return True
    return deadline.at is not None and time.monotonic() >= deadline.at + GRACE_S
