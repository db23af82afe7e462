"""Questions that people asked over Wikidata statements: the folder ``wikidata_questions``.

The folder holds a graph as tables and questions as JSON lines, each packed with xz or plain. Its
README says from where. ``write_wikibase`` makes documents of the tables, so that our own loader
loads them into any store. RuBQ's questions are read against the same graph.
"""

from __future__ import annotations

import json
import lzma
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.identity import digest

FOLDER = "wikidata_questions"
SAMPLE = "sample_ids.txt"
_RUBQ = "rubq/RuBQ_2.0_dev.json.xz"
_YEAR, _DAY = 9, 11
_GREGORIAN = "http://www.wikidata.org/entity/Q1985727"
StatementIds = tuple[str, str, str]
"""Head, relation and value as the folder writes them: an id, a date, a number or a text."""


@dataclass(frozen=True, slots=True)
class WikidataQuestion:
    """One row of the folder's questions.

    Attributes:
        id: Its id, the source first.
        source: Of which published set it is.
        text: As written.
        topics: Its entities, in the pattern's order.
        classes: What its answers, or entities between, are to be instances of.
        shape: As the folder calls it: ``1-hop``, ``1-hop inverse+type``, ``conjunction``.
        chains: Topics, each with the relations that lead from it to the answers, ``-P57`` from value
            to head: one, or one of each topic where a conjunction is no chain.
        pattern: What is to hold: head, relation, value; ``wd:Q5`` an entity, ``?x`` a variable.
        filters: Conditions beside it, as SPARQL.
        answers: Ids, dates, numbers or texts.
        gold_statements: Statements that give the answers: one set for each way to give one.
    """

    id: str
    source: str
    text: str
    topics: tuple[str, ...]
    classes: tuple[str, ...]
    shape: str
    chains: tuple[tuple[str, tuple[str, ...]], ...]
    pattern: tuple[StatementIds, ...]
    filters: tuple[str, ...]
    answers: frozenset[str]
    gold_statements: tuple[frozenset[StatementIds], ...]


@dataclass(frozen=True, slots=True)
class RubqQuestion:
    """A question of RuBQ whose entity has statements of its property in the graph.

    Attributes:
        id: Number of the question.
        russian, english: Its text, the second by machine.
        topic: Id of its entity.
        relation: Id of its property.
        gold_statements: Statements of both; those that give a gold answer, where some do. A value
            that the graph does not know is empty.
    """

    id: str
    russian: str
    english: str
    topic: str
    relation: str
    gold_statements: tuple[StatementIds, ...]


@dataclass(slots=True)
class _Document:
    labels: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    claims: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))


def write_wikibase(folder: Path, to: Path, /, *, languages: Iterable[str] = ("en",)) -> int:
    """Writes the folder's graph as lines of Wikibase JSON and returns how many statements it has.

    A property that an entity has with a value unknown here is a statement of an unknown value.
    Ids of statements are hashes of what they say.

    Args:
        folder: The folder of questions.
        to: The file; one that is there is replaced.
        languages: Of the labels and aliases that are written.

    Raises:
        InputError: A file is missing, or a line is not of its table.
    """
    codes = frozenset(languages)
    documents: dict[str, _Document] = defaultdict(_Document)
    statements = 0
    for head, relation, value, kind in _rows(folder, "graph.tsv", 4):
        if kind not in _SNAKS:
            raise InputError(f"graph.tsv has a value of type {kind!r}", argument="data")
        documents[head].claims[relation].append((value, kind))
        statements += 1
    for entity, relation in _rows(folder, "props.tsv", 2):
        documents[entity].claims[relation].append(("", _UNKNOWN))
        statements += 1
    for id_, text, language in _rows(folder, "labels.tsv", 3):
        if language in codes and id_[:1] in "QP":
            documents[id_].labels[language] = text
    for id_, text, language in _rows(folder, "aliases.tsv", 3):
        if language in codes and id_[:1] in "QP":
            documents[id_].aliases[language].append(text)
    with to.open("wb") as file:
        for id_ in sorted(documents):
            file.write(orjson.dumps(_wikibase(id_, documents[id_])) + b"\n")
    return statements


