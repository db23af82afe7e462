"""Attacks by keys: graphs of others, stored names, cached responses, and hung worker processes."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
from made_keys import made_key
from server_process import ServerProcess, server_process

from graph_service.api.scopes import Scope
from tools.attack.drawing import draw_documents
from tools.attack.target import Target, children, code_of, post, retrieval, until

SECRETS = ("Shriver", "Kennedy", "Schwarzenegger", "Q230654")
NAMES = '{ views(graph: "demo", first: 100) { nodes { name } } }'
CREATE = """mutation($s: ViewSpecInput!, $n: String!) {
  createView(input: {graph: "demo", spec: $s, name: $n}) { view { id name } } }"""
GLOBAL_IDS = """{ graph(name: "demo") { id }
  item(itemId: "Q230654", graph: "demo") { id }
  paths(input: {question: "Who is the mother of Maria Shriver's husband?", graph: "demo"}) { id } }"""


def _bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def graphs_of_others(target: Target) -> str:
    """A key that sees one graph sends ids, cursors and drawn documents that are another's."""
    keys = target.folder / "keys.json"
    own = made_key(keys, "own", graphs=frozenset({"star"}))
    other = made_key(keys, "other", graphs=frozenset({"demo"}))
    with server_process(target.store, "--keys", str(keys), "--rate", "0") as server:
        data = post(server.url, {"query": GLOBAL_IDS}, **_bearer(other)).json()["data"]
        ids = [part["id"] for part in data.values()]
        by_id = {"query": "query($i: ID!) { node(id: $i) { __typename id } }"}
        bodies: list[dict[str, Any]] = [{**by_id, "variables": {"i": id_}} for id_ in ids]
        bodies += [{"query": text} for text in draw_documents(target.random, target.examples)]
        bodies += [retrieval(), {"query": NAMES}]
        for body in bodies:
            text = post(server.url, body, **_bearer(own)).text
            seen = [word for word in SECRETS if word in text and word not in str(body)]
            assert not seen, (seen, str(body)[:300])
        guesses = [f"gskey_{target.random.randbytes(32).hex()}" for _ in range(200)]
        guesses += [other[:-1], other.upper(), f"{other} ", f" {own}x", "", "null", "\t"]
        for guess in guesses:
            status = _status(server, guess)
            assert status in (401, 400) or guess.strip() == other, (status, guess)
    return f"{len(bodies)} requests say nothing of it, {len(guesses)} guessed keys refused"


def _status(server: ServerProcess, token: str) -> int:
    try:
        return post(server.url, {"query": NAMES}, **_bearer(token)).status_code
    except httpx.LocalProtocolError:
        # The client itself refuses to send such a header.
        return 400


def cached_responses_of_others(target: Target) -> str:
    """Two keys send the same bytes, and each has a default graph of its own."""
    keys = target.folder / "keys-of-caches.json"
    tokens = {graph: made_key(keys, graph, graphs=frozenset({graph})) for graph in ("demo", "star")}
    body = {"query": "{ graph { name edition } }"}
    with server_process(target.store, "--keys", str(keys)) as server:
        for _ in range(3):
            for graph, token in tokens.items():
                response = post(server.url, body, **_bearer(token))
                assert response.json()["data"]["graph"]["name"] == graph, response.text[:300]
    return "each has its own, three times"


def names_of_views(target: Target) -> str:
    """Five clients create five views of one name at once, in five rounds."""
    keys = target.folder / "keys-of-views.json"
    token = made_key(keys, "writer", scope=Scope.WRITE, graphs=frozenset({"demo"}))
    options = ("--keys", str(keys), "--writable", "--rate", "0", "--workers", "2")
    with server_process(target.store, *options) as server, ThreadPoolExecutor(5) as pool:

        def create(name: str, seed: int) -> str:
            spec = {"method": "EDGE_DELETION", "level": 0.1, "randomSeed": seed}
            body = {"query": CREATE, "variables": {"s": spec, "n": name}}
            return code_of(post(server.url, body, **_bearer(token)))

        codes: set[str] = set()
        for turn in range(5):
            name = f"team{turn}"
            results = list(pool.map(create, [name] * 5, range(turn * 5, turn * 5 + 5)))
            codes |= {code for code in results if code}
            nodes = post(server.url, {"query": NAMES}, **_bearer(token)).json()["data"]["views"]
            of_name = [view for view in nodes["nodes"] if view["name"] == name]
            assert len(of_name) == results.count("") == 1, (name, results, len(of_name))
    return f"one of each name, the others {', '.join(sorted(codes))}"


def hung_and_killed_processes(target: Target) -> str:
    """Of two worker processes one is stopped, then one is killed."""
    with server_process(target.store, "--workers", "2", "--rate", "0") as server:

        def responds() -> bool:
            return bool(post(server.url, retrieval()).json()["data"])

        def ready() -> bool:
            try:
                return httpx.get(f"{server.url}/health/ready", timeout=60).status_code == 200
            except httpx.TransportError:
                # Its connection was that of the process that was killed.
                return False

        until(ready, "ready with two processes")
        first = children(server.process.pid)
        os.kill(first[0], signal.SIGSTOP)
        until(lambda: not ready(), "not ready with a process that hangs")
        assert all(responds() for _ in range(10))
        until(
            lambda: first[0] not in children(server.process.pid), "the one that hangs is replaced"
        )
        until(ready, "ready after that")
        second = children(server.process.pid)
        os.kill(second[-1], signal.SIGKILL)
        until(lambda: second[-1] not in children(server.process.pid), "the killed one is replaced")
        until(ready, "ready after that too")
        assert all(responds() for _ in range(4))
    return "both are replaced, others served meanwhile"
