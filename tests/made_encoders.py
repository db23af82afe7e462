"""Small encoders of each family, made here as sentence-transformers saves them: no torch, no file.

Weights are drawn by a keyed hash of the tensor's name, so that a model is the same bytes wherever
it is made, and what sentence-transformers made of it can be recorded
(``tests/models/record_encoder_vectors.py``). They are large, so that every part of a model shows in
its vectors.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

RECORDED = Path(__file__).parent / "golden" / "encoder_vectors.json"
"""What sentence-transformers makes of ``TEXTS``, by encoder."""
WIDTH, WIDE, HEADS, LAYERS = 24, 40, 3, 2
DENSE_WIDTH = 10
LETTERS = "abcdefghijklmnopqrstuvwxyz"
CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюя"
WORDS = ("who", "is", "the", "mother", "of", "director", "birth", "place", "query", "passage")

TEXTS = (
    "",
    "place of birth",
    "Who is the mother of the director?",
    "  Zwei\tŁódź, 東京 and ALL CAPITALS!  ",
    "кто режиссёр",
    "a <pad> b [PAD] c",
    "the " * 150,
)


@dataclass(frozen=True)
class Made:
    """What one made model is like.

    Attributes:
        family: ``model_type`` of its configuration.
        pooling: As the folder says it: a mode's name, or old flags.
        prefix: Of the tensors' names.
        config: Over the family's configuration.
        steps: Kinds of modules behind the pooling; a Dense with its activation.
        prompts: By name.
        max_tokens: Of ``sentence_bert_config.json``; None leaves it to the tokenizer.
        half: Whether weights are float16.
        lower: Whether ``sentence_bert_config.json`` asks for small letters.
    """

    family: str
    pooling: Mapping[str, Any] = field(default_factory=lambda: {"pooling_mode_mean_tokens": True})
    prefix: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    steps: tuple[str, ...] = ("Normalize",)
    prompts: Mapping[str, str] = field(default_factory=dict)
    max_tokens: int | None = 128
    half: bool = False
    lower: bool = False


ENCODERS: Mapping[str, Made] = {
    "bert": Made("bert"),
    "bert-cls": Made(
        "bert",
        pooling={"pooling_mode": "cls"},
        prefix="bert.",
        prompts={"query": "query: "},
        max_tokens=12,
    ),
    "bert-relu": Made("bert", config={"hidden_act": "relu", "layer_norm_eps": 0.05}, steps=()),
    "distilbert": Made(
        "distilbert", prefix="distilbert.", steps=("Dense tanh", "Normalize"), max_tokens=None
    ),
    "mpnet": Made("mpnet"),
    "mpnet-dense": Made("mpnet", prefix="mpnet.", steps=("Normalize", "Dense gelu", "Dense relu")),
    "xlm-roberta": Made(
        "xlm-roberta", prefix="roberta.", prompts={"query": "query: ", "passage": "passage: "}
    ),
    "xlm-roberta-far": Made("xlm-roberta", config={"pad_token_id": 5}, steps=("Dropout",)),
    "roberta": Made(
        "roberta",
        pooling={"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False},
        steps=("Dense identity", "Normalize"),
        half=True,
        lower=True,
    ),
}
ACTIVATIONS = {
    "tanh": "torch.nn.modules.activation.Tanh",
    "relu": "torch.nn.modules.activation.ReLU",
    "gelu": "torch.nn.modules.activation.GELU",
    "identity": "torch.nn.modules.linear.Identity",
}
_KINDS = {
    "Transformer": "sentence_transformers.models.Transformer",
    "Pooling": "sentence_transformers.models.Pooling",
    "Dense": "sentence_transformers.models.Dense",
    "Normalize": "sentence_transformers.models.Normalize",
    "Dropout": "sentence_transformers.models.Dropout",
}


def make_encoder(folder: Path, made: Made, /, *, seed: str = "1") -> Path:
    """Fills a folder with a model, and returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer, marks = _TOKENIZERS[made.family](made)
    tokenizer.save(str(folder / "tokenizer.json"))
    rows = tokenizer.get_vocab_size(with_added_tokens=True)
    config = {**_config(made.family, rows), **made.config}
    _write(folder / "config.json", config)
    _write(
        folder / "tokenizer_config.json",
        {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 120, **marks},
    )
    said = {"max_seq_length": made.max_tokens, "do_lower_case": made.lower}
    _write(folder / "sentence_bert_config.json", said)
    _write(
        folder / "config_sentence_transformers.json",
        {"prompts": dict(made.prompts), "default_prompt_name": None},
    )
    names = ["Transformer", "Pooling", *made.steps]
    modules = []
    width = WIDTH
    for number, name in enumerate(names):
        kind, _, activation = name.partition(" ")
        path = "" if number == 0 else f"{number}_{kind}"
        modules.append({"idx": number, "name": str(number), "path": path, "type": _KINDS[kind]})
        (folder / path).mkdir(exist_ok=True)
        if kind == "Pooling":
            _write(folder / path / "config.json", {"embedding_dimension": WIDTH, **made.pooling})
        if kind == "Dropout":
            _write(folder / path / "config.json", {"dropout": 0.5})
        if kind == "Dense":
            _write(
                folder / path / "config.json",
                {
                    "in_features": width,
                    "out_features": DENSE_WIDTH,
                    "bias": True,
                    "activation_function": ACTIVATIONS[activation],
                },
            )
            shapes = {"linear.weight": (DENSE_WIDTH, width), "linear.bias": (DENSE_WIDTH,)}
            save_file(
                {key: draw(f"{seed} {path} {key}", shape) for key, shape in shapes.items()},
                folder / path / "model.safetensors",
            )
            width = DENSE_WIDTH
    _write(folder / "modules.json", modules)
    tensors = {}
    for key, shape in _shapes(made.family, config, rows).items():
        drawn = draw(f"{seed} {made.family} {key}", shape)
        if "norm" in key.lower() and key.endswith("weight"):
            drawn = np.float32(1.0) + np.float32(0.5) * drawn
        tensors[made.prefix + key] = drawn.astype(np.float16) if made.half else drawn
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def draw(key: str, shape: tuple[int, ...]) -> np.ndarray:
    """Returns float32 numbers of -0.6 to 0.6, by a keyed hash."""
    count = int(np.prod(shape))
    raw = hashlib.shake_128(key.encode()).digest(4 * count)
    share = np.frombuffer(raw, dtype="<u4").astype(np.float64) / 2.0**32
    return np.asarray((1.2 * share - 0.6).astype(np.float32).reshape(shape))


