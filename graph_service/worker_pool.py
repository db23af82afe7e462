"""Work done by other processes, its results in order.

Each process is a Python of its own that takes items on standard input and gives results on
standard output, so nothing of this process is shared: no store's connection, no thread. It ends
when its input does, also where this process is killed.
"""

from __future__ import annotations

import gc
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import IO, Any, Generic, Self, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

MAX_WORKERS = 4
_AHEAD = 4
_COLLECT_EVERY = 256
_SIZE = struct.Struct("<Q")
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; from graph_service.worker_pool import serve; serve()"
)


class WorkerDiedError(Exception):
    """A process ended by itself in the middle of its work.

    Attributes:
        item: What it was given.
        exit_code: Its exit code, None if it is not known.
    """

    def __init__(self, item: Any, exit_code: int | None) -> None:
        super().__init__(f"a process ended by itself (exit code {exit_code})")
        self.item = item
        self.exit_code = exit_code


def default_worker_count() -> int:
    """Returns how many processes pay: one a core that this process may use, four at most.

    0 where there is one core only, or no Python to start.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return min(cores, MAX_WORKERS) if cores > 1 and sys.executable else 0


class WorkerPool(Generic[Item, Result]):
    """Some processes that all do the same work; a context manager.

    Args:
        work: What they do: called with an item, gives its result. Both, and it, are pickled.
        count: How many processes.
    """

    def __init__(self, work: Callable[[Item], Result], /, *, count: int) -> None:
        self._settings = pickle.dumps(work)
        self._processes = [self._start() for _ in range(count)]
        self._idle: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()
        for process in self._processes:
            self._idle.put(process)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="worker-pool")
        self._stopping = threading.Event()

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdin is not None
        _send(process.stdin, self._settings)
        return process

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for process in self._processes:
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                # Of one that died there is nothing to give back.
                with suppress(BrokenPipeError):
                    pipe.close()
            process.wait()

    def results(self, items: Iterator[Item], /) -> Generator[Result, None, None]:
        """Yields the results of items, in their order; some are taken ahead.

        Raises:
            WorkerDiedError: A process ended by itself.
            Exception: What ``items`` or the work raised, where its result would stand.
        """
        pending: deque[Future[Result]] = deque()
        for item in self._ahead(items):
            if len(pending) >= _AHEAD * len(self._processes):
                yield pending.popleft().result()
            pending.append(self._threads.submit(self._request, item))
        while pending:
            yield pending.popleft().result()

    def _ahead(self, items: Iterator[Item]) -> Iterator[Item]:
        """Yields items that a thread of their own takes from where they come."""
        taken: queue.Queue[tuple[Item] | BaseException | None] = queue.Queue(2 * _AHEAD)

        def put(item: tuple[Item] | BaseException | None) -> bool:
            while not self._stopping.is_set():
                try:
                    taken.put(item, timeout=0.1)
                    return True
                except queue.Full:
                    continue
            return False

        def take() -> None:
            try:
                for item in items:
                    if not put((item,)):
                        return
                put(None)
            except BaseException as error:
                put(error)

        thread = threading.Thread(target=take, name="worker-pool-source", daemon=True)
        thread.start()
        try:
            while (item := taken.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item[0]
        finally:
            self._stopping.set()
            # One that waits for more of a pipe is left to it.
            thread.join(timeout=1.0)
            self._stopping.clear()

    def _request(self, item: Item) -> Result:
        process = self._idle.get()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            _send(process.stdin, pickle.dumps(item))
            answer: Result | BaseException = pickle.loads(_receive(process.stdout))
        except (BrokenPipeError, EOFError) as error:
            raise WorkerDiedError(item, _exit_code(process)) from error
        finally:
            self._idle.put(process)
        if isinstance(answer, BaseException):
            raise answer
        return answer


def _exit_code(process: subprocess.Popen[bytes]) -> int | None:
    try:
        return process.wait(timeout=1.0)
    except subprocess.TimeoutExpired:
        return None


def _send(pipe: IO[bytes], data: bytes) -> None:
    pipe.write(_SIZE.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> bytes:
    head = pipe.read(_SIZE.size)
    if len(head) < _SIZE.size:
        raise EOFError
    (size,) = _SIZE.unpack(head)
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return data


def serve() -> None:
    """Does the work asked for on standard input until it ends, then ends the process."""
    # Ctrl-C is for the process that loads; this one ends with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What is read is freed by counting; looking for cycles among it takes a fifth of the time.
    gc.disable()
    source, target = sys.stdin.buffer, sys.stdout.buffer
    done = 0
    try:
        work: Callable[[Any], Any] = pickle.loads(_receive(source))
        while True:
            item = pickle.loads(_receive(source))
            try:
                answer = work(item)
            except Exception as error:
                answer = error
            _send(target, pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL))
            del item, answer
            done += 1
            if done % _COLLECT_EVERY == 0:
                gc.collect()
    except (EOFError, BrokenPipeError):
        pass
    # Nothing is left to do: giving every object back one by one would keep the pool waiting.
    os._exit(0)
