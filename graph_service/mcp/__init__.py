"""The graphs as an MCP server: tools that a language model calls, over stdio or HTTP.

It needs the official SDK (``pip install 'graph-service[mcp]'``) and asks through the client, so the
store may be in this process or behind a server.
"""

from importlib.util import find_spec

if find_spec("mcp") is None:
    raise ImportError(
        "graph_service.mcp needs mcp, which is not installed. Run: pip install 'graph-service[mcp]'",
        name="mcp",
    )
