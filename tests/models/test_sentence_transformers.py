"""sentence-transformers itself: the adapter, and MiniLM in numpy beside it."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import numpy as np
import pytest

from graph_service.embed import open_embedder
from graph_service.embed.minilm import MiniLM
from graph_service.embed.sentence import SentenceTransformerEmbedder
from graph_service.embed.weights import find_model
from graph_service.errors import InputError, SetupError

GOLDEN = Path(__file__).parents[1] / "golden"

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def live() -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(str(find_model().path))


def texts() -> list[str]:
    loaded: list[str] = json.loads((GOLDEN / "minilm_vectors.json").read_text(encoding="utf-8"))
    return loaded


def test_recorded_vectors_are_still_its_vectors(live: SentenceTransformerEmbedder) -> None:
    recorded = np.load(GOLDEN / "minilm_vectors.npy").astype(np.float64)
    assert (live.encode(texts()).astype(np.float64) * recorded).sum(axis=1).min() > 0.999999


def test_numpy_gives_the_same_vectors(live: SentenceTransformerEmbedder) -> None:
    mine = MiniLM.open()
    both = mine.encode(texts()).astype(np.float64) * live.encode(texts()).astype(np.float64)
    assert both.sum(axis=1).min() > 0.999999
    assert mine.dimension == live.dimension == 384
    assert [mine.count_tokens(text) for text in texts()] == [
        live.count_tokens(text) for text in texts()
    ]


@pytest.mark.data
def test_labels_give_the_same_vectors(live: SentenceTransformerEmbedder, data_dir: Path) -> None:
    with lzma.open(data_dir / "wikidata_labels_en_partial.tsv.xz", "rt", encoding="utf-8") as file:
        labels = [
            line.rstrip("\n").split("\t")[1] for line, _ in zip(file, range(1000), strict=False)
        ]
    both = MiniLM.open().encode(labels).astype(np.float64) * live.encode(labels)
    assert both.sum(axis=1).min() > 0.999999


def test_name_shape_and_errors(live: SentenceTransformerEmbedder) -> None:
    assert live.name.startswith(str(find_model().path))
    assert live.encode([]).shape == (0, 384)
    assert np.abs(np.linalg.norm(live.encode(["a", "b"]), axis=1) - 1).max() < 1e-5
    with pytest.raises(InputError, match="surrogate"):
        live.encode(["\ud800"])
    with pytest.raises(SetupError, match="load the model"):
        open_embedder("/no/such/folder/of/a/model")
