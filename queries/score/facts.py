"""FActScore and SAFE from judged facts (O9): supported over all extracted facts, and more columns.

FActScore (Min et al., 2023) and SAFE (Wei et al., 2024) break a text into atomic facts and check
each. Both are reported as OKGQA does: supported facts over all of them. What those papers add
stands beside it: the share without irrelevant facts, the length penalty, the respond ratio, F1@K. So do the
figures where a fact that a text says again counts once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from graph_service.errors import InputError
from graph_service.text.fold import words
from queries.llm import Usage
from queries.score.metric import Score, mean_score, ratio_score
from queries.score.report import CaseReport, Groups, make_report

GAMMA = 10
NO_FACT = "no text has a fact"
NO_RELEVANT = "no text has a relevant fact"
NO_TEXT = "there is no text whose facts were judged"
SAFE_NOTE = (
    "SAFE says supported too often: on a public set of facts it gives .96 where people say .79"
)
"""SAFE's known excess, told beside its figures."""
_SAY_NOTHING = frozenset(["a", "an", "the", "is", "are", "was", "were", "be", "been", "being"])
MEDIAN = "the median number of relevant facts in the texts"


@dataclass(frozen=True, slots=True)
class Fact:
    """One atomic fact of a text.

    Attributes:
        sentence: Number of its sentence in the text, from 0.
        supported: Whether the evidence supports it; None where that could not be judged.
        relevant: Whether it bears on the question; None where nobody asked.
        failure: Why it is not judged.
    """

    text: str
    sentence: int
    supported: bool | None
    relevant: bool | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class FactsRow:
    """One text's facts.

    Attributes:
        missing: What it could not be checked without; None where nothing lacks.
        failure: Why there are none: the model failed, or the facts could not be extracted.
    """

    id: str
    groups: Groups
    facts: tuple[Fact, ...]
    usage: Usage = field(default_factory=Usage)
    failure: str | None = None
    missing: str | None = None

    @property
    def responded(self) -> bool:
        """Whether the text says anything that can be checked."""
        return bool(self.facts)

    @property
    def failures(self) -> tuple[str, ...]:
        """Why facts could not be judged, one each."""
        return tuple(fact.failure for fact in self.facts if fact.failure is not None)

    @property
    def judged(self) -> tuple[Fact, ...]:
        """The facts that could be judged."""
        return tuple(fact for fact in self.facts if fact.supported is not None)

    @property
    def relevant(self) -> tuple[Fact, ...]:
        """The judged facts that are not said to be irrelevant."""
        return tuple(fact for fact in self.judged if fact.relevant is not False)


def supported_share(facts: Sequence[Fact], /) -> float | None:
    """Returns the share of facts that are supported; None without facts.

    >>> supported_share([Fact("a", 0, True), Fact("b", 0, False)])
    0.5
    """
    return sum(fact.supported is True for fact in facts) / len(facts) if facts else None


def merge_facts(facts: Sequence[Fact], /) -> tuple[Fact, ...]:
    """Returns the facts of a text without those that it says again, the first of each.

    Two facts are one if they have the same words, whatever their order, case and diacritics,
    articles and forms of "to be" left out, and were judged alike. Other paraphrases stay two.

    >>> merge_facts([Fact("Ada was a person.", 0, True), Fact("A person was Ada", 1, True)])
    (Fact(text='Ada was a person.', sentence=0, supported=True, relevant=None, failure=None),)
    """
    merged: dict[tuple[object, ...], Fact] = {}
    for fact in facts:
        content = sorted(word for word in words(fact.text) if word not in _SAY_NOTHING)
        key = (tuple(content) or fact.text, fact.supported, fact.relevant)
        merged.setdefault(key, fact)
    return tuple(merged.values())


def length_penalty(facts: int, /, *, gamma: int = GAMMA) -> float:
    """Returns FActScore's factor for short texts: 1 from ``gamma`` facts on, else exp(1 - gamma/n).

    >>> length_penalty(10), round(length_penalty(5), 4)
    (1.0, 0.3679)
    """
    if facts >= gamma:
        return 1.0
    return math.exp(1 - gamma / facts) if facts else 0.0


def f1_at_k(facts: Sequence[Fact], k: int, /) -> float | None:
    """Returns F1@K over relevant facts: precision S/(S+N) and recall min(S/K, 1).

    What a text says again counts once (``merge_facts``), else one true fact that is said K times
    would have 1. SAFE's authors count it each time. 0 where no fact is supported, in a text without any fact too: silence must not win. None where
    there are facts and none of them could be judged.

    >>> round(f1_at_k([Fact("a", 0, True), Fact("b", 0, False)], 2), 4)  # precision and recall 1/2
    0.5
    >>> f1_at_k([], 2)
    0.0
    >>> round(f1_at_k([Fact("Ada sang", i, True) for i in range(12)], 12), 4)  # recall 1/12
    0.1538
    """
    judged = [fact for fact in merge_facts(facts) if fact.supported is not None]
    if facts and not judged:
        return None
    relevant = [fact for fact in judged if fact.relevant is not False]
    supported = sum(fact.supported is True for fact in relevant)
    if not supported:
        return 0.0
    precision, recall = supported / len(relevant), min(supported / k, 1.0)
    return 2 * precision * recall / (precision + recall)


