"""Names and words: one normal form and one tokeniser for both stores, the linker and scores.

FTS5 and Neo4j's full-text index split text differently (北京 in 北京市, accents, Thai), so
neither is asked to: what they index is the output of ``index_tokens``, split on spaces.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from urllib.parse import unquote

# Scripts written without spaces between words: Thai, Lao, Khmer, Myanmar, CJK, kana.
_UNSPACED_CLASS = (
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uf900-\ufaff\U00020000-\U0003134f]"
)
_UNSPACED = re.compile(_UNSPACED_CLASS + "+")
# Marks that belong to the word they stand in: accents, Hebrew and Arabic points, Indic vowels.
_MARKS = (
    r"[\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    r"\u06d6-\u06ed\u0900-\u0963\u0971-\u0dff]"
)
_LETTER = rf"(?:(?!{_UNSPACED_CLASS})[^\W_])"
_ASCII_WORD = re.compile(r"[0-9a-z]+")
WORD_PATTERN = rf"(?:{_UNSPACED_CLASS}+|{_LETTER}(?:{_LETTER}|{_MARKS})*)"
"""A word as a regular expression: a run in an unspaced script, or of letters, digits and marks."""
_WORD = re.compile(WORD_PATTERN)
# Accents of Latin, Greek and Cyrillic letters; marks of other scripts are vowels, and stay.
_ACCENT = re.compile(r"[\u0300-\u036f]")
_SPECIAL = str.maketrans({"ß": "ss", "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"})


_CACHED_CHARACTERS = 100
"""Only texts up to this length are kept by the caches here: they count their entries, not bytes."""


def lowered(text: str, /) -> str:
    """Returns a text in lower case, each character where it was.

    >>> lowered("\u0130stanbul 1990")[-4:]
    '1990'
    """
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)


def fold(text: str, /) -> str:
    """Returns text in NFKC, case folded, without accents.

    >>> fold("Zwölf"), fold("Łódź"), fold("ＡＢＣ")
    ('zwolf', 'lodz', 'abc')
    """
    return _cached_fold(text) if len(text) <= _CACHED_CHARACTERS else _fold(text)


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_SPECIAL)
    plain = _ACCENT.sub("", unicodedata.normalize("NFD", folded))
    return unicodedata.normalize("NFC", plain)


_cached_fold = lru_cache(maxsize=65536)(_fold)


def words(text: str, /) -> list[str]:
    """Returns the folded words of a text; a run in an unspaced script is one word.

    >>> words("Who's the Mother of J. F. Kennedy?")
    ['who', 's', 'the', 'mother', 'of', 'j', 'f', 'kennedy']
    """
    return list(_folded_words(text))


def _folded_words(text: str) -> tuple[str, ...]:
    return _cached_words(text) if len(text) <= _CACHED_CHARACTERS else _words_of(text)


def _words_of(text: str) -> tuple[str, ...]:
    # A name is indexed under its words and as a whole, and languages share many names.
    if text.isascii():
        return tuple(_ASCII_WORD.findall(text.lower()))
    return tuple([match.group() for match in _words(fold(text))])


_cached_words = lru_cache(maxsize=8192)(_words_of)


def is_unspaced(word: str, /) -> bool:
    """Returns whether a folded word is a run in a script that is written without spaces."""
    return _UNSPACED.fullmatch(word) is not None


def word_spans(text: str, /) -> list[tuple[str, int, int]]:
    """Returns ``(folded word, start, end)`` for each word, positions in the original text."""
    return [(fold(match.group()), match.start(), match.end()) for match in _words(text)]


def _words(text: str) -> list[re.Match[str]]:
    return list(_WORD.finditer(text))


def normalise_name(name: str, /) -> str:
    """Returns the form under which names are compared: folded words joined by one space.

    >>> normalise_name("  Saint-Étienne ")
    'saint etienne'
    """
    return " ".join(_folded_words(name))


def index_tokens(text: str, /) -> list[str]:
    """Returns the tokens under which a text is found: words, and one and two characters of
    scripts that are written without spaces.

    >>> index_tokens("北京市")
    ['北', '京', '市', '北京', '京市']
    """
    if text.isascii():
        return list(_folded_words(text))
    tokens: list[str] = []
    for word in _folded_words(text):
        if is_unspaced(word):
            tokens.extend(word)
            tokens.extend(word[i : i + 2] for i in range(len(word) - 1))
        else:
            tokens.append(word)
    return tokens


def query_tokens(text: str, /) -> list[str]:
    """Returns the tokens that a text must have to be found by this query, without repeats.

    >>> query_tokens("北京"), query_tokens("市")
    (['北京'], ['市'])
    """
    tokens: list[str] = []
    for word in _folded_words(text):
        if is_unspaced(word) and len(word) > 1:
            tokens.extend(word[i : i + 2] for i in range(len(word) - 1))
        else:
            tokens.append(word)
    return list(dict.fromkeys(tokens))


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_SHOUTED = re.compile("[A-Z]{6,}")
"""A type of relationship as property graphs write it; shorter ones are as a rule initials."""


@lru_cache(maxsize=1 << 16)
def relation_words(name: str, /) -> str:
    """Returns the last part of a relation's name, split into words.

    ``__music__album__artist`` and ``http://dbpedia.org/ontology/birthPlace`` embed far better
    as ``artist`` and ``birth place``.

    >>> relation_words("http://dbpedia.org/ontology/birthPlace"), relation_words("place of birth")
    ('birth place', 'place of birth')
    >>> relation_words("__music__album__artist"), relation_words("children_of")
    ('artist', 'children of')
    >>> relation_words("ACTED_IN"), relation_words("DIRECTED"), relation_words("ISBN")
    ('acted in', 'directed', 'ISBN')
    """
    last = name
    if "://" in last:
        last = re.split(r"[/#]", last.rstrip("/#"))[-1]
    elif re.fullmatch(r"[\w.-]+:[^\s:]+", last):
        last = last.split(":", 1)[1]
    if "__" in last.strip("_"):
        last = last.strip("_").split("__")[-1]
    elif re.fullmatch(r"[\w]+(?:[./][\w]+)+", last):
        last = re.split(r"[./]", last)[-1]
    spaced = _CAMEL.sub(" ", last).replace("_", " ")
    if spaced != name or _SHOUTED.fullmatch(name):
        return " ".join(spaced.split()).lower()
    return " ".join(name.split())


_WIKIDATA_ID = re.compile(r"[QPLEM][1-9]\d*(-[FS][1-9]\d*)?")
MAX_NAMED_ID = 1_000


def name_of_id(id_: str, /) -> str | None:
    """Returns what an entity without a label is called by its id, or None where an id is no name.

    The last part of an IRI, or a bare id, with underscores as spaces; an opaque id (``Q42``)
    names nothing.

    >>> name_of_id("http://dbpedia.org/resource/Douglas_Adams"), name_of_id("michael_jackson")
    ('Douglas Adams', 'michael jackson')
    >>> name_of_id("Q42") is None
    True
    """
    if len(id_) > MAX_NAMED_ID or _WIKIDATA_ID.fullmatch(id_):
        return None
    last = id_
    if "://" in id_:
        last = unquote(id_.rstrip("/#").replace("#", "/").rsplit("/", 1)[-1])
    return " ".join(last.replace("_", " ").split()) or None
