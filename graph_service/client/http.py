"""The transport of the client over HTTP, blocking or not."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from typing import Any

import httpx
import orjson

from graph_service.client.errors import RETRY_AFTER
from graph_service.errors import (
    DeadlineError,
    GraphServiceError,
    InputError,
    StoreError,
    StoreUnavailableError,
)

_TRANSIENT = (429, 502, 503, 504)
"""What proxies answer, in their own words, while a server is away."""


class Http:
    """Sends documents to a server.

    Args:
        url: The server's address, with or without ``/graphql``.
        api_key: The server's key, if it asks for one.
        timeout_s: Time limit of one operation in seconds.
    """

    def __init__(self, url: str, /, *, api_key: str = "", timeout_s: float = 60.0) -> None:
        base = url.rstrip("/")
        self._url = base if base.endswith("/graphql") else f"{base}/graphql"
        _check_address(self._url, url)
        self._headers = {b"content-type": b"application/json"}
        if api_key:
            self._headers[b"authorization"] = f"Bearer {api_key}".encode()
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None
        self._async_client: httpx.AsyncClient | None = None

    def send(self, document: str, variables: Mapping[str, Any], /) -> dict[str, Any]:
        """Sends a document with its variables and returns the response."""
        with self._lock:
            if self._client is None:
                self._client = httpx.Client(headers=self._headers, timeout=self._timeout_s)
        try:
            response = self._client.post(self._url, content=_body(document, variables))
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        return self._read(response)

    async def send_async(self, document: str, variables: Mapping[str, Any], /) -> dict[str, Any]:
        """Sends a document with its variables and returns the response."""
        if self._async_client is None:
            self._async_client = httpx.AsyncClient(headers=self._headers, timeout=self._timeout_s)
        try:
            response = await self._async_client.post(self._url, content=_body(document, variables))
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        return self._read(response)

    def close(self) -> None:
        """Closes the connections that were kept open."""
        if self._client is not None:
            self._client.close()

    async def close_async(self) -> None:
        """Closes the connections that were kept open."""
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
            kind = StoreUnavailableError if response.status_code in _TRANSIENT else StoreError
            raise kind(
                f"{self._url} answered {response.status_code} with something other than JSON"
            ) from error
        if not isinstance(payload, dict):
            raise StoreError(f"{self._url} answered {response.status_code} without an object")
        after = response.headers.get("retry-after", "")
        if after.isascii() and after.isdigit():
            for message in payload.get("errors") or ():
                message.setdefault("extensions", {})[RETRY_AFTER] = int(after)
        return payload


def _check_address(address: str, text: str) -> None:
    try:
        parts = httpx.URL(address)
    except httpx.InvalidURL as error:
        fault = f"{text!r} is no address of a server: {error}"
    else:
        if parts.scheme in ("http", "https") and parts.host:
            return
        fault = f"the address of a server begins with http:// or https:// and a host; got {text!r}"
    raise InputError(fault, argument="server", hint="For instance http://127.0.0.1:8000")


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
