"""Small queries: where they start, the relations they follow, and what is made of the answers.

A query starts at entities, at all instances of classes or at all ends of relations, follows at most
three relations, keeps the answers that pass its filters, orders them by a value, and folds them to a
list, a number or a truth value. Two queries that mean the same by their form are equal: filters are a set, and the
filters of the last relation are those of the answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.days import Days
from graph_service.model.identity import digest
from graph_service.model.serialise import to_plain
from graph_service.query.readings import number_of_text

MAX_STEPS = 3
"""Relations that a query follows."""
MAX_FILTER_STEPS = 2
"""Relations from an answer to what a filter or an order looks at."""
_ADDED_TO_ORDER = ("fold", "filters", "first")


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation that is followed: from head to value, or ``backward`` from value to head."""

    id: str
    backward: bool = False

    @property
    def reversed(self) -> Relation:
        """The same relation, followed the other way about."""
        return Relation(self.id, not self.backward)


@dataclass(frozen=True, slots=True)
class Entities:
    """Some entities by their ids; in order of the ids but in a comparison (``Fold.COMPARE``)."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Instances:
    """All instances of any of some classes, or of their subclasses at any depth."""

    class_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Targets:
    """All that any of some relations leads to, from whatever has it: the suppliers of all parts.

    Of a relation that is followed backward, all that have it.
    """

    relations: tuple[Relation, ...]


Start = Entities | Instances | Targets


class Comparison(StrEnum):
    """How a number is compared."""

    EQUAL = "="
    OVER = ">"
    AT_LEAST = ">="
    UNDER = "<"
    AT_MOST = "<="


@dataclass(frozen=True, slots=True)
class Number:
    """Whether a value is a number that compares so with ``amount``.

    Attributes:
        comparison: Of the value with the amount.
        amount: Decimal text.
        unit: Id of the unit that the value must have; None for any unit.
    """

    comparison: Comparison
    amount: str
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class During:
    """Whether a value is a date of which all possible days lie in a span."""

    days: Days


@dataclass(frozen=True, slots=True)
class Text:
    """Whether a value is this text, of any type: a string, a text in a language, an address."""

    text: str


@dataclass(frozen=True, slots=True)
class Among:
    """Whether a value is one of some entities."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InstanceOf:
    """Whether a value is an instance of any of some classes, or of their subclasses."""

    class_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Present:
    """Whether there is a value at all."""


Test = Number | During | Text | Among | InstanceOf | Present


@dataclass(frozen=True, slots=True)
class Condition:
    """Whether some value at the end of a path passes a test; of no relations, the answer itself."""

    path: tuple[Relation, ...]
    test: Test


@dataclass(frozen=True, slots=True)
class Not:
    """Whether a condition does not hold. What the graph does not say does not hold."""

    filter: Condition | AnyOf


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Whether at least one of some filters holds."""

    filters: tuple[Condition | Not, ...]


Filter = Condition | Not | AnyOf


def either_way(relation: Relation, test: Test, /) -> AnyOf:
    """Returns whether a relation leads to what passes a test, or comes from that."""
    return AnyOf(tuple(Condition((each,), test) for each in (relation, relation.reversed)))


def is_either_way(filter: AnyOf, /) -> bool:
    """Returns whether a filter is of one relation, walked either way about.

    >>> is_either_way(either_way(Relation("P47"), Among(("Q1",))))
    True
    """
    match filter.filters:
        case (Condition((one,), test), Condition((other,), same)):
            return other == one.reversed and same == test
    return False


@dataclass(frozen=True, slots=True)
class Step:
    """A relation of a query's path, and the filters on the entities it leads to."""

    relation: Relation
    filters: tuple[Filter, ...] = ()


class Fold(StrEnum):
    """What is made of the answers: a list, their number, whether there is one, whether the first of
    two entities comes strictly before the second in the order, or the mean or the sum of the numbers
    that the order looks at.
    """

    LIST = "list"
    COUNT = "count"
    EXISTS = "exists"
    COMPARE = "compare"
    MEAN = "mean"
    SUM = "sum"


MEASURES = frozenset({Fold.MEAN, Fold.SUM})
"""Folds of the numbers of the answers. Each distinct number of an answer counts once."""


class Comparable(StrEnum):
    """What answers are ordered by."""

    NUMBERS = "numbers"
    DATES = "dates"


