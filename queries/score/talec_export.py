"""Labelled data as conversations for fine-tuning a judge (T8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from queries.generate.citations import one_line
from queries.llm import Message
from queries.score.case import TextCase
from queries.score.criteria import Criteria, Shot
from queries.score.prompts import load_score_prompt
from queries.score.talec import ABSENT, PRESENT, label_messages, shot_messages


@dataclass(frozen=True, slots=True)
class TuningRecord:
    """One labelled case as a conversation, for fine-tuning (T8)."""

    messages: tuple[Message, ...]


def tuning_records(
    criteria: Criteria,
    cases: Sequence[TextCase],
    /,
) -> tuple[TuningRecord, ...]:
    """Returns the labelled data as fine-tuning records, one a text and label (T8).

    The shots come first, then the cases that people labelled, in their order; the reply has the form
    that the judge is asked for. A case's verdict without a reason has the line of its judgement left out.

    Args:
        criteria: With shots.
        cases: With ``human`` labels, and perhaps reasons; a label that people did not give makes no record.

    >>> from queries.score.criteria import load_criteria
    >>> criteria = load_criteria()
    >>> fault = criteria.labels[0].name
    >>> labelled = TextCase("7", "Who?", "Ada.", human={fault: 0}, reasons={fault: "It is right."})
    >>> print(tuning_records(criteria, [labelled])[-1].messages[-1].content.splitlines()[-1])
    Verdict: [[B]]
    """
    records: list[TuningRecord] = []
    for label in criteria.labels:
        for shot in label.shots:
            system, *_ = label_messages(criteria, label, _case_of(shot), shots=False)
            records.append(TuningRecord((system, *shot_messages(label, shot))))
    for case in cases:
        for label in criteria.labels:
            if label.name not in case.human or case.failure is not None:
                continue
            messages = label_messages(criteria, label, case, shots=False)
            reason = case.reasons.get(label.name, "")
            (reply,) = load_score_prompt("talec-shot").render(
                title=label.title,
                description=one_line(label.description),
                reason=one_line(reason),
                verdict=f"[[{PRESENT if case.human[label.name] else ABSENT}]]",
            )
            content = reply.content
            if not reason.strip():
                content = "\n".join(
                    line for line in content.splitlines() if not line.startswith("Judgement:")
                )
            records.append(TuningRecord((*messages, Message(reply.role, content))))
    return tuple(records)


def _case_of(shot: Shot) -> TextCase:
    return TextCase("", shot.question, shot.text, knowledge=shot.knowledge, cited=shot.text)
