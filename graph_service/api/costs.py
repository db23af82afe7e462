"""What an operation costs: known from its arguments before it runs, and counted when it has run.

The unit is one retrieval as the default preset does it. A look-up is a small part of one. A field
costs its own work and, for each object that it gives, a little and what hangs below. How many
objects a list has comes of the arguments (``first``, ``limit``, ids, questions, views); of a list
that has none a usual length is taken. The weights are processor time, measured on the demo graph
and rounded; ``docs/reference/api.md`` has the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLIncludeDirective,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLSkipDirective,
    GraphQLUnionType,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    get_directive_values,
    get_named_type,
    is_composite_type,
    is_list_type,
    is_non_null_type,
)
from graphql.execution.values import VariableValues
from graphql.pyutils import Path

from graph_service.api.defaults import argument_values
from graph_service.errors import MaxCostError

RETRIEVAL = 1.0
HOPS = {1: 0.5, 2: 0.75, 3: 1.0, 4: 1.5}
"""By the most steps of a retrieval; what is more is refused."""
PROVE = 10.0
INLINE_VIEW = 2.0
STORED_VIEW = 0.2
NEIGHBOURHOOD = 0.1
"""For each hop."""
LOOKUP = 0.02
SEARCH = 0.05
INTROSPECTION = 0.1
MUTATION = 1.0
CREATE_VIEW = 10.0
OBJECT = 0.0005

USUAL_LIMIT = 10
"""Items of a retrieval where no limit is given."""
USUAL_LENGTH = 3
"""Of a list whose length no argument says."""
MAX_LENGTH = 1_000
"""More than this, a field refuses; so that its cost is not what is complained of."""
DECIMALS = 4

_SIZED_LISTS = frozenset({"edges", "items", "nodes"})
"""Lists whose length is the ``first`` or the ``limit`` of the field that they stand in."""
_RETRIEVALS = frozenset({"triplets", "paths", "subgraph"})


@dataclass(frozen=True, slots=True)
class _Weight:
    """What one call of a field does.

    Attributes:
        work: What it costs beside its objects.
        length: Objects that it gives, if it is a list; None for a usual length.
        below: Length of the lists within it whose length it says.
    """

    work: float = 0.0
    length: int | None = None
    below: int = USUAL_LENGTH


@dataclass(slots=True)
class _Cost:
    """One place of the response: the fields of one name below one place.

    Attributes:
        is_object: Whether it gives objects.
        length: Of its list; None where it gives one object.
        parts: The places below, by the type of object that has them ("" for all) and by name.
    """

    work: float = 0.0
    is_object: bool = False
    length: int | None = None
    parts: dict[str, dict[str, _Cost]] = field(default_factory=dict)


@dataclass(slots=True)
class Meter:
    """What one operation costs.

    Attributes:
        max_cost: More than that is refused before it runs.
        admit: Called once with the cost, before the first field runs; what it raises ends the
            operation.
        requested: The cost by the arguments; None before it is known.
        actual: The cost of what was done and given; at most what was requested.
    """

    max_cost: float
    admit: Callable[[float], None] | None = None
    requested: float | None = None
    actual: float | None = None
    _root: _Cost = field(default_factory=_Cost)
    _lengths: dict[tuple[str, ...], int] = field(default_factory=dict)

    def begin(
        self,
        schema: GraphQLSchema,
        operation: OperationDefinitionNode,
        fragments: Mapping[str, FragmentDefinitionNode],
        variables: VariableValues,
    ) -> None:
        """Finds what an operation costs, before it runs.

        Raises:
            MaxCostError: It is more than is allowed.
        """
        self._lengths.clear()
        type_ = schema.get_root_type(operation.operation)
        assert type_ is not None
        self._root = _Cost()
        reader = _Reader(schema, fragments, variables)
        reader.read(operation.selection_set, type_, self._root, USUAL_LENGTH)
        known = self.requested is not None
        self.requested = round(_sum(self._root, 1.0), DECIMALS)
        if self.requested > self.max_cost:
            raise MaxCostError.of(self.requested, self.max_cost)
        if self.admit is not None and not known:
            self.admit(self.requested)

    def count(self, path: Path, length: int, /) -> None:
        """Counts the objects of a list that is given."""
        names = tuple(key for key in path.as_list() if isinstance(key, str))
        self._lengths[names] = self._lengths.get(names, 0) + length

    def end(self, refused: frozenset[str], /) -> None:
        """Finds what an operation has cost.

        Args:
            refused: Fields of the root that did no work, because of their arguments.
        """
        if self.requested is None:
            return
        for parts in self._root.parts.values():
            for name in refused & parts.keys():
                parts[name].work = 0.0
        done = sum(
            _counted(part, (name,), 1.0, self._lengths)
            for parts in self._root.parts.values()
            for name, part in parts.items()
        )
        self.actual = min(self.requested, round(done, DECIMALS))


def _sum(cost: _Cost, times: float) -> float:
    """Returns what a place costs that comes so often."""
    objects = times * (1 if cost.length is None else cost.length)
    own = times * cost.work + (objects * OBJECT if cost.is_object else 0.0)
    by_type = {
        name: sum(_sum(part, objects) for part in parts.values())
        for name, parts in cost.parts.items()
    }
    return own + by_type.pop("", 0.0) + max(by_type.values(), default=0.0)


def _counted(
    cost: _Cost, path: tuple[str, ...], times: float, lengths: Mapping[tuple[str, ...], int]
) -> float:
    """Returns what a place has cost, with its lists as long as they were."""
    objects = times if cost.length is None else float(lengths.get(path, 0))
    own = times * cost.work + (objects * OBJECT if cost.is_object else 0.0)
    by_type = {
        type_: sum(_counted(part, (*path, name), objects, lengths) for name, part in parts.items())
        for type_, parts in cost.parts.items()
    }
    return own + by_type.pop("", 0.0) + max(by_type.values(), default=0.0)


class _Reader:
    """Reads the costs of a document's fields, with its variables."""

    def __init__(
        self,
        schema: GraphQLSchema,
        fragments: Mapping[str, FragmentDefinitionNode],
        variables: VariableValues,
    ) -> None:
        self._schema = schema
        self._fragments = fragments
        self._variables = variables

    def read(
        self,
        selections: SelectionSetNode,
        type_: Any,
        into: _Cost,
        length: int,
        of_type: str = "",
    ) -> None:
        """Adds the fields of a selection set to a place.

        Args:
            selections: The set.
            type_: Whose fields they are.
            into: The place.
            length: Of the lists whose length a field above says.
            of_type: The type of object that has them, where not all have.
        """
        for selection in selections.selections:
            if not self._is_included(selection):
                continue
            if isinstance(selection, FieldNode):
                self._read_field(selection, type_, into, length, of_type)
                continue
            fragment: FragmentDefinitionNode | InlineFragmentNode
            if isinstance(selection, FragmentSpreadNode):
                fragment = self._fragments[selection.name.value]
            else:
                assert isinstance(selection, InlineFragmentNode)
                fragment = selection
            condition, inner = fragment.type_condition, fragment.selection_set
            below = type_ if condition is None else self._schema.type_map[condition.name.value]
            group = of_type
            is_one_of_many = isinstance(type_, (GraphQLInterfaceType, GraphQLUnionType))
            if is_one_of_many and isinstance(below, GraphQLObjectType):
                group = below.name
            self.read(inner, below, into, length, group)

    def _is_included(self, selection: Any) -> bool:
        if not selection.directives:
            return True
        skip = get_directive_values(GraphQLSkipDirective, selection, self._variables)
        include = get_directive_values(GraphQLIncludeDirective, selection, self._variables)
        return not (skip and skip["if"]) and not (include and not include["if"])

    def _read_field(
        self, node: FieldNode, type_: Any, into: _Cost, length: int, of_type: str
    ) -> None:
        name = node.name.value
        place = into.parts.setdefault(of_type, {}).setdefault(
            node.alias.value if node.alias else name, _Cost()
        )
        if name.startswith("__"):
            place.work = 0.0 if name == "__typename" else INTROSPECTION
            return
        known = type_.fields[name]
        try:
            arguments = argument_values(known, node, self._variables)
        except GraphQLError:
            # The field says so when it is run, and does nothing else.
            return
        weight = _weight(type_.name, name, arguments, length)
        place.work = max(place.work, weight.work)
        of_field = known.type.of_type if is_non_null_type(known.type) else known.type
        named = get_named_type(of_field)
        if not is_composite_type(named):
            return
        place.is_object = True
        if is_list_type(of_field):
            said = weight.length
            if said is None:
                said = length if name in _SIZED_LISTS else USUAL_LENGTH
            place.length = max(place.length or 0, said)
        if node.selection_set is not None:
            self.read(node.selection_set, named, place, weight.below)


