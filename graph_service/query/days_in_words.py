"""Spans of days in words."""

from __future__ import annotations

from graph_service.model.days import Days

_EVER = 10**9


def say_days(days: Days, /) -> str:
    """Returns a span of days in words.

    >>> from graph_service.model.days import day, years
    >>> say_days(years(1994, 1994)), say_days(years(1990, 1999)), say_days(day(1994, 5, 3).after())
    ('in 1994', 'between 1990 and 1999', 'after 1994-05-03')
    >>> say_days(years(1994, 1994).until()), say_days(years(1994, 1994).before())
    ('in or before 1994', 'before 1994')
    """
    begin, end = days.first, days.last
    if begin <= -_EVER:
        # The day before the first of a year is no day of the calendar.
        return f"in or before {_date(end)}" if _is_end(end) else f"before {_date(end + 1)}"
    if end >= _EVER:
        return f"in or after {_date(begin)}" if begin % 100 == 1 else f"after {_date(begin - 1)}"
    if begin == end:
        return f"on {_full_date(begin)}"
    first, last = _date(begin), _date(end)
    return f"in {first}" if first == last else f"between {first} and {last}"


def _is_end(day: int) -> bool:
    return day % 10000 == 1231 or day % 100 == 31


def _date(day: int) -> str:
    """Returns a day of ``Days`` as a date: a year where it is a year's first or last day."""
    year, rest = divmod(day, 10000)
    era = " BC" if year < 0 else ""
    if rest in (101, 1231, 1232, 100):
        return f"{abs(year)}{era}"
    month, of_month = divmod(rest, 100)
    if of_month in (0, 1, 31, 32):
        return f"{abs(year):04d}-{month:02d}{era}"
    return _full_date(day)


def _full_date(day: int) -> str:
    year, rest = divmod(day, 10000)
    return f"{abs(year):04d}-{rest // 100:02d}-{rest % 100:02d}{' BC' if year < 0 else ''}"
