"""The options of verbs: dataclasses of ``graph_service.options`` as arguments, and back again."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from graph_service.cli.readers import read_vector, view_ref
from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from graph_service.model.view_spec import Method, parse_method
from graph_service.options import Option, check_bounds, option, options_of

T = TypeVar("T")

_READ: Mapping[type, Callable[[str], Any]] = {ViewRef: view_ref, Method: parse_method}
_REQUEST = "request"


@dataclass(frozen=True, kw_only=True)
class VerbOptions:
    """What every verb takes.

    Attributes:
        GROUP: Under which heading of a verb's help the options of a class stand; "" for none.
        ACTIONS: Flags that do something at once, as ``--help`` does, and are no options.
    """

    GROUP: ClassVar[str] = ""
    ACTIONS: ClassVar[Mapping[str, type[argparse.Action]]] = {}

    json: bool = option(False, help="print one JSON object on stdout")
    raw: bool = option(
        False, help="print control characters in text of a graph, a model or a file as they are"
    )


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


@dataclass(frozen=True, kw_only=True)
class EmbedderOptions(VerbOptions):
    """What every verb takes that compares texts."""

    embedder: str | None = option(
        None,
        help="minilm, multilingual, a model's folder, a name that model fetch knows, openai:MODEL, or the name of "
        "a sentence-transformers model (GRAPH_SERVICE_EMBEDDER, then minilm)",
        metavar="NAME",
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


@dataclass(frozen=True, slots=True)
class SubverbGroup:
    """A word after a verb that has words after it, such as ``kalma`` in ``dataset kalma build``."""

    name: str
    help: str
    words: tuple[Subverb, ...]


def request(cls: type, /, *, only: Collection[str] | None = None, **values: Any) -> Any:
    """Returns a field of a verb's options that is a request, whose options the verb takes too.

    Args:
        cls: Its dataclass.
        only: The options taken; None for all that the command line has and the verb has not.
        values: What the request is made with where the command line says nothing.
    """
    return dataclasses.field(metadata={_REQUEST: (cls, only, values)})


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
    requests = _requests_of(cls)
    for field in dataclasses.fields(cls):
        if field.name in own:
            owner = next(
                base
                for base in reversed(cls.__mro__)
                if field.name in vars(base).get("__annotations__", {})
            )
            _add(
                group(own[field.name].facts.group or vars(owner).get("GROUP", "")), own[field.name]
            )
        elif field.name in requests:
            for each in requests[field.name].options:
                _add(group(each.facts.group), each)
    for flag, action in getattr(cls, "ACTIONS", {}).items():
        verb.add_argument(flag, action=action)


def read_options(cls: type[T], parsed: argparse.Namespace, /) -> T:
    """Returns the dataclass that parsed arguments make.

    Raises:
        InputError: A value can't be read, is out of its bounds, or has no effect.
    """
    taken_options = dict(options_of(cls))
    values = {name: _value(each, getattr(parsed, name)) for name, each in taken_options.items()}
    known = dict(values)
    for name, taken in _requests_of(cls).items():
        known |= {each.name: _value(each, getattr(parsed, each.name)) for each in taken.options}
        taken_options |= {each.name: each for each in taken.options}
        stated = {
            each.name: known[each.name]
            for each in options_of(taken.kind).values()
            if each.facts.of_command_line and each.name in known
        }
        preset_values = {
            key: value for key, value in taken.values.items() if stated.get(key) is None
        }
        values[name] = taken.kind(**{**stated, **preset_values})
    made = cls(**values)
    check_bounds(made)
    _check_needs(taken_options, known)
    return made


def _check_needs(options: Mapping[str, Option], values: Mapping[str, Any]) -> None:
    """Raises ``InputError`` naming the first option that has no effect without another."""
    is_set = {name: values[name] not in (None, each.default) for name, each in options.items()}
    for name, each in options.items():
        needed = [other for other in each.facts.needs if other in options]
        if is_set[name] and needed and not any(is_set[other] for other in needed):
            flags = " or ".join(options[other].flag for other in needed)
            raise InputError(f"{each.flag} has no effect without {flags}", argument=name)


@dataclass(frozen=True, slots=True)
class _Request:
    """A request that a verb's options hold.

    Attributes:
        options: Those that the verb has of it, and neither of its own nor of an earlier request.
        values: As ``request`` has it.
    """

    kind: type
    options: tuple[Option, ...]
    values: Mapping[str, Any]


def _requests_of(cls: type) -> dict[str, _Request]:
    """Returns the requests of a verb's options, by the names of their fields."""
    taken = {*options_of(cls)}
    requests = {}
    for field in dataclasses.fields(cls):
        if _REQUEST not in field.metadata:
            continue
        kind, only, values = field.metadata[_REQUEST]
        options = tuple(
            # What is given has a value already, so that nobody must say it.
            dataclasses.replace(each, default=None) if name in values else each
            for name, each in options_of(kind).items()
            if each.facts.of_command_line and name not in taken and (only is None or name in only)
        )
        taken |= {each.name for each in options}
        requests[field.name] = _Request(kind, options, values)
    return requests


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
    choices = each.facts.choices
    if issubclass(each.kind, Enum) and each.kind not in _READ:
        choices = tuple(str(member.value) for member in each.kind)
    # argparse would look for the joined word, "paths,triplets", among the choices.
    if choices and not each.facts.is_joined:
        argument["choices"] = list(choices)
    else:
        argument["metavar"] = each.facts.metavar or _METAVARS.get(each.kind, "TEXT")
    if _is_repeated(each):
        numbers = {"type": int} if each.kind is int else {}
        return {**argument, **numbers, "action": "append", "default": []}
    if each.default is MISSING:
        argument["required"] = True
    else:
        argument["default"] = _shown(each) if each.default is not None else None
    if each.kind in (int, float) and not each.is_list:
        argument["type"] = each.kind
    return argument


