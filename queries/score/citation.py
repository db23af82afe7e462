"""Citation correctness, precision, recall and F1 (KaLMA section 4.2; K4).

The unit is one (sentence, triple): a bracket of three triples is three citations, and repeats
count each time. A citation that matches nothing given is incorrect and stays in the denominator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from queries.generate.answer import Answer, base_statements
from queries.generate.citations import Citation, one_line
from queries.score.metric import (
    Float64,
    Score,
    bootstrap_rows,
    divide,
    harmonic,
    harmonic_rows,
    harmonic_score,
    mean_score,
    ratio_score,
)

if TYPE_CHECKING:
    from queries.datasets.gold import GoldQuestion

NO_MINIMUM = "no question has a minimum set of statements"
NO_CITATION = "no answer cites anything"


@dataclass(frozen=True, slots=True)
class CitationCounts:
    """What the citations of one answer come to.

    Attributes:
        citations: All of them, repeats and those that match nothing included.
        correct: Those that are exactly a triple of the knowledge given; case counts unless it was
            folded.
        useful: Correct ones whose statement is in the minimum set.
        hit: Statements of the minimum set that a correct citation names.
        minimum: Statements of the minimum set; 0 where the question has none.
        minimum_set: Which of the question's sets was used: 0 for the first.
        missed: Statements of that set that no correct citation names, in its order.
        unmatched: Citations that match nothing given.
        other_case: Citations that differ from a triple given in upper and lower case alone.
        distinct: Different citations: those that name the same statements count once.
        distinct_useful: Of these, correct ones whose statement is in the minimum set.
    """

    citations: int
    correct: int
    useful: int
    hit: int
    minimum: int
    minimum_set: int = 0
    missed: tuple[str, ...] = ()
    unmatched: int = 0
    other_case: int = 0
    distinct: int = 0
    distinct_useful: int = 0

    @property
    def correctness(self) -> float | None:
        """Share of correct citations; None without citations."""
        return self.correct / self.citations if self.citations else None

    @property
    def precision(self) -> float | None:
        """Share of useful citations, 0 without citations; None without a minimum set."""
        if not self.minimum:
            return None
        return self.useful / self.citations if self.citations else 0.0

    @property
    def recall(self) -> float | None:
        """Share of the minimum set that was hit; None without one."""
        return self.hit / self.minimum if self.minimum else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of both; None without a minimum set."""
        return harmonic(self.precision, self.recall)


def is_correct(citation: Citation, /, *, fold_case: bool = False) -> bool:
    """Returns whether a citation is a triple of the knowledge given (K4).

    Args:
        citation: As read against that knowledge.
        fold_case: Whether upper and lower case are the same.

    >>> is_correct(Citation("Q1", "home", "Rome", "s1", "Home: ROME", False))
    False
    >>> is_correct(Citation("Q1", "home", "Rome", "s1", "Home: ROME", False), fold_case=True)
    True
    """
    return citation.statement_id is not None and (citation.matched or fold_case)


def count_citations(
    citations: Sequence[Citation],
    minimum_sets: Sequence[Sequence[str]],
    /,
    *,
    fold_case: bool = False,
) -> CitationCounts:
    """Returns the counts of one answer's citations against what it should have cited (K4).

    Where several sets answer the question, the one that suits the citations best is used: by
    F1, then recall, then the order given.

    Args:
        citations: Of all sentences, in order.
        minimum_sets: Statement ids of each set that answers the question; empty ones are left
            out.
        fold_case: Whether a citation in another case is correct.

    >>> cited = [Citation("Q1", "r", "v", id_, "", True) for id_ in ("k1", "k2", "k9")]
    >>> counts = count_citations(cited, [("k1", "k2", "k3", "k4")])
    >>> counts.precision, counts.recall
    (0.6666666666666666, 0.5)
    """
    correct = [item for item in citations if is_correct(item, fold_case=fold_case)]
    unmatched = sum(item.statement_id is None for item in citations)
    other_case = sum(not item.matched for item in citations) - unmatched
    named = {id_ for item in correct for id_ in item.statement_ids}
    # Those that match nothing are told apart by their words.
    distinct = len({item.statement_ids or (one_line(item.raw).casefold(),) for item in citations})
    best = CitationCounts(
        len(citations),
        len(correct),
        0,
        0,
        0,
        unmatched=unmatched,
        other_case=other_case,
        distinct=distinct,
    )
    best_key: tuple[float, float] = (-1.0, -1.0)
    for index, listed in enumerate(minimum_sets):
        minimum = list(dict.fromkeys(listed))
        if not minimum:
            continue
        inside = set(minimum)
        useful = [item for item in correct if not inside.isdisjoint(item.statement_ids)]
        counts = CitationCounts(
            citations=len(citations),
            correct=len(correct),
            useful=len(useful),
            hit=len(inside & named),
            minimum=len(inside),
            minimum_set=index,
            missed=tuple(id_ for id_ in minimum if id_ not in named),
            unmatched=unmatched,
            other_case=other_case,
            distinct=distinct,
            distinct_useful=len({item.statement_ids for item in useful}),
        )
        key = (counts.f1 or 0.0, counts.recall or 0.0)
        if key > best_key:
            best, best_key = counts, key
    return best


