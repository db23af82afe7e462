"""The documents that a server answers, where it answers no others.

Files are as graphql-codegen and relay-compiler write them, a JSON object of ids and documents, or
Apollo's persisted query manifest. A client sends the id, the SHA-256 of the text, or the text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
from graphql import GraphQLError

from graph_service.api.documents import invalidities, read_document
from graph_service.api.schema import schema
from graph_service.errors import (
    DocumentNotFoundError,
    InputError,
    LimitError,
    PersistedQueryNotSupportedError,
    SetupError,
)
from graph_service.server.parameters import Parameters

MAX_FILE_BYTES = 50_000_000
MAX_ID_CHARACTERS = 200
SHA256 = "sha256:"
APOLLO_FORMAT = "apollo-persisted-query-manifest"
APOLLO_VERSION = 1


@dataclass(frozen=True, slots=True)
class TrustedDocuments:
    """Documents by the ids that clients send.

    Attributes:
        by_id: Texts by the ids of their files, and by ``sha256:`` and the hash of the text.
        texts: All of them.
    """

    by_id: Mapping[str, str]
    texts: frozenset[str]

    def resolve(self, parameters: Parameters, /) -> Parameters:
        """Returns the parameters of a request with the text of its document.

        Raises:
            DocumentNotFoundError: It names none of these documents, or two.
            PersistedQueryNotSupportedError: It has the hash of none of them alone.
        """
        ids = (parameters.document_id, parameters.persisted_hash)
        names = [name for name in ids if name is not None]
        texts = {self.by_id.get(_one_form(name)) for name in names}
        if parameters.query:
            texts.add(parameters.query if parameters.query in self.texts else None)
        text = next(iter(texts)) if len(texts) == 1 else None
        if text is None:
            if parameters.document_id is None and not parameters.query and names:
                # The client sends the query's text then, which may be one of the list.
                raise PersistedQueryNotSupportedError
            raise DocumentNotFoundError(
                "this server answers the documents of its own list alone, and this is none of them",
                hint="Send the id of a document, as documentId, or exactly its text.",
            )
        return replace(parameters, query=text)


def document_id(text: str, /) -> str:
    """Returns the id of a text as the GraphQL over HTTP specification makes it.

    >>> document_id("query($id:ID!){user(id:$id){name}}")
    'sha256:71f7dc5758652baac68e4a10c50be732b741c892ade2883a99358f52b555286b'
    """
    return SHA256 + hashlib.sha256(text.encode()).hexdigest()


def manifest_of(texts: Iterable[str], /) -> dict[str, str]:
    """Returns documents by their ids, as a file has them."""
    return {document_id(text): text for text in texts}


def read_trusted(paths: Iterable[Path], /) -> TrustedDocuments:
    """Returns the documents of files.

    Raises:
        SetupError: A file can't be read or has another form, a document does not hold in this
            version's schema, or two files have two documents under one id.
    """
    by_id: dict[str, str] = {}
    for path in paths:
        for name, text in _read(path).items():
            try:
                _check(text)
            except InputError as error:
                raise SetupError(
                    f"document {name!r} of {path} is not valid: {error.message}",
                    hint="Make the list anew with the schema of this version: docs/schema.graphql",
                ) from error
            for id_ in (_one_form(name), document_id(text)):
                if by_id.setdefault(id_, text) != text:
                    raise SetupError(f"{path} has another document {name!r} than a list before it.")
    return TrustedDocuments(by_id, frozenset(by_id.values()))


def _check(text: str) -> None:
    """Raises ``InputError`` for a text that is no document of the schema."""
    try:
        faults = invalidities(read_document(text), schema._schema)
    except (GraphQLError, LimitError) as error:
        raise InputError(error.message) from error
    if faults:
        raise InputError(faults[0].message)


def _read(path: Path) -> dict[str, str]:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise SetupError(f"{path} has more than {MAX_FILE_BYTES:,} bytes.")
        content = orjson.loads(path.read_bytes())
    except OSError as error:
        raise SetupError(f"can't read the documents of {path}: {error.strerror}") from error
    except orjson.JSONDecodeError as error:
        raise SetupError(f"{path} is no list of documents: it is not JSON ({error})") from error
    texts = _of_apollo(path, content) if _is_of_apollo(content) else content
    if not isinstance(texts, dict) or not texts:
        raise SetupError(f"{path} is no list of documents: it must be an object of ids and texts.")
    for name, text in texts.items():
        if not isinstance(text, str) or not 0 < len(name) <= MAX_ID_CHARACTERS:
            raise SetupError(
                f"{path} is no list of documents: {name[:MAX_ID_CHARACTERS]!r} must be an id, and "
                "have a text."
            )
    return texts


def _is_of_apollo(content: object) -> bool:
    return isinstance(content, dict) and content.get("format") == APOLLO_FORMAT


def _of_apollo(path: Path, manifest: Mapping[str, Any]) -> dict[str, str]:
    """Returns the documents of a manifest of ``@apollo/generate-persisted-query-manifest``."""
    if manifest.get("version") != APOLLO_VERSION:
        raise SetupError(
            f"{path} is a manifest of Apollo's in version {str(manifest.get('version'))[:20]!r}; "
            f"this server reads version {APOLLO_VERSION}."
        )
    operations = manifest.get("operations")
    texts: dict[str, str] = {}
    for each in operations if isinstance(operations, list) else ():
        name, text = (each.get("id"), each.get("body")) if isinstance(each, dict) else (None, None)
        if not isinstance(name, str) or not isinstance(text, str):
            raise SetupError(f'{path} has an operation without an "id" and a "body".')
        if texts.setdefault(name, text) != text:
            raise SetupError(f"{path} has two documents {name[:MAX_ID_CHARACTERS]!r}.")
    return texts


def _one_form(name: str) -> str:
    """Returns an id with its prefix, where it is a SHA-256 without one, as codegen writes it."""
    is_hash = len(name) == 64 and not name.lower().strip("0123456789abcdef")
    return SHA256 + name.lower() if is_hash else name
