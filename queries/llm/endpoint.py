"""A model behind an OpenAI-compatible endpoint: sent, asked again where that may help, and read."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal

import orjson

from graph_service.errors import InputError, LimitError, SetupError
from queries.llm.chat import (
    Message,
    Reply,
    ReplyError,
    ReplyFault,
    TokenMeter,
    Usage,
    estimate_tokens,
)

if TYPE_CHECKING:
    import openai

OPENAI_URL = "https://api.openai.com/v1"


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
