"""Loads of files that are killed at random points go on where they were, on both stores (S1).

``GRAPH_SERVICE_TEST_KILLS=100`` kills that often on each store; ``make kill-test`` does.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from graph_service.store.protocol import Store

KILLS = int(os.environ.get("GRAPH_SERVICE_TEST_KILLS", "8"))
ROOT = Path(__file__).parents[2]

# Imports once and forks for each load, before any store is open: to start a Python each time
# would take most of the test. A request is one line of JSON, and so is what is said of a load:
# that it began, each batch that it has written, and its end. One that is to halt waits after its
# first batch until it is killed.
PROGRAM = """
import json, os, signal, sys
from pathlib import Path
from graph_service.store import open_store
from loaders.load import load
from loaders.options import LoadOptions
import neo4j

def tell_of_writes(store, halts):
    begin_load = store.begin_load

    def begin(*arguments, **named):
        session = begin_load(*arguments, **named)
        kind, write = type(session), type(session).write

        def write_and_tell(self, *arguments, **named):
            write(self, *arguments, **named)
            print(json.dumps({"written": True}), flush=True)
            while halts:
                signal.pause()

        kind.write = write_and_tell
        return session

    store.begin_load = begin

for line in sys.stdin:
    graph, source, rejects, row, halts = json.loads(line)
    pid = os.fork()
    if pid == 0:
        print(json.dumps({"pid": os.getpid()}), flush=True)
        with open_store(
            os.environ["TEST_STORE_URL"],
            username=os.environ.get("TEST_STORE_USERNAME"),
            password=os.environ.get("TEST_STORE_PASSWORD"),
            database=os.environ.get("TEST_STORE_DATABASE"),
        ) as store:
            tell_of_writes(store, halts)
            options = LoadOptions(batch_size=100, rejects_path=Path(rejects), workers=0, row=row)
            report = load(source, store=store, graph=graph, options=options)
        print(json.dumps(report.to_json()), flush=True)
        os._exit(0)
    print(json.dumps({"status": os.waitpid(pid, 0)[1]}), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a load ended: with a report, or None where it was killed, after so many writes more."""

    report: dict[str, Any] | None
    writes: int


@dataclass(frozen=True, slots=True)
class Loads:
    """Starts loads in processes of their own."""

    process: subprocess.Popen[str]
    row: str | None = None

    def start(self, graph: str, source: Path, rejects: Path, *, halts: bool = False) -> int:
        """Begins a load; returns its process id.

        ``halts`` says that it waits to be killed once its first batch is written.
        """
        assert self.process.stdin is not None
        asked = [graph, str(source), str(rejects), self.row, halts]
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return int(self._line()["pid"])

    def follow(self, writes: int) -> Ended | None:
        """Waits until a load has written so many batches; returns its end where that comes first."""
        for _ in range(writes):
            found = self._line()
            if set(found) != {"written"}:
                return self._ended(found, 0)
        return None

    def end(self) -> Ended:
        """Waits for the end of a load."""
        writes = 0
        while set(found := self._line()) == {"written"}:
            writes += 1
        return self._ended(found, writes)

    def _ended(self, found: dict[str, Any], writes: int) -> Ended:
        if set(found) == {"status"}:
            return Ended(None, writes)
        assert self._line() == {"status": 0}
        return Ended(found, writes)

    def _line(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the process that starts loads has ended"
        found: dict[str, Any] = json.loads(line)
        return found


@pytest.fixture
def loads(environment_of_store: dict[str, str]) -> Iterator[Loads]:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **environment_of_store, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Loads(process)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder of documents, triples with bad lines, a table, and names."""
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "a.jsonl").write_text(
        "".join(
            json.dumps(
                {
                    "id": f"Q{n}",
                    "type": "item",
                    "lastrevid": n,
                    "labels": {"en": {"language": "en", "value": f"item {n}"}},
                    "claims": {
                        "P31": [
                            {
                                "mainsnak": {
                                    "snaktype": "value",
                                    "property": "P31",
                                    "datavalue": {
                                        "type": "wikibase-entityid",
                                        "value": {"id": f"Q{n % 9 + 1}"},
                                    },
                                },
                                "id": f"Q{n}$00000000-0000-0000-0000-{one:012d}",
                                "rank": "normal",
                            }
                            for one in range(3)
                        ]
                    },
                }
            )
            + "\n"
            for n in range(1, 60)
        )
    )
    (folder / "b.nt").write_text(
        "".join(
            f"<http://a/s{n % 90}> <http://a/p{n % 5}> <http://a/s{n * 7 % 90}> .\n"
            + ("bad\n" if n % 20 == 0 else "")
            for n in range(1_000)
        )
    )
    (folder / "c.tsv").write_text(
        "".join(f"http://a/s{n % 90}\thttp://a/q\tQ{n + 1}\n" for n in range(120))
    )
    return folder


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """A folder of parts and suppliers, a row a thing, some with a cell too many."""
    folder = tmp_path / "tables"
    folder.mkdir()
    parts = "Part No;Name;Supplier;Price;Ordered;Colours\n"
    for n in range(1, 301):
        more = ";more" if n % 30 == 0 else ""
        parts += (
            f"P-{n:03};part {n};S{n % 20 + 1};{n},50 EUR;{n % 28 + 1:02}.04.2024;"
            f"red|{'blue' if n % 3 else 'green'}{more}\n"
        )
    (folder / "parts.csv").write_text(parts)
    rows = [f"S{n};Supplier {n};{'Kiel' if n % 2 else 'Bonn'}\n" for n in range(1, 21)]
    (folder / "suppliers.csv").write_text("".join(["Supplier ID;Name;City\n", *rows]))
    return folder


