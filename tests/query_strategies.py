"""Small graphs with dates, numbers and classes, and queries over them, for hypothesis."""

from __future__ import annotations

from graph_builder import Triple
from hypothesis import strategies as st

from graph_service.model.days import Days, day, years
from graph_service.model.values import Quantity, SomeValue, StringValue, Time, Value
from graph_service.query.algebra import (
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
    Step,
    Targets,
    Text,
)

ITEMS = [f"Q{number}" for number in range(1, 8)]
CLASSES = ["Q101", "Q102", "Q103"]
LINKS = ["P22", "P40", "P50"]
VALUES = ["P569", "P2048"]

_dates = st.sampled_from(
    [
        Time("1994-00-00T00:00:00Z", 9),
        Time("1994-05-00T00:00:00Z", 10),
        Time("1994-05-03T00:00:00Z", 11),
        Time("1990-00-00T00:00:00Z", 9),
        Time("2001-12-31T00:00:00Z", 11),
        Time("-0044-03-15T00:00:00Z", 11),
        Time("0800-00-00T00:00:00Z", 9),
    ]
)
_texts = st.sampled_from(["1994", "12", "3.5", 'it\'s "a" \\ {x}', "1994-05"]).map(StringValue)
_numbers = st.builds(
    Quantity, st.sampled_from(["12", "-3", "3.5", "100", "7"]), st.sampled_from([None, "Q11573"])
)
_literals: st.SearchStrategy[Value] = st.one_of(
    _dates, _numbers, _texts, st.sampled_from([StringValue("12", "external-id"), SomeValue()])
)


@st.composite
def valued_triples(draw: st.DrawFn, *, is_plain: bool = False) -> list[Triple]:
    """Statements between a few entities, of their classes and with values.

    ``is_plain`` leaves out what an export as RDF does not hold whole: units, unknown values, types
    of strings.
    """
    item = st.sampled_from(ITEMS)
    links = draw(st.lists(st.tuples(item, st.sampled_from(LINKS), item), max_size=22))
    literals = st.one_of(_dates, _texts, _numbers.map(lambda one: Quantity(one.amount)))
    valued = st.tuples(item, st.sampled_from(VALUES), literals if is_plain else _literals)
    classes = st.tuples(item, st.just("P31"), st.sampled_from(CLASSES))
    below = st.tuples(st.sampled_from(CLASSES), st.just("P279"), st.sampled_from(CLASSES))
    rows: list[Triple] = [
        *links,
        *draw(st.lists(valued, max_size=14)),
        *draw(st.lists(classes, max_size=8)),
        *draw(st.lists(below, max_size=3)),
    ]
    # One of each: what an RDF graph holds.
    by_text = {repr(row): row for row in rows}
    return [*by_text.values()] or [("Q1", "P22", "Q2")]


_relations = st.builds(Relation, st.sampled_from(LINKS), st.booleans())
_values = st.builds(Relation, st.sampled_from(VALUES))
_start_relations = st.lists(
    st.builds(Relation, st.sampled_from([*LINKS, "P569"]), st.booleans()), min_size=1, max_size=2
).map(tuple)
_ids = st.lists(st.sampled_from(ITEMS), min_size=1, max_size=2).map(tuple)
_class_ids = st.lists(st.sampled_from(CLASSES), min_size=1, max_size=2).map(tuple)
_spans = st.sampled_from(
    [years(1994, 1994), years(1990, 1999), day(1994, 5), day(1994, 5, 3), years(1994, 1994).before(),
     years(1994, 1994).after(), years(1990, 1990).since(), years(-44, -44), Days(9940101, 20000101)]
)  # fmt: skip


def _number_tests(*, has_units: bool) -> st.SearchStrategy[Number]:
    units = st.sampled_from([None, "Q11573"]) if has_units else st.none()
    return st.builds(
        Number, st.sampled_from(Comparison), st.sampled_from(["12", "3.5", "12.0", "0"]), units
    )


