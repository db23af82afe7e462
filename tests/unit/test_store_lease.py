"""Who holds a lease: processes of another start of the machine, or another container, are others."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from graph_service.store import lease
from graph_service.store.lease import is_gone, owner_name


def test_a_name_is_of_this_machine_its_start_and_its_numbering(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boot, space = tmp_path / "boot_id", tmp_path / "pid"
    monkeypatch.setattr(lease, "_BOOT_ID", boot)
    monkeypatch.setattr(lease, "_PROCESS_SPACE", str(space))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait(600)
    names = []
    for start, numbering in (("one", "pid:[1]"), ("two", "pid:[1]"), ("two", "pid:[2]")):
        boot.write_text(start, encoding="ascii")
        space.unlink(missing_ok=True)
        space.symlink_to(numbering)
        names.append(owner_name(ended.pid))
        host, _, rest = names[-1].rpartition("/")
        assert host == socket.gethostname()
        assert rest.rpartition(":")[2] == str(ended.pid)
        assert owner_name() == names[-1].replace(f":{ended.pid}", f":{os.getpid()}")
        # Only the last is of this start and this numbering, and its process runs no more.
        assert [is_gone(name) for name in names] == [False] * (len(names) - 1) + [True]
        assert not is_gone(owner_name())
    assert len(set(names)) == 3
    boot.unlink()
    space.unlink()
    assert owner_name() == owner_name() not in names, "by the network card, without a numbering"
