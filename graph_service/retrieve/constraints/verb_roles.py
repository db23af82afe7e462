"""Which way about a relation is walked, where its name and a question say the same verb.

*What does X depend on?* asks for what X depends on, and not for what depends on X. *Who manages X?*
asks for the manager of X, and *who does X manage?* for those whose manager X is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from graph_service.retrieve.constraints.coverage import means, sides_of
from graph_service.retrieve.constraints.owned_nouns import owned_phrases
from graph_service.retrieve.constraints.reciprocal import is_reciprocal
from graph_service.retrieve.constraints.verb_labels import DOERS, DOES, is_doer, is_past, verb_root
from graph_service.retrieve.kinds import KINDS
from graph_service.text.fold import words
from graph_service.text.function_words import ARTICLES
from graph_service.text.nouns import singular
from graph_service.text.participles import infinitive, is_third_person

_PREPOSITIONS = frozenset({"at", "for", "from", "in", "into", "on", "to", "under"})
"""What a verb's object follows; not *with*, since who works with X works beside X."""
_FORMS_OF_BE = frozenset({"are", "be", "been", "being", "is", "was", "were"})
_WHOSE = re.compile(
    r"\b(?:whose|(?:which|what)\s+\w[\w\s-]*?(?:['\u2019]s|s['\u2019]))"
    r"\s+(\w[\w\s-]*?)\s+(?:is|are|was|were)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
"""Before a name that is something to whom a question asks for: *whose manager is*."""
_HAS = re.compile(r"\b(?:has|have|had)\s+$", re.IGNORECASE)
_AS = re.compile(r"\s+(?:as|for)\s+(?:an?|the|his|her|its|their)?\s*(\w[\w\s-]*?)\W*$")
"""Around a name that is something to who has it: *has X as a manager*."""
_ADVERBS = 2
"""Words after a name among which its verb stands: *does X still depend on*."""


class Role(Enum):
    """What a name is to a verb of the question."""

    SUBJECT = "subject"
    """It does it: *does X own*, *that X owns*, *owned by X*."""
    OBJECT = "object"
    """It is done to it, or stands after the verb's preposition: *owns X*, *works for X*."""
    PASSIVE_SUBJECT = "passive subject"
    """It is done to it, and stands before the verb: *was X written*."""


@dataclass(frozen=True, slots=True)
class _LabelVerb:
    """The verb of a relation's name.

    Attributes:
        root: Its stem.
        preposition: What its object follows; empty where the object follows the verb.
        is_done_by_value: Whether the value does it (*owned by*, *owner*), and not the subject.
        is_past_alone: Whether it is a past tense, or a participle that nothing says is passive:
            *acquired*, of who acquired something, and of the day when it was.
    """

    root: str
    preposition: str = ""
    is_done_by_value: bool = False
    is_past_alone: bool = False


def walks_against_verb(
    question: str, name: tuple[int, int], label: str, /, *, is_backward: bool
) -> bool:
    """Returns whether a step from a name leads the other way than the question says its verb.

    >>> walks_against_verb("What does X depend on?", (10, 11), "depends on", is_backward=True)
    True
    >>> walks_against_verb("What depends on X?", (16, 17), "depends on", is_backward=True)
    False
    >>> walks_against_verb("Who acquired X?", (13, 14), "acquired", is_backward=False)
    True
    >>> walks_against_verb("Whose manager is X?", (17, 18), "manager", is_backward=False)
    True
    >>> walks_against_verb("Who are X's students?", (8, 9), "student of", is_backward=False)
    True
    >>> walks_against_verb("Who is X's teacher?", (7, 8), "student of", is_backward=True)
    True
    """
    if is_reciprocal(label):
        return False
    noun = _owned_noun(question, name, label)
    if noun:
        values, subjects = (means(noun, side) for side in sides_of(label))
        if values is not subjects:
            return values is is_backward
    owned = _noun_of_whose(question, name)
    if owned:
        values, subjects = (means(owned, side) for side in sides_of(label))
        return values is not subjects and values is not is_backward
    verb = _verb_of(label)
    if verb is None:
        return False
    role = role_of(question, name, verb.root, verb.preposition)
    if role is None or (verb.is_past_alone and role is Role.PASSIVE_SUBJECT):
        return False
    is_at_value = role is (Role.SUBJECT if verb.is_done_by_value else Role.OBJECT)
    return is_at_value is not is_backward


def _owned_noun(question: str, name: tuple[int, int], label: str) -> str:
    """Returns the noun that a name owns, where a relation is called by what its subjects are: *the
    students of X*, or *X's teacher*, and the relation *student of*; nothing elsewhere.
    """
    *noun, preposition = [word for word in words(label) if word not in _FORMS_OF_BE] or [""]
    if preposition != "of" or len(noun) != 1 or noun[0] in KINDS:
        return ""
    owned = owned_phrases(question, name)[:1]
    return next((word for phrase in owned for word, _, _ in phrase[-1:]), "")


def _noun_of_whose(question: str, name: tuple[int, int]) -> str:
    """Returns the noun that says what a name is to whom a question asks for, *manager* of *whose
    manager is X* and of *who has X as a manager*; nothing where it says none.
    """
    start, end = name
    if not 0 <= start < end:
        return ""
    stated = _AS.match(question, end) if _HAS.search(question[:start]) else None
    if stated is None and not words(question[end:]):
        stated = _WHOSE.search(question[:start])
    return "" if stated is None else words(stated[1])[-1]


def role_of(question: str, name: tuple[int, int], verb: str, preposition: str, /) -> Role | None:
    """Returns what a name is to a verb, where the words beside it say so.

    Args:
        question: As asked.
        name: Its characters in the question.
        verb: The stem of the verb.
        preposition: What the object follows; empty where it follows the verb.

    >>> role_of("Who was X taught by?", (8, 9), "teach", "").value
    'passive subject'
    >>> role_of("the books that X published", (15, 16), "publish", "").value
    'subject'
    """
    start, end = name
    if not 0 <= start < end or question[end : end + 1] in {"'", "\u2019"}:
        return None
    before, after = words(question[:start]), words(question[end:])
    while before and before[-1] in ARTICLES:
        before.pop()
    roots = list(map(_root, after[: _ADVERBS + 1]))
    if DOES.search(question[:start]):
        return Role.SUBJECT if _follows(roots, verb, preposition) else None
    if roots[:1] == [verb] and (is_past(after[0]) or is_third_person(after[0])):
        is_passive = after[1:2] == ["by"] or before[-1:] and before[-1] in _FORMS_OF_BE
        return Role.PASSIVE_SUBJECT if is_passive and is_past(after[0]) else Role.SUBJECT
    return _role_after(before, verb, preposition)


def _follows(after: list[str], verb: str, preposition: str) -> bool:
    """Returns whether a verb is among the first words after a name, and not with a preposition that
    gives it another meaning: *what does X star in* of what X stars.
    """
    if verb not in after[:_ADVERBS]:
        return False
    following = after[after.index(verb) + 1 :][:1]
    return not following or following[0] not in _PREPOSITIONS - {preposition}


def _role_after(before: list[str], verb: str, preposition: str) -> Role | None:
    """Returns what a name is to a verb that stands before it."""
    by_whom = before[-1:] == ["by"]
    verb_words = before[:-1] if by_whom or preposition and before[-1:] == [preposition] else before
    if not verb_words or _root(verb_words[-1]) != verb:
        return None
    if by_whom:
        return Role.SUBJECT if is_past(verb_words[-1]) else None
    return Role.OBJECT if len(verb_words) < len(before) or not preposition else None


def _verb_of(label: str) -> _LabelVerb | None:
    label_words = [word for word in words(label) if word not in _FORMS_OF_BE]
    if not label_words:
        return None
    verb, last = label_words[0], label_words[-1]
    if last == "by" and len(label_words) > 1 and is_past(label_words[-2]):
        return _LabelVerb(_root(label_words[-2]), is_done_by_value=True)
    if len(label_words) == 2 and last in _PREPOSITIONS and (is_past(verb) or is_third_person(verb)):
        return _LabelVerb(_root(verb), last)
    if is_doer(last):
        return _LabelVerb(_root(last), is_done_by_value=True)
    # Sponsors may be those who sponsor.
    is_active = len(label_words) == 1 and is_third_person(verb) and not is_doer(singular(verb))
    if len(label_words) == 1 and is_past(verb):
        return _LabelVerb(_root(verb), is_past_alone=True)
    return _LabelVerb(_root(verb)) if is_active else None


def _root(verb: str) -> str:
    # A mentor mentors: the ending is a part of the verb.
    own = singular(verb)
    return own if own in DOERS and own.endswith("or") else verb_root(infinitive(verb))
