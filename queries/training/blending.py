"""Final networks of a graph: the shipped ones and some trained on its questions, averaged (B7).

The shipped networks know people's questions of many graphs; those of one graph know its relations
and its users' words. The average keeps both. How much each weighs is chosen on questions that are
set apart from training for this, never on those that decide in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from graph_service.errors import InputError
from graph_service.model.graph import Float64
from graph_service.retrieve.learned.network import CandidateScorer, Networks
from queries.training.examples import Example
from queries.training.networks import TrainingOptions, train_final

OWN = "own"
"""Family of a user's own questions."""
WEIGHTS_OF_OWN = (0.25, 0.5, 0.75, 0.9)
"""What the graph's own networks may weigh where users' questions tell which is best."""
WEIGHTS_OF_WALKS = (0.1, 0.25)
"""The same where there are walks alone. Their wordings are not people's: from .5 on, questions of
published sets lose what walks gain (``docs/reference/retrieval.md``)."""
_NETWORKS = 2
_LEAST_STEPS = 100
"""Steps of training at least, however few questions there are."""


def blend(shipped: Networks, own: Networks, weight: float, /) -> Networks:
    """Returns networks whose score is ``(1 - weight)`` of one and ``weight`` of the other.

    Scores differ from that by a constant, which no order of candidates depends on.

    Args:
        shipped: Whose reduction of the inputs is kept.
        own: Of the same inputs.
        weight: From 0 to 1.
    """
    total = len(shipped.inner) + len(own.inner)
    width = max(shipped.inner.shape[2], own.inner.shape[2])
    ratio = shipped.scale / own.scale
    offset = (shipped.mean - own.mean) / own.scale
    parts: list[tuple[Float64, Float64, Float64, Float64]] = []
    for networks, share, scaled, moved in (
        (shipped, 1.0 - weight, np.ones_like(ratio), np.zeros_like(offset)),
        (own, weight, ratio, offset),
    ):
        each = share * total / len(networks.inner)
        wider = (0, width - networks.inner.shape[2])
        for inner, bias, outer, direct in zip(
            networks.inner, networks.bias, networks.outer, networks.direct, strict=True
        ):
            parts.append(
                (
                    np.pad(inner * scaled[:, None], ((0, 0), wider)),
                    np.pad(bias + moved @ inner, wider),
                    np.pad(outer * each, wider),
                    direct * scaled * each,
                )
            )
    inner, bias, outer, direct = (np.stack([part[column] for part in parts]) for column in range(4))
    return Networks(shipped.mean, shipped.scale, inner, bias, outer, direct)


def _blended(shipped: CandidateScorer, own: Networks, weight: float) -> CandidateScorer:
    """Returns a scorer with some weight of networks that learned what literal words are worth."""
    final = blend(shipped.final, own, weight)
    literal = (1.0 - weight) * shipped.literal_weight
    return replace(shipped, final=final, literal_weight=literal)


def train_own(examples: Sequence[Example], /, *, random_seed: int = 0) -> Networks:
    """Returns final networks trained on a graph's examples; half of all draws are users' own.

    Raises:
        InputError: No example has a right candidate beside a wrong one.
    """
    families = {example.family for example in examples}
    least = _LEAST_STEPS * TrainingOptions().batch
    options = TrainingOptions(
        networks=_NETWORKS,
        epochs=max(TrainingOptions().epochs, least / max(len(examples), 1)),
        random_seed=random_seed,
    )
    weights = {OWN: float(max(len(families - {OWN}), 1))}
    # Two threads in products this small wait for each other, the more so on a busy machine.
    with threadpool_limits(1, user_api="blas"):
        return train_final(examples, options=options, weights=weights)


def hits(scorer: CandidateScorer, examples: Sequence[Example], /) -> int:
    """Returns for how many examples a right candidate is ranked first, as ``NetworkRanker`` does."""
    return sum(
        bool(example.right[example.finalists][int(np.argmax(scorer.score(inputs)))])
        for example in examples
        if len(example.finalists)
        for inputs in (example.inputs.astype(np.float64),)
    )


def choose_weight(
    shipped: CandidateScorer,
    learned: Sequence[Example],
    judged: Sequence[Example],
    weights: Sequence[float],
    /,
    *,
    random_seed: int = 0,
) -> float:
    """Returns the weight under which most of some examples are ranked right; the least of equals.

    Args:
        shipped: The shipped scorer.
        learned: What the graph's networks are trained on for this.
        judged: What tells; none of ``learned``.
        weights: Among which, ascending.
        random_seed: Of the training.
    """
    try:
        own = train_own(learned, random_seed=random_seed)
    except InputError:
        return weights[0]
    right = {weight: hits(_blended(shipped, own, weight), judged) for weight in weights}
    return max(weights, key=lambda weight: (right[weight], -weight))


def blended_scorer(
    shipped: CandidateScorer,
    examples: Sequence[Example],
    weight: float,
    /,
    *,
    data: str,
    random_seed: int = 0,
) -> CandidateScorer:
    """Returns the shipped scorer with the graph's networks in its final ones."""
    own = train_own(examples, random_seed=random_seed)
    return replace(_blended(shipped, own, weight), data=data, notes={})
