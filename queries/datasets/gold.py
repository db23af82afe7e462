"""Gold questions: what is asked, of whom, and which statements suffice to answer.

One JSON object a line (UTF-8). ``question`` must be there; every other field has a default, so
that a file of one's own can be as short as ``{"question": "...", "statement_ids": ["Q42$..."]}``.
The shape follows KaLMA's minimum knowledge sets (rows K4 and K6).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from graph_service.errors import InputError
from graph_service.model.identity import normalise_statement_guid
from queries.datasets.records import JsonNode, open_plain
from queries.datasets.typed import read_typed

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
        okay_ids: Statements that an answer may say beside its minimum set (``score nuggets``).
        answer_ids: The entities that answer; empty where the answer is a literal or is lacking.
        answers: The answers as text; ``("[NA]",)`` for a lacking question.
        hard_answers: Ids or texts of those answers that no statement gives directly once a view has
            taken some away (BRINK), or that an earlier edition lacked.
        stale_answers: Texts of answers that an earlier edition gave and that are wrong now.
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
    okay_ids: tuple[str, ...] = ()
    hard_answers: tuple[str, ...] = ()
    stale_answers: tuple[str, ...] = ()

    @property
    def hard(self) -> GoldQuestion | None:
        """Returns the question with its hard answers alone; None where it has none.

        >>> gold = GoldQuestion("1", "Who?", answer_ids=("Q1", "Q2"), answers=("Ada", "Bea"))
        >>> hard = replace(gold, hard_answers=("Q2",)).hard
        >>> hard.answer_ids, hard.answers
        (('Q2',), ('Bea',))
        """
        if not self.hard_answers:
            return None
        chosen = set(self.hard_answers)
        if len(self.answer_ids) == len(self.answers):
            pairs = zip(self.answer_ids, self.answers, strict=True)
            chosen.update(name for pair in pairs if chosen & set(pair) for name in pair)
        return replace(
            self,
            answer_ids=tuple(id_ for id_ in self.answer_ids if id_ in chosen),
            answers=tuple(text for text in self.answers if text in chosen),
            hard_answers=(),
        )

    @property
    def minimum_sets(self) -> tuple[tuple[str, ...], ...]:
        """The minimum set and its alternatives, the set a reader would cite first."""
        return (self.statement_ids, *self.alternatives)


_TEXTS = ("entity_ids", "answer_ids", "answers", "hard_answers", "stale_answers")
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
    questions: list[GoldQuestion] = []
    first_line: dict[str, int] = {}
    for index, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        question = _parse(line, f"{source}, line {index}", default_id=str(index))
        if question.id in first_line:
            raise InputError(
                f"{source}, line {index}, field id: {question.id!r} is already the id of line "
                f"{first_line[question.id]}; give each question its own id"
            )
        first_line[question.id] = index
        questions.append(question)
    if not questions:
        raise InputError(f"{source} holds no question; one JSON object a line was expected")
    return tuple(questions)


def _parse(line: str, where: str, *, default_id: str) -> GoldQuestion:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: a JSON object was expected; {error}") from error
    if isinstance(fields, dict):
        fields = {
            "id": default_id,
            **{name: value for name, value in fields.items() if name not in _OF_QUESTIONS},
        }
    question = read_typed(
        GoldQuestion,
        JsonNode(where, "", fields),
        readers={
            "statement_ids": lambda node: _normal(_distinct(node)),
            "okay_ids": lambda node: _normal(_distinct(node)),
            "alternatives": lambda node: tuple(
                _normal(_distinct(item)) for item in node.items("a list of lists of texts")
            ),
            **dict.fromkeys(_TEXTS, _distinct),
        },
    )
    unknown = [
        name
        for name in question.hard_answers
        if name not in question.answer_ids and name not in question.answers
    ]
    if unknown:
        raise InputError(
            f"{where}, field hard_answers: ids of answer_ids or texts of answers were expected; "
            f"{unknown[0]!r} is neither"
        )
    if not question.lacking:
        if question.absent:
            raise InputError(
                f"{where}, field absent: it is for lacking questions; set lacking to true or leave "
                "absent out"
            )
        return question
    question = replace(
        question,
        kind=question.kind if "kind" in fields else "lacking",
        answers=question.answers or (NA,),
    )
    if question.answers != (NA,):
        raise InputError(
            f"{where}, field answers: a lacking question is answered {NA} alone; "
            f"{list(question.answers)} came. Leave answers out, or set lacking to false"
        )
    return question


def _distinct(node: JsonNode) -> tuple[str, ...]:
    """The texts of a list, each once."""
    texts = tuple(item.text() for item in node.items("a list of texts"))
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise node.wrong(f"{twice!r} comes twice; once is enough")
    return texts


def _normal(ids: tuple[str, ...]) -> tuple[str, ...]:
    """Returns GUIDs in the normal form; ids of other kinds stay as they are."""
    return tuple(normalise_statement_guid(id_) or id_ for id_ in ids)
