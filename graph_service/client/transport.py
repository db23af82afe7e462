"""How a document reaches the schema: in this process, or over HTTP."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Mapping
from typing import Any, Protocol

import httpx
import orjson

from graph_service.client.errors import error_of
from graph_service.errors import (
    DeadlineError,
    GraphServiceError,
    InputError,
    StoreError,
    StoreUnavailableError,
)
from graph_service.service import Service


class Transport(Protocol):
    """Carries one operation."""

    def send(self, document: str, variables: Mapping[str, Any], /) -> dict[str, Any]:
        """Returns the operation's data.

        Raises:
            GraphServiceError: The error that the server reported, as the class of its code.
        """

    async def send_async(self, document: str, variables: Mapping[str, Any], /) -> dict[str, Any]:
        """Does the same without blocking the event loop."""

    def close(self) -> None:
        """Releases connections."""

    async def close_async(self) -> None:
        """Does the same inside an event loop."""


class InProcess:
    """Runs documents against a service of this process, over the same schema."""

    def __init__(self, service: Service, /, *, writable: bool = True) -> None:
        self._service = service
        self._writable = writable

    def send(self, document: str, variables: Mapping[str, Any], /) -> dict[str, Any]:
        """Returns the operation's data."""
        from graph_service.api.schema import execute

        response = execute(self._service, document, dict(variables), writable=self._writable)
        return unwrap(response)

    async def send_async(self, document: str, variables: Mapping[str, Any], /) -> dict[str, Any]:
        """Returns the operation's data; the work runs in a thread."""
        return await asyncio.to_thread(self.send, document, variables)

    def close(self) -> None:
        """The service stays open: it is the caller's."""

    async def close_async(self) -> None:
        """The service stays open: it is the caller's."""


class Http:
    """Sends documents to a server.

    Args:
        url: The server's address, with or without ``/graphql``.
        api_key: The server's key, if it asks for one.
        timeout_s: Time limit of one operation in seconds.
    """

    def __init__(self, url: str, /, *, api_key: str = "", timeout_s: float = 60.0) -> None:
        if not url.lower().startswith(("http://", "https://")):
            raise InputError(
                f"the address of a server begins with http:// or https://; got {url!r}",
                argument="server",
                hint="For instance http://127.0.0.1:8000",
            )
        base = url.rstrip("/")
        self._url = base if base.endswith("/graphql") else f"{base}/graphql"
        self._headers = {b"content-type": b"application/json"}
        if api_key:
            self._headers[b"authorization"] = f"Bearer {api_key}".encode()
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None
        self._async_client: httpx.AsyncClient | None = None

    def send(self, document: str, variables: Mapping[str, Any], /) -> dict[str, Any]:
        """Returns the operation's data."""
        with self._lock:
            if self._client is None:
                self._client = httpx.Client(headers=self._headers, timeout=self._timeout_s)
        try:
            response = self._client.post(self._url, content=_body(document, variables))
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        return self._read(response)

    async def send_async(self, document: str, variables: Mapping[str, Any], /) -> dict[str, Any]:
        """Returns the operation's data."""
        if self._async_client is None:
            self._async_client = httpx.AsyncClient(headers=self._headers, timeout=self._timeout_s)
        try:
            response = await self._async_client.post(self._url, content=_body(document, variables))
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        return self._read(response)

    def close(self) -> None:
        """Closes the connections."""
        if self._client is not None:
            self._client.close()

    async def close_async(self) -> None:
        """Closes the connections."""
        if self._async_client is not None:
            await self._async_client.aclose()

    def _unreachable(self, error: httpx.HTTPError) -> GraphServiceError:
        if isinstance(error, httpx.TimeoutException):
            return DeadlineError(f"{self._url} did not answer within {self._timeout_s:g} s")
        return StoreUnavailableError(
            f"{self._url} does not answer: {error or type(error).__name__}",
            hint="Is the server up? graph-service serve",
        )

    def _read(self, response: httpx.Response) -> dict[str, Any]:
        try:
            payload = orjson.loads(response.content)
        except orjson.JSONDecodeError as error:
            raise StoreError(
                f"{self._url} answered {response.status_code} with something other than JSON"
            ) from error
        if not isinstance(payload, dict):
            raise StoreError(f"{self._url} answered {response.status_code} without an object")
        return unwrap(payload)


def _body(document: str, variables: Mapping[str, Any]) -> bytes:
    _check_numbers(variables)
    try:
        return orjson.dumps({"query": document, "variables": dict(variables)})
    except TypeError as error:
        raise InputError(f"what is asked can't be written as JSON: {error}") from error


def _check_numbers(value: Any) -> None:
    """Raises ``InputError`` for a number that JSON lacks: it would be sent as null, which is none."""
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"a number must be finite, got {value}")
    if isinstance(value, Mapping):
        for part in value.values():
            _check_numbers(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            _check_numbers(part)


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
