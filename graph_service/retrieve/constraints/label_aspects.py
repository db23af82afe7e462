"""Of which aspect a relation tells: the place, the day or the cause of what it is said of."""

from __future__ import annotations

from graph_service.retrieve.constraints.judging import CandidateJudge
from graph_service.retrieve.constraints.meeting import CandidateWalks
from graph_service.text.fold import words
from graph_service.text.nouns import singular

_CAUSES = frozenset(["cause", "manner", "method", "reason"])
_DEEDS = frozenset(["job", "occupation", "profession"])
_LOCATIONS = frozenset(["location", "place"])


def tells_of_another_aspect(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether the last relation of a candidate tells by its name of another aspect than the
    question asks for: *where* is not answered by a cause of death or an occupation, nor *who* by a
    place of birth.
    """
    if walks.backward[-1]:
        return False
    noun = _head_noun(judge.texts[walks.relations[-1]])
    if judge.form.asks_where:
        return noun in _CAUSES | _DEEDS
    return judge.form.asks_for_person and noun in _CAUSES | _LOCATIONS


def _head_noun(label: str) -> str:
    """Returns the noun that says what the values of a relation are.

    >>> _head_noun("cause of death"), _head_noun("birth place")
    ('cause', 'place')
    """
    before, _, _ = " ".join(words(label)).partition(" of ")
    return singular(before.split()[-1]) if before else ""
