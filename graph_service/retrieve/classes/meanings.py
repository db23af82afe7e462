"""What a question may mean as a class: one that it names, a value that things share, or people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from graph_service.link.demonyms import origins_of
from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.graph import Int64, KnowledgeGraph
from graph_service.query.algebra import Entities, Query, Relation, Step
from graph_service.query.enumeration import NamedThing, Span, overlap
from graph_service.query.walking import Walker, Walks
from graph_service.retrieve.classes.extremes import extreme_span
from graph_service.retrieve.classes.measures import (
    names_a_measure,
    read_measure,
)
from graph_service.retrieve.classes.question_text import (
    calls_things,
    joins_people,
    nouns_of_things,
    people_span,
)
from graph_service.retrieve.classes.roles import RoleReader
from graph_service.retrieve.classes.row_words import are_rows, other_relations, other_side_span
from graph_service.retrieve.classes.rules import CLASS_RULES
from graph_service.retrieve.classes.wording import Cosines
from graph_service.retrieve.constraints.coverage import root
from graph_service.retrieve.constraints.naming import MOST_WORDS
from graph_service.retrieve.kinds import Encode
from graph_service.retrieve.labels import Labels
from graph_service.text.fold import word_spans, words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.nouns import singular
from graph_service.text.question_form import read_form

_PERSON_AND_OTHERS = ("person", "thing", "organization", "place")


@dataclass(frozen=True, slots=True)
class ClassMeaning:
    """What the same words of a question may mean as a class, and the entities that are beside it.

    Attributes:
        things: The classes, or a relation of which all ends are meant (``suppliers``); or the value
            that things have (``dog``), by ``relation``.
        entities: Each with its span, node and score.
        are_people: Whether the words are *who* or *people*, which name no class.
        relation: That leads from the value back to the things; None for classes.
        are_measured: Whether no words name the class but the numbers of its instances, as in *the
            average rent* or *the highest rent*.
        bridge: The two relations by which instances lead to the one entity through rows, where no
            words name the class but *what* or *who*.
        is_claim: Whether the things are one entity, of which something is said that is true or
            not: *Does the lamp cost less than 20 euros?*
    """

    things: tuple[NamedThing, ...]
    entities: Sequence[tuple[Span, int, float]]
    are_people: bool = False
    relation: Relation | None = None
    are_measured: bool = False
    bridge: tuple[Relation, Relation] | None = None
    is_claim: bool = False

    @property
    def span(self) -> Span:
        """Returns the span of the words in the question."""
        return self.things[0].span

    @property
    def is_implied(self) -> bool:
        """Returns whether no words name a class: it is answered only if that is sure."""
        is_of_others = self.relation is not None or self.bridge is not None
        return self.are_people or self.are_measured or is_of_others or self.is_claim

    def steps_of(self, query: Query) -> tuple[Step, ...] | None:
        """Returns the steps of a query from the things of this meaning; None for one of others."""
        if self.relation is None:
            return query.path
        is_own = query.start == Entities((self.things[0].id,))
        if not is_own or query.relations[:1] != (self.relation,):
            return None
        return query.path[1:]


class MeaningReader:
    """Reads what a question may mean as a class.

    Args:
        question: As asked.
        walker: Of the graph or view.
        labels: Of its nodes.
        cosines: Of texts.
        encode: Texts to vectors.
        has_all_classes: Whether the graph has all classes, so that *who* may mean the people of
            one.
    """

    def __init__(
        self,
        question: str,
        walker: Walker,
        labels: Labels,
        cosines: Cosines,
        encode: Encode,
        /,
        *,
        has_all_classes: bool,
    ) -> None:
        self._question = question
        self._walker = walker
        self._graph = walker.graph
        self._labels = labels
        self._cosines = cosines
        self._encode = encode
        self._has_all_classes = has_all_classes

    def meanings(self) -> Iterator[ClassMeaning]:
        """Yields them, those that come first in the question or are likelier first."""
        names = self.names
        stated = read_measure(self._question)
        measured: list[ClassMeaning] = []
        if stated is not None:
            measured = self._measured(names, stated.span[0], is_counting=stated.is_counting)
        elif extreme_span(self._question) is not None:
            measured = self._measured(names, 0)
        claims = self._claims(names)
        if names.classes:
            return chain(claims, self._named(names), measured)
        named = [*self._of_value(names), *self._roles(names)]
        return chain(claims, measured, self._across_rows(names), named or self._people(names))

    @cached_property
    def names(self) -> Names:
        """The classes and the entities that the question names."""
        names = find_names(self._question, self._graph, self._walker)
        return names if names.classes else replace(names, classes=self._by_last_word(names.spans))

    def _by_last_word(self, spans: Sequence[Span]) -> dict[Span, list[str]]:
        """Returns the classes that end with a noun by which the question calls things, if no relation
        is called so: of *which projects* research projects.
        """
        last_words = {id_: words(self._label_of(id_))[-1:] for id_ in self.largest_classes()}
        for nouns, span in nouns_of_things(self._question, spans):
            called = [id_ for id_, last in last_words.items() if last == [singular(nouns[-1])]]
            if len(nouns) == 1 and called and not self._role_reader.roles(nouns):
                return {span: called}
        return {}

    def of_tally(self) -> Iterator[ClassMeaning]:
        """Yields the classes of which a count of each may be asked: those that are named, and the
        people whom *who* may mean.
        """
        for span in sorted(self.names.classes):
            ids = self.names.classes[span]
            things = tuple(NamedThing(id_, span, is_class=True) for id_ in ids)
            yield ClassMeaning(things, self.names.entities)
        people = [
            each for each in self._people(self.names) if not self.are_rows(self.instances(each))
        ]
        has_people = any(each.things[0].score == 0 for each in people)
        for each in people:
            (thing,) = each.things
            # What is no person is not meant by "who" where there are persons.
            doubt = CLASS_RULES.no_people if has_people and thing.score < 0 else 0.0
            yield replace(each, things=(replace(thing, score=thing.score - doubt),))

    def instances(self, meaning: ClassMeaning) -> Int64:
        """Returns the things that a meaning is of, ascending."""
        ids = [each.id for each in meaning.things]
        if meaning.is_claim:
            classes = np.unique(self._walker.classes_of(self._walker.nodes(ids)).targets)
            ids = [self._graph.node_ids[each] for each in classes.tolist()]
            return np.unique(self._walker.instances(ids).targets) if ids else classes
        relations = [each.targets_of for each in meaning.things if each.targets_of is not None]
        if relations:
            return np.unique(self._walker.targets_of(relations).targets)
        if meaning.relation is None:
            return np.unique(self._walker.instances(ids).targets)
        at = Walks.at(self._walker.nodes(ids))
        return np.unique(self._walker.follow(at, meaning.relation).targets)

    def largest_classes(self) -> list[str]:
        """Returns the classes that a question may be about without naming one."""
        if self._graph.edge_count > CLASS_RULES.implied_statements or not self._has_all_classes:
            return []
        return self._walker.largest_classes(CLASS_RULES.implied)

    def are_rows(self, nodes: Int64) -> bool:
        """Returns whether some nodes have codes for names, as rows have, and are no people."""
        return are_rows(self._walker, self._labels, nodes, self._encode)

    def _claims(self, names: Names) -> list[ClassMeaning]:
        """Returns the entity of which a question for yes or no says something of its values."""
        form = read_form(self._question)
        if not form.is_for_yes_or_no or form.existence_span is not None or not names.entities:
            return []
        # The entities of longer names come first.
        span = names.entities[0][0]
        others = [each for each in names.entities if each[0] != span]
        return [
            ClassMeaning(
                (NamedThing(self._graph.node_ids[node], span, score),), others, is_claim=True
            )
            for at, node, score in names.entities
            if at == span
        ][: CLASS_RULES.mentions]

    def _named(self, names: Names) -> Iterator[ClassMeaning]:
        """Yields the classes that the question names, those of the same words together."""
        for index, span in enumerate(sorted(names.classes)[: CLASS_RULES.mentions]):
            score = -CLASS_RULES.later_mention * index
            things = [NamedThing(id_, span, score, is_class=True) for id_ in names.classes[span]]
            yield ClassMeaning(tuple(things), names.entities)

    def _across_rows(self, names: Names) -> Iterator[ClassMeaning]:
        """Yields the classes of what rows join to a named entity: the books of Ann's loans."""
        asking = other_side_span(self._question)
        if asking is None or self._graph.edge_count > CLASS_RULES.implied_statements:
            return
        span, are_people = asking
        # The entities of longer names come first.
        named = [each for each in names.entities if each[0] == names.entities[0][0]]
        for each in named[: CLASS_RULES.mentions]:
            at = np.array([each[1]], dtype=np.int64)
            for own in self._walker.relations_at(at):
                if not own.backward or own.id in INSTANCE_RELATIONS:
                    continue
                rows = np.unique(self._walker.follow(Walks.at(at), own).targets)
                if len(rows) > CLASS_RULES.bridged or not self.are_rows(rows):
                    continue
                for relation, others in other_relations(self._walker, rows, own):
                    bridge = (Relation(relation.id, backward=True), Relation(own.id))
                    yield from self._of_bridge(bridge, others, span, each, are_people=are_people)

    def _of_bridge(
        self,
        bridge: tuple[Relation, Relation],
        others: Int64,
        span: Span,
        entity: tuple[Span, int, float],
        *,
        are_people: bool,
    ) -> Iterator[ClassMeaning]:
        classes = np.unique(self._walker.classes_of(others).targets)
        for node, label in zip(classes.tolist(), self._labels.nodes(classes), strict=True):
            (similarity,) = self._cosines([label], _PERSON_AND_OTHERS)
            margin = float(similarity[0] - similarity[1:].max())
            score = min(margin if are_people else -margin, 0.0)
            thing = NamedThing(self._graph.node_ids[node], span, score, is_class=True)
            yield ClassMeaning((thing,), [entity], bridge=bridge)

    def _measured(
        self, names: Names, start: int, *, is_counting: bool = False
    ) -> list[ClassMeaning]:
        """Returns the classes whose instances have the numbers that an average or a total is of, or
        of which the highest is asked for.
        """
        named = {id_ for ids in names.classes.values() for id_ in ids}
        meanings = []
        for id_ in self.largest_classes():
            nodes = np.unique(self._walker.instances((id_,)).targets)[: CLASS_RULES.labels]
            relations = [each.id for each in self._walker.relations_at(nodes) if not each.backward]
            numbers = [self._graph.find_relation(each) for each in relations]
            known = np.array([each for each in numbers if each is not None], dtype=np.int64)
            labels = self._labels.relations(known)
            # Of a table of marks, its column ``mark`` may be named and not the rows.
            is_column = root(self._label_of(id_)) in map(root, labels) and not is_counting
            if id_ in named and not is_column:
                continue
            if any(names_a_measure(label, self._question) for label in labels):
                # Of no words: those of the measure say which numbers.
                thing = NamedThing(id_, (start, start), is_class=True)
                own = self._graph.find_node(id_)
                entities = [each for each in names.entities if each[1] != own]
                meanings.append(ClassMeaning((thing,), entities, are_measured=True))
        return meanings

    def _label_of(self, id_: str) -> str:
        (label,) = self._labels.nodes(self._walker.nodes((id_,)))
        return label

    def _of_value(self, names: Names) -> list[ClassMeaning]:
        """Returns the things that the question calls by a value that they have, as in *which dogs*
        those whose species is dog; by the relation that most have it by first.
        """
        nouns = [each for each in names.entities if calls_things(self._question, each[0])]
        # The entities of longer names come first.
        span = nouns[0][0] if nouns else None
        sizes: list[tuple[int, str, Relation, float]] = []
        for at, node, score in nouns:
            if at != span:
                continue
            start = np.array([node], dtype=np.int64)
            for relation in self._walker.relations_at(start):
                if relation.backward and relation.id not in INSTANCE_RELATIONS:
                    size = len(np.unique(self._walker.follow(Walks.at(start), relation).targets))
                    sizes.append((-size, self._graph.node_ids[node], relation, score))
        sizes.sort(key=lambda each: (*each[:2], each[2].id))
        return [
            ClassMeaning(
                (NamedThing(id_, span, score - CLASS_RULES.later_mention * index),),
                names.entities,
                relation=relation,
            )
            for index, (_, id_, relation, score) in enumerate(sizes[: CLASS_RULES.mentions])
            if span is not None
        ]

    def _roles(self, names: Names) -> list[ClassMeaning]:
        """Returns the ends of relations that the question names by a noun, where no class has it."""
        if self._graph.edge_count > CLASS_RULES.implied_statements or not self._has_all_classes:
            return []
        for nouns, span in nouns_of_things(self._question, names.spans):
            roles = self._role_reader.roles(nouns)
            if roles:
                return [
                    ClassMeaning(
                        (NamedThing(role.relation.id, span, targets_of=role.relation),),
                        names.entities,
                    )
                    for role in roles
                ]
        return []

    @cached_property
    def _role_reader(self) -> RoleReader:
        return RoleReader(self._walker, self._labels)

    def _people(self, names: Names) -> Iterator[ClassMeaning]:
        """Yields the classes that *who* or *people* may mean, those most like a person first."""
        span = people_span(self._question)
        if span is None or not self._has_all_classes:
            return
        if self._graph.edge_count > CLASS_RULES.implied_statements:
            return
        entities = [each for each in names.entities if joins_people(self._question, each[0])]
        ids = self._walker.largest_classes(CLASS_RULES.implied)
        nodes = np.array([self._graph.find_node(id_) for id_ in ids], dtype=np.int64)
        similarity = self._cosines(self._labels.nodes(nodes), _PERSON_AND_OTHERS)
        scores = np.minimum(similarity[:, 0] - similarity[:, 1:].max(axis=1), 0.0)
        for index in np.argsort(-scores, kind="stable").tolist():
            thing = NamedThing(ids[index], span, float(scores[index]), is_class=True)
            yield ClassMeaning((thing,), entities, are_people=True)


