"""The highest value itself, and how many of the first are meant: *the highest salary*, *three*."""

from __future__ import annotations

import re

from graph_service.query.algebra import Query
from graph_service.query.enumeration import Span
from graph_service.retrieve.classes.vocabulary import COUNTS, RANKS, read_count
from graph_service.retrieve.classes.wording import word_fit
from graph_service.retrieve.constraints.reading import read_degrees
from graph_service.retrieve.degree_words import DEGREE_OF_NOUN
from graph_service.text.fold import lowered, word_spans, words
from graph_service.text.function_words import EMPTY_IN_ENGLISH

_ASKING = re.compile(
    r"^\s*(?:and\s+|so\s+)?(?:(?:what|which)(?:['\u2019]?s|\s+(?:is|was|are|were))?"
    r"|(?:tell|give|show)\s+me|find|name|how\s+(?:much|high|low|long|big|large)\s+(?:is|was))?\s+"
    rf"(?:the\s+)?(?:(?:{'|'.join(RANKS)})[\s-]+)?$"
)
_BEFORE = re.compile(rf"\b(?:(?:top|bottom|best|first|last)[\s-]+)?({COUNTS})[\s-]+$")
_AFTER = re.compile(rf"^[\s-]+({COUNTS})\b(?=\s+[a-z])(?!\s+(?:%|percent|times|of|or)\b)")
_COUNT_OF_CLASS = re.compile(
    rf"\b(?:which|what|the|top|bottom|name|list|show|find|give me)\s+({COUNTS})\s+$"
)
_VALUE_OF = re.compile(
    r"^\s*(?:what|which)(?:['\u2019]?s|\s+(?:is|was|are|were))\s+the\s+([\w\s]+?)\s+(?:of|for)\s+(?=the\b)"
)
_TOP = re.compile(rf"\b(top|bottom)[\s-]+({COUNTS})\b(?=.*\bby\s+(?:the\s+|their\s+)?)")
_BY = re.compile(r"\bby\s+(?:the\s+|their\s+)?")


def extreme_span(question: str, /) -> Span | None:
    """Returns the word of degree whose value itself a question asks for.

    >>> extreme_span("What is the highest salary?"), extreme_span("Who has the highest salary?")
    ((12, 19), None)
    >>> extreme_span("lowest salary in Sales")
    (0, 6)
    """
    folded = lowered(question)
    spans = [(each.start, each.end) for each in read_degrees(question)]
    spans += [match.span() for match in DEGREE_OF_NOUN.finditer(folded)]
    return next(
        (
            span
            for span in sorted(spans)
            if _ASKING.match(folded[: span[0]]) or _is_at_most_article(folded[: span[0]])
        ),
        None,
    )


def _is_at_most_article(folded: str) -> bool:
    """Returns whether what stands before a word of degree asks nothing: *the highest salary*."""
    return folded.strip() in {"", "the"}


def asks_for_value(question: str, query: Query, label: str, class_span: Span, /) -> bool:
    """Returns whether a question asks for the value that orders a query's answers, by name.

    Args:
        question: As asked.
        query: With an order by one relation.
        label: Of that relation.
        class_span: The words of the class of its answers.
    """
    order = query.order
    if order is None or order.fold is not None or len(order.path) != 1:
        return False
    if named := value_of_extreme(question):
        return all(word_fit(word, label) >= 1.0 for word in named)
    span = extreme_span(question)
    if span is None:
        return False
    if _is_at_most_article(lowered(question)[: span[0]]) and class_span[0] < class_span[1]:
        return _is_value_of(question, span[1], label, class_span)
    end = class_span[0] if class_span[0] < class_span[1] and class_span[0] >= span[1] else None
    after = [
        word
        for word, start, _ in word_spans(question)
        if start >= span[1] and (end is None or start < end)
    ]
    return any(word_fit(word, label) >= 1.0 for word in after[:2])


def _is_value_of(question: str, start: int, label: str, class_span: Span) -> bool:
    """Returns whether the label of a value comes next in a question, and its things are said to have
    it: the highest salary of the employees. The highest salary employee is none; the latest order
    date is the date of an order.
    """
    own = words(label)
    following = [each for each in word_spans(question) if each[1] >= start][: len(own)]
    if not own or [word for word, _, _ in following] != own:
        return False
    end = following[-1][2]
    return class_span[1] <= end or bool(question[end : class_span[0]].strip())


def value_of_extreme(question: str, /) -> tuple[str, ...]:
    """Returns the words for what is asked of the first by an order; none where nothing is.

    >>> value_of_extreme("What is the depth of the deepest berth?")
    ('depth',)
    >>> value_of_extreme("What is the deepest berth?")
    ()
    """
    folded = lowered(question)
    match = _VALUE_OF.match(folded)
    if (
        match is None
        or (extreme := DEGREE_OF_NOUN.search(folded)) is None
        and not read_degrees(question)
    ):
        return ()
    positions = [each.start for each in read_degrees(question)]
    positions += [extreme.start()] if extreme is not None else []
    if min(positions) < match.end():
        return ()
    return tuple(word for word, _, _ in word_spans(match[1]) if word not in EMPTY_IN_ENGLISH)


def count_of_degree(folded: str, span: Span, /) -> tuple[Span, int] | None:
    """Returns how many of the first a word of degree means, and the characters of both.

    >>> count_of_degree("the three cheapest parts", (10, 18))
    ((4, 18), 3)
    >>> count_of_degree("the last 2 orders", (4, 8))
    ((4, 10), 2)
    >>> count_of_degree("the cheapest part", (4, 12)), count_of_degree("at least 7 units", (3, 8))
    (None, None)
    """
    if folded[: span[0]].endswith("at "):
        return None
    before = _BEFORE.search(folded[: span[0]])
    if before is not None:
        return (before.start(), span[1]), read_count(before[1])
    after = _AFTER.match(folded[span[1] :])
    if after is not None:
        return (span[0], span[1] + after.end(1)), read_count(after[1])
    return None


def count_of_class(folded: str, class_span: Span, /) -> tuple[Span, int] | None:
    """Returns how many instances of a class are meant, and the characters that say so.

    >>> count_of_class("which two parts are the cheapest?", (10, 15))
    ((6, 9), 2)
    """
    match = _COUNT_OF_CLASS.search(folded[: class_span[0]])
    return None if match is None else (match.span(1), read_count(match[1]))


def top_by(folded: str, /) -> tuple[Span, int, bool, int] | None:
    """Returns what *top five by price* says: its characters, how many, whether the greatest are
    meant, and where the name of the value begins.

    >>> top_by("top 5 films by rating")
    ((0, 5), 5, True, 15)
    """
    match = _TOP.search(folded)
    if match is None:
        return None
    by = [each.end() for each in _BY.finditer(folded, match.end())]
    return match.span(), read_count(match[2]), match[1] == "top", by[-1]
