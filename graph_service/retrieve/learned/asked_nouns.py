"""Which candidates end in the relation that a question asks for by its noun or verb.

*Which languages ...*, *name the directors of ...*, *who directed ...* say by one word what the last
step leads to, however long the way there is. That is a sign, and no proof: the score of such a
candidate rises by a little.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from graph_service.model.graph import Float64
from graph_service.retrieve.constraints.coverage import stems_of
from graph_service.text.fold import lowered, words
from graph_service.text.question_form import read_form

_REQUESTED_NOUN = re.compile(
    r"\W*(?:please\s+)?(?:name|list|(?:tell|give|show)\s+me)\s+(?:all\s+)?(?:of\s+)?(?:the\s+)?(\w+)"
)
_CHOICE = re.compile(r"\W*(?:\w+\s+)?(?:which|what)\s+(\w+)")
_PASSIVE = re.compile(r"\W*by\s+whom\b.*?(\w+)\W*", re.DOTALL)
_SAYS_NOTHING = frozenset(["kind", "sort", "type"])
_BONUS = 1.0
"""What is added to the learned score of a candidate."""


def requested_stems(question: str, /) -> frozenset[str]:
    """Returns the stems of the noun or verb that says what a question asks for.

    >>> sorted(requested_stems("Under which genres do films by X fall?")), requested_stems("who is X?")
    (['genr'], frozenset())
    """
    form, text = read_form(question), lowered(question)
    phrases = [form.following] if form.asks_who_acts else []
    matches = (_REQUESTED_NOUN.match(text), _CHOICE.match(text), _PASSIVE.fullmatch(text))
    phrases += [match[1] for match in matches if match is not None]
    return stems_of(word for word in phrases if word not in _SAYS_NOTHING)


def requested_bonus(question: str, sequences: Sequence[Sequence[tuple[str, bool]]], /) -> Float64:
    """Returns what is added to the scores of some candidates, float64 [n]; nothing to those of one
    step, which the scorer reads well.

    Args:
        question: As asked.
        sequences: Of each candidate the labels of its relations, and whether each is walked from
            value to head.
    """
    requested = requested_stems(question)
    meets = [len(steps) > 1 and _leads_to(requested, *steps[-1]) for steps in sequences]
    return _BONUS * np.array(meets, dtype=np.float64)


def _leads_to(requested: frozenset[str], label: str, backward: bool) -> bool:
    label_words = words(label)
    # The subject of *part of* is the part.
    is_of_subject = label_words[-1:] == ["of"]
    return backward == is_of_subject and not requested.isdisjoint(stems_of(label_words))
