"""Memory of a retriever: the most that a fresh process has resident that asks some questions."""

from __future__ import annotations

from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.commands.options import LeaderboardOptions
from benchmarks.retrievers.measuring import BASE, KnownRows, measure_set
from benchmarks.retrievers.packaged import Packaged, peak_bytes
from graph_service.errors import SetupError
from queries.robustness.building import Folder
from queries.robustness.recipe import find_sets

QUESTIONS = 5
"""That the process asks, on the base."""


@dataclass(frozen=True, slots=True)
class Memory:
    """The peak of a retriever's process on a set, in bytes."""

    set: str
    retriever: str
    bytes: int


def measure_memory(options: LeaderboardOptions, set_name: str, retriever: str, /) -> Memory:
    """Returns the peak of a fresh process that opens a set and asks its first questions.

    Of a package in an environment of its own it is the peak of its process there. A server that it
    searches is not counted.

    Raises:
        SetupError: The process ended without a figure.
    """
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_ask, args=(options, set_name, retriever, theirs))
    process.start()
    theirs.close()
    try:
        return Memory(set_name, retriever, ours.recv())
    except EOFError as error:
        raise SetupError(f"the process that measures the memory of {retriever} ended") from error
    finally:
        process.join()


def _ask(
    options: LeaderboardOptions, set_name: str, retriever: str, answers: Connection, /
) -> None:
    answers.send(measured_peak(options, set_name, retriever))


def measured_peak(options: LeaderboardOptions, set_name: str, name: str, /) -> int:
    """Asks a retriever the first questions on the base, and returns the peak of its process.

    The set must be made. ``measure_memory`` calls this in a fresh process.
    """
    from benchmarks.commands.leaderboard import open_packages, retrievers_of
    from graph_service.cli.robustness.set_graph import open_set_graph

    (recipe,) = find_sets((set_name,))
    folder = Folder(options.keep, recipe)
    with (
        open_set_graph(folder) as graph,
        open_packages(options, print) as packages,
        TemporaryDirectory() as rows,
    ):
        (retriever,) = retrievers_of(graph.service, options, recipe, packages, (name,), print)
        for _ in measure_set(
            folder,
            graph.service,
            [retriever],
            KnownRows(Path(rows) / "rows.jsonl"),
            first=QUESTIONS,
            random_seeds=options.random_seeds,
            hops=options.hops,
            progress=lambda _: None,
            views=(BASE,),
        ):
            pass
        return retriever.peak_bytes() if isinstance(retriever, Packaged) else peak_bytes()
