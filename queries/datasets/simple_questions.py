"""Questions with the relation they ask for: SimpleQuestions over Wikidata, or lines of one's own.

SimpleQuestions' files hold ``entity, relation, answer, question`` with tabs between; ``P19`` asks
for the value of ``place of birth``, ``R19`` for whom it is the value. Lines of one's own are JSON
objects ``{"question", "relation", "label", "entity"}``, relations signed as ``P19`` and ``-P19``;
``entity`` is the text of the entity, and may be left out. An ``id`` is the number of the line where
there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from graph_service.errors import InputError
from graph_service.model.ranking import SignedRelation, parse_signed
from queries.datasets.records import read_records, text_lines
from queries.rank.training import Example

_ROW = re.compile(r"[^\t]+\t[PR][1-9][0-9]*\t[^\t]+\t[^\t]+")
_EXPECTED = "entity, P… or R…, answer and question with tabs between"


def read_relation_questions(
    path: str | Path, /, *, labels: Mapping[str, str] | None = None
) -> tuple[Example, ...]:
    """Returns the examples of a file, in its order (``.xz``, ``.gz`` and ``.bz2`` too).

    Args:
        path: The file.
        labels: Texts of relations and entities, by id; an entity without one stays unknown.

    Raises:
        InputError: A line is neither; names it. Or there is none.
    """
    named = dict(labels or {})
    file = Path(path)
    cases = tuple(_own(file, named) if _is_json(file) else _published(file, named))
    if not cases:
        raise InputError(f"{file.name} holds no question; {_EXPECTED} were expected",
                         argument="file")  # fmt: skip
    return cases


def read_labels(paths: Sequence[str | Path], ids: set[str], /) -> dict[str, str]:
    """Returns the labels of tables ``id, label`` with tabs between, only of the ids wanted.

    Where files differ the first one holds.

    Raises:
        InputError: A line has no tab; names it.
    """
    labels: dict[str, str] = {}
    for path in paths:
        for index, line in text_lines(Path(path), argument="file"):
            id_, tab, label = line.partition("\t")
            if not tab:
                raise InputError(
                    f"{Path(path).name}, line {index}: id and label with a tab between were "
                    f"expected; {line[:60]!r} came",
                    argument="labels",
                )
            if id_ in ids and label.strip():
                labels.setdefault(id_, label.partition("\t")[0].strip())
    return labels


def ids_in(path: str | Path, /) -> set[str]:
    """Returns the ids of entities and relations in a file of SimpleQuestions' form."""
    ids: set[str] = set()
    if _is_json(Path(path)):
        return ids
    for _, where, cells in _rows(Path(path)):
        ids.update((cells[0], _signed(cells[1], where).removeprefix("-")))
    return ids


def _is_json(path: Path) -> bool:
    return next(
        (line.lstrip().startswith("{") for _, line in text_lines(path, argument="file")), False
    )


def _rows(path: Path) -> Iterator[tuple[int, str, list[str]]]:
    for index, line in text_lines(path, argument="file"):
        where = f"{path.name}, line {index}"
        if not _ROW.fullmatch(line):
            raise InputError(
                f"{where}: {_EXPECTED} were expected; {line[:60]!r} came", argument="file"
            )
        yield index, where, line.split("\t")


def _signed(code: str, where: str) -> str:
    if code[0] == "P":
        return code
    if code[0] == "R":
        return f"-P{code[1:]}"
    raise InputError(f"{where}: a relation P… or R… was expected; {code!r} came", argument="file")


def _published(path: Path, labels: dict[str, str]) -> Iterator[Example]:
    for index, where, cells in _rows(path):
        relation = parse_signed(_signed(cells[1], where), labels)
        yield Example(cells[3].strip(), relation, labels.get(cells[0], ""), str(index))


def _own(path: Path, labels: dict[str, str]) -> Iterator[Example]:
    for record in read_records(path):
        relation = parse_signed(record.text("relation"), labels)
        label = record.text("label", default=relation.label, filled=False)
        yield Example(
            record.text("question"),
            SignedRelation(relation.id, label, relation.reverse),
            record.text("entity", default="", filled=False),
            record.text("id", default=str(record.number)),
        )
