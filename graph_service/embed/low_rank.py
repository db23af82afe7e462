"""Matrices of low rank that are added to an encoder's weights (Hu et al. 2021, LoRA).

The encoder's own weights are neither changed nor copied: a layer with an update shares them. All
factors are brought to grids, so that sums are exact as the encoder's own are (``exact``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from graph_service.embed.exact import STATE_BITS, WEIGHT_BITS, Float64, to_grid, unused_bits
from graph_service.embed.layers import Architecture, Layer, Product, Update, bound_of_state

_INNER_BITS = 20


@dataclass(frozen=True, slots=True, eq=False)
class LowRank:
    """What is added to one weight: ``x @ down @ up`` beside ``x @ weight``.

    Attributes:
        down: Float64 [in, rank].
        up: Float64 [rank, out].
    """

    down: Float64
    up: Float64


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
    """Returns layers that add the updates, sharing the weights of those given.

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
    grids = layer.grids
    # Scores are divided by the root of a head's width: done once, in the queries' weights.
    by = 1.0 / np.sqrt(shape.width // shape.heads)
    attends = (LowRank(update.query.down, update.query.up * by), update.key, update.value)
    added = np.concatenate([part.down @ part.up for part in attends], axis=1)
    mixed = bound_of_state(scale, shift, layer.attend + added) + np.abs(layer.attend_bias)
    query, key, value = mixed.reshape(3, shape.heads, -1)
    head = min(grids.head, unused_bits((query * key).sum(axis=1)) // 2)
    share = min(grids.share, unused_bits(shape.max_tokens * value) - head)
    gathered = value.reshape(-1)
    context = min(STATE_BITS, unused_bits(gathered @ np.abs(layer.merge)) - grids.merge)

    after_scale, after_shift = layer.merge_scale, layer.merge_shift
    widened = layer.widen + update.widen.down @ update.widen.up
    wide = bound_of_state(after_scale, after_shift, widened) + np.abs(layer.widen_bias)
    wide_bits = min(grids.wide, unused_bits(wide @ np.abs(layer.narrow)) - grids.narrow)
    query_product, key_product, value_product = (
        _product(part, bound_of_state(scale, shift, part.down), STATE_BITS) for part in attends
    )
    return replace(
        layer,
        grids=replace(grids, head=head, share=share, context=context, wide=wide_bits),
        update=Update(
            query=query_product,
            key=key_product,
            value=value_product,
            merge=_product(update.merge, gathered @ np.abs(update.merge.down), context),
            widen=_product(
                update.widen,
                bound_of_state(after_scale, after_shift, update.widen.down),
                STATE_BITS,
            ),
            narrow=_product(update.narrow, wide @ np.abs(update.narrow.down), wide_bits),
        ),
    )


def _product(part: LowRank, bound: Float64, bits: int) -> Product:
    """Returns an update of one weight, on grids that keep its sums exact.

    Args:
        part: As trained.
        bound: Of the sums of ``|x * down|``, [rank].
        bits: Of the grid that x is on.
    """
    down, up = part.down.copy(), part.up.copy()
    to_grid(down, min(WEIGHT_BITS, unused_bits(bound) - bits))
    unused = unused_bits(bound @ np.abs(up))
    inner = min(_INNER_BITS, unused // 2)
    to_grid(up, min(WEIGHT_BITS, unused - inner))
    return Product(down, up, inner)
