"""At home in inspect_ai: tasks, scorers and the MCP server as tools (B18).

``inspect eval graph_service/kalma`` has them by the entry point of this package. They are here and
not in ``queries/`` since inspect_ai names what it lists after the package, and since they put
questions, the client and scores together, as only the command line may.
"""
