"""The points and spans in time that a question names."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass

from graph_service.model.days import Days, day, years
from graph_service.text.fold import lowered
from graph_service.text.months import FOLDED_MONTHS

_SHORT = 3
_YEAR = r"(?:1\d{3}|20\d\d)"
_ORDINAL = r"(?:st|nd|rd|th)"
_MONTH = "|".join(f"{name}|{name[:_SHORT]}\\.?" for name in FOLDED_MONTHS)
_TENS = (
    "twenties",
    "thirties",
    "forties",
    "fifties",
    "sixties",
    "seventies",
    "eighties",
    "nineties",
)
_CENTURIES = {
    "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20, "twenty-first": 21,
}  # fmt: skip
_PAST_CENTURY = 1900


@dataclass(frozen=True, slots=True)
class _Form:
    """A way to write a point or span in time."""

    pattern: str
    read: Callable[[re.Match[str]], Days | None]


def _month(name: str) -> int:
    return next(
        index for index, month in enumerate(FOLDED_MONTHS, 1) if month[:_SHORT] == name[:_SHORT]
    )


def _day(year: str, month: int, of_month: str) -> Days | None:
    number = int(of_month)
    if not 1 <= month <= 12 or not 1 <= number <= monthrange(int(year), month)[1]:
        return None
    return day(int(year), month, number)


def _century(number: int, *, bc: bool) -> Days:
    first, last = number * 100 - 99, number * 100
    return years(-last, -first) if bc else years(first, last)


_ERA = r"(?:\s+(bce?|b\.c\.(?:e\.)?)\b)?"
_FORMS = (
    _Form(rf"({_YEAR})-(\d\d)-(\d\d)\b", lambda m: _day(m[1], int(m[2]), m[3])),
    _Form(
        rf"(\d{{1,2}}){_ORDINAL}?(?:\s+of)?\s+({_MONTH})\b,?\s+({_YEAR})\b",
        lambda m: _day(m[3], _month(m[2]), m[1]),
    ),
    _Form(
        rf"({_MONTH})\s+(\d{{1,2}}){_ORDINAL}?,?\s+({_YEAR})\b",
        lambda m: _day(m[3], _month(m[1]), m[2]),
    ),
    _Form(rf"({_MONTH}),?\s+(?:of\s+)?({_YEAR})\b", lambda m: day(int(m[2]), _month(m[1]))),
    _Form(
        r"(?:the\s+)?(?:early\s+|mid[\s-]?|late\s+)?((?:1\d|20)\d0)['\u2019]?s\b",
        lambda m: years(int(m[1]), int(m[1]) + 9),
    ),
    _Form(
        r"the\s+(?:early\s+|mid[\s-]?|late\s+)?['\u2019]?([2-9]0)['\u2019]?s\b",
        lambda m: years(_PAST_CENTURY + int(m[1]), _PAST_CENTURY + int(m[1]) + 9),
    ),
    _Form(
        rf"the\s+(?:early\s+|mid[\s-]?|late\s+)?({'|'.join(_TENS)})\b",
        lambda m: years(*(_PAST_CENTURY + 20 + 10 * _TENS.index(m[1]) + more for more in (0, 9))),
    ),
    _Form(
        rf"(?:the\s+)?(\d{{1,2}}){_ORDINAL}[\s-]+century\b{_ERA}",
        lambda m: _century(int(m[1]), bc=bool(m[2])) if int(m[1]) else None,
    ),
    _Form(
        rf"(?:the\s+)?({'|'.join(_CENTURIES)})[\s-]+century\b{_ERA}",
        lambda m: _century(_CENTURIES[m[1]], bc=bool(m[2])),
    ),
    _Form(r"([1-9]\d{0,3})\s+(?:bce?\b|b\.c\.(?:e\.)?)", lambda m: years(-int(m[1]), -int(m[1]))),
    # Of fewer digits only what stands after a word of time, and before no noun, is a year.
    _Form(
        r"(?:(?<=after )|(?<=before )|(?<=since )|(?<=until )|(?<=the year ))([1-9]\d\d)\b(?!\s*\w)",
        lambda m: years(int(m[1]), int(m[1])),
    ),
    _Form(r"(?:ad|a\.d\.)\s+([1-9]\d{0,3})\b", lambda m: years(int(m[1]), int(m[1]))),
    _Form(
        rf"(?:the\s+year\s+)?({_YEAR})\b(?!['\u2019]?s\b)", lambda m: years(int(m[1]), int(m[1]))
    ),
)
_COMPILED = tuple(
    re.compile(rf"(?<!\w)(?<![a-z]-)(?:{form.pattern})", re.IGNORECASE) for form in _FORMS
)


@dataclass(frozen=True, slots=True)
class TextDate:
    """A point or span in time that a text names.

    Attributes:
        start, end: Its characters.
        is_lone_year: Whether it is a year and no other word, which may be a name or a number too.
    """

    days: Days
    start: int
    end: int
    is_lone_year: bool


def text_dates(text: str, /) -> list[TextDate]:
    """Returns the points and spans in time that a text names, in order, none in another.

    >>> [date.days == years(1990, 1999) for date in text_dates("in the 90s or the 1990s")]
    [True, True]
    >>> [len(text_dates(f"wars won {end}")) for end in ("before 700", "after 700 days", "by 700")]
    [1, 0, 0]
    """
    folded = lowered(text)
    dates: list[TextDate] = []
    for form, pattern in zip(_FORMS, _COMPILED, strict=True):
        for match in pattern.finditer(folded):
            if any(match.start() < other.end and other.start < match.end() for other in dates):
                continue
            days = form.read(match)
            if days is not None:
                is_lone_year = form is _FORMS[-1] and match[0].isdigit()
                dates.append(TextDate(days, match.start(), match.end(), is_lone_year))
    return sorted(dates, key=lambda other: other.start)
