"""The threshold of word overlap, chosen on pairs that people have labelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graph_service.errors import InputError
from queries.score.agreement import auroc
from queries.score.entailment import THRESHOLD, WordOverlap
from queries.score.entailment_score import EntailmentCase
from queries.score.metric import Float64, Score, divide
from queries.score.resample import bootstrap_score

Bool = npt.NDArray[np.bool_]

# Thresholds are printed and typed again, so the one that is used is a short one.
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Calibration:
    """A threshold, and what it was chosen on.

    Attributes:
        source: The file of labelled pairs.
        threshold: Share of words from which a pair counts as entailed.
        pairs: Labelled pairs.
        entailed: How many of them people call entailed.
        balanced_accuracy: Mean of the shares that are judged right among the entailed pairs and
            among the others, on these very pairs.
        auroc: Area under the ROC curve on them, which no threshold changes.
    """

    source: str
    threshold: float
    pairs: int
    entailed: int
    balanced_accuracy: Score
    auroc: Score

    def text(self) -> str:
        """Returns the threshold, how it was chosen and its figures, in one line."""
        return (
            f"threshold {self.threshold:g} has the greatest balanced accuracy on {self.source}: "
            f"{self.balanced_accuracy.text()}, {self.entailed} of the pairs entailed; AUROC there "
            f"{self.auroc.text()}"
        )


def calibrate_overlap(cases: Sequence[EntailmentCase], /, *, source: str) -> Calibration:
    """Returns the threshold of word overlap with the greatest balanced accuracy.

    The thresholds that are tried lie halfway between neighbouring shares of words. Of equally
    good ones the nearest to the default is taken, then the lower. Pairs without a label, and
    those that failed, are left out.

    Args:
        cases: Pairs with labels.
        source: Name of their file.

    Raises:
        InputError: No pair is labelled, all have one label, or all have one share of words.

    >>> from queries.score.entailment import Pair
    >>> cases = [
    ...     EntailmentCase("1", Pair("Ada sang", "Ada sang"), entailed=True),
    ...     EntailmentCase("2", Pair("Ada sang", "Ada slept"), entailed=False),
    ... ]
    >>> calibrate_overlap(cases, source="two pairs").threshold  # halfway between 1/2 and 1
    0.75
    """
    labelled = [case for case in cases if case.entailed is not None and case.failure is None]
    gold = np.asarray([case.entailed for case in labelled], dtype=np.bool_)
    if gold.all() or not gold.any():
        raise InputError(
            f"{source}: pairs that are labelled as entailed and pairs that are not were expected; "
            f"it has {int(gold.sum())} and {int((~gold).sum())}",
            argument="calibrate",
        )
    judged = WordOverlap().judge([case.pair for case in labelled])
    shares = np.asarray([item.score for item in judged], dtype=np.float64)
    distinct = np.unique(shares)
    if len(distinct) < 2:
        raise InputError(
            f"{source}: every pair has the share {distinct[0]:g} of its words, so no threshold "
            "tells them apart",
            argument="calibrate",
        )
    tried = np.unique(np.round((distinct[1:] + distinct[:-1]) / 2, _DIGITS))
    every = np.ones((1, len(labelled)))
    accuracies = [
        float(_balanced(every, gold, shares >= threshold)[0]) for threshold in tried.tolist()
    ]
    best = min(
        zip(accuracies, tried.tolist(), strict=True),
        key=lambda pair: (-round(pair[0], 12), abs(pair[1] - THRESHOLD), pair[1]),
    )[1]
    predicted = shares >= best
    clusters = [case.group or case.id for case in labelled]
    return Calibration(
        source,
        best,
        len(labelled),
        int(gold.sum()),
        bootstrap_score(
            lambda resampled: _balanced(resampled, gold, predicted),
            len(labelled),
            clusters=clusters,
        ),
        auroc(gold.tolist(), shares.tolist(), clusters=clusters),
    )


def _balanced(resampled: Float64, gold: Bool, predicted: Bool) -> Float64:
    """Balanced accuracy of each resample, float64 [resamples]; NaN where one label lacks."""
    hit, rest = (gold & predicted).astype(np.float64), (~gold & ~predicted).astype(np.float64)
    yes, no = gold.astype(np.float64), (~gold).astype(np.float64)
    return (divide(resampled @ hit, resampled @ yes) + divide(resampled @ rest, resampled @ no)) / 2
