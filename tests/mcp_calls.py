"""Calls of the MCP server's tools by the SDK's own client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from mcp import Client

TOOLS = ["search_items", "get_statements", "describe_graph", "retrieve"]
RESEARCH = ["compare", "list_views", "search_passages"]
MOST_TOOL_BYTES = 8_000
T = dict[str, Any]


def asked(server: Any, use: Callable[[Any], Awaitable[Any]]) -> Any:
    """Returns what a function gets of a client of the server."""

    async def run() -> Any:
        async with Client(server) as client:
            return await use(client)

    return asyncio.run(run())


def called(server: Any, tool: str, **arguments: Any) -> tuple[str, T]:
    """Returns the text and the structured content of a tool's answer."""
    result = asked(server, lambda client: client.call_tool(tool, arguments))
    assert not result.is_error, result.content
    assert [block.type for block in result.content] == ["text"]
    return result.content[0].text, result.structured_content


def refused(server: Any, tool: str, **arguments: Any) -> str:
    """Returns what a tool's error says."""
    result = asked(server, lambda client: client.call_tool(tool, arguments))
    assert result.is_error
    text: str = result.content[0].text
    return text