def count_true(
    citations: Sequence[Citation], bases: Mapping[str, str | None], /, *, fold_case: bool = False
) -> int:
    """Returns how many citations name a statement that the base graph holds as it is.

    A statement that a view changed has an id of its own: citing it is faithful to what was
    given, and not true.

    Args:
        citations: Of all sentences.
        bases: For each statement given the statement of the base it comes from: itself where it
            is unchanged, another where it was changed, None where it was added.
        fold_case: Whether a citation in another case counts.
    """
    return sum(
        is_correct(item, fold_case=fold_case)
        and any(bases.get(id_) == id_ for id_ in item.statement_ids)
        for item in citations
    )


@dataclass(frozen=True, slots=True)
class CitationRow:
    """One answer's counts.

    Attributes:
        kind: The question's kind, where its data set has kinds.
        counts: None where the model failed.
        true: Citations true in the base; None where the base is not known.
        sentences, na_sentences: Of the answer.
        entities: Entities that the gold question names.
        linked: Those of them that the question's words were linked to; None where the entities
            were given, or the knowledge came from no retrieval.
        lacking: Whether the graph lacks what the question asks, so that ``[NA]`` is right; None
            where the gold question does not tell, or is missing.
        failure: Why there is no answer.
    """

    question_id: str
    kind: str
    counts: CitationCounts | None
    true: int | None
    sentences: int
    na_sentences: int
    entities: int
    linked: int | None
    lacking: bool | None
    failure: str | None


def citation_row(
    item: Answer, gold: GoldQuestion | None, /, *, fold_case: bool = False
) -> CitationRow:
    """Returns the counts of one answer; without a gold question its correctness alone."""
    kind = gold.kind if gold is not None else ""
    lacking = None
    # Of a file without minimum sets and answers nobody knows what its questions would need.
    if gold is not None and (gold.lacking or gold.statement_ids or gold.answers):
        lacking = gold.lacking
    if item.failure is not None:
        return CitationRow(item.question_id, kind, None, None, 0, 0, 0, None, lacking, item.failure)
    citations = [citation for part in item.sentences for citation in part.citations]
    sets = gold.minimum_sets if gold is not None else ()
    bases = base_statements(item)
    return CitationRow(
        question_id=item.question_id,
        kind=kind,
        counts=count_citations(citations, sets, fold_case=fold_case),
        true=None if bases is None else count_true(citations, bases, fold_case=fold_case),
        sentences=len(item.sentences),
        na_sentences=sum(part.not_available for part in item.sentences),
        entities=len(gold.entity_ids) if gold is not None else 0,
        linked=_linked(item, gold.entity_ids) if gold is not None else None,
        lacking=lacking,
        failure=None,
    )


def _linked(item: Answer, entity_ids: Sequence[str]) -> int | None:
    if item.result is None or not entity_ids:
        return None
    linked = item.result.linked
    if linked and all(not entity.mention for entity in linked):
        return None
    return len(set(entity_ids) & {entity.entity.id for entity in linked})


@dataclass(frozen=True, slots=True)
class CitationScores:
    """The scores of a set of answers; ``micro`` over citations or statements, ``macro`` over
    answers.

    Attributes:
        correctness_micro, correctness_macro: Citations that are a triple given; macro over
            answers that cite.
        precision_micro, precision_macro: Correct and in the minimum set; an answer without
            citations has macro precision 0.
        precision_macro_cited: The same mean without answers that cite nothing.
        precision_distinct: As ``precision_micro``, where a citation that an answer repeats counts
            once; so nothing is gained by citing one useful statement again and again.
        recall_micro, recall_macro: The minimum set hit.
        f1_micro, f1_macro: F1 of the two above it.
        true_micro: Citations that are also true in the base graph.
        entities_linked: Share of the gold entities that the questions' words were linked to
            (retrieval accuracy, K2), micro.
        na_lacking: Share of the answers marked ``[NA]`` where the graph lacks what is asked.
        na_known: The same share where it does not: ``[NA]`` without need.
    """

    correctness_micro: Score
    correctness_macro: Score
    precision_micro: Score
    precision_macro: Score
    precision_macro_cited: Score
    precision_distinct: Score
    recall_micro: Score
    recall_macro: Score
    f1_micro: Score
    f1_macro: Score
    true_micro: Score
    entities_linked: Score
    na_lacking: Score
    na_known: Score


