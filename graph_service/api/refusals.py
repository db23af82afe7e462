"""The bodies of answers that never reached GraphQL: its form of an error, whatever went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import uuid4

import orjson
from starlette.responses import Response

RETRY: Mapping[str, str] = {"retry-after": "1"}


def refusal_body(code: str, message: str, request_id: str = "", /) -> bytes:
    """Returns an error as JSON; it has a request id of its own where none is given."""
    extensions = {"code": code, "requestId": request_id or uuid4().hex}
    error = {"message": message, "extensions": extensions}
    return orjson.dumps({"data": None, "errors": [error]})


def refusal(
    status: int,
    code: str,
    message: str,
    headers: Mapping[str, str] | None = None,
    *,
    request_id: str = "",
) -> Response:
    """Returns an answer with an error."""
    body = refusal_body(code, message, request_id)
    return Response(body, status, headers, media_type="application/json")
