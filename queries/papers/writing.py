"""The files of a paper's tables, and what the folder's answers were made of."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from graph_service import __version__
from queries.generate.prompt import prompts_in_use
from queries.line_file import write_atomically
from queries.lock import read_lock_file, require_same_lock, write_lock_file
from queries.papers.table import PaperTable

LOCK_NAME = "plan.lock.json"
TABLES_NAME, JSON_NAME, TEX_NAME = "tables.md", "tables.json", "tables.tex"
_FORMAT = 1


def bind_folder(folder: Path, made_of: Mapping[str, Any], files: Sequence[Path], /) -> None:
    """Notes in a folder what its answers are made of, or looks whether it is the same as before.

    Args:
        folder: Of the tables; made if there is none.
        made_of: The paper, the models, the graph's fingerprints and how questions are asked.
        files: Files of questions and texts; their hashes are noted.

    Raises:
        InputError: The folder was made of something else; what differs is listed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = {
        "format": _FORMAT,
        **made_of,
        "files": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files},
        "own_prompts": sorted(prompt.label for prompt in prompts_in_use().values()),
    }
    path = folder / LOCK_NAME
    stored = read_lock_file(path, of="a paper's tables", form=_FORMAT)
    if stored is None:
        write_lock_file(path, {**lock, "version": __version__})
        return
    require_same_lock(stored, lock, path, of="plan or graph")


def write_tables(
    folder: Path, title: str, about: Mapping[str, str], tables: Sequence[PaperTable], /
) -> tuple[str, ...]:
    """Writes the tables as Markdown, JSON and LaTeX, each file whole; returns their names.

    Args:
        folder: Where they are written.
        title: Of the paper.
        about: What every table rests on, by name: models, judges, graph, questions.
        tables: In the paper's order.
    """
    rests_on = "\n".join(f"* {name}: {value}" for name, value in about.items())
    parts = [f"# {title}\n", f"{rests_on}\n", *(table.markdown() for table in tables)]
    texts = {
        TABLES_NAME: "\n".join(parts),
        JSON_NAME: orjson.dumps(
            {"paper": title, "about": about, "tables": [table.to_plain() for table in tables]},
            option=orjson.OPT_INDENT_2,
        ).decode()
        + "\n",
        TEX_NAME: "\n".join(table.tex() for table in tables),
    }
    for name, text in texts.items():
        write_atomically(folder / name, text.encode())
    return tuple(texts)
