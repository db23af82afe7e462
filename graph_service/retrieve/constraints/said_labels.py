"""Relations that a question says by their own names, in words that a candidate takes otherwise."""

from __future__ import annotations

from graph_service.retrieve.constraints.coverage import root, stems_of
from graph_service.retrieve.constraints.judging import CandidateJudge
from graph_service.retrieve.constraints.meeting import CandidateWalks
from graph_service.text.fold import word_spans, words
from graph_service.text.relation_phrases import asks_the_other_way

_BEFORE_NAMES = frozenset({"a", "an", "called", "named", "the", "titled", "to"})
"""Words that may stand between a noun and the name of such a thing."""


def walks_the_noun_of_its_name(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether a question asks *who*, and the last step is said by nothing but the noun that
    stands before the name of the start: of *who proposed the motion Free Parking* a motion.
    """
    if not judge.form.asks_for_person or len(walks.relations) == 1:
        return False
    before = word_spans(judge.question[: max(judge.span(walks)[0], 0)])
    while before and before[-1][0] in _BEFORE_NAMES:
        before.pop()
    if not before:
        return False
    noun = root(before[-1][0])
    again = sum(root(word) == noun for word, _, _ in judge.own_words)
    return again == 1 and stems_of(words(judge.texts[walks.relations[-1]])) == {noun}


def walks_against_its_wording(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether a question asks in known words for the first relation of a candidate, the other
    way about: *who did X teach* asks for no teacher.
    """
    return asks_the_other_way(
        judge.question,
        judge.span(walks),
        judge.texts[walks.relations[0]],
        is_backward=walks.backward[0],
    )
