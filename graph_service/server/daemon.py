"""Calls in threads of their own, which hold up neither queries nor the end of the process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def in_daemon(name: str, call: Callable[[], T], /) -> Future[T]:
    """Calls something that may never answer, such as a store, in a daemon thread of a name."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except Exception as error:
            future.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future
