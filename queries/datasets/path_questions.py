"""Published questions over a path of relations, a line each with tabs between its parts.

* SimpleQuestions over Wikidata: ``entity, P… or R…, answer, question``. ``R19`` asks for whom the
  entity is the value of ``P19``.
* PathQuestion: ``question, answer(all answers/), entity#relation#entity#...``, in some of its
  files with ``#<end>#answer`` after that.
* MetaQA: ``question with [entity], answers with | between``; or a table with the columns
  ``question, topic_entity, qtype, answers``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from graph_service.errors import InputError
from queries.datasets.case import Case, distinct
from queries.datasets.records import text_lines

_SIMPLE = re.compile(r"[^\t]+\t[PR][1-9][0-9]*\t[^\t]+\t[^\t]+")
_PATH = re.compile(r"[^\t]+\t[^\t]+\t[^\t#]+(?:#[^\t#]+){2,}")
_METAQA = re.compile(r"[^\t]*\[[^\t\]]+\][^\t]*\t[^\t]+(?:\t[^\t]*\t[^\t]+)?")
METAQA_HEAD = "question\ttopic_entity\tqtype\tanswers"
_END = "<end>"
Step = tuple[str, bool]
"""A relation, and whether it is followed from the value to the head."""


def is_simple_question(line: str, /) -> bool:
    r"""Returns whether a line is one of SimpleQuestions.

    >>> is_simple_question("Q318926\tP19\tQ1010\twhere was sasha born")
    True
    """
    return _SIMPLE.fullmatch(line) is not None


def is_path_question(line: str, /) -> bool:
    r"""Returns whether a line is one of PathQuestion.

    >>> is_path_question("who ?\tx(x/)\ta#spouse#x#<end>#x")
    True
    """
    return _PATH.fullmatch(line) is not None


def is_metaqa(line: str, /) -> bool:
    r"""Returns whether a line is one of MetaQA, or the head of its table.

    >>> is_metaqa("who directed [Kismet]\tWilliam Dieterle")
    True
    """
    return line == METAQA_HEAD or _METAQA.fullmatch(line) is not None


def read_simple_questions(path: str | Path, /) -> tuple[Case, ...]:
    """Reads SimpleQuestions; ``kind`` is ``forward``, or ``reverse`` where the head is asked for.

    Raises:
        InputError: A line is no such question; names it.
    """
    return distinct(_simple(Path(path)), source=Path(path).name)


def _simple(path: Path) -> Iterator[Case]:
    for index, line in text_lines(path, argument="questions"):
        if not is_simple_question(line):
            raise _error(path, index, "entity, P… or R…, answer and question", line)
        entity, relation, answer, question = line.split("\t")
        reverse = relation[0] == "R"
        endpoints = (answer, entity) if reverse else (entity, answer)
        yield Case(
            id=str(index),
            question=question.strip(),
            kind="reverse" if reverse else "forward",
            entity_ids=(entity,),
            answer_ids=(answer,),
            gold_triples=((endpoints[0], f"P{relation[1:]}", endpoints[1]),),
        )


def read_path_questions(path: str | Path, /) -> tuple[Case, ...]:
    """Reads PathQuestion; ``kind`` is the number of its statements, such as ``2-hop``.

    Raises:
        InputError: A line is no such question; names it.
    """
    return distinct(_paths(Path(path)), source=Path(path).name)


def _paths(path: Path) -> Iterator[Case]:
    for index, line in text_lines(path, argument="questions"):
        if not is_path_question(line):
            raise _error(path, index, "question, answers and path", line)
        question, listed, walked = line.split("\t")
        steps = walked.partition(f"#{_END}")[0].split("#")
        if len(steps) < 3 or len(steps) % 2 == 0:
            raise _error(path, index, "a path entity#relation#entity", walked)
        within = re.fullmatch(r".*\((.*)\)", listed.strip())
        answers = [part for part in (within[1] if within else listed).split("/") if part]
        yield Case(
            id=str(index),
            question=" ".join(question.split()),
            kind=f"{len(steps) // 2}-hop",
            entity_ids=(steps[0],),
            answers=tuple(answers),
            answer_ids=tuple(answers),
            gold_triples=tuple(
                (steps[i], steps[i + 1], steps[i + 2]) for i in range(0, len(steps) - 2, 2)
            ),
        )


def read_metaqa(path: str | Path, /) -> tuple[Case, ...]:
    """Reads MetaQA; ``kind`` is ``1-hop``, ``2-hop`` or ``3-hop`` where the table says the path.

    Raises:
        InputError: A line is no such question; names it.
    """
    return distinct(_movies(Path(path)), source=Path(path).name)


def _movies(path: Path) -> Iterator[Case]:
    for index, line in text_lines(path, argument="questions"):
        if line == METAQA_HEAD:
            continue
        if not is_metaqa(line):
            raise _error(path, index, "a question with its [entity], and answers", line)
        question, *rest = line.split("\t")
        topic = re.search(r"\[(.+?)\]", question)
        assert topic is not None
        hops = rest[1].count("_to_") if len(rest) > 1 else 0
        answers = tuple(dict.fromkeys(part for part in rest[-1].split("|") if part))
        yield Case(
            id=str(index),
            question=question.replace("[", "").replace("]", "").strip(),
            kind=f"{hops}-hop" if hops else "",
            entity_ids=(topic[1],),
            answers=answers,
            answer_ids=answers,
        )


_METAQA_RELATIONS: Mapping[str, str] = {
    "actor": "starred_actors",
    "director": "directed_by",
    "genre": "has_genre",
    "imdbrating": "has_imdb_rating",
    "imdbvotes": "has_imdb_votes",
    "language": "in_language",
    "tag": "has_tags",
    "tags": "has_tags",
    "writer": "written_by",
    "year": "release_year",
}


def metaqa_steps(template: str, /) -> tuple[Step, ...]:
    """Returns the relations of one of MetaQA's types of question.

    >>> metaqa_steps("actor_to_movie_to_year")
    (('starred_actors', True), ('release_year', False))

    Raises:
        InputError: It is no such type.
    """
    kinds = template.split("_to_")
    pairs = list(zip(kinds[:-1], kinds[1:], strict=True))
    if not pairs or any((head == "movie") == (tail == "movie") for head, tail in pairs):
        raise InputError(f"{template!r} is no type of MetaQA's questions", argument="data")
    return tuple(
        (_METAQA_RELATIONS[tail], False) if head == "movie" else (_METAQA_RELATIONS[head], True)
        for head, tail in pairs
    )


def _error(path: Path, number: int, expected: str, came: str) -> InputError:
    return InputError(
        f"{path.name}, line {number}: {expected} were expected, with tabs between; "
        f"{came[:60]!r} came",
        argument="questions",
    )
