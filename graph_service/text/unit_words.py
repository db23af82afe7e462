"""Words of units, and how much of the base unit each is."""

from __future__ import annotations

from collections.abc import Mapping

MEASURES: Mapping[str, Mapping[str, str]] = {
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
"""Words of a unit: what it measures, and how much of that."""
_SPANS_OF_TIME = ("day", "week", "month", "year")
"""Units that no question compares with others."""


def unit_pattern() -> str:
    """Returns a regular expression of a unit in one word, to be matched in any case.

    >>> import re
    >>> [bool(re.fullmatch(unit_pattern(), text)) for text in ("km", "years", "samurai")]
    [True, True, False]
    """
    names = {name for of_measure in MEASURES.values() for name in of_measure if name.isalpha()}
    every = sorted((*names, *_SPANS_OF_TIME), key=lambda name: (-len(name), name))
    return f"({'|'.join(every)})s?"
