"""Which of a case's passages or triples bear on a fact: ranked by BM25 over their words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from graph_service.text.fold import index_tokens, query_tokens

_K1 = 1.2
_B = 0.75


class Evidence:
    """Texts to search, indexed once.

    Args:
        texts: Passages or triples, one text each; equal ones are kept once.
    """

    def __init__(self, texts: Sequence[str], /) -> None:
        self.texts = tuple(dict.fromkeys(text for text in texts if text.strip()))
        self._lengths: list[int] = []
        self._holding: dict[str, list[tuple[int, int]]] = {}
        for index, text in enumerate(self.texts):
            counts = Counter(index_tokens(text))
            self._lengths.append(sum(counts.values()))
            for token, times in counts.items():
                self._holding.setdefault(token, []).append((index, times))
        self._mean = sum(self._lengths) / len(self._lengths) if self._lengths else 0.0
        self._weighed: dict[str, list[tuple[int, float]]] = {}

    def search(self, query: str, /, *, limit: int = 5) -> tuple[str, ...]:
        """Returns the texts that share a word with a query, best first, ties in their order.

        >>> Evidence(["Ada was born in London", "Charles sang"]).search("where was Ada born")
        ('Ada was born in London',)
        """
        scores: dict[int, float] = {}
        for token in query_tokens(query):
            for index, weight in self._weights(token):
                scores[index] = scores.get(index, 0.0) + weight
        ranked = sorted((-round(score, 9), index) for index, score in scores.items())
        return tuple(self.texts[index] for _, index in ranked[:limit])

    def _weights(self, token: str) -> list[tuple[int, float]]:
        """Returns the texts that hold a word, and what it adds to the score of each."""
        if token not in self._weighed:
            held = self._holding.get(token, [])
            rarity = math.log(1 + (len(self.texts) - len(held) + 0.5) / (len(held) + 0.5))
            self._weighed[token] = [
                (index, rarity * times * (_K1 + 1) / (times + _K1 * self._size(index)))
                for index, times in held
            ]
        return self._weighed[token]

    def _size(self, index: int) -> float:
        return 1 - _B + _B * self._lengths[index] / self._mean


@lru_cache(maxsize=64)
def evidence_of(texts: tuple[str, ...], /) -> Evidence:
    """Returns the index of some texts; the last few are kept."""
    return Evidence(texts)
