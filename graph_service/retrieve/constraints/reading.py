"""What a question says beside relations: dates that bound its answers, and the form of its answer.

Pure text: English, by general words of time, number and degree. What is not understood is not
read: a question then asks for entities, without constraints.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from graph_service.retrieve.constraints.reading_dates import DateConstraint, read_dates
from graph_service.retrieve.degree_words import (
    BORN,
    CLOSING_DEGREE,
    COMPARATIVE,
    COMPARATIVES,
    DEGREE,
    DEGREE_WORDS,
    MEANINGS,
    DegreeWord,
)
from graph_service.text.fold import lowered, word_spans
from graph_service.text.function_words import FUNCTION_WORDS
from graph_service.text.nouns import singular
from graph_service.text.question_form import NEGATION, read_form


class AnswerForm(StrEnum):
    """What a question wants to be told: entities, how many, yes or no, or the first by a value."""

    ENTITIES = "entities"
    COUNT = "count"
    YES_NO = "yes-no"
    SUPERLATIVE = "superlative"
    COMPARISON = "comparison"


@dataclass(frozen=True, slots=True)
class Superlative:
    """By what values the first is asked for.

    Attributes:
        text: As the question says it.
        greatest: Whether the greatest value is meant, or the latest date; else the least.
        is_date: Whether dates are compared; else numbers.
        meanings: Names that the relation of such values may have.
    """

    text: str
    start: int
    end: int
    greatest: bool
    is_date: bool
    meanings: tuple[str, ...]

    @property
    def is_named(self) -> bool:
        """Whether a noun or a verb of the question says what is compared: *hired first*."""
        return self.meanings not in MEANINGS


@dataclass(frozen=True, slots=True)
class ExpectedAnswer:
    """What a question says beside its relations.

    Attributes:
        form: Of the answer.
        dates: Constraints on time, in order.
        superlative: Where the form is that.
        counted: Words that follow ``how many``, folded: what is counted.
        modifiers: Words before the noun that is counted or ordered (``Oscar-winning``), with their
            characters: an answer must have taken them into account.
        is_understood: Whether no comparison or negation is left that is not read.
        is_negated: Whether something is said not to be: then nothing is read.
        compared: Characters of the two names that a comparison chooses between (``A or B``); the
            superlative then says by what.
        is_claim: Whether the first of the two is said to come first: the answer is yes or no.
        negated_from: Character of the word from which on what is named is said not to be; -1 for
            none.
        alternatives: Characters of two names of which the same is asked (``by A or B``).
    """

    form: AnswerForm = AnswerForm.ENTITIES
    dates: tuple[DateConstraint, ...] = ()
    superlative: Superlative | None = None
    counted: tuple[str, ...] = ()
    modifiers: tuple[tuple[str, int, int], ...] = ()
    is_understood: bool = True
    is_negated: bool = False
    compared: tuple[tuple[int, int], ...] = ()
    is_claim: bool = False
    negated_from: int = -1
    alternatives: tuple[tuple[int, int], ...] = ()

    def counted_noun(self) -> str:
        """Returns the noun of what is counted (``children`` of *how many children*); or nothing.

        >>> read_answer("How many animated films starring Ann are there?").counted_noun()
        'films'
        >>> read_answer("How many people live in Ghent?").counted_noun()
        'people'
        """
        noun = ""
        for word in self.counted if self.form is AnswerForm.COUNT else ():
            # What stands after people is what they do.
            is_verb = noun == "people" or (noun and word.endswith(("ing", "ed")))
            if word in FUNCTION_WORDS or is_verb:
                break
            noun = word
        return noun


def read_answer(
    question: str,
    names: Sequence[tuple[int, int]] = (),
    /,
    *,
    strict: bool = False,
    labels: Sequence[tuple[int, int]] = (),
) -> ExpectedAnswer:
    """Returns what a question says of its answers.

    Args:
        question: As written.
        names: Characters of the names in it, ``(start, end)``: a year in a longer name is part of
            it, and a year that is a name is a date only after a word of time, beside another name.
        strict: Whether words of a name are no negation, and comparisons of two are read.
        labels: Characters of relations' labels in it: the latest version may be one.

    >>> read_answer("How many films did X direct after 1990?").form.value
    'count'
    """
    folded, question_form = lowered(question), read_form(question)
    is_yes_no = question_form.is_for_yes_or_no
    negations = [
        match for match in NEGATION.finditer(folded) if not strict or not _is_within(match, names)
    ]
    one_of_names = strict and len(negations) == 1 and not is_yes_no
    if negations and not (one_of_names and _may_negate(negations[0])):
        # What is said not to be would else be asked for.
        return ExpectedAnswer(is_understood=False, is_negated=True)
    if strict and (pair := _pair(folded, names)):
        degree = _comparative(question, folded, names)
        return ExpectedAnswer(
            AnswerForm.COMPARISON,
            superlative=degree,
            is_understood=degree is not None,
            compared=pair,
        )
    if strict and is_yes_no and (claim := _claim(question, folded, names)):
        pair, degree = claim
        return ExpectedAnswer(
            AnswerForm.COMPARISON, superlative=degree, compared=pair, is_claim=True
        )
    dates = tuple(read_dates(question, names))
    count = question_form.count_span
    if strict and count and any(start <= count[0] < end for start, end in names):
        # Who wrote "How Many Are Left"?
        count = None
    superlative = _superlative(question, folded, names, labels, strict=strict)
    form = AnswerForm.ENTITIES
    counted: tuple[str, ...] = ()
    if count:
        form = AnswerForm.COUNT
        counted = tuple(word for word, start, _ in word_spans(question) if start >= count[1])
    elif is_yes_no and not _OTHER_QUESTION.search(_masked(folded, names) if strict else folded):
        form = AnswerForm.YES_NO
    elif superlative:
        form = AnswerForm.SUPERLATIVE
    order = superlative if form is AnswerForm.SUPERLATIVE else None
    modifiers: tuple[tuple[str, int, int], ...] = ()
    if count or order:
        after = count[1] if count else order.end if order else 0
        modifiers = _modifiers(question, after, names)
    understood = not any(
        not strict or not _is_within(match, names) for match in _COMPARISON.finditer(folded)
    )
    return ExpectedAnswer(
        form,
        dates,
        order,
        counted,
        modifiers,
        # No span of time is read the other way about.
        understood and not (negations and dates),
        negated_from=negations[0].start() if negations else -1,
        alternatives=_alternatives(folded, names) if strict and form in _OF_EACH else (),
    )


def read_degrees(question: str, /) -> list[Superlative]:
    """Returns the words of degree of a question that order things, wherever they stand.

    >>> [each.text for each in read_degrees("Which part is the most expensive?")]
    ['most expensive']
    """
    folded = lowered(question)
    return [
        _stated(question, match, DEGREE_WORDS[match[1]])
        for match in DEGREE.finditer(folded)
        if not _FIXED.match(folded[match.end() :])
    ]


_OF_EACH = frozenset({AnswerForm.ENTITIES, AnswerForm.COUNT})
"""Forms of questions that may ask the same of each of two."""


def comparative_meanings(word: str, /) -> tuple[str, ...]:
    """Returns the names that relations may have whose values a comparative compares; or none.

    >>> comparative_meanings("heavier")
    ('mass', 'weight')
    """
    return DEGREE_WORDS[COMPARATIVES[word]].meanings if word in COMPARATIVES else ()


def _masked(text: str, names: Sequence[tuple[int, int]]) -> str:
    """Returns a text with other letters for its names, whose words are not read."""
    for start, end in names:
        text = text[:start] + "x" * (end - start) + text[end:]
    return text


def _may_negate(match: re.Match[str]) -> bool:
    """Returns whether a word says that what is named after it is left out."""
    return match[0] not in {"neither", "nor", "no longer"}


def _is_within(match: re.Match[str], names: Sequence[tuple[int, int]]) -> bool:
    return any(start <= match.start() and match.end() <= end for start, end in names)


def _pair(folded: str, names: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Returns the two names with *or* between them, where a question compares such a pair."""
    compares = any(not _is_within(match, names) for match in COMPARATIVE.finditer(folded))
    return _alternatives(folded, names) if compares else ()


