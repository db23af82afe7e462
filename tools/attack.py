"""Attacks a server of this machine as one client could, and prints what it withstood.

    make attack

Each attack is one function of ``ATTACKS``: it is given a server on the demo's graph, does its
worst, and returns what it saw; what it may not see it raises as ``AssertionError``. Attacks that
need settings of their own start a second server. All traffic goes to 127.0.0.0/8.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from demo_graph import QUESTION  # noqa: E402
from graphs import load_graph  # noqa: E402
from server_process import ServerProcess, answer_of, server_process  # noqa: E402

from graph_service.store import open_store  # noqa: E402
from loaders.load import load  # noqa: E402
from queries.datasets.demo_set import demo_slice  # noqa: E402

EACH_S = 150
"""No attack may take longer; one that does was not withstood."""
MEMORY_RATIO = 1.2
TRIVIAL = {"query": "{ graphs { nodes { name } } }"}
HEAD = b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@dataclass(frozen=True, slots=True)
class Target:
    """What is attacked.

    Attributes:
        server: With the default settings.
        store: Address of its store.
        draw: Draws what is random.
        examples: How many documents the fuzzer sends.
    """

    server: ServerProcess
    store: str
    draw: random.Random
    examples: int

    def ask(self, body: object, *, limit_s: float = 60, **headers: str) -> httpx.Response:
        """Returns the answer to one request."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        named = {"content-type": "application/json", **headers}
        url = f"{self.server.url}/graphql"
        return httpx.post(url, content=content, headers=named, timeout=limit_s)


def code_of(answer: httpx.Response) -> str:
    """Returns the code of an answer's first error; empty where it has none."""
    errors = answer.json().get("errors")
    return errors[0]["extensions"]["code"] if errors else ""


def wait_of_others(target: Target) -> float:
    """Returns the seconds that a trivial query of another address takes now."""
    began = time.monotonic()
    transport = httpx.HTTPTransport(local_address="127.0.0.9")
    with httpx.Client(transport=transport, timeout=60) as client:
        answer = client.post(f"{target.server.url}/graphql", json=TRIVIAL)
    assert answer.json()["data"], answer.text[:200]
    return time.monotonic() - began


# Documents


def doubling(count: int) -> str:
    """Returns fragments of which each stands twice in the one before."""
    chain = [f"fragment F{i} on Query{{...F{i + 1} ...F{i + 1}}}" for i in range(count)]
    return (
        "query{...F0} "
        + " ".join(chain)
        + f" fragment F{count} on Query{{graphs{{nodes{{name}}}}}}"
    )


def fragments_that_double(target: Target) -> str:
    """Eight clients, each with 1.1 KB."""
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: target.ask({"query": doubling(30)}), range(8)))
    codes = {code_of(answer) for answer in answers}
    assert codes == {"LIMIT_EXCEEDED"}, codes
    return f"8 x {codes.pop()}, others wait {wait_of_others(target):.2f} s"


def documents_that_cost(target: Target) -> str:
    """Fields of one name, empty lines, comments, unknown fields, directives, operations."""
    documents = [
        "{" + "graphs{nodes{name}} " * 740 + "}",
        "{graphs{" + "name " * 2900 + "}}",
        "\n" * 95_000 + "{" + " ".join(f"views(first:{i}){{totalCount}}" for i in range(230)) + "}",
        "\n" * 9_900 + "{" + " ".join(f"graph{i}" for i in range(2900)) + "}",
        '{triplets(input:{question:"a" ' + " ".join(f"x{i}:1" for i in range(950)) + "}){id}}",
        "#\n" * 490_000 + TRIVIAL["query"],
        "{graphs{name" + "@inclde" * 1400 + "}}",
        "".join(f"query a{i}{{__typename}}" for i in range(590)),
        "query(" + "".join(f"$a{i}:Int " for i in range(700)) + "){graphs{nodes{name}}}",
        '{items(itemIds:["' + "\\u00e9" * 15_000 + '"]){id}}',
        "{a" * 1400 + "}" * 1400,
        "{items(itemIds:" + "[" * 1400 + "]" * 1400 + "){id}}",
        "{" + " ".join(f"a{i}:__schema{{types{{fields{{name type{{name}}}}}}}}" for i in range(29))
        + "}",
    ]  # fmt: skip
    documents += [_random_document(target.draw) for _ in range(60)]
    slowest = 0.0
    for document in documents:
        began = time.monotonic()
        answer = target.ask({"query": document})
        slowest = max(slowest, time.monotonic() - began)
        assert answer.status_code in (200, 413), answer.text[:200]
        assert code_of(answer) != "INTERNAL", document[:200]
    assert slowest < 10, f"one took {slowest:.1f} s"
    return f"{len(documents)} documents, the slowest {slowest:.2f} s"


