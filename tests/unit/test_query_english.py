"""Queries in words: what a person reads (B12)."""

from __future__ import annotations

import pytest

from graph_service.model.days import day, years
from graph_service.query.algebra import (
    Among,
    AnyOf,
    Comparable,
    Comparison,
    Condition,
    During,
    Entities,
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
from graph_service.query.english import Names, render_english, say_days

LABELS = {
    "W4": "Wheelchair Lift W4",
    "SH12": "Shaft S-12",
    "SH14": "Shaft S-14",
    "Maria": "Maria Shriver",
    "Arnold": "Arnold Schwarzenegger",
    "Part": "part",
    "Film": "film",
    "kg": "kilogram",
    "P527": "has part",
    "P57": "directed by",
    "P569": "date of birth",
    "P19": "place of birth",
    "P40": "child",
    "P26": "spouse",
    "P577": "publication date",
}
NAMES = Names(lambda id_: LABELS.get(id_, id_), lambda id_: LABELS.get(id_, id_))
LIFT, MARIA, ARNOLD = Entities(("W4",)), Entities(("Maria",)), Among(("Arnold",))
PART, SPOUSE, CHILD, PRICE = Relation("P527"), Relation("P26"), Relation("P40"), Relation("price")
MASS, BORN, BIRTHPLACE = Relation("mass"), Relation("P569"), Relation("P19")
DEAR = Condition((PRICE,), Number(Comparison.OVER, "100"))
DEAREST = Order((PRICE,), Comparable.NUMBERS, descending=True)


def back(relation: Relation) -> Relation:
    return Relation(relation.id, backward=True)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (Query(LIFT, (Step(PART),), fold=Fold.COUNT), "the number of parts of Wheelchair Lift W4"),
        (
            Query(LIFT, (Step(PART),), (), Order((PRICE,), Comparable.NUMBERS), Fold.MEAN),
            "the average price of parts of Wheelchair Lift W4",
        ),
        (
            Query(Instances(("Part",)), filters=(DEAR,), order=DEAREST),
            "parts whose price is over 100, the most expensive first",
        ),
        (Query(MARIA, (Step(BIRTHPLACE),)), "the place of birth of Maria Shriver"),
        (
            Query(MARIA, (Step(SPOUSE), Step(BIRTHPLACE))),
            "the place of birth of the spouse of Maria Shriver",
        ),
        (Query(MARIA, (Step(back(CHILD)),)), "those whose child is Maria Shriver"),
        (Query(MARIA, (Step(Relation("P57")),)), "what Maria Shriver is directed by"),
        (
            Query(MARIA, (Step(Relation("P57", backward=True)),), fold=Fold.COUNT),
            "the number of those that are directed by Maria Shriver",
        ),
        (
            Query(
                MARIA,
                (Step(CHILD),),
                order=Order((BORN,), Comparable.DATES, descending=True, rank=1),
            ),
            "the youngest of the children of Maria Shriver",
        ),
        (
            Query(Targets((CHILD,)), order=Order((BORN,), Comparable.DATES, rank=1)),
            "the oldest of the children",
        ),
        (Query(Targets((back(CHILD),)), fold=Fold.COUNT), "the number of things with a child"),
        (Query(Targets((Relation("P57"),))), "things that anything is directed by"),
        (Query(Targets((Relation("P57", True),))), "things that are directed by anything"),
        (
            Query(Instances(("Part",)), order=Order((MASS,), Comparable.NUMBERS, True, rank=2)),
            "the second heaviest of the parts",
        ),
        (
            Query(
                Instances(("Part",)), order=Order((Relation("rating"),), Comparable.NUMBERS, True)
            ),
            "parts, the greatest by rating first",
        ),
        (
            Query(
                Instances(("supplier",)),
                order=Order(
                    (back(Relation("supplier")),),
                    Comparable.NUMBERS,
                    True,
                    1,
                    fold=Fold.COUNT,
                    filters=(Condition((), InstanceOf(("part",))),),
                ),
            ),
            "the greatest by number of parts whose supplier it is of the suppliers",
        ),
        (
            Query(
                Instances(("supplier",)),
                order=Order(
                    (back(Relation("supplier")), PRICE),
                    Comparable.NUMBERS,
                    fold=Fold.MEAN,
                    filters=(Condition((), InstanceOf(("part",))), DEAR),
                ),
            ),
            "suppliers, the least by average price of parts whose supplier it is and whose price is "
            "over 100 first",
        ),
        (
            Query(
                Instances(("film",)),
                order=Order(
                    (Relation("genre"),), Comparable.NUMBERS, True, first=2, fold=Fold.COUNT
                ),
            ),
            "the 2 greatest by number of genres of the films",
        ),
        (
            Query(Instances(("Part",)), order=Order((PRICE,), Comparable.NUMBERS, first=3)),
            "the 3 cheapest of the parts",
        ),
        (
            Query(MARIA, (Step(SPOUSE),), (Condition((), ARNOLD),), fold=Fold.EXISTS),
            "whether the spouse of Maria Shriver is Arnold Schwarzenegger",
        ),
        (
            Query(LIFT, (Step(PART),), (DEAR,), fold=Fold.EXISTS),
            "whether there are parts of Wheelchair Lift W4 whose price is over 100",
        ),
        (
            Query(
                Entities(("SH12", "SH14")),
                order=Order((MASS,), Comparable.NUMBERS, True),
                fold=Fold.COMPARE,
            ),
            "whether Shaft S-12 is heavier than Shaft S-14",
        ),
        (
            Query(Instances(("Part",)), filters=(Not(Condition((PRICE,), Present())),)),
            "parts without a price",
        ),
        (
            Query(
                Instances(("Part",)),
                filters=(AnyOf((DEAR, Condition((MASS,), Number(Comparison.UNDER, "2", "kg")))),),
            ),
            "parts whose mass is under 2 kilogram or whose price is over 100",
        ),
        (
            Query(
                MARIA,
                (Step(CHILD),),
                (
                    Condition((BORN,), During(years(1990, 1990).after())),
                    Condition((), InstanceOf(("Film",))),
                    Not(Condition((Relation("colour"),), Text('"red"\n'))),
                ),
            ),
            "children of Maria Shriver that are a film and whose date of birth is after 1990 and "
            'whose colour is not ""red" "',
        ),
        (
            Query(
                Entities(("SH12", "SH14")), order=Order((MASS,), Comparable.NUMBERS, True, rank=1)
            ),
            "the heavier of Shaft S-12 and Shaft S-14",
        ),
        (
            Query(MARIA, (Step(back(SPOUSE)),), (Condition((), ARNOLD),), fold=Fold.EXISTS),
            "whether the spouse of Arnold Schwarzenegger is Maria Shriver",
        ),
        (Query(Entities(("Maria", "SH12"))), "Maria Shriver or Shaft S-12"),
        (Query(MARIA, (Step(Relation("hired")),)), 'the value of "hired" of Maria Shriver'),
        (
            Query(
                MARIA,
                filters=(Condition((Relation("insured"),), Text("true")),),
                fold=Fold.EXISTS,
            ),
            'whether the value of "insured" of Maria Shriver is "true"',
        ),
    ],
)
def test_a_query_reads_as_a_person_says_it(query: Query, text: str) -> None:
    assert render_english(query, NAMES) == text


@pytest.mark.parametrize(
    ("days", "text"),
    [
        (years(1994, 1994), "in 1994"),
        (years(1990, 1999), "between 1990 and 1999"),
        (years(1994, 1994).before(), "before 1994"),
        (years(1994, 1994).until(), "in or before 1994"),
        (years(1994, 1994).after(), "after 1994"),
        (years(1994, 1994).since(), "in or after 1994"),
        (day(1994, 5), "in 1994-05"),
        (day(1994, 5).before(), "before 1994-05"),
        (day(1994, 5).after(), "after 1994-05"),
        (day(1994, 5, 3), "on 1994-05-03"),
        (day(1994, 5, 3).before(), "before 1994-05-03"),
        (day(1994, 5, 3).after(), "after 1994-05-03"),
        (day(1994, 5, 3).since(), "after 1994-05-02"),
        (day(1994, 5, 3).until(), "before 1994-05-04"),
        (day(1994, 5, 1), "on 1994-05-01"),
        (years(-44, -44), "in 44 BC"),
    ],
)
def test_a_span_of_days_is_said_as_it_was_meant(days: object, text: str) -> None:
    assert say_days(days) == text  # type: ignore[arg-type]
