"""How likely words of a question ask for a relation, learned from published questions.

A log-linear model of two tables: one has a vector for each run of one to three words of questions,
the other for each word of relations' labels, by direction. The product of both sums says how well
a step of a walk fits the question. Words that no question of the training had say nothing.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from graph_service.errors import InputError
from graph_service.model.graph import Float64
from graph_service.retrieve.learned.relation_names import stem
from graph_service.text.fold import word_spans, words
from graph_service.text.relation_phrases import read_phrases
from graph_service.weights_file import decode_weights, encode_weights

NAME_MARK = "_"
"""Stands for the name of the entity that is asked about."""
LONGEST_RUN = 3
_MOST_KNOWN = 4096
"""Labels whose vectors are kept."""
_FORM = "relation-prior"
_VERSION = 1
_PERSON = b"prior"


def masked_words(question: str, mention: tuple[int, int] | None, /) -> list[str]:
    """Returns the folded words of a question, a mark in place of the name at a mention.

    >>> masked_words("Who is Ada Lovelace's mother?", (7, 19))
    ['who', 'is', '_', 's', 'mother']
    """
    start, end = mention or (-1, -1)
    masked: list[str] = []
    for word, left, right in word_spans(question):
        if left < end and start < right:
            if not masked or masked[-1] != NAME_MARK:
                masked.append(NAME_MARK)
        else:
            masked.append(word)
    return masked


def runs_of(tokens: Sequence[str], /) -> list[str]:
    """Returns the runs of one to three words, each once, the ends of the question marked."""
    marked = ["^", *tokens, "$"]
    runs = [
        " ".join(marked[first : first + length])
        for length in range(1, LONGEST_RUN + 1)
        for first in range(len(marked) - length + 1)
    ]
    return list(dict.fromkeys(run for run in runs if run not in {"^", "$", NAME_MARK}))


@lru_cache(maxsize=1 << 14)
def parts_of(label: str, backward: bool, /) -> tuple[str, ...]:
    """Returns what the label of a relation, walked one way, consists of: its words and the whole."""
    stems = [stem(word) for word in words(label)]
    sign = "<" if backward else ">"
    plain = (*stems, f"={' '.join(stems)}")
    return tuple(dict.fromkeys((*plain, *(sign + part for part in plain), sign)))


def keys_of(texts: Iterable[str], /) -> npt.NDArray[np.uint32]:
    """Returns the key of each text in a table."""
    return np.array([zlib.crc32(text.encode()) for text in texts], dtype=np.uint32)


@dataclass(frozen=True, slots=True, eq=False)
class RelationPrior:
    """Both tables, and where they come from.

    Attributes:
        run_keys: Keys of runs of words, ascending, uint32 [g].
        run_vectors: float32 [g, d].
        label_keys: Keys of parts of labels, ascending, uint32 [p].
        label_vectors: float32 [p, d].
        data: Hash of what it was trained on, 32 hexadecimal digits.
        notes: How it was trained.
    """

    run_keys: npt.NDArray[np.uint32]
    run_vectors: npt.NDArray[np.float32]
    label_keys: npt.NDArray[np.uint32]
    label_vectors: npt.NDArray[np.float32]
    data: str
    notes: Mapping[str, Any] = field(default_factory=dict)
    _known: dict[str, Float64] = field(default_factory=dict, repr=False)

    def fit_common(self, ways: Sequence[Sequence[str]], /) -> Float64:
        """Returns how well the best of all common relations fits each way of asking, float64 [ways]."""
        best: Float64 = self.fit(ways, common_labels()).max(axis=(1, 2))
        return best

    def knows(self, texts: Sequence[str], /) -> bool:
        """Returns whether questions of the training have each of some words."""
        return bool(np.isin(keys_of(texts), self.run_keys).all())

    def fit(self, ways: Sequence[Sequence[str]], labels: Sequence[str], /) -> Float64:
        """Returns how well each step fits each way of asking, float64 [ways, labels, 2].

        Args:
            ways: ``masked_words`` of a question, by ways of asking.
            labels: Of relations; the last axis is forward, backward.
        """
        if not ways or not labels:
            return np.zeros((len(ways), len(labels), 2))
        vectors = [_sum(keys_of(runs_of(way)), self.run_keys, self.run_vectors) for way in ways]
        steps = np.concatenate([self._steps(label) for label in labels])
        fits: Float64 = (np.array(vectors) @ steps.T).reshape(len(ways), len(labels), 2)
        return fits

    def _steps(self, label: str) -> Float64:
        """Returns the vectors of both ways of a relation, float64 [2, d]."""
        if label not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[label] = np.array(
                [
                    _sum(keys_of(parts_of(label, back)), self.label_keys, self.label_vectors)
                    for back in (False, True)
                ]
            )
        return self._known[label]


def _sum(
    keys: npt.NDArray[np.uint32],
    table: npt.NDArray[np.uint32],
    vectors: npt.NDArray[np.float32],
) -> Float64:
    """Returns the sum of the vectors of some keys by the root of their count, float64 [d]."""
    index = np.searchsorted(table, keys)
    index[index == len(table)] = 0
    known = index[table[index] == keys]
    total: Float64 = vectors[known].sum(axis=0, dtype=np.float64) / np.sqrt(max(len(known), 1))
    return total


def encode_relation_prior(prior: RelationPrior, /) -> bytes:
    """Returns the bytes of a prior's file; of the same tables the same."""
    arrays: dict[str, npt.NDArray[Any]] = {
        "run_keys": prior.run_keys,
        "run_vectors": prior.run_vectors.astype(np.float16),
        "label_keys": prior.label_keys,
        "label_vectors": prior.label_vectors.astype(np.float16),
    }
    meta = {"form": _FORM, "version": _VERSION, "data": prior.data, "notes": dict(prior.notes)}
    return encode_weights(arrays, meta, person=_PERSON)


def decode_relation_prior(data: bytes, /) -> RelationPrior:
    """Returns the prior of a file's bytes.

    Raises:
        InputError: They are no such file, of another version, or damaged.
    """
    try:
        arrays, meta = decode_weights(data, form=_FORM, version=_VERSION, person=_PERSON)
        return RelationPrior(
            arrays["run_keys"],
            arrays["run_vectors"].astype(np.float32),
            arrays["label_keys"],
            arrays["label_vectors"].astype(np.float32),
            meta["data"],
            meta["notes"],
        )
    except (ValueError, KeyError) as error:
        raise InputError(f"no prior of relations: {error}", argument="prior") from error


@cache
def common_labels() -> tuple[str, ...]:
    """Returns the names of common relations, each its first."""
    return tuple(names[0] for names, _ in read_phrases())


@cache
def shipped_prior() -> RelationPrior:
    """Returns the prior that comes with the package."""
    return decode_relation_prior(files(__package__).joinpath("relation_prior.npz").read_bytes())