def _wikibase(id_: str, document: _Document) -> dict[str, Any]:
    return {
        "type": "property" if id_.startswith("P") else "item",
        "id": id_,
        "labels": {
            language: {"language": language, "value": text}
            for language, text in document.labels.items()
        },
        "descriptions": {},
        "aliases": {
            language: [{"language": language, "value": text} for text in texts]
            for language, texts in document.aliases.items()
        },
        "claims": {
            relation: [
                {
                    "id": statement_guid(id_, relation, value, kind),
                    "type": "statement",
                    "rank": "normal",
                    "mainsnak": _snak(relation, value, kind),
                }
                for value, kind in values
            ]
            for relation, values in document.claims.items()
        },
    }


def statement_guid(head: str, relation: str, value: str, kind: str, /) -> str:
    """Returns the id of a statement of the folder: its head, and a hash of what it says."""
    return f"{head}${uuid.UUID(bytes=digest((head, relation, value, kind)))}"


def read_statements(folder: Path, /) -> Iterator[tuple[str, str, str, str]]:
    """Yields the statements whose value is known: head, relation, value and type of the value.

    Raises:
        InputError: The file is missing, or a line is not of its table.
    """
    for row in _rows(folder, "graph.tsv", 4):
        yield row[0], row[1], row[2], row[3]


def _snak(relation: str, value: str, kind: str) -> dict[str, Any]:
    if kind == _UNKNOWN:
        return {"snaktype": "somevalue", "property": relation}
    return {"snaktype": "value", "property": relation, "datavalue": _SNAKS[kind](value)}


def _time(value: str) -> dict[str, Any]:
    # What Wikidata knows to a year, its truthy statements date to the first of January.
    precision = _YEAR if value.endswith("-01-01") else _DAY
    time = value if value.startswith("-") else f"+{value}"
    return {
        "type": "time",
        "value": {
            "time": f"{time}T00:00:00Z",
            "timezone": 0,
            "before": 0,
            "after": 0,
            "precision": precision,
            "calendarmodel": _GREGORIAN,
        },
    }


_UNKNOWN = "unknown"
_SNAKS: Mapping[str, Any] = {
    "item": lambda value: {"type": "wikibase-entityid", "value": {"id": value}},
    "date": _time,
    "number": lambda value: {"type": "quantity", "value": {"amount": value, "unit": "1"}},
    "text": lambda value: {"type": "string", "value": value},
}


def read_wikidata_questions(folder: Path, /) -> list[WikidataQuestion]:
    """Returns the folder's questions, in their order.

    Raises:
        InputError: The file is missing, or a line is no question.
    """
    questions = []
    for index, line in enumerate(_lines(folder, "dev.jsonl"), start=1):
        try:
            questions.append(_question(json.loads(line)))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{folder / 'dev.jsonl'} line {index} is no question: {error}", argument="data"
            ) from error
    return questions


def _question(row: Mapping[str, Any]) -> WikidataQuestion:
    return WikidataQuestion(
        id=row["id"],
        source=row["source"],
        text=row["question"],
        topics=tuple(row["topics"]),
        classes=tuple(row["classes"]),
        shape=row["shape"],
        chains=_chains(row),
        pattern=tuple((head, relation, value) for head, relation, value in row["pattern"]),
        filters=tuple(row["filters"]),
        answers=frozenset(row["answers"]),
        gold_statements=tuple(
            dict.fromkeys(
                frozenset((head, relation, value) for head, relation, value in ways)
                for instances in row["gold_statements"].values()
                for ways in instances
            )
        ),
    )


