"""The bodies of answers that never reached GraphQL: its form of an error, whatever went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from starlette.responses import Response

from graph_service.server.record import current_record

RETRY: Mapping[str, str] = {"retry-after": "1"}


def refusal_body(
    code: str,
    message: str,
    request_id: str = "",
    /,
    *,
    extensions: Mapping[str, Any] | None = None,
) -> bytes:
    """Returns an error as JSON; its request id is the one of the log where none is given."""
    record = current_record()
    record.codes = (code,)
    about = {"code": code, "requestId": request_id or record.request_id}
    body: dict[str, Any] = {"errors": [{"message": message, "extensions": about}]}
    if extensions is not None:
        body["extensions"] = extensions
    return orjson.dumps(body)


def refusal(
    status: int,
    code: str,
    message: str,
    headers: Mapping[str, str] | None = None,
    *,
    request_id: str = "",
    extensions: Mapping[str, Any] | None = None,
) -> Response:
    """Returns an answer with an error, and with extensions of the whole answer if it has any."""
    body = refusal_body(code, message, request_id, extensions=extensions)
    return Response(body, status, headers, media_type="application/json")
