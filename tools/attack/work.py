"""Attacks by work: much of it, work that nobody waits for, and work that is not paid for."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from typing import Any

import httpx
from demo_graph import QUESTION
from server_process import server_process

from tools.attack.target import (
    HEAD,
    PATIENCE_S,
    Target,
    code_of,
    cpu_s,
    post,
    quiet_s,
    retrieval,
    until,
)

TIME_LIMIT_S = 5
SHUTDOWN_S = 5
CPU_RATIO = 20.0
"""So many times the processor time of quiet retrievals of the same cost may work take."""


def heavy() -> dict[str, Any]:
    """Returns a query of some seconds: 30 subgraphs of a view."""
    fields = " ".join(f"a{i}: subgraph(input: $i) {{ id }}" for i in range(30))
    spec = {"method": "RELATION_REPLACEMENT", "level": 0.5}
    variables = {"i": {"question": QUESTION, "graph": "demo", "view": {"spec": spec}, "limit": 100}}
    return {"query": f"query($i: RetrieveInput!) {{ {fields} }}", "variables": variables}


def abandoned_queries(target: Target) -> str:
    """100 clients that ask for much and hang up."""
    body = json.dumps(heavy()).encode()
    with ExitStack() as held:
        for _ in range(100):
            connection = held.enter_context(target.server.connect())
            connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        # They stay until the server has begun: a retrieval of another client then takes its turn.
        target.quiet_s()
    return target.wait_of_others(40)


def many_documents(target: Target) -> str:
    """200 valid documents of 100 KB, each another one; and 20 of 1 MB."""

    def errors_of(index: int) -> int:
        length = 99_000 if index < 200 else 990_000
        response = target.post({"query": f"{{graphs{{nodes{{name}}}}}} #{index}" + "x" * length})
        return len(response.json().get("errors", ()))

    with ThreadPoolExecutor(8) as pool:
        refused = sum(pool.map(errors_of, range(220)))
    assert refused == 20, refused
    return f"{220 - refused} answered, {refused} refused"


def rewiring_around_a_star(target: Target) -> str:
    """A view that rewires 20,000 edges of one head, under a time limit."""
    view = {"spec": {"method": "EDGE_REWIRING", "level": 0.9, "randomSeed": 1}}
    query = (
        'query($v: ViewRefInput!) { neighbourhood(itemId: "Q1", graph: "star", view: $v) { id } }'
    )
    with server_process(target.store, read_timeout_s=TIME_LIMIT_S) as server:
        began = time.monotonic()
        response = post(server.url, {"query": query, "variables": {"v": view}})
        took_s = time.monotonic() - began
    code = code_of(response) or "data"
    return f"{code}, {target.judge('it took', took_s, 50, allowed_s=TIME_LIMIT_S)}"


STUCK = """
import time
from graph_service.store.sqlite.store import SqliteStore
SqliteStore.entities = lambda *_: time.sleep(3600)
"""


def stuck_workers(target: Target) -> str:
    """Two look-ups that never end, on the two threads of look-ups."""
    with (
        server_process(
            target.store, before=STUCK, threads=2, shutdown_timeout_s=SHUTDOWN_S
        ) as server,
        ThreadPoolExecutor(2) as pool,
    ):
        for item in ("Q1", "Q2"):
            # Equal requests run once, so these differ.
            pool.submit(post, server.url, {"query": f'{{item(itemId:"{item}"){{id}}}}'})

        def status() -> int:
            return httpx.get(f"{server.url}/health/ready", timeout=PATIENCE_S).status_code

        until(lambda: status() == 503, "ready says 503")
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            server.process.wait(timeout=PATIENCE_S)
        took_s = time.monotonic() - began
        assert server.process.poll() is not None, "SIGTERM does nothing"
    return f"ready says 503, {target.judge('it ended after', took_s, 50, allowed_s=SHUTDOWN_S)}"


def _unpaid(_target: Target) -> list[tuple[str, dict[str, Any]]]:
    """Returns requests whose work is large beside what they seem to be."""
    search = 'query($t: String!) { searchItems(query: $t, graph: "demo") { edges { cursor } } }'
    methods = (
        "EDGE_DELETION",
        "RELATION_SWAPPING",
        "RELATION_REPLACEMENT",
        "EDGE_REWIRING",
        "STALE",
        "RULE_DELETION",
    )
    requests = [
        (
            f"inline view {method.lower()}",
            retrieval(view={"spec": {"method": method, "level": 0.3, "randomSeed": 7}}),
        )
        for method in methods
    ]
    names = ["Q2685"] * 20_000
    scope = {"method": "EDGE_DELETION", "level": 0.3, "scope": {"statementIds": names}}
    requests += [
        ("long question", retrieval(question="Maria Shriver and Arnold " * 390)),
        ("long scope", retrieval(view={"spec": scope})),
        ("long vector", retrieval(questionVector=[0.5] * 100_000)),
        ("bad argument at the end", retrieval(preset="none", questionVector=[0.5] * 384)),
        ("long search", {"query": search, "variables": {"t": "Maria Shriver " * 600}}),
        ("many items", {"query": "{items(itemIds:[" + '"Q1" ' * 900 + "]){id}}"}),
    ]
    return requests


def unpaid_work(target: Target) -> str:
    """Views, scopes, vectors and texts that take more than they cost, also where they fail."""
    with server_process(
        target.store, "--rate", "1000", "--cache-mb", "0", read_timeout_s=TIME_LIMIT_S
    ) as server:
        pid = server.process.pid
        quiet_s(server.url)
        began_s, quiet = cpu_s(pid), 20
        for _ in range(quiet):
            post(server.url, retrieval())
        unit_s = (cpu_s(pid) - began_s) / quiet
        ratios = {}
        for name, body in _unpaid(target):
            before_s = cpu_s(pid)
            response = post(server.url, body)
            used_s = cpu_s(pid) - before_s
            cost = response.json().get("extensions", {}).get("cost", {})
            paid = cost.get("actual") or cost.get("requested") or 0.0
            # What is refused at once costs nothing, and may take as much as one retrieval.
            ratios[name] = used_s / unit_s / max(paid, 1.0 / CPU_RATIO * 4)
    worst = sorted(ratios, key=lambda name: -ratios[name])[:3]
    text = ", ".join(f"{name} {ratios[name]:.1f}" for name in worst)
    assert ratios[worst[0]] <= CPU_RATIO, f"processor time over what was paid: {text}"
    return f"processor time over what was paid, the worst: {text}"
