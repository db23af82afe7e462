"""The spans of time that a question says its answers lie in: *before 1990*, *from 1990 to 1995*."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graph_service.model.days import Days
from graph_service.retrieve.constraints.dates import TextDate, text_dates
from graph_service.text.fold import lowered

_BEFORE_DATE = (
    (r"(?:in or after|no earlier than|not before|since|starting (?:in|from|with)|beginning in)",
     Days.since),
    (r"(?:in or before|no later than|not after|until|till|up to|by)", Days.until),
    (r"(?:after|later than|following|past)", Days.after),
    (r"(?:before|prior to|earlier than|preceding)", Days.before),
    (r"(?:in|on|during|of|from|within|throughout|around|at)", lambda days: days),
)  # fmt: skip
_LEADS = tuple(
    (re.compile(rf"\b{words}\s+(?:the\s+year\s+|the\s+)?$"), read) for words, read in _BEFORE_DATE
)
_BETWEEN = re.compile(r"\bbetween\s+(?:the\s+years\s+|the\s+)?$")
_FROM = re.compile(r"\bfrom\s+(?:the\s+)?$")
_AND = re.compile(r"\s+(?:and|to|through)\s+(?:the\s+)?")
_TO = re.compile(r"\s*(?:to|until|till|through|up to|-|\u2013)\s*(?:the\s+)?")
_ONWARDS = re.compile(r"\s+(?:on|onwards?|or later|and later|and after|or after|or newer)\b")
_BACKWARDS = re.compile(r"\s+(?:or earlier|and earlier|and before|or before|or older)\b")


@dataclass(frozen=True, slots=True)
class DateConstraint:
    """A span of time that what is asked for lies in.

    Attributes:
        text: As the question says it.
        start, end: Its characters.
    """

    text: str
    start: int
    end: int
    days: Days


def read_dates(question: str, names: Sequence[tuple[int, int]] = (), /) -> list[DateConstraint]:
    """Returns the spans of time that a question says; a year that is a name, or a part of one, as
    ``read_answer`` says.

    >>> [each.text for each in read_dates("Which films came out before 1990?")]
    ['before 1990']
    """
    folded = lowered(question)
    dates = [date for date in text_dates(question) if not _is_name(date, folded, names)]
    constraints: list[DateConstraint] = []
    index = 0
    while index < len(dates):
        date = dates[index]
        later = dates[index + 1] if index + 1 < len(dates) else None
        lead, between = folded[: date.start], None
        if later is not None:
            joint = folded[date.end : later.start]
            if opened := _BETWEEN.search(lead):
                between = _AND.fullmatch(joint) and opened
            elif opened := _FROM.search(lead):
                between = _TO.fullmatch(joint) and opened
            elif _TO.fullmatch(joint) and joint.strip() in {"-", "\u2013"}:
                between = re.search(r"(?:\b(?:in|during)\s+)?(?:the\s+)?$", lead)
        if later is not None and between:
            if date.days.first <= later.days.last:
                days = Days(date.days.first, later.days.last)
                constraints.append(_constraint(question, between.start(), later.end, days))
            index += 2
            continue
        constraints.append(_single(question, folded, date))
        index += 1
    return constraints


def _single(question: str, folded: str, date: TextDate) -> DateConstraint:
    start, end, days = date.start, date.end, date.days
    for pattern, read in _LEADS:
        if lead := pattern.search(folded[: date.start]):
            start, days = lead.start(), read(date.days)
            break
    if days in {date.days, date.days.since()} and (more := _ONWARDS.match(folded[end:])):
        end, days = end + more.end(), date.days.since()
    elif days == date.days and (more := _BACKWARDS.match(folded[end:])):
        end, days = end + more.end(), date.days.until()
    return _constraint(question, start, end, days)


def _constraint(question: str, start: int, end: int, days: Days) -> DateConstraint:
    return DateConstraint(question[start:end], start, end, days)


def _is_name(date: TextDate, folded: str, names: Sequence[tuple[int, int]]) -> bool:
    """Returns whether a date is part of a name, or a name that nothing tells to be a time."""
    for start, end in names:
        if end <= date.start or date.end <= start:
            continue
        others = any(right <= start or end <= left for left, right in names)
        if start < date.start or date.end < end or not others:
            return True
        if not any(pattern.search(folded[: date.start]) for pattern, _ in _LEADS) and not (
            _BETWEEN.search(folded[: date.start]) or _AND.search(folded[: date.start][-9:])
        ):
            return True
    return False
