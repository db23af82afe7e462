"""Averages and totals that a question asks for, and the numbers that they are of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph_service.query.algebra import Comparable, Fold
from graph_service.query.enumeration import Degree, Span, overlap
from graph_service.retrieve.classes.degrees import is_money
from graph_service.retrieve.classes.profile import RelationProfile, ValueKind
from graph_service.retrieve.classes.question_text import QuestionText
from graph_service.retrieve.classes.vocabulary import FITTING, QUANTITIES, STOCK
from graph_service.retrieve.classes.wording import word_fit
from graph_service.retrieve.constraints.coverage import root
from graph_service.retrieve.units import is_money_word, units_of
from graph_service.text.fold import fold, lowered, word_spans, words
from graph_service.text.question_form import read_form

_MEAN = re.compile(r"\b(?:on average|average|(?<=the )mean(?= \w))\b")
_SUM = re.compile(
    r"\b(?:in total|in all|altogether|all together|taken together|total(?! number of)|sum(?: of)?"
    r"|combined|overall)\b"
)
_TOTAL_NUMBER = re.compile(r"\btotal number of\b")
_FOR_A_DEED = re.compile(r"\b(?:costs?|paid|pay)\s+to\s+\w")
"""What it cost to make a film is no price of its tickets."""
_PAYING = frozenset(
    map(root, ("spend", "spent", "pay", "paid", "cost", "earn", "make", "bring", "collect", "owe",
               "charge", "money", "receive", "get", "take", "invoice", "bill"))
)  # fmt: skip
_SPENDING = frozenset(map(root, ("spend", "spent", "pay", "paid", "cost", "earn", "owe")))
_WORTH = frozenset(map(root, ("value", "worth", "revenue", "turnover", "cost", "costs")))
_NAMED_AFTER = 3
_OWN_WORD = 0.9


@dataclass(frozen=True, slots=True)
class StatedMeasure:
    """What a question asks to make of numbers.

    Attributes:
        fold: The mean, or the sum.
        span: The characters that say so.
        is_implied: Whether only *how much* or *how many* does: of several numbers the sum is meant.
        is_counting: Whether it says *how many*: what is counted must be what the numbers are of.
    """

    fold: Fold
    span: Span
    is_implied: bool = False
    is_counting: bool = False


def read_measure(question: str, /) -> StatedMeasure | None:
    """Returns the average or the total that a question asks for; None where it asks for neither.

    >>> read_measure("What is the average price of the parts?").fold.value
    'mean'
    >>> read_measure("How much did Ann spend?").is_implied
    True
    >>> read_measure("Which part is the heaviest?")
    >>> read_measure("How much did the film cost to make?")
    """
    folded, form = lowered(question), read_form(question)
    if _FOR_A_DEED.search(folded):
        return None
    mean = _MEAN.search(folded)
    if mean is not None:
        return StatedMeasure(Fold.MEAN, mean.span())
    total = _SUM.search(folded)
    if form.count_span is not None:
        is_implied = total is None and not _TOTAL_NUMBER.search(folded)
        return StatedMeasure(Fold.SUM, form.count_span, is_implied, is_counting=True)
    if total is not None:
        return StatedMeasure(Fold.SUM, total.span())
    much = form.how_much_span
    return StatedMeasure(Fold.SUM, much, is_implied=True) if much else None


def names_a_measure(label: str, question: str, /) -> bool:
    """Returns whether a question may ask for an average or a total of what a relation says.

    >>> names_a_measure("fine", "What is the average fine?"), names_a_measure("born", "average fine?")
    (True, False)
    """
    return any(
        word_fit(word, label) >= _OWN_WORD or (is_of_paying(word) and is_money_word(label))
        for word, _, _ in word_spans(question)
    )


def is_of_paying(word: str, /) -> bool:
    """Returns whether a word says that money is spent or taken in."""
    return root(word) in _PAYING


def asks_what_is_spent(question: str, /) -> bool:
    """Returns whether a question asks how much money was spent.

    >>> asks_what_is_spent("How much did Ann spend?"), asks_what_is_spent("How much is left?")
    (True, False)
    """
    spent = (root(word) in _SPENDING for word, _, _ in word_spans(question))
    return read_form(question).how_much_span is not None and any(spent)


class MeasureReader:
    """Reads which numbers an average or a total is of."""

    def __init__(self, text: QuestionText, stated: StatedMeasure, /) -> None:
        self._text = text
        self._stated = stated

    def read(self) -> list[Degree]:
        """Returns the numbers as an order without a rank; none where no relation fits."""
        stated = self._stated
        relations = self._counted() if stated.is_counting else self._named()
        factors = {each.id for each in self._numbers() if self._is_a_factor(each)}
        relations = {id_: fit for id_, fit in relations.items() if id_ not in factors}
        if not relations:
            return []
        paying = {row for row in self._rows() if self._is_of_money(row)}
        if paying and any(_is_paid(each) for each in self._text.profiles if each.id in relations):
            self._text.companions.setdefault(stated.span, set()).update(paying)
        total = _SUM.search(self._text.folded)
        much = read_form(self._text.question).how_much_span
        for span in (total.span() if total else None, much):
            if span is not None and not overlap(span, stated.span):
                self._text.companions.setdefault(stated.span, set()).update(self._rows_in(span))
        return [Degree(Comparable.NUMBERS, False, stated.span, relations, rank=None)]

    def _numbers(self) -> Sequence[RelationProfile]:
        return [
            each
            for each in self._text.profiles
            if each.kind is ValueKind.NUMBER
            and not (each.are_years and self._stated.fold is Fold.SUM)
        ]

    def _is_of_money(self, row: int) -> bool:
        word = self._text.content[row].text
        return is_of_paying(word) or root(word) in _WORTH

    def _is_a_factor(self, profile: RelationProfile) -> bool:
        """Returns whether numbers are at most a factor of what words of worth ask for: quantities,
        or the prices of what there are several of.
        """
        content = [self._text.content[row].text for row in self._rows()]
        if _WORTH.isdisjoint(map(root, content)):
            return False
        if any(word_fit(word, profile.label) >= 1.0 for word in content):
            return False
        are_several = any(
            not (QUANTITIES | STOCK).isdisjoint(map(root, words(each.label)))
            for each in self._numbers()
            if each.id != profile.id
        )
        return not _is_paid(profile) or (self._stated.fold is Fold.SUM and are_several)

    def _rows(self) -> list[int]:
        return self._text.rows(0, len(self._text.folded))

    def _rows_in(self, span: Span) -> list[int]:
        return [
            row
            for row, word in enumerate(self._text.content)
            if overlap((word.start, word.end), span)
        ]

    def _counted(self) -> dict[str, float]:
        """Returns the relations of numbers that *how many* counts: their name or unit comes next."""
        end = self._stated.span[1]
        rows = [row for row, word in enumerate(self._text.content) if word.start >= end]
        fits: dict[str, float] = {}
        # Instances of a class are counted, and not added up.
        for row in set(rows[:1]).intersection(self._rows()):
            word = self._text.content[row].text
            for each in self._numbers():
                is_unit = _is_unit_of(word, each)
                if is_unit:
                    self._text.companions.setdefault(self._stated.span, set()).add(row)
                if is_unit or word_fit(word, each.label) >= 1.0:
                    fits[each.id] = 1.0
        return fits

    def _named(self) -> dict[str, float]:
        stated = self._stated
        after = self._text.rows(stated.span[1], self._text.clause_end(stated.span[1]))
        numbers = {each.id for each in self._numbers()}
        for rows in (after[:_NAMED_AFTER], self._rows()):
            fits = _fitting(self._text.relation_words.local(rows), numbers)
            if fits:
                return fits
        own = {
            each.id: 1.0
            for each in self._numbers()
            if any(
                word_fit(self._text.content[row].text, each.label) >= 1.0
                for row in self._rows_in(stated.span)
            )
        }
        if own:
            return own
        money = [each.id for each in self._numbers() if is_money(each)]
        paying = any(map(self._is_of_money, self._rows()))
        return {money[0]: FITTING} if paying and len(money) == 1 else {}


def _fitting(fits: Mapping[str, float], numbers: set[str]) -> dict[str, float]:
    return {id_: fit for id_, fit in fits.items() if fit >= FITTING and id_ in numbers}


def _is_paid(profile: RelationProfile) -> bool:
    """Returns whether the numbers of a relation are of money, by their unit or by its name."""
    return is_money(profile) or (profile.unit is None and is_money_word(profile.label))


def _is_unit_of(word: str, profile: RelationProfile) -> bool:
    """Returns whether a word is the unit of a relation's numbers, by any of its names."""
    own = units_of(fold(profile.unit)) if profile.unit else ()
    own = own or tuple(
        unit for label in words(profile.label) if len(label) > 1 for unit in units_of(label)
    )
    return any(
        unit.measures == each.measures and unit.factor == each.factor
        for unit in units_of(word)
        for each in own
    )
