"""Questions kept aside from training: by what they ask for, and by their text (B7).

What was learned is to carry over to relations, and to entities and wordings, that training did not
see. So half of what is kept aside are all questions of some relation sequences, and the other half
questions of the other sequences. Paraphrases stand on one side, and so does one text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from graph_service.model.identity import key64
from graph_service.text.fold import fold
from queries.training.examples import AnsweredQuestion

Group = TypeVar("Group", bound=Hashable)
_LEAST_SEQUENCES = 4
"""With fewer sequences none is kept aside whole: too little would be left to learn from."""


@dataclass(frozen=True, slots=True)
class Split:
    """Some questions in two parts.

    Attributes:
        learned: What is trained on.
        held_out: What is scored, and nothing is chosen by.
        unseen_sequences: How many of those ask for a relation sequence that no other does.
    """

    learned: tuple[AnsweredQuestion, ...]
    held_out: tuple[AnsweredQuestion, ...]
    unseen_sequences: int


def split(questions: Sequence[AnsweredQuestion], /, *, share: float, random_seed: int = 0) -> Split:
    """Returns questions in two parts, drawn by a keyed hash of what they have in common.

    Args:
        questions: In any order.
        share: Of the questions that is kept aside, about: whole groups are drawn.
        random_seed: Of the draw.
    """
    sequences = [_sequence(question) for question in questions]
    texts = _together(questions)
    selected: set[int] = set()
    distinct = Counter(sequence for sequence in sequences if sequence)
    if len(distinct) >= _LEAST_SEQUENCES:
        room = share / 2 * len(questions)
        for sequence in _shuffled(distinct, random_seed):
            # One sequence may be most of the questions: it is left to learn from.
            if distinct[sequence] <= room:
                room -= distinct[sequence]
                selected.update(n for n, item in enumerate(sequences) if item == sequence)
    by_sequence = set(selected)
    groups = Counter(texts)
    room = share * len(questions) - len(selected)
    for text in _shuffled(groups, random_seed):
        if room < 1:
            break
        members = {n for n, item in enumerate(texts) if item == text} - selected
        selected |= members
        room -= len(members)
    # A text that asks for several things is kept aside with the first of them.
    aside = {texts[n] for n in selected}
    learned = [n for n in range(len(questions)) if n not in selected and texts[n] not in aside]
    left = {sequences[n] for n in learned}
    return Split(
        tuple(questions[n] for n in learned),
        tuple(questions[n] for n in sorted(selected)),
        sum(sequences[n] not in left for n in by_sequence),
    )


def _sequence(question: AnsweredQuestion) -> tuple[object, ...]:
    """Returns what a question asks for: its relations; nothing where only answers are known."""
    return tuple(sorted({steps for _, steps in question.chains}))


def _together(questions: Sequence[AnsweredQuestion]) -> list[int]:
    """Returns for each question the number of its group: paraphrases, and equal texts."""
    parent = list(range(len(questions)))

    def root(member: int) -> int:
        while parent[member] != member:
            parent[member] = parent[parent[member]]
            member = parent[member]
        return member

    first: dict[Hashable, int] = {}
    for member, question in enumerate(questions):
        parts = (question.start_ids, question.chains, question.answer_ids)
        for key in (fold(question.text), parts):
            known = first.setdefault(key, member)
            low, high = sorted((root(known), root(member)))
            parent[high] = low
    return [root(index) for index in range(len(questions))]


def _shuffled(groups: Iterable[Group], random_seed: int) -> list[Group]:
    return sorted(groups, key=lambda group: (key64(f"{random_seed}\t{group!r}"), repr(group)))
