"""Tells which candidates lead to something else than the question asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from graph_service.model.graph import Bool, Int32, Int64
from graph_service.model.values import SomeValue, stored_value
from graph_service.retrieve.constraints.coverage import root, stems_of
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.constraints.verb_roles import walks_against_verb
from graph_service.retrieve.context import RetrievalContext
from graph_service.retrieve.kinds import KINDS, are_called_people
from graph_service.retrieve.learned.question_reader import QuestionReader
from graph_service.retrieve.learned.shared_words import labels_within_others
from graph_service.retrieve.learned.whereabouts import (
    are_other_locations,
    describes_by_clause,
    lead_to_somebody,
    names_location,
    names_no_location,
    names_nobody,
    names_somebody,
)
from graph_service.retrieve.preset import LearnedPreset
from graph_service.sorting import distinct
from graph_service.text.fold import words
from graph_service.text.nouns import singular
from graph_service.text.question_form import BE, DO, HAVE, MODALS, read_form
from graph_service.text.relation_phrases import asks_the_other_way

_ENCLOSING = frozenset({"country", "province", "state"})
"""Nouns for what places lie in."""
_WITHIN = frozenset(
    map(
        root,
        ("located", "location", "situated", "within", "administrative", "territorial", "entity"),
    )
)
"""Words of relations that say in which place another lies, and no others: a country may be located
next to a body of water.
"""
_IN_ONE = re.compile(r"\b(?:at|from|in|on)\s+(?:the|an?)\s+(\w+)", re.IGNORECASE)
_WORKS = frozenset(
    {"album", "book", "currency", "dialect", "disease", "episode", "film", "game", "genre", "language",
     "movie", "novel", "opera", "painting", "play", "poem", "series", "single", "song", "sport"}
)  # fmt: skip
"""Last words of the names of classes of works and the like, which are nobody."""
_MOST_CLASSES = 12
"""Of what a candidate leads to, looked at for whether one is like what is asked for."""
_AUXILIARIES = {(word,) for word in BE | DO | HAVE | MODALS}
_ROW_NAME = re.compile(r"[a-z][a-z ]* \d+|(?!Q\d)(?:[A-Z]{1,3}-?\d+|[A-Z]*-?\d{3,})")


def _says_within(label: str) -> bool:
    label_words = words(label)
    return not {"in", "within"}.isdisjoint(label_words) and stems_of(label_words) <= _WITHIN


class WrongTargets:
    """Tells of a question's candidates whether they lead to something else than it asks for.

    Args:
        call: The retrieval.
        reader: Of the question.
    """

    def __init__(self, call: RetrievalContext[LearnedPreset], reader: QuestionReader, /) -> None:
        self._call = call
        self._reader = reader
        self._question = reader.question
        self._form = read_form(reader.question)
        nouns = [] if self._form.nouns[:1] in _AUXILIARIES else self._form.nouns
        self._nouns = list(map(singular, nouns))
        self._candidates = reader.candidates
        self._texts = reader.texts

    def leads_to_no_location(self, numbers: Int64, /) -> Bool:
        """Returns whether each of some candidates leads to dates alone, to the like of what it comes
        from, or to somebody or something that the question describes, where it asks *where*: the
        day when somebody was born is not the place, and neither is *the company that makes X*.
        """
        if not self._form.asks_where:
            return np.zeros(len(numbers), dtype=np.bool_)
        candidates, encode = self._candidates, self._call.encode
        texts = [self._texts[relation] for relation in candidates.relation_numbers.tolist()]
        misses: Bool = self._reader.end_kinds.shares[numbers, 0] == 1.0
        misses |= self._come_back(numbers)
        for way, rows in self._reader.ways_of(numbers):
            question = self._reader.entity_questions[way].text
            misses[rows] |= lead_to_somebody(question, candidates, numbers[rows], texts, encode)
            span = self._reader.spans[way]
            if span is not None and describes_by_clause(self._question[: span[0]]):
                misses[rows] |= candidates.length[numbers[rows]] == 1
        return misses

    def _come_back(self, numbers: Int64) -> Bool:
        """Returns whether the last step of each of some candidates walks the one before it back."""
        candidates, rows = self._candidates, np.arange(len(numbers))
        relations, backward = candidates.relations[numbers], candidates.backward[numbers]
        last = candidates.length[numbers] - 1
        before = np.maximum(last - 1, 0)
        comes_back: Bool = backward[rows, last] != backward[rows, before]
        comes_back &= relations[rows, last] == relations[rows, before]
        return comes_back

    def walk_against_their_verbs(self, numbers: Int64, /) -> Bool:
        """Returns whether each of some candidates leads from the name the other way than the
        question says the verb of its first relation, or asks for it in known words: *what does X
        depend on* to what depends on X, *who did X teach* to X's teacher.
        """
        against = np.zeros(len(numbers), dtype=np.bool_)
        for row, candidate_id in enumerate(numbers.tolist()):
            span = self._reader.start_entities[int(self._candidates.start[candidate_id])].span
            relation, is_backward = self._candidates.sequence(candidate_id)[0]
            if span is None:
                continue
            label = self._texts[relation]
            against[row] = any(
                is_other_way(self._question, span, label, is_backward=is_backward)
                for is_other_way in (asks_the_other_way, walks_against_verb)
            )
        return against

    def leads_to_other_locations(self, number: int, /) -> bool:
        """Returns whether a candidate leads to things of which nothing says that they are the kind of
        place that the question asks for: *in which state* to a town, *in which city* to a school.
        """
        # A US state is a state.
        noun = next(filter(names_location, self._nouns), "")
        last_label = self._texts[self._candidates.sequence(number)[-1][0]]
        _, is_backward = self._candidates.sequence(number)[-1]
        is_in_label = not is_backward and noun in map(singular, words(last_label))
        if not names_location(noun) or is_in_label:
            return False
        classes = self._classes_at(number)
        if noun in _ENCLOSING and _says_within(last_label) and not classes:
            return False
        target_labels = self._call.labels.nodes(self._targets_of(number))
        return are_other_locations(
            noun, last_label, classes, self._call.encode, target_labels=target_labels
        )

    def _targets_of(self, number: int) -> Int32:
        """Returns the nodes that a candidate leads to, int32 [targets]."""
        first, last = np.searchsorted(self._candidates.end_owner, (number, number + 1))
        return self._call.region.nodes[self._candidates.end_node[first:last]]

    def takes_words_twice(self, numbers: Int64, /) -> Bool:
        """Returns whether each of some candidates walks two relations by the same words.

        *Who is X's account manager?* does not ask for the manager of the account manager.
        """
        candidates, encode = self._candidates, self._call.encode
        twice = np.zeros(len(numbers), dtype=np.bool_)
        for row, candidate_id in enumerate(numbers.tolist()):
            labels = [self._texts[relation] for relation, _ in candidates.sequence(candidate_id)]
            if len(labels) == 1:
                continue
            start, end = self._reader.start_entities[int(candidates.start[candidate_id])].span or (
                0,
                0,
            )
            question = f"{self._question[:start]} {self._question[end:]}"
            for label, others in labels_within_others(question, labels):
                cosines = encode(others) @ encode([label]).T if others else np.zeros((1, 1))
                twice[row] |= bool(cosines.max() < CONSTRAINT_RULES.spoken)
        return twice

    def answers_another_word(self, number: int, /) -> bool:
        """Returns whether a candidate ends at values that are surely no places, where the question
        asks *where*, or nobody, where it asks *who*, by the label of their relation. Who asks *who
        the mayor is* says by that word that a mayor is somebody.
        """
        relation, is_backward = self._candidates.sequence(number)[-1]
        label, encode = self._texts[relation], self._call.encode
        if self._form.asks_where:
            return not is_backward and names_no_location(label, encode)
        if not self._form.asks_for_person or is_backward:
            return False
        is_named = stems_of(words(label)) <= stems_of(words(self._reader.unnamed_question))
        return not is_named and names_nobody(label, encode)

    def answers_nothing(self, numbers: Int64, /) -> Bool:
        """Returns whether each of some candidates leads to its own start or to unknown values only.

        *Where is Greece?* is not answered by the country of Greece, which is Greece.
        """
        region, graph, candidates = self._call.region, self._call.labels.graph, self._candidates
        of_start = region.start_entities[candidates.start[numbers]]
        firsts = np.searchsorted(candidates.end_owner, numbers)
        lasts = np.searchsorted(candidates.end_owner, numbers, side="right")
        empty = np.zeros(len(numbers), dtype=np.bool_)
        for row, (start, first, last) in enumerate(zip(of_start, firsts, lasts, strict=True)):
            others = candidates.end_node[first:last]
            others = others[others != start]
            if not region.literal[others].all():
                continue
            nodes = region.nodes[others].tolist()
            empty[row] = all(
                node < graph.node_count
                and isinstance(stored_value(graph.node_ids[node]), SomeValue)
                for node in nodes
            )
        return empty

    def stops_short(self, number: int, /) -> bool:
        """Returns whether what a candidate leads to is not what the question asks for, but has it by
        a relation of that name: the visits of patients, where it asks *which patients*.
        """
        return bool(self._relations_onward(number))

    def asks_for_any(self, texts: Iterable[str], /) -> bool:
        """Returns whether one of some words of the question is the noun of what it asks for: *which
        countries*, of answers that are countries.
        """
        return any(words(text)[:1] == [*self._form.nouns[:1]] for text in texts)

    def steps_onward(self, numbers: Int64, /) -> list[tuple[int, int]]:
        """Returns the rows of candidates that stop short of the country or state that the question
        asks for, each with that of a candidate that goes on from it: from the city where somebody was
        born.
        """
        candidates = self._candidates
        if _ENCLOSING.isdisjoint(self._form.nouns[:1]):
            return []
        rows = {candidate_id: row for row, candidate_id in enumerate(numbers.tolist())}
        onward: list[tuple[int, int]] = []
        for candidate_id, row in rows.items():
            shorter = int(candidates.shorter[candidate_id])
            relation, is_backward = candidates.sequence(candidate_id)[-1]
            if is_backward or shorter not in rows:
                continue
            if relation in self._relations_onward(shorter):
                onward.append((rows[shorter], row))
        return onward

    def _relations_onward(self, number: int) -> frozenset[int]:
        """Returns the relations by which what a candidate leads to has what the question asks for,
        but those of which more of it are values: of countries some lie in a country of old.
        """
        around = self._call.surroundings
        nouns = {singular(noun) for noun in self._form.nouns[:1]}
        nouns |= {f"{first} {singular(second)}" for first, second in pairwise(self._form.nouns)}
        walked = self._reader.walked_labels(number)
        if not nouns or any(noun in words(label) for noun in nouns for label in walked):
            return frozenset()
        local = np.searchsorted(around.nodes, self._targets_of(number))
        is_after = np.isin(around.head, local) & (around.head != around.tail)
        numbers = distinct(around.rel[is_after])
        onward = (
            relation
            for relation, label in zip(
                numbers.tolist(), self._call.labels.relations(numbers), strict=True
            )
            if label not in walked
            and (
                singular(label.lower()) in nouns
                or (not _ENCLOSING.isdisjoint(nouns) and _says_within(label))
            )
        )
        return frozenset(
            relation
            for relation in onward
            if len(distinct(around.head[is_after & (around.rel == relation)]))
            >= np.isin(local, around.tail[around.rel == relation]).sum()
        )

    def answers_who_by_rows(self, number: int, /) -> bool:
        """Returns whether a question for people, or for what somebody did, is answered by things with
        a code or a number for a name, as rows of a table have: sale 3, V003. In a graph whose people
        are numbered, the question names one so too.
        """
        if not (self._form.word == "who" or self._form.asks_what_is_done):
            return False
        region, targets = self._call.region, self._targets_of(number)
        start = region.start_entities[self._candidates.start[number]]
        (label,) = self._call.labels.nodes(region.nodes[[start]])
        target_labels = self._call.labels.nodes(targets)
        is_row = _ROW_NAME.fullmatch
        return (
            not is_row(label)
            and all(map(is_row, target_labels))
            and not are_called_people(self._classes_at(number), self._call.encode)
        )

    def answers_by_another_kind(self, number: int, /) -> bool:
        """Returns whether a question for people is answered by works or the like, or one for things by
        people or others alone: *which actress played X* by the films that X is a character of,
        *which animals live in X* by its residents, *where did X study* by a teacher.
        """
        # A film character is a character.
        noun = next(
            (each for each in self._nouns[1:] if each in KINDS), next(iter(self._nouns), "")
        )
        encode = self._call.encode
        if self._form.asks_where:
            classes = self._classes_at(number)
            # A class without a label is called by its id, which tells nothing.
            is_word = all(word.isalpha() for each in classes for word in words(each))
            is_word = is_word and bool(classes)
            return is_word and all(are_called_people([each], encode) for each in classes)
        for_people = self._form.asks_for_person or noun in {"character", "person"}
        if not for_people and (names_somebody(noun) or noun.endswith("ess")):
            for_people = are_called_people([noun], encode)
        if not for_people and noun not in KINDS:
            return False
        classes = self._classes_at(number)
        if for_people:
            heads = [singular(head) for label in classes for head in words(label)[-1:]]
            return bool(heads) and (
                all(head in _WORKS for head in heads) or self._stands_in_one(heads)
            )
        if not classes or any(noun in map(singular, words(label)) for label in classes):
            return False
        if all(are_called_people([label], encode) for label in classes):
            return True
        cosines = encode([noun]) @ encode(classes[:_MOST_CLASSES]).T
        return bool(cosines.max() < CONSTRAINT_RULES.spoken)

    def _stands_in_one(self, nouns: Sequence[str]) -> bool:
        """Returns whether a question asks who is in such a thing as the nouns say: *who is in the team
        of X* asks for no team.
        """
        return any(
            singular(match[1].lower()) in nouns for match in _IN_ONE.finditer(self._question)
        )

    def _classes_at(self, number: int) -> list[str]:
        """Returns the labels of the classes of what a candidate leads to, as far as its surroundings
        have them.
        """
        around, targets = self._call.surroundings, self._targets_of(number)
        entities = targets[targets < self._call.labels.graph.entity_count]
        local = np.flatnonzero(np.isin(around.nodes, entities))
        classes = self._call.labels.class_labels(around, local)
        return list(dict.fromkeys(label for labels in classes for label in labels))
