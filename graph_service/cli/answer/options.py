"""The options that every verb takes that asks a chat model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from graph_service.options import option


@dataclass(frozen=True, kw_only=True)
class ChatModelOptions:
    """Which chat model is asked."""

    GROUP: ClassVar[str] = "model"

    model: str | None = option(None, help="the chat model", metavar="NAME")
    model_url: str | None = option(None, help="an OpenAI-compatible endpoint", metavar="URL")
