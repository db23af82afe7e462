"""What views, deviation and loads cost an engine, and one machine: processor time, memory, shuffles.

    graph-service export base.parquet --graph base
    python -m benchmarks.cluster grow base.parquet 20000000 --to 20m
    python -m benchmarks.cluster engine 20m/grown.parquet --remote sail
    python -m benchmarks.cluster alone 20m/grown.snapshot base.parquet 20000000
    python -m benchmarks.cluster load grown.nt --to loaded --remote sail

A busy machine makes seconds longer, not processor time, which is that of the whole command and of
all processes that it starts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import orjson

from benchmarks.grown_edges import BaseEdges, grown_graph, grown_info, write_parquet
from benchmarks.serving import processor_s
from graph_service.cluster.views import CHANGES, DEVIATION_FILE
from graph_service.model.graph import Int64
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.store.parquet import import_pyarrow, read_manifest
from graph_service.store.snapshot.file import open_snapshot, write_snapshot
from graph_service.views.delta import make_delta
from graph_service.views.measure.deviation import BaseMeasure, measure
from graph_service.views.overlay import lay
from graph_service.views.pairs import PairIndex
from graph_service.views.prepared import PreparedBase
from graph_service.views.scorer.counting import CountScorer

METHODS = (Method.EDGE_DELETION, Method.RELATION_SWAPPING)
"""Methods that need no entities' files, which a grown graph lacks. A few swaps of its arrays differ
from an engine's: numbers of nodes and relations decide between equal pairs, and are drawn here."""
SPEC = ViewSpec(Method.EDGE_DELETION, level=0.3, random_seed=7)
GROWN, SNAPSHOT, LOADED = "grown.parquet", "grown.snapshot", "loaded.parquet"
WORK = ("create", "deviation")
_EVERY_S = 0.25
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(slots=True)
class Usage:
    """What a command and all processes of its session used.

    Attributes:
        seconds: Until its end.
        by_process: Processor time of each, as it was last seen.
        resident: Bytes of memory at most, of all together.
    """

    seconds: float = 0.0
    by_process: dict[int, float] = field(default_factory=dict)
    resident: int = 0

    def look(self, session: int, /) -> None:
        """Notes what the processes of a session have used so far."""
        resident = 0
        for pid in processes_of(session):
            # It may end meanwhile.
            with suppress(OSError):
                self.by_process[pid] = processor_s([pid])
                resident += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
        self.resident = max(self.resident, resident)


def processes_of(session: int, /) -> Iterator[int]:
    """Yields the processes of a session: who began it, and what they started."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                yield int(folder.name)


def run_watched(command: Sequence[str], environment: dict[str, str], /) -> Usage:
    """Runs a command to its end, and returns what it used.

    Raises:
        subprocess.CalledProcessError: It failed.
    """
    usage, began = Usage(), time.monotonic()
    process = subprocess.Popen(
        command, env=environment, start_new_session=True, stdout=subprocess.DEVNULL
    )
    while process.poll() is None:
        usage.look(process.pid)
        time.sleep(_EVERY_S)
    usage.seconds = time.monotonic() - began
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(command))
    return usage


def shuffled_bytes(events: Path, /) -> int:
    """Returns how many bytes the tasks of Spark's event logs wrote for other tasks."""
    total = 0
    for path in events.iterdir():
        with path.open("rb") as file:
            for line in file:
                if b'"SparkListenerTaskEnd"' in line:
                    metrics = orjson.loads(line).get("Task Metrics") or {}
                    total += metrics.get("Shuffle Write Metrics", {}).get(
                        "Shuffle Bytes Written", 0
                    )
    return total


def measure_engine(options: argparse.Namespace, /) -> Iterator[dict[str, Any]]:
    """Draws a view by an engine and measures its deviation, each by a command of its own."""
    view = options.source.parent / f"view-{options.remote.partition('[')[0]}"
    create = ["create", "--method", options.method.value, "--level", str(SPEC.level)]
    create += ["--random-seed", str(SPEC.random_seed), "--to", str(view)]
    commands = {
        "create": [*create, str(options.source)],
        "deviation": ["deviation", str(options.source), str(view)],
    }
    for name in options.work:
        arguments = ["cluster", "view", *commands[name], "--remote", options.remote]
        yield _measured(name, arguments, options.source.parent)
    arrow = import_pyarrow("a view")
    keys = arrow.parquet.read_table(view / CHANGES, columns=["key"])["key"].to_numpy()
    yield _changed(keys)
    if "deviation" in options.work:
        yield orjson.loads((view / DEVIATION_FILE).read_bytes())


def measure_load(options: argparse.Namespace, /) -> Iterator[dict[str, Any]]:
    """Loads a source to Parquet by an engine, or by ``load`` and ``export`` of one machine."""
    options.to.mkdir(parents=True, exist_ok=True)
    folder, store = options.to / LOADED, f"sqlite:///{options.to / 'loaded.db'}"
    graph = ["--graph", "loaded"]
    alone = {
        "load": ["load", str(options.source), *graph, "--store", store],
        "export": ["export", str(folder), *graph, "--store", store],
    }
    words = ["cluster", "load", str(options.source), *graph, "--to", f"parquet:{folder}"]
    engine = {"cluster load": [*words, "--remote", str(options.remote)]}
    for name, arguments in (engine if options.remote else alone).items():
        yield _measured(name, arguments, options.to)
    manifest = read_manifest(folder)
    assert manifest is not None
    sizes = [path.stat().st_size for path in folder.rglob("*.parquet")]
    yield {
        "statements": manifest.statements,
        "edges": manifest.edges,
        "content": manifest.content,
        "parquet_mb": sum(sizes) / 10**6,
    }


