"""``python -m benchmarks.soak``."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.serving import processes_of, serving
from benchmarks.soak import __doc__ as about_soak
from benchmarks.soak.answers import Editions
from benchmarks.soak.asking import Server
from benchmarks.soak.beside import ask
from benchmarks.soak.prepared import CHANGING, STILL, VIEWS, prepare
from benchmarks.soak.records import FILE, Records, read_records
from benchmarks.soak.run import Plan, Target, soak
from benchmarks.soak.traffic import Traffic
from benchmarks.soak.verdict import judge

READ_TIMEOUT_S = 30.0
"""The server's own, which is the default."""
GRACE_S = 10.0
"""How much longer a client waits."""
_CREATE = """mutation Make($input: CreateViewInput!) {
  createView(input: $input) { view { viewId } } }"""


def main(arguments: Sequence[str] | None = None, /) -> int:
    """Runs, or reports what ran; returns 1 where something failed."""
    plan = Plan()
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.soak",
        description=about_soak,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("--keep", type=Path, required=True, help="folder of the store and records")
    parser.add_argument("--data", type=Path, help="folder that holds codex/")
    parser.add_argument("--workers", type=int, default=1, help="processes of the server")
    parser.add_argument("--seconds", type=float, default=plan.seconds)
    parser.add_argument("--times", type=float, default=plan.times, help="of the capacity")
    parser.add_argument("--capacity-s", type=float, default=plan.capacity_s)
    parser.add_argument("--settle-s", type=float, default=plan.settle_s)
    parser.add_argument("--load-s", type=float, default=plan.load_s, help="between two loads")
    parser.add_argument("--view-s", type=float, default=plan.view_s, help="between two views")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--cache-mb", type=float, default=2.0, help="of answers that are kept")
    parser.add_argument("--memory-gb", type=float, default=0.0625, help="of all other caches")
    parser.add_argument("--random-seed", type=int, default=0)
    given = parser.parse_args(arguments)
    given.keep.mkdir(parents=True, exist_ok=True)
    if given.what == "run":
        if given.data is None:
            parser.error("run needs --data FOLDER")
        _run(given, plan)
    verdict = judge(read_records(given.keep / FILE))
    for line in verdict.figures:
        print(line)
    for fault in verdict.faults:
        print(f"FAILED: {fault}")
    return 1 if verdict.faults else 0


def _run(given: argparse.Namespace, _plan: Plan) -> None:
    prepared = prepare(given.data, given.keep)
    keys = _make_keys(given.keep / "keys.json", given.clients)
    os.environ["GRAPH_SERVICE_CACHE_DIR"] = str(given.keep / "cache")
    os.environ["GRAPH_SERVICE_VECTORS"] = str(given.keep / "vectors.db")
    # Caches that fill within the first minutes: what grows then is no cache.
    os.environ["GRAPH_SERVICE_MEMORY_GB"] = str(given.memory_gb)
    os.environ["GRAPH_SERVICE_READ_TIMEOUT_S"] = str(READ_TIMEOUT_S)
    options = ["--writable", "--keys", str(given.keep / "keys.json"), "--warm", STILL]
    options += ["--warm", CHANGING, "--cache-mb", str(given.cache_mb)]
    limit_s = READ_TIMEOUT_S + GRACE_S
    with (
        serving(prepared.store, given.workers, *options) as (port, pid),
        Records(given.keep / FILE) as records,
    ):
        for number, name in enumerate(VIEWS):
            spec = {"method": "EDGE_DELETION", "level": 0.1, "randomSeed": number}
            made = {"graph": STILL, "spec": spec, "name": name, "wait": True}
            ask(port, keys[-1], _CREATE, {"input": made}, limit_s)
        # A version that no earlier run of this folder has loaded under another edition.
        edition = prepared.loader.load(0)
        editions = Editions(CHANGING)
        editions.learn(edition, 0)
        target = Target(
            server=Server(port, keys[:-1], limit_s),
            writer=keys[-1],
            pids=lambda: processes_of(pid),
            traffic=Traffic(
                prepared.still,
                prepared.changing,
                clients=given.clients,
                random_seed=given.random_seed,
            ),
            editions=editions,
            graphs=(STILL, CHANGING),
            load=prepared.loader.load,
            first_version=1,
            about={
                "command": "python -m benchmarks.soak " + " ".join(sys.argv[1:]),
                "begun": datetime.now(UTC).isoformat(timespec="seconds"),
                "machine": f"{os.cpu_count()} processors, Python {sys.version.split()[0]}",
                "store": f"{len(prepared.still.subjects):,} questions of {STILL}, "
                f"{len(prepared.changing.subjects):,} of {CHANGING}",
                "server": f"{given.workers} processes, {given.clients} keys, --cache-mb "
                f"{given.cache_mb:g}, GRAPH_SERVICE_MEMORY_GB {given.memory_gb:g}",
            },
        )
        soak(
            Plan(
                seconds=given.seconds,
                times=given.times,
                capacity_s=given.capacity_s,
                settle_s=given.settle_s,
                load_s=given.load_s,
                view_s=given.view_s,
            ),
            target,
            records,
        )


def _make_keys(path: Path, clients: int) -> list[str]:
    """Makes a file of keys anew; returns those of clients that read, and of one that may do all."""
    path.unlink(missing_ok=True)
    names = [*(f"client-{number}" for number in range(clients)), "writer"]
    return [
        subprocess.run(
            [
                *(sys.executable, "-m", "graph_service.cli", "keys", "add", name),
                *("--keys", str(path), "--all-graphs"),
                *("--scope", "admin" if name == "writer" else "read"),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        ).stdout.strip()
        for name in names
    ]


if __name__ == "__main__":
    sys.exit(main())
