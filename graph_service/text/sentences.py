"""Where sentences begin and end, by rules: no model, the same on every machine.

A full stop ends a sentence unless it stands in a number, after an initial or an abbreviation,
inside a name that is known, or before a lower-case letter. The marks of other scripts
(``。``, ``।``, ``؟`` and the like) always end one. A line break always ends one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from graph_service.text.labels import label_spans

_STRONG = "!?…؟۔።。！？｡।॥။"
_CLOSING = "\"'”’»›)]」』）】》"
_BREAKS = "\n\r\u2028\u2029"
_MARK = re.compile(f"[.{re.escape(_STRONG)}{_BREAKS}]")
_SENTENCE_MARKS = "。！？｡।॥။።۔؟"


def _set(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# Never at the end of a sentence, or nearly so.
_ABBREVIATIONS = _set(
    "mr mrs ms mx dr prof st ste rev hon gov sen rep gen col lt sgt capt cmdr adm maj messrs "
    "vs viz cf e.g i.e ca c approx fig figs nos vol vols pp p ed eds op mt ft dept univ "
    "jan feb mar apr jun jul aug sep sept oct nov dec b d r fl"
)
# At the end of a sentence as often as inside one: the next word decides.
_EITHER = _set("jr sr etc inc ltd co corp bros al a.m p.m u.s u.k u.n d.c b.c a.d ph.d")
_STARTERS = _set(
    "he she it they we i you his her its their this that these those the a an in on at as by for "
    "from after before when while although however but and so there here who what where it's "
    "he's she's both each another one also later then"
)
_INITIAL = re.compile(r"(?:^|[\s(\[\"'“‘])(?:[^\W\d_]\.)*[^\W\d_]$")
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘]+$")
_MARK_FOLLOWS = re.compile(rf"[{re.escape(_CLOSING)}\s]*[.,;:{re.escape(_STRONG)}]")
_NEXT_WORD = re.compile(r"[\s\"'“‘(\[«]*([\w'’-]*)")


def sentence_spans(text: str, /, *, names: Iterable[str] = ()) -> list[tuple[int, int]]:
    """Returns ``(start, end)`` of each sentence, without the white space around it.

    Args:
        text: Any text.
        names: Labels that may hold full stops (``Washington, D.C.``, ``Dr. No``): no sentence
            ends inside one.

    >>> text = "J. F. Kennedy paid $3.50. He was pleased!"
    >>> [text[a:b] for a, b in sentence_spans(text)]
    ['J. F. Kennedy paid $3.50.', 'He was pleased!']
    """
    listed = tuple(names)
    inside = _inside_names(text, listed)
    begun = _begun_by_marks(text, listed)
    spans: list[tuple[int, int]] = []
    start = 0
    position = 0
    while (match := _MARK.search(text, position)) is not None:
        position = match.start()
        character = text[position]
        if character in _BREAKS:
            _add(spans, text, start, position)
            start = position + 1
        elif (character == "." or character in _STRONG) and position not in inside:
            end = position + 1
            while end < len(text) and (text[end] == "." or text[end] in _STRONG):
                end += 1
            closed = end
            while closed < len(text) and text[closed] in _CLOSING:
                closed += 1
            if _is_boundary(text, position, end, closed, begun):
                _add(spans, text, start, closed)
                start = closed
            position = closed
            continue
        position += 1
    _add(spans, text, start, len(text))
    return spans


def split_sentences(text: str, /, *, names: Sequence[str] = ()) -> list[str]:
    """Returns the sentences of a text, without the white space between them.

    >>> split_sentences("他出生于北京。他是作家。")
    ['他出生于北京。', '他是作家。']
    """
    return [text[start:end] for start, end in sentence_spans(text, names=names)]


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        spans.append((start, end))


def _is_boundary(text: str, mark: int, end: int, closed: int, begun: frozenset[int]) -> bool:
    """Whether a sentence ends at a run of marks ``text[mark:end]`` closed by quotes.

    Args:
        text: The text.
        mark: Where the marks begin.
        end: Where they end.
        closed: Where the quotes behind them end.
        begun: Positions at which a name begins whose first character is no letter.
    """
    if text[end - 1] in _SENTENCE_MARKS:
        return True
    if closed < len(text) and not text[closed].isspace():
        return False
    following = _NEXT_WORD.match(text, closed)
    word = following.group(1) if following else ""
    if not word:
        return True
    if word[0].islower() and closed + _spaces(text, closed) not in begun:
        # "..." and "Yahoo! and" go on; so does an abbreviation before a lower-case word.
        return False
    if text[mark] != "." or end - mark > 1:
        return True
    before = text[:mark]
    last = _LAST_WORD.search(before[-40:])
    token = last.group().lower() if last else ""
    if token in _EITHER or (_INITIAL.search(before[-40:]) and before[-1:].isupper()):
        return word.lower() in _STARTERS and closed == end
    if token == "no":
        return not word[0].isdigit()
    return token not in _ABBREVIATIONS


def _spaces(text: str, position: int) -> int:
    return len(text) - position - len(text[position:].lstrip())


def _begun_by_marks(text: str, names: Iterable[str]) -> frozenset[int]:
    """Positions at which a name begins whose first character is no letter and no digit."""
    marked = [name for name in set(names) if name.strip() and not name.strip()[0].isalnum()]
    return frozenset(start for start, _ in label_spans(text, marked))


def _inside_names(text: str, names: Iterable[str]) -> frozenset[int]:
    """Positions inside an occurrence of a name.

    Its last character is inside where another mark ends or parts the sentence behind it.
    """
    marked = [name for name in set(names) if any(mark == "." or mark in _STRONG for mark in name)]
    return frozenset(
        position
        for start, end in label_spans(text, marked)
        for position in range(start, end if _MARK_FOLLOWS.match(text, end) else end - 1)
    )
