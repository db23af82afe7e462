"""The words of a question about a class, and which of them stand near others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graph_service.query.enumeration import Span, overlap
from graph_service.retrieve.classes.profile import RelationProfile
from graph_service.retrieve.classes.vocabulary import CLAUSE, HAVING, LOADED, NEGATIONS
from graph_service.retrieve.classes.wording import Cosines, RelationWords, Word, word_fit
from graph_service.text.fold import lowered, word_spans, words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.question_form import BE, DO, read_form

_PEOPLE = re.compile(
    r"\b(?:which|what|how many|list|all|the|any)\s+(?:of the\s+)?(people|persons?)\b"
)
_BY = re.compile(r"[^?]*\bby\b")
_JOINING = frozenset({"in", "at", "for", "to", "from", "under"})
_DETERMINERS = re.compile(r"\b(?:which|what|how many)\s+$", re.IGNORECASE)
_DEGREES = r"(?:\w+est|first|last|most \w+|least \w+)"
_CALLING = re.compile(
    rf"\b(?:which|what|how many|list|name|all|any|(?:all|list|which of|what|name) the"
    rf"|(?:the|which|what|whose) (?:\w+ )?{_DEGREES})\s+$"
)
_ONE_OF_THEM = re.compile(
    r"^\s*(?:who|(?:which|what) \w+)\s+(?!(?:is|are|was|were)\b)\w+\s+an?\s+$"
)
_DIRECTLY = re.compile(r"\b(?:which|what|how many|list|name|all|any|the)\s+$")
_WHO_IS = re.compile(
    r"^\s*who\s+(?:(?:is|are|was|were)\s+the|work(?:s|ed)\s+as(?:\s+(?:the|an?))?)\s+$"
)
_LISTING = frozenset({"all", "find", "give", "list", "me", "name", "of", "show", "the", "us"})
_SAYING_WHICH = frozenset({"at", "from", "in", "on", "under", "with", "without"})
"""What follows things to say which of them are meant."""
_EMPTY_VERBS = frozenset(
    {"belong", "belongs", "came", "come", "comes", "contain", "contains", "include", "includes",
     "got", "get", "gets"}
)  # fmt: skip
_APOSTROPHES = ("'", "\u2019")


@dataclass(frozen=True, slots=True)
class Mention:
    """Words that state something of the instances: an amount, a date, or an entity."""

    span: Span
    is_amount: bool = False


class QuestionText:
    """A question with its words.

    Attributes:
        question: As the user wrote it.
        folded: In lower case.
        spans: Its words with their characters.
        content: The words that something must account for.
        class_span: The characters of the class.
        profiles: Relations of the instances.
        relation_words: How well the content words fit those.
        items: The amounts, dates and entities that it states, in order.
        companions: Further content words that a part's span takes up with it, by span.
    """

    def __init__(
        self,
        question: str,
        content: Sequence[Word],
        class_span: Span,
        profiles: Sequence[RelationProfile],
        cosines: Cosines,
        /,
    ) -> None:
        self.question = question
        self.folded = lowered(question)
        self.spans = word_spans(question)
        self.class_span = class_span
        self.profiles = profiles
        self.relation_words = RelationWords(content, profiles, cosines)
        self.content = self.relation_words.content
        self.items: Sequence[Mention] = ()
        self.companions: dict[Span, set[int]] = {}

    def rows(self, start: int, end: int, /) -> list[int]:
        """Returns the content words between two characters, without the class, negations and degrees."""
        return [
            row
            for row, word in enumerate(self.content)
            if start <= word.start and word.end <= end and not overlap(
                (word.start, word.end), self.class_span
            ) and word.text not in NEGATIONS and word.text not in LOADED
        ]  # fmt: skip

    def near_rows(self, span: Span, /) -> list[int]:
        """Returns the content words that tell what a span is said of: up to the next such spans, or
        to a new clause.
        """
        others = [item.span for item in self.items if not overlap(item.span, span)]
        left = max((end for _, end in others if end <= span[0]), default=0)
        right = min((start for start, _ in others if start >= span[1]), default=len(self.folded))
        rows = self._rows_between(left, span, right)
        # "shipped to Brazil in 1997": the verb tells of both.
        return rows or self._rows_between(0, span, right)

    def _rows_between(self, left: int, span: Span, right: int) -> list[int]:
        for word, start, end in self.spans:
            if word in CLAUSE and left <= start and end <= span[0]:
                left = max(left, start)
            if word in CLAUSE and span[1] <= start and end <= right:
                right = min(right, start)
        return [*self.rows(left, span[0]), *self.rows(span[1], right)]

    def own_relations(self) -> set[str]:
        """Returns the relations that are named as the class is: the ``order date`` of orders, which
        is meant before the day when they were shipped.
        """
        own = words(self.question[slice(*self.class_span)])
        return {
            each.id
            for each in self.profiles
            if own and all(word_fit(word, each.label) >= 1.0 for word in own)
        }

    def free_rows(self) -> list[int]:
        """Returns the content words outside of all items."""
        taken = [item.span for item in self.items]
        return [
            row
            for row in self.rows(0, len(self.folded))
            if not any(
                overlap((self.content[row].start, self.content[row].end), span) for span in taken
            )
        ]

    def clause_end(self, begin: int, /) -> int:
        """Returns where the clause ends that a character is in."""
        return min(
            (start for word, start, _ in self.spans if start >= begin and word in CLAUSE),
            default=len(self.folded),
        )

    def negation_before(self, start: int, /) -> int | None:
        """Returns the row of the word of negation that bears on what begins at a character."""
        barrier = max(
            [
                0,
                *(item.span[1] for item in self.items if item.span[1] <= start),
                *(begin for word, begin, end in self.spans if end <= start and word in {"and", "but", "or"}),
            ]
        )  # fmt: skip
        rows = [
            row
            for row, word in enumerate(self.content)
            if barrier <= word.start and word.end <= start and word.text in NEGATIONS
        ]
        return rows[-1] if rows else None

    def is_had(self, start: int, /) -> bool:
        """Returns whether a word of having stands right before a character, but for articles."""
        before = [word for word, _, end in self.spans if end <= start]
        while before and before[-1] in {"a", "an", "the", "any", "some", "its", "their"}:
            before.pop()
        return bool(before) and before[-1] in HAVING


def people_span(question: str, /) -> Span | None:
    """Returns the words of a question that mean people of no stated class; None where none do.

    >>> people_span("Who has the highest salary?"), people_span("Who does Ann report to?")
    ((0, 3), None)
    """
    folded, form = lowered(question), read_form(question)
    if form.word == "who" and not form.preposition:
        # What "who" does, and what is done by it: no statement of the one who is meant.
        is_done = form.following in BE and _BY.match(folded, form.following_end)
        return None if form.following in DO or is_done else form.span
    match = _PEOPLE.search(folded)
    return match.span(1) if match else None


def joins_people(question: str, span: Span, /) -> bool:
    """Returns whether an entity is named as what people are joined to: they work in it, report to
    it.

    >>> joins_people("Who works in Sales?", (13, 18)), joins_people("Who manages Ann?", (12, 15))
    (True, False)
    """
    before = [word for word, _, end in word_spans(question) if end <= span[0]]
    if before and before[-1] == "the":
        before.pop()
    return len(before) > 1 and before[-1] in _JOINING and before[-2] not in BE


def calls_things(question: str, span: Span, /) -> bool:
    """Returns whether a question calls what it asks about by a name that they share, such as their
    species.

    >>> calls_things("Which dog is the heaviest?", (6, 9)), calls_things("Who feeds a dog?", (12, 15))
    (True, True)
    >>> calls_things("Who lives in Springfield?", (13, 24))
    False
    """
    folded = lowered(question)
    before, after = folded[: span[0]], folded[span[1] :]
    if _WHO_IS.match(before):
        return not word_spans(after)
    return bool(_CALLING.search(before)) or is_one_of_them(question, span)


def nouns_of_things(question: str, names: Sequence[Span], /) -> list[tuple[tuple[str, ...], Span]]:
    """Returns the nouns by which a question calls what it asks about, longer ones first; a name may
    stand before.

    >>> nouns_of_things("Which record labels are German?", [])
    [(('record', 'labels'), (6, 19)), (('record',), (6, 12))]
    >>> nouns_of_things("Which German makers closed?", [(6, 12)])[-1]
    (('makers',), (13, 19))
    """
    spans = word_spans(question)
    nouns: list[tuple[tuple[str, ...], Span]] = []
    for index, (_, start, _) in enumerate(spans):
        own = [end for begin, end in names if end <= start and not question[end:start].strip()]
        before = [begin for begin, end in names if end in own]
        if not any(calls_things(question, (each, each)) for each in (start, *before)):
            continue
        for count in (3, 2, 1):
            run = spans[index : index + count]
            if len(run) == count and not any(word in EMPTY_IN_ENGLISH for word, _, _ in run):
                nouns.append((tuple(word for word, _, _ in run), (start, run[-1][2])))
    return sorted(nouns, key=lambda each: -len(each[0]))


def is_one_of_them(question: str, span: Span, /) -> bool:
    """Returns whether a name stands for any of those that have it, as in *who feeds a dog*."""
    folded = lowered(question)
    return bool(_ONE_OF_THEM.match(folded[: span[0]])) and not word_spans(folded[span[1] :])


def asks_for_called(question: str, span: Span, /) -> bool:
    """Returns whether the things that a name calls are what is asked for, and nothing of theirs.

    >>> asks_for_called("Which dogs bark?", (6, 10))
    True
    >>> asks_for_called("What is the breed of the oldest dog?", (32, 35))
    False
    """
    return bool(_DIRECTLY.search(lowered(question)[: span[0]]))


def asks_for_instances(question: str, class_span: Span, /) -> bool:
    """Returns whether a question asks which instances of a class, and for nothing of theirs.

    >>> asks_for_instances("Which artists are alive?", (6, 13))
    True
    >>> asks_for_instances("Which artists' works are sold?", (6, 13))
    False
    >>> asks_for_instances("Who is the artist of the oldest work?", (11, 17))
    True
    >>> asks_for_instances("works in storage", (0, 5))
    True
    """
    before, after = question[: class_span[0]], question[class_span[1] :]
    if _WHO_IS.match(lowered(before)):
        return True
    following = word_spans(after)
    is_listed = all(word in _LISTING for word, _, _ in word_spans(before))
    if is_listed and following and following[0][0] in _SAYING_WHICH:
        return True
    if not _DETERMINERS.search(before) or after[:1] in _APOSTROPHES:
        return False
    return not following or following[0][0] in EMPTY_IN_ENGLISH | _EMPTY_VERBS