def _config(family: str, rows: int) -> dict[str, Any]:
    common = {"model_type": family, "vocab_size": rows, "max_position_embeddings": 160}
    if family == "distilbert":
        return {
            **common,
            "architectures": ["DistilBertModel"],
            "dim": WIDTH,
            "hidden_dim": WIDE,
            "n_layers": LAYERS,
            "n_heads": HEADS,
            "activation": "gelu",
            "pad_token_id": 0,
        }
    wide = {
        **common,
        "hidden_size": WIDTH,
        "intermediate_size": WIDE,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-5,
    }
    if family == "mpnet":
        kind = {"architectures": ["MPNetModel"], "relative_attention_num_buckets": 32}
        return {**wide, **kind, "pad_token_id": 1}
    if family == "bert":
        return {**wide, "architectures": ["BertModel"], "type_vocab_size": 2, "pad_token_id": 0}
    kinds = {"roberta": "RobertaModel", "xlm-roberta": "XLMRobertaModel"}
    return {**wide, "architectures": [kinds[family]], "type_vocab_size": 1, "pad_token_id": 1}


def _shapes(family: str, config: Mapping[str, Any], rows: int) -> dict[str, tuple[int, ...]]:
    norm: tuple[int, ...] = ()
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (rows, WIDTH),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], WIDTH),
    }
    if "type_vocab_size" in config:
        shapes["embeddings.token_type_embeddings.weight"] = (config["type_vocab_size"], WIDTH)
    if family == "mpnet":
        shapes["encoder.relative_attention_bias.weight"] = (32, HEADS)
    linear: dict[str, tuple[int, ...]] = {
        "attention.self.query": (WIDTH, WIDTH),
        "attention.self.key": (WIDTH, WIDTH),
        "attention.self.value": (WIDTH, WIDTH),
        "attention.output.dense": (WIDTH, WIDTH),
        "attention.output.LayerNorm": norm,
        "intermediate.dense": (WIDE, WIDTH),
        "output.dense": (WIDTH, WIDE),
        "output.LayerNorm": norm,
    }
    other = {
        "distilbert": (
            "attention.q_lin attention.k_lin attention.v_lin attention.out_lin sa_layer_norm "
            "ffn.lin1 ffn.lin2 output_layer_norm"
        ),
        "mpnet": (
            "attention.attn.q attention.attn.k attention.attn.v attention.attn.o "
            "attention.LayerNorm intermediate.dense output.dense output.LayerNorm"
        ),
    }
    names = other[family].split() if family in other else list(linear)
    layer = "transformer.layer" if family == "distilbert" else "encoder.layer"
    parts = {"embeddings.LayerNorm": norm} | {
        f"{layer}.{number}.{name}": shape
        for number in range(LAYERS)
        for name, shape in zip(names, linear.values(), strict=True)
    }
    for name, shape in parts.items():
        weight = shape or (WIDTH,)
        shapes[f"{name}.weight"] = weight
        shapes[f"{name}.bias"] = weight[:1]
    return shapes


