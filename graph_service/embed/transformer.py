"""Sentence encoders of the BERT family in plain numpy: no torch, ready in a tenth of a second.

What sets a model apart stands in ``Architecture``: BERT, DistilBERT, MPNet (positions as a bias of
attention, too) and RoBERTa with XLM-R (positions counted from behind the padding's) share the code.
The vector of a text is the mean of the last layer's states or that of its first mark, put through
what dense layers the model has, and brought to length 1 (Reimers and Gurevych 2019).

Texts are packed, not padded: the dense layers run on the words of many texts at once, and only
attention, which must not look from one text into another, goes by groups of texts of one length.

A text has one vector, to the last bit: whatever it is computed together with, on how many threads
and by which kernel of the linear algebra library. ``exact`` says how.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from graph_service.embed.exact import (
    STATE_BITS,
    WEIGHT_BITS,
    Float64,
    normalise,
    to_grid,
    to_unit_length,
    unused_bits,
)
from graph_service.embed.layers import (
    ACTIVATIONS,
    LEAST_BITS,
    OTHER_WAY,
    Architecture,
    Grids,
    Group,
    Layer,
    TensorReader,
    Tensors,
    attend,
    merge,
    project,
    read_layers,
)
from graph_service.embed.low_rank import LayerUpdate, updated_layers
from graph_service.embed.protocol import Float32, check_text
from graph_service.embed.rounded import RoundedWeights
from graph_service.errors import ModelFileError
from graph_service.math_threads import one_math_thread

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from graph_service.embed.packed_model import PieceTokenizer

Int64 = npt.NDArray[np.int64]
T = TypeVar("T")
Number = TypeVar("Number", bound=np.floating)

# Words a pass: wide enough for full speed, and the widest array (1,536 a word) stays in cache.
_PACK_TOKENS = 768
# Under this many words a pack is not worth a thread.
_LEAST_PACK = 128
_CORES = os.cpu_count() or 1


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """A dense layer behind the pooling: ``activation(x @ weight + bias)``.

    Attributes:
        weight: [in, out].
        bias: [out].
        activation: A name of ``ACTIVATIONS``.
    """

    weight: Float64
    bias: Float64
    activation: str


@dataclass(frozen=True, slots=True)
class UnitLength:
    """Brings vectors to length 1 between dense layers."""


Step = Dense | UnitLength


class TokenTable(Protocol):
    """The vectors of tokens, by their ids."""

    def __getitem__(self, rows: Int64, /) -> Float32:
        """Returns the vectors of some, [len(rows), width]."""


_MATRICES = ("attend", "merge", "widen", "narrow")
"""The large arrays of a layer."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenPack:
    """The tokens of some texts one after the other, those of one length together.

    Attributes:
        words: Ids of tokens, int64 [tokens].
        begins: First row of each text, int64 [texts].
        lengths: Tokens of each text, int64 [texts], ascending.
        groups: Texts of one length.
    """

    words: Int64
    begins: Int64
    lengths: Int64
    groups: list[Group]

    @classmethod
    def of(cls, ids: Sequence[Sequence[int]], /) -> TokenPack:
        """Returns the pack of texts whose lengths ascend."""
        lengths = np.array([len(item) for item in ids], dtype=np.int64)
        stops = np.cumsum(lengths)
        begins = stops - lengths
        words = np.fromiter((i for item in ids for i in item), dtype=np.int64, count=int(stops[-1]))
        distinct, first = np.unique(lengths, return_index=True)
        bounds = [*first.tolist(), len(ids)]
        groups = [
            Group(int(begins[bounds[i]]), bounds[i + 1] - bounds[i], length)
            for i, length in enumerate(distinct.tolist())
        ]
        return cls(words, begins, lengths, groups)


