"""Questions in words: walks from an entity, by relations' names and by what people say for them.

The wordings are general and of no published set.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from graph_service.text.relation_phrases import RelationPhrases, phrases_of

Step = tuple[int, bool]
"""A relation, global number, and whether it is walked from value to subject."""
_PREDICATE = re.compile(r".* (in|by|for|at|from|to|of|with|on)")
"""A name that reads as said of the subject: *born in*, *directed by*."""
_PHRASE = re.compile(r"\b(of|that|which|whose|who|with|as|by|in|for|at|from|to|on) ")
"""Tells of a phrase whose possessive would bind to its last word alone."""
_STATED_SHARE = 0.7
"""Share of steps that go by what people say for them, where that is known."""
_FORWARD = (
    "what is the {r} of {x}?", "what is {x}'s {r}?", "who is {x}'s {r}", "name the {r} of {x}",
    "{x} {r}", "what {r} does {x} have?", "which {r} is of {x}?", "tell me the {r} for {x}",
    "who was the {r} of {x}?", "find {x}'s {r}", "{x}'s {r} is what?", "{r} of {x}",
    "do you know the {r} of {x}?", "can you tell me {x}'s {r}", "I want to know the {r} of {x}",
    "what are the {r}s of {x}?", "who are {x}'s {r}s?", "list the {r}s that {x} has",
    "what is the name of {x}'s {r}?", "the {r} of {x} is which one?", "give me {x}'s {r}",
    "what does {x} have as {r}?", "which {r} does {x} have?", "what was {x}'s {r}",
    "what kind of {r} does {x} have?", "which is the {r} of {x}?", "{x} has which {r}?",
)  # fmt: skip
_OF_ANY_VALUE = tuple(wording for wording in _FORWARD if not re.search(r"\bwho\b|\{r\}s", wording))
"""Those that take the value neither for a person nor for several."""
_FORWARD_PREDICATE = (
    "what is {x} {r}?", "{x} is {r} what?", "{x} {r}", "who or what is {x} {r}",
    "what was {x} {r}?", "tell me what {x} is {r}", "which one was {x} {r}?",
    "do you know what {x} was {r}?", "name what {x} is {r}",
)  # fmt: skip
_BACKWARD = (
    "what has {x} as its {r}?", "what is {x} the {r} of?", "whose {r} is {x}?",
    "name something with {r} {x}", "which ones have the {r} {x}?", "{x} is the {r} of what",
    "who has {x} as {r}?", "of what is {x} the {r}?", "list everything whose {r} is {x}",
    "which one's {r} is {x}?", "give me the ones with {x} as their {r}",
    "what things have {x} as {r}", "{x} is {r} of whom?", "who or what has the {r} {x}?",
    "for which ones is {x} the {r}?",
)  # fmt: skip
_BACKWARD_PREDICATE = (
    "what is {r} {x}?", "who is {r} {x}", "which ones are {r} {x}?", "things {r} {x}",
    "name something {r} {x}", "who was {r} {x}?", "list what was {r} {x}",
    "tell me who is {r} {x}", "which were {r} {x}?", "give me everything {r} {x}",
)  # fmt: skip
_SAME = (
    "what else has the same {r} as {x}?", "who shares the {r} of {x}?",
    "which others have the {r} that {x} has?", "who has the same {r} as {x}",
)  # fmt: skip
_TOGETHER = (
    "who else is {r} of what {x} is {r} of?", "who is a {r} together with {x}?",
    "what other {r} did the ones with {r} {x} have?",
)  # fmt: skip
_OTHERS_OF_SAME = (
    "others with the same {r} as {x}", "the ones that share the {r} of {x}",
    "those that also have the {r} of {x}", "things that have the same {r} as {x}",
)  # fmt: skip
_OTHERS_TOGETHER = (
    "those who are {r} together with {x}", "the other {r} of what {x} is {r} of",
    "those that share being {r} with {x}",
)  # fmt: skip
_NOUN = (
    "{x}'s {r}", "the {r} of {x}", "{x}'s {r}", "the {r} of {x}", "the {r} that {x} has",
    "the {r} which {x} has", "{x}'s {r}s", "the {r}s of {x}", "what {x} has as {r}",
    "the one who is {x}'s {r}", "the thing that is the {r} of {x}", "{x} {r}",
)  # fmt: skip
_NOUN_BACKWARD = (
    "the ones whose {r} is {x}", "those whose {r} is {x}", "things with {x} as {r}",
    "those with {x} as {r}", "the one that has {x} as its {r}", "everything with the {r} {x}",
    "the person whose {r} is {x}", "what {x} is the {r} of", "anyone with {x} as {r}",
    "whatever has the {r} {x}", "that of which {x} is the {r}",
)  # fmt: skip
_NOUN_PREDICATE = (
    "the ones {r} {x}", "those {r} {x}", "the things {r} {x}", "people {r} {x}",
    "what is {r} {x}", "the person who was {r} {x}", "the one that is {r} {x}",
    "whoever was {r} {x}",
)  # fmt: skip


def value_questions(subject: str, relation_id: str, label: str, /) -> tuple[str, ...]:
    """Returns wordings of a question for the values of an entity's relation.

    They are what people say for the relation, where that is known, and else made of its label.

    >>> value_questions("Ann", "P26", "spouse")[0]
    'Who is Ann married to?'
    >>> value_questions("Ann", "shoe-size", "shoe size")[0]
    'What is the shoe size of Ann?'
    """
    phrases = phrases_of(relation_id, label)
    if phrases is not None:
        wordings = phrases.forward
    else:
        wordings = _FORWARD_PREDICATE if _PREDICATE.fullmatch(label) else _OF_ANY_VALUE
    questions = (wording.format(x=subject, r=label) for wording in wordings)
    return tuple(question[:1].upper() + question[1:] for question in questions)


def turns_back(step: Step, other: Step, /) -> bool:
    """Returns whether a step is the same relation back."""
    return step[0] == other[0] and step[1] != other[1]


class Wordings:
    """Puts walks into words.

    Args:
        random: Draws wordings and names.
        ids: Of each relation.
        labels: Of each relation.
        others: Other names of each relation.
    """

    def __init__(
        self,
        random: Random,
        ids: Sequence[str],
        labels: Sequence[str],
        others: Sequence[Sequence[str]],
        /,
    ) -> None:
        self._random = random
        self._phrases = list(map(phrases_of, ids, labels))
        self._labels = labels
        self._names = [
            list(dict.fromkeys((label, *(other for other in more if "(" not in other))))
            for label, more in zip(labels, others, strict=True)
        ]

    def question(self, start: str, steps: Sequence[Step], /) -> str:
        """Returns a question that asks for the ends of a walk."""
        *before, (rel, back) = steps
        subject = start
        if len(steps) > 1 and turns_back(steps[0], steps[1]) and not self._people_say(steps[0][0]):
            noun = self._noun(steps[0][0])
            if len(steps) == 2:
                return self._chosen(_TOGETHER if steps[0][1] else _SAME, start, noun)
            others = _OTHERS_TOGETHER if steps[0][1] else _OTHERS_OF_SAME
            subject = self._chosen(others, start, noun)
            before = before[2:]
        for step in before:
            subject = self._phrase(subject, *step)
        phrases = self._people_say(rel)
        if phrases is not None:
            return self._chosen(phrases.backward if back else phrases.forward, subject)
        name = self._name(rel)
        if _PREDICATE.fullmatch(name):
            return self._chosen(_BACKWARD_PREDICATE if back else _FORWARD_PREDICATE, subject, name)
        return self._chosen(_BACKWARD if back else _FORWARD, subject, name)

    def _phrase(self, subject: str, rel: int, back: bool) -> str:
        """Returns words for what a step leads to from what was said so far."""
        phrases = self._people_say(rel)
        if phrases is not None:
            return self._chosen(phrases.noun_backward if back else phrases.noun, subject)
        if not back:
            return self._chosen(_NOUN, subject, self._noun(rel))
        predicates = [name for name in self._names[rel] if _PREDICATE.fullmatch(name)]
        if predicates:
            return self._chosen(_NOUN_PREDICATE, subject, self._random.choice(predicates))
        return self._chosen(_NOUN_BACKWARD, subject, self._noun(rel))

    def _people_say(self, rel: int) -> RelationPhrases | None:
        """Returns what people say for a relation, most times that anything is known of it."""
        return self._phrases[rel] if self._random.random() < _STATED_SHARE else None

    def _name(self, rel: int) -> str:
        names = self._names[rel]
        return self._random.choice(names) if self._random.random() < 0.6 else names[0]

    def _noun(self, rel: int) -> str:
        nouns = [name for name in self._names[rel] if not _PREDICATE.fullmatch(name)]
        return self._random.choice(nouns) if nouns else self._labels[rel]

    def _chosen(self, wordings: Sequence[str], text: str, name: str = "") -> str:
        if _PHRASE.search(text):
            # "the mother of X's husband" would say another order of the steps.
            wordings = [each for each in wordings if "{x}'s" not in each] or wordings
        return self._random.choice(wordings).format(x=text, r=name)
