"""What a tool takes and gives, in few words: null means the default, and errors are plain."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools.base import Tool
from pydantic import ValidationError

_SHOWN_CHARACTERS = 80
_LIKE = 0.6
"""How alike two names are, of 1, for one to be taken for a slip of the other."""


_OUTLINE_LEVELS = 3
"""Of an answer's schema: its fields, the items of its lists, and their fields."""


def read_arguments(tool: Tool, values: Mapping[str, Any], /) -> dict[str, Any]:
    """Returns the arguments of a call without those that are null and have a default.

    Raises:
        ToolError: An argument is unknown, missing or wrong; says which and what is right.
    """
    schema = tool.parameters
    names = list(schema["properties"])
    unknown = [name for name in values if name not in names]
    if unknown:
        raise ToolError(unknown_arguments(tool.name, unknown, names))
    required = schema.get("required", ())
    arguments = {
        name: value for name, value in values.items() if value is not None or name in required
    }
    try:
        tool.fn_metadata.validate_arguments(dict(arguments))
    except ValidationError as error:
        raise ToolError(_wrong(tool.name, error)) from None
    return arguments


def close_schema(tool: Tool, /, *, without: frozenset[str] = frozenset()) -> None:
    """Makes a tool's schemas shorter, and its input schema say that there are no other arguments.

    Args:
        tool: Its schemas are replaced.
        without: Arguments that callers of this server do not have.
    """
    properties = {
        name: _shortened(part)
        for name, part in tool.parameters["properties"].items()
        if name not in without
    }
    closed = {"type": "object", "properties": properties, "additionalProperties": False}
    if "required" in tool.parameters:
        closed["required"] = tool.parameters["required"]
    tool.parameters = closed
    output = tool.fn_metadata.output_schema
    if output is not None:
        tool.fn_metadata.output_schema = _outline(output, output.get("$defs", {}), _OUTLINE_LEVELS)


def _outline(schema: Mapping[str, Any], parts: Mapping[str, Any], levels: int) -> dict[str, Any]:
    """Returns the types of an answer's fields and of those within, some levels down.

    A field that has nothing to say is left out of an answer, so none is required or null. The
    words about each field stand in docs/how-to/mcp.md: a model reads the answer as text.
    """
    if "$ref" in schema:
        schema = parts[schema["$ref"].rpartition("/")[2]]
    for kind in schema.get("anyOf", ()):
        if kind != {"type": "null"}:
            return _outline(kind, parts, levels)
    short: dict[str, Any] = {key: schema[key] for key in ("type", "enum") if key in schema}
    if "enum" in short:
        del short["type"]
    if levels and "items" in schema:
        short["items"] = _outline(schema["items"], parts, levels - 1)
    if levels and "properties" in schema:
        short["properties"] = {
            name: _outline(field, parts, levels - 1) for name, field in schema["properties"].items()
        }
    return short


def _shortened(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a schema without titles, and without null as a type and default."""
    short = {key: value for key, value in schema.items() if key not in ("title", "anyOf")}
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) == 1:
        short = {**kinds[0], **short}
    elif kinds:
        short["anyOf"] = kinds
    if short.get("default", ...) is None:
        del short["default"]
    return short


def unknown_arguments(tool: str, unknown: list[str], names: list[str], /) -> str:
    """Returns a sentence about arguments that a tool does not have, with the nearest names."""
    parts = []
    for name in unknown:
        # A model may know the argument by its name in GraphQL, such as itemIds.
        snake = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()
        near = get_close_matches(snake, names, n=1, cutoff=_LIKE)
        meant = f" (did you mean {near[0]}?)" if near else ""
        parts.append(f"{name[:_SHOWN_CHARACTERS]!r}{meant}")
    which = "no argument" if len(parts) == 1 else "none of these arguments:"
    return f"{tool} has {which} {', '.join(parts)}. It takes: {', '.join(names)}."


def _wrong(tool: str, error: ValidationError) -> str:
    parts = []
    for fault in error.errors(include_url=False, include_context=False):
        name = ".".join(str(part) for part in fault["loc"])
        if fault["type"] == "missing":
            parts.append(f"{name} is missing")
            continue
        rule = re.sub(r"^(Input|String|List) should ", "it should ", fault["msg"])
        shown = repr(fault["input"])[:_SHOWN_CHARACTERS]
        parts.append(f"{name}: {rule[:1].lower()}{rule[1:]}, got {shown}")
    return f"{tool} could not read its arguments. {'; '.join(parts)}."
