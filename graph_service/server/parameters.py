"""The parameters of a GraphQL request: from a JSON body, or from the address of a GET."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from graph_service.errors import InputError, PersistedQueryNotSupportedError

NAMES = ("query", "documentId", "variables", "operationName", "extensions")
_READ_AS_JSON = ("variables", "extensions")


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a client asks for, as the GraphQL over HTTP specification names it.

    Attributes:
        query: The document; "" where its id stands for it.
        variables: By name.
        operation_name: Which of the document's operations is meant.
        extensions: What the specification leaves to servers; this one knows ``persistedQuery``.
        document_id: Of a document that the server has; None where it is not given.
    """

    query: str
    variables: Mapping[str, Any] | None = None
    operation_name: str | None = None
    extensions: Mapping[str, Any] | None = None
    document_id: str | None = None

    @property
    def persisted_hash(self) -> str | None:
        """The hash that clients of automatic persisted queries send; None where there is none.

        Raises:
            InputError: ``persistedQuery`` has another form.
        """
        persisted = (self.extensions or {}).get("persistedQuery")
        if persisted is None:
            return None
        name = persisted.get("sha256Hash") if isinstance(persisted, dict) else None
        if not isinstance(name, str):
            raise InputError('"extensions.persistedQuery" must have a "sha256Hash"')
        return name

    def require_query(self) -> None:
        """Checks that a hash did not come alone, for a server that runs whatever query is sent.

        Such a server keeps no query by its hash, so the hash of a query that came does not matter.

        Raises:
            PersistedQueryNotSupportedError: It did.
            InputError: ``persistedQuery`` has another form.
        """
        if self.persisted_hash is not None and not self.query:
            raise PersistedQueryNotSupportedError


def read_body(body: bytes, /, *, by_id: bool = False) -> Parameters:
    """Returns the parameters of a POST.

    Args:
        body: As it came.
        by_id: Whether an id may stand for the document.

    Raises:
        InputError: The body is not JSON, or a parameter has another type.
    """
    try:
        payload = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InputError(f"the body is not JSON: {error}") from error
    if not isinstance(payload, dict) or not _names_a_document(payload, by_id):
        raise InputError('the body must be an object with a "query"')
    return _checked(payload)


def read_address(items: Iterable[tuple[str, str]], /, *, by_id: bool = False) -> Parameters:
    """Returns the parameters of a GET: the decoded pairs of its address.

    Args:
        items: The pairs.
        by_id: Whether an id may stand for the document.

    Raises:
        InputError: There is no query, a parameter comes twice, or one is not JSON of its type.
    """
    fields: dict[str, Any] = {}
    for name, value in items:
        if name not in NAMES:
            continue
        if name in fields:
            raise InputError(f'the address has "{name}" more than once')
        fields[name] = value
    for name in _READ_AS_JSON:
        if fields.get(name):
            try:
                fields[name] = orjson.loads(fields[name])
            except orjson.JSONDecodeError as error:
                raise InputError(f'"{name}" is not JSON: {error}') from error
        else:
            fields[name] = None
    if not _names_a_document(fields, by_id):
        raise InputError('the address has no "query"; GraphQL also comes by POST, as JSON')
    return _checked(fields)


def _names_a_document(fields: Mapping[str, Any], by_id: bool) -> bool:
    query = fields.get("query")
    # Apollo's clients send their hash with an empty query, with null or with none.
    extensions = fields.get("extensions")
    has_hash = isinstance(extensions, dict) and extensions.get("persistedQuery") is not None
    return isinstance(query, str) or ((by_id or has_hash) and query is None)


def _checked(fields: Mapping[str, Any]) -> Parameters:
    for name in ("variables", "extensions"):
        if fields.get(name) is not None and not isinstance(fields[name], dict):
            raise InputError(f'"{name}" must be an object')
    operation, document_id = fields.get("operationName"), fields.get("documentId")
    for name, value in (("operationName", operation), ("documentId", document_id)):
        if value is not None and not isinstance(value, str):
            raise InputError(f'"{name}" must be a string')
    # The specification: an empty name is as none.
    return Parameters(
        fields.get("query") or "",
        fields.get("variables"),
        operation or None,
        fields.get("extensions"),
        document_id,
    )
