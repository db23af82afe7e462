"""Whether somebody is alive or dead: *Is X still alive?*, *has X died?*.

A graph says when and of what people died, and of nobody that they live. So the statement of a death
tells, and its lack tells nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph_service.retrieve.constraints.judging import CandidateJudge, JudgedCandidate
from graph_service.text.fold import words

_BEFORE = re.compile(r"\W*(?:is|was|are|were|has|have|did)\s+(?:the\s+)?", re.IGNORECASE)
_AFTER = re.compile(
    r"\s+(?:(?:still|currently|already|now|now\s+already)\s+)?"
    r"(?:(?P<alive>alive|living)|dead|deceased|die|died|pass(?:ed)?\s+away)"
    r"(?:\s+(?:yet|now|already|today|anymore|by\s+now))?\W*",
    re.IGNORECASE,
)
_LIVING = re.compile(
    r"\balive\b|\b(?:still|currently)\s+living\b(?!\s+(?:at|in|near|on|with)\b)", re.IGNORECASE
)
_OF_LIFE = frozenset({"alive", "living", "status"})
_OF_DEATH = frozenset({"death", "died", "deceased"})


def life_claim(judge: CandidateJudge, judged: Sequence[JudgedCandidate], /) -> str:
    """Returns ``yes`` or ``no``, as the statement of a death answers a question whether somebody is
    alive, or dead; empty for any other question.

    Args:
        judge: Of the question.
        judged: Candidates, of which ``states_a_death`` must hold for one.
    """
    for candidate in judged:
        start, end = judge.span(candidate.walks)
        after = _AFTER.fullmatch(judge.question[end:]) if start >= 0 else None
        if after is not None and _BEFORE.fullmatch(judge.question[:start]):
            return "no" if after["alive"] else "yes"
    return ""


def leaves_who_lives(judge: CandidateJudge, _: JudgedCandidate, /) -> bool:
    """Returns whether a question asks for those that are alive, of which no relation around tells:
    who has no statement of a death may be dead.
    """
    if _LIVING.search(judge.question) is None:
        return False
    return all(_OF_LIFE.isdisjoint(words(text)) for text in judge.texts.values())


def states_a_death(judge: CandidateJudge, candidate: JudgedCandidate, /) -> bool:
    """Returns whether the walks of a candidate are statements of a death of their start."""
    walks = candidate.walks
    if len(walks.relations) > 1 or walks.backward[0]:
        return False
    return not _OF_DEATH.isdisjoint(words(judge.texts[walks.relations[0]]))
