"""Numbers that a question compares values with: ``less than 10 euros``, ``between 5 and 8 kg``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from graph_service.query.algebra import Comparison
from graph_service.retrieve.constraints.coverage import root
from graph_service.retrieve.constraints.dates import lowered
from graph_service.text.fold import words

_OVER, _UNDER = Comparison.OVER, Comparison.UNDER
_LEAST, _MOST, _EQUAL = Comparison.AT_LEAST, Comparison.AT_MOST, Comparison.EQUAL
_COMPARES: tuple[tuple[str, Comparison], ...] = (
    (r"(?:no|not) (?:more|greater|higher|longer|heavier) than|at most|up to|(?:a )?maximum(?: of)?"
     r"|(?:no|not) (?:above|over)|<=|≤", _MOST),
    (r"(?:no|not) (?:less|fewer|lower|shorter|lighter|cheaper) than|at least"
     r"|(?:a )?minimum(?: of)?|>=|≥", _LEAST),
    (r"(?:more|greater|higher|larger|bigger|longer|taller|heavier|dearer|older) than"
     r"|more expensive than|over|above|exceed(?:s|ing)?|beyond|>", _OVER),
    (r"(?:less|fewer|lower|smaller|shorter|lighter|cheaper|younger) than|less expensive than"
     r"|under|below|<", _UNDER),
    (r"exactly|equal to|precisely|=", _EQUAL),
)  # fmt: skip
_MAGNITUDES = {"hundred": 2, "thousand": 3, "k": 3, "million": 6, "m": 6, "billion": 9, "bn": 9}
_SIGNS = {"€": "euro", "$": "dollar", "£": "pound", "¥": "yen", "%": "percent"}
_AMOUNT = (
    r"(?P<sign{n}>[€$£¥]\s?)?(?P<amount{n}>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:\s?(?P<times{n}>hundred|thousand|million|billion|bn)\b)?(?:\s?(?P<after{n}>[€$£¥%]))?"
)
_WORDS = "|".join(rf"(?P<c{n}>(?<!\w)(?:{words}))" for n, (words, _) in enumerate(_COMPARES))
_COMPARED = re.compile(
    rf"(?:{_WORDS})?\s*(?<![\w.,-]){_AMOUNT.format(n='')}(?!\w)"
    r"(?P<more>\s+or\s+(?:more|above|over|higher|longer))?"
    r"(?P<less>\s+or\s+(?:less|fewer|below|under|lower|shorter))?"
)
_BETWEEN = re.compile(
    rf"\b(?:between|from)\s+{_AMOUNT.format(n='1')}\s+(?:and|to)\s+{_AMOUNT.format(n='2')}(?!\w)"
)
_COMPARATIVE = re.compile(r"\b(more expensive|less expensive|\w+er)\s+than$")
_UNIT_WORD = re.compile(r"[\s-]?((?:(?:square|cubic) )?[a-z]+[23\u00b2\u00b3]?)(?!\w)")

# Words of a unit: what it measures, and how much of that.
_MEASURES: Mapping[str, Mapping[str, str]] = {
    "mass": {"mg": "0.001", "milligram": "0.001", "g": "1", "gram": "1", "gramme": "1",
             "kg": "1000", "kilo": "1000", "kilogram": "1000", "t": "1000000", "ton": "1000000",
             "tonne": "1000000", "lb": "453.59237", "pound": "453.59237", "oz": "28.349523125",
             "ounce": "28.349523125"},
    "length": {"mm": "0.001", "millimetre": "0.001", "millimeter": "0.001", "cm": "0.01",
               "centimetre": "0.01", "centimeter": "0.01", "m": "1", "metre": "1", "meter": "1",
               "km": "1000", "kilometre": "1000", "kilometer": "1000", "mile": "1609.344",
               "ft": "0.3048", "foot": "0.3048", "feet": "0.3048", "inch": "0.0254",
               "inches": "0.0254"},
    "area": {"m2": "1", "m\u00b2": "1", "sqm": "1", "square metre": "1", "square meter": "1",
             "km2": "1000000", "km\u00b2": "1000000", "square kilometre": "1000000",
             "square kilometer": "1000000", "ha": "10000", "hectare": "10000",
             "acre": "4046.8564224", "ft2": "0.09290304", "sqft": "0.09290304",
             "square foot": "0.09290304", "square feet": "0.09290304"},
    "volume": {"l": "1", "litre": "1", "liter": "1", "ml": "0.001", "cl": "0.01",
               "m3": "1000", "m\u00b3": "1000", "cubic metre": "1000", "cubic meter": "1000"},
    "power": {"w": "1", "watt": "1", "kw": "1000", "mw": "1000000"},
    "storage": {"kb": "1", "mb": "1000", "gb": "1000000", "tb": "1000000000"},
    "time": {"second": "1", "sec": "1", "s": "1", "min": "60", "minute": "60", "h": "3600",
             "hour": "3600"},
    "share": {"percent": "1", "%": "1"},
    "euro": {"euro": "1", "eur": "1"},
    "dollar": {"dollar": "1", "usd": "1", "buck": "1"},
    "pound": {"pound": "1", "gbp": "1", "quid": "1"},
    "yen": {"yen": "1", "jpy": "1"},
}  # fmt: skip
_MONEY = frozenset({"euro", "dollar", "pound", "yen"})
_OF_MEASURE: Mapping[str, frozenset[str]] = {
    "mass": frozenset({"mass", "weight", "load"}),
    "length": frozenset({"length", "height", "width", "depth", "distance", "elevation", "size"}),
    "time": frozenset({"duration", "time", "length", "runtime"}),
    "area": frozenset({"area", "size", "surface"}),
    "volume": frozenset({"volume", "capacity", "size"}),
    "power": frozenset({"power", "output", "capacity"}),
    "storage": frozenset({"storage", "memory", "size", "capacity"}),
    "share": frozenset({"share", "percentage", "rate", "germination", "discount"}),
    "money": frozenset(
        {"price", "cost", "salary", "wage", "budget", "revenue", "fee", "pay", "income", "worth",
         "value", "turnover", "freight", "rent", "gross", "fine", "charge", "bill", "tax", "toll",
         "total", "amount"}
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unit:
    """What a unit measures: money of a currency by its word, else a quantity by its name.

    Attributes:
        factor: How much of the base unit it is.
    """

    measures: str
    factor: Decimal

    @property
    def is_money(self) -> bool:
        """Returns whether it is one of a currency."""
        return self.measures in _MONEY

    @property
    def relation_words(self) -> frozenset[str]:
        """Words of relations that are measured so."""
        return _OF_MEASURE.get("money" if self.measures in _MONEY else self.measures, frozenset())


@dataclass(frozen=True, slots=True)
class ComparedAmount:
    """A number that a question compares with.

    Attributes:
        bounds: Each comparison, and the number as the question says it.
        units: What its unit may be; empty for none.
        start, end: Characters.
        degree: Its comparative (``cheaper``), or nothing.
    """

    bounds: tuple[tuple[Comparison, Decimal], ...]
    units: tuple[Unit, ...]
    start: int
    end: int
    degree: str = ""


def units_of(word: str, /) -> tuple[Unit, ...]:
    """Returns the units that a folded word may mean.

    >>> [unit.measures for unit in units_of("pounds")]
    ['mass', 'pound']
    """
    names = dict.fromkeys((word, word.removesuffix("s")))
    return tuple(
        Unit(measure, Decimal(names_of[name]))
        for measure, names_of in _MEASURES.items()
        for name in names
        if name in names_of and (name == word or len(name) > 2)
    )


def is_money_word(label: str, /) -> bool:
    """Returns whether the name of a relation says that its numbers are of money."""
    roots = {root(word) for word in words(label)}
    return not roots.isdisjoint(map(root, _OF_MEASURE["money"]))


def read_amounts(question: str, /) -> list[ComparedAmount]:
    """Returns the numbers that a question compares with, in order.

    >>> [(said.bounds[0][0].value, str(said.bounds[0][1])) for said in read_amounts("under 1,500 kg")]
    [('<', '1500')]
    """
    folded = lowered(question)
    amounts = [_between(folded, match) for match in _BETWEEN.finditer(folded)]
    for match in _COMPARED.finditer(folded):
        if not any(match.start() < each.end and each.start < match.end() for each in amounts):
            amounts.append(_single(folded, match))
    return sorted(amounts, key=lambda each: each.start)


def _single(folded: str, match: re.Match[str]) -> ComparedAmount:
    comparison = _EQUAL
    for index, (_, meant) in enumerate(_COMPARES):
        if match[f"c{index}"]:
            comparison = meant
    if match["more"]:
        comparison = _LEAST
    if match["less"]:
        comparison = _MOST
    end, units = _unit(folded, match, "", match.end())
    start = match.start() + len(match[0]) - len(match[0].lstrip())
    degree = _COMPARATIVE.search(folded[: match.start("amount")].rstrip(" €$£¥"))
    word = degree[1] if degree and degree.start() >= start else ""
    return ComparedAmount(((comparison, _amount(match, "")),), units, start, end, word)


def _between(folded: str, match: re.Match[str]) -> ComparedAmount:
    low, high = _amount(match, "1"), _amount(match, "2")
    end, units = _unit(folded, match, "2", match.end())
    _, first = _unit(folded, match, "1", match.end("amount1"))
    return ComparedAmount(((_LEAST, low), (_MOST, high)), units or first, match.start(), end)


def _amount(match: re.Match[str], which: str) -> Decimal:
    number = Decimal(match[f"amount{which}"].replace(",", ""))
    times = match[f"times{which}"]
    return number.scaleb(_MAGNITUDES[times]) if times else number


def _unit(folded: str, match: re.Match[str], which: str, end: int) -> tuple[int, tuple[Unit, ...]]:
    """Returns where an amount with its unit ends, and what the unit may be."""
    sign = (match[f"sign{which}"] or match[f"after{which}"] or "").strip()
    if sign:
        return end, units_of(_SIGNS[sign])
    word = _UNIT_WORD.match(folded, end)
    units = units_of(word[1]) if word else ()
    return (word.end(), units) if word and units else (end, ())
