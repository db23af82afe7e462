"""Answers of the demo's templates to its gold questions, in a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from graph_service import Service
from graph_service.client import Client
from queries.datasets.demo_set import demo_questions
from queries.generate.answer import Answer, answer, write_answers

IDS = ("two-01", "two-02", "lack-01", "one-01")
LOST = "two-03"
"""Its answer failed."""


def answered(service: Service, path: Path, /) -> tuple[Answer, ...]:
    """Writes the answers to some gold questions, one of them failed, and returns them."""
    gold = {question.id: question for question in demo_questions()}
    with Client.over(service, writable=False) as client:
        answers = tuple(
            answer(gold[id_].question, retriever=client, graph="demo", question_id=id_, limit=5)
            for id_ in (*IDS, LOST)
        )
    answers = (
        *answers[:-1],
        replace(answers[-1], text="", sentences=(), failure="timeout: no reply"),
    )
    write_answers(path, answers)
    return answers
