"""Files of trained weights: arrays and what is said of them, read without running anything."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from graph_service.model.identity import digest
from graph_service.npz_file import read_npz

_META = "meta.json"
_SUFFIX = ".npy"
_PERSON = b"sequences"

Arrays = Mapping[str, npt.NDArray[Any]]


def encode_weights(arrays: Arrays, meta: Mapping[str, Any], /, *, person: bytes = _PERSON) -> bytes:
    """Returns the bytes of a file of weights; of the same weights and words the same.

    Args:
        arrays: By name.
        meta: What JSON holds, ``form`` and ``version`` among it; the hash of the arrays is added.
        person: Of that hash.
    """
    described = {**meta, "content": _content(arrays, person)}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        _put(archive, _META, json.dumps(described, indent=1, sort_keys=True).encode())
        for name in sorted(arrays):
            data = io.BytesIO()
            np.lib.format.write_array(data, arrays[name], allow_pickle=False)
            _put(archive, f"{name}{_SUFFIX}", data.getvalue())
    return file.getvalue()


def decode_weights(
    data: bytes, /, *, form: str, version: int, person: bytes = _PERSON
) -> tuple[Arrays, dict[str, Any]]:
    """Returns the arrays of ``encode_weights``, and what is said of them.

    Args:
        data: The bytes.
        form: What the file must say that it is.
        version: What it must say too.
        person: Of the hash of its arrays.

    Raises:
        ValueError: It is no such file, of another form or version, or damaged.
    """
    arrays = read_npz(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            meta = json.loads(archive.read(_META))
        if meta["form"] != form or meta["version"] != version:
            raise ValueError(f"form {meta['form']!r}, version {meta['version']!r}")
        content = meta["content"]
    except (KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(str(error) or type(error).__name__) from error
    if content != _content(arrays, person):
        raise ValueError("its content is not what its hash says")
    return arrays, meta


def _content(arrays: Arrays, person: bytes) -> str:
    parts = [f"{name} {arrays[name].shape}" for name in sorted(arrays)]
    parts += [np.ascontiguousarray(arrays[name]).tobytes().hex() for name in sorted(arrays)]
    return digest(tuple(parts), person=person).hex()


def _put(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0)), data)
