"""When to ask an endpoint again: waits that double, and the waits that endpoints ask for."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

TRANSIENT_STATUSES = frozenset((408, 409, 425, 429))
"""Statuses below 500 after which the same request may be asked again; all from 500 on are too."""


def is_transient(status: int, /) -> bool:
    """Returns whether a request that got a status may succeed when it is asked again."""
    return status in TRANSIENT_STATUSES or status >= 500


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
        seconds = retry_after_seconds(headers.get(name), now=now, unit=unit)
        if seconds is not None:
            return seconds
    return None


def retry_after_seconds(
    value: str | None, /, *, now: float | None = None, unit: float = 1.0
) -> float | None:
    """Returns the seconds of one header, a number or an HTTP date; None if it is unreadable.

    Args:
        value: What the header says; None where there is none.
        now: Seconds since 1970; the clock's where it is not given.
        unit: How many of a number's units are a second.

    >>> retry_after_seconds("12"), retry_after_seconds("Thu, 01 Jan 1970 00:00:00 GMT"), retry_after_seconds("soon")
    (12.0, 0.0, None)
    """
    text = (value or "").strip()
    try:
        seconds = float(text) / unit
    except ValueError:
        try:
            moment = parsedate_to_datetime(text)
        except (ValueError, TypeError):
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = moment.timestamp() - (time.time() if now is None else now)
    return max(0.0, seconds) if math.isfinite(seconds) else None


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

    def wait_s(self, retry: int, /, *, requested_s: float | None, draw: float) -> float | None:
        """Returns the wait before a retry, or None where the endpoint asks for too long a one.

        Args:
            retry: 1 for the first retry.
            requested_s: What the endpoint asks for, in seconds.
            draw: A random number, 0 to 1.
        """
        if requested_s is not None:
            return requested_s if requested_s <= self.max_wait_s else None
        full = min(self.max_wait_s, self.first_wait_s * 2.0 ** (retry - 1))
        return full * (0.5 + 0.5 * draw)
