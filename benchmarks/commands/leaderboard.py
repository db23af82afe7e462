"""``python -m benchmarks leaderboard``: retrievers on the statements of frozen sets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from benchmarks.commands.options import LeaderboardOptions
from graph_service.cli.output import Output
from graph_service.errors import InputError

if TYPE_CHECKING:
    from benchmarks.retrievers.measuring import Line
    from benchmarks.retrievers.protocol import StatementRetriever
    from graph_service.service import Service

SETS = (
    *(f"pathquestion/{family}/v1" for family in ("path-1", "contradiction", "noise-30", "rule")),
    *(f"worldcup/{family}/v1" for family in ("path-1", "contradiction", "rule")),
)
"""What is asked where no set is named: graphs that are small enough for an hour."""
OWN = (
    ("default", "triplets"),
    ("default", "paths"),
    ("default", "subgraph"),
    ("default-6", "paths"),
    ("okgqa", "subgraph"),
    ("ltgen", "triplets"),
)
"""Presets that ship, each by the strategies that it is made for."""


def leaderboard(options: LeaderboardOptions, output: Output, /) -> int:
    """Asks all retrievers the questions of some sets and prints a table for each set."""
    import orjson

    from benchmarks.retrievers.measuring import KnownRows, measure_set
    from benchmarks.retrievers.measuring import leaderboard as lines_of
    from graph_service.cli.robustness.set_graph import open_set_graph
    from graph_service.model.serialise import to_plain
    from queries.robustness.building import Folder, SetBuilder
    from queries.robustness.recipe import find_sets

    if options.data is None:
        raise InputError("leaderboard needs --data FOLDER, your downloads", argument="data")
    root = options.keep
    builder = SetBuilder(options.data, root, output.note)
    rows = []
    for recipe in find_sets(options.only or SETS):
        folder = Folder(root, recipe)
        folder.path.mkdir(parents=True, exist_ok=True)
        with open_set_graph(folder) as graph:
            builder.make(recipe, graph)
            known = KnownRows(folder.path / "leaderboard.jsonl")
            rows += list(
                measure_set(
                    folder,
                    graph.service,
                    _retrievers(graph.service, options.retrievers),
                    known,
                    first=options.sample,
                    random_seeds=options.random_seeds,
                    hops=options.hops,
                    progress=output.note,
                )
            )
    lines = lines_of(rows)
    output.object({"lines": lines})
    if options.out is not None:
        options.out.write_bytes(
            orjson.dumps(to_plain(lines), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        )
    for name in dict.fromkeys(line.set for line in lines):
        output.line()
        output.line(name)
        output.table(table_rows([line for line in lines if line.set == name]))
    return 0


def _retrievers(service: Service, names: Sequence[str]) -> list[StatementRetriever]:
    from benchmarks.retrievers.methods import Bm25, Dense, GRetriever, PageRank, Walks
    from benchmarks.retrievers.ours import Own
    from graph_service.client import Client
    from graph_service.model.result import Strategy

    client = Client.over(service)
    embed = partial(_embed, service)
    retrievers: list[StatementRetriever] = [
        *(Own(client, Strategy(strategy), preset) for preset, strategy in OWN),
        Bm25(),
        Dense(embed),
        PageRank(),
        Walks(embed),
        GRetriever(embed),
    ]
    known = [retriever.name for retriever in retrievers]
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise InputError(
            f"there is no retriever {unknown[0]!r}; expected one of {', '.join(known)}",
            argument="retrievers",
        )
    return [retriever for retriever in retrievers if not names or retriever.name in names]


def _embed(service: Service, texts: Sequence[str]) -> npt.NDArray[np.float64]:
    """Unit vectors of texts, from the vector file where it has them."""
    return service.vectors.encode(texts).astype(np.float64)


def table_rows(lines: Sequence[Line], /) -> list[list[str]]:
    """Returns the lines of a set as rows for a person, the head first."""
    head = ["view", "retriever", "n", "answers@5", "@10", "@20", "statements@20", "Hits@1", "ms"]
    names = ("answers@5", "answers@10", "answers@20", "statements@20", "hits@1")
    rows = [head]
    for line in sorted(lines, key=lambda line: line.view != "base"):
        figures = [_figure(line, name) for name in names]
        rows.append(
            [line.view, line.retriever, str(line.questions), *figures, f"{line.median_ms:.0f}"]
        )
    return rows


def _figure(line: Line, name: str) -> str:
    """A share with its interval, such as ``.83 (.77 to .88)``."""
    measured = line.measures[name]
    if measured.value is None:
        return "-"
    value, low, high = (
        f"{number:.2f}".removeprefix("0") if number is not None else "-"
        for number in (measured.value, measured.low, measured.high)
    )
    return f"{value} ({low} to {high})"