def _word_pieces(made: Made) -> tuple[Tokenizer, dict[str, str]]:
    """BERT's WordPiece: small letters without accents; [CLS] text [SEP]."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    if made.family == "mpnet":
        special = ["<s>", "<pad>", "</s>", "[UNK]", "<mask>"]
    first, last = ("<s>", "</s>") if made.family == "mpnet" else ("[CLS]", "[SEP]")
    padding = "<pad>" if made.family == "mpnet" else "[PAD]"
    letters = LETTERS + CYRILLIC
    vocab = [*special, *WORDS, *letters, *(f"##{one}" for one in letters), "?", "!", ":", "東"]
    number = {token: i for i, token in enumerate(vocab)}
    tokenizer = Tokenizer(models.WordPiece(number, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    _frame(tokenizer, first, last, number)
    tokenizer.add_special_tokens(special)
    marks = {"unk_token": "[UNK]", "pad_token": padding, "cls_token": first, "sep_token": last}
    return tokenizer, marks


def _unigram(made: Made) -> tuple[Tokenizer, dict[str, str]]:
    """XLM-R's SentencePiece: spaces are letters, and the likeliest pieces are taken."""
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    words = [f"▁{word}" for word in WORDS]
    letters = [*LETTERS, *CYRILLIC, "▁", "东", "東", "京", "?", "!", ":"]
    scored = [(token, 0.0) for token in special]
    scored += [(token, -2.0 - 0.01 * i) for i, token in enumerate(words)]
    scored += [(token, -5.0 - 0.01 * i) for i, token in enumerate(letters)]
    tokenizer = Tokenizer(models.Unigram(scored, unk_id=3))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    tokenizer.decoder = decoders.Metaspace()
    _frame(tokenizer, "<s>", "</s>", {token: i for i, (token, _) in enumerate(scored)})
    tokenizer.add_special_tokens(special)
    padding = scored[made.config.get("pad_token_id", 1)][0]
    marks = {"unk_token": "<unk>", "pad_token": padding, "cls_token": "<s>", "sep_token": "</s>"}
    return tokenizer, marks


def _byte_pairs(made: Made) -> tuple[Tokenizer, dict[str, str]]:
    """RoBERTa's BPE over bytes."""
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    pairs = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("o", "f"), ("Ġ", "of"), ("e", "r")]
    vocab = [*special, *alphabet, *(left + right for left, right in pairs)]
    number = {token: i for i, token in enumerate(vocab)}
    tokenizer = Tokenizer(models.BPE(number, pairs, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", number["</s>"]), ("<s>", number["<s>"]), add_prefix_space=False
    )
    tokenizer.add_special_tokens(special)
    marks = {"unk_token": "<unk>", "pad_token": "<pad>", "cls_token": "<s>", "sep_token": "</s>"}
    return tokenizer, marks


def _frame(tokenizer: Tokenizer, first: str, last: str, number: Mapping[str, int]) -> None:
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} $B {last}",
        special_tokens=[(first, number[first]), (last, number[last])],
    )


_TOKENIZERS = {
    "bert": _word_pieces,
    "distilbert": _word_pieces,
    "mpnet": _word_pieces,
    "xlm-roberta": _unigram,
    "roberta": _byte_pairs,
}


def _write(path: Path, found: object) -> None:
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
