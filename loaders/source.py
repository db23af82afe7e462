"""Bytes of a source: file or standard input, plain or compressed, in blocks that end at lines.

Sources are read once from front to back. A position is a count of bytes after decompression,
so a load that is resumed reads (and decompresses) up to it again, from a pipe as well.
"""

from __future__ import annotations

import io
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, Self, cast

from graph_service.errors import InputError
from loaders.packing import MAGIC_BYTES, PackedDataError, Unpacked, compression_of, unpacked

STANDARD_INPUT = "-"
# A row has at least six bytes, so a block's statements fit into one batch of a store.
BLOCK_BYTES = 1 << 16
_BUFFER_BYTES = 1 << 20
HEAD_BYTES = 1 << 18
MAX_BLANK_BYTES = 1 << 24
# A path has lost a slash of it.
_WEB_ADDRESS = re.compile(r"https?:/", re.IGNORECASE)
# What a decompressor raises on damaged or truncated data.
_DAMAGE = (EOFError, OSError, zlib.error, PackedDataError)


@dataclass(frozen=True, slots=True)
class SourceLimits:
    """What a source may ask of memory.

    Attributes:
        max_line_bytes: A longer line (or document) is rejected, and reading goes on after it.
        max_ratio: Decompressed over compressed bytes past which a file is taken for a bomb.
        ratio_floor_bytes: Decompressed size from which the ratio is looked at.
    """

    max_line_bytes: int = 100_000_000
    max_ratio: float = 500.0
    ratio_floor_bytes: int = 256_000_000


class DamagedSourceError(InputError):
    """The bytes end early, are damaged, or grow out of proportion; what came before is good."""


class _Replayed(io.RawIOBase):
    """A stream that gives some bytes already taken from it once more, and counts."""

    def __init__(self, first: bytes, rest: BinaryIO) -> None:
        self._first = memoryview(first)
        self._rest = rest
        self.consumed = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object, /) -> int:
        view = memoryview(cast(bytearray, buffer))
        if self._first:
            size = min(len(view), len(self._first))
            view[:size] = self._first[:size]
            self._first = self._first[size:]
        else:
            data = self._rest.read(len(view))
            size = len(data)
            view[:size] = data
        self.consumed += size
        return size


class _Bounded(io.RawIOBase):
    """The next bytes of a stream, as many as are named; None for all."""

    def __init__(self, rest: BinaryIO, size: int | None) -> None:
        self._rest, self._left = rest, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object, /) -> int:
        view = memoryview(cast(bytearray, buffer))
        data = self._rest.read(len(view) if self._left is None else min(len(view), self._left))
        view[: len(data)] = data
        if self._left is not None:
            self._left -= len(data)
        return len(data)


