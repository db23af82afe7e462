"""From options to the chat model that judges, its replies kept beside the scores or replayed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from graph_service.cli.answer.chat_model import chat_model
from graph_service.cli.answer.options import RunOptions
from graph_service.cli.score.options import JudgeModelOptions
from graph_service.errors import InputError
from graph_service.settings import read_settings
from queries.llm import CachedChat, ChatModel, TokenMeter, open_cache
from queries.score.judge import Judge

Judges = Callable[[], Judge]


@contextlib.contextmanager
def judges(options: JudgeModelOptions, /, *, run: RunOptions | None = None) -> Iterator[Judges]:
    """Gives a function that returns the judge; nothing is opened before it is called.

    Replies are kept in ``--cache``, by default beside ``--out``: a run that was killed in the middle
    of a case asks nothing twice. ``--retry-failed`` asks anew for those that could not be read.
    ``--replay`` answers from kept replies alone.

    Args:
        options: Name the model.
        run: The run that it judges for, where the verb has one.
    """
    with contextlib.ExitStack() as stack:
        made: list[Judge] = []

        def judge() -> Judge:
            if not made:
                model = _model(options, run or RunOptions(), stack)
                made.append(
                    Judge(
                        model,
                        temperature=options.temperature,
                        random_seed=options.random_seed,
                    )
                )
            return made[0]

        yield judge


def _model(options: JudgeModelOptions, run: RunOptions, stack: contextlib.ExitStack) -> ChatModel:
    settings = read_settings()
    if options.replay:
        if options.cache or options.model_url:
            raise InputError(
                "--replay asks no endpoint and keeps nothing: give neither --cache nor --model-url",
                argument="replay",
            )
        cache = stack.enter_context(open_cache(options.replay, must_exist=True))
        names = cache.models()
        name = options.model or settings.model_name or (names[0] if len(names) == 1 else "")
        if not name:
            raise InputError(
                f"{options.replay} holds replies of {', '.join(names) or 'no model'}; say which: "
                "--model NAME",
                argument="model",
            )
        return CachedChat(cache, name)
    model = stack.enter_context(
        chat_model(
            options,
            settings,
            endpoint=options,
            concurrency=run.concurrency,
            meter=TokenMeter(limit=options.token_limit),
        )
    )
    if model is None:
        raise InputError(
            "this score needs a chat model",
            argument="model",
            hint="Name one: --model NAME [--model-url URL], or GRAPH_SERVICE_MODEL.",
        )
    path = options.cache
    if path is None and run.out:
        path = f"{run.out}.replies.db"
    if path is None:
        return model
    cache = stack.enter_context(open_cache(path))
    return CachedChat(cache, model.name, inner=model, retry_failed=run.retry_failed)
