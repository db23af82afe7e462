"""Loads a file, draws a view and measures it on two executors, and kills one of them in each.

A process of its own, since a process runs Spark once: ``python cluster_lost_executor.py SOURCE OUT``.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph_service.cluster.deviation import measure_view
from graph_service.cluster.graph import open_graph
from graph_service.cluster.load_tasks import KeyRanges, SparkEngine
from graph_service.cluster.session import open_session
from graph_service.cluster.views import SCRATCH, create_view
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.store.parquet import STATEMENTS
from loaders.cluster import LoadSizes, cluster_load, read_target
from loaders.options import LoadOptions

ENGINE = "local-cluster[2,1,1024]"
SIZES = LoadSizes(chunk_bytes=1, range_rows=2_000)
SPEC = ViewSpec(Method.EDGE_REWIRING, level=0.3, random_seed=7)
GRAPH, VIEW, KILLED = "killed.parquet", "view", "killed.txt"
_EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"


def parent_of(pid: int, /) -> int:
    """Returns the parent of a process of this machine."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def is_executor(pid: int, /) -> bool:
    """Returns whether a process is a Java that runs an executor."""
    return _EXECUTOR in Path(f"/proc/{pid}/cmdline").read_text()


def kill(pid: int, log: Path, stage: str, /) -> None:
    """Ends an executor with SIGKILL, and writes the stage down."""
    with log.open("a") as file:
        file.write(f"{stage}\n")
    os.kill(pid, signal.SIGKILL)


@dataclass
class Deadly:
    """A task that kills the executor it runs on, once: before its work, or when it is done.

    Attributes:
        work: The task.
        log: Where each kill is written down.
        stage: Its name.
        is_done_first: Whether the work comes first, so that its files are there and its answer is not.
    """

    work: Callable[..., None]
    log: Path
    stage: str
    is_done_first: bool

    def __call__(self, *arguments: Any) -> None:
        try:
            (self.log.parent / f"{self.stage}.claimed").touch(exist_ok=False)
        except FileExistsError:
            self.work(*arguments)
            return
        if self.is_done_first:
            self.work(*arguments)
        pid = os.getpid()
        while not is_executor(pid):
            pid = parent_of(pid)
        kill(pid, self.log, self.stage)
        signal.pause()


@dataclass(frozen=True, slots=True)
class DeadlyEngine(SparkEngine):
    """An engine that loses an executor while it reads, and another while it merges statements."""

    log: Path

    def run_tasks(self, indices: Sequence[int], work: Callable[[int], None], /) -> None:
        SparkEngine.run_tasks(self, indices, Deadly(work, self.log, "read", is_done_first=False))

    def run_ranges(self, ranges: KeyRanges, work: Callable[[int, Any], None], /) -> None:
        if ranges.folders[0].name == STATEMENTS:
            work = Deadly(work, self.log, STATEMENTS, is_done_first=True)
        SparkEngine.run_ranges(self, ranges, work)


def kill_at(marker: Path, log: Path, stage: str, /) -> threading.Thread:
    """Kills an executor of this process as soon as a folder of intermediate rows is written."""

    def watch() -> None:
        while not marker.exists():
            time.sleep(0.02)
        kill(next(executors()), log, stage)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def executors() -> Iterator[int]:
    """Returns the executors that this process started, by way of its driver."""
    for folder in sorted(Path("/proc").glob("[0-9]*")):
        try:
            pid = int(folder.name)
            if is_executor(pid) and parent_of(parent_of(pid)) == os.getpid():
                yield pid
        except (FileNotFoundError, ProcessLookupError):
            # It ended meanwhile.
            continue


def main(source: str, out: Path) -> None:
    log = out / KILLED
    with open_session(ENGINE) as session:

        @contextmanager
        def opened() -> Iterator[SparkEngine]:
            yield DeadlyEngine(session, log)

        cluster_load(
            source,
            read_target(f"parquet:{out / GRAPH}"),
            graph="made",
            options=LoadOptions(rejects_path=out / "killed.jsonl"),
            open_engine=opened,
            sizes=SIZES,
        )
        graph = open_graph(session, out / GRAPH)
        scratch = out / VIEW / SCRATCH
        killer = kill_at(scratch / "0003", log, "view")
        view = create_view(graph, SPEC, out / VIEW)
        killer.join()
        killer = kill_at(scratch / "0003", log, "deviation")
        measure_view(graph, view)
        killer.join()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
