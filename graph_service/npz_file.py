"""Arrays of numpy's ``.npz`` files, whose headers are believed only as far as the file reaches."""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

_SUFFIX = ".npy"
_MAX_RATIO = 1032
"""Most bytes that deflate makes of one (zlib, Technical Details)."""
_SLACK_BYTES = 1024
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read_npz(source: bytes | Path, /) -> dict[str, npt.NDArray[Any]]:
    """Returns the arrays of a file by name.

    No memory is taken before each array's size is compared with that of the file.

    Raises:
        ValueError: It is no such file, is damaged, or claims more than it holds.
        OSError: It can't be read.
    """
    file: BinaryIO
    with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        try:
            with zipfile.ZipFile(file) as archive:
                members = [
                    member for member in archive.infolist() if member.filename.endswith(_SUFFIX)
                ]
                for member in members:
                    _check(archive, member, size)
                return {
                    member.filename.removesuffix(_SUFFIX): _array(archive, member)
                    for member in members
                }
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            NotImplementedError,
            OverflowError,
            RuntimeError,
        ) as error:
            raise ValueError(str(error) or type(error).__name__) from error


def _check(archive: zipfile.ZipFile, member: zipfile.ZipInfo, size: int) -> None:
    holds = min(member.compress_size, size) * _MAX_RATIO + _SLACK_BYTES
    if member.file_size > holds:
        raise ValueError(
            f"{member.filename} claims {member.file_size:,} bytes, and {member.compress_size:,} "
            "packed bytes can't hold them"
        )
    with archive.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        if version not in _HEADERS:
            raise ValueError(f"{member.filename} has version {version}, expected 1.0 or 2.0")
        shape, _, dtype = _HEADERS[version](stream)
        claimed, there = math.prod(shape) * dtype.itemsize, member.file_size - stream.tell()
    if claimed != there:
        raise ValueError(f"{member.filename} claims {claimed:,} bytes and has {there:,}")


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> npt.NDArray[Any]:
    with archive.open(member) as stream:
        array: npt.NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    return array
