"""Trains the confidence of first answers (``learned.confidence``): a logistic with a small penalty."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import numpy.typing as npt
from scipy import optimize

from graph_service.retrieve.learned.confidence import INPUT_NAMES, AnswerConfidence

Float64 = npt.NDArray[np.float64]
PENALTY = 3.0
"""Of the squares of weights, for inputs of deviation 1."""


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

    def loss(parameters: Float64) -> tuple[float, Float64]:
        total = rows @ parameters + offset
        cost = np.where(right, np.logaddexp(0.0, -total), np.logaddexp(0.0, total))
        gradient = rows.T @ (weights * (1.0 / (1.0 + np.exp(-total)) - right))
        gradient[:-1] += PENALTY * parameters[:-1]
        penalty = 0.5 * PENALTY * float((parameters[:-1] ** 2).sum())
        return float((weights * cost).sum()) + penalty, gradient

    fitted = optimize.minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B").x
    known[trained] = fitted[:-1] / scale
    bias = float(fitted[-1] - known[trained] @ mean) + (0.0 if start is None else start.bias)
    return AnswerConfidence(tuple(known.tolist()), bias, dict(notes or {}), dict(gaps or {}))
