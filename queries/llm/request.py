"""A whole request to a model, as replies are kept under."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from graph_service.model.identity import digest
from graph_service.model.serialise import to_plain
from queries.llm.chat import ChatModel, JsonForm, Message, Reply, label_of


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """Everything that decides a reply.

    Attributes:
        prompt: Name and version of the prompt file the messages were made of; empty where none.
    """

    model: str
    messages: tuple[Message, ...]
    temperature: float | None
    max_tokens: int
    random_seed: int | None
    stop: tuple[str, ...]
    top_logprobs: int | None = None
    form: JsonForm | None = None
    prompt: str = ""

    @classmethod
    def of(
        cls,
        model: str,
        messages: Sequence[Message],
        /,
        *,
        temperature: float | None,
        max_tokens: int,
        random_seed: int | None,
        stop: Sequence[str],
        top_logprobs: int | None,
        form: JsonForm | None,
    ) -> ChatRequest:
        """Returns the request of a call of ``ChatModel.complete``."""
        return cls(
            model,
            tuple(messages),
            temperature,
            max_tokens,
            random_seed,
            tuple(stop),
            top_logprobs,
            form,
            label_of(messages),
        )

    def key(self) -> str:
        """Returns 32 hexadecimal digits of everything in the request."""
        encoded = orjson.dumps(to_plain(self), option=orjson.OPT_SORT_KEYS).decode()
        return digest((encoded,), person=b"chat").hex()

    def send(self, model: ChatModel, messages: Sequence[Message], /) -> Reply:
        """Asks a model; what was not asked for is not passed on."""
        more: Mapping[str, Any] = {
            name: value
            for name, value in (("top_logprobs", self.top_logprobs), ("form", self.form))
            if value is not None
        }
        return model.complete(
            messages,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            random_seed=self.random_seed,
            stop=self.stop,
            **more,
        )
