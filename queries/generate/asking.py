"""One request of an answer: sent, read, sent once more with the reason where it cannot be read."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from queries.generate.prompt import load_prompt, messages_hash
from queries.generate.setting import Generation
from queries.llm import ChatModel, Message, Rendered, Reply, ReplyError, Usage, set_aside
from queries.llm.reply import CUT, UnreadableReplyError, cut_note, read_reply

T = TypeVar("T")

UNREADABLE = "unreadable"


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
class ReplyOutcome(Generic[T]):
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
    """Gives a list of what ``request_reply`` exchanges within the block, failures included.

    For a retrieval that may ask a model itself (a ranker of relations): a retriever returns what
    it found and not whom it asked. Of this thread alone.
    """
    exchanges: list[Exchange] = []
    token = _COLLECTED.set(exchanges)
    try:
        yield exchanges
    finally:
        _COLLECTED.reset(token)


def request_reply(
    model: ChatModel,
    messages: Rendered,
    read: Callable[[str], T],
    /,
    *,
    generation: Generation,
    labels: Sequence[str] = (),
    must_end: bool = False,
) -> ReplyOutcome[T]:
    """Returns what a model's reply says, asked again once where it cannot be read.

    A reply that ends within its thoughts cannot be read.

    Args:
        model: Whom to ask.
        messages: The rendered prompt.
        read: From the reply, without thoughts, to the value; raises ``UnreadableReplyError``.
        generation: Temperature, tokens and random seed.
        labels: Of the data that the model is shown; see ``read_reply``.
        must_end: Whether a reply that was cut at its tokens cannot be read.

    Raises:
        SetupError: The model's key, address or name is wrong.
        LimitError: The run's tokens are spent.
    """
    exchanges: list[Exchange] = []
    try:
        return _request_reply(model, messages, read, exchanges, generation, labels, must_end)
    finally:
        outer = _COLLECTED.get()
        if outer is not None:
            outer.extend(exchanges)


def _request_reply(
    model: ChatModel,
    messages: Rendered,
    read: Callable[[str], T],
    exchanges: list[Exchange],
    generation: Generation,
    labels: Sequence[str],
    must_end: bool,
) -> ReplyOutcome[T]:
    conversation = messages
    unread: list[Reply] = []
    while True:
        label, hashed = messages.label, messages_hash(conversation)
        try:
            reply = model.complete(
                conversation,
                temperature=generation.temperature,
                max_tokens=generation.max_tokens,
                random_seed=generation.random_seed,
            )
        except ReplyError as error:
            failure = f"{error.fault.value}: {error.message}"
            exchanges.append(
                Exchange(label, hashed, "", model.name, tries=error.tries, failure=failure)
            )
            return ReplyOutcome(None, "", tuple(exchanges), failure=failure)
        text, thoughts = "", False
        why: str | None = None
        value: T | None = None
        is_cut = reply.finish_reason == CUT
        try:
            answered = read_reply(reply.text, labels=labels)
            text, thoughts = answered.text, answered.thoughts
            if is_cut and must_end:
                raise UnreadableReplyError("it has to be whole")
            value = read(text)
        except UnreadableReplyError as error:
            why = f"{UNREADABLE}: {error}"
            if is_cut:
                why += f" ({cut_note(generation.max_tokens)})"
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
            return ReplyOutcome(value, text, tuple(exchanges), thoughts, why)
        retry = load_prompt("retry").render(reason=why.removeprefix(f"{UNREADABLE}: "))
        conversation = Rendered(
            (*conversation, Message("assistant", reply.text), *retry), label=label
        )


def usage_of(exchanges: tuple[Exchange, ...], /) -> Usage | None:
    """Returns the tokens of all exchanges together; None where none was answered."""
    counted = [exchange.usage for exchange in exchanges if exchange.usage is not None]
    return sum(counted, Usage()) if counted else None
