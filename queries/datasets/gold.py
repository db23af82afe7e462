"""Gold questions: what is asked, of whom, and which statements suffice to answer.

One JSON object a line (UTF-8). ``question`` must be there; every other field has a default, so
that a file of one's own can be as short as ``{"question": "...", "statement_ids": ["Q42$..."]}``.
The shape follows KaLMA's minimum knowledge sets (rows K4 and K6).
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from graph_service.errors import InputError
from graph_service.model.identity import normalise_statement_guid
from queries.datasets.records import open_plain

NA = "[NA]"


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question with its gold entities, minimum set of statements and answers.

    Attributes:
        id: Unique in its file.
        question: The text.
        kind: A word to group scores by, such as ``two-hop``.
        entity_ids: The entities that the question names.
        statement_ids: The minimum set, in the order in which they are walked. GUIDs in the
            normal form (capitals, ``Q42$...``). For a lacking question, what the graph has of it.
        alternatives: Other sets that are as good, such as child for father; never the first one.
        answer_ids: The entities that answer; empty where the answer is a literal or is lacking.
        answers: The answers as text; ``("[NA]",)`` for a lacking question.
        hops: How many statements away the answer is; 0 where unknown.
        lacking: The graph lacks the knowledge, and ``[NA]`` is the right answer.
        absent: The (entity id, relation id) pairs that the graph would need and has not.
        note: Remarks for people.
    """

    id: str
    question: str
    kind: str = "question"
    entity_ids: tuple[str, ...] = ()
    statement_ids: tuple[str, ...] = ()
    alternatives: tuple[tuple[str, ...], ...] = ()
    answer_ids: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    hops: int = 0
    lacking: bool = False
    absent: tuple[tuple[str, str], ...] = ()
    note: str = ""

    @property
    def minimum_sets(self) -> tuple[tuple[str, ...], ...]:
        """The minimum set and its alternatives, the set a reader would cite first."""
        return (self.statement_ids, *self.alternatives)


FIELDS = tuple(GoldQuestion.__dataclass_fields__)
_OF_QUESTIONS = ("history", "knowledge", "question_vector")
"""What a question file may have beside, and no score against gold rests on."""


def read_gold_questions(path: str | Path, /) -> tuple[GoldQuestion, ...]:
    """Reads a file of gold questions, in file order; blank lines are skipped.

    Raises:
        InputError: The file cannot be read, or a line is wrong; names file, line and field.
    """
    with open_plain(Path(path)) as opened:
        data = opened.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"a file of gold questions (JSON lines in UTF-8) was expected at {path}; {error}"
        ) from error
    # Not splitlines(): JSON may hold U+2028 unescaped, and the loaders count \n alone too.
    return parse_gold_questions(text.split("\n"), source=str(path))


def parse_gold_questions(lines: Iterable[str], /, *, source: str) -> tuple[GoldQuestion, ...]:
    """Returns the questions of JSON lines.

    Args:
        lines: One JSON object each; blank lines are skipped.
        source: Name of the file, for errors.

    Raises:
        InputError: A line is wrong, an id comes twice, or there is no question at all.
    """
    found: list[GoldQuestion] = []
    first_line: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        question = _parse(line, f"{source}, line {number}", default_id=str(number))
        if question.id in first_line:
            raise InputError(
                f"{source}, line {number}, field id: {question.id!r} is already the id of line "
                f"{first_line[question.id]}; give each question its own id"
            )
        first_line[question.id] = number
        found.append(question)
    if not found:
        raise InputError(f"{source} holds no question; one JSON object a line was expected")
    return tuple(found)


