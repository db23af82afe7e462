"""Which fact a paragraph takes next: rare relations, and sentences that a reader expects (K9).

KaLMA, appendix A.3: ``Score_r = a log(2 N / Count_r) + (1 - a) softmax(1 / perp_r)``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from graph_service.errors import InputError
from graph_service.model.result import Triple
from queries.generate.phrases import relation_phrase
from queries.generate.verbalise import triple_sentence

SHARE = 0.5
"""Weight of specificity; the paper names none."""
_DIGITS = 9


class PartOfSpeech(StrEnum):
    """What a relation's name is, which decides the template of its sentence."""

    NOUN = "noun"
    VERB = "verb"
    ATTRIBUTE = "attribute"


def part_of_speech(relation: str, /) -> PartOfSpeech:
    """Returns what a relation's name is, by the rules that speak of relations anywhere here.

    A noun is said as ``X's place of birth is Y``, a verb as ``X depicts Y``, and an attribute, a
    participle or noun with a preposition, as ``X is located in Y``.

    >>> [part_of_speech(name).value for name in ("place of birth", "depicts", "located in")]
    ['noun', 'verb', 'attribute']
    """
    pattern = relation_phrase(relation)
    if pattern.startswith("{head}'s ") or pattern.startswith("{head} — "):
        return PartOfSpeech.NOUN
    attribute = pattern.startswith(("{head} is ", "{head} was "))
    return PartOfSpeech.ATTRIBUTE if attribute else PartOfSpeech.VERB


def fact_sentence(triple: Triple, /) -> str:
    """Returns a fact as a sentence by the template of its relation's part of speech."""
    sentence = triple_sentence(triple)
    return sentence if sentence.endswith(".") else f"{sentence}."


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact that a paragraph could take.

    Attributes:
        sentence: What it is as a sentence.
        uses: Statements of its relation in the graph.
        perplexity: Of the paragraph with the sentence after it.
        score: Of the equation, over the candidates of one round.
    """

    statement_id: str
    sentence: str
    part_of_speech: PartOfSpeech
    uses: int
    perplexity: float
    score: float


def selection_scores(
    uses: Sequence[int],
    perplexities: Sequence[float],
    /,
    *,
    statements: int,
    share: float = SHARE,
) -> tuple[float, ...]:
    """Returns the score of each candidate of one round.

    The logarithm is the natural one. The softmax is over the candidates of the round, so that its
    values add up to 1.

    Args:
        uses: Statements of each candidate's relation, from 1.
        perplexities: More than 0.
        statements: Of the whole graph.
        share: Weight of specificity, 0 to 1.

    Raises:
        InputError: A number is out of its bounds.

    >>> [round(score, 4) for score in selection_scores([1, 10], [2.0, 2.0], statements=100)]
    [2.8992, 1.7479]
    """
    if not 0 <= share <= 1:
        raise InputError(f"a share from 0 to 1 was expected, got {share}", argument="share")
    if len(uses) != len(perplexities):
        raise InputError(f"one perplexity a candidate was expected; {len(perplexities)} came")
    if any(count < 1 or count > statements for count in uses):
        raise InputError(f"uses from 1 to {statements} were expected, got {min(uses)}")
    if not all(perplexity > 0 and math.isfinite(perplexity) for perplexity in perplexities):
        raise InputError(f"perplexities above 0 were expected, got {min(perplexities)}")
    inverse = [1.0 / perplexity for perplexity in perplexities]
    # Beside the largest, so that no power overflows.
    powers = [math.exp(weight - max(inverse)) for weight in inverse]
    total = math.fsum(powers)
    return tuple(
        share * math.log(2 * statements / count) + (1 - share) * power / total
        for count, power in zip(uses, powers, strict=True)
    )


def best_of(candidates: Sequence[Candidate], /) -> Candidate:
    """Returns the candidate of the best score; ties, at nine digits, go by statement id."""
    return min(candidates, key=lambda item: (-round(item.score, _DIGITS), item.statement_id))