def _random_document(draw: random.Random) -> str:
    """Returns fragments that spread each other, fields and inline fragments at random."""
    count = draw.randint(1, 120)

    def selections(first: int) -> str:
        parts = []
        for _ in range(draw.randint(1, 12)):
            kind = draw.random()
            if kind < 0.6 and first < count:
                parts.append(f"...F{draw.randint(first, count - 1)}")
            elif kind < 0.8:
                parts.append("...on Query{graphs{nodes{name edition}}}")
            else:
                parts.append(f"views(first:{draw.randint(1, 3)}){{totalCount}}")
        return " ".join(parts)

    body = " ".join(f"fragment F{i} on Query{{{selections(i + 1)}}}" for i in range(count))
    return f"{{{selections(0)}}} {body}"


def variables_and_bodies(target: Target) -> str:
    """Nested JSON, long lists, long numbers, a body too large."""
    ids = "query($i: [ID!]!) { items(itemIds: $i) { id } }"
    bodies: list[tuple[bytes, int]] = [
        (b'{"query":' + b"[" * 200_000, 400),
        (json.dumps({"query": ids, "variables": {"i": [""] * 190_000}}).encode(), 200),
        (json.dumps({"query": ids, "variables": {"i": "a" * 990_000}}).encode(), 200),
        (b'{"query":"{graphs{nodes{name}}}","variables":{"a":' + b"9" * 900_000 + b"}}", 200),
        (b'{"query":"{graphs{nodes{name}}}","variables":{"a":"' + b"a" * 1_100_000 + b'"}}', 413),
    ]
    for body, status in bodies:
        answer = target.ask(body)
        assert answer.status_code in (status, 400), (answer.status_code, body[:60])
        assert not answer.json().get("errors") or code_of(answer) != "INTERNAL", body[:60]
    return f"{len(bodies)} bodies answered"