class ByteSource:
    """The bytes of one source after decompression; a context manager.

    Attributes:
        name: As the load was given it.
        compression: ``gzip``, ``bzip2``, ``xz``, ``zstd``, ``UTF-16`` or None.
        head: The first bytes, which ``read`` gives again: up to ``HEAD_BYTES``, not counted white
            space that the source begins with.
        total_bytes: Size of the file as it lies on disk, 0 for a pipe.
    """

    def __init__(
        self, raw: BinaryIO, /, *, name: str, total_bytes: int, limits: SourceLimits, close: bool
    ) -> None:
        self.name = name
        self.total_bytes = total_bytes
        self.limits = limits
        self._raw = raw if close else None
        first = raw.read(MAGIC_BYTES)
        self._counted = _Replayed(first, raw)
        self.compression = compression_of(first)
        buffered = io.BufferedReader(self._counted, _BUFFER_BYTES)
        self._stream: Unpacked = (
            buffered
            if self.compression is None
            else unpacked(cast(BinaryIO, buffered), self.compression)
        )
        self._produced = 0
        self._begin = 0
        self._damage: DamagedSourceError | None = None
        self._watch: Callable[[bytes], None] | None = None
        self.head = self._read_head()
        self._pending = self.head

    @property
    def consumed_bytes(self) -> int:
        """Bytes taken from disk so far, to show progress against ``total_bytes``."""
        return self._counted.consumed

    def _read_head(self) -> bytes:
        pieces: list[bytes] = []
        size, target = 0, HEAD_BYTES
        blank = True
        while size < target:
            try:
                data = self._take(min(target - size, HEAD_BYTES))
            except DamagedSourceError:
                break
            if not data:
                break
            pieces.append(data)
            size += len(data)
            blank = blank and not data.strip()
            if blank and size < MAX_BLANK_BYTES:
                # What the source is can't be told from white space.
                target = size + HEAD_BYTES
        return b"".join(pieces)

    @property
    def is_damaged(self) -> bool:
        """Whether the bytes ended in an error."""
        return self._damage is not None

    def require_sound(self) -> None:
        """Raises ``DamagedSourceError`` if the bytes have ended in an error."""
        if self._damage is not None:
            raise self._damage

    def _take(self, size: int) -> bytes:
        self.require_sound()
        try:
            return self._unpack(size)
        except DamagedSourceError as error:
            self._damage = error
            raise

    def _unpack(self, size: int) -> bytes:
        try:
            # read1 hands out all that could be decompressed before it complains of damage.
            data = self._stream.read1(size)
        except _DAMAGE as error:
            if self.compression is None:
                raise
            raise DamagedSourceError(
                f"the {self.compression} data of {self.name} is damaged or ends early after "
                f"{self._produced} decompressed bytes ({error or type(error).__name__})"
            ) from error
        self._produced += len(data)
        if (
            self.compression
            and self._produced > self.limits.ratio_floor_bytes
            and self._produced > self.limits.max_ratio * max(1, self._counted.consumed)
        ):
            raise DamagedSourceError(
                f"{self.name} grew to {self._produced} bytes from {self._counted.consumed}, more "
                f"than {self.limits.max_ratio:g} times: taken for a decompression bomb"
            )
        return data

    def read(self, size: int = BLOCK_BYTES, /) -> bytes:
        """Returns up to ``size`` bytes, empty at the end.

        Raises:
            DamagedSourceError: After everything good has been returned.
        """
        if self._pending:
            data, self._pending = self._pending[:size], self._pending[size:]
        else:
            data = self._take(size)
        if self._watch is not None:
            self._watch(data)
        return data

    def watch(self, feed: Callable[[bytes], None], /) -> None:
        """Calls a function with all bytes that are read, or skipped, from now on."""
        self._watch = feed

    def read_all(self, *, what: str, instead: str) -> tuple[bytes, str]:
        """Returns all bytes from here to the end, for a format that can't be read in blocks.

        Returns:
            The bytes, and why they are not all; "" if they are. Before damage they are those that
            came; of more than a line may have they are none, and ``what`` is named and ``instead``
            said.
        """
        limit = self.limits.max_line_bytes
        pieces: list[bytes] = []
        size = 0
        try:
            while size <= limit and (data := self.read()):
                pieces.append(data)
                size += len(data)
        except DamagedSourceError as error:
            return b"".join(pieces), error.message
        if size > limit:
            return b"", f"{what} of more than {limit} bytes in one piece; {instead}"
        return b"".join(pieces), ""

    def narrow(self, start: int, end: int | None, /) -> None:
        """Goes on at a position of a plain file and ends at another; ``head`` stays the file's.

        A reader that is given ``start`` as the position to go on from reads this part alone.

        Args:
            start: Bytes before the part.
            end: Bytes before its end; None for the file's.
        """
        if self._raw is None or self.compression is not None:
            raise ValueError(f"{self.name} has no positions to go to")
        self._raw.seek(start)
        part = _Bounded(self._raw, None if end is None else end - start)
        self._stream = io.BufferedReader(part, _BUFFER_BYTES)
        self._pending, self._produced, self._begin = b"", start, start

    def skip(self, count: int, /) -> None:
        """Reads past ``count`` bytes; raises ``DamagedSourceError`` if there are fewer."""
        count -= self._begin
        while count > 0:
            data = self.read(min(count, BLOCK_BYTES))
            if not data:
                raise DamagedSourceError(
                    f"{self.name} is shorter than when its load was interrupted; load it again "
                    "with --replace"
                )
            count -= len(data)

    def document_key(self) -> bytes:
        """Returns 16 bytes that tell this document from others, wherever it lies.

        A document that ``head`` holds all of is told by its bytes, of a packed one those unpacked.
        A larger file is told by all its bytes as they lie on disk. What comes through a pipe can
        be read once, so it is told by its head.
        """
        if len(self.head) < HEAD_BYTES or not self.total_bytes:
            return blake2b(self.head, digest_size=16).digest()
        status = Path(self.name).stat()
        return _file_digest(self.name, status.st_size, status.st_mtime_ns)

    def close(self) -> None:
        """Closes the file; standard input stays open."""
        if self._raw is not None:
            self._raw.close()

    def __enter__(self) -> Self:
        """Returns the source, which closes at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the file at the end of a block."""
        self.close()


@lru_cache(maxsize=16)
def _file_digest(path: str, _size: int, _changed_ns: int) -> bytes:
    digest = blake2b(digest_size=16)
    with open(path, "rb") as file:
        while data := file.read(_BUFFER_BYTES):
            digest.update(data)
    return digest.digest()


