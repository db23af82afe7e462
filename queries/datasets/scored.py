"""Files of cases that scores are taken of, and which fields they have; see ``docs/scores.md``.

A file is JSON lines. Answers that ``graph-service answer --out`` wrote are cases too, wherever a
text is scored: they are told by their ``sentences``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import orjson

from graph_service.errors import InputError
from graph_service.model.result import EntityRef, RelationRef, Triple
from graph_service.model.values import StringValue
from queries.datasets.records import Record, read_cases, read_records
from queries.datasets.wice import is_wice, wice_case
from queries.generate.answer import Answer
from queries.score.agreement import RatedCase
from queries.score.case import TextCase, case_of_answer
from queries.score.entailment import Pair, Relation
from queries.score.entailment_score import EntailmentCase
from queries.score.knowledge import KnowledgeCase
from queries.score.report import Groups

SPLITS = ("train", "eval", "test")


def is_answer(record: Record, /) -> bool:
    """Returns whether a record is an answer of ``graph-service answer``."""
    return "question_id" in record.fields and "sentences" in record.fields


def answer_of(record: Record, /) -> Answer:
    """Returns a record as the answer it is; raises ``InputError`` naming line and field."""
    for name in ("question_id", "sentences"):
        if name not in record.fields:
            raise record.error(name, "an answer that `graph-service answer --out` wrote")
    try:
        return Answer.from_json(orjson.dumps(record.fields))
    except InputError as error:
        raise InputError(f"{record.where}: {error.message}") from error


def groups_of(record: Record, /) -> Groups:
    """Returns ``kind`` (or ``type``), ``level`` and ``references`` (a number or a list)."""
    kind = record.text("kind", default="", filled=False) or record.text(
        "type", default="", filled=False
    )
    listed = record.fields.get("references")
    references = len(listed) if isinstance(listed, list) else record.count("references")
    return Groups(kind, record.text("level", default="", filled=False), references)


def text_case(record: Record, /) -> TextCase:
    """Returns a record as a text to be judged.

    Fields: ``id``, ``question``, ``text`` (or ``answer``); ``knowledge``, ``evidence`` (lists of texts),
    ``context``, ``human`` (numbers, or true and false, by name), ``reasons`` (texts by name), ``split``,
    ``failure`` and groups.
    """
    if is_answer(record):
        return case_of_answer(answer_of(record))
    human: dict[str, float] = {}
    for name, value in record.mapping("human").items():
        if not isinstance(value, bool | int | float):
            raise record.error("human", "numbers, or true and false, by name")
        human[name] = float(value)
    reasons = record.mapping("reasons")
    if not all(isinstance(reason, str) for reason in reasons.values()):
        raise record.error("reasons", "texts by name")
    failure = record.text("failure", default="") if record.has("failure") else None
    name = "answer" if "answer" in record.fields and "text" not in record.fields else "text"
    text = record.text(name, default="" if failure else None)
    split = record.text("split", default="", filled=False)
    if split and split not in SPLITS:
        record.choice("split", SPLITS)
    return TextCase(
        id=record.text("id", default=str(record.number)),
        question=record.text("question", default="", filled=False),
        text=text,
        knowledge=record.texts("knowledge"),
        evidence=record.texts("evidence"),
        context=record.text("context", default="", filled=False),
        cited=text,
        human=human,
        reasons=dict(reasons),
        split=split,
        groups=groups_of(record),
        failure=failure,
    )


def entailment_case(record: Record, /) -> EntailmentCase:
    """Returns a record as a pair.

    Fields: ``premise`` and ``hypothesis``, or ``generation`` and ``reference`` (L8), or WiCE's; ``label`` one of
    entailment, neutral and contradiction; ``group``; groups.
    """
    if is_wice(record):
        return wice_case(record)
    names = ("premise", "hypothesis")
    if "generation" in record.fields:
        names = ("generation", "reference")
    failure = record.text("failure") if record.has("failure") else None
    label = ""
    if record.has("label"):
        label = record.choice("label", [relation.value for relation in Relation])
    return EntailmentCase(
        id=record.text("id", default=str(record.number)),
        pair=Pair(*(record.text(name, default="" if failure else None) for name in names)),
        group=record.text("group", default="", filled=False),
        entailed=label == Relation.ENTAILMENT if label else None,
        label=label,
        groups=groups_of(record),
        failure=failure,
    )


def knowledge_case(record: Record, /) -> KnowledgeCase:
    """Returns a record as a generation with its answer entities (L8).

    Fields: ``text`` (or ``generation``); ``answers``, a list of names or of lists of names; ``found``, ``oracle``
    and ``reference``, lists of [entity, signed relation]; ``failure`` and groups.
    """
    failure = record.text("failure") if record.has("failure") else None
    name = "generation" if "generation" in record.fields else "text"
    text = None if failure else record.text(name, filled=False)
    listed = record.fields.get("answers", [])
    if not isinstance(listed, list):
        raise record.error("answers", "a list of names, or of lists of names")
    answers: list[tuple[str, ...]] = []
    for entity in listed:
        entry = [entity] if isinstance(entity, str) else entity
        if not isinstance(entry, list) or not all(isinstance(part, str) for part in entry):
            raise record.error("answers", "a list of names, or of lists of names")
        answers.append(tuple(entry))
    return KnowledgeCase(
        id=record.text("id", default=str(record.number)),
        text=text,
        answers=tuple(answers),
        found=record.pairs("found") if record.has("found") else None,
        oracle=record.pairs("oracle") if record.has("oracle") else None,
        reference=record.pairs("reference"),
        groups=groups_of(record),
        failure=failure,
    )


def rated_case(record: Record, /) -> RatedCase:
    """Returns a record as one case that several raters rated.

    Fields: ``ratings``, numbers, texts or true and false by rater; ``group``.
    """
    ratings = record.mapping("ratings")
    if not ratings or not all(isinstance(x, bool | int | float | str) for x in ratings.values()):
        raise record.error("ratings", "an object of numbers, texts or true and false by rater")
    return RatedCase(
        record.text("id", default=str(record.number)),
        dict(ratings),
        record.text("group", default="", filled=False),
    )


def read_absent(path: str | Path, /) -> Mapping[str, tuple[Triple, ...]]:
    """Returns what was withheld from each question, by its id (K6).

    Fields: ``id``, and ``absent``, a list of objects with ``entity``, ``relation`` and ``value``.
    """
    found: dict[str, tuple[Triple, ...]] = {}
    for record in read_records(path):
        listed = record.fields.get("absent")
        if not isinstance(listed, list):
            raise record.error("absent", "a list of objects with entity, relation and value")
        triples: list[Triple] = []
        for entry in listed:
            parts = [
                entry.get(name) if isinstance(entry, dict) else None
                for name in ("entity", "relation", "value")
            ]
            if not all(isinstance(part, str) and part for part in parts):
                raise record.error("absent", "a list of objects with entity, relation and value")
            entity, relation, value = (str(part) for part in parts)
            triples.append(
                Triple(
                    str(entry.get("statement_id", "")),
                    EntityRef(entity, entity),
                    RelationRef(relation, relation),
                    StringValue(value),
                    value,
                )
            )
        found[record.text("id")] = tuple(triples)
    return found


def read_texts_by_id(path: str | Path, name: str, /) -> Mapping[str, tuple[str, ...]]:
    """Returns texts by case id: passages to check facts against, or evaluation contexts.

    Fields: ``id``, and the one named: a text or a list of texts.
    """
    found: dict[str, tuple[str, ...]] = {}
    for record in read_records(path):
        listed = record.fields.get(name)
        texts = (record.text(name),) if isinstance(listed, str) else record.texts(name)
        if not texts:
            raise record.error(name, "a text or a list of texts")
        found[record.text("id")] = (*found.get(record.text("id"), ()), *texts)
    return found


def read_answer_cases(path: str | Path, /) -> tuple[Answer, ...]:
    """Returns the answers of a file, packed ones too; raises ``InputError`` naming the line."""
    return tuple(answer_of(record) for record in read_records(path))


def read_text_cases(path: str | Path, /) -> tuple[TextCase, ...]:
    """Returns the texts of a file, answers included."""
    return read_cases(path, text_case)
