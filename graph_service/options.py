"""One table of options: what a request takes stands in its dataclass, and nowhere else.

A field that is made with ``option`` carries its help and its bounds beside its type and default.
The command line's options, the GraphQL inputs, the client's encoding, the tables of
``docs/reference/options.md`` and what a result records are made of these fields, so that an option has one
name in three spellings: ``relations_per_entity`` in Python, ``--relations-per-entity`` on the
command line and ``propertiesPerItem`` in GraphQL, whose words are Wikidata's.
"""

from __future__ import annotations

import dataclasses
import math
import re
import types
from collections.abc import Hashable, Iterator, Mapping, Sized
from dataclasses import MISSING, dataclass
from enum import Enum
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from graph_service.errors import InputError

GRAPHQL_WORDS = {
    "entity": "item",
    "entities": "items",
    "head": "subject",
    "languages": "language_codes",
    "relation": "property",
    "relations": "properties",
    "triple": "statement",
    "triples": "statements",
}
"""Words of Python and of the command line, and what GraphQL calls them."""

EXPERIMENTAL = "experimental"
"""Input of GraphQL that holds what research needs and what may change at any time."""

_KEY = "option"


@dataclass(frozen=True, slots=True)
class Facts:
    """What a field says of an option beside its name, type and default.

    Attributes:
        help: What it does, in words that begin small and have no full stop.
        least, most: Bounds of a number, or of how many values a list has; None for none.
        most_in_api: How many values a list has at most in GraphQL, where others may give more.
        metavar: What stands for the value in the command line's help.
        preset: The parameter of the preset that it takes the place of; None for an option of the
            request itself.
        of_api: Whether GraphQL's input has it. What is not, the query says by its fields.
        is_experimental: Whether GraphQL's input has it under ``experimental``, which may change at
            any time.
        of_command_line: Whether verbs that take the request have it as an option.
        is_word: Whether the command line takes it as a word without a flag.
        choices: What a text may be, those of a ``Literal`` too; () for anything.
        is_joined: Whether the command line takes a list's values in one word, with commas.
        is_plural: Whether the flag of a list keeps its plural, because each value stands for many.
        group: Under which heading of a verb's help it stands; "" for that of the verb.
        needs: Options without which it has no effect: the command line refuses it where it is set
            and none of them is. Of a verb that has none of them it asks nothing.
    """

    help: str
    least: float | None
    most: float | None
    most_in_api: int | None
    metavar: str | None
    preset: str | None
    of_api: bool
    is_experimental: bool
    of_command_line: bool
    is_word: bool
    choices: tuple[str, ...]
    is_joined: bool
    is_plural: bool
    group: str
    needs: tuple[str, ...]

    @property
    def most_values(self) -> int:
        """How many values a list has at most in GraphQL."""
        most = self.most if self.most_in_api is None else self.most_in_api
        assert most is not None, "each list of GraphQL has a bound"
        return int(most)


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a request.

    Attributes:
        name: In Python.
        kind: Type of the value, or of each value of a list.
        is_list: Whether it takes several.
        is_optional: Whether it may be None.
        default: Where it is not given; ``MISSING`` where it must be.
    """

    name: str
    kind: type
    is_list: bool
    is_optional: bool
    default: Any
    facts: Facts

    @property
    def flag(self) -> str:
        """On the command line: ``--relations-per-entity``; a list's in the singular, without id.

        A list that is given in one word keeps its plural: ``--levels 0.1,0.3``.

        >>> [spell_flag(name) for name in ("entity_ids", "languages", "edge_cost")]
        ['--entity', '--language', '--edge-cost']
        """
        if self.is_list and not (self.facts.is_joined or self.facts.is_plural):
            return spell_flag(self.name)
        # An underscore at the end is Python's alone: it tells a name from one of Python's words.
        return "--" + self.name.rstrip("_").replace("_", "-")

    @property
    def graphql(self) -> str:
        """Its name in GraphQL's input, such as ``propertiesPerItem``."""
        return camel_case(graphql_name(self.name))

    @property
    def graphql_path(self) -> str:
        """In GraphQL, from the input down: ``experimental.propertiesPerItem``."""
        return f"{EXPERIMENTAL}.{self.graphql}" if self.facts.is_experimental else self.graphql


def option(
    default: Any = MISSING,
    /,
    *,
    help: str,
    least: float | None = None,
    most: float | None = None,
    most_in_api: int | None = None,
    metavar: str | None = None,
    preset: str | None = None,
    of_api: bool = True,
    is_experimental: bool = False,
    of_command_line: bool = True,
    is_word: bool = False,
    choices: tuple[str, ...] = (),
    is_joined: bool = False,
    is_plural: bool = False,
    group: str = "",
    needs: tuple[str, ...] = (),
) -> Any:
    """Returns a dataclass's field that is an option; see ``Facts``."""
    facts = Facts(
        help,
        least,
        most,
        most_in_api,
        metavar,
        preset,
        of_api,
        is_experimental,
        of_command_line,
        is_word,
        choices,
        is_joined,
        is_plural,
        group,
        needs,
    )
    if isinstance(default, list | dict):
        raise TypeError("an option's default is frozen: give a tuple")
    return dataclasses.field(default=default, metadata={_KEY: facts})


def options_of(request: type, /) -> Mapping[str, Option]:
    """Returns the options of a dataclass, by name, in the order of its fields."""
    return _options_of(request)


