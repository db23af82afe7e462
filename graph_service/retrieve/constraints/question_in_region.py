"""What one question says beside its relations, in the region around what it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from graph_service.model.graph import Float64, Int64
from graph_service.query.enumeration import overlap
from graph_service.retrieve.constraints.coverage import (
    is_by_marriage,
    is_kin,
    label_spans,
)
from graph_service.retrieve.constraints.meeting import (
    Surroundings,
    noun_stems,
)
from graph_service.retrieve.constraints.naming import (
    Mention,
    NamedNodes,
    find_named,
    without_choices,
)
from graph_service.retrieve.constraints.reading import (
    AnswerForm,
    kin_of,
    read_answer,
)
from graph_service.retrieve.constraints.reading_dates import DateConstraint
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.context import RetrievalContext
from graph_service.retrieve.learned.relation_names import stem
from graph_service.retrieve.preset import LearnedPreset
from graph_service.sorting import distinct
from graph_service.text.fold import word_spans, words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.nouns import singular
from graph_service.text.question_form import read_form

_RULES = CONSTRAINT_RULES


class QuestionInRegion:
    """One question: its form, the names in it, and the words and dates that may constrain an answer.

    Args:
        call: The retrieval.
        question: As asked.
        mentions: What linking found of the region's start entities, in their order.
        texts: Words of the region's relations, by global number.
    """

    def __init__(
        self,
        call: RetrievalContext[LearnedPreset],
        question: str,
        mentions: Sequence[Mention],
        texts: Mapping[int, str],
        /,
    ) -> None:
        self._call = call
        self.question = question
        self.form = read_form(question)
        self.mentions = mentions
        self.surroundings = call.surroundings
        self.names = [
            (mention.start, mention.end)
            for mention in mentions
            if mention.is_name and mention.start >= 0
        ]
        linked = [
            (mention.start, mention.end)
            for mention in mentions
            if mention.linked and mention.start >= 0
        ]
        self.strict = bool(call.preset.strict)
        labels = label_spans(question, texts.values()) if self.strict else []
        self.expected = read_answer(question, linked, strict=self.strict, labels=labels)
        self.named = [
            self._with_negation(named)
            for named in find_named(
                question, mentions, call.labels.graph, call.surroundings, call.labels.languages
            )
            if not self._is_of_start(named)
        ]
        if self.strict and self.form.is_for_yes_or_no and self.expected.form is AnswerForm.ENTITIES:
            self.named = without_choices(question, self.named)
        self.min_relevance = call.preset.min_relevance
        self._known_texts = texts
        self._like: dict[DateConstraint, dict[int, float]] = {}

    def _is_of_start(self, named: NamedNodes) -> bool:
        """Returns whether words say what the name is, not the answer: *whose daughter is X*."""
        is_whose = self.form.word == "whose"
        return is_whose and not self.question[self.form.span[1] : named.start].strip()

    def reads_nothing(self, start: int, /) -> bool:
        """Returns whether a question asks for entities and says nothing that could constrain them.

        Args:
            start: Place of the start of the best candidate: its own name is no constraint.
        """
        expected = self.expected
        if expected.is_negated:
            return True
        if expected.compared:
            return False
        if expected.form is not AnswerForm.ENTITIES or expected.dates or self.kin_stems:
            return False
        if self.strict and self.noun_by_marriage:
            return False
        mention = self.mentions[start]
        return all(named.overlaps(mention.start, mention.end) for named in self.named)

    @cached_property
    def around(self) -> Surroundings:
        """The statements around the question's entities."""
        return Surroundings(self.surroundings, self._call.labels, self.texts)

    @cached_property
    def texts(self) -> dict[int, str]:
        """Words of the relations around, by global number."""
        known = dict(self._known_texts)
        # PageRank may have cut all statements of a relation.
        missing = sorted(set(distinct(self.surroundings.rel).tolist()) - known.keys())
        labels = self._call.labels.relations(np.array(missing, dtype=np.int64))
        return known | dict(zip(missing, labels, strict=True))

    @cached_property
    def kin_stems(self) -> frozenset[str]:
        """The stems of the nouns of kin that the question says."""
        words = (singular(word) for word, _, _ in word_spans(self.question))
        return frozenset(stem(kin) for kin in map(kin_of, words) if kin)

    @cached_property
    def own_words(self) -> tuple[tuple[str, int, int], ...]:
        """The words of the question that are part of no name, with their characters."""
        return tuple(
            (word, start, end)
            for word, start, end in word_spans(self.question)
            if not any(overlap((start, end), name) for name in self.names)
        )

    @cached_property
    def own_stems(self) -> frozenset[str]:
        """The stems of the words that the question says beside names."""
        return noun_stems(" ".join(word for word, _, _ in self.own_words))

    @cached_property
    def kin_nouns(self) -> tuple[str, ...]:
        """The nouns of kin that the question says beside names."""
        return tuple(word for word, _, end in self.own_words if self.says_kin(word, end))

    def says_kin(self, word: str, end: int, /) -> bool:
        """Returns whether a word that ends at a character is a noun of kin, and not the first word of
        a relation's name: a *parent company* is nobody's parent.
        """
        if not is_kin(word):
            return False
        following = next((each[0] for each in self.own_words if each[1] == end + 1), "")
        return (singular(word), singular(following)) not in self._compounds

    @cached_property
    def _compounds(self) -> frozenset[tuple[str, str]]:
        """The nouns that follow one another in the names of relations around."""
        names = (map(singular, words(text)) for text in self.texts.values())
        pairs = (pair for name in names for pair in pairwise(name))
        return frozenset(pair for pair in pairs if pair[1] not in EMPTY_IN_ENGLISH)

    @cached_property
    def noun_by_marriage(self) -> str:
        """The only noun of kin, where that is kin by marriage (*mother-in-law*); else nothing."""
        nouns = [(word, end) for word, _, end in self.own_words if self.says_kin(word, end)]
        if len(nouns) != 1 or not is_by_marriage(self.question, nouns[0][1]):
            return ""
        return nouns[0][0]

    def _with_negation(self, named: NamedNodes) -> NamedNodes:
        start = self.expected.negated_from
        if not 0 <= start < named.start:
            return named
        return replace(named, text=self.question[start : named.end], is_negated=True)

    def nodes_called(self, name: str, /) -> Int64:
        """Returns the local nodes of the entities of a name, ascending."""
        numbers = self._call.labels.graph.names.find(name)[0].astype(np.int64)
        return np.flatnonzero(np.isin(self.surroundings.nodes, numbers))

    def node_at(self, span: tuple[int, int], /) -> int | None:
        """Returns the local node that linking takes a name for; None where the region lacks it."""
        for mention in self.mentions:
            if mention.linked and (mention.start, mention.end) == span:
                index = int(np.searchsorted(self.surroundings.nodes, mention.node))
                if (
                    index < self.surroundings.node_count
                    and self.surroundings.nodes[index] == mention.node
                ):
                    return index
        return None

    def text(self, relation: int, /) -> str:
        """Returns the words of a relation."""
        return self.texts[relation]

    def cosines(self, texts: Sequence[str], others: Sequence[str], /) -> Float64:
        """Returns the cosine of each text with each of some others, [texts, others]."""
        encode = self._call.encode
        encode([*texts, *others])
        left, right = encode(texts).astype(np.float64), encode(others).astype(np.float64)
        similarities: Float64 = np.round(left @ right.T, 5)
        return similarities

    def similarity(self, constraint: DateConstraint, /) -> Mapping[int, float]:
        """Returns how like what is said before a date each relation's words are."""
        if constraint not in self._like:
            words = [
                word
                for word, start, end in word_spans(self.question)
                if end <= constraint.start
                and word not in EMPTY_IN_ENGLISH
                and not any(left <= start < right for left, right in self.names)
            ][-_RULES.phrase_words :]
            relations = sorted(self.texts)
            phrase = " ".join(words) or "date"
            cosines = self.cosines([self.texts[each] for each in relations], [phrase])[:, 0]
            self._like[constraint] = dict(zip(relations, cosines.tolist(), strict=True))
        return self._like[constraint]
