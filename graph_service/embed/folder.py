"""Models in folders, as sentence-transformers saves them: what is in them, and the embedder of it.

Read are ``modules.json`` (the transformer, its pooling, dense layers and normalisation), the
configuration of each, ``tokenizer.json``, ``model.safetensors`` and the prompts of
``config_sentence_transformers.json``. What is not understood is refused, never left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import orjson

from graph_service.embed.catalogue import read_record
from graph_service.embed.layers import OTHER_WAY, Architecture, LayerNames, Tensors
from graph_service.embed.prompts import Prompts, prompted
from graph_service.embed.protocol import Embedder
from graph_service.embed.transformer import Dense, Step, TransformerEmbedder, UnitLength
from graph_service.embed.weights import TOKENIZER, WEIGHTS, remembered_sha256
from graph_service.errors import ModelFileError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MODULES = "modules.json"
_WORDS = "embeddings.word_embeddings.weight"


@dataclass(frozen=True, slots=True)
class _Family:
    """How a family spells what others spell as BERT does.

    Attributes:
        names: Of the tensors of a layer.
        config: Keys of ``config.json``, by BERT's.
        has_offset: Whether positions begin behind the padding's.
        padding_id: The padding's id where the configuration does not matter.
        has_token_types: Whether words have a vector of their text's type.
        has_distances: Whether attention has a bias by distance.
    """

    names: LayerNames
    config: Mapping[str, str]
    has_offset: bool = False
    padding_id: int | None = None
    has_token_types: bool = False
    has_distances: bool = False


_BERT = _Family(LayerNames(), {}, has_token_types=True)
_ROBERTA = _Family(LayerNames(), {}, has_offset=True, has_token_types=True)
_FAMILIES: Mapping[str, _Family] = {
    "bert": _BERT,
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA,
    "camembert": _ROBERTA,
    "distilbert": _Family(
        LayerNames(
            layer="transformer.layer",
            query="attention.q_lin",
            key="attention.k_lin",
            value="attention.v_lin",
            merge="attention.out_lin",
            merge_norm="sa_layer_norm",
            widen="ffn.lin1",
            narrow="ffn.lin2",
            narrow_norm="output_layer_norm",
        ),
        {
            "hidden_size": "dim",
            "num_hidden_layers": "n_layers",
            "num_attention_heads": "n_heads",
            "hidden_act": "activation",
        },
    ),
    "mpnet": _Family(
        LayerNames(
            query="attention.attn.q",
            key="attention.attn.k",
            value="attention.attn.v",
            merge="attention.attn.o",
            merge_norm="attention.LayerNorm",
        ),
        {},
        has_offset=True,
        padding_id=1,
        has_distances=True,
    ),
}
_ACTIVATIONS_OF_DENSE = {
    "torch.nn.modules.activation.Tanh": "tanh",
    "torch.nn.modules.activation.ReLU": "relu",
    "torch.nn.modules.activation.GELU": "gelu",
    "torch.nn.modules.linear.Identity": "identity",
}
_POOLINGS: Mapping[str, Literal["mean", "cls"]] = {"mean": "mean", "cls": "cls"}
_OLD_POOLINGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


def open_folder(folder: Path, /) -> Embedder:
    """Returns the embedder of a folder, named by the folder and a hash of what is in it.

    Raises:
        ModelFileError: A file is missing or damaged, or says something that is not understood.
    """
    model = _Folder(folder.expanduser().resolve())
    transformer, pooling, *others = model.modules()
    tokenizer = read_tokenizer(transformer.file(TOKENIZER.name))
    settings = transformer.config("sentence_bert_config.json", is_optional=True)
    if settings.get("do_lower_case"):
        _lower(tokenizer)
    architecture = _architecture(transformer, _pooling(pooling), settings.get("max_seq_length"))
    prompts = model.prompts()
    if prompts.any and pooling.config("config.json").get("include_prompt") is False:
        raise pooling.not_understood("include_prompt", "false, with prompts")
    steps = [step for module in others if (step := _step(module)) is not None]
    weights = transformer.file(WEIGHTS.name)
    tensors = read_tensors(weights)
    _require_rows(tensors, tokenizer, weights)
    read = [transformer.file(TOKENIZER.name), weights]
    state = _state(
        asdict(architecture), asdict(prompts), settings.get("do_lower_case"), steps, read
    )
    name = f"{model.path.name}@{state}"
    embedder = TransformerEmbedder(name, architecture, tensors, tokenizer, steps=steps)
    return prompted(embedder, prompts)


def read_tensors(path: Path, /) -> Tensors:
    """Returns the tensors of a file, less the prefix of the family and what no vector needs.

    Raises:
        ModelFileError: It is no such file, or holds numbers that numpy has no type for.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="numpy") as file:
            names = list(file.keys())
            prefix = next((name[: -len(_WORDS)] for name in names if name.endswith(_WORDS)), "")
            return {
                _modern(name.removeprefix(prefix)): file.get_tensor(name)
                for name in names
                if name.startswith(prefix) and _is_read(name.removeprefix(prefix))
            }
    except (SafetensorError, OSError, TypeError) as error:
        raise ModelFileError(
            f"the tensors of {path} can't be read: {error}",
            hint="Save the model in float32 or float16 as model.safetensors.",
        ) from error


