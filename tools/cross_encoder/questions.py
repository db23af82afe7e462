"""Questions with the texts that may be what they ask, as tokens."""

from __future__ import annotations

import hashlib
import json
import lzma
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.families import WIKIDATA_FAMILIES, FamilyQuestion, choose, read_family
from benchmarks.family_scorers import MOST_OF_A_SET
from graph_service.embed.cross_encoder import QUESTION_TOKENS, TEXT_TOKENS, truncated
from graph_service.embed.transformer import TransformerEmbedder
from graph_service.model.identity import key64
from queries.datasets.wikidata_questions import FOLDER, read_labels

Int32 = npt.NDArray[np.int32]
NOT_OPEN = ("freebase/cwq", "freebase/wqsp", "dbpedia/lcquad")
"""Sets for research alone, or under the GPL: to measure, never for weights that ship."""
NOT_LICENSED = ("pathquestion", "worldcup")
"""Families whose licence nobody states: to measure, never for weights that ship."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question and its candidates.

    Attributes:
        text: As asked.
        family: What is left out together.
        source: The set that it is from.
        candidates: Texts, and whether each is right; of a recorded question the best first.
        scores: What the networks gave each candidate of a recorded question; None for one that was
            not among their best. Empty for others.
        id: Of a question of the families; empty for others.
    """

    text: str
    family: str
    source: str
    candidates: tuple[tuple[str, bool], ...]
    scores: tuple[float | None, ...] = ()
    id: str = ""


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
            candidates = tuple((text, bool(right)) for text, right, *_ in row["c"])
            scores = tuple(each[2] for each in row["c"] if len(each) > 2)
            yield Question(row["q"], row["fam"], row["set"], candidates, scores, row.get("id", ""))


def measured_questions(data: Path, /) -> list[FamilyQuestion]:
    """Returns the questions of people that figures are given on: no training may see them.

    Those of the published sample, and those that the networks which ship did not learn from, if the
    graph names their entities.
    """
    named = read_labels(data / FOLDER, "en").keys()
    measured: list[FamilyQuestion] = []
    for family in WIKIDATA_FAMILIES:
        for questions in read_family(family, data):
            learned = choose(questions.questions, sample=MOST_OF_A_SET, random_seed=0)
            ids = {each.id for each in learned}
            measured += [
                each
                for each in questions.questions
                if each.in_sample or (each.id not in ids and named >= set(each.topics))
            ]
    return measured


def at_most(questions: Iterable[Question], most: int, /, *, random_seed: int) -> list[Question]:
    """Returns at most ``most`` questions of each set, drawn by a hash of their texts."""
    sets: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        sets[question.source].append(question)
    return [
        question
        for _, of_set in sorted(sets.items())
        for question in sorted(of_set, key=lambda each: key64(f"{random_seed}\t{each.text}"))[:most]
    ]


def is_open(question: Question, /) -> bool:
    """Returns whether a question's licence lets weights made of it be given on."""
    return not question.source.startswith(NOT_OPEN) and question.family not in NOT_LICENSED


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
