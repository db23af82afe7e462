"""Keeps clients' documents that were read and found valid, within the budget of all caches.

Parsing and checking the documents of a client costs more than answering them. A document that
does not hold is not kept: what is wrong with it may be longer than itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

from graphql import DocumentNode, GraphQLError, Token
from strawberry.extensions import SchemaExtension

from graph_service.byte_budget import ByteCache

_TOKEN_BYTES = 500
"""What a token holds with the part of the document that is made of it (measured: 360)."""


class DocumentCache(SchemaExtension):
    """Reads each document once and checks it once, as long as it is kept.

    Args:
        read: Makes a document of its text; Strawberry's own way where it is not given.
        check: Says what is wrong with a document; Strawberry's own way where it is not given.
    """

    def __init__(
        self,
        *,
        read: Callable[[str], DocumentNode] | None = None,
        check: Callable[[DocumentNode], list[GraphQLError]] | None = None,
    ) -> None:
        super().__init__()
        self._read = read
        self._check = check
        self._known: DocumentNode | None = None

    @property
    def _cache(self) -> ByteCache[str, DocumentNode]:
        return ByteCache(self.execution_context.context.service.memory, "documents")

    def on_parse(self) -> Iterator[None]:
        """Gives the document that is kept, or reads it."""
        context = self.execution_context
        if context.query is not None:
            self._known = self._cache.get(context.query)
        if self._known is not None:
            context.graphql_document = self._known
        elif self._read is not None and context.query is not None:
            context.graphql_document = self._read(context.query)
        yield

    def on_validate(self) -> Iterator[None]:
        """Checks a document that is not kept, and keeps it where it holds."""
        context = self.execution_context
        if self._known is not None:
            context.pre_execution_errors = []
        elif self._check is not None and context.graphql_document is not None:
            context.pre_execution_errors = self._check(context.graphql_document)
        yield
        document, query = context.graphql_document, context.query
        if self._known is not None or document is None or query is None:
            return
        size = unlink_tokens(document)
        if not context.pre_execution_errors:
            self._cache.put(query, document, size)


def unlink_tokens(document: DocumentNode, /) -> int:
    """Takes a document's tokens apart; returns at least the bytes that it then holds.

    Each token knows the next and the one before, and so no document that is dropped would be
    freed before the next collection of garbage. Nobody reads the chain after the parser: places of
    errors are counted in the text. The bytes are those of the text, of its strings and of its
    parts, counted by tokens: to walk all parts takes longer than to read them.
    """
    if document.loc is None:
        return 0
    tokens = 0
    token: Token | None = document.loc.start_token
    while token is not None:
        tokens += 1
        following = token.next
        token.prev = token.next = None
        token = following
    return 2 * sys.getsizeof(document.loc.source.body) + _TOKEN_BYTES * tokens
