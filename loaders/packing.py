"""How a source is packed: compressed streams that are unpacked, archives that are refused by name.

Text in UTF-16, told by its byte order mark, is unpacked to UTF-8 in the same way.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
from collections.abc import Callable
from typing import BinaryIO, Protocol

from graph_service.errors import InputError, SetupError

MAGIC_BYTES = 6
UTF_16 = "UTF-16"
# The mark of one of them begins as that of UTF-16 does.
_UTF_32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_READ_BYTES = 1 << 14
# Of which a frame can make 16 MiB at most.
_ZSTD_BYTES = 1 << 9
_ZSTD = b"\x28\xb5\x2f\xfd"
# Frames of zstd that hold no data may come first.
_ZSTD_SKIPPABLE = tuple(bytes((low, 0x2A, 0x4D, 0x18)) for low in range(0x50, 0x60))
_COMPRESSIONS: tuple[tuple[str, tuple[bytes, ...]], ...] = (
    ("gzip", (b"\x1f\x8b",)),
    ("bzip2", (b"BZh",)),
    ("xz", (b"\xfd7zXZ\x00",)),
    ("zstd", (_ZSTD, *_ZSTD_SKIPPABLE)),
    (UTF_16, (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)),
)
_ZIP = "a zip archive"
# Parts of zip archives that are documents, in the order they are looked for.
_ZIPPED: tuple[tuple[bytes, str], ...] = (
    (b"xl/workbook.bin", "an Excel workbook in binary form (.xlsb)"),
    (b"xl/work", "an Excel workbook, but not called .xlsx"),
    (b"word/document", "a Word document"),
    (b"Index/Document.iwa", "a document of Numbers"),
)
# What holds files of its own, or bytes that nothing here unpacks: by where its mark stands.
_REFUSED: tuple[tuple[int, bytes, str], ...] = (
    (30, b"mimetypeapplication/vnd.oasis", "an OpenDocument file"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Office file in its old format (.xls)"),
    (0, b"PK\x03\x04", _ZIP),
    (0, b"PK\x05\x06", "an empty zip archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (0, b"Rar!\x1a\x07", "a rar archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"\x5d\x00\x00", "packed by lzma in its old format (.lzma)"),
    (0, b"LZIP", "packed by lzip"),
    (0, b"\x04\x22\x4d\x18", "packed by lz4"),
    (0, b"\x1f\x9d", "packed by compress (.Z)"),
    (0, b"\xff\x06\x00\x00sNaPpY", "packed by snappy"),
    (0, b"$HDT", "RDF in HDT"),
    (0, b"PAR1", "a table in Parquet"),
    (0, b'{"graph-service":"graph-parquet"', "the manifest of a graph in Parquet"),
    (0, b"SQLite format 3\x00", "a SQLite database"),
    (0, b"%PDF-", "a PDF"),
    (0, b"ARROW1\x00\x00", "a table in Arrow or Feather"),
    (0, b"Obj\x01", "a table in Avro"),
    (0, b"version https://git-lfs.github.com/", "a pointer of Git LFS to a file elsewhere"),
)
_HINTS = {
    "an Excel workbook in binary form (.xlsb)": "Save it as .xlsx.",
    "an Excel workbook, but not called .xlsx": "Give it a name that ends in .xlsx.",
    "a Word document": "Save its tables as CSV.",
    "a document of Numbers": "Export its tables as .xlsx or CSV.",
    "a table in Arrow or Feather": "Write it as Parquet or CSV.",
    "a table in Avro": "Write it as Parquet or CSV.",
    "a pointer of Git LFS to a file elsewhere": "Fetch the file: git lfs pull.",
    "an OpenDocument file": "Save its tables as .xlsx or CSV.",
    "an Office file in its old format (.xls)": "Save its tables as .xlsx or CSV.",
    "RDF in HDT": "Convert it to N-Triples, for instance with rdfhdt's hdt2rdf.",
    "a table in Parquet": "Read its rows as things with --row COLUMN. A graph in Parquet is loaded "
    "as the whole folder that has graph.json.",
    "the manifest of a graph in Parquet": "Load the folder that it is in.",
    "a SQLite database": "Export a table of it as CSV.",
    "a PDF": "Load the data that it was made of.",
}


def compression_of(first: bytes, /) -> str | None:
    """Returns how bytes that begin so are compressed; None if they are not.

    >>> compression_of(b"BZh91A"), compression_of(b"<a> <b")
    ('bzip2', None)
    """
    if first.startswith(_UTF_32):
        return None
    return next((name for name, marks in _COMPRESSIONS if first.startswith(marks)), None)


def refuse_archive(head: bytes, name: str, /) -> None:
    """Raises ``InputError`` for bytes that begin an archive or a file that is not read here.

    Args:
        head: The first bytes, unpacked.
        name: Of the file, for errors.
    """
    if (inner := compression_of(head)) not in (None, UTF_16):
        raise InputError(
            f"{name} is packed twice; what it unpacks to is packed by {inner}",
            argument="source",
            hint="Unpack it once, and load what comes of it.",
        )
    if (encoding := _unread_encoding(head)) is not None:
        without = "" if head.startswith(_UTF_32) else " without its byte order mark"
        raise InputError(
            f"{name} is {encoding}{without}, which is not read",
            argument="source",
            hint=f"Convert it, for instance: iconv -f {encoding} -t UTF-8 FILE > NEW_FILE",
        )
    for offset, mark, what in _REFUSED:
        if head[offset : offset + len(mark)] == mark:
            if what == _ZIP:
                what = next((document for part, document in _ZIPPED if part in head), _ZIP)
            raise InputError(
                f"{name} is {what}, which is not read",
                argument="source",
                hint=_HINTS.get(
                    what, "Unpack it, and load the file or the folder that comes of it."
                ),
            )


def _unread_encoding(head: bytes) -> str | None:
    """Returns the encoding of text in UTF-32, or in UTF-16 without a mark: each second byte of that
    is zero.
    """
    if head.startswith(_UTF_32):
        return "UTF-32"
    first, second = head[0:64:2], head[1:64:2]
    if len(second) > 1 and not any(second) and all(first):
        return "UTF-16LE"
    if len(second) > 1 and not any(first) and all(second):
        return "UTF-16BE"
    return None


class PackedDataError(Exception):
    """Compressed bytes are damaged, end early, or are followed by what is no stream."""


class Unpacked(Protocol):
    """Bytes that are read after they were unpacked."""

    def read1(self, size: int, /) -> bytes:
        """Returns at most ``size`` bytes, as many as are at hand; empty at the end."""


class _Stream(Protocol):
    """Unpacks one compressed stream, as the classes of ``bz2`` and ``lzma`` do."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Frame(Protocol):
    """What the package ``zstandard`` unpacks a frame with."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


class _ZstdFrame:
    """A frame of zstd as a ``_Stream``; its library bounds no output, so its input is bounded."""

    def __init__(self) -> None:
        try:
            import zstandard
        except ImportError as error:
            raise SetupError(
                "the source is packed by zstd, and the package that unpacks it is not installed",
                hint='Run pip install "graph-service[zstd]", or unpack the file with unzstd.',
            ) from error
        self._error: type[Exception] = zstandard.ZstdError
        self._frame: _Frame = zstandard.ZstdDecompressor().decompressobj()
        self._packed = self._unpacked = b""

    @property
    def eof(self) -> bool:
        return self._frame.eof and not self._unpacked

    @property
    def needs_input(self) -> bool:
        return not (self._packed or self._unpacked)

    @property
    def unused_data(self) -> bytes:
        return self._frame.unused_data + self._packed

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        self._packed += data
        if not self._unpacked and not self._frame.eof:
            first, self._packed = self._packed[:_ZSTD_BYTES], self._packed[_ZSTD_BYTES:]
            try:
                self._unpacked = self._frame.decompress(first)
            except self._error as error:
                raise ValueError(str(error)) from error
        data, self._unpacked = self._unpacked[:max_length], self._unpacked[max_length:]
        return data


_STREAMS: dict[str, Callable[[], _Stream]] = {
    "bzip2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ),
    "zstd": _ZstdFrame,
}


class _UnpackedStreams:
    """Compressed streams that follow one another, unpacked.

    Zero bytes between them and after the last are padding. Anything else that is no stream is an
    error; Python's ``BZ2File`` and ``LZMAFile`` end there without one.
    """

    def __init__(self, packed: BinaryIO, new_stream: Callable[[], _Stream]) -> None:
        self._file = packed
        self._new_stream = new_stream
        self._stream: _Stream | None = new_stream()
        self._packed = b""

    def read1(self, size: int, /) -> bytes:
        """Returns at most ``size`` bytes, as many as are at hand; empty at the end."""
        while True:
            if self._stream is not None and self._stream.eof:
                self._packed, self._stream = self._stream.unused_data + self._packed, None
            if not self._packed and (self._stream is None or self._stream.needs_input):
                self._packed = self._file.read(_READ_BYTES)
                if not self._packed:
                    if self._stream is None:
                        return b""
                    raise PackedDataError("the last stream has no end")
            if self._stream is None:
                self._packed = self._packed.lstrip(b"\x00")
                if not self._packed:
                    continue
                self._stream = self._new_stream()
            packed, self._packed = self._packed, b""
            try:
                data = self._stream.decompress(packed, size)
            except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
                raise PackedDataError(str(error)) from error
            if data:
                return data


class _Utf8:
    """Text in UTF-16, as UTF-8; its byte order mark is left out."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-16")()
        self._text = b""
        self._is_complete = False

    def read1(self, size: int, /) -> bytes:
        """Returns at most ``size`` bytes, as many as are at hand; empty at the end."""
        while not self._text and not self._is_complete:
            data = self._file.read(_READ_BYTES)
            self._is_complete = not data
            try:
                self._text = self._decoder.decode(data, self._is_complete).encode()
            except UnicodeError as error:
                self._is_complete = True
                raise PackedDataError(str(error)) from error
        text, self._text = self._text[:size], self._text[size:]
        return text


def unpacked(packed: BinaryIO, compression: str, /) -> Unpacked:
    """Returns the bytes of all streams of a file, whose kind ``compression_of`` told.

    Reading raises ``PackedDataError`` or an error of ``gzip`` where the bytes are damaged.

    Raises:
        SetupError: The package that unpacks them is not installed.
    """
    if compression == "gzip":
        return gzip.GzipFile(fileobj=packed)
    if compression == UTF_16:
        return _Utf8(packed)
    return _UnpackedStreams(packed, _STREAMS[compression])
