"""How people say relations: wordings of common properties, written by hand for this project.

A relation's label is seldom what people say: they ask *who is X married to*, not for *X's
spouse*. Each line of ``relation_phrases.jsonl`` holds a Wikidata property, the names it goes by
(Wikidata's, CC0, and those of properties that DBpedia's ontology says to be equivalent), and wordings
in which ``{x}`` stands for what is known. They were written from the names alone, without sight of
any set of questions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from graph_service.text.fold import fold, words


@dataclass(frozen=True, slots=True)
class RelationPhrases:
    """Wordings of one relation; ``{x}`` stands once in each.

    Attributes:
        forward: Questions for the value, given the subject.
        noun: Phrases for the value, given the subject.
        backward: Questions for the subjects, given the value.
        noun_backward: Phrases for the subjects, given the value.
    """

    forward: tuple[str, ...]
    noun: tuple[str, ...]
    backward: tuple[str, ...]
    noun_backward: tuple[str, ...]

    def all(self) -> tuple[str, ...]:
        """Returns the phrases of all relations."""
        return (*self.forward, *self.noun, *self.backward, *self.noun_backward)


def read_phrases() -> Iterator[tuple[tuple[str, ...], RelationPhrases]]:
    """Yields the names of each property and its wordings."""
    for row in _rows():
        yield tuple(dict.fromkeys(row["names"])), _phrases(row)


@cache
def _known() -> Mapping[str, RelationPhrases]:
    """Returns the wordings by property and by name; a name of two properties is left out."""
    of_id: dict[str, RelationPhrases] = {}
    of_name: dict[str, RelationPhrases | None] = {}
    for row in _rows():
        phrases = of_id[row["id"]] = _phrases(row)
        for name in set(map(relation_key, row["names"])):
            of_name[name] = None if name in of_name else phrases
    return {**{name: each for name, each in of_name.items() if each is not None}, **of_id}


@cache
def asking_words() -> frozenset[str]:
    """Returns the words of all wordings, folded: those that people ask for relations with.

    >>> "kind" in asking_words(), "nasa" in asking_words()
    (True, False)
    """
    texts = (text.replace("{x}", " ") for row in _rows() for text in _phrases(row).all())
    return frozenset(word for text in texts for word in words(text))


def phrases_of(relation: str, label: str, /) -> RelationPhrases | None:
    """Returns the wordings of a relation, by its id or else by its label; None for none."""
    known = _known()
    return known.get(relation) or known.get(relation_key(label))


@cache
def _questions() -> Mapping[tuple[str, ...], frozenset[tuple[str, bool]]]:
    """Returns what each wording that is a question asks for, by its folded words."""
    questions: dict[tuple[str, ...], set[tuple[str, bool]]] = {}
    for row in _rows():
        for is_backward in (False, True):
            for phrase in row["backward" if is_backward else "forward"]:
                steps = questions.setdefault(tuple(words(phrase)), set())
                steps.update((relation_key(name), is_backward) for name in row["names"])
    return {question: frozenset(steps) for question, steps in questions.items()}


def asks_the_other_way(
    question: str, name: tuple[int, int], label: str, /, *, is_backward: bool
) -> bool:
    """Returns whether a question asks in known words for a relation, and a step from a name walks it
    the other way about.

    Args:
        question: As sent.
        name: Characters of the name that it is about.
        label: Of the relation.
        is_backward: Whether the step leads from a value to what has it.

    >>> asks_the_other_way("Who did Aristotle teach?", (8, 17), "student", is_backward=True)
    True
    """
    start, end = name
    if not 0 <= start < end:
        return False
    key = relation_key(label)
    wording = tuple(words(f"{question[:start]}{{x}}{question[end:]}"))
    steps = _questions().get(wording, frozenset())
    return (key, not is_backward) in steps and (key, is_backward) not in steps


def _rows() -> Iterator[dict[str, Any]]:
    text = files("graph_service.text").joinpath("relation_phrases.jsonl")
    return map(json.loads, text.read_text("utf-8").splitlines())


def _phrases(row: Mapping[str, Any]) -> RelationPhrases:
    return RelationPhrases(
        tuple(row["forward"]),
        tuple(row["noun"]),
        tuple(row["backward"]),
        tuple(row["noun_backward"]),
    )


def relation_key(name: str, /) -> str:
    """Returns what the names of a relation have in common: no capitals and no spaces."""
    return fold(name).replace(" ", "")
