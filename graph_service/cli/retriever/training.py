"""retriever: train what preset default-6 ranks by on a graph, keep it, list it, delete it (B7)."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from graph_service.cli.answer.chat_model import chat_model
from graph_service.cli.bar import Bar
from graph_service.cli.opening import open_from
from graph_service.cli.output import Output
from graph_service.cli.retriever.options import (
    AddOptions,
    DeleteOptions,
    ListOptions,
    TrainOptions,
)
from graph_service.errors import InputError
from graph_service.model.identity import digest
from graph_service.retrieve.learned.network import (
    CandidateScorer,
    encode_candidate_scorer,
    read_candidate_scorer,
)
from graph_service.service.lookup import require_base
from queries.llm import CachedChat, open_cache
from queries.lock import one_writer
from queries.training.examples import AnsweredQuestion
from queries.training.on_graph import (
    GraphTraining,
    GraphTrainingOptions,
    Judged,
    Paraphrase,
    Progress,
    train_on_graph,
)
from queries.training.own_questions import OwnQuestion, OwnQuestions, answered, read_own_questions
from queries.training.paraphrases import Paraphrases, paraphrase
from queries.training.set_calibration import LEAST_QUESTIONS

READ_TIMEOUT_S = 600.0
"""Of one question: on a busy machine new texts take long, and a cut would teach wrong things."""
_NOTED_EVERY_S = 15.0


def train(options: TrainOptions, output: Output, /) -> int:
    """Trains on a graph, and stores what came of it if it is right more often than before."""
    started = time.monotonic()
    if not 0.05 <= options.kept_aside <= 0.9:
        raise InputError(
            f"--kept-aside must be from 0.05 to 0.9, got {options.kept_aside:g}",
            argument="kept_aside",
        )
    own = _read(options)
    with open_from(options, output, read_timeout_s=READ_TIMEOUT_S) as service:
        info = service.graph(options.graph)
        require_base(info)
        questions = answered(service, info.name, own) if own else OwnQuestions()
        # Graphs of two stores may have one name.
        of_store = digest((service.store.url,), person=b"training").hex()[:8]
        folder = service.settings.cache_path / "training" / f"{info.name}-{of_store}"
        folder.parent.mkdir(parents=True, exist_ok=True)
        with (
            one_writer(folder.with_name(f"{folder.name}.examples")),
            _paraphraser(options, folder, output) as paraphrased,
            Bar(shown=not output.as_json) as bar,
        ):
            trained = train_on_graph(
                service,
                info.name,
                questions,
                folder=folder,
                options=GraphTrainingOptions(
                    walks=options.walks,
                    held_out=options.kept_aside,
                    random_seed=options.random_seed,
                ),
                paraphrased=paraphrased,
                progress=_noted_progress(output, bar),
            )
            if trained.stored is not None:
                service.candidate_scorers.save(info, trained.stored)
            if options.out:
                Path(options.out).write_bytes(encode_candidate_scorer(trained.scorer))
            shutil.rmtree(folder, ignore_errors=True)
    seconds = round(time.monotonic() - started, 1)
    _print(trained, info.name, seconds, options.out, output)
    return 0


def add(options: AddOptions, output: Output, /) -> int:
    """Puts the weights of a file beside a graph."""
    scorer = _scorer_of(options.file)
    with open_from(options, output) as service:
        info = service.graph(options.graph)
        require_base(info)
        scorer.require(service.vectors.trained_name)
        stored = service.candidate_scorers.save(info, scorer)
    output.show(
        {"retriever": stored},
        f"graph {stored.graph}: preset default-6 ranks by {stored.data[:8]} from now on",
    )
    return 0


def _scorer_of(file: str) -> CandidateScorer:
    """Returns the scorer of a file that ``retriever train --out`` wrote."""
    try:
        return read_candidate_scorer(file)
    except InputError as error:
        if isinstance(error.__cause__, OSError):
            raise
        raise InputError(
            f"{file} is no file of a trained retriever",
            argument="file",
            hint="Name one that graph-service retriever train --out FILE wrote.",
        ) from error


def list_(options: ListOptions, output: Output, /) -> int:
    """Lists the graphs that have trained weights."""
    with open_from(options, output) as service:
        graphs = {info.name: info for info in service.graphs()}
        scorers = [
            stored
            for each in service.candidate_scorers.list()
            if each.graph in graphs
            and (stored := service.candidate_scorers.find(graphs[each.graph])) is not None
        ]
    output.listing(
        {"retrievers": scorers},
        ["graph", "data", "embedder", "own: shipped", "trained", "walks: shipped", "trained", "made",
         ""],
        [
            [
                each.graph,
                each.data[:8],
                each.embedder,
                *_figures(each.notes),
                each.created_at,
                "the graph has changed since" if each.stale else "",
            ]
            for each in scorers
        ],
        empty="no graph has weights of its own: preset default-6 ranks by those that ship. "
        "Train some: graph-service retriever train --graph NAME",
    )  # fmt: skip
    return 0


def delete(options: DeleteOptions, output: Output, /) -> int:
    """Deletes the trained weights of a graph."""
    with open_from(options, output) as service:
        name = service.graph(options.graph).name
        service.candidate_scorers.delete(name)
    output.show(
        {"deleted": name},
        f"graph {name}: preset default-6 ranks by the weights that ship from now on",
    )
    return 0


def _read(options: TrainOptions) -> list[OwnQuestion]:
    if options.out and not Path(options.out).absolute().parent.is_dir():
        raise InputError(
            f"there is no folder {Path(options.out).absolute().parent}", argument="out"
        )
    if not options.questions:
        return []
    return read_own_questions(
        options.questions,
        question_format=options.question_format,
        language=options.question_language,
    )


@contextlib.contextmanager
def _paraphraser(
    options: TrainOptions, folder: Path, output: Output
) -> Iterator[Paraphrase | None]:
    """Opens the chat model that puts questions into other words, where that is asked for."""
    if not options.paraphrases:
        yield None
        return
    from graph_service.settings import read_settings

    with contextlib.ExitStack() as stack:
        model = stack.enter_context(
            chat_model(options, read_settings(), endpoint=options, concurrency=1)
        )
        if model is None:
            raise InputError(
                "--paraphrases needs a chat model",
                argument="model",
                hint="Name one: --model NAME [--model-url URL], or GRAPH_SERVICE_MODEL.",
            )
        folder.mkdir(parents=True, exist_ok=True)
        cache = stack.enter_context(open_cache(folder / "replies.db"))
        replies = CachedChat(cache, model.name, inner=model)

        def made(questions: Sequence[AnsweredQuestion], names: Mapping[str, str]) -> Paraphrases:
            return paraphrase(
                replies,
                questions,
                names,
                count=options.paraphrases,
                progress=_note_each(output, "paraphrases", len(questions)),
            )

        yield made


def _noted_progress(output: Output, bar: Bar) -> Progress:
    """Returns what shows progress: a bar, and a line now and then where there is no terminal."""
    last = time.monotonic()

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal last
        bar.show(done, total, title=stage)
        if time.monotonic() - last > _NOTED_EVERY_S:
            last = time.monotonic()
            output.note(f"{stage}: {done:,} of {total:,}")

    return tell


def _note_each(output: Output, stage: str, total: int) -> Callable[[int], None]:
    last = time.monotonic()

    def tell(done: int) -> None:
        nonlocal last
        if time.monotonic() - last > _NOTED_EVERY_S:
            last = time.monotonic()
            output.note(f"{stage}: {done:,} of {total:,}")

    return tell


def _print(
    trained: GraphTraining, graph: str, seconds: float, out: str | None, output: Output
) -> None:
    output.object(
        {
            "graph": graph,
            "used": trained.used,
            "data": trained.scorer.data,
            "embedder": trained.scorer.embedder,
            **trained.notes(),
            "seconds": seconds,
            "out": out,
        }
    )
    questions = ", ".join(f"{count:,} {name}" for name, count in trained.learned.items())
    output.line(f"graph {graph}: learned from {questions}; {seconds:g} s")
    for why, count in trained.left_out.items():
        output.line(f"  {count:,} left out: {why}")
    output.table(
        [
            ["right first, kept aside", "asked", "shipped", "trained"],
            *(
                [name, f"{report.requests:,}", *_shares(report)]
                for name, report in (
                    ("your questions", trained.own),
                    ("walks", trained.walks),
                    ("of these, sequences not learned", trained.unseen),
                )
            ),
        ]
    )
    if trained.used:
        output.line(
            f"preset default-6 ranks by it on graph {graph} and on its views from now on "
            f"(its own networks weigh {trained.weight:g})"
        )
    else:
        output.line(
            "not used: it is not right more often than the weights that ship. "
            f"What graph {graph} had before stays."
        )
    output.line(_set_line(trained, graph))


def _set_line(trained: GraphTraining, graph: str) -> str:
    """Returns what came of calibrating sets of readings, for people."""
    sets = trained.sets
    if not sets.gaps:
        return (
            f"sets of readings keep their gaps: {sets.questions:,} of your questions kept aside have "
            f"a set, and {LEAST_QUESTIONS} are needed"
        )
    return (
        f"sets of readings (--coverage) are calibrated on {sets.questions:,} of your questions on "
        f"graph {graph} from now on; the largest coverage that they reach is {max(sets.gaps):g}"
    )


def _shares(judged: Judged) -> list[str]:
    return ["-" if share is None else f"{share:.3f}" for share in (judged.shipped, judged.trained)]


def _figures(notes: Mapping[str, Any]) -> list[str]:
    aside = notes.get("kept_aside", {})
    return [
        "-" if (share := aside.get(name, {}).get(which)) is None else f"{share:.3f}"
        for name in ("own", "walks")
        for which in ("shipped", "trained")
    ]
