"""A query as one line of English, with the labels of what it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.query.algebra import (
    MEASURES,
    Among,
    AnyOf,
    Comparable,
    Comparison,
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
    Test,
    Text,
    is_either_way,
)
from graph_service.query.days_in_words import say_days
from graph_service.query.label_words import (
    Clause,
    LabelWords,
    is_plural,
    label_words,
    plural,
    with_article,
)
from graph_service.text.fold import fold
from graph_service.text.nouns import singular
from graph_service.text.participles import is_participle
from graph_service.text.unit_words import MEASURES as UNIT_WORDS

_MOST_NAMES = 3
"""Of things that a condition names, where it names more than one more."""
_COMPARED: Mapping[Comparison, str] = {
    Comparison.EQUAL: "is",
    Comparison.OVER: "is over",
    Comparison.AT_LEAST: "is at least",
    Comparison.UNDER: "is under",
    Comparison.AT_MOST: "is at most",
}
_UNITS = frozenset(word for words in UNIT_WORDS.values() for word in words)
_SEVERAL = "those"
"""What stands for things that no noun is known for."""


class Degrees(NamedTuple):
    """The words for the least and the greatest of a value, as adjectives."""

    least: str
    greatest: str
    less: str
    more: str


_DEGREES: Mapping[str, Degrees] = {
    "price": Degrees("cheapest", "most expensive", "cheaper", "more expensive"),
    "cost": Degrees("cheapest", "most expensive", "cheaper", "more expensive"),
    "mass": Degrees("lightest", "heaviest", "lighter", "heavier"),
    "weight": Degrees("lightest", "heaviest", "lighter", "heavier"),
    "height": Degrees("lowest", "tallest", "lower", "taller"),
    "elevation above sea level": Degrees("lowest", "highest", "lower", "higher"),
    "length": Degrees("shortest", "longest", "shorter", "longer"),
    "duration": Degrees("shortest", "longest", "shorter", "longer"),
    "width": Degrees("narrowest", "widest", "narrower", "wider"),
    "area": Degrees("smallest", "largest", "smaller", "larger"),
    "population": Degrees("least populous", "most populous", "less populous", "more populous"),
    "date of birth": Degrees("oldest", "youngest", "older", "younger"),
    "birth date": Degrees("oldest", "youngest", "older", "younger"),
    "inception": Degrees("oldest", "newest", "older", "newer"),
    "publication date": Degrees("earliest", "latest", "earlier", "later"),
    "release date": Degrees("earliest", "latest", "earlier", "later"),
}
_ORDINALS = ("", "first", "second", "third", "fourth", "fifth")


@dataclass(frozen=True, slots=True)
class Names:
    """Gives the labels that a query is read with.

    Attributes:
        entity: The label of an entity by id.
        relation: The label of a relation by id.
    """

    entity: Callable[[str], str]
    relation: Callable[[str], str]


def render_english(query: Query, names: Names, /) -> str:
    """Returns a query as a person would say it.

    >>> names = Names({"W4": "Wheelchair Lift W4"}.get, {"part": "part"}.get)
    >>> lift, part = Entities(("W4",)), Relation("part")
    >>> from graph_service.query.algebra import Step
    >>> render_english(Query(lift, (Step(part),), fold=Fold.COUNT), names)
    'the number of parts of Wheelchair Lift W4'
    """
    return " ".join(_English(names).sentence(query).split())


@dataclass(frozen=True, slots=True)
class _Phrase:
    """Things in words.

    Attributes:
        text: The words.
        is_several: Whether they are in the plural.
        is_clause: Whether they end with a clause, which the next goes on from with "and".
        is_name: Whether they are names of entities alone.
    """

    text: str
    is_several: bool = False
    is_clause: bool = False
    is_name: bool = False


class _English:
    def __init__(self, names: Names, /) -> None:
        self._names = names

    def sentence(self, query: Query) -> str:
        order = query.order
        if query.fold is Fold.COMPARE:
            assert order is not None
            assert isinstance(query.start, Entities)
            one, other = map(self._names.entity, query.start.ids)
            return f"whether {one} {self._compared(order)} {other}"
        if query.fold is Fold.EXISTS:
            return self._whether(query)
        several = query.fold is Fold.COUNT or order is not None or bool(query.filters)
        phrase = self._answers(query, several=several).text
        if order is not None and query.fold in MEASURES:
            return self._measured(phrase, order, query.fold)
        if order is not None and isinstance(query.start, Entities) and not query.path:
            phrase = self._of_named(query.start.ids, order)
        elif order is not None:
            phrase = self._ordered(phrase, order, is_part=query.fold is Fold.COUNT)
        return f"the number of {_without_article(phrase)}" if query.fold is Fold.COUNT else phrase

    def _measured(self, phrase: str, order: Order, fold: Fold) -> str:
        """Returns a mean or a sum: "the average price of parts"."""
        label = self._order_label(order)
        if label.split()[:1] in (["total"], ["average"]):
            made = "average" if fold is Fold.MEAN else "sum"
            return f"the {made} of the {label} of {phrase}"
        return f"the {'average' if fold is Fold.MEAN else 'total'} {label} of {phrase}"

    def _whether(self, query: Query) -> str:
        """Returns a question for yes or no: "whether the spouse of X is Y" where one is named."""
        filter = query.filters[0] if len(query.filters) == 1 else None
        if query.order is None:
            if isinstance(filter, Condition) and not filter.path:
                return f"whether {self._is_so(query, filter.test)}"
            if query.path and not query.filters and self._is_had(query.path[-1].relation):
                return f"whether {self._has_some(query)}"
        if isinstance(query.start, Entities) and not query.path and query.filters:
            thing = self._start(query.start).text
            claims = [self._claim(thing, each) for each in query.filters]
            if None not in claims:
                return f"whether {' and '.join(each for each in claims if each)}"
        phrase = self._answers(query, several=True).text
        if query.order is not None:
            phrase = self._ordered(phrase, query.order, is_part=True)
        phrase = _without_article(phrase)
        if phrase.startswith(f"{_SEVERAL} "):
            phrase = f"any {phrase.removeprefix(_SEVERAL).strip()}"
        return f"whether there are {phrase}"

    def _is_so(self, query: Query, test: Test) -> str:
        """Returns that the end of a path passes a test: "the spouse of X is Y"."""
        of = self._path(query.start, query.path[:-1])
        if not query.path:
            return f"{_any_of(of)} {self._test(test)}"
        last = query.path[-1].relation
        value: _Phrase | None = None
        if isinstance(test, Among):
            value = _Phrase(_or(self._distinct_names(test.ids)), is_name=True)
            if last.backward:
                # Said the way the statement is.
                last, of, value = last.reversed, value, of
        words = self._words(last)
        if words.clause is not None and value is not None:
            return f"{_any_of(of)} {_with_object(words.clause, value, several=False)}"
        phrase = self._step(last, of, several=False)
        if value is None:
            is_all = phrase.is_several and not last.backward
            return (
                f"{phrase.text if is_all else _any_of(phrase)} {self._test(test, several=is_all)}"
            )
        verb = "include" if phrase.is_several else "is"
        text = f"one of {_each_of(value)}" if value.is_several else value.text
        return f"{phrase.text} {verb} {text}"

    def _is_had(self, relation: Relation) -> bool:
        """Returns whether one says that a thing has a value of a relation: "a spouse", not "an award
        received".
        """
        noun = self._words(relation).noun.casefold()
        return not relation.backward and not is_participle(noun.split()[-1] if noun else "")

    def _has_some(self, query: Query) -> str:
        """Returns that a thing has a value: "X has a spouse", "X is a member of anything"."""
        of = self._path(query.start, query.path[:-1])
        words = self._words(query.path[-1].relation)
        if words.clause is None:
            return f"{_any_of(of)} has {with_article(words.value)}"
        value = with_article(words.clause.noun) if words.clause.noun else "anything"
        return f"{_any_of(of)} {words.clause.one} {value}"

    def _claim(self, thing: str, filter: Filter) -> str | None:
        """Returns what a filter says of a thing: "the price of X is over 20"; None for others."""
        is_negated = isinstance(filter, Not)
        condition = filter.filter if isinstance(filter, Not) else filter
        if not isinstance(condition, Condition) or len(condition.path) != 1:
            return None
        relation = condition.path[0]
        words = self._words(relation)
        if relation.backward or words.clause is not None or isinstance(condition.test, Present):
            return None
        test = self._test(condition.test, negated=is_negated, several=is_plural(words.noun))
        return f"the {words.value} of {thing} {test}"

    def _answers(self, query: Query, *, several: bool) -> _Phrase:
        start = query.start
        if not query.path:
            is_implied = isinstance(start, Targets) and _say_targets(query.filters, start)
            of = _Phrase(_SEVERAL, is_several=True) if is_implied else self._start(start)
            return self._narrowed_class(of, query.filters)
        of = self._path(start, query.path[:-1])
        relation = query.path[-1].relation
        return self._narrowed_step(relation, of, query.filters, several=several)

    def _path(self, start: Start, steps: Sequence[Step]) -> _Phrase:
        """Returns a start and the relations to what is no answer yet as one noun phrase."""
        phrase = self._start(start)
        for step in steps:
            phrase = self._narrowed_step(step.relation, phrase, step.filters, several=False)
        return phrase

    def _start(self, start: Start) -> _Phrase:
        match start:
            case Entities(ids):
                return _Phrase(_or(list(map(self._names.entity, ids))), is_name=True)
            case Targets(relations):
                return _Phrase(_or(list(map(self._targets, relations))), is_several=True)
            case Instances(class_ids):
                return _Phrase(self._class_names(class_ids), is_several=True)

    def _class_names(self, class_ids: Sequence[str]) -> str:
        return _or([plural(self._names.entity(id_)) for id_ in class_ids])

    def _targets(self, relation: Relation) -> str:
        """Returns all that a relation leads to: "directors"; backward "things with a director"."""
        words = self._words(relation)
        if words.clause is not None:
            clause = words.clause
            if relation.backward:
                return f"things that {clause.several} {with_article(clause.noun) if clause.noun else 'anything'}"
            return f"{plural(clause.noun) if clause.noun else 'things'} that anything {clause.one}"
        return f"things with {with_article(words.value)}" if relation.backward else words.values

    def _narrowed_step(
        self, relation: Relation, of: _Phrase, filters: Sequence[Filter], *, several: bool
    ) -> _Phrase:
        """Returns what a relation leads to and passes filters; a class stands first where no other
        noun does: "films whose director is X".
        """
        words = self._words(relation)
        noun = words.clause.noun if words.clause is not None else words.value
        head, others = self._taken_class(filters)
        if not head or (noun and not relation.backward):
            return self._narrowed(self._step(relation, of, several=several), filters)
        return self._narrowed(self._step(relation, of, several=True, head=head), others)

    def _narrowed_class(self, phrase: _Phrase, filters: Sequence[Filter]) -> _Phrase:
        """Returns what passes filters; a class stands in the place of "those"."""
        head, others = self._taken_class(filters)
        if phrase.text == _SEVERAL and head:
            return self._narrowed(replace(phrase, text=head), others)
        return self._narrowed(phrase, filters)

    def _taken_class(self, filters: Sequence[Filter]) -> tuple[str, list[Filter]]:
        """Returns the nouns of the first filter by classes, and all other filters."""
        first = next(filter(_class_ids, filters), None)
        others = [each for each in filters if each is not first]
        return "" if first is None else self._class_names(_class_ids(first)), others

    def _narrowed(self, phrase: _Phrase, filters: Sequence[Filter]) -> _Phrase:
        if not filters:
            return phrase
        # "or the other way about" ends a list.
        in_order = sorted(filters, key=lambda each: isinstance(each, AnyOf) and is_either_way(each))
        clauses = [self._clause(each, several=phrase.is_several) for each in in_order]
        joint = " and " if phrase.is_clause else " "
        return _Phrase(phrase.text + joint + " and ".join(clauses), phrase.is_several, True)

    def _step(
        self, relation: Relation, of: _Phrase, *, several: bool, head: str = _SEVERAL
    ) -> _Phrase:
        """Returns what a relation leads to, of what it starts at."""
        words = self._words(relation)
        clause = words.clause
        if relation.backward:
            text = _whose(words, of) if clause is None else f"that {_with_object(clause, of)}"
            return _Phrase(f"{head} {text}", is_several=True, is_clause=True)
        if clause is None:
            if several:
                return _Phrase(f"{words.values} of {of.text}", is_several=True)
            return _Phrase(f"the {words.value} of {of.text}", is_plural(words.noun))
        subject = _each_of(of) if of.is_several else of.text
        # Of a clause: "what that which X is educated at is founded by".
        if subject.startswith("what "):
            subject = f"that which {subject.removeprefix('what ')}"
        clause_text = f"{subject} {clause.verb(several=of.is_several)}"
        if clause.noun:
            noun = plural(clause.noun) if several else f"the {clause.noun}"
            return _Phrase(f"{noun} that {clause_text}", several, is_clause=several)
        if several:
            return _Phrase(f"{head} that {clause_text}", is_several=True, is_clause=True)
        return _Phrase(f"what {clause_text}")

    def _clause(self, filter: Filter, *, negated: bool = False, several: bool = True) -> str:
        """Returns a filter as a relative clause of one thing or of several."""
        match filter:
            case Not():
                return self._clause(filter.filter, negated=not negated, several=several)
            case AnyOf((Condition() as first, *_)) if is_either_way(filter) and not negated:
                relation = replace(first.path[0], backward=False)
                forward = replace(first, path=(relation,))
                return f"{self._condition(forward, negated=False, several=several)}, or the other way about"
            case AnyOf():
                joint = " and " if negated else " or "
                return joint.join(
                    self._clause(each, negated=negated, several=several) for each in filter.filters
                )
            case Condition():
                return self._condition(filter, negated=negated, several=several)

    def _condition(self, condition: Condition, *, negated: bool, several: bool) -> str:
        path, test = condition.path, condition.test
        is_ = f"{'are' if several else 'is'}{' not' if negated else ''}"
        if not path:
            if isinstance(test, InstanceOf):
                return f"that {is_} {self._instances(test.class_ids, several=several)}"
            text = self._test(test, negated=negated)
            return f"that {text.replace('is', 'are', 1) if several else text}"
        *before, last = path
        words = self._words(last)
        if isinstance(test, Present):
            return self._present(words, last, before, negated=negated, is_=is_, several=several)
        if last.backward and not before and isinstance(test, Among | InstanceOf):
            return self._condition_backward(words, test, negated=negated, is_=is_, several=several)
        if words.clause is not None and not before and isinstance(test, Among):
            of = _Phrase(_or(self._distinct_names(test.ids)), is_name=True)
            if words.clause.short:
                short = replace(words.clause, several=words.clause.short)
                return f"{'not ' if negated else ''}{_with_object(short, of)}"
            return f"that {_with_object(words.clause, of, several=several, negated=negated)}"
        if isinstance(test, During) and words.moment and not before and not last.backward:
            return f"{'not ' if negated else ''}{words.moment} {say_days(test.days)}"
        verb_several = is_plural(words.noun)
        if before and before[0].backward:
            something = "nothing" if negated else "something"
            of_these = f"that are the {self._words(before[0]).value} of {something}"
            return f"{of_these} whose {words.name} {self._test(test, several=verb_several)}"
        phrase = f"{self._words(before[0]).name}'s {words.name}" if before else words.name
        return f"whose {phrase} {self._test(test, negated=negated, several=verb_several)}"

    def _present(
        self,
        words: LabelWords,
        last: Relation,
        before: Sequence[Relation],
        *,
        negated: bool,
        is_: str,
        several: bool,
    ) -> str:
        """Returns that there is a value: "with a spouse", "that flow through anything"."""
        through = f" of their {self._words(before[0]).value}" if before else ""
        if last.backward:
            return f"that {is_} the {words.value} of something{through}"
        if negated and not before and last.id in INSTANCE_RELATIONS:
            return "of no known class"
        if words.clause is not None and not before:
            verb = words.clause.verb(several=several, negated=negated)
            return f"that {verb} {with_article(words.clause.noun) if words.clause.noun else 'anything'}"
        return f"{'without' if negated else 'with'} {with_article(words.value)}{through}"

    def _condition_backward(
        self, words: LabelWords, test: Among | InstanceOf, *, negated: bool, is_: str, several: bool
    ) -> str:
        """Returns that a thing is the value of a relation of others: "that are parts of X"."""
        if isinstance(test, Among):
            of = _or(self._distinct_names(test.ids))
        else:
            of = _or([with_article(self._names.entity(id_)) for id_ in test.class_ids])
        if words.clause is not None:
            return f"that {of} {words.clause.verb(several=False, negated=negated)}"
        return f"that {is_} {words.values if several else f'the {words.value}'} of {of}"

    def _instances(self, class_ids: Sequence[str], *, several: bool) -> str:
        if several:
            return self._class_names(class_ids)
        return _or([with_article(self._names.entity(id_)) for id_ in class_ids])

    def _test(self, test: Test, *, negated: bool = False, several: bool = False) -> str:
        """Returns a test as what is said of one value, or of several."""
        is_ = f"{'are' if several else 'is'}{' not' if negated else ''}"
        match test:
            case Present():
                return f"{is_} known"
            case Among(ids):
                verb = f"{'do not ' if negated else ''}include" if several else is_
                return f"{verb} {_or(self._distinct_names(ids))}"
            case InstanceOf(class_ids):
                return f"{is_} {self._instances(class_ids, several=several)}"
            case Text(text):
                return f'{is_} "{text}"'
            case Number(comparison, amount, unit):
                words = _COMPARED[comparison].replace("is", is_, 1)
                return f"{words} {amount}{f' {self._unit(unit, amount)}' if unit else ''}"
            case During(days):
                return f"{is_} {say_days(days)}"
        raise AssertionError(test)

    def _unit(self, unit: str, amount: str) -> str:
        """Returns a unit as so many of it: "2 kilograms"; signs and percent as they are."""
        label = self._names.entity(unit)
        if amount in ("1", "-1") or len(label) < 4 or label.casefold() == "percent":
            return label
        *before, last = label.split()
        # "degrees Celsius"
        return (
            f"{plural(' '.join(before))} {last}" if before and last[:1].isupper() else plural(label)
        )

    def _distinct_names(self, ids: Sequence[str]) -> list[str]:
        """Returns what some things are called, each name once, and how many more there are."""
        names = list(dict.fromkeys(map(self._names.entity, ids)))
        more = len(names) - _MOST_NAMES
        return names if more < 2 else [*names[:_MOST_NAMES], f"{more} more"]

    def _ordered(self, phrase: str, order: Order, *, is_part: bool = False) -> str:
        """Returns the first of some things; of a part of a sentence without "of" before it."""
        word = self._degree(order)
        if order.rank is None and order.first is None:
            return f"{_without_article(phrase)}, the {word} first"
        ordinal = f"{_ordinal(order.rank)} " if order.rank is not None and order.rank > 1 else ""
        group = phrase if phrase.startswith(f"{_SEVERAL} ") else f"the {_without_article(phrase)}"
        if self._known_degree(order) is not None or not order.path:
            first = f"{order.first} " if order.first is not None else ""
            return f"the {first or ordinal}{word} of {group}"
        chosen = f"the {order.first}" if order.first is not None else "the one"
        if is_part:
            return f"{_without_article(phrase)}, only {chosen} with the {ordinal}{word}"
        return f"of {group}, {chosen} with the {ordinal}{word}"

    def _of_named(self, ids: Sequence[str], order: Order) -> str:
        """Returns which of some named entities: "the older of A and B"."""
        named = list(map(self._names.entity, ids))
        names = f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]
        known = self._known_degree(order)
        if len(named) == 2 and known is not None and order.rank is not None:
            word = known.more if order.descending else known.less
            return f"the {f'{_ordinal(order.rank)} ' if order.rank > 1 else ''}{word} of {names}"
        if order.rank is None and order.first is None:
            return f"{names}, the {self._degree(order)} first"
        return self._ordered(names, order).replace(f"of the {names}", f"of {names}")

    def _known_degree(self, order: Order) -> Degrees | None:
        """Returns the adjectives for the values of an order's relation, if it has some."""
        if len(order.path) != 1 or order.fold is not None or order.filters:
            return None
        label = self._words(order.path[0]).label
        measure, _, unit = label.partition(" in ")
        is_unit = not {fold(unit), singular(fold(unit))}.isdisjoint(_UNITS)
        return _DEGREES.get(measure if is_unit else label)

    def _degree(self, order: Order) -> str:
        known = self._known_degree(order)
        if known is not None:
            return known.greatest if order.descending else known.least
        if order.kind is Comparable.DATES:
            degree = "latest" if order.descending else "earliest"
        else:
            degree = "greatest" if order.descending else "least"
        return f"{degree} {self._order_label(order)}".strip()

    def _compared(self, order: Order) -> str:
        known = self._known_degree(order)
        if known is not None:
            return f"is {known.more if order.descending else known.less} than"
        label = self._order_label(order)
        if order.kind is Comparable.DATES:
            return f"has {'a later' if order.descending else 'an earlier'} {label} than"
        return f"has a {'greater' if order.descending else 'lesser'} {label} than"

    def _order_label(self, order: Order) -> str:
        if order.fold is not None:
            return self._folded_label(order, order.fold)
        if not order.path:
            return ""
        *before, last = map(self._words, order.path)
        if order.filters:
            return f"{last.value} of {self._things_of(order)}"
        return "'s ".join([*(each.name for each in before), last.name if before else last.value])

    def _folded_label(self, order: Order, fold: Fold) -> str:
        """Returns what an order counts or measures: "number of parts whose supplier it is"."""
        first, *rest = order.path
        things = self._things_of(order)
        if fold is Fold.COUNT:
            counted = f"{self._words(rest[-1]).values} of {things}" if rest else things
            return f"number of {counted}"
        made = "average" if fold is Fold.MEAN else "total"
        of = f" of {things}" if rest else ""
        return f"{made} {self._words(rest[-1] if rest else first).value}{of}"

    def _things_of(self, order: Order) -> str:
        """Returns what the first relation of an order leads to: "parts whose supplier it is"."""
        first, words = order.path[0], self._words(order.path[0])
        noun, others = self._taken_class(order.filters)
        joined = ""
        if words.clause is not None and not (first.backward and words.clause.noun):
            clause = words.clause
            joined = f" that {clause.several} it" if first.backward else f" that it {clause.one}"
            noun = noun or (plural(clause.noun) if clause.noun else "things")
        elif first.backward:
            joined = f" whose {words.name} it is"
        elif not noun:
            noun = words.values
        phrase = _Phrase(f"{noun or 'things'}{joined}", is_several=True, is_clause=bool(joined))
        return self._narrowed(phrase, others).text

    def _words(self, relation: Relation) -> LabelWords:
        label = self._names.relation(relation.id)
        return label_words(label.removeprefix("has ") if len(label.split()) > 1 else label)


