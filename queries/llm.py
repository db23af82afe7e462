"""The seam to language models: a chat endpoint, or replies that were recorded.

``OpenAIChat`` speaks to any endpoint of the chat completions protocol through the openai
package, which is imported when the first question is asked. ``RecordedChat`` keeps replies in a
file of JSON lines, keyed by the whole request, and gives them again without any endpoint. An
answer without a model is made by ``queries.generate.verbalise``.

What goes wrong is told apart by who can act: ``SetupError`` (wrong key, unknown model or
address), ``LimitError`` (the run's tokens or the account's credit are spent), and ``ReplyError``
for one request that got no usable reply: it becomes a recorded failure of that case.
"""

from __future__ import annotations

import contextlib
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import orjson

from graph_service.errors import GraphServiceError, InputError, LimitError, SetupError
from graph_service.model.identity import digest
from graph_service.model.plain import from_plain, to_plain

if TYPE_CHECKING:
    import openai

OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation; ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


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
        """Tokens of both."""
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
    """

    text: str
    model: str
    finish_reason: str
    usage: Usage
    request_id: str | None = None
    seconds: float = field(default=0.0, compare=False)
    tries: int = field(default=1, compare=False)


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


class ChatModel(Protocol):
    """Answers a conversation. Implementations: OpenAI-compatible, recorded."""

    @property
    def name(self) -> str:
        """The model asked for; part of every key and answer."""

    def complete(
        self,
        messages: Sequence[Message],
        /,
        *,
        temperature: float | None = 0.0,
        max_tokens: int = 1024,
        random_seed: int | None = None,
        stop: Sequence[str] = (),
    ) -> Reply:
        """Returns the reply.

        Args:
            messages: The conversation so far.
            temperature: 0 for the likeliest words; None leaves it to the endpoint.
            max_tokens: Tokens of the reply at most.
            random_seed: Passed on to endpoints that take one.
            stop: Texts at which the reply ends.

        Raises:
            SetupError: The key, the address or the model's name is wrong.
            LimitError: The run's tokens or the account's credit are spent.
            ReplyError: This request got no usable reply.
        """


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
        self._lock = threading.Lock()

    @property
    def used(self) -> Usage:
        """Tokens so far."""
        with self._lock:
            return self._used

    @property
    def requests(self) -> int:
        """Replies so far."""
        with self._lock:
            return self._requests

    def check(self, wanted: int, /) -> None:
        """Raises ``LimitError`` where a request of so many tokens could pass the limit."""
        used = self.used.total
        if self.limit is not None and used + wanted > self.limit:
            raise LimitError(
                f"this run may use {self.limit} tokens; {used} are used and the next request "
                f"may take {wanted}",
                argument="token_limit",
                hint="Raise the token limit, or ask fewer questions.",
            )

    def add(self, usage: Usage, /) -> None:
        """Counts one reply."""
        with self._lock:
            self._used += usage
            self._requests += 1


def estimate_tokens(text: str, /) -> int:
    """Returns a cautious guess of a text's tokens, for limits alone: a third of its UTF-8 bytes.

    >>> estimate_tokens("Who is the mother?")
    7
    """
    return len(text.encode("utf-8", "replace")) // 3 + 1


def retry_after_s(headers: Mapping[str, str], /, *, now: float) -> float | None:
    """Returns the seconds that an endpoint asks to wait, or None where it does not say.

    Reads ``retry-after-ms``, and ``retry-after`` as seconds or as an HTTP date (RFC 9110, 10.2.3).

    Args:
        headers: Names in lower case, or a mapping that ignores case.
        now: Seconds since 1970.

    >>> retry_after_s({"retry-after": "1.5"}, now=0)
    1.5
    >>> retry_after_s({"retry-after": "Thu, 01 Jan 1970 00:01:00 GMT"}, now=50)
    10.0
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        asked = (headers.get(name) or "").strip()
        if not asked:
            continue
        try:
            seconds = float(asked) / unit
        except ValueError:
            try:
                moment = parsedate_to_datetime(asked)
            except (ValueError, TypeError):
                continue
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=UTC)
            seconds = moment.timestamp() - now
        if seconds == seconds and seconds != float("inf"):
            return max(0.0, seconds)
    return None


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When and how long to wait before asking again.

    Attributes:
        max_retries: Further tries after the first.
        first_wait_s: Wait before the second try; doubled each time, and drawn between half
            of it and all of it, so that many clients do not come back at once.
        max_wait_s: No wait is longer: an endpoint that asks for more has failed the request.
    """

    max_retries: int = 4
    first_wait_s: float = 0.5
    max_wait_s: float = 60.0

    def wait_s(self, retry: int, /, *, asked: float | None, draw: float) -> float | None:
        """Returns the wait before a retry, or None where the endpoint asks for too long a one.

        Args:
            retry: 1 for the first retry.
            asked: What the endpoint asks for, in seconds.
            draw: A random number, 0 to 1.
        """
        if asked is not None:
            return asked if asked <= self.max_wait_s else None
        full = min(self.max_wait_s, self.first_wait_s * 2.0 ** (retry - 1))
        return full * (0.5 + 0.5 * draw)


class OpenAIChat:
    """A model behind an endpoint of the chat completions protocol.

    Nothing is sent, and the openai package is not imported, before the first request. The key is
    sent to ``base_url`` alone and never printed.

    Args:
        model: Name of the model.
        base_url: Address of the endpoint; OpenAI's own where it is empty.
        api_key: Its key; local servers mostly need none.
        timeout_s: Seconds without an answer after which one try has failed.
        retry: When to ask again.
        meter: Counts tokens, and stops a run that has used up its own; shared by several models
            where one limit is for all.
        token_field: ``max_completion_tokens`` for models that refuse ``max_tokens``.
        sleep: Waits some seconds.
        clock: Seconds since 1970.
    """

    def __init__(
        self,
        model: str,
        /,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_s: float = 60.0,
        retry: RetryPolicy = RetryPolicy(),
        meter: TokenMeter | None = None,
        token_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens",
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not model:
            raise InputError("the model's name is empty", argument="model")
        if not base_url and not api_key:
            raise SetupError(
                "a chat model needs an address or a key; neither is set",
                hint="Set GRAPH_SERVICE_MODEL_URL to an OpenAI-compatible endpoint, or "
                "OPENAI_API_KEY.",
            )
        self._model = model
        self._base_url = base_url or OPENAI_URL
        self._api_key = api_key
        self._timeout_s = timeout_s
        self._retry = retry
        self._token_field = token_field
        self._sleep = sleep
        self._clock = clock
        self._random = random.Random()
        self._client: openai.OpenAI | None = None
        self._lock = threading.Lock()
        self.meter = meter or TokenMeter()

    @property
    def name(self) -> str:
        """The model asked for."""
        return self._model

    def __repr__(self) -> str:
        return f"OpenAIChat({self._model!r}, base_url={self._base_url!r})"

    def close(self) -> None:
        """Closes its connections."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def __enter__(self) -> OpenAIChat:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def complete(
        self,
        messages: Sequence[Message],
        /,
        *,
        temperature: float | None = 0.0,
        max_tokens: int = 1024,
        random_seed: int | None = None,
        stop: Sequence[str] = (),
    ) -> Reply:
        """Returns the reply; see ``ChatModel.complete``."""
        if not messages:
            raise InputError("a request needs at least one message", argument="messages")
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": item.role, "content": item.content} for item in messages],
            self._token_field: max_tokens,
        }
        if temperature is not None:
            body["temperature"] = temperature
        if random_seed is not None:
            body["seed"] = random_seed
        if stop:
            body["stop"] = list(stop)
        prompt_tokens = sum(estimate_tokens(item.content) for item in messages)
        started = time.monotonic()
        tries = 0
        while True:
            # Checked before each try: another thread may have spent the rest meanwhile.
            self.meter.check(prompt_tokens + max_tokens)
            tries += 1
            try:
                status, headers, content = self._send(body)
                text, model, finish, usage = _read_reply(status, headers, content)
            except _Passing as fault:
                asked = retry_after_s(fault.headers, now=self._clock())
                wait = self._retry.wait_s(tries, asked=asked, draw=self._random.random())
                if tries > self._retry.max_retries or wait is None:
                    why = fault.message
                    if wait is None:
                        why += (
                            f"; it asks to wait {asked:.0f} s, more than the "
                            f"{self._retry.max_wait_s:.0f} s allowed"
                        )
                    raise ReplyError(
                        f"{self._model} gave no usable reply in {tries} "
                        f"{'try' if tries == 1 else 'tries'}: {why}",
                        fault=fault.fault,
                        tries=tries,
                    ) from fault.__cause__
                self._sleep(wait)
                continue
            if usage is None:
                usage = Usage(prompt_tokens, estimate_tokens(text), True)
            self.meter.add(usage)
            if finish == "content_filter":
                raise ReplyError(
                    f"{self._model}'s reply was withheld by the endpoint's content filter",
                    fault=ReplyFault.CONTENT_FILTER,
                    tries=tries,
                )
            return Reply(
                text,
                model or self._model,
                finish,
                usage,
                headers.get("x-request-id"),
                time.monotonic() - started,
                tries,
            )

    def _connect(self) -> openai.OpenAI:
        with self._lock:
            if self._client is None:
                import openai

                # Retries are ours: the package's own neither wait longer than a minute nor ask
                # again after a reply that is no JSON.
                self._client = openai.OpenAI(
                    base_url=self._base_url,
                    api_key=self._api_key or "none",
                    timeout=self._timeout_s,
                    max_retries=0,
                )
            return self._client

    def _send(self, body: dict[str, Any]) -> tuple[int, Mapping[str, str], bytes]:
        client = self._connect()
        import openai

        try:
            response = client.chat.completions.with_raw_response.create(**body)
        except openai.APITimeoutError as error:
            raise _Passing(ReplyFault.TIMEOUT, f"no answer in {self._timeout_s:g} s") from error
        except openai.APIStatusError as error:
            raise self._status_error(error) from error
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            raise _Passing(
                ReplyFault.UNREACHABLE,
                f"the connection to {self._base_url} failed ({type(cause).__name__}: {cause})",
            ) from error
        http = response.http_response
        return http.status_code, http.headers, http.content

    def _status_error(self, error: openai.APIStatusError) -> Exception:
        status = error.status_code
        said = _said(error.body) or error.message
        code = str(error.code or "")
        if status in (401, 403):
            return SetupError(
                f"{self._base_url} refuses the key (HTTP {status}: {said})",
                hint="Set OPENAI_API_KEY to a key of this endpoint.",
            )
        if status == 404:
            return SetupError(
                f"{self._base_url} knows no model {self._model!r}, or is no chat endpoint "
                f"(HTTP 404: {said})",
                hint="Check GRAPH_SERVICE_MODEL and GRAPH_SERVICE_MODEL_URL; the address mostly "
                "ends in /v1.",
            )
        if status == 402 or code == "insufficient_quota":
            return LimitError(
                f"the account at {self._base_url} has no credit left (HTTP {status}: {said})"
            )
        if status in (408, 409, 425, 429) or status >= 500:
            fault = ReplyFault.RATE_LIMIT if status == 429 else ReplyFault.SERVER
            passing = _Passing(fault, f"HTTP {status}: {said}", error.response.headers)
            passing.__cause__ = error
            return passing
        if "content_filter" in code or "content_filter" in said:
            return ReplyError(
                f"the endpoint's content filter refused the prompt (HTTP {status}: {said})",
                fault=ReplyFault.CONTENT_FILTER,
            )
        hint = ""
        if self._token_field == "max_tokens" and "max_completion_tokens" in said:
            hint = " (give token_field='max_completion_tokens' for this model)"
        return ReplyError(
            f"the endpoint refused the request (HTTP {status}: {said}){hint}",
            fault=ReplyFault.REFUSED,
        )


