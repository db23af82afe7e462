"""The numpy encoder beside sentence-transformers, on small encoders of each family made here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_encoders import ENCODERS, TEXTS, make_encoder

from graph_service.embed.folder import open_folder
from graph_service.model.ranking import encode_queries

torch = pytest.importorskip("torch")
sentence_transformers = pytest.importorskip("sentence_transformers")

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("seed", ["2", "3"])
def test_vectors_of_each_family(name: str, seed: str, tmp_path: Path) -> None:
    made = ENCODERS[name]
    folder = make_encoder(tmp_path / name, made, seed=seed)
    mine = open_folder(folder)
    live = sentence_transformers.SentenceTransformer(
        str(folder), device="cpu", model_kwargs={"dtype": torch.float32}
    )

    def theirs(prompt: str) -> np.ndarray:
        return np.asarray(
            live.encode(list(TEXTS), prompt=made.prompts.get(prompt, ""), normalize_embeddings=True)
        )

    assert np.abs(mine.encode(TEXTS) - theirs("passage")).max() < 1e-5
    assert np.abs(encode_queries(mine, TEXTS) - theirs("query")).max() < 1e-5
    assert [mine.count_tokens(text) for text in TEXTS] == [
        len(live.tokenizer(text, add_special_tokens=False, truncation=False)["input_ids"])
        for text in TEXTS
    ]


@pytest.mark.parametrize("name", ["bert-cls", "distilbert", "mpnet-dense", "xlm-roberta"])
def test_a_folder_that_it_saves_itself(name: str, tmp_path: Path) -> None:
    """Its newest way of writing the configurations down says the same."""
    folder = make_encoder(tmp_path / "made", ENCODERS[name])
    live = sentence_transformers.SentenceTransformer(str(folder), device="cpu")
    live.save_pretrained(str(tmp_path / "saved"))
    again, before = open_folder(tmp_path / "saved"), open_folder(folder)
    assert np.array_equal(again.encode(TEXTS), before.encode(TEXTS))
    assert np.array_equal(encode_queries(again, TEXTS), encode_queries(before, TEXTS))
