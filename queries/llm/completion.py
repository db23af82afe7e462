"""The body of a chat completion, read strictly: the package builds its types without checking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from queries.llm.chat import ReplyError, ReplyFault, TokenChance, TokenChoice, Usage


class Passing(Exception):
    """A fault after which the same request may be asked again."""

    def __init__(
        self,
        fault: ReplyFault,
        message: str,
        headers: Mapping[str, str] | None = None,
        *,
        nobody_listens: bool = False,
    ) -> None:
        super().__init__(message)
        self.fault = fault
        self.message = message
        self.headers: Mapping[str, str] = headers if headers is not None else {}
        self.nobody_listens = nobody_listens


@dataclass(frozen=True, slots=True)
class Completion:
    """What a body says; ``usage`` is None where it does not count tokens."""

    text: str
    model: str
    finish: str
    usage: Usage | None
    request_id: str | None
    logprobs: tuple[TokenChoice, ...]


def said(body: object) -> str:
    """What an error's body says, in one short line."""
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        if isinstance(inner, Mapping):
            body = inner.get("message", inner)
        else:
            body = inner
    return " ".join(str(body).split())[:300] if body else ""


def read_completion(status: int, headers: Mapping[str, str], content: bytes, /) -> Completion:
    """Returns what the body of a reply says.

    Raises:
        Passing: It is no completion, or an empty one; the same request may be asked again.
        ReplyError: The model refuses to answer.
    """
    try:
        body = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        shown = content[:80].decode("utf-8", "replace")
        raise Passing(
            ReplyFault.MALFORMED, f"expected JSON, got {shown!r} (HTTP {status})", headers
        ) from error
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(choices, list):
        words = said(body) if isinstance(body, dict) and "error" in body else ""
        raise Passing(
            ReplyFault.MALFORMED, f"expected a list of choices, got none {words}".strip(), headers
        )
    if not choices:
        raise Passing(ReplyFault.EMPTY, "the reply has no choice", headers)
    first = choices[0]
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(message, dict):
        raise Passing(ReplyFault.MALFORMED, "the choice holds no message", headers)
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
        raise Passing(ReplyFault.EMPTY, f"the reply holds no text (finish: {finish})", headers)
    counted = body.get("usage")
    usage = None
    if isinstance(counted, dict):
        prompt, reply = counted.get("prompt_tokens"), counted.get("completion_tokens")
        if isinstance(prompt, int) and isinstance(reply, int) and prompt >= 0 and reply >= 0:
            usage = Usage(prompt, reply)
    return Completion(
        str(text or ""),
        str(body.get("model") or ""),
        finish,
        usage,
        headers.get("x-request-id"),
        _logprobs(first.get("logprobs"), headers),
    )


def _logprobs(data: Any, headers: Mapping[str, str]) -> tuple[TokenChoice, ...]:
    """The log-probabilities of a choice; none where the endpoint gives none."""
    listed = data.get("content") if isinstance(data, dict) else None
    if not isinstance(listed, list):
        return ()
    try:
        return tuple(
            TokenChoice(
                str(item["token"]),
                float(item["logprob"]),
                tuple(
                    TokenChance(str(other["token"]), float(other["logprob"]))
                    for other in item.get("top_logprobs") or ()
                ),
            )
            for item in listed
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Passing(
            ReplyFault.MALFORMED, f"the log-probabilities can't be read ({error!r})", headers
        ) from error
