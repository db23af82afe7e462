"""Files of answers that scores are taken of: ours, and what another system wrote; see ``docs/reference/scores.md``.

Another system's are one JSON object a line: ``id``, ``text`` (its citations where they stand),
``knowledge`` and ``gold``, lists of triples. The citations are read against the knowledge, as those of
our own answers are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.result import EntityRef, RelationRef, Triple
from graph_service.model.values import StringValue
from queries.datasets.gold import GoldQuestion
from queries.datasets.records import Record, kind_of, read_records
from queries.generate.answer import Answer
from queries.generate.citations import one_line
from queries.generate.reader import parse_answer

MODEL = "a model that is not named"
_TRIPLE = "[entity, relation, value], or an object with entity, relation and value"
_KEYS = ("entity", "relation", "value")

_Content = tuple[str, str, str]


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


def is_foreign(record: Record, /) -> bool:
    """Returns whether a record is a text with the triples that it was made from."""
    listed = record.fields.get("knowledge")
    return (
        not is_answer(record)
        and ("text" in record.fields or record.has("failure"))
        and isinstance(listed, list)
        and not any(isinstance(entry, str) for entry in listed)
    )


def failure_of(record: Record, /) -> str | None:
    """Returns why a case failed before; None where it did not, or its ``failure`` is blank."""
    return record.text("failure", default="", filled=False).strip() or None


def foreign_answer(record: Record, /) -> Answer:
    """Returns a record as an answer, its citations read against its knowledge.

    Fields: ``text`` and ``knowledge``; ``id``, ``question``, ``model``, ``kind``, ``failure``.

    Raises:
        InputError: A field is missing or is not as expected; names line and field.
    """
    failure = failure_of(record)
    text = record.text("text", default="" if failure else None, filled=False)
    knowledge = triples_in(record, "knowledge", needed=failure is None)
    return Answer(
        question_id=record.text("id", default=str(record.number)),
        question=record.text("question", default="", filled=False),
        text=text,
        sentences=() if failure else parse_answer(text, knowledge),
        knowledge=knowledge,
        result=None,
        model=record.text("model", default=MODEL),
        failure=failure,
        kind=_kind(record),
    )


def _kind(record: Record) -> str:
    return record.text("kind", default="", filled=False) or record.text(
        "type", default="", filled=False
    )


def triples_in(record: Record, name: str, /, *, needed: bool = False) -> tuple[Triple, ...]:
    """Returns the triples of a field; none where it is missing.

    A triple is a list of three texts, or an object that may have the ``id`` of its statement and the
    ``label`` of its entity. Without an id it is named by its content.

    Raises:
        InputError: The field is no list of these, or is missing and ``needed``.
    """
    listed = record.fields.get(name)
    if listed is None and not needed:
        return ()
    if not isinstance(listed, list):
        raise record.error(name, f"a list of {_TRIPLE}")
    return tuple(_triple(record, f"{name}[{index}]", entry) for index, entry in enumerate(listed))


def _triple(record: Record, where: str, entry: Any) -> Triple:
    fields: Mapping[str, Any] = {}
    if isinstance(entry, dict):
        fields = entry
    elif isinstance(entry, list) and len(entry) == len(_KEYS):
        fields = dict(zip(_KEYS, entry, strict=True))
    parts = [fields.get(key) for key in _KEYS]
    if not all(isinstance(part, str) and part.strip() for part in parts):
        came = f"{kind_of(entry)} came"
        if fields:
            wrong = next(
                key for key in _KEYS if not (isinstance(x := fields.get(key), str) and x.strip())
            )
            came = f"{wrong} is {kind_of(fields[wrong]) if wrong in fields else 'missing'}"
            came = came.replace("is a text", "is empty")
        raise InputError(
            f"{record.where}, field {where}: {_TRIPLE} was expected; {came}",
            argument=where.partition("[")[0],
        )
    entity, relation, value = (str(part) for part in parts)
    id_ = fields.get("id", fields.get("statement_id"))
    label = fields.get("label", entity)
    if not isinstance(label, str) or not isinstance(id_, str | None):
        raise InputError(
            f"{record.where}, field {where}: id and label are texts", argument=where.split("[")[0]
        )
    return Triple(
        id_ or " | ".join(map(one_line, (entity, relation, value))),
        EntityRef(entity, label or entity),
        RelationRef(relation, relation),
        StringValue(value),
        value,
    )


def foreign_gold(
    record: Record, knowledge: Sequence[Triple], /, *, fold_case: bool = False
) -> GoldQuestion | None:
    """Returns the minimum set that a record brings with it; None where it has no ``gold``.

    Fields: ``gold``, a list of triples or of statement ids; a triple that was given stands for its
    statement.

    Args:
        record: The answer.
        knowledge: What it was given.
        fold_case: Whether a triple that was given may be written in another case.

    Raises:
        InputError: The field is not as expected; names line and field.
    """
    listed = record.fields.get("gold")
    if listed is None:
        return None
    if isinstance(listed, list) and listed and all(isinstance(x, str) and x for x in listed):
        ids = tuple(listed)
    elif isinstance(listed, list) and any(isinstance(x, str) for x in listed):
        raise record.error("gold", "a list of triples, or a list of statement ids,")
    else:
        exact = {_content(triple): triple.statement_id for triple in reversed(knowledge)}
        folded = {
            _content(triple, fold_case=True): triple.statement_id
            for triple in (reversed(knowledge) if fold_case else ())
        }
        ids = tuple(
            exact.get(_content(triple))
            or folded.get(_content(triple, fold_case=True))
            or triple.statement_id
            for triple in triples_in(record, "gold")
        )
    return GoldQuestion(
        id=record.text("id", default=str(record.number)),
        question=record.text("question", default="", filled=False),
        kind=_kind(record) or "question",
        statement_ids=tuple(dict.fromkeys(ids)),
    )


def _content(triple: Triple, /, *, fold_case: bool = False) -> _Content:
    parts = (triple.head.id, triple.relation.label, triple.value_label)
    entity, relation, value = (
        one_line(part).casefold() if fold_case else one_line(part) for part in parts
    )
    return entity, relation, value


def any_answer(record: Record, /) -> Answer:
    """Returns a record as an answer, ours or another system's; names line and field of a fault."""
    return answer_of(record) if "sentences" in record.fields else foreign_answer(record)


