"""Counts, averages and totals of each of some things: *the most parts*, *the average price per city*.

Pure reading: what a question says of them. ``tally_queries`` finds what is counted in the graph.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from graph_service.query.algebra import Fold
from graph_service.query.enumeration import Span
from graph_service.retrieve.classes.measures import read_measure
from graph_service.retrieve.classes.vocabulary import COUNTS, RANK, RANKS, read_count
from graph_service.retrieve.degree_words import LEAST, OF_MEASURES, OF_NUMBERS
from graph_service.text.fold import lowered
from graph_service.text.question_form import read_form

_NUMBER_OF = r"(?:total\s+|overall\s+)?number\s+of(?:\s+the)?"
_MOST = re.compile(
    rf"\b(?:the\s+)?(?:(?P<most>most|fewest|least)(?:\s+of\s+the)?"
    rf"|(?P<of>{'|'.join(OF_NUMBERS)})\s+{_NUMBER_OF}"
    r"|(?P<often>most|least)\s+(?:often|frequently|times))\b"
)
_OFTEN = re.compile(r"\b(?:the\s+)?(?P<often>most|least)\s+(?:often|frequently|times)\b")
_DEGREE = rf"\b(?:the\s+)?(?P<degree>{'|'.join(OF_MEASURES)})\s+"
_MEASURED = re.compile(rf"{_DEGREE}(?P<fold>average|mean|total|overall|combined)\b")
_IS = re.compile(r"\b(?:is|are|was|were)\s+(?:the\s+)?$")
"""Before *most satisfied*, which is how something is and counts nothing."""
_EXTREME = re.compile(rf"{_DEGREE}(?=\w)")
_BY_NUMBER = re.compile(rf"\bby\s+(?:the\s+|their\s+)?{_NUMBER_OF}")
_TOP = re.compile(rf"\b(?:the\s+)?(?P<end>top|bottom)(?:[\s-]+(?P<count>{COUNTS}))?\b")
_EACH = re.compile(
    r"\b(?:per|(?:(?:for|in|of|at|from|to|on|by|with|does|do|did|has|have|is|are|was|were)\s+)?"
    r"(?:each|every)(?:\s+of\s+the)?|grouped\s+by|broken\s+down\s+by)\s+(?=\w)"
)
_PER = re.compile(
    r"^\W*(?:(?:list|show|give)\s+(?:me\s+)?)?(?:the\s+)?(?:\w+\s+){1,3}?(?P<per>per)\s+(?=\w)"
)
"""Before the noun of groups where nothing but *per* says that there is a count of each."""
_BY = re.compile(r"\bby\s+(?=\w)")
_COUNT_OF = re.compile(rf"\b(?:{_NUMBER_OF}|count\s+of)\b")


@dataclass(frozen=True, slots=True)
class StatedTally:
    """What a question asks of a count, an average or a total of each of some things.

    Attributes:
        fold: What is made of what each thing leads to; None for the first of its numbers, as in
            *which wine got the highest score*.
        spans: The characters that say so.
        counted_from: Where the noun of what is counted or measured may begin.
        group_from: Where the noun of the things begins that each have one; None where they are
            what is asked for, as in *which supplier has the most parts*.
        descending: Whether the greatest come first.
        rank: Of the things meant; None for each of them, or for the ``first``.
        first: How many things are meant, the first ones.
        is_often: Whether a verb says what is counted: *who called most often*.
        is_by: Whether only *by* or *per* says that there is one of each, which a name may follow too.
        is_plain: Whether no word says that things are counted: *orders per year*. A number of each
            may be a rate then (*points per game*), and is not added up.
    """

    fold: Fold | None
    spans: tuple[Span, ...]
    counted_from: int
    group_from: int | None = None
    descending: bool = True
    rank: int | None = None
    first: int | None = None
    is_often: bool = False
    is_by: bool = False
    is_plain: bool = False


def read_tally(question: str, /) -> StatedTally | None:
    """Returns the count, average or total of each of some things that a question is about.

    >>> read_tally("Which supplier has the most parts?").rank
    1
    >>> read_tally("What is the average price per category?").fold.value
    'mean'
    >>> read_tally("How many parts does each supplier have?").group_from
    25
    >>> read_tally("Orders per customer").fold.value
    'count'
    >>> read_tally("How many parts are there?"), read_tally("Who is the most satisfied?")
    (None, None)
    """
    folded = lowered(question)
    return _of_groups(question, folded) or _by_number(folded) or _of_degree(folded)


def _of_groups(question: str, folded: str) -> StatedTally | None:
    measure = read_measure(question)
    counting = read_form(question).count_span or _span(_COUNT_OF.search(folded))
    plain = _PER.match(folded)
    if counting is None and measure is None and plain is not None:
        span = (plain.start("per"), plain.end())
        return StatedTally(Fold.COUNT, (span,), 0, plain.end(), is_by=True, is_plain=True)
    if counting is not None and (measure is None or measure.is_counting):
        fold, span = Fold.COUNT, counting
    elif measure is not None and not measure.is_implied:
        fold, span = measure.fold, measure.span
    else:
        return None
    each = _EACH.search(folded, span[0])
    group = each or _BY.search(folded, span[1])
    if group is None or _MEASURED.search(folded) or _MOST.search(folded):
        return None
    spans = (span, _stripped(folded, group))
    return StatedTally(fold, spans, span[1], group.end(), is_by=each is None)


def _by_number(folded: str) -> StatedTally | None:
    """Returns the tally of *top five customers by number of orders*."""
    top, counted = _TOP.search(folded), _BY_NUMBER.search(folded)
    if top is None or counted is None or counted.start() < top.end():
        return None
    count = read_count(top["count"]) if top["count"] else None
    is_top = top["end"] == "top"
    spans = (top.span(), counted.span())
    rank = 1 if count is None else None
    return StatedTally(Fold.COUNT, spans, counted.end(), None, is_top, rank, count)


def _of_degree(folded: str) -> StatedTally | None:
    measured = _MEASURED.search(folded)
    often = measured or _OFTEN.search(folded)
    match = often or _MOST.search(folded)
    if match is None:
        return None
    if often is None and match["most"] and _IS.search(folded[: match.start()]):
        return None
    word = match["degree"] if measured else (match["often"] or match["most"] or match["of"])
    fold = Fold.COUNT
    if measured:
        fold = Fold.MEAN if measured["fold"] in {"average", "mean"} else Fold.SUM
    start, rank = match.start(), 1
    ordinal = RANK.search(folded[: match.start(match.lastindex or 0)])
    if ordinal is not None:
        start, rank = min(start, ordinal.start()), RANKS[ordinal[1]]
    is_often = not measured and bool(match["often"])
    span = (start, match.end())
    return StatedTally(fold, (span,), match.end(), None, word not in LEAST, rank, None, is_often)


def read_extreme(question: str, /) -> StatedTally | None:
    """Returns that the things are ordered by the highest of numbers that others have of them.

    >>> read_extreme("Which wine got the highest score?").spans
    ((15, 26),)
    """
    folded = lowered(question)
    match = _EXTREME.search(folded)
    if match is None or read_tally(question) is not None:
        return None
    start, end = _stripped(folded, match)
    descending = match["degree"] not in LEAST
    return StatedTally(None, ((start, end),), end, None, descending, 1)


def _span(match: re.Match[str] | None) -> Span | None:
    return match.span() if match else None


def _stripped(folded: str, match: re.Match[str]) -> Span:
    return match.start(), match.start() + len(folded[match.start() : match.end()].rstrip())
