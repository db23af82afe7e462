"""What a caller may do."""

from __future__ import annotations

from enum import StrEnum


class Scope(StrEnum):
    """What a key allows; each scope includes those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def includes(self, other: Scope, /) -> bool:
        """Returns whether who has this scope may do what another allows.

        >>> [Scope.WRITE.includes(scope) for scope in Scope]
        [True, True, False]
        """
        order = list(Scope)
        return order.index(self) >= order.index(other)
