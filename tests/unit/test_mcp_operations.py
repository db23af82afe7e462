"""A user's own GraphQL queries as tools of the MCP server: checked at start, run within limits (B18)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_runs import Cli
from demo_graph import MARIA
from error_texts import check_error, check_line, check_text, raises
from mcp import Client
from mcp_calls import TOOLS, asked, called, refused
from mcp_types import CallToolResult
from served import served

from graph_service import Service
from graph_service.client import AsyncClient
from graph_service.errors import SetupError
from graph_service.mcp.operations import read_operations
from graph_service.mcp.server import GraphServer
from graph_service.server.options import ServerOptions

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "mcp.md"
PATHS = """fragment Named on Item { itemId label }

# Answers a question
# by paths.
query ask($input: RetrieveInput!, $most: Int = 2) {
  paths(input: $input) { linked { item { itemId } } }
  searchItems(query: "Maria", first: $most) { nodes { ...Named } }
}
query second { graphs { nodes { name } } }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The query of the page, in a folder of its own."""
    (text,) = re.findall(
        r'```graphql title="queries/spouse.graphql"\n(.+?)```', PAGE.read_text(), re.S
    )
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "spouse.graphql").write_text(text)
    return tmp_path / "queries"


def server_of(service: Service, folder: Path, graph: str | None = None) -> GraphServer:
    client = AsyncClient.over(service, writable=False)
    return GraphServer(client, graph=graph, operations=folder)


def test_the_query_of_the_page_is_a_tool(demo_service: Service, folder: Path) -> None:
    server = server_of(demo_service, folder, graph="demo")
    tools = asked(server, lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == [*TOOLS, "spouses"]
    tool = tools[-1]
    check_text(tool.description)
    assert tool.annotations.read_only_hint is True
    assert tool.input_schema["properties"]["person"] == {
        "type": "string",
        "description": "Id of the person, such as Q230654; find it with search_items.",
    }
    assert tool.input_schema["required"] == ["person"]
    assert tool.input_schema["additionalProperties"] is False
    text, data = called(server, "spouses", person=MARIA, graph=None)
    assert data["item"]["label"] == "Maria Shriver"
    assert [node["valueText"] for node in data["item"]["statements"]["nodes"]] == [
        "Arnold Schwarzenegger"
    ]
    assert "Arnold Schwarzenegger" in text


def test_types_of_variables_are_a_json_schema(tmp_path: Path) -> None:
    (tmp_path / "paths.graphql").write_text(PATHS)
    ask, second = read_operations(tmp_path)
    assert ask.description == "Answers a question\nby paths."
    assert "fragment Named" in ask.document
    check_text(second.description)
    assert "Named" not in second.document
    properties = ask.arguments["properties"]
    assert properties["input"] == {"$ref": "#/$defs/RetrieveInput"}
    assert properties["most"] == {"type": "integer", "default": 2}
    assert ask.arguments["required"] == ["input"]
    part = ask.arguments["$defs"]["RetrieveInput"]
    assert part["required"] == ["question"]
    assert part["properties"]["question"]["type"] == "string"
    assert second.arguments["properties"].keys() == {"token_budget"}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("query a { nothing }", 1, "Cannot query field 'nothing'"),
        ("\n\nquery a {", 3, "Syntax Error"),
        ("query a { graphs { nodes { name } } }\n{ graphs { nodes { name } } }", 2, "anonymous"),
        ("{ graphs { nodes { name } } }", 1, "has no name"),
        (
            '\nmutation a { deleteGraph(input: {name: "x"}) { __typename } }',
            2,
            "is a mutation",
        ),
        ("query retrieve { graphs { nodes { name } } }", 1, "tool 'retrieve' already"),
        (
            "query a($token_budget: Int) { graphs(first: $token_budget) { nodes { name } } }",
            1,
            "argument token_budget",
        ),
        (f"query {'a' * 65} {{ graphs {{ nodes {{ name }} }} }}", 1, "at most 64 characters"),
    ],
)
def test_a_document_that_does_not_hold_is_refused_at_the_start(
    text: str, line: int, message: str, demo_service: Service, folder: Path
) -> None:
    (folder / "wrong.graphql").write_text(text)
    with pytest.raises(SetupError, match=re.escape(f"wrong.graphql, line {line}: ")) as caught:
        server_of(demo_service, folder)
    assert message in str(caught.value)


def test_two_tools_of_one_name_are_refused(demo_service: Service, folder: Path) -> None:
    (folder / "inner").mkdir()
    again = folder / "inner" / "again.graphql"
    again.write_text("query spouses { graphs { nodes { name } } }")
    with raises(SetupError):
        server_of(demo_service, folder)


def test_wrong_arguments_and_large_answers_are_refused(demo_service: Service, folder: Path) -> None:
    (folder / "all.graphql").write_text(
        "query all($id: ID!) { item(itemId: $id) { statements(first: 200) "
        "{ nodes { id statementId valueText property { label } } } } }"
    )
    server = server_of(demo_service, folder)
    check_line(refused(server, "spouses", persons=MARIA), "you mean person")
    assert "$person" in refused(server, "spouses", person={"id": MARIA})
    assert "$person" in refused(server, "spouses")
    check_line(
        refused(server, "spouses", person=MARIA, token_budget=1), "token_budget", "500", "100000"
    )
    check_line(refused(server, "all", id=MARIA, token_budget=500), "larger token_budget")
    _, data = called(server, "all", id=MARIA, token_budget=100_000)
    assert len(data["item"]["statements"]["nodes"]) > 10


def test_a_server_answers_them_within_its_own_limits(demo_service: Service, folder: Path) -> None:
    (folder / "costly.graphql").write_text(
        "query costly { graphs { nodes { name } } "
        + " ".join(f'a{i}: paths(input: {{question: "Maria"}}) {{ status }}' for i in range(10))
        + " }"
    )
    with served(demo_service, ServerOptions(max_cost=5.0)) as url:
        far = AsyncClient.connect(url)
        server = GraphServer(far, graph="demo", operations=folder)

        async def use(client: Client) -> tuple[CallToolResult, ...]:
            async with far:
                return (
                    await client.call_tool("spouses", {"person": MARIA}),
                    await client.call_tool("costly", {}),
                    await client.call_tool("retrieve", {"question": "Maria Shriver " * 700}),
                )

        answer, *refusals = asked(server, use)
    assert answer.structured_content["item"]["label"] == "Maria Shriver"
    for refusal in refusals:
        assert refusal.is_error
        assert "cost" in refusal.content[0].text


def test_the_command_names_the_file_that_does_not_hold(demo_cli: Cli, folder: Path) -> None:
    (folder / "wrong.graphql").write_text("query a { nothing }")
    made = demo_cli("mcp", "--operations", str(folder))
    assert made.code != 0
    check_error(made.err)
    made = demo_cli("mcp", "--operations", "missing")
    check_error(made.err)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (os.mkfifo, "is no file"),
        (lambda path: path.mkdir(), "is no file"),
        (lambda path: path.symlink_to("/dev/zero"), "is no file"),
        (lambda path: path.symlink_to(path), "is no file"),
        (lambda path: path.write_text("#" * 400_001), "has 400,001 bytes; 400,000 are allowed"),
        (
            lambda path: path.write_text(
                'query a($s: Float = 1e999) { paths(input: {question: "x", minScore: $s}) { id } }'
            ),
            "no such number",
        ),
    ],
)
def test_a_hostile_file_is_refused_by_name(
    make: Callable[[Path], object], message: str, folder: Path
) -> None:
    make(folder / "hostile.graphql")
    with pytest.raises(SetupError, match=message) as raised:
        read_operations(folder)
    assert "hostile.graphql" in str(raised.value)


def test_lines_are_those_of_graphql(tmp_path: Path) -> None:
    """Other separators of lines, which Python knows, move no comment to another variable."""
    (tmp_path / "a.graphql").write_text(
        "# One\u2028still one\x0c.\n# Two\x85.\nquery a(\n  # How many.\n  $most: Int = 3\n) "
        "{ graphs(first: $most) { nodes { name } } }"
    )
    (operation,) = read_operations(tmp_path)
    assert operation.description == "One\u2028still one\x0c.\nTwo\x85."
    assert operation.arguments["properties"]["most"]["description"] == "How many."
