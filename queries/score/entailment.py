"""The seam of entailment: does a premise entail a hypothesis?

The direction is part of the type: K5 asks whether a sentence entails a citation, L8 whether
knowledge entails a sentence, and nothing here turns a pair round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from graph_service.model.result import Triple
from graph_service.model.text import words
from queries.generate.citations import one_line


@dataclass(frozen=True, slots=True)
class Pair:
    """What is taken as said, and what is asked to follow from it."""

    premise: str
    hypothesis: str


class Entailment(Protocol):
    """Judges pairs in batches. Implementations: word overlap; later a cross-encoder, an LLM."""

    @property
    def name(self) -> str:
        """Which model, and how; part of every score that rests on it."""

    def entails(self, pairs: Sequence[Pair], /) -> list[bool]:
        """Returns for each pair whether the premise entails the hypothesis."""


@dataclass(frozen=True, slots=True)
class WordOverlap:
    """A baseline without weights: the share of the hypothesis's words that the premise has.

    Attributes:
        threshold: Share from which the hypothesis counts as entailed.
    """

    threshold: float = 0.6

    @property
    def name(self) -> str:
        """``word overlap`` with its threshold."""
        return f"word overlap >= {self.threshold:g}"

    def scores(self, pairs: Sequence[Pair], /) -> list[float]:
        """Returns the share of each pair, 0 to 1; 0 for a hypothesis without words.

        >>> WordOverlap().scores([Pair("She was born in Rome.", "place of birth: Rome")])
        [0.25]
        """
        shares: list[float] = []
        for pair in pairs:
            wanted = set(words(pair.hypothesis))
            found = wanted & set(words(pair.premise))
            shares.append(len(found) / len(wanted) if wanted else 0.0)
        return shares

    def entails(self, pairs: Sequence[Pair], /) -> list[bool]:
        """Returns for each pair whether the share reaches the threshold."""
        return [share >= self.threshold for share in self.scores(pairs)]


def triple_hypothesis(triple: Triple, /) -> str:
    """Returns a triple as the hypothesis that KaLMA tests, ``relation: value`` (section 4.3)."""
    return f"{one_line(triple.relation.label)}: {one_line(triple.value_label)}"
