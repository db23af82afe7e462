"""The questions of a text: which sentences ask, and which of these ask for two things.

Rules of English alone, the same on every machine. Of a text in another language only its sentences
are told apart. What is not surely two questions stays one: conditions (``who was born in Rome and who
died in Bern``) and titles are not divided.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from graph_service.text.fold import word_spans
from graph_service.text.joined_nouns import Alternatives, joined_nouns
from graph_service.text.question_form import (
    BE,
    DO,
    HAVE,
    MODALS,
    QUESTION_WORDS,
    RELATIVE_PRONOUNS,
)
from graph_service.text.sentences import sentence_spans

MAX_QUESTIONS = 5
"""Questions that are read of one text."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some characters of a question, and those of the text that they stand for; -1 for none."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Wording:
    """A question as it is retrieved for, made of pieces of the text that it was written in."""

    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """The question as it is retrieved for: its pieces in one text."""
        return "".join(piece.text for piece in self.pieces)

    def written(self, start: int, end: int, /) -> tuple[int, int]:
        """Returns which characters of the text some characters of the question stand for.

        ``(-1, -1)`` where they stand for none.
        """
        position, first, last = 0, -1, -1
        for piece in self.pieces:
            left, right = max(start - position, 0), min(end - position, len(piece.text))
            position += len(piece.text)
            if left >= right or piece.start < 0:
                continue
            if piece.end - piece.start != len(piece.text):
                left, right = 0, piece.end - piece.start
            first = piece.start + left if first < 0 else first
            last = piece.start + right
        return first, last

    def replaced(self, start: int, end: int, text: str, /) -> Wording:
        """Returns the question with other words instead of some of its characters."""
        pieces: list[Piece] = []
        position = 0
        for piece in self.pieces:
            pieces += _part(piece, 0, start - position)
            if position <= start < position + len(piece.text):
                pieces.append(Piece(text, *self.written(start, end)))
            pieces += _part(piece, end - position, len(piece.text))
            position += len(piece.text)
        return Wording(tuple(pieces))


def _part(piece: Piece, start: int, end: int) -> list[Piece]:
    start, end = max(start, 0), min(end, len(piece.text))
    if start >= end:
        return []
    if (start, end) == (0, len(piece.text)):
        return [piece]
    if piece.end - piece.start != len(piece.text):
        return [Piece(piece.text[start:end], piece.start, piece.end)]
    return [Piece(piece.text[start:end], piece.start + start, piece.start + end)]


@dataclass(frozen=True, slots=True)
class TextQuestions:
    """What a text asks.

    Attributes:
        questions: In order; of a text that asks nothing the whole text.
        context: The sentences that ask nothing, in order.
    """

    questions: tuple[Wording, ...]
    context: tuple[str, ...] = ()


_DO = DO | MODALS
_AUXILIARY = BE | _DO | HAVE
_PERSONS = frozenset(["he", "she", "him", "her", "his", "hers"])
_THINGS = frozenset(["it", "its"])
_SEVERAL = frozenset(["they", "them", "their", "theirs"])
_POSSESSIVE = frozenset(["his", "its", "their"])
_PRONOUNS = _PERSONS | _THINGS | _SEVERAL
_SUBJECTS = frozenset(["he", "she", "it", "they"])
_PREPOSITIONS = frozenset(
    ["in", "on", "at", "of", "from", "by", "to", "with", "for", "since", "until", "under", "during"]
)
_LEADING = frozenset(["and", "but", "so", "also", "then", "please", "ok", "okay", "well", "now"])
_REQUESTS = frozenset(["name", "list", "give", "tell", "show", "find", "state"])
_RELATIVE = RELATIVE_PRONOUNS | {"where"}
_MEASURES = frozenset(
    [
        "many",
        "much",
        "old",
        "long",
        "tall",
        "big",
        "large",
        "high",
        "far",
        "often",
        "heavy",
        "deep",
        "fast",
    ]
)
_QUESTION_MARKS = "?？؟"
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|(?<!\w)'[^']*'(?!\w)|‘[^’]*’")
_POLITE = re.compile(
    r"(?:(?:can|could|do|would|will|are|have) you|how are you|any ideas?)\b", re.IGNORECASE
)
_LINE = re.compile(r"(?<![.!?:。！？؟\n])[ \t]*\r?\n(?!\s*\n)")
_CLAUSE = re.compile(r"[:;\u2014\u2013](?=\s)")
_NOUN_WORDS = 4
_LEAST_WORDS = 3
_Word = tuple[str, int, int]


