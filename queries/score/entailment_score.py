"""Scores that rest on entailment: pairs with labels, E - C of generations, alignment (K5, L8).

For L8 the premise is the generation and the hypothesis the reference; for K5 the premise is the
sentence and the hypothesis the citation as ``relation: value``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from queries.generate.answer import Answer
from queries.llm import Usage
from queries.score.agreement import auroc
from queries.score.entailment import Entailment, Judgement, Pair, Relation
from queries.score.metric import Float64, Score, divide, mean_score, ratio_score
from queries.score.report import CaseReport, Groups, make_report
from queries.score.resample import bootstrap_score

NO_PAIR = "no pair was judged"
NO_CITATION = "no answer has a citation with a relation and a value"
BATCH = 32


@dataclass(frozen=True, slots=True)
class EntailmentCase:
    """A pair, and what people say of it.

    Attributes:
        group: What the pair belongs to (a claim, an answer); empty for itself.
        entailed: Whether people say that the premise entails the hypothesis; None where unknown.
        label: The relation that people give, where they give one of the three.
        failure: Why there is no pair.
    """

    id: str
    pair: Pair
    group: str = ""
    entailed: bool | None = None
    label: str = ""
    groups: Groups = Groups()
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class EntailmentRow:
    """One pair judged.

    Attributes:
        gold: What people say; None where unknown.
        label: The relation that people give; empty where they gave none of the three.
    """

    id: str
    group: str
    groups: Groups
    gold: bool | None
    judgement: Judgement | None
    label: str = ""
    failure: str | None = None

    @property
    def usage(self) -> Usage:
        """Tokens, where a model of words was asked."""
        return Usage() if self.judgement is None else self.judgement.usage


def judge_pairs(
    cases: Sequence[EntailmentCase], /, *, entailment: Entailment, batch: int = BATCH
) -> Iterator[EntailmentRow]:
    """Yields one row a case, in order, judged in batches.

    Args:
        cases: Pairs.
        entailment: The judge.
        batch: Pairs handed over at once; rows come out after each batch.
    """
    for start in range(0, len(cases), batch):
        part = cases[start : start + batch]
        scorable = [case for case in part if case.failure is None]
        judged = iter(entailment.judge([case.pair for case in scorable]) if scorable else [])
        for case in part:
            judgement = None if case.failure is not None else next(judged)
            failure = case.failure if judgement is None else judgement.failure
            yield EntailmentRow(
                case.id, case.group, case.groups, case.entailed, judgement, case.label, failure
            )


def entailment_report(
    rows: Sequence[EntailmentRow],
    /,
    *,
    judged_by: str,
    notes: Sequence[str] = (),
) -> CaseReport:
    """Returns the scores of judged pairs; intervals by bootstrap over groups.

    Every report has the share entailed. A judge that tells the three relations apart adds the
    mean probability of each, E - C and the share in which each is the likeliest (L8). Labels of
    people add AUROC, accuracy, precision, recall and F1 of "entailed".

    Args:
        rows: Of ``judge_pairs``.
        judged_by: Name of the judge.
        notes: What a reader should know of the judge.

    >>> from queries.score.entailment import WordOverlap
    >>> case = EntailmentCase("1", Pair("She was born in Rome", "born in Rome"), entailed=True)
    >>> rows = list(judge_pairs([case], entailment=WordOverlap()))
    >>> entailment_report(rows, judged_by="word overlap").score("entailed").value
    1.0
    """

    def summarise(part: Sequence[EntailmentRow]) -> dict[str, Score]:
        failed = sum(row.failure is not None for row in part)
        done = [row for row in part if row.judgement is not None and row.failure is None]
        clusters = [row.group or row.id for row in done]

        def mean(values: Sequence[float], empty: str = NO_PAIR) -> Score:
            taken = np.asarray(values, dtype=np.float64)
            return bootstrap_score(
                lambda resampled: resampled @ taken / resampled.sum(axis=1),
                len(values),
                clusters=clusters,
                failed=failed,
                empty=empty,
            )

        judged = [row.judgement for row in done if row.judgement is not None]
        scores = {"entailed": mean([float(item.entailed is True) for item in judged])}
        if any(item.shares for item in judged):
            e, n, c = (
                [item.shares.get(relation.value, 0.0) for item in judged] for relation in Relation
            )
            scores["E (mean probability)"] = mean(e)
            scores["neutral (mean probability)"] = mean(n)
            scores["C (mean probability)"] = mean(c)
            scores["E - C"] = mean([a - b for a, b in zip(e, c, strict=True)])
            likeliest = [max(item.shares, key=lambda name: item.shares[name]) for item in judged]
            for relation in Relation:
                scores[f"{relation.value} (share likeliest)"] = mean(
                    [float(name == relation.value) for name in likeliest]
                )
        labelled = [row for row in part if row.gold is not None]
        if labelled:
            scores.update(_against_labels(labelled))
        return scores

    cut = sum(row.judgement is not None and row.judgement.cut for row in rows)
    warnings = [f"{cut} premises were too long for the model and lost their end"] if cut else []
    return make_report(
        "entailment", rows, summarise, basis={"judge": judged_by}, notes=[*notes, *warnings]
    )


def _against_labels(rows: Sequence[EntailmentRow]) -> dict[str, Score]:
    done = [row for row in rows if row.failure is None and row.judgement is not None]
    failed = len(rows) - len(done)
    gold = [row.gold is True for row in done]
    predicted = [row.judgement is not None and row.judgement.entailed is True for row in done]
    clusters = [row.group or row.id for row in done]
    both = np.asarray([a and b for a, b in zip(gold, predicted, strict=True)], dtype=np.float64)
    gold_values = np.asarray(gold, dtype=np.float64)
    predicted_values = np.asarray(predicted, dtype=np.float64)
    equal = (gold_values == predicted_values).astype(np.float64)
    every = np.ones(len(done))

    def ratio(above: Float64, below: Float64, undefined: str) -> Score:
        return bootstrap_score(
            lambda resampled: divide(resampled @ above, resampled @ below),
            len(done),
            clusters=clusters,
            failed=failed,
            empty=NO_PAIR,
            undefined=undefined,
        )

    area = auroc(
        gold,
        [row.judgement.score if row.judgement is not None else None for row in done],
        clusters=clusters,
        failed=failed,
    )
    with_shares = [
        row for row in done if row.label and row.judgement is not None and row.judgement.shares
    ]
    three: dict[str, Score] = {}
    if with_shares and any(row.label != Relation.ENTAILMENT for row in with_shares):
        right = [
            float(max(shares, key=lambda name: shares[name]) == row.label)
            for row in with_shares
            for shares in (row.judgement.shares if row.judgement is not None else {},)
        ]
        three["accuracy of the three relations"] = mean_score(right, failed=failed)
    return {
        **three,
        "AUROC of entailed": area,
        "accuracy": ratio(equal, every, NO_PAIR),
        "precision": ratio(both, predicted_values, "no pair is judged as entailed"),
        "recall": ratio(both, gold_values, "people call no pair entailed"),
        "F1": ratio(
            2 * both,
            gold_values + predicted_values,
            "neither people nor the judge call a pair entailed",
        ),
    }


@dataclass(frozen=True, slots=True)
class AlignmentRow:
    """One answer's (sentence, citation) pairs.

    Attributes:
        id: The question's id.
        pairs: How many there are.
        entailed: In how many the sentence entails the citation.
        unreadable: Citations without a relation and a value, in no pair.
        cut: Sentences that were too long for the judge.
    """

    id: str
    groups: Groups
    pairs: int
    entailed: int
    unreadable: int
    cut: int = 0
    usage: Usage = field(default_factory=Usage)
    failure: str | None = None


def alignment_row(
    item: Answer, /, *, entailment: Entailment, groups: Groups | None = None
) -> AlignmentRow:
    """Returns how many of an answer's citations the sentences that hold them entail (K5).

    The sentence, without markers, is the premise; the citation as ``relation: value`` the
    hypothesis. A bracket of three triples is three pairs. Invented citations are pairs too, as
    far as they have a relation and a value.

    Args:
        item: The answer.
        entailment: The judge.
        groups: Of its question; by default the kind that the answer has.
    """
    if groups is None or groups == Groups():
        groups = Groups(kind=item.kind)
    if item.failure is not None:
        return AlignmentRow(item.question_id, groups, 0, 0, 0, failure=item.failure)
    citations = [(part.text, cited) for part in item.sentences for cited in part.citations]
    pairs = [
        Pair(text, f"{cited.relation}: {cited.value}")
        for text, cited in citations
        if cited.relation and cited.value
    ]
    judged = entailment.judge(pairs) if pairs else []
    usage = sum((judgement.usage for judgement in judged), Usage())
    failures = [judgement.failure for judgement in judged if judgement.failure is not None]
    if failures:
        return AlignmentRow(item.question_id, groups, 0, 0, 0, usage=usage, failure=failures[0])
    return AlignmentRow(
        item.question_id,
        groups,
        len(pairs),
        sum(judgement.entailed is True for judgement in judged),
        len(citations) - len(pairs),
        sum(judgement.cut for judgement in judged),
        usage,
    )


def alignment_report(
    rows: Sequence[AlignmentRow],
    /,
    *,
    judged_by: str,
    notes: Sequence[str] = (),
) -> CaseReport:
    """Returns the share of (sentence, citation) pairs that are entailed, micro and macro (K5).

    Args:
        rows: Of ``alignment_row``.
        judged_by: Name of the judge.
        notes: What a reader should know of the judge.
    """

    def summarise(part: Sequence[AlignmentRow]) -> dict[str, Score]:
        done = [row for row in part if row.failure is None]
        failed = len(part) - len(done)
        return {
            "alignment, micro": ratio_score(
                [row.entailed for row in done],
                [row.pairs for row in done],
                failed=failed,
                empty=NO_CITATION,
            ),
            "alignment, macro": mean_score(
                [row.entailed / row.pairs if row.pairs else None for row in done],
                failed=failed,
                empty=NO_CITATION,
            ),
        }

    unreadable = sum(row.unreadable for row in rows)
    warnings = [f"{unreadable} citations have no relation and value to test"] if unreadable else []
    return make_report(
        "alignment", rows, summarise, basis={"judge": judged_by}, notes=[*notes, *warnings]
    )


def score_alignment(
    answers: Sequence[Answer],
    /,
    *,
    entailment: Entailment,
    groups: Callable[[str], Groups] = lambda _: Groups(),
) -> tuple[tuple[AlignmentRow, ...], CaseReport]:
    """Returns every answer's row, and the report (K5).

    Args:
        answers: With their citations.
        entailment: The judge.
        groups: From a question's id to what it is grouped by.

    Two sentences with a citation each; the second says nothing of what it cites:

    >>> from queries.generate.reader import parse_answer
    >>> from queries.score.entailment import WordOverlap
    >>> text = "Her mother is Bea [Q1, mother: Bea]. She sang [Q1, home: Rome]."
    >>> answered = Answer("7", "Who?", text, parse_answer(text, ()), (), None, "m")
    >>> _, report = score_alignment([answered], entailment=WordOverlap())
    >>> report.score("alignment, micro").value, report.score("alignment, micro").n
    (0.5, 2)
    """
    rows = tuple(
        alignment_row(item, entailment=entailment, groups=groups(item.question_id))
        for item in answers
    )
    report = alignment_report(rows, judged_by=entailment.name, notes=entailment.notes)
    return rows, report
