"""The entities that a question names for sure: LTGen's tagger (L4)."""

from __future__ import annotations

from collections.abc import Sequence

from graph_service.link.mention import Mention
from graph_service.model.limits import Cut, CutReason


def surest_entities(
    mentions: Sequence[Mention], /, *, min_score: float, most: int
) -> tuple[tuple[Mention, ...], tuple[Cut, ...]]:
    """Returns one mention of each entity that is named for sure, and what was left out.

    Args:
        mentions: In order of the question. Of those whose first candidate is one entity the one of
            the highest score counts, of equal ones the first.
        min_score: Entities of a lower score are left out.
        most: Entities at most: those of the highest score; ties by node.
    """
    best: dict[int, Mention] = {}
    for mention in mentions:
        first = mention.candidates[0]
        held = best.get(first.node)
        if held is None or held.candidates[0].score < first.score:
            best[first.node] = mention
    sure = [mention for mention in best.values() if mention.candidates[0].score >= min_score]
    cuts: list[Cut] = []
    if len(sure) < len(best):
        cuts.append(Cut("entities", CutReason.MIN_SCORE, min_score, len(sure), len(best)))
    surest = sorted(sure, key=lambda one: (-one.candidates[0].score, one.candidates[0].node))[:most]
    if len(surest) < len(sure):
        cuts.append(Cut("entities", CutReason.LIMIT, most, len(surest), len(sure)))
    return tuple(sorted(surest, key=lambda mention: mention.start)), tuple(cuts)
