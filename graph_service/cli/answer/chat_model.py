"""The chat model that options and settings name."""

from __future__ import annotations

import argparse

from graph_service.cli.answer.options import ChatModelOptions
from graph_service.errors import InputError
from graph_service.settings import Settings
from queries.llm import ChatModel, OpenAIChat, Pace, TokenMeter


def chat_model(
    options: ChatModelOptions | argparse.Namespace,
    settings: Settings,
    /,
    *,
    meter: TokenMeter | None = None,
) -> ChatModel | None:
    """Returns the chat model of the options or the settings; None for template sentences."""
    name = options.model or settings.model_name
    if not name:
        if options.model_url:
            raise InputError("--model-url needs --model NAME", argument="model")
        return None
    return OpenAIChat(
        name,
        base_url=options.model_url or settings.model_url or None,
        api_key=settings.model_key or None,
        token_field=getattr(options, "token_field", "max_tokens"),
        timeout_s=getattr(options, "timeout", 60.0),
        call_limit_s=getattr(options, "call_limit", None),
        pace=Pace(
            concurrency=getattr(options, "concurrency", None),
            requests_a_minute=getattr(options, "requests_a_minute", None),
            tokens_a_minute=getattr(options, "tokens_a_minute", None),
        ),
        meter=meter,
    )
