"""The adapter to sentence-transformers, with a stand-in for the package (live: tests/models)."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
import pytest
from error_texts import raises

from graph_service.embed import open_embedder
from graph_service.embed.sentence import SentenceTransformerEmbedder
from graph_service.errors import InputError, SetupError


class StandIn:
    """What the adapter calls of ``SentenceTransformer``."""

    commit: str | None = "0123456789abcdef"

    def __init__(self, model: str, **options: Any) -> None:
        if model == "missing":
            raise OSError("missing is not a local folder and is not a valid model identifier")
        self.options = options
        self.auto_model = types.SimpleNamespace(
            config=types.SimpleNamespace(_commit_hash=self.commit)
        )

    def __getitem__(self, place: int) -> StandIn:
        assert place == 0
        return self

    def encode(self, texts: list[str], **options: Any) -> np.ndarray:
        assert options["normalize_embeddings"]
        return np.array([[3.0, 4.0]] * len(texts)) / 5.0

    def tokenizer(self, text: str, **options: Any) -> dict[str, list[int]]:
        assert not options["add_special_tokens"]
        assert not options["truncation"]
        return {"input_ids": [1] * len(text.split())}


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("sentence_transformers")
    module.SentenceTransformer = StandIn  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    expected = r'none of minilm, .*e5-small.* pip install "graph-service\[sentence-transformers\]"'
    with pytest.raises(InputError, match=expected):
        open_embedder("all-mpnet-base-v2")


@pytest.mark.usefixtures("package")
def test_adapter() -> None:
    embedder = open_embedder("all-mpnet-base-v2")
    assert embedder.name == "all-mpnet-base-v2@01234567"
    assert embedder.dimension == 2
    vectors = embedder.encode(["a", "b"])
    assert vectors.dtype == np.float32
    assert vectors.shape == (2, 2)
    assert embedder.encode([]).shape == (0, 2)
    assert embedder.count_tokens("three little words") == 3
    with pytest.raises(InputError, match="surrogate"):
        embedder.encode(["\ud800"])


@pytest.mark.usefixtures("package")
def test_unknown_model() -> None:
    with raises(SetupError):
        open_embedder("missing")


@pytest.mark.usefixtures("package")
def test_a_folder_is_named_by_what_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of another family, whose content may change: two models never share vectors."""
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_: tmp_path / "user cache")
    monkeypatch.setattr(StandIn, "commit", None)
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"one")
    first = SentenceTransformerEmbedder(str(folder)).name
    assert first.startswith(f"{folder}@")
    assert SentenceTransformerEmbedder(str(folder)).name == first
    (folder / "model.safetensors").write_bytes(b"other")
    assert SentenceTransformerEmbedder(str(folder)).name != first
