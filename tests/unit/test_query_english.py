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
    either_way,
)
from graph_service.query.days_in_words import say_days
from graph_service.query.english import Names, render_english

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


def check_english(query: Query, text: str) -> None:
    assert render_english(query, NAMES) == text


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
            "parts, the greatest rating first",
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
            "of the suppliers, the one with the greatest number of parts whose supplier it is",
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
            "suppliers, the least average price of parts whose supplier it is and whose price is "
            "over 100 first",
        ),
        (
            Query(
                Instances(("film",)),
                order=Order(
                    (Relation("genre"),), Comparable.NUMBERS, True, first=2, fold=Fold.COUNT
                ),
            ),
            "of the films, the 2 with the greatest number of genres",
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
            "parts whose mass is under 2 kilograms or whose price is over 100",
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
            "children of Maria Shriver that are films and whose date of birth is after 1990 and "
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
    check_english(query, text)


def relation(label: str, *, backward: bool = False) -> Relation:
    return Relation(label, backward)


def of_class(*class_ids: str) -> Condition:
    return Condition((), InstanceOf(class_ids))


OSLO = Entities(("Oslo",))
AMONG_OSLO = Among(("Oslo",))


@pytest.mark.parametrize(
    ("label", "forward", "backward", "condition"),
    [
        (
            "mother",
            "the mother of Oslo",
            "those whose mother is Oslo",
            "films whose mother is Oslo",
        ),
        (
            "side effects",
            "the side effects of Oslo",
            "those whose side effects include Oslo",
            "films whose side effects include Oslo",
        ),
        (
            "directed by",
            "what Oslo is directed by",
            "those that are directed by Oslo",
            "films directed by Oslo",
        ),
        (
            "flows through",
            "what Oslo flows through",
            "those that flow through Oslo",
            "films that flow through Oslo",
        ),
        (
            "named after",
            "what Oslo is named after",
            "those that are named after Oslo",
            "films named after Oslo",
        ),
        (
            "lived in",
            "what Oslo lived in",
            "those that lived in Oslo",
            "films that lived in Oslo",
        ),
        (
            "member of",
            "what Oslo is a member of",
            "those that are members of Oslo",
            "films that are members of Oslo",
        ),
        (
            "is part of",
            "what Oslo is a part of",
            "those that are parts of Oslo",
            "films that are parts of Oslo",
        ),
        (
            "located in time zone",
            "the time zone that Oslo is located in",
            "those that are located in the time zone Oslo",
            "films located in the time zone Oslo",
        ),
        (
            "located in or next to body of water",
            "the body of water that Oslo is located in or next to",
            "those that are located in or next to the body of water Oslo",
            "films located in or next to the body of water Oslo",
        ),
        (
            "contains the administrative entity",
            "the administrative entity that Oslo contains",
            "those that contain the administrative entity Oslo",
            "films that contain the administrative entity Oslo",
        ),
        (
            "unmarried partner",
            "the unmarried partner of Oslo",
            "those whose unmarried partner is Oslo",
            "films whose unmarried partner is Oslo",
        ),
        # A verb, or a noun in the plural: nothing tells which.
        (
            "owns",
            'the "owns" of Oslo',
            'those whose "owns" is Oslo',
            'films whose "owns" is Oslo',
        ),
        (
            "characters",
            "the characters of Oslo",
            "those whose characters include Oslo",
            "films whose characters include Oslo",
        ),
        (
            "diagnosis",
            "the diagnosis of Oslo",
            "those whose diagnosis is Oslo",
            "films whose diagnosis is Oslo",
        ),
        # The value may be the party or the member.
        (
            "member of political party",
            'the value of "member of political party" of Oslo',
            'those whose "member of political party" is Oslo',
            'films whose "member of political party" is Oslo',
        ),
        (
            "first released",
            'the value of "first released" of Oslo',
            'those whose "first released" is Oslo',
            'films whose "first released" is Oslo',
        ),
        ("part(s)", "the part of Oslo", "those whose part is Oslo", "films whose part is Oslo"),
    ],
)
def test_a_label_is_said_as_a_noun_or_a_verb(
    label: str, forward: str, backward: str, condition: str
) -> None:
    there, and_back = relation(label), relation(label, backward=True)
    check_english(Query(OSLO, (Step(there),)), forward)
    check_english(Query(OSLO, (Step(and_back),)), backward)
    filter = Condition((there,), AMONG_OSLO)
    check_english(Query(Instances(("film",)), filters=(filter,)), condition)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        # A class stands where no other noun does.
        (
            Query(
                MARIA,
                (Step(relation("director", backward=True)),),
                (of_class("film"), Condition((BORN,), During(years(1994, 1994)))),
            ),
            "films whose director is Maria Shriver and whose date of birth is in 1994",
        ),
        (
            Query(
                MARIA,
                (Step(relation("borders")), Step(relation("flows into"))),
                (of_class("lake", "sea"),),
            ),
            'lakes or seas that the "borders" of Maria Shriver flows into',
        ),
        (
            Query(
                MARIA,
                (
                    Step(relation("depends on"), (of_class("library"),)),
                    Step(relation("maintained by")),
                ),
            ),
            "what the libraries that Maria Shriver depends on are maintained by",
        ),
        (
            Query(
                MARIA,
                (
                    Step(relation("continent", backward=True), (of_class("country"),)),
                    Step(relation("capital")),
                ),
            ),
            "the capital of countries whose continent is Maria Shriver",
        ),
        (
            Query(MARIA, (Step(CHILD),), (of_class("boxer"),)),
            "children of Maria Shriver that are boxers",
        ),
        (
            Query(MARIA, (Step(CHILD),), (Not(of_class("boxer")),)),
            "children of Maria Shriver that are not boxers",
        ),
        (
            Query(MARIA, (Step(CHILD),), (Condition((back(CHILD),), ARNOLD),)),
            "children of Maria Shriver that are children of Arnold Schwarzenegger",
        ),
        # What leads to several is one of them.
        (
            Query(MARIA, (Step(back(CHILD)), Step(back(SPOUSE)))),
            "those whose spouse is one of those whose child is Maria Shriver",
        ),
        (
            Query(MARIA, (Step(back(CHILD)), Step(relation("named after")))),
            "what those whose child is Maria Shriver are named after",
        ),
        (
            Query(MARIA, (Step(back(CHILD)), Step(relation("located in zone", backward=True)))),
            "those that are located in a zone that is one of those whose child is Maria Shriver",
        ),
        # Counts.
        (
            Query(MARIA, (Step(relation("member of")),), fold=Fold.COUNT),
            "the number of those that Maria Shriver is a member of",
        ),
        # Yes or no.
        (Query(MARIA, (Step(SPOUSE),), fold=Fold.EXISTS), "whether Maria Shriver has a spouse"),
        (
            Query(MARIA, (Step(relation("side effects")),), fold=Fold.EXISTS),
            "whether Maria Shriver has side effects",
        ),
        (
            Query(MARIA, (Step(relation("award received")),), fold=Fold.EXISTS),
            "whether there are awards received of Maria Shriver",
        ),
        (
            Query(MARIA, (Step(relation("located in zone")),), fold=Fold.EXISTS),
            "whether Maria Shriver is located in a zone",
        ),
        (
            Query(
                MARIA, (Step(relation("member of")),), (Condition((), ARNOLD),), fold=Fold.EXISTS
            ),
            "whether Maria Shriver is a member of Arnold Schwarzenegger",
        ),
        (
            Query(MARIA, (Step(back(CHILD)),), fold=Fold.EXISTS),
            "whether there are any whose child is Maria Shriver",
        ),
        (
            Query(MARIA, (Step(back(CHILD)), Step(SPOUSE)), fold=Fold.EXISTS),
            "whether any of those whose child is Maria Shriver has a spouse",
        ),
        (
            Query(
                MARIA,
                (Step(relation("languages spoken")),),
                (Condition((), ARNOLD),),
                fold=Fold.EXISTS,
            ),
            "whether the languages spoken of Maria Shriver include Arnold Schwarzenegger",
        ),
        # Either way about.
        (
            Query(
                Targets((SPOUSE, back(SPOUSE))),
                filters=(either_way(SPOUSE, ARNOLD), of_class("poet")),
            ),
            "poets whose spouse is Arnold Schwarzenegger, or the other way about",
        ),
        (
            Query(Targets((SPOUSE, back(SPOUSE)))),
            "spouses or things with a spouse",
        ),
        (
            Query(
                Instances(("state",)),
                filters=(Not(either_way(relation("shares border with"), ARNOLD)),),
            ),
            "states that do not share border with Arnold Schwarzenegger and that Arnold Schwarzenegger "
            "does not share border with",
        ),
        (
            Query(Instances(("Film",)), filters=(Not(AnyOf((DEAR, Not(of_class("Part"))))),)),
            "films that are parts and whose price is not over 100",
        ),
        # Dates, units and degrees.
        (
            Query(
                Targets((relation("founded in", backward=True),)),
                filters=(Condition((relation("founded in"),), During(years(2003, 2003))),),
            ),
            "those founded in 2003",
        ),
        (
            Query(
                Instances(("bridge",)),
                filters=(Not(Condition((relation("opened"),), During(years(1990, 1990).after()))),),
            ),
            "bridges not opened after 1990",
        ),
        (
            Query(
                Instances(("river",)),
                order=Order((relation("length in km"),), Comparable.NUMBERS, True, 1),
            ),
            "the longest of the rivers",
        ),
        (
            Query(
                Instances(("state",)),
                order=Order((relation("population in 1990"),), Comparable.NUMBERS, True, 2),
            ),
            "of the states, the one with the second greatest population in 1990",
        ),
        (
            Query(
                Instances(("bridge",)), order=Order((relation("opened"),), Comparable.DATES, rank=1)
            ),
            'of the bridges, the one with the earliest value of "opened"',
        ),
        (
            Query(
                Instances(("drug",)),
                order=Order((relation("half-life"),), Comparable.NUMBERS, True, first=2),
                fold=Fold.COUNT,
            ),
            "the number of drugs, only the 2 with the greatest half-life",
        ),
        (
            Query(
                Entities(("Maria", "SH12")),
                order=Order((relation("approval date"),), Comparable.DATES, rank=1),
            ),
            "of Maria Shriver and Shaft S-12, the one with the earliest approval date",
        ),
        (
            Query(
                Instances(("Part",)),
                filters=(
                    Condition((MASS,), Number(Comparison.OVER, "1", "kg")),
                    Condition((relation("heat"),), Number(Comparison.OVER, "5", "degree Celsius")),
                ),
            ),
            "parts whose heat is over 5 degrees Celsius and whose mass is over 1 kilogram",
        ),
        # Values without a noun.
        (
            Query(
                Instances(("library",)),
                filters=(Condition((relation("stars"),), Number(Comparison.OVER, "9")),),
            ),
            'libraries whose "stars" is over 9',
        ),
        (
            Query(Instances(("river",)), filters=(Condition((relation("flows to"),), Present()),)),
            "rivers that flow to anything",
        ),
        (
            Query(
                Instances(("river",)), filters=(Not(Condition((relation("flows to"),), Present())),)
            ),
            "rivers that do not flow to anything",
        ),
    ],
)
def test_a_query_reads_as_english(query: Query, text: str) -> None:
    check_english(query, text)


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
