"""A server's errors as the classes of this package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_service.errors import (
    DeadlineError,
    DocumentNotFoundError,
    EditionGoneError,
    ForbiddenError,
    GraphNotFoundError,
    GraphServiceError,
    InputError,
    LimitError,
    MaxCostError,
    PersistedQueryNotSupportedError,
    ReadOnlyError,
    SetupError,
    StoreError,
    StoreUnavailableError,
    ThrottledError,
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
        EditionGoneError,
        DocumentNotFoundError,
        PersistedQueryNotSupportedError,
        ReadOnlyError,
        LimitError,
        MaxCostError,
        ThrottledError,
        DeadlineError,
        SetupError,
        # The server's doors say it too, before GraphQL is reached: a key, host or origin is wrong.
        ForbiddenError,
    )
}


RETRY_AFTER = "retryAfterS"
"""What the transport adds to an error: the seconds of the header ``Retry-After``."""


def error_of(message: str, fields: Mapping[str, Any], /) -> GraphServiceError:
    """Returns the error of a code, with the argument and the hint that came with it.

    Whether the same may work later, and after how many seconds, come along where they are told.
    """
    kind = _BY_CODE.get(fields.get("code", ""), GraphServiceError)
    if kind is StoreError and fields.get("retryable"):
        kind = StoreUnavailableError
    error = kind(message, argument=fields.get("argument"), hint=fields.get("hint"))
    if fields.get("retryable"):
        error.retryable = True
    after = fields.get(RETRY_AFTER)
    if isinstance(after, int | float):
        error.retry_after_s = float(after)
    return error
