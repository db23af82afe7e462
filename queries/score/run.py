"""Scores of a whole set of answers: rows, totals, JSON and lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graph_service.errors import InputError
from graph_service.model.serialise import to_plain
from queries.generate.answer import Answer
from queries.score.citation import (
    SCORE_NAMES,
    CitationRow,
    CitationScores,
    citation_row,
    citation_scores,
)
from queries.score.metric import Score
from queries.score.report import Part, Report

if TYPE_CHECKING:
    from queries.datasets.gold import GoldQuestion

_TITLES: Mapping[str, str] = {
    "correctness_micro": "correctness, micro",
    "correctness_macro": "correctness, macro",
    "precision_micro": "precision, micro",
    "precision_macro": "precision, macro",
    "precision_macro_cited": "precision, macro, answers that cite",
    "precision_distinct": "precision, micro, without repeats",
    "recall_micro": "recall, micro",
    "recall_macro": "recall, macro",
    "f1_micro": "F1, micro",
    "f1_macro": "F1, macro",
    "true_micro": "true in the base graph, micro",
    "entities_linked": "gold entities linked, micro",
    "na_lacking": "marked [NA] where the graph lacks it",
    "na_known": "marked [NA] where it does not",
}


@dataclass(frozen=True, slots=True)
class CitationReport(Report):
    """Citation scores of a set of answers (K4).

    Attributes:
        rows: One an answer, in the order of the answers.
        scores: Over all of them.
        by_kind: Over each kind of question, by name; empty where there is one kind.
        models: Names of the models that answered, sorted.
        citations: How many there are.
        unmatched: How many of them match nothing given: unreadable, incomplete or invented.
        other_case: How many differ from a triple given in upper and lower case alone.
        fold_case: Whether those count as correct.
        missing: Ids of gold questions without an answer; in no score.
        without_gold: Ids of answers without a gold question; in correctness alone.
    """

    rows: tuple[CitationRow, ...]
    scores: CitationScores
    by_kind: Mapping[str, CitationScores]
    models: tuple[str, ...]
    citations: int
    unmatched: int
    other_case: int
    fold_case: bool
    missing: tuple[str, ...]
    without_gold: tuple[str, ...]

    def score(self, name: str, /) -> Score:
        """Returns a score by name (``f1_micro``); raises ``InputError`` naming those there are."""
        if name not in SCORE_NAMES:
            raise InputError(f"unknown score {name!r}; there are {', '.join(SCORE_NAMES)}")
        value: Score = getattr(self.scores, name)
        return value

    def to_plain(self) -> dict[str, Any]:
        """Returns the report as JSON-ready data; each row with its own figures."""
        data: dict[str, Any] = to_plain(self)
        for row, shown in zip(self.rows, data["rows"], strict=True):
            if row.counts is not None:
                shown["counts"].update(
                    correctness=row.counts.correctness,
                    precision=row.counts.precision,
                    recall=row.counts.recall,
                    f1=row.counts.f1,
                )
        return data

    def parts(self) -> Iterator[Part]:
        """Yields what was scored, what is in no score, and the scores."""
        failed = sum(row.failure is not None for row in self.rows)
        yield f"{len(self.rows)} answers by {', '.join(self.models) or 'no model'}; {failed} failed"
        yield f"{self.citations} citations, {self.unmatched} of them match nothing that was given"
        if self.other_case:
            counted = "as correct" if self.fold_case else "as incorrect (--fold-case: as correct)"
            yield (
                f"{self.other_case} of them differ in upper and lower case alone, counted {counted}"
            )
        if self.missing:
            yield f"{len(self.missing)} questions without an answer, in no score"
        if self.without_gold:
            yield f"{len(self.without_gold)} answers without a gold question"
        yield {title: self.score(name) for name, title in _TITLES.items()}


def score_answers(
    answers: Sequence[Answer],
    gold: Sequence[GoldQuestion],
    /,
    *,
    fold_case: bool = False,
) -> CitationReport:
    """Returns the citation scores of answers against gold questions, matched by id (K4).

    Args:
        answers: In any order; those to questions that are not in ``gold`` are scored for
            correctness alone.
        gold: Questions with their minimum sets; those without an answer are listed.
        fold_case: Whether a citation in another case than the triple given is correct.

    Raises:
        InputError: Two answers or two questions have the same id.

    An answer that cites one statement that was given and invents another, of a minimum set of two:

    >>> from graph_service.model.result import EntityRef, RelationRef, Triple
    >>> from graph_service.model.values import StringValue
    >>> from queries.datasets.gold import GoldQuestion
    >>> from queries.generate.reader import parse_answer
    >>> ada = EntityRef("Q1", "Ada")
    >>> given = [
    ...     Triple("s1", ada, RelationRef("P1", "mother"), StringValue("Bea"), "Bea"),
    ...     Triple("s2", ada, RelationRef("P2", "home"), StringValue("Rome"), "Rome"),
    ... ]
    >>> text = "Her mother is Bea [Q1, mother: Bea]. She is a poet [Q1, work: poet]."
    >>> answered = Answer("7", "Who?", text, parse_answer(text, given), tuple(given), None, "m")
    >>> gold = GoldQuestion("7", "Who?", statement_ids=("s1", "s2"))
    >>> report = score_answers([answered], [gold])
    >>> report.score("precision_micro").value, report.score("recall_micro").value
    (0.5, 0.5)
    """
    questions: dict[str, GoldQuestion] = {}
    for item in gold:
        if item.id in questions:
            raise InputError(f"two gold questions have the id {item.id!r}")
        questions[item.id] = item
    rows: list[CitationRow] = []
    seen: set[str] = set()
    for answered in answers:
        if answered.question_id and answered.question_id in seen:
            raise InputError(
                f"two answers have the question id {answered.question_id!r}; score runs apart"
            )
        seen.add(answered.question_id)
        rows.append(
            citation_row(answered, questions.get(answered.question_id), fold_case=fold_case)
        )
    kinds = sorted({row.kind for row in rows if row.kind})
    by_kind = {
        kind: citation_scores([row for row in rows if row.kind == kind])
        for kind in (kinds if len(kinds) > 1 else ())
    }
    counted = [row.counts for row in rows if row.counts is not None]
    return CitationReport(
        rows=tuple(rows),
        scores=citation_scores(rows),
        by_kind=by_kind,
        models=tuple(sorted({item.model for item in answers})),
        citations=sum(counts.citations for counts in counted),
        unmatched=sum(counts.unmatched for counts in counted),
        other_case=sum(counts.other_case for counts in counted),
        fold_case=fold_case,
        missing=tuple(id_ for id_ in questions if id_ not in seen),
        without_gold=tuple(
            item.question_id for item in answers if item.question_id not in questions
        ),
    )
