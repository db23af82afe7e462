"""A query as one line of English, with the labels of what it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from graph_service.model.days import Days
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
    Not,
    Number,
    Order,
    Present,
    Query,
    Relation,
    Targets,
    Test,
    Text,
    is_either_way,
)
from graph_service.text.nouns import plural_noun
from graph_service.text.participles import infinitive, is_participle, is_third_person

_EVER = 10**9
_MOST_NAMES = 3
"""Of things that a condition names, where it names more than one more."""
_COMPARED: Mapping[Comparison, str] = {
    Comparison.EQUAL: "is",
    Comparison.OVER: "is over",
    Comparison.AT_LEAST: "is at least",
    Comparison.UNDER: "is under",
    Comparison.AT_MOST: "is at most",
}
# How relations end that are said of their head: "directed by", "member of".
_PREPOSITIONS = frozenset(
    {"about", "as", "at", "by", "for", "from", "in", "into", "of", "on", "to", "under", "with"}
)


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


def plural(noun: str, /) -> str:
    """Returns an English noun phrase in the plural; of words without a noun, their values.

    >>> plural("child"), plural("sales staff"), plural("place of birth"), plural("tickets sold")
    ('children', 'sales staff', 'places of birth', 'tickets sold')
    >>> plural("founded")
    'values of "founded"'
    """
    words = noun.split()
    count = next((at for at, word in enumerate(words) if _follows_noun(word)), len(words))
    if not count:
        return f'values of "{noun}"'
    return " ".join([*words[: count - 1], plural_noun(words[count - 1]), *words[count:]])


def _value(label: str) -> str:
    """Returns what a relation leads to by its label; of words without a noun, their value: the value
    of "hired".
    """
    words = label.split()
    return f'value of "{label}"' if words and _follows_noun(words[0]) else label


def _follows_noun(word: str) -> bool:
    """Returns whether a word follows the noun of a phrase: "of", "sold", "(start)"."""
    folded = word.casefold().strip(",")
    return folded in _PREPOSITIONS or is_participle(folded) or word.startswith("(")


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
        phrase = self._answers(query, several=several)
        if order is not None and query.fold in MEASURES:
            return self._measured(phrase, order, query.fold)
        if order is not None and isinstance(query.start, Entities) and not query.path:
            phrase = self._of_named(query.start.ids, order)
        elif order is not None:
            phrase = self._ordered(phrase, order)
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
        if isinstance(filter, Condition) and not filter.path:
            last = query.path[-1].relation if query.path else None
            if last is not None and last.backward and isinstance(filter.test, Among):
                # Said the way the statement is.
                of = replace(query, path=query.path[:-1], filters=())
                named = _or(self._distinct_names(filter.test.ids))
                phrase = self._step(replace(last, backward=False), named, several=False)
                return f"whether {phrase} is {self._path(of, several=False)}"
            return f"whether {self._path(query, several=False)} {self._test(filter.test)}"
        if isinstance(query.start, Entities) and not query.path and query.filters:
            thing = self._path(query, several=False)
            claims = [self._claim(thing, each) for each in query.filters]
            if None not in claims:
                return f"whether {' and '.join(each for each in claims if each)}"
        phrase = self._answers(query, several=True)
        if query.order is not None:
            phrase = self._ordered(phrase, query.order)
        return f"whether there are {_without_article(phrase)}"

    def _claim(self, thing: str, filter: Filter) -> str | None:
        """Returns what a filter says of a thing: "the price of X is over 20"; None for others."""
        is_negated = isinstance(filter, Not)
        condition = filter.filter if isinstance(filter, Not) else filter
        if not isinstance(condition, Condition) or len(condition.path) != 1:
            return None
        relation = condition.path[0]
        label = self._label(relation)
        if relation.backward or not _is_noun(label) or isinstance(condition.test, Present):
            return None
        return f"the {_value(label)} of {thing} {self._test(condition.test, negated=is_negated)}"

    def _answers(self, query: Query, *, several: bool) -> str:
        phrase = self._path(query, several=several)
        # What is a clause already goes on with "and".
        is_clause = bool(query.path) and query.path[-1].relation.backward
        return phrase + self._filters(query.filters, goes_on=is_clause)

    def _path(self, query: Query, *, several: bool) -> str:
        """Returns the start and the relations as one noun phrase."""
        if isinstance(query.start, Entities):
            phrase = _or([self._names.entity(id_) for id_ in query.start.ids])
        elif isinstance(query.start, Targets):
            phrase = self._all_targets(query.start.relations)
        else:
            phrase = _or([plural(self._names.entity(id_)) for id_ in query.start.class_ids])
        last = len(query.path) - 1
        for index, step in enumerate(query.path):
            phrase = self._step(step.relation, phrase, several=several and index == last)
            phrase += self._filters(step.filters)
        return phrase

    def _all_targets(self, relations: Sequence[Relation]) -> str:
        if len(relations) == 2 and relations[1] == relations[0].reversed:
            return "those"
        return _or(list(map(self._targets, relations)))

    def _targets(self, relation: Relation) -> str:
        """Returns all that a relation leads to: "directors"; backward "things with a director"."""
        label = self._label(relation)
        if _is_noun(label):
            return f"things with {_article(label)}" if relation.backward else plural(label)
        if relation.backward:
            return f"things that {_of_several(label)} anything"
        return f"things that anything {_of_one(label)}"

    def _step(self, relation: Relation, of: str, *, several: bool) -> str:
        label = self._label(relation)
        if _is_noun(label):
            if relation.backward:
                return f"those whose {label} is {of}"
            return f"{plural(label)} of {of}" if several else f"the {_value(label)} of {of}"
        if relation.backward:
            return f"those that {_of_several(label)} {of}"
        # Of a clause: "what that which X is educated at is founded by".
        of = of.replace("what ", "that which ", 1) if of.startswith("what ") else of
        return f"what {of} {_of_one(label)}"

    def _filters(self, filters: Sequence[Filter], *, goes_on: bool = False) -> str:
        clauses = " and ".join(self._clause(filter) for filter in filters)
        return f" {'and ' if goes_on else ''}{clauses}" if clauses else ""

    def _clause(self, filter: Filter, *, negated: bool = False) -> str:
        """Returns a filter as a relative clause."""
        match filter:
            case Not():
                return self._clause(filter.filter, negated=True)
            case AnyOf((Condition((relation, *_), Among(ids)), *_)) if is_either_way(filter):
                verb = "does not join" if negated else "joins"
                of = _or([self._names.entity(id_) for id_ in ids])
                return f'that "{self._label(relation)}" {verb} to {of}'
            case AnyOf():
                text = " or ".join(self._clause(each) for each in filter.filters)
                return f"not {text}" if negated else text
            case Condition():
                return self._condition(filter, negated=negated)

    def _condition(self, condition: Condition, *, negated: bool) -> str:
        path, test = condition.path, condition.test
        if not path:
            return f"that {self._test(test, negated=negated)}".replace("that is", "that are", 1)
        *before, last = path
        label = self._label(last)
        if isinstance(test, Present):
            what = "without" if negated else "with"
            if last.backward:
                verb = "are not" if negated else "are"
                return f"that {verb} the {label} of something" + self._through(before)
            return f"{what} {_article(label)}" + self._through(before)
        if last.backward and isinstance(test, Among) and not before:
            of = _or(self._distinct_names(test.ids))
            verb = "are not" if negated else "are"
            if _is_noun(label):
                return f"that {verb} the {label} of {of}"
            return f"that {of} {_of_one(label, negated=negated)}"
        if last.backward and isinstance(test, InstanceOf) and not before and _is_noun(label):
            of = _or([_article(self._names.entity(id_)) for id_ in test.class_ids])
            return f"that {'are not' if negated else 'are'} the {label} of {of}"
        if not _is_noun(label) and isinstance(test, Among) and not before:
            of = _or(self._distinct_names(test.ids))
            if _plural_verb(label):
                return f"that {_of_several(label, negated=negated)} {of}"
            return f"{'not ' if negated else ''}{label} {of}"
        phrase = label
        if before and before[0].backward:
            one = "nothing" if negated else "something"
            of = f"that are the {self._label(before[0])} of {one}"
            return f"{of} whose {label} {self._test(test)}"
        if before:
            phrase = f"{self._label(before[0])}'s {label}"
        return f"whose {phrase} {self._test(test, negated=negated)}"

    def _through(self, before: Sequence[Relation]) -> str:
        return f" of their {self._label(before[0])}" if before else ""

    def _test(self, test: Test, *, negated: bool = False) -> str:
        not_ = " not" if negated else ""
        match test:
            case Present():
                return f"is{not_} known"
            case Among(ids):
                return f"is{not_} {_or(self._distinct_names(ids))}"
            case InstanceOf(class_ids):
                return f"is{not_} {_or([_article(self._names.entity(id_)) for id_ in class_ids])}"
            case Text(text):
                return f'is{not_} "{text}"'
            case Number(comparison, amount, unit):
                words = _COMPARED[comparison].replace("is", f"is{not_}", 1)
                return f"{words} {amount}{f' {self._names.entity(unit)}' if unit else ''}"
            case During(days):
                return f"is{not_} {say_days(days)}"
        raise AssertionError(test)

    def _distinct_names(self, ids: Sequence[str]) -> list[str]:
        """Returns what some things are called, each name once, and how many more there are."""
        names = list(dict.fromkeys(map(self._names.entity, ids)))
        more = len(names) - _MOST_NAMES
        return names if more < 2 else [*names[:_MOST_NAMES], f"{more} more"]

    def _ordered(self, phrase: str, order: Order) -> str:
        word = self._degree(order)
        if order.rank is None and order.first is None:
            return f"{_without_article(phrase)}, the {word} first"
        ordinal = f"{order.first} " if order.first is not None else ""
        if order.rank is not None and order.rank > 1:
            ordinal = f"{_ordinal(order.rank)} "
        phrase = phrase if phrase.startswith("those ") else f"the {_without_article(phrase)}"
        return f"the {ordinal}{word} of {phrase}"

    def _of_named(self, ids: Sequence[str], order: Order) -> str:
        """Returns which of some named entities: "the older of A and B"."""
        named = list(map(self._names.entity, ids))
        names = f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]
        known = self._known_degree(order)
        word = self._degree(order)
        if len(named) == 2 and known is not None:
            word = known.more if order.descending else known.less
        if order.first is not None:
            return f"the {order.first} {word} of {names}"
        if order.rank is None:
            return f"{names}, the {word} first"
        return f"the {f'{_ordinal(order.rank)} ' if order.rank > 1 else ''}{word} of {names}"

    def _known_degree(self, order: Order) -> Degrees | None:
        """Returns the adjectives for the values of an order's relation, if it has some."""
        if len(order.path) != 1 or order.fold is not None:
            return None
        return _DEGREES.get(self._order_label(order))

    def _degree(self, order: Order) -> str:
        label = self._order_label(order)
        known = self._known_degree(order)
        if known is not None:
            return known.greatest if order.descending else known.least
        if order.kind is Comparable.DATES:
            degree = "latest" if order.descending else "earliest"
        else:
            degree = "greatest" if order.descending else "least"
        return f"{degree} by {label}" if label else degree

    def _compared(self, order: Order) -> str:
        label = self._order_label(order)
        known = self._known_degree(order)
        if known is not None:
            return f"is {known.more if order.descending else known.less} than"
        if order.kind is Comparable.DATES:
            return f"has {'a later' if order.descending else 'an earlier'} {label} than"
        return f"has a {'greater' if order.descending else 'lesser'} {label} than"

    def _order_label(self, order: Order) -> str:
        if order.fold is not None:
            return self._folded_label(order, order.fold)
        if order.filters:
            things = self._things_of(order)
            return f"{self._label(order.path[-1])} of {things}"
        return "'s ".join(self._label(relation) for relation in order.path)

    def _folded_label(self, order: Order, fold: Fold) -> str:
        """Returns what an order counts or measures: "number of parts whose supplier it is"."""
        first, *rest = order.path
        label, things = self._label(first), self._things_of(order)
        if fold is Fold.COUNT:
            through = "".join(f" of {things}" for _ in rest)
            return (
                f"number of {plural(self._label(rest[-1]))}{through}"
                if rest
                else f"number of {things}"
            )
        made = "average" if fold is Fold.MEAN else "total"
        return f"{made} {self._label(rest[-1])} of {things}" if rest else f"{made} {label}"

    def _things_of(self, order: Order) -> str:
        """Returns what the first relation of an order leads to: "parts whose supplier it is"."""
        first = order.path[0]
        classes = [
            each.test.class_ids
            for each in order.filters
            if isinstance(each, Condition) and not each.path and isinstance(each.test, InstanceOf)
        ]
        others = [
            each
            for each in order.filters
            if not (
                isinstance(each, Condition) and not each.path and isinstance(each.test, InstanceOf)
            )
        ]
        noun = "things"
        if classes:
            noun = _or([plural(self._names.entity(id_)) for id_ in classes[0]])
        elif not first.backward:
            noun = plural(self._label(first))
        label = self._label(first)
        joined = ""
        if first.backward:
            joined = (
                f" whose {label} it is" if _is_noun(label) else f" that {_of_several(label)} it"
            )
        return f"{noun}{joined}{self._filters(others, goes_on=bool(joined))}"

    def _label(self, relation: Relation) -> str:
        label = self._names.relation(relation.id)
        return label.removeprefix("has ") if len(label.split()) > 1 else label


