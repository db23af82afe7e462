"""The cross-encoder as torch trains it, and as the product runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graph_service.embed.cross_encoder import CrossEncoder
from graph_service.embed.folder import read_tensors
from graph_service.embed.minilm import ARCHITECTURE, MiniLM
from graph_service.embed.weights import find_model

torch = pytest.importorskip("torch")

QUESTIONS = ["Who is the brother of Justin Bieber?", "how many rivers cross the capital of Peru"]
TEXTS = [
    ["Justin Bieber -> sibling = ? (1)", "Justin Bieber <- parents = ? (2)", "it -> genre = ? (1)"],
    ["Peru -> capital <- crosses = ? (many)", "Lima <- place of birth -> genre <- genre = ? (1)"],
]


def test_torch_and_numpy_give_the_same_scores() -> None:
    from tools.cross_encoder.network import Network

    folder = find_model()
    embedder = MiniLM.load(folder)
    tensors = {
        name: tensor
        for name, tensor in read_tensors(folder.weights).items()
        if name.startswith(("encoder.", "embeddings."))
    }
    network = Network(tensors, ARCHITECTURE, rank=4, device="cpu", random_seed=1)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for name, tensor in network.trained.items():
            if not name.endswith(".down"):
                tensor.copy_(0.05 * torch.randn(tensor.shape, generator=generator))
        scores = network.scores(
            [embedder.token_ids(question) for question in QUESTIONS],
            [embedder.token_ids(text) for texts in TEXTS for text in texts],
            np.array([0, 0, 0, 1, 1]),
        )
    encoder = CrossEncoder(embedder, network.export(embedder=embedder.name, data="", notes={}))
    expected = np.concatenate(
        [encoder.scores(*both) for both in zip(QUESTIONS, TEXTS, strict=True)]
    )
    assert len(set(expected.tolist())) == 5
    # The product rounds weights and rows to whole numbers of blocks.
    assert np.abs(scores.numpy() - expected).max() < 5e-3


def test_training_goes_on_from_its_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A training that was stopped ends with the same weights as one that was not."""
    import json

    from tools.cross_encoder import __main__ as program

    lines = [
        {"q": f"who {verb} it", "fam": "made", "set": "made",
         "c": [[f"it -> {verb} = ? (1)", 1], ["it -> genre = ? (1)", 0]]}
        for verb in ("wrote", "built", "found", "made", "sang", "ruled")
    ]  # fmt: skip
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))

    def train(out: Path) -> bytes:
        options = ["--epochs", "4", "--batch", "2", "--rank", "2", "--device", "cpu"]
        monkeypatch.setattr("sys.argv", ["train", str(file), "--out", str(out), *options])
        assert program.main() == 0
        return out.read_bytes()

    expected = train(tmp_path / "a.npz")
    monkeypatch.setattr(program, "CHECKPOINT_S", 0.0)
    save = program._save
    steps: list[int] = []

    def save_and_stop(*arguments: Any) -> None:
        save(*arguments)
        steps.append(arguments[-1])
        if steps == [1, 2, 3]:
            raise KeyboardInterrupt

    monkeypatch.setattr(program, "_save", save_and_stop)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "b.npz")
    assert train(tmp_path / "b.npz") == expected
    assert steps[:4] == [1, 2, 3, 4]
