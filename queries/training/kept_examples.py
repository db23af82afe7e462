"""Examples of a set of questions in a file, so that a stopped training goes on.

Arrays of all examples, one after the other, and a description in JSON; read with pickling off. The
file's name holds a hash of the code that made it: other code records anew.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graph_service.errors import InputError
from graph_service.npz_file import read_npz
from queries.training.examples import AnsweredQuestion, Example

_META = "meta"


def write_examples(
    path: Path, questions: Sequence[AnsweredQuestion], examples: Sequence[Example], /
) -> None:
    """Writes what a set of questions taught, whole or not at all."""
    meta = {
        "questions": [
            {
                "text": question.text,
                "graph": question.graph,
                "family": question.family,
                "start_ids": question.start_ids,
                "chains": question.chains,
                "answer_ids": sorted(question.answer_ids),
            }
            for question in questions
        ],
        "examples": [[example.family, example.text, example.by_ids] for example in examples],
    }
    arrays: dict[str, Any] = {
        "sizes": np.array(
            [[len(example.right), len(example.finalists)] for example in examples], dtype=np.int64
        ),
        _META: np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8),
    }
    if examples:
        for name in ("described", "right", "finalists", "inputs"):
            arrays[name] = np.concatenate([getattr(example, name) for example in examples])
    temporary = path.with_suffix(".tmp")
    with temporary.open("wb") as file:
        np.savez(file, **arrays)
    temporary.replace(path)


def read_examples(path: Path, /) -> tuple[tuple[AnsweredQuestion, ...], tuple[Example, ...]]:
    """Returns what ``write_examples`` wrote.

    Raises:
        InputError: It is no such file.
    """
    try:
        arrays = read_npz(path)
        meta = json.loads(arrays[_META].tobytes())
        questions = tuple(
            AnsweredQuestion(
                question["text"],
                question["graph"],
                question["family"],
                tuple(question["start_ids"]),
                tuple(
                    (start, tuple((relation, bool(back)) for relation, back in steps))
                    for start, steps in question["chains"]
                ),
                frozenset(question["answer_ids"]),
            )
            for question in meta["questions"]
        )
        sizes = arrays["sizes"].reshape(-1, 2)
        offsets = np.cumsum(sizes, axis=0)
        examples = []
        for (family, text, start_ids), (last, final), (count, finalists) in zip(
            meta["examples"], offsets.tolist(), sizes.tolist(), strict=True
        ):
            rows, chosen = slice(last - count, last), slice(final - finalists, final)
            examples.append(
                Example(
                    family,
                    text,
                    start_ids,
                    arrays["described"][rows],
                    arrays["right"][rows],
                    arrays["finalists"][chosen],
                    arrays["inputs"][chosen],
                )
            )
        return questions, tuple(examples)
    except (ValueError, KeyError, TypeError, OSError, EOFError) as error:
        raise InputError(f"{path} holds no examples: {error}", argument="keep") from error
