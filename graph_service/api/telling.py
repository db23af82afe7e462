"""What a client is told of an error."""

from __future__ import annotations

import logging
from typing import Any

from graph_service.api.loading import OperationContext
from graph_service.errors import GraphServiceError, MaxCostError
from graph_service.model.request import RetrieveRequest
from graph_service.options import camel_case, graphql_name, options_of

MAX_MESSAGE = 1_000
log = logging.getLogger("graph_service.api")


def client_error(error: GraphServiceError, context: OperationContext) -> tuple[str, dict[str, Any]]:
    """Returns the message of an error of ours, and what it says beside that, for the client."""
    fields: dict[str, Any] = {"code": error.code}
    if error.argument:
        fields["argument"] = _camel(error.argument)
    if error.retryable:
        fields["retryable"] = True
    if isinstance(error, MaxCostError):
        fields |= {"cost": error.cost, "maxCost": error.max_cost}
    if context.masked and error.about_server:
        log.warning("request %s: %s", context.request_id, error)
        message = f"{error.about_server}; the server's log says more under {context.request_id}"
        return message, fields
    if error.hint:
        fields["hint"] = error.hint
    return error.message, fields


def shortened(message: str) -> str:
    """Returns a message of a length to be read: it may quote what was sent, a megabyte."""
    return message if len(message) <= MAX_MESSAGE else f"{message[: MAX_MESSAGE - 1]}…"


def _camel(name: str) -> str:
    known = options_of(RetrieveRequest).get(name)
    if known is not None:
        return known.graphql_path
    return ".".join(camel_case(graphql_name(part)) for part in name.split("."))
