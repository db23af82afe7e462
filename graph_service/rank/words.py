"""Words and pairs of words of a question, as the trained ranker counts them.

An entity's name says nothing about what is asked, and its words are rare. Words of the entity's
own text, where it is known, and words that the training questions hardly have, become one mark:
``born in *`` is a pair that any question can have.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graph_service.text.fold import words

Int32 = npt.NDArray[np.int32]

NAME = "*"
LEAST = 5
"""In how many questions a word or pair must be to count."""
_BEGIN, _END = "^", "$"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words and pairs that count.

    Attributes:
        words: Words that are no name's.
        terms: Number of each word and pair.
    """

    words: frozenset[str]
    terms: dict[str, int]

    @classmethod
    def of(cls, texts: Iterable[tuple[str, str]], /, *, least: int = LEAST) -> Vocabulary:
        """Returns the vocabulary of ``(question, entity's text)``."""
        pairs = list(texts)
        plain = Counter(word for text, entity in pairs for word in set(_masked(text, entity)))
        known = frozenset(word for word, count in plain.items() if count >= least) - {NAME}
        terms = Counter(
            term for text, entity in pairs for term in _terms(_masked(text, entity), known)
        )
        frequent = sorted(term for term, count in terms.items() if count >= least)
        return cls(known, {term: i for i, term in enumerate(frequent)})

    @classmethod
    def read(cls, text: str, /) -> Vocabulary:
        """Returns the vocabulary of ``to_json``; raises ``ValueError`` for any other text."""
        plain = json.loads(text)
        if not isinstance(plain, dict) or not all(
            isinstance(plain.get(name), list) and all(isinstance(x, str) for x in plain[name])
            for name in ("words", "terms")
        ):
            raise ValueError("lists of words and terms were expected")
        return cls(frozenset(plain["words"]), {term: i for i, term in enumerate(plain["terms"])})

    def to_json(self) -> str:
        """Returns words and terms as JSON text."""
        return json.dumps({"words": sorted(self.words), "terms": list(self.terms)})

    def numbers(self, texts: Sequence[tuple[str, str]], /) -> Int32:
        """Returns the terms of each text, int32 [n, most], filled up with ``len(self.terms)``."""
        rows = [
            sorted(
                self.terms[term]
                for term in _terms(_masked(text, entity), self.words)
                if term in self.terms
            )
            for text, entity in texts
        ]
        table = np.full(
            (len(rows), max((len(row) for row in rows), default=0)),
            len(self.terms),
            dtype=np.int32,
        )
        for i, row in enumerate(rows):
            table[i, : len(row)] = row
        return table


def _masked(text: str, entity: str) -> list[str]:
    """The words of a text, with the mark where they are the entity's name."""
    sequence = words(text)
    name = words(entity)
    if not name:
        return sequence
    masked: list[str] = []
    at = 0
    while at < len(sequence):
        if sequence[at : at + len(name)] == name:
            masked.append(NAME)
            at += len(name)
        else:
            masked.append(sequence[at])
            at += 1
    return masked


def _terms(sequence: Sequence[str], known: frozenset[str]) -> set[str]:
    marked: list[str] = [_BEGIN]
    for word in sequence:
        term = word if word in known else NAME
        if term != NAME or marked[-1] != NAME:
            marked.append(term)
    marked.append(_END)
    pairs = {f"{left} {right}" for left, right in zip(marked, marked[1:], strict=False)}
    return pairs | {word for word in marked[1:-1] if word != NAME}