def _packs(lengths: Sequence[int], /) -> list[list[int]]:
    """Texts of similar length in packs of at most ``_PACK_TOKENS`` words, enough for all cores."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    room = min(_PACK_TOKENS, max(_LEAST_PACK, -(-sum(lengths) // _CORES)))
    packs: list[list[int]] = []
    tokens = room
    for i in order:
        if tokens + lengths[i] > room:
            packs.append([])
            tokens = 0
        packs[-1].append(i)
        tokens += lengths[i]
    return packs


class TransformerEmbedder:
    """An encoder with its tokenizer. Safe to use from several threads.

    Args:
        name: Of the model, with its state; part of the key of every kept vector.
        architecture: How the tensors are put together.
        tensors: By the names of the family, without a prefix.
        tokenizer: Neither pads nor truncates, and puts one mark before and one after a text.
        steps: What follows the pooling, but for the last length of 1.
        grids: Known to keep the sums of every layer exact; else worked out from the weights.
        words: The vectors of tokens, where they are not among the tensors.

    Raises:
        ModelFileError: A tensor is missing or has another shape, or numbers are too large for
            exact sums.
    """

    def __init__(
        self,
        name: str,
        architecture: Architecture,
        tensors: Tensors,
        tokenizer: Tokenizer | PieceTokenizer,
        /,
        *,
        steps: Sequence[Step] = (),
        grids: Grids | None = None,
        words: TokenTable | None = None,
    ) -> None:
        self._name = name
        self._tokenizer = tokenizer
        self._shape = architecture
        width = architecture.width
        read = TensorReader(name, tensors)
        self._words: TokenTable = (
            read.table("embeddings.word_embeddings.weight", width) if words is None else words
        )
        positions = read.table("embeddings.position_embeddings.weight", width)
        most = architecture.first_position + architecture.max_tokens
        if len(positions) < most:
            raise ModelFileError(f"{name} has {len(positions)} positions, {most} are needed")
        self._positions: Float32 = positions[:most].astype(np.float32)
        self._second_type = np.zeros(width)
        if architecture.has_token_types:
            # A text that is embedded is of type 0, whose vector goes into the positions' once.
            types = read.table("embeddings.token_type_embeddings.weight", width)
            self._positions = self._positions + types[0].astype(np.float32)
            if len(types) > 1:
                self._second_type = types[1].astype(np.float64) - types[0].astype(np.float64)
        self._scale = read.vector("embeddings.LayerNorm.weight", width)
        self._shift = read.vector("embeddings.LayerNorm.bias", width)
        self._distances = None
        if architecture.has_distances:
            table = read.table("encoder.relative_attention_bias.weight", architecture.heads)
            self._distances = _bias_by_distance(table, architecture.max_tokens)
        self._layers = read_layers(read, architecture, self._scale, self._shift, grids)
        self._steps = _fitted(steps, name, architecture, self._layers)
        dense = [step for step in steps if isinstance(step, Dense)]
        self._dimension = dense[-1].weight.shape[1] if dense else width
        self._folder: Path | None = None
        self._derived: dict[Callable[[TransformerEmbedder], Any], Any] = {}

    @property
    def name(self) -> str:
        """The model's name and the state of its files."""
        return self._name

    @property
    def arithmetic(self) -> str:
        """How products are summed: exactly. Vectors kept before were rounded as they came."""
        return "exact-1"

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self._dimension

    @property
    def architecture(self) -> Architecture:
        """What sets the model apart."""
        return self._shape

    def encode(self, texts: Sequence[str], /) -> Float32:
        """Returns one unit vector a text, float32 [len(texts), dimension].

        A text of more tokens than the model reads is embedded by its beginning, as the models'
        authors do. The same text has the same bits in any company and on any machine.

        Raises:
            InputError: A text holds a lone surrogate.
        """
        ids = [self._truncated(text) for text in texts]
        vectors = np.empty((len(ids), self._dimension), dtype=np.float32)

        def fill(pack: list[int]) -> None:
            vectors[pack] = self._encode_pack([ids[i] for i in pack])

        packs = _packs([len(item) for item in ids])
        with one_math_thread():  # whole packs go to threads
            if len(packs) == 1:
                fill(packs[0])
            elif packs:
                with ThreadPoolExecutor(min(_CORES, len(packs))) as pool:
                    list(pool.map(fill, packs))
        return vectors

    def share(self, folder: Path, /) -> None:
        """Keeps its weights in files that other processes on them have mapped too.

        So are those of layers that are updated from now on.

        Args:
            folder: Of these processes alone. A file that is not there yet is written.
        """
        self._folder = folder
        prefix = self._file_prefix()
        if isinstance(self._words, np.ndarray):
            self._words = _mapped(self._words, folder / f"{prefix}-words.npy")
        self._layers = _mapped_layers(self._layers, folder, prefix)

    def count_tokens(self, text: str, /) -> int:
        """Returns the number of tokens of a text, without special ones and without a limit."""
        return len(self._ids(text, special=False))

    def _truncated(self, text: str) -> list[int]:
        ids = self._ids(text, special=True)
        most = self._shape.max_tokens
        return ids if len(ids) <= most else [*ids[: most - 1], ids[-1]]

    def _ids(self, text: str, *, special: bool) -> list[int]:
        check_text(text)
        token_ids: list[int] = self._tokenizer.encode(text, add_special_tokens=special).ids
        return token_ids

    def _encode_pack(self, ids: list[list[int]]) -> Float32:
        """Returns the vectors of texts in order of their length, [texts, dimension]."""
        pack = TokenPack.of(ids)
        position_ids = self._position_ids(pack.words, pack.begins, pack.lengths)
        state = self.states(pack.words, position_ids)
        biases = [self._bias(group.length) for group in pack.groups]
        for layer in self._layers:
            context = attend(
                project(layer, state), self._shape.heads, pack.groups, biases, layer.grids
            )
            state = merge(layer, self._shape, state, context)
        return self._pooled(state, pack.begins, pack.lengths).astype(np.float32)

    def states(self, words: Int64, positions: Int64, /, *, second: bool = False) -> Float64:
        """Returns the states that go into the first layer, float64 [tokens, width].

        Args:
            words: Ids of tokens.
            positions: Row of each in the table of positions.
            second: Whether they are of the second of two texts (BERT's token type 1).
        """
        state: Float64 = self._words[words].astype(np.float64)
        state += self._positions[positions]
        if second:
            state += self._second_type
        normalise(state, self._scale, self._shift, self._shape.epsilon)
        return state

    def updated_layers(self, updates: Sequence[LayerUpdate], data: str, /) -> tuple[Layer, ...]:
        """Returns the layers with updates added, in weights of their own.

        Args:
            updates: One a layer.
            data: Hash that tells them from others.
        """
        layers = updated_layers(self._layers, updates, self._shape, self._scale, self._shift)
        if self._folder is None:
            return layers
        try:
            return _mapped_layers(layers, self._folder, f"{self._file_prefix(data)}-updated")
        except OSError:
            # The folder's disk is full: this process keeps what it has made.
            return layers

    def _file_prefix(self, data: str = "") -> str:
        """Returns what the names of files with its weights begin with."""
        name = f"{self._name} {self.arithmetic}{data}".encode()
        return f"weights-{hashlib.blake2b(name, digest_size=16).hexdigest()}"

    def derived(self, make: Callable[[TransformerEmbedder], T], /) -> T:
        """Returns what a function makes of this embedder: made once, and held as long as it."""
        if make not in self._derived:
            self._derived.setdefault(make, make(self))
        made: T = self._derived[make]
        return made

    def token_ids(self, text: str, /) -> list[int]:
        """Returns the tokens of a text with the marks before and behind, however many.

        Raises:
            InputError: The text holds a lone surrogate.
        """
        return self._ids(text, special=True)

    def _position_ids(self, words: Int64, begins: Int64, lengths: Int64) -> Int64:
        """Returns the row of each word in the table of positions, [words]."""
        position_ids = np.arange(len(words), dtype=np.int64) - np.repeat(begins, lengths)
        padding = self._shape.padding_id
        if padding is None:
            return position_ids
        position_ids += padding + 1
        # A text may hold the padding's mark as a word; it has the padding's place.
        is_padding = words == padding
        if is_padding.any():
            passed = np.cumsum(is_padding)
            position_ids -= passed - np.repeat((passed - is_padding)[begins], lengths)
            position_ids[is_padding] = padding
        return position_ids

    def _bias(self, length: int) -> Float64 | None:
        """Returns what distances add to the scores of texts of one length, [heads, words, words]."""
        if self._distances is None:
            return None
        row = np.arange(length)
        bias: Float64 = self._distances[:, row[None] - row[:, None] + self._shape.max_tokens - 1]
        return bias

    def _pooled(self, state: Float64, begins: Int64, lengths: Int64) -> Float64:
        vectors: Float64
        if self._shape.pooling == "cls":
            vectors = state[begins]
        else:
            # Exact, as states are on their grid. The mean only scales it, which the length undoes.
            vectors = np.add.reduceat(state, begins, axis=0)
            if self._steps:
                vectors /= lengths[:, None]
        for step in self._steps:
            if isinstance(step, Dense):
                to_grid(vectors, STATE_BITS)
                vectors = vectors @ step.weight
                vectors += step.bias
                ACTIVATIONS[step.activation](vectors, STATE_BITS)
            else:
                to_unit_length(vectors)
        to_unit_length(vectors)
        return vectors


