"""Documents cut into passages of whole sentences, of at most so many words (L6).

A word is a run of characters between spaces; in scripts that are written without spaces (CJK,
kana, Thai, Lao, Khmer, Myanmar) each character counts as one. Sentences are taken in order, as
many as fit. A sentence that alone is too long is cut behind the last comma, semicolon or colon in
the second half of what fits, else behind the last word that fits. A line break is the end of a
sentence, so a heading or an entry of a list never runs into the next line's sentence.
No word is lost, none comes twice, and nothing is added; runs of white space become one space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph_service.errors import InputError
from graph_service.model.passage import MAX_PASSAGE_WORDS
from graph_service.text.sentences import split_sentences

_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uf900-\ufaff\U00020000-\U0003134f"
)
# A mark belongs to the character before it: a Thai vowel sign is no word, nor is a full stop.
_WORD = re.compile(rf"[{_UNSPACED}][^\w\s]*|[^\s{_UNSPACED}]+")
_CLAUSE_MARKS = ",;:，、；：،؛"


class Cutter:
    """Packs the sentences of one document, given line by line.

    Args:
        max_words: Words of a passage at most.
        pending: What an earlier ``pending`` returned, to go on from there.
    """

    def __init__(self, *, max_words: int = MAX_PASSAGE_WORDS, pending: str = "") -> None:
        if max_words < 1:
            raise InputError(
                f"a passage has at least 1 word, got {max_words}", argument="max_words"
            )
        self._max_words = max_words
        self._parts = [pending] if pending else []
        self._words = count_words(pending)

    @property
    def pending(self) -> str:
        """The passage begun and not full yet."""
        return " ".join(self._parts)

    def add(self, text: str, /) -> Iterator[str]:
        """Takes a line or a paragraph, and yields the passages that are full."""
        for sentence in split_sentences(text):
            for piece in _pieces(" ".join(sentence.split()), self._max_words):
                words = count_words(piece)
                if self._words + words > self._max_words:
                    yield self.pending
                    self._parts, self._words = [], 0
                self._parts.append(piece)
                self._words += words

    def end(self) -> Iterator[str]:
        """Yields the last passage, if there is one, and begins anew."""
        if self._parts:
            yield self.pending
        self._parts, self._words = [], 0


def cut(text: str, /, *, max_words: int = MAX_PASSAGE_WORDS) -> list[str]:
    """Returns the passages of a document.

    >>> cut("One two. Three four five. Six.", max_words=4)
    ['One two.', 'Three four five. Six.']
    """
    cutter = Cutter(max_words=max_words)
    return [*cutter.add(text), *cutter.end()]


def count_words(text: str, /) -> int:
    """Returns the number of words of a text.

    >>> count_words("Rome, the capital"), count_words("北京市 is big")
    (3, 5)
    """
    return len(_WORD.findall(text))


def _pieces(sentence: str, most: int) -> Iterator[str]:
    """Yields a sentence in pieces of at most so many words."""
    words = list(_WORD.finditer(sentence))
    start = 0
    while len(words) - start > most:
        end = start + most
        for index in range(end - 1, start + most // 2 - 1, -1):
            if words[index].group()[-1] in _CLAUSE_MARKS:
                end = index + 1
                break
        yield sentence[words[start].start() : words[end - 1].end()]
        start = end
    if start < len(words):
        yield sentence[words[start].start() : words[-1].end()]