SCORE_NAMES: tuple[str, ...] = tuple(field.name for field in fields(CitationScores))


def citation_scores(rows: Sequence[CitationRow], /) -> CitationScores:
    """Returns the scores of some answers, with bootstrap intervals over answers.

    Failed answers are counted in each score and averaged in none; answers whose question has no
    minimum set are unscored in precision, recall and F1.
    """
    failed = sum(row.counts is None for row in rows)
    done = [row.counts for row in rows if row.counts is not None]
    scored = [counts for counts in done if counts.minimum]
    unscored = len(done) - len(scored)
    cited = [counts.citations for counts in scored]
    useful = [counts.useful for counts in scored]
    hit = [counts.hit for counts in scored]
    minimum = [counts.minimum for counts in scored]
    no_citation = NO_CITATION if scored else NO_MINIMUM

    def ratio(above: list[int], below: list[int], empty: str) -> Score:
        return ratio_score(above, below, failed=failed, unscored=unscored, empty=empty)

    def mean(values: Sequence[float | None], empty: str) -> Score:
        return mean_score(values, failed=failed, empty=empty)

    def marked(lacking: bool) -> list[float]:
        return [
            float(row.na_sentences > 0)
            for row in rows
            if row.counts is not None and row.lacking is lacking
        ]

    precision_micro = ratio(useful, cited, no_citation)
    recall_micro = ratio(hit, minimum, NO_MINIMUM)
    precision_macro = mean([counts.precision for counts in done], NO_MINIMUM)
    recall_macro = mean([counts.recall for counts in done], NO_MINIMUM)
    micro_rows, macro_rows = _resampled_f1(scored)
    known = [row for row in rows if row.counts is not None and row.true is not None]
    linking = [row for row in rows if row.counts is not None and row.linked is not None]
    return CitationScores(
        correctness_micro=ratio_score(
            [counts.correct for counts in done],
            [counts.citations for counts in done],
            failed=failed,
            empty=NO_CITATION,
        ),
        correctness_macro=mean([counts.correctness for counts in done], NO_CITATION),
        precision_micro=precision_micro,
        precision_macro=precision_macro,
        precision_macro_cited=mean(
            [counts.precision if counts.citations else None for counts in done], no_citation
        ),
        precision_distinct=ratio(
            [counts.distinct_useful for counts in scored],
            [counts.distinct for counts in scored],
            no_citation,
        ),
        recall_micro=recall_micro,
        recall_macro=recall_macro,
        f1_micro=harmonic_score(precision_micro, recall_micro, micro_rows),
        f1_macro=harmonic_score(precision_macro, recall_macro, macro_rows),
        true_micro=ratio_score(
            [row.true or 0 for row in known],
            [row.counts.citations if row.counts else 0 for row in known],
            failed=failed,
            unscored=len(done) - len(known),
            empty=NO_CITATION if known else "the base graph of these answers is not known",
        ),
        entities_linked=ratio_score(
            [row.linked or 0 for row in linking],
            [row.entities for row in linking],
            failed=failed,
            unscored=len(done) - len(linking),
            empty="no question's entities were linked from its words",
        ),
        na_lacking=mean(marked(True), "the graph lacks nothing that a question asks"),
        na_known=mean(marked(False), "no question is known to be answered by the graph"),
    )


def _resampled_f1(scored: Sequence[CitationCounts]) -> tuple[Float64 | None, Float64 | None]:
    """F1 of each resample of the answers, micro and macro; None for fewer than two answers."""
    if len(scored) < 2:
        return None, None
    resampled = bootstrap_rows(len(scored))

    def total(values: Sequence[float]) -> Float64:
        sums: Float64 = np.asarray(values, dtype=np.float64)[resampled].sum(axis=1)
        return sums

    micro = harmonic_rows(
        divide(total([item.useful for item in scored]), total([item.citations for item in scored])),
        divide(total([item.hit for item in scored]), total([item.minimum for item in scored])),
    )
    count = float(len(scored))
    macro = harmonic_rows(
        total([item.precision or 0.0 for item in scored]) / count,
        total([item.recall or 0.0 for item in scored]) / count,
    )
    return micro, macro
