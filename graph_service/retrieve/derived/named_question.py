"""A question with its sure names replaced by marks, for patterns that must read all of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from graph_service.link.spans import Certainty
from graph_service.link.starts import NameForm, StartCandidate
from graph_service.text.fold import lowered

MARKS = ("{x}", "{y}")
_OWNED = re.compile(r"['\u2019]s?(?=\s|$)")
_SPACES = re.compile(r"[\s,.!?;]+")
_OPENING = re.compile(r"^(?:and|so|please|ok|hey)\s+")


@dataclass(frozen=True, slots=True)
class NamedQuestion:
    """A question with marks for its sure names.

    Attributes:
        text: In lower case, ``{x}`` for the first name and ``{y}`` for another; one space between
            words, ``'s`` after an owner, and no other punctuation.
        names: What each mark stands for.
    """

    text: str
    names: tuple[StartCandidate, ...]

    @property
    def orders(self) -> tuple[NamedQuestion, ...]:
        """The question, and with two names also with their marks exchanged."""
        if len(self.names) == 1:
            return (self,)
        first, other = MARKS
        text = self.text.replace(first, "{}").replace(other, first).replace("{}", other)
        return self, NamedQuestion(text, self.names[::-1])


def named_question(question: str, candidates: Sequence[StartCandidate], /) -> NamedQuestion | None:
    """Returns a question with marks for its sure names; None where it has none or too many.

    Args:
        question: As asked.
        candidates: What it may name (``start_candidates``). A part of a label is a sure name if
            nothing else has it in its label: *Arnold* where there is no other.
    """
    sure = [each for each in candidates if _is_sure(each)]
    spans = Counter(each.span for each in candidates)
    sure += [
        each
        for each in candidates
        if each.form is NameForm.PART
        and _is_complete_name(each)
        and spans[each.span] == 1
        and not any(each.start < name.end and name.start < each.end for name in sure)
    ]
    names = sorted(sure, key=lambda each: each.start)
    if not 0 < len(names) <= len(MARKS):
        return None
    low, text, at = lowered(question), "", 0
    for mark, name in zip(MARKS, names, strict=False):
        text += low[at : name.start] + mark
        at = name.end
    text = _OWNED.sub("'s", text + low[at:])
    return NamedQuestion(_OPENING.sub("", _SPACES.sub(" ", text).strip()), tuple(names))


def _is_sure(start: StartCandidate) -> bool:
    return (
        start.linked
        and start.form is NameForm.EXACT
        and start.certainty >= Certainty.PROPER
        and _is_complete_name(start)
    )


def _is_complete_name(start: StartCandidate) -> bool:
    """Returns whether the words of a name are spelt so, and are no part of a longer name."""
    return start.start >= 0 and not (start.typos or start.covered or start.in_other_name)
