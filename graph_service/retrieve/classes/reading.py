"""What a question about a class says: tests on values, an order, a fold, as parts of small queries.

Pure reading: English, by general words of number, time and degree. A word that no part takes up stays
unread, and the question is then not answered for sure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graph_service.link.question import name_words
from graph_service.query.algebra import (
    MEASURES,
    Comparison,
    Fold,
)
from graph_service.query.enumeration import (
    Degree,
    NamedTest,
    NamedThing,
    QuestionParts,
    Span,
    overlap,
)
from graph_service.retrieve.classes.amounts import ComparedAmount, read_amounts
from graph_service.retrieve.classes.degrees import DegreeReader
from graph_service.retrieve.classes.extremes import count_of_class
from graph_service.retrieve.classes.measures import MeasureReader, read_measure
from graph_service.retrieve.classes.profile import RelationProfile
from graph_service.retrieve.classes.question_text import Mention, QuestionText
from graph_service.retrieve.classes.value_tests import ValueTestReader
from graph_service.retrieve.classes.vocabulary import (
    COMING,
    COUNT_TAIL,
    HOW_OFTEN,
    IGNORED,
    KEEPING,
    LEAST_OF_STEP,
    LOADED,
    NAMED,
    NEGATIONS,
    OF_LOCATION,
    SEVERAL,
    WHERE,
)
from graph_service.retrieve.classes.wording import (
    LEAST_FIT,
    OWN_WORD,
    Cosines,
    RelationWords,
    Word,
    word_fit,
)
from graph_service.retrieve.constraints.coverage import root
from graph_service.retrieve.constraints.label_aspects import OF_EVENTS
from graph_service.retrieve.constraints.reading import (
    read_degrees,
)
from graph_service.retrieve.constraints.reading_dates import read_dates
from graph_service.retrieve.constraints.verb_labels import verbs_in
from graph_service.retrieve.degree_words import DEGREE_OF_NOUN
from graph_service.text.fold import lowered, word_spans, words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.question_form import read_form

_CONTRACTED = re.compile(r"\b[a-z]+n(?=['\u2019]t\b)", re.IGNORECASE)
"""A verb that a negation is a part of: *has* of *hasn't*."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassReading:
    """A question as parts of queries about one class.

    Attributes:
        parts: For the enumeration.
        words: How well its content words fit the relations of the class.
        companions: Further words that a part's span takes up with it, by span: rows of
            ``words.content``.
        exact: Words that only a word of a label accounts for, since they order things, or since
            their capitals tell that they are names: rows of ``words.content``.
        refusal: Why no answer of it may be sure; empty where nothing speaks against it.
    """

    parts: QuestionParts
    words: RelationWords
    companions: Mapping[Span, frozenset[int]]
    exact: frozenset[int] = frozenset()
    refusal: str = ""

    def unread(self, spans: Sequence[Span], relation_ids: Sequence[str], /) -> tuple[str, ...]:
        """Returns the content words that neither some spans nor some relations account for; for a
        word of degree, such as *highest*, an order does, or a relation of that name.
        """
        content = self.words.content
        taken = [*spans, *self.parts.used]
        rows = {row for span in spans for row in self.companions.get(span, ())}
        labels = [words(each.label) for each in self.words.profiles if each.id in relation_ids]
        located = [label for label in labels if not OF_LOCATION.isdisjoint(map(root, label))]
        # Who comes from a city may be born there, and live elsewhere.
        is_home = any(OF_EVENTS.isdisjoint(label) for label in located)
        where = WHERE if is_home else COMING if located else frozenset[str]()
        return tuple(
            word.text
            for row, word in enumerate(content)
            if row not in rows
            and not any(start < word.end and word.start < end for start, end in taken)
            and not self.words.speaks_of(
                row,
                relation_ids,
                least=OWN_WORD if row in self.exact or word.text in LOADED else LEAST_FIT,
            )
            and word.text not in where
            # What lies under a hill is under no amount.
            and not (word.text in LOADED and any(word.text in label for label in labels))
        )


def read_fold(question: str, /) -> tuple[Fold, Span | None]:
    """Returns what a question asks to make of the answers, and the words that say so.

    >>> read_fold("How many parts are there?")[0].value, read_fold("Are there any parts?")[0].value
    ('count', 'exists')
    """
    form = read_form(question)
    if form.count_span is not None:
        return Fold.COUNT, form.count_span
    if form.existence_span is not None:
        return Fold.EXISTS, form.existence_span
    often = HOW_OFTEN.search(lowered(question))
    if often is not None:
        return Fold.COUNT, often.span()
    return Fold.LIST, None


def content_of(question: str, /) -> list[Word]:
    """Returns the words of a question that something must account for.

    >>> [word.text for word in content_of("Who hasn't paid?")]
    ['t', 'paid']
    """
    contracted = {match.start() for match in _CONTRACTED.finditer(question)}
    return [
        Word(word, start, end)
        for word, start, end in word_spans(question)
        if word in NEGATIONS
        or word in LOADED
        or word.isdigit()
        or not (
            word in EMPTY_IN_ENGLISH or word in IGNORED or len(word) == 1 or start in contracted
        )
    ]


