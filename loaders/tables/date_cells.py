"""Dates as cells of tables write them, and what they prove of the order of day and month."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import lru_cache

from graph_service.model.values import Time
from graph_service.text.months import MONTHS

_MONTH_NAMES = {
    name.casefold(): index
    for names in (
        " ".join(MONTHS),
        " ".join(month[:3] for month in MONTHS),
        "januar februar märz april mai juni juli august september oktober november dezember",
        "jän feb mär apr mai jun jul aug sep okt nov dez",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "januari februari maart april mei juni juli augustus september oktober november december",
        "januari februari mars april maj juni juli augusti september oktober november december",
        "januar februar marts april maj juni juli august september oktober november december",
    )
    for index, name in enumerate(names.split(), start=1)
} | {"sept": 9, "desember": 12}
"""In English, German, French, Spanish, Italian, Portuguese, Dutch and Scandinavian languages: no
name is of another month in another of them."""
_CLOCK = (
    r"(?:[T ]\s*(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d+)?)?"
    r"\s*(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?)?"
)
_YEAR_FIRST = re.compile(
    rf"(?P<year>\d{{4}})([-/.])(?P<month>\d{{1,2}})\2(?P<day>\d{{1,2}}){_CLOCK}"
)
_YEAR_LAST = re.compile(
    rf"(?P<first>\d{{1,2}})(?P<separator>[-/.])(?P<other>\d{{1,2}})\2(?P<year>\d{{4}}){_CLOCK}"
)
_DAY_NAMED = re.compile(
    r"(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?[ -](?:of |de )?(?P<name>[^\W\d_]{3,10})\.?,?(?: de)?[ -](?P<year>\d{4})"
)
_MONTH_NAMED = re.compile(
    r"(?P<name>[^\W\d_]{3,10})\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?,? (?P<year>\d{4})"
)
_MONTH_OF_YEAR = re.compile(r"(?P<year>\d{4})-(?P<month>\d\d)|(?P<month_2>\d\d)/(?P<year_2>\d{4})")
_NAMED_MONTH_OF_YEAR = re.compile(r"(?P<name>[^\W\d_]{3,10})\.? (?P<year>\d{4})")
_EAST_ASIAN = re.compile(
    r"(?P<year>\d{4})\s?[年년]\s?(?P<month>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})\s?[日일]"
)
_YEAR = re.compile(r"1\d{3}|20\d\d|2100")


class Order(StrEnum):
    """What a date proves of the order of day and month in its column."""

    SURE = "sure"
    DAY_FIRST = "day"
    MONTH_FIRST = "month"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class DateCell:
    """A date as a cell writes it.

    Attributes:
        year, first, second: ``first`` and ``second`` are month and day if the order is ``SURE``;
            0 if they are not there.
        order: What it proves.
        separator: Between the parts, where the order is not sure: columns decide it for each.
        clock: Time of day, ``hh:mm:ss``; "" if there is none or it is midnight.
        zone_minutes: Offset from UTC.
    """

    year: int
    first: int
    second: int
    order: Order
    separator: str = ""
    clock: str = ""
    zone_minutes: int = 0

    def time(self, order: str, /) -> Time | None:
        """Returns the date.

        Args:
            order: ``day`` or ``month``, whichever comes first in the column; "" if that is not
                decided.

        Returns:
            None if the date may be two.
        """
        month, day = self.first, self.second
        if self.order is not Order.SURE:
            decided = order if self.order is Order.EITHER else self.order.value
            if not decided:
                return None
            if decided == Order.DAY_FIRST:
                month, day = day, month
        precision = 9 if not month else 10 if not day else 14 if self.clock else 11
        return Time(
            f"{self.year:04d}-{month:02d}-{day:02d}T{self.clock or '00:00:00'}Z",
            precision,
            timezone=self.zone_minutes,
        )


@lru_cache(maxsize=65_536)
def read_date_cell(cell: str, /) -> DateCell | None:
    """Returns the date of a cell that is one and exists in the calendar; else None.

    Years have four digits: with two the century is not said.

    >>> read_date_cell("28.04.2024").order, read_date_cell("03.04.2024").time("")
    (<Order.DAY_FIRST: 'day'>, None)
    >>> read_date_cell("May 10 2024").time("").time
    '2024-05-10T00:00:00Z'
    """
    if match := _YEAR_FIRST.fullmatch(cell):
        return _sure(match, int(match["month"]), int(match["day"]))
    if match := _EAST_ASIAN.fullmatch(cell):
        return _date(int(match["year"]), int(match["month"]), int(match["day"]))
    if match := _YEAR_LAST.fullmatch(cell):
        return _unsure(match)
    if match := _DAY_NAMED.fullmatch(cell) or _MONTH_NAMED.fullmatch(cell):
        month = _MONTH_NAMES.get(match["name"].casefold())
        return month and _date(int(match["year"]), month, int(match["day"])) or None
    if match := _MONTH_OF_YEAR.fullmatch(cell):
        month = int(match["month"] or match["month_2"])
        year = int(match["year"] or match["year_2"])
        return DateCell(year, month, 0, Order.SURE) if 1 <= month <= 12 and year else None
    if match := _NAMED_MONTH_OF_YEAR.fullmatch(cell):
        month = _MONTH_NAMES.get(match["name"].casefold())
        return DateCell(int(match["year"]), month, 0, Order.SURE) if month else None
    return None


def read_year(cell: str, /) -> DateCell | None:
    """Returns the year of a cell that is four digits, from 1000 to 2100."""
    return DateCell(int(cell), 0, 0, Order.SURE) if _YEAR.fullmatch(cell) else None


def _date(year: int, month: int, day: int, clock: str = "", zone: int = 0) -> DateCell | None:
    return (
        DateCell(year, month, day, Order.SURE, clock=clock, zone_minutes=zone)
        if _exists(year, month, day)
        else None
    )


def _sure(match: re.Match[str], month: int, day: int) -> DateCell | None:
    clock = _clock_of(match)
    if clock is None:
        return None
    return _date(int(match["year"]), month, day, *clock)


def _unsure(match: re.Match[str]) -> DateCell | None:
    year, first, second = int(match["year"]), int(match["first"]), int(match["other"])
    clock = _clock_of(match)
    if clock is None:
        return None
    day_first, month_first = _exists(year, second, first), _exists(year, first, second)
    if not (day_first or month_first):
        return None
    if first == second:
        return _date(year, first, second, *clock)
    both = day_first and month_first
    order = Order.EITHER if both else Order.DAY_FIRST if day_first else Order.MONTH_FIRST
    return DateCell(year, first, second, order, match["separator"], *clock)


def _clock_of(match: re.Match[str]) -> tuple[str, int] | None:
    """Returns the time of day and the offset in minutes; None for a time that does not exist."""
    if match["hour"] is None:
        return "", 0
    hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"] or 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    zone, minutes = match["zone"] or "", 0
    if zone[:1] in ("+", "-"):
        minutes = int(zone[1:3]) * 60 + int(zone[-2:])
        minutes = -minutes if zone[0] == "-" else minutes
    clock = f"{hour:02d}:{minute:02d}:{second:02d}"
    return ("" if clock == "00:00:00" and not minutes else clock), minutes


def _exists(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True
