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
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from graph_service.embed.exact import (
    STATE_BITS,
    WEIGHT_BITS,
    Float64,
    exp,
    gelu,
    identity,
    normalise,
    relu,
    spare_bits,
    tanh,
    to_grid,
    to_unit_length,
)
from graph_service.embed.protocol import Float32
from graph_service.errors import InputError, ModelFileError
from graph_service.math_threads import one_math_thread

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Int64 = npt.NDArray[np.int64]
Number = TypeVar("Number", bound=np.floating)
Tensors = Mapping[str, npt.NDArray[np.floating]]

# Words a pass: wide enough for full speed, and the widest array (1,536 a word) stays in cache.
_PACK_TOKENS = 768
# Under this many words a pack is not worth a thread.
_LEAST_PACK = 128
_CORES = os.cpu_count() or 1

ACTIVATIONS: Mapping[str, Callable[[Float64, int], None]] = MappingProxyType(
    {"gelu": gelu, "relu": relu, "tanh": tanh, "identity": identity}
)
"""Each takes values and the digits of the grid that it brings them to."""


@dataclass(frozen=True, slots=True)
class LayerNames:
    """What a family calls the tensors of one layer, less ``.weight`` and ``.bias``."""

    layer: str = "encoder.layer"
    query: str = "attention.self.query"
    key: str = "attention.self.key"
    value: str = "attention.self.value"
    merge: str = "attention.output.dense"
    merge_norm: str = "attention.output.LayerNorm"
    widen: str = "intermediate.dense"
    narrow: str = "output.dense"
    narrow_norm: str = "output.LayerNorm"


@dataclass(frozen=True, slots=True)
class Architecture:
    """What sets one encoder apart from another of the family.

    Attributes:
        layers, heads, width: Of the transformer.
        max_tokens: Tokens of a text that are read, special ones included.
        pooling: Whether a text's vector is the mean of its states or the first one.
        epsilon: Added to a variance before its root is taken.
        activation: Between the two dense layers of a layer: a name of ``ACTIVATIONS``.
        padding_id: RoBERTa counts positions from behind this row, and skips words of this id;
            None counts from 0.
        has_token_types: Whether the vector of type 0 is added to every word's.
        has_distances: Whether a bias by the distance of two words is added to attention (MPNet).
        names: Of the tensors of a layer.
    """

    layers: int
    heads: int
    width: int
    max_tokens: int
    pooling: Literal["mean", "cls"] = "mean"
    epsilon: float = 1e-12
    activation: str = "gelu"
    padding_id: int | None = None
    has_token_types: bool = True
    has_distances: bool = False
    names: LayerNames = field(default_factory=LayerNames)

    @property
    def first_position(self) -> int:
        """The row of the table of positions for the first word."""
        return 0 if self.padding_id is None else self.padding_id + 1


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


@dataclass(frozen=True, slots=True)
class Grids:
    """Digits of the factors of one layer's products: weights, heads, shares, and the wide states.

    With these the sums that a matrix product makes are under 2^53 quanta for any text of
    all-MiniLM-L6-v2. A state has root ``width`` times its scale as greatest length, and what is
    bounded so bounds all that follows. A model whose bounds are greater has coarser grids.
    """

    attend: int = WEIGHT_BITS
    head: int = 19
    share: int = 20
    merge: int = WEIGHT_BITS
    widen: int = WEIGHT_BITS
    wide: int = 19
    narrow: int = WEIGHT_BITS


OTHER_WAY = (
    'Run: pip install "graph-service[sentence-transformers]", which reads models of other kinds.'
)
# Coarser grids than this would cost digits of the vectors.
_LEAST_BITS = 15


@dataclass(frozen=True, slots=True, eq=False)
class _Layer:
    """Weights of one layer, as ``x @ weight + bias`` reads them: weight [in, out], bias [out].

    float64; the four weights of matrix products are on their grids.
    """

    attend: Float64
    attend_bias: Float64
    merge: Float64
    merge_bias: Float64
    merge_scale: Float64
    merge_shift: Float64
    widen: Float64
    widen_bias: Float64
    narrow: Float64
    narrow_bias: Float64
    narrow_scale: Float64
    narrow_shift: Float64
    grids: Grids


@dataclass(frozen=True, slots=True)
class _Group:
    """Texts of one length that stand one after the other in a pack."""

    start: int
    texts: int
    length: int


