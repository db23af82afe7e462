"""The tables and the questions; SQL over the files gives the gold answers."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from benchmarks.own_questions.question_set import AnswerType, GoldAnswer, OwnQuestion, Split

FOLDER = Path(__file__).parent
NORTHWIND = "northwind"
OWN_TABLES: Mapping[str, Path] = {name: FOLDER / name for name in ("workshop", "festival")}


def read_split(split: Split, folders: Mapping[str, Path], /) -> list[OwnQuestion]:
    """Returns the questions of one half about some graphs, with their gold answers.

    Args:
        split: Which half.
        folders: The tables of each graph; questions about other graphs are left out.
    """
    text = (FOLDER / f"{split.value}.jsonl").read_text("utf-8")
    rows = [row for row in map(json.loads, text.splitlines()) if row["graph"] in folders]
    answers = {graph: _answers(folders[graph], rows, graph) for graph in folders}
    return [
        OwnQuestion(
            row["id"],
            row["graph"],
            split,
            row["kind"],
            row["question"],
            (),
            (
                GoldAnswer(
                    AnswerType(row["type"]), answers[row["graph"]][row["id"]], row["sql"], ()
                ),
            ),
        )
        for row in rows
    ]


def _answers(folder: Path, rows: list[dict[str, str]], graph: str) -> dict[str, frozenset[str]]:
    """Returns the gold answers of each question about a graph by its id."""
    with closing(sqlite3.connect(":memory:")) as database:
        for path in sorted(folder.glob("*.csv")):
            _add_table(database, path)
        return {row["id"]: _answer(database, row) for row in rows if row["graph"] == graph}


def _answer(database: sqlite3.Connection, row: Mapping[str, str]) -> frozenset[str]:
    if row["type"] == AnswerType.ABSENT.value:
        return frozenset()
    values = [str(value) for (value,) in database.execute(row["sql"])]
    match AnswerType(row["type"]):
        case AnswerType.TRUTH:
            return frozenset("yes" if value == "1" else "no" for value in values)
        case AnswerType.ENTITIES:
            # As the loader of tables makes ids: the class, and the key in lower case.
            return frozenset(f"{row['class']}/{value.lower()}" for value in values)
    return frozenset(values)


def _add_table(database: sqlite3.Connection, path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        columns, *rows = csv.reader(file)
    name = path.stem.replace("-", "_")
    database.execute(f"CREATE TABLE {name} ({', '.join(f'`{column}`' for column in columns)})")
    marks = ", ".join("?" * len(columns))
    for row in rows:
        cells = [_cell(cell) for cell in _joined(row, len(columns))]
        database.execute(f"INSERT INTO {name} VALUES ({marks})", cells)  # noqa: S608


def _joined(row: list[str], length: int) -> list[str]:
    """Returns a row of so many cells: a comma before a space separates no cells, if they are more."""
    cells = list(row)
    while len(cells) > length:
        index = next((i for i, cell in enumerate(cells) if i and cell.startswith(" ")), None)
        if index is None:
            break
        cells[index - 1 : index + 1] = [f"{cells[index - 1]},{cells[index]}"]
    return (cells + [""] * length)[:length]


def _cell(text: str) -> str | float:
    """Returns a number where a cell is one, with a currency before it or without."""
    digits = text.removeprefix("EUR ")
    try:
        return float(digits) if "." in digits else int(digits)
    except ValueError:
        return text
