"""What is said to a model and what comes back; the protocol of all models; the token meter."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypedDict, Unpack, runtime_checkable

from graph_service.errors import GraphServiceError, InputError, LimitError


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation; ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


class Rendered(tuple[Message, ...]):
    """Messages made of a prompt file, and which one: a tuple of messages, with ``label``.

    Attributes:
        label: Name and version of the prompt, ``kalma@0f3c...``; empty where it is no file.
    """

    label: str

    def __new__(cls, messages: Iterable[Message], /, *, label: str = "") -> Rendered:
        """Returns the messages with their label."""
        made = super().__new__(cls, messages)
        made.label = label
        return made


def label_of(messages: Sequence[Message], /) -> str:
    """Returns name and version of the prompt that messages were made of; empty where unknown."""
    return messages.label if isinstance(messages, Rendered) else ""


@dataclass(frozen=True, slots=True)
class JsonForm:
    """The form of a structured reply: a JSON Schema that the endpoint holds the model to.

    Attributes:
        name: Letters, digits, ``_`` and ``-``, as the protocol wants it.
        schema: The JSON Schema.
    """

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TokenChance:
    """A token and its natural logarithm of probability."""

    token: str
    logprob: float


@dataclass(frozen=True, slots=True)
class TokenChoice:
    """One token of a reply, and the likeliest ones at its place, best first."""

    token: str
    logprob: float
    top: tuple[TokenChance, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of requests and replies.

    Attributes:
        estimated: Whether any of it is estimated, because the endpoint did not say.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False

    @property
    def total(self) -> int:
        """Tokens of prompt and completion together."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered.

    Attributes:
        model: The model's name as the endpoint gives it.
        finish_reason: ``stop``; ``length`` where the reply was cut at ``max_tokens``.
        request_id: The endpoint's id of the request, where it gives one.
        seconds: From the first try to the reply, waits included; no part of its identity.
        tries: How often the request was sent.
        logprobs: One a token of the text, where they were asked for and the endpoint gives them.
        key: What it is kept under; empty where it is not kept.
    """

    text: str
    model: str
    finish_reason: str
    usage: Usage
    request_id: str | None = None
    seconds: float = field(default=0.0, compare=False)
    tries: int = field(default=1, compare=False)
    logprobs: tuple[TokenChoice, ...] = ()
    key: str = field(default="", compare=False)


class ReplyFault(StrEnum):
    """Why a request got no usable reply."""

    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    RATE_LIMIT = "rate-limit"
    SERVER = "server"
    MALFORMED = "malformed"
    EMPTY = "empty"
    CONTENT_FILTER = "content-filter"
    REFUSED = "refused"


class ReplyError(GraphServiceError):
    """One request got no usable reply; a recorded failure of its case, and no more than that.

    Args:
        message: What was expected, and what came.
        fault: Why.
        tries: How often it was tried.
    """

    code = "MODEL_FAILED"

    def __init__(self, message: str, /, *, fault: ReplyFault, tries: int = 1) -> None:
        super().__init__(message)
        self.fault = fault
        self.tries = tries
        self.retryable = fault not in (ReplyFault.CONTENT_FILTER, ReplyFault.REFUSED)


class ChatOptions(TypedDict, total=False):
    """Options of a request to a model.

    Attributes:
        temperature: 0, the default, for the likeliest words; None leaves it to the endpoint.
        max_tokens: Tokens of the reply at most, 1,024 by default.
        random_seed: Passed on to endpoints that take one.
        stop: Texts at which the reply ends.
        top_logprobs: How many of the likeliest tokens to give at each place, 0 to 20; None
            for no log-probabilities.
        form: The JSON that the reply has to be; its text is still the caller's to read.
    """

    temperature: float | None
    max_tokens: int
    random_seed: int | None
    stop: Sequence[str]
    top_logprobs: int | None
    form: JsonForm | None


class ChatModel(Protocol):
    """Answers a conversation. Implementations: OpenAI-compatible, recorded."""

    @property
    def name(self) -> str:
        """The model asked for; part of every key and answer."""

    def complete(self, messages: Sequence[Message], /, **options: Unpack[ChatOptions]) -> Reply:
        """Returns the reply.

        Args:
            messages: The conversation so far.
            options: See ``ChatOptions``.

        Raises:
            SetupError: The key, the address or the model's name is wrong.
            LimitError: The run's tokens or the account's credit are spent.
            ReplyError: This request got no usable reply.
        """


@runtime_checkable
class KeepsReplies(Protocol):
    """A model that gives kept replies again, and so has to know which were of no use."""

    def set_aside(self, reply: Reply, /) -> None:
        """Marks a reply that could not be read: a run that retries asks for it anew."""


def set_aside(model: ChatModel, replies: Iterable[Reply], /) -> None:
    """Tells a model that keeps replies which of them could not be read."""
    if isinstance(model, KeepsReplies):
        for reply in replies:
            model.set_aside(reply)


class TokenMeter:
    """Counts the tokens of a run, and stops it at a limit. Safe between threads.

    Args:
        limit: Tokens of the run at most; None for no limit.
    """

    def __init__(self, *, limit: int | None = None) -> None:
        if limit is not None and limit < 1:
            raise InputError(f"the token limit must be at least 1, got {limit}")
        self.limit = limit
        self._used = Usage()
        self._requests = 0
        self._under_way = 0
        self._lock = threading.Lock()

    @property
    def used(self) -> Usage:
        """Tokens that the run has used so far."""
        with self._lock:
            return self._used

    @property
    def requests(self) -> int:
        """How many replies the run has counted so far."""
        with self._lock:
            return self._requests

    @contextlib.contextmanager
    def reserve(self, tokens: int, /) -> Iterator[None]:
        """Keeps the tokens that a request may take while it is under way.

        Requests at once can then not pass the limit together, though each alone would not.

        Raises:
            LimitError: With what is used and under way, the request could pass the limit.
        """
        with self._lock:
            used = self._used.total
            if self.limit is not None and used + self._under_way + tokens > self.limit:
                held = f", {self._under_way} may go to requests under way" * bool(self._under_way)
                raise LimitError(
                    f"this run may use {self.limit} tokens; {used} are used{held} and the next "
                    f"request may take {tokens}",
                    argument="token_limit",
                    hint="Raise the token limit, or ask fewer questions.",
                )
            self._under_way += tokens
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= tokens

    def add(self, usage: Usage, /) -> None:
        """Counts a reply and its tokens."""
        with self._lock:
            self._used += usage
            self._requests += 1


def estimate_tokens(text: str, /) -> int:
    """Returns a cautious guess of a text's tokens, for limits alone: a third of its UTF-8 bytes.

    >>> estimate_tokens("Who is the mother?")
    7
    """
    return len(text.encode("utf-8", "replace")) // 3 + 1
