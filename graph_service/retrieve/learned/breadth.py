"""Answers of several readings: of questions for an account, and where no reading is sure.

No single relation answers *how has X influenced Y?* or *describe the life of X*. What bears on them
is of many kinds, so their walks are taken in turns: first the best walk of each sequence that says
something new, then further walks of the same sequences. Where the best sequence is not sure, it
does not fill the result with a long list: after its first walks those of others have their place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from graph_service.model.region import Region
from graph_service.model.result import ScorePart
from graph_service.retrieve.sequences.picking import Walk
from graph_service.retrieve.similarity import SIMILARITY_DIGITS

_NEXT_ROUND = 0.3
"""What of a walk's score stays with each round that it waits."""

_WALKS_UNSURE = 4
"""Walks of a sequence that is not sure, which wait for no other's."""
_NEXT_UNSURE = 0.5
"""What of a walk's score stays with each walk of its sequence that is beyond these."""


def spread(walks: Sequence[Walk], region: Region, /) -> list[Walk]:
    """Returns walks in turns, the best of each sequence first, those that repeat others later.

    Args:
        walks: Best first.
        region: Theirs.
    """
    turns: Counter[tuple[int, int]] = Counter()
    delayed: list[Walk] = []
    for walk in walks:
        last = (walk.nodes[0], int(region.rel[walk.edges[-1]]))
        delayed.append(_waiting(walk, _NEXT_ROUND ** turns[last]))
        turns[last] += 1
    return sorted(delayed, key=lambda walk: -walk.score)


def mixed(walks: Sequence[Walk], /) -> list[Walk]:
    """Returns walks with those that a sequence has beyond its first few later, the further on the
    later: others may be what is asked for.

    Args:
        walks: Best first.
    """
    turns: Counter[int] = Counter()
    delayed: list[Walk] = []
    for walk in walks:
        beyond = max(0, turns[walk.sequence] + 1 - _WALKS_UNSURE)
        delayed.append(_waiting(walk, _NEXT_UNSURE**beyond))
        turns[walk.sequence] += 1
    return sorted(delayed, key=lambda walk: -walk.score)


def _waiting(walk: Walk, share: float) -> Walk:
    """Returns a walk with a share of its score, and what it lost by repeating others."""
    score = round(walk.score * share, SIMILARITY_DIGITS)
    if share == 1.0 or score == walk.score:
        return walk
    waiting = ScorePart("repeats", round(score - walk.score, SIMILARITY_DIGITS))
    return replace(walk, score=score, parts=(*walk.parts, waiting))