def test_loads_killed_at_random_points_end_as_unbroken_ones(
    store: Store, graph_names: Callable[[], str], loads: Loads, source: Path, tmp_path: Path
) -> None:
    _kill_loads(store, graph_names, loads, source, tmp_path, rejected=50)


def test_loads_of_tables_of_things_killed_end_as_unbroken_ones(
    store: Store, graph_names: Callable[[], str], loads: Loads, tables: Path, tmp_path: Path
) -> None:
    """The tables are looked at again before the load goes on; their plan is the same."""
    _kill_loads(store, graph_names, replace(loads, row="auto"), tables, tmp_path, rejected=10)


def _kill_loads(
    store: Store,
    graph_names: Callable[[], str],
    loads: Loads,
    source: Path,
    tmp_path: Path,
    *,
    rejected: int,
) -> None:
    rejects = tmp_path / "rejects.jsonl"
    name = graph_names()
    begun = time.monotonic()
    loads.start(name, source, rejects)
    unbroken = loads.end()
    lasts = time.monotonic() - begun
    expected, writes = unbroken.report, unbroken.writes
    assert expected is not None
    assert expected["rejected"] == rejected
    assert writes > 1
    whole, wanted = store.graph(name), rejects.read_text()
    chance = random.Random(KILLS)
    parts = chance.sample(range(KILLS), KILLS)
    tries = killed = 0
    name = graph_names()
    while killed < KILLS:
        pid = loads.start(name, source, rejects)
        tries += 1
        # One in each part of what a load writes, in any order, anywhere between two batches.
        ended = loads.follow(parts[tries % KILLS] * writes // KILLS)
        if ended is None:
            time.sleep(chance.random() * lasts / writes)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            ended = loads.end()
        if ended.report is None:
            killed += 1
            if name not in [info.name for info in store.graphs()]:
                continue
        else:
            for key in ("read", "rejected", "rejects", "skipped", "formats", "counts"):
                assert ended.report[key] == expected[key]
        # It ended, or was killed right after it had published: what is there is whole.
        info = store.graph(name)
        assert (info.fingerprints, info.counts) == (whole.fingerprints, whole.counts)
        assert rejects.read_text() == wanted
        name = graph_names()
    # What was killed last, and one that was surely killed between its first batch and its end.
    halted = graph_names()
    pid = loads.start(halted, source, rejects, halts=True)
    assert loads.follow(1) is None
    os.kill(pid, signal.SIGKILL)
    assert loads.end() == Ended(None, 0)
    for graph in (halted, name):
        loads.start(graph, source, rejects)
        report = loads.end().report
        assert report is not None
        assert report["resumed"] or graph == name
        assert store.graph(graph).fingerprints == whole.fingerprints
        assert rejects.read_text() == wanted