def read_tokenizer(path: Path, /) -> Tokenizer:
    """Returns the tokenizer of a file, which neither pads nor cuts.

    Raises:
        ModelFileError: It can't be read, or puts other marks around a text than one at each end.
    """
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    # The library raises plain exceptions for whatever is wrong.
    except Exception as error:
        raise ModelFileError(f"the tokenizer {path} can't be read: {error}") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    marks = tokenizer.encode("").special_tokens_mask
    if marks != [1, 1]:
        raise ModelFileError(
            f"the tokenizer {path} puts {len(marks)} marks around a text; one before and one "
            "after it were expected",
            hint=OTHER_WAY,
        )
    return tokenizer


@dataclass(frozen=True, slots=True)
class _Module:
    """One entry of ``modules.json``: a module's type and its folder."""

    kind: str
    path: Path

    def file(self, name: str) -> Path:
        path = self.path / name
        if not path.is_file():
            raise ModelFileError(
                f"the model folder {self.path} lacks {name}",
                hint="Save the model with sentence-transformers 3 or newer.",
            )
        return path

    def config(self, name: str, *, is_optional: bool = False) -> dict[str, Any]:
        if is_optional and not (self.path / name).is_file():
            return {}
        fields: dict[str, Any] = _read_json(self.file(name), dict)
        return fields

    def not_understood(self, what: str, value: object) -> ModelFileError:
        return ModelFileError(
            f"the numpy encoder does not know {what} {value!r} in {self.path}", hint=OTHER_WAY
        )


@dataclass(frozen=True, slots=True)
class _Folder:
    path: Path

    def modules(self) -> list[_Module]:
        """Returns the modules in order: a transformer, its pooling, and what follows."""
        if not (self.path / MODULES).is_file():
            raise ModelFileError(
                f"{self.path} has no {MODULES}: it is no model as sentence-transformers saves them",
                hint="Load it with sentence-transformers, and save it with save_pretrained(FOLDER).",
            )
        try:
            modules = [
                _Module(str(line["type"]).rsplit(".", 1)[-1], self.path / str(line["path"]))
                for line in _read_json(self.path / MODULES, list)
            ]
        except (KeyError, TypeError) as error:
            raise ModelFileError(f"{self.path / MODULES} is damaged: {error!r}") from error
        kinds = [module.kind for module in modules]
        if kinds[:2] != ["Transformer", "Pooling"]:
            raise ModelFileError(
                f"{self.path / MODULES} begins with {' and '.join(kinds[:2])}; a Transformer and "
                "its Pooling were expected",
                hint=OTHER_WAY,
            )
        return modules

    def prompts(self) -> Prompts:
        """Returns the prompts that the model was saved with, else those known to ``model fetch``."""
        top = _Module("", self.path)
        config = top.config("config_sentence_transformers.json", is_optional=True)
        saved = Prompts.of(config.get("prompts") or {}, config.get("default_prompt_name"))
        if saved.any:
            return saved
        record = read_record(self.path)
        return Prompts.of(record["prompts"] if record else {})


def _architecture(
    module: _Module, pooling: Literal["mean", "cls"], max_tokens: int | None
) -> Architecture:
    """Returns what a transformer's configuration says, with the limit that its folder sets."""
    config = module.config("config.json")
    kind = config.get("model_type")
    family = _FAMILIES.get(str(kind))
    if family is None:
        raise module.not_understood("model_type", kind)
    for key, expected in (("position_embedding_type", "absolute"), ("is_decoder", False)):
        if config.get(key, expected) != expected:
            raise module.not_understood(key, config[key])

    def integer(key: str) -> int:
        name = family.config.get(key, key)
        value = config.get(name)
        if not isinstance(value, int) or value < 1:
            raise ModelFileError(
                f"{module.path / 'config.json'} has {name} {value!r}, a whole number was expected"
            )
        return value

    activation = config.get(family.config.get("hidden_act", "hidden_act"), "gelu")
    if activation not in ("gelu", "relu"):
        raise module.not_understood("activation", activation)
    padding_id = None
    if family.has_offset:
        padding_id = family.padding_id
        if padding_id is None:
            padding_id = int(config.get("pad_token_id", 1))
    width, heads = integer("hidden_size"), integer("num_attention_heads")
    if width % heads:
        raise ModelFileError(f"{module.path}: {heads} heads do not share a width of {width}")
    most = integer("max_position_embeddings") - (0 if padding_id is None else padding_id + 1)
    if max_tokens is None:
        tokens = module.config("tokenizer_config.json", is_optional=True)
        max_tokens = tokens.get("model_max_length", most)
    return Architecture(
        layers=integer("num_hidden_layers"),
        heads=heads,
        width=width,
        max_tokens=min(most, int(max_tokens)),
        pooling=pooling,
        epsilon=float(config.get("layer_norm_eps", 1e-12)),
        activation=str(activation),
        padding_id=padding_id,
        has_token_types=family.has_token_types,
        has_distances=family.has_distances,
        names=family.names,
    )


