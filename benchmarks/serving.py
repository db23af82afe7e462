"""Requests to a server over HTTP: how many a second, processor time of each, memory of processes.

python -m benchmarks.serving --store sqlite:///codex.db --graph codex-m --workers 1 2

Each line is one server with so many processes. It is asked questions about fixed entities by some
clients, each over one connection: first each question once, then one question again and again, which
is answered by what is kept. Processor time is that of all processes of the server; on a machine that
does other things it is what can be compared, and on a quiet one requests a second are too.
"""

from __future__ import annotations

import argparse
import http.client
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import orjson

from benchmarks.codex import fixed_questions
from graph_service.service import open_service
from graph_service.settings import Settings

DOCUMENT = """query($i: RetrieveInput!) { paths(input: $i) { resultId status text
  items { score text citation } } }"""
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_READY_S = 300.0


@dataclass(frozen=True, slots=True)
class Memory:
    """What a process holds, in bytes; ``unique`` is what nobody else has mapped."""

    resident: int
    unique: int


@dataclass(frozen=True, slots=True)
class Run:
    """What some requests came to.

    Attributes:
        requests: That were answered with 200.
        seconds: From the first to the last.
        server_s: Processor time of the server's processes.
        client_s: Processor time of this process, which asks.
    """

    requests: int
    seconds: float
    server_s: float
    client_s: float

    def told(self, cores: int, /) -> str:
        """Returns the figures in words."""
        busy = (self.server_s + self.client_s) / (cores * self.seconds)
        return (
            f"{self.requests / self.seconds:.1f} requests a second, "
            f"{1000 * self.server_s / self.requests:.2f} ms of processor time each "
            f"(and {1000 * self.client_s / self.requests:.2f} ms for asking), "
            f"this was {busy:.0%} of {cores} cores"
        )


@contextmanager
def serving(
    store: str,
    workers: int,
    *options: str,
    tree: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[tuple[int, int]]:
    """Serves until the block ends; gives the port and the process that was started.

    Args:
        store: Its address.
        workers: How many processes answer.
        options: Of ``serve``.
        tree: Folder with the modules of another version, which may know one process alone.
        environment: Variables that the server has beside those of this process.
    """
    arguments = ["serve", "--store", store, "--port", "0", *options]
    if workers > 1:
        arguments += ["--workers", str(workers)]
    process = subprocess.Popen(
        [sys.executable, "-m", "graph_service.cli", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        cwd=tree,
        env={**os.environ, **(environment or {})},
    )
    assert process.stderr is not None
    reader: threading.Thread | None = None
    try:
        said = ""
        for line in process.stderr:
            said += line
            found = re.search(r"GraphQL on http://\S+:(\d+)/graphql", line)
            if found:
                break
        else:
            raise RuntimeError(said)
        port = int(found[1])
        # What it says later must not fill the pipe.
        reader = threading.Thread(target=process.stderr.read, daemon=True)
        reader.start()
        _wait_until_ready(port)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(60)
        if reader is not None:
            reader.join()
        process.stderr.close()


def _wait_until_ready(port: int) -> None:
    limit = time.monotonic() + _READY_S
    while time.monotonic() < limit:
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
                connection.request("GET", "/health/ready")
                if connection.getresponse().status == 200:
                    return
        except OSError:
            pass
        time.sleep(0.1)
    raise RuntimeError("the server is not ready")


def processes_of(pid: int, /) -> list[int]:
    """Returns a process and those that it has started."""
    said = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [pid, *(one for child in said.split() for one in processes_of(int(child)))]


def processor_s(pids: Sequence[int], /) -> float:
    """Returns the processor time that processes have taken, in seconds."""
    total = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total * _TICK_S


def memory_of(pid: int, /) -> Memory:
    """Returns what a process holds."""
    said = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    sizes = {name: int(kib) for name, kib in re.findall(r"(\w+):\s+(\d+) kB", said)}
    unique = sizes["Private_Clean"] + sizes["Private_Dirty"]
    return Memory(1024 * sizes["Rss"], 1024 * unique)


def ask(port: int, bodies: Sequence[bytes], pids: Sequence[int], clients: int, /) -> Run:
    """Asks all of some bodies once, by some clients, each over a connection of its own."""
    numbers = count()
    answered = [0] * clients

    def client(place: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        while (number := next(numbers)) < len(bodies):
            connection.request(
                "POST", "/graphql", bodies[number], {"content-type": "application/json"}
            )
            response = connection.getresponse()
            said = response.read()
            if response.status != 200 or b'"errors"' in said:
                raise RuntimeError(said[:1000])
            answered[place] += 1
        connection.close()

    threads = [threading.Thread(target=client, args=(place,)) for place in range(clients)]
    before, own, began = processor_s(pids), time.process_time(), time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - began
    return Run(sum(answered), seconds, processor_s(pids) - before, time.process_time() - own)


def questions_of(store: str, graph: str, /) -> list[bytes]:
    """Returns the requests for the fixed questions of a graph."""
    with open_service(store, settings=Settings()) as service:
        info = service.graph(graph)
        asked = fixed_questions(service.arrays(info))
    return [
        orjson.dumps(
            {
                "query": DOCUMENT,
                "variables": {
                    "i": {"question": one.text, "graph": graph, "itemIds": [one.entity_id]}
                },
            }
        )
        for one in asked
    ]


def _tell_memory(store: str, graph: str) -> None:
    """Prints what each of two processes holds when both are ready."""
    with serving(store, 2, "--warm", graph) as (_, pid):
        for one in processes_of(pid)[1:]:
            held = memory_of(one)
            print(
                f"graph {graph}, one of two processes: {held.unique / 2**20:.2f} MiB of its own, "
                f"{held.resident / 2**20:.2f} MiB resident"
            )


def main(arguments: Sequence[str] | None = None, /) -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serving", description=__doc__)
    parser.add_argument("--store", required=True, help="address of a store with the graph")
    parser.add_argument("--graph", required=True)
    parser.add_argument("--small-store", help="of a graph of a few statements, to compare memory")
    parser.add_argument("--small-graph")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3, help="how often each question is asked")
    parser.add_argument("--repeats", type=int, default=2000)
    given = parser.parse_args(arguments)
    bodies = questions_of(given.store, given.graph)
    cores = len(os.sched_getaffinity(0))
    if given.small_store:
        for store, graph in (
            (given.small_store, given.small_graph),
            (given.store, given.graph),
        ):
            _tell_memory(store, graph)
    for workers in given.workers:
        # Nothing is kept, so that each question is answered anew.
        with serving(given.store, workers, "--warm", given.graph, "--cache-mb", "0") as (port, pid):
            pids = processes_of(pid)
            # The vectors of what is asked are made once, by whichever process comes first.
            ask(port, bodies, pids, given.clients)
            run = ask(port, bodies * given.rounds, pids, given.clients)
            print(f"{workers} processes, new questions: {run.told(cores)}")
        with serving(given.store, workers, "--warm", given.graph) as (port, pid):
            pids = processes_of(pid)
            ask(port, bodies[:1] * 50, pids, given.clients)
            run = ask(port, bodies[:1] * given.repeats, pids, given.clients)
            print(f"{workers} processes, one question again: {run.told(cores)}")


if __name__ == "__main__":
    main()
