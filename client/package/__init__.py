"""The typed client of graph-service: blocking or async, with the model's own types.

from graph_service_client import Client

with Client.connect("http://127.0.0.1:8000") as client:
    result = client.paths("Who is the mother of Maria Shriver's husband?")
"""

from __future__ import annotations

from graph_service_client.client import AsyncClient, Client

__version__ = "0"
__all__ = ["AsyncClient", "Client", "__version__"]