def _pooling(module: _Module) -> Literal["mean", "cls"]:
    config = module.config("config.json")
    mode = config.get("pooling_mode")
    if mode is None:
        mode = [name for key, name in _OLD_POOLINGS.items() if config.get(key)] or ["mean"]
    modes = [mode] if isinstance(mode, str) else list(mode)
    if len(modes) != 1 or modes[0] not in _POOLINGS:
        raise module.not_understood("pooling", " and ".join(map(str, modes)))
    return _POOLINGS[modes[0]]


def _step(module: _Module) -> Step | None:
    """Returns what a module behind the pooling does; None where it does nothing."""
    if module.kind == "Dropout":
        return None
    if module.kind == "Normalize":
        return UnitLength()
    if module.kind != "Dense":
        raise module.not_understood("module", module.kind)
    config = module.config("config.json")
    activation = config.get("activation_function", "torch.nn.modules.activation.Tanh")
    if activation not in _ACTIVATIONS_OF_DENSE:
        raise module.not_understood("activation_function", activation)
    for key in ("module_input_name", "module_output_name"):
        if config.get(key) not in (None, "sentence_embedding"):
            raise module.not_understood(key, config[key])
    if config.get("use_residual"):
        raise module.not_understood("use_residual", True)
    weights = module.file(WEIGHTS.name)
    tensors = read_tensors(weights)
    weight = tensors.get("linear.weight")
    if weight is None or weight.ndim != 2:
        raise ModelFileError(f"{weights} has no matrix linear.weight")
    bias = tensors.get("linear.bias", np.zeros(len(weight)))
    if bias.shape != (len(weight),):
        raise ModelFileError(f"{weights} has a linear.bias of shape {list(bias.shape)}")
    return Dense(
        np.ascontiguousarray(weight.T.astype(np.float64)),
        bias.astype(np.float64),
        _ACTIVATIONS_OF_DENSE[activation],
    )


def _lower(tokenizer: Tokenizer) -> None:
    """Makes a tokenizer read texts in small letters."""
    from tokenizers.normalizers import Lowercase, Sequence

    before = tokenizer.normalizer
    tokenizer.normalizer = Sequence([Lowercase(), before]) if before else Lowercase()


def _require_rows(tensors: Tensors, tokenizer: Tokenizer, path: Path) -> None:
    words = tensors.get(_WORDS)
    if words is None:
        raise ModelFileError(f"{path} has no tensor {_WORDS}", hint=OTHER_WAY)
    last = max(tokenizer.get_vocab(with_added_tokens=True).values())
    if last >= len(words):
        raise ModelFileError(
            f"the tokenizer has an id {last}, and {path} vectors of {len(words)} words: they do "
            "not belong together"
        )


def _state(*parts: object) -> str:
    """Returns a hash of all that a vector depends on, 16 hexadecimal digits."""

    def plain(part: object) -> object:
        if isinstance(part, Path):
            return remembered_sha256(part)
        if isinstance(part, Dense):
            arrays = (part.weight.astype("<f8"), part.bias.astype("<f8"))
            hashes = [hashlib.sha256(each.tobytes()).hexdigest() for each in arrays]
            return [part.activation, *hashes]
        return "unit length"

    encoded = orjson.dumps(
        parts, default=plain, option=orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS
    )
    return hashlib.sha256(encoded).hexdigest()[:16]


def _is_read(name: str) -> bool:
    return not name.startswith("pooler") and not name.endswith("position_ids")


def _modern(name: str) -> str:
    """Returns a tensor's name; early files call a LayerNorm's weight and bias gamma and beta."""
    if name.endswith("LayerNorm.gamma"):
        return name.removesuffix("gamma") + "weight"
    if name.endswith("LayerNorm.beta"):
        return name.removesuffix("beta") + "bias"
    return name


def _read_json(path: Path, kind: type) -> Any:
    try:
        content = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise ModelFileError(f"{path} can't be read: {error}") from error
    if not isinstance(content, kind):
        raise ModelFileError(f"{path} holds no {'object' if kind is dict else 'list'}")
    return content
