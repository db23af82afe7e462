"""Reads a client's document, and bounds what checking and running it can cost.

graphql-core's rules and Strawberry's follow every fragment spread, and compare all fields of one
name with each other, so that a small document can hold them for ever. What is measured here is
measured in time linear in the document: each fragment once, whatever spreads it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    parse,
    specified_rules,
    validate,
)
from strawberry.schema.validation_rules.maybe_null import MaybeNullValidationRule
from strawberry.schema.validation_rules.one_of import OneOfInputValidationRule

from graph_service.errors import LimitError

MAX_CHARACTERS = 100_000
MAX_LINES = 10_000
"""An error's place in the document is found by counting its lines."""
MAX_TOKENS = 3_000
MAX_DEPTH = 14
MAX_ALIASES = 30
MAX_SELECTIONS = 5_000
MAX_COMPARISONS = 10_000
MAX_INVALIDITIES = 20

_RULES = (*specified_rules, MaybeNullValidationRule, OneOfInputValidationRule)


@dataclass(frozen=True, slots=True)
class Size:
    """What a selection set is once its fragments are written out.

    Attributes:
        selections: Fields and spreads.
        aliases: Fields with an alias.
        depth: Levels of fields that have fields; introspection, which has a limit of its own, is
            not counted.
    """

    selections: int = 0
    aliases: int = 0
    depth: int = 0

    def plus(self, other: Size, /) -> Size:
        """Returns the size of both in one selection set."""
        return Size(
            self.selections + other.selections,
            self.aliases + other.aliases,
            max(self.depth, other.depth),
        )


_NOTHING = Size()


def read_document(text: str, /) -> DocumentNode:
    """Returns a document that is cheap enough to be checked against the schema.

    Raises:
        GraphQLError: The text is no GraphQL.
        LimitError: It is too long, or too large once its fragments are written out.
    """
    if len(text) > MAX_CHARACTERS:
        raise LimitError(
            f"a document has at most {MAX_CHARACTERS} characters, got {len(text)}",
            hint="Send long texts as variables.",
        )
    lines = text.count("\n") + text.count("\r")
    if lines > MAX_LINES:
        raise LimitError(f"a document has at most {MAX_LINES} lines, got {lines}")
    document = parse(text, max_tokens=MAX_TOKENS)
    check_document(document)
    return document


def invalidities(document: DocumentNode, schema: GraphQLSchema, /) -> list[GraphQLError]:
    """Returns what the rules of GraphQL and of Strawberry have against a document.

    Every error may quote the document, so that their number is what bounds their cost.
    """
    return validate(schema, document, _RULES, max_errors=MAX_INVALIDITIES)


def check_document(document: DocumentNode, /) -> None:
    """Raises ``LimitError`` for a document that costs too much to check or to run."""
    fragments = {
        definition.name.value: definition
        for definition in document.definitions
        if isinstance(definition, FragmentDefinitionNode)
    }
    operations = [
        definition
        for definition in document.definitions
        if isinstance(definition, OperationDefinitionNode)
    ]
    sizes = _fragment_sizes(fragments)
    total = Size()
    for operation in operations:
        total = total.plus(_size(operation.selection_set, sizes))
    for what, most, got in (
        ("selections with its fragments written out", MAX_SELECTIONS, total.selections),
        ("aliases", MAX_ALIASES, total.aliases),
        ("levels of depth", MAX_DEPTH, total.depth),
    ):
        if got > most:
            raise LimitError(f"a document has at most {most} {what}, got {_shown(got)}")
    count = len(fragments) * (len(fragments) - 1) // 2
    for operation in operations:
        count += _comparisons(operation.selection_set, fragments)
    if count > MAX_COMPARISONS:
        raise LimitError(
            "a document asks for the same fields too often: at most "
            f"{MAX_COMPARISONS} pairs of fields of one name and of fragments, got {count}"
        )


def _shown(count: int) -> str:
    """Returns a count to be read; of doubling fragments it has hundreds of digits."""
    return str(count) if count < 10**9 else "more than 10^9"


def _fragment_sizes(fragments: Mapping[str, FragmentDefinitionNode]) -> dict[str, Size]:
    """Returns the size of each fragment; a spread that closes a cycle counts for nothing.

    The rules of GraphQL report cycles, and end at them.
    """
    sizes: dict[str, Size] = {}
    for root in fragments:
        # Without recursion: a chain of fragments may be as long as the document.
        path: dict[str, Iterator[str]] = {}
        if root not in sizes:
            path[root] = _spreads(fragments[root].selection_set)
        while path:
            name, spreads = next(reversed(path.items()))
            below = next(
                (
                    spread
                    for spread in spreads
                    if spread in fragments and spread not in sizes and spread not in path
                ),
                None,
            )
            if below is not None:
                path[below] = _spreads(fragments[below].selection_set)
            else:
                sizes[name] = _size(fragments[name].selection_set, sizes)
                del path[name]
    return sizes


def _spreads(selections: SelectionSetNode) -> Iterator[str]:
    """Yields the names of the fragments spread at any depth of a selection set."""
    for selection in selections.selections:
        if isinstance(selection, FragmentSpreadNode):
            yield selection.name.value
        elif isinstance(selection, (FieldNode, InlineFragmentNode)) and selection.selection_set:
            yield from _spreads(selection.selection_set)


def _size(selections: SelectionSetNode, fragments: Mapping[str, Size]) -> Size:
    size = Size()
    for selection in selections.selections:
        if isinstance(selection, FragmentSpreadNode):
            one = fragments.get(selection.name.value, _NOTHING)
            size = size.plus(Size(one.selections + 1, one.aliases, one.depth))
        elif isinstance(selection, InlineFragmentNode):
            size = size.plus(_size(selection.selection_set, fragments))
        elif isinstance(selection, FieldNode):
            alias = 1 if selection.alias else 0
            inner, depth = _NOTHING, 0
            if selection.selection_set:
                inner = _size(selection.selection_set, fragments)
                depth = 0 if selection.name.value.startswith("__") else inner.depth + 1
            size = size.plus(Size(inner.selections + 1, inner.aliases + alias, depth))
    return size


def _comparisons(root: SelectionSetNode, fragments: Mapping[str, FragmentDefinitionNode]) -> int:
    """Returns how many pairs of fields share a place in the response and must be mergeable."""
    count = 0
    levels = [[root]]
    while levels:
        fields: dict[str, list[SelectionSetNode]] = {}
        names: Counter[str] = Counter()
        for field in _fields(levels.pop(), fragments):
            name = field.alias.value if field.alias else field.name.value
            names[name] += 1
            if field.selection_set:
                fields.setdefault(name, []).append(field.selection_set)
        count += sum(times * (times - 1) // 2 for times in names.values())
        levels.extend(fields.values())
    return count


def _fields(
    level: Sequence[SelectionSetNode], fragments: Mapping[str, FragmentDefinitionNode]
) -> Iterator[FieldNode]:
    """Yields the fields of selection sets that stand at one place, each fragment's once."""
    spread: set[str] = set()
    left = list(level)
    while left:
        for selection in left.pop().selections:
            if isinstance(selection, FieldNode):
                yield selection
            elif isinstance(selection, InlineFragmentNode):
                left.append(selection.selection_set)
            elif isinstance(selection, FragmentSpreadNode):
                name = selection.name.value
                if name in fragments and name not in spread:
                    spread.add(name)
                    left.append(fragments[name].selection_set)
