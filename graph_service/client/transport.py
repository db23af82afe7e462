"""What carries an operation to the schema, and how its response is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from graph_service.client.errors import error_of
from graph_service.errors import StoreError


class Transport(Protocol):
    """Carries one operation: ``client.http.Http`` or ``api.in_process.InProcess``."""

    def send(self, document: str, variables: Mapping[str, Any], /) -> Mapping[str, Any]:
        """Returns the GraphQL response, with ``data`` and ``errors``.

        Raises:
            GraphServiceError: There is no response.
        """

    async def send_async(self, document: str, variables: Mapping[str, Any], /) -> Mapping[str, Any]:
        """Does the same without blocking the event loop."""

    def close(self) -> None:
        """Releases the connections to the server."""

    async def close_async(self) -> None:
        """Does the same inside an event loop."""


def unwrap(response: Mapping[str, Any], /) -> dict[str, Any]:
    """Returns a response's data; raises its first error as the class of its code."""
    errors = response.get("errors")
    if errors:
        first = errors[0] if isinstance(errors, list) else None
        if not isinstance(first, dict):
            raise StoreError("the server's errors are not as GraphQL has them")
        message = first.get("message", "the server reported an error")
        raise error_of(message, first.get("extensions") or {})
    data = response.get("data")
    if not isinstance(data, dict):
        raise StoreError("the server's answer holds neither data nor errors")
    return data
