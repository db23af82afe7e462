"""Two versions of the server asked the same questions in turn: which is faster, as a ratio.

python -m benchmarks.pairs --data ../shared/data --before /tmp/old --keep /tmp/pairs

``--before`` is a folder with the modules of another version (``git archive COMMIT | tar x``). Both
load CoDEx-M into stores of their own and serve it. What else the machine does hits both alike,
since each round asks the one and then the other.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import orjson

from benchmarks.codex import read_labels
from benchmarks.serving import Run, ask, processes_of, serving
from benchmarks.soak.prepared import subjects_of
from benchmarks.soak.versions import Triple

QUESTIONS = 196
CLIENTS = 16
_GRAPH = "codex-m"
_DOCUMENT = "query($i: RetrieveInput!) { paths(input: $i) { status text items { score } } }"


def bodies_of(subjects: Sequence[Triple], preset: str, /) -> list[bytes]:
    """Returns requests for questions spread evenly over entities and their relations."""
    step = len(subjects) // QUESTIONS
    return [
        orjson.dumps(
            {
                "query": _DOCUMENT,
                "variables": {
                    "i": {
                        "question": f"What is the {relation} of {name}?",
                        "graph": _GRAPH,
                        "itemIds": [id_],
                        "preset": preset,
                    }
                },
            }
        )
        for id_, name, relation in subjects[: step * QUESTIONS : step]
    ]


def main(arguments: Sequence[str] | None = None, /) -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pairs", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds codex/")
    parser.add_argument("--before", type=Path, required=True, help="modules of another version")
    parser.add_argument("--keep", type=Path, required=True, help="folder of the stores")
    parser.add_argument("--preset", default="default", help="that both versions know")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args(arguments)
    given.keep.mkdir(parents=True, exist_ok=True)
    table = given.data.resolve() / "codex" / "m-train.tsv"
    rows = [tuple(line.split("\t")) for line in table.read_text().splitlines()]
    names = read_labels(given.data, table)
    subjects = subjects_of([(row[0], row[1], row[2]) for row in rows], names)
    labels = given.keep.resolve() / "labels.tsv"
    lines = [f"{id_}\t{' '.join(one.split())}\n" for id_, one in sorted(names.items())]
    labels.write_text("".join(lines), encoding="utf-8")
    bodies = bodies_of(subjects, given.preset)
    # A busy machine must not end a question.
    os.environ["GRAPH_SERVICE_READ_TIMEOUT_S"] = "600"
    trees = {"before": given.before.resolve(), "now": Path(__file__).resolve().parents[1]}
    runs: dict[str, list[Run]] = {name: [] for name in trees}
    with ExitStack() as ended:
        servers = {}
        for name, tree in trees.items():
            store = f"sqlite:///{given.keep.resolve() / name}.db"
            _load(tree, store, table, labels)
            os.environ["GRAPH_SERVICE_VECTORS"] = str(given.keep.resolve() / f"{name}-vectors.db")
            options = ("--cache-mb", "0") if name == "now" else ()
            servers[name] = ended.enter_context(serving(store, 1, *options, tree=tree))
        for turn in range(given.rounds + 1):
            for name, (port, pid) in servers.items():
                run = ask(port, bodies, processes_of(pid), CLIENTS)
                # The first round makes vectors and opens graphs.
                if turn:
                    runs[name].append(run)
                    print(f"{name}: {run.told(os.cpu_count() or 1)}", flush=True)
    ratios = [
        (new.requests / new.seconds) / (old.requests / old.seconds)
        for old, new in zip(runs["before"], runs["now"], strict=True)
    ]
    times = [old.server_s / new.server_s for old, new in zip(*runs.values(), strict=True)]
    print(f"requests a second, now by before: {_spread(ratios)}")
    print(f"processor time of a request, before by now: {_spread(times)}")


def _load(tree: Path, store: str, table: Path, labels: Path) -> None:
    program = [sys.executable, "-m", "graph_service.cli", "load"]
    known = subprocess.run([*program, "--help"], cwd=tree, check=True, capture_output=True).stdout
    # It had another name before.
    option = "--label-file" if b"--label-file" in known else "--labels"
    arguments = [str(table), "--store", store, "--graph", _GRAPH, "--replace", "--json"]
    arguments += ["--columns", "head,relation,tail", option, str(labels)]
    subprocess.run([*program, *arguments], cwd=tree, check=True, capture_output=True)


def _spread(ratios: Sequence[float]) -> str:
    return f"median {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


if __name__ == "__main__":
    main()
