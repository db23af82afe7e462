"""Models in folders: small ones of each family against recorded vectors, what is refused (B8)."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
import pytest
from made_encoders import DENSE_WIDTH, ENCODERS, RECORDED, TEXTS, WIDTH, Made, make_encoder
from safetensors.numpy import load_file, save_file

import graph_service.embed
from graph_service.cli.opening import settings_of
from graph_service.cli.rank.options import TrainOptions
from graph_service.cli.serve_options import ServeOptions
from graph_service.embed import VectorFile, Vectors, open_embedder
from graph_service.embed.exact import STATE_BITS, identity, relu, tanh
from graph_service.embed.folder import open_folder
from graph_service.embed.layers import Grids
from graph_service.embed.protocol import Embedder
from graph_service.embed.transformer import TransformerEmbedder
from graph_service.errors import ModelFileError
from graph_service.model.ranking import encode_queries


@pytest.fixture(autouse=True)
def own_memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What remembers the hashes of files."""
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_: tmp_path / "user cache")


def opened(folder: Path, made: Made | str = "bert") -> Embedder:
    return open_folder(make_encoder(folder, ENCODERS[made] if isinstance(made, str) else made))


def edit(path: Path, **changes: Any) -> None:
    """Changes a JSON file; None takes a key away."""
    found = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in found.items() if value is not None}))


@pytest.mark.parametrize("name", ENCODERS)
def test_vectors_agree_with_sentence_transformers(name: str, tmp_path: Path) -> None:
    """Recorded by tests/models/record_encoder_vectors.py."""
    recorded = json.loads(RECORDED.read_text())[name]
    embedder = opened(tmp_path / name, name)
    vectors = embedder.encode(TEXTS)
    assert vectors.dtype == np.float32
    assert np.abs(vectors - np.array(recorded["passage"])).max() < 5e-6
    if "query" in recorded:
        found = encode_queries(embedder, TEXTS)
        assert np.abs(found - np.array(recorded["query"])).max() < 5e-6
        assert np.abs(found - vectors).max() > 0.01
    assert embedder.dimension == vectors.shape[1]
    assert embedder.encode([]).shape == (0, embedder.dimension)


@pytest.mark.parametrize("name", ["mpnet-dense", "xlm-roberta"])
def test_vectors_do_not_depend_on_company(name: str, tmp_path: Path) -> None:
    embedder = opened(tmp_path, name)
    together = embedder.encode(TEXTS)
    for number, text in enumerate(TEXTS):
        assert np.array_equal(embedder.encode([text])[0], together[number])


def test_a_prompt_counts_no_token(tmp_path: Path) -> None:
    assert opened(tmp_path, "xlm-roberta").count_tokens("birth place") == 2


