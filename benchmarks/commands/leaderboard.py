"""``python -m benchmarks leaderboard``: retrievers on the statements of frozen sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import orjson

from benchmarks.commands.options import LeaderboardOptions
from benchmarks.retrievers.figure import draw
from graph_service.cli.output import Output
from graph_service.errors import InputError
from graph_service.model.identity import key64
from graph_service.model.serialise import to_plain

if TYPE_CHECKING:
    from benchmarks.retrievers.measuring import Line, Measured
    from benchmarks.retrievers.methods import Embed
    from benchmarks.retrievers.packaged import Packaged
    from benchmarks.retrievers.protocol import StatementRetriever
    from graph_service.service import Service
    from queries.robustness.building import Folder
    from queries.robustness.recipe import SetRecipe

SETS = tuple(
    f"{source}/{family}/v1"
    for source in ("pathquestion", "worldcup")
    for family in ("path-1", "contradiction", "rule", "names", "noise-30")
)
"""What is asked where no set is named: graphs that are small enough for an hour."""
OWN = tuple(
    (preset, strategy)
    for preset in ("default", "okgqa", "ltgen")
    for strategy in ("triplets", "paths", "subgraph")
    if (preset, strategy) != ("ltgen", "subgraph")
)
"""Presets that ship, by each strategy that they have; ``default-6`` and such are the same ones."""
FIRST_ROUND = 10
"""Questions of each set in the first round; each round after it doubles them."""
MOST_STATEMENTS = 20_000
"""Of a graph that is ranked as a whole: a row of a larger one is left out."""
SUBGRAPH_RAG = "SubgraphRAG"
TRAINING = ("metaqa", "pathquestion", "worldcup")
"""Sources of the questions that SubgraphRAG's scorer learns from, less the family of the set."""
TRAINING_QUESTIONS = 150
"""Of a source, drawn of one half of its questions."""