class _Passing(Exception):
    """A fault after which the same request may be asked again."""

    def __init__(
        self, fault: ReplyFault, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.fault = fault
        self.message = message
        self.headers: Mapping[str, str] = headers if headers is not None else {}


def _said(body: object) -> str:
    """What an error's body says, in one short line."""
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        if isinstance(inner, Mapping):
            body = inner.get("message", inner)
        else:
            body = inner
    return " ".join(str(body).split())[:300] if body else ""


def _read_reply(
    status: int, headers: Mapping[str, str], content: bytes
) -> tuple[str, str, str, Usage | None]:
    """Reads the body strictly: the package builds its types without checking them."""
    try:
        body = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        shown = content[:80].decode("utf-8", "replace")
        raise _Passing(
            ReplyFault.MALFORMED, f"expected JSON, got {shown!r} (HTTP {status})", headers
        ) from error
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(choices, list):
        said = _said(body) if isinstance(body, dict) and "error" in body else ""
        raise _Passing(
            ReplyFault.MALFORMED, f"expected a list of choices, got none {said}".strip(), headers
        )
    if not choices:
        raise _Passing(ReplyFault.EMPTY, "the reply has no choice", headers)
    first = choices[0]
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(message, dict):
        raise _Passing(ReplyFault.MALFORMED, "the choice holds no message", headers)
    finish = str(first.get("finish_reason") or "stop")
    text = message.get("content")
    if isinstance(text, list):
        text = "".join(str(part.get("text", "")) for part in text if isinstance(part, dict))
    refusal = message.get("refusal")
    if finish != "content_filter" and (text is None or not str(text).strip()):
        if refusal:
            raise ReplyError(
                f"the model refuses to answer: {' '.join(str(refusal).split())[:300]}",
                fault=ReplyFault.REFUSED,
            )
        raise _Passing(ReplyFault.EMPTY, f"the reply holds no text (finish: {finish})", headers)
    counted = body.get("usage")
    usage = None
    if isinstance(counted, dict):
        prompt, reply = counted.get("prompt_tokens"), counted.get("completion_tokens")
        if isinstance(prompt, int) and isinstance(reply, int) and prompt >= 0 and reply >= 0:
            usage = Usage(prompt, reply)
    return str(text or ""), str(body.get("model") or ""), finish, usage


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A whole request, as recorded replies are kept under."""

    model: str
    messages: tuple[Message, ...]
    temperature: float | None
    max_tokens: int
    random_seed: int | None
    stop: tuple[str, ...]

    def key(self) -> str:
        """Returns 32 hexadecimal digits of everything in the request."""
        encoded = orjson.dumps(to_plain(self), option=orjson.OPT_SORT_KEYS).decode()
        return digest((encoded,), person=b"chat").hex()


class RecordedChat:
    """Replies from a file of JSON lines; opened by ``open_recorded``.

    Without a model behind it, a request that was not recorded is an error; with one, its reply
    is asked for once and written down before it is returned.
    """

    def __init__(
        self, path: Path, name: str, replies: dict[str, Reply], /, *, inner: ChatModel | None
    ) -> None:
        self._path = path
        self._name = name
        self._replies = replies
        self._inner = inner
        self._lock = threading.Lock()
        self.asked = 0

    @property
    def name(self) -> str:
        """The model whose replies these are."""
        return self._name

    def __len__(self) -> int:
        return len(self._replies)

    def complete(
        self,
        messages: Sequence[Message],
        /,
        *,
        temperature: float | None = 0.0,
        max_tokens: int = 1024,
        random_seed: int | None = None,
        stop: Sequence[str] = (),
    ) -> Reply:
        """Returns the recorded reply; see ``ChatModel.complete``.

        Raises:
            InputError: It was not recorded, and no model stands behind the file.
        """
        request = ChatRequest(
            self._name, tuple(messages), temperature, max_tokens, random_seed, tuple(stop)
        )
        key = request.key()
        with self._lock:
            found = self._replies.get(key)
        if found is not None:
            return found
        if self._inner is None:
            last = messages[-1].content if messages else ""
            raise InputError(
                f"{self._path.name} holds no reply of {self._name} to this request "
                f"(key {key}, which ends {last[-80:]!r}); the prompt, the model or the "
                "knowledge has changed since it was recorded",
                argument="recorded",
                hint="Record it again with an endpoint.",
            )
        reply = self._inner.complete(
            messages,
            temperature=temperature,
            max_tokens=max_tokens,
            random_seed=random_seed,
            stop=stop,
        )
        line = orjson.dumps({"key": key, "request": to_plain(request), "reply": to_plain(reply)})
        with self._lock:
            self.asked += 1
            self._replies[key] = reply
            with self._path.open("ab") as file:
                file.write(line + b"\n")
                file.flush()
                os.fsync(file.fileno())
        return reply


@contextlib.contextmanager
def open_recorded(
    path: str | Path,
    /,
    *,
    model_name: str | None = None,
    inner: ChatModel | None = None,
) -> Iterator[RecordedChat]:
    """Opens a file of recorded replies.

    A last line that was cut by a crash is left out, and cut off before anything is appended.

    Args:
        path: The file; made on the first reply where a model stands behind it.
        model_name: Whose replies to give, where the file holds several models' and there is
            no ``inner``.
        inner: The model to ask for what is not recorded.

    Raises:
        InputError: There is no such file, a line is damaged, or it is unclear whose replies
            are meant.
    """
    file = Path(path)
    replies: dict[str, Reply] = {}
    names: set[str] = set()
    if file.exists():
        data = file.read_bytes()
        whole = data.rfind(b"\n") + 1
        for number, line in enumerate(data[:whole].splitlines(), 1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
                replies[str(row["key"])] = from_plain(Reply, row["reply"])
                names.add(str(row["request"]["model"]))
            except (orjson.JSONDecodeError, KeyError, TypeError, InputError) as error:
                raise InputError(
                    f"{file.name}, line {number}: expected a recorded reply "
                    f'{{"key", "request", "reply"}}, got {line[:80]!r}',
                    argument="recorded",
                ) from error
        if whole < len(data) and inner is not None:
            with file.open("r+b") as opened:
                opened.truncate(whole)
    elif inner is None:
        raise InputError(f"there is no file of recorded replies at {file}", argument="recorded")
    if inner is not None:
        name = inner.name
    elif model_name is not None:
        name = model_name
    elif len(names) == 1:
        name = next(iter(names))
    else:
        listed = ", ".join(sorted(names)) or "none"
        raise InputError(
            f"{file.name} holds replies of these models: {listed}; say which is meant",
            argument="model_name",
        )
    yield RecordedChat(file, name, replies, inner=inner)
