"""Two processes never write one file; what a killed one held is taken over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from error_texts import raises

from graph_service.errors import InputError
from queries.lock import one_writer

HOLDS = """
import sys, time
from queries.lock import one_writer
with one_writer(sys.argv[1]):
    print("held", flush=True)
    time.sleep(600)
"""
ADDS = """
import sys, time
from pathlib import Path
from graph_service.errors import InputError
from queries.lock import one_writer
count, done = Path(sys.argv[1]), 0
while done < 25:
    try:
        with one_writer(count):
            number = int(count.read_text() or 0)
            time.sleep(0.001)
            count.write_text(str(number + 1))
            done += 1
    except InputError:
        time.sleep(0.001)
"""


def holder(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_another_process_is_named_and_a_killed_one_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with holder(path) as process:
        with (
            raises(InputError),
            one_writer(path),
        ):
            pytest.fail("two processes held one file")
        process.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        process.wait(600)
    assert (tmp_path / ".run.jsonl.lock").exists()
    with one_writer(path):
        assert f"process {os.getpid()} " in (tmp_path / ".run.jsonl.lock").read_text()
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_the_file_that_it_leads_to(tmp_path: Path) -> None:
    path, link = tmp_path / "run.jsonl", tmp_path / "link.jsonl"
    path.touch()
    link.symlink_to(path)
    with (
        one_writer(path),
        raises(InputError),
        one_writer(link),
    ):
        pytest.fail("the file was held twice")


def test_processes_in_turn_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "count"
    path.write_text("0")
    processes = [subprocess.Popen([sys.executable, "-c", ADDS, str(path)]) for _ in range(3)]
    assert [process.wait(600) for process in processes] == [0, 0, 0]
    assert path.read_text() == "75"


def test_what_is_no_file_is_not_locked(tmp_path: Path) -> None:
    with one_writer(None), one_writer(os.devnull), one_writer(tmp_path):
        pass
    with pytest.raises(InputError, match="can't write"), one_writer(tmp_path / "no" / "file"):
        pytest.fail("there is no such folder")
