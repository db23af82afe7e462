"""Scores of a run: one line a score, a value or the reason why there is none.

All of them are taken question by question from the answer alone, so that cells can be paired. Only the
judges that a plan names ask a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph_service.errors import InputError
from graph_service.model.values import EntityValue
from queries.datasets.gold import GoldQuestion
from queries.datasets.records import read_records
from queries.experiment.answering import Experiment
from queries.experiment.attacks import ATTACK_TITLES, AttackScorer
from queries.experiment.cells import Cell, CellKind
from queries.experiment.impact import ViewLine, read_views
from queries.experiment.judging import JUDGED_RANGES, JUDGED_TITLES, judged_scores
from queries.experiment.runner import ANSWERS_NAME, CellAnswer, read_cell_answers
from queries.experiment.short_answers import ShortAnswer, match_answers, short_answer
from queries.experiment.subjects import Fate
from queries.generate.answer import base_statements
from queries.generate.record import Answer
from queries.line_file import write_lines
from queries.run import in_order
from queries.score.citation import CitationRow, citation_row
from queries.score.knowledge import match_knowledge

SCORES_NAME = "scores.jsonl"

TITLES: Mapping[str, str] = {
    "f1": "citation F1",
    "precision": "citation precision",
    "recall": "citation recall",
    "correctness": "citation correctness",
    "true": "citations true in the base graph",
    "retrieved": "gold statements retrieved",
    "answer_retrieved": "answer retrieved",
    "answer_named": "answer named in the text",
    "rkm": "share of the answers named in the text (rKM)",
    "ekm": "all answers named in the text (eKM)",
    "listed": "answer lists that could be read",
    "hits_at_1": "Hits@1 of the answer list",
    "hits_at_any": "Hits@Any of the answer list",
    "hits_at_hard": "Hits@Hard of the answer list",
    "exact": "exact match of the answer list",
    "set_precision": "precision of the answer list",
    "set_recall": "recall of the answer list",
    "set_f1": "F1 of the answer list",
    "abstained": "answers with [NA], or an empty list",
    **ATTACK_TITLES,
    **JUDGED_TITLES,
}
"""What each score is, by name."""
RANGES: Mapping[str, tuple[float, float]] = JUDGED_RANGES
"""Least and greatest value of each score that is no share."""
SCORES = tuple(TITLES)
COUNTED = tuple(name for name in TITLES if name not in {**ATTACK_TITLES, **JUDGED_TITLES})
"""Those that no model gives, and that are of one answer alone: every answer has them."""

_OF_LISTS = ("hits_at_1", "hits_at_any", "exact", "set_precision", "set_recall", "set_f1")
_OF_ANSWERS = ("answer_retrieved", "answer_named", "rkm", "ekm", *_OF_LISTS, "hits_at_hard")

NO_GOLD = "the question has no gold statements in this graph"
NO_ANSWERS = "the question file names no answer"
NO_HARD = "the question file names no hard answer"
NO_CITATION = "the answer cites nothing"
NO_LIST = "the setting wants no list of answers"
NO_TAGS = "only a model's list has tags"
NO_BASE = "nothing was retrieved"
NO_CONTROL = "the control has no match for each statement on the paths"
FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """One score of one answer.

    Attributes:
        cell: Id of the cell.
        question: Id of the question, and ``kind`` its type.
        fate: What the cell's view leaves of the question's gold.
        value: None where there is none; ``why`` then says why.
    """

    cell: str
    question: str
    kind: str
    fate: Fate | None
    score: str
    value: float | None
    why: str | None = None


def score_answer(item: Answer, gold: GoldQuestion, cell: Cell, /) -> dict[str, float | str]:
    """Returns the scores of an answer that no model gives: the value, or why there is none."""
    if item.failure is not None:
        return dict.fromkeys(COUNTED, FAILED)
    row = citation_row(item, gold)
    scores: dict[str, float | str] = {
        **_cited(row),
        "retrieved": _retrieved(item, gold),
    }
    short = short_answer(item, cell)
    scores["abstained"] = float(short.is_refusal)
    scores["listed"] = NO_TAGS if short.is_tagged is None else float(short.is_tagged)
    if gold.lacking or not (gold.answer_ids or gold.answers):
        scores |= dict.fromkeys(_OF_ANSWERS, NO_ANSWERS)
    else:
        scores["answer_retrieved"] = float(_reaches(item, gold))
        scores |= _named(item, gold)
        scores |= _listed(short, gold)
    return {name: scores[name] for name in COUNTED}


def _named(item: Answer, gold: GoldQuestion) -> dict[str, float | str]:
    text = " ".join(part.text for part in item.sentences)
    match = match_knowledge(text, [[name] for name in gold.answers])
    values = {"answer_named": match.km, "rkm": match.rkm, "ekm": match.ekm}
    return {name: NO_ANSWERS if value is None else value for name, value in values.items()}


def _listed(short: ShortAnswer, gold: GoldQuestion) -> dict[str, float | str]:
    if short.names is None:
        return dict.fromkeys((*_OF_LISTS, "hits_at_hard"), NO_LIST)
    hard = gold.hard
    return {
        **dict(zip(_OF_LISTS, match_answers(short.names, gold).scores(), strict=True)),
        "hits_at_hard": (
            NO_HARD if hard is None else float(any(match_answers(short.names, hard).named))
        ),
    }


def _cited(row: CitationRow) -> dict[str, float | str]:
    counts = row.counts
    assert counts is not None
    true: float | str = NO_BASE if row.true is None else NO_CITATION
    if row.true is not None and counts.citations:
        true = row.true / counts.citations
    return {
        "f1": NO_GOLD if counts.f1 is None else counts.f1,
        "precision": NO_GOLD if counts.precision is None else counts.precision,
        "recall": NO_GOLD if counts.recall is None else counts.recall,
        "correctness": NO_CITATION if counts.correctness is None else counts.correctness,
        "true": true,
    }


def _retrieved(item: Answer, gold: GoldQuestion) -> float | str:
    sets = [set(listed) for listed in gold.minimum_sets if listed]
    if not sets:
        return NO_GOLD
    bases = base_statements(item) or {}
    unchanged = {id_ for id_, base in bases.items() if base == id_}
    return max(len(listed & unchanged) / len(listed) for listed in sets)


def _reaches(item: Answer, gold: GoldQuestion) -> bool:
    names = {name.casefold() for name in gold.answers}
    ids = set(gold.answer_ids)
    for triple in item.knowledge:
        value = triple.value.id if isinstance(triple.value, EntityValue) else ""
        if ids & {triple.head.id, value}:
            return True
        if names & {triple.head.label.casefold(), triple.value_label.casefold()}:
            return True
    return False


def score_lines(
    made: CellAnswer, kind: str, scores: Mapping[str, float | str], /
) -> Iterator[ScoreLine]:
    """Yields a line for each score of an answer.

    Args:
        made: The answer.
        kind: Type of its question.
        scores: By name the value, or why there is none.
    """
    for name, value in scores.items():
        is_reason = isinstance(value, str)
        yield ScoreLine(
            made.cell,
            made.answer.question_id,
            kind,
            made.fate,
            name,
            None if is_reason else float(value),
            str(value) if is_reason else None,
        )


def write_scores(
    experiment: Experiment,
    folder: Path,
    /,
    *,
    workers: int = 1,
    say: Callable[[str], None] | None = None,
) -> int:
    """Writes ``scores.jsonl`` from the answers of a run; returns how many answers failed.

    Args:
        experiment: With its judges. Their replies are kept: a run that is stopped while it judges
            asks nothing twice.
        folder: Of the run.
        workers: Answers that are judged at once; the bytes do not depend on it.
        say: Told now and then how many answers are judged.

    Raises:
        InputError: A line is no answer of this experiment, or the answers of one view were made
            on different ones.
        SetupError, LimitError: As ``OpenJudge.score``; nothing is written then.
    """
    cells = {cell.id: cell for cell in experiment.cells}
    golds = {
        graph: {subject.case.id: subject.gold for subject in subjects}
        for graph, subjects in experiment.subjects.items()
    }
    lines: list[ScoreLine] = []
    failed = 0
    views: dict[str, tuple[str, str | None]] = {}
    total = len(experiment.cell_subjects())
    attacks = AttackScorer()
    reached = {
        (line.graph, line.view, line.question): line for line in read_views(folder, missing=True)
    }

    def scored(made: CellAnswer) -> tuple[CellAnswer, dict[str, float | str]]:
        cell, item = cells.get(made.cell), made.answer
        gold = None if cell is None else golds[cell.condition.graph].get(item.question_id)
        if cell is None or gold is None:
            raise InputError(
                f"{folder / ANSWERS_NAME} has an answer of cell {made.cell!r} to question "
                f"{item.question_id!r}, which the plan has not",
                argument="out",
            )
        scores = score_answer(item, gold, cell)
        if lacks_control(cell, reached.get((cell.condition.graph, cell.view_name, gold.id))):
            return made, dict.fromkeys(scores, NO_CONTROL)
        if item.failure is None:
            scores |= dict(judged_scores(experiment.judges, item))
        return made, scores

    answers = read_cell_answers(folder / ANSWERS_NAME)
    for index, (made, scores_of_answer) in enumerate(in_order(answers, scored, workers), 1):
        cell, item = cells[made.cell], made.answer
        _require_one_view(cell, made, views)
        failed += item.failure is not None
        scores_of_answer |= attacks.score(item, cell, scores_of_answer, made.targets)
        kind = golds[cell.condition.graph][item.question_id].kind
        lines += score_lines(made, kind, scores_of_answer)
        if say is not None and experiment.judges:
            say(f"{index:,} of {total:,} answers judged")
    write_lines(folder / SCORES_NAME, lines)
    return failed


def lacks_control(cell: Cell, line: ViewLine | None, /) -> bool:
    """Returns whether a cell is a control that deletes less than there is on the paths."""
    spec = None if cell.view is None else cell.view.spec
    if spec is None or not spec.control or line is None:
        return False
    return line.changed is not None and line.changed < (line.expected or 0)


def _require_one_view(
    cell: Cell, made: CellAnswer, views: dict[str, tuple[str, str | None]]
) -> None:
    """A view's name may come to mean another view, such as by a scorer that is trained anew."""
    result = made.answer.result
    if result is None or cell.condition.kind is CellKind.NO_KNOWLEDGE:
        return
    spec = None if cell.view is None else cell.view.spec
    if cell.aim is not None or (spec is not None and spec.scope.of_question):
        return
    condition = cell.condition
    key = f"{condition.graph}/{cell.view_name}"
    came = (result.provenance.fingerprints.edges, result.provenance.view_id)
    first = views.setdefault(key, came)
    if came != first:
        raise InputError(
            f"cell {cell.id}, question {made.answer.question_id!r}: graph {came[0]} and view "
            f"{came[1]} were asked, and {first[0]} and {first[1]} by the answers before it",
            argument="out",
            hint="The graph or a scorer changed while the plan ran: run it into another folder.",
        )


def read_scores(folder: Path, /) -> Iterator[ScoreLine]:
    """Yields the scores of a run, in order.

    Raises:
        InputError: There are none, or a line is none; names it.
    """
    path = folder / SCORES_NAME
    if not path.is_file():
        raise InputError(f"there is no file {path}", argument="out", hint="Run the plan first.")
    for record in read_records(path):
        value: Any = record.fields.get("value")
        if isinstance(value, bool) or not isinstance(value, int | float | None):
            raise record.error("value", "a number, or null")
        fate = record.text("fate", default="", filled=False)
        yield ScoreLine(
            record.text("cell"),
            record.text("question"),
            record.text("kind", default="", filled=False),
            Fate(fate) if fate else None,
            record.choice("score", SCORES),
            None if value is None else float(value),
            record.text("why", default="", filled=False) or None,
        )
