"""Where programs that others wrote are installed, and the server that they ask."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

KEY = "key-of-the-clients"
TIMEOUT_S = 600


class Quiet(SimpleHTTPRequestHandler):
    """Serves an empty page, and logs nothing."""

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing."""


@contextmanager
def page(folder: Path) -> Iterator[str]:
    """Serves a page on a port of its own, and gives its origin."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join(10)


def run_program(
    command: Sequence[str | Path], folder: Path, environment: Mapping[str, str] | None = None
) -> str:
    """Returns what a program prints; it must end with 0."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    said = f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{said}"
    return done.stdout


@dataclass(frozen=True)
class Clients:
    """Where clients are installed, and what their scripts are told.

    Attributes:
        folder: Has a folder for each lock file: ``javascript``, ``example``, ``gql``, ``codegen``.
        url: The server's, without ``/graphql``; it wants ``KEY``.
        environment: Of a script.
    """

    folder: Path
    url: str
    environment: Mapping[str, str]

    def node(self, script: str, *options: str) -> None:
        """Runs a script of Node."""
        run_program(["node", *options, script], self.folder / "javascript", self.environment)

    def python(self, installed: str, script: str) -> None:
        """Runs a script with a Python that has some of the clients."""
        program = self.folder / installed / "bin" / "python"
        run_program([program, script], self.folder / "javascript", self.environment)
