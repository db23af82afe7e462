"""What every builder's verbs share: the model, the folder, the stages, and what is told at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from graph_service.cli.answer.chat_model import chat_model, openai_chat
from graph_service.cli.dataset.options import BuildOptions, ModelOptions
from graph_service.cli.output import Output, counted
from graph_service.cli.progress import ProgressPrinter
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.sampling import DEFAULT_RELATIONS, read_relations
from graph_service.service import Service
from graph_service.settings import read_settings
from queries.builders.description import Description
from queries.builders.folder import LOCK_NAME, read_counts, write_counts
from queries.builders.material import GraphMaterial
from queries.builders.stages import Stages
from queries.generate.setting import Generation
from queries.llm import (
    CachedChat,
    ChatModel,
    EchoedPrompt,
    ReplyCache,
    TokenMeter,
    open_cache,
)
from queries.lock import one_writer

REPLIES_NAME = "replies.db"


@contextlib.contextmanager
def locked(folder: Path, /) -> Iterator[None]:
    """Holds a data set's folder against other builds; makes it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"can't make {folder}: {error.strerror}", argument="out") from error
    with one_writer(folder / LOCK_NAME):
        yield


@contextlib.contextmanager
def cached_replies(options: BuildOptions, /) -> Iterator[ReplyCache]:
    """Opens the replies of a data set."""
    with open_cache(options.out / REPLIES_NAME, must_exist=options.replay) as cache:
        yield cache


@contextlib.contextmanager
def writing_model(
    options: BuildOptions, cache: ReplyCache, meter: TokenMeter, /
) -> Iterator[ChatModel]:
    """Opens the chat model that writes, its replies kept.

    Raises:
        InputError: None is named.
    """
    settings = read_settings()
    if options.replay:
        name = options.model or settings.model_name
        if not name:
            raise InputError("--replay needs --model NAME, whose replies these are",
                             argument="model")  # fmt: skip
        yield CachedChat(cache, name)
        return
    with chat_model(
        options, settings, endpoint=options, concurrency=options.workers, meter=meter
    ) as model:
        if model is None:
            raise InputError(
                "a data set needs a chat model",
                argument="model",
                hint="Name one: --model NAME [--model-url URL], or GRAPH_SERVICE_MODEL.",
            )
        yield CachedChat(cache, model.name, inner=model, retry_failed=options.retry_failed)


@contextlib.contextmanager
def echoing_model(
    name: str, url: str | None, options: BuildOptions, cache: ReplyCache, meter: TokenMeter, /
) -> Iterator[ChatModel]:
    """Opens a model that tells the log-probabilities of a prompt, its replies kept."""
    if options.replay:
        yield CachedChat(cache, name)
        return
    with openai_chat(
        name,
        read_settings(),
        options,
        url=url or options.model_url,
        concurrency=options.workers,
        meter=meter,
        protocol=EchoedPrompt,
    ) as model:
        yield CachedChat(cache, name, inner=model, retry_failed=options.retry_failed)


def graph_of(
    service: Service, graph: str | None, language: str, dropped: Path | None, /
) -> tuple[GraphMaterial, Mapping[str, str]]:
    """Returns a graph as builders read it, and its name and fingerprints.

    Args:
        service: Has it.
        graph: Its name; None where there is one.
        language: Of labels.
        dropped: The list of relations that inform nobody; None for that of ``sample``.
    """
    info = service.graph(graph)
    uses = service.draws.relation_uses(graph=info.name)
    material = GraphMaterial(
        Client.over(service),
        info.name,
        language,
        uses.statements,
        uses.uses,
        read_relations(dropped or DEFAULT_RELATIONS),
    )
    fingerprints = info.fingerprints
    return material, {
        "name": info.name,
        "edges": fingerprints.edges,
        "content": fingerprints.content,
    }


def stages_of(options: BuildOptions, /) -> Stages:
    """Returns what runs the stages of a build."""
    return Stages(
        options.out,
        workers=options.workers,
        retry_failed=options.retry_failed,
        tell=ProgressPrinter(),
    )


def generation_of(options: ModelOptions, /) -> Generation:
    """Returns how replies are drawn."""
    return Generation(temperature=options.temperature, max_tokens=options.max_tokens)


def end_build(
    options: BuildOptions, stages: Stages, files: Sequence[str], made: int, output: Output, /
) -> int:
    """Keeps and tells the counts; returns 1 where nothing was made."""
    write_counts(options.out, stages.counts)
    output.show(
        {"made": made, "fresh": stages.fresh, "files": files, "stages": stages.counts},
        *(counts.text() for counts in stages.counts),
        f"{counted(made, 'question')} in {', '.join(files)}",
    )
    if not made:
        output.note("nothing was made; the stages say why each item was refused")
    return 0 if made else 1


def tell_check(folder: Path, wrong: Sequence[str], output: Output, /) -> int:
    """Tells what a check found; returns 1 where anything is wrong."""
    read_counts(folder)
    output.show(
        {"wrong": wrong},
        *wrong,
        "all is as promised" if not wrong else counted(len(wrong), "fault"),
    )
    return 1 if wrong else 0


def tell_stats(folder: Path, description: Description, output: Output, /) -> int:
    """Prints figures, and what became of the items of each stage."""
    counts = read_counts(folder)
    output.object(
        {
            "columns": {column.name: column.values for column in description.columns},
            "notes": description.notes,
            "stages": counts,
        }
    )
    output.table(description.rows())
    for note in description.notes:
        output.line(note)
    for each in counts:
        output.line(each.text())
    return 0
