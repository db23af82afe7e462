"""Whether a date of a source can be: the one rule that all readers of dates go by."""

from __future__ import annotations

_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_possible(year: int, month: int, day: int, clock: str = "00:00:00", /) -> bool:
    """Returns whether a year, month, day and clock are those of some moment.

    A month or day of 0 is one that is not known. 29 February is there in the leap years of the
    Gregorian and of the Julian calendar, for sources do not always say which one they mean; year
    -4 is leap, and so is -5, since some count a year 0. A clock ends at 24:00:00 or with a leap
    second.

    >>> is_possible(1999, 13, 45), is_possible(2019, 2, 29), is_possible(1900, 2, 29)
    (False, False, True)
    >>> is_possible(1952, 0, 0), is_possible(1952, 0, 3), is_possible(2000, 1, 1, "26:90:60")
    (True, False, False)
    """
    if month > 12 or (day and not month) or (day and day > _DAYS[month - 1]):
        return False
    if month == 2 and day == 29 and year % 4 and (year > 0 or (year + 1) % 4):
        return False
    hour, minute, second = (int(part) for part in clock.split(":"))
    if hour == 24:
        return minute == second == 0
    return hour < 24 and minute < 60 and (second < 60 or (second == 60 and minute == 59))


def is_possible_zone(minutes: int, /) -> bool:
    """Returns whether a zone is so many minutes from UTC: 14 hours at most."""
    return abs(minutes) <= 14 * 60
