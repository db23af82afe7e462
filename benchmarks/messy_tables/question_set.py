"""The tables, how each is loaded, and the questions with their gold answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from benchmarks.own_questions.question_set import AnswerType, GoldAnswer, OwnQuestion, Split
from graph_service.store.protocol import Store
from loaders.load import load
from loaders.options import LoadOptions

FOLDER = Path(__file__).parent
TABLES: Mapping[str, Path] = {path.stem: path for path in sorted((FOLDER / "tables").iterdir())}
FOLDERS: Mapping[str, Path] = {path.name: path for path in sorted((FOLDER / "folders").iterdir())}
"""What people export and keep: each a graph of one or two files."""
ENCODINGS: Mapping[str, str] = {"kunden": "cp1252", "erp": "cp1252"}


def read_split(split: Split, /) -> list[OwnQuestion]:
    """Returns the questions of one half; ``graph`` names the table of each."""
    return _read(f"{split.value}.jsonl", split)


def read_folders() -> list[OwnQuestion]:
    """Returns the questions about the folders, which are read."""
    return _read("folders.jsonl", Split.READ)


def load_tables(store: Store, /, *, rejects: Path) -> None:
    """Loads each table and each folder as a graph of its name, by looking alone.

    Args:
        store: To load into.
        rejects: File for rows that no reader understands.
    """
    for name, path in {**TABLES, **FOLDERS}.items():
        options = LoadOptions(row="auto", encoding=ENCODINGS.get(name), rejects_path=rejects)
        load(path, store=store, graph=name, options=options)


def _read(name: str, split: Split) -> list[OwnQuestion]:
    lines = (FOLDER / name).read_text("utf-8").splitlines()
    return [_question(json.loads(line), split) for line in lines]


def _question(row: dict[str, object], split: Split) -> OwnQuestion:
    answers = row["answers"]
    assert isinstance(answers, list)
    answer_type = AnswerType(str(row["type"]))
    return OwnQuestion(
        id=str(row["id"]),
        graph=str(row["table"]),
        split=split,
        kind=answer_type.value,
        text=str(row["question"]),
        history=(),
        gold=(GoldAnswer(answer_type, frozenset(answers), "", ()),),
    )
