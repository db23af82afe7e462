"""Trains the confidence of first answers (``learned.confidence``): a logistic with a small penalty."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from scipy import optimize

from graph_service.retrieve.learned.confidence import AnswerConfidence

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
) -> AnswerConfidence:
    """Returns the logistic that fits some first answers best.

    Args:
        inputs: ``INPUT_NAMES`` of each, float64 [n, k].
        right: Which are right, bool [n].
        weights: How much each counts, float64 [n].
        notes: Are kept with the weights.
        gaps: Are kept with the weights: ``AnswerConfidence.gaps``.
    """
    mean, scale = inputs.mean(axis=0), inputs.std(axis=0) + 1e-6
    rows = np.concatenate(((inputs - mean) / scale, np.ones((len(inputs), 1))), axis=1)

    def loss(parameters: Float64) -> tuple[float, Float64]:
        total = rows @ parameters
        cost = np.where(right, np.logaddexp(0.0, -total), np.logaddexp(0.0, total))
        gradient = rows.T @ (weights * (1.0 / (1.0 + np.exp(-total)) - right))
        gradient[:-1] += PENALTY * parameters[:-1]
        penalty = 0.5 * PENALTY * float((parameters[:-1] ** 2).sum())
        return float((weights * cost).sum()) + penalty, gradient

    start = np.zeros(rows.shape[1])
    fitted = optimize.minimize(loss, start, jac=True, method="L-BFGS-B").x
    of_inputs = fitted[:-1] / scale
    bias = float(fitted[-1] - of_inputs @ mean)
    return AnswerConfidence(tuple(of_inputs.tolist()), bias, dict(notes or {}), dict(gaps or {}))
