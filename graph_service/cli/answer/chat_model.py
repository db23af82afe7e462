"""The chat model that options and settings name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from graph_service.cli.answer.options import ChatModelOptions, EndpointOptions
from graph_service.errors import InputError
from graph_service.settings import Settings
from queries.llm import ChatModel, OpenAIChat, Pace, TokenMeter


@contextlib.contextmanager
def chat_model(
    options: ChatModelOptions,
    settings: Settings,
    /,
    *,
    endpoint: EndpointOptions | None = None,
    concurrency: int | None = None,
    meter: TokenMeter | None = None,
) -> Iterator[ChatModel | None]:
    """Opens the chat model of the options or the settings; None for template sentences.

    Args:
        options: Name it.
        settings: Name it where the options don't.
        endpoint: What its endpoint allows; by default that of ``EndpointOptions``.
        concurrency: Requests at once; None for as many as are asked.
        meter: Counts the tokens.
    """
    name = options.model or settings.model_name
    if not name:
        if options.model_url:
            raise InputError("--model-url needs --model NAME", argument="model")
        yield None
        return
    limits = endpoint or EndpointOptions()
    with OpenAIChat(
        name,
        base_url=options.model_url or settings.model_url or None,
        api_key=settings.model_key or None,
        token_field=limits.token_field,
        timeout_s=limits.timeout,
        call_limit_s=limits.call_limit,
        pace=Pace(
            concurrency=concurrency,
            requests_a_minute=limits.requests_a_minute,
            tokens_a_minute=limits.tokens_a_minute,
        ),
        meter=meter,
    ) as model:
        yield model
