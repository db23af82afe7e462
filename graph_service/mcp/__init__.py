"""The graphs as an MCP server: tools that a language model calls, over stdio or HTTP.

It needs the official SDK (``pip install 'graph-service[mcp]'``) and asks through the client, so the
store may be in this process or behind a server.
"""
