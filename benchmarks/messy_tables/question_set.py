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
ENCODINGS: Mapping[str, str] = {"kunden": "cp1252"}


def read_split(split: Split, /) -> list[OwnQuestion]:
    """Returns the questions of one half; ``graph`` names the table of each."""
    lines = (FOLDER / f"{split.value}.jsonl").read_text("utf-8").splitlines()
    return [_question(json.loads(line), split) for line in lines]


def load_tables(store: Store, /, *, rejects: Path) -> None:
    """Loads each table as a graph of its name, by looking alone.

    Args:
        store: To load into.
        rejects: File for rows that no reader understands.
    """
    for name, path in TABLES.items():
        options = LoadOptions(row="auto", encoding=ENCODINGS.get(name), rejects_path=rejects)
        load(path, store=store, graph=name, options=options)


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
