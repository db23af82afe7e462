"""A server's errors as the classes of this package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_service.errors import (
    DeadlineError,
    GraphNotFoundError,
    GraphServiceError,
    InputError,
    LimitError,
    ReadOnlyError,
    SetupError,
    StoreError,
    StoreUnavailableError,
    ViewNotFoundError,
    ViewStaleError,
)

_BY_CODE: dict[str, type[GraphServiceError]] = {
    kind.code: kind
    for kind in (
        StoreError,
        InputError,
        GraphNotFoundError,
        ViewNotFoundError,
        ViewStaleError,
        ReadOnlyError,
        LimitError,
        DeadlineError,
        SetupError,
    )
}
# What the server's doors say before GraphQL is reached: a key, host or origin is wrong.
_BY_CODE["FORBIDDEN"] = SetupError


def error_of(message: str, fields: Mapping[str, Any], /) -> GraphServiceError:
    """Returns the error of a code, with the argument and the hint that came with it."""
    kind = _BY_CODE.get(fields.get("code", ""), GraphServiceError)
    if kind is StoreError and fields.get("retryable"):
        kind = StoreUnavailableError
    return kind(message, argument=fields.get("argument"), hint=fields.get("hint"))
