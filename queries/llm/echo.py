"""A completions endpoint that repeats the prompt with the log-probability of each of its tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from queries.llm.chat import ReplyFault, TokenChoice, Usage
from queries.llm.completion import Completion, Passing, said
from queries.llm.endpoint import OpenAIChat

if TYPE_CHECKING:
    import openai


class EchoedPrompt(OpenAIChat):
    """A model of the completions protocol, asked for ``echo`` and ``logprobs`` of one message.

    A reply's text is the prompt, and its ``logprobs`` those of the prompt's tokens but the first,
    which has none. Nothing is written after it. Arguments are those of ``OpenAIChat``.
    """

    def _create(self, client: openai.OpenAI, body: dict[str, Any], limit_s: float) -> Any:
        return client.completions.with_raw_response.create(
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
        Passing: It is no completion, or has no log-probabilities.
    """
    body: Any = None
    try:
        body = orjson.loads(content)
        choice = body["choices"][0]
        listed = choice["logprobs"]
        pairs = zip(listed["tokens"], listed["token_logprobs"], strict=True)
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
    except (orjson.JSONDecodeError, LookupError, TypeError, ValueError, AttributeError) as error:
        words = said(body) if isinstance(body, dict) and "error" in body else repr(error)
        raise Passing(
            ReplyFault.MALFORMED,
            "a completion with the log-probabilities of its prompt was expected (echo and "
            f"logprobs); {words} came (HTTP {status})",
            headers,
        ) from error