_MATRICES = ("attend", "merge", "widen", "narrow")
"""The large arrays of a layer."""


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

    Raises:
        ModelFileError: A tensor is missing or has another shape, or numbers are too large for
            exact sums.
    """

    def __init__(
        self,
        name: str,
        architecture: Architecture,
        tensors: Tensors,
        tokenizer: Tokenizer,
        /,
        *,
        steps: Sequence[Step] = (),
        grids: Grids | None = None,
    ) -> None:
        self._name = name
        self._tokenizer = tokenizer
        self._shape = architecture
        width = architecture.width
        read = _Reader(name, tensors)
        self._words = read.table("embeddings.word_embeddings.weight", width)
        positions = read.table("embeddings.position_embeddings.weight", width)
        most = architecture.first_position + architecture.max_tokens
        if len(positions) < most:
            raise ModelFileError(f"{name} has {len(positions)} positions, {most} are needed")
        self._positions: Float32 = positions[:most].astype(np.float32)
        if architecture.has_token_types:
            # Every text is of type 0, so its vector goes into the positions' once.
            self._positions = self._positions + read.table(
                "embeddings.token_type_embeddings.weight", width
            )[0].astype(np.float32)
        self._scale = read.vector("embeddings.LayerNorm.weight", width)
        self._shift = read.vector("embeddings.LayerNorm.bias", width)
        self._distances = None
        if architecture.has_distances:
            table = read.table("encoder.relative_attention_bias.weight", architecture.heads)
            self._distances = _bias_by_distance(table, architecture.max_tokens)
        self._layers = _layers(read, architecture, self._scale, self._shift, grids)
        self._steps = _fitted(steps, name, architecture, self._layers)
        dense = [step for step in steps if isinstance(step, Dense)]
        self._dimension = dense[-1].weight.shape[1] if dense else width

    @property
    def name(self) -> str:
        """Model and state."""
        return self._name

    @property
    def arithmetic(self) -> str:
        """How products are summed: exactly. Vectors kept before were rounded as they came."""
        return "exact-1"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
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

        Args:
            folder: Of these processes alone. A file that is not there yet is written.
        """
        name = hashlib.blake2b(f"{self._name} {self.arithmetic}".encode(), digest_size=16)
        prefix = f"weights-{name.hexdigest()}"
        self._words = _mapped(self._words, folder / f"{prefix}-words.npy")
        mapped = []
        for number, layer in enumerate(self._layers):
            files = {part: folder / f"{prefix}-{number}-{part}.npy" for part in _MATRICES}
            matrices: dict[str, Any] = {
                part: _mapped(getattr(layer, part), file) for part, file in files.items()
            }
            mapped.append(replace(layer, **matrices))
        self._layers = tuple(mapped)

    def count_tokens(self, text: str, /) -> int:
        """Returns the number of tokens of a text, without special ones and without a limit."""
        return len(self._ids(text, special=False))

    def _truncated(self, text: str) -> list[int]:
        ids = self._ids(text, special=True)
        most = self._shape.max_tokens
        return ids if len(ids) <= most else [*ids[: most - 1], ids[-1]]

    def _ids(self, text: str, *, special: bool) -> list[int]:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"a text to embed holds a lone surrogate: {text[:80]!r}") from error
        found: list[int] = self._tokenizer.encode(text, add_special_tokens=special).ids
        return found

    def _encode_pack(self, ids: list[list[int]]) -> Float32:
        """Returns the vectors of texts in order of their length, [texts, dimension]."""
        lengths = np.array([len(item) for item in ids], dtype=np.int64)
        ends = np.cumsum(lengths)
        starts = ends - lengths
        words = np.fromiter((i for item in ids for i in item), dtype=np.int64, count=int(ends[-1]))
        state: Float64 = self._words[words].astype(np.float64)
        state += self._positions[self._places(words, starts, lengths)]
        normalise(state, self._scale, self._shift, self._shape.epsilon)

        distinct, first = np.unique(lengths, return_index=True)
        bounds = [*first.tolist(), len(ids)]
        groups = [
            _Group(int(starts[bounds[i]]), bounds[i + 1] - bounds[i], length)
            for i, length in enumerate(distinct.tolist())
        ]
        biases = [self._bias(group.length) for group in groups]
        for layer in self._layers:
            state = _apply(layer, self._shape, state, groups, biases)
        return self._pooled(state, starts, lengths).astype(np.float32)

    def _places(self, words: Int64, starts: Int64, lengths: Int64) -> Int64:
        """Returns the row of each word in the table of positions, [words]."""
        places = np.arange(len(words), dtype=np.int64) - np.repeat(starts, lengths)
        padding = self._shape.padding_id
        if padding is None:
            return places
        places += padding + 1
        # A text may hold the padding's mark as a word; it has the padding's place.
        is_padding = words == padding
        if is_padding.any():
            passed = np.cumsum(is_padding)
            places -= passed - np.repeat((passed - is_padding)[starts], lengths)
            places[is_padding] = padding
        return places

    def _bias(self, length: int) -> Float64 | None:
        """Returns what distances add to the scores of texts of one length, [heads, words, words]."""
        if self._distances is None:
            return None
        row = np.arange(length)
        bias: Float64 = self._distances[:, row[None] - row[:, None] + self._shape.max_tokens - 1]
        return bias

    def _pooled(self, state: Float64, starts: Int64, lengths: Int64) -> Float64:
        vectors: Float64
        if self._shape.pooling == "cls":
            vectors = state[starts]
        else:
            # Exact, as states are on their grid. The mean only scales it, which the length undoes.
            vectors = np.add.reduceat(state, starts, axis=0)
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


