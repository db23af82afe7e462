"""A cross-encoder: reads a question beside short texts and scores how well each answers to it.

It is the encoder of the embedder with updates of low rank. The question's tokens gather from one
another alone; those of a text gather from the question's and from their own, layer by layer, so that
a text costs its own tokens only. The score is linear in the mean of the last states of a text.

Scores have the same bits in any company and on any machine, as the embedder's vectors have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from graph_service.byte_budget import ByteBudget, ByteCache, held_bytes
from graph_service.embed.exact import STATE_BITS, WEIGHT_BITS, Float64, to_grid, unused_bits
from graph_service.embed.layers import Group, Layer, attend, merge, project
from graph_service.embed.low_rank import LayerUpdate, LowRank
from graph_service.embed.transformer import TokenPack, TransformerEmbedder
from graph_service.errors import InputError
from graph_service.math_threads import one_math_thread
from graph_service.weights_file import decode_weights, encode_weights

QUESTION_TOKENS = 64
"""Tokens of a question that are read, its marks included."""
TEXT_TOKENS = 48
"""Tokens of a text that are read, its marks included."""
SCORE_DIGITS = 4
_PACK_TOKENS = 768
_CACHE_BYTES = 8 * 2**20
"""Of scores: a question that is asked again, or on a view, has most of its lines in common."""
_FORM = "cross-encoder"
_VERSION = 1
_PARTS = tuple(part.name for part in fields(LayerUpdate))


@dataclass(frozen=True, slots=True, eq=False)
class CrossWeights:
    """What makes a cross-encoder of an embedder.

    Attributes:
        layers: What is added to each layer.
        weight: From the mean of a text's last states to its score, float64 [width].
        embedder: Name of the embedder whose weights they add to; no other will do.
        data: Hash of what they were trained on, 32 hexadecimal digits.
        notes: How they were trained.
    """

    layers: tuple[LayerUpdate, ...]
    weight: Float64
    embedder: str
    data: str
    notes: Mapping[str, Any] = field(default_factory=dict)


class CrossEncoder:
    """Scores texts beside a question. Safe to use from several threads.

    Attributes:
        data: Hash of what its weights were trained on.

    Args:
        embedder: Whose layers it takes; BERT's family without a bias of distances.
        weights: Trained for this embedder.

    Raises:
        InputError: The weights are for another embedder.
    """

    def __init__(self, embedder: TransformerEmbedder, weights: CrossWeights, /) -> None:
        shape = embedder.architecture
        if weights.embedder != embedder.name or len(weights.layers) != shape.layers:
            raise InputError(
                f"the cross-encoder was trained on {weights.embedder}; the embedder is "
                f"{embedder.name}",
                argument="embedder",
            )
        self.data = weights.data
        self._embedder = embedder
        self._shape = shape
        self._layers = embedder.updated_layers(weights.layers, weights.data)
        last = self._layers[-1]
        bound = np.sqrt(shape.width) * np.abs(last.narrow_scale) + np.abs(last.narrow_shift)
        self._cache: ByteCache[tuple[str, str], float] = ByteCache(
            ByteBudget(_CACHE_BYTES), "scores"
        )
        self._weight = weights.weight.copy()
        unused = unused_bits(TEXT_TOKENS * np.atleast_1d(bound @ np.abs(self._weight)))
        to_grid(self._weight, min(WEIGHT_BITS, unused - STATE_BITS))

    def scores(self, question: str, texts: Sequence[str], /) -> Float64:
        """Returns a score for each text, float64 [texts]; differences are log odds.

        Raises:
            InputError: The question or a text holds a lone surrogate.
        """
        cached = self._cache.get_all((question, text) for text in texts)
        unread = [text for text, score in zip(texts, cached, strict=True) if score is None]
        read = dict(zip(unread, self._read_all(question, unread), strict=True))
        self._cache.put_all(
            [((question, text), score, held_bytes(text, score)) for text, score in read.items()]
        )
        scores = zip(texts, cached, strict=True)
        return np.array([read[text] if score is None else score for text, score in scores])

    def _read_all(self, question: str, texts: Sequence[str]) -> list[float]:
        """Returns a score for each text, however often it was read."""
        if not texts:
            return []
        ids = [truncated(self._embedder.token_ids(text), TEXT_TOKENS) for text in texts]
        words = truncated(self._embedder.token_ids(question), QUESTION_TOKENS)
        scores = np.empty(len(ids))
        with one_math_thread():
            order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
            for pack in _packs(order, ids):
                scores[pack] = self._read(words, [ids[i] for i in pack])
        return scores.tolist()

    def _read(self, question: list[int], ids: list[list[int]]) -> Float64:
        """Returns the scores of texts in order of their length, [texts].

        Question and texts go through a layer together: reading its weights takes most of the time
        of few tokens.
        """
        alone, texts, first = TokenPack.of([question]), TokenPack.of(ids), len(question)
        positions = np.arange(len(texts.words)) - np.repeat(texts.begins, texts.lengths) + first
        state = np.concatenate(
            (
                self._embedder.states(alone.words, np.arange(first, dtype=np.int64)),
                self._embedder.states(texts.words, positions, second=True),
            )
        )
        for layer in self._layers:
            mixed = project(layer, state)
            _, key, value = alone.groups[0].split(mixed, self._shape.heads)
            of_question = self._attend(layer, mixed[:first], alone.groups, None)
            of_texts = self._attend(layer, mixed[first:], texts.groups, (key[0], value[0]))
            state = merge(layer, self._shape, state, np.concatenate((of_question, of_texts)))
        sums = np.add.reduceat(state[first:], texts.begins, axis=0) @ self._weight
        scores: Float64 = np.round(sums / texts.lengths, SCORE_DIGITS) + 0.0
        return scores

    def _attend(
        self,
        layer: Layer,
        mixed: Float64,
        groups: Sequence[Group],
        preceding: tuple[Float64, Float64] | None,
    ) -> Float64:
        return attend(
            mixed,
            self._shape.heads,
            groups,
            [None] * len(groups),
            layer.grids,
            preceding=preceding,
        )


def truncated(ids: list[int], most: int, /) -> list[int]:
    """Returns the tokens that are read of a text: its beginning, and the mark behind it."""
    return ids if len(ids) <= most else [*ids[: most - 1], ids[-1]]


def _packs(order: Sequence[int], ids: Sequence[Sequence[int]]) -> list[list[int]]:
    """Returns texts, in their order, in packs of at most ``_PACK_TOKENS`` tokens."""
    packs: list[list[int]] = []
    tokens = _PACK_TOKENS
    for i in order:
        if tokens + len(ids[i]) > _PACK_TOKENS:
            packs.append([])
            tokens = 0
        packs[-1].append(i)
        tokens += len(ids[i])
    return packs


def encode_cross_weights(weights: CrossWeights, /) -> bytes:
    """Returns weights as the bytes of their file; of the same weights the same."""
    arrays = {"weight": weights.weight.astype(np.float32)}
    for i, layer in enumerate(weights.layers):
        for name in _PARTS:
            part: LowRank = getattr(layer, name)
            arrays[f"{i}_{name}_down"] = part.down.astype(np.float16)
            arrays[f"{i}_{name}_up"] = part.up.astype(np.float16)
    meta = {
        "form": _FORM,
        "version": _VERSION,
        "embedder": weights.embedder,
        "data": weights.data,
        "layers": len(weights.layers),
        "notes": dict(weights.notes),
    }
    return encode_weights(arrays, meta)


def decode_cross_weights(data: bytes, /) -> CrossWeights:
    """Returns the weights of a file's bytes.

    Raises:
        InputError: They are no such file, of another version or damaged.
    """
    try:
        arrays, meta = decode_weights(data, form=_FORM, version=_VERSION)
        weight = arrays["weight"].astype(np.float64)
        layers = tuple(
            LayerUpdate(**{name: _low_rank(arrays, f"{i}_{name}") for name in _PARTS})
            for i in range(int(meta["layers"]))
        )
        if weight.ndim != 1 or not np.isfinite(weight).all():
            raise ValueError("weight is no finite vector")
        return CrossWeights(layers, weight, meta["embedder"], meta["data"], meta["notes"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"no weights of a cross-encoder: {error}", argument="scorer") from error


def _low_rank(arrays: Mapping[str, np.ndarray[Any, Any]], name: str) -> LowRank:
    down, up = arrays[f"{name}_down"], arrays[f"{name}_up"]
    if down.ndim != 2 or up.ndim != 2 or down.shape[1] != len(up):
        raise ValueError(f"{name} has shapes {down.shape} and {up.shape}")
    if not (np.isfinite(down).all() and np.isfinite(up).all()):
        raise ValueError(f"{name} is not finite")
    return LowRank(down, up)
