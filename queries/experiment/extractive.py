"""Answers by a rule over what was retrieved: the entity at the end of the best path, or none.

A template states what was retrieved, whether or not it answers; a rule that names one entity can be
right or wrong as a model's answer can. Without a score under which it abstains it always
answers where anything was retrieved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graph_service.model.result import (
    RetrievalResult,
    ScoredPath,
    ScoredTriple,
    Triple,
    triples_of,
)
from graph_service.model.values import EntityValue
from queries.datasets.gold import GoldQuestion
from queries.generate.citations import NOT_AVAILABLE, Sentence, one_line
from queries.generate.reader import CitationReader, render_citations
from queries.generate.record import Answer
from queries.generate.verbalise import missing_sentence

EXTRACTIVE = "best end entity, no language model"
MAX_ENDPOINTS = 10


@dataclass(frozen=True, slots=True)
class End:
    """What stands at the end of a retrieved item, away from the question's entities.

    Attributes:
        id: The entity; empty for a literal.
        label: As the result shows it.
        score: Of the best item that ends there.
        triples: Of that item, in order.
    """

    id: str
    label: str
    score: float
    triples: tuple[Triple, ...]


def endpoints_of(result: RetrievalResult, /) -> tuple[End, ...]:
    """Returns the ends of a result's items, best first; ties in the order of the items."""
    linked_ids = {item.entity.id for item in result.linked}
    best: dict[tuple[str, str], End] = {}
    for item in result.items:
        end = _end(item, linked_ids)
        if end.id in linked_ids:
            continue
        key = (end.id, "" if end.id else end.label)
        if key not in best or best[key].score < end.score:
            best[key] = end
    return tuple(sorted(best.values(), key=lambda end: -end.score))


def _end(item: ScoredTriple | ScoredPath, linked_ids: set[str]) -> End:
    if isinstance(item, ScoredPath):
        triples = tuple(step.triple for step in item.steps)
        last, at_head = item.steps[-1].triple, item.steps[-1].reversed
    else:
        triples, last = (item.triple,), item.triple
        value = last.value.id if isinstance(last.value, EntityValue) else ""
        at_head = value in linked_ids and last.head.id not in linked_ids
    if at_head:
        return End(last.head.id, last.head.label, item.score, triples)
    id_ = last.value.id if isinstance(last.value, EntityValue) else ""
    return End(id_, last.value_label, item.score, triples)


def is_answer(end: End, gold: GoldQuestion, /) -> bool:
    """Returns whether an end is an answer of a question, by id or by name."""
    if end.id and end.id in gold.answer_ids:
        return True
    return end.label.casefold() in {name.casefold() for name in gold.answers}


def extract(
    result: RetrievalResult, question: str, /, *, question_id: str, min_score: float | None
) -> Answer:
    """Returns the best end entity with the triples that lead there, or ``[NA]``.

    Args:
        result: What was retrieved.
        question: What was asked.
        question_id: Its id.
        min_score: Under this score of the best end there is no answer; None for never.
    """
    knowledge = triples_of(result)
    end_entities = endpoints_of(result)
    if end_entities and (min_score is None or end_entities[0].score >= min_score):
        printed = render_citations(end_entities[0].triples, knowledge)
        reader = CitationReader(knowledge)
        label = one_line(end_entities[0].label)
        text = f"{label} {printed}."
        citations = tuple(
            citation for bracket in reader.brackets(printed) for citation in bracket.citations
        )
        sentences: tuple[Sentence, ...] = (Sentence(f"{label}.", citations),)
    else:
        label = missing_sentence(result)
        text = f"{label} {NOT_AVAILABLE}."
        sentences = (Sentence(f"{label}.", (), True),)
    return Answer(
        question_id=question_id,
        question=question,
        text=text,
        sentences=sentences,
        knowledge=knowledge,
        result=result,
        model=EXTRACTIVE,
        parameters={
            "min_score": min_score,
            "ends": [
                {"id": end.id, "label": end.label, "score": end.score}
                for end in end_entities[:MAX_ENDPOINTS]
            ],
        },
    )


@dataclass(frozen=True, slots=True)
class Calibration:
    """The score under which the rule abstains, and what it rests on.

    Attributes:
        min_score: None where the rule does best if it always answers.
        questions: How many it was chosen by.
        right, wrong, abstained: Of these, with that score.
    """

    min_score: float | None
    questions: int
    right: int
    wrong: int
    abstained: int


def calibrate(results: Sequence[tuple[RetrievalResult, GoldQuestion]], /) -> Calibration:
    """Returns the score that makes right minus wrong answers greatest; of equals the least.

    Args:
        results: What was retrieved for each question on the base, and its gold. Questions whose
            answer is not known, and that are not lacking either, are left out.
    """
    outcomes: list[tuple[float, bool]] = []
    count = 0
    for result, gold in results:
        if not (gold.lacking or gold.answer_ids or gold.answers):
            continue
        count += 1
        end_entities = endpoints_of(result)
        if end_entities:
            outcomes.append(
                (end_entities[0].score, not gold.lacking and is_answer(end_entities[0], gold))
            )
    tries: list[float | None] = [None, *sorted({score for score, _ in outcomes})]
    if outcomes:
        tries.append(max(score for score, _ in outcomes) + 1.0)

    def tally(least: float | None) -> tuple[int, int]:
        answered = [right for score, right in outcomes if least is None or score >= least]
        return sum(answered), len(answered) - sum(answered)

    best = max(tries, key=lambda least: tally(least)[0] - tally(least)[1])
    right, wrong = tally(best)
    return Calibration(best, count, right, wrong, count - right - wrong)