@cache
def _options_of(request: Hashable) -> Mapping[str, Option]:
    assert isinstance(request, type)
    hints = get_type_hints(request)
    return {
        field.name: _option(field, hints[field.name])
        for field in dataclasses.fields(request)
        if _KEY in field.metadata
    }


def check_bounds(request: Any, /) -> None:
    """Raises ``InputError`` naming the first option whose value is out of its bounds."""
    for each in options_of(type(request)).values():
        value = getattr(request, each.name)
        if value is not None:
            _check(each, value)


def check_length(values: Sized, most: float, /, *, argument: str) -> None:
    """Raises ``InputError`` naming the argument whose list has more values than it may."""
    if len(values) > most:
        raise InputError(
            f"{argument} takes at most {most:,g} values, got {len(values)}", argument=argument
        )


def graphql_name(name: str, /) -> str:
    """Returns a name of Python's in GraphQL's words, in snake case.

    >>> graphql_name("relations_per_entity"), graphql_name("exclude_relation_ids")
    ('properties_per_item', 'exclude_property_ids')
    """
    return "_".join(GRAPHQL_WORDS.get(word, word) for word in name.split("_"))


def graphql_text(text: str, /) -> str:
    """Returns an option's help as a description in the GraphQL schema: a sentence in its words.

    >>> graphql_text("relations kept of each entity")
    'Properties kept of each item.'
    """
    # A word with a hyphen is a name, such as relation-swapping.
    words = re.sub(r"(?<![\w-])[a-z]+(?![\w-])", lambda match: _PROSE.get(match[0], match[0]), text)
    return words[:1].upper() + words[1:] + "."


def camel_case(name: str, /) -> str:
    """Returns a name of snake case as GraphQL writes it.

    >>> camel_case("properties_per_item")
    'propertiesPerItem'
    """
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def spell_flag(name: str, /) -> str:
    """Returns the flag of a list, which is given once for each of its values.

    >>> spell_flag("around_entities"), spell_flag("classes"), spell_flag("having")
    ('--around-entity', '--class', '--having')
    """
    singular = re.sub("ies$", "y", name)
    singular = re.sub("(_ids|(?<=s)es|s)$", "", singular) if singular == name else singular
    return "--" + singular.replace("_", "-")


_PROSE = {word: name for word, name in GRAPHQL_WORDS.items() if "_" not in name}


def _option(field: dataclasses.Field[Any], hint: Any) -> Option:
    is_union = get_origin(hint) in (Union, types.UnionType)
    parts = get_args(hint) if is_union else (hint,)
    is_optional = type(None) in parts
    kind = next(part for part in parts if part is not type(None))
    is_list = get_origin(kind) is tuple
    if is_list:
        kind = get_args(kind)[0]
    facts = field.metadata[_KEY]
    if get_origin(kind) is Literal:
        facts, kind = dataclasses.replace(facts, choices=get_args(kind)), str
    return Option(field.name, kind, is_list, is_optional, field.default, facts)


def _check(each: Option, value: Any) -> None:
    facts = each.facts
    if each.is_list:
        if facts.most is not None:
            check_length(value, facts.most, argument=each.name)
        return
    if each.facts.choices and value not in each.facts.choices:
        raise InputError(
            f"{each.name} {value!r}; expected one of {', '.join(each.facts.choices)}",
            argument=each.name,
        )
    if each.kind not in (int, float):
        return
    if each.kind is float and not math.isfinite(value):
        raise InputError(f"{each.name} must be a finite number, got {value}", argument=each.name)
    low, high = facts.least, facts.most
    if (low is not None and value < low) or (high is not None and value > high):
        kind = "a whole number" if each.kind is int else "a number"
        raise InputError(
            f"{each.name} must be {kind} {_bounds(low, high)}, got {value}", argument=each.name
        )


def _bounds(low: float | None, high: float | None) -> str:
    if high is None:
        return f"at least {_figure(low)}"
    if low is None:
        return f"at most {_figure(high)}"
    return f"from {_figure(low)} to {_figure(high)}"


def _figure(number: float | None) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:,g}"


def rows_of(request: type, /) -> Iterator[tuple[str, ...]]:
    """Yields what a document says of each option: names, type, bounds, default, help."""
    for each in options_of(request).values():
        facts = each.facts
        if issubclass(each.kind, Enum):
            kind = ", ".join(str(member.value) for member in each.kind)
        else:
            kind = ", ".join(facts.choices) or each.kind.__name__
        bounds = "-"
        if facts.most_in_api is not None:
            bounds = f"{_bounds(None, facts.most_in_api)} in GraphQL"
        elif not (facts.least is None and facts.most is None):
            bounds = _bounds(facts.least, facts.most)
        yield (
            each.name,
            _on_command_line(each),
            each.graphql_path if facts.of_api else "-",
            kind + (", several" if each.is_list else ""),
            bounds,
            _default(each),
            facts.help,
        )


def _on_command_line(each: Option) -> str:
    if not each.facts.of_command_line:
        return "-"
    return (each.facts.metavar or each.name) if each.facts.is_word else each.flag


def _default(each: Option) -> str:
    if each.default is MISSING:
        return "required"
    if each.default is None:
        return "the preset's" if each.facts.preset else "-"
    if each.is_list:
        return ", ".join(map(str, each.default)) or "-"
    if dataclasses.is_dataclass(each.default):
        return "-"
    if isinstance(each.default, bool):
        return "yes" if each.default else "no"
    if isinstance(each.default, float):
        return f"{each.default:g}"
    return str(each.default.value if isinstance(each.default, Enum) else each.default) or "-"