def _mapped(values: npt.NDArray[Number], path: Path) -> npt.NDArray[Number]:
    """Returns an array as a file has it, which is written whole where there is none."""
    if not path.exists():
        with NamedTemporaryFile(dir=path.parent, delete=False) as file:
            np.save(file, values)
        # Of several processes that write it at once each writes the same.
        Path(file.name).replace(path)
    mapped: npt.NDArray[Number] = np.load(path, mmap_mode="r").view(np.ndarray)
    return mapped


class _Reader:
    """Tensors by name, each checked for its shape."""

    def __init__(self, model: str, tensors: Tensors) -> None:
        self._model = model
        self._tensors = tensors

    def table(self, name: str, width: int) -> Float32:
        """Returns a table as it is in the file, [rows, width]."""
        return self._read(name, (None, width))

    def vector(self, name: str, width: int) -> Float64:
        return self._read(name, (width,)).astype(np.float64)

    def matrix(self, name: str, rows: int | None, columns: int | None) -> Float64:
        return self._read(name, (rows, columns)).astype(np.float64)

    def _read(self, name: str, shape: tuple[int | None, ...]) -> Float32:
        found = self._tensors.get(name)
        if found is None:
            raise ModelFileError(f"{self._model} has no tensor {name}")
        if len(shape) != found.ndim or any(
            wanted not in (None, there) for wanted, there in zip(shape, found.shape, strict=True)
        ):
            raise ModelFileError(
                f"the tensor {name} of {self._model} has shape {list(found.shape)}, expected "
                f"{[size if size is not None else 'any' for size in shape]}"
            )
        return found


def _layers(
    read: _Reader, shape: Architecture, scale: Float64, shift: Float64, known: Grids | None
) -> tuple[_Layer, ...]:
    """Returns the layers; ``scale`` and ``shift`` are those of the first one's states."""
    layers: list[_Layer] = []
    for number in range(shape.layers):
        layer = _layer(read, shape, number)
        grids = known or _grids(layer, shape, scale, shift)
        if min(astuple(grids)) < _LEAST_BITS:
            raise ModelFileError(
                f"the numbers of layer {number} are too large for exact sums: {grids}",
                hint=OTHER_WAY,
            )
        for weights, bits in (
            (layer.attend, grids.attend),
            (layer.merge, grids.merge),
            (layer.widen, grids.widen),
            (layer.narrow, grids.narrow),
        ):
            to_grid(weights, bits)
        layers.append(replace(layer, grids=grids))
        scale, shift = layer.narrow_scale, layer.narrow_shift
    return tuple(layers)


