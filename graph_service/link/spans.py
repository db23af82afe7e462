"""Spans of a question that are names, and which of those that overlap are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from graph_service.model.graph import Int32


class Certainty(IntEnum):
    """How sure it is that words are meant as a name.

    ``PLAIN`` are nouns that questions ask with (``mother``, ``film``), and names of relations;
    ``COMMON`` other common nouns and what may be part of a longer name; ``PROPER`` proper names
    that nothing in the writing marks; ``WRITTEN`` those with the capitals of a name.
    """

    NO = 0
    PLAIN = 1
    COMMON = 2
    PROPER = 3
    WRITTEN = 4


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """Atoms ``left`` to ``right`` (exclusive) that are a name, and its nodes.

    Attributes:
        left, right: Places among the atoms.
        start, end: Characters of the question.
        name: In the normal form, as the question has it.
        nodes: The entities of that name, int32, ascending.
        is_alias: For each whether the name is an alias only.
        certainty: Whether it is meant as a name.
        weight: Factor of the confidence, 0 to 1.
        typos: Letters by which the spelling differs.
    """

    left: int
    right: int
    start: int
    end: int
    name: str
    nodes: Int32
    is_alias: tuple[bool, ...]
    certainty: Certainty
    weight: float = 1.0
    typos: int = 0

    def overlaps(self, other: Span, /) -> bool:
        """Returns whether two spans share an atom."""
        return self.left < other.right and other.left < self.right

    def word_count(self) -> int:
        """Returns how many words the name has."""
        return self.name.count(" ") + 1


def without_overlaps(spans: Sequence[Span], /) -> list[Span]:
    """Returns spans of which no two overlap: the longest, but a common noun never in a name's way."""
    chosen: list[Span] = []
    taken = bytearray(max((span.right for span in spans), default=0))
    for span in sorted(
        spans,
        key=lambda span: (
            span.certainty <= Certainty.COMMON,
            -span.word_count(),
            -(span.end - span.start),
            -span.certainty,
            span.start,
        ),
    ):
        if not any(taken[span.left : span.right]):
            taken[span.left : span.right] = b"\x01" * (span.right - span.left)
            chosen.append(span)
    return chosen


def surest(spans: Sequence[Span], /) -> list[Span]:
    """Returns the names among spans, or if there are none the common nouns, or if there are none
    the nouns that questions ask with: each once, where it stands first; the surest and longest
    go first.
    """
    best = max((span.certainty for span in spans), default=Certainty.NO)
    least = min(best, Certainty.PROPER)
    distinct: dict[str, Span] = {}
    for span in sorted(spans, key=lambda span: span.start):
        if span.certainty >= least:
            distinct.setdefault(span.name, span)
    return sorted(
        distinct.values(),
        key=lambda span: (
            -span.certainty,
            -span.word_count(),
            -(span.end - span.start),
            span.start,
        ),
    )
