"""Two servers behind a proxy are restarted one after the other, and no request fails."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import pytest
from demo_graph import copy_store
from server_process import ServerProcess, server_process

HERE = Path(__file__).parent
KEY = "key-of-the-proxy"
LIMIT_S = 600


@contextmanager
def asked(folder: Path, servers: list[ServerProcess]) -> Iterator[subprocess.Popen[str]]:
    """Runs autocannon through the proxy."""
    for name in ("rolling.mjs", "operations.mjs"):
        shutil.copy(HERE / "scripts" / name, folder)
    shutil.copy(HERE / "operations.json", folder)
    ports = " ".join(str(server.port) for server in servers)
    process = subprocess.Popen(
        ["node", "rolling.mjs"],
        cwd=folder,
        env={**os.environ, "KEY": KEY, "SERVERS": ports},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    # A proxy that never gets what it waits for ends, and so does the test.
    timer = threading.Timer(LIMIT_S, process.kill)
    timer.start()
    try:
        yield process
    finally:
        timer.cancel()
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()


def line_of(stream: IO[str] | None) -> str:
    assert stream is not None
    line = stream.readline()
    assert line, "the proxy has ended"
    return line.strip()


def roll(store: str, folder: Path, *options: str) -> dict[str, Any]:
    """Restarts both servers under load, and returns what autocannon and the proxy saw."""

    def serving(port: int = 0) -> Any:
        return server_process(store, "--port", str(port), *options, api_key=KEY)

    with ExitStack() as stack:
        servers = [stack.enter_context(serving()) for _ in range(2)]
        proxy = stack.enter_context(asked(folder, servers))
        assert line_of(proxy.stdout) == "running"
        assert proxy.stdin is not None
        for number, server in enumerate(servers):
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(LIMIT_S) == 0, "a request was not answered"
            servers[number] = stack.enter_context(serving(server.port))
            proxy.stdin.write("\n")
            proxy.stdin.flush()
            assert line_of(proxy.stdout) == "both answer"
        proxy.stdin.close()
        report: dict[str, Any] = json.loads(line_of(proxy.stdout))
        return report


@pytest.fixture(scope="module")
def folder() -> Path:
    """Where autocannon is installed."""
    return Path(os.environ["GRAPH_SERVICE_TEST_CLIENTS"]).resolve() / "javascript"


def test_a_rolling_restart_fails_no_request(folder: Path, demo_file: Path, tmp_path: Path) -> None:
    """Ready turns 503, the proxy sends elsewhere, the listener closes, and what is taken ends."""
    report = roll(copy_store(demo_file, tmp_path), folder, "--warm", "demo", "--drain-s", "0.5")
    assert report["requests"] > 80
    faults = {name: report[name] for name in ("errors", "timeouts", "non2xx", "mismatches")}
    assert faults == dict.fromkeys(faults, 0), report
    assert report["faults"] == []
    for said in report["said"].values():
        # Not ready comes before not there, and ready again last.
        assert said.index(503, said.index(200)) < said.index(0), said
        assert said[-1] == 200
