"""How probably the first answer is right: a logistic of a few numbers about it.

Learned from questions that the networks did not see, some of which the graph cannot answer
(``tools/confidence.py``). What comes later builds on it: another scorer of candidates needs its own
weights for the same numbers, or numbers of its own in ``INPUT_NAMES``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from graph_service.errors import InputError
from graph_service.model.graph import Float64

INPUT_NAMES = (
    "margin", "relevance", "certainty", "prior_gap", "reading", "in_other_name", "computed",
)  # fmt: skip
"""What is told of the first answer:

* ``margin``: by how much its score is above the next candidate's, at most ``MOST_MARGIN``.
* ``relevance``: how like the question its words are.
* ``certainty``: how surely the words of its start are meant as a name (``link.spans.Certainty``).
* ``prior_gap``: how much better the question fits a common relation than the worst of its steps,
  by the prior of relations; 0 where no common one fits better, ``LEAST_GAP`` at least.
* ``reading``: what the cross-encoder scores its line; 0 where nothing is read.
* ``in_other_name``: whether its start's name may be part of a longer name that the graph lacks.
* ``computed``: whether it is computed, which takes that the question is read.
"""
COMPARED = 0.9
"""Confidence at least in a comparison of two things: it rests on their values, whatever candidate is
ranked first.
"""
DOUBTED = 0.3
"""Confidence at most in an answer to a question that may be misread, in a way that has no weight."""
LEAST_LIKE_UNREAD = 0.25
"""Relevance below which a reading that leaves words unread needs another that speaks for it. Of 237
people's questions and 580 of RuBQ it took no right answer, and three that looked sure and were not.
"""
SURELY_READ = 3.0
"""What the cross-encoder scores a line at least that is surely asked for: .95 as a logit."""
MOST_MARGIN = 4.0
LEAST_GAP = -6.0
CONFIDENCE_DIGITS = 4
_FORM = "answer-confidence"


@dataclass(frozen=True, slots=True)
class AnswerConfidence:
    """A logistic over ``INPUT_NAMES``.

    Attributes:
        weights: Of each input.
        bias: Added.
        gaps: By share of questions how far below the best score the right answer's was at most in
            every family that it was calibrated on, as conformal prediction takes it; without the
            shares that were not reached.
        notes: What it was trained on, and what it reached on families that it did not see.
    """

    weights: tuple[float, ...]
    bias: float
    notes: Mapping[str, Any] = field(default_factory=dict)
    gaps: Mapping[float, float] = field(default_factory=dict)

    def probability(self, inputs: Float64, /) -> float:
        """Returns the probability that the first answer is right, of its inputs, float64 [k]."""
        total = float(np.dot(np.array(self.weights), inputs)) + self.bias
        return round(float(1.0 / (1.0 + np.exp(-np.clip(total, -30.0, 30.0)))), CONFIDENCE_DIGITS)

    def gap(self, coverage: float, /) -> float:
        """Returns how far below the best score readings may be for a coverage; infinity where the
        calibration did not reach it.

        >>> AnswerConfidence((), 0.0, gaps={0.5: 0.0, 0.9: 2.5}).gap(0.85)
        2.5
        """
        reached = [share for share in self.gaps if share >= coverage]
        return self.gaps[min(reached)] if reached else math.inf


def margin_of(scores: Float64, /) -> float:
    """Returns by how much the first of some scores, best first, is above the second.

    >>> margin_of(np.array([3.0, 2.5, -1.0])), margin_of(np.array([3.0]))
    (0.5, 4.0)
    """
    gap = float(scores[0] - scores[1]) if len(scores) > 1 else MOST_MARGIN
    return min(max(gap, 0.0), MOST_MARGIN)


def decode_confidence(text: str | bytes, /) -> AnswerConfidence:
    """Returns the confidence of a file's text.

    Raises:
        InputError: It is none, or of other inputs.
    """
    try:
        held = json.loads(text)
        if held["form"] != _FORM or set(held["weights"]) != set(INPUT_NAMES):
            raise ValueError("it is of another form, or of other inputs")
        weights = tuple(float(held["weights"][name]) for name in INPUT_NAMES)
        gaps = {float(share): float(gap) for share, gap in held["gaps"].items()}
        return AnswerConfidence(weights, float(held["bias"]), held["notes"], gaps)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"no confidence of answers: {error}", argument="confidence") from error


def encode_confidence(confidence: AnswerConfidence, /) -> str:
    """Returns the text of a confidence's file."""
    held = {
        "form": _FORM,
        "weights": {
            name: round(weight, 6)
            for name, weight in zip(INPUT_NAMES, confidence.weights, strict=True)
        },
        "bias": round(confidence.bias, 6),
        "notes": dict(confidence.notes),
        "gaps": {f"{share:.2f}": round(gap, 4) + 0.0 for share, gap in confidence.gaps.items()},
    }
    return json.dumps(held, indent=1, sort_keys=True) + "\n"


@cache
def shipped_confidence() -> AnswerConfidence:
    """Returns the confidence that comes with the package."""
    return decode_confidence(files(__package__).joinpath("confidence.json").read_text("utf-8"))