def leaderboard(options: LeaderboardOptions, output: Output, /) -> int:
    """Asks all retrievers the questions of some sets and prints a table for each set.

    Every set is asked some questions before any is asked more of them, until the time is over.
    """
    from benchmarks.retrievers.measuring import KnownRows, measure_set, of_complete_questions
    from benchmarks.retrievers.measuring import leaderboard as lines_of
    from benchmarks.retrievers.page import csv_text, markdown
    from graph_service.cli.robustness.set_graph import open_set_graph
    from queries.robustness.building import Folder, SetBuilder
    from queries.robustness.recipe import find_sets

    if options.data is None:
        raise InputError("leaderboard needs --data FOLDER, your downloads", argument="data")
    root = options.keep
    builder = SetBuilder(options.data, root, output.note)
    began = monotonic()

    def is_over() -> bool:
        return options.minutes > 0 and monotonic() - began > 60 * options.minutes

    recipes = find_sets(options.only or SETS)
    rows: dict[str, list[Measured]] = {}
    names: dict[str, list[str]] = {}
    with open_packages(options, output.note) as packages:
        for first, recipe in rounds(recipes, options.sample):
            if is_over():
                output.note(f"the time is over before question {first} of {recipe.name}")
                break
            folder = Folder(root, recipe)
            folder.path.mkdir(parents=True, exist_ok=True)
            with open_set_graph(folder) as graph:
                builder.make(recipe, graph)
                retrievers = retrievers_of(
                    graph.service, options, recipe, packages, options.retrievers, output.note
                )
                names[recipe.name] = [retriever.name for retriever in retrievers]
                rows[recipe.name] = list(
                    measure_set(
                        folder,
                        graph.service,
                        retrievers,
                        KnownRows(folder.path / "leaderboard.jsonl"),
                        first=first,
                        random_seeds=options.random_seeds,
                        hops=options.hops,
                        progress=output.note,
                        is_over=is_over,
                    )
                )
    lines: list[Line] = []
    for recipe in recipes:
        of_set = of_complete_questions(rows.get(recipe.name, ()))
        if not of_set:
            output.note(f"{recipe.name}: no question was asked in the time")
            continue
        peaks = (
            _memory(options, Folder(root, recipe), names[recipe.name], output)
            if options.memory
            else {}
        )
        lines += [
            replace(line, peak_mb=peaks.get(line.retriever, 0.0)) for line in lines_of(of_set)
        ]
    output.object({"lines": lines})
    if options.out is not None:
        options.out.write_bytes(
            orjson.dumps(to_plain(lines), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        )
    if options.csv is not None:
        options.csv.write_text(csv_text(lines), encoding="utf-8")
    if options.tables is not None:
        options.tables.write_text(markdown(lines), encoding="utf-8")
    if options.figure is not None:
        options.figure.write_text(draw(lines), encoding="utf-8")
    for name in dict.fromkeys(line.set for line in lines):
        output.line()
        output.line(name)
        output.table(table_rows([line for line in lines if line.set == name]))
    return 0


def rounds(recipes: Sequence[SetRecipe], sample: int, /) -> Iterator[tuple[int, SetRecipe]]:
    """Yields how many questions each set is asked next, all sets before any is asked more.

    Args:
        recipes: Of the sets.
        sample: Questions of a set at most; 0 for all of them.
    """
    counts = {
        recipe.name: min(sample or len(recipe.frozen.question_ids), len(recipe.frozen.question_ids))
        for recipe in recipes
        if recipe.frozen is not None
    }
    first, before = FIRST_ROUND, 0
    while any(count > before for count in counts.values()):
        for recipe in recipes:
            if counts[recipe.name] > before:
                yield min(first, counts[recipe.name]), recipe
        first, before = 2 * first, first


def _memory(
    options: LeaderboardOptions, folder: Folder, names: Sequence[str], output: Output
) -> dict[str, float]:
    """The peak of each retriever in MB; those of earlier runs stand in a file."""
    from benchmarks.retrievers.memory import measure_memory

    path = folder.path / "memory.json"
    peaks: dict[str, float] = orjson.loads(path.read_bytes()) if path.exists() else {}
    for name in names:
        if name not in peaks:
            output.note(f"{folder.recipe.name}: memory of {name}")
            peaks[name] = measure_memory(options, folder.recipe.name, name).bytes / 2**20
            path.write_bytes(orjson.dumps(peaks))
    return peaks


@contextmanager
def open_packages(
    options: LeaderboardOptions, note: Callable[[str], None], /
) -> Iterator[list[Packaged]]:
    """Opens the retrievers of packages for all sets; ends their processes at the end.

    Args:
        options: Of the command.
        note: Told which are left out, and why, where no retriever is named.
    """
    from benchmarks.retrievers.packaged import open_packaged

    neo4j = {"NEO4J_URI": options.neo4j} if options.neo4j else {}
    with open_packaged(options.environments, neo4j=neo4j) as (packages, left_out):
        if not options.retrievers:
            for reason in left_out:
                note(reason)
        yield packages


def retrievers_of(
    service: Service,
    options: LeaderboardOptions,
    recipe: SetRecipe,
    packages: Sequence[Packaged],
    names: Sequence[str],
    note: Callable[[str], None],
    /,
) -> list[StatementRetriever]:
    """Returns the retrievers of some names for a set, all of them where there is no name.

    Args:
        service: Over the store of the set.
        options: Of the command.
        recipe: Of the set; no retriever learns of its family.
        packages: Opened; from now on they see this set.
        names: In tables.
        note: Told which are left out, and why.

    Raises:
        InputError: There is no such retriever.
    """
    from benchmarks.retrievers.methods import (
        Bm25,
        Dense,
        GRetriever,
        OverWholeGraph,
        PageRank,
        Walks,
    )
    from benchmarks.retrievers.ours import Own
    from graph_service.client import Client
    from graph_service.model.result import Strategy

    client = Client.over(service)
    embed = partial(_embed, service)
    own: list[StatementRetriever] = [
        *(Own(client, Strategy(strategy), preset) for preset, strategy in OWN),
        Bm25(),
        Dense(embed),
        PageRank(),
        Walks(embed),
        GRetriever(embed),
    ]
    size = service.arrays(service.graph(recipe.graph_name)).edge_count
    if size <= MOST_STATEMENTS:
        own += [OverWholeGraph(Bm25()), OverWholeGraph(Dense(embed))]
    elif not names:
        note(f"BM25 and dense over all {size:,} statements of {recipe.graph_name} are left out")
    known = [*(retriever.name for retriever in (*own, *packages)), SUBGRAPH_RAG]
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise InputError(
            f"there is no retriever {unknown[0]!r}; expected one of {', '.join(known)}",
            argument="retrievers",
        )
    if not names or SUBGRAPH_RAG in names:
        own.append(_subgraph_rag(options, recipe, embed, note))
    for package in packages:
        package.open_set(embed)
    return [each for each in (*own, *packages) if not names or each.name in names]


def _subgraph_rag(
    options: LeaderboardOptions,
    recipe: SetRecipe,
    embed: Embed,
    note: Callable[[str], None],
) -> StatementRetriever:
    """SubgraphRAG's scorer, trained on halves of the other families unless its weights are kept."""
    from benchmarks.retrievers.subgraph_rag import (
        Float32,
        SubgraphRag,
        read_weights,
        train,
        training_examples,
    )
    from queries.robustness.building import SetBuilder
    from queries.robustness.questions import draw_questions, questions_of
    from queries.robustness.recipe import find_sets

    family = recipe.name.partition("/")[0].removesuffix("-large")
    path = options.keep / f"subgraph-rag-without-{family}.npz"
    if not path.exists():
        assert options.data is not None
        builder = SetBuilder(options.data, options.keep, note)
        examples: list[tuple[Float32, Float32]] = []
        for source in sorted(set(TRAINING) - {family}):
            other = next(iter(find_sets((f"{source}/path-1/v1",))))
            material = builder.material(other)
            half = [
                question
                for question in questions_of(other, options.data, material)
                if key64(f"half\t{question.id}") & 1
            ]
            chosen = draw_questions(half, count=TRAINING_QUESTIONS)
            note(f"SubgraphRAG: {len(chosen)} questions of {source} to learn from")
            examples += training_examples(material, chosen, embed, hops=options.hops)
        train(examples).save(path)
    return SubgraphRag(embed, read_weights(path))


def _embed(service: Service, texts: Sequence[str]) -> npt.NDArray[np.float64]:
    """Unit vectors of texts, from the vector file where it has them."""
    return service.vectors.encode(texts).astype(np.float64)


def table_rows(lines: Sequence[Line], /) -> list[list[str]]:
    """Returns the lines of a set as rows for a person, the head first."""
    from benchmarks.retrievers.page import share

    head = [
        "view",
        "retriever",
        "n",
        "answers@5",
        "@10",
        "@20",
        "statements@20",
        "Hits@1",
        "ms",
        "MB",
    ]
    names = ("answers@5", "answers@10", "answers@20", "statements@20", "hits@1")
    rows = [head]
    for line in sorted(lines, key=lambda line: line.view != "base"):
        figures = [share(line, name) for name in names]
        rows.append(
            [
                line.view,
                line.retriever,
                str(line.questions),
                *figures,
                f"{line.median_ms:.0f}",
                f"{line.peak_mb:.0f}" if line.peak_mb else "-",
            ]
        )
    return rows
