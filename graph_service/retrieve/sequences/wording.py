"""Relation sequences in words, and how much each is like the question.

The model was trained on sentences and knows no graph, so what a sequence is called decides. A
sequence is read from its start: ``spouse's nationality``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations

import numpy as np

from graph_service.model.graph import Float64
from graph_service.retrieve.similarity import SIMILARITY_DIGITS, cosines

Float32Array = np.ndarray[tuple[int, ...], np.dtype[np.float32]]
Encode = Callable[[Sequence[str]], Float32Array]
Steps = tuple[tuple[int, bool], ...]
"""Relations, global numbers, and whether each is walked from tail to head."""


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
        question_words: How many words the question has to speak of steps with; None where it is not known.
        extra_hop_cost: Taken off for each step beyond those: no word is left to ask for it.
    """

    names: Mapping[int, str]
    kinds: Mapping[int, str] = field(default_factory=dict)
    hop_cost: float = 0.0
    inverse_cost: float = 0.0
    unsupported_step_cost: float = 0.0
    unsupported_step_margin: float = 0.0
    question_words: int | None = None
    extra_hop_cost: float = 0.0

    def parts(self, steps: Steps, /, *, is_complete: bool = True) -> list[str]:
        """Returns the words of a sequence's steps, with the kinds of what they lead to.

        A step and the same back are read as one: ``other film with the same director``. A step
        from tail to head reaches what its relation is said of: with ``film`` as the kind,
        ``film written by``. Where no step does, the kind is what the question begins at: ``film's
        written by`` for "who wrote the film X". Steps that are not the whole sequence from its
        beginning on do not begin there.
        """
        parts: list[str] = []
        reaches_kind = False
        index = 0
        while index < len(steps):
            rel, backward = steps[index]
            if steps[index + 1 : index + 2] == ((rel, not backward),):
                parts.append(self._return(rel, backward))
                reaches_kind |= rel in self.kinds
                index += 2
            else:
                kind = self.kinds.get(rel) if backward else None
                reaches_kind |= kind is not None
                parts.append(f"{kind} {self.names[rel]}" if kind else self.names[rel])
                index += 1
        if is_complete and steps and not steps[0][1] and not reaches_kind:
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

    def extra_hops(self, length: int, /) -> float:
        """Returns what the steps cost that no word of the question is left for."""
        if self.question_words is None:
            return 0.0
        return self.extra_hop_cost * max(length - max(self.question_words, 1), 0)


class SequenceScorer:
    """Scores sequences of relations, each text once.

    Args:
        question: Unit vector of the question without the entities it names, float32 [d].
        encode: Texts to unit vectors.
        wording: How sequences are put into words.
    """

    def __init__(self, question: Float32Array, encode: Encode, wording: Wording) -> None:
        self.wording = wording
        self.similarity: dict[str, float] = {}
        self._question = question
        self._encode = encode
        self._texts: dict[tuple[Steps, bool], str] = {}

    def text(self, steps: Steps, /, *, is_complete: bool = True) -> str:
        """Returns a sequence as it is read from its start; see ``Wording.parts``."""
        key = (steps, is_complete)
        text = self._texts.get(key)
        if text is None:
            text = self._texts[key] = from_start(self.wording.parts(steps, is_complete=is_complete))
        return text

    def own_score(self, sequences: Sequence[Steps], /) -> Float64:
        """Returns the similarity of each of some sequences, less the costs of its steps."""
        texts = [self.text(steps) for steps in sequences]
        self._embed(sorted(set(texts) - self.similarity.keys()))
        similarity = np.array([self.similarity[text] for text in texts])
        costs = np.array([self.wording.cost(steps) for steps in sequences])
        score: Float64 = np.round(similarity - costs, SIMILARITY_DIGITS)
        return score

    def final_score(self, sequences: Sequence[Steps], /) -> Float64:
        """Returns the similarity of a few sequences, less the costs of their steps and of what has no
        support in the question.

        Steps that the question does not speak of show in that the sequence without them fits
        better: ``spouse's blood type`` against ``blood type``, where the question asks for one's
        own. ``unsupported_step_cost`` is taken off for that, beyond a margin.
        """
        wording, like = self.wording, self.similarity
        texts = [self.text(steps) for steps in sequences]
        parts = [
            [
                self.text(part, is_complete=part[0] == steps[0])
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
        unsupported: Float64 = np.maximum(
            np.array(best) - similarity - wording.unsupported_step_margin / further, 0.0
        )
        score: Float64 = np.round(
            self.own_score(sequences) - wording.unsupported_step_cost * unsupported,
            SIMILARITY_DIGITS,
        )
        return score

    def _embed(self, texts: list[str]) -> None:
        if not texts:
            return
        like = cosines(self._question, self._encode(texts)).tolist()
        self.similarity.update(zip(texts, like, strict=True))
