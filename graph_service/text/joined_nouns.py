"""Questions that ask the same of several: two relations of one thing, or one of several things.

*Who are the father and mother of Ann?* asks for each, as *Where were Ann, Bob and Cy born?* and *Did
Ann or Bob direct Rain?* do. Rules of English alone; which words are names comes from outside.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graph_service.text.fold import lowered, word_spans
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.question_form import BE, DO, HAVE, read_form

Span = tuple[int, int]
MOST_NAMES = 5
"""Names of which a question asks the same, at most."""
_NOUNS = r"\w+(?:[ -]\w+){0,2}?"
_OF_THING = re.compile(
    rf"\s*(?:who|what|which)\s+(?:is|are|was|were)\s+the\s+(?P<one>{_NOUNS})\s+and\s+(?:the\s+)?"
    rf"(?P<other>{_NOUNS})\s+of\s"
)
_OF_OWNER = re.compile(
    rf"\s*(?:who|what|which)\s+(?:is|are|was|were)\s[^,;]*?(?:['\u2019]s|s['\u2019])\s+"
    rf"(?P<one>{_NOUNS})\s+and\s+(?:(?:his|her|its|their)\s+)?(?P<other>{_NOUNS})\W*$"
)
_AND = re.compile(r"\s*(?:,|,?\s+and)\s+(?:the\s+)?")
_OR = re.compile(r"\s*(?:,|,?\s+or)\s+(?:the\s+)?")
_OF_EACH = re.compile(
    r"\s*(?:(?:where|when|how\s+(?:old|tall|long|high|heavy|big|large))\s+"
    rf"(?:{'|'.join(sorted(BE | DO))})"
    # Of what several do now each does some; a film that they made may be of both.
    r"|(?:what|which)\s+(?:\w+s\s+)?do)\s+(?:the\s+)?"
)
_OF_EITHER = re.compile(rf"\s*(?:{'|'.join(sorted(BE | DO | HAVE))})\s+(?:the\s+)?")
_TOGETHER = re.compile(
    r"\b(?:met|meet|marr(?:y|ied)|wed|divorced?|engaged|separated?|split|together|merged?|joined"
    r"|related|each other|apart|common|between|share[ds]?|fight|fought|same|both)\b"
)
_DEGREE = re.compile(r"\b(?:\w+er|more|less|first|last|\w+est|most|least)\b")


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The parts of a question of which each is asked for: their characters, and those of the list."""

    parts: tuple[Span, ...]
    span: Span


def joined_nouns(question: str, /) -> Alternatives | None:
    """Returns the two nouns of one thing that a question asks for; None where it asks otherwise.

    >>> joined_nouns("Who are the father and the mother of Ann?").parts
    ((12, 18), (27, 33))
    >>> joined_nouns("Who are Ann's father and mother?").parts
    ((14, 20), (25, 31))
    >>> joined_nouns("What is the difference between a hare and a rabbit?")
    """
    folded = lowered(question)
    if read_form(question).asks_for_account:
        return None
    match = _OF_THING.match(folded) or _OF_OWNER.match(folded)
    if match is None:
        return None
    words = [word for name in ("one", "other") for word, _, _ in word_spans(match[name])]
    if any(word in EMPTY_IN_ENGLISH for word in words) or match["one"] == match["other"]:
        return None
    spans = (match.span("one"), match.span("other"))
    return Alternatives(spans, (spans[0][0], spans[1][1]))


def may_join_names(question: str, /) -> bool:
    """Returns whether a question may ask the same of several names, by its other words.

    >>> may_join_names("Where were Ann and Bob born?"), may_join_names("Who made Ann and Bob?")
    (True, False)
    >>> may_join_names("What languages do Ann and Bob speak?")
    True
    """
    folded = lowered(question)
    if _OF_EACH.match(folded):
        return " and " in folded
    return bool(_OF_EITHER.match(folded)) and " or " in folded


def joined_names(question: str, names: Sequence[Span], /) -> Alternatives | None:
    """Returns the names of which a question asks the same; None where it asks otherwise, as of what
    they did together or which comes first.

    Args:
        question: As written.
        names: Characters of all names in it.

    >>> joined_names("Where were Ann and Bob born?", [(11, 14), (19, 22)]).parts
    ((11, 14), (19, 22))
    >>> joined_names("Is Ann or Bob a pilot?", [(3, 6), (10, 13)]).span
    (3, 13)
    """
    if not may_join_names(question):
        return None
    folded = lowered(question)
    is_each = _OF_EACH.match(folded)
    lead, joint = (is_each, _AND) if is_each else (_OF_EITHER.match(folded), _OR)
    assert lead is not None
    run: list[Span] = []
    for start, end in sorted(set(names)):
        at = run[-1][1] if run else lead.end()
        between = folded[at:start]
        if run and not joint.fullmatch(between):
            break
        if run or not between:
            run.append((start, end))
    if not 1 < len(run) <= MOST_NAMES:
        return None
    following = _without(folded, names)[run[-1][1] :]
    is_of_both = _TOGETHER.search(following) or (not is_each and _DEGREE.search(following))
    if is_of_both or not word_spans(folded[run[-1][1] :]):
        return None
    if not re.search(r"\b(?:and|or)\b", folded[run[-2][1] : run[-1][0]]):
        return None
    return Alternatives(tuple(run), (run[0][0], run[-1][1]))


def _without(text: str, names: Sequence[Span]) -> str:
    """Returns a text with blanks for its names."""
    for start, end in names:
        text = text[:start] + " " * (end - start) + text[end:]
    return text
