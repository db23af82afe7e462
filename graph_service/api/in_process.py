"""The client's transport in one process: documents run against a service, over the same schema."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from graph_service.api.schema import execute
from graph_service.service import Service


class InProcess:
    """Runs documents against a service of this process.

    Args:
        service: What is asked. It stays the caller's: closing the transport leaves it open.
        writable: Whether mutations are allowed.
    """

    def __init__(self, service: Service, /, *, writable: bool = True) -> None:
        self._service = service
        self._writable = writable

    def send(self, document: str, variables: Mapping[str, Any], /) -> dict[str, Any]:
        """Runs a document in this process and returns its response."""
        return execute(self._service, document, dict(variables), writable=self._writable)

    async def send_async(self, document: str, variables: Mapping[str, Any], /) -> dict[str, Any]:
        """Returns the response; the work runs in a thread."""
        return await asyncio.to_thread(self.send, document, variables)

    def close(self) -> None:
        """Does nothing: the service stays the caller's."""

    async def close_async(self) -> None:
        """Does nothing: the service stays the caller's."""
