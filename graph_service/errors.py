"""Every error this project raises on purpose, by who can act on it.

    GraphServiceError
    ├── InputError               the caller can mend it: a bad argument, file or question
    │   ├── GraphNotFoundError       no such graph; names those there are
    │   ├── ViewNotFoundError        no such view
    │   ├── ViewStaleError           the view belongs to another state of its base graph
    │   └── ReadOnlyError            a write was asked of a server that only reads
    ├── SetupError               the operator can mend it; ends with the command that does
    │   └── ModelFileError           model weights are missing or not the ones expected
    ├── StoreError               the store failed; ``retryable`` says whether trying again helps
    │   ├── StoreUnavailableError    it does not answer (server away, file locked, wrong password)
    │   ├── StoreFullError           no space is left; nothing of the failed batch is in
    │   ├── StoreCorruptError        the file is damaged or is no store of ours
    │   ├── SchemaVersionError       written by a newer version of this package
    │   ├── LoadInProgressError      another load of the same graph holds the lease
    │   └── KeyCollisionError        two ids share a 64-bit key
    └── LimitError               a limit was reached; says which
        └── DeadlineError            the time allowed ran out

Each class has a ``code``, the ``extensions.code`` under which GraphQL reports it.
"""

from __future__ import annotations


class GraphServiceError(Exception):
    """Base of all errors raised on purpose.

    Args:
        message: What was expected, what came, and what to do.
        argument: Name of the argument at fault, if there is one.
        hint: A command or a value that would work.
    """

    code = "INTERNAL"
    retryable = False
    about_server = ""
    """What a client of the API is told instead of the message, which may name files and
    addresses of the server; empty where the message is the client's."""

    def __init__(
        self, message: str, /, *, argument: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.argument = argument
        self.hint = hint

    def __str__(self) -> str:
        if not self.hint:
            return self.message
        # Messages end without a full stop, and hints are sentences of their own.
        stop = "" if self.message.endswith((".", "!", "?", ":")) else "."
        return f"{self.message}{stop} {self.hint}"


class InputError(GraphServiceError):
    """The caller can mend it."""

    code = "BAD_INPUT"


class GraphNotFoundError(InputError):
    """No graph of that name is published in this store."""

    code = "GRAPH_NOT_FOUND"


class ViewNotFoundError(InputError):
    """No view of that id or name is stored."""

    code = "VIEW_NOT_FOUND"


class ViewStaleError(InputError):
    """The view was made for another state (``edges`` fingerprint) of its base graph."""

    code = "VIEW_STALE"


class ReadOnlyError(InputError):
    """A write was asked of a server that was started to read only."""

    code = "READ_ONLY"


class SetupError(GraphServiceError):
    """The operator can mend it; ``hint`` holds the command that does."""

    code = "SETUP"
    about_server = "the server lacks something that this query needs"


class ModelFileError(SetupError):
    """Model weights are missing or are not the ones expected."""


class StoreError(GraphServiceError):
    """The store failed."""

    code = "STORE_UNAVAILABLE"
    about_server = "the store has failed"


class StoreUnavailableError(StoreError):
    """The store does not answer; trying again later may help."""

    retryable = True
    about_server = "the store does not answer"


class StoreFullError(StoreError):
    """No space is left. Nothing of the failed batch is in the store."""

    retryable = True
    about_server = "the store has no space left"


class StoreCorruptError(StoreError):
    """The file is damaged, or is not a store of ours."""

    about_server = "the store is damaged"


class SchemaVersionError(StoreError):
    """The store was written by a newer version of this package."""

    about_server = "the store is of another version than the server"


class LoadInProgressError(StoreError):
    """Another load of the same graph is under way."""

    retryable = True
    about_server = "another load of the same graph is under way"


class KeyCollisionError(StoreError):
    """Two different ids have the same 64-bit key."""


class LimitError(GraphServiceError):
    """A limit was reached."""

    code = "LIMIT_EXCEEDED"


class DeadlineError(LimitError):
    """The time allowed ran out."""

    code = "TIMEOUT"