def read_class_question(
    question: str,
    classes: Sequence[NamedThing],
    things: Sequence[NamedThing],
    profiles: Sequence[RelationProfile],
    cosines: Cosines,
    /,
    *,
    is_claim: bool = False,
    names: Sequence[Span] = (),
) -> ClassReading:
    """Returns a question about a class as parts of queries.

    Args:
        question: As asked.
        classes: The classes that the words of the class may mean, all of one span.
        things: Entities that the question names and that are joined to instances of the class.
        profiles: Relations of the instances.
        cosines: Of texts.
        is_claim: Whether something is said of the one thing that ``classes`` name, to be answered
            by yes or no.
        names: Words that surely name something else.
    """
    content = content_of(question)
    own_words = [(word.text, word.start, word.end) for word in content]
    verbs = verbs_in(question, own_words, [thing.span for thing in things])
    content = [
        replace(each, is_verb=(each.text, each.start, each.end) in verbs) for each in content
    ]
    text = QuestionText(question, content, classes[0].span, profiles, cosines)
    return _Reader(text, classes, things, is_claim=is_claim, names=names).read()


class _Reader:
    def __init__(
        self,
        text: QuestionText,
        classes: Sequence[NamedThing],
        things: Sequence[NamedThing],
        /,
        *,
        is_claim: bool,
        names: Sequence[Span],
    ) -> None:
        self._text = text
        self._proper = names
        self._is_claim = is_claim
        self._classes = classes
        self._things = things
        self._used: list[Span] = []
        self._has_degree = False
        self._is_total_a_name = False
        self._degrees: Sequence[Degree] = ()
        # The words of a class that no words name are none.
        self._is_implied = text.class_span[0] == text.class_span[1]

    def read(self) -> ClassReading:
        fold_, stated = read_fold(self._text.question)
        if self._is_claim:
            fold_ = Fold.EXISTS
        if stated is not None:
            self._used.append(stated)
        if fold_ is Fold.COUNT:
            self._used += [match.span() for match in COUNT_TAIL.finditer(self._text.folded)]
        self._used += [match.span() for match in KEEPING.finditer(self._text.folded)]
        dates = read_dates(self._text.question)
        amounts = [
            each
            for each in read_amounts(self._text.question)
            if not any(
                each.start < date.end and date.start < each.end
                and each.bounds[0][0] is Comparison.EQUAL
                for date in dates
            )
        ]  # fmt: skip
        degrees = DegreeReader(self._text).read()
        amounts = [each for each in amounts if not self._is_count_of(each, degrees)]
        amount_spans = [(each.start, each.end) for each in amounts]
        degrees = [
            each for each in degrees if not any(overlap(each.span, span) for span in amount_spans)
        ]
        self._degrees = degrees
        self._text.items = sorted(
            [
                *(Mention((each.start, each.end), True) for each in amounts),
                *(Mention((each.start, each.end), True) for each in dates),
                *(Mention(each.span) for each in self._things),
            ],
            key=lambda item: item.span,
        )
        value_tests = ValueTestReader(self._text)
        tests = [*value_tests.in_stock()]
        unvalued = list(
            value_tests.without_value(
                amounts_at=[item.span for item in self._text.items if item.is_amount]
            )
        )
        flags = [
            test for test in unvalued if not any(overlap(test.span, each.span) for each in tests)
        ]
        tests += flags
        tests += [test for each in amounts for test in value_tests.of_amount(each)]
        tests += [
            test
            for each in dates
            for test in value_tests.of_dates((each.start, each.end), each.days)
        ]
        tests += value_tests.of_texts()
        tests = [test for test in tests if not self._is_in_a_name(test.span)]
        things = [replace(each, relations=self._near(each)) for each in self._things]
        tests, things = self._negated(tests, things)
        fold_, degrees = self._measured(fold_, degrees)
        if fold_ not in MEASURES:
            self._articles()
        # The numbers of *between 10 and 20* may be names of rows too.
        named = [
            each.span
            for each in things
            if not any(overlap(each.span, span) for span in amount_spans)
        ]
        refusal = self._refusal(fold_, named)
        parts = QuestionParts(
            [*self._classes, *things],
            tests,
            degrees,
            fold_,
            {
                id_: fit
                for id_, fit in self._text.relation_words.local(self._text.free_rows()).items()
                if fit >= LEAST_OF_STEP
            },
            used=self._used,
        )
        companions = {span: frozenset(rows) for span, rows in self._text.companions.items()}
        exact_at = [(each.start, each.end) for each in read_degrees(self._text.question)]
        exact_at += [*name_words(self._text.question), *self._proper]
        exact = frozenset(
            row
            for row, word in enumerate(self._text.content)
            if any(overlap((word.start, word.end), span) for span in exact_at)
        )
        return ClassReading(parts, self._text.relation_words, companions, exact, refusal)

    def _is_in_a_name(self, span: Span) -> bool:
        """Returns whether some words are a part of what names an entity: 1003 in *order 1003*."""
        return any(
            each.span != span and each.span[0] <= span[0] and span[1] <= each.span[1]
            for each in self._things
        )

    def _is_count_of(self, amount: ComparedAmount, degrees: Sequence[Degree]) -> bool:
        """Returns whether a number says how many of the first are meant."""
        span = (amount.start, amount.end)
        of_class = count_of_class(self._text.folded, self._text.class_span)
        return any(
            overlap(span, each.span) or (of_class is not None and overlap(span, of_class[0]))
            for each in degrees
            if each.first is not None
        )

    def _measured(self, fold_: Fold, degrees: list[Degree]) -> tuple[Fold, list[Degree]]:
        """Returns the fold and the orders: the numbers of an average or a total, where one is meant
        and some fit.
        """
        stated = read_measure(self._text.question)
        if stated is None or fold_ is Fold.EXISTS:
            return fold_, degrees
        if any(each.first is not None and self._names(stated.span, each) for each in degrees):
            # "top 3 bookings by total": the name of a column.
            self._is_total_a_name = True
            return fold_, degrees
        numbers = MeasureReader(self._text, stated).read()
        if not numbers or (stated.is_implied and not self._is_implied):
            return fold_, degrees
        # "the highest average price": which numbers, but not whose.
        self._has_degree = bool(degrees) and not all(
            overlap(each.span, stated.span) for each in degrees
        )
        self._used = [span for span in self._used if not overlap(span, stated.span)]
        return stated.fold, numbers

    def _names(self, span: Span, degree: Degree) -> bool:
        """Returns whether words name the value of an order."""
        word = self._text.question[slice(*span)]
        return any(
            word_fit(word, each.label) >= 1.0
            for each in self._text.profiles
            if each.id in degree.relations
        )

    def _near(self, thing: NamedThing) -> dict[str, float]:
        fits = self._text.relation_words.local(self._text.near_rows(thing.span))
        before = [word for word, _, end in self._text.spans if end <= thing.span[0]][-1:]
        if before and before[0] in {"from", "in", "at"}:
            for profile in self._text.profiles:
                if not OF_LOCATION.isdisjoint(map(root, words(profile.label))):
                    fits[profile.id] = fits.get(profile.id, 0.0) + NAMED
        return fits

    def _negated(
        self, tests: Sequence[NamedTest], things: Sequence[NamedThing]
    ) -> tuple[list[NamedTest], list[NamedThing]]:
        """Returns tests and things, those negated that a word of negation stands before."""
        taken = {row for rows in self._text.companions.values() for row in rows}
        spans = sorted({each.span for each in tests} | {each.span for each in things})

        def negation_of(span: Span) -> int | None:
            row = self._text.negation_before(span[0])
            if row is None or row in taken or span in self._text.companions:
                return None
            # It bears on the first thing after it, and on no other.
            between = [
                each
                for each in spans
                if self._text.content[row].end <= each[0] and each[1] <= span[0]
            ]
            return None if between else row

        rows = {span: row for span in spans if (row := negation_of(span)) is not None}
        for span, row in rows.items():
            self._text.companions.setdefault(span, set()).add(row)
        return (
            [replace(each, is_negated=each.is_negated or each.span in rows) for each in tests],
            [replace(each, is_negated=each.span in rows) for each in things],
        )

    def _articles(self) -> None:
        """Notes ``every`` and ``each`` right before the class: they say no more than ``all``."""
        for index, (word, start, end) in enumerate(self._text.spans[:-1]):
            if (
                word in {"every", "each"}
                and self._text.spans[index + 1][1] == self._text.class_span[0]
            ):
                self._used.append((start, end))

    def _refusal(self, fold_: Fold, named: Sequence[Span]) -> str:
        if self._has_degree:
            return "an order of averages or totals"
        stated = read_measure(self._text.question)
        is_measured = stated is not None and not stated.is_implied and not self._is_total_a_name
        if is_measured and fold_ is Fold.LIST:
            return "an average or a total"
        if fold_ is Fold.LIST and read_form(self._text.question).auxiliary:
            return "a question for yes or no that does not ask whether there are any"
        for match in DEGREE_OF_NOUN.finditer(self._text.folded):
            is_read = any(
                each.first is not None and overlap(each.span, match.span())
                for each in self._degrees
            )
            if SEVERAL.search(self._text.folded[: match.start()]) and not is_read:
                return "several by an order"
        spans = sorted(set(named))
        for left, right in zip(spans, spans[1:], strict=False):
            if re.fullmatch(
                r"\s*,?\s*(?:and|or|,)\s*(?:the\s+)?", self._text.folded[left[1] : right[0]]
            ):
                return "two values joined by and"
        return ""
