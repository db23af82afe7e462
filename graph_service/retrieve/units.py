"""Units: what they measure, and which words of relations and of questions speak of that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from graph_service.retrieve.constraints.coverage import root
from graph_service.text.fold import fold, words
from graph_service.text.unit_words import MEASURES

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
        for measure, names_of in MEASURES.items()
        for name in names
        if name in names_of and (name == word or len(name) > 2)
    )


def is_money_word(label: str, /) -> bool:
    """Returns whether the name of a relation says that its numbers are of money."""
    roots = {root(word) for word in words(label)}
    return not roots.isdisjoint(map(root, _OF_MEASURE["money"]))


def in_base(number: Decimal, unit: str | None, /) -> tuple[str, Decimal] | None:
    """Returns what a unit measures and how much a number of it is in the base unit of that; None for
    a unit that is not known, or for one of several meanings.

    >>> in_base(Decimal("1.5"), "km"), in_base(Decimal(3), "Q11573")
    (('length', Decimal('1500.0')), None)
    """
    units = units_of(fold(unit or ""))
    return (units[0].measures, number * units[0].factor) if len(units) == 1 else None


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