@dataclass(frozen=True, slots=True)
class Order:
    """The order of the answers; those without such a value are left out.

    Of several values of an answer its earliest date counts, or the number that comes first in the
    order, or what ``fold`` makes of all of them. Answers tie if their numbers are equal. Two dates
    tie if they overlap (1994 and May 1994), since neither is surely first.

    Attributes:
        path: From an answer to the value; empty for the answer itself.
        kind: Numbers or dates.
        descending: Greatest or latest first.
        rank: Only the answers of this rank, from 1; None for all.
        unit: Id of the unit of the numbers that count; None for any.
        fold: ``COUNT`` orders by how many things the path leads to, none too; ``MEAN`` and ``SUM``
            by what the numbers at its end come to, each distinct number of a thing once. Answers
            whose numbers are of several units are left out.
        filters: What the first relation leads to must pass.
        first: Only the answers that fewer others than this surely come before; None for all. More
            than so many where the last of them tie.
    """

    path: tuple[Relation, ...]
    kind: Comparable
    descending: bool = False
    rank: int | None = None
    unit: str | None = None
    fold: Fold | None = None
    filters: tuple[Filter, ...] = ()
    first: int | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A small query, in its canonical form whichever way it is written.

    Raises:
        InputError: It has too many relations, an empty set, a comparison of other than two
            entities without a path, or a mean or sum of no relation's numbers.

    >>> father, mother = Relation("P22"), Relation("P25")
    >>> has = Condition((mother,), Present())
    >>> one = Query(Entities(("Q2", "Q1")), (Step(father, (has, has)),))
    >>> one == Query(Entities(("Q1", "Q2", "Q1")), (Step(father),), (has,))
    True
    """

    start: Start
    path: tuple[Step, ...] = ()
    filters: tuple[Filter, ...] = ()
    order: Order | None = None
    fold: Fold = Fold.LIST

    def __post_init__(self) -> None:
        """Brings it into its canonical form."""
        path, filters = self.path, self.filters
        if path:
            filters = (*filters, *path[-1].filters)
            inner = [replace(step, filters=_normal(step.filters)) for step in path[:-1]]
            path = (*inner, Step(path[-1].relation))
        object.__setattr__(self, "start", _normal_start(self.start, self.fold))
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "filters", _normal(filters))
        if self.order is not None:
            counted = _normal(self.order.filters)
            object.__setattr__(self, "order", replace(self.order, filters=counted))
        if self.fold in MEASURES and self.order is not None:
            # Of which number comes first a mean says nothing.
            object.__setattr__(self, "order", replace(self.order, descending=False))
        self._check()

    def _check(self) -> None:
        if len(self.path) > MAX_STEPS:
            raise InputError(
                f"a query follows at most {MAX_STEPS} relations, got {len(self.path)}",
                argument="path",
            )
        if self.order is not None:
            _check_order(self.order)
        if self.fold is Fold.COMPARE:
            two = isinstance(self.start, Entities) and len({*self.start.ids}) == 2
            if not two or self.order is None or self.path or self.filters:
                raise InputError(
                    "a comparison takes two entities, an order, and neither path nor filters",
                    argument="fold",
                )
        if self.fold in MEASURES:
            order = self.order
            if (
                order is None
                or order != Order(order.path, Comparable.NUMBERS, unit=order.unit)
                or (len(order.path) != 1)
            ):
                raise InputError(
                    "a mean or a sum takes an order by the numbers of one relation, without a rank",
                    argument="fold",
                )

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The relations of the path."""
        return tuple(step.relation for step in self.path)

    @property
    def key(self) -> str:
        """A hash that equal queries share, on every machine."""
        return digest((encode_query(self),), person=b"query").hex()


def encode_query(query: Query, /) -> str:
    """Returns the one JSON text of a query."""
    return orjson.dumps(_tagged(query), option=orjson.OPT_SORT_KEYS).decode()


def conditions_of_list(query: Query, /) -> frozenset[Filter] | None:
    """Returns what the things of a list must meet, whichever way the query goes: players of Finland
    are those that Finland leads back to, if they are players. None for what is no plain list.

    >>> plays, finnish = Relation("nationality"), Among(("Finland",))
    >>> players = InstanceOf(("player",))
    >>> from_class = Query(Instances(players.class_ids), filters=(Condition((plays,), finnish),))
    >>> back = Step(Relation("nationality", backward=True))
    >>> from_entity = Query(Entities(finnish.ids), (back,), (Condition((), players),))
    >>> conditions_of_list(from_class) == conditions_of_list(from_entity)
    True
    """
    if query.fold is not Fold.LIST or query.order is not None:
        return None
    if isinstance(query.start, Instances):
        if query.path:
            return None
        return frozenset((Condition((), InstanceOf(query.start.class_ids)), *query.filters))
    if isinstance(query.start, Targets):
        if query.path:
            return None
        led_to = [Condition((each.reversed,), Present()) for each in query.start.relations]
        return frozenset((_normal_filter(AnyOf(tuple(led_to))), *query.filters))
    if not 0 < len(query.path) <= MAX_FILTER_STEPS or any(step.filters for step in query.path):
        return None
    back = tuple(each.reversed for each in reversed(query.relations))
    return frozenset((Condition(back, Among(query.start.ids)), *query.filters))


def paths_of(query: Query, /) -> set[str]:
    """Returns the ids of all relations that a query follows, those of its filters too."""
    ids = {relation.id for relation in query.relations}
    if isinstance(query.start, Targets):
        ids |= {relation.id for relation in query.start.relations}
    for each in filters_of(query):
        ids |= {relation.id for condition in conditions_of(each) for relation in condition.path}
    if query.order is not None:
        ids |= {relation.id for relation in query.order.path}
    return ids


