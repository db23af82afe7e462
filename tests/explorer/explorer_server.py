"""A server of the installed package, which may be stopped and started again at its address."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time

STARTS_WITHIN_S = 600


class Served:
    """``graph-service serve`` in a process of its own."""

    def __init__(self, store: str, *options: str, port: int = 0, key: str = "") -> None:
        self._command = [sys.executable, "-m", "graph_service.cli", "serve", "--store", store]
        self._command += options
        self._environment = {**os.environ, "GRAPH_SERVICE_API_KEY": key}
        self._process: subprocess.Popen[str] | None = None
        self.port = port
        self.start()

    @property
    def url(self) -> str:
        """The address, with a slash."""
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        """Starts it, at the port that it had before."""
        process = subprocess.Popen(
            [*self._command, "--port", str(self.port)],
            env=self._environment,
            cwd=tempfile.gettempdir(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._process = process
        assert process.stderr is not None
        until = time.monotonic() + STARTS_WITHIN_S
        for line in process.stderr:
            if found := re.search(r"Explorer on http://\S+:(\d+)/", line):
                self.port = int(found[1])
                return
            assert time.monotonic() < until
        raise AssertionError("the server did not start")

    def stop(self) -> None:
        """Ends it."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
