"""What one cell of a table may be: blank, yes or no, a number with a unit, a date, an address.

A cell alone often does not say how it is to be read: 03.04.2024 is a day in March or in April, and
1,200 is a thousand or one. So reading has two steps. A cell says what it proves (``NumberCell``,
``DateCell``), all cells of a column together decide, and the column's decision gives the value.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from functools import lru_cache

from graph_service.model.values import Quantity, Time
from graph_service.text.months import MONTHS
from loaders.rdf.values import decimal_text

UNSTORED = "(formula without a stored result)"
"""A cell of a workbook whose formula no program has worked out."""
NESTED = "(list of objects)"
"""A cell of JSON that no value of a column can be."""
OUTLINE = "(outline)"
"""The geometry of a feature of GeoJSON that is no point."""
BLANK_WORDS = frozenset(
    {
        UNSTORED,
        NESTED,
        OUTLINE,
        *("", "-", "--", "---", "\u2013", "\u2014", "n/a", "#n/a", "n.a.", "null", "(null)", "nan"),
        *(
            "\\n",
            "(blank)",
            "#value!",
            "#ref!",
            "#name?",
            "#div/0!",
            "#null!",
            "#num!",
            "nat",
            "<na>",
        ),
    }
)
"""Cells that say that there is no value, in lower case."""
DOUBTFUL_WORDS = frozenset(
    {"na", "none", "nil", "unknown", "tbd", "tba", "?", "not available", "not applicable", "keine"}
)
"""Cells that say so among numbers, dates and names; a text may mean them."""
_YES = frozenset(
    {"yes", "y", "true", "ja", "oui", "s\u00ed", "wahr", "vrai", "sim", "tak", "kyll\u00e4", "evet"}
)
_NO = frozenset(
    {"no", "n", "false", "nein", "non", "falsch", "faux", "nej", "nei", "nee", "n\u00e3o", "nie"}
    | {"ei", "hay\u0131r"}
)

_TICKS = frozenset("\u2713\u2714\u2611\u2705")
_CROSSES = frozenset("\u2717\u2718\u2715\u2716\u274c\u2610")
TICK_LETTERS = frozenset({"x", "X"})
"""Cells that say yes where the column has no other."""


def clean(cell: str, /) -> str:
    r"""Returns a cell's text in one form of Unicode, with single spaces and none around.

    >>> clean("  Seat  Post\u00a0")
    'Seat Post'
    """
    if cell.isascii() and "  " not in cell and cell.isprintable():
        return cell.strip()
    return " ".join(unicodedata.normalize("NFC", cell).split())


def folded(name: str, /) -> str:
    """Returns what is the same in names that differ only in case and spaces.

    The case of a web address counts.

    >>> folded("Pola  Plastics") == folded("pola plastics")
    True
    """
    return clean(name) if is_address(name) else clean(name).casefold()


def is_address(cell: str, /) -> bool:
    """Returns whether a cell is a web address."""
    return cell.startswith(("http://", "https://")) and " " not in cell


def read_yes_no(cell: str, /) -> bool | None:
    """Returns True for yes, False for no, None for anything else."""
    word = cell.casefold().rstrip("\ufe0f")
    if word in _TICKS or word in _CROSSES:
        return word in _TICKS
    return True if word in _YES else False if word in _NO else None


# Numbers

_SYMBOLS = {"\u20ac": "EUR", "\u00a3": "GBP", "\u20b9": "INR", "\u20a9": "KRW", "\u20ba": "TRY"}
_CURRENCIES = frozenset(
    [
        "AED",
        "ARS",
        "AUD",
        "BGN",
        "BRL",
        "CAD",
        "CHF",
        "CLP",
        "CNY",
        "COP",
        "CZK",
        "DKK",
        "EGP",
        "EUR",
        "GBP",
        "HKD",
        "HUF",
        "IDR",
        "ILS",
        "INR",
        "ISK",
        "JPY",
        "KRW",
        "MXN",
        "MYR",
        "NGN",
        "NOK",
        "NZD",
        "PEN",
        "PHP",
        "PLN",
        "RON",
        "RSD",
        "RUB",
        "SAR",
        "SEK",
        "SGD",
        "THB",
        "TRY",
        "TWD",
        "UAH",
        "USD",
        "VND",
        "ZAR",
    ]
)
_UNITS = frozenset(
    [
        "mg",
        "g",
        "kg",
        "t",
        "lb",
        "lbs",
        "oz",
        "nm",
        "mm",
        "cm",
        "dm",
        "m",
        "km",
        "in",
        "ft",
        "yd",
        "mi",
        "ml",
        "cl",
        "dl",
        "l",
        "hl",
        "gal",
        "W",
        "kW",
        "MW",
        "GW",
        "Wh",
        "kWh",
        "MWh",
        "V",
        "mV",
        "kV",
        "mA",
        "Ah",
        "mAh",
        "Hz",
        "kHz",
        "MHz",
        "GHz",
        "Ω",
        "ohm",
        "Nm",
        "kN",
        "Pa",
        "kPa",
        "MPa",
        "bar",
        "psi",
        "kJ",
        "MJ",
        "kcal",
        "°C",
        "°F",
        "°",
        "s",
        "ms",
        "min",
        "h",
        "hr",
        "hrs",
        "d",
        "%",
        "‰",
        "px",
        "dpi",
        "rpm",
        "kB",
        "KB",
        "MB",
        "GB",
        "TB",
        "pcs",
        "pc",
        "Stk",
        "m2",
        "m3",
        "m²",
        "m³",
        "cm2",
        "cm3",
        "cm²",
        "cm³",
        "km2",
        "km²",
        "ha",
        "km/h",
        "mph",
        "m/s",
        "dB",
        "lm",
        "lx",
        "mol",
    ]
)
# Glued to digits these may be something else: 5m is five metres, or five million.
_NEEDS_SPACE = frozenset({"m", "d", "t"})
_NUMBER = re.compile(
    r"(?P<sign>[+\-\u2212]?)\s*(?P<prefix>[A-Z]{3}|US\$|[\u20ac$\u00a3\u00a5\u20b9\u20a9\u20ba])?\s*"
    r"(?P<sign_2>[+\-\u2212]?)(?P<body>\d[\d.,'\u2019 \u00a0\u202f]*|[.,]\d+)(?P<exponent>[eE][+-]?\d{1,3})?"
    r"(?P<space>[ \u00a0\u202f]?)(?P<suffix>[^\d\s.,'+\-][^\d,;]{0,15})?"
)
_MONEY = r"[A-Z]{3}|[\u20ac$\u00a3\u00a5\u20b9]"
_SCALE = (
    r"T|k|K|Tsd\.?|tsd\.?|thousands?|thousands? of|'?000s?|1[.,' ]?000"
    r"|M|m|mn|mln|Mio\.?|mio\.?|MM|millions?|millions? of|bn|Mrd\.?|billions?|billions? of"
)
_SCALED = re.compile(rf"(?:{_SCALE})\s?(?P<money>{_MONEY})|(?P<money_2>{_MONEY})\s?(?:{_SCALE})")
_ACCOUNTING = re.compile(
    r"(?P<prefix>[^\d\s()]{0,3}\s?)\((?P<inner>[^()]+)\)"
    r"|(?P<before>[^()]*\d)(?:[.,](?P<dash>-{1,2}|[\u2013\u2014])|\s?(?P<minus>[-\u2212]))"
    r"(?P<after>\s?[^\d\s]{1,3})?"
)
_ACCOUNTING_CHARACTERS = 40
_GROUPED_BY_SPACE = re.compile(r"\d{1,3}(?:[ \u00a0\u202f'\u2019]\d{3})+(?=[.,]\d+$|$)")


class Mark(StrEnum):
    """What a number proves of the decimal mark of its column."""

    NONE = "none"
    DOT = "."
    COMMA = ","
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class NumberCell:
    """A number as a cell writes it.

    Attributes:
        sign: A minus, or nothing.
        digits: Digits with the marks between them; no groups that a space or an apostrophe makes.
        exponent: With its ``e``.
        mark: What it proves of the decimal mark.
        unit: Of a known unit or currency its code (``EUR`` for a euro sign), else the word.
        is_known_unit: Whether it is known; also where there is none.
        is_accounting: Whether it is written as books have it: (5), 5- or 5,-. Other texts are too,
            so all cells of the column decide.
    """

    sign: str
    digits: str
    exponent: str
    mark: Mark
    unit: str
    is_known_unit: bool
    is_accounting: bool = False

    @property
    def is_integer(self) -> bool:
        """Whether it is written with digits alone."""
        return self.mark is Mark.NONE and not self.exponent

    def amount(self, decimal: str, /) -> str | None:
        """Returns the number as decimal text.

        Args:
            decimal: The column's decimal mark; "" if that is not decided.

        Returns:
            None if the number may be two.
        """
        mark = decimal if self.mark is Mark.EITHER else self.mark.value
        if not mark:
            return None
        if self.mark is Mark.NONE:
            text = self.digits
        else:
            group = "," if mark == "." else "."
            text = self.digits.replace(group, "").replace(mark, ".")
        if text.startswith("."):
            text = f"0{text}"
        return f"{self.sign}{text}{self.exponent}"


@lru_cache(maxsize=65_536)
def read_number(cell: str, /) -> NumberCell | None:
    r"""Returns the number of a cell that is a number, perhaps with a unit; else None.

    Digits that begin with a zero are a code and no number.

    >>> read_number("180,23 EUR").amount(""), read_number("\u20ac1,287.04").amount("")
    ('180.23', '1287.04')
    >>> read_number("1,200").amount(""), read_number("1,200").amount("."), read_number("007")
    (None, '1200', None)
    >>> [read_number(cell).amount("") for cell in ("(1,200.50)", "1.200,50-", "5,-")]
    ['-1200.50', '-1200.50', '5']
    """
    match = _NUMBER.fullmatch(cell)
    if match is None:
        return _accounting_number(cell)
    if match["sign"] and match["sign_2"]:
        return None
    if match["exponent"] and match["body"].isdecimal() and match["exponent"][1:].isdecimal():
        # Rather a code: 12E3.
        return None
    body = match["body"].rstrip(" \u00a0\u202f")
    spaced = match["space"] or body != match["body"]
    if any(character in body for character in " \u00a0\u202f'\u2019"):
        grouped = _GROUPED_BY_SPACE.match(body)
        if grouped is None:
            return None
        body = re.sub(r"[^\d.,]", "", body)
        mark = _mark_after_groups(body)
    else:
        mark = _mark_of(body)
    if mark is None:
        return None
    unit, known = _unit_of(match["prefix"] or "", (match["suffix"] or "").strip(), bool(spaced))
    if unit is None:
        return None
    sign = "-" if (match["sign"] or match["sign_2"]) in ("-", "\u2212") else ""
    return NumberCell(sign, body, (match["exponent"] or "").lower(), mark, unit, known)


def _accounting_number(cell: str) -> NumberCell | None:
    """Returns a number in brackets or with a minus after it, which are below zero, or 5,- for 5."""
    match = _ACCOUNTING.fullmatch(cell) if len(cell) <= _ACCOUNTING_CHARACTERS else None
    if match is None:
        return None
    text = (
        f"{match['prefix']}{match['inner'].strip()}"
        if match["inner"]
        else f"{match['before']}{match['after'] or ''}"
    )
    number = read_number(text)
    if number is None or number.is_accounting or number.sign:
        return None
    if match["dash"]:
        return replace(number, is_accounting=True)
    return replace(number, sign="-", is_accounting=True)


def _mark_of(body: str) -> Mark | None:
    """Returns what digits with marks prove of the decimal mark; None if they are no number."""
    if body.isdecimal():
        return None if len(body) > 1 and body[0] == "0" else Mark.NONE
    dots, commas = body.count("."), body.count(",")
    if dots and commas:
        last = max(body.rfind("."), body.rfind(","))
        mark, group = body[last], "," if body[last] == "." else "."
        integer, rest = body[:last], body[last + 1 :]
        if mark in integer or not rest.isdecimal() or not _is_grouped(integer, group):
            return None
        return Mark(mark)
    mark = "." if dots else ","
    if dots + commas > 1:
        # Groups by one mark prove that the other is the decimal mark.
        return Mark("," if mark == "." else ".") if _is_grouped(body, mark) else None
    integer, _, rest = body.partition(mark)
    if not rest.isdecimal() or (len(integer) > 1 and integer[0] == "0"):
        return None
    may_be_group = len(rest) == 3 and 1 <= len(integer) <= 3 and integer != "0"
    return Mark.EITHER if may_be_group else Mark(mark)


def _mark_after_groups(body: str) -> Mark | None:
    """Returns the mark where groups are made by other characters: what is left is decimal."""
    if body.isdecimal():
        return Mark.NONE
    mark = "." if "." in body else ","
    return Mark(mark) if body.count(".") + body.count(",") == 1 else None


def _is_grouped(integer: str, group: str) -> bool:
    first, *rest = integer.split(group)
    return (
        first.isdecimal()
        and len(first) <= 3
        and first[0] != "0"
        and bool(rest)
        and all(part.isdecimal() and len(part) == 3 for part in rest)
    )


def _unit_of(prefix: str, suffix: str, spaced: bool) -> tuple[str | None, bool]:
    """Returns a unit and whether it is known; None for what can be no unit."""
    if prefix and suffix:
        return None, False
    if prefix:
        known = _SYMBOLS.get(prefix, prefix)
        return (known, True) if known in _CURRENCIES or not prefix.isalpha() else (None, False)
    if not suffix:
        return "", True
    if suffix in _SYMBOLS:
        return _SYMBOLS[suffix], True
    if suffix in ("$", "\u00a5", "US$") or suffix in _CURRENCIES:
        return suffix, True
    if suffix in _UNITS:
        return (suffix, True) if spaced or suffix not in _NEEDS_SPACE else (None, False)
    # An unknown word may be a unit if the whole column has it.
    is_word = suffix.replace(" ", "").isalpha() and len(suffix) <= 12 and spaced
    return (suffix, False) if is_word else (None, False)


def is_currency(unit: str, /) -> bool:
    """Returns whether the unit of a number is a currency, by its code or sign."""
    return unit in _CURRENCIES or unit in ("$", "\u00a5")


def is_unit(word: str, /) -> str | None:
    """Returns the code of a word that is a known unit, a currency, or thousands and more of one.

    >>> [is_unit(word) for word in ("\u20ac", "kg", "TEUR", "Mio. \u20ac", "USD million", "m")]
    ['EUR', 'kg', 'TEUR', 'Mio. EUR', 'USD million', 'm']
    """
    code = _SYMBOLS.get(word, word)
    if is_currency(code) or code in _UNITS:
        return code
    match = _SCALED.fullmatch(word)
    if match is None:
        return None
    money = match["money"] or match["money_2"]
    code = _SYMBOLS.get(money, money)
    return word.replace(money, code) if is_currency(code) else None


# Dates

_MONTH_NAMES = {
    name.casefold(): index
    for names in (
        MONTHS,
        [month[:3] for month in MONTHS],
        [
            "januar",
            "februar",
            "märz",
            "april",
            "mai",
            "juni",
            "juli",
            "august",
            "september",
            "oktober",
            "november",
            "dezember",
        ],
        ["jän", "feb", "mär", "apr", "mai", "jun", "jul", "aug", "sep", "okt", "nov", "dez"],
        [
            "janvier",
            "février",
            "mars",
            "avril",
            "mai",
            "juin",
            "juillet",
            "août",
            "septembre",
            "octobre",
            "novembre",
            "décembre",
        ],
        [
            "enero",
            "febrero",
            "marzo",
            "abril",
            "mayo",
            "junio",
            "julio",
            "agosto",
            "septiembre",
            "octubre",
            "noviembre",
            "diciembre",
        ],
    )
    for index, name in enumerate(names, start=1)
} | {"sept": 9}
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


def quantity(cell: NumberCell, *, decimal: str, unit: str) -> Quantity | None:
    """Returns a number as a value; ``unit`` is that of numbers without one.

    None if the number may be two.
    """
    amount = cell.amount(decimal)
    decimal_amount = None if amount is None else decimal_text(amount)
    return None if decimal_amount is None else Quantity(decimal_amount, cell.unit or unit or None)
