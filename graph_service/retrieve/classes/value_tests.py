"""The tests that a question about a class makes of values: amounts, dates, texts, flags, presence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from graph_service.model.days import Days
from graph_service.model.values import Quantity, StringValue
from graph_service.query.algebra import Comparison, During, Number, Present, Text
from graph_service.query.enumeration import NamedTest, Span, overlap
from graph_service.retrieve.classes.amounts import ComparedAmount
from graph_service.retrieve.classes.degrees import meaning_fit
from graph_service.retrieve.classes.profile import RelationProfile, ValueKind, texts_of
from graph_service.retrieve.classes.question_text import QuestionText
from graph_service.retrieve.classes.vocabulary import (
    CLAUSE,
    FITTING,
    IN_STOCK,
    NEAR_WORDS,
    NO_STOCK,
    STOCK,
)
from graph_service.retrieve.classes.wording import word_root
from graph_service.retrieve.constraints.coverage import root
from graph_service.retrieve.constraints.reading import comparative_meanings
from graph_service.retrieve.units import Unit, units_of
from graph_service.text.fold import fold, words
from graph_service.text.function_words import EMPTY_IN_ENGLISH

_COSTS = frozenset(map(root, ("cost", "price", "priced", "pay", "charge", "sell")))
_CONTRARY = ("un", "non", "in", "im", "ir", "dis")
_JOINT = re.compile(r"\s+(?:(?:by|in|at|from|to|on|of|for|with|under|into)\s+)?(?:the\s+)?")
"""Between a verb and what it leads to."""


class ValueTestReader:
    """Reads the tests of a question, whose ``items`` are known."""

    def __init__(self, text: QuestionText, /) -> None:
        self._text = text

    def in_stock(self) -> Iterator[NamedTest]:
        """Yields the tests that words of stock state: ``sold out``, ``still available``."""
        for pattern, holds in ((NO_STOCK, False), (IN_STOCK, True)):
            match = pattern.search(self._text.folded)
            if match is None or self._is_counted(match.span()):
                continue
            numbers: dict[str, float] = {}
            for profile in self._text.profiles:
                if STOCK.isdisjoint(map(root, words(profile.label))):
                    continue
                if profile.kind is ValueKind.NUMBER:
                    numbers[profile.id] = 1.0
                value = profile.flag(holds) if profile.kind is ValueKind.FLAG else None
                if value is not None:
                    yield NamedTest(_test_of(value), match.span(), {profile.id: 1.0})
            if numbers:
                comparison = Comparison.OVER if holds else Comparison.EQUAL
                yield NamedTest(Number(comparison, "0"), match.span(), numbers)
            if numbers or not holds:
                return

    def without_value(self, *, amounts_at: Sequence[Span]) -> Iterator[NamedTest]:
        """Yields tests for relations that are named without a value: flags, and whether there is one."""
        claimed = {row for span in amounts_at for row in self._text.near_rows(span)}
        for column, profile in enumerate(self._text.profiles):
            rows = [
                row
                for row, word in enumerate(self._text.content)
                if self._text.relation_words.fits[row, column] >= 1.0
                and not overlap((word.start, word.end), self._text.class_span)
            ]
            if profile.kind is ValueKind.FLAG:
                yield from self._contraries(profile)
            roots = {word_root(self._text.content[row].text) for row in rows}
            own = {root(word) for word in words(profile.label) if word not in EMPTY_IN_ENGLISH}
            if not rows or not own <= roots or claimed.intersection(rows):
                continue
            span = (self._text.content[rows[0]].start, self._text.content[rows[-1]].end)
            if len(words(self._text.question[slice(*span)])) > len(words(profile.label)) + 1:
                continue
            is_negated = self._text.negation_before(span[0]) is not None
            fits = {profile.id: 1.0}
            if profile.kind is ValueKind.FLAG:
                value = profile.flag(not is_negated)
                if value is not None:
                    yield self._with_negation(NamedTest(_test_of(value), span, fits), is_negated)
            elif (is_negated or self._text.is_had(span[0])) and not self._joins_item(span[1]):
                yield self._presence(profile, span, is_negated=is_negated)

    def _joins_item(self, end: int) -> bool:
        """Returns whether what stands before a character says what the next entity is to the
        things: *not based in England*.
        """
        return any(
            item.span[0] > end
            and not item.is_amount
            and _JOINT.fullmatch(self._text.folded[end : item.span[0]])
            for item in self._text.items
        )

    def _contraries(self, profile: RelationProfile) -> Iterator[NamedTest]:
        """Yields the tests of words such as *unpaid*, where a relation ``paid`` says yes or no."""
        value = profile.flag(False)
        for word in self._text.content:
            stem = next(
                (word.text[len(each) :] for each in _CONTRARY if word.text.startswith(each)), ""
            )
            if value is not None and stem and words(profile.label) == [stem]:
                yield NamedTest(_test_of(value), (word.start, word.end), {profile.id: 1.0})

    def of_amount(self, stated: ComparedAmount, /) -> Iterator[NamedTest]:
        """Yields the test of an amount, once for each relation of numbers that it fits."""
        span = (stated.start, stated.end)
        fits = self._text.relation_words.local(self._text.near_rows(span))
        meanings = comparative_meanings(stated.degree)
        if any(unit.is_money for unit in stated.units):
            # "cost less than 700 euros": the currency says what is compared.
            costs = [row for row in self._text.near_rows(span) if self._costs(row)]
            self._text.companions.setdefault(span, set()).update(costs)
        for profile in self._text.profiles:
            if profile.kind is not ValueKind.NUMBER:
                continue
            fit = fits.get(profile.id, 0.0)
            if meanings:
                fit = max(fit, meaning_fit(meanings, profile))
            factor = Decimal(1)
            if stated.units:
                measured = _in_unit_of(stated.units, profile)
                if measured is None:
                    continue
                bonus, factor = measured
                fit += bonus
            elif meanings and not fit:
                # Of people who are older than 50 nothing but an age, or a date of birth, tells.
                continue
            bounds = [
                Number(comparison, format((amount * factor).normalize(), "f"), profile.unit)
                for comparison, amount in stated.bounds
            ]
            yield NamedTest(bounds[0], span, {profile.id: fit}, further=tuple(bounds[1:]))

    def _costs(self, row: int) -> bool:
        return root(self._text.content[row].text) in _COSTS

    def of_dates(self, span: Span, days: Days, /) -> Iterator[NamedTest]:
        """Yields the test of a date, for relations of dates and for those of years."""
        fits = self._text.relation_words.local(self._text.near_rows(span))
        dated = {
            each.id: fits.get(each.id, 0.0)
            for each in self._text.profiles
            if each.kind is ValueKind.DATE
        }
        if len(dated) > 1 and not any(dated.values()):
            own = self._text.own_relations()
            dated |= {id_: FITTING for id_ in dated if id_ in own}
        if dated:
            yield NamedTest(During(days), span, dated)
        low, high = _years_of(days)
        bounds = []
        if low is not None:
            bounds.append(Number(Comparison.AT_LEAST, str(low)))
        if high is not None:
            bounds.append(Number(Comparison.AT_MOST, str(high)))
        years = {each.id: fits.get(each.id, 0.0) for each in self._text.profiles if each.are_years}
        if years and bounds:
            yield NamedTest(bounds[0], span, years, further=tuple(bounds[1:]))

    def of_texts(self) -> Iterator[NamedTest]:
        """Yields the tests for texts that the question has word by word."""
        runs = _runs(self._text.spans)
        for profile in self._text.profiles:
            if profile.kind is not ValueKind.TEXT:
                continue
            for folded, text in texts_of(profile):
                span = runs.get(" ".join(words(folded)))
                if span is not None and not overlap(span, self._text.class_span):
                    fits = self._text.relation_words.local(self._text.near_rows(span))
                    yield NamedTest(Text(text), span, {profile.id: fits.get(profile.id, 0.0)})

    def _is_counted(self, span: Span) -> bool:
        """Returns whether an amount stands right beside some words: ``200 in stock``."""
        for item in self._text.items:
            if item.is_amount:
                between = self._text.folded[
                    min(item.span[1], span[1]) : max(item.span[0], span[0])
                ].split()
                if len(between) <= NEAR_WORDS and CLAUSE.isdisjoint(between):
                    return True
        return False

    def _presence(self, profile: RelationProfile, span: Span, *, is_negated: bool) -> NamedTest:
        fits = {profile.id: 1.0}
        amounts = [value.amount for value in profile.values if isinstance(value, Quantity)]
        if profile.kind is ValueKind.NUMBER and any(Decimal(text) == 0 for text in amounts):
            comparison = Comparison.EQUAL if is_negated else Comparison.OVER
            return self._with_negation(NamedTest(Number(comparison, "0"), span, fits), is_negated)
        test = NamedTest(Present(), span, fits, is_negated=is_negated)
        return self._with_negation(test, is_negated)

    def _with_negation(self, test: NamedTest, is_negated: bool) -> NamedTest:
        """Notes that the word of negation before a test is taken up by it."""
        if is_negated:
            row = self._text.negation_before(test.span[0])
            if row is not None:
                self._text.companions.setdefault(test.span, set()).add(row)
        return test


def _in_unit_of(units: Sequence[Unit], profile: RelationProfile) -> tuple[float, Decimal] | None:
    """Returns how surely a relation is measured in one of some units, and what turns numbers of
    that into its own; None where it is measured in another.
    """
    label = words(profile.label)
    own = [unit for word in label for unit in units_of(word) if len(word) > 1]
    if profile.unit:
        own = list(units_of(fold(profile.unit)))
        if not own:
            return None
    for unit in units:
        for each in own:
            if each.measures == unit.measures:
                return 0.6, unit.factor / each.factor
    if own:
        return None
    roots = set(map(root, label))
    for unit in units:
        # Of which currency bare numbers are, and no more, may stay open.
        if unit.is_money and not roots.isdisjoint(map(root, unit.relation_words)):
            return 0.5, Decimal(1)
    return None


def _years_of(days: Days) -> tuple[int | None, int | None]:
    """Returns the first and the last year that lie in a span whole; None without a bound."""
    ever = 10**9
    low = None if days.first <= -ever else -((101 - days.first) // 10000)
    high = None if days.last >= ever else (days.last - 1231) // 10000
    return low, high


def _test_of(value: object) -> Text | Number:
    if isinstance(value, StringValue):
        return Text(value.text)
    assert isinstance(value, Quantity)
    return Number(Comparison.EQUAL, value.amount)


def _runs(spans: Sequence[tuple[str, int, int]]) -> dict[str, Span]:
    """Returns the runs of up to four words with content, and where they stand."""
    runs: dict[str, Span] = {}
    for first in range(len(spans)):
        for after in range(first + 1, min(first + 4, len(spans)) + 1):
            run = [word for word, _, _ in spans[first:after]]
            if any(word not in EMPTY_IN_ENGLISH for word in run):
                runs.setdefault(" ".join(run), (spans[first][1], spans[after - 1][2]))
    return runs
