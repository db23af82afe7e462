"""A model behind an OpenAI-compatible endpoint: sent, asked again where that may help, and read."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack

from graph_service.errors import InputError, LimitError, SetupError
from graph_service.http.openai_client import OpenAIClient, clean_url, has_no_credit, tries_in_words
from graph_service.http.retry import RetryPolicy, is_transient
from queries.llm.chat import (
    ChatOptions,
    Message,
    Reply,
    ReplyError,
    ReplyFault,
    TokenMeter,
    Usage,
    estimate_tokens,
)
from queries.llm.completion import (
    Completion,
    ReportedError,
    TransientError,
    error_text,
    read_completion,
)
from queries.llm.pace import Pace
from queries.llm.request import ChatRequest

if TYPE_CHECKING:
    import openai


class OpenAIChat:
    """A model behind an endpoint of the chat completions protocol.

    Nothing is sent, and the openai package is not imported, before the first request. The key is
    sent to ``base_url`` alone and never printed.

    Args:
        model: Name of the model.
        base_url: Address of the endpoint; OpenAI's own where it is empty.
        api_key: Its key; local servers mostly need none.
        timeout_s: Seconds after which one try has failed, however much of its reply is there.
        call_limit_s: Seconds for one request with all its tries and waits; None for no limit.
        retry: When to ask again.
        pace: Requests at once, requests and tokens a minute; shared by several models where
            one limit is for all.
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
        call_limit_s: float | None = None,
        retry: RetryPolicy | None = None,
        pace: Pace | None = None,
        meter: TokenMeter | None = None,
        token_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens",
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not model:
            raise InputError("the model's name is empty", argument="model")
        base_url = clean_url(base_url)
        if base_url and not base_url.lower().startswith(("http://", "https://")):
            raise InputError(
                f"the address of a model begins with http:// or https://; got {base_url!r}",
                argument="base_url",
                hint="For instance --model-url http://localhost:11434/v1",
            )
        if not base_url and not api_key:
            raise SetupError(
                "a chat model needs an address or a key; neither is set",
                hint="Set GRAPH_SERVICE_MODEL_URL to an OpenAI-compatible endpoint, or "
                "OPENAI_API_KEY.",
            )
        self._model = model
        self._client = OpenAIClient(
            base_url=base_url,
            api_key=api_key,
            timeout_s=timeout_s,
            retry=retry,
            sleep=sleep,
            clock=clock,
        )
        self._base_url = self._client.base_url
        self._call_limit_s = call_limit_s
        self._pace = pace or Pace()
        self._token_field = token_field
        self._reached = False
        self.meter = meter or TokenMeter()

    @property
    def name(self) -> str:
        """Name of the model that the endpoint is asked for."""
        return self._model

    def __repr__(self) -> str:
        return f"OpenAIChat({self._model!r}, base_url={self._base_url!r})"

    def close(self) -> None:
        """Closes the connections to the endpoint."""
        self._client.close()

    def __enter__(self) -> OpenAIChat:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def complete(self, messages: Sequence[Message], /, **options: Unpack[ChatOptions]) -> Reply:
        """Returns the reply; see ``ChatModel.complete``."""
        request = ChatRequest.of(self._model, messages, **options)
        if not messages:
            raise InputError("a request needs at least one message", argument="messages")
        if request.top_logprobs is not None and not 0 <= request.top_logprobs <= 20:
            raise InputError(
                f"top_logprobs must be 0 to 20, got {request.top_logprobs}", argument="top_logprobs"
            )
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": item.role, "content": item.content} for item in messages],
            self._token_field: request.max_tokens,
        }
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.random_seed is not None:
            body["seed"] = request.random_seed
        if request.stop:
            body["stop"] = list(request.stop)
        if request.top_logprobs is not None:
            body["logprobs"] = True
            if request.top_logprobs:
                body["top_logprobs"] = request.top_logprobs
        form = request.form
        if form is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": form.name, "schema": dict(form.schema), "strict": True},
            }
        prompt_tokens = sum(estimate_tokens(item.content) for item in messages)
        total = prompt_tokens + request.max_tokens
        # Imports the package the first time: seconds that are no part of the call's limit.
        calls = self._calls(self._client.open())
        started = time.monotonic()
        tries = 0
        while True:
            tries += 1
            try:
                # Reserved before each try: another thread may have spent the rest meanwhile.
                with self._pace.slot(total) as slot, self.meter.reserve(total):
                    read = self._answer(calls, body, started)
                    usage = read.usage
                    if usage is None:
                        usage = Usage(prompt_tokens, estimate_tokens(read.text), True)
                    slot.charge(usage.total)
                    self.meter.add(usage)
            except TransientError as fault:
                self._client.sleep(self._wait_s(fault, tries, started))
                continue
            if read.finish == "content_filter":
                raise ReplyError(
                    f"{self._model}'s reply was withheld by the endpoint's content filter",
                    fault=ReplyFault.CONTENT_FILTER,
                    tries=tries,
                )
            return Reply(
                read.text,
                read.model or self._model,
                read.finish,
                usage,
                read.request_id,
                time.monotonic() - started,
                tries,
                read.logprobs,
            )

    def _wait_s(self, fault: TransientError, tries: int, started: float) -> float:
        """Returns how long to wait before the next try; raises where there is none."""
        wait, retry_after_s = self._client.waits(fault.headers, tries)
        last = self._client.is_last(tries)
        why = ""
        if wait is None:
            why = (
                f"; it asks to wait {retry_after_s:.0f} s, more than the "
                f"{self._client.retry.max_wait_s:.0f} s allowed"
            )
        elif (
            not last
            and self._call_limit_s is not None
            and time.monotonic() - started + wait >= self._call_limit_s
        ):
            why = f"; the {self._call_limit_s:g} s of a call are over"
        if last or why or wait is None:
            if fault.nobody_listens and not self._reached:
                # Of a whole run no request would fare better: that is no failure of a case.
                raise SetupError(
                    f"{fault.message}, {tries} times",
                    hint="Check the address (--model-url, or GRAPH_SERVICE_MODEL_URL) and that "
                    "the endpoint runs.",
                ) from fault.__cause__
            raise ReplyError(
                f"{self._model} gave no usable reply in {tries_in_words(tries)}: "
                f"{fault.message}{why}",
                fault=fault.fault,
                tries=tries,
            ) from fault.__cause__
        if retry_after_s is not None and fault.fault is ReplyFault.RATE_LIMIT:
            # The limit is the account's: the other threads would only be refused as well.
            self._pace.hold(retry_after_s)
        return wait

    def _answer(self, calls: Any, body: dict[str, Any], started: float) -> Completion:
        status, headers, content = self._send(calls, body, started)
        try:
            return self._read(status, headers, content)
        except ReportedError as error:
            raise self._failure(error.status, error.message, error.code, headers) from error

    def _send(
        self, calls: Any, body: dict[str, Any], started: float
    ) -> tuple[int, Mapping[str, str], bytes]:
        import openai

        limit_s = self._client.timeout_s
        if self._call_limit_s is not None:
            left_s = self._call_limit_s - (time.monotonic() - started)
            limit_s = max(min(limit_s, left_s), 0.001)
        try:
            response = self._create(calls, body, limit_s)
        except openai.APITimeoutError as error:
            raise TransientError(ReplyFault.TIMEOUT, f"no answer in {limit_s:g} s") from error
        except openai.APIStatusError as error:
            self._reached = True
            raise self._status_error(error) from error
        except openai.APIConnectionError as error:
            raise self._unreachable(error.__cause__ or error) from error
        self._reached = True
        reply = response.http_response
        return reply.status_code, reply.headers, reply.content

    def _calls(self, client: openai.OpenAI) -> Any:
        return client.chat.completions.with_raw_response

    def _create(self, calls: Any, body: dict[str, Any], limit_s: float) -> Any:
        return calls.create(**body, timeout=limit_s)

    def _read(self, status: int, headers: Mapping[str, str], content: bytes) -> Completion:
        return read_completion(status, headers, content)

    def _unreachable(self, cause: BaseException) -> TransientError:
        import httpx

        return TransientError(
            ReplyFault.UNREACHABLE,
            self._client.unreachable(cause),
            nobody_listens=isinstance(cause, httpx.ConnectError),
        )

    def _status_error(self, error: openai.APIStatusError) -> Exception:
        words = error_text(error.body) or error.message
        code = str(error.code or "")
        return self._failure(error.status_code, words, code, error.response.headers)

    def _failure(self, status: int, words: str, code: str, headers: Mapping[str, str]) -> Exception:
        """What an error of the endpoint means for the request or for the run."""
        if status in (401, 403):
            return SetupError(
                f"{self._base_url} refuses the key (HTTP {status}: {words})",
                hint="Set OPENAI_API_KEY to a key of this endpoint.",
            )
        if status == 404:
            return SetupError(
                f"{self._base_url} knows no model {self._model!r}, or is no chat endpoint "
                f"(HTTP 404: {words})",
                hint="Check GRAPH_SERVICE_MODEL and GRAPH_SERVICE_MODEL_URL; the address mostly "
                "ends in /v1.",
            )
        if has_no_credit(status, code):
            return LimitError(
                f"the account at {self._base_url} has no credit left (HTTP {status}: {words})"
            )
        if is_transient(status):
            fault = ReplyFault.RATE_LIMIT if status == 429 else ReplyFault.SERVER
            return TransientError(fault, f"HTTP {status}: {words}", headers)
        if "content_filter" in code or "content_filter" in words:
            return ReplyError(
                f"the endpoint's content filter refused the prompt (HTTP {status}: {words})",
                fault=ReplyFault.CONTENT_FILTER,
            )
        hint = ""
        if self._token_field == "max_tokens" and "max_completion_tokens" in words:
            hint = (
                " (give token_field='max_completion_tokens' for this model; on the command "
                "line --token-field max_completion_tokens)"
            )
        return ReplyError(
            f"the endpoint refused the request (HTTP {status}: {words}){hint}",
            fault=ReplyFault.REFUSED,
        )