def _weight(type_: str, name: str, given: Mapping[str, Any], length: int) -> _Weight:
    """Returns what a field costs with some arguments."""
    if type_ == "Query":
        return _weight_of_query(name, given)
    if type_ == "Mutation":
        return _Weight(CREATE_VIEW if name == "createView" else MUTATION)
    if "first" in given:
        return _Weight(LOOKUP + _view(given.get("view")), below=_length(given["first"]))
    if (type_, name) == ("ClassSizeEdge", "examples"):
        return _Weight(LOOKUP)
    # A result or a connection in a field hands its length on.
    return _Weight(below=length if name in ("result", *_SIZED_LISTS) else USUAL_LENGTH)


def _weight_of_query(name: str, given: Mapping[str, Any]) -> _Weight:
    if name in _RETRIEVALS:
        return _Weight(_retrieval(given["input"]), below=_limit(given["input"]))
    if name == "retrieveMany":
        inputs = given["inputs"]
        return _Weight(
            sum(_retrieval(one) for one in inputs),
            length=len(inputs),
            below=max((_limit(one) for one in inputs), default=0),
        )
    if name == "compare":
        # The base, and each of the views.
        work = _retrieval(given["input"])
        work += sum(work + _view(view) for view in given["views"])
        return _Weight(work, length=1 + len(given["views"]), below=_limit(given["input"]))
    if name == "neighbourhood":
        work = NEIGHBOURHOOD * _length(given["hops"]) + _view(given.get("view"))
        return _Weight(work, below=_length(given["limit"]))
    if name == "passages":
        return _Weight(SEARCH, below=_length(given["k"]))
    if name in ("items", "nodes"):
        ids = given["itemIds" if name == "items" else "ids"]
        return _Weight(LOOKUP * len(ids), length=len(ids))
    work = SEARCH if name in ("searchItems", "experiments", "experiment") else LOOKUP
    work += _view(given.get("view"))
    return _Weight(work, below=_length(given.get("first", USUAL_LENGTH)))


def _retrieval(given: Mapping[str, Any]) -> float:
    """Returns what one question costs, without its objects."""
    hops = given.get("maxHops")
    cost = RETRIEVAL * (1.0 if hops is None else HOPS.get(hops, 1.0))
    if given.get("prove"):
        cost += PROVE
    return cost + _view(given.get("view"))


def _view(given: Mapping[str, Any] | None) -> float:
    """Returns what it costs to read a view instead of the graph."""
    if given is None:
        return 0.0
    return INLINE_VIEW if given.get("spec") is not None else STORED_VIEW


def _limit(given: Mapping[str, Any]) -> int:
    limit = given.get("limit")
    return USUAL_LIMIT if limit is None else _length(limit)


def _length(number: int) -> int:
    return max(0, min(number, MAX_LENGTH))
