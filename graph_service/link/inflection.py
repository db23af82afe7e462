"""Base forms that words of a sentence may have: under those a name is listed.

Endings of Russian cases (``мать Пушкина``: Пушкин), particles tied to a Korean word, prepositions
and articles tied to an Arabic or Hebrew one, the ``s`` of English plurals and of possessives
without an apostrophe. The rules say what a form may come from, not what it does: the graph's names
decide. All words are folded, so й is и and ё is е.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, product

_LONGEST_WORD = 60
"""No longer word is inflected, or kept."""
_MAX_FORMS_A_CASE = 48
_LEAST_STEM = 2

_ENDINGS_TEXT = """
    ations ation ating ments ated ates ings ions ment ate ers ing ion ors al ed er es ly or e s
"""
_WORD_ENDINGS = tuple(_ENDINGS_TEXT.split())
"""Of English words, the longest first."""
_LEAST_ENGLISH_STEM = 4

# Ending of a case -> endings of the nominative.
_Endings = Mapping[str, tuple[str, ...]]
_GENITIVE: _Endings = {
    "а": ("", "о"),
    "я": ("и", "ь", "е"),
    "ы": ("а",),
    "и": ("я", "ь", "а"),
    "ого": ("ыи", "ои", "ии", "ое"),
    "его": ("ии", "ее"),
    "ои": ("ая", "а"),
    "еи": ("яя", "ая", "и"),
    "ов": ("ы",),
    "ев": ("и", "ы"),
    "ых": ("ые",),
    "их": ("ие",),
}
_DATIVE: _Endings = {
    "у": ("", "о"),
    "ю": ("и", "ь", "е"),
    "е": ("а", "я"),
    "и": ("я", "ь"),
    "ому": ("ыи", "ои", "ии", "ое"),
    "ему": ("ии", "ее"),
    "ои": ("ая", "а"),
    "еи": ("яя", "ая"),
    "ам": ("ы",),
    "ям": ("и",),
    "ым": ("ые",),
    "им": ("ие",),
}
_ACCUSATIVE: _Endings = {"у": ("а",), "ю": ("я",), "ую": ("ая",), "юю": ("яя",)}
_INSTRUMENTAL: _Endings = {
    "ом": ("", "о"),
    "ем": ("и", "ь", "е", ""),
    "ым": ("", "ыи", "ои", "ое"),
    "им": ("ии", "ее"),
    "ои": ("а", "ая"),
    "еи": ("я", "а", "яя"),
    "ью": ("ь",),
    "ами": ("ы",),
    "ями": ("и",),
    "ыми": ("ые",),
    "ими": ("ие",),
}
_PREPOSITIONAL: _Endings = {
    "е": ("", "а", "я", "и", "ь", "о", "е"),
    "и": ("я", "ь"),
    "у": ("",),
    "ом": ("ыи", "ои", "ии", "ое"),
    "ем": ("ии", "ее"),
    "ои": ("ая", "а"),
    "еи": ("яя", "ая"),
    "ах": ("ы",),
    "ях": ("и",),
    "ых": ("ые",),
    "их": ("ие",),
}
_CASES = (_GENITIVE, _DATIVE, _ACCUSATIVE, _INSTRUMENTAL, _PREPOSITIONAL)
_CYRILLIC = re.compile(r"[\u0400-\u04ff]+")
# Павла: Павел.
_FLEETING = re.compile(r"(.*[бвгджзклмнпрстфхцчшщ])([клнрц])")

_HANGUL = re.compile(r"[\uac00-\ud7a3]+")
_KOREAN = (
    *(
        "이라는",
        "에서는",
        "으로",
        "에서",
        "에게",
        "까지",
        "부터",
        "이란",
        "라는",
        "이나",
        "과",
        "와",
    ),
    *("의", "은", "는", "이", "가", "을", "를", "에", "로", "도", "만"),
)
_ARABIC = re.compile(r"[\u0620-\u064a]+")
_ARABIC_PREFIX = re.compile(r"[وف]?(?:[بكل]|ال)?")
_HEBREW = re.compile(r"[\u05d0-\u05ea]+")
_HEBREW_PREFIX = re.compile(r"[וש]?[הבכלמ]?")


def base_forms(words: Sequence[str], /) -> Iterator[str]:
    """Yields the names that some words of a sentence may be a form of, not the words themselves.

    Args:
        words: Folded, next to each other.

    >>> "александр пушкин" in set(base_forms(["александра", "пушкина"]))
    True
    >>> list(base_forms(["서울의"])), "باريس" in set(base_forms(["وباريس"]))
    (['서울'], True)
    """
    first, last = words[0], words[-1]
    if any(_CYRILLIC.fullmatch(word) for word in words):
        yield from _nominatives(words)
    elif _HANGUL.fullmatch(last):
        for particle in _KOREAN:
            if last.endswith(particle) and len(last) > len(particle) + 1:
                yield " ".join([*words[:-1], last.removesuffix(particle)])
    elif _ARABIC.fullmatch(first):
        for stem in _without_prefix(first, _ARABIC_PREFIX):
            yield " ".join([stem, *words[1:]])
        if re.match(r"[وف]?لل", first):  # of "for" and the article only one letter is left
            yield " ".join(["ال" + first.split("لل", 1)[1], *words[1:]])
    elif _HEBREW.fullmatch(first):
        for stem in _without_prefix(first, _HEBREW_PREFIX):
            yield " ".join([stem, *words[1:]])


def stem(word: str, /) -> str:
    """Returns a word without its longest common ending; the word itself where little is left.

    >>> stem("educated"), stem("education"), stem("wife")
    ('educ', 'educ', 'wife')
    """
    for ending in _WORD_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_ENGLISH_STEM:
            return word[: -len(ending)]
    return word


def singular(word: str, /) -> str | None:
    """Returns what an English word without its final ``s`` is, or None if it has none.

    >>> singular("politicians"), singular("comedies"), singular("glass")
    ('politician', 'comedy', None)
    """
    if len(word) < 4 or not word.isascii() or not word.endswith("s") or word.endswith("ss"):
        return None
    if word.endswith("ies") and len(word) > 5:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "xes", "sses")) else word[:-1]


def _nominatives(words: Sequence[str]) -> Iterator[str]:
    """Yields the nominatives of words that agree in case; some may have no cases."""
    written = " ".join(words)
    seen = {written}
    for case in range(len(_CASES)):
        choices = [
            _of_case(word, case) if len(word) <= _LONGEST_WORD else (word,) for word in words
        ]
        for form in islice(product(*choices), _MAX_FORMS_A_CASE):
            name = " ".join(form)
            if name not in seen:
                seen.add(name)
                yield name


@lru_cache(maxsize=8192)
def _of_case(word: str, case: int) -> tuple[str, ...]:
    forms: list[str] = []
    for ending, bases in _CASES[case].items():
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < _LEAST_STEM or not _CYRILLIC.fullmatch(word):
            continue
        forms.extend(stem + base for base in bases)
        fleeting = _FLEETING.fullmatch(stem) if "" in bases else None
        if fleeting:
            forms.extend(fleeting[1] + vowel + fleeting[2] for vowel in "ео")
    return (*dict.fromkeys(forms), word)


def _without_prefix(word: str, prefix: re.Pattern[str]) -> Iterator[str]:
    match = prefix.match(word)
    for length in range(match.end() if match else 0, 0, -1):
        if len(word) - length > 1 and prefix.fullmatch(word[:length]):
            yield word[length:]
