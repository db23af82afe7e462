"""Questions to be answered, from files of one's own and from the published ones.

A file of one's own is JSON lines, one object each: ``question`` must be there; ``id`` (else the
line's number), ``kind``, ``entity_ids``, ``statement_ids`` (a gold set), ``knowledge`` (the gold
set itself, triples as ``answer --out`` writes them), ``alternatives`` (other gold sets),
``answers``, ``answer_ids``, ``hard_answers``, ``stale_answers``, ``gold_triples``, ``question_vector`` and
``history`` (what was said before, a list of ``{"role", "content"}``) may be. A conversation is
``{"id", "messages"}``: each turn of the user's is a question of its own, with what stands before it
as its history (L7).
Other fields are left to those who score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from graph_service.errors import InputError
from graph_service.model.identity import normalise_statement_guid
from graph_service.model.result import Triple
from graph_service.model.serialise import from_plain
from queries.datasets.biokalma import read_biokalma
from queries.datasets.case import Case, distinct
from queries.datasets.okgqa import read_okgqa
from queries.datasets.path_questions import (
    is_metaqa,
    is_path_question,
    is_simple_question,
    read_metaqa,
    read_path_questions,
    read_simple_questions,
)
from queries.datasets.records import JsonNode, Record, open_plain, read_records
from queries.datasets.rubq import read_rubq
from queries.datasets.typed import read_typed
from queries.llm import Message


class QuestionFormat(StrEnum):
    """What a file of questions is. ``LINES`` is one's own; the others are as published."""

    LINES = "lines"
    BIOKALMA = "biokalma"
    OKGQA = "okgqa"
    RUBQ = "rubq"
    SIMPLE_QUESTIONS = "simple-questions"
    PATH_QUESTION = "path-question"
    METAQA = "metaqa"


def read_question_file(
    path: str | Path, /, *, question_format: QuestionFormat | None = None, language: str = "en"
) -> tuple[Case, ...]:
    """Reads a file of questions, in file order.

    Args:
        path: The file; ``.xz``, ``.gz`` and ``.bz2`` too.
        question_format: What it is; recognised where None.
        language: Of the questions, where the file has several (RuBQ: ``en``, ``ru``).

    Raises:
        InputError: The file cannot be read, or is wrong; names the line or record and the field.
    """
    kind = format_of(path, question_format)
    if kind is QuestionFormat.BIOKALMA:
        return read_biokalma(path)
    if kind is QuestionFormat.OKGQA:
        return read_okgqa(path)
    if kind is QuestionFormat.RUBQ:
        return read_rubq(path, language=language)
    if kind in _TABLES:
        return _TABLES[kind](path)
    return distinct(
        (case for record in read_records(path) for case in _cases_of(record)),
        source=Path(path).name,
    )


_TABLES: Mapping[QuestionFormat, Callable[[str | Path], tuple[Case, ...]]] = {
    QuestionFormat.SIMPLE_QUESTIONS: read_simple_questions,
    QuestionFormat.PATH_QUESTION: read_path_questions,
    QuestionFormat.METAQA: read_metaqa,
}


def format_of(path: str | Path, named: QuestionFormat | str | None = None, /) -> QuestionFormat:
    """Returns the format that is named, else the one that is recognised."""
    return QuestionFormat(named) if named else recognise(path)


def recognise(path: str | Path, /) -> QuestionFormat:
    """Returns the format of a file by its name and its first characters.

    Raises:
        InputError: It cannot be read.
    """
    file = Path(path)
    if file.name.lower().endswith((".csv", ".csv.gz", ".csv.xz", ".csv.bz2")):
        return QuestionFormat.OKGQA
    with open_plain(file) as opened:
        text = opened.read(4096).decode("utf-8", "replace").removeprefix("\ufeff")
    begin = "".join(text.split())
    if begin.startswith("[["):
        return QuestionFormat.BIOKALMA
    if begin.startswith("[{"):
        return QuestionFormat.RUBQ
    first = next((line for line in text.splitlines() if line.strip()), "")
    if is_simple_question(first):
        return QuestionFormat.SIMPLE_QUESTIONS
    if is_path_question(first):
        return QuestionFormat.PATH_QUESTION
    if is_metaqa(first):
        return QuestionFormat.METAQA
    return QuestionFormat.LINES


