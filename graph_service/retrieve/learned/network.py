"""The learned part: two small networks that score candidates, read from a file without running code.

The first scores every candidate by what is cheap to know (``features.NAMES``); the second those
that the first ranks highest (``features.FINAL_NAMES``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from graph_service.errors import InputError
from graph_service.model.graph import Float64
from graph_service.retrieve.learned.features import FINAL_NAMES, NAMES
from graph_service.weights_file import decode_weights, encode_weights

SCORE_DIGITS = 5
LITERAL_FROM = 0.6
LITERAL_WEIGHT = 30.0
"""What a text score beyond that adds, where what was trained on is questions of many graphs."""
_FORM = "sequence-scorer"
_VERSION = 2
_ARRAYS = ("mean", "scale", "inner", "bias", "outer", "direct")


@dataclass(frozen=True, slots=True, eq=False)
class Networks:
    """Some networks of one shape whose scores are averaged: k networks, f inputs, w wide.

    Attributes:
        mean, scale: What inputs are reduced by and divided by, float64 [f].
        inner, bias: Of the hidden layer, [k, f, w] and [k, w].
        outer: From it to the score, [k, w].
        direct: From the inputs to the score, [k, f].
    """

    mean: Float64
    scale: Float64
    inner: Float64
    bias: Float64
    outer: Float64
    direct: Float64

    def score(self, inputs: Float64, /) -> Float64:
        """Returns the score of each row, float64 [n], rounded: sums differ in the last bits."""
        reduced = (inputs - self.mean) / self.scale
        total = np.zeros(len(reduced))
        for inner, bias, outer, direct in zip(
            self.inner, self.bias, self.outer, self.direct, strict=True
        ):
            total += np.maximum(reduced @ inner + bias, 0.0) @ outer + reduced @ direct
        rounded: Float64 = np.round(total / len(self.inner), SCORE_DIGITS) + 0.0
        return rounded


@dataclass(frozen=True, slots=True, eq=False)
class CandidateScorer:
    """Both networks, and where they come from.

    Attributes:
        first: Scores every candidate.
        final: Scores the best of them.
        embedder: Name of the embedder whose vectors the inputs were made of; no other will do.
        data: Hash of what it was trained on, 32 hexadecimal digits.
        notes: How it was trained, and what it reached on families that it did not see.
        literal_weight: What words nearly those of the question add beside the networks.
        gaps: Of sets of readings, calibrated on a graph's own questions; empty for those that ship.
    """

    first: Networks
    final: Networks
    embedder: str
    data: str
    notes: Mapping[str, Any] = field(default_factory=dict)
    literal_weight: float = LITERAL_WEIGHT
    gaps: Mapping[float, float] = field(default_factory=dict)

    def score(self, inputs: Float64, /) -> Float64:
        """Returns the score of each of the best candidates, float64 [n].

        Words nearly those of the question are trusted more than networks learn to, most of whose
        questions are worded freely: that holds for each family by what did not see it.

        Args:
            inputs: ``features.FINAL_NAMES`` of each, float64 [n, f].
        """
        literal = np.maximum(inputs[:, FINAL_NAMES.index("text_score")] - LITERAL_FROM, 0.0)
        return np.round(self.final.score(inputs) + self.literal_weight * literal, SCORE_DIGITS)

    def require(self, embedder: str, /) -> None:
        """Raises ``InputError`` where vectors come from another embedder."""
        if embedder != self.embedder:
            raise InputError(
                f"the scorer of relation sequences was trained on vectors of {self.embedder}; the "
                f"embedder is {embedder}",
                argument="preset",
                hint="Take that embedder. With another one preset default-6 needs no training: it ranks "
                "by similarity alone.",
            )


def encode_candidate_scorer(scorer: CandidateScorer, /) -> bytes:
    """Returns a scorer as the bytes of its file; of the same weights the same."""
    arrays = {
        f"{part}_{name}": np.ascontiguousarray(getattr(networks, name), dtype=np.float32)
        for part, networks in (("first", scorer.first), ("final", scorer.final))
        for name in _ARRAYS
    }
    meta: dict[str, Any] = {
        "form": _FORM,
        "version": _VERSION,
        "embedder": scorer.embedder,
        "data": scorer.data,
        "inputs": {"first": list(NAMES), "final": list(FINAL_NAMES)},
        "literal_weight": scorer.literal_weight,
        "notes": dict(scorer.notes),
    }
    if scorer.gaps:
        meta["gaps"] = {str(share): gap for share, gap in scorer.gaps.items()}
    return encode_weights(arrays, meta)


def decode_candidate_scorer(data: bytes, /) -> CandidateScorer:
    """Returns the scorer of a file's bytes.

    Raises:
        InputError: They are no such file, of another version, damaged, or of other inputs.
    """
    try:
        arrays, meta = decode_weights(data, form=_FORM, version=_VERSION)
        if meta["inputs"] != {"first": list(NAMES), "final": list(FINAL_NAMES)}:
            raise ValueError("it was trained on other inputs than this version makes")
        first, final = (
            Networks(*(arrays[f"{part}_{name}"].astype(np.float64) for name in _ARRAYS))
            for part in ("first", "final")
        )
        for networks, names in ((first, NAMES), (final, FINAL_NAMES)):
            _check(networks, len(names))
        literal = float(meta["literal_weight"])
        if not 0.0 <= literal < np.inf:
            raise ValueError(f"literal_weight {literal}")
        gaps = {float(share): float(gap) for share, gap in meta.get("gaps", {}).items()}
        return CandidateScorer(
            first, final, meta["embedder"], meta["data"], meta["notes"], literal, gaps
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"no scorer of relation sequences: {error}", argument="scorer") from error


def read_candidate_scorer(path: str | Path, /) -> CandidateScorer:
    """Returns the scorer of a file.

    Raises:
        InputError: There is no such file, or it is none of a scorer.
    """
    try:
        return decode_candidate_scorer(Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"can't read {path}: {error.strerror}", argument="scorer") from error


@cache
def shipped_scorer() -> CandidateScorer:
    """Returns the scorer that comes with the package."""
    return decode_candidate_scorer(files(__package__).joinpath("shipped.npz").read_bytes())


def _check(networks: Networks, inputs: int) -> None:
    count, _, width = networks.inner.shape
    shapes = {
        "mean": (inputs,),
        "scale": (inputs,),
        "inner": (count, inputs, width),
        "bias": (count, width),
        "outer": (count, width),
        "direct": (count, inputs),
    }
    for name, shape in shapes.items():
        held = getattr(networks, name)
        if held.shape != shape or not np.isfinite(held).all():
            raise ValueError(f"{name} is no finite array of shape {shape}")
    if not (networks.scale > 0.0).all():
        raise ValueError("a scale is not above 0")
