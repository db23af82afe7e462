"""Precision and recall of ``[NA]`` against knowledge that is known to be absent (K6).

What is absent was withheld: the delta of a withholding view is the truth. KaLMA section 4.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from graph_service.model.result import Triple
from queries.generate.answer import Answer
from queries.generate.citations import one_line
from queries.llm import ReplyError, ReplyFault
from queries.score.entailment import Entailment, Pair, triple_hypothesis
from queries.score.judge import Judge, read_choice, request_verdict
from queries.score.metric import Score, mean_score, ratio_score
from queries.score.prompts import load_score_prompt
from queries.score.report import Part, Report

NO_NA = "no sentence is marked [NA]"
NO_ABSENT = "nothing is absent"
NO_JUDGE = "no judge says whether a sentence answers its question at all"


@dataclass(frozen=True, slots=True)
class NotAvailableRow:
    """One answer's ``[NA]`` sentences.

    Attributes:
        sentences: Sentences marked ``[NA]``, each once however many markers it holds.
        right: Those that entail at least one absent triple.
        beside: Others that do not answer the question at all; None without a judge.
        hit: Absent triples that an ``[NA]`` sentence entails.
        absent: Absent triples of the question.
        failure: Why there is no answer, or no judgement of it.
    """

    question_id: str
    sentences: int
    right: int
    beside: int | None
    hit: int
    absent: int
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class NotAvailableReport(Report):
    """Scores of ``[NA]`` over a set of answers.

    Attributes:
        precision_strict: Of all ``[NA]`` sentences those that entail an absent triple.
        precision_lenient: The same, where a sentence that does not answer the question at all
            is right too; None without a judge of that.
        recall: Of all absent triples those that an ``[NA]`` sentence entails.
        precision_strict_macro, recall_macro: Means over answers that have such sentences, and
            over answers whose question has absent triples.
        entailment: Name of what judged entailment.
        notes: What a reader should know of that judge.
    """

    rows: tuple[NotAvailableRow, ...]
    precision_strict: Score
    precision_lenient: Score
    recall: Score
    precision_strict_macro: Score
    recall_macro: Score
    entailment: str
    notes: tuple[str, ...] = ()

    @property
    def has_failed(self) -> bool:
        """Whether an answer, or its judgement, failed."""
        return any(row.failure is not None for row in self.rows)

    def parts(self) -> Iterator[Part]:
        """Yields what was scored, by whom, and the scores."""
        absent = sum(row.absent for row in self.rows)
        yield f"[NA]: {len(self.rows)} answers, {absent} withheld triples"
        yield f"judge: {self.entailment}"
        yield from self.notes
        yield {
            "precision, strict": self.precision_strict,
            "precision, lenient": self.precision_lenient,
            "recall": self.recall,
            "precision, strict, macro": self.precision_strict_macro,
            "recall, macro": self.recall_macro,
        }


def not_available_row(
    item: Answer,
    absent: Sequence[Triple],
    /,
    *,
    entailment: Entailment,
    is_off_question: Callable[[str, str], bool] | None = None,
    hypothesis: Callable[[Triple], str] = triple_hypothesis,
) -> NotAvailableRow:
    """Returns the counts of one answer (K6).

    Args:
        item: The answer; markers and citations are no part of its sentences' texts.
        absent: The triples that were withheld from it.
        entailment: Judges (sentence, triple) with the sentence as the premise.
        is_off_question: Says of (question, sentence) whether the sentence does not answer the
            question at all.
        hypothesis: How a triple is worded.
    """
    if item.failure is not None:
        return NotAvailableRow(item.question_id, 0, 0, None, 0, len(absent), item.failure)
    marked = [part.text for part in item.sentences if part.not_available]
    pairs = [Pair(text, hypothesis(triple)) for text in marked for triple in absent]
    judgements = entailment.judge(pairs) if pairs else []
    failures = [judgement.failure for judgement in judgements if judgement.failure is not None]
    if failures:
        return NotAvailableRow(item.question_id, 0, 0, None, 0, len(absent), failures[0])
    judged = [judgement.entailed is True for judgement in judgements]
    width = len(absent)
    table = [judged[i * width : (i + 1) * width] for i in range(len(marked))]
    right = [any(row) for row in table]
    off_question = None
    if is_off_question is not None:
        try:
            off_question = sum(
                not is_right and is_off_question(item.question, text)
                for text, is_right in zip(marked, right, strict=True)
            )
        except ReplyError as error:
            return NotAvailableRow(item.question_id, 0, 0, None, 0, width, error.message)
    return NotAvailableRow(
        question_id=item.question_id,
        sentences=len(marked),
        right=sum(right),
        beside=off_question,
        hit=sum(any(row[column] for row in table) for column in range(width)),
        absent=width,
    )


def score_not_available(
    answers: Sequence[Answer],
    absent: Mapping[str, Sequence[Triple]],
    /,
    *,
    entailment: Entailment,
    is_off_question: Callable[[str, str], bool] | None = None,
    hypothesis: Callable[[Triple], str] = triple_hypothesis,
) -> NotAvailableReport:
    """Returns precision and recall of ``[NA]`` over answers (K6).

    Args:
        answers: From graphs with something withheld.
        absent: What was withheld, by question id; none where the id is not there.
        entailment: As in ``not_available_row``.
        is_off_question: As in ``not_available_row``.
        hypothesis: As in ``not_available_row``.

    One marked sentence that names what was withheld, of two withheld statements:

    >>> from graph_service.model.result import EntityRef, RelationRef, Triple
    >>> from graph_service.model.values import StringValue
    >>> from queries.generate.reader import parse_answer
    >>> from queries.score.entailment import WordOverlap
    >>> ada = EntityRef("Q1", "Ada")
    >>> withheld = [
    ...     Triple("s1", ada, RelationRef("P1", "mother"), StringValue("Bea"), "Bea"),
    ...     Triple("s2", ada, RelationRef("P2", "home"), StringValue("Rome"), "Rome"),
    ... ]
    >>> text = "Her mother may be Bea [NA]."
    >>> answered = Answer("7", "Who?", text, parse_answer(text, ()), (), None, "m")
    >>> report = score_not_available([answered], {"7": withheld}, entailment=WordOverlap())
    >>> report.precision_strict.value, report.recall.value
    (1.0, 0.5)
    """
    rows = [
        not_available_row(
            item,
            absent.get(item.question_id, ()),
            entailment=entailment,
            is_off_question=is_off_question,
            hypothesis=hypothesis,
        )
        for item in answers
    ]
    return not_available_report(
        rows,
        entailment=entailment,
        is_lenient=is_off_question is not None,
    )


def not_available_report(
    rows: Sequence[NotAvailableRow],
    /,
    *,
    entailment: Entailment,
    is_lenient: bool = False,
) -> NotAvailableReport:
    """Returns the report of rows; failed answers are counted beside each figure and are in none.

    Args:
        rows: One an answer.
        entailment: What judged them.
        is_lenient: Whether a judge said which sentences do not answer their question at all.
    """
    done = [row for row in rows if row.failure is None]
    failed = len(rows) - len(done)
    marked = [row.sentences for row in done]

    def ratio(above: list[int], below: list[int], empty: str) -> Score:
        return ratio_score(above, below, failed=failed, empty=empty)

    lenient = Score(None, 0, failed, len(done), NO_JUDGE)
    if is_lenient:
        lenient = ratio([row.right + (row.beside or 0) for row in done], marked, NO_NA)
    return NotAvailableReport(
        rows=tuple(rows),
        precision_strict=ratio([row.right for row in done], marked, NO_NA),
        precision_lenient=lenient,
        recall=ratio([row.hit for row in done], [row.absent for row in done], NO_ABSENT),
        precision_strict_macro=mean_score(
            [row.right / row.sentences if row.sentences else None for row in done],
            failed=failed,
            empty=NO_NA,
        ),
        recall_macro=mean_score(
            [row.hit / row.absent if row.absent else None for row in done],
            failed=failed,
            empty=NO_ABSENT,
        ),
        entailment=entailment.name,
        notes=entailment.notes,
    )


def off_question_judge(judge: Judge, /) -> Callable[[str, str], bool]:
    """Returns a judge of whether a sentence does not answer its question at all (K6, lenient).

    The function that is returned raises ``ReplyError`` where the judge's reply cannot be read.
    """
    prompt = load_score_prompt("answers-question")

    def is_off_question(question: str, sentence: str) -> bool:
        verdict = request_verdict(
            judge,
            prompt.render(question=one_line(question), sentence=one_line(sentence)),
            lambda text: read_choice(text, ("answers", "beside")),
            verdict_is_last=True,
        )
        if verdict.value is None:
            raise ReplyError(str(verdict.failure), fault=ReplyFault.MALFORMED)
        return verdict.value == "beside"

    return is_off_question
