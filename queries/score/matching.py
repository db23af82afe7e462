"""Whether a text names an answer: whole tokens, and renderings of dates and numbers (L8).

A text is folded (NFKC, lower case, no diacritics), articles are dropped, and a name is present
where its tokens follow one another in the text. The renderings that count:

* a number: with or without separators between thousands (``8,848`` ``8'848`` ``8 848``), trailing
  zeros of its decimals left out, ``minus 5`` for ``-5``; whole ones up to 20 as English words; whole
  thousands, and millions and billions to one decimal, in words (``1.5 million``);
* a date ``YYYY-MM-DD`` (month or day ``00`` where unknown, time of day ignored): ISO; day, month and year
  with the month in English words or their first three letters, in either order, the day also with ``st nd
  rd th`` and ``of``; day and month as numbers with ``/`` or ``.`` in either order; without a day, month and
  year; without a month, the year; before our era ``BC``, ``B.C.`` or ``BCE`` after the year.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from graph_service.model.text import fold, words

_ARTICLES = frozenset(("a", "an", "the"))
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
_NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>[-\u2212])?(?P<whole>\d{1,3}(?:[,'\u2019\u00a0\u202f]\d{3})+|\d+)"
    r"(?P<decimals>\.\d+)?(?!\d|\.\d|,\d{3}|(?:st|nd|rd|th)\b)"
)
_PLAIN_NUMBER = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[+-]?\d+(?:\.\d+)?")
_DATE = re.compile(r"(?P<year>[+-]?\d{4,})-(?P<month>\d\d)(?:-(?P<day>\d\d))?(?:T[\d:.]*Z?)?")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")

Tokens = tuple[str, ...]


@lru_cache(maxsize=4096)
def text_tokens(text: str, /) -> Tokens:
    """Returns the tokens that names are looked for in: folded words, numbers in one form.

    >>> text_tokens("The Éclair costs 1,234.50 francs.")
    ('eclair', 'costs', '1234.5', 'francs')
    """
    found: list[str] = []
    at = 0
    for number in _NUMBER.finditer(text):
        found.extend(words(text[at : number.start()]))
        digits = re.sub(r"\D", "", number["whole"])
        sign = "-" if number["sign"] else ""
        found.append(sign + _canonical(digits + (number["decimals"] or "")))
        at = number.end()
    found.extend(words(text[at:]))
    return tuple(token for token in found if token not in _ARTICLES)


def _canonical(number: str) -> str:
    """The one form of a number: leading zeros stay (dates have them), trailing decimals go."""
    return f"{Decimal(number).normalize():f}" if "." in number else number


@lru_cache(maxsize=4096)
def renderings(answer: str, /) -> frozenset[Tokens]:
    """Returns the token sequences under which an answer counts as named; empty where it has none.

    >>> ("11", "march", "1952") in renderings("1952-03-11")
    True
    >>> ("1.5", "million") in renderings("1500000")
    True
    """
    text = answer.strip()
    date = _DATE.fullmatch(text)
    if date is not None:
        return _date_renderings(int(date["year"]), int(date["month"]), int(date["day"] or 0))
    if _PLAIN_NUMBER.fullmatch(text):
        return _number_renderings(text.replace(",", ""))
    tokens = text_tokens(text)
    return frozenset((tokens,)) if tokens else frozenset()


def _number_renderings(text: str) -> frozenset[Tokens]:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return frozenset()
    size = abs(number)
    plain = f"{size.normalize():f}"
    shown: list[Tokens] = [(plain,), (text.lstrip("+-"),)]
    if size == size.to_integral_value():
        whole = int(size)
        if whole <= 20:
            shown.append((_SMALL[whole],))
        # Separated by spaces or full stops a number is read as its groups.
        groups = tuple(f"{whole:,}".split(","))
        if len(groups) > 1:
            shown.append(groups)
        for unit, name in ((10**3, "thousand"), (10**6, "million"), (10**9, "billion")):
            step = unit if unit == 10**3 else unit // 10
            if whole >= unit and whole % step == 0:
                shown.append((f"{(Decimal(whole) / unit).normalize():f}", name))
                if whole % unit == 0 and whole // unit <= 20:
                    shown.append((_SMALL[whole // unit], name))
    if number < 0:
        return frozenset(
            form
            for tokens in shown
            for form in ((f"-{tokens[0]}", *tokens[1:]), ("minus", *tokens))
        )
    return frozenset(shown)


def _date_renderings(year: int, month: int, day: int) -> frozenset[Tokens]:
    size = abs(year)
    years: list[Tokens] = [(str(size),), (f"{size:04d}",)]
    if year < 0:
        eras: tuple[Tokens, ...] = (("bc",), ("bce",), ("b", "c"))
        years = [(*shown, *era) for shown in years for era in eras]
    if not 1 <= month <= 12:
        return frozenset(years)
    name = _MONTHS[month - 1]
    names = (name, name[:3]) if month != 9 else (name, "sep", "sept")
    shown: list[Tokens] = []
    for at in years:
        shown.append((*at, f"{month:02d}"))
        if not day:
            shown.extend((named, *at) for named in names)
            shown.extend((named, "of", *at) for named in names)
            continue
        shown[-1] = (*at, f"{month:02d}", f"{day:02d}")
        days = [str(day), f"{day:02d}", f"{day}{_ordinal(day)}"]
        for said in days:
            for named in names:
                shown.append((said, named, *at))
                shown.append((said, "of", named, *at))
                shown.append((named, said, *at))
        for first, second in ((day, month), (month, day)):
            shown.append((str(first), str(second), *at))
            shown.append((f"{first:02d}", f"{second:02d}", *at))
    return frozenset(shown)


def _ordinal(day: int) -> str:
    if 11 <= day <= 13:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def names(text: str, answer: str, /) -> bool:
    """Returns whether a text names an answer.

    >>> names("She was born on March 11th, 1952, in Cambridge.", "1952-03-11")
    True
    >>> names("He sang in Romeo and Juliet.", "Rome")
    False
    """
    forms = renderings(answer)
    if not forms:
        # A name without words, such as "!!!", is looked for as it is written.
        return bool(answer.strip()) and fold(answer.strip()) in fold(text)
    tokens = text_tokens(text)
    for form in forms:
        if len(form) == 1 and _UNSPACED.match(form[0]):
            # Scripts without spaces have no whole tokens: any place in a run counts.
            if any(form[0] in token for token in tokens):
                return True
            continue
        width = len(form)
        for start in range(len(tokens) - width + 1):
            if tokens[start] == form[0] and tokens[start : start + width] == form:
                return True
    return False
