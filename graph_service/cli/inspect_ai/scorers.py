"""Our scores as scorers of inspect_ai: each sample's row, and our figures over the rows.

A sample's value has its own figures. The metrics are computed from the rows by the functions that
``graph-service score`` uses, so that they are the same numbers. A failed answer is unscored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from graph_service.adapters import framework
from graph_service.model.result import Triple
from graph_service.model.serialise import from_plain, to_plain
from queries.datasets.gold import GoldQuestion
from queries.generate.answer import Answer
from queries.generate.answer_list import parse_answer_list
from queries.score.answer_sets import (
    SCORES,
    AnswerSetCase,
    AnswerSetRow,
    answer_set_report,
    answer_set_row,
)
from queries.score.case import case_of_answer
from queries.score.citation import CitationRow, citation_row, citation_scores
from queries.score.entailment import WordOverlap
from queries.score.knowledge import KnowledgeCase, KnowledgeRow, knowledge_report, knowledge_row
from queries.score.metric import Score as Figure
from queries.score.not_available import (
    NotAvailableRow,
    not_available_report,
    not_available_row,
)
from queries.score.talec import TalecRow
from queries.score.talec_report import talec_scores

with framework("inspect", module=__name__):
    from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
    from inspect_ai.solver import TaskState

    from graph_service.cli.inspect_ai.answering import ANSWER, VERDICT, answer_of

_Row = TypeVar("_Row", CitationRow, KnowledgeRow, AnswerSetRow, NotAvailableRow, TalecRow)
_ROW = "row"
_CLASSES = "classes"
NO_KNOWLEDGE = "the knowledge of this answer was not recorded; solver graph_answer records it"


def _rows(scores: Sequence[SampleScore], kind: type[_Row]) -> list[_Row]:
    return [from_plain(kind, score.score.metadata[_ROW]) for score in scores]


def _values(figures: Mapping[str, Figure]) -> dict[str, float]:
    """Returns the figures that have a value."""
    return {name: score.value for name, score in figures.items() if score.value is not None}


def _scored(item: Answer, row: Any, values: Mapping[str, float | None]) -> Score:
    return Score(value=dict(values), answer=item.text, metadata={_ROW: to_plain(row)})


def _gold(state: TaskState) -> GoldQuestion:
    gold: GoldQuestion = from_plain(GoldQuestion, state.metadata["gold"])
    return gold


def _metric_of(
    kind: type[_Row], figures: Callable[[list[_Row]], Mapping[str, Figure]]
) -> Callable[[list[SampleScore]], dict[str, float]]:
    # inspect_ai tells by the annotation that the function takes scores of samples.
    def compute(scores: list[SampleScore]) -> dict[str, float]:
        return _values(figures(_rows(scores, kind)))

    return compute


@metric
def citation_figures() -> Metric:
    """Computes citation correctness, precision, recall and F1 (K4)."""

    def figures(rows: list[CitationRow]) -> Mapping[str, Figure]:
        scores = citation_scores(rows)
        return {field.name: getattr(scores, field.name) for field in fields(scores)}

    return _metric_of(CitationRow, figures)


@scorer(metrics=[citation_figures()])
def citations(fold_case: bool = False) -> Scorer:
    """Scores the citations of an answer against the statements given and the minimum set (K4).

    Args:
        fold_case: Whether upper and lower case are the same.
    """

    async def score(state: TaskState, target: Target) -> Score:
        del target
        item = answer_of(state)
        if item.failure is not None or state.store.get(ANSWER) is None:
            return Score.unscored(explanation=item.failure or NO_KNOWLEDGE)
        row = citation_row(item, _gold(state), fold_case=fold_case)
        assert row.counts is not None
        names = ("correctness", "precision", "recall", "f1")
        return _scored(item, row, {name: getattr(row.counts, name) for name in names})

    return score


@metric
def not_available_figures() -> Metric:
    """Computes precision and recall of ``[NA]`` (K6)."""

    def figures(rows: list[NotAvailableRow]) -> Mapping[str, Figure]:
        report = not_available_report(rows, entailment=WordOverlap())
        return {
            name: getattr(report, name)
            for name in (
                "precision_strict",
                "recall",
                "precision_strict_macro",
                "recall_macro",
            )
        }

    return _metric_of(NotAvailableRow, figures)


@scorer(metrics=[not_available_figures()])
def not_available() -> Scorer:
    """Scores ``[NA]`` against what was withheld, by the overlap of words (K6)."""

    async def score(state: TaskState, target: Target) -> Score:
        del target
        item = answer_of(state)
        absent = [from_plain(Triple, triple) for triple in state.metadata["absent"]]
        row = not_available_row(item, absent, entailment=WordOverlap())
        if row.failure is not None:
            return Score.unscored(explanation=row.failure)
        return _scored(
            item,
            row,
            {
                "precision": row.right / row.sentences if row.sentences else None,
                "recall": row.hit / row.absent if row.absent else None,
            },
        )

    return score


@metric
def knowledge_figures() -> Metric:
    """Computes KM, rKM and eKM (L8)."""
    return _metric_of(KnowledgeRow, lambda rows: knowledge_report(rows).scores)


@scorer(metrics=[knowledge_figures()])
def knowledge() -> Scorer:
    """Scores which answer entities a text names: KM, rKM, eKM (L8)."""

    async def score(state: TaskState, target: Target) -> Score:
        del target
        item = answer_of(state)
        if item.failure is not None:
            return Score.unscored(explanation=item.failure)
        case = KnowledgeCase(item.question_id, case_of_answer(item).text, _names(_gold(state)))
        row = knowledge_row(case)
        match = row.match
        assert match is not None
        return _scored(item, row, {"KM": match.km, "rKM": match.rkm, "eKM": match.ekm})

    return score


@metric
def answer_set_figures() -> Metric:
    """Computes Hits@1, Hits@Any, F1 of answer sets, rejection, and success of attacks (B3)."""
    return _metric_of(AnswerSetRow, lambda rows: answer_set_report(rows).scores)


@scorer(metrics=[answer_set_figures()])
def answer_sets() -> Scorer:
    """Scores an answer as a set, refusals, and whether it gives the false answer of a view (B3)."""

    async def score(state: TaskState, target: Target) -> Score:
        del target
        item = answer_of(state)
        if item.failure is not None:
            return Score.unscored(explanation=item.failure)
        row = answer_set_row(answer_set_of(item, _gold(state), state.metadata["targets"]))
        return _scored(item, row, {name: getattr(row, field) for name, field in SCORES.items()})

    return score


@metric
def talec_figures() -> Metric:
    """Computes the mean score of a judge and its agreement with people (T6)."""

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        classes = scores[0].score.metadata[_CLASSES] if scores else {}
        return _values(talec_scores(_rows(scores, TalecRow), classes))

    return compute


@scorer(metrics=[talec_figures()])
def talec_agreement() -> Scorer:
    """Scores the verdicts of a judge by criteria against those of people (T6)."""

    async def score(state: TaskState, target: Target) -> Score:
        del target
        row = from_plain(TalecRow, state.store.get(VERDICT))
        values = {name: item.present for name, item in row.labels.items()}
        return Score(
            value={"score": row.score, **values},
            answer=state.output.completion,
            explanation=row.failure,
            metadata={_ROW: to_plain(row), _CLASSES: state.metadata["classes"]},
        )

    return score


def answer_set_of(item: Answer, gold: GoldQuestion, targets: Sequence[str], /) -> AnswerSetCase:
    """Returns an answer as the case that ``score answer-sets`` takes.

    Args:
        item: The answer; a list between ``<answers>`` is what it names.
        gold: Its question.
        targets: False answers that the question's view leads to.
    """
    hard = gold.hard
    return AnswerSetCase(
        id=item.question_id,
        text=case_of_answer(item).text,
        named=parse_answer_list(item.text),
        answers=_names(gold),
        hard=() if hard is None else _names(hard),
        stale=tuple((name,) for name in gold.stale_answers),
        targets=tuple((name,) for name in targets),
        is_answerable=not gold.lacking,
        rejects=item.not_available,
    )


def _names(gold: GoldQuestion) -> tuple[tuple[str, ...], ...]:
    return () if gold.lacking else tuple((name,) for name in gold.answers)
