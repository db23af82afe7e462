"""The orders that a question about a class states: highest, third longest, most recent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from graph_service.query.algebra import Comparable
from graph_service.query.enumeration import Degree, Span, overlap
from graph_service.retrieve.classes.extremes import count_of_class, count_of_degree, top_by
from graph_service.retrieve.classes.profile import RelationProfile, ValueKind
from graph_service.retrieve.classes.question_text import QuestionText
from graph_service.retrieve.classes.vocabulary import (
    BEGUN,
    BEGUN_ROOTS,
    FITTING,
    RANK,
    RANKS,
)
from graph_service.retrieve.classes.wording import word_root
from graph_service.retrieve.constraints.coverage import root
from graph_service.retrieve.constraints.reading import Superlative, read_degrees
from graph_service.retrieve.constraints.verb_labels import is_past
from graph_service.retrieve.degree_relations import compares
from graph_service.retrieve.degree_words import AGE, BORN, DEGREE_OF_NOUN, DEGREE_WORDS
from graph_service.retrieve.units import is_gain, units_of
from graph_service.text.fold import fold, words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.question_form import read_form

_OWN_DATE = 0.3
_PRICES = frozenset({"price", "cost"})


class DegreeReader:
    """Reads the words of degree of a question."""

    def __init__(self, text: QuestionText, /) -> None:
        self._text = text

    def read(self) -> list[Degree]:
        """Returns the orders, each with the relations that it may be of."""
        degrees: list[Degree] = [*self._top()]
        for stated in read_degrees(self._text.question):
            degrees += self._degree(stated)
        for match in DEGREE_OF_NOUN.finditer(self._text.folded):
            word = match[1]
            if any(overlap(match.span(), each.span) and each.relations for each in degrees):
                continue
            after = self._text.rows(match.end(), self._text.clause_end(match.end()))
            # "earns the most", "was hired last": the verb before it names what is compared.
            near = after[:3] or self._text.rows(0, match.start())[-1:]
            fits = {
                id_: fit
                for id_, fit in self._text.relation_words.local(near).items()
                if fit >= FITTING
            }
            fits = self._dates_named(self._word_before(match.start())) or fits
            kinds = (Comparable.DATES,) if DEGREE_WORDS[word].is_date else (Comparable.NUMBERS,)
            for kind in kinds:
                some = self._of_kind(fits, kind)
                if some:
                    span, rank = self._ranked(match.span())
                    degrees.append(Degree(kind, DEGREE_WORDS[word].greatest, span, some, rank))
        return [self._counted(each) for each in degrees]

    def _top(self) -> Iterator[Degree]:
        """Yields the order of *top five by price*, by the value that is named."""
        stated = top_by(self._text.folded)
        if stated is None:
            return
        span, count, is_top, begin = stated
        rows = self._text.rows(begin, self._text.clause_end(begin))[:3]
        fits = {
            id_: fit for id_, fit in self._text.relation_words.local(rows).items() if fit >= FITTING
        }
        for kind in Comparable:
            some = self._of_kind(fits, kind)
            if some:
                yield Degree(kind, is_top, span, some, None, count)

    def _counted(self, degree: Degree) -> Degree:
        """Returns an order of as many of the first as the question says: *the three cheapest*."""
        if degree.first is not None or degree.rank != 1:
            return degree
        counted = count_of_degree(self._text.folded, degree.span)
        if counted is not None:
            return replace(degree, span=counted[0], rank=None, first=counted[1])
        of_class = count_of_class(self._text.folded, self._text.class_span)
        if of_class is None:
            return degree
        span, count = of_class
        rows = [row for row, word in enumerate(self._text.content) if word.start == span[0]]
        self._text.companions.setdefault(degree.span, set()).update(rows)
        return replace(degree, rank=None, first=count)

    def _degree(self, stated: Superlative) -> Iterator[Degree]:
        fits = {
            profile.id: fit
            for profile in self._text.profiles
            if (fit := meaning_fit(stated.meanings, profile)) >= FITTING
            and self._may_be(stated.meanings, profile)
        }
        if not fits and not _PRICES.isdisjoint(stated.meanings):
            # The cheapest flat has the lowest rent, if nothing else of a flat is money.
            money = [
                each.id
                for each in self._text.profiles
                if is_money(each) and not is_gain(each.label)
            ]
            fits = dict.fromkeys(money, FITTING) if len(money) == 1 else {}
        after = self._text.relation_words.local(
            self._text.rows(stated.end, self._text.clause_end(stated.end))[:3]
        )
        if not stated.is_date:
            # "highest unit price": what is named counts more than what the word alone means.
            named = {id_: fit + 0.2 for id_, fit in after.items() if fit >= FITTING}
            fits |= {id_: max(fit, fits.get(id_, 0.0)) for id_, fit in named.items()}
        verb = self._word_before(stated.start)
        following = self._dates_named(self._word_after(stated.end)) if stated.is_date else {}
        if following and not verb:
            # "was last deployed", "the first published book"
            fits = following
        elif verb:
            fits = self._dates_named(verb) or (
                {id_: fit for id_, fit in fits.items() if fit > FITTING}
                if stated.is_date and word_root(verb) not in BEGUN_ROOTS
                else fits
            )
        span, rank = self._ranked((stated.start, stated.end))
        numbers, dates = (self._of_kind(fits, kind) for kind in Comparable)
        if stated.is_date:
            own = self._text.own_relations().intersection(dates)
            if own and len(set(dates.values())) == 1:
                dates |= {id_: dates[id_] + _OWN_DATE for id_ in own}
            if dates:
                yield Degree(Comparable.DATES, stated.greatest, span, dates, rank)
            years = {
                each.id: fits[each.id]
                for each in self._text.profiles
                if each.are_years and each.id in fits
            }
            if years:
                yield Degree(Comparable.NUMBERS, stated.greatest, span, years, rank)
            if not dates and not years and stated.meanings[0] == BORN[0]:
                # The greater the age, the earlier the birth.
                ages = dict.fromkeys(self._ages(), 1.0)
                if ages:
                    yield Degree(Comparable.NUMBERS, not stated.greatest, span, ages, rank)
        elif numbers:
            yield Degree(Comparable.NUMBERS, stated.greatest, span, numbers, rank)

    def _may_be(self, meanings: Sequence[str], profile: RelationProfile) -> bool:
        question = self._text.question
        return compares(
            meanings,
            profile.label,
            of_people=read_form(question).asks_for_person,
            own=words(question[slice(*self._text.class_span)]),
        )

    def _ages(self) -> list[str]:
        return [
            each.id
            for each in self._text.profiles
            if each.kind is ValueKind.NUMBER and compares(AGE, each.label)
        ]

    def _word_before(self, start: int) -> str:
        """Returns the content word right before a degree: *finished first*; "" for none."""
        before = self._text.rows(0, start)[-1:]
        word = next((self._text.content[row] for row in before), None)
        if word is None or self._text.question[word.end : start].strip():
            return ""
        return word.text

    def _word_after(self, end: int) -> str:
        """Returns the past tense or participle right after a degree: *last deployed*; "" for none."""
        after = self._text.rows(end, len(self._text.question))[:1]
        word = next((self._text.content[row] for row in after), None)
        if word is None or self._text.question[end : word.start].strip():
            return ""
        return word.text if is_past(word.text) else ""

    def _dates_named(self, verb: str) -> dict[str, float]:
        """Returns the relation of dates that a verb names, none for "": what was *closed last* is the
        last by the day when it was closed, and by no other. A boat that *finished first* was not built first.
        """
        return {
            profile.id: 1.0
            for profile in self._text.profiles
            if verb
            and profile.kind is ValueKind.DATE
            and word_root(verb) in {root(each) for each in words(profile.label)}
        }

    def _ranked(self, span: Span) -> tuple[Span, int]:
        ordinal = RANK.search(self._text.folded[: span[0]])
        if ordinal is None:
            return span, 1
        return (ordinal.start(), span[1]), RANKS[ordinal[1]]

    def _of_kind(self, fits: Mapping[str, float], kind: Comparable) -> dict[str, float]:
        meant = ValueKind.DATE if kind is Comparable.DATES else ValueKind.NUMBER
        return {
            each.id: fits[each.id]
            for each in self._text.profiles
            if each.kind is meant and each.id in fits
        }


def is_money(profile: RelationProfile, /) -> bool:
    """Returns whether the numbers of a relation are of a currency."""
    return bool(profile.unit) and any(unit.is_money for unit in units_of(fold(profile.unit or "")))


def meaning_fit(meanings: Sequence[str], profile: RelationProfile, /) -> float:
    """Returns how well a relation has the values that a word of degree compares."""
    own = {root(word) for word in words(profile.label)}
    for index, meaning in enumerate(meanings):
        meant = {root(word) for word in words(meaning) if word not in EMPTY_IN_ENGLISH}
        meant -= {root("date"), root("year")} if len(meant) > 1 else set()
        if meant <= own:
            return round(1.0 - 0.05 * index, 2)
    is_begun = not BEGUN.isdisjoint(meanings) and not BEGUN_ROOTS.isdisjoint(own)
    return FITTING if is_begun else 0.0
