"""How many threads the linear algebra library puts to one matrix product."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock

from threadpoolctl import LibController, OpenBLASController, ThreadpoolController


class _OneThread:
    """Counts who holds the limit: it is the process's, and ends with the last of them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders = 0
        self._libraries: list[LibController] | None = None
        self._before: list[int] = []

    @contextmanager
    def held(self) -> Iterator[None]:
        with self._lock:
            if not self._holders:
                self._begin()
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if not self._holders:
                    self._end()

    def _begin(self) -> None:
        if self._libraries is None:
            # It looks through the libraries of the process, which takes milliseconds.
            controllers = ThreadpoolController().lib_controllers
            self._libraries = [library for library in controllers if library.user_api == "blas"]
        self._before = [library.num_threads for library in self._libraries]
        self._set([1] * len(self._before))

    def _end(self) -> None:
        # The last to hold the limit need not be the thread that set it, which alone may change it.
        OpenBLASController.clear_controlling_thread(force=True)
        self._set(self._before)
        OpenBLASController.clear_controlling_thread(force=True)

    def _set(self, counts: list[int]) -> None:
        for library, count in zip(self._libraries or [], counts, strict=True):
            library.set_num_threads(count)


_ONE_THREAD = _OneThread()


def one_math_thread() -> AbstractContextManager[None]:
    """Keeps matrix products to the thread that calls them, in the whole process, for a block.

    For products that are small: a library that splits each over all cores spends more time
    waiting for the others than it wins, several times over where the cores are busy. Blocks may
    be nested and may run in several threads at once; the limit ends with the last.
    """
    return _ONE_THREAD.held()