def _alternatives(folded: str, names: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Returns the two names with *or* between them, where a question has one such pair."""
    ordered = sorted(set(names))
    pairs = [
        (left, right)
        for left, right in zip(ordered, ordered[1:], strict=False)
        if OR.fullmatch(folded[left[1] : right[0]])
    ]
    return pairs[0] if len(pairs) == 1 else ()


def _comparative(
    question: str, folded: str, names: Sequence[tuple[int, int]]
) -> Superlative | None:
    """Returns the one word of degree by which a question compares two."""
    degrees = [
        match
        for match in COMPARATIVE.finditer(folded)
        if not _is_within(match, names) and match[1] in COMPARATIVES
    ]
    if len(degrees) != 1:
        return None
    after_names = max((end for _, end in names if end <= degrees[0].start()), default=0)
    noun = _HAVING_NOUN.search(folded, 0, len(folded))
    return _compares(question, degrees[0], noun, after_names)


def _compares(
    question: str, match: re.Match[str], noun: re.Match[str] | None, after_names: int
) -> Superlative:
    """Returns what a comparative compares: the values of a noun, or those that it means itself; of
    *who died first* the dates of the verb, which is no part of the names before it.
    """
    degree = DEGREE_WORDS[COMPARATIVES[match[1]]]
    meanings: tuple[str, ...] = () if noun is None else (noun[1],)
    between = lowered(question[after_names : match.start()])
    verb = _VERB_OF_TIME.search(between) if degree.is_date else None
    if not meanings and verb is not None and verb[1] not in FUNCTION_WORDS:
        meanings = _meanings_of_verb(verb[1])
    return _stated(question, match, degree, meanings)


def _meanings_of_verb(verb: str) -> tuple[str, ...]:
    """Returns the names that the relation of the dates of a verb may have."""
    return BORN if verb == "born" else (verb,)


def _stated(
    question: str, match: re.Match[str], degree: DegreeWord, meanings: tuple[str, ...] = ()
) -> Superlative:
    """Returns a word of degree where it stands, with other names of what it compares if given."""
    start, end = match.span()
    meanings = meanings or degree.meanings
    return Superlative(question[start:end], start, end, degree.greatest, degree.is_date, meanings)


def _claim(
    question: str, folded: str, names: Sequence[tuple[int, int]]
) -> tuple[tuple[tuple[int, int], ...], Superlative] | None:
    """Returns the two names of which a question says that the first comes first, and by what:
    *Is A heavier than B?*, *Was A born before B?*
    """
    ordered = sorted(set(names))
    pairs = list(zip(ordered, ordered[1:], strict=False))
    if len(pairs) != 1 or not re.fullmatch(r"\W*", folded[ordered[1][1] :]):
        return None
    (left, right) = ordered
    between = folded[left[1] : right[0]]
    if match := _VERB_BEFORE.fullmatch(between):
        meanings = _meanings_of_verb(match[1])
        start, end = left[1] + match.start(1), left[1] + match.end(2)
        is_later = match[2] in {"after", "later than"}
        return (left, right), Superlative(question[start:end], start, end, is_later, True, meanings)
    if match := _THAN.search(between):
        comparative = COMPARATIVE.match(folded, left[1] + match.start(1), left[1] + match.end(1))
        if comparative is None or comparative[1] not in COMPARATIVES:
            return None
        noun = (
            _OF_LEFT.search(folded, 0, left[0])
            or _OWN_NOUN.match(between)
            or _HAVING_NOUN.search(between)
        )
        return (left, right), _compares(question, comparative, noun, left[1])
    return None


def _modifiers(
    question: str, after: int, names: Sequence[tuple[int, int]]
) -> tuple[tuple[str, int, int], ...]:
    """Returns the words from a place on that stand before a noun: the last word is the noun."""
    modifiers: list[tuple[str, int, int]] = []
    for word, start, end in word_spans(question):
        if start < after:
            continue
        if word in FUNCTION_WORDS or any(left < end and start < right for left, right in names):
            break
        modifiers.append((word, start, end))
    if len(modifiers) > 1 and modifiers[-1][0].endswith(("ing", "ed")):
        # "films starring X", and not "animated films".
        modifiers.pop()
    return tuple(modifiers[:-1])


_COMPARISON = re.compile(
    r"\b(?!later\b|earlier\b|other\b)(?:\w+er|(?:more|less|fewer)(?:\s+\w+)?)\s+than\b|\bat\s+(?:least|most)\b"
    r"|\b(?:over|under|above|below|exceeding)\s+\d"
)
_OTHER_QUESTION = re.compile(
    r"\b(?:who|whom|whose|what|which|where|when|how)\b[^,;]*\?|\bor\b|\bit\s+(?:known|true)\b"
)

# Superlatives

_LEADING = FUNCTION_WORDS - {"when", "where", "how", "why", "whose"}

# "has a bigger budget", "the budget of X", "X's budget"
_HAVING_NOUN = re.compile(
    r"\b(?:has|have|had|with)\s+(?:a|an|the)\s+(?:more\s+)?\w+(?:er)?\s+(\w+)(?=\s*,|\s+than\b)"
)
_OF_LEFT = re.compile(r"\bthe\s+((?:\w+\s+)?\w+)\s+of\s+(?:the\s+)?$")
_OWN_NOUN = re.compile(r"['\u2019]s?\s+((?:\w+\s+)?\w+?)(?=\s+(?:more|less|\w+er)\b)")
_THAN = re.compile(
    rf"\b({COMPARATIVE.pattern[2:-2]})(?:\s+\w+)?\s+than\s+"
    r"(?:(?:that|the\s+(?:\w+\s+){1,2}?)\s*of\s+)?(?:the\s+|an?\s+)?$"
)
_VERB_OF_TIME = re.compile(r"\b(?!(?:came|come|comes|appeared)\b)(\w+)\s+$")
_VERB_BEFORE = re.compile(r"\s+(\w+)\s+(before|after|earlier than|later than)\s+(?:the\s+)?")
OR = re.compile(r"[\s,]*\bor\b\s*(?:the\s+|an?\s+)?")
# After these the word is part of another word's meaning: "first name", "last year".
_FIXED = re.compile(
    r"\s+(?:names?|lady|ladies|ministers?|language|degree|aid|cousins?|world\s+war|person|class|floor|"
    r"grade|edition|times?|years?|months?|weeks?|nights?|century|decades?|days?|half|place|prize|"
    r"instance|nations?|amendment|resort|supper|words?)\b"
)
_AT = re.compile(r"\b(?:at|in|for\s+the)\s+$")


def _is_requested(question: str, end: int, names: Sequence[tuple[int, int]]) -> bool:
    """Returns whether what follows a place is what a question asks for: no other noun or verb, and
    no question for a place or time, stands before it.
    """
    return all(
        word in _LEADING or any(left < after and start < right for left, right in names)
        for word, start, after in word_spans(question)
        if after <= end
    )


_NEXT = re.compile(r"\s+(?:born\s+)?(\w+)")


_OF_PRICE = frozenset(
    {"most expensive", "priciest", "costliest", "dearest", "cheapest", "least expensive"}
)
"""Degrees that only a strict reading knows."""


def _superlative(
    question: str,
    folded: str,
    names: Sequence[tuple[int, int]],
    labels: Sequence[tuple[int, int]],
    *,
    strict: bool,
) -> Superlative | None:
    """Returns the one word of degree that a question orders its answers by."""
    matches = [
        match
        for match in DEGREE.finditer(folded)
        if (strict or match[1] not in _OF_PRICE)
        and not any(start < match.end() and match.start() < end for start, end in [*names, *labels])
        and not _FIXED.match(folded[match.end() :])
        and not (match[1] in {"first", "last"} and _AT.search(folded[: match.start()]))
        and (re.match(r"\s+\w", folded[match.end() :]) or CLOSING_DEGREE.search(folded))
    ]
    if len(matches) != 1:
        return None
    (match,) = matches
    if not CLOSING_DEGREE.search(folded) and not _is_requested(question, match.start(), names):
        return None
    degree = DEGREE_WORDS[match[1]]
    following = _NEXT.match(folded, match.end())
    noun = singular(following[1]) if following else ""
    is_order = degree in (DEGREE_WORDS["first"], DEGREE_WORDS["last"])
    if strict and is_order and "spouse" in (noun, kin_of(noun)):
        # The first wife is not the oldest.
        return None
    is_of_birth = degree.is_date and noun in _BORN
    return _stated(question, match, degree, BORN if is_of_birth else ())


# Nouns of kin and sex

_NOUNS: Mapping[str, tuple[str, str]] = {
    "son": ("male", "child"),
    "daughter": ("female", "child"),
    "brother": ("male", "sibling"),
    "sister": ("female", "sibling"),
    "wife": ("female", "spouse"),
    "husband": ("male", "spouse"),
    "actress": ("female", "actor"),
    "woman": ("female", ""),
    "man": ("male", ""),
    "girl": ("female", ""),
    "boy": ("male", ""),
}
_BORN = frozenset({*_NOUNS, "child", "sibling", "grandchild", "grandson", "granddaughter", "twin"})


def sex_of(noun: str, /) -> str:
    """Returns the sex that a noun in the singular says: ``male``, ``female``, or nothing."""
    return _NOUNS.get(noun, ("", ""))[0]


def kin_of(noun: str, /) -> str:
    """Returns the noun without its sex (``child`` of ``daughter``), or nothing."""
    return _NOUNS.get(noun, ("", ""))[1]
