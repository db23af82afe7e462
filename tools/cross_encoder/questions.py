"""Questions with the texts that may be what they ask, as tokens."""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from graph_service.embed.cross_encoder import QUESTION_TOKENS, TEXT_TOKENS, truncated
from graph_service.embed.transformer import TransformerEmbedder

Int32 = npt.NDArray[np.int32]
_NOT_OPEN = ("freebase/cwq", "freebase/wqsp", "dbpedia/lcquad")
"""Sets for research alone, or under the GPL: to measure, never for weights that ship."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question and its candidates.

    Attributes:
        text: As asked.
        family: What is left out together.
        source: The set that it is from.
        candidates: Texts, and whether each is right.
    """

    text: str
    family: str
    source: str
    candidates: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Questions as tokens: q questions with c candidates in all.

    Attributes:
        questions: Ids of each question.
        texts: Ids of each candidate.
        first: Index of each question's first candidate, and c at the end, int32 [q + 1].
        right: Whether each candidate is right, bool [c].
    """

    questions: list[list[int]]
    texts: list[list[int]]
    first: Int32
    right: npt.NDArray[np.bool_]


def read_questions(path: Path, /) -> Iterator[Question]:
    """Yields the questions of a file of JSON lines, packed by xz or not."""
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            candidates = tuple((text, bool(right)) for text, right in row["c"])
            yield Question(row["q"], row["fam"], row["set"], candidates)


def is_open(question: Question, /) -> bool:
    """Returns whether a question's licence lets weights made of it be given on."""
    return not question.source.startswith(_NOT_OPEN)


def tokenise(embedder: TransformerEmbedder, questions: Sequence[Question], /) -> Tokens:
    """Returns questions as tokens, as the cross-encoder reads them."""
    known: dict[str, list[int]] = {}

    def ids(text: str, most: int) -> list[int]:
        if text not in known:
            known[text] = truncated(embedder.token_ids(text), most)
        return known[text]

    counts = [len(question.candidates) for question in questions]
    return Tokens(
        [truncated(embedder.token_ids(each.text), QUESTION_TOKENS) for each in questions],
        [ids(text, TEXT_TOKENS) for each in questions for text, _ in each.candidates],
        np.concatenate(([0], np.cumsum(counts))).astype(np.int32),
        np.array([right for each in questions for _, right in each.candidates], dtype=bool),
    )


def hash_files(paths: Iterable[Path], /) -> str:
    """Returns 32 hexadecimal digits of the contents of files."""
    state = hashlib.blake2b(digest_size=16)
    for path in paths:
        with path.open("rb") as file:
            state.update(hashlib.file_digest(file, "sha256").digest())
    return state.hexdigest()