def fuzzed_documents(target: Target) -> str:
    """Valid documents drawn from the schema (hypothesis-graphql), at a fixed random seed."""
    try:
        from hypothesis import HealthCheck, Phase, given, seed, settings
        from hypothesis_graphql import queries
    except ImportError:
        return "left out: hypothesis-graphql is not installed (make attack installs it)"
    schema = (ROOT / "docs" / "schema.graphql").read_text(encoding="utf-8")
    seen: dict[str, int] = {}

    @seed(target.draw.randrange(2**32))
    @settings(
        max_examples=target.examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(queries(schema))
    def send(document: str) -> None:
        answer = target.ask({"query": document})
        assert answer.status_code in (200, 413), answer.text[:200]
        code = code_of(answer)
        assert code != "INTERNAL", document[:500]
        seen[code or "data"] = seen.get(code or "data", 0) + 1

    send()
    return ", ".join(f"{count} x {code}" for code, count in sorted(seen.items()))


def fuzzed_bytes(target: Target) -> str:
    """A good request with bytes changed, cut and repeated."""
    content = json.dumps(TRIVIAL).encode()
    good = HEAD + b"Content-Length: %d\r\n\r\n" % len(content) + content
    statuses: dict[str, int] = {}
    for _ in range(target.examples * 2):
        changed = bytearray(good)
        for _ in range(target.draw.randint(1, 6)):
            place = target.draw.randrange(len(changed))
            changed[place : place + target.draw.randint(0, 3)] = target.draw.randbytes(
                target.draw.randint(0, 3)
            )
        with target.server.connect() as connection:
            with suppress(OSError):
                connection.sendall(bytes(changed))
                connection.shutdown(socket.SHUT_WR)
            answer = answer_of(connection, 60)
        status = answer[9:12].decode() if answer else "closed"
        assert not status.startswith("5") or status == "501", (status, bytes(changed))
        statuses[status] = statuses.get(status, 0) + 1
    return ", ".join(f"{count} x {status}" for status, count in sorted(statuses.items()))


# Connections


def slow_heads(target: Target) -> str:
    """980 connections of one address that never finish their heads."""
    return _held(target, HEAD, 980, ["127.0.0.1"])


def slow_heads_of_many_addresses(target: Target) -> str:
    """980 of ten addresses: fewer than the server keeps, more than it has descriptors."""
    return _held(target, HEAD, 980, [f"127.0.1.{i}" for i in range(1, 11)])


def slow_bodies(target: Target) -> str:
    """100 bodies that never come, where the answer does not need them."""
    head = HEAD.replace(b"/graphql", b"/none") + b"Content-Length: 1000000\r\n\r\n{"
    return _held(target, head, 100, ["127.0.0.1"])


def _held(target: Target, sent: bytes, count: int, addresses: list[str]) -> str:
    with ExitStack() as held:
        connections = []
        for i in range(count):
            connection = held.enter_context(target.server.connect(addresses[i % len(addresses)]))
            with suppress(OSError):
                connection.sendall(sent)
            connections.append(connection)
        waited = wait_of_others(target)
        assert waited < 5, f"others wait {waited:.1f} s"
        began = time.monotonic()
        for connection in connections:
            answer_of(connection, 40)
    return f"others wait {waited:.2f} s, all closed after {time.monotonic() - began:.0f} s"


def slow_readers(target: Target) -> str:
    """20 clients that ask for megabytes and read nothing."""
    page = b"GET /graphql HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n"
    with ExitStack() as held:
        for _ in range(20):
            connection = held.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.settimeout(20)
            connection.connect(("127.0.0.1", target.server.port))
            connection.sendall(page * 2000)
        waited = wait_of_others(target)
        limit = time.monotonic() + 90
        while _sockets(target.server) > 8:
            assert time.monotonic() < limit, "they are kept"
            time.sleep(0.5)
    return f"others wait {waited:.2f} s, all are left"


def _sockets(server: ServerProcess) -> int:
    named = []
    for link in Path(f"/proc/{server.process.pid}/fd").iterdir():
        with suppress(OSError):
            named.append(os.readlink(link))
    return sum(name.startswith("socket:") for name in named)


# Queries


def heavy() -> dict[str, Any]:
    """Returns a query of some seconds: 30 subgraphs of a view."""
    fields = " ".join(f"a{i}: subgraph(input: $i) {{ id }}" for i in range(30))
    spec = {"method": "RELATION_REPLACEMENT", "level": 0.5}
    variables = {"i": {"question": QUESTION, "view": {"spec": spec}, "limit": 100}}
    return {"query": f"query($i: RetrieveInput!) {{ {fields} }}", "variables": variables}


def abandoned_queries(target: Target) -> str:
    """100 clients that ask for much and hang up."""
    body = json.dumps(heavy()).encode()
    with ExitStack() as held:
        for _ in range(100):
            connection = held.enter_context(target.server.connect())
            connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        time.sleep(1)
    waited = wait_of_others(target)
    assert waited < 15, f"a trivial query waits {waited:.1f} s"
    return f"a trivial query waits {waited:.1f} s"


def many_documents(target: Target) -> str:
    """200 valid documents of 100 KB, each another one; and 20 of 1 MB."""

    def ask(number: int) -> int:
        length = 99_000 if number < 200 else 990_000
        answer = target.ask({"query": f"{{graphs{{nodes{{name}}}}}} #{number}" + "x" * length})
        return len(answer.json().get("errors", ()))

    with ThreadPoolExecutor(8) as pool:
        refused = sum(pool.map(ask, range(220)))
    assert refused == 20, refused
    return f"{220 - refused} answered, {refused} refused"


def rewiring_around_a_star(target: Target) -> str:
    """A view that rewires 20,000 edges of one head, under a limit of 5 s."""
    spec = {"method": "EDGE_REWIRING", "level": 0.9, "randomSeed": 1}
    view = {"spec": spec}
    query = (
        'query($v: ViewRefInput!) { neighbourhood(itemId: "Q1", graph: "star", view: $v) { id } }'
    )
    with server_process(target.store, read_timeout_s=5) as server:
        began = time.monotonic()
        answer = httpx.post(
            f"{server.url}/graphql", json={"query": query, "variables": {"v": view}}, timeout=120
        )
        took = time.monotonic() - began
    assert took < 8, f"it took {took:.1f} s ({code_of(answer) or 'data'})"
    return f"{code_of(answer) or 'data'} after {took:.1f} s"


STUCK = """
import time
from graph_service.store.sqlite.store import SqliteStore
SqliteStore.entities = lambda *_: time.sleep(600)
"""


def stuck_workers(target: Target) -> str:
    """Two threads that never end, of two."""
    with (
        server_process(target.store, before=STUCK, threads=2, shutdown_timeout_s=5) as server,
        ThreadPoolExecutor(2) as pool,
    ):
        url = f"{server.url}/graphql"
        for _ in range(2):
            pool.submit(httpx.post, url, json={"query": '{item(itemId:"Q1"){id}}'}, timeout=60)
        time.sleep(1)
        ready = httpx.get(f"{server.url}/health/ready", timeout=30).status_code
        assert ready == 503, f"ready says {ready}"
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        with suppress(Exception):
            server.process.wait(timeout=30)
        took = time.monotonic() - began
        assert server.process.poll() is not None, "SIGTERM does nothing"
    assert took < 7, f"it ended after {took:.1f} s"
    return f"ready says 503, it ended {took:.1f} s after SIGTERM"


def rebinding(target: Target) -> str:
    """A page that gives its own name the server's address deletes a graph."""
    page = {"host": "attacker.example:8000", "origin": "http://attacker.example:8000"}
    document = {"query": 'mutation { deleteGraph(input: {name: "none"}) { name } }'}
    options = ("--host", "0.0.0.0", "--insecure", "--writable")
    with server_process(target.store, *options) as server:
        answer = httpx.post(f"{server.url}/graphql", json=document, headers=page, timeout=30)
    assert answer.status_code == 421, answer.text[:200]
    return f"HTTP {answer.status_code} {code_of(answer)}"


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack.

    Attributes:
        run: Does it, and returns what was seen.
        expected: What a server that withstands it does.
    """

    run: Callable[[Target], str]
    expected: str

    @property
    def name(self) -> str:
        """Its name in the table."""
        return self.run.__name__.replace("_", " ")


ATTACKS = [
    Attack(fragments_that_double, "refused at once"),
    Attack(documents_that_cost, "each within 10 s, no fault of ours"),
    Attack(variables_and_bodies, "answered, no fault of ours"),
    Attack(fuzzed_documents, "data or an error of the client"),
    Attack(fuzzed_bytes, "an error of the client"),
    Attack(slow_heads, "others served at once, all closed"),
    Attack(slow_heads_of_many_addresses, "others served at once, all closed"),
    Attack(slow_bodies, "others served at once, all closed"),
    Attack(slow_readers, "others served at once, all left"),
    Attack(abandoned_queries, "a trivial query within 15 s"),
    Attack(many_documents, "answered, not kept for ever"),
    Attack(rewiring_around_a_star, "an answer within 8 s"),
    Attack(stuck_workers, "not ready; ends within 7 s"),
    Attack(rebinding, "HTTP 421"),
]


def memory(server: ServerProcess) -> int:
    """Returns the megabytes that the server's process holds."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) // 1024


def make_store(folder: Path) -> str:
    """Returns a store with graph ``demo``, and ``star``: one head of 20,000 of its statements."""
    url = f"sqlite:///{folder / 'attacked.db'}"
    with open_store(url) as store:
        load(demo_slice(), store=store, graph="demo")
        star = [("Q1", f"P{i % 50}", f"Q{i + 2}") for i in range(20_000)]
        elsewhere = [(f"Q{i}", "P1", f"Q{i + 1}") for i in range(30_000, 35_000)]
        load_graph(store, "star", [*star, *elsewhere])
    return url


def warm(target: Target) -> None:
    """Does what every server does in an hour, so that memory is compared with that."""
    for i in range(40):
        question = {"question": f"{QUESTION} {i}"}
        query = "query($i: RetrieveInput!) { paths(input: $i) { text } subgraph(input: $i) { id } }"
        target.ask({"query": query, "variables": {"i": {**question, "graph": "demo"}}})
    with ThreadPoolExecutor(16) as pool:
        body = heavy()
        body["variables"]["i"]["graph"] = "demo"
        list(pool.map(lambda _: target.ask(body, limit_s=120), range(16)))


def main() -> int:
    """Runs the attacks; returns 1 where one was not withstood."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", help="attacks whose name contains this")
    parser.add_argument("--random-seed", type=int, default=20240501)
    parser.add_argument("--examples", type=int, default=400, help="documents of the fuzzer (400)")
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    chosen = [one for one in ATTACKS if not options.only or options.only in one.name]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        store = make_store(Path(folder))
        vectors = Path(folder) / "vectors.db"
        os.environ["GRAPH_SERVICE_VECTORS"] = str(vectors)
        os.environ["GRAPH_SERVICE_GRAPH"] = "demo"
        with server_process(store) as server:
            draw = random.Random(options.random_seed)
            target = Target(server, store, draw, options.examples)
            warm(target)
            before = memory(server)
            print(f"{'attack':30} {'expected':36} {'':8} seen", flush=True)
            for attack in chosen:
                failed += not _withstood(attack, target)
            time.sleep(1)
            after = memory(server)
    ratio = after / before
    held = ratio <= MEMORY_RATIO
    print(
        f"{'memory after all of that':30} {f'at most {MEMORY_RATIO} times of before':36} "
        f"{'held' if held else 'NOT HELD':8} {before} -> {after} MB, {ratio:.2f} times"
    )
    return 1 if failed or not held else 0


def _withstood(attack: Attack, target: Target) -> bool:
    def too_long(*_: object) -> None:
        raise TimeoutError(f"not over after {EACH_S} s")

    began = time.monotonic()
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(EACH_S)
    try:
        seen, held = attack.run(target), True
    except Exception as error:
        seen, held = f"{type(error).__name__}: {error}"[:300], False
    finally:
        signal.alarm(0)
    took = time.monotonic() - began
    result = "held" if held else "NOT HELD"
    print(f"{attack.name:30} {attack.expected:36} {result:8} {seen} [{took:.0f} s]", flush=True)
    return held


if __name__ == "__main__":
    sys.exit(main())