def read_questions(text: str, /) -> TextQuestions:
    """Returns the questions that a text asks, at most ``MAX_QUESTIONS``, and its other sentences.

    >>> [each.text for each in read_questions("Who made Uncle, and when was it shown?").questions]
    ['Who made Uncle', 'when was it shown?']
    >>> read_questions("I saw Uncle. Who made it?").context
    ('I saw Uncle.',)
    """
    joined = _LINE.sub(lambda match: " " * len(match.group()), text)
    sentences = _sentences(joined)
    asking = _asking(joined, sentences)
    if not asking:
        undivided = Wording((Piece(text, 0, len(text)),))
        return TextQuestions(tuple(_divided(text, 0, len(text))) or (undivided,))
    questions = [
        wording
        for start, end in asking
        for wording in _divided(joined, _clause(joined, start, end), end)
    ]
    context = tuple(joined[start:end] for start, end in sentences if (start, end) not in asking)
    return TextQuestions(tuple(questions[:MAX_QUESTIONS]), context)


def _asking(text: str, sentences: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the sentences that ask, of more than one; none where that is not told."""
    if len(sentences) < 2:
        return []
    marked = [
        (start, end)
        for start, end in sentences
        if text[end - 1] in _QUESTION_MARKS and _asks(text[start:end])
    ]
    return [span for span in marked if not _is_polite(text[span[0] : span[1]])] or marked


def _asks(sentence: str) -> bool:
    words = word_spans(sentence)
    return _opens(words, 0) or any(word in QUESTION_WORDS for word, _, _ in words)


def _sentences(text: str) -> list[tuple[int, int]]:
    """Returns the sentences of a text, quotations whole.

    What ends within two words ended at a stop of a name.
    """
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    spans: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        first = start
        if spans:
            is_short = len(word_spans(text[slice(*spans[-1])])) < _LEAST_WORDS
            if is_short or any(left < start < right for left, right in quoted):
                first, _ = spans.pop()
        spans.append((first, end))
    return spans


def _is_polite(sentence: str) -> bool:
    """Returns whether a sentence asks for help, and for nothing else."""
    if not _POLITE.match(sentence):
        return False
    return not any(word in QUESTION_WORDS for word, _, _ in word_spans(sentence)[1:])


def _clause(text: str, start: int, end: int) -> int:
    """Returns where the question of a sentence begins: behind a colon that a question follows."""
    for match in reversed(list(_CLAUSE.finditer(text, start, end))):
        tail = text[match.end() : end]
        if _opens(word_spans(tail), 0):
            return match.end() + len(tail) - len(tail.lstrip())
    return start


def _opens(words: Sequence[_Word], first: int) -> bool:
    """Returns whether a question or a request begins at a word."""
    first = _after_leading(words, first)
    tokens = [word for word, _, _ in words[first : first + 2]]
    if not tokens:
        return False
    if tokens[0] in QUESTION_WORDS or tokens[0] in _REQUESTS or tokens[0] in _AUXILIARY:
        return True
    return tokens[0] in _PREPOSITIONS and len(tokens) > 1 and tokens[1] in QUESTION_WORDS


def _after_leading(words: Sequence[_Word], first: int) -> int:
    while first < len(words) and words[first][0] in _LEADING:
        first += 1
    return first


def _divided(text: str, start: int, end: int) -> Iterator[Wording]:
    """Yields the questions that a sentence joins by ``and``; the sentence where it joins none."""
    sentence = text[start:end]
    words = word_spans(sentence)
    twice = _wh_pair(words)
    if twice:
        rest = Piece(sentence[twice[1][2] :], start + twice[1][2], end)
        for _, left, right in twice:
            piece = Piece(sentence[left:right], start + left, start + right)
            yield Wording((piece, rest))
        return
    nouns = joined_nouns(sentence)
    if nouns is not None:
        yield from wordings_of_each(sentence, nouns, start)
        return
    cuts = _cuts(sentence, words)
    lefts = [0, *(right for _, right in cuts)]
    rights = [*(left for left, _ in cuts), len(sentence)]
    for left, right in zip(lefts, rights, strict=True):
        yield Wording((Piece(sentence[left:right], start + left, start + right),))


def wordings_of_each(text: str, each: Alternatives, offset: int = 0, /) -> Iterator[Wording]:
    """Yields a question once for each of some parts, in the place of all of them.

    >>> each = Alternatives(((11, 14), (19, 22)), (11, 22))
    >>> [one.text for one in wordings_of_each("Where were Ann and Bob born?", each)]
    ['Where were Ann born?', 'Where were Bob born?']
    """
    begin, end = each.span
    for part in each.parts:
        spans = ((0, begin), part, (end, len(text)))
        yield Wording(
            tuple(
                Piece(text[left:right], offset + left, offset + right)
                for left, right in spans
                if left < right
            )
        )


def _wh_pair(words: Sequence[_Word]) -> tuple[_Word, _Word] | None:
    """Returns the two words of ``when and where was X born``."""
    tokens = [word for word, _, _ in words[:4]]
    if (
        len(tokens) < 4
        or tokens[1] != "and"
        or tokens[0] not in QUESTION_WORDS
        or tokens[2] not in QUESTION_WORDS
    ):
        return None
    return (words[0], words[2]) if tokens[3] in _AUXILIARY else None


def _cuts(sentence: str, words: Sequence[_Word]) -> list[tuple[int, int]]:
    """Returns the characters between the questions of a sentence: ``, and`` and the like."""
    quoted = [match.span() for match in _QUOTED.finditer(sentence)]
    is_upper = sentence.isupper()
    joints: list[tuple[int, int, int]] = []
    for index in range(1, len(words)):
        left, right = words[index - 1][2], words[index][1]
        between = sentence[left:right].strip()
        if words[index][0] == "and" and index + 1 < len(words):
            joints.append((left, words[index + 1][1], index + 1))
        elif between in {",", ";"} and words[index][0] != "and":
            joints.append((left, right, index))
    cuts: list[tuple[int, int, int]] = []
    first = 0
    for left, right, index in joints:
        is_title = sentence[right].isupper() and not is_upper
        is_quoted = any(a < right and left < b for a, b in quoted)
        if is_title or is_quoted or not _is_question(words, first, _count_before(words, left)):
            continue
        if _follows(sentence, words, first, index):
            cuts.append((left, right, index))
            first = index
    # Commas alone join questions only in a list that ends with ``and``.
    while cuts and words[cuts[-1][2] - 1][0] != "and":
        cuts.pop()
    return [(left, right) for left, right, _ in cuts]


def _count_before(words: Sequence[_Word], end: int) -> int:
    return sum(right <= end for _, _, right in words)


def _is_question(words: Sequence[_Word], first: int, last: int) -> bool:
    """Returns whether some words are a question of their own: an opening and two words."""
    begin = _after_leading(words, first)
    return (
        _opens(words, first)
        and sum(word not in _PREPOSITIONS for word, _, _ in words[begin:last]) >= _LEAST_WORDS
    )


def _follows(sentence: str, words: Sequence[_Word], first: int, index: int) -> bool:
    """Returns whether a second question begins at a word, behind one that begins at ``first``."""
    tokens = [word for word, _, _ in words]
    begin = _after_leading(words, index)
    if begin < len(tokens) and tokens[begin] in _PREPOSITIONS:
        begin += 1
        if begin < len(tokens) and tokens[begin] not in {"which", "what", "whom", "where"}:
            return False
    rest = tokens[begin:]
    if len(rest) < _LEAST_WORDS:
        return False
    opening, following = rest[0], rest[1]
    before = tokens[_after_leading(words, first) : index - 1]
    if opening in _AUXILIARY:
        # ``Which film is by X and was it shown in Y?`` asks for one film.
        is_condition = before[0] in {"which", "what"} and following == "it"
        return following in _SUBJECTS and rest[2] != "s" and not is_condition
    if opening not in QUESTION_WORDS or following in _PRONOUNS - _POSSESSIVE:
        return False
    if opening in {"when", "where", "why"}:
        return following in _AUXILIARY
    if opening == "how":
        return following in _AUXILIARY or following in _MEASURES
    if opening == "what":
        return not _AUXILIARY.isdisjoint(rest[1 : 2 + _NOUN_WORDS]) or _takes_up(rest)
    noun = next((at for at, word in enumerate(rest) if at and word in _AUXILIARY), 0)
    if opening == "whose":
        return 1 < noun <= 1 + _NOUN_WORDS and rest[noun] in _DO
    if opening == "which":
        if 1 < noun <= 1 + _NOUN_WORDS:
            # ``To which Tom Aske was sent`` is a condition: no noun of what is asked for.
            nouns = words[begin + 1 : begin + noun]
            return sentence.isupper() or not any(sentence[at].isupper() for _, at, _ in nouns)
        return not (_PRONOUNS - _POSSESSIVE).isdisjoint(rest)
    return following in _DO or _takes_up(rest) or _is_no_condition(before, rest)


def _is_no_condition(before: Sequence[str], rest: Sequence[str]) -> bool:
    """Returns whether ``who ...`` is a question: nothing before is what it may say more of.

    *Who directed Uncle and who directed Hope* are two; *who was born in Rome and who died in Bern*
    is one.
    """
    if before[0] in {"who", "whom"} and before[1] in BE:
        return rest[0] == "who" and rest[1] in BE and rest[2] == "the"
    is_plain = before[0] in QUESTION_WORDS - {"which", "what", "whose"}
    return is_plain and rest[0] == "who" and _RELATIVE.isdisjoint(before[1:])


def _takes_up(words: Iterable[str]) -> bool:
    return not _PRONOUNS.isdisjoint(words)


@dataclass(frozen=True, slots=True)
class Pronoun:
    """A pronoun of a question: characters, and which it is."""

    word: str
    start: int
    end: int
    is_possessive: bool

    @property
    def is_plural(self) -> bool:
        """Whether it stands for several."""
        return self.word in _SEVERAL


_EXPLETIVE_AFTER = frozenset(["true", "possible", "correct", "right", "that", "called"])
_NO_NOUN = (
    _AUXILIARY | _PREPOSITIONS | QUESTION_WORDS | frozenset(["and", "or", "as", "when", "there"])
)


def pronouns(text: str, /) -> list[Pronoun]:
    """Returns the pronouns of the third person in a text.

    >>> [(each.word, each.is_possessive) for each in pronouns("When did her son meet her?")]
    [('her', True), ('her', False)]
    """
    words = word_spans(text)
    tokens = [*(word for word, _, _ in words), ""]
    listed = []
    for at, (word, start, end) in enumerate(words):
        if word not in _PRONOUNS or (word == "it" and tokens[at + 1] in _EXPLETIVE_AFTER):
            continue
        owns = word in _POSSESSIVE
        owns = owns or (word == "her" and bool(tokens[at + 1]) and tokens[at + 1] not in _NO_NOUN)
        listed.append(Pronoun(word, start, end, owns))
    return listed


_GOES_ON = re.compile(
    r"\s*(?:(?:ok|okay|and|but|so|then|or)[,\s]+)*(?:and|but|then|or|what about|how about)\b",
    re.IGNORECASE,
)


def goes_on(text: str, /) -> bool:
    """Returns whether a question goes on with another: ``and ...``, ``what about ...``."""
    return bool(_GOES_ON.match(text))


def asks_who(text: str, /) -> bool:
    """Returns whether a question asks for a person."""
    words = word_spans(text)
    tokens = [word for word, _, _ in words[_after_leading(words, 0) :]][:2]
    return bool(tokens) and ("who" in tokens[:1] or "whom" in tokens)


def asks_which(text: str, /) -> bool:
    """Returns whether a question asks for a thing that it names by a noun, or for a location."""
    words = word_spans(text)
    tokens = [word for word, _, _ in words[_after_leading(words, 0) :]][:2]
    return any(word in {"which", "what", "where", "whose"} for word in tokens)