@st.composite
def filters(draw: st.DrawFn, *, has_units: bool = True) -> Filter:
    """A filter: a condition, one that does not hold, or several of which one holds."""
    value_test = st.one_of(
        _number_tests(has_units=has_units),
        st.builds(During, _spans),
        st.sampled_from(["1994", 'it\'s "a" \\ {x}']).map(Text),
        st.just(Present()),
    )
    node_test = st.one_of(
        st.builds(Among, _ids), st.builds(InstanceOf, _class_ids), st.just(Present())
    )
    condition = st.one_of(
        st.builds(Condition, st.tuples(_values), value_test),
        st.builds(Condition, st.tuples(_relations, _values), value_test),
        st.builds(Condition, st.lists(_relations, max_size=2).map(tuple), node_test),
        st.builds(Condition, st.just(()), value_test),
    )
    single = st.one_of(condition, st.builds(Not, condition))
    several = st.builds(AnyOf, st.lists(single, min_size=1, max_size=2).map(tuple))
    return draw(st.one_of(single, several, st.builds(Not, several)))


@st.composite
def orders(draw: st.DrawFn, *, has_units: bool = True) -> Order:
    """An order by numbers or dates, or by what several come to."""
    descending = draw(st.booleans())
    rank, first = draw(
        st.sampled_from([(None, None), (None, None), (1, None), (2, None), (None, 2)])
    )
    if draw(st.integers(0, 2)) == 0:
        return draw(_folded_orders(descending, rank, first, has_units=has_units))
    kind = draw(st.sampled_from(Comparable))
    unit = None
    if has_units and kind is Comparable.NUMBERS:
        unit = draw(st.sampled_from([None, "Q11573"]))
    path = draw(st.one_of(st.tuples(_values), st.tuples(_relations, _values)))
    of_first: tuple[Filter, ...] = ()
    if draw(st.integers(0, 4)) == 0:
        of_first = (draw(filters(has_units=has_units)),)
    return Order(path, kind, descending, rank, unit, filters=of_first, first=first)


@st.composite
def _folded_orders(
    draw: st.DrawFn, descending: bool, rank: int | None, first: int | None, *, has_units: bool
) -> Order:
    fold = draw(st.sampled_from([Fold.COUNT, Fold.MEAN, Fold.SUM]))
    unit = None
    if fold is Fold.COUNT:
        path = draw(
            st.one_of(
                st.tuples(_relations),
                st.tuples(_relations, _relations),
                st.tuples(_relations, _values),
            )
        )
    else:
        path = draw(st.one_of(st.tuples(_values), st.tuples(_relations, _values)))
        unit = draw(st.sampled_from([None, "Q11573"])) if has_units else None
    of_first = tuple(draw(st.lists(filters(has_units=has_units), max_size=1)))
    kind = Comparable.NUMBERS
    return Order(path, kind, descending, rank, unit, fold, of_first, first)


@st.composite
def queries(draw: st.DrawFn, *, has_units: bool = True, has_measures: bool = True) -> Query:
    """A query of any form, or of any but means and sums."""
    if draw(st.integers(0, 9)) == 0:
        two = draw(st.permutations(ITEMS[:3]))[:2]
        return Query(
            Entities(tuple(two)), order=draw(orders(has_units=has_units)), fold=Fold.COMPARE
        )
    start = draw(
        st.one_of(
            st.builds(Entities, _ids),
            st.builds(Instances, _class_ids),
            st.builds(Targets, _start_relations),
        )
    )
    of_step = st.lists(filters(has_units=has_units), max_size=1).map(tuple)
    steps = draw(st.lists(st.builds(Step, _relations, of_step), max_size=3))
    if len(steps) < 3 and draw(st.integers(0, 3)) == 0:
        steps.append(Step(draw(_values)))
    several = tuple(draw(st.lists(filters(has_units=has_units), max_size=2)))
    order = draw(st.one_of(st.none(), orders(has_units=has_units)))
    folds = [Fold.LIST, Fold.COUNT, Fold.EXISTS]
    if has_measures:
        folds += [Fold.LIST, Fold.MEAN, Fold.SUM]
    fold = draw(st.sampled_from(folds))
    if fold in (Fold.MEAN, Fold.SUM):
        unit = draw(st.sampled_from([None, "Q11573"])) if has_units else None
        order = Order((draw(_values),), Comparable.NUMBERS, unit=unit)
    return Query(start, tuple(steps), several, order, fold)
