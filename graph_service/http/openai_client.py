"""The one client of OpenAI-compatible endpoints: opened when first used, for embedders and chat."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from graph_service.http.retry import RetryPolicy, retry_after_s

if TYPE_CHECKING:
    import openai

OPENAI_URL = "https://api.openai.com/v1"
# Far above 128 vectors of some thousand numbers each, and any reply of a chat model.
_MAX_ANSWER_BYTES = 1 << 28


class OpenAIClient:
    """Connections to one endpoint, shared by threads, and how long to wait between tries.

    Nothing is sent, and the openai package is not imported, before the first request. The key is
    sent to ``base_url`` alone. A try that ends at its time or size raises the package's errors.

    Args:
        base_url: Address of the endpoint; OpenAI's own where it is empty.
        api_key: Its key; local servers mostly need none.
        timeout_s: Seconds after which one try has failed, however much of its reply is there.
        retry: When to ask again.
        sleep: Waits some seconds.
        clock: Seconds since 1970.
    """

    def __init__(
        self,
        *,
        base_url: str | None,
        api_key: str | None,
        timeout_s: float,
        retry: RetryPolicy | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.base_url = clean_url(base_url) or OPENAI_URL
        self.timeout_s = timeout_s
        self.retry = retry or RetryPolicy()
        self.sleep = sleep
        self._api_key = api_key
        self._clock = clock
        self._random = random.Random()
        self._client: openai.OpenAI | None = None
        self._lock = threading.Lock()

    def open(self) -> openai.OpenAI:
        """Returns the package's client, made when it is first needed."""
        with self._lock:
            if self._client is None:
                import openai

                from graph_service.http.connection import open_client

                # The package is typed for httpx2 since 3.0, and takes a client of either.
                http_client: Any = open_client(
                    timeout_s=self.timeout_s, max_bytes=_MAX_ANSWER_BYTES
                )
                # Retries are ours: the package's own neither wait longer than a minute nor ask
                # again after a reply that is no JSON.
                self._client = openai.OpenAI(
                    base_url=self.base_url,
                    api_key=self._api_key or "none",
                    timeout=self.timeout_s,
                    max_retries=0,
                    http_client=http_client,
                )
            return self._client

    def close(self) -> None:
        """Closes its connections; another request opens them anew."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def __del__(self) -> None:
        # The package closes none but a client of its own: one that nobody closed would stay open.
        self.close()

    def waits(self, headers: Mapping[str, str], tries: int, /) -> tuple[float | None, float | None]:
        """Returns the wait before the next try, and the one that the endpoint asks for.

        The wait is None where the endpoint asks for more than the policy allows.

        Args:
            headers: Of the failed try's reply.
            tries: How many there were.
        """
        requested_s = retry_after_s(headers, now=self._clock())
        return self.retry.wait_s(
            tries, requested_s=requested_s, draw=self._random.random()
        ), requested_s

    def is_last(self, tries: int, /) -> bool:
        """Returns whether no try follows so many."""
        return tries > self.retry.max_retries

    def unreachable(self, cause: BaseException, /) -> str:
        """Returns what a failed connection is told as."""
        return f"the connection to {self.base_url} failed ({type(cause).__name__}: {cause})"


def clean_url(address: str | None, /) -> str:
    """Returns an address of an endpoint as people paste it, without spaces and slashes at its ends.

    >>> clean_url(" http://localhost:11434/v1/ "), clean_url(None)
    ('http://localhost:11434/v1', '')
    """
    return (address or "").strip().rstrip("/")


def has_no_credit(status: int, code: str | None, /) -> bool:
    """Returns whether an error means that an account's credit is spent."""
    return status == 402 or code == "insufficient_quota"


def tries_in_words(tries: int, /) -> str:
    """Returns a number of tries as an error tells it.

    >>> tries_in_words(1), tries_in_words(5)
    ('1 try', '5 tries')
    """
    return f"{tries} {'try' if tries == 1 else 'tries'}"