def is_of_each(query: Query, /) -> bool:
    """Returns whether a query lists its answers with a count, a mean or a sum of each."""
    order = query.order
    is_all = order is not None and order.rank is None and order.first is None
    return is_all and order is not None and order.fold is not None and query.fold is Fold.LIST


def filters_of(query: Query, /) -> list[Filter]:
    """Returns the filters of each step of a query, of its answers, and of what orders them."""
    of_order = () if query.order is None else query.order.filters
    return [*(each for step in query.path for each in step.filters), *query.filters, *of_order]


def conditions_of(filter: Filter, /) -> list[Condition]:
    """Returns the conditions that a filter is made of."""
    match filter:
        case Condition():
            return [filter]
        case Not():
            return conditions_of(filter.filter)
        case AnyOf():
            return [each for part in filter.filters for each in conditions_of(part)]


def _normal_start(start: Start, fold: Fold) -> Start:
    if isinstance(start, Instances):
        return Instances(_id_set(start.class_ids, "class_ids"))
    if isinstance(start, Targets):
        if not start.relations:
            raise InputError("a query names at least one relation", argument="relations")
        key = lambda relation: (relation.id, relation.backward)  # noqa: E731
        return Targets(tuple(sorted(set(start.relations), key=key)))
    if fold is Fold.COMPARE:
        return start
    return Entities(_id_set(start.ids, "ids"))


def _normal(filters: Iterable[Filter]) -> tuple[Filter, ...]:
    """Returns filters that all hold, as a set in one order."""
    parts: list[Filter] = []
    for each in map(_normal_filter, filters):
        if isinstance(each, Not) and isinstance(each.filter, AnyOf):
            # Neither of some: each does not hold.
            parts.extend(_negated(part) for part in each.filter.filters)
        else:
            parts.append(each)
    return tuple(_distinct(parts))


def _negated(filter: Filter) -> Filter:
    return filter.filter if isinstance(filter, Not) else Not(filter)


def _normal_filter(filter: Filter) -> Filter:
    match filter:
        case Condition(path, test):
            _check_path(path)
            return Condition(tuple(path), _normal_test(test))
        case Not(inner):
            return _negated(_normal_filter(inner))
        case AnyOf(filters):
            parts: list[Any] = []
            for each in map(_normal_filter, filters):
                parts.extend(each.filters if isinstance(each, AnyOf) else (each,))
            if not parts:
                raise InputError("a filter of alternatives has none", argument="filters")
            parts = _distinct(parts)
            return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))
    raise AssertionError(filter)


def _normal_test(test: Test) -> Test:
    match test:
        case Among(ids):
            return Among(_id_set(ids, "ids"))
        case InstanceOf(class_ids):
            return InstanceOf(_id_set(class_ids, "class_ids"))
        case Number(amount=amount):
            number = number_of_text(amount)
            if number is None:
                raise InputError(f"not a decimal number: {amount!r}", argument="filters")
            # Without an exponent, and -0 is 0.
            return replace(test, amount=format(number.normalize() + 0, "f"))
    return test


def _id_set(ids: Sequence[str], argument: str) -> tuple[str, ...]:
    if not ids:
        raise InputError("a query names at least one entity", argument=argument)
    return tuple(sorted(set(ids)))


def _distinct(parts: Sequence[Any]) -> list[Any]:
    by_text = {orjson.dumps(_tagged(part), option=orjson.OPT_SORT_KEYS): part for part in parts}
    return [by_text[text] for text in sorted(by_text)]


def _check_path(path: Sequence[Relation]) -> None:
    if len(path) > MAX_FILTER_STEPS:
        raise InputError(
            f"a filter or an order looks at most {MAX_FILTER_STEPS} relations far, got {len(path)}",
            argument="filters",
        )


def _check_order(order: Order) -> None:
    _check_path(order.path)
    for name, count in (("ranks", order.rank), ("numbers of answers", order.first)):
        if count is not None and count < 1:
            raise InputError(f"{name} begin at 1, got {count}", argument="order")
    if order.rank is not None and order.first is not None:
        raise InputError("an order takes a rank or the first answers, not both", argument="order")
    if order.filters and not order.path:
        raise InputError("an order's filters are on what its path leads to", argument="order")
    if order.fold is None:
        return
    is_number = order.fold in (Fold.COUNT, *MEASURES) and order.kind is Comparable.NUMBERS
    if not is_number or not order.path or (order.fold is Fold.COUNT and order.unit is not None):
        raise InputError(
            "an order by a count, a mean or a sum takes numbers and a path; a count has no unit",
            argument="order",
        )


def _tagged(part: Any) -> Any:
    """Returns a part of a query as JSON-ready data that names its types."""
    if isinstance(part, tuple):
        return [_tagged(each) for each in part]
    fields = getattr(part, "__dataclass_fields__", None)
    if fields is None:
        return to_plain(part)
    # An order that has none of what later releases added keeps its key.
    added = _ADDED_TO_ORDER if isinstance(part, Order) else ()
    names = [name for name in fields if name not in added or getattr(part, name)]
    return {"": type(part).__name__, **{name: _tagged(getattr(part, name)) for name in names}}
