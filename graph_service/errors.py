"""Every error this project raises on purpose, by who can act on it.

    GraphServiceError
    ├── InputError               the caller can mend it: a bad argument, file or question
    │   ├── GraphNotFoundError       no such graph; names those there are
    │   ├── ViewNotFoundError        no such view
    │   ├── ViewStaleError           the view belongs to another state of its base graph
    │   ├── DocumentNotFoundError    a server answers its own documents alone
    │   ├── PersistedQueryNotSupportedError  a hash came alone; the server needs the query's text
    │   ├── EditionGoneError         an id or a cursor is of an edition that is no longer current
    │   └── ReadOnlyError            a write was asked of a server that only reads
    ├── SetupError               the operator can mend it; ends with the command that does
    │   ├── ForbiddenError           the caller's key does not allow it
    │   └── ModelFileError           model weights are missing or not the ones expected
    ├── StoreError               the store failed; ``retryable`` says whether trying again helps
    │   ├── StoreUnavailableError    it does not answer (server away, file locked, wrong password)
    │   ├── StoreFullError           no space is left; nothing of the failed batch is in
    │   ├── StoreCorruptError        the file is damaged or is no store of ours
    │   ├── SchemaVersionError       written by a newer version of this package
    │   ├── LoadInProgressError      another load of the same graph holds the lease
    │   └── KeyCollisionError        two ids share a 64-bit key
    └── LimitError               a limit was reached; says which
        ├── DeadlineError            the time allowed ran out
        ├── MaxCostError             an operation costs more than a server allows
        └── ThrottledError           a client has asked for too much in a short time

Each class has a ``code``, the ``extensions.code`` under which GraphQL reports it.
"""

from __future__ import annotations

from typing import Any


class GraphServiceError(Exception):
    """Base of all errors raised on purpose.

    Args:
        message: What was expected, what came, and what to do.
        argument: Name of the argument at fault, if there is one.
        hint: A command or a value that would work.
    """

    code = "INTERNAL"
    retryable = False
    retry_after_s: float | None = None
    """Seconds after which a server asks to be asked again, where it says so."""
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


class DocumentNotFoundError(InputError):
    """A server answers the documents of its own list alone, and this is none of them."""

    code = "DOCUMENT_NOT_FOUND"


class PersistedQueryNotSupportedError(InputError):
    """A client sent the hash of a query alone, which the server does not know.

    Clients of automatic persisted queries know the message, and send the query's text instead.
    """

    code = "PERSISTED_QUERY_NOT_SUPPORTED"

    def __init__(self, message: str = "PersistedQueryNotSupported", /, **about: Any) -> None:
        super().__init__(message, **about)


class EditionGoneError(InputError):
    """An id or a cursor belongs to an edition of a graph that another has replaced."""

    code = "EDITION_GONE"


class ReadOnlyError(InputError):
    """A write was asked of a server that was started to read only."""

    code = "READ_ONLY"


class SetupError(GraphServiceError):
    """The operator can mend it; ``hint`` holds the command that does."""

    code = "SETUP"
    about_server = "the server lacks something that this query needs"


class ForbiddenError(SetupError):
    """The caller's key does not allow it; the operator can make one that does."""

    code = "FORBIDDEN"
    about_server = ""


class ModelFileError(SetupError):
    """Model weights are missing or are not the ones expected."""


class StoreError(GraphServiceError):
    """The store failed, or its file is damaged."""

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
    """The request is for more than a limit allows."""

    code = "LIMIT_EXCEEDED"


class DeadlineError(LimitError):
    """The time allowed ran out."""

    code = "TIMEOUT"
    read_hint = (
        "Ask for fewer hops or edges, or raise the time limit (GRAPH_SERVICE_READ_TIMEOUT_S)."
    )


class MaxCostError(LimitError):
    """An operation costs more than a server allows; it was not run.

    Attributes:
        cost: What it costs, in retrievals; None where that is not known.
        max_cost: The most that one operation may cost; None where that is not known.
    """

    code = "MAX_COST_EXCEEDED"
    cost: float | None = None
    max_cost: float | None = None

    @classmethod
    def of(cls, cost: float, max_cost: float, /) -> MaxCostError:
        """Returns the error for an operation of some cost."""
        error = cls(
            f"the operation costs {cost:.10g}, and one may cost {max_cost:.10g} at most",
            hint="Ask for fewer questions, items or views, or in several operations.",
        )
        error.cost, error.max_cost = cost, max_cost
        return error

    @classmethod
    def of_views(cls, cost: float, max_cost: float, /) -> MaxCostError:
        """Returns the error for an operation whose views take longer to make than it may take."""
        error = cls(
            f"the operation costs {cost:.10g}, and in the time allowed views can be made that cost "
            f"{max_cost:.10g} at most",
            hint="Give the views a narrower scope or a lower level, or store them: createView.",
        )
        error.cost, error.max_cost = cost, max_cost
        return error


class ThrottledError(LimitError):
    """A client has asked for more than its share in a short time; later it may again."""

    code = "THROTTLED"
    retryable = True