_METAVARS = {int: "N", float: "X", Path: "FILE"}


def _is_repeated(each: Option) -> bool:
    """Whether it is given once for each value; a list of numbers comes from a file."""
    return each.is_list and each.kind is not float and not each.facts.is_joined


def _help(each: Option) -> str:
    text = each.facts.help
    if each.is_list:
        default = f" ({_shown(each)})" if each.default and each.default is not MISSING else ""
        return (
            text
            + default
            + ("; may be repeated" if _is_repeated(each) and not each.facts.is_word else "")
        )
    if each.default in (MISSING, None, "") or f"({each.default})" in text:
        return text
    return f"{text} ({_shown(each)})"


def _shown(each: Option) -> Any:
    """Returns a default as it would be written on the command line."""
    if each.is_list:
        return ",".join(
            str(member.value) if isinstance(member, Enum) else str(member)
            for member in each.default
        )
    if isinstance(each.default, Enum):
        return each.default.value
    return f"{each.default:g}" if isinstance(each.default, float) else each.default


def _value(each: Option, value: Any) -> Any:
    if value is None:
        return None
    if each.is_list:
        if each.facts.is_joined:
            parts = value.split(",") if isinstance(value, str) else value
            return tuple(_one(each, part.strip()) for part in parts if part.strip())
        if each.kind is float:
            return read_vector(value)
        return tuple(_one(each, item) for item in value) or each.default
    return _one(each, value)


def _one(each: Option, value: Any) -> Any:
    """Returns a value that argparse has as text, or has read already."""
    if not isinstance(value, str) or each.kind is str:
        return value
    try:
        return _READ.get(each.kind, each.kind)(value)
    except ValueError:
        expected = "numbers"
        if issubclass(each.kind, Enum):
            expected = ", ".join(str(member.value) for member in each.kind)
        raise InputError(
            f"{each.flag} takes {expected}; got {value!r}", argument=each.name
        ) from None