def _chains(row: Mapping[str, Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if row["sequence"] is not None:
        return ((row["topics"][0], tuple(row["sequence"])),)
    answer = _answer_variable(row)
    walks = ((topic, _walk(row["pattern"], f"wd:{topic}", answer)) for topic in row["topics"])
    return tuple((topic, steps) for topic, steps in walks if steps)


def _answer_variable(row: Mapping[str, Any]) -> str:
    """Returns the variable that stands where the gold statements have the answer."""
    fits: dict[str, bool] = {}
    for answer, instances in row["gold_statements"].items():
        for pattern, statement in zip(row["pattern"], instances[0], strict=True):
            for at in (0, 2):
                if pattern[at].startswith("?"):
                    fits[pattern[at]] = fits.get(pattern[at], True) and statement[at] == answer
    return next((name for name in sorted(fits) if fits[name]), "")


def _walk(pattern: Sequence[Sequence[str]], start: str, end: str) -> tuple[str, ...]:
    """Returns the shortest way through the variables of a pattern; empty where there is none."""
    ways: dict[str, tuple[str, ...]] = {start: ()}
    for node in (reached := [start]):
        for head, relation, value in pattern:
            for here, there, step in ((head, value, relation), (value, head, f"-{relation}")):
                if here == node and there.startswith("?") and there not in ways:
                    ways[there] = (*ways[node], step)
                    reached.append(there)
    return ways.get(end, ())


def read_labels(folder: Path, language: str, /) -> dict[str, str]:
    """Returns the labels of one language, by id."""
    rows = _rows(folder, "labels.tsv", 3)
    return {id_: text for id_, text, of_language in rows if of_language == language}


def read_sample_ids(folder: Path, /) -> frozenset[str]:
    """Returns the ids of the questions on which figures are given."""
    return frozenset(line.strip() for line in _lines(folder, SAMPLE) if line.strip())


def read_rubq(data: Path, /) -> list[RubqQuestion]:
    """Returns RuBQ's questions of one entity and one property that the graph has together.

    Args:
        data: The folder that holds ``rubq`` and ``wikidata_questions``.

    Raises:
        InputError: A file is missing.
    """
    path = data / _RUBQ
    if not path.is_file():
        raise InputError(f"there is no file {path}", argument="data")
    with lzma.open(path, "rt", encoding="utf-8") as file:
        rows: list[dict[str, Any]] = json.load(file)
    single = [
        (row, _local(row["question_uris"][0]), _local(row["question_props"][0]))
        for row in rows
        if len(row["question_uris"] or ()) == len(row["question_props"] or ()) == 1
    ]
    pairs = {(topic, relation) for _, topic, relation in single}
    known: dict[tuple[str, str], list[StatementIds]] = defaultdict(list)
    folder = data / FOLDER
    for head, relation, value, _ in _rows(folder, "graph.tsv", 4):
        for end in {head, value}:
            if (end, relation) in pairs:
                known[end, relation].append((head, relation, value))
    for entity, relation in _rows(folder, "props.tsv", 2):
        if (entity, relation) in pairs:
            known[entity, relation].append((entity, relation, ""))
    questions = []
    for row, topic, relation in single:
        answers = {_local(answer["value"]) for answer in row["answers"] or ()}
        statements = known.get((topic, relation), [])
        exact = [
            statement
            for statement in statements
            if {statement[0], statement[2]} - {topic} & answers
        ]
        if statements:
            questions.append(
                RubqQuestion(
                    str(row["uid"]),
                    row["question_text"],
                    row["question_eng"],
                    topic,
                    relation,
                    tuple(exact or statements),
                )
            )
    return questions


def _local(uri: str) -> str:
    return uri.rsplit("/", 1)[-1].rsplit(":", 1)[-1]


def _rows(folder: Path, name: str, columns: int) -> Iterator[tuple[str, ...]]:
    for index, line in enumerate(_lines(folder, name), start=1):
        cells = tuple(line.rstrip("\r\n").split("\t"))
        if len(cells) != columns:
            raise InputError(
                f"{folder / name} line {index} has {len(cells)} columns; expected {columns}",
                argument="data",
            )
        if index > 1:
            yield cells


def _lines(folder: Path, name: str) -> Iterator[str]:
    packed, plain = folder / f"{name}.xz", folder / name
    if packed.is_file():
        with lzma.open(packed, "rt", encoding="utf-8") as file:
            yield from file
    elif plain.is_file():
        with plain.open(encoding="utf-8") as file:
            yield from file
    else:
        raise InputError(f"there is no file {plain}, packed with xz or not", argument="data")
