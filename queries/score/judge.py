"""Asking a chat model for a verdict that must be readable, or is a recorded failure.

A reply that cannot be read is sent back once with the reason. A second one, and a request without
any usable reply, make the case failed: counted, averaged nowhere, never guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from queries.llm import ChatModel, Message, Rendered, Reply, ReplyError, Usage, set_aside
from queries.llm.chat import label_of
from queries.llm.reply import CUT, UnreadableReplyError, cut_note, read_reply
from queries.score.prompts import load_score_prompt

T = TypeVar("T")

_VERDICT = re.compile(r"\[\[\s*([^\[\]\n]+?)\s*\]\]")

UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Judge:
    """A model that judges, and how it is asked.

    Attributes:
        model: The model.
        temperature: 0 for the likeliest words; None leaves it to the endpoint.
        max_tokens: Tokens of a reply at most.
        random_seed: Passed on to endpoints that take one.
    """

    model: ChatModel
    temperature: float | None = 0.0
    max_tokens: int = 512
    random_seed: int | None = None

    @property
    def label(self) -> str:
        """The model and how it is asked, as reports show it."""
        seed = "" if self.random_seed is None else f", random seed {self.random_seed}"
        warmth = "default" if self.temperature is None else f"{self.temperature:g}"
        return f"{self.model.name} (temperature {warmth}{seed})"


@dataclass(frozen=True, slots=True)
class Verdict(Generic[T]):
    """What a judge said.

    Attributes:
        value: What was read; None where nothing could be.
        reply: The last reply, thoughts left out.
        usage: Tokens of all tries.
        failure: Why there is no value.
    """

    value: T | None
    reply: str = ""
    usage: Usage = field(default_factory=Usage)
    failure: str | None = None


def request_verdict(
    judge: Judge,
    messages: Sequence[Message],
    read: Callable[[str], T],
    /,
    *,
    temperature: float | None = None,
    random_seed: int | None = None,
    verdict_is_last: bool = False,
) -> Verdict[T]:
    """Returns what a judge's reply says, asked again once where it cannot be read.

    A reply that ends within its thoughts, or was cut at its tokens, has no verdict.

    Args:
        judge: Whom to ask.
        messages: The rendered prompt.
        read: From the reply to the value; raises ``UnreadableReplyError``.
        temperature: Instead of the judge's own.
        random_seed: Instead of the judge's own.
        verdict_is_last: Whether a reply is complete where it ends with one verdict in double
            square brackets, cut or not.

    Raises:
        SetupError: The model's key, address or name is wrong.
        LimitError: The run's tokens are spent.
    """
    usage = Usage()
    conversation = messages
    text = ""
    unread: list[Reply] = []
    while True:
        try:
            reply = judge.model.complete(
                conversation,
                temperature=judge.temperature if temperature is None else temperature,
                max_tokens=judge.max_tokens,
                random_seed=judge.random_seed if random_seed is None else random_seed,
            )
        except ReplyError as error:
            return Verdict(None, text, usage, f"{error.fault.value}: {error.message}")
        usage += reply.usage
        text = ""
        is_cut = reply.finish_reason == CUT
        try:
            text = read_reply(reply.text).text
            value = read(text)
            if is_cut and not (verdict_is_last and text.rstrip().endswith("]]")):
                raise UnreadableReplyError("it has to be whole, with its verdict at the end")
            return Verdict(value, text, usage)
        except UnreadableReplyError as error:
            reason = str(error)
            if is_cut:
                reason += f" ({cut_note(judge.max_tokens)})"
            unread.append(reply)
            if len(unread) == 2:
                set_aside(judge.model, unread)
                return Verdict(None, text, usage, f"{UNREADABLE}: {reason}")
            conversation = Rendered(
                [
                    *messages,
                    Message("assistant", reply.text),
                    *load_score_prompt("retry").render(reason=reason),
                ],
                label=label_of(messages),
            )


def read_choice(text: str, choices: Sequence[str], /) -> str:
    """Returns the choice that a reply ends on: its last one in double square brackets.

    Raises:
        UnreadableReplyError: There is none.

    >>> read_choice("It is not [[B]], so: [[A]]", ["A", "B"])
    'A'
    """
    for verdict in reversed(_VERDICT.findall(text)):
        for choice in choices:
            if verdict.casefold() == choice.casefold():
                return choice
    listed = " or ".join(f"[[{choice}]]" for choice in choices)
    raise UnreadableReplyError(f"it has to end with {listed}, and has neither")
