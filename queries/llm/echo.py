"""A completions endpoint that repeats the prompt with the log-probability of each of its tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from queries.llm.chat import ReplyFault, TokenChoice, Usage
from queries.llm.completion import Completion, TransientError, read_body
from queries.llm.endpoint import OpenAIChat

if TYPE_CHECKING:
    import openai


class EchoedPrompt(OpenAIChat):
    """A model of the completions protocol, asked for ``echo`` and ``logprobs`` of one message.

    A reply's text is the prompt, and its ``logprobs`` those of the prompt's tokens but the first,
    which has none. Nothing is written after it. Arguments are those of ``OpenAIChat``.
    """

    def _calls(self, client: openai.OpenAI) -> Any:
        return client.completions.with_raw_response

    def _create(self, calls: Any, body: dict[str, Any], limit_s: float) -> Any:
        return calls.create(
            model=body["model"],
            prompt=body["messages"][-1]["content"],
            max_tokens=body[self._token_field],
            temperature=body.get("temperature", 0.0),
            echo=True,
            logprobs=0,
            timeout=limit_s,
        )

    def _read(self, status: int, headers: Mapping[str, str], content: bytes) -> Completion:
        return read_echo(status, headers, content)


def read_echo(status: int, headers: Mapping[str, str], content: bytes, /) -> Completion:
    """Returns what the body of an echoed prompt says.

    Raises:
        TransientError: It is no completion, or has no log-probabilities that are numbers.
        ReportedError: It is an error that came with a status of success.
    """
    body = read_body(status, headers, content)
    try:
        choice = body["choices"][0]
        listed = choice["logprobs"]
        pairs = list(zip(listed["tokens"], listed["token_logprobs"], strict=True))
        if not all(math.isfinite(float(chance)) for _, chance in pairs if chance is not None):
            raise ValueError("a log-probability is not finite")
        # Tokens without one are the first, and those that some endpoints leave out.
        chances = tuple(
            TokenChoice(str(token), float(chance)) for token, chance in pairs if chance is not None
        )
        counted = body.get("usage") or {}
        usage = None
        if isinstance(counted.get("prompt_tokens"), int):
            usage = Usage(counted["prompt_tokens"], counted.get("completion_tokens") or 0)
        return Completion(
            str(choice["text"]),
            str(body.get("model") or ""),
            str(choice.get("finish_reason") or "stop"),
            usage,
            headers.get("x-request-id"),
            chances,
        )
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise TransientError(
            ReplyFault.MALFORMED,
            "a completion with the log-probabilities of its prompt was expected (echo and "
            f"logprobs); {error!r} came (HTTP {status})",
            headers,
        ) from error
