"""Chat models for tests: one that says what a function says, and one that fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from queries.llm import JsonForm, Message, Reply, ReplyError, ReplyFault, TokenChoice, Usage


@dataclass(frozen=True)
class Asked:
    """One request as the model got it."""

    messages: tuple[Message, ...]
    temperature: float | None
    random_seed: int | None
    max_tokens: int

    @property
    def last(self) -> str:
        return self.messages[-1].content

    @property
    def whole(self) -> str:
        return "\n".join(message.content for message in self.messages)


@dataclass
class HandChat:
    """Says what ``say`` makes of a request, and remembers all requests."""

    say: Callable[[Asked], str]
    name: str = "hand-1"
    finish: str = "stop"
    chances: Callable[[Asked], tuple[TokenChoice, ...]] | None = None
    asked: list[Asked] = field(default_factory=list)

    def complete(
        self,
        messages: Sequence[Message],
        /,
        *,
        temperature: float | None = 0.0,
        max_tokens: int = 1024,
        random_seed: int | None = None,
        stop: Sequence[str] = (),
        top_logprobs: int | None = None,
        form: JsonForm | None = None,
    ) -> Reply:
        asked = Asked(tuple(messages), temperature, random_seed, max_tokens)
        self.asked.append(asked)
        text = self.say(asked)
        chances = self.chances(asked) if top_logprobs and self.chances else ()
        return Reply(text, self.name, self.finish, Usage(10, 5), logprobs=chances)


def script(*replies: str) -> Callable[[Asked], str]:
    """Says the replies one after another; the last one repeats."""
    left = list(replies)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


def refuses(_: Asked) -> str:
    raise ReplyError("no answer in 60 s", fault=ReplyFault.TIMEOUT, tries=3)
