"""What an operation costs by its arguments, which is known before it runs.

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
    SelectionSetNode,
    get_directive_values,
    get_named_type,
    is_composite_type,
    is_list_type,
    is_non_null_type,
)
from graphql.execution.values import VariableValues

from graph_service.api.defaults import argument_values
from graph_service.api.global_ids import read_global_id, view_of
from graph_service.api.view_costs import ViewCosts, read_spec
from graph_service.errors import InputError
from graph_service.model.request import MAX_QUESTION_CHARACTERS
from graph_service.store.names import graph_of

RETRIEVAL = 1.0
HOPS = {1: 0.5, 2: 0.75, 3: 1.0, 4: 1.5}
"""By the most steps of a retrieval; what is more is refused."""
PROVE = 10.0
EXAMPLES = 5
"""Questions that are asked to give a graph's example questions."""
TEXT = 1.0
"""For each ``TEXT_CHARACTERS`` of a question, or of a search for passages, after the first ones."""
TEXT_CHARACTERS = 200
VIEW = 0.2
"""To read a view, beside making it."""
NEIGHBOURHOOD = 0.1
"""For each hop."""
LOOKUP = 0.02
SEARCH = 0.05
PREFIX = 0.25
"""Of a search whose last word may go on."""
INTROSPECTION = 0.5
MUTATION = 1.0
CREATE_VIEW = 10.0
MEASURE = 5.0
"""For each 100,000 statements of its graph: how far a view is from it."""
OBJECT = 0.0005

USUAL_LIMIT = 10
"""Items of a retrieval where no limit is given."""
USUAL_LENGTH = 3
"""Of a list whose length no argument says."""
MAX_LENGTH = 1_000
"""More than this, a field refuses; so that its cost is not what is complained of."""

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
class Cost:
    """One place of the response: the fields of one name below one place.

    Attributes:
        is_object: Whether it gives objects.
        length: Of its list; None where it gives one object.
        parts: The places below, by the type of object that has them ("" for all) and by name.
    """

    work: float = 0.0
    is_object: bool = False
    length: int | None = None
    parts: dict[str, dict[str, Cost]] = field(default_factory=dict)


