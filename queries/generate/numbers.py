"""Citations by number in the words of a bracket: ``1, 2``, ``Fact 1``, ``S1``, ``^1``, ``1†source``.

A bracket whose words try to cite and name no number is a citation too, and one that cannot be read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

_MOST_RANGE = 50
NA = re.compile(r"\s*N\.?\s?/?\s?A\.?\s*", re.IGNORECASE)

_SOURCE = (
    r"facts?|sources?|citations?|cites?|refs?|references?|statements?|triples?|triplets?|evidence"
    r"|passages?|docs?|documents?|footnotes?|fakt(?:en|um)?|quellen?|faits?|fuentes?|hechos?"
    r"|факты?|источники?|事实|事實|来源|來源|出典|資料"
)
_SEE = r"(?:(?:see|cf\.?|per|by|from)\s+)?"
_CITES = re.compile(rf"{_SEE}(?:{_SOURCE})(?![^\W\d_])", re.IGNORECASE)
_WORD_ALONE = re.compile(rf"{_SEE}(?:{_SOURCE})\W*", re.IGNORECASE)
_WORD_NAMES = re.compile(
    rf"{_SEE}(?:{_SOURCE})(?:\s*[:=#]|[^\d]*\d|\s+(?:one|two|three|four|five)\W*$)",
    re.IGNORECASE,
)
_LOCATOR = re.compile(r"(?:pp?|pages?|lines?|sec|section)\b\.?\s*\d.*", re.IGNORECASE)
_NUMBERED = (
    r"see|cf|items?|lines?|notes?|numbers?|no|nos|nr|num|ids?|knowledge|contexts?|chunks?|snippets?"
    r"|excerpts?|results?|entry|entries|stmts?"
)
# An initial of fact, triple, citation, reference, evidence, document or knowledge is one only with a
# number that was offered: [c1948] is a year.
_INITIAL = r"(?:([ftcredk])|s)[-_]?(?=\d)"
_BEFORE = (
    rf"\^?(?:{_SEE}(?:{_SOURCE}|{_NUMBERED})(?![^\W\d_])[\s.:=#^@°_-]*){{0,2}}"
    rf"[\s.:=#^@°_-]*(?:{_INITIAL})?"
)
_PART = re.compile(
    rf"{_BEFORE}(\d{{1,6}})(?:\s*†[^†]*)?"
    rf"(?:\s*(?:[-–—−~]|\.\.+|…|to|bis|through)\s*{_BEFORE}(\d{{1,6}})(?:\s*†[^†]*)?)?[\s.:)^]*",
    re.IGNORECASE,
)
_LIST = re.compile(r"\s*[,;]\s*")
_JOINED = re.compile(
    r"\s*(?:[&•、]|\b(?:and|und|et|y|e|и)\b|和|及)\s*|\s+(?=\d)(?<=\d\s)", re.IGNORECASE
)
# They join numbers, and also dates (12/05/1948): read where each number is one that was offered.
_SLASHED = re.compile(r"\s*[/|+]\s*")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+")
_AROUND = " \t\\*_`\"'“”‘’<>{}()"


@dataclass(frozen=True, slots=True)
class Numbers:
    """What a bracket cites by number.

    Attributes:
        numbers: In order, ranges spelled out; None for a part that tries to cite and names none.
        not_available: Whether it holds ``NA``.
    """

    numbers: tuple[int | None, ...]
    not_available: bool


def read_numbers(words: str, most: int, /) -> Numbers | None:
    """Returns the numbers that the words of a bracket cite; None for words that don't try to cite.

    Args:
        words: Between the brackets.
        most: The greatest number that was offered.

    >>> read_numbers("Facts 1 and 3-4", 9).numbers, read_numbers("^2", 9).numbers
    ((1, 3, 4), (2,))
    >>> read_numbers("source: a book", 9).numbers, read_numbers("sic", 9)
    ((None,), None)
    """
    # A model copies characters that show nothing, such as a space of no width.
    seen = "".join(each for each in words if unicodedata.category(each) != "Cf")
    text = unicodedata.normalize("NFKC", seen).replace("\\", "").strip(_AROUND)
    if _THOUSANDS.fullmatch(text):
        groups = text.split(",")
        if not _all_offered(map(int, groups), most) or any(group[0] == "0" for group in groups):
            return None
    pieces = [piece.strip(_AROUND) for piece in _LIST.split(text)]
    numbers: list[int | None] = []
    not_available = False
    unread = 0
    for piece in pieces:
        if NA.fullmatch(piece):
            not_available = True
            continue
        if len(pieces) > 1 and (not piece or _LOCATOR.fullmatch(piece)):
            continue
        for part in _parts(piece, most):
            read = _read_part(part, most)
            unread += not read
            numbers.extend(read or (None,))
    if not unread:
        return Numbers(tuple(numbers), not_available) if numbers or not_available else None
    first = re.fullmatch(r"\d{1,6}", pieces[0])
    tries = (
        "†" in text
        or _WORD_ALONE.fullmatch(text) is not None
        or _WORD_NAMES.match(text) is not None
        or (len(pieces) > 1 and first is not None and 1 <= int(first[0]) <= most)
    )
    return Numbers(tuple(numbers), not_available) if tries else None


def cites_in_words(words: str, /) -> bool:
    """Returns whether words begin as a citation does: ``Fact 1``, ``see source 2``."""
    return _CITES.match(unicodedata.normalize("NFKC", words).strip(_AROUND)) is not None


def _parts(piece: str, most: int) -> list[str]:
    parts = [part for each in _JOINED.split(piece) if (part := each.strip(_AROUND))] or [piece]
    slashed = [part for each in parts for part in _SLASHED.split(each)]
    if len(slashed) > len(parts) and all(
        part.isdecimal() and 1 <= int(part) <= most for part in slashed
    ):
        return slashed
    return parts


def _read_part(part: str, most: int) -> list[int | None]:
    """Returns the numbers of one part, such as ``3-4``; none for words that name no number."""
    match = _PART.fullmatch(part)
    if match is None:
        return []
    initial, low, second_initial, high = match.groups()
    numbers = _range(int(low), int(high or low), most)
    if (initial or second_initial) and not _all_offered(numbers, most):
        return []
    return numbers


def _all_offered(numbers: Iterable[int | None], most: int) -> bool:
    return all(index is not None and 1 <= index <= most for index in numbers)


def _range(low: int, high: int, most: int) -> list[int | None]:
    # A range such as [1952-1999] is a span of years rather than 48 citations.
    if low <= most and 0 <= high - low < _MOST_RANGE:
        return list(range(low, high + 1))
    return [None]
