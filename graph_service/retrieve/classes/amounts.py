"""Numbers that a question compares values with: ``less than 10 euros``, ``between 5 and 8 kg``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from graph_service.query.algebra import Comparison
from graph_service.retrieve.units import Unit, units_of
from graph_service.text.fold import lowered

_OVER, _UNDER = Comparison.OVER, Comparison.UNDER
_LEAST, _MOST, _EQUAL = Comparison.AT_LEAST, Comparison.AT_MOST, Comparison.EQUAL
_COMPARES: tuple[tuple[str, Comparison], ...] = (
    (r"(?:no|not) (?:more|greater|higher|longer|heavier) than|at most|up to|(?:a )?maximum(?: of)?"
     r"|(?:no|not) (?:above|over)|<=|≤", _MOST),
    (r"(?:no|not) (?:less|fewer|lower|shorter|lighter|cheaper) than|at least"
     r"|(?:a )?minimum(?: of)?|>=|≥", _LEAST),
    (r"(?:more|greater|higher|larger|bigger|longer|taller|heavier|dearer|older|deeper|wider|faster)"
     r" than"
     r"|more expensive than|over|above|exceed(?:s|ing)?|beyond|>", _OVER),
    (r"(?:less|fewer|lower|smaller|shorter|lighter|cheaper|younger|shallower|narrower"
     r"|slower) than|less expensive than"
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
