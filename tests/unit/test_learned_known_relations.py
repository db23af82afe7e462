"""Names of common relations, for relations that have but a label."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from graph_service.embed.minilm import MiniLM
from graph_service.retrieve.learned.known_relations import LEAST_LIKE, MARGIN, KnownRelations


class Counting:
    """The shipped embedder; counts what it is asked."""

    def __init__(self) -> None:
        self.texts = 0
        self._model = MiniLM.open()

    def __call__(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        self.texts += len(texts)
        return np.asarray(self._model.encode(texts), dtype=np.float32)


@pytest.fixture(scope="module")
def encode() -> Counting:
    return Counting()


def test_a_label_that_stands_alone_takes_the_names_of_what_it_is_like(encode: Counting) -> None:
    known = KnownRelations()
    labels = ["gender", "starred actors", "written by", "wears number", "spouse"]

    def aliases(ids: Sequence[str]) -> list[tuple[str, ...]]:
        return [("better half",) if id_ == "r4" else () for id_ in ids]

    ids = [f"r{number}" for number in range(5)]
    gender, actors, written, number, spouse = known.others(aliases, "m", ids, labels, encode)
    assert {"sex or gender", "sex"} <= set(gender)
    assert {"cast member", "starring"} <= set(actors)
    # An author, a composer and a developer are all said to have written.
    assert {"author", "composer"} <= set(written)
    assert number == ()
    # The graph's own names are enough.
    assert spouse == ("better half",)
    for names in (gender, actors, written):
        assert len(set(names)) == len(names)
        assert not any("{x}" in name or not name.strip() for name in names)


def test_a_label_is_looked_up_once_for_each_embedder(encode: Counting) -> None:
    known = KnownRelations()

    def ask(embedder: str, *labels: str) -> int:
        before = encode.texts
        known.others(lambda ids: [()] * len(ids), embedder, labels, labels, encode)
        return encode.texts - before

    first = ask("m", "gender", "gender")
    assert first > 1_000
    assert ask("m", "gender") == 0
    assert ask("m", "gender", "children") == first
    assert ask("other", "gender") == first


def test_only_what_is_like_enough_and_near_the_best_counts() -> None:
    """By vectors made so that the cosines are known."""
    cosines = {"head of government": LEAST_LIKE, "country": LEAST_LIKE - 0.01}

    def made(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        rows = np.zeros((len(texts), 2), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            cosine = 1.0 if text == "chief" else cosines.get(text, 0.0)
            row[:] = cosine, np.sqrt(1 - cosine**2)
        return rows

    def names_of(embedder: str) -> Sequence[str]:
        (names,) = KnownRelations().others(lambda ids: [()], embedder, ["r"], ["chief"], made)
        return names

    assert "prime minister" in names_of("m")
    assert "host country" not in names_of("m")
    cosines["country"] = LEAST_LIKE + MARGIN / 2
    assert {"prime minister", "host country"} <= set(names_of("m"))
    cosines["country"] = LEAST_LIKE + 2 * MARGIN
    assert "host country" in names_of("m")
    assert "prime minister" not in names_of("m")
    cosines.clear()
    assert names_of("m") == ()
