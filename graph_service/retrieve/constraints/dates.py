"""Spans of days: what a question says of time, and what a stored date says at its precision."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass

from graph_service.model.values import StringValue, Time, Value
from graph_service.text.months import FOLDED_MONTHS

_EVER = 10**9
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
_ISO = re.compile(r"(-?\d{4,})(?:-(\d\d))?(?:-(\d\d))?")


@dataclass(frozen=True, slots=True)
class Days:
    """All days from ``first`` to ``last``, both in; a day is ``year * 10000 + month * 100 + day``.

    Years before Christ are below 0.
    """

    first: int
    last: int

    def holds(self, other: Days, /) -> bool:
        """Returns whether all of another span lies within this one."""
        return self.first <= other.first and other.last <= self.last

    def before(self) -> Days:
        """Returns all days before this span."""
        return Days(-_EVER, self.first - 1)

    def after(self) -> Days:
        """Returns all days after this span."""
        return Days(self.last + 1, _EVER)

    def since(self) -> Days:
        """Returns this span and all days after it."""
        return Days(self.first, _EVER)

    def until(self) -> Days:
        """Returns this span and all days before it."""
        return Days(-_EVER, self.last)


def years(first: int, last: int, /) -> Days:
    """Returns all days of some years.

    >>> years(1990, 1999).holds(years(1994, 1994))
    True
    """
    return Days(first * 10000 + 101, last * 10000 + 1231)


def day(year: int, month: int, of_month: int = 0, /) -> Days:
    """Returns one day, or all days of a month."""
    begin = year * 10000 + month * 100
    return Days(begin + (of_month or 1), begin + (of_month or 31))


def days_of(value: Value, /) -> Days | None:
    """Returns the days that a stored value may mean; None where it is no date.

    >>> days_of(Time("1994-00-00T00:00:00Z", 9)) == days_of(StringValue("1994"))
    True
    """
    if isinstance(value, StringValue):
        return days_of_text(value.text)
    if not isinstance(value, Time):
        return None
    found = _ISO.match(value.time)
    if found is None:
        return None
    year, month, of_month = (int(part or 0) for part in found.groups())
    match value.precision:
        case 7:
            century = (abs(year) + 99) // 100
            span = (century * 100 - 99, century * 100)
            return years(*span) if year > 0 else years(-span[1], -span[0])
        case 8:
            return years(year // 10 * 10, year // 10 * 10 + 9)
        case precision if precision >= 11 and month and of_month:
            return day(year, month, of_month)
        case precision if precision >= 10 and month:
            return day(year, month)
        case precision if precision >= 9:
            return years(year, year)
    return None


def days_of_text(text: str, /) -> Days | None:
    """Returns the days of a text that is a year or an ISO date and nothing else."""
    found = _ISO.fullmatch(text.partition("T")[0].strip())
    if found is None or len(found[1].lstrip("-")) > 4:
        return None
    year, month, of_month = (int(part or 0) for part in found.groups())
    if not 0 <= month <= 12 or of_month > 31:
        return None
    return day(year, month, of_month) if month else years(year, year)


@dataclass(frozen=True, slots=True)
class _Form:
    """A way to write a point or span in time."""

    pattern: str
    read: Callable[[re.Match[str]], Days | None]


def _month(name: str) -> int:
    return next(
        number for number, month in enumerate(FOLDED_MONTHS, 1) if month[:_SHORT] == name[:_SHORT]
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
    _Form(r"(?:ad|a\.d\.)\s+([1-9]\d{0,3})\b", lambda m: years(int(m[1]), int(m[1]))),
    _Form(
        rf"(?:the\s+year\s+)?({_YEAR})\b(?!['\u2019]?s\b)", lambda m: years(int(m[1]), int(m[1]))
    ),
)
_COMPILED = tuple(
    re.compile(rf"(?<!\w)(?<![a-z]-)(?:{form.pattern})", re.IGNORECASE) for form in _FORMS
)


def lowered(text: str, /) -> str:
    """Returns a text in lower case, each character where it was.

    >>> lowered("\u0130stanbul 1990")[-4:]
    '1990'
    """
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(one.lower() if len(one.lower()) == 1 else one for one in text)


@dataclass(frozen=True, slots=True)
class SaidDate:
    """A point or span in time that a text names.

    Attributes:
        start, end: Its characters.
        bare: Whether it is a year and no other word, which may be a name or a number too.
    """

    days: Days
    start: int
    end: int
    bare: bool


def said_dates(text: str, /) -> list[SaidDate]:
    """Returns the points and spans in time that a text names, in order, none in another.

    >>> [date.days == years(1990, 1999) for date in said_dates("in the 90s or the 1990s")]
    [True, True]
    """
    folded = lowered(text)
    found: list[SaidDate] = []
    for form, pattern in zip(_FORMS, _COMPILED, strict=True):
        for match in pattern.finditer(folded):
            if any(match.start() < one.end and one.start < match.end() for one in found):
                continue
            days = form.read(match)
            if days is not None:
                bare = form is _FORMS[-1] and match[0].isdigit()
                found.append(SaidDate(days, match.start(), match.end(), bare))
    return sorted(found, key=lambda one: one.start)
