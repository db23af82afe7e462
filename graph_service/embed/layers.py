"""The layers of transformers of the BERT family, in arithmetic that is exact (``exact``).

``read_layers`` reads and checks the tensors; ``project``, ``attend`` and ``merge`` are the three
steps of one layer, over texts that are packed one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

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
    tanh,
    to_grid,
    unused_bits,
)
from graph_service.embed.protocol import Float32
from graph_service.errors import ModelFileError

Tensors = Mapping[str, npt.NDArray[np.floating]]
Weights = Any
"""What ``rows @ weights`` takes: float64 on a grid, or ``RoundedWeights``."""

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


@dataclass(frozen=True, slots=True)
class Grids:
    """Digits of the factors of one layer's products: weights, heads, shares and the wide states.

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
LEAST_BITS = 15


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """Weights of one layer, as ``x @ weight + bias`` reads them: weight [in, out], bias [out]."""

    attend: Weights
    attend_bias: Float64
    merge: Weights
    merge_bias: Float64
    merge_scale: Float64
    merge_shift: Float64
    widen: Weights
    widen_bias: Float64
    narrow: Weights
    narrow_bias: Float64
    narrow_scale: Float64
    narrow_shift: Float64
    grids: Grids


@dataclass(frozen=True, slots=True)
class Group:
    """Texts of one length that stand one after the other in a pack."""

    start: int
    texts: int
    length: int

    @property
    def rows(self) -> slice:
        """The rows of the pack that hold its tokens."""
        return slice(self.start, self.start + self.texts * self.length)

    def split(self, mixed: Float64, heads: int, /) -> Float64:
        """Returns queries, keys and values, [3, texts, heads, tokens, width of a head]."""
        split = mixed[self.rows].reshape(self.texts, self.length, 3, heads, -1)
        return np.ascontiguousarray(split.transpose(2, 0, 3, 1, 4))

    def join(self, gathered: Float64, /) -> Float64:
        """Returns what ``split`` took apart, [tokens, width]: of one of the three."""
        return gathered.swapaxes(1, 2).reshape(self.texts * self.length, -1)


class TensorReader:
    """Tensors by name, each checked for its shape."""

    def __init__(self, model: str, tensors: Tensors) -> None:
        self._model = model
        self._tensors = tensors

    def table(self, name: str, width: int) -> Float32:
        """Returns a table as it is in the file, [rows, width]."""
        return self._read(name, (None, width))

    def vector(self, name: str, width: int) -> Float64:
        """Returns a vector, float64 [width]."""
        return self._read(name, (width,)).astype(np.float64)

    def matrix(self, name: str, rows: int | None, columns: int | None) -> Float64:
        """Returns a matrix, float64 [rows, columns]; None is any size."""
        return self._read(name, (rows, columns)).astype(np.float64)

    def _read(self, name: str, shape: tuple[int | None, ...]) -> Float32:
        tensor = self._tensors.get(name)
        if tensor is None:
            raise ModelFileError(f"{self._model} has no tensor {name}")
        if len(shape) != tensor.ndim or any(
            expected not in (None, there)
            for expected, there in zip(shape, tensor.shape, strict=True)
        ):
            raise ModelFileError(
                f"the tensor {name} of {self._model} has shape {list(tensor.shape)}, expected "
                f"{[size if size is not None else 'any' for size in shape]}"
            )
        return tensor


