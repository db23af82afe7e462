"""Whether a text names an answer: whole tokens, and renderings of dates and numbers (L8).

The rule, with examples, stands in ``docs/reference/scores.md``. A text is folded (NFKC, lower case, no
diacritics) and split into parts. A mark between two parts that no space sets apart (``Jean-Paul``,
``O'Brien``, ``U.S.``, ``AT&T``) joins them into one token. A name is present where its parts follow one another
from the beginning of a token to the end of one. ``C#``, ``C++`` and ``.NET`` keep their marks; a
possessive ``'s`` is a token of its own. Articles count for nothing, but at the end of a name
(``Vitamin A``).

The renderings that count:

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
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from graph_service.text.fold import WORD_PATTERN, fold, is_unspaced
from graph_service.text.months import FOLDED_MONTHS

_ARTICLES = frozenset(("a", "an", "the"))
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


def _words_of(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_UNITS = _words_of("m km cm mm mi ft kg g mg t l ml kmh mph hz khz mhz ghz kb mb gb tb kw mw gw")
"""Units that may follow a number without a space."""
_AFTER_A_NAME = _words_of(
    "area based born educated era language led made nominated now owned present speaking style today "
    "trained winning"
)
"""What may follow a hyphen without being a part of the name before it: ``Paris-based``."""
_AFTER_A_NUMBER = _words_of(
    "time year month week day hour minute second man member page part point seat star storey foot "
    "inch mile metre meter"
)
"""What may follow a hyphen and is counted by the number before it: ``20-year-old``."""
_ELISIONS = _words_of("l d qu un all dall dell nell sull")
"""What French and Italian write before a name with an apostrophe: ``l'Italie``."""
_HYPHENS = frozenset("-\u2010\u2011")
_APOSTROPHES = frozenset("'\u2018\u2019\u02bc")
_JOINS = re.compile(r"[.&_@\u2044]|[#+]+")
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_THIN_SPACE = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_TOKEN = re.compile(
    r"(?P<sign>(?<![\w.,)\]'\u2019])[-\u2212])?"
    r"(?P<number>(?<!\d[.,'\u2019])(?:(?:\d{1,3}(?:[,'\u2019]\d{3})+|\d+)(?:\.\d+)?|(?<![\w.])\.\d+)"
    r"(?!\d|[.,'\u2019]\d))"
    rf"|(?P<word>(?:(?<![\w.)\]])\.(?=[^\W\d_])|\u00b0(?=[cf]\b))?{WORD_PATTERN}(?:[#+]+(?!\w))?)"
)
_PLAIN_NUMBER = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[+-]?\d+(?:\.\d+)?")
_DATE = re.compile(r"(?P<year>[+-]?\d{4,})-(?P<month>\d\d)(?:-(?P<day>\d\d))?(?:T[\d:.]*Z?)?")

