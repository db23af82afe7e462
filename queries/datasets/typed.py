"""Dataclasses from files of users: each field is read by its type, and each error names line and field.

The names, types and defaults of a file's fields are those of a dataclass. A field that is made with
``option`` has its bounds and choices there too. The file is YAML (``yaml_file``) or JSON lines
(``records``).
"""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from graph_service.errors import InputError
from graph_service.options import options_of
from queries.datasets.records import JsonNode
from queries.datasets.yaml_file import Node

T = TypeVar("T")


FileNode: TypeAlias = Node | JsonNode
"""A part of a file that knows where it is."""
Readers = Mapping[str, Callable[[Any], Any]]


def read_typed(
    cls: type[T],
    node: FileNode,
    /,
    *,
    names: Mapping[str, str] | None = None,
    only: Collection[str] = (),
    required: Collection[str] = (),
    readers: Readers | None = None,
    folder: Path | None = None,
    **values: Any,
) -> T:
    """Returns the dataclass that the fields of a node make.

    Args:
        cls: The dataclass.
        node: Its fields.
        names: What the file calls a field, where that is not its name.
        only: The fields that the file may have; all where empty.
        required: Fields that must be there though they have a default, as the file calls them.
        readers: What reads a field whose type does not say all of it.
        folder: From which paths are taken; they must be files.
        values: Of fields that the file has not.

    Raises:
        InputError: A field is unknown, missing, or not as its type and bounds have it.
    """
    names, readers = names or {}, readers or {}
    hints, options = get_type_hints(cls), options_of(cls)
    known: dict[str, Field[Any]] = {
        names.get(field.name, field.name): field
        for field in fields(cls)  # type: ignore[arg-type]
        if field.name not in values and (not only or field.name in only)
    }
    needed = [name for name, field in known.items() if name in required or _is_required(field)]
    parts = node.fields(required=needed, optional=[name for name in known if name not in needed])
    for name, part in parts.items():
        field = known[name]
        if field.name in readers:
            values[field.name] = readers[field.name](part)
            continue
        facts = options[field.name].facts if field.name in options else None
        hint = hints[field.name]
        if facts is not None and facts.choices:
            values[field.name] = part.choice(facts.choices)
        elif hint is str:
            values[field.name] = part.text(may_be_empty=field.default == "")
        else:
            values[field.name] = _read(hint, part, folder)
        if facts is not None and isinstance(values[field.name], int | float):
            _require_bounds(values[field.name], facts.least, facts.most, part)
    try:
        return cls(**values)
    except InputError as error:
        name = error.argument or ""
        raise parts.get(names.get(name, name), node).wrong(error.message) from error


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _read(hint: Any, node: FileNode, folder: Path | None) -> Any:
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(part for part in get_args(hint) if part is not type(None))
    if get_origin(hint) is tuple:
        return _read_list(hint, node, folder)
    if issubclass(hint, Enum):
        return hint(node.choice([str(member.value) for member in hint]))
    if isinstance(hint, type) and is_dataclass(hint):
        return read_typed(hint, node, folder=folder)
    if issubclass(hint, Path):
        return file_of(node, folder or Path())
    if hint is bool:
        return node.truth()
    if hint is int:
        return node.number()
    return node.decimal() if hint is float else node.text()


def _read_list(hint: Any, node: FileNode, folder: Path | None) -> tuple[Any, ...]:
    first, *rest = get_args(hint)
    items = node.items(f"a list of {_plural(first)}")
    if rest != [Ellipsis] and len(items) != 1 + len(rest):
        raise node.wrong(f"a list of {1 + len(rest)} {_plural(first)} was expected")
    return tuple(_read(first, item, folder) for item in items)


def _plural(hint: Any) -> str:
    if get_origin(hint) is tuple:
        return f"lists of {_plural(get_args(hint)[0])}"
    return {str: "texts", int: "whole numbers", float: "numbers"}.get(hint, "fields")


def _require_bounds(value: float, least: float | None, most: float | None, node: FileNode) -> None:
    kind = "a whole number" if isinstance(value, int) else "a number"
    if least is not None and most is not None and not least <= value <= most:
        raise node.error(f"{kind} from {least:g} to {most:g}")
    if least is not None and value < least:
        raise node.error(f"{kind} from {least:g} up")
    if most is not None and value > most:
        raise node.error(f"{kind} up to {most:g}")


def file_of(node: FileNode, folder: Path, /) -> Path:
    """Returns the file that a node names; raises ``InputError`` where there is none."""
    path = folder / node.text()
    if not path.is_file():
        raise node.wrong(f"there is no file {path}")
    return path
