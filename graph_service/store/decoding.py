"""Rows of a store that are not what this package wrote: damage, told as such.

A store's engine notices damage to its own structure. A changed byte inside a value it hands over
as it is, and our decoding then fails in whatever way the byte happens to cause.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from graph_service.errors import StoreCorruptError

P = ParamSpec("P")
T = TypeVar("T")

_DECODING_FAILS = (
    *(ValueError, TypeError, KeyError, IndexError, AttributeError),
    *(OverflowError, AssertionError),
)


@contextmanager
def decoding(what: str, /) -> Iterator[None]:
    """Raises ``StoreCorruptError`` in place of what decoding damaged rows raises.

    Args:
        what: What is decoded, for the message: ``a statement``.
    """
    try:
        yield
    except _DECODING_FAILS as error:
        raise StoreCorruptError(
            f"the store is damaged: {what} can't be read ({type(error).__name__}: "
            f"{str(error)[:200]})",
            hint="Check it with graph-service verify, then restore a backup or load the graph "
            "again with --replace.",
        ) from error


def decodes(what: str, /) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Makes a function raise as ``decoding`` does."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def decoded(*arguments: P.args, **options: P.kwargs) -> T:
            # Not the context manager: this stands around each row that is read.
            try:
                return function(*arguments, **options)
            except _DECODING_FAILS as error:
                with decoding(what):
                    raise error

        return decoded

    return decorate
