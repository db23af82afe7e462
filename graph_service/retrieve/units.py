"""Units: what they measure, and which words of relations and of questions speak of that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from graph_service.retrieve.constraints.coverage import root
from graph_service.text.fold import fold, words

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
_GAINS = frozenset(
    map(root, ("salary", "wage", "income", "pay", "earnings", "bonus", "revenue", "turnover",
               "sales", "profit", "gross", "budget", "balance", "debt", "discount", "donation",
               "prize", "tax", "funding", "capital", "savings"))
)  # fmt: skip
"""What somebody gets, and nobody pays for a thing."""
_OF_DEGREE: Mapping[str, frozenset[str]] = {
    "tall": frozenset({"length"}), "deep": frozenset({"length"}), "wide": frozenset({"length"}),
    "thick": frozenset({"length"}), "far": frozenset({"length"}),
    "long": frozenset({"length", "time"}), "heavy": frozenset({"mass"}),
    "light": frozenset({"mass"}), "expensive": _MONEY, "cheap": _MONEY,
}  # fmt: skip
"""What an adjective after *how* asks for; others may be of several measures."""


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


def is_gain(label: str, /) -> bool:
    """Returns whether the name of a relation says that money is what someone gets, and no price."""
    return not _GAINS.isdisjoint(root(word) for word in words(label))


def measure_otherwise(degree: str, units: Iterable[str], /) -> bool:
    """Returns whether all of some units surely measure something else than an adjective asks for.

    >>> measure_otherwise("tall", ["kg"]), measure_otherwise("tall", ["cm"])
    (True, False)
    >>> measure_otherwise("high", ["EUR"]), measure_otherwise("tall", ["Q7727"])
    (False, False)
    """
    expected = _OF_DEGREE.get(degree)
    if expected is None:
        return False
    measures = [{unit.measures for unit in units_of(fold(each))} for each in units]
    return bool(measures) and all(each and each.isdisjoint(expected) for each in measures)
