"""Evidence is ranked by BM25, against the formula as it is printed (Robertson and Zaragoza 2009)."""

from __future__ import annotations

import math
import random

import pytest

from queries.score.evidence import Evidence, evidence_of

WORDS = [f"word{number}" for number in range(25)]


def by_hand(texts: list[str], query: str) -> list[str]:
    """Every text that shares a word, by the sum over words of rarity times saturated count."""
    kept = list(dict.fromkeys(text for text in texts if text.strip()))
    split = [text.split() for text in kept]
    mean = sum(map(len, split)) / len(split)
    scores = []
    for place, words in enumerate(split):
        score = 0.0
        for word in dict.fromkeys(query.split()):
            holding = sum(word in other for other in split)
            rarity = math.log(1 + (len(split) - holding + 0.5) / (holding + 0.5))
            times = words.count(word)
            score += rarity * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * len(words) / mean))
        scores.append((-round(score, 9), place))
    return [kept[place] for score, place in sorted(scores) if score < 0]


@pytest.mark.parametrize("seed", range(30))
def test_texts_are_ranked_as_the_formula_says(seed: int) -> None:
    draw = random.Random(seed)
    texts = [
        " ".join(min(draw.choices(WORDS, k=2)) for _ in range(draw.randrange(1, 15)))
        for _ in range(draw.randrange(1, 40))
    ]
    evidence = Evidence([*texts, texts[0], " "])
    for _ in range(20):
        query = " ".join(draw.choices([*WORDS, "unheard"], k=draw.randrange(1, 6)))
        expected = by_hand(texts, query)
        for limit in (1, 3, 100):
            assert evidence.search(query, limit=limit) == tuple(expected[:limit])
        assert evidence.search(query) == tuple(expected[:5])


def test_nothing_is_found_in_nothing() -> None:
    assert Evidence([]).search("word1") == ()
    assert Evidence(["word1"]).search("word2") == ()
    assert evidence_of(("word1",)) is evidence_of(("word1",))
