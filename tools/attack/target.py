"""The server that is attacked, and the quiet request that durations are compared with."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import httpx
from demo_graph import QUESTION
from server_process import ServerProcess

from tools.attack import ROOT

SCHEMA = ROOT / "docs" / "schema.graphql"
TRIVIAL = {"query": "{ graphs { nodes { name } } }"}
HEAD = b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
COMMAND = (sys.executable, "-c", "import sys; from graph_service.cli import main; sys.exit(main())")
OTHER_ADDRESS = "127.0.0.9"
PATHS = "query($i: RetrieveInput!) { paths(input: $i) { text } }"
PATIENCE_S = 600.0
"""A request that takes longer has hung, on any machine."""
_QUIET_REQUESTS = 5
_serial = count()


@dataclass(frozen=True, slots=True)
class Target:
    """What is attacked.

    Attributes:
        server: Serves ``store`` with the default settings.
        store: Address of a store with the graphs ``demo``, ``star`` and ``hostile``.
        folder: For files of the attacks.
        random: Draws what is random.
        examples: How many documents a fuzzer sends.
    """

    server: ServerProcess
    store: str
    folder: Path
    random: random.Random
    examples: int
    _quiet: list[float] = field(default_factory=list)

    def post(self, body: object, **headers: str) -> httpx.Response:
        """Returns the response to one request."""
        return post(self.server.url, body, **headers)

    def quiet_s(self) -> float:
        """Returns how long a retrieval takes now, in seconds: the median of a few, one by one."""
        return quiet_s(self.server.url)

    def judge(self, what: str, took_s: float, ratio: float, /, *, allowed_s: float = 0.0) -> str:
        """Returns a duration in words, or fails if it is too long.

        Args:
            what: What took so long.
            took_s: Its duration.
            ratio: How many quiet retrievals it may take, by the slower of those before the attack
                and of those now.
            allowed_s: Seconds that it may take besides, by a time limit of the server.
        """
        quiet = max([*self._quiet, self.quiet_s()])
        times = max(0.0, took_s - allowed_s) / quiet
        text = f"{what} {took_s:.2f} s, {times:.0f} quiet requests"
        assert times <= ratio, f"{text}; at most {ratio:g}"
        return text

    def begin(self) -> None:
        """Times the quiet request before an attack."""
        self._quiet[:] = [self.quiet_s()]

    def wait_of_others(self, ratio: float) -> str:
        """Returns how long a trivial query of another address takes now; fails if too long."""
        began = time.monotonic()
        response = post_elsewhere(self.server.url, TRIVIAL)
        took_s = time.monotonic() - began
        assert response.json().get("data"), response.text[:200]
        return self.judge("others wait", took_s, ratio)


def post(url: str, body: object, **headers: str) -> httpx.Response:
    """Returns the response of a server to one request."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"content-type": "application/json", **headers}
    return httpx.post(f"{url}/graphql", content=content, headers=named, timeout=PATIENCE_S)


def retrieval(**fields: Any) -> dict[str, Any]:
    """Returns a retrieval over the demo graph that no response cache knows."""
    question = f"{QUESTION} {next(_serial)}"
    return {"query": PATHS, "variables": {"i": {"question": question, "graph": "demo", **fields}}}


def quiet_s(url: str, **headers: str) -> float:
    """Returns the median duration of a few retrievals, one by one, in seconds."""
    durations = []
    for _ in range(_QUIET_REQUESTS):
        began = time.monotonic()
        response = post_elsewhere(url, retrieval(), **headers)
        durations.append(time.monotonic() - began)
        assert response.json().get("data"), response.text[:200]
    return median(durations)


def post_elsewhere(url: str, body: object, **headers: str) -> httpx.Response:
    """Returns the response to a request from an address that no attack comes from."""
    transport = httpx.HTTPTransport(local_address=OTHER_ADDRESS)
    with httpx.Client(transport=transport, timeout=PATIENCE_S) as client:
        return client.post(f"{url}/graphql", json=body, headers=headers)


def code_of(response: httpx.Response) -> str:
    """Returns the code of a response's first error; empty where it has none."""
    errors = response.json().get("errors")
    return errors[0]["extensions"]["code"] if errors else ""


def until(holds: Callable[[], bool], what: str, /) -> None:
    """Waits until something holds.

    Raises:
        AssertionError: It does not, however long one waits.
    """
    limit = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < limit, f"never: {what}"
        time.sleep(0.1)


def cpu_s(pid: int) -> float:
    """Returns the processor time that a process has used, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> int:
    """Returns the megabytes that a process holds."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) // 1024


def children(pid: int) -> list[int]:
    """Returns the processes that a process has started."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(child) for child in text.split()]
