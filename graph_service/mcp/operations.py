"""A user's own GraphQL operations as tools: a folder of documents, checked when the server starts.

Each named query becomes a tool: its variables are the arguments, and the comment above it says what it
is for. A document that does not hold in the schema is refused, with file and line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLError,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    OperationDefinitionNode,
    OperationType,
    VariableDefinitionNode,
    get_location,
    is_required_input_field,
    print_ast,
    separate_operations,
    type_from_ast,
    value_from_ast_untyped,
)
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations

from graph_service.api.documents import MAX_CHARACTERS, invalidities, read_document
from graph_service.api.schema import schema
from graph_service.client.calls import Call
from graph_service.errors import LimitError, SetupError
from graph_service.mcp.arguments import unknown_arguments
from graph_service.mcp.budget import DEFAULT_TOKENS, LEAST_TOKENS, MOST_TOKENS, count_tokens

BUDGET = "token_budget"
MAX_NAME = 64
_MAX_BYTES = 4 * MAX_CHARACTERS
_LINE_END = re.compile(r"\r\n|[\n\r]")
"""As GraphQL counts lines, which other separators do not end."""
_JSON_TYPES = {
    "Boolean": "boolean",
    "Float": "number",
    "ID": "string",
    "Int": "integer",
    "String": "string",
}


@dataclass(frozen=True, slots=True)
class Operation:
    """A query of the user's.

    Attributes:
        name: Of the tool.
        document: The query, with the fragments that it uses.
        description: The comment above it.
        arguments: JSON schema of its variables.
        takes_graph: Whether it has a variable ``graph``.
    """

    name: str
    document: str
    description: str
    arguments: Mapping[str, Any]
    takes_graph: bool

    def tool(self, annotations: ToolAnnotations, /) -> Tool:
        """Returns how the tool is listed."""
        return Tool(
            name=self.name,
            description=self.description,
            input_schema=dict(self.arguments),
            annotations=annotations,
        )

    def call(
        self, values: Mapping[str, Any], /, *, graph: str | None
    ) -> tuple[Call[Mapping[str, Any]], int]:
        """Returns the call for a tool's arguments, and the tokens that its answer may have.

        Args:
            values: The arguments; null stands for the default.
            graph: The graph that is meant where the arguments name none.

        Raises:
            ToolError: An argument is unknown, or the budget is out of bounds.
        """
        names = list(self.arguments["properties"])
        unknown = [name for name in values if name not in names]
        if unknown:
            raise ToolError(unknown_arguments(self.name, unknown, names))
        variables = {name: value for name, value in values.items() if value is not None}
        budget = variables.pop(BUDGET, DEFAULT_TOKENS)
        if not isinstance(budget, int) or not LEAST_TOKENS <= budget <= MOST_TOKENS:
            raise ToolError(f"{BUDGET} must be {LEAST_TOKENS} to {MOST_TOKENS}, got {budget!r}")
        if self.takes_graph and graph is not None:
            variables.setdefault("graph", graph)
        return Call(self.document, variables, lambda data: data), budget


def answer_of(data: Mapping[str, Any], text: str, /, *, budget: int) -> CallToolResult:
    """Returns the data of a query as a tool's answer.

    Args:
        data: Of the query.
        text: The same, as JSON.
        budget: Tokens of the structured content and the text together.

    Raises:
        ToolError: It has more tokens; a query is answered whole or not at all.
    """
    tokens = 2 * count_tokens(text)
    if tokens > budget:
        raise ToolError(
            f"the answer has {tokens} tokens, and {BUDGET} is {budget}: ask for less, or give a "
            f"larger {BUDGET}"
        )
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=dict(data)
    )


def read_operations(folder: Path, /, *, taken: Collection[str] = ()) -> tuple[Operation, ...]:
    """Returns the named queries of the ``.graphql`` files of a folder, by file and line.

    Args:
        folder: With its folders.
        taken: Names of tools that there are already.

    Raises:
        SetupError: There is none, a file cannot be read, or a document does not hold in the schema,
            has no name, writes, or is too large; names file and line.
    """
    try:
        files = sorted(folder.rglob("*.graphql"))
        if not folder.is_dir() or not files:
            raise SetupError(f"{folder} is no folder with .graphql files.")
    except OSError as error:
        raise SetupError(f"can't read the folder {folder}: {error.strerror}") from error
    where: dict[str, str] = dict.fromkeys(taken, "this server's own")
    operations: list[Operation] = []
    for file in files:
        for line, operation in _operations(file):
            if operation.name in where:
                raise _fault(
                    file,
                    line,
                    f"there is a tool {operation.name!r} already ({where[operation.name]})",
                )
            where[operation.name] = f"{file}, line {line}"
            operations.append(operation)
    return tuple(operations)


def _fault(file: Path, line: int, why: str) -> SetupError:
    return SetupError(
        f"{file}, line {line}: {why}.",
        hint="Mend it, or take the file out of the folder. docs/schema.graphql is the schema.",
    )


def _operations(file: Path) -> Iterator[tuple[int, Operation]]:
    text = _text_of(file)
    try:
        document = read_document(text)
        faults = invalidities(document, schema._schema)
    except LimitError as error:
        raise _fault(file, 1, error.message) from error
    except GraphQLError as error:
        raise _fault(file, _line_of(error), error.message.rstrip(".")) from error
    if faults:
        raise _fault(file, _line_of(faults[0]), faults[0].message.rstrip("."))
    lines = _LINE_END.split(text)
    by_name = separate_operations(document)
    for definition in document.definitions:
        if not isinstance(definition, OperationDefinitionNode):
            continue
        assert definition.loc is not None
        line = get_location(definition.loc.source, definition.loc.start).line
        if definition.operation is not OperationType.QUERY:
            raise _fault(
                file, line, f"a query was expected; this is a {definition.operation.value}"
            )
        if definition.name is None:
            raise _fault(file, line, "the query has no name, which its tool would have")
        name = definition.name.value
        if len(name) > MAX_NAME:
            raise _fault(file, line, f"the name of a tool has at most {MAX_NAME} characters")
        variables = {
            each.variable.name.value: each for each in definition.variable_definitions or ()
        }
        if BUDGET in variables:
            raise _fault(file, line, f"every tool has an argument {BUDGET}; rename the variable")
        arguments = _schema_of(variables, lines)
        try:
            json.dumps(arguments, allow_nan=False)
        except ValueError as error:
            raise _fault(file, line, "JSON has no such number as a default of it") from error
        yield (
            line,
            Operation(
                name,
                print_ast(by_name[name]),
                _comment_above(lines, line) or f"Runs the query {name}.",
                arguments,
                "graph" in variables,
            ),
        )


def _text_of(file: Path) -> str:
    """Returns the text of a file; a pipe, a device and a large file are not read."""
    try:
        if not file.is_file():
            raise SetupError(f"{file} is no file.")
        size = file.stat().st_size
        if size > _MAX_BYTES:
            raise SetupError(f"{file} has {size:,} bytes; {_MAX_BYTES:,} are allowed.")
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SetupError(f"can't read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SetupError(f"{file} is not UTF-8.") from error


def _line_of(error: GraphQLError) -> int:
    return error.locations[0].line if error.locations else 1


def _comment_above(lines: Sequence[str], line: int) -> str:
    """The comment that ends right above a line, without its marks."""
    words: list[str] = []
    for text in reversed(lines[: line - 1]):
        if not text.lstrip().startswith("#"):
            break
        words.insert(0, re.sub(r"^\s*#+ ?", "", text).rstrip())
    return "\n".join(words).strip()


def _schema_of(
    variables: Mapping[str, VariableDefinitionNode], lines: Sequence[str]
) -> dict[str, Any]:
    """JSON schema of an object of variables."""
    parts: dict[str, Any] = {}
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, definition in variables.items():
        kind: Any = type_from_ast(schema._schema, definition.type)
        shown = _json_type(kind, parts)
        assert definition.loc is not None
        start = get_location(definition.loc.source, definition.loc.start)
        about = _comment_above(lines, start.line)
        if about and not lines[start.line - 1][: start.column - 1].strip():
            shown = {**shown, "description": about}
        if definition.default_value is not None:
            shown = {**shown, "default": value_from_ast_untyped(definition.default_value)}
        elif isinstance(kind, GraphQLNonNull):
            required.append(name)
        properties[name] = shown
    properties[BUDGET] = {
        "type": "integer",
        "minimum": LEAST_TOKENS,
        "maximum": MOST_TOKENS,
        "default": DEFAULT_TOKENS,
    }
    made: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    if required:
        made["required"] = required
    if parts:
        made["$defs"] = parts
    return made


def _json_type(kind: GraphQLInputType, parts: dict[str, Any]) -> dict[str, Any]:
    """JSON schema of a type; input objects are put into ``parts`` by name."""
    if isinstance(kind, GraphQLNonNull):
        return _json_type(kind.of_type, parts)
    if isinstance(kind, GraphQLList):
        return {"type": "array", "items": _json_type(kind.of_type, parts)}
    if isinstance(kind, GraphQLEnumType):
        return {"type": "string", "enum": list(kind.values)}
    if isinstance(kind, GraphQLInputObjectType):
        if kind.name not in parts:
            parts[kind.name] = {}
            fields = {
                name: {
                    **_json_type(field.type, parts),
                    **({"description": field.description} if field.description else {}),
                }
                for name, field in kind.fields.items()
            }
            parts[kind.name] = {
                "type": "object",
                "properties": fields,
                "additionalProperties": False,
                "required": [
                    name for name, field in kind.fields.items() if is_required_input_field(field)
                ],
            }
        return {"$ref": f"#/$defs/{kind.name}"}
    name = getattr(kind, "name", "")
    return {"type": _JSON_TYPES[name]} if name in _JSON_TYPES else {}