class CostReader:
    """Reads the costs of a document's fields, with its variables.

    Attributes:
        views: What the views of queries cost to make.
    """

    def __init__(
        self,
        schema: GraphQLSchema,
        fragments: Mapping[str, FragmentDefinitionNode],
        variables: VariableValues,
        count_statements: Callable[[str | None], int],
    ) -> None:
        self._schema = schema
        self._fragments = fragments
        self._variables = variables
        self._count_statements = count_statements
        self.views = ViewCosts(count_statements)
        # Of the field of the root that is read: that of a page below it is said nowhere else.
        self._graphs: tuple[str | None, ...] = (None,)

    def read(
        self,
        selections: SelectionSetNode,
        type_: Any,
        into: Cost,
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
        self, node: FieldNode, type_: Any, into: Cost, length: int, of_type: str
    ) -> None:
        name = node.name.value
        part = into.parts.setdefault(of_type, {}).setdefault(
            node.alias.value if node.alias else name, Cost()
        )
        if name.startswith("__"):
            part.work = 0.0 if name == "__typename" else INTROSPECTION
            return
        known = type_.fields[name]
        try:
            arguments = argument_values(known, node, self._variables)
        except GraphQLError:
            # The field says so when it is run, and does nothing else.
            return
        weight = self._weight(type_.name, name, arguments, length)
        part.work = max(part.work, weight.work)
        of_field = known.type.of_type if is_non_null_type(known.type) else known.type
        named = get_named_type(of_field)
        if not is_composite_type(named):
            return
        part.is_object = True
        if is_list_type(of_field):
            stated_length = weight.length
            if stated_length is None:
                stated_length = length if name in _SIZED_LISTS else USUAL_LENGTH
            part.length = max(part.length or 0, stated_length)
        if node.selection_set is not None:
            self.read(node.selection_set, named, part, weight.below)

    def _weight(self, type_: str, name: str, arguments: Mapping[str, Any], length: int) -> _Weight:
        """Returns what a field costs with some arguments."""
        if type_ == "Query":
            self._graphs = (arguments.get("name" if name == "graph" else "graph"),)
            return self._weight_of_query(name, arguments)
        if type_ == "Mutation":
            return _Weight(self._create(arguments["input"]) if name == "createView" else MUTATION)
        if "first" in arguments:
            work = LOOKUP + OBJECT * len(arguments.get("propertyIds") or ())
            return _Weight(work + self._view(arguments), below=_length(arguments["first"]))
        if (type_, name) in (("ClassSizeEdge", "examples"), ("Graph", "introduction")):
            return _Weight(LOOKUP)
        if (type_, name) == ("Graph", "exampleQuestions"):
            return _Weight(EXAMPLES * RETRIEVAL, length=EXAMPLES)
        # A result or a connection in a field hands its length on.
        return _Weight(below=length if name in ("result", *_SIZED_LISTS) else USUAL_LENGTH)

    def _weight_of_query(self, name: str, arguments: Mapping[str, Any]) -> _Weight:
        if name in _RETRIEVALS:
            return _Weight(self._retrieval(arguments["input"]), below=_limit(arguments["input"]))
        if name == "retrieveMany":
            inputs = arguments["inputs"]
            work = sum(self._retrieval(each) for each in inputs)
            self._graphs = tuple({each.get("graph"): None for each in inputs})
            most = max((_limit(each) for each in inputs), default=0)
            return _Weight(work, length=len(inputs), below=most)
        if name == "compare":
            # The base, and each of the views.
            base, views = arguments["input"], arguments["views"]
            work = self._retrieval(base)
            work += sum(work + self._view({"view": view}, base) for view in views)
            return _Weight(work, length=1 + len(views), below=_limit(base))
        if name == "neighbourhood":
            work = NEIGHBOURHOOD * _length(arguments["hops"]) + self._view(arguments)
            return _Weight(work, below=_length(arguments["limit"]))
        if name == "passages":
            return _Weight(SEARCH + _text(arguments["query"]), below=_length(arguments["k"]))
        if name == "items":
            ids = arguments["itemIds"]
            return _Weight(LOOKUP * len(ids), length=len(ids))
        if name in ("node", "nodes"):
            ids = arguments["ids"] if name == "nodes" else [arguments["id"]]
            self._graphs = ()
            work = sum(LOOKUP + self._view_of_id(id_) for id_ in ids)
            return _Weight(work, length=len(ids))
        work = SEARCH if name in ("searchItems", "experiments", "experiment") else LOOKUP
        work = PREFIX if arguments.get("prefix") else work
        return _Weight(
            work + self._view(arguments), below=_length(arguments.get("first", USUAL_LENGTH))
        )

    def _retrieval(self, arguments: Mapping[str, Any]) -> float:
        """Returns what one question costs, without its objects and without making its view."""
        hops = arguments.get("maxHops")
        cost = RETRIEVAL * (1.0 if hops is None else HOPS.get(hops, 1.0))
        # Any of the earlier questions may be read for what this one goes on with.
        cost += sum(map(_text, (arguments["question"], *(arguments.get("earlier") or ()))))
        if arguments.get("prove"):
            cost += PROVE
        self._graphs = (arguments.get("graph"),)
        return cost + self._view(arguments, arguments)

    def _view(
        self, arguments: Mapping[str, Any], question: Mapping[str, Any] | None = None
    ) -> float:
        """Returns what it costs to read the view of a field, and notes what it costs to make it.

        Args:
            arguments: Have the ``view``.
            question: The input in whose scope the view may be.
        """
        reference = arguments.get("view")
        if reference is None:
            return 0.0
        if reference.get("spec") is not None:
            about = question and (question["question"], tuple(question.get("itemIds") or ()))
            spec = read_spec(reference["spec"])
            for graph in self._graphs:
                self.views.add(spec, graph, about)
        return VIEW

    def _view_of_id(self, id_: str) -> float:
        """Returns the same of a global id, which may hold the specification of a view."""
        try:
            parts = read_global_id(id_)
        except InputError:
            return 0.0
        graph = graph_of(parts.scope)
        if graph not in self._graphs:
            self._graphs = (*self._graphs, graph)
        view = view_of(parts.view)
        if view is None:
            return 0.0
        if view.spec is not None:
            self.views.add(view.spec, graph)
        return VIEW

    def _create(self, arguments: Mapping[str, Any]) -> float:
        """Returns what it costs to make a view, in this thread or in another one, and to measure it."""
        views = ViewCosts(self._count_statements)
        views.add(read_spec(arguments["spec"]), arguments.get("graph"))
        measure = MEASURE * self._count_statements(arguments.get("graph")) / 100_000
        return CREATE_VIEW + measure + views.total


def _text(text: str) -> float:
    """Returns what a long text costs more than a short one; one that is refused for its length too."""
    length = min(len(text), MAX_QUESTION_CHARACTERS)
    return TEXT * (max(0, length - 1) // TEXT_CHARACTERS)


def _limit(arguments: Mapping[str, Any]) -> int:
    limit = arguments.get("limit")
    return USUAL_LIMIT if limit is None else _length(limit)


def _length(number: int) -> int:
    return max(0, min(number, MAX_LENGTH))
