"""The options of verbs: dataclasses of ``graph_service.options`` as arguments, and back again."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass
from enum import Enum
from typing import Any, ClassVar, TypeVar

from graph_service.cli.readers import read_vector, view_ref
from graph_service.model.request import ViewRef
from graph_service.options import Option, check_bounds, option, options_of

T = TypeVar("T")

_READ: Mapping[type, Callable[[str], Any]] = {ViewRef: view_ref}
_REQUEST = "request"


@dataclass(frozen=True, kw_only=True)
class VerbOptions:
    """What every verb takes.

    Attributes:
        GROUP: Under which heading of a verb's help the options of a class stand; "" for none.
    """

    GROUP: ClassVar[str] = ""

    json: bool = option(False, help="print one JSON object on stdout")


@dataclass(frozen=True, kw_only=True)
class StoreOptions(VerbOptions):
    """What every verb takes that opens a store."""

    store: str | None = option(
        None,
        help="sqlite:///file, bolt://host or neo4j://host; default: GRAPH_SERVICE_STORE, then "
        "NEO4J_URI, then sqlite:///graph.db",
        metavar="URL",
    )


@dataclass(frozen=True, kw_only=True)
class GraphOptions(StoreOptions):
    """What every verb takes that reads a graph."""

    graph: str | None = option(
        None, help="the graph; may be left out if there is one", metavar="NAME"
    )


@dataclass(frozen=True, slots=True)
class Subverb:
    """A word after a verb that has options of its own, such as ``rank train``.

    Attributes:
        name: The word.
        run: What it calls, as ``module:function`` below ``graph_service.cli``.
        help: What it does.
        options: The dataclass of its options.
        examples: Commands that end its help.
    """

    name: str
    run: str
    help: str
    options: type[VerbOptions]
    examples: tuple[str, ...] = ()


def request(cls: type, /, *, only: Collection[str] | None = None, **given: Any) -> Any:
    """Returns a field of a verb's options that is a request, whose options the verb takes too.

    Args:
        cls: Its dataclass.
        only: The options taken; None for all that the command line has and the verb has not.
        given: What the request is made with beside.
    """
    return dataclasses.field(metadata={_REQUEST: (cls, only, given)})


def add_options(verb: argparse.ArgumentParser, cls: type, /) -> None:
    """Adds the options of a verb's dataclass, each under the heading of the class that has it.

    One that a class has with another help or default stays where its base has it.
    """
    groups: dict[str, argparse._ActionsContainer] = {"": verb}

    def group(title: str) -> argparse._ActionsContainer:
        if title not in groups:
            groups[title] = verb.add_argument_group(title)
        return groups[title]

    own = options_of(cls)
    for field in dataclasses.fields(cls):
        if field.name in own:
            owner = next(
                base
                for base in reversed(cls.__mro__)
                if field.name in vars(base).get("__annotations__", {})
            )
            _add(group(vars(owner).get("GROUP", "")), own[field.name])
        elif _REQUEST in field.metadata:
            kind, only, _ = field.metadata[_REQUEST]
            for each in _taken(kind, only, own):
                _add(verb, each)


def read_options(cls: type[T], found: argparse.Namespace, /) -> T:
    """Returns the dataclass that parsed arguments make.

    Raises:
        InputError: A value can't be read, or is out of its bounds.
    """
    own = options_of(cls)
    values = {name: _value(each, getattr(found, name)) for name, each in own.items()}
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        if _REQUEST in field.metadata:
            kind, only, given = field.metadata[_REQUEST]
            asked = {each.name: _value(each, getattr(found, each.name))
                     for each in _taken(kind, only, own)}  # fmt: skip
            shared = {name: values[name] for name in options_of(kind) if name in own}
            values[field.name] = kind(**{**shared, **asked, **given})
    made = cls(**values)
    check_bounds(made)
    return made


def _taken(request: type, only: Collection[str] | None, own: Mapping[str, Option]) -> list[Option]:
    """Returns which options of a request a verb takes that has some of its own."""
    return [
        each
        for name, each in options_of(request).items()
        if each.facts.of_command_line and name not in own and (only is None or name in only)
    ]


def _add(group: argparse._ActionsContainer, each: Option) -> None:
    if each.facts.is_word:
        argument = _argument(each)
        del argument["dest"]
        argument.pop("required", None)
        if each.is_list:
            argument.update(action="store", nargs="+" if each.default is MISSING else "*")
        elif each.default is not MISSING:
            argument["nargs"] = "?"
        group.add_argument(each.name, **argument)
        return
    group.add_argument(each.flag, **_argument(each))


def _argument(each: Option) -> dict[str, Any]:
    if each.kind is bool:
        return {"dest": each.name, "action": "store_true", "help": each.facts.help}
    argument: dict[str, Any] = {"dest": each.name, "help": _help(each)}
    choices = each.facts.choices or tuple(
        str(one.value) for one in (each.kind if issubclass(each.kind, Enum) else ())
    )
    if choices:
        argument["choices"] = list(choices)
    else:
        argument["metavar"] = each.facts.metavar or _METAVARS.get(each.kind, "TEXT")
    if _is_repeated(each):
        numbers = {"type": int} if each.kind is int else {}
        return {**argument, **numbers, "action": "append", "default": []}
    if each.default is MISSING:
        argument["required"] = True
    else:
        argument["default"] = each.default.value if isinstance(each.default, Enum) else each.default
    if each.kind in (int, float) and not each.is_list:
        argument["type"] = each.kind
    return argument


_METAVARS = {int: "N", float: "X"}


def _is_repeated(each: Option) -> bool:
    """Whether it is given once for each value; a list of numbers comes from a file."""
    return each.is_list and each.kind is not float


def _help(each: Option) -> str:
    text = each.facts.help
    if each.is_list:
        has_default = each.default and each.default is not MISSING
        default = f" ({', '.join(map(str, each.default))})" if has_default else ""
        repeated = _is_repeated(each) and not each.facts.is_word
        return text + default + ("; may be repeated" if repeated else "")
    if each.default in (MISSING, None, "") or f"({each.default})" in text:
        return text
    if isinstance(each.default, float):
        return f"{text} ({each.default:g})"
    return f"{text} ({each.default.value if isinstance(each.default, Enum) else each.default})"


def _value(each: Option, value: Any) -> Any:
    if value is None:
        return None
    if each.is_list:
        if each.kind is float:
            return read_vector(value)
        values = tuple(each.kind(one) for one in value) if each.kind is not str else tuple(value)
        return values or each.default
    if each.kind in _READ and isinstance(value, str):
        return _READ[each.kind](value)
    return each.kind(value) if issubclass(each.kind, Enum) else value
