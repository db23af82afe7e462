"""The verb mcp: over stdio, and over HTTP with keys, sessions and graphs of its own (B1)."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from cli_runs import Cli
from demo_graph import QUESTION, copy_store
from made_keys import made_key
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_calls import TOOLS, T, asked, called
from waiting import PATIENCE_S
from waiting import wait_until as until

from graph_service.server.key_file import revoke_key
from graph_service.settings import Settings

COMMAND = ["-m", "graph_service.cli", "mcp"]


@pytest.fixture(scope="module")
def demo_copy(demo_file: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    return copy_store(demo_file, tmp_path_factory.mktemp("mcp"))


@pytest.fixture(scope="module")
def environment(demo_copy: str, demo_settings: Settings) -> dict[str, str]:
    return {
        **os.environ,
        "GRAPH_SERVICE_STORE": demo_copy,
        "GRAPH_SERVICE_VECTORS": demo_settings.vectors,
    }


def test_stdio_carries_nothing_but_the_protocol(environment: dict[str, str]) -> None:
    parameters = StdioServerParameters(command=sys.executable, args=COMMAND, env=environment)

    async def use(client: Any) -> Any:
        tools = await client.list_tools()
        return tools, await client.call_tool("retrieve", {"question": QUESTION})

    tools, result = asked(stdio_client(parameters), use)
    assert [tool.name for tool in tools.tools] == TOOLS
    assert result.structured_content["status"] == "ok"


@contextmanager
def http_server(environment: dict[str, str], *options: str) -> Iterator[str]:
    """Serves over HTTP until the block ends, and gives the address."""

    def is_up(url: str) -> bool:
        try:
            httpx.get(url)
        except httpx.ConnectError:
            return False
        return True

    process = subprocess.Popen(
        [sys.executable, *COMMAND, "--http", "127.0.0.1:0", *options],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if found := re.search(r"MCP on (http://\S+);", line):
                # It says where before it listens there.
                until(lambda: is_up(found[1]))
                yield found[1]
                break
        else:
            pytest.fail("the server did not start")
    finally:
        process.kill()
        process.communicate()


INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}}}  # fmt: skip


def test_http_answers_its_own_names_and_pages_alone(environment: dict[str, str]) -> None:
    options = ("--allow-host", "graphs.example", "--allow-origin", "https://page.example")
    with http_server(environment, *options) as url:
        _, data = called(url, "retrieve", question=QUESTION)
        assert data["status"] == "ok"

        def status(**headers: str) -> int:
            accept = {"accept": "application/json, text/event-stream"}
            return httpx.post(url, json=INITIALIZE, headers={**accept, **headers}).status_code

        own = url.removesuffix("/mcp")
        assert status() == 200
        assert status(host="localhost:1") == 200
        assert status(host="graphs.example") == 200
        assert status(host="evil.example") == 421
        assert status(origin=own) == 200
        assert status(origin="https://page.example") == 200
        assert status(origin="https://evil.example") == 403
        assert status(origin="http://127.0.0.1:1") == 403


def test_http_asks_for_the_key(environment: dict[str, str]) -> None:
    with http_server({**environment, "GRAPH_SERVICE_API_KEY": "sésame"}) as url:

        def answer(authorization: str = "") -> httpx.Response:
            headers = {
                b"accept": b"application/json, text/event-stream",
                b"authorization": authorization.encode(),
            }
            return httpx.post(url, json=INITIALIZE, headers=headers)

        for refused_ in (answer(), answer("Bearer other")):
            assert refused_.status_code == 401
            assert refused_.headers["www-authenticate"].startswith("Bearer realm=")
            assert "Authorization: Bearer KEY" in refused_.text
        assert answer("Bearer sésame").status_code == 200


def accepted(url: str, token: str = "", **headers: str) -> httpx.Response:
    """Returns what the server answers to a request that begins a session."""
    given = {"accept": "application/json, text/event-stream", **headers}
    if token:
        given["authorization"] = f"Bearer {token}"
    return httpx.post(url, json=INITIALIZE, headers=given)


def pinged(url: str, opened: httpx.Response, token: str = "") -> int:
    """Returns the status of a ping in a session."""
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-session-id": opened.headers["mcp-session-id"],
        **({"authorization": f"Bearer {token}"} if token else {}),
    }
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    return httpx.post(url, json=ping, headers=headers).status_code


def test_health_needs_no_key(environment: dict[str, str], demo_copy: str) -> None:
    with http_server({**environment, "GRAPH_SERVICE_API_KEY": "secret"}) as url:
        own = url.removesuffix("/mcp")
        for path, status in (("/health/live", "live"), ("/health/ready", "ready")):
            answer = httpx.get(own + path)
            assert (answer.status_code, answer.json()) == (200, {"status": status})
        assert accepted(url).status_code == 401
    with http_server(environment, "--server", "http://127.0.0.1:1") as url:
        own = url.removesuffix("/mcp")
        assert httpx.get(own + "/health/live").status_code == 200
        assert httpx.get(own + "/health/ready").status_code == 503


def test_the_oldest_idle_session_of_a_client_makes_room(
    environment: dict[str, str], tmp_path: Path
) -> None:
    keys = tmp_path / "keys.json"
    one, other = (made_key(keys, name) for name in ("one", "other"))
    options = ("--keys", str(keys), "--max-sessions-per-client", "2")
    with http_server(environment, *options) as url:
        others = accepted(url, other)
        first, second = accepted(url, one), accepted(url, one)
        assert pinged(url, first, one) == 200
        third = accepted(url, one)
        assert [pinged(url, it, one) for it in (first, second, third)] == [200, 404, 200]
        assert pinged(url, others, other) == 200


def test_a_client_whose_sessions_are_all_in_use_is_refused(environment: dict[str, str]) -> None:
    for option, status in (("--max-sessions-per-client", 429), ("--max-sessions", 503)):
        with http_server(environment, option, "1") as url:
            opened = accepted(url)
            headers = {
                "accept": "text/event-stream",
                "mcp-session-id": opened.headers["mcp-session-id"],
            }
            with httpx.stream("GET", url, headers=headers) as stream:
                assert stream.status_code == 200
                refused_ = accepted(url)
                assert refused_.status_code == status
                assert int(refused_.headers["retry-after"]) > 0
                assert pinged(url, opened) == 200
            # The server has to see that the stream has ended.
            until(lambda: accepted(url).status_code == 200)
            assert pinged(url, opened) == 404


def test_an_idle_session_ends(environment: dict[str, str]) -> None:
    with http_server(environment, "--session-idle", "0.05") as url:
        opened = accepted(url)
        pause_s = 0.05
        # Each ping is a use, so the pause between two must grow past the idle time.
        while pinged(url, opened) == 200:
            assert pause_s < 300
            time.sleep(pause_s)
            pause_s *= 2
        assert pinged(url, opened) == 404


def test_each_key_has_its_own_graphs(environment: dict[str, str], tmp_path: Path) -> None:
    """Also in the tools' errors, the resources, the default graph, and in another's session."""
    keys = tmp_path / "keys.json"
    tokens = {
        name: made_key(keys, name, graphs=frozenset({graph}), rate=0.1, max_cost=cost)
        for name, graph, cost in (("own", "demo", 100.0), ("other", "films", 100.0))
    }
    with http_server({**environment, "GRAPH_SERVICE_GRAPH": "demo"}, "--keys", str(keys)) as url:

        async def use(client: Any) -> Any:
            return (
                await client.call_tool("describe_graph", {"graph": None}),
                await client.call_tool("search_items", {"query": "Maria"}),
                await client.call_tool("describe_graph", {"graph": "demo"}),
                await client.call_tool("describe_graph", {"graph": "dema"}),
                await client.list_resources(),
                # 0.1 comes back in a second.
                [await client.call_tool("retrieve", {"question": QUESTION}) for _ in range(2)],
            )

        def seen_by(name: str) -> Any:
            async def run() -> Any:
                headers = {"Authorization": f"Bearer {tokens[name]}"}
                async with (
                    create_mcp_http_client(
                        headers=headers, timeout=httpx2.Timeout(PATIENCE_S)
                    ) as http,
                    Client(streamable_http_client(url, http_client=http)) as client,
                ):
                    return await use(client)

            return asyncio.run(run())

        listed, found, views, _, resources, asked_ = seen_by("own")
        assert listed.structured_content["graphs"] == ["demo"]
        assert found.structured_content["items"]
        assert not views.is_error
        assert [one.name for one in resources.resources] == ["demo"]
        assert not any(one.is_error for one in asked_)
        listed, found, views, never, resources, _ = seen_by("other")
        assert listed.structured_content["graphs"] == resources.resources == []
        for one in (found, views, never):
            assert one.is_error
        assert "demo" not in found.content[0].text
        assert views.content[0].text.replace("demo", "dema") == never.content[0].text

        def post(token: str, body: T, **headers: str) -> httpx.Response:
            accept = {"accept": "application/json, text/event-stream"}
            named = {key.replace("_", "-"): value for key, value in headers.items()}
            authorization = {"authorization": f"Bearer {token}"}
            return httpx.post(url, json=body, headers={**accept, **authorization, **named})

        session = post(tokens["own"], INITIALIZE).headers["mcp-session-id"]
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        assert post(tokens["own"], ping, mcp_session_id=session).status_code == 200
        assert post(tokens["other"], ping, mcp_session_id=session).status_code == 404
        revoke_key(keys, "own")
        assert post(tokens["own"], ping, mcp_session_id=session).status_code == 401


def test_the_command_says_what_is_wrong(demo_cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    run = demo_cli("mcp", "--http", "8001")
    assert run.code == 2
    assert "HOST:PORT" in run.err
    run = demo_cli("mcp", "--http", "0.0.0.0:0")
    assert run.code == 4
    assert "--insecure" in run.err
    run = demo_cli("mcp", "--server", "http://127.0.0.1:1", "--store", "sqlite:///x.db")
    assert run.code == 2
    monkeypatch.setattr("graph_service.cli.mcp_serving.find_spec", lambda name: None)
    run = demo_cli("mcp")
    assert run.code == 4
    assert "pip install 'graph-service[mcp]'" in run.err
