"""Attacks on the MCP server: sessions that are opened and left."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import httpx

from tools.attack.target import COMMAND, PATIENCE_S, Target, memory_mb, until

SESSIONS = 2_000
MEMORY_RATIO = 1.25
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "attack", "version": "1"},
    },
}
SEARCH = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "search_items", "arguments": {"query": "Maria Shriver"}},
}


@contextmanager
def _mcp_server(target: Target) -> Iterator[tuple[str, int]]:
    """Serves MCP over HTTP until the block ends; gives the address and the process's id."""
    process = subprocess.Popen(
        [*COMMAND, "mcp", "--http", "127.0.0.1:0"],
        env={**os.environ, "GRAPH_SERVICE_STORE": target.store},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            lines.append(line)
            if match := re.search(r"MCP on (http://\S+);", line):
                until(partial(_listens, match[1]), "the MCP server listens")
                yield match[1], process.pid
                return
        raise AssertionError("".join(lines))
    finally:
        process.kill()
        process.communicate()


def _listens(url: str) -> bool:
    try:
        httpx.get(url, timeout=PATIENCE_S)
    except httpx.ConnectError:
        return False
    return True


def _send(client: httpx.Client, url: str, body: dict[str, Any], session: str = "") -> Any:
    headers = {"accept": "application/json, text/event-stream"}
    if session:
        headers["mcp-session-id"] = session
    return client.post(url, json=body, headers=headers)


def sessions_that_are_left(target: Target) -> str:
    """2,000 sessions of one client, none of them ended."""
    with _mcp_server(target) as (url, pid), httpx.Client(timeout=PATIENCE_S) as client:

        def call() -> None:
            session = _send(client, url, INITIALIZE).headers["mcp-session-id"]
            response = _send(client, url, SEARCH, session)
            assert "Q230654" in response.text, response.text[:300]

        for _ in range(50):
            call()
        before = memory_mb(pid)
        statuses: dict[int, int] = {}
        for _ in range(SESSIONS):
            status = _send(client, url, INITIALIZE).status_code
            statuses[status] = statuses.get(status, 0) + 1
        after = memory_mb(pid)
        assert set(statuses) <= {200, 429, 503}, statuses
        assert after <= MEMORY_RATIO * before, f"{before} -> {after} MB"
        call()
    seen = ", ".join(f"{count} x {status}" for status, count in sorted(statuses.items()))
    return f"{seen}; {before} -> {after} MB"
