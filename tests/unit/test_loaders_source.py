"""Bytes of sources: blocks of lines, compression, damage, limits (S1)."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from graph_service.errors import InputError
from loaders.source import (
    BLOCK_BYTES,
    DamagedSourceError,
    LineBlock,
    SourceLimits,
    line_blocks,
    open_source,
)

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}


def blocks(path: Path, limits: SourceLimits | None = None, **where: int) -> list[LineBlock]:
    with open_source(path, limits=limits) as source:
        return list(line_blocks(source, **where))


@pytest.mark.parametrize("kind", ["plain", *COMPRESS])
def test_lines_come_whole_with_their_offsets(tmp_path: Path, kind: str) -> None:
    lines = [f"{number}{'x' * (number % 997)}\n".encode() for number in range(6000)]
    lines.append(b"no end")
    data = b"".join(lines)
    assert len(data) > 20 * BLOCK_BYTES
    path = tmp_path / "data"
    path.write_bytes(data if kind == "plain" else COMPRESS[kind](data))
    found = blocks(path)
    assert b"".join(block.data for block in found) == data
    for block in found:
        assert data[block.offset :].startswith(block.data)
        assert data[: block.offset].count(b"\n") + 1 == block.line
    middle = found[len(found) // 2]
    again = blocks(path, offset=middle.offset, line=middle.line)
    assert b"".join(block.data for block in again) == data[middle.offset :]
    assert again[0].line == middle.line


def test_a_line_over_the_limit_is_passed_over_and_said(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"a\n" + b"b" * 3_000_000 + b"\nc\n" + b"d" * 3_000_000)
    found = blocks(path, SourceLimits(max_line_bytes=1_000_000))
    good = [(block.line, block.data) for block in found if not block.problem]
    assert good == [(1, b"a\n"), (3, b"c\n")]
    bad = [(block.line, block.offset) for block in found if block.problem]
    assert bad == [(2, 2), (4, 3_000_005)]
    assert "3000001 bytes" in next(block.problem for block in found if block.problem)


@pytest.mark.parametrize("kind", COMPRESS)
def test_truncated_data_gives_all_whole_lines_and_one_problem(tmp_path: Path, kind: str) -> None:
    lines = [f"line {number * 7919 % 100_003}\n".encode() for number in range(60_000)]
    whole = COMPRESS[kind](b"".join(lines))
    path = tmp_path / "data"
    path.write_bytes(whole[: len(whole) * 3 // 4])
    found = blocks(path)
    good = b"".join(block.data for block in found)
    assert b"".join(lines).startswith(good)
    assert good.endswith(b"\n") or not good
    if kind == "gz":
        assert len(good) > len(b"".join(lines)) // 2
    problems = [block for block in found if block.problem]
    assert len(problems) == 1
    assert problems[0].offset == len(good)
    assert problems[0].line == good.count(b"\n") + 1


def test_a_decompression_bomb_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"0\n" * 5_000_000))
    limits = SourceLimits(max_ratio=50, ratio_floor_bytes=1_000_000)
    found = blocks(path, limits)
    assert "decompression bomb" in found[-1].problem
    assert sum(len(block.data) for block in found) < 6_000_000


def test_a_file_that_shrank_is_told(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"a\n")
    with open_source(path) as source, pytest.raises(DamagedSourceError, match="shorter"):
        source.skip(10)


def test_missing_files_and_folders_are_input_errors(tmp_path: Path) -> None:
    for path in (tmp_path / "absent", tmp_path):
        with pytest.raises(InputError, match="can't be read"):
            open_source(path)