def read_answer_cases(path: str | Path, /) -> tuple[Answer, ...]:
    """Returns the answers of a file, ours or another system's, packed ones too.

    Raises:
        InputError: A line is neither, or two have one id; names line and field.
    """
    return tuple(answer for _, answer in _answers(path))


def read_answers_and_gold(
    path: str | Path, /, *, fold_case: bool = False
) -> tuple[tuple[Answer, ...], tuple[GoldQuestion, ...]]:
    """Returns the answers of a file and the minimum sets that they bring; raises as above."""
    answers: list[Answer] = []
    gold: list[GoldQuestion] = []
    for record, answer in _answers(path):
        answers.append(answer)
        question = foreign_gold(record, answer.knowledge, fold_case=fold_case)
        if question is not None:
            gold.append(question)
    return tuple(answers), tuple(gold)


def read_answers_and_absent(
    path: str | Path, /
) -> tuple[tuple[Answer, ...], Mapping[str, tuple[Triple, ...]]]:
    """Returns the answers of a file, and what was withheld from those that say it (``absent``)."""
    answers: list[Answer] = []
    absent: dict[str, tuple[Triple, ...]] = {}
    for record, answer in _answers(path):
        answers.append(answer)
        if record.has("absent"):
            absent[answer.question_id] = triples_in(record, "absent")
    return tuple(answers), absent


def _answers(path: str | Path) -> list[tuple[Record, Answer]]:
    answers: list[tuple[Record, Answer]] = []
    seen: dict[str, str] = {}
    for record in read_records(path):
        answer = any_answer(record)
        id_ = answer.question_id
        if id_ and id_ in seen:
            raise InputError(
                f"{record.where}, field id: {id_!r} is also the id of {seen[id_]}; score runs apart"
            )
        seen[id_] = record.where
        answers.append((record, answer))
    return answers