def unreadable_source(path: str | Path, error: OSError, /) -> InputError:
    """Returns the error for a source that can't be opened."""
    if _WEB_ADDRESS.match(str(path)):
        return InputError(
            f"{path} is an address of the web; files are read from this machine",
            argument="source",
            hint="Download it, for instance with curl -LO ADDRESS, and load the file.",
        )
    return InputError(
        f"{path} can't be read ({error.strerror or error}); give the path of a file, of a "
        "folder of files, or - for standard input",
        argument="source",
    )


def open_source(path: str | Path, /, *, limits: SourceLimits | None = None) -> ByteSource:
    """Opens a file, or standard input for ``-``; compression is told by the first bytes.

    Raises:
        InputError: There is no such file, it is a folder, or it may not be read.
    """
    limits = limits or SourceLimits()
    if str(path) == STANDARD_INPUT:
        return ByteSource(
            sys.stdin.buffer, name=STANDARD_INPUT, total_bytes=0, limits=limits, close=False
        )
    try:
        raw = open(path, "rb", buffering=0)  # noqa: SIM115 - the source closes it
        total = Path(path).stat().st_size
    except OSError as error:
        raise unreadable_source(path, error) from error
    try:
        return ByteSource(
            cast(BinaryIO, raw), name=str(path), total_bytes=total, limits=limits, close=True
        )
    except BaseException:
        raw.close()
        raise


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Whole lines of a source.

    Attributes:
        data: Lines with their ends (the last line of a source may lack it); empty when
            ``problem`` says what was wrong here instead.
        offset: Bytes before the block.
        line: Number of its first line, from 1.
        lost_lines: How many lines, 0 or 1, the problem costs.
    """

    data: bytes
    offset: int
    line: int
    problem: str = ""
    lost_lines: int = 0


def line_blocks(
    source: ByteSource, /, *, offset: int = 0, line: int = 1, size: int = BLOCK_BYTES
) -> Iterator[LineBlock]:
    """Yields a source in blocks that end at line ends.

    A line over the limit and damaged data come as blocks with a ``problem``; after damage there
    is nothing more, and the line that was cut is part of the problem.

    Args:
        source: An open source at its beginning.
        offset: Where to go on, right after a block yielded before.
        line: Number of the line there.
        size: Bytes read at a time.
    """
    limit = source.limits.max_line_bytes
    tail: list[bytes] = []
    tail_bytes = 0
    too_long = False
    try:
        source.skip(offset)
        while data := source.read(size):
            cut = data.rfind(b"\n") + 1
            if not cut:
                tail_bytes += len(data)
                too_long = too_long or tail_bytes > limit
                # The bytes of a line that is too long are counted, not kept.
                tail = [] if too_long else [*tail, data]
                continue
            if too_long or tail_bytes + data.find(b"\n") > limit:
                end = data.find(b"\n") + 1
                size = tail_bytes + end
                yield LineBlock(
                    b"",
                    offset,
                    line,
                    f"a line of {size} bytes; at most {limit} are read",
                    lost_lines=1,
                )
                offset, line = offset + size, line + 1
                data, cut = data[end:], cut - end
                tail, tail_bytes, too_long = [], 0, False
            if cut:
                block = b"".join([*tail, data[:cut]])
                yield LineBlock(block, offset, line)
                offset, line = offset + len(block), line + block.count(b"\n")
                tail, tail_bytes = [], 0
            if cut < len(data):
                tail, tail_bytes = [data[cut:]], len(data) - cut
    except DamagedSourceError as error:
        lost = too_long or bool(b"".join(tail).strip())
        yield LineBlock(b"", offset, line, error.message, lost_lines=int(lost))
        return
    if too_long:
        yield LineBlock(
            b"",
            offset,
            line,
            f"a line of {tail_bytes} bytes; at most {limit} are read",
            lost_lines=1,
        )
    elif tail:
        yield LineBlock(b"".join(tail), offset, line)


class StreamReader(io.RawIOBase):
    """A source as the file that a parser reads; damage ends it and is kept in ``damage``.

    Attributes:
        damage: What was wrong with the bytes, "" if nothing.
        position: Bytes handed out.
    """

    def __init__(self, source: ByteSource, /) -> None:
        self._source = source
        self.damage = ""
        self.position = 0

    def readable(self) -> bool:
        """Returns True, as the interface of raw streams wants it."""
        return True

    def readinto(self, buffer: object, /) -> int:
        """Fills a buffer; 0 at the end, also at a damaged one."""
        view = memoryview(cast(bytearray, buffer))
        try:
            data = self._source.read(len(view))
        except DamagedSourceError as error:
            self.damage = error.message
            return 0
        view[: len(data)] = data
        self.position += len(data)
        return len(data)
