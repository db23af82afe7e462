"""A cross-encoder through transformers itself: a small one made here, nothing downloaded (K5)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graph_service.errors import SetupError
from queries.score.cross_encoder import CrossEncoder
from queries.score.entailment import Pair

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"she was born in rome oslo".split()]  # noqa: SIM905


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A BERT of two layers with random weights and labels in an order of its own."""
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS))
    tokenizer = transformers.BertTokenizer(str(tmp_path / "vocab.txt"), model_max_length=16)
    torch.manual_seed(3)
    config = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=16, initializer_range=1.0,
        id2label={0: "neutral", 1: "entailment", 2: "contradiction"},
    )  # fmt: skip
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    return tmp_path


def test_probabilities_are_those_of_the_model(folder: Path) -> None:
    pairs = [Pair("she was born in rome", "born in rome"), Pair("born in oslo", "rome")]
    found = CrossEncoder(str(folder), batch_size=1, device="cpu").judge(pairs)
    batched = CrossEncoder(str(folder), device="cpu").judge(pairs)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    for pair, one, other in zip(pairs, found, batched, strict=True):
        encoded = tokenizer(pair.premise, pair.hypothesis, return_tensors="pt")
        with torch.no_grad():
            shares = torch.softmax(model(**encoded).logits[0].double(), 0).numpy()
        assert one.score == pytest.approx(shares[1], abs=1e-6)
        assert one.shares["neutral"] == pytest.approx(shares[0], abs=1e-6)
        assert one.entailed == (np.argmax(shares) == 1)
        assert other.score == pytest.approx(one.score, abs=1e-5)
        assert not one.cut
    turned = CrossEncoder(str(folder), device="cpu").judge(
        [Pair(pair.hypothesis, pair.premise) for pair in pairs]
    )
    assert turned[0].score != pytest.approx(found[0].score, abs=1e-6)


def test_a_long_premise_loses_its_end_and_says_so(folder: Path) -> None:
    model = CrossEncoder(str(folder), device="cpu")
    long = Pair("she was born in rome " * 10, "born in oslo")
    assert model.judge([long])[0].cut
    # 16 places: three marks and three words of the hypothesis leave ten words of the premise.
    same = model.judge([Pair("she was born in rome " * 2, "born in oslo")])[0]
    assert not same.cut
    assert model.judge([long])[0].score == pytest.approx(same.score, abs=1e-6)


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="load the cross-encoder"):
        CrossEncoder(str(tmp_path / "none")).judge([Pair("a", "b")])
