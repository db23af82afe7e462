"""Text vectors from an OpenAI-compatible endpoint, through the openai package."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
import orjson

from graph_service.embed.protocol import Float32, check_text
from graph_service.errors import InputError, LimitError, SetupError
from graph_service.http.openai_client import OpenAIClient, has_no_credit, tries_in_words
from graph_service.http.retry import RetryPolicy, is_transient

if TYPE_CHECKING:
    import openai

_BATCH = 128


class EndpointEmbedder:
    """An embedder behind an endpoint of the embeddings protocol.

    The length of its vectors is asked of the endpoint once, when it is first needed. The endpoint's
    tokenizer cannot be reached, so tokens are a cautious guess: a third of the UTF-8 bytes.

    Args:
        model: Name of the model.
        base_url: Address of the endpoint; OpenAI's own where it is empty.
        api_key: Its key; local servers mostly need none.
        timeout_s: Seconds after which one try has failed, however much of its answer is there.
        retry: When to ask again; ``Retry-After`` is honoured.
        sleep: Waits some seconds.
        clock: Seconds since 1970.

    Raises:
        SetupError: Neither an address nor a key is set.
    """

    def __init__(
        self,
        model: str,
        /,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_s: float = 60.0,
        retry: RetryPolicy | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not model:
            raise InputError("the embedding model's name is empty", argument="embedder")
        if not base_url and not api_key:
            raise SetupError(
                "an embedding endpoint needs an address or a key; neither is set",
                argument="embedder",
                hint="Set GRAPH_SERVICE_EMBEDDER_URL to an OpenAI-compatible endpoint, or "
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
        self._dimension: int | None = None

    @property
    def name(self) -> str:
        """``openai:MODEL@HOST``: two providers' models of one name are not one model."""
        return f"openai:{self._model}@{urlsplit(self._base_url).hostname or self._base_url}"

    @property
    def dimension(self) -> int:
        """Length of a vector; asked of the endpoint once."""
        if self._dimension is None:
            self._request(["dimension"])
        assert self._dimension is not None
        return self._dimension

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self._model!r}, base_url={self._base_url!r})"

    def encode(self, texts: Sequence[str], /) -> Float32:
        """Returns one unit vector a text, float32 [len(texts), dimension].

        Raises:
            InputError: A text holds a lone surrogate, or is longer than the model reads.
            SetupError: The key, the address or the model is wrong, or the endpoint gives no
                vectors however often it is asked.
            LimitError: The account's credit is spent.
        """
        for text in texts:
            check_text(text)
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        # Endpoints refuse empty texts; one space has a vector everywhere.
        sent = [text or " " for text in texts]
        parts = [self._request(sent[i : i + _BATCH]) for i in range(0, len(sent), _BATCH)]
        return np.ascontiguousarray(np.concatenate(parts), dtype=np.float32)

    def count_tokens(self, text: str, /) -> int:
        """Returns a cautious guess of the tokens of a text: a third of its UTF-8 bytes."""
        return len(text.encode("utf-8", "replace")) // 3 + 1 if text else 0

    def close(self) -> None:
        """Closes its connections; another call opens them anew."""
        self._client.close()

    def _request(self, texts: Sequence[str]) -> Float32:
        tries = 0
        while True:
            tries += 1
            try:
                return self._vectors(self._send(texts), len(texts))
            except _TransientError as fault:
                wait, _ = self._client.waits(fault.headers, tries)
                if self._client.is_last(tries) or wait is None:
                    raise SetupError(
                        f"{self.name} gave no vectors in {tries_in_words(tries)}: {fault.message}",
                        argument="embedder",
                        hint="Check the endpoint, or use the embedder minilm, which needs none.",
                    ) from fault.__cause__
                self._client.sleep(wait)

    def _send(self, texts: Sequence[str]) -> bytes:
        client = self._client.open()
        import openai

        try:
            response = client.embeddings.with_raw_response.create(
                model=self._model, input=list(texts), encoding_format="float"
            )
        except openai.APITimeoutError as error:
            raise _TransientError(f"no answer in {self._client.timeout_s:g} s") from error
        except openai.APIStatusError as error:
            raise self._status_error(error) from error
        except openai.APIConnectionError as error:
            raise _TransientError(self._client.unreachable(error.__cause__ or error)) from error
        return response.http_response.content

    def _status_error(self, error: openai.APIStatusError) -> Exception:
        status = error.status_code
        words = " ".join(error.message.split())[:300]
        if status in (401, 403, 404):
            what = "knows no embedding model " + repr(self._model)
            return SetupError(
                f"{self._base_url} {what if status == 404 else 'refuses the key'} "
                f"(HTTP {status}: {words})",
                argument="embedder",
                hint="Check GRAPH_SERVICE_EMBEDDER, GRAPH_SERVICE_EMBEDDER_URL and OPENAI_API_KEY.",
            )
        if has_no_credit(status, error.code):
            return LimitError(f"the account at {self._base_url} has no credit left ({words})")
        if is_transient(status):
            transient = _TransientError(f"HTTP {status}: {words}", error.response.headers)
            transient.__cause__ = error
            return transient
        return InputError(
            f"{self._base_url} refused texts to embed (HTTP {status}: {words})",
            argument="embedder",
        )

    def _vectors(self, content: bytes, count: int) -> Float32:
        """Reads a body strictly, in the order of its indices, and makes the vectors unit ones."""
        try:
            data = orjson.loads(content)["data"]
            rows: dict[int, Any] = {int(item["index"]): item["embedding"] for item in data}
            matrix = np.array([rows[i] for i in range(count)], dtype=np.float64)
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, IndexError) as error:
            raise _TransientError(f"expected {count} vectors, got {content[:80]!r}") from error
        norms = np.linalg.norm(matrix, axis=1) if matrix.ndim == 2 else np.zeros(0)
        if (
            matrix.ndim != 2
            or not matrix.shape[1]
            or not np.isfinite(norms).all()
            or not norms.all()
        ):
            raise _TransientError("expected vectors of numbers, not all of them 0")
        if self._dimension is None:
            self._dimension = matrix.shape[1]
        if matrix.shape[1] != self._dimension:
            raise _TransientError(
                f"expected vectors of {self._dimension} numbers, got {matrix.shape[1]}"
            )
        vectors: Float32 = (matrix / norms[:, None]).astype(np.float32)
        return vectors


class _TransientError(Exception):
    """A fault after which the same request may be asked again."""

    def __init__(self, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.headers: Mapping[str, str] = headers if headers is not None else {}