@pytest.mark.parametrize(
    ("where", "changes"),
    [
        ("config.json", {"layer_norm_eps": 0.1}),
        ("1_Pooling/config.json", {"pooling_mode": "cls"}),
        ("sentence_bert_config.json", {"max_seq_length": 3}),
        ("sentence_bert_config.json", {"do_lower_case": True}),
        ("config_sentence_transformers.json", {"prompts": {"query": "search: "}}),
        ("3_Dense/config.json", {"activation_function": "torch.nn.modules.linear.Identity"}),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else value,
)
def test_another_configuration_has_another_name(
    where: str, changes: dict[str, Any], tmp_path: Path
) -> None:
    folder = make_encoder(tmp_path / "model", ENCODERS["mpnet-dense"])
    before = open_folder(folder).name
    edit(folder / where, **changes)
    assert open_folder(folder).name != before


@pytest.mark.parametrize("where", ["", "3_Dense"])
def test_other_weights_have_another_name(where: str, tmp_path: Path) -> None:
    """And a copy of the folder has the same, wherever it lies."""
    folder = make_encoder(tmp_path / "one" / "model", ENCODERS["mpnet-dense"])
    copy = shutil.copytree(folder, tmp_path / "two" / "model")
    before = open_folder(folder).name
    assert before.startswith("model@")
    assert open_folder(copy).name == before
    path = copy / where / "model.safetensors"
    tensors = load_file(path)
    last = sorted(tensors)[-1]
    tensors[last] = tensors[last] + np.float32(2**-20)
    save_file(tensors, path)
    assert open_folder(copy).name != before


def write_pickle(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def drop_tensor(folder: Path) -> None:
    path = folder / "model.safetensors"
    tensors = load_file(path)
    del tensors["encoder.layer.1.attention.self.key.bias"]
    save_file(tensors, path)


def turn_tensor(folder: Path) -> None:
    path = folder / "model.safetensors"
    tensors = load_file(path)
    name = "encoder.layer.0.intermediate.dense.weight"
    tensors[name] = np.ascontiguousarray(tensors[name].T)
    save_file(tensors, path)


def cut_words(folder: Path) -> None:
    path = folder / "model.safetensors"
    tensors = load_file(path)
    name = "embeddings.word_embeddings.weight"
    tensors[name] = tensors[name][:-1].copy()
    save_file(tensors, path)


def huge(folder: Path) -> None:
    path = folder / "model.safetensors"
    tensors = load_file(path)
    tensors["encoder.layer.1.output.dense.weight"] *= np.float32(1e6)
    save_file(tensors, path)


def longer(folder: Path) -> None:
    edit(folder / "config.json", max_position_embeddings=400)
    edit(folder / "sentence_bert_config.json", max_seq_length=300)


def no_marks(folder: Path) -> None:
    edit(folder / "tokenizer.json", post_processor=None)


def with_module(kind: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        lines = json.loads((folder / "modules.json").read_text())
        lines.append({"idx": 9, "name": "9", "path": "9", "type": f"sentence_transformers.{kind}"})
        (folder / "modules.json").write_text(json.dumps(lines))

    return change


def with_config(where: str, **changes: Any) -> Callable[[Path], None]:
    return lambda folder: edit(folder / where, **changes)


def without(where: str) -> Callable[[Path], None]:
    return lambda folder: (folder / where).unlink()


def spoilt(where: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / where).write_text("{")

    return change


REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "pooling": (
        with_config("1_Pooling/config.json", pooling_mode=["mean", "max"]),
        "does not know pooling 'mean and max'",
    ),
    "old pooling": (
        with_config("1_Pooling/config.json", pooling_mode_max_tokens=True),
        "does not know pooling 'max and mean'",
    ),
    "family": (with_config("config.json", model_type="modernbert"), "model_type 'modernbert'"),
    "positions": (
        with_config("config.json", position_embedding_type="relative_key"),
        "position_embedding_type 'relative_key'",
    ),
    "activation": (with_config("config.json", hidden_act="silu"), "activation 'silu'"),
    "width": (with_config("config.json", hidden_size=None), "hidden_size None, a whole number"),
    "heads": (with_config("config.json", num_attention_heads=7), "7 heads do not share"),
    "layers": (with_config("config.json", num_hidden_layers=3), "no tensor encoder.layer.2"),
    "more positions": (longer, "has 160 positions, 300 are needed"),
    "module": (with_module("models.LayerNorm"), "does not know module 'LayerNorm'"),
    "no modules": (without("modules.json"), r"has no modules\.json"),
    "no tokenizer": (without("tokenizer.json"), r"lacks tokenizer\.json"),
    "pickle": (write_pickle, r"lacks model\.safetensors"),
    "spoilt": (spoilt("config.json"), r"config\.json can't be read"),
    "spoilt tensors": (spoilt("model.safetensors"), "tensors of .* can't be read"),
    "spoilt tokenizer": (spoilt("tokenizer.json"), "tokenizer .* can't be read"),
    "tensor": (drop_tensor, r"no tensor encoder\.layer\.1\.attention\.self\.key\.bias"),
    "shape": (turn_tensor, r"has shape \[24, 40\], expected \['any', 24\]"),
    "words": (cut_words, "they do not belong together"),
    "marks": (no_marks, "puts 0 marks around a text"),
    "huge": (huge, "numbers of layer 1 are too large"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_understood_is_refused(name: str, tmp_path: Path) -> None:
    change, message = REFUSED[name]
    folder = make_encoder(tmp_path / "model", ENCODERS["bert"])
    change(folder)
    with pytest.raises(ModelFileError, match=message):
        open_folder(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"activation_function": "torch.nn.modules.activation.Mish"}, "activation.Mish"),
        ({"use_residual": True}, "use_residual"),
        ({"module_output_name": "other"}, "module_output_name 'other'"),
    ],
)
def test_a_dense_layer_that_is_not_understood(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    folder = make_encoder(tmp_path, ENCODERS["distilbert"])
    edit(folder / "2_Dense" / "config.json", **changes)
    with pytest.raises(ModelFileError, match=message):
        open_folder(folder)


def test_a_dense_layer_of_another_width(tmp_path: Path) -> None:
    folder = make_encoder(tmp_path, ENCODERS["distilbert"])
    weight = np.zeros((DENSE_WIDTH, WIDTH + 1), dtype=np.float32)
    save_file({"linear.weight": weight}, folder / "2_Dense" / "model.safetensors")
    with pytest.raises(ModelFileError, match="takes 25 numbers, and 24 come"):
        open_folder(folder)


def test_a_dense_layer_without_a_bias(tmp_path: Path) -> None:
    """As LEAF's may be; of weights that are nothing every vector is nothing, and no NaN."""
    folder = make_encoder(tmp_path, ENCODERS["roberta"])
    weight = np.zeros((DENSE_WIDTH, WIDTH), dtype=np.float32)
    save_file({"linear.weight": weight}, folder / "2_Dense" / "model.safetensors")
    assert not open_folder(folder).encode(["birth"]).any()


def test_prompts_that_pooling_leaves_out(tmp_path: Path) -> None:
    folder = make_encoder(tmp_path, ENCODERS["bert-cls"])
    edit(folder / "1_Pooling" / "config.json", include_prompt=False)
    with pytest.raises(ModelFileError, match="include_prompt"):
        open_folder(folder)
    edit(folder / "config_sentence_transformers.json", prompts={})
    assert open_folder(folder).dimension == WIDTH


def test_positions_bound_the_tokens(tmp_path: Path) -> None:
    """160 rows less the two before the first word's, whatever the folder asks for."""
    made = dataclasses.replace(ENCODERS["xlm-roberta-far"], max_tokens=512)
    embedder = opened(tmp_path, made)
    assert isinstance(embedder, TransformerEmbedder)
    assert embedder.architecture.max_tokens == 154
    vectors = embedder.encode(["the " * 152, "the " * 300, "the " * 151])
    assert np.array_equal(vectors[0], vectors[1])
    assert not np.array_equal(vectors[0], vectors[2])


def test_large_weights_have_a_coarser_grid(tmp_path: Path) -> None:
    """So that sums stay exact: a text has the same bits in any company."""
    folder = make_encoder(tmp_path, ENCODERS["bert"])
    fine = open_folder(folder)
    path = folder / "model.safetensors"
    tensors = load_file(path)
    tensors["encoder.layer.0.intermediate.dense.weight"] *= np.float32(1024)
    tensors["encoder.layer.0.output.dense.weight"] /= np.float32(1024)
    tensors["encoder.layer.0.attention.self.query.weight"] *= np.float32(2048)
    save_file(tensors, path)
    coarse = open_folder(folder)
    assert isinstance(fine, TransformerEmbedder)
    assert isinstance(coarse, TransformerEmbedder)
    assert fine._layers[0].grids == fine._layers[1].grids == Grids()
    grids = coarse._layers[0].grids
    assert grids.widen < 22
    assert grids.head < 19
    assert coarse._layers[1].grids == Grids()
    layer = coarse._layers[0]
    spread = np.sqrt(((layer.merge_scale[:, None] * layer.widen) ** 2).sum(axis=0))
    most = np.sqrt(WIDTH) * spread + np.abs(layer.merge_shift) @ np.abs(layer.widen)
    assert most.max() * 2.0 ** (STATE_BITS + grids.widen) < 2.0**53
    assert most.max() * 2.0 ** (STATE_BITS + 22) > 2.0**53
    together = coarse.encode(TEXTS)
    assert np.array_equal(coarse.encode(TEXTS[::-1])[::-1], together)


def test_activations() -> None:
    values = np.linspace(-12, 12, 2_001)
    for activation, exact in (
        (tanh, np.tanh(values)),
        (relu, np.maximum(values, 0)),
        (identity, values),
    ):
        found = values.copy()
        activation(found, STATE_BITS)
        assert np.abs(found - exact).max() < 1e-6
        assert np.array_equal(found, np.rint(found * 2**STATE_BITS) / 2**STATE_BITS)


def test_a_folder_is_an_embedder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its path, also from the user's own folder."""
    folder = make_encoder(tmp_path / "mine", ENCODERS["bert"])
    name = open_folder(folder).name
    assert open_embedder(str(folder)).name == name
    monkeypatch.setenv("HOME", str(tmp_path))
    assert open_embedder("~/mine").name == name
    monkeypatch.chdir(folder)
    assert open_embedder(".").name == name


def test_a_folder_that_is_not_understood_goes_to_sentence_transformers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_encoder(tmp_path / "mine", ENCODERS["bert"])
    edit(folder / "config.json", model_type="modernbert")
    monkeypatch.setattr(graph_service.embed, "has_sentence_transformers", lambda: False)
    with pytest.raises(ModelFileError, match="modernbert") as raised:
        open_embedder(str(folder))
    assert 'pip install "graph-service[sentence-transformers]"' in (raised.value.hint or "")
    monkeypatch.setattr(graph_service.embed, "has_sentence_transformers", lambda: True)
    asked: list[str] = []
    monkeypatch.setattr(
        "graph_service.embed.sentence.SentenceTransformerEmbedder.__init__",
        lambda self, model: asked.append(model),
    )
    open_embedder(str(folder))
    assert asked == [str(folder)]


def test_questions_are_kept_apart_from_texts(tmp_path: Path) -> None:
    """In memory and in the file; a model without prompts has one vector a text."""
    embedder = opened(tmp_path / "model", "xlm-roberta")
    for _ in range(2):
        with Vectors(embedder, VectorFile(tmp_path / "vectors.db")) as vectors:
            text, question = vectors.encode(["birth"]), vectors.queries.encode(["birth"])
            assert np.array_equal(text, embedder.encode(["birth"]))
            assert np.array_equal(question, encode_queries(embedder, ["birth"]))
            assert not np.array_equal(text, question)
            assert vectors.file is not None
            assert vectors.file.count() == 2
    plain = Vectors(opened(tmp_path / "plain"))
    assert plain.queries is plain


def test_the_command_line_names_an_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the environment, for verbs with a store and without one."""
    monkeypatch.setenv("GRAPH_SERVICE_EMBEDDER", "of-the-environment")
    assert settings_of(ServeOptions()).embedder == "of-the-environment"
    assert settings_of(ServeOptions(embedder="~/mine")).embedder == "~/mine"
    train = TrainOptions(file="f", out="o", embedder="~/mine")
    assert settings_of(train).embedder == "~/mine"