def _layer(read: _Reader, shape: Architecture, number: int) -> _Layer:
    """Returns a layer whose weights are on no grid yet."""
    names, width = shape.names, shape.width

    def matrix(name: str, rows: int | None, columns: int | None) -> Float64:
        return read.matrix(f"{names.layer}.{number}.{name}.weight", rows, columns)

    def vector(name: str, size: int = width) -> Float64:
        return read.vector(f"{names.layer}.{number}.{name}", size)

    # Scores are divided by the root of a head's width: done once, in the queries' weights.
    by = 1.0 / np.sqrt(width // shape.heads)
    attend = np.concatenate(
        [
            matrix(names.query, width, width) * by,
            matrix(names.key, width, width),
            matrix(names.value, width, width),
        ]
    )
    attend_bias = np.concatenate(
        [
            vector(names.query + ".bias") * by,
            vector(names.key + ".bias"),
            vector(names.value + ".bias"),
        ]
    )
    widen = matrix(names.widen, None, width)
    return _Layer(
        attend=np.ascontiguousarray(attend.T),
        attend_bias=attend_bias,
        merge=np.ascontiguousarray(matrix(names.merge, width, width).T),
        merge_bias=vector(names.merge + ".bias"),
        merge_scale=vector(names.merge_norm + ".weight"),
        merge_shift=vector(names.merge_norm + ".bias"),
        widen=np.ascontiguousarray(widen.T),
        widen_bias=vector(names.widen + ".bias", len(widen)),
        narrow=np.ascontiguousarray(matrix(names.narrow, width, len(widen)).T),
        narrow_bias=vector(names.narrow + ".bias"),
        narrow_scale=vector(names.narrow_norm + ".weight"),
        narrow_shift=vector(names.narrow_norm + ".bias"),
        grids=Grids(),
    )


def _grids(layer: _Layer, shape: Architecture, scale: Float64, shift: Float64) -> Grids:
    """Returns the finest grids, up to those of ``Grids``, that keep a layer's sums exact."""
    finest = Grids()
    mixed = _bound_of_state(scale, shift, layer.attend)
    attend = min(finest.attend, spare_bits(mixed) - STATE_BITS)
    query, key, value = (mixed + np.abs(layer.attend_bias)).reshape(3, shape.heads, -1)
    head = min(finest.head, spare_bits((query * key).sum(axis=1)) // 2)
    share = min(finest.share, spare_bits(shape.max_tokens * value) - head)
    merged = value.reshape(-1) @ np.abs(layer.merge)
    merge = min(finest.merge, spare_bits(merged) - STATE_BITS)
    wide = _bound_of_state(layer.merge_scale, layer.merge_shift, layer.widen)
    widen = min(finest.widen, spare_bits(wide) - STATE_BITS)
    narrowed = (wide + np.abs(layer.widen_bias)) @ np.abs(layer.narrow)
    # What is lacking is taken from both factors.
    lacking = max(0, finest.wide + finest.narrow - spare_bits(narrowed))
    of_wide = min(finest.wide, finest.wide - lacking // 2)
    return Grids(
        attend=attend,
        head=head,
        share=share,
        merge=merge,
        widen=widen,
        wide=of_wide,
        narrow=finest.narrow - (lacking - lacking // 2),
    )


def _bound_of_state(scale: Float64, shift: Float64, weights: Float64) -> Float64:
    """Returns bounds of the sums of ``|state * weights|``, [columns].

    A normalised state is scale * u + shift with u of length root of its width.
    """
    spread = np.sqrt(((scale[:, None] * weights) ** 2).sum(axis=0))
    most: Float64 = np.sqrt(len(scale)) * spread + np.abs(shift) @ np.abs(weights)
    return most


def _fitted(
    steps: Sequence[Step], name: str, shape: Architecture, layers: Sequence[_Layer]
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
        bits = min(WEIGHT_BITS, spare_bits(sums) - STATE_BITS)
        if bits < _LEAST_BITS:
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


def _apply(
    layer: _Layer,
    shape: Architecture,
    state: Float64,
    groups: Sequence[_Group],
    biases: Sequence[Float64 | None],
) -> Float64:
    """Returns the states after one layer; ``biases`` are those of the groups' scores."""
    grids, heads = layer.grids, shape.heads
    mixed: Float64 = state @ layer.attend
    mixed += layer.attend_bias
    to_grid(mixed, grids.head)
    context = np.empty_like(state)
    for group, bias in zip(groups, biases, strict=True):
        texts, length = group.texts, group.length
        rows = slice(group.start, group.start + texts * length)
        # [3, texts, heads, words, width of a head]
        split = mixed[rows].reshape(texts, length, 3, heads, -1).transpose(2, 0, 3, 1, 4)
        query, key, value = np.ascontiguousarray(split)
        shares = query @ key.swapaxes(-1, -2)
        if bias is not None:
            shares += bias
        shares -= shares.max(axis=-1, keepdims=True)
        exp(shares)
        to_grid(shares, grids.share)
        seen = shares @ value
        seen /= shares.sum(axis=-1, keepdims=True)
        context[rows] = seen.swapaxes(1, 2).reshape(texts * length, -1)
    to_grid(context, STATE_BITS)
    merged: Float64 = context @ layer.merge
    merged += layer.merge_bias
    merged += state
    normalise(merged, layer.merge_scale, layer.merge_shift, shape.epsilon)
    wide: Float64 = merged @ layer.widen
    wide += layer.widen_bias
    ACTIVATIONS[shape.activation](wide, grids.wide)
    result: Float64 = wide @ layer.narrow
    result += layer.narrow_bias
    result += merged
    normalise(result, layer.narrow_scale, layer.narrow_shift, shape.epsilon)
    return result
