"""Names of common relations, for relations that have but a label."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest

from graph_service.embed.minilm import MiniLM
from graph_service.retrieve.learned.known_relations import LEAST_LIKE, MARGIN, names_like

Encode = Callable[[Sequence[str]], npt.NDArray[np.float32]]


@pytest.fixture(scope="module")
def encode() -> Encode:
    """Encodes by the shipped embedder."""
    model = MiniLM.open()
    return lambda texts: np.asarray(model.encode(texts), dtype=np.float32)


def test_a_label_takes_the_names_of_what_it_is_like(encode: Encode) -> None:
    labels = ["gender", "starred actors", "written by", "wears number"]
    gender, actors, written, number = (set(names or ()) for names in names_like(labels, encode))
    assert {"sex or gender", "sex"} <= gender
    assert {"cast member", "starring"} <= actors
    # An author, a composer and a developer are all said to have written.
    assert {"author", "composer"} <= written
    assert number == set()
    for names in names_like(labels, encode):
        assert names is not None
        assert len(set(names)) == len(names)
        assert not any("{x}" in name or not name.strip() for name in names)


def test_only_what_is_like_enough_and_near_the_best_counts() -> None:
    """By vectors made so that the cosines are known."""
    cosines = {"head of government": LEAST_LIKE, "country": LEAST_LIKE - 0.01}

    def made(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        rows = np.zeros((len(texts), 2), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            cosine = 1.0 if text == "chief" else cosines.get(text, 0.0)
            row[:] = cosine, np.sqrt(1 - cosine**2)
        return rows

    def names() -> Sequence[str]:
        (found,) = names_like(["chief"], made)
        assert found is not None
        return found

    assert "prime minister" in names()
    assert "host country" not in names()
    cosines["country"] = LEAST_LIKE + MARGIN / 2
    assert {"prime minister", "host country"} <= set(names())
    cosines["country"] = LEAST_LIKE + 2 * MARGIN
    assert "host country" in names()
    assert "prime minister" not in names()
    cosines.clear()
    assert names() == ()
