"""The file of rejects belongs to one load and holds all of its runs (S1)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from error_texts import raises

from graph_service.errors import InputError
from graph_service.store.protocol import Store
from loaders.items import Reject
from loaders.load import load
from loaders.options import LoadOptions
from loaders.rejects import RejectsFile


def rejects(*lines: int) -> list[Reject]:
    return [Reject("f", line, 0, "bad") for line in lines]


def lines_of(path: Path) -> list[int]:
    return [json.loads(line)["line"] for line in path.read_text().splitlines()]


def test_a_second_load_starts_a_fresh_file(tmp_path: Path, tmp_store: Store) -> None:
    path = tmp_path / "t.tsv"
    options = LoadOptions(format="tsv", header=False, rejects_path=tmp_path / "r")
    for text, bad in (
        ("Q1\tP1\tQ2\na\tb\nQ1\tP1\tQ3\nc\n", [2, 4]),
        ("Q1\tP1\tQ2\nx\n", [2]),
        ("Q1\tP1\tQ2\n", []),
    ):
        path.write_text(text)
        assert load(path, store=tmp_store, graph="g", options=options).rejected == len(bad)
        assert (tmp_path / "r").exists() is bool(bad)
        if bad:
            assert lines_of(tmp_path / "r") == bad


def test_a_resumed_load_goes_on_behind_what_was_committed(tmp_path: Path) -> None:
    path = tmp_path / "r"
    first = RejectsFile(path, committed={})
    first.add(rejects(1, 2))
    state = first.state()
    first.add(rejects(3))
    first.close()
    second = RejectsFile(path, committed=state)
    assert not second.lost
    assert second.state() == state
    second.add(rejects(4))
    second.close()
    assert lines_of(path) == [1, 2, 4]


@pytest.mark.parametrize("between", ["", '{"file":"another load"}\n' * 20, None])
def test_a_file_that_is_not_the_interrupted_loads_is_not_added_to(
    tmp_path: Path, between: str | None
) -> None:
    path = tmp_path / "r"
    first = RejectsFile(path, committed={})
    first.add(rejects(1, 2))
    state = first.state()
    first.close()
    if between is None:
        path.unlink()
    else:
        path.write_text(between)
    second = RejectsFile(path, committed=state)
    assert second.lost
    second.add(rejects(4))
    second.close()
    assert lines_of(path) == [4]


def test_no_other_file_is_cut_for_rejects(tmp_path: Path, tmp_store: Store) -> None:
    source = tmp_path / "t.tsv"
    source.write_text("Q1\tP1\tQ2\nx\n")
    for graph in ("one", "two"):
        options = LoadOptions(format="tsv", header=False, rejects_path=source)
        with raises(InputError):
            load(source, store=tmp_store, graph=graph, options=options)
        assert source.read_text() == "Q1\tP1\tQ2\nx\n"
    options = LoadOptions(format="tsv", header=False, rejects_path=tmp_path / "r")
    assert load(source, store=tmp_store, graph="one", options=options).rejected == 1


def test_two_loads_never_share_a_file(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    path = tmp_path / "r"
    first = RejectsFile(path, committed={})
    first.add(rejects(1))
    first.flush()
    with pytest.raises(InputError, match="another load"):
        RejectsFile(path, committed={})
    first.add(rejects(2))
    first.close()
    assert lines_of(path) == [1, 2]


def test_two_loads_in_one_folder_write_files_of_their_own() -> None:
    pytest.importorskip("fcntl")
    first, second, third = (RejectsFile(None, committed={}) for _ in range(3))
    for number, file in enumerate((first, second, third), 1):
        file.add(rejects(number))
        file.flush()
    names = ["rejects.jsonl", "rejects-2.jsonl", "rejects-3.jsonl"]
    assert [file.path.name for file in (first, second, third)] == names
    folder = first.path.parent
    state = second.state()
    for file in (first, second, third):
        file.close()
    # Resumed, the load goes on in its own file, though the first one is free.
    resumed = RejectsFile(None, committed=state)
    assert not resumed.lost
    resumed.add(rejects(4))
    resumed.close()
    assert [lines_of(folder / name) for name in names] == [[1], [2, 4], [3]]
    later = RejectsFile(None, committed={})
    later.close()
    assert later.path == first.path


def test_a_pipe_or_device_can_take_rejects(tmp_path: Path) -> None:
    file = RejectsFile(Path(os.devnull), committed={})
    file.add(rejects(1))
    file.close()
    again = RejectsFile(Path(os.devnull), committed=file.state())
    again.add(rejects(2))
    again.close()
    assert Path(os.devnull).exists()


def test_what_cannot_be_written_is_said_before_the_load(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be written"):
        RejectsFile(tmp_path / "missing" / "r", committed={})