def _mapped_layers(layers: Sequence[Layer], folder: Path, prefix: str) -> tuple[Layer, ...]:
    """Returns layers whose large arrays are as files have them."""
    mapped: list[Layer] = []
    for index, layer in enumerate(layers):
        matrices: dict[str, Any] = {}
        for part in _MATRICES:
            weights, file = getattr(layer, part), folder / f"{prefix}-{index}-{part}.npy"
            matrices[part] = (
                replace(weights, numbers=_mapped(weights.numbers, file))
                if isinstance(weights, RoundedWeights)
                else _mapped(weights, file)
            )
        mapped.append(replace(layer, **matrices))
    return tuple(mapped)


def _mapped(values: npt.NDArray[Number], path: Path) -> npt.NDArray[Number]:
    """Returns an array as a file has it, which is written whole where there is none."""
    if not path.exists():
        with NamedTemporaryFile(dir=path.parent, delete=False) as file:
            np.save(file, values)
        # Of several processes that write it at once each writes the same.
        Path(file.name).replace(path)
    mapped: npt.NDArray[Number] = np.load(path, mmap_mode="r").view(np.ndarray)
    return mapped


def _fitted(
    steps: Sequence[Step], name: str, shape: Architecture, layers: Sequence[Layer]
) -> tuple[Step, ...]:
    """Returns steps whose weights are on a grid that keeps their sums exact.

    Raises:
        ModelFileError: A dense layer does not fit what comes before it, or has large numbers.
    """
    scale, shift = layers[-1].narrow_scale, layers[-1].narrow_shift
    bound = np.sqrt(shape.width) * np.abs(scale) + np.abs(shift)
    fitted: list[Step] = []
    for step in steps:
        if isinstance(step, UnitLength):
            bound = np.ones_like(bound)
            fitted.append(step)
            continue
        if len(step.weight) != len(bound):
            raise ModelFileError(
                f"a dense layer of {name} takes {len(step.weight)} numbers, and {len(bound)} come"
            )
        sums = bound @ np.abs(step.weight)
        bits = min(WEIGHT_BITS, unused_bits(sums) - STATE_BITS)
        if bits < LEAST_BITS:
            raise ModelFileError(
                f"the numbers of a dense layer of {name} are too large for exact sums",
                hint=OTHER_WAY,
            )
        weight = step.weight.copy()
        to_grid(weight, bits)
        fitted.append(replace(step, weight=weight))
        bound = sums + np.abs(step.bias)
    return tuple(fitted)


