"""Matrices of low rank that are added to an encoder's weights (Hu et al. 2021, LoRA).

The encoder's own weights are not changed. The sums with what is added are rounded (``rounded``), so
that they take half the memory and products half the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from graph_service.embed.exact import STATE_BITS, Float64, to_grid
from graph_service.embed.layers import Architecture, Layer, grids_of
from graph_service.embed.rounded import RoundedWeights

Factor = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True, eq=False)
class LowRank:
    """What is added to one weight: ``x @ down @ up`` beside ``x @ weight``.

    Attributes:
        down: [in, rank], of any precision.
        up: [rank, out].
    """

    down: Factor
    up: Factor


@dataclass(frozen=True, slots=True, eq=False)
class LayerUpdate:
    """What is added to the six weights of one layer."""

    query: LowRank
    key: LowRank
    value: LowRank
    merge: LowRank
    widen: LowRank
    narrow: LowRank


def updated_layers(
    layers: Sequence[Layer],
    updates: Sequence[LayerUpdate],
    shape: Architecture,
    scale: Float64,
    shift: Float64,
    /,
) -> tuple[Layer, ...]:
    """Returns layers with the updates added to their weights, which are rounded.

    Args:
        layers: The encoder's.
        updates: One a layer.
        shape: Of the encoder.
        scale: Of the normalisation before the first layer, [width].
        shift: Of the same.
    """
    updated: list[Layer] = []
    for layer, update in zip(layers, updates, strict=True):
        updated.append(_updated(layer, update, shape, scale, shift))
        scale, shift = layer.narrow_scale, layer.narrow_shift
    return tuple(updated)


def _updated(
    layer: Layer, update: LayerUpdate, shape: Architecture, scale: Float64, shift: Float64
) -> Layer:
    # Scores are divided by the root of a head's width: done once, in the queries' weights.
    by = 1.0 / np.sqrt(shape.width // shape.heads)
    attend = np.concatenate(
        (_product(update.query) * by, _product(update.key), _product(update.value)), axis=1
    )
    sums = {
        "attend": layer.attend + attend,
        "merge": layer.merge + _product(update.merge),
        "widen": layer.widen + _product(update.widen),
        "narrow": layer.narrow + _product(update.narrow),
    }
    rounded: dict[str, Any] = {name: RoundedWeights.of(weights) for name, weights in sums.items()}
    return replace(layer, **rounded, grids=grids_of(replace(layer, **sums), shape, scale, shift))


def _product(part: LowRank) -> Float64:
    """Returns what is added to one weight, [in, out]: an exact sum."""
    down, up = part.down.astype(np.float64), part.up.astype(np.float64)
    to_grid(down, STATE_BITS)
    to_grid(up, STATE_BITS)
    product: Float64 = down @ up
    return product
