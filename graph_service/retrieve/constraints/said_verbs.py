"""The verbs of a question beside relations whose names are made of verbs: owner, published by.

Whoever wants the publisher asks who *published* X. Of *who illustrated X* the publisher is no
answer, however like the words are: words for opposites are like one another too.
"""

from __future__ import annotations

from graph_service.query.enumeration import overlap
from graph_service.retrieve.constraints.coverage import is_kin, root, sides_of
from graph_service.retrieve.constraints.judging import CandidateJudge, JudgedCandidate
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.constraints.said_steps import DOES
from graph_service.retrieve.constraints.unread import joining_relations, used_spans
from graph_service.retrieve.kinds import KINDS
from graph_service.text.fold import words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.nouns import singular
from graph_service.text.participles import base_form, is_participle
from graph_service.text.question_form import ASKING_WORDS

_NO_DOERS = frozenset(
    [
        "border",
        "brother",
        "chapter",
        "character",
        "center",
        "color",
        "colour",
        "corner",
        "cover",
        "customer",
        "daughter",
        "doctor",
        "door",
        "error",
        "factor",
        "father",
        "finger",
        "floor",
        "flower",
        "letter",
        "master",
        "matter",
        "mayor",
        "member",
        "minister",
        "mirror",
        "mother",
        "motor",
        "number",
        "officer",
        "order",
        "paper",
        "partner",
        "power",
        "professor",
        "quarter",
        "river",
        "sector",
        "semester",
        "sister",
        "soldier",
        "summer",
        "tower",
        "water",
        "weather",
        "winter",
    ]
)
"""Nouns that end as those for who does something, and are made of no verb."""
_LIKE_A_WORD = 5
"""Letters in common from which on two words are forms of one: discovered, discovery."""


def names_another_verb(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether a verb of the question says no relation of a candidate, and one of these has
    a name made of another verb, which the question doesn't say: *who illustrated X* of a publisher.
    """
    verbs = _said_verbs(judge, best)
    if not verbs:
        return False
    relations = (*best.walks.relations, *sorted(joining_relations(judge, best)))
    labels = list(dict.fromkeys(judge.texts[relation] for relation in relations))
    roots = frozenset(_verb_root(word) for word, _, _ in judge.own_words)
    of_other_verb = [
        bool(_verbs_of(label)) and not any(_says(root, label) for root in roots) for label in labels
    ]
    if not any(of_other_verb):
        return False
    left = [verb for verb in verbs if not any(_says(_verb_root(verb), label) for label in labels)]
    if not left:
        return False
    least = [
        CONSTRAINT_RULES.same_verb if is_other else CONSTRAINT_RULES.spoken
        for is_other in of_other_verb
    ]
    return bool((judge.cosines(left, labels) < least).all(axis=1).any())


def leaves_its_verb(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether a verb of the question is the name of a relation around, and none that a
    candidate walks is said so: *who chairs X*, *when did X die*.
    """
    relations = (*best.walks.relations, *sorted(joining_relations(judge, best)))
    labels = [judge.texts[relation] for relation in relations]
    left = [
        verb
        for word in _said_verbs(judge, best)
        if not any(_says(verb := _verb_root(word), label) for label in labels)
    ]
    names = {frozenset(map(_verb_root, _content(label))) for label in judge.texts.values()}
    return any(frozenset({verb}) in names for verb in left)


def _said_verbs(judge: CandidateJudge, best: JudgedCandidate) -> list[str]:
    """Returns the verbs that a question says beside names, dates and words that only ask."""
    start_end = judge.span(best.walks)
    used = used_spans(judge, best)
    own = [
        (word, start, end)
        for word, start, end in judge.own_words
        if not any(overlap((start, end), span) for span in used)
    ]
    verbs = [word for word, _, _ in own if is_participle(word) or base_form(word) != word]
    if judge.form.asks_who_acts:
        verbs.append(judge.form.following)
    if start_end[0] >= 0 and DOES.search(judge.question[: start_end[0]]):
        verbs += [word for word, start, _ in own if start >= start_end[1]][:1]
    return [verb for verb in dict.fromkeys(verbs) if _is_content(verb)]


def _is_content(word: str) -> bool:
    return (
        len(word) > 1
        and word not in EMPTY_IN_ENGLISH
        and word not in ASKING_WORDS
        and not is_kin(word)
        and singular(word) not in KINDS
    )


def _content(label: str) -> list[str]:
    return [word for word in words(label) if word not in EMPTY_IN_ENGLISH and len(word) > 1]


def _verb_root(word: str) -> str:
    return root(base_form(word))


def _verbs_of(label: str) -> list[str]:
    """Returns the words of a label that are made of verbs: participles, and who does something."""
    content = _content(label)
    last = singular(content[-1]) if content else ""
    is_doer = last.endswith(("er", "or")) and len(last) > 4 and last not in _NO_DOERS
    return [word for word in content if is_participle(word)] + [last] * is_doer


def _says(verb: str, label: str) -> bool:
    """Returns whether a root is one of the words that say a relation, or a form of one."""
    own = frozenset(map(_verb_root, _content(label)))
    said = own.union(*(side.words for side in sides_of(label)))
    return verb in said or any(
        verb[:_LIKE_A_WORD] == each[:_LIKE_A_WORD] and len(verb) >= _LIKE_A_WORD for each in own
    )
