"""RuBQ's published questions over Wikidata, those without an answer among them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graph_service.errors import InputError
from queries.datasets.case import Case, distinct
from queries.datasets.records import Record, kind_of, read_json, record_of

_TEXTS = {"en": "question_eng", "ru": "question_text"}
_NO_ANSWER = ("no-answer", "no_answer")


def read_rubq(path: str | Path, /, *, language: str = "en") -> tuple[Case, ...]:
    """Reads a file of RuBQ.

    ``kind`` is the first of a question's tags, ``no-answer`` where it is among them; such a
    question is ``lacking``.

    Args:
        path: JSON, ``.xz`` too.
        language: ``en`` (translated by machine) or ``ru``.

    Raises:
        InputError: The file is no such list; names the entry and the field.
    """
    if language not in _TEXTS:
        raise InputError(
            f"RuBQ's questions are in {' and '.join(_TEXTS)}; {language!r} was asked for",
            argument="language",
        )
    entries = read_json(path)
    source = Path(path).name
    if not isinstance(entries, list):
        raise InputError(f"{source}: a list of questions was expected; {kind_of(entries)} came")
    return distinct(
        (
            _case(record_of(entry, f"{source}, entry {index}", index), language)
            for index, entry in enumerate(entries, 1)
        ),
        source=source,
    )


def _case(record: Record, language: str) -> Case:
    question = record.text(_TEXTS[language]).strip()
    if not isinstance(record.fields.get("uid"), int):
        raise record.error("uid", "a number")
    tags = _texts(record, "tags")
    unanswerable = any(tag in _NO_ANSWER for tag in tags)
    answers = record.fields.get("answers") or []
    if not isinstance(answers, list) or not all(isinstance(item, dict) for item in answers):
        raise record.error("answers", "a list of objects")
    return Case(
        id=str(record.fields["uid"]),
        question=question,
        kind="no-answer" if unanswerable else (tags[0] if tags else ""),
        entity_ids=tuple(
            dict.fromkeys(uri.rsplit("/", 1)[-1] for uri in _texts(record, "question_uris"))
        ),
        answers=tuple(name for item in answers if (name := _name(item, language))),
        answer_ids=tuple(
            dict.fromkeys(
                str(item["value"]).rsplit("/", 1)[-1]
                for item in answers
                if item.get("type") == "uri" and item.get("value")
            )
        ),
        lacking=unanswerable,
    )


def _texts(record: Record, name: str) -> tuple[str, ...]:
    return record.texts(name) if record.fields.get(name) else ()


def _name(answer: Mapping[str, Any], language: str) -> str:
    names = answer.get("wd_names")
    listed = names.get(language) if isinstance(names, dict) else None
    if isinstance(listed, list) and listed:
        return str(listed[0])
    return str(answer.get("label") or answer.get("value") or "")
