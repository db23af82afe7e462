"""Blocks of a source read by other processes, their results in order.

Each process is a Python of its own that takes blocks on standard input and gives results on
standard output, so nothing of this process is shared: no store's connection, no thread. It ends
when its input does, also where this process is killed.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, Self

from graph_service.errors import InputError, SetupError
from graph_service.store.encoded import encode_statements
from loaders.formats import Format
from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.readers import DOCUMENT_FORMATS, BlockReader, block_reader, read
from loaders.source import HEAD_BYTES, ByteSource, LineBlock, line_blocks
from loaders.subset.selection import Selection

MAX_WORKERS = 4
# Starting processes takes half a second: that of 20,000 statements.
WORTHWHILE_BYTES = 4 << 20
# Of the shortest lines that are triples, a block of this size holds fewer than a batch may.
WORKER_BLOCK_BYTES = 1 << 18
_AHEAD = 4
_SIZE = struct.Struct("<Q")
_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from loaders.workers import serve; serve()"


@dataclass(frozen=True, slots=True)
class SelectedReader:
    """Reads blocks, leaves out what is not selected, and encodes the rest.

    Attributes:
        reader: Reads a block.
        selection: What is loaded; None for everything.
        chosen: Whether the reader chooses entities itself.
    """

    reader: BlockReader
    selection: Selection | None
    chosen: bool

    def read_block(self, block: LineBlock, /) -> list[Parsed]:
        """Returns what a block holds, with statements encoded."""
        pieces = self.reader.read_block(block)
        for parsed in pieces:
            if self.selection is not None:
                self.selection.apply(parsed, chosen=self.chosen)
            try:
                parsed.encoded = encode_statements(parsed.statements)
            except InputError:
                # The store says of which statement, and nothing of its batch is in.
                continue
            parsed.statements = []
        return pieces


def usable_cores() -> int:
    """Returns how many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def read_selected(
    format_: Format,
    source: ByteSource,
    options: LoadOptions,
    start: Mapping[str, Any],
    /,
    *,
    selection: Selection | None,
) -> Generator[Parsed, None, None]:
    """Yields what is selected of a source, in blocks, read by other processes where that pays.

    Args:
        format_: Its format.
        source: Open, at its beginning.
        options: How to read it.
        start: The position of the last block that was taken; empty for the beginning.
        selection: What is loaded; None for everything.
    """
    documents = selection.documents if selection is not None else None
    chosen = format_ in DOCUMENT_FORMATS
    count = _worker_count(source, options)
    reader = block_reader(format_, source, options, documents=documents) if count else None
    if reader is None:
        for parsed in read(format_, source, options, start, documents=documents):
            if selection is not None:
                selection.apply(parsed, chosen=chosen)
            yield parsed
        return
    blocks = line_blocks(
        source,
        offset=int(start.get("offset", 0)),
        line=int(start.get("line", 1)),
        size=WORKER_BLOCK_BYTES,
    )
    with Workers(SelectedReader(reader, selection, chosen), count=count) as workers:
        yield from workers.results(blocks)


def _worker_count(source: ByteSource, options: LoadOptions) -> int:
    if options.workers is not None:
        return options.workers
    if not sys.executable:
        return 0
    large = source.total_bytes >= WORTHWHILE_BYTES or (
        not source.total_bytes and len(source.head) >= HEAD_BYTES
    )
    cores = usable_cores()
    return min(cores, MAX_WORKERS) if large and cores > 1 else 0


class Workers:
    """Some processes that read blocks; a context manager.

    Args:
        reader: What they do.
        count: How many.
    """

    def __init__(self, reader: BlockReader, /, *, count: int) -> None:
        self._settings = pickle.dumps(reader)
        self._processes = [self._start() for _ in range(count)]
        self._idle: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()
        for process in self._processes:
            self._idle.put(process)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="loader")
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        self._stopping.set()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for process in self._processes:
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                # Of one that died there is nothing to give back.
                with suppress(BrokenPipeError):
                    pipe.close()
            process.wait()

    def results(self, blocks: Iterator[LineBlock], /) -> Iterator[Parsed]:
        """Yields what blocks hold, in their order; some are read ahead."""
        pending: deque[Future[list[Parsed]]] = deque()
        for block in self._ahead(blocks):
            if len(pending) >= _AHEAD * len(self._processes):
                yield from pending.popleft().result()
            pending.append(self._threads.submit(self._ask, block))
        while pending:
            yield from pending.popleft().result()

    def _ahead(self, blocks: Iterator[LineBlock]) -> Iterator[LineBlock]:
        """Yields blocks that a thread of their own takes from their source, and decompresses."""
        taken: queue.Queue[LineBlock | BaseException | None] = queue.Queue(2 * _AHEAD)

        def put(item: LineBlock | BaseException | None) -> bool:
            while not self._stopping.is_set():
                try:
                    taken.put(item, timeout=0.1)
                    return True
                except queue.Full:
                    continue
            return False

        def take() -> None:
            try:
                for block in blocks:
                    if not put(block):
                        return
                put(None)
            except BaseException as error:
                put(error)

        thread = threading.Thread(target=take, name="loader-source", daemon=True)
        thread.start()
        try:
            while (item := taken.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            self._stopping.set()
            # One that waits for more of a pipe is left to it.
            thread.join(timeout=1.0)
            self._stopping.clear()

    def _ask(self, block: LineBlock) -> list[Parsed]:
        process = self._idle.get()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            _send(process.stdin, pickle.dumps(block))
            answer: list[Parsed] | BaseException = pickle.loads(_receive(process.stdout))
        except (BrokenPipeError, EOFError) as error:
            raise SetupError(
                f"a process that read line {block.line} and the lines after it ended by itself "
                f"(exit code {_exit_code(process)}); there may be too little memory",
                hint="Run the same command again with --workers 0: it goes on where it was.",
            ) from error
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
    """Reads blocks from standard input until it ends: the program of a worker."""
    # Ctrl-C is for the process that loads; this one ends with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, target = sys.stdin.buffer, sys.stdout.buffer
    try:
        reader: BlockReader = pickle.loads(_receive(source))
        while True:
            block: LineBlock = pickle.loads(_receive(source))
            answer: Sequence[Parsed] | BaseException
            try:
                answer = reader.read_block(block)
            except Exception as error:
                answer = error
            _send(target, pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL))
    except (EOFError, BrokenPipeError):
        return
