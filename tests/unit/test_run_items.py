"""Runs of items in order: lines that are whole after any end, progress, and how a run stops."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from error_texts import raises

from graph_service.errors import InputError, LimitError
from queries.line_file import LineFile
from queries.llm import Usage
from queries.run import Progress, in_order, run_items


def lines_of(path: Path) -> list[int]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_a_torn_line_is_cut_off_and_whole_ones_stay(tmp_path: Path) -> None:
    file = LineFile(tmp_path / "a.jsonl")
    file.append(1, 22, 333)
    whole = file.path.read_bytes()
    for size in range(len(whole)):
        file.path.write_bytes(whole[:size])
        lines: list[tuple[bytes, str]] = []

        def is_valid(line: bytes, where: str, lines: list[tuple[bytes, str]] = lines) -> bool:
            lines.append((line, where))
            return True

        count = whole[:size].count(b"\n")
        assert file.read(is_valid) == whole[:size].rfind(b"\n") + 1
        assert file.path.read_bytes() == whole[:size], "reading changes nothing"
        file.resume(lambda line, where: True)
        assert file.path.read_bytes() == whole[: whole[:size].rfind(b"\n") + 1]
        named = [(b"1", "a.jsonl, line 1"), (b"22", "a.jsonl, line 2")]
        assert lines == named[:count]


def test_what_does_not_stay_is_cut_off_with_all_after_it(tmp_path: Path) -> None:
    file = LineFile(tmp_path / "a.jsonl")
    file.resume(lambda line, where: False)
    assert not file.path.exists()
    file.append(*range(5))
    file.resume(lambda line, where: line != b"2")
    assert lines_of(file.path) == [0, 1]
    file.append(7)
    assert lines_of(file.path) == [0, 1, 7]

    def refuse(line: bytes, where: str) -> bool:
        raise InputError(f"{where} is none")

    with raises(InputError):
        file.resume(refuse)
    assert lines_of(file.path) == [0, 1, 7], "a file that is refused stays as it is"


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no" / "a.jsonl"):
        with pytest.raises(InputError, match=f"can't write {path}: ") as caught:
            LineFile(path).append()
        assert caught.value.argument == "out"
    with raises(InputError):
        LineFile(tmp_path / "no" / "a.jsonl").replace([1])


KILLED = """
import sys
from pathlib import Path
from queries.line_file import LineFile
file = LineFile(Path(sys.argv[1]))
while True:
    file.append({"text": "x" * 50_000})
    print(flush=True)
"""


def test_after_sigkill_every_line_that_was_reported_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process.stdout as stdout:
        for _ in range(20):
            stdout.readline()
        process.kill()
        reported = 20 + stdout.read().count("\n")
    process.wait()
    lines: list[bytes] = []

    def is_valid(line: bytes, where: str) -> bool:
        lines.append(line)
        return bool(json.loads(line) == {"text": "x" * 50_000})

    LineFile(path).resume(is_valid)
    assert len(lines) >= reported
    assert path.read_bytes() == b"".join(line + b"\n" for line in lines)


@pytest.mark.parametrize("workers", [1, 3])
def test_progress_goes_on_from_where_the_run_began(workers: int) -> None:
    written: list[int] = []
    states = [
        state
        for _, state in run_items(
            range(4),
            lambda item: item * 10,
            written.append,
            start=Progress(2, 6, failed=1, unit="words"),
            workers=workers,
            has_failed=lambda made: made == 20,
            usage_of=lambda made: Usage(made, 1) if made else None,
            settle=lambda made: made,
        )
    ]
    assert written == [0, 10, 20, 30]
    assert [(one.done, one.fresh, one.failed) for one in states] == [
        (3, 1, 1), (4, 2, 1), (5, 3, 2), (6, 4, 2),
    ]  # fmt: skip
    assert states[-1].usage == Usage(60, 3)
    assert states[-1].text().startswith("6 of 6 words, 2 failed, 63 tokens (60 + 3), ")
    # 4 items in 8 s: 2 s each, and 2 are left.
    assert Progress(4, 6, fresh=4, seconds=8.0).seconds_left == 4.0


def test_what_settles_an_item_sees_them_in_order_and_is_what_is_written() -> None:
    # The second item is made before the first, and settled after it.
    second = threading.Event()
    settled: list[int] = []
    written: list[str] = []

    def make(item: int) -> int | str:
        if item == 0:
            assert second.wait(600)
        elif item == 1:
            second.set()
        return item

    def settle(made: int | str) -> int | str:
        assert isinstance(made, int)
        settled.append(made)
        return f"settled {made}"

    run = run_items(
        range(3),
        make,
        lambda made: written.append(str(made)),
        start=Progress(0, 3),
        workers=2,
        has_failed=lambda made: False,
        settle=settle,
    )
    assert [made for made, _ in run] == written == ["settled 0", "settled 1", "settled 2"]
    assert settled == [0, 1, 2]


def test_an_error_ends_a_run_after_what_came_before_it_is_written() -> None:
    written: list[int] = []

    def make(item: int) -> int:
        if item == 2:
            raise LimitError("spent")
        return item

    with pytest.raises(LimitError):
        for _ in run_items(
            range(9), make, written.append, start=Progress(0, 9), workers=3,
            has_failed=lambda made: False,
        ):  # fmt: skip
            pass
    assert written == [0, 1]


def test_a_run_that_is_left_begins_nothing_more() -> None:
    begun: list[int] = []
    left = threading.Event()

    def make(item: int) -> int:
        begun.append(item)
        if item:
            assert left.wait(600)
        return item

    run = in_order(iter(range(50)), make, 2)
    assert next(run) == 0
    # Two threads hold an item each; two more wait in line.
    threading.Timer(0.1, left.set).start()
    run.close()  # type: ignore[attr-defined]
    assert len(begun) <= 4


def test_a_run_without_workers_is_refused() -> None:
    with pytest.raises(InputError, match="at least 1, got 0"):
        next(
            run_items(
                [1], str, lambda made: None, start=Progress(0, 1), workers=0,
                has_failed=lambda made: False,
            )
        )  # fmt: skip
