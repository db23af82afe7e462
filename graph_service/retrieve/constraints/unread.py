"""What of a question nothing accounts for: no answer is computed of a question that is misread."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from graph_service.link.question import name_words
from graph_service.model.graph import Int64
from graph_service.query.enumeration import overlap
from graph_service.retrieve.constraints.answer_kind import constraint_sides, has_sex
from graph_service.retrieve.constraints.coverage import (
    is_kin,
    means,
    root,
    side_of,
    sides_of,
)
from graph_service.retrieve.constraints.judging import CandidateJudge, JudgedCandidate
from graph_service.retrieve.constraints.meant_words import is_meant
from graph_service.retrieve.constraints.meeting import CandidateWalks
from graph_service.retrieve.constraints.naming import NamedNodes
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.kinds import KINDS
from graph_service.text.fold import word_spans, words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.nouns import singular
from graph_service.text.question_form import ASKING_WORDS
from graph_service.text.relation_phrases import asking_words

_IN_COMMON = frozenset({"both", "common", "share", "shared", "shares"})
"""Words that say that what is asked for is so of two that are named."""
_NUMBER_OF_NAME = re.compile(r"\s+(?:part\s+|episode\s+)?(\d{1,3}|[IVX]+|[ivx]{2,})\b")
_JOINTS = " -\u2010\u2011"
"""Between the words of *half-brother*."""


def unread_words(judge: CandidateJudge, best: JudgedCandidate, /) -> tuple[str, ...]:
    """Returns the content words of the question that nothing accounts for.

    Accounted for are names, dates and words of degree that were used, words of the relations walked
    and of those by which a constraint is met, words like these, and kinds of things. A noun of kin
    must be what a step leads to.
    """
    return tuple(word for word, _, _ in unread_spans(judge, best))


def unread_spans(
    judge: CandidateJudge, best: JudgedCandidate, /, *, with_kinds: bool = False
) -> tuple[tuple[str, int, int], ...]:
    """Returns ``unread_words``, each with its characters.

    Args:
        judge: Of the question.
        best: The candidate.
        with_kinds: Whether kinds of things account for nothing, but right before what was used: the
            war of *during the war*, and not the river of *the river Orrin*.
    """
    left = unsaid_spans(judge, best, with_kinds=with_kinds)
    if not left:
        return ()
    joining = sorted(joining_relations(judge, best))
    near = [judge.texts[relation] for relation in (*best.walks.relations, *joining)]
    like = judge.cosines([word for word, _, _ in left], near).max(axis=1)
    capitals = {start for start, _ in name_words(judge.question)}
    return tuple(
        (word, start, end)
        for (word, start, end), is_like in zip(
            left, (like >= CONSTRAINT_RULES.spoken).tolist(), strict=True
        )
        if not is_like
        or judge.says_kin(word, end)
        or word.isdigit()
        # The name of a city is like what is said of cities.
        or (start in capitals and word not in asking_words())
    )


def leaves_number_of_name(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether a number right after a name is not read: *Star Trek VI* is none of *Star
    Trek*'s names.
    """
    names = {*judge.names, judge.span(best.walks)}
    matches = [_NUMBER_OF_NAME.match(judge.question[end:]) for _, end in sorted(names)]
    numbers = {match[1].lower() for match in matches if match is not None}
    return bool(numbers) and not numbers.isdisjoint(unread_words(judge, best))


def other_unread(
    judge: CandidateJudge, best: JudgedCandidate, name: tuple[int, int], /
) -> tuple[str, ...]:
    """Returns the content words that nothing accounts for, but for those of another name."""
    of_name = words(judge.question[slice(*name)])
    return tuple(word for word in unread_words(judge, best) if word not in of_name)


