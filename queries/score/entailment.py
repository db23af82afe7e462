"""The seam of entailment: does a premise entail a hypothesis? (K5, K6, L8)

The direction is part of the type: K5 asks whether a sentence entails a citation, L8 whether a
generation entails its reference, and nothing here turns a pair round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from graph_service.model.result import Triple
from graph_service.text.fold import words
from queries.generate.citations import one_line
from queries.llm import Usage
from queries.score.judge import Judge, read_choice, request_verdict
from queries.score.prompts import load_score_prompt


class Relation(StrEnum):
    """How a hypothesis stands to its premise."""

    ENTAILMENT = "entailment"
    NEUTRAL = "neutral"
    CONTRADICTION = "contradiction"


@dataclass(frozen=True, slots=True)
class Pair:
    """What is taken as said, and what is asked to follow from it."""

    premise: str
    hypothesis: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is said of one pair.

    Attributes:
        entailed: Whether the premise entails the hypothesis; None where the judge failed.
        score: How much, 0 to 1: a probability, a share of words, or 1 and 0 of a verdict.
        shares: Probability of each relation, summing to 1; empty where only entailment is judged.
        cut: Whether the premise was too long for the model and lost its end.
        usage: Tokens, where a model of words was asked.
        failure: Why there is no judgement.
    """

    entailed: bool | None
    score: float | None
    shares: Mapping[str, float] = field(default_factory=dict)
    cut: bool = False
    usage: Usage = field(default_factory=Usage)
    failure: str | None = None


class Entailment(Protocol):
    """Judges pairs in batches. Implementations: word overlap, a chat model, a cross-encoder."""

    @property
    def name(self) -> str:
        """Which model, and how; part of every score that rests on it."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of its scores should know; told with them."""

    def judge(self, pairs: Sequence[Pair], /) -> list[Judgement]:
        """Returns one judgement a pair, in order."""


THRESHOLD = 0.6
OVERLAP_WORTH = (
    "word overlap is a count of words and no model's judgement: its AUROC is .759 on WiCE dev, "
    ".705 on WiCE test and .700 on FactBench, where .5 is chance; at the threshold 0.6 it calls "
    "96 % of FactBench's facts entailed, and 12 % of them are true"
)
"""What the baseline is worth (``docs/reference/scores.md``, Figures)."""


@dataclass(frozen=True, slots=True)
class WordOverlap:
    """A baseline without weights: the share of the hypothesis's words that the premise has.

    Attributes:
        threshold: Share from which the hypothesis counts as entailed.
        calibrated: What the threshold was chosen on, in words; empty where it was not.
    """

    threshold: float = THRESHOLD
    calibrated: str = ""

    @property
    def name(self) -> str:
        """``word overlap`` with its threshold."""
        return f"word overlap >= {self.threshold:g}"

    @property
    def notes(self) -> tuple[str, ...]:
        """That it is no model, what it is worth, and what its threshold was chosen on."""
        return (OVERLAP_WORTH, self.calibrated) if self.calibrated else (OVERLAP_WORTH,)

    def judge(self, pairs: Sequence[Pair], /) -> list[Judgement]:
        """Returns the share of each pair, 0 to 1; 0 for a hypothesis without words.

        >>> WordOverlap().judge([Pair("She was born in Rome.", "place of birth: Rome")])[0].score
        0.25
        """
        judged: list[Judgement] = []
        for pair in pairs:
            hypothesis_words = set(words(pair.hypothesis))
            shared = hypothesis_words & set(words(pair.premise))
            share = len(shared) / len(hypothesis_words) if hypothesis_words else 0.0
            judged.append(Judgement(share >= self.threshold, share))
        return judged


@dataclass(frozen=True, slots=True)
class ChatEntailment:
    """A chat model as the judge, one request for each distinct pair.

    Attributes:
        by: Whom to ask, and how.
    """

    by: Judge

    @property
    def name(self) -> str:
        """The model with the prompt's version."""
        return f"{self.by.label}, prompt {load_score_prompt('entailment').label}"

    @property
    def notes(self) -> tuple[str, ...]:
        """None: a model's judgement is what the scores ask for."""
        return ()

    def judge(self, pairs: Sequence[Pair], /) -> list[Judgement]:
        """Returns the model's verdicts; a reply without one is a failure of its pairs."""
        prompt = load_score_prompt("entailment")
        choices = [relation.value for relation in Relation]
        known: dict[Pair, Judgement] = {}
        judged: list[Judgement] = []
        for pair in pairs:
            judgement = known.get(pair)
            if judgement is not None:
                # Its tokens were counted where it came first.
                judged.append(Judgement(judgement.entailed, judgement.score, judgement.shares))
                continue
            verdict = request_verdict(
                self.by,
                prompt.render(premise=one_line(pair.premise), hypothesis=one_line(pair.hypothesis)),
                lambda text: read_choice(text, choices),
                verdict_is_last=True,
            )
            if verdict.value is None:
                judged.append(Judgement(None, None, usage=verdict.usage, failure=verdict.failure))
                continue
            shares = {choice: float(choice == verdict.value) for choice in choices}
            yes = verdict.value == Relation.ENTAILMENT
            known[pair] = Judgement(yes, float(yes), shares, usage=verdict.usage)
            judged.append(known[pair])
        return judged


def triple_hypothesis(triple: Triple, /) -> str:
    """Returns a triple as the hypothesis that KaLMA tests, ``relation: value`` (section 4.3)."""
    return f"{one_line(triple.relation.label)}: {one_line(triple.value_label)}"