def _cases_of(record: Record) -> Iterator[Case]:
    id_ = record.text("id", default=str(record.number))
    if record.has("messages"):
        yield from _conversation(record, id_)
        return
    yield Case(
        id=id_,
        question=record.text("question"),
        kind=record.text("kind", default="", filled=False),
        entity_ids=record.texts("entity_ids"),
        history=_messages(record, "history"),
        statement_ids=tuple(
            normalise_statement_guid(statement) or statement
            for statement in record.texts("statement_ids")
        ),
        knowledge=_knowledge(record),
        answers=_texts_if_any(record, "answers"),
        lacking=record.fields.get("lacking") is True,
        question_vector=_vector(record),
        alternatives=_alternatives(record),
        answer_ids=_texts_if_any(record, "answer_ids"),
        gold_triples=_gold_triples(record),
        hard_answers=_texts_if_any(record, "hard_answers"),
        stale_answers=_texts_if_any(record, "stale_answers"),
    )


def _conversation(record: Record, id_: str) -> Iterator[Case]:
    messages = _messages(record, "messages")
    user_turns = [index for index, message in enumerate(messages) if message.role == "user"]
    if not user_turns:
        raise record.error("messages", "a conversation with at least one turn of role user")
    for position, turn in enumerate(user_turns, 1):
        yield Case(
            id=f"{id_}#{position}",
            question=messages[turn].content,
            kind=record.text("kind", default="", filled=False),
            entity_ids=record.texts("entity_ids"),
            history=messages[:turn],
        )


def _knowledge(record: Record) -> tuple[Triple, ...]:
    """The triples of a line; texts, which scores take as knowledge, are none."""
    listed = record.fields.get("knowledge")
    if not isinstance(listed, list) or not any(isinstance(part, dict) for part in listed):
        return ()
    try:
        return tuple(from_plain(Triple, part) for part in listed)
    except InputError as error:
        raise InputError(
            f"{record.where}, field knowledge: triples as `answer --out` writes them were "
            f"expected; {error.message}",
            argument="questions",
        ) from error


def _texts_if_any(record: Record, name: str) -> tuple[str, ...]:
    """The texts of a list; none where it has another form, as in files of other scores."""
    listed = record.fields.get(name)
    if not isinstance(listed, list) or not all(isinstance(part, str) for part in listed):
        return ()
    return tuple(listed)


def _alternatives(record: Record) -> tuple[tuple[str, ...], ...]:
    listed = record.fields.get("alternatives")
    if not isinstance(listed, list) or not all(isinstance(row, list) for row in listed):
        return ()
    return tuple(
        tuple(normalise_statement_guid(str(id_)) or str(id_) for id_ in row) for row in listed
    )


def _gold_triples(record: Record) -> tuple[tuple[str, str, str], ...]:
    if "gold_triples" not in record.fields:
        return ()
    items = record.node("gold_triples").items("a list of [head, relation, value]")
    rows = (item.texts(3) for item in items)
    return tuple((head, relation, value) for head, relation, value in rows)


def _vector(record: Record) -> tuple[float, ...] | None:
    if not record.has("question_vector"):
        return None
    return tuple(
        item.decimal() for item in record.node("question_vector").items("a list of numbers")
    )


def _messages(record: Record, name: str) -> tuple[Message, ...]:
    if name not in record.fields:
        return ()
    items = record.node(name).items('a list of {"role": "user" or "assistant", "content": text}')
    return tuple(map(_message, items))


def _message(node: JsonNode) -> Message:
    if isinstance(node.value, dict):
        # What else an endpoint wrote of a message says nothing to a model.
        own = {name: node.value[name] for name in ("role", "content") if name in node.value}
        node = replace(node, value=own)
    return read_typed(
        Message, node, readers={"role": lambda part: part.choice(("user", "assistant"))}
    )


def has_gold(case: Case, /) -> bool:
    """Returns whether a case's file says what its gold set is, be it that there is none."""
    return bool(case.knowledge or case.statement_ids or case.lacking)


def gold_of(
    case: Case, known: Sequence[Triple], /, *, may_lack: bool = False
) -> tuple[Triple, ...]:
    """Returns a case's gold set: the triples of its file, or those of ``known`` that it names.

    Args:
        case: The question.
        known: What the graph, or a view of it, says of the entities of the gold set.
        may_lack: Whether statements of the set may be missing, as on a view that withholds them.

    Raises:
        InputError: The case has no gold set, or a statement of it is missing and may not be.
    """
    if case.knowledge:
        return case.knowledge
    if not case.statement_ids:
        if case.lacking:
            return ()
        raise InputError(
            f"question {case.id!r} has no gold set: its file gives neither statement_ids nor facts",
            argument="knowledge",
            hint="Leave --knowledge gold out, or add statement_ids.",
        )
    by_id = {triple.statement_id: triple for triple in known}
    missing = [id_ for id_ in case.statement_ids if id_ not in by_id]
    if missing and not may_lack:
        raise InputError(
            f"question {case.id!r}: the graph lacks statement {missing[0]!r} of its gold set",
            argument="knowledge",
        )
    return tuple(by_id[id_] for id_ in case.statement_ids if id_ in by_id)
