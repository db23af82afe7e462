"""Why a request failed, and what that means for the next one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graph_service.errors import SetupError
from graph_service.http.retry import retry_after_seconds

TIMED_OUT = re.compile(rb"time[- ]?d? ?out|TimeoutException|exceeds the limit|S1T00", re.I)
_HTML = re.compile(rb"\s*(?:<!doctype html|<html)", re.I)
_TAGS = re.compile(r"<(?:style|script)\b.*?</(?:style|script)>|<[^>]*>", re.I | re.S)
_QUOTED_CHARACTERS = 120


class EndpointError(SetupError):
    """The endpoint can't be used, or not now. What was read so far is kept for a resumed load."""

    retryable = True


class RequestFailedError(Exception):
    """One request failed, and a smaller one may not.

    Attributes:
        reason: What came.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class StoppedError(Exception):
    """The load was told to stop while it waited."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an attempt failed.

    Attributes:
        of_query: Whether a smaller request may work; else the endpoint itself does not.
        retry: Whether the same request may work later.
        retry_after_s: What the endpoint asked to wait, or None.
        patient: Whether waiting is all there is to do, so that the attempt does not count.
        unreachable: Whether nothing at all came from the host.
    """

    reason: str
    of_query: bool
    retry: bool = True
    retry_after_s: float | None = None
    patient: bool = False
    unreachable: bool = False


def refusal(code: int, retry_after: str | None, body: bytes, /) -> Fault:
    """Returns what an HTTP status means.

    Args:
        code: The status.
        retry_after: The header of that name.
        body: The beginning of what came with it.
    """
    after = retry_after_seconds(retry_after)
    reason = f"HTTP {code}"
    if code in (413, 414):
        return Fault(f"{reason}, the query is too long", of_query=True, retry=False)
    if code in (500, 504):
        timed_out = code == 504 or TIMED_OUT.search(body) is not None
        # Asked again, it would take as long again: a smaller query is better.
        return Fault(
            f"{reason}, the query ran out of the endpoint's time" if timed_out else
            reason + quoted(body),
            of_query=True,
            retry=not timed_out,
            retry_after_s=after,
        )  # fmt: skip
    if code == 429:
        return Fault(f"{reason}, too many requests", of_query=False, retry_after_s=after)
    if code in (408, 425, 502, 503):
        return Fault(f"{reason}, not available", of_query=False, retry_after_s=after)
    meaning = {
        400: f"it does not take the query{quoted(body)}",
        401: "it asks for a password",
        403: "it refuses; Wikimedia's does so to clients without a contact (--contact)",
        404: "there is no endpoint at this address",
    }.get(code, "")
    return Fault(f"{reason}{', ' if meaning else ''}{meaning}", of_query=False, retry=False)


def is_html(body: bytes, /) -> bool:
    """Returns whether a body is an HTML page, whatever its media type says."""
    return _HTML.match(body) is not None


def quoted(body: bytes, /) -> str:
    """Returns the first words of an error's body as the end of a sentence, "" for none.

    >>> quoted(b"<html><title>Oops</title> again")
    ' (Oops again)'
    """
    words = " ".join(_TAGS.sub(" ", body.decode("utf-8", "replace")).split())
    text = "".join(
        character if character.isprintable() else "?" for character in words[:_QUOTED_CHARACTERS]
    )
    return f" ({text})" if text else ""