Tokens = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of a text.

    Attributes:
        parts: In order.
        joined: Whether each part is joined to the one before it; one more, False, for the end.
    """

    parts: Tokens
    joined: tuple[bool, ...]

    def is_article(self, at: int, /) -> bool:
        """Returns whether a part is an article that stands alone."""
        return self.parts[at] in _ARTICLES and not (self.joined[at] or self.joined[at + 1])


@lru_cache(maxsize=4096)
def _parts_of(text: str) -> _Parts:
    folded = fold(_THIN_SPACE.sub(",", _INVISIBLE.sub("", text)))
    parts: list[str] = []
    joined: list[bool] = []
    end = 0
    after_number = False
    for match in _TOKEN.finditer(folded):
        between = folded[end : match.start()]
        end = match.end()
        part = match["word"] or _number(match["sign"], match["number"])
        follows = parts[-1] if parts else ""
        decade = part == "s" and after_number and follows.endswith("0")
        if (between == "" and after_number and _is_suffix(part)) or (
            between in _APOSTROPHES and decade
        ):
            # "1980s" and "1980's" are another token than 1980, as "3rd" is another than 3.
            parts[-1] += part
            after_number = False
            continue
        if part == "s" and parts and between in _APOSTROPHES:
            part, hangs = "'s", False
        else:
            hangs = bool(parts) and _is_joined(follows, between, part)
        parts.append(part)
        joined.append(hangs)
        after_number = match["word"] is None
    return _Parts(tuple(parts), (*joined, False))


def _number(sign: str | None, digits: str) -> str:
    return ("-" if sign else "") + _canonical(re.sub(r"[^\d.]", "", digits))


def _is_suffix(part: str) -> bool:
    """Whether letters right behind a number make another token of it."""
    return part not in _UNITS and not is_unspaced(part)


def _is_joined(before: str, between: str, part: str) -> bool:
    """Whether what stands between two parts joins them into one token."""
    if is_unspaced(before) or is_unspaced(part):
        return False
    after_number = before[0].isdigit()
    if between in _HYPHENS:
        if after_number and (part[0].isdigit() or part in _AFTER_A_NUMBER):
            return False
        return part not in _AFTER_A_NAME
    if between in _APOSTROPHES:
        return before not in _ELISIONS
    if between in (",", ":"):
        return after_number and part[0].isdigit()
    return _JOINS.fullmatch(between) is not None


def _name_tokens(name: str) -> Tokens:
    """The parts of a name without articles, but one at its end; empty where nothing is left."""
    parts = _parts_of(name)
    positions = [at for at in range(len(parts.parts)) if not parts.is_article(at)]
    last = len(parts.parts) - 1
    if positions and positions[-1] != last:
        positions.append(last)
    return tuple(parts.parts[at] for at in positions)


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
    tokens = _name_tokens(text)
    return frozenset((tokens,)) if tokens else frozenset()


def _number_renderings(text: str) -> frozenset[Tokens]:
    number = Decimal(text)
    size = abs(number)
    plain = f"{size.normalize():f}"
    shown: list[Tokens] = [(plain,), (text.lstrip("+-"),)]
    if size == size.to_integral_value():
        integer = int(size)
        if integer <= 20:
            shown.append((_SMALL[integer],))
        # Separated by spaces or full stops a number is read as its groups.
        groups = tuple(f"{integer:,}".split(","))
        if len(groups) > 1:
            shown.append(groups)
        for unit, name in ((10**3, "thousand"), (10**6, "million"), (10**9, "billion")):
            step = unit if unit == 10**3 else unit // 10
            if integer >= unit and integer % step == 0:
                shown.append((f"{(Decimal(integer) / unit).normalize():f}", name))
                if integer % unit == 0 and integer // unit <= 20:
                    shown.append((_SMALL[integer // unit], name))
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
    name = FOLDED_MONTHS[month - 1]
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
        for words in days:
            for named in names:
                shown.append((words, named, *at))
                shown.append((words, "of", named, *at))
                shown.append((named, words, *at))
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
    >>> names("He sang in Romeo and Juliet.", "Rome"), names("It is written in C#.", "C")
    (False, False)
    """
    forms = renderings(answer)
    if not forms:
        # A name without words, such as "!!!", is looked for as it is written.
        written = re.escape(fold(answer.strip()))
        return bool(written) and bool(re.search(rf"(?<![^\W_]){written}(?![^\W_])", fold(text)))
    parts = _parts_of(text)
    firsts = {form[0] for form in forms}
    anywhere = any(is_unspaced(first) for first in firsts)
    positions = [at for at, part in enumerate(parts.parts) if anywhere or part in firsts]
    return any(_stands_at(parts, start, form) for form in forms for start in positions)


def is_name(text: str, answer: str, /) -> bool:
    """Returns whether a text is an answer's name or a rendering of it, and nothing beside.

    >>> is_name("the Beatles", "Beatles"), is_name("11 March 1952", "1952-03-11")
    (True, True)
    >>> is_name("not born in Rome", "Rome")
    False
    """
    forms = renderings(answer)
    return _name_tokens(text) in forms if forms else fold(text.strip()) == fold(answer.strip())


def _stands_at(parts: _Parts, start: int, form: Sequence[str]) -> bool:
    """Whether the parts of a name begin at a place of a text and end with a token of it."""
    if parts.joined[start]:
        return False
    at = start
    last = len(form) - 1
    for index, expected in enumerate(form):
        while (
            index and at < len(parts.parts) and parts.parts[at] != expected and parts.is_article(at)
        ):
            at += 1
        if at == len(parts.parts) or not _is_part(parts.parts[at], expected, index, last):
            return False
        at += 1
    return not parts.joined[at]


def _is_part(part: str, expected: str, number: int, last: int) -> bool:
    """Whether a part of a text is the one of a name that is wanted.

    Scripts without spaces have no whole tokens: a name may begin and end within a run.
    """
    if part == expected:
        return True
    if not (is_unspaced(expected) and is_unspaced(part)):
        return False
    if number == last == 0:
        return expected in part
    return (number == 0 and part.endswith(expected)) or (
        number == last and part.startswith(expected)
    )
