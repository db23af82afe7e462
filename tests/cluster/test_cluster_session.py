"""Sessions that cannot be had are errors that say what to do; faults of our own are not (B19)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cluster_graph import Both

from graph_service.cluster import session as session_module
from graph_service.cluster.session import name_of_engine, open_session
from graph_service.errors import SetupError, StoreError


@pytest.mark.parametrize("remote", ["sc://", "sc://127.0.0.1:port", "sc://127.0.0.1:1/;x"])
def test_an_address_of_no_server_is_an_error_of_the_set_up(remote: str) -> None:
    with pytest.raises(SetupError, match="no session with"), open_session(remote):
        pytest.fail("no server has that address")


def test_faults_of_our_own_stay_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("a fault")

    monkeypatch.setattr(session_module, "_start_sail", fail)
    with pytest.raises(KeyError), open_session("sail"):
        pytest.fail("it did not start")


def test_what_an_engine_cannot_do_is_an_error_of_the_store(address: str) -> None:
    message = rf"^{re.escape(name_of_engine(address))} could not go on: "
    with pytest.raises(StoreError, match=message), open_session(address) as session:
        session.sql("SELECT * FROM no_such_table").collect()


@pytest.mark.skipif(
    os.environ["GRAPH_SERVICE_TEST_CLUSTER"] != "sail", reason="Sail alone holds joins in memory"
)
def test_sail_takes_no_more_memory_than_it_may(both: Both, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "graph_service.cli", "cluster", "view", "create"]
    command += [str(both.folder), "--method", "inversion", "--level", "0.3", "--to", "view"]
    environment = {**os.environ, "SAIL_RUNTIME__MEMORY_POOL__FAIR__MAX_SIZE": "1000"}
    run = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 5
    assert run.stderr.startswith("error: sail could")
    assert "Failed to allocate" in run.stderr
