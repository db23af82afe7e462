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
        self._counts = [Counter(index_tokens(text)) for text in self.texts]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._mean = sum(self._lengths) / len(self._lengths) if self._lengths else 0.0
        self._holding = Counter(token for counts in self._counts for token in counts)

    def search(self, query: str, /, *, limit: int = 5) -> tuple[str, ...]:
        """Returns the texts that share a word with a query, best first, ties in their order.

        >>> Evidence(["Ada was born in London", "Charles sang"]).search("where was Ada born")
        ('Ada was born in London',)
        """
        wanted = query_tokens(query)
        ranked: list[tuple[float, int]] = []
        for number, counts in enumerate(self._counts):
            score = sum(self._weight(token, number) for token in wanted if token in counts)
            if score > 0:
                ranked.append((-round(score, 9), number))
        return tuple(self.texts[number] for _, number in sorted(ranked)[:limit])

    def _weight(self, token: str, number: int) -> float:
        held = self._holding[token]
        rarity = math.log(1 + (len(self.texts) - held + 0.5) / (held + 0.5))
        times = self._counts[number][token]
        size = 1 - _B + _B * self._lengths[number] / self._mean
        return rarity * times * (_K1 + 1) / (times + _K1 * size)


@lru_cache(maxsize=64)
def evidence_of(texts: tuple[str, ...], /) -> Evidence:
    """Returns the index of some texts; the last few are kept."""
    return Evidence(texts)
