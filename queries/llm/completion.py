"""The body of a chat completion, read strictly: the package builds its types without checking."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from queries.llm.chat import ReplyError, ReplyFault, TokenChance, TokenChoice, Usage
from queries.llm.reply import CUT, finite_logprob, read_json


class TransientError(Exception):
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


class ReportedError(Exception):
    """An endpoint reports an error in the body of a reply whose HTTP status is a success.

    Attributes:
        status: The HTTP status that the error names or means; 500 where it names none.
        code: Its code or type, as a text.
        message: What it says.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


# Codes and types of errors of the public APIs that name no status beside them.
_STATUSES: Mapping[str, int] = {
    "invalid_request_error": 400,
    "context_length_exceeded": 400,
    "badrequesterror": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "insufficient_quota": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "notfounderror": 404,
    "model_not_found": 404,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
}


# Finish reasons of a cut reply where an endpoint passes on another protocol's.
_CUTS = frozenset(("max_tokens", "max_output_tokens", "model_length"))


@dataclass(frozen=True, slots=True)
class Completion:
    """What a body says; ``usage`` is None where it does not count tokens."""

    text: str
    model: str
    finish: str
    usage: Usage | None
    request_id: str | None
    logprobs: tuple[TokenChoice, ...]


def error_text(body: object) -> str:
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
        TransientError: It is no completion, or an empty one; the same request may be asked again.
        ReportedError: It is an error that came with a status of success.
        ReplyError: The model refuses to answer, or was cut before its answer began.
    """
    body = read_body(status, headers, content)
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(choices, list):
        raise TransientError(ReplyFault.MALFORMED, "expected a list of choices, got none", headers)
    if not choices:
        raise TransientError(ReplyFault.EMPTY, "the reply has no choice", headers)
    first = choices[0]
    _raise_reported(first)
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(message, dict):
        raise TransientError(ReplyFault.MALFORMED, "the choice holds no message", headers)
    finish = str(first.get("finish_reason") or "stop")
    if finish.lower() in _CUTS:
        finish = CUT
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
        if finish == CUT:
            # Asked again it would think as long, and be paid for again.
            raise ReplyError(
                "the reply was cut at its limit of tokens before the answer began",
                fault=ReplyFault.EMPTY,
            )
        raise TransientError(
            ReplyFault.EMPTY, f"the reply holds no text (finish: {finish})", headers
        )
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


def read_body(status: int, headers: Mapping[str, str], content: bytes, /) -> Any:
    """Returns the JSON of a reply.

    Raises:
        TransientError: It is no JSON.
        ReportedError: It is an error that came with a status of success.
    """
    try:
        body = read_json(content)
    except ValueError as error:
        shown = content[:80].decode("utf-8", "replace")
        raise TransientError(
            ReplyFault.MALFORMED,
            f"expected JSON, got {shown!r} (HTTP {status}; {error})",
            headers,
        ) from error
    if isinstance(body, dict) and not body.get("choices"):
        _raise_reported(body)
    return body


def _raise_reported(body: Any) -> None:
    """Raises the error that a body, or a choice of it, reports."""
    error = body.get("error") if isinstance(body, Mapping) else None
    if isinstance(body, Mapping) and body.get("object") == "error":
        error = error or body
    if not error:
        return
    fields = error if isinstance(error, Mapping) else {}
    names = [str(fields.get(name) or "") for name in ("code", "status", "type")]
    statuses = [int(name) for name in names if re.fullmatch(r"[45]\d\d", name)]
    statuses += [_STATUSES[name.lower()] for name in names if name.lower() in _STATUSES]
    code = next((name for name in names if name), "")
    raise ReportedError(statuses[0] if statuses else 500, code, error_text(body))


def _logprobs(data: Any, headers: Mapping[str, str]) -> tuple[TokenChoice, ...]:
    """The log-probabilities of a choice; none where the endpoint gives none."""
    listed = data.get("content") if isinstance(data, dict) else None
    if not isinstance(listed, list):
        return ()
    try:
        return tuple(
            TokenChoice(
                str(item["token"]),
                finite_logprob(item["logprob"]),
                tuple(
                    TokenChance(str(other["token"]), finite_logprob(other["logprob"]))
                    for other in item.get("top_logprobs") or ()
                ),
            )
            for item in listed
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise TransientError(
            ReplyFault.MALFORMED, f"the log-probabilities can't be read ({error!r})", headers
        ) from error