def say_days(days: Days, /) -> str:
    """Returns a span of days in words.

    >>> from graph_service.model.days import day, years
    >>> say_days(years(1994, 1994)), say_days(years(1990, 1999)), say_days(day(1994, 5, 3).after())
    ('in 1994', 'between 1990 and 1999', 'after 1994-05-03')
    >>> say_days(years(1994, 1994).until()), say_days(years(1994, 1994).before())
    ('in or before 1994', 'before 1994')
    """
    begin, end = days.first, days.last
    if begin <= -_EVER:
        # The day before the first of a year is no day of the calendar.
        return f"in or before {_date(end)}" if _is_end(end) else f"before {_date(end + 1)}"
    if end >= _EVER:
        return f"in or after {_date(begin)}" if begin % 100 == 1 else f"after {_date(begin - 1)}"
    if begin == end:
        return f"on {_full_date(begin)}"
    first, last = _date(begin), _date(end)
    return f"in {first}" if first == last else f"between {first} and {last}"


def _is_end(day: int) -> bool:
    return day % 10000 == 1231 or day % 100 == 31


def _date(day: int) -> str:
    """Returns a day of ``Days`` as a date: a year where it is a year's first or last day."""
    year, rest = divmod(day, 10000)
    era = " BC" if year < 0 else ""
    if rest in (101, 1231, 1232, 100):
        return f"{abs(year)}{era}"
    month, of_month = divmod(rest, 100)
    if of_month in (0, 1, 31, 32):
        return f"{abs(year):04d}-{month:02d}{era}"
    return _full_date(day)


