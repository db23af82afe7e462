"""Relation sequences in words, and how much each is like the question.

The model was trained on sentences and knows no graph, so what a sequence is called decides. A
sequence is read from its start: ``spouse's nationality``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations

import numpy as np

from graph_service.model.graph import Float64, Int64
from graph_service.retrieve.similarity import SIMILARITY_DIGITS, cosines
from graph_service.sorting import ranked

Float32Array = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
Encode = Callable[[Sequence[str]], Float32Array]
Steps = tuple[tuple[int, bool], ...]
"""Relations, global numbers, and whether each is walked from tail to head."""


def steps_of(moves: Sequence[int], /) -> Steps:
    """Returns a sequence given as moves: twice the relation, plus one from tail to head.

    >>> steps_of([6, 11])
    ((3, False), (5, True))
    """
    return tuple((move // 2, bool(move % 2)) for move in moves)


def from_start(parts: Sequence[str], /) -> str:
    """Returns the parts of a sequence as one reads them from its start.

    >>> from_start(["spouse", "nationality"])
    "spouse's nationality"
    """
    return "'s ".join(parts)


@dataclass(frozen=True, slots=True)
class Wording:
    """How sequences are put into words, and what their steps cost.

    Attributes:
        names: Words of each relation.
        kinds: Kind of the heads of a relation, where the question names that kind.
        hop_cost: Taken off for each step after the first.
        inverse_cost: Taken off for each step from tail to head.
        unsupported_step_cost: Taken off for each unit by which a part of the sequence fits better.
        unsupported_step_margin: By which a part may fit better at no cost, for words such as "couple"
            that the model barely knows; of three steps by half as much, for they share it.
        spoken: How many words the question has to speak of steps with; None where it is not known.
        extra_hop_cost: Taken off for each step beyond those: no word is left to ask for it.
    """

    names: Mapping[int, str]
    kinds: Mapping[int, str] = field(default_factory=dict)
    hop_cost: float = 0.0
    inverse_cost: float = 0.0
    unsupported_step_cost: float = 0.0
    unsupported_step_margin: float = 0.0
    spoken: int | None = None
    extra_hop_cost: float = 0.0

    def parts(self, steps: Steps, /, *, whole: bool = True) -> list[str]:
        """Returns the words of a sequence's steps, with the kinds of what they lead to.

        A step and the same back are read as one: ``other film with the same director``. A step
        from tail to head reaches what its relation is said of: with ``film`` as the kind,
        ``film written by``. Where no step does, the kind is what the question begins at: ``film's
        written by`` for "who wrote the film X". Steps that are not the ``whole`` sequence from its
        beginning on do not begin there.
        """
        parts: list[str] = []
        reaches_kind = False
        place = 0
        while place < len(steps):
            rel, backward = steps[place]
            if steps[place + 1 : place + 2] == ((rel, not backward),):
                parts.append(self._return(rel, backward))
                reaches_kind |= rel in self.kinds
                place += 2
            else:
                kind = self.kinds.get(rel) if backward else None
                reaches_kind |= kind is not None
                parts.append(f"{kind} {self.names[rel]}" if kind else self.names[rel])
                place += 1
        if whole and steps and not steps[0][1] and not reaches_kind:
            start = self.kinds.get(steps[0][0])
            if start is not None:
                parts.insert(0, start)
        return parts

    def _return(self, rel: int, backward: bool) -> str:
        """Returns the words of a step and the same back: from a film to others of its director,
        or (``backward``) from a director to others of a film.
        """
        name, kind = self.names[rel], self.kinds.get(rel)
        words = (
            ("other", name, "of the same", kind)
            if backward
            else ("other", kind, "with the same", name)
        )
        return " ".join(word for word in words if word)

    def cost(self, steps: Steps, /) -> float:
        """Returns what a sequence's steps cost."""
        backward = sum(back for _, back in steps)
        return (
            self.hop_cost * (len(steps) - 1)
            + self.inverse_cost * backward
            + self.extra_hops(len(steps))
        )

    def costs(self, moves: Int64, /) -> Float64:
        """Returns ``cost`` of each of some sequences of one length."""
        length = moves.shape[1]
        costs: Float64 = (
            self.hop_cost * (length - 1)
            + self.inverse_cost * (moves % 2).sum(axis=1)
            + self.extra_hops(length)
        )
        return costs

    def extra_hops(self, length: int, /) -> float:
        """Returns what the steps cost that no word of the question is left for."""
        if self.spoken is None:
            return 0.0
        return self.extra_hop_cost * max(length - max(self.spoken, 1), 0)

    def distinct(self, moves: Int64, /) -> tuple[Int64, Int64]:
        """Returns which of some sequences of one length read alike, without reading them.

        Returns:
            The first sequence of each text, int64 [t], and the text of each sequence.
        """
        used, place = ranked(moves.ravel())
        place = place.reshape(moves.shape)
        numbers: dict[str, int] = {"": 0}
        words, returns, starts, reaches, knows = [], [], [], [], []
        for move in used.tolist():
            rel, backward = move // 2, bool(move % 2)
            kind = self.kinds.get(rel)
            words.append(
                numbers.setdefault(self.parts(((rel, backward),), whole=False)[0], len(numbers))
            )
            returns.append(numbers.setdefault(self._return(rel, backward), len(numbers)))
            starts.append(0 if backward or kind is None else numbers.setdefault(kind, len(numbers)))
            reaches.append(backward and kind is not None)
            knows.append(kind is not None)
        read = np.array(words)[place]
        reached = np.array(reaches)[place]
        free = np.ones(len(moves), dtype=bool)
        for column in range(moves.shape[1] - 1):
            both = free & (moves[:, column] ^ 1 == moves[:, column + 1])
            one = place[both, column]
            read[both, column], read[both, column + 1] = np.array(returns)[one], 0
            reached[both, column] = np.array(knows)[one]
            reached[both, column + 1] = False
            free = ~both
        code = np.where(reached.any(axis=1), 0, np.array(starts)[place[:, 0]])
        for column in read.T:
            code = ranked(code * len(numbers) + column)[1]
        first = np.empty(int(code.max()) + 1, dtype=np.int64)
        first[code[::-1]] = np.arange(len(code))[::-1]
        return first, code


