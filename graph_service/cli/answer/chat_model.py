"""The chat model that options and settings name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from graph_service.cli.answer.options import (
    AnswerOptions,
    ChatModelOptions,
    EndpointOptions,
    OwnPromptOptions,
    ReplyCacheOptions,
    ReplyOptions,
)
from graph_service.errors import InputError
from graph_service.options import options_of
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
    with openai_chat(
        name,
        settings,
        endpoint or EndpointOptions(),
        url=options.model_url,
        concurrency=concurrency,
        meter=meter,
    ) as model:
        yield model


def refuse_model_options(options: AnswerOptions, /) -> None:
    """Raises ``InputError`` naming the first option that has no effect without a model."""
    for kind in (ReplyOptions, EndpointOptions, OwnPromptOptions, ReplyCacheOptions):
        for each in options_of(kind).values():
            if getattr(options, each.name) != each.default:
                raise InputError(
                    f"{each.flag} has no effect without a model: add --model NAME",
                    argument=each.name,
                )


def openai_chat(
    name: str,
    settings: Settings,
    endpoint: EndpointOptions,
    /,
    *,
    url: str | None,
    concurrency: int | None,
    meter: TokenMeter | None,
    protocol: type[OpenAIChat] = OpenAIChat,
) -> OpenAIChat:
    """Returns a model behind an endpoint, to be closed by the caller.

    Args:
        name: Name of the model.
        settings: Have the key, and the address where ``url`` has none.
        endpoint: What its endpoint allows.
        url: Address of the endpoint.
        concurrency: Requests at once; None for as many as are asked.
        meter: Counts the tokens.
        protocol: ``EchoedPrompt`` for the completions protocol.
    """
    return protocol(
        name,
        base_url=url or settings.model_url or None,
        api_key=settings.model_key or None,
        token_field=endpoint.token_field,
        timeout_s=endpoint.timeout,
        call_limit_s=endpoint.call_limit,
        pace=Pace(
            concurrency=concurrency,
            requests_a_minute=endpoint.requests_a_minute,
            tokens_a_minute=endpoint.tokens_a_minute,
        ),
        meter=meter,
    )