def reads_every_word(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether a candidate accounts for each content word of a question that constrains it,
    likeness apart: *which child of Ann is not a judge*.
    """
    return bool(best.met) and not unsaid_spans(judge, best)


def unsaid_spans(
    judge: CandidateJudge, best: JudgedCandidate, /, *, with_kinds: bool = False
) -> list[tuple[str, int, int]]:
    """Returns the content words that no name, date or degree that was used takes, nor a word of the
    relations walked or of those by which a constraint is met, with their characters; among them
    those of ``unread_spans`` that are like a relation.
    """
    expected, walks, joining = judge.expected, best.walks, joining_relations(judge, best)
    taken = used_spans(judge, best)
    sides = [side_of(walks, step, judge.texts) for step in range(len(walks.relations))]
    others = [side for relation in joining for side in sides_of(judge.texts[relation])]
    kin_sides = (*sides, *constraint_sides(judge, best))
    side_words = frozenset[str]().union(*(side.words for side in (*sides, *others)))
    labels = [judge.texts[relation] for relation in (*walks.relations, *sorted(joining))]
    left: list[tuple[str, int, int]] = []
    for word, start, end in word_spans(judge.question):
        if len(word) == 1 or word in EMPTY_IN_ENGLISH or word in ASKING_WORDS:
            continue
        if start == expected.negated_from or any(overlap((start, end), span) for span in taken):
            continue
        if word in _IN_COMMON and best.met:
            continue
        if judge.says_kin(word, end):
            if not (any(means(word, side) for side in kin_sides) and has_sex(judge, word, best)):
                left.append((word, start, end))
        elif not (
            root(word) in side_words
            or (singular(word) in KINDS and not (with_kinds and _stands_alone(judge, end, taken)))
            or any(is_meant(root(word), label) for label in labels)
        ):
            left.append((word, start, end))
    return left


def _stands_alone(judge: CandidateJudge, end: int, used: Sequence[tuple[int, int]]) -> bool:
    """Returns whether nothing that was used begins right after a character."""
    return not any(end <= start and not judge.question[end:start].strip() for start, _ in used)


def used_spans(judge: CandidateJudge, best: JudgedCandidate) -> list[tuple[int, int]]:
    """Returns the characters of names, dates, constraints and words of degree that were used."""
    expected, walks = judge.expected, best.walks
    used = [_with_title(judge, walks), *((each.start, each.end) for each, _ in best.met)]
    used += [(each.start, each.end) for each in judge.names_of_namesake(walks)]
    used += [(each.start, each.end) for each in expected.dates]
    if expected.superlative is not None:
        used.append((expected.superlative.start, expected.superlative.end))
    return used


def _with_title(judge: CandidateJudge, walks: CandidateWalks) -> tuple[int, int]:
    """Returns the characters of the name that a candidate starts at, with words right before it that
    the entity is called by too: *Dr. Falk* of Dr. Irene Falk.
    """
    start, end = judge.span(walks)
    called = words(judge.around.label(int(walks.nodes[0, 0])))
    for word, left, right in reversed(word_spans(judge.question[: max(start, 0)])):
        if word not in called or judge.question[right:start].strip(" ."):
            break
        start = left
    return start, end


def joining_relations(judge: CandidateJudge, best: JudgedCandidate) -> frozenset[int]:
    """Returns the relations by which what was named joins what a candidate passes."""
    start = best.walks.nodes[:1, 0]
    joined: list[tuple[Int64, Int64]] = [
        (start, each.nodes) for each in judge.names_of_namesake(best.walks)
    ]
    relations: set[int] = set()
    for constraint, how in best.met:
        relations |= how.relations or frozenset()
        if isinstance(constraint, NamedNodes):
            rows = how.walks | constraint.is_negated
            joined.append((np.unique(best.walks.nodes[rows, how.column]), constraint.nodes))
    for nodes, others in joined:
        relations |= set(judge.surroundings.rel[judge.around.joining(nodes, others)].tolist())
    return frozenset(relations)


def leaves_a_name(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether a question has a name that nothing accounts for, where its capitals tell names:
    *the song Vogue by Madonna* is not Madonna. Of two names to choose from the other is none.
    """
    capitals = {start for start, _ in name_words(judge.question)}
    others = judge.expected.alternatives
    own_start, own_end = judge.span(best.walks)
    unsaid = unsaid_spans(judge, best)
    unread = {start for _, start, _ in unread_spans(judge, best)}
    return any(
        start in capitals
        and not any(left <= start < right for left, right in others)
        # What a relation is like may be a part of the name still: New Norfeld.
        and (start in unread or end + 1 == own_start or start == own_end + 1)
        for _, start, end in unsaid
    )


def leaves_which_kin(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether nothing accounts for the word right before a noun of kin: a half-brother is not
    each brother, nor the second wife each wife.
    """
    left = unsaid_spans(judge, best)
    return any(
        is_kin(noun[0]) and word in left and not judge.question[word[2] : noun[1]].strip(_JOINTS)
        for word, noun in pairwise(judge.own_words)
    )