def middle_count(rows: Sequence[FactsRow], /) -> int | None:
    """Returns the median number of relevant facts of the texts that have any, rounded up.

    None where no text has one. To compare several files, give the rows of all of them: with a K of
    its own each would be measured by another yardstick. Texts without a fact are left out, since
    else silence would lower K.

    >>> middle_count([FactsRow("1", Groups(), (Fact("a", 0, True), Fact("b", 0, False)))])
    2
    """
    counts = sorted(len(merge_facts(row.relevant)) for row in rows if row.relevant)
    if not counts:
        return None
    half = len(counts) // 2
    return counts[half] if len(counts) % 2 else math.ceil((counts[half - 1] + counts[half]) / 2)


def facts_report(
    rows: Sequence[FactsRow],
    /,
    *,
    title: str = "factscore",
    checked_by: str = "people",
    notes: Sequence[str] = (),
    k: int | None = None,
    k_from: str = "given",
    gamma: int = GAMMA,
) -> CaseReport:
    """Returns the scores of texts whose facts are judged (O9).

    ``macro`` is the mean over texts, ``micro`` over facts. A fact that could not be judged is
    counted as failed in the micro figures, as is a text that failed, and is in no figure; a text without any judged fact
    has no share, and is failed where its facts failed, else unscored. A text without a fact has F1@K 0 and
    has not responded. Unscored in all is a text whose facts there was nothing to check against.

    Args:
        rows: One a text.
        title: ``factscore`` or ``safe``.
        checked_by: Who judged the facts.
        notes: What a reader should know of who did.
        k: Of F1@K; by default ``middle_count`` of these texts, which suits no other file.
        k_from: How ``k`` was chosen, for the reader.
        gamma: Facts from which a text is not short.

    Raises:
        InputError: ``k`` is under 1.

    >>> rows = [FactsRow("1", Groups(), (Fact("a", 0, True), Fact("b", 0, False)))]
    >>> facts_report(rows).score("supported, macro").value
    0.5
    """
    if k is not None and k < 1:
        raise InputError(f"K of F1@K is at least 1, got {k}", argument="k")
    chosen = middle_count(rows) if k is None else k

    def summarise(part: Sequence[FactsRow]) -> dict[str, Score]:
        lost = [row for row in part if row.failure is not None or (row.facts and not row.judged)]
        unanswered = sum(row.missing is not None for row in part)
        failed = sum(row.failure is not None for row in part)
        done = [
            row
            for row in part
            if row.failure is None and row.missing is None and (row.judged or not row.facts)
        ]
        unjudged = sum(len(row.facts) - len(row.judged) for row in part)

        def macro(values: Sequence[float | None], empty: str = NO_FACT) -> Score:
            values = [*values, *[None] * unanswered]
            return mean_score(values, failed=len(lost), empty=empty)

        def micro(facts: Sequence[Sequence[Fact]], empty: str = NO_FACT) -> Score:
            return ratio_score(
                [sum(fact.supported is True for fact in listed) for listed in facts],
                [len(listed) for listed in facts],
                failed=unjudged + failed,
                unscored=unanswered,
                empty=empty,
            )

        every = [row.judged for row in done]
        merged = [merge_facts(facts) for facts in every]
        relevant = [row.relevant for row in done]
        shares = [supported_share(facts) for facts in every]
        answered = [row for row in part if row.failure is None and row.missing is None]
        scores = {
            "supported, macro": macro(shares),
            "supported, micro": micro(every),
            "supported, merged, macro": macro([supported_share(facts) for facts in merged]),
            "supported, merged, micro": micro(merged),
            "with length penalty": macro(
                [
                    None if share is None else share * length_penalty(len(facts), gamma=gamma)
                    for share, facts in zip(shares, every, strict=True)
                ]
            ),
            "with length penalty, merged": macro(
                [
                    None
                    if not facts
                    else (supported_share(facts) or 0.0) * length_penalty(len(facts), gamma=gamma)
                    for facts in merged
                ]
            ),
            "respond ratio": mean_score(
                [*(float(row.responded) for row in answered), *[None] * unanswered],
                failed=failed,
            ),
            "facts a text": mean_score(
                [
                    *(float(len(row.facts)) if row.facts else None for row in answered),
                    *[None] * unanswered,
                ],
                failed=failed,
                empty=NO_FACT,
            ),
        }
        # Where no text has a relevant fact each has 0, whatever K would be.
        name = "F1@K" if chosen is None else f"F1@{chosen}"
        scores[name] = macro([f1_at_k(facts, chosen or 1) for facts in every], NO_TEXT)
        if any(fact.relevant is not None for row in rows for fact in row.facts):
            scores["supported of relevant, macro"] = macro(
                [supported_share(x) for x in relevant], NO_RELEVANT
            )
            scores["supported of relevant, micro"] = micro(relevant, NO_RELEVANT)
        return scores

    all_notes = [*notes]
    if title == "safe":
        all_notes.append(SAFE_NOTE)
    repeats = sum(len(row.judged) - len(merge_facts(row.judged)) for row in rows)
    if repeats:
        all_notes.append(
            f"{repeats} facts say again what their text said before; merged and F1@K count them once"
        )
    if chosen is not None:
        why = k_from if k is not None else f"{MEDIAN} of this file"
        all_notes.append(f"F1@K: K = {chosen}, {why}")
    elif rows:
        all_notes.append(f"F1@K: {NO_RELEVANT}, so that it is 0 whatever K is")
    for why, texts in Counter(row.missing for row in rows if row.missing is not None).items():
        all_notes.append(f"{texts} texts unscored, {why}")
    unjudged = sum(len(row.facts) - len(row.judged) for row in rows)
    if unjudged:
        all_notes.append(f"{unjudged} facts could not be judged, in no figure")
    return make_report(title, rows, summarise, basis={"checked by": checked_by}, notes=all_notes)
