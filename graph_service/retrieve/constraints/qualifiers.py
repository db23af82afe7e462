"""Words of a question that narrow what it asks for, and that nothing accounts for.

A word that a candidate leaves unread often says nothing more: *which prizes did X win*. These do say
more, whatever the graph is about: *alone*, *co-wrote*, *in German*, *after 700*, *rusty ships*.
"""

from __future__ import annotations

import re
from itertools import pairwise

from graph_service.query.enumeration import overlap
from graph_service.retrieve.constraints.judging import CandidateJudge, JudgedCandidate
from graph_service.retrieve.constraints.meeting import CandidateWalks
from graph_service.retrieve.constraints.reading import AnswerForm
from graph_service.retrieve.constraints.unread import unread_spans
from graph_service.retrieve.constraints.verb_labels import says, verb_root
from graph_service.retrieve.degree_words import DEGREE_WORDS
from graph_service.text.fold import word_spans, words
from graph_service.text.function_words import EMPTY_IN_ENGLISH

_PREPOSITIONS = frozenset({"at", "during", "in", "near", "on", "under", "with", "without"})
_JOINTS = frozenset({"and", "or"})
_BEFORE = re.compile(r"\b(before|after|since|until)\s+(?:the\s+)?(?!wh\w+\b)(\w+)", re.IGNORECASE)
_ARTICLES = frozenset({"a", "an", "the", "his", "her", "its", "their"})
_NARROWING = frozenset(
    ["again", "alone", "east", "eastern", "ex", "first", "former", "fourth", "last", "late", "next",
     "north", "northern", "once", "past", "previous", "second", "south", "southern", "together",
     "third", "twice", "west", "western"]
)  # fmt: skip
_JOINTLY = frozenset({"co", "together"})
"""Words that the walk to others of the same thing says: who wrote films together with X wrote what X
wrote.
"""
_NO_ADVERBS = frozenset(
    ["actually", "assembly", "currently", "exactly", "family", "officially", "really"]
)
"""Words in -ly that narrow nothing."""


def leaves_a_qualifier(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether a candidate leaves a word unread that narrows what the question asks for.

    The noun of *how many* does, and that of *which*: it says what is asked for.
    """
    if leaves_one_of_two(judge, best) or _leaves_an_order(judge, best):
        return True
    unread = unread_spans(judge, best)
    if not unread:
        return False
    nouns = [noun for noun in judge.form.nouns if noun not in EMPTY_IN_ENGLISH][:1]
    says_noun = judge.form.word == "which" or judge.expected.form is AnswerForm.COUNT
    if says_noun and any(word in nouns for word, _, _ in unread):
        return True
    spans = word_spans(judge.question)
    at = {start: index for index, (_, start, _) in enumerate(spans)}
    unread_at = {at[start] for _, start, _ in unread if start in at}
    if goes_there_and_back(best.walks):
        unread_at = {index for index in unread_at if spans[index][0] not in _JOINTLY}
    return any(_narrows(judge, spans, index, unread_at) for index in unread_at)


def goes_there_and_back(walks: CandidateWalks, /) -> bool:
    """Returns whether a candidate walks a relation and then the same the other way about."""
    steps = zip(walks.relations, walks.backward, strict=True)
    return any(
        first == second and is_backward != was_backward
        for (first, was_backward), (second, is_backward) in pairwise(steps)
    )


def leaves_one_of_two(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether of two words joined by *and* or *or* one says no relation of a candidate, as in
    *who wrote and directed X*, however like it is.
    """
    labels = [judge.texts[relation] for relation in best.walks.relations]
    own = {start: word for word, start, _ in judge.own_words}
    spans = word_spans(judge.question)
    for (left, left_start, _), (joint, _, _), (right, right_start, _) in zip(
        spans, spans[1:], spans[2:], strict=False
    ):
        if joint not in _JOINTS or not {left_start, right_start} <= own.keys():
            continue
        are_named = [
            any(says(verb_root(word), label) for label in labels) for word in (left, right)
        ]
        if are_named in ([True, False], [False, True]):
            return True
    return False


def _leaves_an_order(judge: CandidateJudge, best: JudgedCandidate) -> bool:
    """Returns whether a question asks for what came before or after something else than a date or
    the name where a candidate starts: *which currency did X have before the euro*.
    """
    labels = {word for each in best.walks.relations for word in words(judge.texts[each])}
    read = [judge.span(best.walks), *((each.start, each.end) for each in judge.expected.dates)]
    return any(
        match[1].lower() not in labels and not any(overlap(match.span(2), span) for span in read)
        for match in _BEFORE.finditer(judge.question)
    )


def _narrows(
    judge: CandidateJudge, spans: list[tuple[str, int, int]], index: int, unread_at: set[int]
) -> bool:
    word, start, end = spans[index]
    if word.isdigit() or word in _NARROWING or word in DEGREE_WORDS:
        return True
    if word.endswith("ly") and len(word) > len("early") and word not in _NO_ADVERBS:
        return True
    if "-" in (judge.question[start - 1 : start], judge.question[end : end + 1]):
        return True
    return _is_placed(spans, index) or _is_of_noun(judge, spans, index, unread_at)


def _is_placed(spans: list[tuple[str, int, int]], index: int) -> bool:
    """Returns whether a word ends the question with a preposition before it: *in German*."""
    before = [word for word, _, _ in spans[:index]]
    while before and before[-1] in _ARTICLES:
        before.pop()
    return index == len(spans) - 1 and bool(before) and before[-1] in _PREPOSITIONS


def _is_of_noun(
    judge: CandidateJudge, spans: list[tuple[str, int, int]], index: int, unread_at: set[int]
) -> bool:
    """Returns whether a word stands between *which* and a noun that is read: *which rusty ships*."""
    if judge.form.nouns[:1] != (spans[index][0],) or len(judge.form.nouns) < 2:
        return False
    noun = judge.form.nouns[1]
    return (
        index + 1 < len(spans)
        and spans[index + 1][0] == noun
        and index + 1 not in unread_at
        and noun not in EMPTY_IN_ENGLISH
    )
