"""``graph-service verify``, and what backup and doctor say of a damaged store."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from cli_runs import Cli
from error_texts import check_error, check_line

from graph_service.embed import VectorFile

Patch = pytest.MonkeyPatch


def patch_a_label() -> None:
    """Changes one label in the test's store, as a program that knows nothing of it would."""
    path = os.environ["GRAPH_SERVICE_STORE"].removeprefix("sqlite:///")
    with sqlite3.connect(path) as connection:
        (number,) = connection.execute("SELECT current FROM graphs").fetchone()
        changed = connection.execute(
            f"UPDATE entities_{number} SET terms = replace(terms, 'Shriver', 'Shrover') "
            "WHERE id = 'Q230654'"
        )
        assert changed.rowcount == 1
    connection.close()


def test_a_whole_store_is_whole(demo_cli: Cli) -> None:
    found = demo_cli("verify")
    assert found.code == 0
    assert found.out.splitlines()[-1].endswith("parts, all whole")
    check_line(found.err, "statements and entities")


def test_a_patched_label_is_told_and_ends_with_5(demo_cli: Cli) -> None:
    patch_a_label()
    found = demo_cli("verify", "--json")
    assert found.code == 5
    faults = {item["part"]: item["fix"] for item in found.json["parts"] if item["fault"]}
    assert set(faults) == {"content fingerprint", "name index", "names for linking"}
    assert all("--replace" in fix for fix in faults.values())
    assert found.json["whole"] is False
    lines = demo_cli("verify").out.splitlines()
    assert "FAULT  demo: content fingerprint: " in "\n".join(lines)
    assert lines[-1].endswith("parts, 3 damaged")


def test_damaged_vectors_are_told(demo_cli: Cli, tmp_path: Path, monkeypatch: Patch) -> None:
    path = tmp_path / "vectors.db"
    monkeypatch.setenv("GRAPH_SERVICE_VECTORS", str(path))
    with VectorFile(path) as file:
        file.add([b"k" * 16], np.ones((1, 4), dtype=np.float32))
    assert demo_cli("verify").code == 0
    vector = np.ones(4, dtype="<f4").tobytes()
    path.write_bytes(path.read_bytes().replace(vector, b"\x01" + vector[1:]))
    found = demo_cli("verify", "--json")
    assert found.code == 5
    (fault,) = [item for item in found.json["parts"] if item["fault"]]
    assert str(path) in fault["part"]
    path.write_bytes(b"no database at all " * 100)
    assert demo_cli("verify").code == 5
    assert demo_cli("verify", "--graph", "demo").code == 0


def test_a_damaged_store_is_not_backed_up(demo_cli: Cli, tmp_path: Path) -> None:
    assert demo_cli("backup", "whole.db").code == 0
    patch_a_label()
    found = demo_cli("backup", "copy.db")
    assert found.code == 5
    check_error(found.err)
    assert not (tmp_path / "copy.db").exists()
    assert not [item for item in tmp_path.iterdir() if item.name.endswith(".partial")]


def test_an_unknown_graph_is_refused(demo_cli: Cli) -> None:
    found = demo_cli("verify", "--graph", "other")
    assert found.code == 2
    assert "other" in found.err


def test_doctor_names_verify(demo_cli: Cli) -> None:
    found = demo_cli("doctor", "--json")
    damage = [item for item in found.json["checks"] if item["name"] == "damage"]
    assert [item["state"] for item in damage] == ["ok"]
    assert "graph-service verify" in damage[0]["detail"]
