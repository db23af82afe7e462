"""Numbers of a question that are amounts, and so no part of a name: ``over 100``, ``5 kg``."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from graph_service.link.question import Atom

_COMPARING = frozenset(
    [
        "than",
        "over",
        "under",
        "above",
        "below",
        "exceeding",
        "exceeds",
        "least",
        "most",
        "exactly",
        "about",
        "around",
        "approximately",
        "between",
        "costs",
        "cost",
        "weigh",
        "weighs",
    ]
)
"""Words before an amount; ``than``, ``least`` and ``most`` end *more than*, *at least*, *at most*."""

_UNITS = frozenset(
    [
        "kg",
        "g",
        "mg",
        "lb",
        "lbs",
        "t",
        "km",
        "m",
        "cm",
        "mm",
        "ft",
        "mi",
        "kmh",
        "mph",
        "ha",
        "l",
        "ml",
        "kw",
        "kwh",
        "mw",
        "gb",
        "mb",
        "tb",
        "hz",
        "v",
        "w",
        "percent",
        "euro",
        "eur",
        "usd",
        "gbp",
        "dollar",
        "pound",
        "yen",
        "franc",
        "kilo",
        "kilogram",
        "gram",
        "ton",
        "tonne",
        "kilometre",
        "kilometer",
        "metre",
        "meter",
        "centimetre",
        "centimeter",
        "millimetre",
        "millimeter",
        "mile",
        "foot",
        "feet",
        "inch",
        "litre",
        "liter",
        "minute",
        "hour",
        "day",
        "week",
        "month",
        "year",
        "century",
        "second",
        "degree",
        "million",
        "billion",
        "thousand",
        "hundred",
        "people",
        "times",
    ]
)
_SIGNS_BEFORE = frozenset("$€£¥<>≥≤=~")
_SIGNS_AFTER = frozenset("%€$£¥°")


def quantities(
    question: str, atoms: Sequence[Atom], relation_words: Collection[str], /
) -> frozenset[int]:
    """Returns the indices of the atoms that are numbers of an amount.

    Args:
        question: As written.
        atoms: Its words.
        relation_words: Words that names of relations are made of: a number before one (``grams`` of
            ``weight in grams``) is an amount where the word is a plural.

    >>> from graph_service.link.question import read_atoms
    >>> text = "Which parts of Pump P-100 weigh over 1.5 kg and cost 20 euros?"
    >>> atoms = read_atoms(text)
    >>> [atoms[place].text for place in sorted(quantities(text, atoms, ()))]
    ['1', '5', '20']
    """
    amounts: set[int] = set()
    start = 0
    while start < len(atoms):
        end = start + 1
        if not atoms[start].text.isdigit():
            start = end
            continue
        while end < len(atoms) and atoms[end].tight and atoms[end].text.isdigit():
            end += 1
        if _is_amount(question, atoms, start, end, relation_words):
            amounts.update(range(start, end))
        start = end
    return frozenset(amounts)


def _is_amount(
    question: str, atoms: Sequence[Atom], left: int, right: int, relation_words: Collection[str]
) -> bool:
    first, last = atoms[left], atoms[right - 1]
    if left and atoms[left - 1].tight and first.tight:
        return False
    if question[: first.start].rstrip()[-1:] in _SIGNS_BEFORE and not first.first:
        return True
    if question[last.end :].lstrip()[:1] in _SIGNS_AFTER and question[last.end :].strip():
        return True
    tied = first.tight and left > 0 and atoms[left - 1].text.isalpha()
    if left and not tied and atoms[left - 1].text in _COMPARING:
        return True
    after = atoms[right] if right < len(atoms) else None
    if after is None or tied or not after.near or after.capital:
        return False
    singular = after.text.removesuffix("s")
    return after.text in _UNITS or singular in _UNITS or (singular != after.text in relation_words)
