"""The small queries that a question may mean, best first by cheap scores, within a budget.

A beam grows paths from what the question may name, one relation at a time, and puts filters, an order
and a fold on what they lead to. Only relations that the graph has there are tried. What a question
names, and how well a relation fits it, comes from outside: nothing here reads text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import islice, product

import numpy as np

from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.days import Days
from graph_service.model.graph import Int64, KnowledgeGraph
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.overlay import Overlay
from graph_service.model.values import Value
from graph_service.query.algebra import (
    MAX_STEPS,
    MEASURES,
    Among,
    AnyOf,
    Comparable,
    Condition,
    During,
    Entities,
    Filter,
    Fold,
    InstanceOf,
    Instances,
    Not,
    Number,
    Order,
    Present,
    Query,
    Relation,
    Start,
    Step,
    Targets,
    Text,
    encode_query,
)
from graph_service.query.execution import passes_value
from graph_service.query.readings import amount_of, days_of_value
from graph_service.query.result import QueryLimits
from graph_service.query.walking import Walker, Walks

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class NamedThing:
    """An entity or a class that words of a question may name.

    Attributes:
        id: Its id.
        span: Characters of the question; none of a class that no words name, where paths begin.
        score: How sure that is; 0 for sure, below it for doubt.
        is_class: Whether its instances are meant.
        targets_of: A relation of which all ends are meant, where ``id`` is that of the relation.
        relations: How well each relation that leads there fits, by id, where words near it tell;
            None for what the whole question tells.
        is_negated: Whether it is said not to be.
        is_value: Whether only statements of the answers lead to it, and none of it to them.
        bridges: Two relations each by which the instances of a class lead to it, where none does; or
            one that does, twice: what is in a part of a place is in the place.
    """

    id: str
    span: Span
    score: float = 0.0
    is_class: bool = False
    targets_of: Relation | None = None
    relations: Mapping[str, float] | None = None
    is_negated: bool = False
    is_value: bool = False
    bridges: tuple[tuple[Relation, Relation], ...] = ()

    @property
    def stands_for_several(self) -> bool:
        """Whether not it is meant, but its instances or all ends of a relation."""
        return self.is_class or self.targets_of is not None


@dataclass(frozen=True, slots=True)
class NamedTest:
    """What a question says of values: days, a number, a text, or that there is one.

    Attributes:
        test: On each value.
        span: Characters of the question.
        relations: The relations that may have the value by id, with how well each fits; None for
            all.
        is_negated: Whether it is said not to be.
        further: What else it says of the same relation: the other bound of a range.
    """

    test: During | Number | Text | Present
    span: Span
    relations: Mapping[str, float] | None = None
    is_negated: bool = False
    further: tuple[Number, ...] = ()


@dataclass(frozen=True, slots=True)
class Degree:
    """A word of degree: what answers are ordered by.

    Attributes:
        kind: Numbers or dates.
        descending: Whether the greatest or latest is meant.
        span: Characters of the question.
        relations: The relations that it may mean by id, with how well each fits.
        rank: Of the answers meant.
        first: How many of the first are meant; there is no rank then.
    """

    kind: Comparable
    descending: bool
    span: Span
    relations: Mapping[str, float]
    rank: int | None = 1
    first: int | None = None


@dataclass(frozen=True, slots=True)
class QuestionParts:
    """What a question may name and ask.

    Attributes:
        things: Entities and classes, namesakes too.
        tests: What it says of values; several of one span are readings of it.
        degrees: Its word of degree, in each way it may be read.
        fold: What it asks to make of the answers.
        relation_scores: How well each relation fits by id; 0 where absent.
        is_choice: Whether it asks for one of the things that it names ("A or B"): nothing else is. A comparison (``Fold.COMPARE``) is of two, in their order.
        used: Words that only told namesakes apart, and name nothing more.
        required: Sets of relations of which a path must follow one each, as a noun of kin does.
    """

    things: Sequence[NamedThing]
    tests: Sequence[NamedTest] = ()
    degrees: Sequence[Degree] = ()
    fold: Fold = Fold.LIST
    relation_scores: Mapping[str, float] = field(default_factory=dict)
    is_choice: bool = False
    used: Sequence[Span] = ()
    required: Sequence[frozenset[str]] = ()


@dataclass(frozen=True, slots=True)
class EnumerationBudget:
    """How far enumeration goes.

    Attributes:
        beam: Paths that go on at each step.
        constrained: Paths, the best of all lengths, that get filters and orders.
        options: Relations tried for each filter and order, the best fitting.
        queries: Queries returned.
        steps: Relations of a path.
        nodes: Nodes of a path whose relations are looked at.
        statements: Statements looked at in all.
        walks: Ways of one path.
        step_cost: Of each relation of a path.
        span_gain: For each part of the question that a filter or order takes up.
    """

    beam: int = 60
    constrained: int = 40
    options: int = 2
    queries: int = 200
    steps: int = MAX_STEPS
    nodes: int = 500
    statements: int = 500_000
    walks: int = 20_000
    step_cost: float = 0.3
    span_gain: float = 0.5


@dataclass(frozen=True, slots=True)
class ScoredQuery:
    """A query that a question may mean, its cheap score, and the words that it takes up."""

    query: Query
    score: float
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Enumeration:
    """The queries of a question, best first, and what the budget cut."""

    queries: tuple[ScoredQuery, ...]
    cuts: tuple[Cut, ...]


def enumerate_queries(
    parts: QuestionParts,
    graph: KnowledgeGraph,
    /,
    *,
    overlay: Overlay | None = None,
    ranks: Sequence[int] = (0, 1),
    budget: EnumerationBudget | None = None,
    deadline: Deadline | None = None,
) -> Enumeration:
    """Returns the queries that a question may mean; each path of them leads somewhere.

    Args:
        parts: What the question may name and ask.
        graph: The base.
        overlay: The view, if any.
        ranks: ``RANK_CODES`` of the statements that count.
        budget: How far to go.
        deadline: Raises ``DeadlineError`` when past.
    """
    budget = budget or EnumerationBudget()
    limits = QueryLimits(statements=budget.statements, walks=budget.walks)
    walker = Walker(
        graph, overlay, ranks=ranks, limits=limits, deadline=deadline or Deadline.none()
    )
    return _Enumerator(parts, walker, budget).run()


@dataclass(frozen=True, slots=True, eq=False)
class _Path:
    thing: NamedThing
    relations: tuple[Relation, ...]
    walks: Walks
    score: float

    @property
    def start(self) -> Start:
        """Where it begins."""
        if self.thing.targets_of is not None:
            return Targets((self.thing.targets_of,))
        ids = (self.thing.id,)
        return Instances(ids) if self.thing.is_class else Entities(ids)

    @property
    def key(self) -> tuple[float, str, tuple[tuple[str, bool], ...]]:
        """What paths are sorted by, the best first."""
        return (
            -self.score,
            self.thing.id,
            tuple((relation.id, relation.backward) for relation in self.relations),
        )

    @property
    def targets(self) -> Int64:
        """The distinct nodes that it leads to, ascending."""
        return np.unique(self.walks.targets)


@dataclass(frozen=True, slots=True)
class _Option:
    """Filters or an order that take up a span, and how well they fit."""

    parts: tuple[Filter, ...] | Order
    span: Span
    score: float


class _Enumerator:
    def __init__(self, parts: QuestionParts, walker: Walker, budget: EnumerationBudget, /) -> None:
        self._parts = parts
        self._walker = walker
        self._budget = budget
        self._cuts: dict[str, Cut] = {}
        self._values_at: dict[bytes, list[tuple[Relation, list[Value]]]] = {}

    def run(self) -> Enumeration:
        is_choice = self._parts.is_choice or self._parts.fold is Fold.COMPARE
        scored = self._choices() if is_choice else self._constrained(self._paths())
        by_text: dict[str, ScoredQuery] = {}
        for each in scored:
            text = encode_query(each.query)
            if text not in by_text or by_text[text].score < each.score:
                by_text[text] = each
        ordered = sorted(by_text, key=lambda text: (-by_text[text].score, text))
        self._cut("queries", self._budget.queries, len(ordered))
        queries = tuple(by_text[text] for text in ordered[: self._budget.queries])
        return Enumeration(queries, (*self._cuts.values(), *self._walker.cuts))

    def _choices(self) -> Iterator[ScoredQuery]:
        """Yields the queries for one of the things that a question names."""
        things = [thing for thing in self._parts.things if not thing.stands_for_several]
        ids = tuple(dict.fromkeys(thing.id for thing in things))
        if len(ids) < 2 or (self._parts.fold is Fold.COMPARE and len(ids) > 2):
            return
        nodes = self._walker.nodes(ids)
        spans = tuple(dict.fromkeys(thing.span for thing in things))
        score = sum(thing.score for thing in things)
        for option in self._orders(nodes):
            assert isinstance(option.parts, Order)
            query = Query(Entities(ids), order=option.parts, fold=self._parts.fold)
            yield ScoredQuery(query, score + option.score, (*spans, option.span))

    def _paths(self) -> list[_Path]:
        """Returns the paths of the beam, of all lengths, best first."""
        level = sorted(self._start_paths(), key=lambda path: path.key)
        paths = list(level)
        for _ in range(self._budget.steps):
            grown = sorted(
                (each for path in level for each in self._further(path)), key=lambda each: each[0]
            )
            self._cut("paths", self._budget.beam, len(grown))
            level = []
            for _, path, relation, score in grown[: self._budget.beam]:
                walks = self._walker.follow(path.walks, relation)
                if len(walks):
                    level.append(_Path(path.thing, (*path.relations, relation), walks, score))
            paths += level
        return sorted(paths, key=lambda path: path.key)

    def _start_paths(self) -> Iterator[_Path]:
        for thing in self._parts.things:
            if thing.is_negated:
                continue
            if thing.targets_of is not None:
                nodes = np.unique(self._walker.targets_of((thing.targets_of,)).targets)
            elif thing.is_class:
                nodes = np.unique(self._walker.instances((thing.id,)).targets)
            else:
                nodes = self._walker.nodes((thing.id,))
            if len(nodes):
                yield _Path(thing, (), Walks.at(nodes), thing.score)

    def _further(
        self, path: _Path
    ) -> Iterator[tuple[tuple[float, str, tuple[object, ...]], _Path, Relation, float]]:
        followed = {relation.id for relation in path.relations}
        for relation in self._walker.relations_at(self._looked_at(path.targets)):
            fit = self._fit(relation, followed)
            score = path.score + fit - self._budget.step_cost
            key = (-score, path.thing.id, (*path.key[2], (relation.id, relation.backward)))
            yield key, path, relation, score

    def _constrained(self, paths: Sequence[_Path]) -> Iterator[ScoredQuery]:
        able = [path for path in paths if self._has_required(path)]
        self._cut("constrained", self._budget.constrained, len(able))
        for path in able[: self._budget.constrained]:
            yield from self._queries(path)

    def _has_required(self, path: _Path) -> bool:
        followed = {relation.id for relation in path.relations}
        return all(not followed.isdisjoint(some) for some in self._parts.required)

    def _queries(self, path: _Path) -> Iterator[ScoredQuery]:
        """Yields a path with each choice of filters and order for what the question says beside."""
        taken = [path.thing.span, *self._parts.used]
        targets = path.targets
        by_span: dict[Span, list[_Option]] = {}
        followed = {relation.id for relation in path.relations}
        for option in self._options(targets, self._looked_at(targets), followed):
            if not any(overlap(option.span, span) for span in taken):
                by_span.setdefault(option.span, []).append(option)
        choices = [
            [None, *sorted(by_span[span], key=lambda option: -option.score)[: self._budget.options]]
            for span in sorted(by_span)
        ]
        steps = tuple(map(Step, path.relations))
        for chosen in islice(product(*choices), self._budget.queries):
            options = [option for option in chosen if option is not None]
            spans = [option.span for option in options]
            if any(overlap(a, b) for index, a in enumerate(spans) for b in spans[:index]):
                continue
            orders = [option.parts for option in options if isinstance(option.parts, Order)]
            if self._parts.fold in MEASURES and not orders:
                continue
            filters = [
                filter
                for option in options
                if not isinstance(option.parts, Order)
                for filter in option.parts
            ]
            query = Query(
                path.start,
                steps,
                tuple(filters),
                orders[0] if orders else None,
                self._parts.fold,
            )
            score = path.score + sum(option.score for option in options)
            if steps or filters or orders or path.thing.stands_for_several:
                yield ScoredQuery(query, score, (path.thing.span, *spans))

    def _fit(
        self,
        relation: Relation,
        followed: Set[str] = frozenset(),
        scores: Mapping[str, float] | None = None,
    ) -> float:
        """Returns how well a relation fits; one that is followed already fits no more words."""
        if relation.id in followed:
            return 0.0
        return (self._parts.relation_scores if scores is None else scores).get(relation.id, 0.0)

    def _options(self, targets: Int64, nodes: Int64, followed: Set[str]) -> Iterator[_Option]:
        """Yields the filters and orders of what a path leads to; values are looked at of ``nodes``."""
        gain = self._budget.span_gain
        for thing in self._parts.things:
            if thing.span[0] == thing.span[1] or thing.targets_of is not None:
                continue
            (node,) = self._walker.nodes((thing.id,)).tolist() or (None,)
            if node is None:
                continue
            itself = Condition((), Among((thing.id,)))
            if node in targets and thing.is_negated:
                # *flats except Mill Lane 1*: that one is left out, and none that is joined to it.
                yield _Option((Not(itself),), thing.span, gain + thing.score)
                continue
            if node in targets and self._parts.fold is Fold.EXISTS:
                yield _Option((itself,), thing.span, gain + thing.score)
            relations = self._walker.relations_to(targets, node)
            if not relations and not followed:
                yield from self._bridges(thing)
            for relation in relations:
                if thing.is_value and relation.backward:
                    continue
                among = Among((thing.id,))
                condition: Condition | AnyOf = Condition((relation,), among)
                if relation.id in INSTANCE_RELATIONS and not relation.backward:
                    condition = Condition((), InstanceOf((thing.id,)))
                if (twice := (relation, relation)) in thing.bridges:
                    condition = AnyOf((Condition((relation,), among), Condition(twice, among)))
                fit = self._fit(relation, followed, thing.relations)
                filter = Not(condition) if thing.is_negated else condition
                yield _Option((filter,), thing.span, gain + thing.score + fit)
        for stated in self._parts.tests:
            for relation, values in self._values(nodes):
                if stated.relations is not None and relation.id not in stated.relations:
                    continue
                if any(_is_comparable(stated.test, value) for value in values):
                    fit = self._fit(relation, followed, stated.relations)
                    filters = [
                        Condition((relation,), test) for test in (stated.test, *stated.further)
                    ]
                    yield _Option(
                        tuple(map(Not, filters) if stated.is_negated else filters),
                        stated.span,
                        gain + fit,
                    )
        yield from self._orders(nodes)

    def _bridges(self, thing: NamedThing) -> Iterator[_Option]:
        """Yields the filters by what answers lead to that leads to an entity: the city of the
        building of a flat.
        """
        for pair in thing.bridges:
            condition = Condition(pair, Among((thing.id,)))
            fit = sum(self._fit(relation, scores=thing.relations) for relation in pair)
            score = self._budget.span_gain + thing.score + fit - self._budget.step_cost
            yield _Option((Not(condition) if thing.is_negated else condition,), thing.span, score)

    def _orders(self, nodes: Int64) -> Iterator[_Option]:
        for degree in self._parts.degrees:
            for relation, values in self._values(nodes):
                if relation.id in degree.relations:
                    yield from self._order(degree, relation, values)

    def _order(
        self, degree: Degree, relation: Relation, values: Sequence[Value]
    ) -> Iterator[_Option]:
        unit = None
        if degree.kind is Comparable.NUMBERS:
            units = [amount.unit for amount in map(amount_of, values) if amount is not None]
            if not units:
                return
            # Of a mean or a sum all numbers count, or it is none.
            if self._parts.fold not in MEASURES:
                unit = max(sorted(set(units), key=str), key=units.count)
        elif not any(_days(values)):
            return
        order = Order(
            (relation,),
            degree.kind,
            degree.descending,
            None if degree.first is not None else degree.rank,
            unit,
            first=degree.first,
        )
        yield _Option(order, degree.span, self._budget.span_gain + degree.relations[relation.id])

    def _values(self, nodes: Int64) -> list[tuple[Relation, list[Value]]]:
        """Returns the relations of some nodes, and the values that they lead to from there."""
        key = nodes.tobytes()
        if key not in self._values_at:
            self._values_at[key] = [
                (relation, [self._walker.value(node) for node in self._targets_of(nodes, relation)])
                for relation in self._walker.relations_at(nodes)
                if not relation.backward
            ]
        return self._values_at[key]

    def _targets_of(self, nodes: Int64, relation: Relation) -> list[int]:
        targets: list[int] = np.unique(
            self._walker.follow(Walks.at(nodes), relation).targets
        ).tolist()
        return targets

    def _looked_at(self, nodes: Int64) -> Int64:
        self._cut("nodes", self._budget.nodes, len(nodes))
        return nodes[: self._budget.nodes]

    def _cut(self, what: str, most: int, total: int) -> None:
        if total > most:
            self._cuts.setdefault(what, Cut(what, CutReason.WORK_BUDGET, most, most, total))


def _is_comparable(test: During | Number | Text | Present, value: Value) -> bool:
    """Returns whether a value is of the kind that a test looks at."""
    match test:
        case Number(unit=unit):
            amount = amount_of(value)
            return amount is not None and (unit is None or amount.unit == unit)
        case During():
            return days_of_value(value) is not None
        case Text():
            return passes_value(test, value)
        case Present():
            return True


def _days(values: Iterable[Value]) -> Iterator[Days]:
    return (days for days in map(days_of_value, values) if days is not None)


def overlap(left: Span, right: Span, /) -> bool:
    """Returns whether two runs of characters share one."""
    return left[0] < right[1] and right[0] < left[1]