# Distances of 8 words and more share 8 buckets a side, the last from 91 words on.
_NEAR = 8
_BUCKETS = 16


def _bias_by_distance(table: Float32, max_tokens: int) -> Float64:
    """Returns MPNet's bias of attention by distance, [heads, 2 * max_tokens - 1].

    The buckets are T5's (Raffel et al. 2020): each distance under 8 has its own, and further ones
    go by their logarithm. Column ``max_tokens - 1`` is that of distance 0; words after the one
    that looks have the upper half of the table.

    Args:
        table: [32 buckets, heads].
        max_tokens: Most words of a text.
    """
    if len(table) != 2 * _BUCKETS:
        raise ModelFileError(f"expected {2 * _BUCKETS} buckets of distances, got {len(table)}")
    distance = np.arange(1 - max_tokens, max_tokens)
    size = np.abs(distance)
    # floor(8 + 2 log2(size / 8)), in whole numbers.
    far = np.array([_NEAR - 1 + (int(s) ** 2 // _NEAR**2).bit_length() for s in size])
    bucket = np.where(size < _NEAR, size, np.minimum(far, _BUCKETS - 1))
    bucket = bucket + np.where(distance > 0, _BUCKETS, 0)
    bias: Float64 = np.ascontiguousarray(table[bucket].T.astype(np.float64))
    return bias
