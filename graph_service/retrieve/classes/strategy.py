"""The answer to a question about a class: the best of the small queries that it may mean.

No entity is asked about, or none but as a value that instances have. The question is read as parts
of queries (``reading``), the enumeration puts them together, and the best is answered. It is sure
where it takes up every content word and where no other query that fits nearly as well has another
answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from graph_service.link.demonyms import origins_of
from graph_service.link.joint import JointMention
from graph_service.model.answer import MOST_READINGS, AnswerKind
from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.graph import Float64, Int64, KnowledgeGraph
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.overlay import Overlay
from graph_service.model.result import ScorePart, Strategy
from graph_service.query.algebra import (
    Among,
    Condition,
    Filter,
    Fold,
    InstanceOf,
    Instances,
    Text,
    filters_of,
    paths_of,
)
from graph_service.query.enumeration import (
    EnumerationBudget,
    NamedTest,
    NamedThing,
    ScoredQuery,
    Span,
    enumerate_queries,
    overlap,
)
from graph_service.query.execution import execute
from graph_service.query.result import AnswerRow, QueryLimits, QueryResult
from graph_service.query.walking import Walker
from graph_service.retrieve.classes.profile import RelationProfile, profile_relations
from graph_service.retrieve.classes.question_text import (
    asks_for_instances,
    joins_people,
    people_span,
)
from graph_service.retrieve.classes.reading import ClassReading, read_class_question
from graph_service.retrieve.constraints.coverage import root
from graph_service.retrieve.constraints.naming import MOST_WORDS
from graph_service.retrieve.constraints.reading import singular
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.context import (
    NO_STATS,
    Clock,
    Encode,
    PickedAnswer,
    PickedEdge,
    PickedPath,
    RankedQuery,
    ReadQuery,
    Selection,
)
from graph_service.retrieve.labels import Labels
from graph_service.text.fold import word_spans, words
from graph_service.text.function_words import EMPTY_IN_ENGLISH


@dataclass(frozen=True, slots=True)
class ClassRules:
    """The numbers of it.

    Attributes:
        mentions: Classes that a question names at most, the first ones.
        later_mention: Off the score of queries about each class named later.
        unread: Off the score for each content word that nothing takes up.
        gap: By how much the best fits better than a query of another answer, to be sure.
        near: Other queries that are answered, the next ones.
        sure, doubtful: Confidence in an answer that is sure, and in one that is not.
        demonym: Off the score of an entity that is named by what people and things of it are called.
        implied: Classes that *who* may mean, the largest ones.
        implied_relations: Relations of their instances, after which no further class is read.
        implied_statements: Of a graph at most in which *who* is read as people of a class.
    """

    mentions: int = 2
    later_mention: float = 0.4
    unread: float = 0.6
    gap: float = 0.25
    near: int = 6
    sure: float = 0.9
    doubtful: float = 0.3
    demonym: float = 0.1
    implied: int = 6
    implied_relations: int = 60
    implied_statements: int = 2_000_000

    def parameters(self) -> dict[str, float]:
        """Returns the numbers by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


