"""Numbers that cite without square brackets: ``(1)``, ``{1}``, ``<sup>1</sup>``.

Text has parentheses, braces and raised numbers of its own: what is counted, a list, a set, a call, a
power. So they cite only in a text without citations in brackets, where all that name a triple end a
clause.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from queries.generate.numbers import read_numbers
from queries.generate.spoken import LAST_WORD, TAKES_A_NAME, skip

_WORDS = r"([^()\[\]{}<>\n`]{1,60})"
_NUMBERS = re.compile(rf"\({_WORDS}\)|\{{{_WORDS}\}}|<sup>{_WORDS}</sup>", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[ \t*_”’\"']*(?:$|\n|[.!?。！？]|\(|\{|<sup>)", re.IGNORECASE)
_QUANTITY = re.compile(r"(?:\d|\d\s?[^\W\d_]{1,3})$")


def unbracketed_numbers(
    text: str, spans: Sequence[tuple[int, int]], most: int, /
) -> list[tuple[int, int, tuple[int, ...]]]:
    """Returns start, end and numbers of what cites, left to right.

    Args:
        text: Without citations in square brackets.
        spans: Start and end of the labels in it, which are words.
        most: The greatest number that was offered. What names another one is words.
    """
    citing: list[tuple[int, int, tuple[int, ...]]] = []
    for match in _NUMBERS.finditer(text):
        read = read_numbers(match[match.lastindex or 0], most)
        numbers = tuple(index for index in (read.numbers if read else ()) if index)
        if read is None or not numbers or len(numbers) < len(read.numbers):
            continue
        if max(numbers) > most or skip(spans, match.start()) > match.start():
            continue
        if not _is_last_in_clause(text, match):
            return []
        citing.append((match.start(), match.end(), numbers))
    return citing


def _is_last_in_clause(text: str, match: re.Match[str]) -> bool:
    line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    before = line.rstrip(" \t")
    if line.count("`") % 2 or not re.search(r"\w", before):
        return False
    if not _CLAUSE_END.match(text, match.end()):
        return False
    word = LAST_WORD.search(before)
    if word is not None and word[0].casefold() in TAKES_A_NAME:
        return False
    if match[0].startswith("<"):
        return _QUANTITY.search(before) is None
    return before != line or before[-1] in ".!?。！？)}>*_"
