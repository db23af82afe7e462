"""A whole request to a model, as replies are kept under."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import orjson

from graph_service.model.identity import digest
from graph_service.model.serialise import to_plain
from queries.llm.chat import ChatOptions, JsonForm, Message, label_of


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """Everything that decides a reply.

    Attributes:
        prompt: Name and version of the prompt file the messages were made of; empty where none.
    """

    model: str
    messages: tuple[Message, ...]
    temperature: float | None = 0.0
    max_tokens: int = 1024
    random_seed: int | None = None
    stop: Sequence[str] = ()
    top_logprobs: int | None = None
    form: JsonForm | None = None
    prompt: str = ""

    @classmethod
    def of(
        cls, model: str, messages: Sequence[Message], /, **options: Unpack[ChatOptions]
    ) -> ChatRequest:
        """Returns the request of a call of ``ChatModel.complete``."""
        return cls(model, tuple(messages), prompt=label_of(messages), **options)

    def key(self) -> str:
        """Returns 32 hexadecimal digits of everything in the request."""
        encoded = orjson.dumps(to_plain(self), option=orjson.OPT_SORT_KEYS).decode()
        return digest((encoded,), person=b"chat").hex()