@dataclass(frozen=True, slots=True, eq=False)
class FinalScores:
    """The final scores of n sequences, float64 [n] each.

    Attributes:
        similarity: Cosine of each one's text with the question.
        lacking: By how much some part of it is more like the question than it is, beyond the
            margin; 0 for a sequence whose every step is spoken of.
        score: Similarity less the costs of its steps and of what it is lacking.
    """

    similarity: Float64
    lacking: Float64
    score: Float64


class SequenceScorer:
    """Scores sequences of relations, each text once, within a number of texts.

    Args:
        question: Unit vector of the question without the entities it names, float32 [d].
        encode: Texts to unit vectors.
        wording: How sequences are put into words.
        max_embedded: Most distinct texts that are embedded by ``score``.
    """

    def __init__(
        self, question: Float32Array, encode: Encode, wording: Wording, max_embedded: int
    ) -> None:
        self.wording = wording
        self.similarity: dict[str, float] = {}
        self.unscored = 0
        self._question = question
        self._encode = encode
        self._left = max_embedded
        self._single: dict[str, Float32Array] = {}
        self._texts: dict[tuple[Steps, bool], str] = {}

    def text(self, steps: Steps, /, *, whole: bool = True) -> str:
        """Returns a sequence as it is read from its start; see ``Wording.parts``."""
        key = (steps, whole)
        text = self._texts.get(key)
        if text is None:
            text = self._texts[key] = from_start(self.wording.parts(steps, whole=whole))
        return text

    def score(self, moves: Int64, /, *, share: float) -> Float64:
        """Returns the score of each of some sequences, given as moves of one length; those over
        the number of texts have minus infinity.

        ``share`` of what may still be embedded goes to these. Which are embedded, where not all
        can be, is decided by the mean of their steps' vectors; only those are read.
        """
        costs = self.wording.costs(moves)
        first, text_of = self.wording.distinct(moves)
        chosen = np.arange(len(first))
        allowed = int(self._left * share)
        if len(first) > allowed:
            best = np.full(len(first), -np.inf)
            np.maximum.at(best, text_of, self._guess(moves) - costs)
            chosen = self._best_texts(moves[first], best, allowed)
            self.unscored += len(first) - allowed
        texts = [self.text(steps_of(row)) for row in moves[first[chosen]].tolist()]
        new = sorted({text for text in texts if text not in self.similarity})
        self._left -= len(new)
        self._embed(new)
        found = np.full(len(first), -np.inf)
        found[chosen] = [self.similarity[text] for text in texts]
        score: Float64 = np.round(found[text_of] - costs, SIMILARITY_DIGITS)
        return score

    def _best_texts(self, moves: Int64, values: Float64, count: int) -> Int64:
        """Returns the places of the texts of the greatest values; of equal ones by the alphabet."""
        if not count:
            return np.zeros(0, dtype=np.int64)
        least = np.partition(values, len(values) - count)[len(values) - count]
        tied = np.flatnonzero(values == least)
        tied = tied[np.argsort([self.text(steps_of(row)) for row in moves[tied].tolist()])]
        above = np.flatnonzero(values > least)
        return np.concatenate((above, tied[: count - len(above)]))

    def final(self, sequences: Sequence[Steps], /) -> FinalScores:
        """Returns the final scores of a few sequences.

        Steps that the question does not speak of show in that the sequence without them fits
        better: ``spouse's blood type`` against ``blood type``, where the question asks for one's
        own. ``unsupported_step_cost`` is taken off for that, beyond a margin.
        """
        wording, like = self.wording, self.similarity
        texts = [self.text(steps) for steps in sequences]
        parts = [
            [
                self.text(part, whole=part[0] == steps[0])
                for count in range(1, len(steps))
                for part in combinations(steps, count)
            ]
            for steps in sequences
        ]
        self._embed(sorted({*texts, *chain.from_iterable(parts)} - like.keys()))
        similarity = np.array([like[text] for text in texts])
        best = [
            max((like[part] for part in of_one), default=like[text])
            for text, of_one in zip(texts, parts, strict=True)
        ]
        further = np.array([max(len(steps) - 1, 1) for steps in sequences])
        lacking: Float64 = np.maximum(
            np.array(best) - similarity - wording.unsupported_step_margin / further, 0.0
        )
        costs = np.array([wording.cost(steps) for steps in sequences])
        score: Float64 = np.round(
            np.round(similarity - costs, SIMILARITY_DIGITS)
            - wording.unsupported_step_cost * lacking,
            SIMILARITY_DIGITS,
        )
        return FinalScores(similarity, lacking, score)

    def _embed(self, texts: list[str]) -> None:
        if not texts:
            return
        vectors = self._encode(texts)
        like = cosines(self._question, vectors).tolist()
        for text, vector, value in zip(texts, vectors, like, strict=True):
            self.similarity[text] = value
            self._single[text] = vector

    def _guess(self, moves: Int64) -> Float64:
        names = self.wording.names
        zero = np.zeros_like(self._question)
        relations, place = np.unique(moves // 2, return_inverse=True)
        table = np.stack([self._single.get(names[rel], zero) for rel in relations.tolist()])
        total = np.zeros((len(moves), len(self._question)), dtype=np.float32)
        for column in place.reshape(moves.shape).T:
            total += table[column]
        size = np.linalg.norm(total, axis=1, keepdims=True)
        return cosines(self._question, total / np.maximum(size, np.float32(1e-6)))
