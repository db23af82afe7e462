"""One request of an answer: sent, read, sent once more with the reason where it cannot be read."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from queries.generate.prompt import load_prompt, messages_hash
from queries.generate.setting import Generation
from queries.llm import ChatModel, Message, Rendered, Reply, ReplyError, Usage, set_aside

T = TypeVar("T")

# Models that think aloud put it before the answer; what is said there is no part of it.
_THOUGHTS = re.compile(r"^\s*<think>.*?</think>\s*", re.DOTALL)
UNREADABLE = "unreadable"


class UnreadableReply(Exception):
    """A reply is not in the form that was asked for; the message says what was expected."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its reply.

    Attributes:
        prompt: Prompt file and version.
        prompt_hash: Hash of the messages as rendered.
        text: The reply as it came; empty where none came.
        model: The model's name as the endpoint gives it.
        random_seed: As it was passed on.
        seconds: From the first try to the reply, waits included, when it was asked; no part of
            its identity.
        failure: Why there is no reply, or why it could not be read.
    """

    prompt: str
    prompt_hash: str
    text: str
    model: str
    finish_reason: str | None = None
    usage: Usage | None = None
    request_id: str | None = None
    random_seed: int | None = None
    seconds: float = field(default=0.0, compare=False)
    tries: int = field(default=1, compare=False)
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """What came of a request.

    Attributes:
        value: What was read; None where nothing could be.
        text: The last reply, thoughts left out.
        exchanges: One, or two where the first reply could not be read.
        thoughts: Whether thoughts were left out.
        failure: Why there is no value.
    """

    value: T | None
    text: str
    exchanges: tuple[Exchange, ...]
    thoughts: bool = False
    failure: str | None = None


_COLLECTED: ContextVar[list[Exchange] | None] = ContextVar("collected", default=None)


@contextlib.contextmanager
def collected() -> Iterator[list[Exchange]]:
    """Gives a list of what ``ask`` exchanges within the block, failures included.

    For a retrieval that may ask a model itself (a ranker of relations): a retriever returns what
    it found and not whom it asked. Of this thread alone.
    """
    found: list[Exchange] = []
    token = _COLLECTED.set(found)
    try:
        yield found
    finally:
        _COLLECTED.reset(token)


def ask(
    model: ChatModel,
    messages: Rendered,
    read: Callable[[str], T],
    /,
    *,
    generation: Generation,
) -> Asked[T]:
    """Returns what a model's reply says, asked again once where it cannot be read.

    Args:
        model: Whom to ask.
        messages: The rendered prompt.
        read: From the reply, without thoughts, to the value; raises ``UnreadableReply``.
        generation: Temperature, tokens and random seed.

    Raises:
        SetupError: The model's key, address or name is wrong.
        LimitError: The run's tokens are spent.
    """
    exchanges: list[Exchange] = []
    try:
        return _ask(model, messages, read, exchanges, generation)
    finally:
        outer = _COLLECTED.get()
        if outer is not None:
            outer.extend(exchanges)


def _ask(
    model: ChatModel,
    messages: Rendered,
    read: Callable[[str], T],
    exchanges: list[Exchange],
    generation: Generation,
) -> Asked[T]:
    said = messages
    unread: list[Reply] = []
    while True:
        label, hashed = messages.label, messages_hash(said)
        try:
            reply = model.complete(
                said,
                temperature=generation.temperature,
                max_tokens=generation.max_tokens,
                random_seed=generation.random_seed,
            )
        except ReplyError as error:
            failure = f"{error.fault.value}: {error.message}"
            exchanges.append(
                Exchange(label, hashed, "", model.name, tries=error.tries, failure=failure)
            )
            return Asked(None, "", tuple(exchanges), failure=failure)
        text = _THOUGHTS.sub("", reply.text)
        why: str | None = None
        value: T | None = None
        try:
            value = read(text)
        except UnreadableReply as error:
            why = f"{UNREADABLE}: {error}"
            if reply.finish_reason == "length":
                why += f" (the reply was cut at {generation.max_tokens} tokens)"
        exchanges.append(
            Exchange(
                label,
                hashed,
                reply.text,
                reply.model,
                reply.finish_reason,
                reply.usage,
                reply.request_id,
                generation.random_seed,
                reply.seconds,
                reply.tries,
                why,
            )
        )
        if why is not None:
            unread.append(reply)
        if why is None or len(exchanges) == 2:
            if why is not None:
                set_aside(model, unread)
            return Asked(value, text, tuple(exchanges), text != reply.text, why)
        retry = load_prompt("retry").render(reason=why.removeprefix(f"{UNREADABLE}: "))
        said = Rendered((*said, Message("assistant", reply.text), *retry), label=label)


def usage_of(exchanges: tuple[Exchange, ...], /) -> Usage | None:
    """Returns the tokens of all exchanges together; None where none was answered."""
    counted = [exchange.usage for exchange in exchanges if exchange.usage is not None]
    return sum(counted, Usage()) if counted else None
