"""The nouns that a name owns in a question, beside the relations of a candidate: *the boss of X*.

Such a noun names a relation. A graph that lacks the relation has others that are like it: a boss is
like an employer, and a roommate like a spouse.
"""

from __future__ import annotations

from collections.abc import Container
from functools import cache

from graph_service.query.enumeration import overlap
from graph_service.retrieve.constraints.coverage import is_kin, root, sides_of, stems_of
from graph_service.retrieve.constraints.judging import CandidateJudge, JudgedCandidate
from graph_service.retrieve.constraints.meant_words import is_meant
from graph_service.retrieve.constraints.owned_nouns import owned_phrases
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.constraints.unread import (
    joining_relations,
    unread_spans,
    unsaid_spans,
    used_spans,
)
from graph_service.retrieve.constraints.verb_labels import DOES
from graph_service.retrieve.kinds import KINDS
from graph_service.retrieve.learned.relation_prior import common_labels
from graph_service.text.fold import words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.nouns import singular
from graph_service.text.question_form import ASKING_WORDS

_LEAST_LIKE = 0.5
"""Cosine of the noun by which *who* asks for somebody's with a relation walked, at least."""


@cache
def _common_stems() -> tuple[tuple[str, frozenset[str]], ...]:
    """Returns the names of common relations with the stems of their words."""
    return tuple((label, stems_of(words(label))) for label in common_labels())


def names_another_relation(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether a question asks for another relation of the start than those walked.

    What stands as *the boss of X* or *X's boss* names a relation. It is one that is walked if its
    words are those of the label or of its wordings, or if no common relation's label is more like
    it: a boss is more like an *employer* than an *occupation*. Kin is named by nouns of kin alone: a
    roommate is no spouse.
    """
    labels = [judge.texts[relation] for relation in best.walks.relations]
    stems = [stems_of(words(label)) for label in labels]
    others = [
        label for label, of_label in _common_stems() if not any(of_label <= own for own in stems)
    ]
    for phrase in _unaccounted_phrases(judge, best):
        cosines = judge.cosines([phrase], [*labels, *others])[0]
        own, other = cosines[: len(labels)], cosines[len(labels) :].max()
        if own.max() + CONSTRAINT_RULES.as_like < other or _is_of_kin(labels[int(own.argmax())]):
            return True
    return False


def names_another_person(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether a question asks *who* is somebody's, by a noun that is not much like the
    relations walked: *who is X's idol*.
    """
    phrases = _unaccounted_phrases(judge, best) if judge.form.asks_for_person else []
    if not phrases:
        return False
    labels = [judge.texts[relation] for relation in best.walks.relations]
    fits = judge.cosines(phrases, labels).max(axis=1)
    return bool((fits < _LEAST_LIKE).any())


def leaves_an_owner(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether nothing accounts for a noun that the name owns, and other words of the question
    for the relations walked: the mayor of the rival of X, or where X's dentist lives.
    """
    start, end = judge.span(best.walks)
    phrases = owned_phrases(judge.question, (start, end))
    # Who is like a relation may own what it says still: the rival of who trained X.
    unsaid = {word[1] for word in unsaid_spans(judge, best)}
    unread = {word[1] for word in unread_spans(judge, best)}
    read = [
        word
        for word in judge.own_words
        if word[0] not in EMPTY_IN_ENGLISH
        and word[0] not in ASKING_WORDS
        and word[1] not in unread
        and not overlap(word[1:], (start, end))
    ]
    does = DOES.search(judge.question[:start]) is not None
    for phrase in phrases:
        # *Where does X's dentist live*: the verb is owned by nobody.
        nouns = phrase[:-1] if does and phrase[-1][1] > end and len(phrase) > 1 else phrase
        is_left = all(word[1] in unsaid and not is_kin(word[0]) for word in nouns)
        if is_left and any(word not in nouns for word in read):
            return True
    return False


def _unaccounted_phrases(judge: CandidateJudge, best: JudgedCandidate) -> list[str]:
    """Returns the phrases that the name owns which no words of the relations walked account for; of
    one relation they are one.
    """
    labels = [judge.texts[relation] for relation in best.walks.relations]
    joining = [judge.texts[each] for each in joining_relations(judge, best)]
    roots = frozenset[str]().union(
        *(side.words for label in (*labels, *joining) for side in sides_of(label)),
        {"law"} if judge.noun_by_marriage else (),
    )
    used = used_spans(judge, best)
    phrases = [
        phrase
        for phrase in owned_phrases(judge.question, judge.span(best.walks))
        if not any(overlap(word[1:], span) for word in phrase for span in used)
    ]
    if len(labels) == 1 and phrases:
        phrases = [[word for phrase in reversed(phrases) for word in phrase]]
    return [
        " ".join(word for word, _, _ in phrase)
        for phrase in phrases
        if not all(
            _is_accounted(word, roots) or any(is_meant(root(word), label) for label in labels)
            for word, _, _ in phrase
        )
    ]


def _is_of_kin(label: str) -> bool:
    """Returns whether a relation's label says kin and nothing else: *sibling*, *has father*."""
    content = [word for word in words(label) if word not in EMPTY_IN_ENGLISH]
    return bool(content) and all(map(is_kin, content))


def _is_accounted(word: str, roots: Container[str]) -> bool:
    return (
        root(word) in roots
        or is_kin(word)
        or singular(word) in KINDS
        or word in {"number", "count", "total"}
    )
