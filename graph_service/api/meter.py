"""Counts what an operation costs: by its arguments before it runs, by what it did when it has run.

What was done is also timed: an operation costs at least its processor time, whatever became of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import thread_time

from graphql import FragmentDefinitionNode, GraphQLSchema, OperationDefinitionNode
from graphql.execution.values import VariableValues
from graphql.pyutils import Path

from graph_service.api.costs import OBJECT, USUAL_LENGTH, Cost, CostReader
from graph_service.api.view_costs import SECOND
from graph_service.errors import MaxCostError

DECIMALS = 4
REFUSED = 1.0
"""At most, of a field that refuses its arguments."""
PROCESSOR_SECOND = 10.0
"""Least cost of a second of processor time: half of what retrievals cost in a second, so that a
slower machine or graph does not change what common operations cost."""


@dataclass(slots=True)
class Meter:
    """What one operation costs.

    Attributes:
        max_cost: More than that is refused before it runs.
        admit: Called once with the cost, before the first field runs; what it raises ends the
            operation.
        requested: The cost by the arguments; None before it is known.
        processor_s: Seconds of the processor that were used.
    """

    max_cost: float
    admit: Callable[[float], None] | None = None
    requested: float | None = None
    processor_s: float = 0.0
    _done: float = 0.0
    _root: Cost = field(default_factory=Cost)
    _lengths: dict[tuple[str, ...], int] = field(default_factory=dict)

    def begin(
        self,
        schema: GraphQLSchema,
        operation: OperationDefinitionNode,
        fragments: Mapping[str, FragmentDefinitionNode],
        variables: VariableValues,
        count_statements: Callable[[str | None], int],
        *,
        limit_s: float = math.inf,
    ) -> None:
        """Finds what an operation costs, before it runs.

        Args:
            schema: Its schema.
            operation: It.
            fragments: Of its document, by name.
            variables: By name.
            count_statements: Returns how many statements a graph has; 0 where there is none.
            limit_s: Seconds that it may take.

        Raises:
            MaxCostError: It is more than is allowed, or its views take longer than it may take.
        """
        self._lengths.clear()
        type_ = schema.get_root_type(operation.operation)
        assert type_ is not None
        self._root = Cost()
        reader = CostReader(schema, fragments, variables, count_statements)
        reader.read(operation.selection_set, type_, self._root, USUAL_LENGTH)
        known = self.requested is not None
        views = reader.views.total
        self.requested = round(_sum(self._root, 1.0) + views, DECIMALS)
        if self.requested > self.max_cost:
            raise MaxCostError.of(self.requested, self.max_cost)
        if views > SECOND * limit_s:
            raise MaxCostError.of_views(self.requested, SECOND * limit_s)
        if self.admit is not None and not known:
            self.admit(self.requested)

    @property
    def actual(self) -> float:
        """The cost of what was done and given, of the processor's time at least.

        The views of a query are charged by that time alone: what they need is often there already.
        """
        return max(self._done, round(PROCESSOR_SECOND * self.processor_s, DECIMALS))

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Counts the processor time of the block, which is in this thread."""
        began = thread_time()
        try:
            yield
        finally:
            self.processor_s += thread_time() - began

    def count(self, path: Path, length: int, /) -> None:
        """Counts the objects of a list that is given."""
        names = tuple(key for key in path.as_list() if isinstance(key, str))
        self._lengths[names] = self._lengths.get(names, 0) + length

    def end(self, forbidden: frozenset[str], refused: frozenset[str], /) -> None:
        """Finds what an operation has cost.

        Args:
            forbidden: Fields of the root that did no work, because the caller may not use them.
            refused: Those that ended because of their arguments.
        """
        for parts in self._root.parts.values():
            for name in forbidden & parts.keys():
                parts[name].work = 0.0
            for name in refused & parts.keys():
                parts[name].work = min(parts[name].work, REFUSED)
        done = sum(
            _counted(part, (name,), 1.0, self._lengths)
            for parts in self._root.parts.values()
            for name, part in parts.items()
        )
        self._done = round(done, DECIMALS)

    def end_early(self) -> None:
        """Takes all as done, though there is no answer."""
        self._done = round(_sum(self._root, 1.0), DECIMALS)


def _sum(cost: Cost, times: float) -> float:
    """Returns what a place costs that comes so often."""
    objects = times * (1 if cost.length is None else cost.length)
    own = times * cost.work + (objects * OBJECT if cost.is_object else 0.0)
    by_type = {
        name: sum(_sum(part, objects) for part in parts.values())
        for name, parts in cost.parts.items()
    }
    return own + by_type.pop("", 0.0) + max(by_type.values(), default=0.0)


def _counted(
    cost: Cost, path: tuple[str, ...], times: float, lengths: Mapping[tuple[str, ...], int]
) -> float:
    """Returns what a place has cost, with its lists as long as they were."""
    objects = times if cost.length is None else float(lengths.get(path, 0))
    own = times * cost.work + (objects * OBJECT if cost.is_object else 0.0)
    by_type = {
        type_: sum(_counted(part, (*path, name), objects, lengths) for name, part in parts.items())
        for type_, parts in cost.parts.items()
    }
    return own + by_type.pop("", 0.0) + max(by_type.values(), default=0.0)
