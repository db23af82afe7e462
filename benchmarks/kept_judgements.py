"""Judgements kept in a file, so that a run that was stopped goes on where it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import IO

import orjson

import graph_service
from benchmarks.judging import Judgement
from queries.datasets import wikidata_questions
from queries.training import examples

JUDGEMENTS = "judgements.jsonl"
# What decides a judgement: another version of any of these makes the kept ones worthless.
_PARTS = ("artifacts", "embed", "link", "model", "rank", "retrieve", "service", "text")
_JUDGES = (
    "chains.py",
    "constraints.py",
    "families.py",
    "finalists.py",
    "judging.py",
    "made_questions.py",
    "open_questions.jsonl",
    "question_sets.py",
    "step_tables.py",
    "wordings.py",
)
# What decides what a ranker is told, beside those.
_TOLD = ("examples.py", "walks.py")


class KeptJudgements:
    """Judgements of one way to retrieve, kept as lines of a file as they are made.

    Args:
        path: The file; several runs may add to it. None keeps them in memory alone.
        key: What a judgement depends on, beside its question.
    """

    def __init__(self, path: Path | None, key: str, /) -> None:
        self._path = path
        self._key = key
        self._known: dict[str, Judgement] = {}
        if path is None or not path.is_file():
            return
        for line in path.read_bytes().splitlines():
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue  # Being written when a run was killed: judged anew.
            if row.pop("key") == key:
                self._known[row["id"]] = Judgement(**{**row, "linked": tuple(row["linked"])})

    def find(self, id_: str, /) -> Judgement | None:
        """Returns the judgement of a question, if there is one."""
        return self._known.get(id_)

    @contextmanager
    def writing(self) -> Iterator[Callable[[Judgement], None]]:
        """Yields what keeps one more judgement."""
        if self._path is None:
            yield self._keep_in_memory
            return
        with self._path.open("ab+") as file:
            if file.tell() and not self._path.read_bytes().endswith(b"\n"):
                file.write(b"\n")
            yield lambda judgement: self._write(file, judgement)

    def _keep_in_memory(self, judgement: Judgement) -> None:
        self._known[judgement.id] = judgement

    def _write(self, file: IO[bytes], judgement: Judgement) -> None:
        file.write(orjson.dumps({"key": self._key, **asdict(judgement)}) + b"\n")
        file.flush()
        self._keep_in_memory(judgement)


def code_hash(*, weights: bool = True) -> str:
    """Returns a hash of the code, and of the weights beside it, that retrieve and judge.

    Args:
        weights: Whether those count: what a ranker is told does not depend on them.
    """
    package = Path(graph_service.__file__).parent
    files = [path for part in _PARTS for path in sorted((package / part).rglob("*"))]
    files += [Path(__file__).with_name(name) for name in _JUDGES]
    files.append(Path(wikidata_questions.__file__))
    if not weights:
        files += [Path(examples.__file__).with_name(name) for name in _TOLD]
    state = blake2b(digest_size=8)
    for path in files:
        if path.suffix == ".npz" and not weights:
            continue
        if path.is_file() and path.suffix != ".pyc":
            state.update(blake2b(path.read_bytes()).digest())
    return state.hexdigest()


def file_hash(path: Path | None, /) -> str:
    """Returns a hash of a file; empty for none."""
    return blake2b(path.read_bytes(), digest_size=8).hexdigest() if path else ""