def _measured(work: str, arguments: Sequence[str], folder: Path, /) -> dict[str, Any]:
    """Runs a command of ``graph-service``, whose temporary files go to a folder, and measures it."""
    with TemporaryDirectory(dir=folder) as temporary:
        command = [sys.executable, "-m", "graph_service.cli", *arguments]
        usage = run_watched(command, _environment(Path(temporary)))
        return {
            "work": work,
            "processor_s": round(sum(usage.by_process.values()), 1),
            "seconds": round(usage.seconds, 1),
            "memory_mb": usage.resident // 10**6,
            "shuffled_mb": shuffled_bytes(Path(temporary) / "events") / 10**6,
        }


def _environment(folder: Path) -> dict[str, str]:
    """Returns what makes Spark write down its tasks; other engines do not read it."""
    events = folder / "events"
    events.mkdir()
    lines = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.dir": events.as_uri(),
        "spark.local.dir": str(folder),
    }
    text = "".join(f"{name} {value}\n" for name, value in lines.items())
    (folder / "spark-defaults.conf").write_text(text)
    return {**os.environ, "SPARK_CONF_DIR": str(folder), "TMPDIR": str(folder)}


def measure_alone(options: argparse.Namespace, /) -> Iterator[dict[str, Any]]:
    """Draws the same view in this process, on mapped arrays, and measures its deviation."""
    info = grown_info(BaseEdges.read(options.base), options.statements)
    graph = open_snapshot(options.source, info)[0]

    def spent(work: str, began: float) -> dict[str, Any]:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        seconds = round(time.process_time() - began, 2)
        return {"work": work, "processor_s": seconds, "memory_mb": peak // 10**6}

    began = time.process_time()
    prepared = PreparedBase(graph)
    delta, _ = make_delta(graph, replace(SPEC, method=options.method), prepared=prepared)
    yield spent("create", began)
    yield _changed(graph.statement_keys[np.concatenate([delta.removed, delta.replaced])])
    if "deviation" not in options.work:
        return
    began = time.process_time()
    index: PairIndex = prepared.index
    base = BaseMeasure.of(graph, scorer=CountScorer.build(graph, index=index), index=index)
    yield spent("measure the base", began)
    began = time.process_time()
    deviation = measure(graph, lay(graph, delta, view_id="view"), base)
    yield spent("measure the view", began)
    yield asdict(deviation)


def _changed(keys: Int64) -> dict[str, Any]:
    """Returns how many statements change, and a sum of their keys by which views compare."""
    return {"changed": len(keys), "sum_of_keys": int(keys.view(np.uint64).sum(dtype=np.uint64))}


def grow(options: argparse.Namespace, /) -> Iterator[dict[str, Any]]:
    """Writes a grown graph as Parquet, and as the arrays that one machine maps."""
    base = BaseEdges.read(options.source)
    options.to.mkdir(parents=True, exist_ok=True)
    began = time.process_time()
    if not options.no_parquet:
        write_parquet(base, options.statements, options.to / GROWN, random_seed=options.random_seed)
        yield {"work": GROWN, "processor_s": round(time.process_time() - began, 1)}
    if not options.no_snapshot:
        began = time.process_time()
        graph = grown_graph(base, options.statements, random_seed=options.random_seed)
        with (options.to / SNAPSHOT).open("wb") as file:
            write_snapshot(graph, file)
        yield {"work": SNAPSHOT, "processor_s": round(time.process_time() - began, 1)}


def main() -> None:
    """Runs the command line of this module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster")
    words = parser.add_subparsers(required=True)
    growing = words.add_parser("grow", help="write a graph, grown, as Parquet and as arrays")
    engine = words.add_parser("engine", help="draw and measure a view by an engine")
    alone = words.add_parser("alone", help="draw and measure it on one machine's arrays")
    loading = words.add_parser("load", help="load a source by an engine, or without --remote here")
    runs = {growing: grow, engine: measure_engine, alone: measure_alone, loading: measure_load}
    for word, run in runs.items():
        word.add_argument("source", type=Path)
        word.set_defaults(run=run)
    growing.add_argument("statements", type=int)
    growing.add_argument("--to", type=Path, required=True)
    growing.add_argument("--random-seed", type=int, default=1)
    growing.add_argument("--no-parquet", action="store_true")
    growing.add_argument("--no-snapshot", action="store_true")
    engine.add_argument("--remote", default="sail")
    loading.add_argument("--to", type=Path, required=True)
    loading.add_argument("--remote")
    alone.add_argument("base", type=Path, help="the graph that was grown")
    alone.add_argument("statements", type=int)
    for word in (engine, alone):
        word.add_argument("--work", nargs="+", choices=WORK, default=WORK)
        word.add_argument("--method", type=Method, choices=METHODS, default=SPEC.method)
    options = parser.parse_args()
    for figures in options.run(options):
        print(orjson.dumps(figures).decode(), flush=True)


if __name__ == "__main__":
    main()