@dataclass(frozen=True, slots=True)
class Names:
    """The classes that a question names by span, and the entities: span, node, score."""

    classes: dict[Span, list[str]]
    entities: list[tuple[Span, int, float]]

    @property
    def spans(self) -> list[Span]:
        """The spans of the entities."""
        return [span for span, _, _ in self.entities]


def find_names(question: str, graph: KnowledgeGraph, walker: Walker, /) -> Names:
    """Returns the classes and the entities that runs of a question's words name."""
    classes: dict[Span, list[str]] = {}
    entities: list[tuple[Span, int, float]] = []
    spans = word_spans(question)
    for length in range(min(MOST_WORDS, len(spans)), 0, -1):
        for first in range(len(spans) - length + 1):
            run = [word for word, _, _ in spans[first : first + length]]
            if run[0] in EMPTY_IN_ENGLISH or run[-1] in EMPTY_IN_ENGLISH:
                continue
            span = (spans[first][1], spans[first + length - 1][2])
            if any(overlap(span, each) for each in classes) or _is_joined(question, span):
                continue
            nodes = _nodes_of(run, graph)
            ids = [id_ for id_ in graph.node_ids.take(nodes) if len(walker.instances((id_,)))]
            # The last word of "Lakeside School" is a part of its name.
            is_part = any(overlap(span, longer) and span != longer for longer, _, _ in entities)
            if ids and not is_part:
                classes[span] = ids
            entities += [(span, node, 0.0) for node in nodes.tolist()]
            if length == 1 and not len(nodes):
                demonymous = [graph.names.find(name)[0] for name in origins_of(run[0])]
                entities += [
                    (span, node, -CLASS_RULES.demonym)
                    for some in demonymous
                    for node in some.tolist()
                ]
    return Names(classes, entities)


def _is_joined(question: str, span: Span) -> bool:
    """Returns whether words are a part of what a plus or a slash joins: the C of *C+E*."""
    before, after = question[: span[0]][-2:], question[span[1] :][:2]
    return bool(re.fullmatch(r"\w[+/]", before) or re.fullmatch(r"[+/]\w", after))


def _nodes_of(run: Sequence[str], graph: KnowledgeGraph) -> Int64:
    """Returns the entities that some words name, the last in the singular too."""
    names = {" ".join(run), " ".join((*run[:-1], singular(run[-1])))}
    matches = [graph.names.find(name)[0].astype(np.int64) for name in sorted(names)]
    return np.unique(np.concatenate(matches))