def _full_date(day: int) -> str:
    year, rest = divmod(day, 10000)
    return f"{abs(year):04d}-{rest // 100:02d}-{rest % 100:02d}{' BC' if year < 0 else ''}"


def _ordinal(number: int) -> str:
    return _ORDINALS[number] if number < len(_ORDINALS) else f"{number}th"


def _or(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def _without_article(phrase: str) -> str:
    return phrase.removeprefix("the ")


def _of_one(label: str, *, negated: bool = False) -> str:
    """Returns what a label that is no noun says of one thing: "is written in", "depends on"."""
    verb = _plural_verb(label)
    if verb:
        return f"does not {verb}" if negated else label
    return f"is not {label}" if negated else f"is {label}"


def _of_several(label: str, *, negated: bool = False) -> str:
    """Returns what a label that is no noun says of several: "are written in", "depend on"."""
    verb = _plural_verb(label)
    if verb:
        return f"do not {verb}" if negated else verb
    return f"are not {label}" if negated else f"are {label}"


def _plural_verb(label: str) -> str:
    """Returns a label that is a verb of one thing, "depends on", as said of several; else nothing."""
    verb, _, others = label.partition(" ")
    if _is_noun(label) or not is_third_person(verb.casefold()):
        return ""
    return f"{infinitive(verb)} {others}"


def _is_noun(label: str) -> bool:
    """Returns whether a relation's label is what the value is to the head: "mother", not "born in"."""
    return label.split()[-1:] != [] and label.split()[-1].casefold() not in _PREPOSITIONS
