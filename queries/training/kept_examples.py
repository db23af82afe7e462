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
                "text": one.text,
                "graph": one.graph,
                "family": one.family,
                "start_ids": one.start_ids,
                "chains": one.chains,
                "answer_ids": sorted(one.answer_ids),
            }
            for one in questions
        ],
        "examples": [[one.family, one.text, one.given] for one in examples],
    }
    arrays: dict[str, Any] = {
        "sizes": np.array(
            [[len(one.right), len(one.finalists)] for one in examples], dtype=np.int64
        ),
        _META: np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8),
    }
    if examples:
        for name in ("described", "right", "finalists", "inputs"):
            arrays[name] = np.concatenate([getattr(one, name) for one in examples])
    beside = path.with_suffix(".tmp")
    with beside.open("wb") as file:
        np.savez(file, **arrays)
    beside.replace(path)


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
                one["text"],
                one["graph"],
                one["family"],
                tuple(one["start_ids"]),
                tuple(
                    (start, tuple((relation, bool(back)) for relation, back in steps))
                    for start, steps in one["chains"]
                ),
                frozenset(one["answer_ids"]),
            )
            for one in meta["questions"]
        )
        sizes = arrays["sizes"].reshape(-1, 2)
        ends = np.cumsum(sizes, axis=0)
        examples = []
        for (family, text, given), (last, final), (count, finalists) in zip(
            meta["examples"], ends.tolist(), sizes.tolist(), strict=True
        ):
            rows, chosen = slice(last - count, last), slice(final - finalists, final)
            examples.append(
                Example(
                    family,
                    text,
                    given,
                    arrays["described"][rows],
                    arrays["right"][rows],
                    arrays["finalists"][chosen],
                    arrays["inputs"][chosen],
                )
            )
        return questions, tuple(examples)
    except (ValueError, KeyError, TypeError, OSError, EOFError) as error:
        raise InputError(f"{path} holds no examples: {error}", argument="keep") from error
