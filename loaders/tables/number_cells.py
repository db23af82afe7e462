"""Numbers as cells of tables write them, with the unit and what they prove of the decimal mark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from graph_service.model.values import Quantity
from loaders.rdf.values import decimal_text

_SYMBOLS = {
    "\u20ac": "EUR",
    "\u00a3": "GBP",
    "\u20b9": "INR",
    "\u20a9": "KRW",
    "\u20ba": "TRY",
    "\u20bd": "RUB",
    "\u20b4": "UAH",
    "\u20aa": "ILS",
    "\u20ab": "VND",
    "\u0e3f": "THB",
    "\u20b1": "PHP",
    "\u20a6": "NGN",
    "R$": "BRL",
    "\u5186": "JPY",
    "\u5143": "CNY",
    "\uc6d0": "KRW",
    "z\u0142": "PLN",
    "K\u010d": "CZK",
    "\u0440\u0443\u0431": "RUB",
    "\u0440\u0443\u0431.": "RUB",
}
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
    r"(?P<sign>[+\-\u2212\u2013]?)\s*(?P<prefix>[A-Z]{3}|US\$|R\$|[$\u00a3\u00a5\u0e3f\u20a0-\u20bf])?\s*"
    r"(?P<sign_2>[+\-\u2212\u2013]?)(?P<body>\d[\d.,'\u2019 \u00a0\u202f]*|[.,]\d+)(?P<exponent>[eE][+-]?\d{1,3})?"
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
    sign = "-" if (match["sign"] or match["sign_2"]) in ("-", "\u2212", "\u2013") else ""
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
    first, *middle, last = integer.split(group)
    return (
        all(part.isdecimal() for part in (first, *middle, last))
        and len(first) <= 3
        and first[0] != "0"
        and len(last) == 3
        and (all(len(part) == 3 for part in middle) or _is_indian(first, middle, group))
    )


def _is_indian(first: str, middle: Sequence[str], group: str) -> bool:
    """Returns whether digits are grouped as in India: 12,50,000 is 12 lakh and 50 thousand."""
    return group == "," and len(first) <= 2 and all(len(part) == 2 for part in middle)


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


def quantity(cell: NumberCell, *, decimal: str, unit: str) -> Quantity | None:
    """Returns a number as a value; ``unit`` is that of numbers without one.

    None if the number may be two.
    """
    amount = cell.amount(decimal)
    decimal_amount = None if amount is None else decimal_text(amount)
    return None if decimal_amount is None else Quantity(decimal_amount, cell.unit or unit or None)
