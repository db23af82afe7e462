"""What a question about a class says: tests on values, an order, a fold, as parts of small queries.

Pure reading: English, by general words of number, time and degree. A word that no part takes up stays
unread, and the question is then not answered for sure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from graph_service.model.days import Days
from graph_service.model.values import Quantity, StringValue
from graph_service.query.algebra import (
    Comparable,
    Comparison,
    During,
    Fold,
    Number,
    Present,
    Text,
)
from graph_service.query.enumeration import Degree, NamedTest, NamedThing, QuestionParts, Span
from graph_service.retrieve.classes.amounts import ComparedAmount, Unit, read_amounts, units_of
from graph_service.retrieve.classes.profile import RelationProfile, ValueKind, texts_of
from graph_service.retrieve.classes.wording import Cosines, RelationWords, Word
from graph_service.retrieve.constraints.coverage import root
from graph_service.retrieve.constraints.dates import lowered
from graph_service.retrieve.constraints.reading import (
    Superlative,
    asks_how_many,
    comparative_meanings,
    read_dates,
    read_degrees,
)
from graph_service.retrieve.constraints.unread import ASKING_WORDS
from graph_service.text.fold import fold, word_spans, words
from graph_service.text.function_words import EMPTY_IN_ENGLISH

NEGATIONS = frozenset(
    {"not", "no", "without", "never", "except", "excluding", "none", "nobody", "nothing", "neither",
     "nor", "lack", "lacks", "lacking", "missing", "cannot", "besides", "outside", "t"}
)  # fmt: skip
_HAVING = frozenset({"with", "have", "has", "having", "had"})
_LOADED = frozenset(
    {"more", "most", "than", "less", "least", "only", "same", "other", "before", "after", "over",
     "under", "between", "few", "both", "again", "each", "every", "per", "or", "until", "own",
     "since", "about", "during", "if", "why", "how", "my", "our", "your", "their", "his", "her"}
)  # fmt: skip
"""Function words that change what is classes for: something must take them up."""
_IGNORED = (ASKING_WORDS - {"total", "two", "used", "uses", "use"}) | frozenset(
    {"exist", "exists", "existing", "currently", "still", "altogether", "different", "various",
     "database", "graph", "anyone", "anybody", "anything", "someone", "somebody", "something",
     "see", "need", "know", "want", "please", "there", "kinds", "possible", "available", "display",
     "return", "enumerate", "entire", "whole", "complete", "following", "identify", "retrieve",
     "been", "being", "got", "out", "ones", "overview", "stock", "say", "look"}
) - {"stock", "available", "out"}  # fmt: skip
_WHERE = frozenset({"located", "based", "situated", "live", "lives", "come", "comes", "coming"})
_NO_STOCK = re.compile(
    r"\b(?:out of stock|sold out|(?:run|ran|runs|running) out(?: of stock)?|no longer in stock"
    r"|not (?:currently |still )?(?:in stock|available)|unavailable|no stock(?: left)?)\b"
)
_IN_STOCK = re.compile(r"\b(?:still |currently )?(?:in stock|available|on hand)\b")
_STOCK = frozenset(map(root, ("stock", "inventory", "available", "availability")))
_EXISTS = re.compile(
    r"\s*(?:(?:is|are|was|were) there|(?:do|does|did|have|has|had|is|are|was|were) any"
    r"|(?:do|did) (?:we|you|they) (?:still )?have)\b"
)
_YES_NO = re.compile(r"\s*(?:is|are|was|were|do|does|did|has|have|had|can|could)\b")
_COUNT_TAIL = re.compile(r"\b(?:in total|in all|altogether|overall|(?:are|is) there)\b")
_DEGREE_OF = re.compile(
    r"\b(most|fewest|least|highest|lowest|largest|greatest|biggest|smallest|longest|shortest"
    r"|maximum|minimum|earliest|latest|newest|oldest)\b"
)
_LEAST_OF = frozenset(
    {"fewest", "least", "lowest", "smallest", "shortest", "minimum", "earliest", "oldest"}
)
_OF_DATES = frozenset({"earliest", "latest", "newest", "oldest"})
_RANKS = {
    "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5,
}  # fmt: skip
_RANK = re.compile(rf"\b({'|'.join(_RANKS)})[\s-]+$")
_SEVERAL = re.compile(
    r"\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|few|top|bottom)[\s-]+$"
)
_CLAUSE = frozenset({"and", "but", "or", "whose", "which", "that", "who"})
_FITTING, _NAMED = 0.6, 0.15
_NEAR_WORDS = 3
_LEAST_OF_STEP = 0.5
"""How well the question fits a relation that is followed; below, it is none that is named."""
_BEGUN = frozenset({"inception", "date founded"})
_BEGUN_ROOTS = frozenset(
    map(root, ("opened", "opening", "founded", "established", "built", "created", "introduced",
               "launched", "completed", "construction", "start", "begun"))
)  # fmt: skip
_OF_LOCATION = frozenset(
    map(root, ("country", "city", "origin", "location", "town", "region", "place"))
)


@dataclass(frozen=True, slots=True, eq=False)
class ClassReading:
    """A question as parts of queries about one class.

    Attributes:
        parts: For the enumeration.
        words: How well its content words fit the relations of the class.
        companions: Further words that a part's span takes up with it, by span: rows of
            ``words.content``.
        refusal: Why no answer of it may be sure; empty where nothing speaks against it.
    """

    parts: QuestionParts
    words: RelationWords
    companions: Mapping[Span, frozenset[int]]
    refusal: str = ""

    def unread(self, spans: Sequence[Span], relation_ids: Sequence[str], /) -> tuple[str, ...]:
        """Returns the content words that neither some spans nor some relations account for."""
        content = self.words.content
        taken = [*spans, *self.parts.used]
        rows = {row for span in spans for row in self.companions.get(span, ())}
        is_located = any(
            not _OF_LOCATION.isdisjoint(map(root, words(profile.label)))
            for profile in self.words.profiles
            if profile.id in relation_ids
        )
        return tuple(
            word.text
            for row, word in enumerate(content)
            if row not in rows
            and not any(start < word.end and word.start < end for start, end in taken)
            and not self.words.speaks_of(row, relation_ids)
            and not (is_located and word.text in _WHERE)
        )


def read_fold(question: str, /) -> tuple[Fold, Span | None]:
    """Returns what a question asks to make of the answers, and the words that say so.

    >>> read_fold("How many parts are there?")[0].value, read_fold("Are there any parts?")[0].value
    ('count', 'exists')
    """
    count = asks_how_many(question)
    if count is not None:
        return Fold.COUNT, count
    match = _EXISTS.match(lowered(question))
    return (Fold.EXISTS, match.span()) if match else (Fold.LIST, None)


def content_of(question: str, /) -> list[Word]:
    """Returns the words of a question that something must account for."""
    return [
        Word(word, start, end)
        for word, start, end in word_spans(question)
        if word in NEGATIONS
        or word in _LOADED
        or word.isdigit()
        or (word not in EMPTY_IN_ENGLISH and word not in _IGNORED and len(word) > 1)
    ]


def read_class_question(
    question: str,
    classes: Sequence[NamedThing],
    things: Sequence[NamedThing],
    profiles: Sequence[RelationProfile],
    cosines: Cosines,
    /,
) -> ClassReading:
    """Returns a question about a class as parts of queries.

    Args:
        question: As asked.
        classes: The classes that the words of the class may mean, all of one span.
        things: Entities that the question names and that are joined to instances of the class.
        profiles: Relations of the instances.
        cosines: Of texts.
    """
    return _Reader(question, classes, things, profiles, cosines).read()


@dataclass(frozen=True, slots=True)
class _Item:
    """Words that say something of the instances."""

    span: Span
    is_amount: bool = False


class _Reader:
    def __init__(
        self,
        question: str,
        classes: Sequence[NamedThing],
        things: Sequence[NamedThing],
        profiles: Sequence[RelationProfile],
        cosines: Cosines,
        /,
    ) -> None:
        self._question = question
        self._folded = lowered(question)
        self._classes = classes
        self._class_span = classes[0].span
        self._things = things
        self._profiles = profiles
        self._words = RelationWords(content_of(question), profiles, cosines)
        self._content = self._words.content
        self._spans = word_spans(question)
        self._companions: dict[Span, set[int]] = {}
        self._used: list[Span] = []

    def read(self) -> ClassReading:
        fold_, stated = read_fold(self._question)
        if stated is not None:
            self._used.append(stated)
        if fold_ is Fold.COUNT:
            self._used += [match.span() for match in _COUNT_TAIL.finditer(self._folded)]
        dates = read_dates(self._question)
        amounts = [
            each
            for each in read_amounts(self._question)
            if not any(
                each.start < date.end and date.start < each.end
                and each.bounds[0][0] is Comparison.EQUAL
                for date in dates
            )
        ]  # fmt: skip
        amount_spans = [(each.start, each.end) for each in amounts]
        degrees = [
            each
            for each in self._degrees()
            if not any(_overlap(each.span, span) for span in amount_spans)
        ]
        self._items = sorted(
            [
                *(_Item((each.start, each.end), True) for each in amounts),
                *(_Item((each.start, each.end), True) for each in dates),
                *(_Item(each.span) for each in self._things),
            ],
            key=lambda item: item.span,
        )
        tests = [*self._stock()]
        unvalued = list(
            self._without_value(amounts_at=[item.span for item in self._items if item.is_amount])
        )
        flags = [
            test for test in unvalued if not any(_overlap(test.span, each.span) for each in tests)
        ]
        tests += flags
        tests += [test for each in amounts for test in self._amount(each)]
        tests += [test for each in dates for test in self._dates((each.start, each.end), each.days)]
        tests += self._texts()
        things = [replace(each, relations=self._near(each)) for each in self._things]
        tests, things = self._negated(tests, things)
        self._articles()
        refusal = self._refusal(fold_, [each.span for each in things])
        parts = QuestionParts(
            [*self._classes, *things],
            tests,
            degrees,
            fold_,
            {
                id_: fit
                for id_, fit in self._words.local(self._free_rows()).items()
                if fit >= _LEAST_OF_STEP
            },
            used=self._used,
        )
        companions = {span: frozenset(rows) for span, rows in self._companions.items()}
        return ClassReading(parts, self._words, companions, refusal)

    # Which words stand near

    def _rows(self, start: int, end: int) -> list[int]:
        return [
            row
            for row, word in enumerate(self._content)
            if start <= word.start and word.end <= end and not _overlap(
                (word.start, word.end), self._class_span
            ) and word.text not in NEGATIONS and word.text not in _LOADED
        ]  # fmt: skip

    def _near_rows(self, span: Span) -> list[int]:
        """Returns the content words that tell what a span is said of: up to the next such spans, or
        to a new clause.
        """
        others = [item.span for item in self._items if not _overlap(item.span, span)]
        left = max((end for _, end in others if end <= span[0]), default=0)
        right = min((start for start, _ in others if start >= span[1]), default=len(self._folded))
        rows = self._rows_between(left, span, right)
        # "shipped to Brazil in 1997": the verb tells of both.
        return rows or self._rows_between(0, span, right)

    def _rows_between(self, left: int, span: Span, right: int) -> list[int]:
        for word, start, end in self._spans:
            if word in _CLAUSE and left <= start and end <= span[0]:
                left = max(left, start)
            if word in _CLAUSE and span[1] <= start and end <= right:
                right = min(right, start)
        return [*self._rows(left, span[0]), *self._rows(span[1], right)]

    def _near(self, thing: NamedThing) -> dict[str, float]:
        fits = self._words.local(self._near_rows(thing.span))
        before = [word for word, _, end in self._spans if end <= thing.span[0]][-1:]
        if before and before[0] in {"from", "in", "at"}:
            for profile in self._profiles:
                if not _OF_LOCATION.isdisjoint(map(root, words(profile.label))):
                    fits[profile.id] = fits.get(profile.id, 0.0) + _NAMED
        return fits

    def _free_rows(self) -> list[int]:
        taken = [item.span for item in self._items]
        return [
            row
            for row in self._rows(0, len(self._folded))
            if not any(
                _overlap((self._content[row].start, self._content[row].end), span) for span in taken
            )
        ]

    # What is said

    def _degrees(self) -> list[Degree]:
        degrees: list[Degree] = []
        for stated in read_degrees(self._question):
            degrees += self._degree(stated)
        for match in _DEGREE_OF.finditer(self._folded):
            word = match[1]
            if any(_overlap(match.span(), each.span) and each.relations for each in degrees):
                continue
            after = self._rows(match.end(), self._clause_end(match.end()))
            fits = {
                id_: fit for id_, fit in self._words.local(after[:3]).items() if fit >= _FITTING
            }
            kinds = (Comparable.DATES,) if word in _OF_DATES else (Comparable.NUMBERS,)
            for kind in kinds:
                some = self._of_kind(fits, kind)
                if some:
                    span, rank = self._ranked(match.span())
                    degrees.append(Degree(kind, word not in _LEAST_OF, span, some, rank))
        return degrees

    def _degree(self, stated: Superlative) -> Iterator[Degree]:
        fits = {
            profile.id: fit
            for profile in self._profiles
            if (fit := self._meaning_fit(stated.meanings, profile)) >= _FITTING
        }
        after = self._words.local(self._rows(stated.end, self._clause_end(stated.end))[:3])
        if not stated.is_date:
            # "highest unit price": what is named counts more than what the word alone means.
            named = {id_: fit + 0.2 for id_, fit in after.items() if fit >= _FITTING}
            fits |= {id_: max(fit, fits.get(id_, 0.0)) for id_, fit in named.items()}
        span, rank = self._ranked((stated.start, stated.end))
        numbers, dates = (self._of_kind(fits, kind) for kind in Comparable)
        if stated.is_date:
            if dates:
                yield Degree(Comparable.DATES, stated.greatest, span, dates, rank)
            years = {
                each.id: fits[each.id]
                for each in self._profiles
                if each.are_years and each.id in fits
            }
            if years:
                yield Degree(Comparable.NUMBERS, stated.greatest, span, years, rank)
        elif numbers:
            yield Degree(Comparable.NUMBERS, stated.greatest, span, numbers, rank)

    def _ranked(self, span: Span) -> tuple[Span, int]:
        ordinal = _RANK.search(self._folded[: span[0]])
        if ordinal is None:
            return span, 1
        return (ordinal.start(), span[1]), _RANKS[ordinal[1]]

    def _of_kind(self, fits: Mapping[str, float], kind: Comparable) -> dict[str, float]:
        meant = ValueKind.DATE if kind is Comparable.DATES else ValueKind.NUMBER
        return {
            each.id: fits[each.id]
            for each in self._profiles
            if each.kind is meant and each.id in fits
        }

    @staticmethod
    def _meaning_fit(meanings: Sequence[str], profile: RelationProfile) -> float:
        """Returns how well a relation has the values that a word of degree compares."""
        own = {root(word) for word in words(profile.label)}
        for index, meaning in enumerate(meanings):
            meant = {root(word) for word in words(meaning) if word not in EMPTY_IN_ENGLISH}
            meant -= {root("date"), root("year")} if len(meant) > 1 else set()
            if meant <= own:
                return round(1.0 - 0.05 * index, 2)
        is_begun = not _BEGUN.isdisjoint(meanings) and not _BEGUN_ROOTS.isdisjoint(own)
        return _FITTING if is_begun else 0.0

    def _clause_end(self, begin: int) -> int:
        return min(
            (start for word, start, _ in self._spans if start >= begin and word in _CLAUSE),
            default=len(self._folded),
        )

    def _stock(self) -> Iterator[NamedTest]:
        for pattern, holds in ((_NO_STOCK, False), (_IN_STOCK, True)):
            match = pattern.search(self._folded)
            if match is None or self._is_counted(match.span()):
                continue
            numbers: dict[str, float] = {}
            for profile in self._profiles:
                if _STOCK.isdisjoint(map(root, words(profile.label))):
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

    def _is_counted(self, span: Span) -> bool:
        """Returns whether an amount stands right beside some words: ``200 in stock``."""
        for item in self._items:
            if item.is_amount:
                between = self._folded[
                    min(item.span[1], span[1]) : max(item.span[0], span[0])
                ].split()
                if len(between) <= _NEAR_WORDS and _CLAUSE.isdisjoint(between):
                    return True
        return False

    def _without_value(self, *, amounts_at: Sequence[Span]) -> Iterator[NamedTest]:
        """Yields tests for relations that are named without a value: flags, and whether there is one."""
        claimed = {row for span in amounts_at for row in self._near_rows(span)}
        for column, profile in enumerate(self._profiles):
            rows = [
                row
                for row, word in enumerate(self._content)
                if self._words.fits[row, column] >= 1.0
                and not _overlap((word.start, word.end), self._class_span)
            ]
            roots = {root(self._content[row].text) for row in rows}
            own = {root(word) for word in words(profile.label) if word not in EMPTY_IN_ENGLISH}
            if not rows or not own <= roots or claimed.intersection(rows):
                continue
            span = (self._content[rows[0]].start, self._content[rows[-1]].end)
            if len(words(self._question[slice(*span)])) > len(words(profile.label)) + 1:
                continue
            is_negated = self._negation_before(span[0]) is not None
            fits = {profile.id: 1.0}
            if profile.kind is ValueKind.FLAG:
                value = profile.flag(not is_negated)
                if value is not None:
                    yield self._with_negation(NamedTest(_test_of(value), span, fits), is_negated)
            elif is_negated or self._is_had(span[0]):
                yield self._presence(profile, span, is_negated=is_negated)

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
            row = self._negation_before(test.span[0])
            if row is not None:
                self._companions.setdefault(test.span, set()).add(row)
        return test

    def _negation_before(self, start: int) -> int | None:
        """Returns the row of the word of negation that bears on what begins at a character."""
        barrier = max(
            [
                0,
                *(item.span[1] for item in self._items if item.span[1] <= start),
                *(begin for word, begin, end in self._spans if end <= start and word in {"and", "but", "or"}),
            ]
        )  # fmt: skip
        rows = [
            row
            for row, word in enumerate(self._content)
            if barrier <= word.start and word.end <= start and word.text in NEGATIONS
        ]
        return rows[-1] if rows else None

    def _is_had(self, start: int) -> bool:
        """Returns whether a word of having stands right before a character, but for articles."""
        before = [word for word, _, end in self._spans if end <= start]
        while before and before[-1] in {"a", "an", "the", "any", "some", "its", "their"}:
            before.pop()
        return bool(before) and before[-1] in _HAVING

    def _amount(self, stated: ComparedAmount) -> Iterator[NamedTest]:
        span = (stated.start, stated.end)
        fits = self._words.local(self._near_rows(span))
        meanings = comparative_meanings(stated.degree)
        for profile in self._profiles:
            if profile.kind is not ValueKind.NUMBER:
                continue
            fit = fits.get(profile.id, 0.0)
            if meanings:
                fit = max(fit, self._meaning_fit(meanings, profile))
            factor = Decimal(1)
            if stated.units:
                measured = _in_unit_of(stated.units, profile)
                if measured is None:
                    continue
                bonus, factor = measured
                fit += bonus
            bounds = [
                Number(comparison, format((amount * factor).normalize(), "f"), profile.unit)
                for comparison, amount in stated.bounds
            ]
            yield NamedTest(bounds[0], span, {profile.id: fit}, further=tuple(bounds[1:]))

    def _dates(self, span: Span, days: Days) -> Iterator[NamedTest]:
        fits = self._words.local(self._near_rows(span))
        dated = {
            each.id: fits.get(each.id, 0.0)
            for each in self._profiles
            if each.kind is ValueKind.DATE
        }
        if dated:
            yield NamedTest(During(days), span, dated)
        low, high = _years_of(days)
        bounds = []
        if low is not None:
            bounds.append(Number(Comparison.AT_LEAST, str(low)))
        if high is not None:
            bounds.append(Number(Comparison.AT_MOST, str(high)))
        years = {each.id: fits.get(each.id, 0.0) for each in self._profiles if each.are_years}
        if years and bounds:
            yield NamedTest(bounds[0], span, years, further=tuple(bounds[1:]))

    def _texts(self) -> Iterator[NamedTest]:
        """Yields the tests for texts that the question has word by word."""
        runs = _runs(self._spans)
        for profile in self._profiles:
            if profile.kind is not ValueKind.TEXT:
                continue
            for folded, text in texts_of(profile):
                span = runs.get(" ".join(words(folded)))
                if span is not None and not _overlap(span, self._class_span):
                    fits = self._words.local(self._near_rows(span))
                    yield NamedTest(Text(text), span, {profile.id: fits.get(profile.id, 0.0)})

    def _negated(
        self, tests: Sequence[NamedTest], things: Sequence[NamedThing]
    ) -> tuple[list[NamedTest], list[NamedThing]]:
        """Returns tests and things, those negated that a word of negation stands before."""
        taken = {row for rows in self._companions.values() for row in rows}
        spans = sorted({each.span for each in tests} | {each.span for each in things})

        def negation_of(span: Span) -> int | None:
            row = self._negation_before(span[0])
            if row is None or row in taken or span in self._companions:
                return None
            # It bears on the first thing after it, and on no other.
            between = [
                each for each in spans if self._content[row].end <= each[0] and each[1] <= span[0]
            ]
            return None if between else row

        rows = {span: row for span in spans if (row := negation_of(span)) is not None}
        for span, row in rows.items():
            self._companions.setdefault(span, set()).add(row)
        return (
            [replace(each, is_negated=each.is_negated or each.span in rows) for each in tests],
            [replace(each, is_negated=each.span in rows) for each in things],
        )

    def _articles(self) -> None:
        """Notes ``every`` and ``each`` right before the class: they say no more than ``all``."""
        for index, (word, start, end) in enumerate(self._spans[:-1]):
            if word in {"every", "each"} and self._spans[index + 1][1] == self._class_span[0]:
                self._used.append((start, end))

    def _refusal(self, fold_: Fold, named: Sequence[Span]) -> str:
        if fold_ is Fold.LIST and _YES_NO.match(self._folded):
            return "a question for yes or no that does not ask whether there are any"
        for match in _DEGREE_OF.finditer(self._folded):
            if _SEVERAL.search(self._folded[: match.start()]):
                return "several by an order"
        spans = sorted(set(named))
        for left, right in zip(spans, spans[1:], strict=False):
            if re.fullmatch(
                r"\s*,?\s*(?:and|or|,)\s*(?:the\s+)?", self._folded[left[1] : right[0]]
            ):
                return "two values joined by and"
        return ""


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
        is_money = unit.measures in {"euro", "dollar", "pound", "yen"}
        # Of which currency bare numbers are, and no more, may stay open.
        if is_money and not roots.isdisjoint(map(root, unit.relation_words)):
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


def _overlap(left: Span, right: Span) -> bool:
    return left[0] < right[1] and right[0] < left[1]