def read_layers(
    read: TensorReader, shape: Architecture, scale: Float64, shift: Float64, known: Grids | None
) -> tuple[Layer, ...]:
    """Returns the layers; ``scale`` and ``shift`` are those of the first one's states."""
    layers: list[Layer] = []
    for index in range(shape.layers):
        layer = _layer(read, shape, index)
        grids = known or grids_of(layer, shape, scale, shift)
        if min(astuple(grids)) < LEAST_BITS:
            raise ModelFileError(
                f"the numbers of layer {index} are too large for exact sums: {grids}",
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


def _layer(read: TensorReader, shape: Architecture, index: int) -> Layer:
    """Returns a layer whose weights are on no grid yet."""
    names, width = shape.names, shape.width

    def matrix(name: str, rows: int | None, columns: int | None) -> Float64:
        return read.matrix(f"{names.layer}.{index}.{name}.weight", rows, columns)

    def vector(name: str, size: int = width) -> Float64:
        return read.vector(f"{names.layer}.{index}.{name}", size)

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
    return Layer(
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


def grids_of(layer: Layer, shape: Architecture, scale: Float64, shift: Float64) -> Grids:
    """Returns the finest grids, up to those of ``Grids``, that keep a layer's sums exact."""
    finest = Grids()
    mixed = _bound_of_state(scale, shift, layer.attend)
    attend = min(finest.attend, unused_bits(mixed) - STATE_BITS)
    query, key, value = (mixed + np.abs(layer.attend_bias)).reshape(3, shape.heads, -1)
    head = min(finest.head, unused_bits((query * key).sum(axis=1)) // 2)
    share = min(finest.share, unused_bits(shape.max_tokens * value) - head)
    merged = value.reshape(-1) @ np.abs(layer.merge)
    merge = min(finest.merge, unused_bits(merged) - STATE_BITS)
    wide = _bound_of_state(layer.merge_scale, layer.merge_shift, layer.widen)
    widen = min(finest.widen, unused_bits(wide) - STATE_BITS)
    narrowed = (wide + np.abs(layer.widen_bias)) @ np.abs(layer.narrow)
    # What is lacking is taken from both factors.
    excess = max(0, finest.wide + finest.narrow - unused_bits(narrowed))
    of_wide = min(finest.wide, finest.wide - excess // 2)
    return Grids(
        attend=attend,
        head=head,
        share=share,
        merge=merge,
        widen=widen,
        wide=of_wide,
        narrow=finest.narrow - (excess - excess // 2),
    )


def _bound_of_state(scale: Float64, shift: Float64, weights: Float64) -> Float64:
    """Returns bounds of the sums of ``|state * weights|``, [columns].

    A normalised state is scale * u + shift with u of length root of its width.
    """
    spread = np.sqrt(((scale[:, None] * weights) ** 2).sum(axis=0))
    most: Float64 = np.sqrt(len(scale)) * spread + np.abs(shift) @ np.abs(weights)
    return most


def project(layer: Layer, state: Float64, /) -> Float64:
    """Returns queries, keys and values of each token, float64 [tokens, 3 * width], on their grid."""
    mixed: Float64 = state @ layer.attend
    mixed += layer.attend_bias
    to_grid(mixed, layer.grids.head)
    return mixed


def attend(
    mixed: Float64,
    heads: int,
    groups: Sequence[Group],
    biases: Sequence[Float64 | None],
    grids: Grids,
    /,
    *,
    preceding: tuple[Float64, Float64] | None = None,
) -> Float64:
    """Returns what each token gathers from its text, float64 [tokens, width], on its grid.

    Args:
        mixed: Of ``project``.
        heads: Of the transformer.
        groups: The texts, by their lengths.
        biases: What is added to the scores of each group, [heads, tokens, tokens].
        grids: Of the layer.
        preceding: Keys and values, [heads, tokens, width of a head] each, of a text that every
            token gathers from too.
    """
    context = np.empty((len(mixed), mixed.shape[1] // 3))
    for group, bias in zip(groups, biases, strict=True):
        query, key, value = group.split(mixed, heads)
        shares = query @ key.swapaxes(-1, -2)
        if bias is not None:
            shares += bias
        if preceding is not None:
            shares = np.concatenate((query @ preceding[0].swapaxes(-1, -2), shares), axis=-1)
        shares -= shares.max(axis=-1, keepdims=True)
        exp(shares)
        to_grid(shares, grids.share)
        if preceding is None:
            gathered = shares @ value
        else:
            tokens = preceding[1].shape[1]
            gathered = shares[..., :tokens] @ preceding[1]
            gathered += shares[..., tokens:] @ value
        gathered /= shares.sum(axis=-1, keepdims=True)
        context[group.rows] = group.join(gathered)
    to_grid(context, STATE_BITS)
    return context


def merge(layer: Layer, shape: Architecture, state: Float64, context: Float64, /) -> Float64:
    """Returns the states after one layer, float64 [tokens, width].

    Args:
        layer: The layer.
        shape: Of the transformer that it is of.
        state: Before the layer.
        context: Of ``attend``, on its grid.
    """
    merged: Float64 = context @ layer.merge
    merged += layer.merge_bias
    merged += state
    normalise(merged, layer.merge_scale, layer.merge_shift, shape.epsilon)
    wide: Float64 = merged @ layer.widen
    wide += layer.widen_bias
    ACTIVATIONS[shape.activation](wide, layer.grids.wide)
    result: Float64 = wide @ layer.narrow
    result += layer.narrow_bias
    result += merged
    normalise(result, layer.narrow_scale, layer.narrow_shift, shape.epsilon)
    return result
