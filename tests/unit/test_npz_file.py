"""Sizes in the headers of weights are compared with the file before memory is taken."""

from __future__ import annotations

import contextlib
import io
import json
import resource
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_service.embed.folder import read_tensors
from graph_service.errors import GraphServiceError, ModelFileError
from graph_service.npz_file import read_npz
from graph_service.rank.file import decode_ranker
from graph_service.retrieve.learned.network import decode_candidate_scorer
from graph_service.views.scorer.file import decode_scorer

HUGE = 10**12
ARRAYS: dict[str, Any] = {
    "a": np.arange(12, dtype=np.float32).reshape(3, 4),
    "b": np.zeros((0, 5)),
    "c": np.array(7),
}


def packed(arrays: dict[str, Any]) -> bytes:
    whole = io.BytesIO()
    np.savez_compressed(whole, **arrays)
    return whole.getvalue()


def claiming(shape: tuple[int, ...], *, pad: int = 0) -> bytes:
    """An archive of one array whose header claims a shape that the file does not hold."""
    header = io.BytesIO()
    claim = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, claim)
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", header.getvalue() + bytes(pad))
    return whole.getvalue()


@pytest.fixture
def _little_memory() -> Any:
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**29, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def test_arrays_are_read_as_numpy_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(packed(ARRAYS))
    for found in (read_npz(path), read_npz(path.read_bytes())):
        assert found.keys() == ARRAYS.keys()
        for name, array in ARRAYS.items():
            assert found[name].dtype == array.dtype
            assert np.array_equal(found[name], array)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize("shape", [(HUGE,), (HUGE, HUGE), (2**31, 2**31), (3,)])
def test_a_header_that_claims_too_much_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="claims"):
        read_npz(claiming(shape))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
@pytest.mark.usefixtures("_little_memory")
def test_a_directory_that_claims_too_much_is_refused() -> None:
    data = bytearray(claiming((HUGE,)))
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = (2**32 - 2).to_bytes(4, "little")
    with pytest.raises(ValueError, match="claims"):
        read_npz(bytes(data))


DECODERS: list[Callable[[bytes], object]] = [
    decode_ranker,
    decode_candidate_scorer,
    lambda data: decode_scorer(data, entities=3, relations=2),
]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize("decode", DECODERS)
def test_weights_that_claim_too_much_are_an_error_of_their_file(
    decode: Callable[[bytes], object],
) -> None:
    for data in (claiming((HUGE,)), claiming((8,), pad=7), b"PK", b""):
        with pytest.raises(GraphServiceError):
            decode(data)


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_damage_is_a_value_error_or_leaves_the_arrays(data: st.DataObject) -> None:
    whole = bytearray(packed(ARRAYS))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ValueError):
        read_npz(bytes(whole[: data.draw(st.integers(0, len(whole)))]))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
@pytest.mark.usefixtures("_little_memory")
@pytest.mark.parametrize(
    ("length", "shape", "end"),
    [(None, [HUGE], 4 * HUGE), (None, [HUGE], 4), (HUGE, [1], 4), (2**63, [1], 4)],
)
def test_tensors_that_claim_too_much_are_an_error_of_their_file(
    tmp_path: Path, length: int | None, shape: list[int], end: int
) -> None:
    head = json.dumps({"w": {"dtype": "F32", "shape": shape, "data_offsets": [0, end]}}).encode()
    path = tmp_path / "model.safetensors"
    size = len(head) if length is None else length
    path.write_bytes(size.to_bytes(8, "little") + head + bytes(4))
    with pytest.raises(ModelFileError):
        read_tensors(path)
