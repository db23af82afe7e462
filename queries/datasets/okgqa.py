"""OKGQA's published questions: CSV with a type and the DBpedia entities of each (O1)."""

from __future__ import annotations

import ast
import csv
import io
from collections.abc import Mapping
from pathlib import Path

from graph_service.errors import InputError
from queries.datasets.case import Case, distinct
from queries.datasets.records import open_plain

_NEEDED = ("question", "type", "dbpedia_entities")
_CHECKED = "dbpedia_entities_re"


def read_okgqa(path: str | Path, /) -> tuple[Case, ...]:
    """Reads a file of OKGQA's questions.

    Ids are the column ``id`` where there is one, else places from 1. Entities are IRIs of
    resources; those of the column that upstream checked again come before the first ones.

    Raises:
        InputError: A column is missing or a field is wrong; names the line and the field.
    """
    source = Path(path).name
    with open_plain(Path(path)) as opened:
        try:
            text = opened.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{source}: UTF-8 was expected; {error}", argument="questions"
            ) from error
    rows = csv.DictReader(io.StringIO(text, newline=""))
    missing = [name for name in _NEEDED if name not in (rows.fieldnames or ())]
    if missing:
        raise InputError(
            f"{source}, line 1: columns {', '.join(_NEEDED)} were expected; "
            f"{', '.join(missing)} is missing",
            argument="questions",
        )
    cases = []
    for index, row in enumerate(rows, 1):
        where = f"{source}, line {rows.line_num}"
        question = (row["question"] or "").strip()
        if not question:
            raise InputError(f"{where}, field question: it is empty; a text was expected")
        column = _CHECKED if row.get(_CHECKED) else "dbpedia_entities"
        entities = _entities(row[column] or "", f"{where}, field {column}")
        cases.append(
            Case(
                id=(row.get("id") or "").strip() or str(index),
                question=question,
                kind=(row["type"] or "").strip(),
                entity_ids=tuple(dict.fromkeys(entities.values())),
            )
        )
    return distinct(iter(cases), source=source)


def _entities(text: str, where: str) -> Mapping[str, str]:
    if not text.strip():
        return {}
    try:
        read = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise InputError(
            f"{where}: a dict from placeholders to IRIs was expected, as {{'entity A': 'http://...'}}; "
            f"{text[:60]!r} came"
        ) from error
    if not isinstance(read, dict):
        raise InputError(f"{where}: a dict was expected; {text[:60]!r} came")
    # Some are addresses of the page about a resource.
    return {
        str(name): str(iri).replace("dbpedia.org/page/", "dbpedia.org/resource/")
        for name, iri in read.items()
        if isinstance(iri, str) and iri.strip()
    }
