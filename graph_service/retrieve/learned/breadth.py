"""Questions that no single relation answers: *how has X influenced Y?*, *describe the life of X*.

What bears on them is of many kinds, so their walks are taken in turns: first the best walk of each
sequence that says something new, then further walks of the same sequences.
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


def spread(walks: Sequence[Walk], region: Region, /) -> list[Walk]:
    """Returns walks in turns, the best of each sequence first, those that repeat others later.

    Args:
        walks: Best first.
        region: Theirs.
    """
    turns: Counter[tuple[int, int]] = Counter()
    found: list[Walk] = []
    for walk in walks:
        last = (walk.nodes[0], int(region.rel[walk.edges[-1]]))
        waits = turns[last]
        turns[last] += 1
        if not waits:
            found.append(walk)
            continue
        score = round(walk.score * _NEXT_ROUND**waits, SIMILARITY_DIGITS)
        waiting = ScorePart("repeats", round(score - walk.score, SIMILARITY_DIGITS))
        found.append(replace(walk, score=score, parts=(*walk.parts, waiting)))
    return sorted(found, key=lambda walk: -walk.score)
