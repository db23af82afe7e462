"""What one loaded graph costs to ask, whatever its size: one row of the table of sizes.

    python -m benchmarks.sizes STORE GRAPH --data FOLDER

The questions are those of ``wikidata_questions`` whose graph was grown (``benchmarks.growing``): its
first copy is the graph itself, so all sizes are asked the same. Everything is measured in processes
of their own. ``GRAPH_SERVICE_SNAPSHOT_EDGES`` decides between arrays and the store, as in the service.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import Strategy
from graph_service.model.view_spec import Method, Scope, ViewSpec
from graph_service.service import Service, open_service
from graph_service.settings import read_settings
from queries.datasets.wikidata_questions import read_sample_ids, read_wikidata_questions

T = TypeVar("T")
QUESTIONS = 60
LEVELS = (0.01, 0.3)
Figures = dict[str, float]


def sample_questions(data: Path, /) -> list[str]:
    """Returns the first of the questions on which figures are given, in the folder's order."""
    wanted = read_sample_ids(data / "wikidata_questions")
    rows = read_wikidata_questions(data / "wikidata_questions")
    return [row.text for row in rows if row.id in wanted][:QUESTIONS]


def _held() -> Figures:
    """The memory of this process, in MiB: what is its own alone, and what is of no file."""
    said = Path("/proc/self/smaps_rollup").read_text(encoding="ascii")
    kib = {name: int(size) for name, size in re.findall(r"(\w+):\s+(\d+) kB", said)}
    own = kib["Private_Clean"] + kib["Private_Dirty"]
    return {"own_mib": own / 1024, "anonymous_mib": kib["Anonymous"] / 1024}


def _each(name: str, work: Callable[[T], object], items: Sequence[T]) -> Figures:
    """Processor time of each piece of work, so that what else the machine does counts little."""
    seconds = []
    for item in items:
        start = time.process_time()
        work(item)
        seconds.append(time.process_time() - start)
    return {
        f"{name}_ms": 1e3 * float(np.median(seconds)),
        f"{name}_p95_ms": 1e3 * float(np.percentile(seconds, 95)),
    }


def opening(service: Service, graph: str, questions: Sequence[str]) -> Figures:
    """The first question of a process, and what the process holds then."""
    start = time.perf_counter()
    service.retrieve(_request(graph, questions[0]))
    return {"first_question_s": time.perf_counter() - start, **_held()}


def asking(service: Service, graph: str, questions: Sequence[str]) -> Figures:
    """Whole calls, the second time that all are asked, and searches by name."""
    requests = [_request(graph, text) for text in questions]
    for request in requests:
        service.retrieve(request)
    found = _each("default", service.retrieve, requests)
    words = [text.split()[-1].strip("?") for text in questions]
    return found | _each("search", partial(service.search, graph=graph), words)


def viewing(service: Service, graph: str, questions: Sequence[str]) -> Figures:
    """Views inline on the question's own region, and stored ones of the whole with deviation."""
    asked = [_request(graph, text) for text in questions]
    inline = ViewSpec(
        Method.EDGE_DELETION, level=0.3, random_seed=1, scope=Scope(of_question=True, hops=2)
    )
    viewed = [replace(one, view=ViewRef(spec=inline)) for one in asked]
    for request in viewed:
        service.retrieve(request)
    found = _each("inline", service.retrieve, viewed)
    for level in LEVELS:
        name = f"level-{level}"
        spec = ViewSpec(Method.EDGE_DELETION, level=level, random_seed=1)
        start = time.perf_counter()
        service.views.create(spec, graph=graph, name=name)
        found[f"view_{level}_s"] = time.perf_counter() - start
        viewed = [replace(one, view=ViewRef(name=name)) for one in asked]
        found |= _each(f"on_{level}", service.retrieve, viewed)
        service.views.delete(name, graph=graph)
    return found | _held()


PARTS = {"opening": opening, "asking": asking, "viewing": viewing}


def _request(graph: str, text: str, *, preset: str = "default") -> RetrieveRequest:
    return RetrieveRequest(text, strategy=Strategy.PATHS, graph=graph, preset=preset)


def measure(part: str, store: str, graph: str, questions: Sequence[str], /) -> Figures:
    """Returns one part's figures, measured in this process."""
    with open_service(settings=replace(read_settings(), store=store)) as service:
        return PARTS[part](service, graph, questions)


def main() -> None:
    """Runs the command line of this module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sizes")
    parser.add_argument("store")
    parser.add_argument("graph")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--part", choices=PARTS, action="append", help="all where none is named")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    parts = options.part or [*PARTS]
    if options.here:
        found = measure(parts[0], options.store, options.graph, sample_questions(options.data))
        print(json.dumps(found))
        return
    with open_service(settings=replace(read_settings(), store=options.store)) as service:
        info = service.graph(options.graph)
        print(f"{info.counts.statements:,} statements, {info.counts.entities:,} entities")
        start = time.perf_counter()
        service.arrays(info)
        print(f"arrays, built where there are none: {time.perf_counter() - start:.1f} s")
    for part in parts:
        command = [sys.executable, "-m", "benchmarks.sizes", options.store, options.graph]
        command += ["--data", str(options.data), "--part", part, "--here"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        for name, figure in json.loads(done.stdout).items():
            print(f"{part:8} {name:20} {figure:12.2f}", flush=True)


if __name__ == "__main__":
    main()
