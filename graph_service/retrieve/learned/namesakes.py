"""Whether an answer is of somebody else than the words of a question first name.

Which entity of a name has what is asked for often tells who is meant. But where the graph lacks it
of the one whom people mean by the words, a namesake may have it: the currency of the Kingdom of
Italy is no answer to *what money do they have in Italy?*.
"""

from __future__ import annotations

from collections.abc import Sequence

from graph_service.link.spans import Certainty
from graph_service.link.starts import NameForm, StartCandidate

_BETTER_KNOWN = 2.0
"""How many times as many statements somebody has who is surely meant by a name."""


def is_lesser_namesake(start: StartCandidate, start_entities: Sequence[StartCandidate], /) -> bool:
    """Returns whether another is rather meant by the words that name a start entity: one whose label
    they are, where they are an alias of the start or a part of its label, and that has far more
    statements; or the bearer of a longer name that they are a part of.

    Args:
        start: What the answer is of.
        start_entities: All start entities, this one among them.
    """
    if start.start < 0 or start.linked or start.neighbour_matches:
        return False
    return any(
        each.linked
        and each.form is NameForm.EXACT
        and (_is_better_known(each, start) or _is_longer_name(each, start))
        for each in start_entities
    )


def sharers_of_name(
    start: StartCandidate, start_entities: Sequence[StartCandidate], /
) -> list[int]:
    """Returns which start entities have a name of which the same words are a part, if the start has
    not far more statements: *Patrick* for two of that first name.

    Nobody shares a name that is whole, or one whose bearer another word of the question tells.
    """
    if start.form is not NameForm.PART or start.neighbour_matches:
        return []
    return [
        index
        for index, each in enumerate(start_entities)
        if each.span == start.span
        and each.form is NameForm.PART
        and each.node != start.node
        and start.degree < _BETTER_KNOWN * each.degree
    ]


def _is_better_known(other: StartCandidate, start: StartCandidate) -> bool:
    return (
        other.span == start.span
        and start.form is not NameForm.DEMONYM
        and start.is_alias
        and not other.is_alias
        and other.degree >= _BETTER_KNOWN * start.degree
    )


def _is_longer_name(other: StartCandidate, start: StartCandidate) -> bool:
    is_within = other.start <= start.start and start.end <= other.end and other.span != start.span
    return is_within and other.certainty > Certainty.COMMON
