"""The typed client, in process or over HTTP: what other applications import."""

from __future__ import annotations

from graph_service.client.client import AsyncClient, Client

__all__ = ["AsyncClient", "Client"]
