"""Where an answer speaks a label whose characters could be a citation or a marker.

A label is data: ``Untitled [1]`` cites nothing and ``Foo [NA]`` marks nothing. A label that is a
bracket and no more, such as ``[1]``, is told from a citation by the words around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from graph_service.model.result import Triple
from graph_service.text.labels import label_spans
from queries.generate.citations import one_line

BRACKETS = str.maketrans("【】［］〔〕〖〗〘〙〚〛⟦⟧❲❳⁅⁆﹝﹞（）｛｝", "[]" * 10 + "(){}")
"""Brackets of other scripts count as brackets; one character for one, so positions stay."""

_ALL_BRACKETS = re.compile(r"(?:\[[^\[\]]*\]\s*)+|\([^()]*\)|\{[^{}]*\}")
_GOES_ON = re.compile(r"\s+[^\W\d_]")
LAST_WORD = re.compile(r"[^\W\d_]+$")
# No sentence ends with one of these: what follows is its complement, and a name.
TAKES_A_NAME = frozenset(
    [
        "a",
        "an",
        "the",
        "is",
        "was",
        "are",
        "were",
        "be",
        "been",
        "being",
        "by",
        "of",
        "in",
        "at",
        "to",
        "from",
        "for",
        "with",
        "on",
        "as",
        "named",
        "called",
        "titled",
        "entitled",
        "and",
        "or",
        "than",
        "near",
        "into",
        "about",
        "between",
        "under",
        "after",
        "before",
    ]
)


def labels_of(knowledge: Iterable[Triple], /) -> tuple[str, ...]:
    """Returns the labels of statements, entities, relations and values, each once."""
    listed = (
        part
        for triple in knowledge
        for part in (triple.head.label, triple.relation.label, triple.value_label)
    )
    return tuple(dict.fromkeys(map(one_line, listed)))


class LabelsInText:
    """Finds labels that hold brackets in texts.

    Args:
        labels: Of what was given.
    """

    def __init__(self, labels: Iterable[str], /) -> None:
        listed = {one_line(label) for label in labels}
        marked = [label for label in listed if set("[({<") & set(label.translate(BRACKETS))]
        self._all_brackets = {
            label.casefold()
            for label in marked
            if _ALL_BRACKETS.fullmatch(label.translate(BRACKETS))
        }
        self._labels = sorted(marked)

    def spans(self, text: str, cited: Callable[[str, int], bool], /) -> list[tuple[int, int]]:
        """Returns ``(start, end)`` of the labels that a text in NFC speaks, left to right.

        Args:
            text: The text.
            cited: Says of a label, in lower case, and a position whether a citation of a statement
                with this label follows there.
        """
        return [
            (start, end)
            for start, end in label_spans(text, self._labels)
            if (folded := one_line(text[start:end]).casefold()) not in self._all_brackets
            or _is_name(text, start, end)
            or cited(folded, end)
        ]


def _is_name(text: str, start: int, end: int) -> bool:
    """Whether the words around a bracket take it for a name: subject, complement, or in quotes."""
    before = text[:start].rstrip(" \t")
    after = text[end:]
    if before.endswith(tuple("“\"'‘«„")) and after.lstrip(".,").startswith(tuple("”\"'’»“")):
        return True
    if after.startswith(("'s", "’s")):
        return True
    if not before or before[-1] in ".!?…\n":
        goes_on = _GOES_ON.match(after)
        return goes_on is not None and not goes_on[0][-1].isupper()
    word = LAST_WORD.search(before)
    if word is not None:
        return word[0].casefold() in TAKES_A_NAME
    return before[-1] in ":—|"


def skip(spans: Sequence[tuple[int, int]], position: int, /) -> int:
    """Returns the end of the span that holds a position; the position itself where none does."""
    return next((end for start, end in spans if start <= position < end), position)
