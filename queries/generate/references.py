"""A list of references at the end of an answer: it repeats what was cited, and cites nothing more."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_HEADING = re.compile(
    r"\W*(?:references?|sources?|citations?|footnotes?|notes|facts|facts? (?:used|cited)|used facts"
    r"|works cited|bibliography|quellen|fakten|références|fuentes|referencias|источники|参考文献"
    r"|来源|出典)\W*",
    re.IGNORECASE,
)
_RULE = re.compile(r"\s*[-_*=]{3,}\s*")
_BULLET = re.compile(r"[\s>]*(?:[-*•]\s+)?")
_NUMBER = re.compile(r"\d{1,4}[.):]\s+")
_AFTER_MARK = re.compile(r"[\s:.)–—-]*")
_LINK = re.compile(r"<?https?://\S+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mark:
    """A citation or marker of a text, and the statements that it cites."""

    start: int
    end: int
    statement_ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line that can be one of a list of references.

    Attributes:
        mark: The citation that it begins with; None where it begins with a plain number.
        words: What follows.
    """

    start: int
    mark: Mark | None
    words: str


def references_start(
    text: str, marks: Sequence[Mark], states: Callable[[str, str], bool], /
) -> int | None:
    """Returns where the list of references begins that ends a text; None where there is none.

    The list is the last lines of the text. Each begins with a citation, or with a number under a
    heading. Without a heading each states what it cites, or is a link. A statement of the list was
    cited before: else the list is what cites it. ``Sources: [1], [2]`` is a list too.

    Args:
        text: The text.
        marks: Its citations and markers, left to right.
        states: Says of the id of a statement and some words whether they state it.
    """
    inline = _inline(text, marks)
    if inline is not None:
        return inline
    by_start = {mark.start: mark for mark in marks}
    entries: list[_Entry] = []
    heading: int | None = None
    end = len(text)
    while end > 0:
        start = text.rfind("\n", 0, end) + 1
        if text[start:end].strip():
            entry = _entry(text, start, end, by_start)
            if entry is None:
                if entries and _HEADING.fullmatch(text[start:end]):
                    heading = start
                break
            entries.append(entry)
        end = start - 1
    if not entries:
        return None
    begins = entries[-1].start if heading is None else heading
    before = {id_ for mark in marks if mark.start < begins for id_ in mark.statement_ids}
    repeats = any(
        (entry.mark is not None and before & entry.mark.statement_ids)
        or any(states(id_, entry.words) for id_ in before)
        for entry in entries
    )
    if not repeats or not (heading is not None or all(_is_reference(x, states) for x in entries)):
        return None
    above = text[:begins].rstrip()
    rule = above.rfind("\n") + 1
    return rule if _RULE.fullmatch(above[rule:]) else begins


def _inline(text: str, marks: Sequence[Mark]) -> int | None:
    """Where a last line begins that is a heading and citations that were made before."""
    start = text.rstrip().rfind("\n") + 1
    inside = [mark for mark in marks if mark.start >= start]
    if not start or not inside or not _HEADING.fullmatch(text[start : inside[0].start]):
        return None
    before = {id_ for mark in marks if mark.start < start for id_ in mark.statement_ids}
    if text[inside[-1].end :].strip(" \t\n.") or not all(
        mark.statement_ids and mark.statement_ids <= before for mark in inside
    ):
        return None
    return start


def _entry(text: str, start: int, end: int, by_start: dict[int, Mark]) -> _Entry | None:
    bullet = _BULLET.match(text, start, end)
    at = bullet.end() if bullet else start
    mark = by_start.get(at)
    number = _NUMBER.match(text, at, end)
    if mark is None and number is None:
        return None
    after = mark.end if mark is not None else number.end() if number is not None else at
    words = _AFTER_MARK.sub("", text[after:end], count=1).strip()
    return _Entry(start, mark, words)


def _is_reference(entry: _Entry, states: Callable[[str, str], bool]) -> bool:
    """Whether an entry shows by itself that it is no sentence of an answer."""
    if entry.mark is None:
        return False
    return bool(_LINK.match(entry.words)) or any(
        states(id_, entry.words) for id_ in entry.mark.statement_ids
    )