def _ordinal(number: int) -> str:
    return _ORDINALS[number] if number < len(_ORDINALS) else f"{number}th"


def _or(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _without_article(phrase: str) -> str:
    return phrase.removeprefix("the ")


def _class_ids(filter: Filter) -> tuple[str, ...]:
    """Returns the classes that things must be instances of by a filter; none of other filters."""
    if isinstance(filter, Condition) and not filter.path and isinstance(filter.test, InstanceOf):
        return filter.test.class_ids
    return ()


def _say_targets(filters: Sequence[Filter], targets: Targets) -> bool:
    """Returns whether a filter says already that things are ends of some relations: what spouse, or
    whose founder, they must have.
    """
    if not all(relation.backward for relation in targets.relations) and len(targets.relations) < 2:
        return False
    walked = {relation.reversed for relation in targets.relations}
    for each in filters:
        same = each.filters if isinstance(each, AnyOf) and is_either_way(each) else (each,)
        if walked <= {each.path[0] for each in same if isinstance(each, Condition) and each.path}:
            return True
    return False


def _each_of(phrase: _Phrase) -> str:
    """Returns several things as a group that some are of: "those whose child is X", "the films"."""
    is_group = phrase.text.startswith((f"{_SEVERAL} ", "the "))
    return phrase.text if is_group else f"the {phrase.text}"


def _any_of(phrase: _Phrase) -> str:
    """Returns one thing, or any of several, as a subject of one."""
    return f"any of {_each_of(phrase)}" if phrase.is_several else phrase.text


def _whose(words: LabelWords, value: _Phrase) -> str:
    """Returns a relative clause of a noun: "whose child is X"."""
    verb = "include" if is_plural(words.noun) else "is"
    text = f"one of {_each_of(value)}" if value.is_several else value.text
    return f"whose {words.name} {verb} {text}"


def _with_object(
    clause: Clause, value: _Phrase, *, several: bool = True, negated: bool = False
) -> str:
    """Returns a clause with its value: "flow through X", "are located in the time zone X"."""
    verb = clause.verb(several=several, negated=negated)
    if not clause.noun:
        return f"{verb} {value.text}"
    if value.is_name:
        return f"{verb} the {clause.noun} {value.text}"
    text = f"one of {_each_of(value)}" if value.is_several else value.text
    return f"{verb} {with_article(clause.noun)} that is {text}"
