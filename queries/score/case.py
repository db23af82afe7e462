"""The case that judges of whole texts take: a question, a text, and what it is held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graph_service.model.result import Triple
from queries.generate.answer import Answer
from queries.generate.citations import one_line
from queries.generate.spoken import labels_of
from queries.score.report import Groups


@dataclass(frozen=True, slots=True)
class TextCase:
    """A text to be judged.

    Attributes:
        text: Without citations and markers; empty where the model failed.
        knowledge: The knowledge that the text was made from, one line a triple or passage.
        evidence: What facts are checked against: passages or triples, one text each.
        context: The evaluation context of G-Eval; the same for every setting (O9).
        cited: The text as it was printed, citations and markers included.
        human: What people say, by name: a score, or yes and no as 1 and 0.
        reasons: Why people say so, by name.
        names: Labels that the text may speak: no sentence ends inside one.
        split: ``train``, ``eval`` or ``test``; empty where there is none.
        failure: Why there is no text.
    """

    id: str
    question: str
    text: str
    knowledge: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    context: str = ""
    cited: str = ""
    names: tuple[str, ...] = ()
    human: Mapping[str, float] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    split: str = ""
    groups: Groups = Groups()
    failure: str | None = None


def triple_line(triple: Triple, /) -> str:
    """Returns a triple as one line, ``head | relation | value``."""
    return " | ".join(
        one_line(part) for part in (triple.head.label, triple.relation.label, triple.value_label)
    )


def case_of_answer(
    item: Answer,
    /,
    *,
    evidence: Sequence[str] = (),
    context: str = "",
    groups: Groups | None = None,
) -> TextCase:
    """Returns an answer as a case: its sentences without markers, its triples as knowledge.

    Args:
        item: The answer.
        evidence: What its facts are checked against; by default the triples it was given.
        context: The evaluation context.
        groups: Of its question; by default the kind that the answer has.
    """
    knowledge = tuple(triple_line(triple) for triple in item.knowledge)
    return TextCase(
        id=item.question_id,
        question=item.question,
        text=" ".join(part.text for part in item.sentences if part.text),
        knowledge=knowledge,
        evidence=tuple(evidence) or knowledge,
        context=context,
        cited=item.text,
        names=labels_of(item.knowledge),
        groups=groups or Groups(kind=item.kind),
        failure=item.failure,
    )