CLASS_RULES = ClassRules()
_PERSON_AND_OTHERS = ("person", "thing", "organization", "place")
_WORK = root("work")
_BUDGET = EnumerationBudget(beam=16, constrained=24, options=3, queries=200, steps=1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassRequest:
    """What a question about a class is answered from.

    Attributes:
        question: As asked.
        graph: The base.
        overlay: The view, if any.
        ranks: ``RANK_CODES`` of the statements that count.
        languages: Of labels, best first.
        encode: Texts to unit vectors.
        strategy: What is picked.
        limit: Items at most.
        min_confidence: From which on an answer is sure.
        deadline: Raises ``DeadlineError`` when past.
        is_cut: Whether the graph is a part of which limits left something out.
        has_all_classes: Whether it has all classes, so that *who* may mean the people of one.
    """

    question: str
    graph: KnowledgeGraph
    overlay: Overlay | None
    ranks: Sequence[int]
    languages: Sequence[str]
    encode: Encode
    strategy: Strategy
    limit: int
    min_confidence: float
    deadline: Deadline
    is_cut: bool = False
    has_all_classes: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class ClassAnswer:
    """What a question about a class retrieves.

    Attributes:
        selection: Its answer, what that rests on, and the query.
        mentions: The class and the entities that the query names.
        is_sure: Whether the answer is.
        class_ids: The classes that the question names.
        is_list: Whether it lists instances of a named class as a walk could: neither counted nor
            ordered, by no values and nothing negated.
    """

    selection: Selection
    mentions: tuple[JointMention, ...]
    is_sure: bool
    class_ids: frozenset[str]
    is_list: bool


@dataclass(frozen=True, slots=True, eq=False)
class RankedReading:
    """A query, its score less what it leaves unread, the words that it does, and whether its class
    is one that *who* may mean.
    """

    scored: ScoredQuery
    reading: ClassReading
    score: float
    unread: tuple[str, ...]
    is_implied: bool


@dataclass(frozen=True, slots=True)
class _ClassMeaning:
    """Classes that the same words of a question may mean, and the entities that are beside them.

    ``is_implied``: whether those words are *who* or *people*, which name no class.
    """

    classes: tuple[NamedThing, ...]
    entities: Sequence[tuple[Span, int, float]]
    is_implied: bool = False

    @property
    def span(self) -> Span:
        """Returns the span of the words in the question."""
        return self.classes[0].span


def answer_class_question(request: ClassRequest, /) -> ClassAnswer | None:
    """Returns the answer to a question that names a class; None where it names none, or no query
    of it leads anywhere.
    """
    if len(request.question) > CONSTRAINT_RULES.characters:
        return None
    return _ClassQuestion(request).answer()


class _ClassQuestion:
    def __init__(self, request: ClassRequest, /) -> None:
        self._request = request
        self._graph = request.graph
        self._clock = Clock()
        self._labels = Labels(request.graph, request.overlay, request.languages, request.deadline)
        self._walker = self._new_walker()

    def _new_walker(self) -> Walker:
        return Walker(
            self._graph,
            self._request.overlay,
            ranks=self._request.ranks,
            limits=QueryLimits(),
            deadline=self._request.deadline,
        )

    def answer(self) -> ClassAnswer | None:
        ranked = self.ranked()
        if not ranked:
            return None
        best = ranked[0]
        if best.is_implied and best.unread:
            return None
        result = self._execute(best)
        is_sure = not best.unread and not best.reading.refusal and result.is_complete
        is_sure = is_sure and not self._request.is_cut and self._says_something(best, result)
        is_sure = is_sure and not self._has_rival(best, result, ranked[1:])
        self._clock.stage("answer")
        if best.is_implied and not is_sure:
            return None
        selection = self._selection(best, result, ranked, is_sure=is_sure)
        confident = is_sure and CLASS_RULES.sure >= self._request.min_confidence
        class_ids = frozenset(
            thing.id for each in ranked for thing in each.reading.parts.things if thing.is_class
        )
        query = best.scored.query
        is_list = query.fold is Fold.LIST and query.order is None and not best.is_implied
        is_list = is_list and all(map(_is_walked, filters_of(query)))
        return ClassAnswer(selection, self._mentions(best), confident, class_ids, is_list)

    def ranked(self) -> list[RankedReading]:
        """Returns the queries of all classes that the question names, best first."""
        names = _find_names(self._request.question, self._graph, self._walker)
        self._clock.stage("names")
        ranked: list[RankedReading] = []
        relations = 0
        for meaning in self._named(names) if names.classes else self._implied(names):
            if meaning.is_implied and relations >= CLASS_RULES.implied_relations:
                break
            ids = [each.id for each in meaning.classes]
            nodes = np.unique(self._walker.instances(ids).targets)
            profiles = profile_relations(self._walker, nodes, self._relation_labels)
            relations += len(profiles)
            ranked += self._queries(meaning, nodes, profiles)
        ranked.sort(key=lambda each: (-each.score, each.scored.query.key))
        self._clock.stage("queries")
        return ranked

    def _named(self, names: _Names) -> Iterator[_ClassMeaning]:
        """Yields the classes that the question names, those of the same words together."""
        for index, span in enumerate(sorted(names.classes)[: CLASS_RULES.mentions]):
            score = -CLASS_RULES.later_mention * index
            things = [NamedThing(id_, span, score, is_class=True) for id_ in names.classes[span]]
            yield _ClassMeaning(tuple(things), names.entities)

    def _implied(self, names: _Names) -> Iterator[_ClassMeaning]:
        """Yields the classes that *who* or *people* may mean, those most like a person first."""
        request = self._request
        span = people_span(request.question)
        if span is None or not request.has_all_classes:
            return
        if self._graph.edge_count > CLASS_RULES.implied_statements:
            return
        entities = [each for each in names.entities if joins_people(request.question, each[0])]
        ids = self._walker.largest_classes(CLASS_RULES.implied)
        nodes = np.array([self._graph.find_node(id_) for id_ in ids], dtype=np.int64)
        similarity = self._cosines(self._labels.nodes(nodes), _PERSON_AND_OTHERS)
        scores = np.minimum(similarity[:, 0] - similarity[:, 1:].max(axis=1), 0.0)
        for index in np.argsort(-scores, kind="stable").tolist():
            thing = NamedThing(ids[index], span, float(scores[index]), is_class=True)
            yield _ClassMeaning((thing,), entities, is_implied=True)

    @cached_property
    def _relation_labels(self) -> dict[str, str]:
        numbers = np.arange(self._graph.relation_count)
        ids = self._labels.relation_ids(numbers)
        return dict(zip(ids, self._labels.relations(numbers), strict=True))

    def _queries(
        self, meaning: _ClassMeaning, nodes: Int64, profiles: Sequence[RelationProfile]
    ) -> list[RankedReading]:
        question = self._request.question
        things = self._joined(meaning, nodes)
        reading = read_class_question(question, meaning.classes, things, profiles, self._cosines)
        parts = reading.parts
        if meaning.is_implied:
            # As of entities: no text that people are not joined to.
            tests = [
                test
                for test in parts.tests
                if not _says_text(test, question) or joins_people(question, test.span)
            ]
            parts = replace(parts, tests=tests)
        enumeration = enumerate_queries(
            parts,
            self._graph,
            overlay=self._request.overlay,
            ranks=self._request.ranks,
            budget=_BUDGET,
            deadline=self._request.deadline,
        )
        of_instances = meaning.is_implied or asks_for_instances(question, meaning.span)
        thing_spans = {thing.span for thing in things}
        ranked = []
        for scored in enumeration.queries:
            if meaning.span not in scored.spans:
                continue
            query = scored.query
            if of_instances and isinstance(query.start, Instances) and query.path:
                continue
            if meaning.is_implied and not (query.filters or query.order):
                continue
            unread = reading.unread(scored.spans, sorted(paths_of(scored.query)))
            if meaning.is_implied and thing_spans.isdisjoint(scored.spans):
                # "works part time": nothing is said to be worked at.
                unread = tuple(word for word in unread if root(word) != _WORK)
            score = round(scored.score - CLASS_RULES.unread * len(unread), 4)
            ranked.append(RankedReading(scored, reading, score, unread, meaning.is_implied))
        return ranked

    def _cosines(self, texts: Sequence[str], others: Sequence[str]) -> Float64:
        vectors = self._request.encode([*texts, *others]).astype(np.float64)
        cosines: Float64 = np.round(vectors[: len(texts)] @ vectors[len(texts) :].T, 5)
        return cosines

    # What the question names

    def _joined(self, meaning: _ClassMeaning, nodes: Int64) -> list[NamedThing]:
        """Returns the entities that a statement joins to instances, of longer names first."""
        things: list[NamedThing] = []
        for span, node, score in meaning.entities:
            if overlap(span, meaning.span):
                continue
            if any(overlap(span, each.span) and span != each.span for each in things):
                continue
            if self._walker.relations_to(nodes, node):
                id_ = self._graph.node_ids[node]
                things.append(NamedThing(id_, span, score, is_value=meaning.is_implied))
        return things

    # How sure the best is

    def _execute(self, ranked: RankedReading) -> QueryResult:
        return execute(
            ranked.scored.query,
            self._graph,
            overlay=self._request.overlay,
            ranks=self._request.ranks,
            deadline=self._request.deadline,
        )

    @staticmethod
    def _says_something(best: RankedReading, result: QueryResult) -> bool:
        query = best.scored.query
        if query.fold is Fold.EXISTS:
            return result.truth is not None
        if query.fold is Fold.COUNT:
            return True
        return bool(result.rows)

    def _has_rival(
        self, best: RankedReading, result: QueryResult, others: Sequence[RankedReading]
    ) -> bool:
        answer = _answer_key(best, result)
        near = [each for each in others if each.score > best.score - CLASS_RULES.gap]
        if len(near) > CLASS_RULES.near:
            near = near[: CLASS_RULES.near]
        return any(_answer_key(each, self._execute(each)) != answer for each in near)

    # What is picked

    def _mentions(self, best: RankedReading) -> tuple[JointMention, ...]:
        spans = set(best.scored.spans)
        by_span: dict[Span, list[int]] = {}
        for thing in best.reading.parts.things:
            node = self._graph.find_node(thing.id)
            if thing.span in spans and node is not None:
                by_span.setdefault(thing.span, []).append(node)
        return tuple(JointMention(*span, 1.0, tuple(by_span[span])) for span in sorted(by_span))

    def _selection(
        self,
        best: RankedReading,
        result: QueryResult,
        ranked: Sequence[RankedReading],
        *,
        is_sure: bool,
    ) -> Selection:
        request, query = self._request, best.scored.query
        origin = self._origin(best)
        rows = result.rows or self._looked_at(best)
        shown = rows[: request.limit]
        cuts = list(result.truncated)
        if len(rows) > len(shown) or result.count > len(result.rows):
            cuts = [cut for cut in cuts if cut.what != "items"]
            cuts.append(Cut("items", CutReason.LIMIT, request.limit, len(shown), result.count))
        relevance = 1.0 if not best.unread else 0.5
        paths: tuple[PickedPath, ...] = ()
        triples: tuple[PickedEdge, ...] = ()
        if request.strategy is Strategy.PATHS:
            paths = tuple(
                PickedPath(edges, reverse, relevance, (ScorePart("relevance", relevance),), origin)
                for row in shown
                for edges, reverse in (self._path(row),)
                if edges
            )
        else:
            edges = dict.fromkeys(edge for row in shown for edge in row.edges)
            triples = tuple(
                PickedEdge(edge, relevance, 0.0, relevance, 0.0, origin)
                for edge in [*edges][: request.limit]
            )
        answer = None
        if is_sure:
            answer = PickedAnswer(
                _kind(best),
                _value(best, result),
                () if query.fold is Fold.EXISTS else tuple(row.node for row in result.rows),
                tuple(dict.fromkeys(edge for row in rows for edge in row.edges)),
                not result.is_complete or result.count > len(result.rows),
            )
        return Selection(
            NO_STATS,
            NO_STATS,
            triples=triples,
            paths=paths,
            relevance=relevance,
            confidence=CLASS_RULES.sure if is_sure else CLASS_RULES.doubtful,
            confident=is_sure and CLASS_RULES.sure >= request.min_confidence,
            cuts=tuple(cuts),
            timings_ms=dict(self._clock.stages),
            used_starts=(origin,) if origin >= 0 else (),
            answer=answer,
            read=ReadQuery(
                query,
                best.unread,
                tuple(
                    RankedQuery(each.scored.query, round(max(each.score, 0.0), 4))
                    for each in ranked[:MOST_READINGS]
                ),
            ),
        )

    def _looked_at(self, best: RankedReading) -> tuple[AnswerRow, ...]:
        """Returns the entities among which a query has no answer."""
        query = best.scored.query
        if query.fold is Fold.LIST:
            return ()
        every = replace(query, filters=(), order=None, fold=Fold.LIST)
        return execute(
            every,
            self._graph,
            overlay=self._request.overlay,
            ranks=self._request.ranks,
            limits=QueryLimits(rows=self._request.limit),
            deadline=self._request.deadline,
        ).rows

    def _origin(self, best: RankedReading) -> int:
        start = best.scored.query.start
        ids = start.class_ids if isinstance(start, Instances) else start.ids
        nodes = self._walker.nodes(ids)
        return int(nodes[0]) if len(nodes) else -1

    def _path(self, row: AnswerRow) -> tuple[tuple[int, ...], tuple[bool, ...]]:
        """Returns one statement that leads to an answer: what it has, else that it is of its class."""
        instances: list[tuple[int, bool]] = []
        for edge in row.edges:
            head, tail, relation = self._columns_of(edge)
            if row.node in (head, tail):
                step = (edge, head == row.node)
                if relation not in INSTANCE_RELATIONS:
                    return (step[0],), (step[1],)
                instances.append(step)
        return ((instances[0][0],), (instances[0][1],)) if instances else ((), ())

    def _columns_of(self, edge: int) -> tuple[int, int, str]:
        graph, overlay = self._graph, self._request.overlay
        if edge < graph.edge_count:
            head, tail, relation = graph.head[edge], graph.tail[edge], graph.rel[edge]
        else:
            assert overlay is not None
            index = edge - graph.edge_count
            head, tail, relation = overlay.head[index], overlay.tail[index], overlay.rel[index]
        (id_,) = self._labels.relation_ids(np.array([int(relation)], dtype=np.int64))
        return int(head), int(tail), id_


@dataclass(frozen=True, slots=True)
class _Names:
    """The classes that a question names by span, and the entities: span, node, score."""

    classes: dict[Span, list[str]]
    entities: list[tuple[Span, int, float]]


def _find_names(question: str, graph: KnowledgeGraph, walker: Walker) -> _Names:
    classes: dict[Span, list[str]] = {}
    entities: list[tuple[Span, int, float]] = []
    spans = word_spans(question)
    for length in range(min(MOST_WORDS, len(spans)), 0, -1):
        for first in range(len(spans) - length + 1):
            run = [word for word, _, _ in spans[first : first + length]]
            if run[0] in EMPTY_IN_ENGLISH or run[-1] in EMPTY_IN_ENGLISH:
                continue
            span = (spans[first][1], spans[first + length - 1][2])
            if any(overlap(span, each) for each in classes):
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
    return _Names(classes, entities)


def _nodes_of(run: Sequence[str], graph: KnowledgeGraph) -> Int64:
    """Returns the entities that some words name, the last in the singular too."""
    names = {" ".join(run), " ".join((*run[:-1], singular(run[-1])))}
    matches = [graph.names.find(name)[0].astype(np.int64) for name in sorted(names)]
    return np.unique(np.concatenate(matches))


def _says_text(test: NamedTest, question: str) -> bool:
    """Returns whether a test is for a text that the question says, and not for a flag."""
    return isinstance(test.test, Text) and words(test.test.text) == words(
        question[slice(*test.span)]
    )


def _is_walked(filter: Filter) -> bool:
    """Returns whether walks tell what passes a filter: that leads to an entity, or is of a class."""
    return isinstance(filter, Condition) and isinstance(filter.test, Among | InstanceOf)


def _answer_key(ranked: RankedReading, result: QueryResult) -> object:
    """Returns what two queries share that have one answer."""
    if ranked.scored.query.fold is Fold.EXISTS:
        return result.truth
    if ranked.scored.query.fold is Fold.COUNT:
        return result.count
    return frozenset(row.node for row in result.rows), result.count


def _kind(ranked: RankedReading) -> AnswerKind:
    query = ranked.scored.query
    if query.fold is Fold.COUNT:
        return AnswerKind.COUNT
    if query.fold is Fold.EXISTS:
        return AnswerKind.YES_NO
    return AnswerKind.ENTITIES if query.order is None else AnswerKind.SUPERLATIVE


def _value(ranked: RankedReading, result: QueryResult) -> str | None:
    """Returns the text of an answer that is no list."""
    fold = ranked.scored.query.fold
    if fold is Fold.COUNT:
        return str(result.count)
    if fold is Fold.EXISTS:
        return "yes" if result.truth else "no"
    return None
