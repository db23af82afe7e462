"""Runs the attacks and prints what was withstood: ``python -m tools.attack``."""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from graphs import load_graph
from server_process import server_process

from graph_service.store import open_store
from loaders.load import load
from queries.datasets.demo_set import demo_slice
from tools.attack import agents, command_line, connections, documents, pages, tenants, work
from tools.attack.target import Target, memory_mb

MEMORY_RATIO = 1.2
CACHES_GB = 1 / 32
"""What the server's caches may hold, so that they are full soon and memory that grows on is a leak."""
REPEATED_RATIO = 1.05
"""What memory may grow by when the attacks by documents are made once more."""
LONGEST_RATIO = 2_500
"""An attack that takes more quiet requests than this was not withstood."""
LEAST_ALARM_S = 150


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


ATTACKS = (
    Attack(documents.fragments_that_double, "refused at once"),
    Attack(documents.documents_that_cost, "each at once, no fault of ours"),
    Attack(documents.variables_and_bodies, "answered, no fault of ours"),
    Attack(documents.fuzzed_documents, "data or an error of the client"),
    Attack(documents.fuzzed_bytes, "an error of the client"),
    Attack(connections.slow_heads, "others served at once, all closed"),
    Attack(connections.slow_heads_of_many_addresses, "others served at once, all closed"),
    Attack(connections.slow_bodies, "others served at once, all closed"),
    Attack(connections.slow_readers, "others served at once, all left"),
    Attack(work.abandoned_queries, "a trivial query at once"),
    Attack(work.many_documents, "answered, not stored for ever"),
    Attack(work.rewiring_around_a_star, "data or an error in its time"),
    Attack(work.stuck_workers, "not ready; ends in its time"),
    Attack(work.unpaid_work, f"at most {work.CPU_RATIO:g} times its cost"),
    Attack(pages.rebinding, "HTTP 421"),
    Attack(tenants.graphs_of_others, "nothing of it, no key guessed"),
    Attack(tenants.cached_responses_of_others, "each key its own"),
    Attack(tenants.names_of_views, "one view of each name"),
    Attack(tenants.hung_and_killed_processes, "replaced, others served"),
    Attack(agents.sessions_that_are_left, "refused or ended, memory held"),
    Attack(command_line.labels_that_a_terminal_obeys, "printed as text"),
    Attack(command_line.fuzzed_arguments, "an error in one line"),
)
REPEATED = frozenset(
    {documents.documents_that_cost, documents.fuzzed_documents, work.many_documents}
)
"""Attacks that send documents which a server may hold."""


def make_store(folder: Path) -> str:
    """Returns a store with ``demo``, with ``star`` (20,000 statements of one head), and
    ``hostile``, whose labels are no plain text.
    """
    url = f"sqlite:///{folder / 'attacked.db'}"
    with open_store(url) as store:
        load(demo_slice(), store=store, graph="demo")
        star = [("Q1", f"P{i % 50}", f"Q{i + 2}") for i in range(20_000)]
        elsewhere = [(f"Q{i}", "P1", f"Q{i + 1}") for i in range(30_000, 35_000)]
        load_graph(store, "star", [*star, *elsewhere])
        load_graph(
            store, "hostile", command_line.hostile_statements(), command_line.hostile_entities()
        )
    return url


def warm(target: Target) -> None:
    """Does what every server does in an hour, so that memory is compared with that."""
    for _ in range(8):
        target.quiet_s()
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: target.post(work.heavy()), range(16)))


def main() -> int:
    """Runs the attacks; returns 1 where one was not withstood."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", help="attacks whose name contains this")
    parser.add_argument("--random-seed", type=int, default=20240501)
    parser.add_argument("--examples", type=int, default=400, help="documents of the fuzzer (400)")
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    attacks = [attack for attack in ATTACKS if not options.only or options.only in attack.name]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        store = make_store(Path(folder))
        vectors = Path(folder) / "vectors.db"
        os.environ["GRAPH_SERVICE_VECTORS"] = str(vectors)
        os.environ["GRAPH_SERVICE_GRAPH"] = "demo"
        with server_process(store, memory_gb=CACHES_GB) as server:
            generator = random.Random(options.random_seed)
            target = Target(server, store, Path(folder), generator, options.examples)
            warm(target)
            before = memory_mb(server.process.pid)
            print(f"{'attack':30} {'expected':36} {'':8} seen", flush=True)
            for attack in attacks:
                failed += not _withstood(attack, target)
            after = memory_mb(server.process.pid)
            for attack in attacks:
                if attack.run in REPEATED:
                    failed += not _withstood(attack, target)
            repeated = memory_mb(server.process.pid)
    failed += not _within("memory after all of that", before, after, MEMORY_RATIO)
    failed += not _within("memory after documents again", after, repeated, REPEATED_RATIO)
    return 1 if failed else 0


def _within(what: str, before: int, after: int, most: float) -> bool:
    """Prints whether memory stayed within a ratio, and returns it."""
    ratio = after / before
    is_held = ratio <= most
    print(
        f"{what:30} {f'at most {most} times of before':36} "
        f"{'held' if is_held else 'NOT HELD':8} {before} -> {after} MB, {ratio:.2f} times"
    )
    return is_held


def _withstood(attack: Attack, target: Target) -> bool:
    def too_long(*_: object) -> None:
        raise TimeoutError("not over in time")

    began = time.monotonic()
    signal.signal(signal.SIGALRM, too_long)
    try:
        target.begin()
        signal.alarm(max(LEAST_ALARM_S, int(LONGEST_RATIO * target.quiet_s())))
        seen, held = attack.run(target), True
    except Exception as error:
        seen, held = f"{type(error).__name__}: {error}"[:600], False
    finally:
        signal.alarm(0)
    took = time.monotonic() - began
    result = "held" if held else "NOT HELD"
    print(f"{attack.name:30} {attack.expected:36} {result:8} {seen} [{took:.0f} s]", flush=True)
    return held


if __name__ == "__main__":
    sys.exit(main())
