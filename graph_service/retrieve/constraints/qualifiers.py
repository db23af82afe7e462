"""Words of a question that narrow what it asks for, and that nothing accounts for.

A word that a candidate leaves unread often says nothing more: *which prizes did X win*. These do say
more, whatever the graph is about: *alone*, *co-wrote*, *in German*, *after 700*, *rusty ships*.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from graph_service.query.enumeration import overlap
from graph_service.retrieve.constraints.judging import CandidateJudge, JudgedCandidate
from graph_service.retrieve.constraints.meeting import CandidateWalks
from graph_service.retrieve.constraints.reading import AnswerForm
from graph_service.retrieve.constraints.unread import unread_spans, unsaid_spans
from graph_service.retrieve.constraints.verb_labels import says, verb_root
from graph_service.retrieve.degree_words import DEGREE_WORDS
from graph_service.text.fold import word_spans, words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.question_form import BE, DO, HAVE, MODALS, RELATIVE_PRONOUNS

_PREPOSITIONS = frozenset(
    ["about", "after", "against", "at", "before", "between", "by", "despite", "during", "from", "in",
     "into", "near", "of", "on", "over", "since", "through", "under", "until", "with",
     "without"]
)  # fmt: skip
_SHOULD = re.compile(
    r"^\W*(?:who(?:m|se)?|which|was|were|is|are|do|does|did)\b.*?"
    r"\b(?:could|might|ought|shall|should)\b(?!\s+(?:i|we|you|one|people|they)\b)",
    re.IGNORECASE,
)
"""What people should do is what they do: *what currency should I take*."""
_SURELY_RELATIVE = frozenset({"that", "whose"})
_JOINTS = frozenset({"and", "or"})
_BEFORE = re.compile(r"\b(before|after|since|until)\s+(?:the\s+)?(?!wh\w+\b)(\w+)", re.IGNORECASE)
_ARTICLES = frozenset({"a", "an", "the", "his", "her", "its", "their"})
_AUXILIARIES = BE | DO | HAVE | MODALS
_SUPPOSED = frozenset({("said", "to"), ("supposed", "to"), ("used", "to")})
_NARROWING = frozenset(
    ["again", "ago", "almost", "alone", "east", "eastern", "ex", "first", "former", "formerly",
     "fourth", "last", "late", "nearly", "next", "nobody", "north", "northern", "once", "past",
     "previous", "re", "second", "seldom", "south", "southern", "together", "third", "tomorrow",
     "twice", "west", "western", "yesterday"]
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
    if leaves_a_clause(judge, best):
        return True
    passed_over = _JOINTLY if goes_there_and_back(best.walks) else frozenset[str]()
    # What these words are like says nothing: the former form of government.
    if any(word in _NARROWING - passed_over for word, _, _ in unsaid_spans(judge, best)):
        return True
    if any(pair in _SUPPOSED for pair in pairwise(words(judge.question))):
        return True
    unread = [word for word in unread_spans(judge, best) if word[0] not in passed_over]
    if any(_narrows(judge.question, *word) for word in unread):
        return True
    nouns = [noun for noun in judge.form.nouns if noun not in EMPTY_IN_ENGLISH][:1]
    says_noun = judge.form.word == "which" or judge.expected.form is AnswerForm.COUNT
    if says_noun and any(word in nouns for word, _, _ in unread):
        return True
    if _leaves_its_main_verb(judge, best, unread):
        return True
    spans = word_spans(judge.question)
    at = {start: index for index, (_, start, _) in enumerate(spans)}
    unread_at = {at[start] for _, start, _ in unread if start in at}
    return any(_is_of_noun(judge, spans, index, unread_at) for index in unread_at)


def asks_what_should_be(judge: CandidateJudge, _: JudgedCandidate, /) -> bool:
    """Returns whether a question asks for what should or might be, of which no statement tells:
    *who should lead X*.
    """
    match = _SHOULD.match(judge.question)
    return match is not None and not any(left < match.end() <= right for left, right in judge.names)


def leaves_a_clause(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether a word is unread of a clause that says which things are meant, or of a phrase
    that a question ends with: *that play the banjo*, *with red hair*, *during the war*.
    """
    spans = word_spans(judge.question)
    unread = {start for _, start, _ in unread_spans(judge, best)}
    # *Through which countries* may open a question too.
    relative = RELATIVE_PRONOUNS if judge.form.word else _SURELY_RELATIVE
    clauses = [start for word, start, _ in spans[1:] if word in relative]
    if any(start >= judge.form.span[1] and max(unread, default=0) > start for start in clauses):
        return True
    if not judge.noun_by_marriage:
        # A mother-in-law is no mother in a law.
        unread |= {start for _, start, _ in unread_spans(judge, best, with_kinds=True)}
    is_unread = [start in unread for _, start, _ in spans]
    return _is_placed_at_the_end([word for word, _, _ in spans], is_unread)


def _is_placed_at_the_end(question: list[str], is_unread: list[bool]) -> bool:
    """Returns whether a preposition and words after it that are not read end a question."""
    index = len(question) - 1
    while index > 0 and is_unread[index]:
        index -= 1
    if index == len(question) - 1:
        return False
    while index > 0 and question[index] in _ARTICLES:
        index -= 1
    return question[index] in _PREPOSITIONS


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


def _leaves_its_main_verb(
    judge: CandidateJudge, best: JudgedCandidate, unread: Sequence[tuple[str, int, int]]
) -> bool:
    """Returns whether the main verb of *who tried to buy X*, or of *which child of X likes cats*, is
    unread.
    """
    form, (_, name_end) = judge.form, judge.span(best.walks)
    is_of_name = form.nouns[1:2] == ("of",) and name_end > 0
    if form.word != "who" and not is_of_name:
        return False
    after = name_end if is_of_name else form.span[1]
    following = [word for word in judge.own_words if word[1] >= after][:1]
    is_verb = not is_of_name or _AUXILIARIES.isdisjoint(words(judge.question))
    return is_verb and not set(following).isdisjoint(unread)


def _narrows(question: str, word: str, start: int, end: int) -> bool:
    """Returns whether a word narrows what a question asks for by itself."""
    is_adverb = word.endswith("ly") and len(word) > len("early") and word not in _NO_ADVERBS
    is_joined = "-" in (question[start - 1 : start], question[end : end + 1])
    return word.isdigit() or is_adverb or is_joined or word in DEGREE_WORDS


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
