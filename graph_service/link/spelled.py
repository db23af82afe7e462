"""Names of letters and digits in other spellings: initials, codes, abbreviations, short countries.

``R.U.N.`` is also written RUN, ``AB-14`` AB14, ``St Paul`` Saint Paul; and of a country people say
the short name where a graph may have the official one alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from graph_service.link.countries import country_names
from graph_service.link.question import Atom, is_content
from graph_service.text.relation_phrases import asking_words

_MOST_LETTERS = 5
_CODE = re.compile(r"([a-z]{1,4})(\d+)|(\d+)([a-z]{1,4})")

_ABBREVIATED: Mapping[str, str] = {"st": "saint", "mt": "mount", "ft": "fort"}


def other_spellings(atoms: Sequence[Atom], /, *, capitals: bool) -> Iterator[str]:
    """Yields the names that some words in a row may be written as in the graph, in normal form.

    Args:
        atoms: The words.
        capitals: Whether capitals tell names in the question: then only words all in capitals may
            be initials.
    """
    texts = [atom.text for atom in atoms]
    yield from map(" ".join, code_spellings(atoms))
    apart = [part for atom in atoms for part in _letters(atom, capitals)]
    if apart != texts:
        yield " ".join(apart)
    longer = [_ABBREVIATED.get(text, text) for text in texts]
    if longer != texts and len(texts) > 1:
        yield " ".join(longer)
    yield from country_names(" ".join(texts))
    if len(texts) > 1 and all(len(text) == 1 for text in texts):
        # ``U.S.``
        joined = "".join(texts)
        yield from ((joined, *country_names(joined)) if country_names(joined) else ())


def code_spellings(atoms: Sequence[Atom], /) -> Iterator[list[str]]:
    """Yields some words in a row with their codes and initials joined, and with their codes parted,
    where that makes a difference.
    """
    texts = [atom.text for atom in atoms]
    joined = _joined(atoms)
    if joined != texts:
        yield joined
    parted = [part for text in texts for part in _code_parts(text)]
    if parted != texts:
        yield parted


def may_bound_part(atoms: Sequence[Atom], left: int, right: int, /) -> bool:
    """Returns whether a part of a name may begin and end where a run does: at content words, or at
    the letter of a code (``S-12``).
    """
    first, last = atoms[left], atoms[right - 1]
    coded = right - left > 1 and atoms[left + 1].tight and atoms[left + 1].text.isdigit()
    begins = is_content(first) or (len(first.text) == 1 and coded)
    closes = is_content(last) or (last.tight and last.text.isdigit())
    return begins and closes and not (first.unspaced or last.unspaced)


def _joined(atoms: Sequence[Atom]) -> list[str]:
    """Returns the words with those of one letter or of digits joined that only a sign parts."""
    joined: list[str] = []
    short: list[bool] = []
    for atom in atoms:
        is_short = len(atom.text) == 1 or atom.text.isdigit()
        if joined and atom.tight and is_short and short[-1] and not joined[-1].isdigit():
            joined[-1] += atom.text
        else:
            joined.append(atom.text)
            short.append(is_short)
    return joined


def _code_parts(text: str) -> Sequence[str]:
    """Returns the letters and the digits of a code, or the word."""
    code = _CODE.fullmatch(text)
    return [text] if code is None else [part for part in code.groups() if part]


def _letters(atom: Atom, capitals: bool) -> Sequence[str]:
    """Returns the letters of what may be initials, or the word."""
    is_short = 1 < len(atom.text) <= _MOST_LETTERS and atom.text.isalpha() and atom.text.isascii()
    may_be = atom.shouted or not (capitals or atom.text in asking_words())
    return list(atom.text) if is_short and may_be else [atom.text]
