"""Spans of days: what a stored date says at its precision, and how spans compare."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graph_service.model.values import StringValue, Time, Value

_EVER = 10**9
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
    date = _ISO.match(value.time)
    if date is None:
        return None
    year, month, of_month = (int(part or 0) for part in date.groups())
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
    date = _ISO.fullmatch(text.partition("T")[0].strip())
    if date is None or len(date[1].lstrip("-")) > 4:
        return None
    year, month, of_month = (int(part or 0) for part in date.groups())
    if not 0 <= month <= 12 or of_month > 31:
        return None
    return day(year, month, of_month) if month else years(year, year)
