"""An embedder for tests: the sum of a vector for each word, drawn by its hash."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from graph_service.text.fold import words

LENGTH = 48


@cache
def _word(word: str) -> npt.NDArray[np.float32]:
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
    return np.random.default_rng(seed).standard_normal(LENGTH).astype(np.float32)


class WordVectors:
    """Texts that share words are near each other; nothing else is known."""

    def __init__(self, name: str = "words-1") -> None:
        self.name = name

    def encode(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        vectors = np.zeros((len(texts), LENGTH), dtype=np.float32)
        for i, text in enumerate(texts):
            for word in words(text):
                vectors[i] += _word(word)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)


class CountingWords(WordVectors):
    """The same as an embedder of the service: it counts tokens too."""

    dimension = LENGTH

    def count_tokens(self, text: str, /) -> int:
        return len(text.split())


class Letters:
    """An embedder that costs nothing: how often each letter occurs."""

    name = "letters"
    dimension = 32

    def encode(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        vectors = np.full((len(texts), self.dimension), 0.01, dtype=np.float32)
        for row, text in enumerate(texts):
            for letter in text:
                vectors[row, ord(letter) % self.dimension] += 1
        return np.ascontiguousarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))

    def count_tokens(self, text: str, /) -> int:
        return len(text.split())