def _parse(line: str, where: str, *, default_id: str) -> GoldQuestion:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: a JSON object was expected; {error}") from error
    if not isinstance(record, dict):
        raise InputError(f"{where}: a JSON object was expected; {_kind(record)} came")
    for name in record:
        if name not in FIELDS and name not in _OF_QUESTIONS:
            near = difflib.get_close_matches(name, FIELDS, n=1)
            hint = f"; {near[0]!r} may be meant" if near else ""
            raise InputError(
                f"{where}, field {name}: no such field{hint}. The fields are {', '.join(FIELDS)}"
            )
    fields = _Fields(record, where)
    lacking = fields.flag("lacking")
    question = GoldQuestion(
        id=fields.text("id", default=default_id, filled=True),
        question=fields.text("question", default=None, filled=True),
        kind=fields.text("kind", default="lacking" if lacking else "question", filled=True),
        entity_ids=fields.texts("entity_ids"),
        statement_ids=_normal(fields.texts("statement_ids")),
        alternatives=tuple(_normal(row) for row in fields.rows("alternatives")),
        answer_ids=fields.texts("answer_ids"),
        answers=fields.texts("answers") or ((NA,) if lacking else ()),
        hops=fields.count("hops"),
        lacking=lacking,
        absent=fields.pairs("absent"),
        note=fields.text("note", default="", filled=False),
    )
    if lacking and question.answers != (NA,):
        raise InputError(
            f"{where}, field answers: a lacking question is answered {NA} alone; "
            f"{list(question.answers)} came. Leave answers out, or set lacking to false"
        )
    if question.absent and not lacking:
        raise InputError(
            f"{where}, field absent: it is for lacking questions; set lacking to true or leave "
            "absent out"
        )
    return question


def _normal(ids: tuple[str, ...]) -> tuple[str, ...]:
    """Returns GUIDs in the normal form; ids of other kinds stay as they are."""
    return tuple(normalise_statement_guid(id_) or id_ for id_ in ids)


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value"}
    return names.get(type(value), "null" if value is None else "a number")


class _Fields:
    """Typed access to a record; each error names the line and the field."""

    def __init__(self, record: dict[str, object], where: str) -> None:
        self.record = record
        self.where = where

    def _wrong(self, name: str, expected: str, came: object) -> InputError:
        shown = _kind(came) if name in self.record else "nothing"
        return InputError(f"{self.where}, field {name}: {expected} was expected; {shown} came")

    def text(self, name: str, *, default: str | None, filled: bool) -> str:
        value = self.record.get(name, default)
        if isinstance(value, int) and not isinstance(value, bool) and name == "id":
            return str(value)
        if not isinstance(value, str):
            raise self._wrong(name, "a text", value)
        if filled and not value.strip():
            raise InputError(f"{self.where}, field {name}: it is empty; a text was expected")
        return value

    def flag(self, name: str) -> bool:
        value = self.record.get(name, False)
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false", value)
        return value

    def count(self, name: str) -> int:
        value = self.record.get(name, 0)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self._wrong(name, "a whole number from 0 up", value)
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        return self._texts(name, self.record.get(name, []), "a list of texts")

    def rows(self, name: str) -> tuple[tuple[str, ...], ...]:
        value = self.record.get(name, [])
        if not isinstance(value, list):
            raise self._wrong(name, "a list of lists of texts", value)
        return tuple(self._texts(name, row, "a list of lists of texts") for row in value)

    def pairs(self, name: str) -> tuple[tuple[str, str], ...]:
        found: list[tuple[str, str]] = []
        for row in self.rows(name):
            if len(row) != 2:
                raise InputError(
                    f"{self.where}, field {name}: pairs of entity id and relation id were "
                    f"expected; {list(row)} came"
                )
            found.append((row[0], row[1]))
        return tuple(found)

    def _texts(self, name: str, value: object, expected: str) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise self._wrong(name, expected, value)
        texts = tuple(item for item in value if isinstance(item, str) and item.strip())
        if len(texts) != len(value):
            raise InputError(
                f"{self.where}, field {name}: {expected} was expected; an element is empty or "
                "no text"
            )
        if len(set(texts)) != len(texts):
            twice = next(text for text in texts if texts.count(text) > 1)
            raise InputError(f"{self.where}, field {name}: {twice!r} comes twice; once is enough")
        return texts
