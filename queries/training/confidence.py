"""Trains the confidence of first answers (``learned.confidence``): a logistic with a small penalty,
and Platt's scaling of its logit by answers that the training did not see.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize

from graph_service.retrieve.learned.confidence import INPUT_NAMES, AnswerConfidence

Float64 = npt.NDArray[np.float64]
PENALTY = 3.0
"""Of the squares of weights, for inputs of deviation 1."""


class Scale(NamedTuple):
    """What a logit is multiplied by, and what is added."""

    factor: float
    shift: float


def train_confidence(
    inputs: Float64,
    right: npt.NDArray[np.bool_],
    weights: Float64,
    /,
    *,
    notes: Mapping[str, object] | None = None,
    gaps: Mapping[float, float] | None = None,
    start: AnswerConfidence | None = None,
    only: Collection[str] = (),
) -> AnswerConfidence:
    """Returns the logistic that fits some first answers best.

    Args:
        inputs: ``INPUT_NAMES`` of each, float64 [n, k].
        right: Which are right, bool [n].
        weights: How much each counts, float64 [n].
        notes: Are kept with the weights.
        gaps: Are kept with the weights: ``AnswerConfidence.gaps``.
        start: Whose bias and weights stay, but for those of ``only``; None to train all.
        only: Names of inputs.
    """
    trained = np.array([start is None or name in only for name in INPUT_NAMES])
    known = np.zeros(len(INPUT_NAMES)) if start is None else np.where(trained, 0.0, start.weights)
    offset = inputs @ known + (0.0 if start is None else start.bias)
    mean = inputs[:, trained].mean(axis=0) * (start is None)
    scale = inputs[:, trained].std(axis=0) + 1e-6
    constant = np.full((len(inputs), 1), float(start is None))
    rows = np.concatenate(((inputs[:, trained] - mean) / scale, constant), axis=1)

    fitted = _fit_logistic(rows, right.astype(np.float64), weights, offset=offset, penalty=PENALTY)
    known[trained] = fitted[:-1] / scale
    bias = float(fitted[-1] - known[trained] @ mean) + (0.0 if start is None else start.bias)
    return AnswerConfidence(tuple(known.tolist()), bias, dict(notes or {}), dict(gaps or {}))


def logits(confidence: AnswerConfidence, inputs: Float64, /) -> Float64:
    """Returns the logit of some answers, float64 [n], of their inputs, float64 [n, k]."""
    return np.asarray(inputs @ np.array(confidence.weights) + confidence.bias)


def fit_scale(unscaled: Float64, right: npt.NDArray[np.bool_], weights: Float64, /) -> Scale:
    """Returns the scale by which some logits say best how often the answers are right.

    It is Platt's, with his targets, which are as if each kind of answer had been seen twice more,
    once right and once wrong (Platt 1999; Lin, Lin and Weng 2007).

    Args:
        unscaled: Logits by weights that these answers did not train, float64 [n].
        right: Which are right, bool [n].
        weights: How much each counts, float64 [n].

    Raises:
        ValueError: Surer answers are not right more often, so that no scale helps.
    """
    n_right, n_wrong = float(weights[right].sum()), float(weights[~right].sum())
    targets = np.where(right, (n_right + 1.0) / (n_right + 2.0), 1.0 / (n_wrong + 2.0))
    rows = np.stack((unscaled, np.ones(len(unscaled))), axis=1)
    scale = Scale(*_fit_logistic(rows, targets, weights).tolist())
    if scale.factor <= 0.0:
        raise ValueError(f"surer answers are not right more often: a factor of {scale.factor:.3f}")
    return scale


def scaled(confidence: AnswerConfidence, scale: Scale, /) -> AnswerConfidence:
    """Returns a confidence whose logit is scaled."""
    weights = tuple(scale.factor * weight for weight in confidence.weights)
    return replace(confidence, weights=weights, bias=scale.factor * confidence.bias + scale.shift)


def _fit_logistic(
    rows: Float64,
    targets: Float64,
    weights: Float64,
    /,
    *,
    offset: float | Float64 = 0.0,
    penalty: float = 0.0,
) -> Float64:
    """Returns the parameters of the likeliest logistic, float64 [k]; the last has no penalty."""

    def loss(parameters: Float64) -> tuple[float, Float64]:
        total = rows @ parameters + offset
        cost = targets * np.logaddexp(0.0, -total) + (1.0 - targets) * np.logaddexp(0.0, total)
        gradient = rows.T @ (weights * (1.0 / (1.0 + np.exp(-total)) - targets))
        gradient[:-1] += penalty * parameters[:-1]
        penalties = 0.5 * penalty * float((parameters[:-1] ** 2).sum())
        return float((weights * cost).sum()) + penalties, gradient

    start = np.zeros(rows.shape[1])
    return np.asarray(optimize.minimize(loss, start, jac=True, method="L-BFGS-B").x)
